"""Tables as cells in colours, with numbers in them; colour maps, and bars that name them.

Source: Fully Interpretable Minimal Transformers, Figures 2, 4, 5, 8 and 11 to 15.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np

from constructions.minimal.definitions import Reals
from reports.figures.minimal.drawing import DARK, PALE, SMALL

MASKED = "#d0d7de"


def colours_of(name: str, count: int) -> list[str]:
    """So many colours from one end of a colour map to the other."""
    matplotlib: Any = import_module("matplotlib")
    colours: Any = import_module("matplotlib.colors")
    return [colours.to_hex(matplotlib.colormaps[name](at)) for at in np.linspace(0, 1, count)]


def heat_map(
    axes: Any,
    table: Reals,
    names: tuple[Sequence[str], Sequence[str]],
    colours: Sequence[str],
    ends: tuple[float, float],
    *,
    digits: int | None = 2,
    size: float = SMALL,
) -> None:
    """A table as cells, its first row on top, with the numbers in them unless digits is None.

    What is not a number is masked.
    """
    steps = np.linspace(*ends, len(colours) + 1)[1:-1]
    paint(axes, np.digitize(table, steps), colours)
    rows, columns = table.shape
    axes.set_xticks(np.arange(columns) + 0.5, names[1])
    axes.set_yticks(np.arange(rows) + 0.5, names[0])
    _cover(axes, np.isnan(table))
    if digits is not None:
        for (row, column), value in np.ndenumerate(table):
            if np.isnan(value):
                continue
            colour = colours[int(np.digitize(value, steps))]
            write(axes, (column + 0.5, row + 0.5), number(value, digits), contrast(colour), size)


def number(value: float, digits: int) -> str:
    """A number as figures write it."""
    return f"{value:.{digits}f}".replace("-", "−")


def _cover(axes: Any, hidden: Any) -> None:
    for row, column in np.argwhere(hidden):
        axes.bar(column + 0.5, 1, 1, row, color=MASKED, edgecolor=MASKED, linewidth=0.4)


def masked(table: Reals) -> Reals:
    """A table of queries by keys without what the causal mask hides."""
    return np.where(np.triu(np.ones_like(table), 1) > 0, np.nan, table)


def paint(axes: Any, indices: Any, colours: Sequence[str]) -> None:
    """Cells of a table in the colours with these indices."""
    colormap: Any = import_module("matplotlib.colors").ListedColormap
    axes.pcolormesh(
        indices,
        cmap=colormap(colours),
        vmin=0,
        vmax=len(colours) - 1,
        edgecolors="face",
        linewidth=0.3,
    )
    rows, columns = indices.shape
    axes.set(xlim=(0, columns), ylim=(rows, 0))
    axes.tick_params(length=0)
    axes.spines[["left", "bottom"]].set_visible(False)


def write(axes: Any, at: tuple[float, float], text: str, colour: str, size: float) -> None:
    """A text with its middle at a place of the data."""
    axes.text(*at, text, color=colour, fontsize=size, ha="center", va="center_baseline")


def contrast(colour: str) -> str:
    """Dark or pale, whichever is read more easily on a colour."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return DARK if 299 * red + 587 * green + 114 * blue > 140_000 else PALE  # noqa: PLR2004 - luma


def colour_bar(axes: Any, colours: Sequence[str], ends: tuple[float, float], name: str) -> None:
    """A bar beside panels: each colour's range of values, lowest at the bottom, and their name."""
    edges = np.linspace(*ends, len(colours) + 1)
    for (low, high), colour in zip(pairwise(edges), colours, strict=True):
        axes.bar(0.5, high - low, 1, low, color=colour, edgecolor=colour, linewidth=0.4)
    axes.set(xlim=(0, 1), ylim=ends, xticks=[])
    axes.yaxis.tick_right()
    axes.yaxis.set_label_position("right")
    axes.set_ylabel(name, fontsize=9)
    axes.spines[["left", "bottom"]].set_visible(False)
