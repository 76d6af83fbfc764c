"""Runs of counts, and pieces of a ReLU network on a line."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

from verify.definitions.plain import dot, require, rows_of


def check_runs(exhibit: Any) -> None:
    """The runs of a network of counts: no more than (w + 1)^D, scores affine on each."""
    layers = [
        (rows_of(part["rows"]), [Fraction(x) for x in part["slope"]], part["offset"])
        for part in exhibit["layers"]
    ]
    branches = [[Fraction(x) for x in branch] for branch in exhibit["branches"]]
    counts, width = range(exhibit["longest"] + 1), len(layers[-1][0][0])
    sides, scores = list[list[bool]](), list[Fraction]()
    for count in counts:
        values, seen = [Fraction(0)] * width, list[bool]()
        states: list[Fraction] = []
        for rows, slope, offset in layers:
            states = [
                dot(row, values) + s * count + Fraction(o)
                for row, s, o in zip(rows, slope, offset, strict=True)
            ]
            seen += [state > 0 for state in states]
            values = [branches[z > 0][0] * z + branches[z > 0][1] for z in states]
        require(len(states) == 1, "the score is not one number")
        scores.append(states[0])
        sides.append(seen[:-1])
    starts = [c for c in counts if c == 0 or sides[c] != sides[c - 1]]
    require(starts == exhibit["runs"], "the runs are other ones")
    require(len(starts) <= (width + 1) ** (len(layers) - 1), "there are too many runs")
    for first, last in itertools.pairwise((*starts, len(counts))):
        for c in range(first, last - 2):
            require(scores[c] + scores[c + 2] == 2 * scores[c + 1], "a score is not affine")
    if exhibit["parity"]:
        signs = all((score > 0) if c % 2 else (score < 0) for c, score in enumerate(scores))
        require(signs and len(counts) <= 2 * len(starts), "the scores do not alternate")


Lines = list[tuple[Fraction, Fraction]]
"""Slope and offset of each coordinate."""


def along(layer: Any, lines: Lines, unit: int) -> Lines:
    """A layer's coordinates along the line, before any ReLU."""
    rows = rows_of(layer["rows"])
    require(all(len(row) == len(lines) for row in rows), "a layer does not fit the one before it")
    return [
        (
            sum((w * s for w, (s, _) in zip(row, lines, strict=True)), Fraction(0)),
            sum((w * o for w, (_, o) in zip(row, lines, strict=True)), Fraction(b) * unit),
        )
        for row, b in zip(rows, layer["bias"], strict=True)
    ]


def check_pieces(exhibit: Any) -> None:
    """Every piece of a network on a line, how many there may be, and the signs of its score."""
    unit, longest = exhibit["unit"], exhibit["longest"]
    slopes, offsets = (list(map(Fraction, exhibit[name])) for name in ("slope", "offset"))
    start = list(zip(slopes, offsets, strict=True))
    off = Fraction(0)
    found: list[tuple[Fraction, Fraction, Lines]] = [(off, Fraction(longest), start)]
    for layer in exhibit["layers"]:
        parts: list[tuple[Fraction, Fraction, Lines]] = []
        for low, high, lines in found:
            sums = along(layer, lines, unit)
            zeros = sorted({-o / s for s, o in sums if s})
            ends = [low, *(zero for zero in zeros if low < zero < high), high]
            for left, right in itertools.pairwise(ends):
                middle = (left + right) / 2
                on = [(s, o) if s * middle + o > 0 else (off, off) for s, o in sums]
                parts.append((left, right, on))
        found = parts
    widest = max((len(layer["rows"]) for layer in exhibit["layers"]), default=0)
    require(exhibit["pieces"] == len(found), f"there are {len(found)} pieces")
    require(len(found) <= (widest + 1) ** len(exhibit["layers"]), "more pieces than (w + 1)^D")
    plus: int = exhibit["plus"]
    minus: int = exhibit["minus"]
    scores: dict[Fraction, Fraction] = {}
    for low, high, lines in found:
        out = [
            (s + a, o + b)
            for (s, o), (a, b) in zip(along(exhibit["output"], lines, unit), start, strict=True)
        ]
        slope, offset = out[plus][0] - out[minus][0], out[plus][1] - out[minus][1]
        require(scores.get(low, slope * low + offset) == slope * low + offset, "the score jumps")
        inner = range(math.ceil(low), math.floor(high) + 1)
        scores |= {place: slope * place + offset for place in (*map(Fraction, inner), high)}
    signs = [scores[Fraction(place)] for place in range(longest + 1)]
    changes = sum(a * b < 0 for a, b in itertools.pairwise(signs))
    require(exhibit["sign_changes"] == changes, f"the score changes its sign {changes} times")
    require(changes <= len(found), "more sign changes than pieces")
    if exhibit["parity"]:
        require(signs[0] < 0 and changes == longest, "the score does not show the parity")
