"""Exact matrices by Python's own fractions and loops: the second engine of `rational.Matrix`.

A `PlainMatrix` answers to the names of FLINT's `fmpq_mat` that `Matrix` asks for, and shares no
line with it. Shapes are checked by `Matrix` before it asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm, prod
from operator import add, mul, sub
from typing import final

Rows = list[list[Fraction]]


@final
class PlainMatrix:
    """Entries row by row, none of which ever changes.

    shape (height, width), both possibly 0.

    Raises:
        ZeroDivisionError: a singular matrix was to be inverted or solved, as FLINT raises it.
    """

    __slots__ = ("_entries", "_height", "_width")

    def __init__(self, height: int, width: int, entries: Sequence[int | Fraction] = ()) -> None:
        """Zero where no entries are given."""
        self._height, self._width = height, width
        given = entries or [0] * (height * width)
        self._entries = [x if isinstance(x, Fraction) else Fraction(x) for x in given]

    @classmethod
    def _of(cls, rows: Rows, width: int) -> PlainMatrix:
        return cls(len(rows), width, [entry for row in rows for entry in row])

    def nrows(self) -> int:
        """Number of rows."""
        return self._height

    def ncols(self) -> int:
        """Number of columns."""
        return self._width

    def entries(self) -> list[Fraction]:
        """All entries, row by row."""
        return list(self._entries)

    def tolist(self) -> Rows:
        """The rows."""
        starts = range(0, self._height * self._width, self._width or 1)
        rows = [self._entries[start : start + self._width] for start in starts]
        return rows if self._width else [[] for _ in range(self._height)]

    def __getitem__(self, place: tuple[int, int]) -> Fraction:
        """Entry at (row, column)."""
        return self._entries[place[0] * self._width + place[1]]

    def __eq__(self, other: object) -> bool:
        """Equal shape and equal entries."""
        if not isinstance(other, PlainMatrix):
            return NotImplemented
        mine, theirs = ((m._height, m._width, m._entries) for m in (self, other))
        return mine == theirs

    __hash__ = None  # type: ignore[assignment]  # `Matrix` hashes for both engines alike

    def transpose(self) -> PlainMatrix:
        """Rows and columns exchanged."""
        return PlainMatrix._of(self._columns(), self._height)

    def __add__(self, other: PlainMatrix) -> PlainMatrix:
        """The sum."""
        entries = list(map(add, self._entries, other._entries))
        return PlainMatrix(self._height, self._width, entries)

    def __sub__(self, other: PlainMatrix) -> PlainMatrix:
        """The difference."""
        entries = list(map(sub, self._entries, other._entries))
        return PlainMatrix(self._height, self._width, entries)

    def __neg__(self) -> PlainMatrix:
        """Entries negated."""
        return PlainMatrix(self._height, self._width, [-x for x in self._entries])

    def __mul__(self, other: PlainMatrix | Fraction) -> PlainMatrix:
        """The product with a matrix, or of every entry with a number.

        Sums run over integers: each row and each column over a denominator of its own.
        """
        if isinstance(other, Fraction):
            return PlainMatrix(self._height, self._width, [x * other for x in self._entries])
        columns = [_over_one_denominator(column) for column in other._columns()]
        entries = [
            Fraction(sum(map(mul, left, right)), below * under)
            for left, below in map(_over_one_denominator, self.tolist())
            for right, under in columns
        ]
        return PlainMatrix(self._height, other._width, entries)

    def numer_denom(self) -> tuple[PlainMatrix, int]:
        """A matrix of integers, and the least denominator that all entries are over."""
        numerators, denominator = _over_one_denominator(self._entries)
        return PlainMatrix(self._height, self._width, numerators), denominator

    def rref(self) -> tuple[PlainMatrix, int]:
        """The reduced row echelon form, and the rank."""
        rows = self.tolist()
        pivots, _ = _reduce(rows, self._width)
        return PlainMatrix._of(rows, self._width), len(pivots)

    def rank(self) -> int:
        """The rank."""
        return self.rref()[1]

    def det(self) -> Fraction:
        """The determinant of a square matrix: the product of what elimination divided by."""
        pivots, sign = _reduce(self.tolist(), self._width)
        return sign * prod(pivots, start=Fraction(1)) if len(pivots) == self._height else Fraction()

    def solve(self, right: PlainMatrix) -> PlainMatrix:
        """X with self X = right, for a square matrix of full rank."""
        rows = [a + b for a, b in zip(self.tolist(), right.tolist(), strict=True)]
        pivots, _ = _reduce(rows, self._width)
        if len(pivots) < self._height:
            raise ZeroDivisionError("the matrix is singular")
        return PlainMatrix._of([row[self._width :] for row in rows], right._width)

    def inv(self) -> PlainMatrix:
        """The inverse of a square matrix of full rank."""
        size = range(self._height)
        return self.solve(
            PlainMatrix(len(size), len(size), [int(i == j) for i in size for j in size])
        )

    def _columns(self) -> Rows:
        return [self._entries[start :: self._width] for start in range(self._width)]


def _over_one_denominator(entries: Sequence[Fraction]) -> tuple[list[int], int]:
    """Integers, and the least common denominator over which they are the entries."""
    below = lcm(*(x.denominator for x in entries))
    return [x.numerator * (below // x.denominator) for x in entries], below


def _reduce(rows: Rows, width: int) -> tuple[list[Fraction], int]:
    """Brings the rows to reduced echelon form in their first `width` columns, in place.

    Returns the pivots as they were divided by, and the sign of the exchanges of rows.
    """
    pivots: list[Fraction] = []
    sign = 1
    for column in range(width):
        top = len(pivots)
        found = next((i for i in range(top, len(rows)) if rows[i][column]), None)
        if found is None:
            continue
        if found != top:
            rows[top], rows[found], sign = rows[found], rows[top], -sign
        pivot = rows[top][column]
        pivots.append(pivot)
        rows[top] = [x / pivot if x else x for x in rows[top]]
        for i, row in enumerate(rows):
            factor = row[column]
            if i != top and factor:
                rows[i] = [a - factor * b if b else a for a, b in zip(row, rows[top], strict=True)]
    return pivots, sign
