"""The theory of Theorem 7: a queue machine, its parity-HIST machine, and both runs on one input.

    queue C = sigma W      stored r = parity of C      seen p = parity of W      r xor p = e_sigma

The invariant is carried along a run by induction over its steps; the run stands still once it has
halted, and the halting state keeps r.

Source: Sliding-Window Transformers Without Positional Encodings, Theorem 7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from constructions.machines.words import (
    PAR_SNOC,
    WORD_NOT_EMPTY,
    WORDS,
    axioms_of,
    parity_definitions,
    word_definitions,
)
from verify.smtlib import Axiom, Goal, Theory, World, induction

PARITIES = """
(declare-sort Par 0)
(declare-fun has (Par Sym) Bool) (declare-fun pty (Word) Par)
(declare-fun xorp (Par Par) Par) (declare-fun unit (Sym) Par)
(declare-datatypes ((Stored 0)) (((stored (qstate Q) (kept Par) (first Bool)))))
(declare-const front Sym) (declare-const start Q) (declare-const halt Q)
(declare-fun dq (Q Sym) Q) (declare-fun two (Q Sym) Bool)
(declare-fun o1 (Q Sym) Sym) (declare-fun o2 (Q Sym) Sym)
(declare-fun recovered (Stored Par) Sym)
(declare-fun hq (Stored Par) Stored) (declare-fun htwo (Stored Par) Bool)
(declare-fun h1 (Stored Par) Sym) (declare-fun h2 (Stored Par) Sym)
(define-fun names ((z Stored) (p Par) (s Sym)) Bool
  (ite (first z) (= s front) (= (xorp (kept z) p) (unit s))))
"""

_RUNS = """
(declare-const input Word)
(declare-fun C (Int) Word) (declare-fun q (Int) Q)
(declare-fun W (Int) Word) (declare-fun z (Int) Stored)
(declare-const k Int)
(declare-const w0 Word) (declare-const s0 Sym) (declare-const z0 Stored)
(define-fun rest ((n Int)) Word (wtail (C n)))
(define-fun top ((n Int)) Sym (whead (C n)))
(define-fun seen ((n Int)) Par (pty (W n)))
"""

KEPT_RULE = "(xor (has p y) (ite (two q s) (xor (= y (o1 q s)) (= y (o2 q s))) (= y (o1 q s))))"
"""Entry y of the next stored parity, q and s the queue machine's; a mutant replaces it."""


def parity_vectors() -> tuple[Axiom, ...]:
    """Parities as vectors mod 2, and the parity of a word."""
    return (
        Axiom(
            "parity vector",
            """(forall ((w Word) (y Sym)) (! (= (has (pty w) y) (odd w y))
              :pattern ((has (pty w) y))))""",
            "the parity vector of a word holds its parities",
        ),
        Axiom(
            "unit vectors",
            """(forall ((a Par) (b Par) (s Sym)) (! (=> (forall ((y Sym))
              (= (xor (has a y) (has b y)) (= y s))) (= (xorp a b) (unit s)))
              :pattern ((xorp a b) (unit s))))""",
            "a sum of parities whose only 1 stands at s is the unit vector of s",
        ),
        Axiom(
            "unit entries",
            """(forall ((s Sym) (y Sym)) (! (= (has (unit s) y) (= y s))
              :pattern ((has (unit s) y))))""",
            "the unit vector of s has its only 1 at s",
        ),
    )


def hist_machine(kept_rule: str = KEPT_RULE) -> tuple[Axiom, ...]:
    """The parity-HIST machine of a queue machine, as Theorem 7 defines it."""

    def transition(name: str, body: str, pattern: str, gloss: str) -> Axiom:
        return Axiom(
            name,
            f"""(forall ((z Stored) (p Par)) (! (=> (and (distinct (qstate z) halt)
              (names z p (recovered z p))) (let ((q (qstate z)) (s (recovered z p))) {body}))
              :pattern ({pattern})))""",
            gloss,
        )

    return (
        Axiom(
            "first step",
            """(forall ((z Stored) (p Par)) (! (=> (first z) (= (recovered z p) front))
              :pattern ((recovered z p))))""",
            "with the flag set the dropped symbol is the start symbol",
        ),
        Axiom(
            "recovery",
            """(forall ((z Stored) (p Par) (s Sym)) (! (=> (and (not (first z))
              (= (xorp (kept z) p) (unit s))) (= (recovered z p) s))
              :pattern ((recovered z p) (unit s))))""",
            "otherwise it is the one whose unit vector r xor p is",
        ),
        transition(
            "next state",
            "(and (= (qstate (hq z p)) (dq q s)) (not (first (hq z p))))",
            "(hq z p)",
            "the queue machine's next state, the flag cleared",
        ),
        Axiom(
            "next parity",
            f"""(forall ((z Stored) (p Par) (y Sym)) (! (=> (and (distinct (qstate z) halt)
              (names z p (recovered z p))) (let ((q (qstate z)) (s (recovered z p)))
              (= (has (kept (hq z p)) y) {kept_rule}))) :pattern ((has (kept (hq z p)) y))))""",
            "the stored parity becomes p xor the parity of the appended word",
        ),
        transition(
            "appended length", "(= (htwo z p) (two q s))", "(htwo z p)", "as many symbols appended"
        ),
        transition("first appended", "(= (h1 z p) (o1 q s))", "(h1 z p)", "the same first symbol"),
        transition(
            "second appended",
            "(=> (two q s) (= (h2 z p) (o2 q s)))",
            "(h2 z p)",
            "the same second symbol",
        ),
    )


def _appended(word: str, two: str, first: str, second: str) -> str:
    return f"(ite {two} (wsnoc (wsnoc {word} {first}) {second}) (wsnoc {word} {first}))"


_NEXT_QUEUE = _appended(
    "(rest n)", "(two (q n) (top n))", "(o1 (q n) (top n))", "(o2 (q n) (top n))"
)
_NEXT_WINDOW = _appended(
    "(W n)", "(htwo (z n) (seen n))", "(h1 (z n) (seen n))", "(h2 (z n) (seen n))"
)


def run_axioms() -> tuple[Axiom, ...]:
    """Both runs on one input; each stands still in its halting state."""
    return (
        Axiom(
            "queue starts",
            "(and (= (C 0) (wcons front input)) (= (q 0) start))",
            "the queue begins with the start symbol and the input",
        ),
        Axiom(
            "queue steps",
            f"""(forall ((n Int)) (! (=> (>= n 0) (ite (= (q n) halt)
              (and (= (C (+ n 1)) (C n)) (= (q (+ n 1)) (q n)))
              (and (= (C (+ n 1)) {_NEXT_QUEUE}) (= (q (+ n 1)) (dq (q n) (top n))))))
              :pattern ((C (+ n 1)))))""",
            "a queue step removes the front symbol and appends one or two",
        ),
        Axiom(
            "HIST starts",
            """(and (= (W 0) input) (= (qstate (z 0)) start) (first (z 0)))""",
            "the window begins with the input, the flag is set",
        ),
        Axiom(
            "HIST steps",
            f"""(forall ((n Int)) (! (=> (>= n 0) (ite (= (qstate (z n)) halt)
              (and (= (W (+ n 1)) (W n)) (= (z (+ n 1)) (z n)))
              (and (= (W (+ n 1)) (wtail {_NEXT_WINDOW})) (= (z (+ n 1)) (hq (z n) (seen n))))))
              :pattern ((W (+ n 1)))))""",
            "a HIST step appends one or two symbols and drops the oldest",
        ),
    )


def parity_theory(kept_rule: str, worlds: Callable[[], Iterable[World]]) -> Theory:
    """A queue machine, its parity-HIST machine, and their runs on one input."""
    return Theory(
        name="parity-HIST",
        declarations=WORDS + PARITIES + _RUNS,
        axioms=(
            *word_definitions()[:2],
            *parity_definitions(),
            *axioms_of(PAR_SNOC, WORD_NOT_EMPTY),
            *parity_vectors(),
            *hist_machine(kept_rule),
            *run_axioms(),
        ),
        worlds=worlds,
    )


_KEEPS = """(forall ((y Sym)) (! (= (has (kept z0) y) (odd (wcons s0 w0) y))
  :pattern ((has (kept z0) y))))"""


def recovery_goals(theory: Theory) -> tuple[Goal, ...]:
    """That r xor p is the unit vector of the dropped symbol alone; the flag names the first."""
    return (
        Goal(
            name="r xor p is the unit vector of the dropped symbol",
            theory=theory,
            role="conclusion",
            assumptions=("(not (first z0))", _KEEPS),
            conclusion="(= (xorp (kept z0) (pty w0)) (unit s0))",
        ),
        Goal(
            name="entry by entry",
            theory=theory,
            assumptions=(_KEEPS,),
            conclusion="(forall ((y Sym)) (= (xor (has (kept z0) y) (has (pty w0) y)) (= y s0)))",
        ),
        Goal(
            name="the machine names that symbol",
            theory=theory,
            role="conclusion",
            assumptions=("(not (first z0))", "(= (xorp (kept z0) (pty w0)) (unit s0))"),
            conclusion="(= (recovered z0 (pty w0)) s0)",
        ),
        Goal(
            name="a unit vector belongs to one symbol",
            theory=theory,
            conclusion="(forall ((s Sym) (u Sym)) (=> (= (unit s) (unit u)) (= s u)))",
        ),
        Goal(
            name="the flag names the start symbol",
            theory=theory,
            assumptions=("(first z0)",),
            conclusion="(= (recovered z0 (pty w0)) front)",
        ),
    )


def _invariant(n: str) -> str:
    return f"""(and (distinct (C {n}) wnil) (= (W {n}) (rest {n})) (= (qstate (z {n})) (q {n}))
      (ite (first (z {n})) (= (top {n}) front)
        (forall ((y Sym)) (! (= (has (kept (z {n})) y) (odd (C {n}) y))
          :pattern ((has (kept (z {n})) y))))))"""


_NAMED = "(and (names (z k) (seen k) (top k)) (= (recovered (z k) (seen k)) (top k)))"
_LEGAL = "(>= k 0)"


def step_goals(theory: Theory) -> tuple[Goal, ...]:
    """The invariant by induction over the steps, from the start to the halting state."""
    base, step = induction(
        name="the window is the queue's tail and r its parity",
        theory=theory,
        invariant=_invariant,
        base="0",
        step=("k", "(+ k 1)"),
        step_assumptions=(_LEGAL, _NAMED),
    )
    return (
        base,
        Goal(
            name="the machine names the queue's front",
            theory=theory,
            assumptions=(_LEGAL, _invariant("k")),
            conclusion=_NAMED,
        ),
        step,
        Goal(
            name="both halt together",
            theory=theory,
            role="conclusion",
            assumptions=(_LEGAL, _invariant("k")),
            conclusion="(= (= (q k) halt) (= (qstate (z k)) halt))",
        ),
        Goal(
            name="the whole queue is read off, halting state included",
            theory=theory,
            role="conclusion",
            assumptions=(_LEGAL, _invariant("k"), _NAMED),
            conclusion="(= (wcons (recovered (z k) (seen k)) (W k)) (C k))",
        ),
    )
