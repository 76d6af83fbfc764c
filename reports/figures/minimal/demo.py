"""Figures 11 to 13: embeddings, queries, keys and attention of the demo sequence 4 1 + 4 6 9 5 +.

Source: Fully Interpretable Minimal Transformers, Figures 11 to 13.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from constructions.minimal.definitions import EVENS, Reals, last_even, token_name
from reports.figures.minimal import cells, drawing, scatter, values
from reports.figures.minimal.drawing import (
    BLUE,
    DARK,
    DEMO_TEXT,
    GRAY,
    RED,
    Subject,
    demo_names,
)
from reports.figures.minimal.embeddings import TOKENS, diverging, vectors
from reports.figures.minimal.queries import dot_products, reach_of, score_colours
from reports.figures.minimal.values import DEMO, Extent
from reports.figures.svg import Figure

BACKDROP_SIZE = 5.0
NARROW = 7.0
"""Font size where eight cells share a third of the page."""
LAST_EVEN_PLACE = max(place for place, token in enumerate(DEMO) if token in EVENS)


def backdrop(axes: Any, cloud: Reals) -> Reals:
    """All possible points, pale behind those of the sequence; returns them, (n, 2)."""
    flat = cloud.reshape(-1, 2)
    axes.scatter(*flat.T, s=BACKDROP_SIZE, color=GRAY, alpha=0.45, linewidths=0)
    return flat


def embeddings(subject: Subject) -> Figure:
    """Figure 11: tokens, positions and their sums."""
    tokens, positions = subject.points.x, subject.points.p
    places = [str(place) for place in range(len(DEMO))]
    names = [token_name(token) for token in DEMO]
    once = sorted(set(DEMO))
    rows = (
        ("tokens x", "x", tokens[[*DEMO]], names, tokens[once], tokens),
        ("positions p", "p", positions[: len(DEMO)], places, positions[: len(DEMO)], positions),
        ("sums e = x + p", "e", subject.demo.e, demo_names(), subject.demo.e, subject.points.e),
    )
    tops = drawing.grid(3, 1, (0.5, 0.35), (3.15, 0.75), (0.45, 0))
    below = drawing.grid(3, 1, (0.6, 1.75), (2.95, 3.1), (0.65, 0))
    figure, panels = drawing.page(11.0, 5.4, [*tops, *below])
    for index, (words, letter, table, texts, cloud, every) in enumerate(rows):
        heat, plane = panels[index], panels[index + 3]
        drawing.title(heat, f"({'abc'[index]}) {words}")
        vectors(heat, table, texts, letter, NARROW)
        drawing.title(plane, f"({'def'[index]}) {words}")
        drawing.coordinates(plane, letter, values.extent(every))
        around = backdrop(plane, every)
        shown = [TOKENS[token] for token in once] if letter == "x" else texts
        scatter.draw_points(plane, cloud, shown, [BLUE] * len(shown), size=9, around=around)
    told = (
        f"Embeddings of the demo sequence {DEMO_TEXT}, over all possible ones (gray); subscripts "
        "are positions."
    )
    first, second = (cells.number(part, 2) for part in subject.demo.e[-1])
    return subject.figure("11", told, f"The last + is embedded at ({first}, {second}).", figure)


def queries_and_keys(subject: Subject) -> Figure:
    """Figure 12: queries and keys as heat maps and in one plane."""
    boxes = [(0.5, 0.35, 3.6, 0.75), (0.5, 1.75, 3.6, 0.75), (5.0, 0.35, 5.4, 4.5)]
    figure, (a, b, plane) = drawing.page(10.8, 5.75, boxes)
    demo, every = subject.demo, subject.points
    drawing.title(a, "(a) queries q")
    vectors(a, demo.q, demo_names(), "q")
    drawing.title(b, "(b) keys k")
    vectors(b, demo.k, demo_names(), "k")
    drawing.title(plane, "(c) queries and keys")
    drawing.coordinates(plane, "", values.extent(every.q, every.k))
    around = backdrop(plane, np.concatenate([every.q, every.k]))
    colours = [BLUE] * len(DEMO) + [RED] * len(DEMO)
    cloud, names = np.concatenate([demo.q, demo.k]), demo_names() * 2
    scatter.draw_points(plane, cloud, names, colours, inks=colours, size=9, around=around)
    marks = [(BLUE, "query"), (RED, "key"), (GRAY, "every query and key")]
    drawing.legend(figure, [drawing.mark(*pair) for pair in marks], 0.05)
    longest = int(np.linalg.norm(demo.q, axis=1).argmax())
    told = f"Queries and keys of the demo sequence {DEMO_TEXT}, over all possible ones (gray)."
    seen = f"The longest query is that of {token_name(DEMO[longest])} at position {longest}."
    return subject.figure("12", told, seen, figure)


def attention(subject: Subject) -> Figure:
    """Figure 13: each query's view of the keys, the scores and the attention."""
    demo = subject.demo
    window = values.extent(subject.points.k)
    ends = reach_of(demo.q, window)
    views = drawing.grid(4, 2, (0.6, 0.4), (2.1, 1.9), (0.38, 0.62))
    boxes = [*views, (10.35, 0.4, 0.16, 4.42), (0.6, 5.6, 4.3, 3.4), (5.75, 5.6, 4.3, 3.4)]
    figure, (*panels, bar, scores, weights) = drawing.page(11.3, 9.85, boxes)
    for place, axes in enumerate(panels):
        _view(axes, subject, place, window, ends)
    cells.colour_bar(bar, score_colours(), ends, "dot product with the query")
    drawing.title(scores, "(b) scores, masked")
    table = cells.masked(demo.scores)
    cells.heat_map(scores, table, (demo_names(), demo_names()), *diverging(table))
    drawing.title(weights, "(c) attention: softmax of scores / √2")
    attention_map(weights, demo.attention)
    for axes in (scores, weights):
        axes.set_xlabel("key", fontsize=9)
        axes.set_ylabel("query", fontsize=9)
    marks = [(RED, "key"), (GRAY, "masked key")]
    drawing.legend(figure, [drawing.mark(*pair) for pair in marks], 0.05)
    told = (
        f"Attention of the demo sequence {DEMO_TEXT}. (a) The keys over their dot product with "
        "each query, of one scale in all panels."
    )
    share = demo.attention[-1, LAST_EVEN_PLACE]
    seen = (
        f"The last + gives {share:.1%} of its attention to {last_even(DEMO)} at position "
        f"{LAST_EVEN_PLACE}, the last even number."
    )
    return subject.figure("13", told, seen, figure)


def _view(
    axes: Any, subject: Subject, place: int, window: Extent, ends: tuple[float, float]
) -> None:
    demo, letter = subject.demo, "(a) " if place == 0 else ""
    drawing.title(axes, f"{letter}query {demo_names()[place]}")
    drawing.coordinates(axes, "k", window)
    if place % 4:
        axes.set_ylabel("")
    if place < len(DEMO) // 2:
        axes.set_xlabel("")
    dot_products(axes, demo.q[place], window, ends)
    colours = [RED if key <= place else GRAY for key in range(len(DEMO))]
    inks = [DARK] * len(DEMO)
    scatter.draw_points(axes, demo.k, demo_names(), colours, inks=inks, size=8)


def attention_map(axes: Any, table: Reals) -> None:
    """Attention weights: rows are queries, columns keys; what is masked stays empty."""
    colours = cells.colours_of("Greens", 21)
    names = demo_names()
    cells.heat_map(axes, cells.masked(table), (names, names), colours, (0.0, 1.0))
