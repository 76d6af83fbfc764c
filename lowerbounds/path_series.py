"""Type differences of path vectors as exact power series in the input's scale s.

The logistic function has rational Taylor coefficients at ln 2, since sigma' = sigma (1 - sigma) and
sigma(ln 2) = 2/3. With rational scales c and weights w both type values of a stream, and the type
difference of every path vector, are power series in s with rational coefficients.

Source: Fixed Universal Transformers, Section 4 and Theorem 4.1; the proof is ours.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import comb

from verify.errors import SizeError

Series = tuple[Fraction, ...]
"""Coefficients of s^0, s^1, ..; all that meet in an operation have one length."""

ODDS = 2
"""e^lambda: how many tokens of type 1 there are for one of type 2."""


@lru_cache(maxsize=64)
def logistic_series(odds: int, length: int) -> Series:
    """Taylor coefficients of x -> sigma(x + ln odds) at 0, from f' = f (1 - f)."""
    found = [Fraction(odds, odds + 1)]
    for n in range(length - 1):
        square = sum((found[i] * found[n - i] for i in range(n + 1)), Fraction(0))
        found.append((found[n] - square) / (n + 1))
    return tuple(found[:length])


def times(left: Series, right: Series) -> Series:
    """The product, up to the common length."""
    result = [Fraction(0)] * len(left)
    for i, a in enumerate(left):
        if a:
            for j, b in enumerate(right[: len(left) - i]):
                if b:
                    result[i + j] += a * b
    return tuple(result)


def plus(left: Series, right: Series) -> Series:
    """The sum."""
    return tuple(a + b for a, b in zip(left, right, strict=True))


def scaled(factor: Fraction | int, series: Series) -> Series:
    """A multiple."""
    return tuple(factor * a for a in series)


def inserted(outer: Sequence[Fraction], inner: Series) -> Series:
    """outer(inner(s)) for an inner series without constant term, by Horner's rule."""
    one = (Fraction(1), *[Fraction(0)] * (len(inner) - 1))
    result = scaled(0, one)
    order = order_of(inner)
    used = 1 if order is None else min(len(outer), (len(inner) - 1) // order + 1)
    for a in reversed(outer[:used]):
        result = plus(times(result, inner), scaled(a, one))
    return result


def order_of(series: Series) -> int | None:
    """The index of the first coefficient that is not 0, None if all are."""
    return next((i for i, a in enumerate(series) if a), None)


def signed_binomials(heads: int) -> tuple[int, ...]:
    """The weights (-1)^(H - h) C(H - 1, h - 1): a difference of order H - 1."""
    return tuple((-1) ** (heads - h) * comb(heads - 1, h - 1) for h in range(1, heads + 1))


def natural_scales(heads: int) -> tuple[int, ...]:
    """The scales c^h = h."""
    return tuple(range(1, heads + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesTarget:
    """A target with d_in = 1 on tokens of two types.

    `scales[h]` are the logits' scales, the same in all layers; `weights[l][h]` are w^{l,h};
    `odds` is how many type-1 tokens there are for one of type 2.

    Raises:
        SizeError: fewer than two heads, or not one weight for each head.
    """

    scales: tuple[Fraction | int, ...]
    weights: tuple[tuple[Fraction, ...], ...]
    odds: int = ODDS

    def __post_init__(self) -> None:
        """Refuse sizes that do not fit."""
        if len(self.scales) < 2 or any(len(row) != len(self.scales) for row in self.weights):  # noqa: PLR2004 - one head has one path only
            raise SizeError(
                f"SeriesTarget must have two heads or more and a weight for each, got "
                f"{len(self.scales)} scales and {[len(row) for row in self.weights]} weights"
            )

    def differences(self, length: int) -> list[Series]:
        """The type difference of A_p X for every path, in lexicographic order, to s^(length-1)."""
        zero = (Fraction(0),) * length
        first: Series = tuple(Fraction(int(i == 1)) for i in range(length))
        second, layers = zero, list[list[Series]]()
        for row in self.weights:
            delta = plus(first, scaled(-1, second))
            ups, downs = (self._mixing(times(y, delta)) for y in (first, second))
            layers.append([plus(a, scaled(-1, b)) for a, b in zip(ups, downs, strict=True)])
            first, second = (
                plus(scaled(sum(row), second), times(delta, _weighted(row, mixing)))
                for mixing in (ups, downs)
            )
        start: Series = tuple(Fraction(int(i == 1)) for i in range(length))
        found = [start]
        for factors in layers:
            found = [times(value, factor) for value, factor in itertools.product(found, factors)]
        return found

    def _mixing(self, argument: Series) -> list[Series]:
        """sigma(c y delta + lambda) for every head."""
        outer = logistic_series(self.odds, len(argument))
        return [inserted(outer, scaled(scale, argument)) for scale in self.scales]


def _weighted(row: Sequence[Fraction], values: Sequence[Series]) -> Series:
    total = scaled(0, values[0])
    for weight, value in zip(row, values, strict=True):
        total = plus(total, scaled(weight, value))
    return total


def stated_target(
    heads: int,
    layers: int,
    weights: Callable[[int], tuple[int, ...]] = signed_binomials,
    scales: Callable[[int], tuple[int, ...]] = natural_scales,
    odds: int = ODDS,
) -> SeriesTarget:
    """The target of the proof: scales c^h = h and signed binomial weights, alike in all layers."""
    row = tuple(map(Fraction, weights(heads)))
    return SeriesTarget(scales=scales(heads), weights=(row,) * layers, odds=odds)


def largest_order(heads: int, layers: int, base: int) -> int:
    """1 + 2 sum_l H base^(l-1): the largest order of a combination of the differences."""
    return 1 + 2 * heads * sum(base**layer for layer in range(layers))
