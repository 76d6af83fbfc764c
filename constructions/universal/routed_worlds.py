"""The theory of the sparse parameters on actual ones: what probes select, where the ones stand.

Source: Fixed Universal Transformers, Appendix E.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from constructions.universal.definitions import TransformerSize, Universal
from constructions.universal.layouts import Layout
from constructions.universal.maps import Indices, Ones
from constructions.universal.probes import inner_probe, probe
from verify.smtlib import World


def routed_worlds(layout: Layout, sizes: Iterable[TransformerSize]) -> Iterator[World]:
    """Actual parameters: what their probes select, and where their ones stand."""
    for size in sizes:
        yield _world(layout.build(size, layout.least_width(size) + 1))


def _selection(part: Ones) -> Indices:
    """The row of each column's 1; a column without exactly one 1 has none."""
    rows = part.selection()
    return part.rows[: part.width] if rows is None else rows


def _world(model: Universal) -> World:
    size = model.size
    layers = range(size.layers)
    probes = [probe(model, layer) for layer in range(size.layers + 1)]
    selects = [_selection(part).tolist() for part in probes]
    inner = [
        _selection(inner_probe(model.layer(layer), probes[layer + 1])).tolist() for layer in layers
    ]
    values = [[value.rows.tolist() for value in layer] for layer in model.values]
    downs = [down.columns[down.rows.argsort(kind="stable")].tolist() for down in model.downs]
    carried = [len(inner[layer]) if size.residual else 0 for layer in layers]
    widths = [len(selection) for selection in selects]

    def at(table: list[list[int]], layer: int, n: int) -> int:
        row = table[layer] if 0 <= layer < len(table) else []
        return row[n - 1] + 1 if 1 <= n <= len(row) else 0

    def start_read(layer: int, h: int) -> int:
        return carried[layer - 1] + (h - 1) * 2 * size.head_width

    def start_moved(layer: int, h: int) -> int:
        return carried[layer - 1] + size.reads + (h - 1) * len(inner[layer - 1])

    def width(layer: int) -> int:
        return widths[layer] if 0 <= layer < len(widths) else 0

    def carried_on(layer: int) -> int:
        return carried[layer - 1]

    def hidden(layer: int) -> int:
        return size.neurons * width(layer)

    def value(layer: int, h: int, c: int) -> int:
        return values[layer - 1][h - 1][c - 1] + 1

    def down(layer: int, j: int, i: int) -> int:
        return downs[layer - 1][(j - 1) * widths[layer] + i - 1] + 1

    return World(
        sorts={},
        integers=range(-1, max(widths[0], 2) + 1),
        symbols={
            "H": size.heads,
            "L": size.layers,
            "d": size.head_width,
            "din": size.token_width,
            "r": size.neurons,
            "m": model.width,
            "residual": size.residual,
            "s": width,
            "q": hidden,
            "w": lambda layer: len(inner[layer - 1]),
            "carried": carried_on,
            "selected": lambda layer, n: at(selects, layer, n),
            "column": lambda layer, n: at(selects, layer - 1, n),
            "inner": lambda layer, n: at(inner, layer - 1, n),
            "value": value,
            "down": down,
            "startRead": start_read,
            "endRead": lambda layer, h: start_read(layer, h + 1),
            "startMoved": start_moved,
            "endMoved": lambda layer, h: start_moved(layer, h + 1),
        },
        free={"k": range(1, size.layers + 1), "g": range(1, size.heads + 1)},
    )
