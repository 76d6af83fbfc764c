"""Residues agree with plain integers modulo the prime, refuse floats and never change."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from flint import fmpz
from hypothesis import given
from hypothesis import strategies as st

from verify.errors import InexactError, ShapeError, SizeError
from verify.modular import PRIMES, LeftInverse, Residues
from verify.rational import Matrix

Rows = list[list[int]]
SMALL = 7
P = PRIMES[0]
SIZES = st.tuples(st.integers(0, 4), st.integers(0, 4))


def rows(height: int, width: int, entry: Any = None) -> st.SearchStrategy[Rows]:
    entries = st.integers(-(2**70), 2**70) if entry is None else entry
    row = st.lists(entries, min_size=width, max_size=width)
    return st.lists(row, min_size=height, max_size=height)


def sized(entry: Any = None) -> st.SearchStrategy[Rows]:
    return SIZES.flatmap(lambda size: rows(*size, entry))


def reduced(integers: Rows, prime: int = P) -> Rows:
    return [[entry % prime for entry in row] for row in integers]


def test_the_primes_are_the_largest_of_62_bits() -> None:
    assert [p.bit_length() for p in PRIMES] == [62] * len(PRIMES)
    found = [n for n in range(2**62 - 1, PRIMES[-1] - 1, -1) if fmpz(n).is_prime()]
    assert tuple(found) == PRIMES


@given(rows(2, 3), rows(3, 2))
def test_products_are_those_of_integers_modulo_the_prime(a: Rows, b: Rows) -> None:
    columns = list(zip(*b, strict=True))
    expected = [[sum(x * y for x, y in zip(r, c, strict=True)) for c in columns] for r in a]
    assert (Residues.of(a, P) @ Residues.of(b, P)).tolist() == reduced(expected)


@given(rows(2, 3), rows(1, 3), rows(2, 1), st.lists(st.integers(-1, 1), max_size=3))
def test_blocks_and_rows_are_those_of_lists(a: Rows, b: Rows, c: Rows, chosen: list[int]) -> None:
    top, bottom, right = (Residues.of(part, P) for part in (a, b, c))
    assert Residues.stack([top, bottom]).tolist() == reduced(a + b)
    beside = [r + s for r, s in zip(a, c, strict=True)]
    assert Residues.beside([top, right]).tolist() == reduced(beside)
    assert top.transposed.tolist() == [list(column) for column in zip(*reduced(a), strict=True)]
    picked = [a[index] if index >= 0 else [0] * 3 for index in chosen]
    assert top.select_rows(chosen).tolist() == reduced(picked)


@given(rows(2, 2, st.integers(-9, 9)), rows(2, 2, st.integers(-9, 9)))
def test_residues_are_equal_and_hash_alike_exactly_if_they_are(a: Rows, b: Rows) -> None:
    left, right = Residues.of(a, SMALL), Residues.of(b, SMALL)
    assert (left == right) is (reduced(a, SMALL) == reduced(b, SMALL))
    assert hash(left) == hash(Residues.of(reduced(a, SMALL), SMALL))
    assert left != Residues.of(a, 11)
    assert left != "residues"


@given(rows(3, 4, st.integers(-(2**63), 2**63 - 1)))
def test_arrays_are_read_as_their_lists(a: Rows) -> None:
    expected = Residues.of(a, P)
    assert Residues.of(np.array(a, dtype=np.int64), P) == expected
    assert Residues.of(np.array(a, dtype=object), P) == expected
    assert Residues.of(np.array(a, dtype=np.int64).T, P) == expected.transposed


@given(sized(st.integers(-3, 3)))
def test_a_rank_modulo_a_large_prime_is_that_of_the_integers(a: Rows) -> None:
    assert Residues.of(a, P).rank() == Matrix.from_rows(a).rank()


@given(sized(st.integers(0, SMALL - 1)))
def test_independent_rows_are_the_first_possible_ones(a: Rows) -> None:
    residues = Residues.of(a, SMALL)
    chosen: list[int] = []
    for index in range(residues.height):
        if residues.select_rows([*chosen, index]).rank() > len(chosen):
            chosen.append(index)
    assert residues.independent_rows() == tuple(chosen)


@given(st.integers(0, 3).flatmap(lambda s: st.integers(s, 5).flatmap(lambda h: rows(h, s))))
def test_a_left_inverse_undoes_exactly_what_has_full_column_rank(a: Rows) -> None:
    tall = Residues.of(a, P)
    if tall.rank() < tall.width:
        with pytest.raises(ShapeError, match=f"full column rank {tall.width}, got rank"):
            tall.left_inverse()
        return
    left = tall.left_inverse()
    unit = Residues.identity(tall.width, P)
    assert left.block @ tall.select_rows(left.rows) == unit
    assert left.scattered().shape == (tall.width, tall.height)
    assert left.scattered() @ tall == unit


def test_a_left_inverse_skips_the_rows_that_add_nothing() -> None:
    tall = Residues.of([[0, 0], [1, 2], [2, 4], [3, 5]], P)
    assert tall.left_inverse() == LeftInverse(
        rows=(1, 3), block=Residues.of([[-5, 2], [3, -1]], P), height=4
    )


@given(rows(3, 3, st.integers(-9, 9)))
def test_an_inverse_is_two_sided_or_the_rank_is_named(a: Rows) -> None:
    square = Residues.of(a, SMALL)
    if square.rank() < 3:
        with pytest.raises(ShapeError, match=f"full rank 3, got rank {square.rank()}; try another"):
            square.inverse()
        return
    unit = Residues.identity(3, SMALL)
    assert square @ square.inverse() == square.inverse() @ square == unit


@pytest.mark.parametrize(
    "integers", [[[0.5]], np.array([[1.0]]), np.array([[1, 0.5]], dtype=object)], ids=repr
)
def test_a_float_is_refused_with_the_remedy(integers: Any) -> None:
    with pytest.raises(InexactError, match="residues are of integers, got .* by a power of two"):
        Residues.of(integers, P)


@pytest.mark.parametrize("modulus", [-3, 0, 1, 6, 2**62 - 1, 2**89 - 1])
def test_a_modulus_that_is_no_small_prime_is_refused(modulus: int) -> None:
    with pytest.raises(SizeError, match=f"must be a prime below 2\\^63, got {modulus}"):
        Residues.of([[1]], modulus)


def test_residues_cannot_be_changed() -> None:
    residues = Residues.identity(2, P)
    with pytest.raises(AttributeError, match="Residues are immutable"):
        residues._flint = None
    with pytest.raises(TypeError):
        residues[0, 0] = 1  # type: ignore[index]
    with pytest.raises(TypeError, match=r"built by Residues\.of"):
        Residues()


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Residues.of([[1, 2], [3]], P), "row 1 must have 2 entries like row 0, got 1"),
        (lambda: Residues.of(np.zeros(3, dtype=np.int64), P), "need rows and columns, got an"),
        (
            lambda: Residues.identity(2, P) @ Residues.identity(3, P),
            "product needs inner sizes that agree, got shapes (2, 2) and (3, 3)",
        ),
        (
            lambda: Residues.identity(2, 5) @ Residues.identity(2, 7),
            "product needs one prime, got [5, 7]",
        ),
        (
            lambda: Residues.stack([Residues.identity(2, 5), Residues.identity(2, 7)]),
            "stack needs one prime, got [5, 7]",
        ),
        (
            lambda: Residues.stack([Residues.identity(2, P), Residues.identity(3, P)]),
            "stacked block 1 must have width 2 like block 0, got 3",
        ),
        (lambda: Residues.of([[1, 2]], P).inverse(), "only a square matrix has an inverse"),
    ],
)
def test_what_does_not_fit_is_refused(build: Any, message: str) -> None:
    with pytest.raises(ShapeError, match=re.escape(message)):
        build()


def test_residues_without_rows_or_columns_are_residues() -> None:
    assert Residues.of([], P).shape == (0, 0)
    empty = Residues.of(np.zeros((2, 0), dtype=np.int64), P)
    assert (empty @ Residues.of(np.zeros((0, 3), dtype=np.int64), P)).tolist() == [[0] * 3] * 2
    assert empty.left_inverse().scattered().shape == (0, 2)
    assert repr(empty) == f"Residues(shape=(2, 0), prime={P})"
