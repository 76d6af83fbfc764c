"""A ReLU network on a line of inputs: its pieces, exactly, and its score along the line.

A piece is an interval on which every neuron of every layer is affine. If the neurons of a layer are
affine on an interval, each of the next layer's w neurons changes sign there at most once, so the
interval falls into at most w + 1.

Source: Sliding-Window Transformers Without Positional Encodings, Theorem 9; the argument is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from constructions.machines.relu import AffineLayer, Number, ReluNetwork


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Inputs h(t) = (slope t + offset) / unit for 0 <= t <= longest."""

    slope: tuple[Number, ...]
    offset: tuple[Number, ...]
    unit: int
    longest: int

    def at(self, place: Number) -> list[Number]:
        """h(t) times the unit."""
        return [s * place + o for s, o in zip(self.slope, self.offset, strict=True)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """An interval, and the slope and offset there of every coordinate of a layer."""

    low: Fraction
    high: Fraction
    slope: tuple[Number, ...]
    offset: tuple[Number, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LineNetwork:
    """A network f, a line, and the coordinates whose difference is the score.

    score(t) = out[plus] - out[minus] of out = h(t) + f(h(t)), times the line's unit: the residual
    connection is in, and the score tells two tokens apart that differ in what they display.
    """

    network: ReluNetwork
    line: Line
    plus: int
    minus: int

    @property
    def width(self) -> int:
        """The neurons of the widest hidden layer; 0 if there is none."""
        return max(self.network.widths, default=0)

    def score(self, place: Number) -> Number:
        """The score at one place of the line, by a forward pass."""
        entries = self.line.at(place)
        out = self.network.run(entries, self.line.unit)
        return out[self.plus] + entries[self.plus] - out[self.minus] - entries[self.minus]

    def pieces(self) -> tuple[Piece, ...]:
        """All pieces from left to right; slope and offset are those of the score alone."""
        line = self.line
        found = [
            Piece(
                low=Fraction(0),
                high=Fraction(line.longest),
                slope=line.slope,
                offset=line.offset,
            )
        ]
        for layer in self.network.hidden:
            found = [part for piece in found for part in split(piece, layer, line.unit)]
        return tuple(self._scored(piece) for piece in found)

    def _scored(self, piece: Piece) -> Piece:
        output, line = self.network.output, self.line
        slopes, offsets = output.apply(piece.slope, 0), output.apply(piece.offset, line.unit)
        slope, offset = (
            values[self.plus] + own[self.plus] - values[self.minus] - own[self.minus]
            for values, own in ((slopes, line.slope), (offsets, line.offset))
        )
        return Piece(low=piece.low, high=piece.high, slope=(slope,), offset=(offset,))

    def sign_changes(self) -> int:
        """How often the score changes its sign between neighbours among 0, 1, .., longest."""
        scores = [self.score(place) for place in range(self.line.longest + 1)]
        return sum(before * after < 0 for before, after in pairwise(scores))


def split(piece: Piece, layer: AffineLayer, unit: int) -> list[Piece]:
    """The parts of a piece on which no neuron of the next layer changes sign."""
    slopes, offsets = layer.apply(piece.slope, 0), layer.apply(piece.offset, unit)
    zeros = {
        Fraction(-offset) / slope for slope, offset in zip(slopes, offsets, strict=True) if slope
    }
    inner = sorted(zero for zero in zeros if piece.low < zero < piece.high)
    parts: list[Piece] = []
    for low, high in pairwise((piece.low, *inner, piece.high)):
        middle = (low + high) / 2
        active = [s * middle + o > 0 for s, o in zip(slopes, offsets, strict=True)]
        parts.append(
            Piece(
                low=low,
                high=high,
                slope=_where(active, slopes),
                offset=_where(active, offsets),
            )
        )
    return parts


def _where(active: Sequence[bool], values: Sequence[Number]) -> tuple[Number, ...]:
    return tuple(value if on else 0 for on, value in zip(active, values, strict=True))
