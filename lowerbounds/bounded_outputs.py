"""How large a post-LayerNorm model's output can be: a theory, for all sizes.

No (y_i - t)^2 exceeds the sum of squares about t, which is m var + m t^2 since the deviations sum
to 0. Where t is the mean of the other m - 1 deviations this says y_i^2 <= (m - 1) var, so a
normalised coordinate is at most B in size, B^2 >= m - 1, and an output coordinate at most

    sum_j (|gamma_j| B + |beta_j|) |U_jc|

whatever the row before the last normalisation is: the embedding and the input do not occur.

Source: Fixed Universal Transformers, Section 3.3; the proofs are ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from lowerbounds.layer_norm import ALONE, LayerNorm, PostNorm, Row, root_bounds
from lowerbounds.layer_norm_theory import (
    ABOUT,
    BALANCED,
    DEVIATIONS,
    EPS,
    NORMALISED,
    ROOT,
    SQUARES,
    VARIANCE,
    Worlds,
    coordinate,
    row_theory,
    row_worlds,
    running_sum,
    sum_of_first,
)
from lowerbounds.normalization_lemmas import (
    DIVIDED,
    GROWS,
    MEAN_OF_OTHERS,
    PRODUCT,
    QUOTIENT,
    ROOT_OF_SQUARE,
    SHARE,
    at_most,
    size,
)
from lowerbounds.post_norm_models import output_limits, reversing_model
from verify.rational import Matrix
from verify.smtlib import Axiom, Goal, Symbol, World, induction

# --- the size of a normalised coordinate -----------------------------------------------------

OTHERS = "(- (to_real m) 1.0)"

_FROM_T = "(- (dev x i) t)"
_OWN = f"(ite (< i {{0}}) (* {_FROM_T} {_FROM_T}) 0.0)"
_MEMBER = f"(<= {_OWN} (about x {{0}}))"
_EXPANDED = """(= (about x {0})
  (+ (- (squares x {0}) (* 2.0 (* t (devs x {0})))) (* (to_real {0}) (* t t))))"""
_OF_OTHERS = f"(= (* {OTHERS} {{0}}) (- (dev x i)))"
_AGAINST_VARIANCE = f"(<= (* (dev x i) (dev x i)) (* {OTHERS} (var x)))"


def about_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """The sum of squares about t, multiplied out, and that no member of it exceeds it."""
    theory = row_theory("squares", (DEVIATIONS, SQUARES, ABOUT), worlds)
    return (
        *induction(
            name="squares about t, multiplied out",
            theory=theory,
            invariant=_EXPANDED.format,
            base="0",
            step=("k", "(+ k 1)"),
            step_assumptions=("(within k)",),
        ),
        *induction(
            name="a square is at most the sum of squares",
            theory=theory,
            invariant=_MEMBER.format,
            base="0",
            step=("k", "(+ k 1)"),
            base_assumptions=("(within i)",),
            step_assumptions=(
                "(within i)",
                "(within k)",
                GROWS.at(s="(about x k)", z="(- (dev x k) t)", b=_OWN.format("k")),
            ),
        ),
        GROWS.goal,
    )


def size_goals(worlds: Worlds, most: str = OTHERS) -> tuple[Goal, ...]:
    """The square of a normalised coordinate is at most m - 1 (`most`: a twin's other number)."""
    theory = row_theory("normalised coordinates", (VARIANCE, ROOT, NORMALISED), worlds)
    return (
        Goal(
            name="the other deviations have a mean",
            theory=theory,
            assumptions=("(within i)", "(=> (= m 1) (= (dev x 0) 0.0))"),
            conclusion=_OF_OTHERS.format(f"(ite (= m 1) 0.0 (/ (- (dev x i)) {OTHERS}))"),
        ),
        Goal(
            name="a deviation against the variance",
            theory=theory,
            assumptions=(
                "(within i)",
                BALANCED.format(r="x"),
                _EXPANDED.format("m"),
                _MEMBER.format("m"),
                _OF_OTHERS.format("t"),
                MEAN_OF_OTHERS.at(c=OTHERS, t="t", y="(dev x i)"),
                DIVIDED.at(n="(to_real m)", t="t", d=_FROM_T, v="(var x)"),
                SHARE.at(c=OTHERS, t="t", y="(dev x i)", v="(var x)"),
            ),
            conclusion=_AGAINST_VARIANCE,
        ),
        Goal(
            name="the size of a normalised coordinate",
            theory=theory,
            role="conclusion",
            assumptions=(
                "(within i)",
                _AGAINST_VARIANCE,
                QUOTIENT.at(
                    r="(root x)", v="(var x)", e="eps", h="(hat x i)", y="(dev x i)", c=OTHERS
                ),
            ),
            conclusion=f"(<= (* (hat x i) (hat x i)) {most})",
        ),
        *(lemma.goal for lemma in (MEAN_OF_OTHERS, DIVIDED, SHARE, QUOTIENT)),
    )


# --- the output ------------------------------------------------------------------------------

_OUTPUT = """
(declare-const B Real)
(declare-fun scale (Int) Real) (declare-fun shift (Int) Real) (declare-fun U (Int) Real)
(declare-fun term (Row Int) Real) (declare-fun limit (Int) Real)
(declare-fun out (Row Int) Real) (declare-fun bound (Int) Real)
(declare-sort Input 0) (declare-sort Embedding 0)
(declare-fun last (Input Embedding) Row) (declare-fun response (Input Embedding) Real)
"""


_AFFINE = "(+ (* (scale {0}) (hat {1} {0})) (shift {0}))"
_LIMIT = f"(+ (* {size('(scale {0})')} B) {size('(shift {0})')})"
"""What |gamma_j hat_j + beta_j| is at most."""


def _output_axioms() -> tuple[Axiom, ...]:
    return (
        running_sum("out", "(term r j)", "output coordinate"),
        running_sum("bound", "(limit j)", "bound", of=""),
        Axiom(
            "model",
            """(forall ((X Input) (E Embedding)) (! (= (response X E) (out (last X E) m))
              :pattern ((response X E))))""",
            "the response is read off the last normalised row, whatever row X and E lead to",
        ),
    )


def _summand_axioms(most: str) -> tuple[Axiom, ...]:
    return (
        Axiom("B", f"(and (>= B 0.0) (<= {most} (* B B)))", "B^2 is at least m - 1"),
        Axiom(
            "summand",
            f"""(forall ((r Row) (j Int)) (! (= (term r j) (* (U j) {_AFFINE.format("j", "r")}))
              :pattern ((term r j))))""",
            "a summand of the output: the coordinate that LayerNorm returns, times U_jc",
        ),
        Axiom(
            "limit",
            f"""(forall ((j Int)) (! (= (limit j) (* {size("(U j)")} {_LIMIT.format("j")}))
              :pattern ((limit j))))""",
            "a summand of the bound: |U_jc| (|gamma_j| B + |beta_j|)",
        ),
    )


_SUMMAND = at_most("(term x k)", "(limit k)")


def summand_goals(worlds: Worlds, most: str = OTHERS) -> tuple[Goal, ...]:
    """A normalised coordinate is at most B, so a summand of the output keeps its limit."""
    theory = row_theory("summands", _summand_axioms(most), worlds, _OUTPUT)
    affine, limit = _AFFINE.format("k", "x"), _LIMIT.format("k")
    return (
        Goal(
            name="a normalised coordinate is at most B",
            theory=theory,
            assumptions=(
                f"(<= (* (hat x k) (hat x k)) {most})",
                ROOT_OF_SQUARE.at(h="(hat x k)", c=most, b="B"),
            ),
            conclusion=at_most("(hat x k)", "B"),
        ),
        Goal(
            name="a summand is bounded",
            theory=theory,
            assumptions=(
                at_most("(hat x k)", "B"),
                PRODUCT.at(a="(hat x k)", s="B", u="(scale k)"),
                PRODUCT.at(a=affine, s=limit, u="(U k)"),
            ),
            conclusion=_SUMMAND,
        ),
        ROOT_OF_SQUARE.goal,
        PRODUCT.goal,
    )


def output_goals(worlds: Worlds, most: str = OTHERS) -> tuple[Goal, ...]:
    """An output coordinate is bounded by a number in which no row occurs."""
    theory = row_theory("outputs", _output_axioms(), worlds, _OUTPUT)
    bounded = at_most("(out {0} {1})", "(bound {1})")
    return (
        Goal(
            name="m itself serves as B",
            theory=theory,
            conclusion=f"(and (>= (to_real m) 0.0) (<= {most} (* (to_real m) (to_real m))))",
        ),
        *induction(
            name="an output coordinate is bounded",
            theory=theory,
            invariant=lambda k: bounded.format("x", k),
            base="0",
            step=("k", "(+ k 1)"),
            step_assumptions=("(within k)", _SUMMAND),
        ),
        Goal(
            name="one bound for all embeddings and inputs",
            theory=theory,
            role="conclusion",
            assumptions=(f"(forall ((r Row)) {bounded.format('r', 'm')})",),
            conclusion=f"""(forall ((X Input) (E Embedding))
              {at_most("(response X E)", "(bound m)")})""",
        ),
    )


# --- the theory's meaning in the code --------------------------------------------------------


def output_worlds() -> Iterator[World]:
    """A fixed model of one layer that reverses rows, on the rows of `row_worlds`."""
    for world in row_worlds():
        if world.symbols["t"] != 0:  # t does not occur here
            continue
        rows = world.sorts["Row"]
        width = len(rows[0])
        norm = LayerNorm(
            scale=tuple([Fraction(-1, 2 + j) for j in range(width)]),
            shift=tuple([Fraction(j - 1, 2) for j in range(width)]),
            eps=EPS,
        )
        readout = Matrix(width, 1, [Fraction(2 * j - 1, 3) for j in range(width)])
        yield World(
            sorts={
                "Row": rows,
                "Input": (Matrix(1, 1, [1]), Matrix(1, 1, [0])),
                "Embedding": [Matrix.from_rows([row]) for row in rows],
            },
            integers=world.integers,
            symbols={**world.symbols, **output_symbols(reversing_model(norm, readout))},
            free=world.free,
        )


def output_symbols(model: PostNorm) -> dict[str, Symbol]:
    """The symbols of the output for a model of one layer and one readout column."""
    norm = model.norms[-1]
    room = root_bounds(Fraction(norm.width - 1))[1]
    (whole,) = output_limits(model, room)
    (column,) = model.readout.transposed.rows()
    weights = zip(column, norm.scale, norm.shift, strict=True)
    limits = [abs(u) * (abs(scale) * room + abs(shift)) for u, scale, shift in weights]

    def terms(row: Row) -> Row:
        (normed,) = norm.of(Matrix.from_rows([row])).rows()
        return tuple([u * value for u, value in zip(column, normed, strict=True)])

    return {
        "B": room,
        "scale": lambda j: coordinate(norm.scale, j),
        "shift": lambda j: coordinate(norm.shift, j),
        "U": lambda j: coordinate(column, j),
        "term": lambda r, j: coordinate(terms(r), j),
        "limit": lambda j: coordinate(limits, j),
        "out": lambda r, k: sum_of_first(terms(r), k),
        "bound": lambda k: whole if k == norm.width else sum_of_first(limits, k),
        "last": lambda x, e: model.sublayer(0, x @ e, ALONE).rows()[0],
        "response": lambda x, e: model.output(x @ e, ALONE)[0, 0],
    }
