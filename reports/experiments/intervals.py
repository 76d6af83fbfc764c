"""Confidence intervals of an accuracy: over seeds, or over the strings it was measured on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, pi, sin, sqrt, tan
from statistics import NormalDist, mean, stdev

LEVEL = 0.95
_HALVINGS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """Two ends between 0 and 1, and what the interval speaks about: so many seeds or strings."""

    low: float
    high: float
    over: str


def student(shares: Sequence[float]) -> Interval:
    """Student's interval of the mean over seeds, at least two, cut to what a share can be."""
    middle = mean(shares)
    half = t_quantile(len(shares) - 1) * stdev(shares) / sqrt(len(shares))
    return Interval(
        low=max(middle - half, 0.0), high=min(middle + half, 1.0), over=f"{len(shares)} seeds"
    )


def wilson(share: float, strings: int) -> Interval:
    """Wilson's score interval of a share among independent strings.

    It is too wide rather than too narrow where each string has several answers: a mean of shares
    varies no more than a coin of the same mean.
    """
    z = NormalDist().inv_cdf((1 + LEVEL) / 2)
    weight = z * z / strings
    middle = (share + weight / 2) / (1 + weight)
    half = z * sqrt(share * (1 - share) / strings + weight / (4 * strings)) / (1 + weight)
    return Interval(low=max(middle - half, 0.0), high=min(middle + half, 1.0), over=_told(strings))


def _told(strings: int) -> str:
    return f"{strings:,} held-out string{'' if strings == 1 else 's'}"


def t_quantile(freedom: int) -> float:
    """The t with probability LEVEL between -t and t, by bisection of its angle."""
    low, high = 0.0, pi / 2
    for _ in range(_HALVINGS):
        angle = (low + high) / 2
        if _between(angle, freedom) < LEVEL:
            low = angle
        else:
            high = angle
    return sqrt(freedom) * tan(low)


def _between(angle: float, freedom: int) -> float:
    """The probability of |t| <= sqrt(freedom) tan(angle), a finite sum of powers of the cosine.

    Source: Abramowitz and Stegun, 26.7.3 and 26.7.4.
    """
    odd = freedom % 2
    term, total = (cos(angle) if odd else 1.0), 0.0
    for power in range(odd, freedom - 1, 2):
        total += term
        term *= cos(angle) ** 2 * (power + 1) / (power + 2)
    total *= sin(angle)
    return 2 / pi * (angle + total) if odd else total
