"""Every operation comes to the same under both engines, or its enclosures agree on the truth."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, TypeVar

import mpmath
import pytest
from flint import ctx
from hypothesis import given
from hypothesis import strategies as st

from verify.balls import Balls, condition_number_infinity
from verify.engines import Engine, computing_by
from verify.errors import CertiformerError, PrecisionError, ShapeError
from verify.interval_matrices import IntervalMatrix
from verify.intervals import Interval
from verify.plain_matrices import PlainMatrix
from verify.rational import Matrix

T = TypeVar("T")

SMALL = st.integers(-2, 2)
ENTRY = st.one_of(SMALL, st.fractions(-5, 5, max_denominator=9))
PLACES = st.lists(st.integers(-1, 1), max_size=4)


def matrices(
    height: int, width: int, entry: st.SearchStrategy[Any] = ENTRY
) -> st.SearchStrategy[Matrix]:
    size = height * width
    entries = st.lists(entry, min_size=size, max_size=size)
    return entries.map(lambda listed: Matrix(height, width, listed))


def outcome(compute: Callable[[], T], engine: Engine) -> T | str:
    """The value under an engine, or the error with its words."""
    with computing_by(engine):
        try:
            return compute()
        except CertiformerError as error:
            return f"{type(error).__name__}: {error}"


def both(compute: Callable[[], T]) -> Iterator[T | str]:
    return (outcome(compute, engine) for engine in Engine)


# --- exact matrices --------------------------------------------------------------------------

ONE: dict[str, Callable[[Matrix], Any]] = {
    "transposed": lambda a: a.transposed,
    "negation": lambda a: -a,
    "scaled": lambda a: a.scaled(Fraction(-3, 7)),
    "rank": Matrix.rank,
    "determinant": Matrix.determinant,
    "inverse": Matrix.inverse,
    "integers": Matrix.integers,
    "independent rows": Matrix.independent_rows,
    "mapped": lambda a: a.mapped(lambda x: x * x - 1),
    "mapped parts": lambda a: a.mapped_parts(lambda p, q: p - 2 * q),
    "rows shared": Matrix.rows_shared,
    "rows": Matrix.rows,
    "shape": lambda a: (a.shape, a.height, a.width),
    "text": repr,
    "hash": hash,
    "entries": lambda a: [a[i, j] for i in range(a.height) for j in range(a.width)],
    "identity": lambda a: a @ Matrix.identity(a.width),
    "zero": lambda a: a - Matrix.zero(*a.shape),
    "ones": lambda a: a @ Matrix.with_ones(a.width, 2, [a.width - 1], [1]),
}
TWO: dict[str, Callable[[Matrix, Matrix], Any]] = {
    "product": lambda a, b: a @ b,
    "sum": lambda a, b: a + b,
    "difference": lambda a, b: a - b,
    "hadamard": Matrix.hadamard,
    "solution": Matrix.solve,
    "equality": lambda a, b: (a == b, a == a.transposed.transposed),
    "stack": lambda a, b: Matrix.stack([a, b, a]),
    "beside": lambda a, b: Matrix.beside([b, a]),
}


@given(st.one_of(matrices(3, 3, SMALL), matrices(3, 3), matrices(2, 4), matrices(4, 2)))
def test_every_operation_on_a_matrix_comes_to_the_same(a: Matrix) -> None:
    for name, operation in ONE.items():
        first, second = both(partial(operation, a))
        assert first == second, name


@given(
    st.one_of(matrices(3, 3, SMALL), matrices(3, 3), matrices(2, 3)),
    st.one_of(matrices(3, 3), matrices(2, 3), matrices(3, 2)),
)
def test_every_operation_on_two_matrices_comes_to_the_same(a: Matrix, b: Matrix) -> None:
    for name, operation in TWO.items():
        first, second = both(partial(operation, a, b))
        assert first == second, name


@given(matrices(2, 2), st.lists(PLACES, max_size=3))
def test_selections_come_to_the_same(a: Matrix, choices: list[list[int]]) -> None:
    for select in (
        lambda: [a.select_rows(chosen) for chosen in choices],
        lambda: [a.select_columns(chosen) for chosen in choices],
        lambda: a.selections(choices),
    ):
        first, second = both(select)
        assert first == second


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
def test_matrices_without_entries_come_to_the_same(shape: tuple[int, int]) -> None:
    empty = Matrix.zero(*shape)
    for name, operation in {**ONE, **TWO}.items():
        if name == "ones":
            continue
        sides = (empty,) if name in ONE else (empty, Matrix.zero(shape[1], shape[0]))
        first, second = both(partial(operation, *sides))
        assert first == second, name


def test_a_singular_matrix_is_refused_in_the_same_words() -> None:
    singular = Matrix.from_rows([[1, 2], [2, 4]])
    for compute in (singular.inverse, lambda: singular.solve(Matrix.identity(2))):
        first, second = both(compute)
        assert first == second
        assert "ShapeError: the matrix of shape (2, 2) is singular (rank 1)" in str(first)


def test_a_float_is_refused_by_the_second_engine_too() -> None:
    first, second = both(lambda: Matrix(1, 1, [0.1]))  # type: ignore[list-item]
    assert first == second
    assert "entries must be int or Fraction, got 0.1 (float)" in str(first)


@given(matrices(2, 2), matrices(2, 2))
def test_matrices_of_both_engines_go_together(a: Matrix, b: Matrix) -> None:
    with computing_by(Engine.SECOND):
        plain = b + Matrix.zero(2, 2)
        assert isinstance(plain._inside, PlainMatrix)
        assert (plain, hash(plain)) == (b, hash(b))
        mixed = a @ plain
        assert isinstance(mixed._inside, PlainMatrix)
    assert mixed == a @ b == a @ plain
    assert not isinstance((a @ plain)._inside, PlainMatrix)


# --- enclosures ------------------------------------------------------------------------------

BITS = st.sampled_from([20, 53, 200])
NARROW = Fraction(1, 2**150)
"""Radius under which 200 bits keep what is computed of small matrices of small numbers."""
MASK = [[True, False, True], [False, False, False], [True, True, True]]

KEPT: dict[str, tuple[Callable[[Balls], Balls], Callable[[Matrix], Matrix]]] = {
    "itself": (lambda a: a, lambda a: a),
    "transposed": (lambda a: a.transposed, lambda a: a.transposed),
    "scaled": (lambda a: a.scaled(Fraction(-3, 7)), lambda a: a.scaled(Fraction(-3, 7))),
    "size": (lambda a: a.mapped(abs), lambda a: a.mapped(abs)),
    "root": (lambda a: a.hadamard(a).sqrt(), lambda a: a.mapped(abs)),
    "relu": (Balls.relu, lambda a: a.mapped(lambda x: max(x, Fraction(0)))),
    "sum": (lambda a: a + a.transposed, lambda a: a + a.transposed),
    "difference": (lambda a: a - a.transposed, lambda a: a - a.transposed),
    "product": (lambda a: a @ a, lambda a: a @ a),
    "rows": (lambda a: a.select_rows([1, -1]), lambda a: a.select_rows([1, -1])),
    "columns": (lambda a: a.select_columns([1, -1]), lambda a: a.select_columns([1, -1])),
    "stack": (lambda a: Balls.stack([a, a]), lambda a: Matrix.stack([a, a])),
    "beside": (lambda a: Balls.beside([a, a]), lambda a: Matrix.beside([a, a])),
}
FUNCTIONS: dict[str, tuple[Callable[[Balls], Balls], Callable[[Any], Any]]] = {
    "exp": (Balls.exp, mpmath.exp),
    "silu": (Balls.silu, lambda x: x / (1 + mpmath.exp(-x))),
    "gelu": (Balls.gelu, lambda x: x * mpmath.ncdf(x)),
}


@given(st.one_of(matrices(3, 3, SMALL), matrices(3, 3)), BITS, st.sampled_from(Engine))
def test_each_enclosure_contains_the_exact_matrix(a: Matrix, bits: int, engine: Engine) -> None:
    for name, (enclosed, exact) in KEPT.items():
        with computing_by(engine):
            found = enclosed(Balls.of(a, bits))
            assert found.contains(exact(a)), name
            assert bits < 200 or found.radius_upper() < NARROW, name


@given(st.one_of(matrices(3, 3, SMALL), matrices(3, 3)), BITS, st.sampled_from(Engine))
def test_each_inverse_and_solution_contains_the_exact_one_or_none_is_given(
    a: Matrix, bits: int, engine: Engine
) -> None:
    with computing_by(engine):
        balls = Balls.of(a, bits)
        try:
            found = balls.inverse(), balls.solve(Balls.of(a @ a.transposed, bits))
        except PrecisionError as error:
            assert "bits show to be invertible, got one they do not" in str(error)
            assert a.rank() < 3 or bits == 20
            return
        assert found[0].contains(a.inverse())
        assert found[1].contains(a.transposed)
        assert bits < 200 or max(part.radius_upper() for part in found) < NARROW


@given(matrices(2, 2), BITS, st.sampled_from(Engine))
def test_each_enclosure_contains_what_mpmath_finds_with_80_digits(
    a: Matrix, bits: int, engine: Engine
) -> None:
    for name, (enclosed, value) in FUNCTIONS.items():
        with mpmath.workdps(80):
            exact = a.mapped(partial(at_fraction, value))
        with computing_by(engine):
            found = enclosed(Balls.of(a, bits))
            assert near(found, exact), name
            assert bits < 200 or found.radius_upper() < NARROW, name


def at_fraction(function: Callable[[Any], Any], x: Fraction) -> Fraction:
    return to_fraction(function(mpmath.mpf(x.numerator) / x.denominator))


def to_fraction(value: Any) -> Fraction:
    sign, mantissa, exponent, _ = mpmath.mpf(value)._mpf_
    return (-1) ** int(sign) * int(mantissa) * Fraction(2) ** int(exponent)


def near(balls: Balls, exact: Matrix) -> bool:
    """Whether the exact entries are inside up to what 80 digits leave open."""
    slack = Fraction(1, 10**75)
    return all(
        balls[i, j][0] - slack <= x <= balls[i, j][1] + slack
        for i, row in enumerate(exact.rows())
        for j, x in enumerate(row)
    )


@given(matrices(3, 3), BITS)
def test_both_enclosures_of_a_softmax_overlap_and_have_rows_of_sum_1(a: Matrix, bits: int) -> None:
    first, second = both(lambda: Balls.of(a, bits).softmax(MASK))
    assert isinstance(first, Balls)
    assert isinstance(second, Balls)
    for engine in Engine:
        with computing_by(engine):
            assert first.overlaps(second)
            assert second.overlaps(first)
            ones = Balls.of(Matrix(3, 1, [1, 1, 1]), bits)
            assert all((x @ ones).contains(Matrix(3, 1, [1, 0, 1])) for x in (first, second))
    assert second[0, 1] == (0, 0)


@given(st.one_of(matrices(3, 3, SMALL), matrices(3, 3)), BITS, st.sampled_from(Engine))
def test_each_bounds_of_a_determinant_contain_it(a: Matrix, bits: int, engine: Engine) -> None:
    with computing_by(engine):
        low, high = Balls.of(a, bits).determinant()
    assert low <= a.determinant() <= high
    assert bits < 200 or high - low < NARROW


@given(matrices(3, 3))
def test_both_bounds_of_a_condition_number_overlap(a: Matrix) -> None:
    first, second = both(lambda: condition_number_infinity(a, 200))
    if a.rank() < 3:
        assert first == second
        assert "PrecisionError: an inverse needs a matrix that 200 bits show" in str(first)
        return
    assert first[0] <= second[1]
    assert second[0] <= first[1]


@given(ENTRY, ENTRY, st.fractions(0, 1, max_denominator=9))
def test_functions_of_a_wide_interval_contain_those_of_its_numbers(
    a: Fraction, b: Fraction, share: Fraction
) -> None:
    low, high = sorted((a, b))
    inside = low + (high - low) * share
    wide = Interval.of(low, 60).union(Interval.of(high, 60))
    point = Interval.of(inside, 60)
    for function in (
        Interval.exp,
        Interval.erfc,
        abs,
        lambda x: x * x,
        lambda x: x - x,
        lambda x: -x,
    ):
        found, expected = function(wide), function(point)
        assert not (found < expected or expected < found)
        assert found.lower() <= expected.upper()
        assert expected.lower() <= found.upper()
    assert wide.contains(inside)
    assert not wide.contains(high + Fraction(1, 1000))
    assert not wide.contains(low - Fraction(1, 1000))


@pytest.mark.parametrize(
    "compute",
    [
        lambda x: x.sqrt(),
        lambda x: x.sqrt().exp(),
        lambda x: x.sqrt().erfc(),
        lambda x: x.sqrt() * 0,
        lambda x: Interval.of(1, 60) / x,
        lambda x: abs(x.sqrt()),
        lambda x: (x.sqrt() - x.sqrt()).mid(),
        lambda x: x.sqrt().union(0).rad(),
    ],
)
def test_what_is_undefined_somewhere_has_no_ends(compute: Callable[[Interval], Interval]) -> None:
    across = Interval.of(-1, 60).union(1)
    assert not compute(across).is_finite()
    row = IntervalMatrix(1, 2, [compute(across), 1], 60)
    assert not (row * IntervalMatrix(2, 1, [0, 1], 60))[0, 0].is_finite()


@given(matrices(1, 3), BITS)
def test_balls_of_both_engines_go_together(a: Matrix, bits: int) -> None:
    first = Balls.of(a, bits)
    with computing_by(Engine.SECOND):
        second = Balls.of(a, bits).exp()
        assert isinstance(second._inside, IntervalMatrix)
        assert (first + second).overlaps(second + first)
    total = first + second
    assert not isinstance(total._inside, IntervalMatrix)
    assert total.overlaps(first + first.exp())


def test_what_has_no_ends_keeps_none_in_the_other_engine() -> None:
    for there, here in ((Engine.FIRST, Engine.SECOND), (Engine.SECOND, Engine.FIRST)):
        with computing_by(there):
            undefined = Balls.of(Matrix(1, 1, [-1]), 53).sqrt()
        with computing_by(here), pytest.raises(PrecisionError, match="a bound needs finite balls"):
            undefined.magnitude_upper()


@pytest.mark.parametrize(
    "compute",
    [
        lambda: Balls.of(Matrix(1, 1, [-(10**20)]), 64).exp()[0, 0],
        lambda: Balls.of(Matrix(1, 1, [10**20]), 64).exp()[0, 0],
        lambda: Balls.of(Matrix.zero(2, 3), 53).inverse(),
        lambda: Balls.of(Matrix.zero(2, 3), 53) @ Balls.of(Matrix.zero(2, 3), 53),
        lambda: Balls.of(Matrix.zero(0, 0), 53).determinant(),
        lambda: Balls.of(Matrix.zero(0, 3), 53).transposed.shape,
        lambda: Balls.of(Matrix.zero(1, 1), 1),
        lambda: Balls.of(Matrix.zero(1, 1), 53).scaled(0.5),  # type: ignore[arg-type]
        lambda: Balls.of(Matrix(1, 2, [3, 4]), 100).agreeing_decimals(
            Balls.of(Matrix(1, 2, [3, 4]), 100)
        ),
    ],
)
def test_what_is_refused_or_exact_is_the_same(compute: Callable[[], Any]) -> None:
    first, second = both(compute)
    assert first == second


def test_no_precision_is_left_changed() -> None:
    before = (ctx.prec, mpmath.mp.prec, mpmath.iv.prec)
    with computing_by(Engine.SECOND):
        balls = Balls.of(Matrix(1, 1, [Fraction(1, 3)]), 300)
        assert balls.gelu().radius_upper() < Fraction(1, 2**290)
        with pytest.raises(ShapeError):
            balls.solve(Balls.of(Matrix.identity(2), 300))
        with pytest.raises(ZeroDivisionError):
            balls.mapped(lambda _: 1 // 0)
    assert (ctx.prec, mpmath.mp.prec, mpmath.iv.prec) == before


def test_mpmath_is_loaded_when_the_second_engine_is_first_asked() -> None:
    script = "import sys, verify.balls; print('mpmath' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


def rows_of(matrix: PlainMatrix) -> Sequence[Sequence[Fraction]]:
    return matrix.tolist()


def test_a_reduced_form_has_ones_where_rows_begin_and_zeros_beside_them() -> None:
    reduced, rank = PlainMatrix(3, 3, [0, 2, 4, 1, 1, 1, 1, 3, 5]).rref()
    assert (rows_of(reduced), rank) == ([[1, 0, -1], [0, 1, 2], [0, 0, 0]], 2)
