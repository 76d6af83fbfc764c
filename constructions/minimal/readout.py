"""What a model predicts over a box of the plane: exact linear bounds of its feed-forward layer.

Over a box every neuron's input has a least and a greatest value; a ReLU that is on or off there is
linear, and another lies above a line through 0 (slope 0 or 1) and below a line over both ends.
So each difference of two logits has a linear lower bound, whose least value stands at a corner.
Where that does not decide, the box is halved.

Numbers are integers in units of 2^-places, so nothing is rounded.

Source: E. Wong and J. Z. Kolter, Provable defenses via the convex outer adversarial polytope, 2018.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from constructions.minimal.definitions import VOCABULARY, Model

BOX_BITS = 40
"""Corners of boxes are multiples of 2^-BOX_BITS."""
SLOPE_BITS = 16
MOST_HALVES = 64
"""Boxes are halved at most so often before the windows are told apart instead."""

Box = tuple[int, int, int, int]
"""Least and greatest first coordinate, least and greatest second, in units of 2^-BOX_BITS."""
Label = Literal["right", "wrong"]


def denominators(entries: Sequence[Fraction]) -> int:
    """The least k such that 2^k times every entry is an integer; all are dyadic."""
    return max((entry.denominator.bit_length() - 1 for entry in entries), default=0)


@dataclass(frozen=True, slots=True)
class Linear:
    """first * y_1 + second * y_2 + constant, over integers."""

    first: int
    second: int
    constant: int

    def least(self, box: Box) -> int:
        """The least value over a box."""
        return (
            self.constant
            + self.first * (box[0] if self.first > 0 else box[1])
            + self.second * (box[2] if self.second > 0 else box[3])
        )

    def greatest(self, box: Box) -> int:
        """The greatest value over a box."""
        return -Linear(-self.first, -self.second, -self.constant).least(box)


class Readout:
    """Feed-forward layer and readout of a model, as integers.

    A weight is counted in units of 2^-places, a coordinate of the plane in units of 2^-BOX_BITS.
    """

    def __init__(self, model: Model) -> None:
        """Scale the weights."""
        names = ("W_1", "b_1", "W_2", "b_2", "U", "c")
        exact = {name: model.exact(name) for name in names}
        self._places = denominators([x for rows in exact.values() for row in rows for x in row])
        scaled = {
            name: [[int(x * (1 << self._places)) for x in row] for row in rows]
            for name, rows in exact.items()
        }
        self._neurons = [
            (Linear(first, second, bias << BOX_BITS), out)
            for first, second, bias, out in zip(
                *scaled["W_1"], scaled["b_1"][0], scaled["W_2"], strict=True
            )
            if any(out)
        ]
        self._shift = scaled["b_2"][0]
        self._columns = list(zip(*scaled["U"], strict=True))
        self._offsets = scaled["c"][0]

    def label(self, box: Box, required: int) -> Label | None:
        """Whether every point of the box is right, or every one wrong; None if not shown."""
        waiting, halves, found = [box], 0, set[Label]()
        while waiting:
            part = waiting.pop()
            label = self._whole(part, required)
            if label is not None:
                found.add(label)
                if len(found) > 1:
                    return None
                continue
            halves += 1
            if halves > MOST_HALVES or self._mixed(part, required, found):
                return None
            waiting.extend(halved(part))
        return found.pop()

    def _mixed(self, box: Box, required: int, found: set[Label]) -> bool:
        """Whether the middle of a part is labelled otherwise than parts before it."""
        middle = ((box[0] + box[1]) // 2, (box[2] + box[3]) // 2)
        label = self._whole((middle[0], middle[0], middle[1], middle[1]), required)
        if label is not None:
            found.add(label)
        return len(found) > 1 or (box[0] == box[1] and box[2] == box[3])

    def _whole(self, box: Box, required: int) -> Label | None:
        """The label that linear bounds over the whole box show."""
        others = [token for token in range(VOCABULARY) if token != required]
        rising, neurons = self._split(box)
        if all(self._least(box, rising, neurons, required, other) > 0 for other in others):
            return "right"
        if any(self._least(box, rising, neurons, other, required) >= 0 for other in others):
            return "wrong"
        return None

    def _split(
        self, box: Box
    ) -> tuple[tuple[Linear, Linear], list[tuple[Linear, Linear, list[int]]]]:
        """Z without the ReLUs that bend over the box; and those, with a line below and one above.

        Units: z in 2^-(2 places + BOX_BITS), lines in 2^-(places + BOX_BITS + SLOPE_BITS).
        """
        one = 1 << (2 * self._places)
        rising = [
            [one, 0, self._shift[0] << (self._places + BOX_BITS)],
            [0, one, self._shift[1] << (self._places + BOX_BITS)],
        ]
        bending = list[tuple[Linear, Linear, list[int]]]()
        for line, out in self._neurons:
            low, high = line.least(box), line.greatest(box)
            if high <= 0:
                continue
            if low >= 0:
                for row, weight in zip(rising, out, strict=True):
                    row[0] += line.first * weight
                    row[1] += line.second * weight
                    row[2] += line.constant * weight
            else:
                bending.append((*_hull(line, low, high), out))
        return (Linear(*rising[0]), Linear(*rising[1])), bending

    def _least(
        self,
        box: Box,
        rising: tuple[Linear, Linear],
        bending: list[tuple[Linear, Linear, list[int]]],
        leader: int,
        other: int,
    ) -> int:
        """A lower bound of the leader's logit less the other's, in units that only have a sign."""
        across = [x - y for x, y in zip(self._columns[leader], self._columns[other], strict=True)]
        sums = [
            0,
            0,
            (self._offsets[leader] - self._offsets[other]) << (2 * self._places + BOX_BITS),
        ]
        for weight, line in zip(across, rising, strict=True):
            sums[0] += weight * line.first
            sums[1] += weight * line.second
            sums[2] += weight * line.constant
        sums = [entry << SLOPE_BITS for entry in sums]
        for below, above, out in bending:
            weight = across[0] * out[0] + across[1] * out[1]
            line = below if weight > 0 else above
            sums[0] += weight * line.first
            sums[1] += weight * line.second
            sums[2] += weight * line.constant
        return Linear(*sums).least(box)


def _hull(line: Linear, low: int, high: int) -> tuple[Linear, Linear]:
    """Lines below and above relu(line) where line runs from low < 0 to high > 0, times 2^SLOPE."""
    one = 1 << SLOPE_BITS
    below = one if high > -low else 0
    above = (high << SLOPE_BITS) // (high - low)
    rise = max(-above * low, (one - above) * high)
    return (
        Linear(line.first * below, line.second * below, line.constant * below),
        Linear(line.first * above, line.second * above, line.constant * above + rise),
    )


def halved(box: Box) -> tuple[Box, Box]:
    """The two halves across the longer side."""
    if box[1] - box[0] >= box[3] - box[2]:
        middle = (box[0] + box[1]) // 2
        return (box[0], middle, box[2], box[3]), (middle, box[1], box[2], box[3])
    middle = (box[2] + box[3]) // 2
    return (box[0], box[1], box[2], middle), (box[0], box[1], middle, box[3])
