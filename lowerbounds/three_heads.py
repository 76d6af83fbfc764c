"""Three heads and one layer need three coordinates: two do not serve all weights.

Responses of two coordinates are <R_h, X>, X = E^T U^T of determinant 0. If the R_h are dependent,
their relation z is no response, since z . z > 0. Else what is orthogonal to them is a line of
multiples of one K != 0, and with J = [[0, -1], [1, 0]] and s the sign of det K

    M = K J + s J K,    s det(M + t K) = |K|^2 + (2 + t^2) |det K| > 0   for all real t,

so the weights <R_h, M> are no responses. At L = 1 path vectors do not depend on the weights, so the
condition under which responses are the weights holds for these too.

Source: Fixed Universal Transformers, Section 4 and Theorem 4.1; the bound and its proof are ours.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from constructions.universal.sums import PAPER
from lowerbounds.three_heads_theory import SHIFT, Shift, three_heads_goals
from verify.certificates import number
from verify.claims import Check, Profile, Source, claim, covers, supports
from verify.counterexamples import Counterexample
from verify.facts import LINEAR_EQUATIONS
from verify.methods.exhaustive import Exhaustive
from verify.methods.smt import Smt
from verify.ranges import Range
from verify.rational import Matrix
from verify.smtlib import Goal, World
from verify.verdicts import Json, Status

Vector = tuple[Fraction, ...]
"""A 2 x 2 matrix as its entries, row by row, or three weights."""
Triple = tuple[Vector, Vector, Vector]
LEAST_WIDTH = 3
"""m at H = 3, L = 1."""


def determinant(matrix: Vector) -> Fraction:
    """The determinant of a 2 x 2 matrix."""
    a, b, c, d = matrix
    return a * d - b * c


def turned(kernel: Vector, sign: int) -> Vector:
    """K J + s J K."""
    a, b, c, d = kernel
    return b - sign * c, -a - sign * d, d + sign * a, sign * b - c


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How M is chosen, in the code and as terms of the theory; each mutant replaces one."""

    sign: Callable[[Fraction], int] = lambda value: 1 if value >= 0 else -1
    move: Callable[[Vector, int], Vector] = turned
    shift: Shift = SHIFT


RULES = Rules()


def row_relation(matrix: Matrix) -> Vector:
    """Coefficients, not all 0, with which the rows add up to 0; they must be dependent."""
    kept = matrix.independent_rows()
    other = next(row for row in range(matrix.height) if row not in kept)
    found = [Fraction(0)] * matrix.height
    if kept:
        columns = matrix.select_rows(kept).transposed.independent_rows()
        square = matrix.select_columns(columns)
        factors = square.select_rows([other]) @ square.select_rows(kept).inverse()
        for row, factor in zip(kept, factors.rows()[0], strict=True):
            found[row] = factor
    found[other] = Fraction(-1)
    return tuple(found)


def inner(left: Vector, right: Vector) -> Fraction:
    """The sum of products of entries."""
    return sum((x * y for x, y in zip(left, right, strict=True)), Fraction(0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Missed:
    """Weights that R_1, R_2, R_3 do not serve: a relation, or the responses of M on a line."""

    weights: Vector
    kernel: Vector = ()
    shift: Vector = ()
    sign: int = 1

    @property
    def related(self) -> bool:
        """Whether the weights are a relation between the values."""
        return not self.kernel

    @property
    def quadratic(self) -> Vector:
        """The coefficients of t^2, t and 1 in det(M + t K)."""
        (a, b, c, d), (e, f, g, h) = self.kernel, self.shift
        return determinant(self.kernel), a * h + d * e - b * g - c * f, determinant(self.shift)


def missed_weights(values: Triple, rules: Rules = RULES) -> Missed:
    """The weights that the argument chooses for these values."""
    rows = Matrix.from_rows(values)
    if rows.rank() < len(values):
        return Missed(weights=row_relation(rows))
    kernel = row_relation(rows.transposed)
    sign = rules.sign(determinant(kernel))
    shift = rules.move(kernel, sign)
    weights = tuple(inner(value, shift) for value in values)
    return Missed(weights=weights, kernel=kernel, shift=shift, sign=sign)


# --- instances -------------------------------------------------------------------------------


def _shortcoming(values: Triple, missed: Missed) -> str:
    """What is wrong with the weights found, or nothing."""
    if missed.related:
        columns = zip(*values, strict=True)
        fulfilled = any(missed.weights) and not any(inner(missed.weights, c) for c in columns)
        return "" if fulfilled else "the weights must be a relation of the values; they are not"
    if not any(missed.kernel) or any(inner(value, missed.kernel) for value in values):
        return "K must be other than 0 and orthogonal to the values; it is not"
    leading, middle, constant = missed.quadratic
    if middle**2 < 4 * leading * constant or (leading == middle == 0 != constant):
        return ""
    return f"det(M + t K) must have no real root, got {leading} t^2 + {middle} t + {constant}"


def three_heads_fail(rules: Rules = RULES) -> Callable[[Triple], Counterexample | None]:
    """The obligation: the weights are a relation, or det(M + t K) has no real root."""

    def holds(values: Triple) -> Counterexample | None:
        text = _shortcoming(values, missed_weights(values, rules))
        if not text:
            return None
        shown = [[number(entry) for entry in value] for value in values]
        return Counterexample(
            text=f"{text} for the values {', '.join(' '.join(value) for value in shown)}",
            instance={"values": shown},
        )

    return holds


def three_heads_exhibit(values: Triple) -> Json:
    """Kind `three-heads`: the values, the weights, and K, M and det(M + t K) where they decide."""
    missed = missed_weights(values)
    shown: dict[str, Json] = {
        "values": [[[*map(number, value[:2])], [*map(number, value[2:])]] for value in values],
        "weights": [*map(number, missed.weights)],
    }
    if missed.related:
        return shown
    return {
        **shown,
        "kernel": [*map(number, missed.kernel)],
        "shift": [*map(number, missed.shift)],
        "quadratic": [*map(number, missed.quadratic)],
    }


def _range(numbers: tuple[int, ...], most: int) -> Range:
    def over() -> Iterator[Triple]:
        entries = itertools.product(map(Fraction, numbers), repeat=4)
        matrices = [part for part in entries if sum(map(bool, part)) <= most]
        return itertools.combinations_with_replacement(matrices, 3)  # type: ignore[return-value]

    return Range(
        bound=f"entries in {', '.join(map(str, numbers))}, at most {most} of four not 0; "
        "up to the order of the heads",
        over=over,
    )


RANGES: dict[Profile, Range] = {
    "quick": _range((0, 1), 2),
    "standard": _range((0, 1), 4),
    "deep": _range((-1, 0, 1), 2),
}


# --- the theory's meaning --------------------------------------------------------------------

_INDEPENDENT = (
    ((1, 0, 0, 0), (0, 1, -1, 0), (0, 0, 0, 1)),
    ((1, 2, 0, 0), (0, 1, 0, 3), (0, 0, 1, 1)),
    ((1, 0, 0, 0), (0, 1, 1, 0), (0, 0, 0, 1)),
    ((0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)),
)
"""det K < 0 (twice), > 0 and 0."""
_DEPENDENT = ((1, 0, 0, 1), (0, 1, -1, 0), (2, 1, -1, 2))
_OUTER = (2, 6, 1, 3)
"""(2, 1)^T (1, 3)."""


def _exact(sample: tuple[tuple[int, ...], ...]) -> Triple:
    first, second, third = (tuple(map(Fraction, value)) for value in sample)
    return first, second, third


def outer_worlds(rules: Rules) -> Iterator[World]:
    """Dependent and independent values with an outer product."""
    for sample in (_DEPENDENT, *_INDEPENDENT):
        values = _exact(sample)
        point = tuple(map(Fraction, _OUTER))
        yield _world(values, missed_weights(values, rules), point, Fraction(0))


def line_worlds(rules: Rules) -> Iterator[World]:
    """Independent values with a matrix that responds as M does."""
    t = Fraction(-3, 2)
    for sample in _INDEPENDENT:
        values = _exact(sample)
        missed = missed_weights(values, rules)
        pairs = zip(missed.shift, missed.kernel, strict=True)
        yield _world(values, missed, tuple(m + t * k for m, k in pairs), t)


def _world(values: Triple, missed: Missed, point: Vector, t: Fraction) -> World:
    none = (Fraction(0),) * 4

    def from_one(vector: Vector) -> Callable[[int], Fraction]:
        return (Fraction(0), *vector).__getitem__

    def entry(head: int, place: int) -> Fraction:
        return values[head - 1][place]

    return World(
        sorts={},
        symbols={
            "r": entry,
            "x": point.__getitem__,
            "z": from_one(missed.weights),
            "w": from_one(missed.weights),
            "k": (missed.kernel or none).__getitem__,
            "shift": (missed.shift or none).__getitem__,
            "s": missed.sign,
            "t": t,
            "related": missed.related,
        },
    )


# --- claim -----------------------------------------------------------------------------------


def three_heads_checks(rules: Rules = RULES) -> tuple[Check, ...]:
    """The proof for all real values, and small integer values with the weights that they miss."""

    def goals() -> tuple[Goal, ...]:
        return three_heads_goals(
            outer=lambda: outer_worlds(rules), line=lambda: line_worlds(rules), shift=rules.shift
        )

    return (
        covers(
            Smt(
                goals=goals,
                instances="all real R_1, R_2, R_3 of shape (2, 2); (1, 1) is a case of it",
                leans_on=(LINEAR_EQUATIONS,),
            )
        ),
        supports(
            Exhaustive(
                holds=three_heads_fail(rules),
                ranges=RANGES,
                rechecked_as="three-heads",
                exhibit=three_heads_exhibit,
            )
        ),
    )


@claim(
    id="lowerbounds.three_heads",
    source=Source(PAPER, "Theorem 4.1; the bound is beyond the paper"),
    latex=r"H = 3,\ L = 1 \;\Longrightarrow\; m \ge 3",
    scope="shared attention, d_in = 1, readout per target, H = 3 and L = 1; path vectors "
    "independent, as they are for softmax with the stated logits",
    uses=("lowerbounds.attention_matching",),
    expected=Status.PROVED,
)
def three_heads_need_three_coordinates() -> tuple[Check, ...]:
    """Shared attention, d_in = 1, readout per target, H = 3, L = 1: if path vectors are
    independent then m >= 3, since for any three real 2 x 2 matrices R_h some weights w in R^3 are
    no (E R_h U)_h.
    """  # noqa: D205 - one statement, in one sentence
    return three_heads_checks()
