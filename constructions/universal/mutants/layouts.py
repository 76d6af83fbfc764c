"""Layouts with their fixed parameters changed, which several mutants share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from constructions.universal.definitions import TransformerSize, Universal
from constructions.universal.layouts import LEAF, Coordinates, Layout, coordinates
from constructions.universal.maps import ColumnMap

Change = Callable[[Universal], Universal]


def changed(layout: Layout, change: Change) -> Layout:
    """The layout with its fixed parameters changed."""

    def build(size: TransformerSize, width: int) -> Universal:
        return change(layout.build(size, width))

    return replace(layout, build=build)


def where(fits: Callable[[TransformerSize], bool], change: Change) -> Change:
    """The change at the sizes that fit; others stay as they are.

    Theories are evaluated at few sizes, so a change at another is for the instance checks to find.
    """
    return lambda model: change(model) if fits(model.size) else model


def one_wide_head(size: TransformerSize) -> bool:
    """Whether H = 1, d = 2, d_in = 1."""
    return (size.heads, size.head_width, size.token_width) == (1, 2, 1)


def single(size: TransformerSize) -> bool:
    """Whether H = L = 1."""
    return size.heads == size.layers == 1


def heads_swapped(model: Universal) -> Universal:
    """R_V^{l,h} of head H + 1 - h."""
    swapped = tuple(layer[::-1] for layer in model.values)
    return replace(model, values=swapped[:1] * len(swapped) if model.tied else swapped)


def keys_read_queries(model: Universal) -> Universal:
    """R_K = R_Q."""
    return replace(model, keys=model.queries)


def a_layer_late(model: Universal) -> Universal:
    """R_V^{l,h} of layer l - 1, from the second layer on."""
    return replace(model, values=(model.values[0], *model.values[:-1]))


def leaves_keep_their_end(model: Universal) -> Universal:
    """A leaf s goes to (h, s_2, .., s_L): its first head is replaced and its end kept."""
    places = coordinates(model.size, model.width)
    maps = tuple(_keeping(places, h, value) for h, value in enumerate(model.values[0]))
    return replace(model, values=(maps,) * model.size.layers)


def _keeping(places: Coordinates, head: int, value: ColumnMap) -> ColumnMap:
    size = places.size
    ends: int = size.heads ** (size.layers - 1)
    leaf = head * ends + places.number % ends
    start = 2 * size.heads * size.head_width * size.internal_nodes
    kept = start + leaf * size.token_width + places.column
    return ColumnMap(rows=np.where(places.kind == LEAF, kept, value.rows))
