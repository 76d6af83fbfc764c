"""Functions of single enclosures, the same for both engines: each asks of an entry what both offer.

An entry is one of Arb's balls or an `intervals.Interval`, computed with at the precision in force.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from verify.errors import PrecisionError

MOST_EXPONENT = 1 << 20
"""Ends of balls are written out between 2^-MOST_EXPONENT and 2^MOST_EXPONENT."""


def relu(x: Any, zero: Any) -> Any:
    """Encloses max(x, 0), with the entry 0 of x's kind."""
    if x >= 0:
        return x
    return zero if x <= 0 else zero.union(x.upper())


def softmax(row: Sequence[Any], mask: Sequence[bool], zero: Any) -> list[Any]:
    """Encloses the softmax of a row over its allowed entries, with the entry 0 of their kind.

    Shifted by a midpoint, which changes no quotient and keeps every exponential small.
    """
    allowed = [x for x, kept in zip(row, mask, strict=True) if kept]
    shift = max((x.mid() for x in allowed), default=zero)
    weights = [(x - shift).exp() if kept else zero for x, kept in zip(row, mask, strict=True)]
    total = sum(weights, zero)
    return [weight / total if kept else weight for weight, kept in zip(weights, mask, strict=True)]


def upper(x: Any) -> Fraction:
    """The upper end of an entry, or a number above it.

    Raises:
        PrecisionError: there is none that could be written out.
    """
    return _written(x.upper(), away=1)


def lower(x: Any) -> Fraction:
    """The lower end of an entry, or a number below it.

    Raises:
        PrecisionError: there is none that could be written out.
    """
    return _written(x.lower(), away=-1)


def _written(end: Any, away: int) -> Fraction:
    """An end, which is an integer times a power of two, as it is.

    One that is too small to be written out, such as e^-(10^20), becomes the smallest that is, or
    0 if that is the safe side.
    """
    if not end.is_finite():
        raise PrecisionError(
            "a bound needs finite balls, got one without an end; raise the precision, or the "
            "function is not defined there"
        )
    mantissa, exponent = (int(part) for part in end.man_exp())
    size = exponent + mantissa.bit_length()  # 2^(size - 1) <= |end| < 2^size, if it is not 0
    if mantissa and size <= -MOST_EXPONENT:
        outwards = mantissa * away > 0
        return away * Fraction(1, 1 << MOST_EXPONENT) if outwards else Fraction(0)
    if size > MOST_EXPONENT:
        raise PrecisionError(
            f"a bound needs numbers below 2^{MOST_EXPONENT} to be written out, got a larger one; "
            "choose smaller weights or inputs"
        )
    return Fraction(mantissa << exponent if exponent > 0 else mantissa, 1 << max(0, -exponent))
