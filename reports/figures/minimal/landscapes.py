"""Figures 9 and 10: what is predicted where in the plane.

A point of the plane is y, embedding plus attention at the last position; behind it come the
feed-forward layer and the readout.

Source: Fully Interpretable Minimal Transformers, Figures 9 and 10.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from constructions.minimal.definitions import EVENS, VOCABULARY, Reals, token_name
from reports.figures.minimal import cells, contours, drawing, scatter, values
from reports.figures.minimal.drawing import DARK, Subject
from reports.figures.minimal.values import Landscape
from reports.figures.svg import Figure

EVEN_TINTS = ("#9ecbff", "#ffc999", "#a6e3b8", "#e3c6ff", "#ffee9e", "#ffb8c9")
OTHER_TINTS = ("#e3e7eb", "#d3d8dd", "#c4cad0", "#dfe3dc", "#cfd4cb", "#b7bec5")
PROBABILITY_BANDS, ENTROPY_BANDS = 10, 12
_LEAST_CELLS = 250
"""Regions of fewer grid points have no name written on them."""


def tint(token: int) -> str:
    """The colour of where a token is predicted: a hue for even numbers, a gray for others."""
    if token in EVENS:
        return EVEN_TINTS[EVENS.index(token)]
    return OTHER_TINTS[token // 2]


def draw_regions(
    axes: Any, ground: Landscape, size: float = 12.0, around: Reals = scatter.NOTHING
) -> list[int]:
    """Fill where each token leads, and write its name there, away from what is drawn around.

    Returns the tokens that lead somewhere.
    """
    leaders = ground.logits.argmax(axis=-1)
    found = np.unique(leaders).tolist()
    for token in found:
        others = np.delete(ground.logits, token, axis=-1).max(axis=-1)
        lead = ground.logits[..., token] - others
        ends = (0.0, float(lead.max()) + 1.0)
        contours.fill_between(axes, ground.x, ground.y, lead, ends, tint(token))
    free = _free(ground, around)
    for token in found if size else ():
        inside = (leaders == token) & free
        if np.count_nonzero(inside) >= _LEAST_CELLS:
            at = contours.inner_point(ground.x, ground.y, inside)
            axes.text(
                *at,
                token_name(token),
                color=DARK,
                alpha=0.75,
                fontsize=size,
                fontweight="bold",
                ha="center",
                va="center",
            )
    return found


def _free(ground: Landscape, around: Reals) -> Any:
    """Which points of the grid are well away from points (n, 2)."""
    free = np.ones(ground.logits.shape[:2], dtype=bool)
    near = 0.03 * np.array([np.ptp(ground.x), np.ptp(ground.y)])
    for x, y in around:
        rows, columns = np.abs(ground.y - y) < near[1], np.abs(ground.x - x) < near[0]
        free[np.ix_(rows, columns)] = False
    return free


def region_legend(figure: Any, found: list[int], bottom: float) -> None:
    """Which colour stands for which predicted token."""
    names = [drawing.patch(tint(token), token_name(token)) for token in found]
    first = drawing.patch("none", "predicted:")
    drawing.legend(figure, [first, *names], bottom)


def per_token(subject: Subject) -> Figure:
    """Figure 9: the probability of each next token over the plane."""
    ground = subject.landscape
    shares = values.softmax(ground.logits)
    boxes = drawing.grid(4, 3, (0.6, 0.4), (1.95, 1.95), (0.52, 0.52))
    figure, (*panels, bar) = drawing.page(11.0, 7.9, [*boxes, (10.12, 0.4, 0.16, 6.89)])
    colours = cells.colours_of("viridis", PROBABILITY_BANDS)
    levels = np.linspace(0, 1, PROBABILITY_BANDS + 1)
    for token, axes in enumerate(panels):
        _ground(axes, ground)
        field = shares[..., token]
        contours.fill_bands(axes, ground.x, ground.y, field, levels.tolist(), colours)
        drawing.title(axes, f"next token {token_name(token)}")
        axes.set_xlabel("$y_1$" if token >= VOCABULARY - 4 else "", fontsize=9, labelpad=1)
        axes.set_ylabel("$y_2$" if token % 4 == 0 else "", fontsize=9, labelpad=1)
    cells.colour_bar(bar, colours, (0.0, 1.0), "probability")
    most = shares.reshape(-1, VOCABULARY).max(axis=0)
    sure = [token_name(token) for token in range(VOCABULARY) if most[token] > 0.9]  # noqa: PLR2004
    told = "Output landscape: the probability of each next token, by where y lies in the plane."
    seen = f"Above 90 % somewhere: {', '.join(sure) or 'none'}."
    return subject.figure("09", told, seen, figure)


def _ground(axes: Any, ground: Landscape) -> None:
    axes.set(xlim=ground.x[[0, -1]], ylim=ground.y[[0, -1]])


def summary(subject: Subject) -> Figure:
    """Figure 10: entropy, regions, and embeddings and values over the regions."""
    ground = subject.landscape
    boxes = drawing.grid(2, 2, (0.6, 0.35), (4.6, 4.6), (1.25, 0.85))
    figure, (*panels, bar) = drawing.page(11.3, 11.2, [*boxes, (5.28, 0.35, 0.14, 4.6)])
    titles = ("(a) entropy", "(b) top token", "(c) with embeddings e", "(d) with values v")
    for axes, text in zip(panels, titles, strict=True):
        window = (ground.x[0], ground.x[-1], ground.y[0], ground.y[-1])
        drawing.coordinates(axes, "y", window)
        drawing.title(axes, text)
    entropy = _draw_entropy(panels[0], bar, ground)
    found = draw_regions(panels[1], ground)
    for axes, cloud in zip(panels[2:], (subject.points.e, subject.points.v), strict=True):
        draw_regions(axes, ground, size=0)
        shades = [[DARK] * (cloud.size // 2)]
        scatter.draw_everything(axes, [cloud], shades, ink=DARK, size=6.5)
    region_legend(figure, found, 0.05)
    told = (
        "Summary of the landscape: entropy of the prediction, the token that leads, and where "
        f"embeddings and values lie. {scatter.CROWDED}"
    )
    evens = ", ".join(token_name(token) for token in found if token in EVENS)
    others = ", ".join(token_name(token) for token in found if token not in EVENS)
    seen = (
        f"Even numbers that lead somewhere: {evens or 'none'}; other tokens: {others or 'none'}. "
        f"Entropy runs from {entropy.min():.3f} to {entropy.max():.2f} nats; ln 12 = "
        f"{np.log(VOCABULARY):.2f} is the most there can be."
    )
    return subject.figure("10", told, seen, figure)


def _draw_entropy(axes: Any, bar: Any, ground: Landscape) -> Reals:
    found = values.entropy(values.softmax(ground.logits))
    ends = (0.0, float(np.log(VOCABULARY)))
    colours = cells.colours_of("viridis", ENTROPY_BANDS)
    levels = np.linspace(*ends, ENTROPY_BANDS + 1)
    contours.fill_bands(axes, ground.x, ground.y, found, levels.tolist(), colours)
    cells.colour_bar(bar, colours, ends, "nats")
    return found
