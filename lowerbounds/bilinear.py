"""E R U is bilinear in (E, U) and linear in R: the factorisation behind the free readout.

    E R U = sum_i E_i (sum_j R_ij U_j) = sum_i sum_j (E_i U_j) R_ij

The left side is how the model computes; the right is a row of [E (x) U] times the column vec R.

Source: Fixed Universal Transformers, Theorem 4.1; the step is ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from lowerbounds.shared_attention import leaves_only
from verify.smtlib import Axiom, Goal, Theory, World, induction

_DECLARATIONS = """
(declare-const m Int)
(declare-fun E (Int) Real) (declare-fun U (Int) Real) (declare-fun R (Int Int) Real)
(declare-fun row (Int Int) Real) (declare-fun flatRow (Int Int) Real)
(declare-fun nested (Int) Real) (declare-fun flat (Int) Real)
(declare-const n Int) (declare-const i0 Int)
"""


def _sum(name: str, index: str, summand: str) -> str:
    """Partial sums over the first coordinates: the empty one, and one term more."""
    inside = f"{index} " if index else ""
    variables = "((i Int) (j Int))" if index else "((j Int))"
    return f"""(forall {variables} (! (and (= ({name} {inside}0) 0.0) (=> (>= j 0)
      (= ({name} {inside}(+ j 1)) (+ ({name} {inside}j) {summand}))))
      :pattern (({name} {inside}j))))"""


def bilinear_theory() -> Theory:
    """The nested and the flat double sum, each one coordinate after the other."""
    sums = (
        ("row", "i", "(* (R i j) (U j))", "row i of R times U"),
        ("flatRow", "i", "(* (* (E i) (U j)) (R i j))", "the summands E_i U_j R_ij of one i"),
        ("nested", "", "(* (E j) (row j m))", "E times (R U)"),
        ("flat", "", "(flatRow j m)", "the sum over all pairs i, j"),
    )
    return Theory(
        name="bilinear",
        declarations=_DECLARATIONS,
        axioms=(
            Axiom("sizes", "(>= m 1)", "m is at least 1"),
            *(Axiom(name, _sum(name, index, part), gloss) for name, index, part, gloss in sums),
        ),
        worlds=bilinear_worlds,
    )


def bilinear_goals(theory: Theory) -> tuple[Goal, ...]:
    """Rows first, then the sum over rows."""
    distributes = """(=> (= {4} (+ {1} (* {2} {3})))
      (= (* {0} {4}) (+ (* {0} {1}) (* (* {0} {3}) {2}))))"""
    numbers = Theory(name="real numbers", declarations="", axioms=(), worlds=_number_worlds)
    here = distributes.format("(E i0)", "(row i0 n)", "(R i0 n)", "(U n)", "(row i0 (+ n 1))")
    of_row = "(= (flatRow i0 {0}) (* (E i0) (row i0 {0})))"
    every_row = "(forall ((i Int)) (! (= (flatRow i m) (* (E i) (row i m))) :pattern ((row i m))))"
    return (
        Goal(
            name="a factor moves into a sum",
            theory=numbers,
            conclusion=f"(forall ((e Real) (s Real) (r Real) (u Real) (t Real)) "
            f"{distributes.format('e', 's', 'r', 'u', 't')})",
        ),
        *induction(
            name="E_i moves into its row",
            theory=theory,
            invariant=of_row.format,
            base="0",
            step=("n", "(+ n 1)"),
            step_assumptions=("(>= n 0)", here),
        ),
        *induction(
            name="the nested sum is the flat one",
            theory=theory,
            invariant="(= (flat {0}) (nested {0}))".format,
            base="0",
            step=("n", "(+ n 1)"),
            step_assumptions=("(>= n 0)", every_row),
        ),
    )


def _number_worlds() -> Iterator[World]:
    yield World(sorts={"Real": (Fraction(0), Fraction(-2, 3), Fraction(3))}, symbols={})


def bilinear_worlds() -> Iterator[World]:
    """E, R and U of an actual model, with its double sums formed term by term."""
    model = leaves_only(2, 2, 3)
    m = model.width
    e, r, u = model.embeddings[1], model.products[2], model.readouts[1]

    def entry(matrix: Any, i: int, j: int) -> Fraction:
        inside = 0 <= i < matrix.height and 0 <= j < matrix.width
        return matrix[i, j] if inside else Fraction(0)

    def row(i: int, count: int) -> Fraction:
        return sum((entry(r, i, j) * entry(u, j, 0) for j in range(count)), Fraction(0))

    def flat_row(i: int, count: int) -> Fraction:
        terms = (entry(e, 0, i) * entry(u, j, 0) * entry(r, i, j) for j in range(count))
        return sum(terms, Fraction(0))

    yield World(
        sorts={},
        integers=range(m + 1),
        symbols={
            "m": m,
            "E": lambda i: entry(e, 0, i),
            "U": lambda j: entry(u, j, 0),
            "R": lambda i, j: entry(r, i, j),
            "row": row,
            "flatRow": flat_row,
            "nested": lambda n: sum((entry(e, 0, i) * row(i, m) for i in range(n)), Fraction(0)),
            "flat": lambda n: sum((flat_row(i, m) for i in range(n)), Fraction(0)),
        },
        free={"n": range(m), "i0": range(m)},
    )
