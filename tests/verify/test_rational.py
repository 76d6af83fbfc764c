"""Exact matrices agree with plain lists of Fractions, refuse floats and never change."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify.errors import InexactError, ShapeError
from verify.rational import Matrix

Rows = list[list[Fraction]]

ENTRY = st.one_of(st.integers(-5, 5), st.fractions(-5, 5, max_denominator=7))


def rows(height: int, width: int) -> st.SearchStrategy[Rows]:
    row = st.lists(ENTRY.map(Fraction), min_size=width, max_size=width)
    return st.lists(row, min_size=height, max_size=height)


def plain(matrix: Matrix) -> Rows:
    return [list(row) for row in matrix.rows()]


def product(left: Rows, right: Rows) -> Rows:
    columns = list(zip(*right, strict=True))
    return [
        [sum((a * b for a, b in zip(r, c, strict=True)), Fraction()) for c in columns] for r in left
    ]


@given(rows(2, 3), rows(3, 4), rows(2, 3))
def test_sums_and_products_are_those_of_fractions(a: Rows, b: Rows, c: Rows) -> None:
    left, right, other = Matrix.from_rows(a), Matrix.from_rows(b), Matrix.from_rows(c)
    assert plain(left @ right) == product(a, b)
    assert plain(left + other) == [
        [x + y for x, y in zip(r, s, strict=True)] for r, s in zip(a, c, strict=True)
    ]
    assert left - other == left + -other
    assert plain(-left) == [[-x for x in row] for row in a]


@given(rows(2, 3), ENTRY)
def test_scaling_mapping_and_transposing_go_entry_by_entry(a: Rows, factor: Fraction) -> None:
    matrix = Matrix.from_rows(a)
    assert plain(matrix.scaled(factor)) == [[x * factor for x in row] for row in a]
    assert matrix.hadamard(matrix) == Matrix.from_rows([[x * x for x in r] for r in a])
    assert matrix.mapped_parts(lambda p, q: p - 2 * q) == Matrix.from_rows(
        [[x.numerator - 2 * x.denominator for x in r] for r in a]
    )
    assert plain(matrix.transposed) == [list(column) for column in zip(*a, strict=True)]
    assert [matrix[i, j] for i in range(2) for j in range(3)] == [x for row in a for x in row]


@given(rows(3, 3))
def test_an_inverse_is_two_sided_exactly_where_the_rank_is_full(a: Rows) -> None:
    matrix = Matrix.from_rows(a)
    if matrix.rank() == 3:
        assert matrix @ matrix.inverse() == Matrix.identity(3) == matrix.inverse() @ matrix
    else:
        with pytest.raises(ShapeError, match=r"shape \(3, 3\) is singular \(rank [012]\)"):
            matrix.inverse()


@given(rows(3, 2), st.lists(st.integers(-1, 2), max_size=4))
def test_selected_rows_and_columns_are_zero_where_the_index_is_negative(
    a: Rows, chosen: list[int]
) -> None:
    matrix = Matrix.from_rows(a)
    expected = [a[i] if i >= 0 else [Fraction()] * 2 for i in chosen]
    selected = matrix.select_rows(chosen)
    assert selected.shape == (len(chosen), 2)
    assert plain(selected) == expected
    assert matrix.transposed.select_columns(chosen) == selected.transposed


@given(rows(3, 3))
def test_shared_rows_have_sum_1_unless_their_sum_is_0(a: Rows) -> None:
    for before, after in zip(a, Matrix.from_rows(a).rows_shared().rows(), strict=True):
        total = sum(before)
        assert list(after) == ([x / total for x in before] if total else before)


@given(st.sets(st.tuples(st.integers(0, 2), st.integers(0, 3))))
def test_a_matrix_with_ones_has_them_at_the_given_places_alone(
    places: set[tuple[int, int]],
) -> None:
    matrix = Matrix.with_ones(3, 4, [i for i, _ in places], [j for _, j in places])
    assert plain(matrix) == [[Fraction((i, j) in places) for j in range(4)] for i in range(3)]


@given(rows(2, 3), st.lists(st.lists(st.integers(-1, 2), max_size=3), max_size=3))
def test_several_selections_are_each_what_one_is(a: Rows, choices: list[list[int]]) -> None:
    matrix = Matrix.from_rows(a)
    assert matrix.selections(choices) == [matrix.select_columns(chosen) for chosen in choices]


@given(rows(2, 3), rows(1, 3), rows(2, 1))
def test_stacked_blocks_lie_on_each_other_and_others_beside(a: Rows, b: Rows, c: Rows) -> None:
    top, bottom, right = map(Matrix.from_rows, (a, b, c))
    assert plain(Matrix.stack([top, bottom])) == a + b
    assert plain(Matrix.beside([top, right])) == [r + s for r, s in zip(a, c, strict=True)]


@given(rows(2, 2), rows(2, 2))
def test_matrices_are_equal_and_hash_alike_exactly_if_their_entries_are(a: Rows, b: Rows) -> None:
    left, right = Matrix.from_rows(a), Matrix.from_rows(b)
    assert (left == right) is (a == b)
    assert hash(left) == hash(Matrix.from_rows(a))
    assert left != "a matrix"


@pytest.mark.parametrize(
    "build",
    [
        lambda: Matrix(1, 1, [0.1]),
        lambda: Matrix.from_rows([[0.1]]),
        lambda: Matrix.identity(1).scaled(0.1),
        lambda: Matrix(1, 1, [Fraction(1, 2) * 0.2]),
    ],
)
def test_a_float_is_refused_with_the_remedy(build: Any) -> None:
    with pytest.raises(InexactError) as error:
        build()
    assert str(error.value) == (
        "entries must be int or Fraction, got 0.1 (float); floats round, so write Fraction(1, 10)"
    )


def test_a_matrix_cannot_be_changed() -> None:
    matrix = Matrix.identity(2)
    with pytest.raises(AttributeError, match="Matrix is immutable"):
        matrix.height = 3  # type: ignore[misc]
    with pytest.raises(AttributeError, match="instead of setting _inside"):
        matrix._inside = None
    with pytest.raises(TypeError):
        matrix[0, 0] = 1  # type: ignore[index]


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Matrix(2, 2, [1]), "Matrix of shape (2, 2) needs 4 entries, got 1"),
        (lambda: Matrix.from_rows([[1, 2], [3]]), "row 1 must have 2 entries like row 0, got 1"),
        (
            lambda: Matrix.identity(2) @ Matrix.identity(3),
            "product needs inner sizes that agree, got shapes (2, 2) and (3, 3)",
        ),
        (
            lambda: Matrix.identity(2) + Matrix.identity(3),
            "sum needs equal shapes, got (2, 2) and (3, 3)",
        ),
        (
            lambda: Matrix.identity(2) - Matrix.zero(2, 3),
            "difference needs equal shapes, got (2, 2) and (2, 3)",
        ),
        (lambda: Matrix.identity(2)[2, 0], "entry (2, 0) lies outside a matrix of shape (2, 2)"),
        (lambda: Matrix.identity(2)[0, -1], "entry (0, -1) lies outside"),
        (lambda: Matrix.zero(2, 3).inverse(), "only a square matrix has an inverse"),
        (
            lambda: Matrix.stack([Matrix.identity(2), Matrix.identity(3)]),
            "stacked block 1 must have width 2 like block 0, got 3",
        ),
    ],
)
def test_shapes_that_do_not_fit_are_refused(build: Any, message: str) -> None:
    with pytest.raises(ShapeError, match=re.escape(message)):
        build()


def test_matrices_without_rows_or_columns_are_matrices() -> None:
    assert Matrix.from_rows([]).shape == (0, 0)
    assert (Matrix.zero(2, 0) @ Matrix.zero(0, 3)) == Matrix.zero(2, 3)
    assert Matrix.zero(2, 3).select_rows([]).shape == (0, 3)
    assert repr(Matrix.from_rows([[Fraction(1, 2), 3]])) == "Matrix([[1/2, 3]])"
