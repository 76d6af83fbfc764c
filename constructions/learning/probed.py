"""Outputs of a model without MLPs from its coefficients; the m-wide stream is never formed.

Features stand as columns: F_l has the shape (B, D_l, n). In the first layer a token attends to
types: column i of F_0 A^{1,h} is the softmax over types b of logit(x_i, b) + ln(how often b has
come), so it costs O(n v), not O(n^2). Where one place of each string is asked, the last layer has
one query.

Source: Fixed Universal Transformers, Section 5; MATH.md, section 6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from constructions.learning.definitions import Architecture
from constructions.learning.tables import Coefficients, Layer, reciprocal_deviations


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Strings as the evaluation reads them.

    one_hot   (B, v, n)
    counts    (B, 1, v, n): logarithms of how often each type has come
    asked     (B,): the place of each string that is asked, or None for all
    """

    one_hot: Any
    counts: Any
    asked: Any


def batch(types: Any, kinds: int, asked: Any = None, dtype: Any = None) -> Batch:
    """Strings of types 0..kinds - 1, of shape (B, n)."""
    import torch

    every = torch.arange(kinds, device=types.device)
    one_hot = (types[:, None] == every[:, None]).to(dtype or torch.float32)
    return Batch(one_hot=one_hot, counts=one_hot.cumsum(2).log()[:, None], asked=asked)


def logits(model: Architecture, found: Coefficients, strings: Batch) -> Any:
    """Outputs of shape (B, V, n), or (B, V, 1) where one place of each string is asked."""
    import torch

    features = strings.one_hot
    for index, layer in enumerate(found.layers):
        last = index + 1 == model.layers
        at = strings.asked if last else None
        keys = _normed(features, layer.gram, layer.shift)
        features = _at(features, at)
        if index:
            moved = _attended(layer, keys, at)
        else:
            moved = _first(layer, features, _at(strings.counts, at))
        if last and found.heads is not None:
            output = found.heads.flatten(0, 1).T @ moved
            return output if found.carried is None else output + found.carried.T @ features
        carried = model.components.has_residual
        features = torch.cat([features, moved], 1) if carried else moved
    return found.read.T @ _normed(features, found.gram, found.read_shift)


def _normed(features: Any, gram: Any, shift: bool) -> Any:
    """F' of features F; without norms the features themselves."""
    import torch

    if gram is None:
        return features
    found = features * reciprocal_deviations(features, gram)
    return torch.cat([found, torch.ones_like(found[:, :1])], 1) if shift else found


def _at(columns: Any, places: Any) -> Any:
    """Column `places[b]` of each string b, as the only one; all columns if `places` is None."""
    import torch

    if places is None:
        return columns
    index = places.reshape(-1, *(1,) * (columns.dim() - 1))
    return torch.take_along_dim(columns, index.expand(*columns.shape[:-1], 1), dim=-1)


def _first(layer: Layer, one_hot: Any, counts: Any) -> Any:
    """(B, H D', n): attention by types."""
    import torch

    kinds = torch.eye(one_hot.shape[1], dtype=one_hot.dtype, device=one_hot.device)
    types = _normed(kinds[None], layer.gram, layer.shift)[0]  # (D', v)
    table = types.T @ layer.forms @ types  # (H, v, v)
    scores = (table.transpose(1, 2).flatten(0, 1) @ one_hot).unflatten(1, table.shape[:2])
    shares = (scores + counts).softmax(2)  # (B, H, v, n)
    return (shares if layer.gram is None else types @ shares).flatten(1, 2)


def _attended(layer: Layer, keys: Any, at: Any) -> Any:
    """(B, H D', n): attention from all places, or from one of each string."""
    import torch

    queries = _at(keys, at)
    heads, width = layer.forms.shape[:2]
    asks = (layer.forms.transpose(1, 2).flatten(0, 1) @ queries).unflatten(1, (heads, width))
    rows = asks.transpose(2, 3).flatten(1, 2)  # (B, H queries, D')
    scores = (rows @ keys).unflatten(1, (heads, -1))  # (B, H, queries, n)
    place = torch.arange(keys.shape[2], device=keys.device)
    limit = place[:, None] if at is None else at[:, None, None, None]
    blocked = torch.where(place > limit, -torch.inf, 0.0).to(keys.dtype)
    shares = (scores + blocked).softmax(3).flatten(1, 2)
    moved = (keys @ shares.transpose(1, 2)).unflatten(2, (heads, -1))  # (B, D', H, queries)
    return moved.transpose(1, 2).flatten(1, 2)
