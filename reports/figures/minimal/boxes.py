"""The compact proof as a picture: boxes that hold what whole sets of windows lead to.

Source: ours; constructions.minimal.cover says what a box shows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import count, pairwise
from typing import Any

import numpy as np

from constructions.minimal import cover
from constructions.minimal.definitions import Model, Reals, groups, token_name, window_count
from constructions.minimal.readout import BOX_BITS, Label, Readout
from reports.figures.minimal import drawing, landscapes, scatter, values
from reports.figures.minimal.drawing import DARK, Subject
from reports.figures.svg import Figure

NUMBER = "boxes"
MOST_SETS = 400
"""A picture has no more boxes; what they leave open is shown as such."""
WRONG, OPEN, GROUND = "#b42318", "#59636e", "#e3e7eb"
STYLES: dict[Label | None, tuple[str, str, str]] = {
    "right": (DARK, "-", "every window in the box is right"),
    "wrong": (WRONG, "-", "every window in the box is wrong (crossed)"),
    None: (OPEN, ":", "not settled by the box"),
}
"""Colour, line and words of each kind of box."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Set:
    """So many windows with one last even number, and the box of where they lead.

    corners   (5, 2), once round the box
    """

    even: int
    label: Label | None
    size: int
    corners: Reals

    def outline(self) -> Reals:
        """Points along the edge of the box, (n, 2)."""
        sides: list[Reals] = [np.linspace(*pair, 12) for pair in pairwise(self.corners)]
        return np.concatenate(sides)


def proof(subject: Subject) -> Figure:
    """The boxes of all windows of the greatest length that is shown, over the regions."""
    model, length = subject.checkpoint.model, subject.positions
    sets = [*sets_of(model, length)]
    outlines = np.concatenate([one.outline() for one in sets])
    ground = values.landscape(model, values.extent(outlines))
    figure, (axes,) = drawing.page(9.6, 8.4, [(0.65, 0.35, 8.7, 6.85)])
    found = landscapes.draw_regions(axes, ground, size=16, around=outlines)
    drawing.coordinates(axes, "y", (ground.x[0], ground.x[-1], ground.y[0], ground.y[-1]))
    drawing.title(axes, f"where + at position {length - 1} is moved: boxes by required number")
    for one in sets:
        _draw(axes, one)
    _name(axes, sets, outlines)
    landscapes.region_legend(figure, found, 0.33)
    shown = {one.label for one in sets} | {"right", "wrong"}
    kinds = [
        drawing.patch(GROUND, words, edgecolor=colour, linestyle=line)
        for label, (colour, line, words) in STYLES.items()
        if label in shown
    ]
    drawing.legend(figure, kinds, 0.05)
    told = (
        f"The compact proof for length {length}: each box holds y for a whole set of windows with "
        "one last even number, over the token that leads there. Beside boxes stands the number "
        "that their windows require, and how many boxes there are."
    )
    return subject.figure(NUMBER, told, _counted(sets, length), figure)


def sets_of(model: Model, length: int) -> Iterator[Set]:
    """Sets that together are all windows of a length; the largest are parted first.

    They are those of `cover.cover`, unless there would be more than MOST_SETS or a single window
    is left that only the exact judge settles.
    """
    reach, readout, numbers = cover.Reach(model, length), Readout(model), count()
    waiting = [(-one.size(), next(numbers), one, one.allowed()) for one in groups(length)]
    heapify(waiting)
    made = len(waiting)
    while waiting:
        size, _, group, allowed = heappop(waiting)
        box = reach.proposed(allowed, group.place)
        label = readout.label(box, group.even) if reach.holds(allowed, box) else None
        if label is None and size < -1 and made < MOST_SETS:
            at, parts = reach.moving(allowed, group.place)
            made += len(parts) - 1
            for tokens in parts:
                part = cover.narrowed(allowed, at, tokens)
                heappush(waiting, (-cover.set_size(part), next(numbers), group, part))
            continue
        yield Set(even=group.even, label=label, size=-size, corners=_corners(box))


def _corners(box: cover.Box) -> Reals:
    left, right, low, high = (end / 2.0**BOX_BITS for end in box)
    return np.array([[left, low], [right, low], [right, high], [left, high], [left, low]])


def _draw(axes: Any, one: Set) -> None:
    """The outline of a box, crossed if its windows are wrong."""
    colour, line, _ = STYLES[one.label]
    axes.plot(*one.corners.T, color=colour, linestyle=line, linewidth=0.9, zorder=2)
    if one.label == "wrong":
        for diagonal in (one.corners[[0, 2]], one.corners[[1, 3]]):
            axes.plot(*diagonal.T, color=colour, linewidth=0.5, zorder=2)


def _name(axes: Any, sets: Sequence[Set], outlines: Reals) -> None:
    """The required number and how many boxes, beside the boxes of one number and label."""
    kinds = defaultdict[tuple[int, Label | None], list[Reals]](list)
    for one in sets:
        kinds[one.even, one.label].append(one.outline())
    points = np.array([_top(np.concatenate(parts)) for parts in kinds.values()])
    names = [f"{token_name(even)}: {len(parts)}" for (even, _), parts in kinds.items()]
    colours = [STYLES[label][0] for _, label in kinds]
    scatter.write_names(axes, points, names, colours, 9, outlines)


def _top(outline: Reals) -> Reals:
    """The corner of boxes that is highest up."""
    return outline[np.lexsort(outline.T)[-1]]


def _counted(sets: Sequence[Set], length: int) -> str:
    sizes = {label: sum(one.size for one in sets if one.label == label) for label in STYLES}
    boxes = {label: sum(one.label == label for one in sets) for label in STYLES}
    rest = f"; {boxes[None]} dotted ones leave {sizes[None]:,} open" if boxes[None] else ""
    return (
        f"Of all {window_count(length):,} windows {boxes['right']} boxes show "
        f"{sizes['right']:,} to be right, and {boxes['wrong']} crossed ones {sizes['wrong']:,} to "
        f"be wrong{rest}."
    )
