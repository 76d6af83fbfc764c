"""Where labels of crowded points go: beside their points, and never on one another.

Each label tries sixteen directions, nearest places first, and takes the first that is free of
labels, dots and leader lines, and from which a line to its point crosses no label. The most crowded
points choose first. A label for which there is no place at all is left out.

All lengths are in printer's points.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from constructions.minimal.definitions import Reals

NEAR, STEP, FARTHEST = 3.0, 1.5, 180.0
"""Distances between points and labels that are tried."""
LEADER_FROM = 6.0
"""A label farther off than this is joined to its point by a line."""
_PAD = 0.8
_DOT = 1.8
_CROWD = 18.0
_SAMPLES = 16
_ANGLES = np.arange(16) * np.pi / 8
_DIRECTIONS = np.stack([np.cos(_ANGLES), np.sin(_ANGLES)], axis=1)
_SIDES = np.clip(1.5 * _DIRECTIONS, -1.0, 1.0)
"""Where the middle of a label lies beside the end of a ray, in halves of its size."""
_DISTANCES = np.arange(NEAR, FARTHEST, STEP)
_AT_ONCE = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The middle of a label, the end of the line to its point, and that line's length."""

    middle: tuple[float, float]
    end: tuple[float, float]
    length: float


@dataclass(slots=True, kw_only=True)
class _Taken:
    """What stands already: middles and half sizes (n, 4) of labels, points along leaders."""

    boxes: Reals
    lines: Reals


def places(points: Reals, sizes: Reals, corner: Reals, dots: Reals) -> list[Place | None]:
    """A place for each label.

        points  (n, 2)   what the labels belong to, from the lower left corner of the area
        sizes   (n, 2)   width and height of the labels
        corner  (2,)     the upper right corner, which labels stay inside of
        dots    (m, 2)   what labels must not lie on, beside each other

    None stands for a label that is left out.
    """
    found: list[Place | None] = [None] * len(points)
    taken = _Taken(boxes=np.empty((0, 4)), lines=np.empty((0, 2)))
    distances = np.linalg.norm(points[:, None] - dots[None], axis=-1)
    crowds = (distances < _CROWD).sum(axis=1)
    for index in sorted(range(len(points)), key=lambda one: (-crowds[one], one)):
        found[index] = _place(points[index], sizes[index] / 2, corner, dots, taken)
    return found


def _place(point: Reals, half: Reals, corner: Reals, dots: Reals, taken: _Taken) -> Place | None:
    """The first place that is free, which is taken then."""
    for distances in np.array_split(_DISTANCES, len(_DISTANCES) // _AT_ONCE):
        rays = np.kron(distances[:, None], _DIRECTIONS)
        middles = point + rays + np.tile(_SIDES, (len(distances), 1)) * half
        for middle in middles[_free(middles, half, corner, dots, taken)]:
            end = np.clip(point, middle - half, middle + half)
            length = float(np.hypot(*(end - point)))
            line = np.linspace(point, end, _SAMPLES)[: _SAMPLES if length > LEADER_FROM else 0]
            if _meets(line, taken.boxes[:, :2], taken.boxes[:, 2:]).any():
                continue
            taken.boxes = np.vstack([taken.boxes, [*middle, *half]])
            taken.lines = np.vstack([taken.lines, line])
            x, y = middle.tolist()
            return Place(middle=(x, y), end=(float(end[0]), float(end[1])), length=length)
    return None


def _free(middles: Reals, half: Reals, corner: Reals, dots: Reals, taken: _Taken) -> Any:
    """Which labels lie inside the area and on nothing that stands there."""
    inside = (middles - half >= 0).all(axis=1) & (middles + half <= corner).all(axis=1)
    found = np.flatnonzero(inside)
    for points, apart in (
        (dots, half + _DOT),
        (taken.boxes[:, :2], half + _PAD + taken.boxes[:, 2:]),
        (taken.lines, half + _PAD),
    ):
        found = found[~_meets(middles[found], points, apart)]
    return found


def _meets(middles: Reals, points: Reals, half: Reals) -> NDArray[np.bool_]:
    """Which middles (c, 2) are nearer to some point (m, 2) than half a size, (2,) or (m, 2)."""
    near: NDArray[np.bool_] = np.abs(middles[:, None] - points[None]) < half
    return np.asarray(np.any(np.all(near, axis=2), axis=1))
