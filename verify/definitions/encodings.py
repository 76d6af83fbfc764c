"""Embeddings that solve E P_0 = C_0 exactly, over one power of two."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from verify.definitions.draws import Whole, drawn_integers
from verify.definitions.models import target_layers
from verify.definitions.plain import dot, product, require, rows_of, transposed
from verify.definitions.universal import Sizes, columns_of, require_ungated

Sparse = tuple[int, dict[int, int]]
"""A column: of how many drawn factors its entries are, and its entries that are not 0, by row."""
Side = list[list[Fraction]]
"""Columns of exact numbers."""


def whole_rows(data: Any) -> tuple[Whole, int]:
    """Rows of whole numbers, and the one positive number that all are over."""
    over = int(data["over"], 16)
    require(over > 0, "a denominator is not positive")
    return [[int(entry, 16) for entry in row] for row in data["rows"]], over


@dataclass(frozen=True)
class PlainModel:
    """A universal model's matrices as columns; drawn ones are whole numbers times 2^exponent.

    A layer holds the readers Q^1, K^1, Q^2, .., the value maps, and gate, up and down if any.
    """

    width: int
    exponent: int
    readout: list[Sparse]
    layers: list[tuple[list[list[Sparse]], list[list[Sparse]], list[list[Sparse]]]]


def block_shapes(sizes: Sizes, width: int, layer: int) -> list[tuple[int, int]]:
    """Height and width of a gated block's maps; none without neurons."""
    hidden = sizes.neurons * sizes.widths()[layer + 1]
    return [(width, hidden), (width, hidden), (hidden, width)] if hidden else []


def placed_model(sizes: Sizes, model: Any) -> PlainModel:
    """The model of the places of its ones."""
    width = model["width"]
    require_ungated(sizes, model)

    def columns(places: Any, height: int, count: int) -> list[Sparse]:
        found = columns_of(places, height, count).values()
        return [(0, dict.fromkeys(rows, 1)) for rows in found]

    def value(rows: Any) -> list[Sparse]:
        require(len(rows) == width, "a value map needs a column per coordinate")
        require(all(-1 <= row < width for row in rows), "a 1 stands outside its matrix")
        return [(0, {row: 1} if row >= 0 else {}) for row in rows]

    layers: list[Any] = []
    for layer in range(sizes.layers):
        readers = [
            columns(model[name][layer][head], width, sizes.head_width)
            for head in range(sizes.heads)
            for name in ("queries", "keys")
        ]
        values = [value(model["values"][layer][head]) for head in range(sizes.heads)]
        shapes = zip(("gates", "ups", "downs"), block_shapes(sizes, width, layer), strict=False)
        gated = [columns(model[name][layer], *shape) for name, shape in shapes]
        layers.append((readers, values, gated))
    return PlainModel(width, 0, columns(model["readout"], width, sizes.token_width), layers)


def drawn_model(sizes: Sizes, model: Any) -> PlainModel:
    """The model drawn again: the readout, then the layers from the last to the first."""
    entries, exponent = drawn_integers(model["draw"])
    width = model["draw"]["width"]

    def columns(height: int, count: int) -> list[Sparse]:
        rows = [list(itertools.islice(entries, count)) for _ in range(height)]
        return [(1, dict(enumerate(column))) for column in zip(*rows, strict=True)]

    readout, layers = columns(width, sizes.token_width), list[Any]()
    for layer in reversed(range(sizes.layers)):
        if not layers or not model["tied"]:
            gated = [columns(*shape) for shape in block_shapes(sizes, width, layer)]
            readers = [columns(width, sizes.head_width) for _ in range(2 * sizes.heads)]
            values = [columns(width, width) for _ in range(sizes.heads)]
            layers.insert(0, (readers, values, gated))
        else:
            layers.insert(0, layers[0])
    return PlainModel(width, exponent, readout, layers)


def applied(matrix: list[Sparse], column: Sparse) -> Sparse:
    """A matrix times a column."""
    factors, result = column[0], dict[int, int]()
    for index, x in column[1].items():
        drawn, entries = matrix[index]
        factors = drawn + column[0]
        for row, y in entries.items():
            result[row] = result.get(row, 0) + x * y
    return factors, result


def solves(row: list[int], over: int, column: Sparse, exponent: int, wanted: Fraction) -> bool:
    """Whether a row over a denominator, times a column, is the wanted number."""
    factors, entries = column
    left = sum(row[index] * entry for index, entry in entries.items()) * wanted.denominator
    right, power = wanted.numerator * over, exponent * factors
    return left << power == right if power >= 0 else left == right << -power


def require_target(sizes: Sizes, target: Any) -> None:
    """Every matrix of the target has its shape."""
    tall, flat = (sizes.token_width, sizes.head_width), (sizes.head_width, sizes.token_width)
    wide, down = (sizes.token_width, sizes.neurons), (sizes.neurons, sizes.token_width)
    shapes = {"queries": tall, "keys": tall, "values": tall, "outputs": flat}
    blocks = {"gates": wide, "ups": wide, "downs": down} if sizes.neurons else {}
    for name, shape in {**shapes, **blocks}.items():
        require(len(target[name]) == sizes.layers, f"{name} have another number of layers")
        for layer in target[name]:
            parts = layer if name in shapes else [layer]
            count = sizes.heads if name in shapes else 1
            require(len(parts) == count, f"{name} have another number of heads")
            for part in map(rows_of, parts):
                require((len(part), len(part[0])) == shape, f"{name} have another shape")


def inner_sides(
    sizes: Sizes, model: PlainModel, layer: int, sides: tuple[list[Sparse], Side], exhibit: Any
) -> tuple[list[Sparse], Side]:
    """Q_l and D_l of a gated block, once alpha_j B_j = W_d[j, :] C_l is seen to hold."""
    (above, content), (gate, up, down) = sides, model.layers[layer][2]
    target, count = exhibit["target"], len(above)
    gates, ups, downs = (rows_of(target[name][layer]) for name in ("gates", "ups", "downs"))
    moved = [applied(down, column) for column in above]
    first, second = Side(), Side()
    for j in range(sizes.neurons):
        (alpha,), over = whole_rows(exhibit["scales"][layer][j])
        require(len(alpha) == count, "a scale has another length")
        for (factors, entries), wanted in zip(moved, content, strict=True):
            block = {i: entries.get(j * count + i, 0) for i in range(count)}
            needed = dot(downs[j], wanted)
            fits = solves(alpha, over, (factors, block), model.exponent, needed)
            require(fits, f"the scales of neuron {j} in layer {layer} do not solve their equations")
        first += [[row[j] for row in gates]] * count
        second += [[Fraction(a, over) * row[j] for row in ups] for a in alpha]
    if not sizes.residual:
        above, content = [], []
    return [*above, *gate, *up], [*content, *first, *second]


def probe_sides(sizes: Sizes, model: PlainModel, exhibit: Any) -> tuple[list[Sparse], Side]:
    """The columns of P_0 and of C_0, by both recursions at once."""
    target, factors = target_layers(sizes, exhibit["target"]), exhibit["factors"]
    tokens = range(sizes.token_width)
    probes, content = model.readout, [[Fraction(int(i == j)) for i in tokens] for j in tokens]
    for layer in reversed(range(sizes.layers)):
        if sizes.neurons:
            probes, content = inner_sides(sizes, model, layer, (probes, content), exhibit)
        readers, values, _ = model.layers[layer]
        below, beneath = (probes[:], content[:]) if sizes.residual else ([], [])
        for head, (query, key, _) in enumerate(target[layer].heads):
            given = [rows_of(factors[name][layer][head]) for name in ("queries", "keys")]
            logits = product(given[0], transposed(given[1]))
            require(logits == product(query, transposed(key)), "the factors give other logits")
            for reader, factor in zip(readers[2 * head : 2 * head + 2], given, strict=True):
                require(len(factor[0]) == len(reader), "a factor has another width")
                below, beneath = below + reader, beneath + transposed(factor)
        for value, (_, _, mix) in zip(values, target[layer].heads, strict=True):
            below = below + [applied(value, column) for column in probes]
            beneath = beneath + transposed(product(mix, transposed(content)))
        probes, content = below, beneath
    return probes, content


def check_encoding(exhibit: Any) -> None:
    """The exact E solves E P_0 = C_0 for the target and the model, drawn again if it is a draw."""
    target, model = exhibit["target"], exhibit["model"]
    sizes = Sizes.of(target["size"])
    require(model["size"] == target["size"], "target and model have different sizes")
    require_target(sizes, target)
    require(sizes.neurons or not exhibit["scales"], "only gated blocks have scales")
    plain = fixed_model(sizes, model)
    rows, over = embedding_of(sizes, plain, exhibit)
    probes, content = probe_sides(sizes, plain, exhibit)
    require_solved(sizes, plain, (rows, over), probes, content)


def fixed_model(sizes: Sizes, model: Any) -> PlainModel:
    """A universal model, drawn again if it is a draw."""
    return drawn_model(sizes, model) if "draw" in model else placed_model(sizes, model)


def embedding_of(sizes: Sizes, model: PlainModel, exhibit: Any) -> tuple[Whole, int]:
    """E as whole numbers over one, of the model's shape."""
    rows, over = whole_rows(exhibit["embedding"])
    require(len(rows) == sizes.token_width, "E has another number of rows than d_in")
    require(all(len(row) == model.width for row in rows), "E has another width than the model")
    return rows, over


def require_solved(
    sizes: Sizes,
    model: PlainModel,
    embedding: tuple[Whole, int],
    probes: list[Sparse],
    content: Side,
) -> None:
    """E P_0 is C_0, column by column."""
    rows, over = embedding
    require(len(probes) == sizes.widths()[0], "P_0 has another number of columns")
    for number, (column, wanted) in enumerate(zip(probes, content, strict=True)):
        for row, value in zip(rows, wanted, strict=True):
            fits = solves(row, over, column, model.exponent, value)
            require(fits, f"E P_0 is not C_0 in column {number}")
