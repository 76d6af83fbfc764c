"""What a minimal transformer computes, stage by stage, in float64: the numbers behind the figures.

    e, q, k, v, output, y, z   (n, 2)     output is the attention's, y = e + output
    scores, attention          (n, n)     rows are queries; scores are dot products, unscaled
    logits                     (n, 12)

Source: Fully Interpretable Minimal Transformers, Figure 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from constructions.minimal.definitions import WIDTH, Model, Reals, Window

DEMO: Window = (4, 1, 11, 4, 6, 9, 5, 11)
"""The paper's demo sequence, 4 1 + 4 6 9 5 +."""
GRID = 401
"""Points of a landscape along each axis."""
MARGIN = 0.07
"""Empty part of a plane on each side of its points."""

Extent = tuple[float, float, float, float]
"""Least and greatest first coordinate, least and greatest second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Points:
    """Tokens x (12, 2), positions p (positions, 2); every token at every position (.., 12, 2)."""

    x: Reals
    p: Reals
    e: Reals
    q: Reals
    k: Reals
    v: Reals


@dataclass(frozen=True, slots=True, kw_only=True)
class Stages:
    """The forward pass of one sequence."""

    e: Reals
    q: Reals
    k: Reals
    v: Reals
    scores: Reals
    attention: Reals
    output: Reals
    y: Reals
    z: Reals
    logits: Reals


@dataclass(frozen=True, slots=True, kw_only=True)
class Landscape:
    """Logits behind every point y of a grid: x and y (GRID,), logits (GRID, GRID, 12), rows y."""

    x: Reals
    y: Reals
    logits: Reals


def points(model: Model, positions: int) -> Points:
    """All combined embeddings of the first positions, and what the three matrices make of them."""
    tensors = model.tensors
    x, p = tensors["E"], tensors["P"][:positions]
    e = x[None, :, :] + p[:, None, :]
    return Points(x=x, p=p, e=e, q=e @ tensors["W_Q"], k=e @ tensors["W_K"], v=e @ tensors["W_V"])


def stages(model: Model, tokens: Sequence[int]) -> Stages:
    """The forward pass of a sequence that is no longer than the context."""
    chosen = [np.arange(len(tokens)), np.array(tokens)]
    every = points(model, len(tokens))
    e, q, k, v = (part[*chosen] for part in (every.e, every.q, every.k, every.v))
    scores = q @ k.T
    later = np.triu(np.ones_like(scores), 1) > 0
    attention = softmax(np.where(later, -np.inf, scores / np.sqrt(WIDTH)))
    output = attention @ v
    z = after_feed_forward(model, e + output)
    return Stages(
        e=e,
        q=q,
        k=k,
        v=v,
        scores=scores,
        attention=attention,
        output=output,
        y=e + output,
        z=z,
        logits=z @ model.tensors["U"] + model.tensors["c"],
    )


def after_feed_forward(model: Model, y: Reals) -> Reals:
    """Z for points y, arrays (..., 2)."""
    tensors = model.tensors
    hidden = np.maximum(y @ tensors["W_1"] + tensors["b_1"], 0.0)
    return y + hidden @ tensors["W_2"] + tensors["b_2"]


def softmax(scores: Reals) -> Reals:
    """Probabilities along the last axis."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def entropy(probabilities: Reals) -> Reals:
    """Entropies in nats along the last axis."""
    logarithms = np.log(np.where(probabilities > 0, probabilities, 1.0))
    return -(probabilities * logarithms).sum(axis=-1)


def span(numbers: Reals) -> tuple[float, float]:
    """The least and the greatest number, a little apart if they are equal."""
    low, high = float(numbers.min()), float(numbers.max())
    return (low, high) if low < high else (low - 0.5, high + 0.5)


def extent(*clouds: Reals) -> Extent:
    """A window of the plane around points, arrays (..., 2), with a margin."""
    flat = np.concatenate([cloud.reshape(-1, 2) for cloud in clouds])
    low, high = flat.min(axis=0), flat.max(axis=0)
    gap = MARGIN * np.where(high > low, high - low, 1.0)
    (left, bottom), (right, top) = low - gap, high + gap
    return float(left), float(right), float(bottom), float(top)


def landscape(model: Model, window: Extent) -> Landscape:
    """The output landscape over a window of the plane in which y lies."""
    x, y = np.linspace(*window[:2], GRID), np.linspace(*window[2:], GRID)
    plane = np.stack(np.meshgrid(x, y), axis=-1)
    z = after_feed_forward(model, plane)
    return Landscape(x=x, y=y, logits=z @ model.tensors["U"] + model.tensors["c"])
