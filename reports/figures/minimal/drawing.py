"""What the figures of minimal transformers share: pages, names of tokens, legends.

Grounds that colour fills are opaque in light and dark; what stands on them is drawn in `DARK`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

from constructions.minimal.definitions import (
    EVENS,
    PLUS,
    token_name,
    window_text,
)
from constructions.minimal.files import Checkpoint
from reports.figures import svg
from reports.figures.minimal import values
from reports.figures.minimal.values import Extent, Landscape, Points, Stages
from reports.figures.svg import INK, Figure

DARK, PALE = "#1f2328", "#ffffff"
BLUE, RED, GREEN, ORANGE, GRAY = "#3b82f6", "#e5484d", "#16a34a", "#d97706", "#8b949e"
CLASSES = {"even numbers": BLUE, "odd numbers": GRAY, "+": ORANGE}
SMALL = 8.0
SHOWN = 8
"""Positions that figures show at most."""
INCH = 72.0
_LOWERED = str.maketrans("0123456789-", "₀₁₂₃₄₅₆₇₈₉₋")
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A checkpoint as the figures see it."""

    checkpoint: Checkpoint
    name: str

    @cached_property
    def positions(self) -> int:
        """How many positions are shown."""
        return min(self.checkpoint.model.context, SHOWN)

    @cached_property
    def points(self) -> Points:
        """Every token at every position that is shown."""
        return values.points(self.checkpoint.model, self.positions)

    @cached_property
    def demo(self) -> Stages:
        """The forward pass of the demo sequence."""
        return values.stages(self.checkpoint.model, values.DEMO)

    @cached_property
    def landscape(self) -> Landscape:
        """What is predicted over the plane of all embeddings and values."""
        every = self.points
        window = values.extent(every.e, every.v, every.e + every.v)
        return values.landscape(self.checkpoint.model, window)

    def figure(self, number: str, what: str, seen: str, drawing: Any) -> Figure:
        """A drawing with its name and caption; `what` is told, and `seen` is what to see."""
        name = f"minimal-{_UNSAFE.sub('-', self.name)}-{number}"
        where = (
            f"Figure {int(number)} of the paper" if number.isdigit() else "Ours, not the paper's"
        )
        digest = self.checkpoint.sha256[:12]
        caption = f"{where}, of the checkpoint “{self.name}” (SHA-256 {digest}). {what} {seen}"
        return Figure(name=name, caption=caption, inline=svg.written(drawing, name, caption))


# --- pages -----------------------------------------------------------------------------------


def page(width: float, height: float, boxes: Sequence[Sequence[float]]) -> tuple[Any, list[Any]]:
    """A figure with an axes in each box: left, top, width and height in inches from the top."""
    figure, axes = svg.panels(width, height, len(boxes))
    for one, (left, top, wide, high) in zip(axes, boxes, strict=True):
        place = (left / width, 1 - (top + high) / height, wide / width, high / height)
        one.set_position(place)
        one.tick_params(labelsize=SMALL)
    return figure, axes


def grid(
    columns: int,
    rows: int,
    corner: tuple[float, float],
    size: tuple[float, float],
    gap: tuple[float, float],
) -> list[tuple[float, float, float, float]]:
    """Boxes of one size, row by row, apart by gaps that hold titles and tick labels."""
    return [
        (corner[0] + column * (size[0] + gap[0]), corner[1] + row * (size[1] + gap[1]), *size)
        for row in range(rows)
        for column in range(columns)
    ]


def title(axes: Any, text: str) -> None:
    """A panel's title, at its left."""
    axes.set_title(text, color=INK, fontsize=9, loc="left")


def coordinates(axes: Any, letter: str, window: Extent | None = None) -> None:
    """Names of the two coordinates of a vector, and the window of the plane."""
    axes.set_xlabel(f"${letter}_1$" if letter else "first coordinate", fontsize=9, labelpad=3)
    axes.set_ylabel(f"${letter}_2$" if letter else "second coordinate", fontsize=9, labelpad=3)
    if window is not None:
        axes.set(xlim=window[:2], ylim=window[2:])


def legend(figure: Any, handles: Sequence[Any], bottom: float) -> None:
    """What marks stand for, in one line at so many inches from the bottom."""
    figure.legend(
        handles=handles,
        loc="lower center",
        bbox_to_anchor=(0.5, bottom / figure.get_figheight()),
        ncols=len(handles),
        frameon=False,
        labelcolor=INK,
        fontsize=9,
    )


def mark(colour: str, text: str, shape: str = "o") -> Any:
    """A point as a legend shows it."""
    line: Any = import_module("matplotlib.lines").Line2D
    return line([], [], color=colour, marker=shape, linestyle="none", markersize=5, label=text)


def patch(colour: str, text: str, **style: Any) -> Any:
    """A patch as a legend shows it."""
    shape: Any = import_module("matplotlib.patches").Patch
    return shape(facecolor=colour, label=text, **style)


# --- tokens ----------------------------------------------------------------------------------


def positioned(token: int, position: int) -> str:
    """A token with its position as a subscript."""
    return f"{token_name(token)}{subscript(str(position))}"


def subscript(text: str) -> str:
    """Digits and minus signs, lowered."""
    return text.translate(_LOWERED)


def class_colour(token: int) -> str:
    """Even numbers, odd numbers and `+` have a colour each."""
    if token == PLUS:
        return CLASSES["+"]
    return CLASSES["even numbers" if token in EVENS else "odd numbers"]


def demo_names() -> list[str]:
    """The tokens of the demo sequence with their positions."""
    return [positioned(token, position) for position, token in enumerate(values.DEMO)]


DEMO_TEXT = window_text(values.DEMO)
