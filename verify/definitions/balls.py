"""Enclosures: a middle and a radius, both whole numbers over one power of two."""

from __future__ import annotations

from fractions import Fraction

from verify.definitions.plain import require

Ball = tuple[int, int]
"""Midpoint and radius, both whole, over a power of two: it contains the number meant."""


class Balls:
    """Arithmetic of balls over 2^scale; every result contains what the exact one would be."""

    def __init__(self, scale: int) -> None:
        """The number of binary places."""
        self.scale = scale

    def of(self, value: Fraction) -> Ball:
        """A rational."""
        scaled = value * (1 << self.scale)
        middle = round(scaled)
        return middle, int(middle != scaled)

    def total(self, balls: list[Ball]) -> Ball:
        """A sum, which rounds nothing."""
        return sum(m for m, _ in balls), sum(r for _, r in balls)

    def times(self, one: Ball, two: Ball) -> Ball:
        """A product."""
        (a, r), (b, t) = one, two
        spread = abs(a) * t + abs(b) * r + r * t
        return a * b >> self.scale, (spread >> self.scale) + 2

    def over(self, one: Ball, two: Ball) -> Ball:
        """A quotient; the divisor must leave 0 out."""
        (a, r), (b, t) = one, two
        require(abs(b) > t, "a divisor may be 0 at this precision")
        spread = (abs(a) * t + abs(b) * r) << self.scale
        return (a << self.scale) // b, spread // (abs(b) * (abs(b) - t)) + 2

    def exp(self, ball: Ball) -> Ball:
        """The exponential of a number below 1: Taylor's series at x / 2^n, squared n times.

        |x / 2^n| < 2^-16, so the terms after one that rounds to 0 add less than 2 units; and
        |e^d - 1| <= 2 |d| for the |d| < 1 by which the argument may differ from its midpoint.
        """
        middle, radius = ball
        unit = 1 << self.scale
        require(middle < unit and radius < unit, "an exponent is too large or too wide")
        halvings = max(0, abs(middle).bit_length() - self.scale) + 16
        small = middle >> halvings
        term, result, count = unit, unit, 0
        while term not in (0, -1):
            count += 1
            term = (term * small >> self.scale) // count
            result += term
        found: Ball = result, 3 * count + 5
        for _ in range(halvings):
            found = self.times(found, found)
        return found[0], found[1] + (2 * radius * (found[0] + found[1]) >> self.scale) + 1

    def softmax(self, row: list[Ball]) -> list[Ball]:
        """Shifted by the largest midpoint, which changes no quotient."""
        shift = max(m for m, _ in row)
        weights = [self.exp((m - shift, r)) for m, r in row]
        below = self.total(weights)
        return [self.over(weight, below) for weight in weights]

    def pivots(self, rows: list[list[Ball]]) -> tuple[list[Ball], int]:
        """The pivots of elimination, whose product is the determinant but for the sign given."""
        rows, found, sign = [list(row) for row in rows], list[Ball](), 1
        while rows:
            best = max(range(len(rows)), key=lambda i: abs(rows[i][0][0]))
            sign = -sign if best else sign
            rows[0], rows[best] = rows[best], rows[0]
            (pivot, *others), *below = rows
            found.append(pivot)
            rows = []
            for first, *rest in below:
                factor = self.over(first, pivot)
                less = (self.times(factor, x) for x in others)
                rows.append([(a - m, t + r) for (a, t), (m, r) in zip(rest, less, strict=True)])
        return found, sign
