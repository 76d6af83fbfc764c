"""Points of the plane with their names, which never meet.

Source: Fully Interpretable Minimal Transformers, Figures 5 to 7 and 10 to 15.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from constructions.minimal.definitions import VOCABULARY, Reals, token_name
from reports.figures.minimal import labels
from reports.figures.minimal.drawing import INCH, positioned, subscript
from reports.figures.minimal.labels import Place
from reports.figures.svg import INK

SIZE = 7.0
SMALL_DOT, LARGE_DOT = 8.0, 15.0
"""Areas of dots."""
NOTHING = np.empty((0, 2))
TOGETHER = 22.0
"""Points of one token within so many printer's points have one label."""
FAR = 26.0
CROWDED = (
    "Where it is crowded, one label, as in +₀₋₇, stands for all positions of a token, or only its "
    "first and last position have one."
)
"""What captions say of figures that show everything."""
_DIGIT, _OPERATOR, _SMALL = 0.64, 0.84, 0.42
"""Widths of glyphs over the font size."""
_HEIGHT = 1.05


def draw_points(
    axes: Any,
    cloud: Reals,
    names: Sequence[str],
    colours: Sequence[str],
    *,
    inks: Sequence[str] | None = None,
    size: float = SIZE,
    around: Reals = NOTHING,
) -> None:
    """Points (n, 2), each a dot in its colour with its name beside it; axes must have limits.

    Names avoid what is drawn around them, points (m, 2).
    """
    _scatter(axes, cloud, colours, LARGE_DOT)
    write_names(axes, cloud, names, inks or [INK] * len(names), size, around)


def write_names(
    axes: Any,
    cloud: Reals,
    names: Sequence[str],
    inks: Sequence[str],
    size: float,
    around: Reals,
) -> None:
    """Names beside points that are drawn already."""
    found = _places(axes, cloud, names, np.concatenate([cloud, around]), size)
    _write(axes, cloud, names, found, inks, size)


def draw_everything(
    axes: Any,
    tables: Sequence[Reals],
    colours: Sequence[Sequence[str]],
    *,
    ink: str | None = INK,
    size: float = SIZE,
    around: Reals = NOTHING,
) -> None:
    """Every token at every position, tables (positions, 12, 2), with a colour for each point.

    A token whose positions lie close together has one label for all of them. One whose labels
    would end up far from their points has labels at its first and last position only. Labels have
    the colour of a token's first point if ink is None.
    """
    for table, shades in zip(tables, colours, strict=True):
        _scatter(axes, table.reshape(-1, 2), shades, SMALL_DOT)
    dots = np.concatenate([*(table.reshape(-1, 2) for table in tables), around])
    streaks = [(token, table[:, token]) for table in tables for token in range(VOCABULARY)]
    thinned = set[int]()
    while True:
        points, names, owners = _named(axes, streaks, thinned)
        found = _places(axes, points, names, dots, size)
        far = {
            owner
            for owner, place in zip(owners, found, strict=True)
            if place is None or place.length > FAR
        }
        if far <= thinned:
            break
        thinned |= far
    firsts = [shade for shades in colours for shade in shades[:VOCABULARY]]
    inks = [ink or firsts[owner] for owner in owners]
    _write(axes, points, names, found, inks, size)


def _named(
    axes: Any, streaks: Sequence[tuple[int, Reals]], thinned: set[int]
) -> tuple[Reals, list[str], list[int]]:
    """What has a label, its label, and the number of the streak that it belongs to.

    Streaks (positions, 2) have one label as a whole, two if they are thinned, or all.
    """
    points, names, owners = list[Reals](), list[str](), list[int]()
    for number, (token, streak) in enumerate(streaks):
        last = len(streak) - 1
        if _diameter(_on_page(axes, streak)) < TOGETHER:
            points.append(streak.mean(axis=0))
            names.append(f"{token_name(token)}{subscript(f'0-{last}')}")
        else:
            places = range(0, last + 1, last if number in thinned else 1)
            points += [streak[place] for place in places]
            names += [positioned(token, place) for place in places]
        owners += [number] * (len(names) - len(owners))
    return np.array(points), names, owners


def _scatter(axes: Any, cloud: Reals, colours: Sequence[str], area: float) -> None:
    axes.scatter(*cloud.T, s=area, color=colours, linewidths=0, zorder=3)


def _diameter(cloud: Reals) -> float:
    return float(np.linalg.norm(cloud[:, None] - cloud[None], axis=-1).max())


def _scale(axes: Any) -> tuple[Reals, Reals]:
    """The lower left corner of the window, and printer's points per unit."""
    low = np.array([axes.get_xlim()[0], axes.get_ylim()[0]])
    high = np.array([axes.get_xlim()[1], axes.get_ylim()[1]])
    return low, _corner(axes) / (high - low)


def _corner(axes: Any) -> Reals:
    """Width and height of the axes in printer's points."""
    box = axes.get_position()
    return np.array([box.width, box.height]) * axes.figure.get_size_inches() * INCH


def _on_page(axes: Any, cloud: Reals) -> Reals:
    """Points in printer's points from the lower left corner of the axes."""
    low, scale = _scale(axes)
    return (cloud - low) * scale


def _places(
    axes: Any, points: Reals, names: Sequence[str], dots: Reals, size: float
) -> list[Place | None]:
    sizes = np.array([[size * _width(name), size * _HEIGHT] for name in names])
    return labels.places(_on_page(axes, points), sizes, _corner(axes), _on_page(axes, dots))


def _write(
    axes: Any,
    points: Reals,
    names: Sequence[str],
    found: Sequence[Place | None],
    inks: Sequence[str],
    size: float,
) -> None:
    low, scale = _scale(axes)
    for point, name, place, ink in zip(points, names, found, inks, strict=True):
        if place is None:
            continue
        at = low + np.array(place.middle) / scale
        axes.text(*at, name, color=ink, fontsize=size, ha="center", va="center", zorder=4)
        if place.length > labels.LEADER_FROM:
            end = low + np.array(place.end) / scale
            axes.plot(*np.array([point, end]).T, color=ink, linewidth=0.45, alpha=0.6, zorder=2)


def _width(name: str) -> float:
    """The width of a label over its font size."""
    return sum(
        _DIGIT if glyph in "0123456789" else _OPERATOR if glyph == "+" else _SMALL for glyph in name
    )
