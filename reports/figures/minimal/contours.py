"""Fields over the plane as a few polygons: bands between levels, and the regions of an argmax.

Pages allow no embedded rasters. Rings lose the corners that no eye can see, so drawings stay small.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np

from constructions.minimal.definitions import Reals

TOLERANCE = 1 / 1500
"""How far a simplified ring may be off, over the width and height of the field."""


def fill_bands(
    axes: Any, x: Reals, y: Reals, field: Reals, levels: Sequence[float], colours: Sequence[str]
) -> None:
    """Fill what lies between each level and the next, in one colour each; ends are open."""
    bounds = [*levels]
    bounds[0] = min(bounds[0], float(field.min())) - 1.0
    bounds[-1] = max(bounds[-1], float(field.max())) + 1.0
    for (low, high), colour in zip(pairwise(bounds), colours, strict=True):
        fill_between(axes, x, y, field, (low, high), colour)


def fill_between(
    axes: Any, x: Reals, y: Reals, field: Reals, ends: tuple[float, float], colour: str
) -> None:
    """Fill where a field lies between two values, as one path; nothing where it never does."""
    path: Any = import_module("matplotlib.path").Path
    patch: Any = import_module("matplotlib.patches").PathPatch
    rings = [*_rings(x, y, field, ends)]
    if rings:
        closed = [path([*ring, ring[0]], closed=True) for ring in rings]
        # The edge closes the hairlines that renderers leave between neighbours.
        shape = patch(
            path.make_compound_path(*closed), facecolor=colour, edgecolor=colour, linewidth=0.5
        )
        axes.add_patch(shape)


def _rings(x: Reals, y: Reals, field: Reals, ends: tuple[float, float]) -> Iterator[Reals]:
    contourpy: Any = import_module("contourpy")
    generator = contourpy.contour_generator(x, y, field, fill_type=contourpy.FillType.OuterOffset)
    scale = np.array([x[-1] - x[0], y[-1] - y[0]])
    for corners, offsets in zip(*generator.filled(*ends), strict=True):
        for first, last in pairwise(offsets):
            ring = _simplified(corners[first : last - 1] / scale)
            if len(ring) > 2:  # noqa: PLR2004 - what has two corners has no area
                yield ring * scale


def _simplified(ring: Reals) -> Reals:
    """The corners that Douglas and Peucker's method keeps of a ring."""
    farthest = int(np.linalg.norm(ring - ring[0], axis=1).argmax())
    kept = {0, farthest}
    waiting = [(0, farthest), (farthest, len(ring))]
    closed = np.vstack([ring, ring[:1]])
    while waiting:
        first, last = waiting.pop()
        if last - first < 2:  # noqa: PLR2004 - nothing lies between neighbours
            continue
        middle = closed[first + 1 : last]
        along = closed[last] - closed[first]
        length = np.hypot(*along)
        across = (middle - closed[first]) @ np.array([-along[1], along[0]])
        off = np.abs(across) / length if length else np.hypot(*(middle - closed[first]).T)
        at = int(off.argmax())
        if off[at] > TOLERANCE:
            kept.add(first + 1 + at)
            waiting += [(first, first + 1 + at), (first + 1 + at, last)]
    return ring[sorted(kept)]


def inner_point(x: Reals, y: Reals, inside: Any) -> tuple[float, float]:
    """A point of a region, an array (rows, columns) of truth values, far from its edge."""
    left = np.pad(np.asarray(inside, dtype=bool), 1)
    while True:
        shifts = [np.roll(left, step, axis) for axis in (0, 1) for step in (1, -1)]
        smaller = left & np.logical_and.reduce(shifts)
        if not smaller.any():
            rows, columns = np.nonzero(left[1:-1, 1:-1])
            middle = np.argmin(np.hypot(rows - rows.mean(), columns - columns.mean()))
            return float(x[columns[middle]]), float(y[rows[middle]])
        left = smaller
