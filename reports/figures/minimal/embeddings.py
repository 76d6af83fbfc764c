"""Figures 5 and 6: embeddings of tokens and positions, and what queries, keys and values are.

Source: Fully Interpretable Minimal Transformers, Figures 5 and 6.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from constructions.minimal.definitions import VOCABULARY, Reals, token_name
from reports.figures.minimal import cells, drawing, scatter, values
from reports.figures.minimal.drawing import BLUE, CLASSES, GREEN, INK, RED, Subject
from reports.figures.svg import Figure

TOKENS = [token_name(token) for token in range(VOCABULARY)]


def diverging(table: Reals) -> tuple[list[str], tuple[float, float]]:
    """Colours for values of both signs, white at 0, and the range that they span."""
    reach = max(float(np.nanmax(np.abs(table))), 1e-9)
    return cells.colours_of("RdBu_r", 21), (-reach, reach)


def vectors(
    axes: Any, table: Reals, names: list[str], letter: str, size: float = drawing.SMALL
) -> None:
    """Vectors (n, 2) as a heat map of two rows."""
    rows = [f"${letter}_1$", f"${letter}_2$"]
    cells.heat_map(axes, table.T, (rows, names), *diverging(table), size=size)


CLASS_COLOURS = [drawing.class_colour(token) for token in range(VOCABULARY)]


def learned(subject: Subject) -> Figure:
    """Figure 5: embeddings as heat maps and in the plane."""
    tokens, positions = subject.points.x, subject.points.p
    places = [str(place) for place in range(subject.positions)]
    boxes = [
        (0.55, 0.35, 5.4, 0.75),
        (6.55, 0.35, 3.9, 0.75),
        (0.65, 1.75, 4.6, 2.9),
        (5.95, 1.75, 4.5, 2.9),
        (0.65, 5.35, 9.8, 5.6),
    ]
    figure, (a, b, c, d, e) = drawing.page(10.6, 11.8, boxes)
    vectors(a, tokens, TOKENS, "x")
    vectors(b, positions, places, "p")
    drawing.title(a, "(a) token embeddings x")
    drawing.title(b, "(b) position embeddings p")
    drawing.title(c, "(c) tokens x")
    drawing.coordinates(c, "x", values.extent(tokens))
    scatter.draw_points(c, tokens, TOKENS, CLASS_COLOURS, size=9)
    drawing.title(d, "(d) positions p")
    drawing.coordinates(d, "p", values.extent(positions))
    scatter.draw_points(d, positions, places, [INK] * len(places), size=9)
    _all_embeddings(e, subject, "(e) token + position, e")
    drawing.legend(figure, [drawing.mark(*pair[::-1]) for pair in CLASSES.items()], 0.05)
    told = "Learned embeddings: tokens, positions, and their sums, whose subscript is the position."
    return subject.figure("05", told, _spread(tokens, positions), figure)


def _spread(tokens: Reals, positions: Reals) -> str:
    spans = [_diameter(part) for part in (tokens, positions)]
    return (
        f"Tokens are up to {spans[0]:.2f} apart, positions up to {spans[1]:.2f}; positions count "
        "from 0."
    )


def _diameter(cloud: Reals) -> float:
    return float(np.linalg.norm(cloud[:, None] - cloud[None], axis=-1).max())


def _all_embeddings(axes: Any, subject: Subject, text: str) -> None:
    cloud = subject.points.e
    drawing.title(axes, text)
    drawing.coordinates(axes, "e", values.extent(cloud))
    scatter.draw_everything(axes, [cloud], [CLASS_COLOURS * len(cloud)])


def projected(subject: Subject) -> Figure:
    """Figure 6: all embeddings, and their images under the three matrices."""
    boxes = drawing.grid(2, 2, (0.65, 0.85), (4.7, 4.5), (0.95, 1.2))
    small = [(left + 3.5, top - 0.6, 1.2, 0.56) for left, top, _, _ in boxes[1:]]
    figure, panels = drawing.page(11.2, 11.6, [*boxes, *small])
    _all_embeddings(panels[0], subject, "(a) embeddings e")
    rows = [("q", "W_Q", BLUE), ("k", "W_K", RED), ("v", "W_V", GREEN)]
    words = {"q": "(b) queries", "k": "(c) keys", "v": "(d) values"}
    clouds = {"q": subject.points.q, "k": subject.points.k, "v": subject.points.v}
    singular = list[str]()
    for axes, inset, (letter, matrix, colour) in zip(panels[1:4], panels[4:], rows, strict=True):
        cloud = clouds[letter]
        drawing.title(axes, f"{words[letter]} ${letter} = e\\,{matrix}$")
        drawing.coordinates(axes, letter, values.extent(cloud))
        scatter.draw_everything(axes, [cloud], [[colour] * (cloud.size // 2)])
        weights = subject.checkpoint.model.tensors[matrix]
        cells.heat_map(inset, weights, (["", ""], ["", ""]), *diverging(weights))
        inset.set_ylabel(f"${matrix}$", fontsize=9)
        large, little = np.linalg.svd(weights, compute_uv=False)
        singular.append(f"{matrix} {large:.2f} and {little:.2f}")
    told = (
        "All tokens at all positions: embeddings (even numbers blue, odd ones gray, + orange), "
        "queries, keys and values, with the matrices as insets (rows are read, columns written). "
        f"{scatter.CROWDED}"
    )
    return subject.figure("06", told, f"Singular values: {'; '.join(singular)}.", figure)
