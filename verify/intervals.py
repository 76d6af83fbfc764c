"""Enclosures by mpmath's interval arithmetic: the second engine of `balls.Balls`.

An `Interval` answers to the names of FLINT's `arb` that `Balls` asks for. The functions are those
beneath `mpmath.iv`, called with the precision as an argument, so that `iv`'s own, one for the whole
process, is neither read nor set.

Trusted here: that mpmath rounds sums, products, quotients and roots outwards as it is told, and
that its exp and erfc, computed with GUARD more bits than asked, err by less than 2^-bits of their
value, by which they are widened; mpmath proves no bound of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from typing import Any, final

libmp: Any = import_module("mpmath.libmp")
"""The functions beneath `mpmath.iv`; untyped."""

GUARD = 30
"""Bits of exp and erfc beyond those asked; the margin is one unit of the last asked bit."""

Ends = tuple[Any, Any]
"""A lower and an upper end, each mpmath's (sign, mantissa, exponent, bit count)."""
WHOLE: Ends = (libmp.fninf, libmp.finf)
NONE: Ends = (libmp.fzero, libmp.fzero)
Number = int | Fraction


def _bounded(low: Any, high: Any) -> bool:
    """Whether both ends are numbers; infinities and what is no number have no mantissa."""
    return bool((low[1] or not low[2]) and (high[1] or not high[2]))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Interval:
    """All numbers between two ends; what is computed from it is rounded outwards to `bits`.

    Comparisons are true where they hold for all numbers of both sides. What is not defined on the
    whole interval has no ends: it comes to the whole line.
    """

    ends: Ends
    bits: int

    @classmethod
    def of(cls, number: Number, bits: int) -> Interval:
        """The narrowest interval with ends of `bits` bits around an exact number."""
        over, under = number.numerator, number.denominator
        low = libmp.from_rational(over, under, bits, libmp.round_floor)
        high = libmp.from_rational(over, under, bits, libmp.round_ceiling)
        return cls((low, high), bits)

    @classmethod
    def between(cls, low: tuple[int, int], high: tuple[int, int], bits: int) -> Interval:
        """The interval from one (mantissa, exponent) to another, exactly."""
        return cls((libmp.from_man_exp(*low), libmp.from_man_exp(*high)), bits)

    def __str__(self) -> str:
        """Both ends in decimal."""
        low, high = (libmp.to_str(end, 15) for end in self.ends)
        return f"[{low}, {high}]"

    # --- arithmetic

    def _with(self, ends: Ends) -> Interval:
        """An interval of these ends; the whole line if one is no number."""
        return Interval(ends if _bounded(*ends) else WHOLE, self.bits)

    def _ends_of(self, other: Interval | Number) -> Ends:
        return other.ends if isinstance(other, Interval) else Interval.of(other, self.bits).ends

    def __neg__(self) -> Interval:
        """Encloses -x."""
        return self._with(libmp.mpi_neg(self.ends))

    def __abs__(self) -> Interval:
        """Encloses |x|."""
        return self._with(libmp.mpi_abs(self.ends, self.bits))

    def __add__(self, other: Interval | Number) -> Interval:
        """Encloses the sum."""
        return self._with(libmp.mpi_add(self.ends, self._ends_of(other), self.bits))

    def __sub__(self, other: Interval | Number) -> Interval:
        """Encloses the difference."""
        return self._with(libmp.mpi_sub(self.ends, self._ends_of(other), self.bits))

    def __mul__(self, other: Interval | Number) -> Interval:
        """Encloses the product."""
        return self._with(libmp.mpi_mul(self.ends, self._ends_of(other), self.bits))

    def __truediv__(self, other: Interval | Number) -> Interval:
        """Encloses the quotient; the whole line if the other contains 0."""
        by = self._ends_of(other)
        around = libmp.mpf_sign(by[0]) * libmp.mpf_sign(by[1]) <= 0
        return self._with(WHOLE if around else libmp.mpi_div(self.ends, by, self.bits))

    __radd__, __rmul__ = __add__, __mul__

    # --- functions

    def exp(self) -> Interval:
        """Encloses e^x."""
        return self._monotone(libmp.mpf_exp, *self.ends)

    def sqrt(self) -> Interval:
        """Encloses the root; an interval that reaches below 0 has none."""
        below = libmp.mpf_sign(self.ends[0]) < 0
        return self._with(WHOLE if below else libmp.mpi_sqrt(self.ends, self.bits))

    def erfc(self) -> Interval:
        """Encloses erfc, which falls: its least value is at the upper end."""
        return self._monotone(libmp.mpf_erfc, *reversed(self.ends))

    def _monotone(self, function: Callable[..., Any], least: Any, most: Any) -> Interval:
        """Encloses the values of a positive function that is least and largest at these ends."""
        if not self.is_finite():
            return Interval(WHOLE, self.bits)
        values = [function(end, self.bits + GUARD) for end in (least, most)]
        margins = [libmp.mpf_shift(value, -self.bits) for value in values]
        low = libmp.mpf_sub(values[0], margins[0], self.bits, libmp.round_floor)
        high = libmp.mpf_add(values[1], margins[1], self.bits, libmp.round_ceiling)
        return self._with((low, high))

    def union(self, other: Interval | Number) -> Interval:
        """The narrowest interval around both."""
        return self._with(libmp.libmpf.mpf_min_max((*self.ends, *self._ends_of(other))))

    # --- what is certain

    def is_finite(self) -> bool:
        """Whether both ends are numbers."""
        return _bounded(*self.ends)

    def contains(self, number: Number) -> bool:
        """Whether an exact number lies between the ends, without any rounding."""
        over, under = map(libmp.from_int, (number.numerator, number.denominator))
        low, high = (libmp.mpf_mul(end, under) for end in self.ends)
        return bool(libmp.mpf_le(low, over) and libmp.mpf_le(over, high))

    def lower(self) -> Interval:
        """The lower end."""
        return Interval((self.ends[0], self.ends[0]), self.bits)

    def upper(self) -> Interval:
        """The upper end."""
        return Interval((self.ends[1], self.ends[1]), self.bits)

    def mid(self) -> Interval:
        """A number near the middle; the whole line if there is no middle."""
        middle = libmp.mpi_mid(self.ends, self.bits)
        return self._with((middle, middle))

    def rad(self) -> Interval:
        """Half the width, rounded up."""
        half = libmp.mpf_shift(libmp.mpi_delta(self.ends, self.bits), -1)
        return self._with((half, half))

    def man_exp(self) -> tuple[int, int]:
        """Mantissa and exponent of an interval of one number."""
        sign, mantissa, exponent, _ = self.ends[0]
        return (-int(mantissa) if sign else int(mantissa)), int(exponent)

    def __lt__(self, other: Interval | Number) -> bool:
        """Certainly below."""
        return bool(libmp.mpf_lt(self.ends[1], self._ends_of(other)[0]))

    def __le__(self, other: Interval | Number) -> bool:
        """Certainly not above."""
        return bool(libmp.mpf_le(self.ends[1], self._ends_of(other)[0]))

    def __gt__(self, other: Interval | Number) -> bool:
        """Certainly above."""
        return bool(libmp.mpf_gt(self.ends[0], self._ends_of(other)[1]))

    def __ge__(self, other: Interval | Number) -> bool:
        """Certainly not below."""
        return bool(libmp.mpf_ge(self.ends[0], self._ends_of(other)[1]))


def dot(left: Sequence[Interval], right: Sequence[Interval], bits: int) -> Interval:
    """Encloses the sum of the products; exact zeros cost nothing."""
    total = NONE
    for a, b in zip((x.ends for x in left), (y.ends for y in right), strict=True):
        if WHOLE in (a, b):
            return Interval(WHOLE, bits)
        if NONE not in (a, b):
            total = libmp.mpi_add(total, libmp.mpi_mul(a, b, bits), bits)
    return Interval(total, bits)
