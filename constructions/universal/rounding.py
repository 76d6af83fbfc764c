"""Exact numbers rounded to a floating-point format: to the nearest, ties to even.

The rounding is that of IEEE 754, straight from the exact number; to pass by float64 would round
twice.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from constructions.universal.floats import Format
from verify.errors import UsageError
from verify.rational import Matrix


def nearest(value: Fraction, format: Format) -> Fraction | None:
    """The format's number nearest to a value, ties to even; None if that overflows."""
    if value == 0:
        return value
    magnitude = value.numerator.bit_length() - value.denominator.bit_length()
    if abs(value) < Fraction(2) ** magnitude:
        magnitude -= 1
    last = Fraction(2) ** max(magnitude - format.digits + 1, format.least)
    found = round(value / last) * last
    return None if abs(found) >= Fraction(2) ** format.most else found


def rounded(matrix: Matrix, format: Format, what: str) -> Matrix:
    """Every entry rounded to the format.

    Raises:
        UsageError: an entry overflows.
    """
    entries: list[Fraction] = []
    for row, values in enumerate(matrix.rows()):
        for column, value in enumerate(values):
            found = nearest(value, format)
            if found is None:
                raise UsageError(
                    f"{what}: entries must be finite in {format.name}, got one of size "
                    f"2^{value.numerator.bit_length() - value.denominator.bit_length()} at "
                    f"({row}, {column}), which overflows; choose a wider --dtype"
                )
            entries.append(found)
    return Matrix(*matrix.shape, entries)


def reals(matrix: Matrix) -> NDArray[np.float64]:
    """Entries that float64 holds exactly, shape (height, width)."""
    return np.array([[float(x) for x in row] for row in matrix.rows()]).reshape(matrix.shape)


def exact(entries: NDArray[Any]) -> Matrix:
    """The same numbers exactly; shape (height, width), none NaN or infinite."""
    height, width = entries.shape
    return Matrix(height, width, map(Fraction, entries.ravel().tolist()))
