"""Figures 7 and 8: queries against keys, in the plane and as tables of scores.

Source: Fully Interpretable Minimal Transformers, Figures 7 and 8.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from constructions.minimal.definitions import (
    EVENS,
    NOT_EVEN,
    PLUS,
    VOCABULARY,
    WIDTH,
    Reals,
    token_name,
)
from reports.figures.minimal import cells, contours, drawing, scatter, values
from reports.figures.minimal.drawing import BLUE, DARK, GRAY, RED, Subject
from reports.figures.svg import Figure

FOCUS = 5
"""The position of the + whose query is looked at."""
BANDS = 14
_NAME_SIZE = 8.5
Ends = tuple[float, float]


def dot_products(axes: Any, query: Reals, window: values.Extent, ends: Ends) -> None:
    """The ground of a panel: the dot product of a query with every point; green high, white low."""
    x, y = np.linspace(*window[:2], 3), np.linspace(*window[2:], 3)
    field = query[0] * x[None, :] + query[1] * y[:, None]
    levels = np.linspace(*ends, BANDS + 1)
    contours.fill_bands(axes, x, y, field, levels.tolist(), score_colours())


def score_colours() -> list[str]:
    """White to green, dark enough to see and pale enough to write on."""
    return cells.colours_of("Greens", 2 * BANDS)[:BANDS]


def reach_of(query: Reals, window: values.Extent) -> Ends:
    """The least and greatest dot product of queries (..., 2) with points of a window."""
    corners = np.array([[x, y] for x in window[:2] for y in window[2:]])
    return values.span(query @ corners.T)


def query_key_geometry(subject: Subject) -> Figure:
    """Figure 7: all queries and keys, and the keys as one query sees them."""
    every, focus = subject.points, min(FOCUS, subject.positions - 1)
    keys, queries = every.k, every.q
    window = values.extent(keys, queries)
    boxes = [(0.65, 0.35, 8.9, 6.6), (0.65, 7.85, 8.9, 5.2), (9.7, 7.85, 0.16, 5.2)]
    figure, (top, bottom, bar) = drawing.page(10.6, 14.0, boxes)
    drawing.title(top, "queries and keys")
    drawing.coordinates(top, "", window)
    count = keys.size // WIDTH
    scatter.draw_everything(top, [queries, keys], [[BLUE] * count, [RED] * count], ink=None)
    query = every.q[focus, PLUS]
    seen, hidden = _seen(focus, subject.positions)
    near = values.extent(keys)
    ends = reach_of(query, near)
    drawing.title(bottom, f"what the query of {drawing.positioned(PLUS, focus)} sees")
    drawing.coordinates(bottom, "k", near)
    dot_products(bottom, query, near, ends)
    arrow = _draw_direction(bottom, query, near)
    shades = [RED if there else GRAY for there in seen]
    scatter.draw_everything(bottom, [keys], [shades], ink=DARK, around=arrow)
    cells.colour_bar(bar, score_colours(), ends, "dot product with the query")
    marks = [(BLUE, "query (below: an arrow towards it)"), (RED, "key"), (GRAY, "masked key")]
    drawing.legend(figure, [drawing.mark(*pair) for pair in marks], 0.05)
    scores = np.where(seen, (keys @ query).ravel(), -np.inf)
    place = ", ".join(cells.number(part, 2) for part in query)
    told = (
        f"All queries and keys in one plane; below, the keys over their dot product with the query "
        f"of + at position {focus}, which is ({place}). "
        f"{scatter.CROWDED}"
    )
    best = f"position {int(scores.argmax()) // VOCABULARY}"
    counted = f"{hidden} keys are masked: those behind it, and other tokens in its own place"
    which = token_name(int(scores.argmax()) % VOCABULARY)
    return subject.figure("07", told, f"Its best key is {which} at {best}; {counted}.", figure)


def _draw_direction(axes: Any, query: Reals, window: values.Extent) -> Reals:
    """An arrow from the origin towards a query, as far as the window reaches; points along it."""
    low, high = np.array(window[::2]), np.array(window[1::2])
    if not ((low < 0) & (high > 0)).all():
        return scatter.NOTHING
    reach = np.where(query > 0, high, low) / np.where(query == 0, np.inf, query)
    end = query * min(1.0, 0.9 * float(reach[reach > 0].min(initial=1.0)))
    style = {"arrowstyle": "-|>", "color": BLUE, "linewidth": 1.4}
    axes.annotate("", end, (0, 0), arrowprops=style, zorder=2)
    return np.linspace(np.zeros(2), end, 60)


def _seen(focus: int, positions: int) -> tuple[list[bool], int]:
    """Which keys a + at a position can attend to, and how many it cannot."""
    seen = [
        place < focus or (place, token) == (focus, PLUS)
        for place in range(positions)
        for token in range(VOCABULARY)
    ]
    return seen, seen.count(False)


def plus_scores(subject: Subject) -> Figure:
    """Figure 8: scores of + queries, a table for each key token."""
    every, count = subject.points, subject.positions
    scores = np.einsum("id,jtd->tij", every.q[:, PLUS], every.k)
    boxes = drawing.grid(4, 3, (0.55, 0.4), (1.95, 1.95), (0.5, 0.5))
    figure, (*panels, bar) = drawing.page(10.9, 7.9, [*boxes, (10.0, 0.4, 0.16, 6.85)])
    colours = cells.colours_of("viridis", 24)
    ends = values.span(scores)
    places = [str(place) for place in range(count)]
    for token, axes in enumerate(panels):
        cells.heat_map(axes, scores[token], (places, places), colours, ends, digits=None)
        drawing.title(axes, f"key token {token_name(token)}")
        steps = [(column, row) for row in range(count) for column in (row + 1, row + 1)]
        corners = np.array([(x, y + dy) for (x, y), dy in zip(steps, [0, 1] * count, strict=True)])
        axes.plot(*corners.T, color="#ffffff", linewidth=1.4)
        if token % 4 == 0:
            axes.set_ylabel("position of the + query", fontsize=_NAME_SIZE)
        if token >= VOCABULARY - 4:
            axes.set_xlabel("position of the key", fontsize=_NAME_SIZE)
    cells.colour_bar(bar, colours, ends, "score: dot product of query and key")
    told = (
        "Scores of + queries before scaling and softmax: rows are the + query's position, columns "
        "the key's, a table for each key token. Left of the white stairs the key is not masked."
    )
    return subject.figure("08", told, _order(scores, count), figure)


def _order(scores: Reals, count: int) -> str:
    """How often even numbers outscore all else, and later ones earlier ones."""
    pairs = [(i, j) for i in range(count) for j in range(i)]
    evens, others = scores[list(EVENS)], scores[list(NOT_EVEN)]
    above = sum(bool(evens[:, i, j].min() > others[:, i, j].max()) for i, j in pairs)
    steps = [(i, j) for i, j in pairs if j]
    later = sum(bool(evens[:, i, j].min() > evens[:, i, j - 1].max()) for i, j in steps)
    return (
        f"Every even number outscores every other token in the same place in {above} of "
        f"{len(pairs)} pairs of positions; in {later} of {len(steps)} it also outscores every even "
        "number one place earlier."
    )
