"""A-priori bounds of rounding errors, carried through a forward pass beside the exact values.

Per entry |computed - exact| <= error, from the standard model fl(x op y) = (x op y)(1 + delta),
|delta| <= u, plus half the smallest positive number where a result underflows:

    product    |AB - fl(A'B')| <= E_A (|B| + E_B) + |A| E_B + g (|A| + E_A)(|B| + E_B),
               1 + g = (1 + factor error)^2 (1 + gamma_k) (1 + u if rounded once more),
               gamma_k = k u / (1 - k u) in the format of the sums, in whatever order they are
    sum        E_A + E_B + u (|A + B| + E_A + E_B)
    softmax    every computed logarithm is off by at most D_j: its logit, the shift, EXP_ULPS of
               the exponential, the sum and the quotient; so the share a_j is off by at most
               a_j (e^{D_j} - 1), and by at most 1 in any case

The bounds hold as long as nothing overflows, which is required. For tf32 the factors of products
must also be normal numbers or zero.

Source: N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition, sections 2.2,
3.1 and 3.5, for the model and gamma_k; the paper gives no bound (Section 3.2, Finite precision).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from constructions.universal.ball_runs import Mask, softmax_of
from constructions.universal.floats import Floats, Format
from verify.balls import Balls
from verify.errors import PrecisionError
from verify.rational import Exact, Matrix

EXP_ULPS = 2
"""Accuracy that is asked of the exponential function, in units in the last place."""
FLUSHED = Fraction(1, 1 << 126)
"""Exponentials below this, the least normal number of float32, may come out as 0."""
FARTHEST = 64
"""Logarithms that are off by more say nothing about a share between 0 and 1."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bounded:
    """Exact values, and entry by entry a bound on how far the computed ones are from them.

    exact, error: one shape and precision; of `error` the upper ends count.

    Raises:
        PrecisionError: a computed number might overflow, so that the model says nothing.
    """

    exact: Balls
    error: Balls
    format: Format

    @classmethod
    def of(cls, matrix: Matrix, format: Format, bits: int) -> Bounded:
        """Parameters or inputs, which are rounded once; what that does to them is known."""
        rounded = Floats.of(matrix, format).exact()
        if rounded is None:
            raise PrecisionError(
                f"parameters must be finite in {format.name}, got one that overflows; choose a "
                "wider format or smaller weights"
            )
        exact = Balls.of(matrix, bits)
        held = rounded == matrix
        lost = exact.scaled(0) if held else Balls.of(rounded - matrix, bits).mapped(abs)
        return cls(exact=exact, error=lost, format=format)

    @property
    def size(self) -> Balls:
        """Bounds of the computed entries: |exact| + error."""
        return self.exact.mapped(abs) + self.error

    @property
    def shape(self) -> tuple[int, int]:
        """(height, width)."""
        return self.exact.shape

    @property
    def transposed(self) -> Bounded:
        """Rows and columns exchanged."""
        return Bounded(exact=self.exact.transposed, error=self.error.transposed, format=self.format)

    def select_columns(self, indices: Sequence[int]) -> Bounded:
        """Column k of the result is column `indices[k]`, or zero where the index is negative."""
        return Bounded(
            exact=self.exact.select_columns(indices),
            error=self.error.select_columns(indices),
            format=self.format,
        )

    def __matmul__(self, other: Bounded) -> Bounded:
        """The product, its terms summed in any order."""
        size, length = other.size, self.exact.width
        carried = self.error @ size + self.exact.mapped(abs) @ other.error
        rounding = (self.size @ size).scaled(product_error(self.format, length))
        error = carried + rounding
        lost = constant_balls(error, 2 * (length + 1) * self.format.underflow)
        return self._finite(self.exact @ other.exact, error + lost)

    def __add__(self, other: Bounded) -> Bounded:
        """The sum, rounded once; sums do not underflow."""
        exact, carried = self.exact + other.exact, self.error + other.error
        rounding = (exact.mapped(abs) + carried).scaled(self.format.stored_unit)
        return self._finite(exact, carried + rounding)

    def hadamard(self, other: Bounded) -> Bounded:
        """The product entry by entry, rounded once."""
        size, unit = self.size, self.format.stored_unit
        carried = self.error.hadamard(other.size) + self.exact.mapped(abs).hadamard(other.error)
        error = carried + size.hadamard(other.size).scaled(unit)
        lost = constant_balls(error, self.format.underflow)
        return self._finite(self.exact.hadamard(other.exact), error + lost)

    def _finite(self, exact: Balls, error: Balls) -> Bounded:
        """What was computed, if it cannot have overflowed."""
        result = Bounded(exact=exact, error=error, format=self.format)
        largest, limit = result.size.magnitude_upper(), self.format.overflow
        if largest >= limit:
            raise PrecisionError(
                f"error bounds need numbers below {float(limit):.3g}, where {self.format.name} "
                f"overflows, got up to {float(largest):.3g}; choose a wider format or smaller "
                "weights"
            )
        return result

    def softmax(self, mask: Mask, shrink: Exact = 1) -> Bounded:
        """Softmax of each row's allowed logits over sqrt(shrink), as `Floats.softmax` does it."""
        logits = self._shrunk(shrink)
        shares = softmax_of(mask, shrink)(self.exact)
        farthest = _logarithms_off(logits, mask)
        growth = Balls.of(farthest, shares.bits).exp()
        spread = shares.hadamard(growth - constant_balls(growth, Fraction(1)))
        unit, most = self.format.inner_unit, Fraction(1) + 2 * self.format.inner_unit
        height, width = self.shape
        errors = [
            min(spread[row, column][1] + 4 * FLUSHED, most) if mask[row][column] else Fraction(0)
            for row in range(height)
            for column in range(width)
        ]
        error = Balls.of(Matrix(height, width, errors), shares.bits)
        if unit < self.format.stored_unit:
            size = shares.mapped(abs) + error
            error = error + size.scaled(self.format.stored_unit)
            error = error + constant_balls(error, self.format.underflow)
        return Bounded(exact=shares, error=error, format=self.format)

    def _shrunk(self, shrink: Exact) -> Bounded:
        """Logits over sqrt(shrink): its root, its inverse and the product, each rounded."""
        if shrink == 1:
            return self
        height, width = self.shape
        squares = Matrix(height, width, [Fraction(1, shrink)] * (height * width))
        factor = Balls.of(squares, self.exact.bits).sqrt()
        carried, unit = self.error.hadamard(factor), self.format.inner_unit
        rounding = self.size.hadamard(factor).scaled(_gamma(4, unit))
        lost = constant_balls(carried, FLUSHED)
        return Bounded(
            exact=self.exact.hadamard(factor), error=carried + rounding + lost, format=self.format
        )


def product_error(format: Format, length: int) -> Fraction:
    """G: the relative error of a sum of `length` products, against the sum of their sizes."""
    once_more = format.stored_unit if format.inner_unit < format.stored_unit else Fraction(0)
    factors = (1 + format.factor_error) ** 2
    return factors * (1 + _gamma(length, format.inner_unit)) * (1 + once_more) - 1


def _gamma(roundings: int, unit: Fraction) -> Fraction:
    """gamma_k = k u / (1 - k u); k u is far below 1 in the formats that sums are formed in."""
    return roundings * unit / (1 - roundings * unit)


def _logarithm(roundings: int, unit: Fraction) -> Fraction:
    """|log| of a product of so many factors 1 + delta, |delta| <= u, is at most this."""
    return roundings * unit / (1 - unit)


def _logarithms_off(logits: Bounded, mask: Mask) -> Matrix:
    """D_j of every allowed entry, FARTHEST at most; 0 elsewhere."""
    unit, rows = logits.format.inner_unit, list[list[Fraction]]()
    exponential = 2 * EXP_ULPS * unit / (1 - 2 * EXP_ULPS * unit)
    for row, allowed in enumerate(mask):
        columns = [column for column, kept in enumerate(allowed) if kept]
        ends = {column: logits.exact[row, column] for column in columns}
        off = {column: logits.error[row, column][1] for column in columns}
        highest = max((high for _, high in ends.values()), default=Fraction(0))
        most = max(off.values(), default=Fraction(0))
        weight = {
            column: off[column]
            + _logarithm(1, unit) * (highest - ends[column][0] + off[column] + most)
            + exponential
            for column in columns
        }
        shared = max(weight.values(), default=Fraction(0)) + _logarithm(len(columns) + 3, unit)
        rows.append(
            [
                min(weight[column] + shared, Fraction(FARTHEST)) if kept else Fraction(0)
                for column, kept in enumerate(allowed)
            ]
        )
    return Matrix.from_rows(rows)


def constant_balls(like: Balls, value: Fraction) -> Balls:
    """Balls of the same shape and precision, all of one value."""
    height, width = like.shape
    return Balls.of(Matrix(height, width, [value] * (height * width)), like.bits)
