"""Immutable matrices of exact rationals: FLINT computes, or the second engine where it is asked.

Everything exact in the project is computed here. Entries go in as `int` or `Fraction` and come
out as `Fraction`; a float is refused, because what it was meant to be can no longer be told.
`engines.computing_by` says who computes; matrices of the other engine are converted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from flint import fmpq, fmpq_mat

from verify.engines import Engine, work
from verify.errors import InexactError, ShapeError
from verify.plain_matrices import PlainMatrix

Exact = int | Fraction


def _fmpq(value: Any) -> Any:
    if isinstance(value, fmpq):
        return value
    if isinstance(value, int):
        return fmpq(value)
    if isinstance(value, Fraction):
        return fmpq(value.numerator, value.denominator)
    raise _inexact(value)


def _fraction(value: Any) -> Fraction:
    if isinstance(value, Fraction):
        return value
    if isinstance(value, fmpq):
        return Fraction(int(value.p), int(value.q))
    if isinstance(value, int):
        return Fraction(value)
    raise _inexact(value)


def _inexact(value: Any) -> InexactError:
    return InexactError(
        f"entries must be int or Fraction, got {value!r} ({type(value).__name__}); "
        "floats round, so write Fraction(1, 10)"
    )


@dataclass(frozen=True, slots=True)
class _Arithmetic:
    """How one engine writes a number and a matrix; both kinds of each answer to the same names."""

    number: Callable[[Any], Any]
    matrix: Any

    def converted(self, inside: Any) -> Any:
        """The other engine's matrix as one of this engine."""
        entries = [self.number(_fraction(entry)) for entry in inside.entries()]
        return self.matrix(inside.nrows(), inside.ncols(), entries)


_FLINT = _Arithmetic(number=_fmpq, matrix=fmpq_mat)
_PLAIN = _Arithmetic(number=_fraction, matrix=PlainMatrix)


def _arithmetic() -> _Arithmetic:
    return _PLAIN if work().engine is Engine.SECOND else _FLINT


@final
class Matrix:
    """An exact matrix that never changes.

    shape (height, width), both possibly 0; products, sums and comparisons are exact.

    Raises:
        ShapeError: shapes do not fit the operation.
        InexactError: an entry is neither int nor Fraction.
    """

    __slots__ = ("_inside",)
    _inside: Any

    def __init__(self, height: int, width: int, entries: Iterable[Exact]) -> None:
        """Row-major entries, exactly height * width of them."""
        by = _arithmetic()
        listed = [by.number(entry) for entry in entries]
        if len(listed) != height * width:
            raise ShapeError(
                f"Matrix of shape ({height}, {width}) needs {height * width} entries, "
                f"got {len(listed)}; list them row by row"
            )
        object.__setattr__(self, "_inside", by.matrix(height, width, listed))

    def __setattr__(self, name: str, value: object) -> None:
        """Refused: a matrix never changes."""
        raise AttributeError(f"Matrix is immutable; build a new one instead of setting {name}")

    @classmethod
    def _wrap(cls, inside: Any) -> Matrix:
        matrix = object.__new__(cls)
        object.__setattr__(matrix, "_inside", inside)
        return matrix

    def _of(self, entries: list[Any]) -> Matrix:
        """A matrix of this one's shape, of entries that the engine at work has computed."""
        return Matrix._wrap(_arithmetic().matrix(self.height, self.width, entries))

    def _at_work(self) -> Any:
        """The inside as the engine at work has it; every operation asks, and is so counted."""
        work().operations += 1
        by = _arithmetic()
        if not isinstance(self._inside, by.matrix):  # kept: the value of the matrix stays the same
            object.__setattr__(self, "_inside", by.converted(self._inside))
        return self._inside

    @classmethod
    def from_rows(cls, rows: Sequence[Sequence[Exact]]) -> Matrix:
        """Matrix with the given rows, all of one length; no rows give shape (0, 0)."""
        width = len(rows[0]) if rows else 0
        for index, row in enumerate(rows):
            if len(row) != width:
                raise ShapeError(
                    f"row {index} must have {width} entries like row 0, got {len(row)}; "
                    "pad it or drop it"
                )
        return cls(len(rows), width, [entry for row in rows for entry in row])

    @classmethod
    def identity(cls, size: int) -> Matrix:
        """The identity of shape (size, size)."""
        return cls(size, size, [int(i == j) for i in range(size) for j in range(size)])

    @classmethod
    def with_ones(
        cls, height: int, width: int, rows: Sequence[int], columns: Sequence[int]
    ) -> Matrix:
        """Zeros but for ones at (rows[k], columns[k])."""
        entries = [0] * (height * width)
        for row, column in zip(rows, columns, strict=True):
            entries[row * width + column] = 1
        return cls._wrap(_arithmetic().matrix(height, width, entries))

    @classmethod
    def zero(cls, height: int, width: int) -> Matrix:
        """The zero matrix of shape (height, width)."""
        return cls._wrap(_arithmetic().matrix(height, width))

    @property
    def shape(self) -> tuple[int, int]:
        """(height, width)."""
        return int(self._inside.nrows()), int(self._inside.ncols())

    @property
    def height(self) -> int:
        """Number of rows."""
        return int(self._inside.nrows())

    @property
    def width(self) -> int:
        """Number of columns."""
        return int(self._inside.ncols())

    @property
    def transposed(self) -> Matrix:
        """Rows and columns exchanged."""
        return Matrix._wrap(self._at_work().transpose())

    def rows(self) -> tuple[tuple[Fraction, ...], ...]:
        """All entries as Fractions, row by row."""
        return tuple(tuple(_fraction(entry) for entry in row) for row in self._inside.tolist())

    def __getitem__(self, place: tuple[int, int]) -> Fraction:
        """Entry at (row, column), both counted from 0."""
        row, column = place
        if not (0 <= row < self.height and 0 <= column < self.width):
            raise ShapeError(
                f"entry ({row}, {column}) lies outside a matrix of shape {self.shape}; "
                "rows and columns count from 0"
            )
        return _fraction(self._inside[row, column])

    def __matmul__(self, other: Matrix) -> Matrix:
        """Exact product."""
        if self.width != other.height:
            raise ShapeError(
                f"product needs inner sizes that agree, got shapes {self.shape} and {other.shape}"
            )
        return Matrix._wrap(self._at_work() * other._at_work())

    def __add__(self, other: Matrix) -> Matrix:
        """Exact sum."""
        self._require_same_shape(other, "sum")
        return Matrix._wrap(self._at_work() + other._at_work())

    def __sub__(self, other: Matrix) -> Matrix:
        """Exact difference."""
        self._require_same_shape(other, "difference")
        return Matrix._wrap(self._at_work() - other._at_work())

    def __neg__(self) -> Matrix:
        """Entries negated."""
        return Matrix._wrap(-self._at_work())

    def scaled(self, factor: Exact) -> Matrix:
        """Every entry times `factor`."""
        return Matrix._wrap(self._at_work() * _arithmetic().number(factor))

    def _require_same_shape(self, other: Matrix, operation: str) -> None:
        if self.shape != other.shape:
            raise ShapeError(f"{operation} needs equal shapes, got {self.shape} and {other.shape}")

    def __eq__(self, other: object) -> bool:
        """Equal shape and equal entries."""
        if not isinstance(other, Matrix):
            return NotImplemented
        return self.shape == other.shape and bool(self._at_work() == other._at_work())

    def __hash__(self) -> int:
        """Agrees with equality."""
        entries = self._inside.entries()
        return hash((self.shape, tuple((int(e.numerator), int(e.denominator)) for e in entries)))

    def __repr__(self) -> str:
        """Rows with fractions written p/q."""
        rows = ", ".join("[" + ", ".join(map(str, row)) + "]" for row in self._inside.tolist())
        return f"Matrix([{rows}])"

    def rank(self) -> int:
        """Rank, by exact elimination."""
        return int(self._at_work().rank())

    def determinant(self) -> Fraction:
        """The determinant of a square matrix."""
        if self.height != self.width:
            raise ShapeError(f"only a square matrix has a determinant, got shape {self.shape}")
        return _fraction(self._at_work().det())

    def integers(self) -> tuple[list[list[int]], int]:
        """Rows of integers, and the one denominator that all entries are over."""
        numerators, denominator = self._at_work().numer_denom()
        return [[int(entry) for entry in row] for row in numerators.tolist()], int(denominator)

    def independent_rows(self) -> tuple[int, ...]:
        """As many independent rows as the rank says: each the first that the ones before allow."""
        reduced, rank = self._at_work().transpose().rref()
        chosen: list[int] = []
        for step in range(int(rank)):
            place = chosen[-1] + 1 if chosen else 0
            while not reduced[step, place]:
                place += 1
            chosen.append(place)
        return tuple(chosen)

    def inverse(self) -> Matrix:
        """The two-sided inverse of a square matrix of full rank."""
        if self.height != self.width:
            raise ShapeError(f"only a square matrix has an inverse, got shape {self.shape}")
        try:
            return Matrix._wrap(self._at_work().inv())
        except ZeroDivisionError:
            raise ShapeError(
                f"the matrix of shape {self.shape} is singular (rank {self.rank()}); "
                "only a matrix of full rank has an inverse"
            ) from None

    def mapped(self, function: Callable[[Fraction], Exact]) -> Matrix:
        """`function` applied to each entry."""
        number = _arithmetic().number
        return self._of([number(function(_fraction(e))) for e in self._at_work().entries()])

    def solve(self, right: Matrix) -> Matrix:
        """X with self X = right, for a square matrix of full rank."""
        if self.height != self.width or self.height != right.height:
            raise ShapeError(
                "solving needs a square matrix and a right side of its height, got shapes "
                f"{self.shape} and {right.shape}"
            )
        try:
            return Matrix._wrap(self._at_work().solve(right._at_work()))
        except ZeroDivisionError:
            raise ShapeError(
                f"the matrix of shape {self.shape} is singular (rank {self.rank()}); "
                "only a matrix of full rank can be solved for every right side"
            ) from None

    def mapped_parts(self, function: Callable[[int, int], int]) -> Matrix:
        """`function` applied to each entry's numerator and denominator, in lowest terms."""
        number, parts = _arithmetic().number, self._at_work().entries()
        return self._of([number(function(int(e.numerator), int(e.denominator))) for e in parts])

    def hadamard(self, other: Matrix) -> Matrix:
        """Entry by entry product."""
        self._require_same_shape(other, "entry by entry product")
        pairs = zip(self._at_work().entries(), other._at_work().entries(), strict=True)
        return self._of([a * b for a, b in pairs])

    def rows_shared(self) -> Matrix:
        """Each row divided by its sum; a row of sum 0 stays as it is."""
        entries: list[Any] = []
        none = _arithmetic().number(0)
        for row in self._at_work().tolist():
            total = sum(row, none)
            entries += [entry / total for entry in row] if total else row
        return self._of(entries)

    def select_rows(self, indices: Sequence[int]) -> Matrix:
        """Row k of the result is row `indices[k]`, or zero where the index is negative."""
        by, table = _arithmetic(), self._at_work().tolist()
        blank = [by.number(0)] * self.width
        chosen = [entry for i in indices for entry in (table[i] if i >= 0 else blank)]
        return Matrix._wrap(by.matrix(len(indices), self.width, chosen))

    def select_columns(self, indices: Sequence[int]) -> Matrix:
        """Column k of the result is column `indices[k]`, or zero where the index is negative."""
        return self.selections([indices])[0]

    def selections(self, choices: Sequence[Sequence[int]]) -> list[Matrix]:
        """`select_columns` for several lists of indices at once."""
        by, table = _arithmetic(), self._at_work().tolist()
        none = by.number(0)
        return [
            Matrix._wrap(
                by.matrix(
                    self.height,
                    len(indices),
                    [row[i] if i >= 0 else none for row in table for i in indices],
                )
            )
            for indices in choices
        ]

    @classmethod
    def stack(cls, blocks: Sequence[Matrix]) -> Matrix:
        """Blocks of one width, the first on top; at least one block."""
        width = blocks[0].width
        entries: list[Any] = []
        for index, block in enumerate(blocks):
            if block.width != width:
                raise ShapeError(
                    f"stacked block {index} must have width {width} like block 0, got {block.width}"
                )
            entries += block._at_work().entries()
        height = sum(block.height for block in blocks)
        return cls._wrap(_arithmetic().matrix(height, width, entries))

    @classmethod
    def beside(cls, blocks: Sequence[Matrix]) -> Matrix:
        """Blocks of one height, the first on the left; at least one block."""
        return cls.stack([block.transposed for block in blocks]).transposed
