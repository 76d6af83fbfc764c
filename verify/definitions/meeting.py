"""Halves of a path that meet in the middle."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

from verify.definitions.plain import Rows, product, require, rows_of, transposed


def middle_places(heads: int) -> int:
    """How many places a word has for odd L: c(H)."""
    if heads % 2 == 0:
        return heads // 2 + 1
    return (heads + 1) // 2 if heads % 4 == 1 else (heads + 3) // 2


def meeting_matrix(heads: int, layers: int, layer: int, head: int) -> Rows:
    """R^{l,h}: masks before and after the middle, which joins places that add up to the head."""
    half, odd = layers // 2, layers % 2
    words = itertools.product(range(heads), repeat=half)
    places = range(middle_places(heads) if odd else 1)
    coordinates = list(itertools.product(words, places))
    digit = layer if layer < half else layer - half - odd

    def entry(before: Any, after: Any) -> bool:
        if odd and layer == half:
            return before[1] + after[1] == head
        joins = before == after if odd or layer != half - 1 else True
        return joins and before[0][digit] == head

    return [[Fraction(entry(b, a)) for a in coordinates] for b in coordinates]


def check_meeting(exhibit: Any) -> None:
    """E R_p U is the product of the weights along every path p, at the stated width."""
    heads, layers = exhibit["heads"], exhibit["layers"]
    weights = rows_of(exhibit["weights"])
    require([len(weights), len(weights[0])] == [layers, heads], "weights of another shape")
    width = heads ** (layers // 2) * (middle_places(heads) if layers % 2 else 1)
    rows: list[tuple[Rows, Fraction]] = [(rows_of([exhibit["embedding"]]), Fraction(1))]
    require(len(rows[0][0][0]) == width, f"the width is not {width}")
    for layer in range(layers):
        values = [meeting_matrix(heads, layers, layer, head) for head in range(heads)]
        rows = [
            (product(row, values[head]), along * weights[layer][head])
            for row, along in rows
            for head in range(heads)
        ]
    column = transposed(rows_of([exhibit["readout"]]))
    for place, (row, along) in enumerate(rows):
        require(product(row, column) == [[along]], f"path {place} responds with another number")
