"""The theory of the sliding-window transformer: contexts, the map G, one generated token.

    G (Ctx)        the next token, a rule per row of the table in `window`
    slide (Ctx v)  the next context, by the token's update bit
    next (C)       slide of C by G(C)

    Ready(C, W, q)     one marker, sem = W, newest label N(q)
    Refresh(C, F, q)   no marker, sem = F (so W = tail(F)), newest label N(q)

The parity that G reads is that of the displayed counts; that it is the parity of sem is proved
first and then assumed.

Source: Sliding-Window Transformers Without Positional Encodings, Theorem 9 and Appendix A.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from constructions.machines.contexts import hist_machine_number
from constructions.machines.definitions import ParityHistMachine
from constructions.machines.readings import (
    Context,
    Meaning,
    Reading,
    word_sorts,
    word_symbols,
)
from constructions.machines.window import WindowTransformer, counts_mask, window_transformer
from constructions.machines.words import (
    MARKS,
    MARKS_SIGN,
    NEWEST,
    NOT_EMPTY,
    SEM,
    SEM_PARITY,
    WORD_NOT_EMPTY,
    WORDS,
    axioms_of,
    context_definitions,
    word_definitions,
)
from verify.smtlib import Axiom, Goal, Theory, World, induction

TRANSFORMER = """
(declare-sort Par 0)
(declare-fun has (Par Sym) Bool) (declare-fun pty (Word) Par) (declare-fun seen (Ctx) Par)
(declare-const start Q) (declare-fun halts (Q) Bool)
(declare-fun dq (Q Par) Q) (declare-fun two (Q Par) Bool)
(declare-fun o1 (Q Par) Sym) (declare-fun o2 (Q Par) Sym)
(declare-const first Sym)
(declare-fun G (Ctx) Tok) (declare-fun slide (Ctx Tok) Ctx)
(declare-fun shown (Word) Ctx) (declare-fun prompt (Word) Ctx)
(declare-const w0 Word) (declare-const s0 Sym)
(define-fun next ((c Ctx)) Ctx (slide c (G c)))
(define-fun Ready ((c Ctx) (w Word) (q Q)) Bool
  (and (= (marks c) 1) (= (sem c) w) (= (newest c) (N q))))
(define-fun Refresh ((c Ctx) (f Word) (q Q)) Bool
  (and (= (marks c) 0) (= (sem c) f) (= (newest c) (N q))))
(define-fun Form ((c Ctx) (f Word) (q Q)) Bool (or (Ready c (wtail f) q) (Refresh c f q)))
(define-fun appended ((w Word) (q Q)) Word (let ((p (pty w)))
  (ite (two q p) (wsnoc (wsnoc w (o1 q p)) (o2 q p)) (wsnoc w (o1 q p)))))
(declare-const C Ctx)
(define-fun q0 () Q (nq (newest C)))
(define-fun step ((w Word)) Word (appended w q0))
(define-fun q1 ((w Word)) Q (dq q0 (pty w)))
"""

SEEN = "(= (seen {c}) (pty (sem {c})))"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The rows of G as texts over a context c with one marker; twins replace one."""

    refresh: str = "(tok mark (newest c) false)"
    pending: str = "(tok (sym (ps (newest c))) (N (pq (newest c))) false)"
    one: str = "(tok (sym (o1 q p)) (N (dq q p)) false)"
    both: str = "(tok (sym (o1 q p)) (P (dq q p) (o2 q p)) true)"


def _row(name: str, premise: str, value: str, gloss: str) -> Axiom:
    return Axiom(
        name, f"(forall ((c Ctx)) (! (=> {premise} (= (G c) {value})) :pattern ((G c))))", gloss
    )


def _step_row(name: str, double: str, value: str, gloss: str) -> Axiom:
    return Axiom(
        name,
        f"""(forall ((c Ctx)) (! (=> (and (= (marks c) 1) ((_ is N) (newest c))
          (not (halts (nq (newest c))))) (let ((q (nq (newest c))) (p (seen c)))
          (=> {double} (= (G c) {value})))) :pattern ((G c))))""",
        gloss,
    )


def map_axioms(rules: Rules) -> tuple[Axiom, ...]:
    """The map G and the adaptive context window."""
    return (
        _row(
            "refresh",
            "(and (distinct c cnil) (= (marks c) 0))",
            rules.refresh,
            "without a marker: a marker with the newest label",
        ),
        _row(
            "pending",
            "(and (= (marks c) 1) ((_ is P) (newest c)))",
            rules.pending,
            "P(q, s): the owed symbol s, then N(q)",
        ),
        _step_row("one symbol", "(not (two q p))", rules.one, "delta(q, p) = (q', x)"),
        _step_row("two symbols", "(two q p)", rules.both, "delta(q, p) = (q', x y): x, y is owed"),
        _row(
            "idle",
            "(and (= (marks c) 1) ((_ is N) (newest c)) (halts (nq (newest c))))",
            "(tok (sym first) (newest c) false)",
            "a halting label repeats itself",
        ),
        Axiom(
            "sliding update",
            """(forall ((c Ctx) (v Tok)) (! (= (slide c v)
              (ite (bit v) (csnoc c v) (csnoc (ctail c) v))) :pattern ((slide c v))))""",
            "bit 1 keeps the oldest token, bit 0 drops it",
        ),
    )


def prompt_axioms() -> tuple[Axiom, ...]:
    """The prompt: the first window and one marker, all labelled N(start)."""
    return (
        Axiom("nothing shown", "(= (shown wnil) cnil)", "the empty word is shown by no token"),
        Axiom(
            "shown",
            """(forall ((s Sym) (w Word)) (! (= (shown (wcons s w))
              (ccons (tok (sym s) (N start) false) (shown w))) :pattern ((shown (wcons s w)))))""",
            "a word is shown symbol by symbol, labelled N(start)",
        ),
        Axiom(
            "prompt",
            """(forall ((w Word)) (! (= (prompt w) (csnoc (shown w) (tok mark (N start) false)))
              :pattern ((prompt w))))""",
            "the prompt ends with a marker labelled N(start)",
        ),
    )


def prompt_goals(theory: Theory) -> tuple[Goal, ...]:
    """The prompt is in ready form of the first window."""
    return (
        *induction(
            name="the word is shown without markers",
            theory=theory,
            invariant=lambda w: f"(and (= (sem (shown {w})) {w}) (= (marks (shown {w})) 0))",
            base="wnil",
            step=("w0", "(wcons s0 w0)"),
        ),
        Goal(
            name="the prompt is in ready form",
            theory=theory,
            role="conclusion",
            assumptions=("(= (sem (shown w0)) w0)", "(= (marks (shown w0)) 0)"),
            conclusion="(Ready (prompt w0) w0 start)",
        ),
    )


def window_theory(
    name: str,
    worlds: Callable[[], Iterable[World]],
    *,
    rules: Rules | None = None,
    extra: Sequence[Axiom] = (),
    declarations: str = "",
) -> Theory:
    """Words, contexts and G, for all parity-HIST machines."""
    return Theory(
        name=name,
        declarations=WORDS + TRANSFORMER + declarations,
        axioms=(
            *word_definitions()[:2],
            *context_definitions()[:7],
            *axioms_of(WORD_NOT_EMPTY, NOT_EMPTY, SEM, MARKS, MARKS_SIGN, NEWEST),
            Axiom(
                "the parity that is seen",
                f"(forall ((c Ctx)) (! {SEEN.format(c='c')} :pattern ((seen c))))",
                "the displayed counts have the parity of sem",
            ),
            *map_axioms(rules or Rules()),
            *prompt_axioms(),
            *extra,
        ),
        worlds=worlds,
    )


def seen_goal(worlds: Callable[[], Iterable[World]]) -> Goal:
    """The parity of the displayed counts is that of sem, as a vector."""
    return Goal(
        name="the counts give the window's parity",
        theory=Theory(
            name="parity of counts",
            declarations=WORDS + TRANSFORMER,
            axioms=(
                *axioms_of(SEM_PARITY),
                Axiom(
                    "vector",
                    "(forall ((w Word) (y Sym)) (! (= (has (pty w) y) (odd w y)) "
                    ":pattern ((has (pty w) y))))",
                    "the parity vector of a word holds its parities",
                ),
                Axiom(
                    "counts",
                    "(forall ((c Ctx) (y Sym)) (! (= (has (seen c) y) "
                    "(= (mod (ccount c (sym y)) 2) 1)) :pattern ((has (seen c) y))))",
                    "G reads the displayed counts mod 2",
                ),
                Axiom(
                    "extensional",
                    "(forall ((a Par) (b Par)) (=> (forall ((y Sym)) (= (has a y) (has b y))) "
                    "(= a b)))",
                    "vectors with equal entries are equal",
                ),
            ),
            worlds=worlds,
        ),
        conclusion=SEEN.format(c="C"),
    )


# --- the theory's meaning in the code --------------------------------------------------------

Maker = Callable[[ParityHistMachine[Any]], WindowTransformer[Any]]


def transformer_symbols(
    transformer: WindowTransformer[Any], reading: Reading | None = None
) -> dict[str, Meaning]:
    """Meaning of the symbols of TRANSFORMER in a real transformer and its machine."""
    machine = transformer.machine
    alphabet = machine.alphabet
    words = word_symbols(alphabet, transformer.marker, reading)

    def counts(context: Context) -> list[int]:
        shown = [token.displayed for token in context]
        return [shown.count(symbol) for symbol in transformer.displayed]

    def appended(state: Any, mask: int) -> tuple[str, ...]:
        return machine.transition(state, mask).appended

    def parity(word: tuple[str, ...]) -> int:
        return sum((word.count(y) & 1) << place for place, y in enumerate(alphabet))

    return {
        **words,
        "has": lambda p, y: bool(p >> alphabet.index(y) & 1),
        "pty": parity,
        "seen": lambda c: counts_mask(counts(c)),
        "start": machine.start,
        "shown": lambda w: transformer.prompt(w)[:-1],
        "prompt": transformer.prompt,
        "halts": machine.is_halting,
        "dq": lambda q, p: machine.transition(q, p).state,
        "two": lambda q, p: len(appended(q, p)) > 1,
        "o1": lambda q, p: appended(q, p)[0],
        "o2": lambda q, p: appended(q, p)[-1],
        "first": alphabet[0],
        "G": lambda c: transformer.next_token(c[-1].label, counts(c)),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """The code that a theory is about; a twin puts a wrong part in."""

    make: Maker = window_transformer
    reading: Reading = field(default_factory=Reading)


def few_markers(contexts: Iterable[Context]) -> tuple[Context, ...]:
    """Contexts in which G is defined: not empty, at most one marker."""
    return tuple(
        context
        for context in contexts
        if context and sum(t.displayed == "#" for t in context) < 2  # noqa: PLR2004
    )


def window_worlds(code: Code, integers: range = range(-1, 6)) -> Iterator[World]:
    """The transformers of two parity-HIST machines, on all short contexts and some longer."""
    sorts = word_sorts()
    contexts = few_markers(sorts["Ctx"])
    for number in (3, 11):
        symbols = transformer_symbols(code.make(hist_machine_number(number)), code.reading)
        yield World(
            sorts={**sorts, "Ctx": contexts, "Q": ("p", "q", "halt"), "Par": range(4)},
            symbols=symbols,
            integers=integers,
            free={
                "C": contexts,
                "S": range(1, 5),
                "w0": sorts["Word"],
                "s0": sorts["Sym"],
            },
        )
