"""Immutable matrices of certified enclosures: FLINT's Arb computes, or mpmath where it is asked.

Every entry is a ball, a midpoint and a radius, that certainly contains the exact value; every
operation encloses the exact result. The working precision, in bits, belongs to the matrix. FLINT
keeps it in one context for the whole process: it is set while an operation runs and always put
back, so threads of one process must not compute with balls at the same time.
`engines.computing_by` says who computes; balls of the other engine are converted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, final

from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

from verify.ball_entries import lower, relu, softmax, upper
from verify.engines import Engine, work
from verify.errors import InexactError, PrecisionError, ShapeError, SizeError
from verify.rational import Exact, Matrix

DECIMALS_PER_BIT = Fraction(30103, 100000)
"""log10 2, rounded up by less than 10^-8."""


@dataclass(frozen=True, slots=True)
class _Arithmetic:
    """How one engine writes what `Balls` needs; both kinds of each answer to the same names.

    Numbers, balls between two ends (mantissa, exponent), matrices of rows of them, and exact
    matrices to compare with; each at a precision in bits.
    """

    kind: type
    number: Callable[[Exact, int], Any]
    between: Callable[[tuple[int, int], tuple[int, int], int], Any]
    matrix: Callable[[int, int, list[Any], int], Any]
    exact: Callable[[int, int, list[Fraction]], Any]

    def converted(self, inside: Any, bits: int) -> Any:
        """The other engine's matrix as one of this engine; a ball without ends stays without."""
        zero = self.number(0, bits)
        entries = [
            self.between(_man_exp(x.lower()), _man_exp(x.upper()), bits)
            if x.is_finite()
            else zero / zero
            for x in inside.entries()
        ]
        return self.matrix(inside.nrows(), inside.ncols(), entries, bits)


def _man_exp(end: Any) -> tuple[int, int]:
    mantissa, exponent = end.man_exp()
    return int(mantissa), int(exponent)


def _arb(number: Exact, bits: int) -> Any:
    with ctx.workprec(bits):
        return arb(_fmpq(number))


_ARB = _Arithmetic(
    kind=arb_mat,
    number=_arb,
    between=lambda low, high, _: arb(low).union(arb(high)),
    matrix=lambda height, width, entries, _: arb_mat(height, width, entries),
    exact=lambda height, width, entries: fmpq_mat(height, width, list(map(_fmpq, entries))),
)


@cache
def _intervals() -> _Arithmetic:
    """The second engine; mpmath is loaded when it is first asked for."""
    from verify.interval_matrices import IntervalMatrix
    from verify.intervals import Interval

    return _Arithmetic(
        kind=IntervalMatrix,
        number=Interval.of,
        between=Interval.between,
        matrix=IntervalMatrix,
        exact=lambda _height, _width, entries: entries,
    )


def _arithmetic() -> _Arithmetic:
    return _intervals() if work().engine is Engine.SECOND else _ARB


@final
class Balls:
    """A matrix of enclosures that never changes.

    shape (height, width), both possibly 0; `bits` is the working precision of what is computed
    from it, and both sides of an operation must share it.

    Raises:
        ShapeError: shapes or precisions do not fit the operation.
        SizeError: a precision below 2 bits.
        PrecisionError: an enclosure too wide for what is asked of it.
    """

    __slots__ = ("_bits", "_inside")
    _bits: int
    _inside: Any

    def __init__(self) -> None:
        """Refused: `Balls.of` builds one."""
        raise TypeError("Balls are built by Balls.of(matrix, bits)")

    def __setattr__(self, name: str, value: object) -> None:
        """Refused: balls never change."""
        raise AttributeError(f"Balls are immutable; build new ones instead of setting {name}")

    @classmethod
    def _wrap(cls, inside: Any, bits: int) -> Balls:
        balls = object.__new__(cls)
        object.__setattr__(balls, "_inside", inside)
        object.__setattr__(balls, "_bits", bits)
        return balls

    @classmethod
    def of(cls, matrix: Matrix, bits: int) -> Balls:
        """Enclosures of exact entries, each as narrow as `bits` allow."""
        if bits < 2:  # noqa: PLR2004 - Arb's own least precision
            raise SizeError(f"balls need a working precision of at least 2 bits, got {bits}")
        by = _arithmetic()
        with ctx.workprec(bits):
            entries = [by.number(entry, bits) for row in matrix.rows() for entry in row]
            return cls._wrap(by.matrix(*matrix.shape, entries, bits), bits)

    @property
    def bits(self) -> int:
        """The working precision."""
        return self._bits

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
    def transposed(self) -> Balls:
        """Rows and columns exchanged."""
        return Balls._wrap(self._at_work().transpose(), self._bits)

    def __repr__(self) -> str:
        """Rows of midpoints and radii in decimal."""
        rows = ", ".join("[" + ", ".join(map(str, row)) + "]" for row in self._inside.tolist())
        return f"Balls([{rows}], bits={self._bits})"

    # --- arithmetic

    def __matmul__(self, other: Balls) -> Balls:
        """Encloses the product."""
        self._require_one_precision(other)
        if self.width != other.height:
            raise ShapeError(
                f"product needs inner sizes that agree, got shapes {self.shape} and {other.shape}"
            )
        with ctx.workprec(self._bits):
            return Balls._wrap(self._at_work() * other._at_work(), self._bits)

    def __add__(self, other: Balls) -> Balls:
        """Encloses the sum."""
        self._require_same_shape(other, "sum")
        with ctx.workprec(self._bits):
            return Balls._wrap(self._at_work() + other._at_work(), self._bits)

    def __sub__(self, other: Balls) -> Balls:
        """Encloses the difference."""
        self._require_same_shape(other, "difference")
        with ctx.workprec(self._bits):
            return Balls._wrap(self._at_work() - other._at_work(), self._bits)

    def hadamard(self, other: Balls) -> Balls:
        """Encloses the product entry by entry."""
        self._require_same_shape(other, "entrywise product")
        pairs = zip(self._entries(), other._entries(), strict=True)
        return self._with_entries(lambda: [x * y for x, y in pairs])

    def scaled(self, factor: Exact) -> Balls:
        """Encloses every entry times an exact factor."""
        exact = _arithmetic().number(_exact(factor), self._bits)
        return self.mapped(lambda x: x * exact)

    def mapped(self, function: Callable[[Any], Any]) -> Balls:
        """Every entry, a ball of the engine at work, through a function that encloses values."""
        return self._with_entries(lambda: [function(x) for x in self._entries()])

    def inverse(self) -> Balls:
        """Encloses the inverse; every matrix within is then invertible."""
        if self.height != self.width:
            raise ShapeError(f"only a square matrix has an inverse, got shape {self.shape}")
        return self._solved(lambda: self._at_work().inv())

    def solve(self, right: Balls) -> Balls:
        """Encloses the X with self X = right; every matrix within self is then invertible."""
        self._require_one_precision(right)
        if self.height != self.width or self.height != right.height:
            raise ShapeError(
                "solving needs a square matrix and a right side as high, got shapes "
                f"{self.shape} and {right.shape}"
            )
        return self._solved(lambda: self._at_work().solve(right._at_work()))

    def _solved(self, compute: Callable[[], Any]) -> Balls:
        try:
            with ctx.workprec(self._bits):
                return Balls._wrap(compute(), self._bits)
        except ZeroDivisionError as error:
            raise PrecisionError(
                f"an inverse needs a matrix that {self._bits} bits show to be invertible, got one "
                "they do not; raise the precision, or it is singular"
            ) from error

    # --- functions

    def exp(self) -> Balls:
        """Encloses e^x."""
        return self.mapped(lambda x: x.exp())

    def sqrt(self) -> Balls:
        """Encloses the square root; a ball that reaches below 0 has none."""
        return self.mapped(lambda x: x.sqrt())

    def relu(self) -> Balls:
        """Encloses max(x, 0); a ball across 0 becomes one over 0 and its upper end."""
        zero = _arithmetic().number(0, self._bits)
        return self.mapped(lambda x: relu(x, zero))

    def silu(self) -> Balls:
        """Encloses x / (1 + e^-x)."""
        return self.mapped(lambda x: x / (1 + (-x).exp()))

    def gelu(self) -> Balls:
        """Encloses x/2 (1 + erf(x / sqrt 2)), which is x/2 erfc(-x / sqrt 2)."""
        by, bits = _arithmetic(), self._bits
        return self.mapped(lambda x: x / 2 * (-x / by.number(2, bits).sqrt()).erfc())

    def softmax(self, mask: Sequence[Sequence[bool]]) -> Balls:
        """Encloses the softmax of each row over its allowed entries; the others are 0.

        mask of self's shape; a row with no allowed entry stays 0.
        """
        if [len(row) for row in mask] != [self.width] * self.height:
            widths = sorted({len(row) for row in mask})
            raise ShapeError(
                f"softmax needs a mask of shape {self.shape}, got {len(mask)} rows of {widths}"
            )
        zero = _arithmetic().number(0, self._bits)
        rows = zip(self._at_work().tolist(), mask, strict=True)
        return self._with_entries(lambda: [x for row in rows for x in softmax(*row, zero)])

    # --- blocks

    def select_rows(self, indices: Sequence[int]) -> Balls:
        """Row k of the result is row `indices[k]`, or zero where the index is negative."""
        table = self._at_work().tolist()
        blank = [_arithmetic().number(0, self._bits)] * self.width
        chosen = [x for i in indices for x in (table[i] if i >= 0 else blank)]
        return self._with_entries(lambda: chosen, (len(indices), self.width))

    def select_columns(self, indices: Sequence[int]) -> Balls:
        """Column k of the result is column `indices[k]`, or zero where the index is negative."""
        return self.transposed.select_rows(indices).transposed

    @classmethod
    def stack(cls, blocks: Sequence[Balls]) -> Balls:
        """Blocks of one width and precision, the first on top; at least one block."""
        first = blocks[0]
        for index, block in enumerate(blocks):
            first._require_one_precision(block)
            if block.width != first.width:
                raise ShapeError(
                    f"stacked block {index} must have width {first.width} like block 0, "
                    f"got {block.width}"
                )
        entries = [x for block in blocks for x in block._entries()]
        return first._with_entries(
            lambda: entries, (sum(block.height for block in blocks), first.width)
        )

    @classmethod
    def beside(cls, blocks: Sequence[Balls]) -> Balls:
        """Blocks of one height and precision, the first on the left; at least one block."""
        return cls.stack([block.transposed for block in blocks]).transposed

    # --- what is certain

    def __getitem__(self, place: tuple[int, int]) -> tuple[Fraction, Fraction]:
        """A lower and an upper bound of the entry at (row, column), both counted from 0."""
        row, column = place
        if not (0 <= row < self.height and 0 <= column < self.width):
            raise ShapeError(
                f"entry ({row}, {column}) lies outside balls of shape {self.shape}; "
                "rows and columns count from 0"
            )
        with ctx.workprec(self._bits):
            entry = self._inside[row, column]
            return lower(entry), upper(entry)

    def determinant(self) -> tuple[Fraction, Fraction]:
        """A lower and an upper bound of the determinant of a square matrix."""
        if self.height != self.width:
            raise ShapeError(f"only a square matrix has a determinant, got shape {self.shape}")
        with ctx.workprec(self._bits):
            found = self._at_work().det()
            return lower(found), upper(found)

    def overlaps(self, other: Balls) -> bool:
        """Whether every ball meets the other's: if not, the exact matrices differ."""
        self._require_same_shape(other, "overlap")
        return bool(self._at_work().overlaps(other._at_work()))

    def contains(self, exact: Matrix) -> bool:
        """Whether every exact entry lies in its ball."""
        if self.shape != exact.shape:
            raise ShapeError(f"containment needs equal shapes, got {self.shape} and {exact.shape}")
        entries = [entry for row in exact.rows() for entry in row]
        return bool(self._at_work().contains(_arithmetic().exact(*self.shape, entries)))

    def magnitude_upper(self) -> Fraction:
        """An upper bound of the largest |entry|; 0 if there is none."""
        return self._largest(upper(abs(x)) for x in self._entries())

    def radius_upper(self) -> Fraction:
        """The largest radius; 0 if there is no entry."""
        return self._largest(upper(x.rad()) for x in self._entries())

    def distance_upper(self, other: Balls) -> Fraction:
        """An upper bound of the largest |a - b| over entries a of self and b of other."""
        return (self - other).magnitude_upper()

    def agreeing_decimals(self, other: Balls) -> int:
        """The largest k with |a - b| <= 10^-k max(1, |a|), certainly, for all entries a and b.

        At most the decimals of the working precision, which is what exact agreement gives.
        """
        self._require_same_shape(other, "agreement")
        pairs = zip(self._entries(), (self - other)._entries(), strict=True)
        ratio = self._largest(upper(abs(d)) / max(1, lower(abs(a))) for a, d in pairs)
        decimals = int(self._bits * DECIMALS_PER_BIT)
        while ratio > Fraction(10) ** -decimals:
            decimals -= 1
        return decimals

    # --- inside

    def _entries(self) -> list[Any]:
        return self._at_work().entries()

    def _at_work(self) -> Any:
        """The inside as the engine at work has it; every operation asks, and is so counted."""
        work().operations += 1
        by = _arithmetic()
        if isinstance(self._inside, by.kind):
            return self._inside
        with ctx.workprec(self._bits):
            return by.converted(self._inside, self._bits)

    def _with_entries(
        self, entries: Callable[[], list[Any]], shape: tuple[int, int] | None = None
    ) -> Balls:
        """A matrix of entries that are computed at self's precision."""
        with ctx.workprec(self._bits):
            inside = _arithmetic().matrix(*(shape or self.shape), entries(), self._bits)
            return Balls._wrap(inside, self._bits)

    def _largest(self, values: Iterable[Fraction]) -> Fraction:
        with ctx.workprec(self._bits):
            return max(values, default=Fraction(0))

    def _require_one_precision(self, other: Balls) -> None:
        if self._bits != other._bits:
            raise ShapeError(
                f"balls need one working precision, got {self._bits} and {other._bits} bits; "
                "build both with the same"
            )

    def _require_same_shape(self, other: Balls, operation: str) -> None:
        self._require_one_precision(other)
        if self.shape != other.shape:
            raise ShapeError(f"{operation} needs equal shapes, got {self.shape} and {other.shape}")


def condition_number_infinity(matrix: Matrix, bits: int) -> tuple[Fraction, Fraction]:
    """A lower and an upper bound of ||A|| ||A^-1||, ||A|| the largest sum of |entries| of a row.

    Raises:
        ShapeError: the matrix is not square.
        PrecisionError: the bits do not show it to be invertible.
    """
    inverse = Balls.of(matrix, bits).inverse()
    sums = [sum(map(abs, row), Fraction(0)) for row in matrix.rows()]
    ones = Balls.of(Matrix(matrix.width, 1, [1] * matrix.width), bits)
    column = inverse.mapped(abs) @ ones
    ends = [column[row, 0] for row in range(column.height)]
    norm = max(sums, default=Fraction(0))
    lower = max((lower for lower, _ in ends), default=Fraction(0))
    return norm * lower, norm * max((upper for _, upper in ends), default=Fraction(0))


def _exact(factor: Any) -> Exact:
    if not isinstance(factor, int | Fraction):
        raise InexactError(
            f"factors must be int or Fraction, got {factor!r} ({type(factor).__name__}); "
            "floats round, so write Fraction(1, 10)"
        )
    return factor


def _fmpq(value: Exact) -> Any:
    return fmpq(value.numerator, value.denominator)
