"""Attention-only and gated models run with fractions, on rational stand-ins for softmax."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from verify.definitions.plain import Rows, product, require, rows_of, total, transposed
from verify.definitions.universal import Sizes, columns_of, require_ungated, require_value_map


def dense(places: Any, height: int, width: int) -> Rows:
    """The 0/1 matrix with ones at the places."""
    columns = columns_of(places, height, width)
    return [[Fraction(int(row in columns[c])) for c in range(width)] for row in range(height)]


def attention(name: str, logits: Rows, mask: Any) -> Rows:
    """The rational stand-ins for softmax, by name."""
    by_name: dict[str, Callable[[Fraction], Fraction]] = {
        "linear": lambda z: z / 4,
        "square": lambda z: 1 + z * z,
        "scrambled": lambda z: Fraction(1 + (z.numerator + 3 * z.denominator) % 5),
    }
    weight = by_name[name]
    result: Rows = []
    for row, allowed in zip(logits, mask, strict=True):
        weights = [weight(z) if ok else Fraction(0) for z, ok in zip(row, allowed, strict=True)]
        whole = sum(weights, Fraction(0))
        shared = name != "linear" and whole != 0
        result.append([w / whole for w in weights] if shared else weights)
    return result


@dataclass(frozen=True)
class PlainLayer:
    """One layer as matrices: (Q, K, V) per head, and gate, up and down if it is gated."""

    heads: list[tuple[Rows, Rows, Rows]]
    gated: tuple[Rows, Rows, Rows] | None
    residual: bool


ACTIVATIONS: dict[str, Callable[[Fraction], Fraction]] = {
    "relu": lambda z: max(z, Fraction(0)),
    "softsign": lambda z: z / (1 + abs(z)),
    "scrambled": lambda z: Fraction((z.numerator + 3 * z.denominator) % 5 - 2),
}


def forward(stream: Rows, layers: list[PlainLayer], normalise: Any, activation: str) -> Rows:
    """X^L from X^0."""
    for layer in layers:
        moved = [
            product(
                normalise(product(product(stream, q), transposed(product(stream, k)))),
                product(stream, v),
            )
            for q, k, v in layer.heads
        ]
        stream = total([*moved, stream] if layer.residual else moved)
        if layer.gated is not None:
            gate, up, down = layer.gated
            gates = [[ACTIVATIONS[activation](z) for z in row] for row in product(stream, gate)]
            hidden = [
                [a * b for a, b in zip(x, y, strict=True)]
                for x, y in zip(gates, product(stream, up), strict=True)
            ]
            block = product(hidden, down)
            stream = total([block, stream]) if layer.residual else block
    return stream


def target_layers(sizes: Sizes, target: Any) -> list[PlainLayer]:
    """A target's layers from a certificate."""
    require_ungated(sizes, target)
    rows = {
        name: [[rows_of(matrix) for matrix in layer] for layer in target[name]]
        for name in ("queries", "keys", "values", "outputs")
    }
    gated = [[rows_of(matrix) for matrix in target[name]] for name in ("gates", "ups", "downs")]
    return [
        PlainLayer(
            heads=[
                (
                    rows["queries"][t][h],
                    rows["keys"][t][h],
                    product(rows["values"][t][h], rows["outputs"][t][h]),
                )
                for h in range(sizes.heads)
            ],
            gated=(gated[0][t], gated[1][t], gated[2][t]) if sizes.neurons else None,
            residual=bool(sizes.residual),
        )
        for t in range(sizes.layers)
    ]


def fixed_layers(sizes: Sizes, model: Any) -> tuple[list[PlainLayer], Rows]:
    """A universal model's layers and readout: dense entries, or 0/1 by the places of the ones."""
    width = model["width"]
    hidden = [model.get("hidden", sizes.neurons * above) for above in sizes.widths()[1:]]
    full = model.get("dense")
    parts = full or model
    require_ungated(sizes, parts)

    def matrix(part: Any, height: int, columns: int) -> Rows:
        if not full:
            return dense(part, height, columns)
        rows = rows_of(part)
        require((len(rows), len(rows[0])) == (height, columns), "a parameter has another shape")
        return rows

    def value(part: Any) -> Rows:
        if full:
            return matrix(part, width, width)
        require_value_map(part, width)
        ones = [(row, column) for column, row in enumerate(part) if row >= 0]
        return dense([[r for r, _ in ones], [c for _, c in ones]], width, width)

    layers = [
        PlainLayer(
            heads=[
                (
                    matrix(parts["queries"][t][h], width, sizes.head_width),
                    matrix(parts["keys"][t][h], width, sizes.head_width),
                    value(parts["values"][t][h]),
                )
                for h in range(sizes.heads)
            ],
            gated=(
                matrix(parts["gates"][t], width, hidden[t]),
                matrix(parts["ups"][t], width, hidden[t]),
                matrix(parts["downs"][t], hidden[t], width),
            )
            if sizes.neurons
            else None,
            residual=bool(sizes.residual),
        )
        for t in range(sizes.layers)
    ]
    return layers, matrix(parts["readout"], width, sizes.token_width)


def check_simulation(exhibit: Any) -> None:
    """Both models run with fractions give the same output."""
    model, target = exhibit["universal"], exhibit["target"]
    sizes = Sizes.of(model["size"])
    require(target["size"] == model["size"], "target and model have different sizes")

    def normalise(logits: Rows) -> Rows:
        return attention(exhibit["normaliser"], logits, exhibit["mask"])

    inputs, activation = rows_of(exhibit["inputs"]), exhibit["activation"] if sizes.neurons else ""
    layers, readout = fixed_layers(sizes, model)
    embedded = product(inputs, rows_of(exhibit["embedding"]))
    ours = product(forward(embedded, layers, normalise, activation), readout)
    theirs = forward(inputs, target_layers(sizes, target), normalise, activation)
    require(ours == theirs, "the outputs differ")
