"""The compact proof as a picture: boxes that hold what whole sets of windows lead to.

Source: ours; constructions.minimal.cover says what a box shows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from constructions.minimal import cover
from constructions.minimal.definitions import Reals, token_name, window_count
from constructions.minimal.readout import BOX_BITS
from reports.figures.minimal import drawing, landscapes, scatter, values
from reports.figures.minimal.drawing import DARK, Subject
from reports.figures.svg import Figure

NUMBER = "boxes"
WRONG, GROUND = "#b42318", "#e3e7eb"


@dataclass(frozen=True, slots=True, kw_only=True)
class Set:
    """So many windows with one last even number, right or wrong together; ends are of the box.

    ends   (left, right), (low, high); None where a single window is judged without a box
    """

    even: int
    right: bool
    size: int
    ends: Reals | None

    def outline(self) -> Reals:
        """Points along the edge of the box, (n, 2)."""
        if self.ends is None:
            return scatter.NOTHING
        corners = _corners(self.ends)
        sides: list[Reals] = [np.linspace(*pair, 12) for pair in pairwise(corners)]
        return np.concatenate(sides)


def proof(subject: Subject) -> Figure:
    """The boxes of all windows of the greatest length that is shown, over the regions."""
    model, length = subject.checkpoint.model, subject.positions
    sets = _sets(subject)
    boxed = [one for one in sets if one.ends is not None]
    outlines = np.concatenate([one.outline() for one in boxed])
    ground = values.landscape(model, values.extent(outlines))
    figure, (axes,) = drawing.page(9.6, 8.4, [(0.65, 0.35, 8.7, 6.85)])
    found = landscapes.draw_regions(axes, ground, size=16, around=outlines)
    drawing.coordinates(axes, "y", (ground.x[0], ground.x[-1], ground.y[0], ground.y[-1]))
    drawing.title(axes, f"where + at position {length - 1} is moved: boxes by required number")
    for one in boxed:
        _draw(axes, one)
    _name(axes, boxed, outlines)
    landscapes.region_legend(figure, found, 0.33)
    kinds = [
        drawing.patch(GROUND, "every window in the box is right", edgecolor=DARK),
        drawing.patch(GROUND, "every window in the box is wrong (crossed)", edgecolor=WRONG),
    ]
    drawing.legend(figure, kinds, 0.05)
    told = (
        f"The compact proof for length {length}: each box holds y for a whole set of windows with "
        "one last even number, over the token that leads there. Beside boxes stands the number "
        "that their windows require, and how many boxes there are."
    )
    return subject.figure(NUMBER, told, _counted(sets, length), figure)


def _sets(subject: Subject) -> list[Set]:
    return [
        Set(
            even=part.group.even,
            right=leaf.label == "right",
            size=cover.set_size(allowed),
            ends=np.array(leaf.box).reshape(2, 2) / 2.0**BOX_BITS if leaf.box else None,
        )
        for part in cover.cover(subject.checkpoint.model, subject.positions)
        for leaf, allowed in part.leaves()
    ]


def _draw(axes: Any, one: Set) -> None:
    """The outline of a box, crossed if its windows are wrong."""
    if one.ends is None:
        return
    colour, (across, up) = DARK if one.right else WRONG, one.ends
    axes.plot(*_corners(one.ends).T, color=colour, linewidth=0.9, zorder=2)
    if not one.right:
        axes.plot(across, up, across, up[::-1], color=WRONG, linewidth=0.5, zorder=2)


def _corners(ends: Reals) -> Reals:
    """The corners of a box once round, (5, 2)."""
    (left, right), (low, high) = ends
    return np.array([[left, low], [right, low], [right, high], [left, high], [left, low]])


def _name(axes: Any, boxed: Sequence[Set], outlines: Reals) -> None:
    """The required number and how many boxes, beside the boxes of one number and label."""
    kinds = defaultdict[tuple[int, bool], list[Reals]](list)
    for one in boxed:
        kinds[one.even, one.right].append(one.outline())
    points = np.array([_top(np.concatenate(parts)) for parts in kinds.values()])
    names = [f"{token_name(even)}: {len(parts)}" for (even, _), parts in kinds.items()]
    colours = [DARK if right else WRONG for _, right in kinds]
    scatter.write_names(axes, points, names, colours, 9, outlines)


def _top(outline: Reals) -> Reals:
    """The corner of boxes that is highest up."""
    return outline[np.lexsort(outline.T)[-1]]


def _counted(sets: Sequence[Set], length: int) -> str:
    right = sum(one.size for one in sets if one.right)
    windows = window_count(length)
    boxes = [one for one in sets if one.ends is not None]
    bad = sum(not one.right for one in boxes)
    alone = len(sets) - len(boxes)
    rest = f", {alone} of them apart, one by one" if alone else ""
    return (
        f"{len(boxes)} boxes settle all {windows:,} windows{rest}: {right:,} are right and "
        f"{windows - right:,} wrong, in {bad} crossed boxes."
    )
