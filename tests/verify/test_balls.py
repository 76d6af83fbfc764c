"""Balls contain the exact values, say what is certain, and leave FLINT's context as it was."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from flint import ctx
from hypothesis import given
from hypothesis import strategies as st

from verify.balls import Balls, condition_number_infinity
from verify.errors import InexactError, PrecisionError, ShapeError, SizeError
from verify.rational import Matrix

ENTRY = st.fractions(-8, 8, max_denominator=50)
BITS = st.sampled_from([2, 20, 53, 200])
THIRD = Matrix(1, 1, [Fraction(1, 3)])


def matrices(height: int, width: int) -> st.SearchStrategy[Matrix]:
    size = height * width
    entries = st.lists(ENTRY, min_size=size, max_size=size)
    return entries.map(lambda listed: Matrix(height, width, listed))


def column(*entries: int | Fraction) -> Matrix:
    return Matrix(len(entries), 1, entries)


def widened(low: int | Fraction, high: int | Fraction, bits: int = 53) -> Balls:
    """One ball over all numbers from low to high: the unit ball, scaled and moved."""
    around_0 = Balls.of(column(0), bits)
    unit = around_0.mapped(lambda x: x.union(-1).union(1))
    middle = Balls.of(column((Fraction(low) + high) / 2), bits)
    return unit.scaled((Fraction(high) - low) / 2) + middle


# --- enclosures of exact results -------------------------------------------------------------


@given(matrices(2, 3), matrices(3, 2), matrices(2, 3), BITS)
def test_sums_and_products_contain_the_exact_ones(
    a: Matrix, b: Matrix, c: Matrix, bits: int
) -> None:
    left, right, other = (Balls.of(part, bits) for part in (a, b, c))
    assert left.contains(a)
    assert (left @ right).contains(a @ b)
    assert (left + other).contains(a + c)
    assert (left - other).contains(a - c)
    assert left.hadamard(other).contains(
        Matrix.from_rows(
            [
                [x * y for x, y in zip(r, s, strict=True)]
                for r, s in zip(a.rows(), c.rows(), strict=True)
            ]
        )
    )
    assert left.scaled(Fraction(1, 7)).contains(a.scaled(Fraction(1, 7)))
    assert left.transposed.contains(a.transposed)


@given(matrices(2, 3), matrices(1, 3), matrices(2, 1), st.lists(st.integers(-1, 1), max_size=3))
def test_blocks_and_selections_are_those_of_exact_matrices(
    a: Matrix, b: Matrix, c: Matrix, chosen: list[int]
) -> None:
    top, bottom, right = (Balls.of(part, 200) for part in (a, b, c))
    for balls, exact in (
        (Balls.stack([top, bottom]), Matrix.stack([a, b])),
        (Balls.beside([top, right]), Matrix.beside([a, c])),
        (top.select_rows(chosen), a.select_rows(chosen)),
        (top.select_columns(chosen), a.select_columns(chosen)),
    ):
        assert balls.contains(exact)
        assert balls.distance_upper(Balls.of(exact, 200)) < Fraction(1, 2**190)


@given(matrices(3, 3), BITS)
def test_bounds_of_a_determinant_contain_it_and_narrow_with_the_precision(
    a: Matrix, bits: int
) -> None:
    lower, upper = Balls.of(a, bits).determinant()
    assert lower <= a.determinant() <= upper
    narrow = Balls.of(a, 200).determinant()
    assert narrow[1] - narrow[0] < Fraction(1, 2**150)


@given(matrices(3, 3), matrices(3, 2))
def test_inverses_and_solutions_contain_the_exact_ones_or_none_is_given(
    a: Matrix, b: Matrix
) -> None:
    square = Balls.of(a, 200)
    if a.rank() < 3:
        with pytest.raises(PrecisionError, match=r"200 bits show to be invertible, got one"):
            square.inverse()
        return
    assert square.inverse().contains(a.inverse())
    solved = square.solve(Balls.of(b, 200))
    assert solved.contains(a.inverse() @ b)
    assert solved.radius_upper() < Fraction(1, 2**90)


@given(matrices(3, 3))
def test_the_condition_number_in_the_largest_row_sum_is_enclosed(a: Matrix) -> None:
    if a.rank() < 3:
        return
    norms = [max(sum(map(abs, row)) for row in part.rows()) for part in (a, a.inverse())]
    lower, upper = condition_number_infinity(a, 200)
    assert lower <= norms[0] * norms[1] <= upper
    assert upper - lower < Fraction(1, 2**90)
    assert upper >= 1


# --- functions -------------------------------------------------------------------------------

FUNCTIONS: dict[str, tuple[Callable[[Balls], Balls], Callable[[Any], Any]]] = {
    "exp": (Balls.exp, mpmath.exp),
    "sqrt": (lambda x: x.hadamard(x).sqrt(), abs),
    "silu": (Balls.silu, lambda x: x / (1 + mpmath.exp(-x))),
    "gelu": (Balls.gelu, lambda x: x / 2 * (1 + mpmath.erf(x / mpmath.sqrt(2)))),
    "relu": (Balls.relu, lambda x: max(x, 0)),
}


def to_60_digits(value: Fraction) -> Any:
    return mpmath.mpf(value.numerator) / value.denominator


def near(balls: Balls, expected: Sequence[Sequence[Any]], digits: int = 50) -> bool:
    """Whether the expected values are inside up to the last digits that mpmath gives."""
    slack = Fraction(1, 10**digits)
    ends = [balls[i, j] for i in range(balls.height) for j in range(balls.width)]
    values = [Fraction(*_ratio(value)) for row in expected for value in row]
    return all(
        low - slack <= v <= high + slack for (low, high), v in zip(ends, values, strict=True)
    )


def _ratio(value: Any) -> tuple[int, int]:
    sign, mantissa, exponent, _ = mpmath.mpf(value)._mpf_
    whole = (-1) ** sign * int(mantissa)
    return (whole << exponent, 1) if exponent >= 0 else (whole, 1 << -exponent)


@pytest.mark.parametrize("name", FUNCTIONS)
@given(matrices(2, 2), st.sampled_from([20, 53, 250]))
def test_functions_contain_what_mpmath_finds_with_60_digits(
    name: str, a: Matrix, bits: int
) -> None:
    ours, theirs = FUNCTIONS[name]
    with mpmath.workdps(60):
        expected = [[theirs(to_60_digits(x)) for x in row] for row in a.rows()]
        result = ours(Balls.of(a, bits))
        assert near(result, expected)
    if bits == 250:
        assert result.radius_upper() < Fraction(1, 10**60)


@pytest.mark.parametrize("name", ["exp", "silu", "gelu", "relu"])
@given(ENTRY, ENTRY, st.fractions(0, 1, max_denominator=9))
def test_functions_of_a_wide_ball_contain_those_of_its_numbers(
    name: str, a: Fraction, b: Fraction, share: Fraction
) -> None:
    ours, theirs = FUNCTIONS[name]
    low, high = sorted((a / 4, b / 4))
    inside = low + (high - low) * share
    with mpmath.workdps(60):
        assert near(ours(widened(low, high)), [[theirs(to_60_digits(inside))]])


def test_relu_across_0_reaches_from_0_to_the_upper_end() -> None:
    low, high = widened(-1, 2).relu()[0, 0]
    assert -Fraction(1, 2**20) < low <= 0
    assert 2 <= high < 2 + Fraction(1, 2**20)
    assert widened(-2, -1).relu()[0, 0] == (0, 0)
    assert widened(1, 2).relu()[0, 0] == widened(1, 2)[0, 0]


def test_gelu_keeps_its_digits_far_to_the_left() -> None:
    low, high = Balls.of(column(-30), 53).gelu()[0, 0]
    assert low < high < 0
    assert (high - low) / -high < Fraction(1, 2**30)


MASKS = st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=2, max_size=2)


@given(matrices(2, 3), MASKS, st.sampled_from([53, 250]))
def test_softmax_contains_what_mpmath_finds_with_60_digits(
    a: Matrix, mask: list[list[bool]], bits: int
) -> None:
    result = Balls.of(a, bits).softmax(mask)
    with mpmath.workdps(60):
        expected: list[list[Any]] = []
        for row, kept in zip(a.rows(), mask, strict=True):
            powers = [mpmath.exp(to_60_digits(x)) * k for x, k in zip(row, kept, strict=True)]
            total = sum(powers)
            expected.append([x / total if total else 0 for x in powers])
        assert near(result, expected)
    for i, j in ((i, j) for i in range(2) for j in range(3) if not mask[i][j]):
        assert result[i, j] == (0, 0)


def test_softmax_of_large_logits_stays_narrow() -> None:
    result = Balls.of(Matrix(1, 2, [10**6, 10**6 - 1]), 80).softmax([[True, True]])
    assert result.radius_upper() < Fraction(1, 10**15)
    assert (
        Balls.of(Matrix(1, 2, [10**6, 3]), 80)
        .softmax([[False, True]])
        .contains(Matrix(1, 2, [0, 1]))
    )


# --- what is certain -------------------------------------------------------------------------


@given(matrices(2, 2), matrices(2, 2), BITS)
def test_bounds_are_true_bounds(a: Matrix, b: Matrix, bits: int) -> None:
    left, right = Balls.of(a, bits), Balls.of(b, bits)
    pairs = list(
        zip((x for r in a.rows() for x in r), (x for r in b.rows() for x in r), strict=True)
    )
    assert left.magnitude_upper() >= max(abs(x) for x, _ in pairs)
    assert left.distance_upper(right) >= max(abs(x - y) for x, y in pairs)
    low, high = left[1, 0]
    assert low <= a[1, 0] <= high
    assert high - low <= 2 * left.radius_upper() * (1 + Fraction(1, 2**bits) * 4) + abs(
        a[1, 0]
    ) * Fraction(4, 2**bits)
    if not left.overlaps(right):
        assert a != b


@given(ENTRY, st.integers(-2, 12), st.fractions(Fraction(1, 9), 1, max_denominator=9))
def test_agreeing_decimals_are_the_most_that_are_certain(
    a: Fraction, places: int, share: Fraction
) -> None:
    scale = max(1, abs(a))
    b = a + scale * share * Fraction(10) ** -places
    decimals = Balls.of(column(a, 0), 200).agreeing_decimals(Balls.of(column(b, 0), 200))
    exactly = max(k for k in range(-3, 14) if abs(a - b) <= scale * Fraction(10) ** -k)
    assert decimals in (exactly, exactly - 1)
    if share not in (1, Fraction(1, 10)):
        assert decimals == exactly


def test_exact_agreement_is_that_of_the_working_precision() -> None:
    whole = Balls.of(column(3, 4), 100)
    assert whole.agreeing_decimals(whole) == 30
    third = Balls.of(THIRD, 100)
    assert 28 <= third.agreeing_decimals(third) <= 30
    assert (
        Balls.of(Matrix.zero(0, 2), 100).agreeing_decimals(Balls.of(Matrix.zero(0, 2), 100)) == 30
    )


def test_wide_balls_overlap_and_agree_on_little() -> None:
    assert widened(0, 2).overlaps(widened(1, 3))
    assert not widened(0, 1).overlaps(widened(2, 3))
    assert widened(0, 2).agreeing_decimals(widened(1, 3)) == -1
    assert not widened(0, 1).contains(column(2))
    assert widened(0, 1).contains(column(Fraction(1, 3)))


def test_a_bound_of_what_is_not_defined_is_refused() -> None:
    root = widened(-1, 1).sqrt()
    for ask in (root.magnitude_upper, root.radius_upper, lambda: root[0, 0]):
        with pytest.raises(PrecisionError, match="a bound needs finite balls, got one without"):
            ask()
    with pytest.raises(PrecisionError):
        root.agreeing_decimals(root)


def test_zero_cannot_be_told_from_a_singular_matrix_at_low_precision() -> None:
    close = Matrix.from_rows([[1, 1], [1, 1 + Fraction(1, 2**60)]])
    with pytest.raises(PrecisionError, match="raise the precision, or it is singular"):
        condition_number_infinity(close, 40)
    lower, upper = condition_number_infinity(close, 200)
    assert lower <= (2 + Fraction(1, 2**60)) ** 2 * 2**60 <= upper


# --- the context, and what is refused --------------------------------------------------------


def test_the_working_precision_is_always_put_back() -> None:
    before = ctx.prec
    balls = Balls.of(THIRD, 300)
    assert balls.exp().radius_upper() < Fraction(1, 2**290)
    with pytest.raises(PrecisionError):
        Balls.of(column(0), 300).inverse()
    with pytest.raises(ZeroDivisionError):
        balls.mapped(lambda _: 1 // 0)
    assert ctx.prec == before
    assert (balls @ balls).bits == 300


def test_balls_cannot_be_changed() -> None:
    balls = Balls.of(THIRD, 53)
    with pytest.raises(AttributeError, match="Balls are immutable"):
        balls._bits = 3
    with pytest.raises(TypeError):
        balls[0, 0] = 1  # type: ignore[index]
    with pytest.raises(TypeError, match=r"built by Balls\.of"):
        Balls()
    assert repr(balls) == "Balls([[[0.333333333333333 +/- 3.71e-16]]], bits=53)"


SQUARE = Balls.of(Matrix.identity(2), 53)
WIDE = Balls.of(Matrix.zero(2, 3), 53)
FINE = Balls.of(Matrix.identity(2), 54)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: WIDE @ WIDE, "product needs inner sizes that agree, got shapes (2, 3) and (2, 3)"),
        (lambda: SQUARE + WIDE, "sum needs equal shapes, got (2, 2) and (2, 3)"),
        (lambda: SQUARE - WIDE, "difference needs equal shapes, got (2, 2) and (2, 3)"),
        (lambda: SQUARE.hadamard(WIDE), "entrywise product needs equal shapes"),
        (lambda: SQUARE.overlaps(WIDE), "overlap needs equal shapes"),
        (lambda: SQUARE.agreeing_decimals(WIDE), "agreement needs equal shapes"),
        (lambda: SQUARE.contains(Matrix.zero(2, 3)), "containment needs equal shapes"),
        (lambda: SQUARE @ FINE, "balls need one working precision, got 53 and 54 bits"),
        (lambda: SQUARE + FINE, "balls need one working precision, got 53 and 54 bits"),
        (lambda: Balls.stack([SQUARE, FINE]), "balls need one working precision, got 53 and 54"),
        (lambda: Balls.stack([SQUARE, WIDE]), "stacked block 1 must have width 2 like block 0"),
        (WIDE.inverse, "only a square matrix has an inverse, got shape (2, 3)"),
        (WIDE.determinant, "only a square matrix has a determinant, got shape (2, 3)"),
        (lambda: WIDE.solve(SQUARE), "solving needs a square matrix and a right side as high"),
        (lambda: SQUARE[2, 0], "entry (2, 0) lies outside balls of shape (2, 2)"),
        (
            lambda: SQUARE.softmax([[True, True]]),
            "softmax needs a mask of shape (2, 2), got 1 rows",
        ),
    ],
)
def test_what_does_not_fit_is_refused(build: Any, message: str) -> None:
    with pytest.raises(ShapeError, match=re.escape(message)):
        build()


def test_floats_and_too_few_bits_are_refused() -> None:
    with pytest.raises(InexactError, match=re.escape("int or Fraction, got 0.5 (float)")):
        SQUARE.scaled(0.5)  # type: ignore[arg-type]
    with pytest.raises(SizeError, match="at least 2 bits, got 1"):
        Balls.of(THIRD, 1)


# --- ends that cannot be written out -----------------------------------------------------------


def test_an_end_too_close_to_0_to_be_written_out_is_rounded_to_the_safe_side() -> None:
    tiny = Balls.of(Matrix(1, 2, [-(10**20), 10**20]), 64).hadamard(
        Balls.of(Matrix(1, 2, [1, -1]), 64)
    )
    lower, upper = tiny.exp()[0, 0]
    assert lower == 0
    assert 0 < upper < Fraction(1, 1 << 1000)
    lower, upper = tiny.exp().scaled(-1)[0, 1]
    assert -Fraction(1, 1 << 1000) < lower < 0
    assert upper == 0


def test_an_end_too_large_to_be_written_out_is_an_error() -> None:
    large = Balls.of(Matrix(1, 1, [10**20]), 64).exp()
    with pytest.raises(PrecisionError, match="a bound needs numbers below 2\\^1048576"):
        large.magnitude_upper()
