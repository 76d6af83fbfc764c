"""Figures 14 and 15: what attention fetches in the demo sequence, and where it moves each token.

Source: Fully Interpretable Minimal Transformers, Figures 14 and 15.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from constructions.minimal.definitions import PLUS, Reals, last_even, token_name
from reports.figures.minimal import drawing, landscapes, scatter, values
from reports.figures.minimal.demo import LAST_EVEN_PLACE, NARROW, attention_map, backdrop
from reports.figures.minimal.drawing import (
    DARK,
    DEMO_TEXT,
    GREEN,
    PALE,
    Subject,
    demo_names,
)
from reports.figures.minimal.embeddings import vectors
from reports.figures.minimal.values import DEMO
from reports.figures.svg import Figure


def fetched(subject: Subject) -> Figure:
    """Figure 14: attention, values and attention outputs."""
    demo = subject.demo
    boxes = [
        (0.6, 0.35, 4.3, 3.6),
        (5.8, 0.75, 4.6, 0.85),
        (5.8, 2.75, 4.6, 0.85),
        (0.65, 4.75, 4.5, 3.8),
        (5.9, 4.75, 4.5, 3.8),
    ]
    figure, (weights, v, out, plane, landed) = drawing.page(10.8, 9.1, boxes)
    drawing.title(weights, "(a) attention")
    attention_map(weights, demo.attention)
    weights.set_ylabel("query", fontsize=9)
    drawing.title(v, "(b) values v")
    vectors(v, demo.v, demo_names(), "v")
    drawing.title(out, "(c) attention outputs a")
    vectors(out, demo.output, demo_names(), "a")
    window = values.extent(subject.points.v)
    parts = (
        (plane, "(d) values v", demo.v, "v"),
        (landed, "(e) attention outputs a", demo.output, "a"),
    )
    for axes, text, cloud, letter in parts:
        drawing.title(axes, text)
        drawing.coordinates(axes, letter, window)
        around = backdrop(axes, subject.points.v)
        shades = [GREEN] * len(cloud)
        scatter.draw_points(axes, cloud, demo_names(), shades, size=9, around=around)
    told = (
        f"Values and attention outputs of the demo sequence {DEMO_TEXT}, over all possible values "
        "(gray)."
    )
    gap = float(np.linalg.norm(demo.output[-1] - demo.v[LAST_EVEN_PLACE]))
    seen = (
        f"The output at the last + is {gap:.2f} from the value of {last_even(DEMO)} at position "
        f"{LAST_EVEN_PLACE}."
    )
    return subject.figure("14", told, seen, figure)


def predicted(subject: Subject) -> Figure:
    """Figure 15: embeddings, attention outputs, and their sums over the regions."""
    demo, names = subject.demo, demo_names()
    tops = drawing.grid(3, 1, (0.5, 0.35), (3.15, 0.75), (0.5, 0))
    below = drawing.grid(3, 1, (0.6, 1.75), (3.05, 3.6), (0.6, 0))
    figure, panels = drawing.page(11.3, 6.2, [*tops, *below])
    origin = np.zeros((1, 2))
    window = values.extent(demo.e, demo.output, demo.y, origin)
    ground = values.landscape(subject.checkpoint.model, window)
    nowhere = np.zeros_like(demo.output)
    rows = (
        ("(a) embeddings e", "e", demo.e, None),
        ("(b) attention outputs a", "a", demo.output, nowhere),
        ("(c) sums y = e + a", "y", demo.y, demo.e),
    )
    found = list[int]()
    for heat, plane, (text, letter, table, starts) in zip(
        panels[:3], panels[3:], rows, strict=True
    ):
        drawing.title(heat, text)
        vectors(heat, table, names, letter, NARROW)
        drawing.coordinates(plane, letter, window)
        around = table if starts is None else _along(starts, table)
        found = landscapes.draw_regions(plane, ground, around=around)
        if starts is not None:
            _arrows(plane, starts, table)
        inks = [DARK] * len(names)
        scatter.draw_points(plane, table, names, inks, inks=inks, size=8.5, around=around)
    landscapes.region_legend(figure, found, 0.05)
    told = (
        f"Next tokens of the demo sequence {DEMO_TEXT}: attention outputs (arrows) move embeddings "
        "(white) to where the next token is predicted; the ground shows which token leads for y."
    )
    return subject.figure("15", told, _predictions(demo.logits), figure)


def _along(starts: Reals, ends: Reals) -> Reals:
    """Points along arrows, their ends among them."""
    shares = np.linspace(0, 1, 25)[:, None, None]
    return (starts + shares * (ends - starts)).reshape(-1, 2)


def _arrows(axes: Any, starts: Reals, ends: Reals) -> None:
    axes.scatter(*starts.T, s=14, color=PALE, edgecolors=DARK, linewidths=0.6, zorder=3)
    for start, end in zip(starts, ends, strict=True):
        style = {"arrowstyle": "->", "color": DARK, "linewidth": 0.7, "alpha": 0.7, "shrinkB": 2}
        axes.annotate("", end, start, arrowprops=style)


def _predictions(logits: Reals) -> str:
    """What is predicted behind each `+`, with its probability."""
    shares = values.softmax(logits)
    found = [
        f"behind the + at position {place} comes {token_name(int(row.argmax()))} "
        f"({row.max():.1%}; the rule requires {last_even(DEMO[: place + 1])})"
        for place, row in enumerate(shares)
        if DEMO[place] == PLUS
    ]
    text = "; ".join(found)
    return f"{text[0].upper()}{text[1:]}."
