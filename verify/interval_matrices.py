"""Matrices of intervals: products and elimination in plain loops, for `balls.Balls`.

An `IntervalMatrix` answers to the names of FLINT's `arb_mat` that `Balls` asks for, and shares no
line with it. Shapes and precisions are checked by `Balls` before it asks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce
from operator import add, mul, sub
from typing import final

from verify.intervals import Interval, dot

Rows = list[list[Interval]]


@final
class IntervalMatrix:
    """Intervals row by row, none of which ever changes.

    shape (height, width), both possibly 0; sums and products are enclosed at `bits`.

    Raises:
        ZeroDivisionError: a matrix that may be singular was to be inverted or solved.
    """

    __slots__ = ("_bits", "_entries", "_height", "_width")

    def __init__(
        self, height: int, width: int, entries: Sequence[Interval | int | Fraction], bits: int
    ) -> None:
        """Exact entries are enclosed first."""
        self._height, self._width, self._bits = height, width, bits
        self._entries = [x if isinstance(x, Interval) else Interval.of(x, bits) for x in entries]

    def _of(self, rows: Rows, width: int) -> IntervalMatrix:
        return IntervalMatrix(len(rows), width, [x for row in rows for x in row], self._bits)

    def nrows(self) -> int:
        """Number of rows."""
        return self._height

    def ncols(self) -> int:
        """Number of columns."""
        return self._width

    def entries(self) -> list[Interval]:
        """All entries, row by row."""
        return list(self._entries)

    def tolist(self) -> Rows:
        """The rows."""
        width = self._width
        return [self._entries[i * width : (i + 1) * width] for i in range(self._height)]

    def __getitem__(self, place: tuple[int, int]) -> Interval:
        """Entry at (row, column)."""
        return self._entries[place[0] * self._width + place[1]]

    def transpose(self) -> IntervalMatrix:
        """Rows and columns exchanged."""
        return self._of(self._columns(), self._height)

    def __add__(self, other: IntervalMatrix) -> IntervalMatrix:
        """Encloses the sum."""
        return self._entrywise(add, other)

    def __sub__(self, other: IntervalMatrix) -> IntervalMatrix:
        """Encloses the difference."""
        return self._entrywise(sub, other)

    def _entrywise(
        self, operation: Callable[[Interval, Interval], Interval], other: IntervalMatrix
    ) -> IntervalMatrix:
        entries = list(map(operation, self._entries, other._entries))
        return IntervalMatrix(self._height, self._width, entries, self._bits)

    def __mul__(self, other: IntervalMatrix) -> IntervalMatrix:
        """Encloses the product."""
        columns = other._columns()
        entries = [dot(row, column, self._bits) for row in self.tolist() for column in columns]
        return IntervalMatrix(self._height, other._width, entries, self._bits)

    def det(self) -> Interval:
        """Encloses the determinant of a square matrix.

        Elimination goes on while a pivot is certainly not 0. What is then left, R, adds
        a factor within the product of the sums of |entries| of R's columns (Hadamard).
        """
        rows = self.tolist()
        done, factor = _eliminate(rows, self._width, Interval.of(1, self._bits))
        left = [[row[column] for row in rows[done:]] for column in range(done, self._width)]
        sums = [reduce(add, map(abs, column)) for column in left]
        bound = reduce(mul, sums, Interval.of(1, self._bits))
        return factor * bound.union(-bound) if left else factor

    def solve(self, right: IntervalMatrix) -> IntervalMatrix:
        """Encloses the X with self X = right; no pivot may contain 0."""
        rows = [a + b for a, b in zip(self.tolist(), right.tolist(), strict=True)]
        done, _ = _eliminate(rows, self._width, Interval.of(1, self._bits))
        if done < self._height:
            raise ZeroDivisionError("the matrix may be singular")
        for top in range(done - 1, -1, -1):
            for row in rows[:top]:
                _subtract(row, rows[top], top)
        return self._of([row[self._width :] for row in rows], right._width)

    def inv(self) -> IntervalMatrix:
        """Encloses the inverse; no pivot may contain 0."""
        size = range(self._height)
        entries = [int(i == j) for i in size for j in size]
        return self.solve(IntervalMatrix(self._height, self._height, entries, self._bits))

    def overlaps(self, other: IntervalMatrix) -> bool:
        """Whether every interval meets the other's."""
        pairs = zip(self._entries, other._entries, strict=True)
        return not any(a < b or a > b for a, b in pairs)

    def contains(self, exact: Sequence[Fraction]) -> bool:
        """Whether every exact number, row by row, lies in its interval."""
        return all(x.contains(number) for x, number in zip(self._entries, exact, strict=True))

    def _columns(self) -> Rows:
        return [self._entries[start :: self._width] for start in range(self._width)]


def _eliminate(rows: Rows, width: int, one: Interval) -> tuple[int, Interval]:
    """Brings the rows to triangular form with ones as pivots, in place, as far as it goes.

    Returns how many pivots were certainly not 0, and the product of what rows were divided by,
    with the sign of the exchanges of rows.
    """
    factor = one
    for top in range(width):
        best = max(range(top, len(rows)), key=lambda i: abs(rows[i][top]).lower())
        if best != top:
            rows[top], rows[best], factor = rows[best], rows[top], -factor
        pivot = rows[top][top]
        if not abs(pivot) > 0:
            return top, factor
        factor = factor * pivot
        rows[top] = [x / pivot for x in rows[top]]
        for row in rows[top + 1 :]:
            _subtract(row, rows[top], top)
    return width, factor


def _subtract(row: list[Interval], pivot_row: list[Interval], column: int) -> None:
    """Subtracts, from the column on, the multiple of a row with pivot 1 that clears the column."""
    factor = row[column]
    pairs = zip(row[column:], pivot_row[column:], strict=True)
    row[column:] = [a - factor * b for a, b in pairs]
