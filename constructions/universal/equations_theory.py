"""Probes and coefficients as stacks of blocks, and the products that the paper prints, as a theory.

Source: Fixed Universal Transformers, Equations 1 to 4, Appendix A.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from constructions.universal.sums import (
    ASSOCIATIVE,
    MATRICES,
)
from verify.smtlib import Axiom, Goal, Theory, World, induction

_EQUATIONS = (
    MATRICES
    + """
(declare-sort Path 0)
(declare-datatypes ((Kind 0)) (((KQ) (KK) (KC))))
(declare-const H Int) (declare-const L Int) (declare-const l0 Int)
(declare-const nil Path) (declare-fun cons (Int Path) Path) (declare-fun len (Path) Int)
(declare-fun heads_within (Path) Bool)
(declare-fun reads (Int Mat Kind Int) Mat)
(declare-fun sub (Int Mat Int) Mat)
(declare-fun block (Int Mat Path Kind Int) Mat)
(declare-fun RV (Int Int) Mat) (declare-fun M (Int Int) Mat)
(declare-fun R (Int Kind Int) Mat) (declare-fun W (Int Kind Int) Mat)
(declare-fun P (Int) Mat) (declare-fun C (Int) Mat)
(declare-fun along (Int Path Mat) Mat) (declare-fun mixed (Int Path Mat) Mat)
(declare-const E Mat)
(declare-const q0 Path) (declare-const h1 Int)
(declare-const g Kind) (declare-const h Int)
(define-fun inner ((l Int) (j Int)) Bool (and (<= 0 l) (< l L) (<= 1 j) (<= j H)))
(define-fun column ((l Int) (k Kind) (j Int)) Bool
  (ite (= k KC) (and (= l L) (= j 0)) (inner l j)))
(define-fun place ((l Int) (q Path) (k Kind) (j Int)) Bool
  (and (<= 0 l) (column (+ l (len q)) k j)))
"""
)


def _recursion(stack: str, factor: str, ends: str, words: str) -> tuple[Axiom, ...]:
    return (
        Axiom(
            f"{stack}: reads",
            f"""(forall ((l Int) (k Kind) (j Int)) (! (=> (column l k j)
              (= (reads l ({stack} l) k j) ({ends} l k j)))
              :pattern ((reads l ({stack} l) k j))))""",
            f"{words}: the reads of its level",
        ),
        Axiom(
            f"{stack}: heads",
            f"""(forall ((l Int) (j Int)) (! (=> (inner l j) (= (sub l ({stack} l) j)
              (mul ({factor} l j) ({stack} (+ l 1))))) :pattern ((sub l ({stack} l) j))))""",
            f"{words}: one block per head, that head's factor times the level above",
        ),
    )


def _product(name: str, factor: str) -> tuple[Axiom, ...]:
    return (
        Axiom(
            f"{name}: empty",
            f"(forall ((l Int) (b Mat)) (! (= ({name} l nil b) b) :pattern (({name} l nil b))))",
            "no factor",
        ),
        Axiom(
            f"{name}: next",
            f"""(forall ((l Int) (j Int) (q Path) (b Mat)) (! (= ({name} l (cons j q) b)
              (mul ({factor} l j) ({name} (+ l 1) q b))) :pattern (({name} l (cons j q) b))))""",
            f"the product of {factor} along a path, times a last matrix",
        ),
    )


def equations_theory(worlds: Callable[[], Iterator[World]], swap: bool = False) -> Theory:
    """P and C as stacks of blocks, and the products that the paper prints.

    `swap` exchanges the head whose factor a block of P holds: the mutant.
    """
    probe_axioms = _recursion("P", "RV", "R", "P_l")
    if swap:
        wrong = probe_axioms[1].formula.replace("(RV l j)", "(RV l (- (+ H 1) j))")
        probe_axioms = (probe_axioms[0], Axiom("P: heads", wrong, "heads swapped"))
    return Theory(
        name="equations",
        declarations=_EQUATIONS,
        axioms=(
            ASSOCIATIVE,
            Axiom(
                "lengths",
                """(and (= (len nil) 0) (forall ((j Int) (q Path)) (! (and (>= (len q) 0)
                  (= (len (cons j q)) (+ (len q) 1))) :pattern ((cons j q)))))""",
                "paths are finite",
            ),
            Axiom(
                "heads of a path",
                """(and (heads_within nil) (forall ((j Int) (q Path)) (! (=
                  (heads_within (cons j q)) (and (<= 1 j) (<= j H) (heads_within q)))
                  :pattern ((cons j q)))))""",
                "a path goes through heads 1..H",
            ),
            Axiom(
                "reads of a product",
                """(forall ((l Int) (a Mat) (b Mat) (k Kind) (j Int)) (! (=> (column l k j)
                  (= (reads l (mul a b) k j) (mul a (reads l b k j))))
                  :pattern ((reads l (mul a b) k j))))""",
                "columns of A B are A times the columns of B",
            ),
            Axiom(
                "sub-blocks of a product",
                """(forall ((l Int) (a Mat) (b Mat) (j Int)) (! (=> (inner l j)
                  (= (sub l (mul a b) j) (mul a (sub l b j)))) :pattern ((sub l (mul a b) j))))""",
                "columns of A B are A times the columns of B",
            ),
            Axiom(
                "block: here",
                """(forall ((l Int) (a Mat) (k Kind) (j Int)) (! (= (block l a nil k j)
                  (reads l a k j)) :pattern ((block l a nil k j))))""",
                "the empty path reads the level itself",
            ),
            Axiom(
                "block: further",
                """(forall ((l Int) (a Mat) (i Int) (q Path) (k Kind) (j Int)) (!
                  (= (block l a (cons i q) k j) (block (+ l 1) (sub l a i) q k j))
                  :pattern ((block l a (cons i q) k j))))""",
                "a path goes through its first head's sub-block",
            ),
            *probe_axioms,
            *_recursion("C", "M", "W", "C_l"),
            *_product("along", "RV"),
            *_product("mixed", "M"),
        ),
        worlds=worlds,
    )


def _linear_blocks(q: str) -> str:
    return f"""(forall ((l Int) (a Mat) (b Mat) (k Kind) (j Int)) (! (=> (and (place l {q} k j)
      (heads_within {q})) (= (block l (mul a b) {q} k j) (mul a (block l b {q} k j))))
      :pattern ((block l (mul a b) {q} k j))))"""


def _named_blocks(stack: str, product: str, ends: str, q: str) -> str:
    return f"""(forall ((l Int) (k Kind) (j Int)) (! (=> (and (place l {q} k j) (heads_within {q}))
      (= (block l ({stack} l) {q} k j) ({product} l {q} ({ends} (+ l (len {q})) k j))))
      :pattern ((block l ({stack} l) {q} k j))))"""


def equations_goals(theory: Theory) -> tuple[Goal, ...]:
    """Blocks are linear, and are the printed products, by induction over the path."""
    goals: list[Goal] = list(
        induction(
            name="blocks of a product",
            theory=theory,
            invariant=_linear_blocks,
            base="nil",
            step=("q0", "(cons h1 q0)"),
        )
    )
    for stack, product, ends in (("P", "along", "R"), ("C", "mixed", "W")):

        def invariant(q: str, stack: str = stack, product: str = product, ends: str = ends) -> str:
            return _named_blocks(stack, product, ends, q)

        goals += induction(
            name=f"blocks of {stack} are products along their path",
            theory=theory,
            invariant=invariant,
            base="nil",
            step=("q0", "(cons h1 q0)"),
            step_assumptions=(_linear_blocks("q0"),),
        )
    where = "(and (place 0 q0 g h) (heads_within q0))"
    equation = """(= (mul E (along 0 q0 (R (len q0) g h))) (mixed 0 q0 (W (len q0) g h)))"""
    named = (
        "(= (block 0 (P 0) q0 g h) (along 0 q0 (R (len q0) g h)))",
        "(= (block 0 (C 0) q0 g h) (mixed 0 q0 (W (len q0) g h)))",
        "(= (block 0 (mul E (P 0)) q0 g h) (mul E (block 0 (P 0) q0 g h)))",
    )
    goals += [
        Goal(
            name="E P_0 = C_0 gives Equations 1 to 4",
            theory=theory,
            role="conclusion",
            assumptions=(where, *named, "(= (mul E (P 0)) (C 0))"),
            conclusion=equation,
        ),
        Goal(
            name="Equations 1 to 4 give the blocks of E P_0 = C_0",
            theory=theory,
            role="conclusion",
            assumptions=(where, *named, equation),
            conclusion="(= (block 0 (mul E (P 0)) q0 g h) (block 0 (C 0) q0 g h))",
        ),
    ]
    return tuple(goals)
