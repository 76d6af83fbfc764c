"""Theorem 9 at the end of a run: the final queue is read off the context, in both forms.

The paper's halting state drops the stored parity r, and with it the front symbol of the final
queue in ready form. Kept in the label, it gives the front back; in refresh form sem is the whole
queue already. A run ends at N(q) with q halting, never at P(q, s), and G is defined there.

Source: Sliding-Window Transformers Without Positional Encodings, Appendix A.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from constructions.machines import window
from constructions.machines.instances import ParityMaker, run_exhibit, run_range, window_fails
from constructions.machines.parity import parity_machine
from constructions.machines.parity_claims import sample_machine
from constructions.machines.parity_theory import parity_vectors
from constructions.machines.readings import (
    LONGEST_WORD,
    Context,
    Meaning,
    graded,
    words_up_to,
)
from constructions.machines.window import Normal, SlidingWindowRun
from constructions.machines.window_theory import Code, Rules, transformer_symbols, window_theory
from constructions.machines.words import (
    LENGTH,
    PAPER,
    PAR_SNOC,
    axioms_of,
    context_definitions,
    parity_definitions,
)
from verify.claims import Check, Source, claim, covers, supports
from verify.methods.exhaustive import Exhaustive
from verify.methods.smt import Smt
from verify.smtlib import Axiom, Goal, Theory, World
from verify.verdicts import Status

# --- theory ----------------------------------------------------------------------------------

_DECLARATIONS = """
(declare-fun xorp (Par Par) Par) (declare-fun unit (Sym) Par)
(declare-fun kept (Q) Par) (declare-fun begins (Q) Bool)
(declare-fun recovered (Q Par) Sym) (declare-fun readoff (Ctx) Word)
(declare-fun final (Lab) Bool)
(declare-const front Sym)
(define-fun holds ((q Q) (w Word)) Bool
  (and (not (begins q)) (forall ((y Sym)) (! (= (has (kept q) y) (odd w y))
    :pattern ((has (kept q) y))))))
"""


def halting_axioms() -> tuple[Axiom, ...]:
    """What a label keeps, how the queue is read off, and where a run ends."""
    return (
        *parity_definitions(),
        *axioms_of(PAR_SNOC),
        *parity_vectors(),
        Axiom(
            "recovery",
            """(forall ((q Q) (p Par) (s Sym)) (! (=> (and (not (begins q))
              (= (xorp (kept q) p) (unit s))) (= (recovered q p) s))
              :pattern ((recovered q p) (unit s))))""",
            "the front symbol is the one whose unit vector r xor p is",
        ),
        Axiom(
            "read off, ready",
            """(forall ((c Ctx)) (! (=> (and (= (marks c) 1) ((_ is N) (newest c))
              (not (begins (nq (newest c)))))
              (= (readoff c) (wcons (recovered (nq (newest c)) (pty (sem c))) (sem c))))
              :pattern ((readoff c))))""",
            "with a marker: the recovered front symbol, then sem",
        ),
        Axiom(
            "read off, refresh",
            """(forall ((c Ctx)) (! (=> (and (distinct c cnil) (= (marks c) 0)
              ((_ is N) (newest c))) (= (readoff c) (sem c))) :pattern ((readoff c))))""",
            "without a marker: sem itself",
        ),
        Axiom(
            "ends at N",
            "(forall ((r Lab)) (! (= (final r) (and ((_ is N) r) (halts (nq r)))) "
            ":pattern ((final r))))",
            "a run ends at N(q) with q halting and at no other label",
        ),
    )


_RUNNING = "(and (= (marks C) 1) ((_ is N) (newest C)) (not (halts q0)))"
_ONE = "(not (two q0 (pty (sem C))))"
_BOTH = "(two q0 (pty (sem C)))"


def halting_goals(theory: Theory) -> tuple[Goal, ...]:
    """The queue is read off in both forms; where a run ends and what comes then.

    That each step leads to one of the forms is `machines.window.ready`, that the state keeps the
    parity of the queue is `machines.parity.step`.
    """
    return (
        Goal(
            name="in ready form the queue is the recovered symbol and what the context shows",
            theory=theory,
            role="conclusion",
            assumptions=(
                "(= (marks C) 1)",
                "((_ is N) (newest C))",
                "(holds q0 (wcons s0 (sem C)))",
            ),
            conclusion="(and (= (xorp (kept q0) (pty (sem C))) (unit s0)) "
            "(= (readoff C) (wcons s0 (sem C))))",
        ),
        Goal(
            name="in refresh form the queue is what the context shows",
            theory=theory,
            role="conclusion",
            assumptions=("(Refresh C w0 q0)", "(distinct w0 wnil)"),
            conclusion="(= (readoff C) w0)",
        ),
        Goal(
            name="a run does not end where a symbol is owed",
            theory=theory,
            assumptions=(_RUNNING, _BOTH),
            conclusion="(and (not (final (newest (next C)))) "
            "(= (final (newest (next (next C)))) (halts (q1 (sem C)))))",
        ),
        Goal(
            name="a run ends with a step of one symbol where the machine halts",
            theory=theory,
            assumptions=(_RUNNING, _ONE),
            conclusion="(= (final (newest (next C))) (halts (q1 (sem C))))",
        ),
        Goal(
            name="a halting label stays, and the context keeps its length",
            theory=theory,
            assumptions=("(distinct C cnil)", "(<= (marks C) 1)", "(final (newest C))"),
            conclusion="""(and (= (newest (next C)) (newest C)) (= (clen (next C)) (clen C))
              (<= (marks (next C)) 1))""",
        ),
    )


def halting_theory(rules: Rules | None, worlds: Callable[[], Iterable[World]]) -> Theory:
    """The window theory where states keep a parity."""
    return window_theory(
        "window at the end",
        worlds,
        rules=rules,
        declarations=_DECLARATIONS,
        extra=(*context_definitions()[7:9], *axioms_of(LENGTH), *halting_axioms()),
    )


# --- the theory's meaning in the code --------------------------------------------------------


def halting_worlds(make: ParityMaker, code: Code) -> Iterator[World]:
    """The contexts of real runs of a machine, to its halting state and two tokens beyond."""
    machine: Any = sample_machine()
    source: Any = make(machine)
    transformer = code.make(source)
    symbols = transformer_symbols(transformer, code.reading)
    alphabet = machine.alphabet
    contexts: dict[Context, None] = {}
    for word in ((), ("a",), ("b", "a"), ("b", "b"), ("a", "b", "b")):
        run = SlidingWindowRun(transformer, word)
        while not run.halted and run.tokens < 8:  # noqa: PLR2004 - as many as stay small
            contexts[tuple(run.context)] = None
            run.step()
        contexts[tuple(run.context)] = None
    labels = dict.fromkeys(token.label for context in contexts for token in context)
    states = dict.fromkeys(label.state for label in labels)
    words = tuple(words_up_to(alphabet, LONGEST_WORD))
    queues = tuple(
        dict.fromkeys(
            window.final_queue(machine, transformer, context)
            for context in contexts
            if isinstance(context[-1].label, Normal)
        )
    )
    meaning: dict[str, Meaning] = {
        **symbols,
        "xorp": lambda a, b: a ^ b,
        "unit": lambda s: 1 << alphabet.index(s),
        "kept": lambda q: q.parity,
        "begins": lambda q: q.first,
        "front": machine.front,
        "recovered": lambda q, p: window.parity.recovered(machine, q, p),
        "readoff": lambda c: window.final_queue(machine, transformer, c),
        "final": transformer.is_final,
    }
    yield World(
        sorts={
            "Sym": alphabet,
            "Word": words,
            "Disp": (*alphabet, transformer.marker),
            "Tok": tuple(dict.fromkeys(token for context in contexts for token in context))[:6],
            "Ctx": tuple(contexts),
            "Lab": tuple(labels),
            "Q": tuple(states),
            "Par": range(8),
        },
        symbols=meaning,
        free={"C": tuple(contexts), "s0": alphabet, "w0": queues},
    )


# --- claims ----------------------------------------------------------------------------------


def halting_checks(
    rules: Rules | None = None, make: ParityMaker = parity_machine, code: Code | None = None
) -> tuple[Check, ...]:
    """The for-all proof, and the final queues of small machines."""
    used = code or Code()
    return (
        covers(
            Smt(
                goals=lambda: halting_goals(
                    halting_theory(rules, lambda: halting_worlds(make, used))
                ),
                instances="all queue machines, windows and contexts",
            )
        ),
        supports(
            Exhaustive(
                holds=window_fails(used.make, make),
                ranges=graded(lambda every: run_range(every, 2, 40), 911, 251, 29),
                rechecked_as="window-run",
                exhibit=run_exhibit,
                leans_on=(),
            )
        ),
    )


@claim(
    id="machines.window.halting",
    source=Source(PAPER, "Appendix A, halting"),
    latex=r"\mathsf N(q_{\mathrm{halt}}, r):\quad C_t = \sigma\, \mathsf{sem}(C),\ "
    r"\mathbf e_\sigma = r \oplus \Pi(\mathsf{sem}(C)) \text{ (ready)};\quad"
    r" C_t = \mathsf{sem}(C) \text{ (refresh)}",
    scope="all queue machines, whose parity the halting state keeps, and all contexts",
    uses=(
        "machines.words.laws",
        "machines.parity.step",
        "machines.window.ready",
        "machines.window.refresh",
    ),
    expected=Status.PROVED,
)
def the_final_queue_is_read_off_the_context() -> tuple[Check, ...]:
    """When the control label reaches the halting state the final queue can be read off the context.

    The halting state keeps the parity r: in ready form the queue is the symbol named by r xor the
    parity of sem, then sem; in refresh form it is sem itself. No run ends at a pending label, and
    G is defined on halting labels.
    """
    return halting_checks()
