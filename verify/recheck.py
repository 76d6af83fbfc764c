"""Recheck the certificates of a run, from plain definitions of its own.

    python -I verify/recheck.py DIR [--solver NAME]

Standard library only; nothing of the rest of the project is imported, so an error there cannot
hide here. Four outcomes per certificate: accepted; rejected; partly (what was rechecked is said);
not rechecked (why). Exit status: 1 if anything was rejected, 3 if a certificate is missing or
cannot be read, else 0; 2 for wrong usage.
"""

from __future__ import annotations

import itertools
import json
import math
import operator
import random
import shutil
import subprocess
import sys
import tempfile
from array import array
from base64 import b85decode
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

RECORD_SCHEMA = "certiformer/record/1"
SCHEMA = "certiformer/certificate/2"
FIELDS = {"schema", "kind", "claim", "statement", "construction", "inputs", "content"}
LARGEST_BYTES = 256 << 20
LARGEST_EXPONENT = 100
LEAST_PRIME = 1 << 30
SOLVER_SECONDS = 120
ACCEPTED = "accepted"
REJECTED = "rejected"
PARTLY = "partly"
NOT_RECHECKED = "not rechecked"
UNREADABLE = "unreadable"

Rows = list[list[Fraction]]


class RejectedError(Exception):
    """The certificate does not show what it should."""


class UnreadableError(Exception):
    """The file is missing or is not one canonical JSON text."""


def require(condition: object, text: str) -> None:
    """Reject with the text unless the condition holds."""
    if not condition:
        raise RejectedError(text)


# --- reading ---------------------------------------------------------------------------------


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        raise UnreadableError("an object names a field twice")
    return dict(pairs)


def _refuse(text: str) -> Any:
    raise UnreadableError(f"{text} is not an exact number")


def read_json(path: Path) -> tuple[Any, bytes]:
    """A file's one JSON value, without floats, NaN or fields named twice, and its bytes."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UnreadableError(f"cannot be read: {error.strerror}") from error
    if len(data) > LARGEST_BYTES:
        raise UnreadableError(f"has {len(data)} bytes, more than {LARGEST_BYTES}")
    try:
        value = json.loads(
            data, object_pairs_hook=_unique, parse_float=_refuse, parse_constant=_refuse
        )
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"is not one JSON value: {error}") from error
    return value, data


def fields_of(value: Any) -> dict[str, Any]:
    """A JSON object's fields; none for any other value."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def canonical(value: Any) -> bytes:
    """The one text of a certificate."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return text.encode("ascii") + b"\n"


# --- plain mathematics -----------------------------------------------------------------------


def rows_of(texts: Any) -> Rows:
    """A matrix of exact numbers, all rows of one length."""
    rows = [[Fraction(x) for x in row] for row in texts]
    require(all(len(row) == len(rows[0]) for row in rows), "a matrix has ragged rows")
    return rows


def product(left: Rows, right: Rows) -> Rows:
    """Matrix product; zeros of the right factor, of which sparse models are full, are skipped."""
    require(not left or len(left[0]) == len(right), "matrices do not fit for a product")
    columns = [[(k, y) for k, y in enumerate(column) if y] for column in zip(*right, strict=True)]
    return [
        [sum((row[k] * y for k, y in column), Fraction(0)) for column in columns] for row in left
    ]


def _times(x: Fraction, y: Fraction) -> Fraction:
    return x * y


def total(matrices: list[Rows]) -> Rows:
    """Matrix sum."""
    return [
        [sum(xs, Fraction(0)) for xs in zip(*rows, strict=True)]
        for rows in zip(*matrices, strict=True)
    ]


def transposed(matrix: Rows) -> Rows:
    """Rows and columns exchanged."""
    return [list(column) for column in zip(*matrix, strict=True)]


Polynomial = dict[tuple[str, ...], Fraction]


def expand(tree: Any, commutative: bool) -> Polynomial:
    """The polynomial that an expression tree stands for."""
    head = tree[0]
    if head == "symbol":
        return {(str(tree[1]),): Fraction(1)}
    if head == "number":
        return {(): Fraction(tree[1])}
    if head == "^":
        fits = isinstance(tree[2], int) and 0 < tree[2] <= LARGEST_EXPONENT
        require(fits, "an exponent is out of range")
        return expand(["*", *[tree[1]] * tree[2]], commutative)
    require(head in ("+", "*"), f"unknown operation {head!r}")
    result: Polynomial = {} if head == "+" else {(): Fraction(1)}
    for part in (expand(part, commutative) for part in tree[1:]):
        if head == "+":
            for word, value in part.items():
                result[word] = result.get(word, Fraction(0)) + value
            continue
        grown: Polynomial = {}
        for (u, x), (v, y) in itertools.product(result.items(), part.items()):
            word = tuple(sorted(u + v)) if commutative else u + v
            grown[word] = grown.get(word, Fraction(0)) + x * y
        result = grown
    return result


def without_zeros(polynomial: Polynomial) -> Polynomial:
    """The terms that are there."""
    return {word: value for word, value in polynomial.items() if value}


# --- universal transformers ------------------------------------------------------------------


@dataclass(frozen=True)
class Sizes:
    """H, L, d, d_in; r neurons of the target's gated blocks; whether streams are carried on."""

    heads: int
    layers: int
    head_width: int
    token_width: int
    neurons: int = 0
    residual: int = 0

    @classmethod
    def of(cls, data: Any) -> Sizes:
        """Sizes from a certificate, each a whole number from 1 on."""
        sizes = cls(**data)
        for name, value in vars(sizes).items():
            least = 0 if name in ("neurons", "residual") else 1
            require(type(value) is int and value >= least, f"size {name} is not a whole number")
        return sizes

    def widths(self) -> list[int]:
        """s_0..s_L, the columns of P_0..P_L."""
        widths = [self.token_width]
        for _ in range(self.layers):
            above = widths[0]
            inner = 2 * self.neurons * above + self.residual * above if self.neurons else above
            reads = 2 * self.heads * self.head_width
            widths.insert(0, reads + (self.heads + self.residual) * inner)
        return widths

    def labels(self) -> Iterator[tuple[Any, ...]]:
        """Every coordinate's label, one by one."""
        heads = range(self.heads)
        for depth in range(self.layers):
            for path in itertools.product(heads, repeat=depth):
                yield from itertools.product("QK", [path], heads, range(self.head_width))
        for path in itertools.product(heads, repeat=self.layers):
            yield from itertools.product("C", [path], range(self.token_width))


Column = dict[int, set[int]]
"""Rows of the ones per column."""


def columns_of(places: Any, height: int, width: int) -> Column:
    """A 0/1 matrix from the places of its ones, each within the matrix and named once."""
    rows, columns = places
    require(len(rows) == len(columns), "places of ones need a row and a column each")
    result: Column = {column: set() for column in range(width)}
    for row, column in zip(rows, columns, strict=True):
        require(0 <= row < height and 0 <= column < width, "a 1 stands outside its matrix")
        require(row not in result[column], "a 1 is named twice")
        result[column].add(row)
    require(len(rows) <= height, "a fixed parameter has more than m ones")
    return result


def moved(value: Any, column: set[int]) -> set[int]:
    """A column of R_V times a matrix: each 1 moves to the row of that column's 1, if any."""
    return {value[row] for row in column if value[row] >= 0}


def check_fixed_parameters(exhibit: Any) -> None:
    """Every printed product of fixed matrices selects a coordinate, and all of them differ."""
    sizes, width = Sizes.of(exhibit["size"]), exhibit["width"]
    values = exhibit["values"]
    for value in (value for layer in values for value in layer):
        require(len(value) == width, "a value map needs a column per coordinate")
        require(all(-1 <= row < width for row in value), "a 1 stands outside its matrix")
    seen: set[int] = set()

    def select(path: tuple[int, ...], last: Column) -> None:
        for start in last.values():
            ones = start
            for layer in reversed(range(len(path))):
                ones = moved(values[layer][path[layer]], ones)
            require(len(ones) == 1, f"the product along {path} is not one-hot")
            require(not ones & seen, f"the product along {path} selects a coordinate again")
            seen.update(ones)

    for depth in range(sizes.layers):
        readers = [
            columns_of(exhibit[name][depth][head], width, sizes.head_width)
            for head in range(sizes.heads)
            for name in ("queries", "keys")
        ]
        for path in itertools.product(range(sizes.heads), repeat=depth):
            for reader in readers:
                select(path, reader)
    readout = columns_of(exhibit["readout"], width, sizes.token_width)
    for path in itertools.product(range(sizes.heads), repeat=sizes.layers):
        select(path, readout)
    require(len(seen) == len(list(sizes.labels())), "P_0 has another number of columns")


def check_block_width(exhibit: Any) -> None:
    """The recursion's width against the closed form: a^L d_in and a geometric sum of reads."""
    sizes = Sizes.of(exhibit["size"])
    branches = sizes.heads + sizes.residual
    carried = 2 * sizes.neurons + sizes.residual if sizes.neurons else 1
    base = branches * carried
    reads = 2 * sizes.heads * sizes.head_width
    total_width = base**sizes.layers * sizes.token_width
    total_width += reads * sum(base**layer for layer in range(sizes.layers))
    require(sizes.widths()[0] == total_width, "the closed form is wrong")
    require(total_width <= exhibit["width"], "m is too small")


def check_folded_parameters(exhibit: Any) -> None:
    """Columns of printed products select, label by label, a coordinate of that label alone.

    A label is a path with a head's query column, with a key column for all heads, or a leaf's.
    """
    sizes, width = Sizes.of(exhibit["size"]), exhibit["width"]
    values, heads = exhibit["values"], range(sizes.heads)
    held: dict[int, tuple[Any, ...]] = {}
    labels: dict[tuple[Any, ...], int] = {}

    def select(path: tuple[int, ...], label: tuple[Any, ...], last: Column) -> None:
        for number, start in last.items():
            ones = start
            for layer in reversed(range(len(path))):
                ones = moved(values[layer][path[layer]], ones)
            if number >= sizes.token_width:
                require(not ones, "a column beyond d_in is not zero")
                continue
            require(len(ones) == 1, f"the product along {path} is not one-hot")
            (place,), name = ones, (*label, path, number)
            require(held.setdefault(place, name) == name, "a coordinate has two labels")
            require(labels.setdefault(name, place) == place, "a label has two coordinates")

    for depth in range(sizes.layers):
        for path in itertools.product(heads, repeat=depth):
            for head in heads:
                for name, label in (("queries", ("Q", head)), ("keys", ("K",))):
                    part = columns_of(exhibit[name][depth][head], width, sizes.head_width)
                    select(path, label, part)
    readout = columns_of(exhibit["readout"], width, sizes.token_width)
    for path in itertools.product(heads, repeat=sizes.layers):
        select(path, ("C",), readout)
    nodes = sum(sizes.heads**depth for depth in range(sizes.layers))
    leaves = sizes.heads**sizes.layers * sizes.token_width
    require(
        len(held) == (sizes.heads + 1) * sizes.token_width * nodes + leaves,
        "another number of coordinates is used",
    )


def check_block_parameters(exhibit: Any) -> None:
    """P_0 of residual or gated blocks, by its recursion: distinct coordinates, local identities."""
    sizes, width = Sizes.of(exhibit["size"]), exhibit["width"]
    widths = sizes.widths()
    above = list(columns_of(exhibit["readout"], width, sizes.token_width).values())
    for layer in reversed(range(sizes.layers)):
        inner, hidden = above, sizes.neurons * widths[layer + 1]
        if sizes.neurons:
            branches = [
                list(columns_of(exhibit[name][layer], width, hidden).values())
                for name in ("gates", "ups")
            ]
            inner = [*(above if sizes.residual else []), *branches[0], *branches[1]]
            check_local_blocks(exhibit["downs"][layer], above, hidden)
        below = list(inner) if sizes.residual else []
        for head in range(sizes.heads):
            for name in ("queries", "keys"):
                places = exhibit[name][layer][head]
                below += columns_of(places, width, sizes.head_width).values()
                require(len(places[0]) == sizes.head_width, "a reader has d ones")
        for value in exhibit["values"][layer]:
            require(len(value) == width, "a value map needs a column per coordinate")
            require(all(-1 <= row < width for row in value), "a 1 stands outside its matrix")
            require(
                sum(row >= 0 for row in value) == len(inner), "a value map has a 1 per inner probe"
            )
            below += [moved(value, column) for column in inner]
        above = below
    require(len(above) == widths[0], "P_0 has another number of columns")
    require(all(len(column) == 1 for column in above), "a column of P_0 is not one-hot")
    require(len(set[int]().union(*above)) == len(above), "P_0 selects a coordinate twice")


def check_local_blocks(down: Any, above: list[set[int]], hidden: int) -> None:
    """R_d has a 1 per row; that of row (j, i) stands where column i of P_l has its 1, alone."""
    rows, columns = down
    require(sorted(rows) == list(range(hidden)), "R_d needs one 1 in each row")
    for row, column in zip(rows, columns, strict=True):
        met = [i for i, ones in enumerate(above) if column in ones]
        require(met == [row % len(above)], "a local block is not the identity")


def check_width(exhibit: Any) -> None:
    """The labels counted one by one are as many as the closed form says, and fit into m."""
    sizes = Sizes.of(exhibit["size"])
    h, depth, reads = sizes.heads, sizes.layers, 2 * sizes.heads * sizes.head_width
    nodes = depth if h == 1 else (h**depth - 1) // (h - 1)
    count = len(set(sizes.labels()))
    require(count == reads * nodes + h**depth * sizes.token_width, "the closed form is wrong")
    require(count <= exhibit["width"], "m is too small")
    if h == 1:
        printed = (depth + 1) * max(2 * sizes.head_width, sizes.token_width)
        require(count <= printed, "the width for one head exceeds the printed one")


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
                [_times(a, b) for a, b in zip(x, y, strict=True)]
                for x, y in zip(gates, product(stream, up), strict=True)
            ]
            block = product(hidden, down)
            stream = total([block, stream]) if layer.residual else block
    return stream


def target_layers(sizes: Sizes, target: Any) -> list[PlainLayer]:
    """A target's layers from a certificate."""
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

    def matrix(part: Any, height: int, columns: int) -> Rows:
        if not full:
            return dense(part, height, columns)
        rows = rows_of(part)
        require((len(rows), len(rows[0])) == (height, columns), "a parameter has another shape")
        return rows

    def value(part: Any) -> Rows:
        if full:
            return matrix(part, width, width)
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

    inputs, activation = rows_of(exhibit["inputs"]), exhibit.get("activation", "relu")
    layers, readout = fixed_layers(sizes, model)
    embedded = product(inputs, rows_of(exhibit["embedding"]))
    ours = product(forward(embedded, layers, normalise, activation), readout)
    theirs = forward(inputs, target_layers(sizes, target), normalise, activation)
    require(ours == theirs, "the outputs differ")


def check_factor_moves_out(exhibit: Any) -> None:
    """Sum of f_h B is the sum times B, and likewise on the left."""
    *members, factor = [rows_of(matrix) for matrix in exhibit["matrices"]]
    require(
        total([product(m, factor) for m in members]) == product(total(members), factor)
        and total([product(factor, m) for m in members]) == product(factor, total(members)),
        "a factor does not move out of the sum",
    )


def check_factorisation(exhibit: Any) -> None:
    """The tensors are the product of the two factors."""
    left, right = rows_of(exhibit["left"]), rows_of(exhibit["right"])
    require(product(left, right) == rows_of(exhibit["product"]), "the factors do not multiply to T")


def check_vanishing_paths(exhibit: Any) -> None:
    """A combination of paths that a narrow model sends to 0, and a target that it has to see."""
    parts, readout = rows_of(exhibit["combination"]), exhibit["readout"]
    values = [[rows_of(value) for value in layer] for layer in exhibit["values"]]
    width = len(values[0][0])
    unit = [[Fraction(int(i == j)) for j in range(width)] for i in range(width)]
    along, sums = [(unit, Fraction(1))], list[Rows]()
    require(len(exhibit["numbers"]) == len(values), "a target has one number per layer")
    for layer, text in zip(values, exhibit["numbers"], strict=True):
        steps = [(value, Fraction(text) ** head) for head, value in enumerate(layer)]
        along = [(product(r, value), a * w) for r, a in along for value, w in steps]
    require(len(along) == len(parts), "there must be one part per path")
    for (matrix, _), part in zip(along, parts, strict=True):
        if readout is None:
            sums.append([[part[0] * entry for entry in row] for row in matrix])
        else:
            sums.append(product(product(matrix, rows_of(readout)), [[entry] for entry in part]))
    tokens = len(parts[0])
    require(readout is not None or tokens == 1, "without a readout tokens have one coordinate")
    equations = width if readout is not None else width * width
    require(equations < len(parts) * tokens, "the model is not below the bound")
    require(not any(any(row) for row in total(sums)), "the combination does not vanish")
    seen = product([[weight for _, weight in along]], parts)[0]
    require(any(seen), "the target does not see the combination")


def check_independent_paths(exhibit: Any) -> None:
    """The path vectors of row-stochastic attention matrices have an inverse."""
    layers = [[rows_of(a) for a in layer] for layer in exhibit["attention"]]
    for row in (row for layer in layers for a in layer for row in a):
        require(sum(row) == 1 and min(row) > 0, "attention must be row-stochastic")
    vectors: list[Rows] = []
    for path in itertools.product(*(range(len(layer)) for layer in layers)):
        vector = rows_of(exhibit["inputs"])
        for layer, head in zip(layers, path, strict=True):
            vector = product(layer[head], vector)
        vectors.append(vector)
    side = [[vector[i][0] for vector in vectors] for i in range(len(vectors[0]))]
    unit = [[Fraction(int(i == j)) for j in range(len(vectors))] for i in range(len(vectors))]
    require(
        product(rows_of(exhibit["inverse"]), side) == unit, "the path vectors' inverse is wrong"
    )


# --- layer normalisation ---------------------------------------------------------------------


def square_root(value: Fraction) -> Fraction:
    """The root of a rational square."""
    root = Fraction(math.isqrt(value.numerator), math.isqrt(value.denominator))
    require(root * root == value, "a run needs rational square roots")
    return root


def at_most_times_root(value: Fraction, factor: Fraction, square: Fraction) -> bool:
    """Whether value <= factor times the root of a positive square."""
    if factor >= 0:
        return value <= 0 or value * value <= factor * factor * square
    return value <= 0 and value * value >= factor * factor * square


def deviations_of(row: list[Fraction], norm: Any) -> tuple[list[Fraction], Fraction]:
    """Deviations from the row's mean, and their mean square plus eps."""
    eps, mean = Fraction(norm["eps"]), sum(row, Fraction(0)) / len(row)
    require(eps > 0, "eps must be positive")
    centred = [x - mean for x in row]
    return centred, sum((y * y for y in centred), Fraction(0)) / len(row) + eps


def sublayer(model: Any, layer: int, stream: Rows) -> Rows:
    """[X +] sum_h A X M, attention by 1 + z^2."""
    heads = [
        (rows_of(head["query"]), rows_of(head["key"]), rows_of(head["mix"]))
        for head in model["layers"][layer]
    ]
    mask = [[True] * len(stream)] * len(stream)

    def normalise(logits: Rows) -> Rows:
        return attention("square", logits, mask)

    attended = PlainLayer(heads=heads, gated=None, residual=bool(model["residual"]))
    return forward(stream, [attended], normalise, "relu")


def post_norm_output(model: Any, stream: Rows) -> Rows:
    """The output of a post-LayerNorm transformer on a stream."""
    require(len(model["norms"]) == len(model["layers"]), "each layer needs its normalisation")
    for layer, norm in enumerate(model["norms"]):
        scale, shift = ([Fraction(x) for x in norm[name]] for name in ("scale", "shift"))
        rows: Rows = []
        for row in sublayer(model, layer, stream):
            centred, square = deviations_of(row, norm)
            root = square_root(square)
            parts = zip(scale, centred, shift, strict=True)
            rows.append([g * y / root + b for g, y, b in parts])
        stream = rows
    return product(stream, rows_of(model["readout"]))


def check_zero_input(exhibit: Any) -> None:
    """At X = 0 the fixed model has one output under all embeddings; the target has another."""
    target = exhibit["target"]
    width = len(rows_of(target["readout"]))
    inputs = [[Fraction(0)] * width for _ in range(exhibit["tokens"])]
    outputs = [
        post_norm_output(exhibit["fixed"], product(inputs, rows_of(embedding)))
        for embedding in exhibit["embeddings"]
    ]
    require(len(outputs) > 1, "there must be several embeddings")
    require(all(output == outputs[0] for output in outputs), "the fixed outputs differ")
    found = post_norm_output(target, inputs)
    shift = [Fraction(x) for x in target["norms"][-1]["shift"]]
    require(all(row == shift for row in found), "the target's output is not its last shift")
    require(found != outputs[0], "the target's output is the fixed one")


def check_large_output(exhibit: Any) -> None:
    """Coordinates and outputs of the fixed model keep their bounds; the target's is beyond."""
    model, room = exhibit["fixed"], Fraction(exhibit["room"])
    (norm,), readout = model["norms"], rows_of(model["readout"])
    scale, shift = ([Fraction(x) for x in norm[name]] for name in ("scale", "shift"))
    require(room >= 0 and room * room >= len(scale) - 1, "B^2 must be at least m - 1")
    sizes = [abs(g) * room + abs(b) for g, b in zip(scale, shift, strict=True)]
    bounds = product([sizes], [[abs(u) for u in row] for row in readout])[0]
    require([str(bound) for bound in bounds] == exhibit["bounds"], "the bounds are others")
    (fixed,) = product([shift], readout)
    for inputs, embedding in itertools.product(exhibit["inputs"], exhibit["embeddings"]):
        for row in sublayer(model, 0, product(rows_of(inputs), rows_of(embedding))):
            centred, square = deviations_of(row, norm)
            largest = max(y * y for y in centred)
            require(largest <= (len(row) - 1) * square, "a normalised coordinate is too large")
            (linear,) = product([[g * y for g, y in zip(scale, centred, strict=True)]], readout)
            for value, rest, bound in zip(linear, fixed, bounds, strict=True):
                keeps = at_most_times_root(value, bound - rest, square) and at_most_times_root(
                    -value, bound + rest, square
                )
                require(keeps, "an output exceeds its bound")
    unit = rows_of(exhibit["inputs"][0])
    output = post_norm_output(exhibit["target"], unit)
    require(output[0][0] > bounds[0], "the target does not exceed the bound")


def check_shifted_output(exhibit: Any) -> None:
    """The fixed model's first output keeps its bound; the target is beyond it at every input."""
    model, target, bound = exhibit["fixed"], exhibit["target"], Fraction(exhibit["bound"])
    (norm,), column = model["norms"], [row[0] for row in rows_of(model["readout"])]
    scale, shift = ([Fraction(x) for x in norm[name]] for name in ("scale", "shift"))
    parts = list(zip(column, scale, shift, strict=True))
    sizes = [abs(u) * (abs(g) * len(parts) + abs(b)) for u, g, b in parts]
    require(bound == sum(sizes), "the bound is another")
    rest = sum((u * b for u, _, b in parts), Fraction(0))
    for inputs, embedding in itertools.product(exhibit["inputs"], exhibit["embeddings"]):
        for row in sublayer(model, 0, product(rows_of(inputs), rows_of(embedding))):
            centred, square = deviations_of(row, norm)
            read = (u * g * y for (u, g, _), y in zip(parts, centred, strict=True))
            linear = sum(read, Fraction(0))
            require(at_most_times_root(linear, bound - rest, square), "an output exceeds its bound")
    last, before = target["norms"][-1], len(target["norms"]) - 1
    unit = [
        [str(int(i == j)) for j in range(len(last["shift"]))] for i in range(len(last["shift"]))
    ]
    require(target["readout"] == unit, "the target's readout is not the identity")
    require(len(target["layers"]) == before + 1, "each layer needs its normalisation")
    first = {name: target[name][:before] for name in ("layers", "norms")}
    for inputs in exhibit["inputs"]:
        stream = post_norm_output({**target, **first}, rows_of(inputs))
        for row in sublayer(target, before, stream):
            require(deviations_of(row, last)[1] > 0, "the last divisor must be positive")
    require(not any(map(Fraction, last["scale"])), "the target's last scale is not 0")
    require(Fraction(last["shift"][0]) > bound, "the target's shift is within the bound")


# --- random draws, entry by entry --------------------------------------------------------------

AS_241 = (
    (
        (2509.0809287301226727, 33430.575583588128105, 67265.770927008700853,
         45921.953931549871457, 13731.693765509461125, 1971.5909503065514427,
         133.14166789178437745, 3.387132872796366608),
        (5226.495278852854561, 28729.085735721942674, 39307.89580009271061,
         21213.794301586595867, 5394.1960214247511077, 687.1870074920579083,
         42.313330701600911252, 1.0),
    ),
    (
        (7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177,
         1.27045825245236838258, 3.64784832476320460504, 5.7694972214606914055,
         4.6303378461565452959, 1.42343711074968357734),
        (1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966,
         0.14810397642748007459, 0.68976733498510000455, 1.6763848301838038494,
         2.05319162663775882187, 1.0),
    ),
    (
        (2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386,
         0.026532189526576123093, 0.29656057182850489123, 1.7848265399172913358,
         5.4637849111641143699, 6.6579046435011037772),
        (2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5,
         7.868691311456132591e-4, 0.0148753612908506148525, 0.13692988092273580531,
         0.59983220655588793769, 1.0),
    ),
)  # fmt: skip
"""M. J. Wichura's rational functions for normal quantiles: near 1/2, in the tails, far out."""
ARTANH = tuple(1 / (2 * power + 1) for power in range(12, -1, -1))
DRAWN_DIGITS = {"uniform32": 24, "uniform64": 53}


def is_prime(number: Any) -> bool:
    """Whether a number is a prime of about four bytes, by trial division."""
    if type(number) is not int or not LEAST_PRIME <= number < 1 << 32:
        return False
    return all(number % factor for factor in range(2, math.isqrt(number) + 1))


Whole = list[list[int]]


def times(matrix: Whole, vector: list[int], prime: int) -> list[int]:
    """A matrix times a vector, modulo a prime."""
    return [sum(map(operator.mul, row, vector)) % prime for row in matrix]


def drawn_probe_times(exhibit: Any, vector: list[int], prime: int) -> list[int]:
    """P_0 v modulo a prime for an attention-only draw, layer by layer as they are drawn.

    v has a part per read, and per head a part that P_1 is applied to, and so on downwards.
    """
    sizes, m = Sizes.of(exhibit["size"]), exhibit["draw"]["width"]
    require(not sizes.neurons and not sizes.residual, "draws are rechecked for attention only")
    entries, _ = drawn_integers(exhibit["draw"])
    heads, d, widths = sizes.heads, sizes.head_width, sizes.widths()

    def take(columns: int) -> Whole:
        return [list(itertools.islice(entries, columns)) for _ in range(m)]

    parts = [[vector]]
    for inner in widths[1:]:
        starts = [2 * heads * d + h * inner for h in range(heads)]
        parts.append([v[start : start + inner] for v in parts[-1] for start in starts])
    readout = take(sizes.token_width)
    current = [times(readout, v, prime) for v in parts[-1]]
    maps: list[Whole] = []
    for layer in reversed(range(sizes.layers)):
        if not maps or not exhibit["tied"]:
            maps = [*(take(d) for _ in range(2 * heads)), *(take(m) for _ in range(heads))]
        below: Whole = []
        for number, v in enumerate(parts[layer]):
            pieces = [v[k * d : (k + 1) * d] for k in range(2 * heads)]
            pieces += current[number * heads : (number + 1) * heads]
            moved = [times(part, piece, prime) for part, piece in zip(maps, pieces, strict=True)]
            below.append([sum(row) % prime for row in zip(*moved, strict=True)])
        current = below
    return current[0]


def vector_of(exhibit: Any, length: int, prime: int) -> list[int]:
    """Residues that nobody could choose: hashes of the certificate and a counter."""
    seed = sha256(canonical(exhibit)).digest()
    hashes = (sha256(seed + k.to_bytes(4, "little")).digest() for k in range(length))
    return [int.from_bytes(digest[:16], "little") % prime for digest in hashes]


def check_draw_rank(exhibit: Any) -> None:
    """The left inverse G of a drawn P_0 modulo a prime, by Freivalds: G (P_0 v) = v for a v that
    is derived from the certificate; a wrong one passes with probability at most 1/prime.
    """  # noqa: D205 - one statement, in one sentence
    prime: int = exhibit["prime"]
    rows: list[int] = exhibit["rows"]
    width, m = Sizes.of(exhibit["size"]).widths()[0], exhibit["draw"]["width"]
    require(is_prime(prime), "the modulus is no prime from 2^30 to 2^32")
    require(len(rows) == len(set(rows)) == width, "as many rows as columns are needed")
    require(all(type(row) is int and 0 <= row < m for row in rows), "a row is out of range")
    numbers = array("I", b85decode(exhibit["inverse"]))
    if sys.byteorder == "big":
        numbers.byteswap()
    require(len(numbers) == width * width, "the left inverse has another size")
    whole = drawn_probe_times(exhibit, vector_of(exhibit, width, prime), prime)
    chosen = [whole[row] for row in rows]
    entries = numbers.tolist()
    back = times([entries[k * width : (k + 1) * width] for k in range(width)], chosen, prime)
    require(
        back == vector_of(exhibit, width, prime), "the left inverse times P_0 is not the identity"
    )


def drawn_integers(draw: Any) -> tuple[Iterator[int], int]:
    """A draw's entries in their one order, each an integer times 2^exponent, and the exponent."""
    require(set(draw) == {"distribution", "seed", "width"}, "a draw has other fields")
    seed, width = draw["seed"], draw["width"]
    require(type(seed) is int and 0 <= seed < 1 << 32, "a seed is not a whole number of 32 bits")
    require(type(width) is int and width >= 1, "m is not a whole number from 1 on")
    if draw["distribution"] == "gaussian":
        return (round(quantile(word >> 11) * 2.0**32) for word in philox(seed)), -32
    digits = DRAWN_DIGITS.get(draw["distribution"])
    require(digits, f"the distribution {draw['distribution']!r} is unknown")
    return uniform_integers(seed, width, digits or 0)


def uniform_integers(seed: int, width: int, digits: int) -> tuple[Iterator[int], int]:
    """PyTorch's a (2x - 1), a = 1/sqrt(m), rounded once to so many digits, x = k 2^-digits."""
    words, half = twister(seed), 1 << (digits - 1)
    code = "f" if digits == DRAWN_DIGITS["uniform32"] else "d"
    odd, parts = array(code, [1 / math.sqrt(width)])[0].as_integer_ratio()

    def numbers() -> Iterator[int]:
        """A word each, or two with the higher one first."""
        while True:
            yield words(32) if code == "f" else words(32) << 32 | words(32)

    def entries() -> Iterator[int]:
        mask, source = 2 * half - 1, numbers()
        while True:
            exact = [odd * ((x & mask) - half) for x in itertools.islice(source, 4096)]
            yield from map(int, array(code, exact))  # the array rounds to its kind of float

    return entries(), 1 - parts.bit_length() - (digits - 1)


def twister(seed: int) -> Callable[[int], int]:
    """The Mersenne Twister in the state that PyTorch's seed sets, asked for 32 bits at a time."""
    state = [seed]
    for place in range(1, 624):
        state.append((1812433253 * (state[-1] ^ state[-1] >> 30) + place) % (1 << 32))
    source = random.Random()  # noqa: S311 - a stated draw is repeated, nothing is secret
    source.setstate((3, (*state, len(state)), None))
    return source.getrandbits


def philox(seed: int) -> Iterator[int]:
    """Words of Philox4x64-10 under the key (seed, 0), blocks counted from 1."""
    mask = (1 << 64) - 1
    keys = [
        (seed + 0x9E3779B97F4A7C15 * step & mask, 0xBB67AE8584CAA73B * step & mask)
        for step in range(10)
    ]
    for block in itertools.count(1):
        a, b, c, d = block, 0, 0, 0
        for key, other in keys:
            left, right = 0xD2E7470EE14C6C93 * a, 0xCA5A826395121157 * c
            a, b = right >> 64 ^ b ^ key, right & mask
            c, d = left >> 64 ^ d ^ other, left & mask
        yield from (a, b, c, d)


def quantile(place: int) -> float:
    """The normal quantile at (place + 1/2)/2^53, from operations that round alike everywhere."""
    offset = (2 * place + 1 - (1 << 53)) * 2.0**-54
    if abs(offset) <= 0.425:  # noqa: PLR2004 - where the first function ends
        above, below = (horner(part, 0.180625 - offset * offset) for part in AS_241[0])
        return offset * above / below
    mantissa, power = math.frexp(0.5 - abs(offset))
    z = (mantissa - 0.75) / (mantissa + 0.75)
    log_2, log_3_4 = 0.6931471805599453, -0.2876820724517809
    root = math.sqrt(-(power * log_2 + (log_3_4 + 2 * z * horner(ARTANH, z * z))))
    parts, shift = (AS_241[1], 1.6) if root <= 5 else (AS_241[2], 5.0)  # noqa: PLR2004 - the same
    above, below = (horner(part, root - shift) for part in parts)
    return math.copysign(above / below, offset)


def horner(coefficients: tuple[float, ...], argument: float) -> float:
    """A polynomial's value, coefficients from the highest power on."""
    value = 0.0
    for coefficient in coefficients:
        value = value * argument + coefficient
    return value


# --- encodings ---------------------------------------------------------------------------------

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
            needed = sum(map(_times, downs[j], wanted), Fraction(0))
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


# --- models encoded again ----------------------------------------------------------------------


@dataclass(frozen=True)
class Embedded:
    """An attention-only universal model, and E as whole numbers over one."""

    sizes: Sizes
    model: PlainModel
    rows: Whole
    over: int

    @classmethod
    def of(cls, exhibit: Any) -> Embedded:
        """The model of a certificate; a trained readout is whole numbers over a power of 2."""
        fixed, readout = exhibit["fixed"], exhibit["readout"]
        sizes = Sizes.of(fixed["size"])
        require(not sizes.neurons and not sizes.residual, "the model is not attention-only")
        model = fixed_model(sizes, fixed)
        if "draw" not in fixed:
            check_fixed_parameters(fixed)
        if readout is not None:
            entries, over = whole_rows(readout)
            require("draw" not in fixed, "a drawn model has a readout of its own")
            require(over & (over - 1) == 0, "a trained readout is not over a power of 2")
            shapes = {len(row) for row in entries}
            require(len(entries) == model.width and shapes == {sizes.token_width}, "another shape")
            columns: list[Sparse] = [
                (1, dict(enumerate(column))) for column in zip(*entries, strict=True)
            ]
            model = PlainModel(model.width, 1 - over.bit_length(), columns, model.layers)
        return cls(sizes, model, *embedding_of(sizes, model, exhibit))

    def probes(self) -> list[Sparse]:
        """The columns of P_0."""
        current = self.model.readout
        for readers, values, _ in reversed(self.model.layers):
            moved = [applied(value, column) for value in values for column in current]
            current = [*itertools.chain.from_iterable(readers), *moved]
        return current

    def read(self, stream: Rows, columns: list[Sparse]) -> Rows:
        """A stream times a matrix."""
        scales = [Fraction(2) ** (self.model.exponent * factors) for factors, _ in columns]
        return [
            [
                sum((row[index] * entry for index, entry in entries.items()), Fraction(0)) * scale
                for (_, entries), scale in zip(columns, scales, strict=True)
            ]
            for row in stream
        ]

    def embedded(self, tokens: list[int]) -> Rows:
        """The rows of E of a string's tokens."""
        return [[Fraction(entry, self.over) for entry in self.rows[token]] for token in tokens]

    def output(self, tokens: list[int]) -> Rows:
        """Logits at every place of a string, a causal mask over scrambled shares."""
        mask = [[j <= i for j in range(len(tokens))] for i in range(len(tokens))]
        stream = self.embedded(tokens)
        for readers, values, _ in self.model.layers:
            read = [self.read(stream, reader) for reader in readers]
            logits = [
                product(query, transposed(key))
                for query, key in zip(read[::2], read[1::2], strict=True)
            ]
            stream = total(
                [
                    product(attention("scrambled", scores, mask), self.read(stream, value))
                    for scores, value in zip(logits, values, strict=True)
                ]
            )
        return self.read(stream, self.model.readout)


def both_models(exhibit: Any) -> tuple[Embedded, Embedded]:
    """The trained model and the re-encoded one, whose readout is not trained."""
    source, ours = Embedded.of(exhibit["source"]), Embedded.of(exhibit["reencoded"])
    require(exhibit["reencoded"]["readout"] is None, "the re-encoded model's readout is not fixed")
    require(source.sizes == ours.sizes, "the models have different sizes")
    return source, ours


def check_reencoding(exhibit: Any) -> None:
    """E' P'_0 = E P_0, and P'_0 is that of a draw or selects distinct coordinates."""
    source, ours = both_models(exhibit)
    every = source.embedded(list(range(source.sizes.token_width)))
    content = transposed(source.read(every, source.probes()))
    require_solved(ours.sizes, ours.model, (ours.rows, ours.over), ours.probes(), content)


def check_reencoded_runs(exhibit: Any) -> None:
    """Both models give the same logits on every string, in fractions."""
    source, ours = both_models(exhibit)
    require(exhibit["strings"], "no string is run")
    for tokens in exhibit["strings"]:
        require(source.output(tokens) == ours.output(tokens), f"the logits differ on {tokens}")


# --- machines: a Turing machine, its queue machine, parity-HIST machine and transformer ---------

START, BLANK, MARKER, HALT = "▷", "0", "#", "halt"
MOST_MACHINE_STEPS = 100_000
Table = dict[tuple[str, str], tuple[str, str, str]]


def table_of(text: str) -> Table:
    """Rules of a bbchallenge text with two states and two symbols: (write, move, next state)."""
    rows = text.split("_")
    require([len(row) for row in rows] == [6, 6], f"{text!r} is not a machine of 2 by 2")
    table: Table = {}
    for (state, row), symbol in itertools.product(zip("AB", rows, strict=True), (0, 1)):
        entry = row[3 * symbol : 3 * symbol + 3]
        if entry != "---":
            require(entry[0] in "01" and entry[1] in "LR" and entry[2] in "ABZ", "no such rule")
            table[state, str(symbol)] = (entry[0], entry[1], entry[2])
    return table


def turing_run(
    table: Table, word: list[str], rules: int, start: str = "A", blank: str = BLANK
) -> tuple[bool, int, str, int]:
    """(halted, rules applied, tape without outer blanks, cells of the input or under the head)."""
    tape = dict(enumerate(word))
    head, state, steps = 0, start, 0
    cells = {*tape, head}
    while (state, tape.get(head, blank)) in table and steps < rules:
        tape[head], move, state = table[state, tape.get(head, blank)]
        head, steps = head + {"L": -1, "S": 0, "R": 1}[move], steps + 1
        cells.add(head)
    text = "".join(tape.get(i, blank) for i in range(min(cells), max(cells) + 1)).strip(blank)
    return (state, tape.get(head, blank)) not in table, steps, text, len(cells)


def queue_step(
    table: Table, control: Any, symbol: str, start: str = "A", blank: str = BLANK
) -> tuple[Any, list[str], bool]:
    """(next control, appended symbols, whether a rule was looked up); control holds one item.

    The cyclic word is the start symbol and the cells, the head's cell marked by a star.
    """
    if control is None:
        return (start, START, "arrive"), [blank], False
    state, held, phase = control
    if phase == "scan" and not symbol.endswith("*"):
        return (state, symbol, phase), [held], False
    if phase == "arrive" and symbol == START:
        return (state, START, "scan"), [held, blank + "*"], False
    cell = symbol.removesuffix("*")
    write, move, target = table.get((state, cell), (cell, "", "Z"))
    if target == "Z":
        return HALT, [held, write], True
    if move == "R":
        return (target, write, "arrive"), [held], True
    if move == "S":
        return (target, write + "*", "scan"), [held], True
    marked = [START, blank + "*"] if held == START else [held + "*"]
    return (target, write, "scan"), marked, True


def tape_of(queue: list[str], blank: str = BLANK) -> str:
    """The cells from the start symbol on, cyclically, without outer blanks."""
    place = queue.index(START)
    return "".join(s.removesuffix("*") for s in queue[place + 1 :] + queue[:place]).strip(blank)


def check_queue_run(exhibit: Any) -> None:
    """Every machine of a block as Turing and as queue machine, within Theorem 6's constants."""
    entries = ["---", *map("".join, itertools.product("01", "LR", "ABZ"))]
    tables = list(itertools.product(entries, repeat=4))
    first, every, rules = exhibit["first"], exhibit["every"], exhibit["rules"]
    chosen = tables[first::every][: exhibit["machines"]]
    words = [
        list(w)
        for n in range(exhibit["longest_input"] + 1)
        for w in itertools.product("01", repeat=n)
    ]
    sums = dict.fromkeys(("halted", "turing_steps", "nonblank", "queue_steps", "max_length"), 0)
    text, tape = "", ""
    for (a, b, c, d), word in itertools.product(chosen, words):
        text = f"{a}{b}_{c}{d}"
        table = table_of(text)
        halted, applied, tape, cells = turing_run(table, word, rules)
        queue, control, steps, looked, longest = [START, *word], None, 0, 0, len(word) + 1
        while control != HALT:
            following, new, rule = queue_step(table, control, queue[0])
            if rule and looked == applied and not halted:
                break
            control, queue = following, [*queue[1:], *new]
            steps, looked, longest = steps + 1, looked + rule, max(longest, len(queue))
            require(steps <= MOST_MACHINE_STEPS, f"{text} runs too long")
        require(steps <= applied * (cells + 2) + 2, f"{text} takes {steps} queue steps")
        require(longest <= cells + 2, f"{text} has a queue of {longest}")
        require(not halted or tape_of(queue) == tape, f"{text} ends with another tape")
        for name, value in zip(sums, (halted, applied, tape.count("1"), steps), strict=False):
            sums[name] += value
        sums["max_length"] = max(sums["max_length"], longest)
    shown = tape.replace(BLANK, "_")
    for name, value in {**sums, "last_machine": text, "last_tape": shown}.items():
        require(
            exhibit[name] == value, f"{name} is {value!r}, the certificate says {exhibit[name]!r}"
        )


def parities(word: list[str]) -> frozenset[str]:
    """The symbols that occur an odd number of times."""
    return frozenset(symbol for symbol in word if word.count(symbol) % 2)


def transformer_token(context: list[Any], delta: Any, idle: str) -> tuple[str, Any, int]:
    """G: the next (displayed symbol, label, update bit) from the displays and the newest label."""
    shown = [display for display, _ in context]
    kind, state, *owed = context[-1][1]
    if MARKER not in shown:
        return MARKER, context[-1][1], 0
    require(shown.count(MARKER) == 1, "a context holds two markers")
    if kind == "P":
        return owed[0], ("N", state), 0
    if state[0] == HALT:
        return idle, context[-1][1], 0
    target, (one, *more) = delta(state, parities([s for s in shown if s != MARKER]))
    return (one, ("P", target, more[0]), 1) if more else (one, ("N", target), 0)


def generated(context: list[Any], token: tuple[str, Any, int]) -> list[Any]:
    """The context after a token: bit 1 keeps the oldest one, bit 0 drops it."""
    display, label, bit = token
    return [*(context if bit else context[1:]), (display, label)]


def check_window_run(exhibit: Any) -> None:
    """A machine's transformer, run on its own; its figures and the queue read off its context."""
    table, word = table_of(exhibit["machine"]), list(exhibit["input"])

    def delta(state: Any, seen: frozenset[str]) -> tuple[Any, list[str]]:
        control, kept = state
        (front,) = {START} if control is None else kept ^ seen
        target, new, _ = queue_step(table, control, front)
        return (target, seen ^ parities(new)), new

    begin = ("N", (None, frozenset[str]()))
    context: list[Any] = [(symbol, begin) for symbol in [*word, MARKER]]
    steps, tokens, refreshes, largest, longest = 0, 0, 0, len(context), len(word)
    while context[-1][1][1][0] != HALT and steps < exhibit["limit"]:
        pending = True
        while pending:
            token = transformer_token(context, delta, "0")
            context = generated(context, token)
            tokens, largest = tokens + 1, max(largest, len(context))
            refreshes += token[0] == MARKER
            pending = token[0] == MARKER or token[1][0] == "P"
        steps += 1
        shown = [display for display, _ in context if display != MARKER]
        ready = len(shown) < len(context)
        longest = max(longest, len(shown) - (not ready))
        require(largest <= longest + 1, f"a context of {largest} exceeds S + 1 = {longest + 1}")
    shown = [display for display, _ in context if display != MARKER]
    control, kept = context[-1][1][1]
    ready = len(shown) < len(context)
    queue = [*({START} if control is None else kept ^ parities(shown)), *shown] if ready else shown
    figures = {
        "halted": control == HALT,
        "steps": steps,
        "tokens": tokens,
        "refreshes": refreshes,
        "max_context": largest,
        "max_window": longest,
        "queue": " ".join(queue),
        "form": "ready" if ready else "refresh",
    }
    for name, value in figures.items():
        require(
            exhibit[name] == value, f"{name} is {value!r}, the certificate says {exhibit[name]!r}"
        )
    if control == HALT:
        halted, _, tape, _ = turing_run(table, word, MOST_MACHINE_STEPS)
        require(halted and tape_of(queue) == tape, "the queue read off is not the machine's tape")


FIGURES = ("halted", "rules_applied", "queue_steps", "tokens", "refreshes")


def chain_tables(exhibit: Any) -> Iterator[tuple[Table, str, str, list[str]]]:
    """(rules, start, blank, input) of each machine of an exhibit; a halting state is Z."""
    if "table" in exhibit:
        rows: Table = {(q, a): (b, move, target) for q, a, b, move, target in exhibit["table"]}
        yield rows, exhibit["start"], exhibit["blank"], list(exhibit["input"])
        return
    digits, letters = "0123456789"[: exhibit["symbols"]], "ABCDEFG"[: exhibit["states"]]
    entries = ["---", *map("".join, itertools.product(digits, "LR", letters + "Z"))]
    places = list(itertools.product(letters, digits))
    for k in range(exhibit["machines"]):
        number: int = exhibit["first"] + k * exhibit["every"]
        rows = {}
        for place in reversed(places):
            number, digit = divmod(number, len(entries))
            if digit:
                write, move, target = entries[digit]
                rows[place] = (write, move, target)
        require(number == 0, "no such machine")
        yield rows, "A", BLANK, []


class Chain:
    """Queue machine, parity-HIST and transformer of one Turing machine, each from its own state.

    A parity is a bit mask; a HIST state is (control, stored parity), the control None at first.
    """

    def __init__(self, table: Table, start: str, blank: str, word: list[str]) -> None:
        """Stand before the first step."""
        self.delta = (table, start, blank)
        self.bits: dict[str, int] = {}
        self.symbols: dict[int, str] = {}
        self.queue, self.window = deque([START, *word]), deque(word)
        self.context = deque([*word, MARKER])
        self.control: Any = None
        self.hist, self.label = (None, 0), ("N", (None, 0), "")
        self.seen = self.shown = self.mask(word)
        self.markers, self.widest, self.largest = 1, len(word), len(word) + 1
        self.steps = self.tokens = self.refreshes = 0

    def mask(self, word: list[str]) -> int:
        """The parity of a word; symbols are numbered as they are met."""
        total = 0
        for symbol in word:
            if symbol not in self.bits:
                self.bits[symbol] = 1 << len(self.bits)
                self.symbols[self.bits[symbol]] = symbol
            total ^= self.bits[symbol]
        return total

    def transition(self, state: tuple[Any, int], seen: int) -> tuple[tuple[Any, int], list[str]]:
        """The parity-HIST machine: the removed symbol is the bit in which two parities differ."""
        control, kept = state
        front = START if control is None else self.symbols.get(kept ^ seen, "")
        require(front != "", "two parities differ in more than one symbol")
        target, new, _ = queue_step(self.delta[0], control, front, *self.delta[1:])
        return (target, seen ^ self.mask(new)), new

    def emit(self) -> tuple[str, int]:
        """One token of the transformer; (displayed symbol, update bit)."""
        kind, state, owed = self.label
        if not self.markers:
            shown, update = MARKER, 0
        elif kind == "P":
            shown, update, self.label = owed, 0, ("N", state, "")
        else:
            target, (shown, *more) = self.transition(state, self.shown)
            update = len(more)
            self.label = ("P", target, more[0]) if more else ("N", target, "")
        self.context.append(shown)
        gone = [] if update else [self.context.popleft()]
        self.markers += (shown == MARKER) - (gone == [MARKER])
        self.shown ^= self.mask([s for s in (shown, *gone) if s != MARKER])
        self.tokens, self.refreshes = self.tokens + 1, self.refreshes + (shown == MARKER)
        self.largest = max(self.largest, len(self.context))
        return shown, update

    def step(self, following: Any, new: list[str]) -> None:
        """One queue step to a known control, and the same at the levels above."""
        self.control = following
        self.queue.popleft()
        self.queue.extend(new)
        self.hist, appended = self.transition(self.hist, self.seen)
        self.window.extend(appended)
        self.seen ^= self.mask([*appended, self.window.popleft()])
        if not self.markers:
            require(self.emit() == (MARKER, 0), "no marker came")
        for place, symbol in enumerate(appended):
            due = (symbol, int(place + 1 < len(appended)))
            require(self.emit() == due, "the transformer emits another token")
        self.steps, self.widest = self.steps + 1, max(self.widest, len(self.window))
        require(appended == new and self.hist[0] == following, "HIST differs from the queue")
        require(self.label == ("N", self.hist, ""), "the transformer's label is another")
        require(self.window[0] == self.queue[1] if len(self.queue) > 1 else True, "words differ")
        require(self.largest <= self.widest + 1, "a context exceeds S + 1")

    def words_agree(self) -> bool:
        """Whether all three words are what they are to be."""
        queue, window = list(self.queue), list(self.window)
        shown = [symbol for symbol in self.context if symbol != MARKER]
        return window == queue[1:] and shown == (window if self.markers else queue)


def check_chain(exhibit: Any) -> None:
    """Each machine at four levels, from the definitions above, and the totals over all runs."""
    sums, widest, text = dict.fromkeys(FIGURES, 0), 0, ""
    require(0 <= exhibit["rules"] <= MOST_MACHINE_STEPS * 10, "a run of so many rules is too long")
    for table, start, blank, word in chain_tables(exhibit):
        halted, applied, text, cells = turing_run(table, word, exhibit["rules"], start, blank)
        run, looked = Chain(table, start, blank, word), 0
        while run.control != HALT:
            following, new, rule = queue_step(table, run.control, run.queue[0], start, blank)
            if rule and looked == applied and not halted:
                break
            run.step(following, new)
            looked += rule
            require(run.steps <= applied * (cells + 2) + 2, "too many queue steps")
        require(run.words_agree(), "the words of the levels differ")
        require((run.control == HALT) == halted, "the levels do not halt together")
        require(not halted or tape_of(list(run.queue), blank) == text, "another tape at the end")
        found = (halted, applied, run.steps, run.tokens, run.refreshes)
        for name, value in zip(FIGURES, found, strict=True):
            sums[name] += value
        widest, text = max(widest, run.largest), text.replace(blank, "_")
    for name, value in {**sums, "max_context": widest, "last_tape": text}.items():
        require(
            exhibit[name] == value, f"{name} is {value!r}, the certificate says {exhibit[name]!r}"
        )


def label_text(label: Any) -> str:
    """How certificates write a label."""
    kind, state, *owed = label
    return " ".join([kind, state[0], *owed])


def numbered_delta(machine: int) -> Callable[[Any, frozenset[str]], tuple[Any, list[str]]]:
    """The transition of a numbered parity-HIST machine over a and b."""
    words = [list(w) for n in (1, 2) for w in itertools.product("ab", repeat=n)]
    choices = [(state, word) for state in ("p", "q", HALT) for word in words]

    def delta(state: Any, seen: frozenset[str]) -> tuple[Any, list[str]]:
        mask: int = ("a" in seen) + 2 * ("b" in seen)
        number: int = machine + 5 * mask + 7 * (state[0] == "q")
        target, word = choices[number % len(choices)]
        return (target,), word

    return delta


def check_context(exhibit: Any) -> None:
    """One context of the numbered machines: histogram, next token, or the whole step."""
    delta = numbered_delta(exhibit["machine"])
    shown = exhibit["displayed"].split()
    if "histogram" in exhibit:
        shares = [str(Fraction(shown.count(symbol), len(shown))) for symbol in "ab#"]
        require(exhibit["histogram"].split() == shares, "the histogram is another")
        return
    context: list[Any] = [(symbol, ("N", (exhibit["state"],))) for symbol in shown]
    tokens: list[list[Any]] = []
    while not tokens or (tokens[-1][1][0] == "P" and "tokens" in exhibit):
        display, label, bit = transformer_token(context, delta, "a")
        context = generated(context, (display, label, bit))
        tokens.append([display, label_text(label), bit])
    stated = exhibit["tokens"] if "tokens" in exhibit else [exhibit["next"]]
    require(stated == tokens, f"the tokens are {tokens}")
    after = " ".join(display for display, _ in context)
    require(exhibit.get("after", after) == after, f"the context displays {after!r}")


def check_words(exhibit: Any) -> None:
    """The word without markers, and its parity."""
    word = [symbol for symbol in exhibit["displayed"] if symbol != MARKER]
    require(exhibit["sem"] == word, "sem is another word")
    require(
        exhibit["parity"] == {symbol: word.count(symbol) % 2 for symbol in exhibit["parity"]},
        "the parity is another",
    )


# --- machines: the MLP as a ReLU network ---------------------------------------------------------

Affine = tuple[list[list[int]], list[int]]


def relu_run(layers: list[Affine], vector: list[int], unit: int) -> list[int]:
    """The last hidden layer's neurons, for a vector given times `unit`; so is the answer."""
    for rows, bias in layers:
        sums = [sum(map(operator.mul, row, vector)) for row in rows]
        vector = [max(0, a + unit * b) for a, b in zip(sums, bias, strict=True)]
    return vector


def parity_layers(levels: int, scale: int) -> list[Affine]:
    """Theorem 9's layers for one symbol, from (c y, y): a fold for each level, then the reading."""
    layers: list[Affine] = []
    for level in reversed(range(levels)):
        shift = 1 << level
        folds = [[1, 1, -shift], [-1, -1, shift], [0, 0, 1]]
        layers.append((folds if layers else [row[1:] for row in folds], [0, 0, 0]))
    return [*layers, ([[-4 * scale, -4 * scale, 2 * scale]] * 2, [0, -1])]


def parity_bit(layers: list[Affine], count: int, context: int, marker: int = 1) -> Fraction:
    """The bit that the layers read for a count in a context of so many tokens."""
    high, low = relu_run(layers, [count, marker], context)
    return Fraction(high - low, context)


def levels_and_scale(longest: int) -> tuple[int, int]:
    """The least K >= 1 with S <= 2^K, and the least power of two s >= S + 1."""
    levels = next(k for k in itertools.count(1) if longest <= 1 << k)
    return levels, next(1 << k for k in itertools.count() if longest + 1 <= 1 << k)


MOST_CONTEXTS = 40


def check_relu_parity(exhibit: Any) -> None:
    """Every count up to S: in all contexts of at most S + 1 tokens, or the least two and last two.

    For S above 40 not all contexts are run through the layers.
    """
    longest = exhibit["longest"]
    levels, scale = levels_and_scale(longest)
    require((exhibit["levels"], exhibit["scale"]) == (levels, scale), "other K or s for this S")
    width = 2 * (longest + 1)
    require(exhibit["widths"] == [width + 1] * levels + [width], "the widths are others")
    require(longest <= 1 or 1 << (levels - 1) < longest, "the depth is not below log2(S) + 2")
    layers = parity_layers(levels, scale)
    bits = [count % 2 for count in range(longest + 1)]
    require(exhibit["bits"] == bits, "the bits are others")
    every = range(1, longest + 2)
    for context in every if longest <= MOST_CONTEXTS else (1, 2, longest, longest + 1):
        came = [parity_bit(layers, count, context) for count in range(longest + 1)]
        require(came == bits, f"the layers read other bits in a context of {context} tokens")


@dataclass(frozen=True)
class Plain:
    """A Turing machine as a table, with what its transformer's labels are made of."""

    table: Table
    start: str
    blank: str
    cells: list[str]

    @staticmethod
    def of(machine: Any) -> Plain:
        """The machine of an exhibit; its moves are -1, 0 and 1, its halting states become Z."""
        moves = {-1: "L", 0: "S", 1: "R"}
        table = {
            (state, symbol): (write, moves[move], "Z" if target in machine["halting"] else target)
            for state, symbol, write, move, target in machine["rules"]
            if state not in machine["halting"]
        }
        return Plain(table, machine["start"], machine["blank"], machine["alphabet"])

    @property
    def alphabet(self) -> list[str]:
        """The queue machine's: start symbol, cells, marked cells."""
        return [START, *self.cells, *(cell + "*" for cell in self.cells)]

    def delta(self, state: Any, seen: frozenset[str]) -> tuple[Any, list[str]]:
        """The parity-HIST machine's transition."""
        control, kept = state
        (front,) = {START} if control is None else kept ^ seen
        target, new, _ = queue_step(self.table, control, front, self.start, self.blank)
        return (target, seen ^ parities(new)), new

    def popped(self, control: Any) -> list[str]:
        """The front symbols on which a running control has a rule."""
        if control is None:
            return [START]
        plain = control[2] == "scan"
        return [s for s in self.alphabet if plain or not s.endswith("*")]

    def asked(self, label: Any) -> list[Any]:
        """The parities on which G is defined at a label; None where they do not matter."""
        kind, (control, kept), *_ = label
        if kind == "P" or control == HALT:
            return [None]
        if control is None:
            sizes = range(len(self.cells) + 1)
            return [frozenset(s) for n in sizes for s in itertools.combinations(self.cells, n)]
        return [kept ^ {symbol} for symbol in self.popped(control)]

    def answer(self, label: Any, seen: Any, present: int) -> tuple[str, Any, int]:
        """G at a label, for a word of these parities with or without the marker."""
        shown = [*(seen or ()), MARKER] if present else [START]
        return transformer_token([(symbol, label) for symbol in shown], self.delta, START)

    def labels(self) -> list[Any]:
        """The labels reachable in the control graph."""
        found: dict[Any, None] = {}
        waiting: list[Any] = [("N", (None, frozenset[str]()))]
        while waiting:
            label = waiting.pop()
            if label not in found:
                found[label] = None
                waiting += [self.answer(label, seen, 1)[1] for seen in self.asked(label)]
        return list(found)

    def bits(self, seen: frozenset[str]) -> str:
        """Parities as 0 and 1 in the alphabet's order."""
        return "".join(str(int(symbol in seen)) for symbol in self.alphabet)

    def text(self, label: Any) -> str:
        """How certificates write a label of a Turing machine's transformer."""
        kind, (control, kept), *owed = label
        first = str(int(control is None))
        named = (self.start, START, "start") if control is None else control
        parts = ("", "", HALT) if control == HALT else named
        return "|".join((kind, *parts, self.bits(kept), first, *(owed or [""])))

    def token_text(self, token: tuple[str, Any, int]) -> str:
        """How certificates write a token."""
        return f"{token[0]} {token[2]} {self.text(token[1])}"


def conjunction(features: list[int]) -> int:
    """relu(sum - (number - 1)): 1 if all features are 1, else 0."""
    return max(0, sum(features) - (len(features) - 1))


def check_label(plain: Plain, label: Any) -> list[str]:
    """One neuron, the right one, is 1 at every answer of G at a label; a line for each neuron."""
    order, asked = plain.alphabet, plain.asked(label)
    answers = [plain.answer(label, seen, 1) for seen in asked]
    refreshed = plain.answer(label, None, 0)
    for present, seen, token in [(0, frozenset[str](), refreshed)] + [
        (1, seen or frozenset[str](), token) for seen, token in zip(asked, answers, strict=True)
    ]:
        active = [refreshed] * max(0, 1 - present)
        for wanted, emitted in zip(asked, answers, strict=True):
            terms = [int((s in seen) == (s in wanted)) for s in order] if wanted is not None else []
            active += [emitted] * conjunction([1, present, *terms])
        require(active == [token], f"the neurons at {plain.text(label)} emit another token")
    lines = [f"{plain.text(label)} absent -> {plain.token_text(refreshed)}"]
    for seen, token in zip(asked, answers, strict=True):
        text = "any" if seen is None else plain.bits(seen)
        lines.append(f"{plain.text(label)} {text} -> {plain.token_text(token)}")
    return lines


def check_relu_run(exhibit: Any, plain: Plain) -> None:
    """The tokens of a run, until the context outgrows the network or the run ends."""
    begin = ("N", (None, frozenset[str]()))
    context: list[Any] = [(symbol, begin) for symbol in [*exhibit["input"], MARKER]]
    tokens: list[str] = []
    while len(context) <= exhibit["longest"] + 1:
        kind, (control, _), *_ = context[-1][1]
        if (kind, control) == ("N", HALT):
            break
        token = transformer_token(context, plain.delta, START)
        context = generated(context, token)
        tokens.append(plain.token_text(token))
    require(exhibit["tokens"] == tokens, f"the run has {len(tokens)} tokens, or other ones")


def check_relu_counts(exhibit: Any) -> None:
    """Every count below m yields its bit and the marker is seen; m = 0: neither."""
    levels, scale = levels_and_scale(exhibit["longest"])
    layers = parity_layers(levels, scale)
    present = int(exhibit["context"] > 0)
    unit = exhibit["context"] or exhibit["longest"] + 1
    require(unit <= exhibit["longest"] + 1, "the context is longer than S + 1")
    for count in range(unit):
        bit = parity_bit(layers, count, unit, present)
        require(bit == present * (count % 2), f"the bit of count {count} is {bit}")
    high, low = relu_run([([[scale], [scale]], [0, -1])], [present], unit)
    require(high - low == unit * present, "the marker is read wrongly")


def check_relu_network(exhibit: Any) -> None:
    """One part of a machine's network: its widths, its counts, all its labels or a run."""
    part = exhibit["part"]
    if part == "counts":
        check_relu_counts(exhibit)
        return
    plain = Plain.of(exhibit["machine"])
    if part == "run":
        check_relu_run(exhibit, plain)
        return
    labels = plain.labels()
    if part == "labels":
        lines = sorted(line for label in labels for line in check_label(plain, label))
        require(exhibit["answers"] == len(lines), f"there are {len(lines)} answers")
        digest = sha256("\n".join(lines).encode()).hexdigest()
        require(exhibit["sha256"] == digest, "the answers at the reachable labels are others")
        return
    require(part == "layers", f"{part!r} is no part of a network")
    size, levels = len(plain.alphabet), levels_and_scale(exhibit["longest"])[0]
    width = 2 * (size + 1) + len(labels) + 2
    rows = sum(1 + len(plain.asked(label)) for label in labels)
    widths = [2 * size + width] * levels + [2 * size + 2 + width, rows + width]
    require(exhibit["widths"] == widths, f"the widths are {widths}")


def check_relu_blocks(exhibit: Any) -> None:
    """All conjunctions of a numbered machine at every label: together they emit the one token."""
    delta, masks = numbered_delta(exhibit["machine"]), exhibit["masks"]
    subsets = [frozenset(s) for s in ("", "a", "b", "ab")]

    def answer(label: Any, seen: Any, present: int) -> tuple[str, Any, int]:
        shown = [*(seen or ()), MARKER] if present else ["a"]
        return transformer_token([(symbol, label) for symbol in shown], delta, "a")

    neurons: list[tuple[Any, int, Any, Any]] = []
    found: dict[Any, None] = {}
    asked: list[Any] = [subsets[mask] for mask in masks]
    waiting: list[Any] = [("N", ("p",))]
    while waiting:
        label = waiting.pop()
        if label not in found:
            found[label] = None
            running = label[0] == "N" and label[1] != (HALT,)
            neurons.append((label, 0, None, answer(label, None, 0)))
            for seen in asked if running else [None]:
                neurons.append((label, 1, seen, answer(label, seen, 1)))
                waiting.append(neurons[-1][3][1])
    stated = {(label, here, mask): token for label, here, mask, token in exhibit["answers"]}
    require(len(stated) == 2 * len(subsets) * len(found), "some questions are missing")
    for newest, here, mask in itertools.product(found, (0, 1), range(len(subsets))):
        emitted: list[Any] = []
        for label, present, seen, token in neurons:
            own = int(label == newest)
            same = [] if seen is None else [(s in seen) == (s in subsets[mask]) for s in "ab"]
            terms = list(map(int, same))
            value = conjunction([own, here, *terms]) if present else max(0, own - here)
            emitted += [[token[0], label_text(token[1]), token[2]]] * value
        token = stated[label_text(newest), here, mask]
        require(emitted == ([token] if token else []), f"the neurons emit {emitted}, not {token}")


# --- halves of a path that meet in the middle -----------------------------------------------------


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


# --- independent path vectors of softmax targets --------------------------------------------------

Ball = tuple[int, int]
"""Midpoint and radius, both whole, over a power of two: it contains the number meant."""


class Balls:
    """Arithmetic of balls over 2^scale; every result contains what the exact one would be."""

    def __init__(self, scale: int) -> None:
        """The number of binary places."""
        self.scale = scale

    def of(self, value: Fraction) -> Ball:
        """A rational."""
        scaled = value * (1 << self.scale)
        middle = round(scaled)
        return middle, int(middle != scaled)

    def total(self, balls: list[Ball]) -> Ball:
        """A sum, which rounds nothing."""
        return sum(m for m, _ in balls), sum(r for _, r in balls)

    def times(self, one: Ball, two: Ball) -> Ball:
        """A product."""
        (a, r), (b, t) = one, two
        spread = abs(a) * t + abs(b) * r + r * t
        return a * b >> self.scale, (spread >> self.scale) + 2

    def over(self, one: Ball, two: Ball) -> Ball:
        """A quotient; the divisor must leave 0 out."""
        (a, r), (b, t) = one, two
        require(abs(b) > t, "a divisor may be 0 at this precision")
        spread = (abs(a) * t + abs(b) * r) << self.scale
        return (a << self.scale) // b, spread // (abs(b) * (abs(b) - t)) + 2

    def exp(self, ball: Ball) -> Ball:
        """The exponential of a number below 1: Taylor's series at x / 2^n, squared n times.

        |x / 2^n| < 2^-16, so the terms after one that rounds to 0 add less than 2 units; and
        |e^d - 1| <= 2 |d| for the |d| < 1 by which the argument may differ from its midpoint.
        """
        middle, radius = ball
        unit = 1 << self.scale
        require(middle < unit and radius < unit, "an exponent is too large or too wide")
        halvings = max(0, abs(middle).bit_length() - self.scale) + 16
        small = middle >> halvings
        term, result, count = unit, unit, 0
        while term not in (0, -1):
            count += 1
            term = (term * small >> self.scale) // count
            result += term
        found: Ball = result, 3 * count + 5
        for _ in range(halvings):
            found = self.times(found, found)
        return found[0], found[1] + (2 * radius * (found[0] + found[1]) >> self.scale) + 1

    def softmax(self, row: list[Ball]) -> list[Ball]:
        """Shifted by the largest midpoint, which changes no quotient."""
        shift = max(m for m, _ in row)
        weights = [self.exp((m - shift, r)) for m, r in row]
        below = self.total(weights)
        return [self.over(weight, below) for weight in weights]

    def pivots(self, rows: list[list[Ball]]) -> tuple[list[Ball], int]:
        """The pivots of elimination, whose product is the determinant but for the sign given."""
        rows, found, sign = [list(row) for row in rows], list[Ball](), 1
        while rows:
            best = max(range(len(rows)), key=lambda i: abs(rows[i][0][0]))
            sign = -sign if best else sign
            rows[0], rows[best] = rows[best], rows[0]
            (pivot, *others), *below = rows
            found.append(pivot)
            rows = []
            for first, *rest in below:
                factor = self.over(first, pivot)
                less = (self.times(factor, x) for x in others)
                rows.append([(a - m, t + r) for (a, t), (m, r) in zip(rest, less, strict=True)])
        return found, sign


def path_rows(balls: Balls, exhibit: Any, tokens: list[Fraction]) -> list[list[Ball]]:
    """A row for each token, a column for each path, the last layer's head slowest."""
    stream = [balls.of(token) for token in tokens]
    vectors = [stream]
    logits = [balls.of(Fraction(c)) for c in exhibit["logits"]]
    for layer in rows_of(exhibit["weights"]):
        products = [[balls.times(x, y) for y in stream] for x in stream]
        heads = [
            [balls.softmax([balls.times(c, x) for x in row]) for row in products] for c in logits
        ]

        def attended(weights: list[list[Ball]], vector: list[Ball]) -> list[Ball]:
            return [
                balls.total([balls.times(a, v) for a, v in zip(row, vector, strict=True)])
                for row in weights
            ]

        moved = [attended(weights, stream) for weights in heads]
        vectors = [attended(weights, vector) for weights in heads for vector in vectors]
        mixed = [balls.of(weight) for weight in layer]
        stream = [
            balls.total([balls.times(w, x) for w, x in zip(mixed, column, strict=True)])
            for column in zip(*moved, strict=True)
        ]
    return [list(row) for row in zip(*vectors, strict=True)]


def check_independence(exhibit: Any) -> None:
    """Enclosed anew at twice the precision, the determinant of the path vectors is not 0."""
    heads, layers, tokens = exhibit["heads"], exhibit["layers"], exhibit["tokens"]
    inputs = rows_of(exhibit["inputs"])
    shape = [len(layer) for layer in exhibit["weights"]]
    require(
        len(exhibit["logits"]) == heads and shape == [heads] * layers, "weights of another shape"
    )
    require(all(len(row) == tokens for row in inputs), "inputs of another number of tokens")
    paths = heads**layers
    require(len(inputs) == -(-paths // tokens), "not the least number of inputs")
    balls = Balls(2 * exhibit["bits"])
    stacked = [row for x in inputs for row in path_rows(balls, exhibit, x)]
    found, sign = balls.pivots(stacked[:paths])
    require(all(abs(m) > r for m, r in found), "a pivot may be 0 at this precision")
    low = high = Fraction(1)
    for m, r in found:
        sign = sign if m > 0 else -sign
        low, high = low * (abs(m) - r), high * (abs(m) + r)
    ends = sorted(sign * end / (1 << balls.scale * paths) for end in (low, high))
    lower, upper = map(Fraction, exhibit["determinant"])
    require(lower > 0 or upper < 0, "the stated ball contains 0")
    require(lower <= ends[1] and ends[0] <= upper, "the stated ball does not meet the determinant")
    require(10 ** exhibit["digits"] * (upper - lower) <= max(-lower, upper), "fewer digits")


# --- tokens of two types -----------------------------------------------------------------------

PowerSeries = list[Fraction]
TYPE_ODDS = 2


def check_two_types(exhibit: Any) -> None:
    """Path vectors on tokens of two types, in a softmax whose logits are in units of ln 2."""
    types, start = exhibit["types"], Fraction(exhibit["start"])
    require(types == [0, 0, 1], "there must be two tokens of type 1 and one of type 2")
    paths = [([start * (1 - kind) for kind in types], start)]
    for scales, stream in zip(exhibit["scales"], exhibit["streams"], strict=True):
        tokens, step = [stream[kind] for kind in types], stream[0] - stream[1]
        longer = list[tuple[list[Fraction], Fraction]]()
        for (values, difference), scale in itertools.product(paths, scales):
            weights = [[Fraction(2) ** (scale * a * b) for b in tokens] for a in tokens]
            mixed = [sum(map(_times, row, values), Fraction(0)) / sum(row) for row in weights]
            odds = [2 * Fraction(2) ** (scale * y * step) for y in stream]
            factor = odds[0] / (odds[0] + 1) - odds[1] / (odds[1] + 1)
            longer.append((mixed, difference * factor))
        paths = longer
    for values, difference in paths:
        require(values[0] - values[-1] == difference, "a difference is not the product of factors")
    require([str(d) for _, d in paths] == exhibit["differences"], "other differences")


def check_logistic_derivative(exhibit: Any) -> None:
    """A derivative of the logistic function at ln odds, as a polynomial in its value there."""
    odds, order = exhibit["odds"], exhibit["order"]
    require(odds == TYPE_ODDS, "the odds of the types must be 2")
    polynomial = [0, 1]
    for _ in range(order):
        slope = [i * a for i, a in enumerate(polynomial)][1:]
        polynomial = [a - b for a, b in zip([0, *slope, 0], [0, 0, *slope], strict=True)]
    value = sum((a * Fraction(odds, odds + 1) ** i for i, a in enumerate(polynomial)), Fraction(0))
    require(value == Fraction(exhibit["value"]) != 0, "another derivative, or it is 0")


def logistic_taylor(odds: int, length: int) -> PowerSeries:
    """Coefficients of sigma(x + ln odds), from sigma (1 + odds e^x) = odds e^x."""
    powers = [Fraction(odds, math.factorial(n)) for n in range(length)]
    found = PowerSeries()
    for n in range(length):
        mixed = sum((found[i] * powers[n - i] for i in range(n)), Fraction(0))
        found.append((powers[n] - mixed) / (1 + odds))
    return found


def check_difference(exhibit: Any) -> None:
    """A difference over consecutive heads has the order of the difference."""
    scales, series = exhibit["scales"], [Fraction(text) for text in exhibit["series"]]
    order, odds = len(scales) - 1, exhibit["odds"]
    require(odds == TYPE_ODDS, "the odds of the types must be 2")
    require(scales in (list(range(order + 1)), list(range(1, order + 2))), "other scales")
    for power, (value, a) in enumerate(zip(series, logistic_taylor(odds, order + 1), strict=True)):
        terms = ((-1) ** (order - i) * math.comb(order, i) * c**power for i, c in enumerate(scales))
        require(value == a * sum(terms), f"another coefficient of x^{power}")
        require((value != 0) == (power == order), f"a difference must begin at x^{order}")


def series_product(left: PowerSeries, right: PowerSeries) -> PowerSeries:
    """A product of power series, up to their common length."""
    result = [Fraction(0)] * len(left)
    for i, a in enumerate(left):
        for j, b in enumerate(right[: len(left) - i] if a else []):
            result[i + j] += a * b
    return result


def inserted_series(outer: PowerSeries, inner: PowerSeries) -> PowerSeries:
    """outer(inner) for an inner series without constant term, power by power."""
    require(inner[0] == 0, "a series with a constant term is inserted")
    power, result = [Fraction(int(i == 0)) for i in range(len(inner))], [Fraction(0)] * len(inner)
    for a in outer:
        if not any(power):
            break
        result = [x + a * y for x, y in zip(result, power, strict=True)]
        power = series_product(power, inner)
    return result


def path_differences(weights: Rows, length: int) -> list[PowerSeries]:
    """Type differences of all path vectors at scales 1..H, paths in lexicographic order."""
    taylor = logistic_taylor(TYPE_ODDS, length)
    start = [Fraction(int(i == 1)) for i in range(length)]
    types, found = [start, [Fraction(0)] * length], [start]
    for row in weights:
        delta = [a - b for a, b in zip(*types, strict=True)]
        heads = list[list[PowerSeries]]()
        for head in range(1, len(row) + 1):
            arguments = [[head * x for x in series_product(y, delta)] for y in types]
            heads.append([inserted_series(taylor, argument) for argument in arguments])
        factors = [[a - b for a, b in zip(*both, strict=True)] for both in heads]
        found = [series_product(a, b) for a, b in itertools.product(found, factors)]
        mixed = [
            [sum(map(_times, row, column), Fraction(0)) for column in zip(*kind, strict=True)]
            for kind in zip(*heads, strict=True)
        ]
        parts = [series_product(delta, mixture) for mixture in mixed]
        types = [[sum(row) * b + x for b, x in zip(types[1], part, strict=True)] for part in parts]
    return found


def binomial_weights(heads: int) -> list[Fraction]:
    """(-1)^(H - h) C(H - 1, h - 1)."""
    return [Fraction((-1) ** (heads - 1 - i) * math.comb(heads - 1, i)) for i in range(heads)]


def series_length(heads: int, layers: int) -> int:
    """One more than 1 + 2 sum_l H (2 H - 1)^(l-1)."""
    return 2 + 2 * heads * sum((2 * heads - 1) ** layer for layer in range(layers))


def check_path_series(exhibit: Any) -> None:
    """Combinations of path vectors, by differences over the heads, have distinct orders."""
    weights, scales = [[Fraction(w) for w in row] for row in exhibit["weights"]], exhibit["scales"]
    heads, layers = len(scales), len(weights)
    require(scales == [str(h) for h in range(1, heads + 1)], "the scales must be 1..H")
    require(weights == [binomial_weights(heads)] * layers, "the weights must be signed binomials")
    require(exhibit["odds"] == TYPE_ODDS, "the odds of the types must be 2")
    paths = list(itertools.product(range(1, heads + 1), repeat=layers))
    series = dict(zip(paths, path_differences(weights, series_length(heads, layers)), strict=True))
    orders = list[int]()
    for digits in paths:
        total = [Fraction(0)] * series_length(heads, layers)
        for path in itertools.product(*(range(1, digit + 1) for digit in digits)):
            factors = [(-1) ** (k - h) * math.comb(k, h) for k, h in zip(digits, path, strict=True)]
            scaled = math.prod(factors)
            total = [x + scaled * y for x, y in zip(total, series[path], strict=True)]
        orders.append(next((i for i, a in enumerate(total) if a), -1))
    require(orders == exhibit["orders"], "other orders")
    require(-1 not in orders and len(set(orders)) == len(orders), "the orders must be distinct")


def rank_of(rows: Rows) -> int:
    """How many rows are no combination of those before them, by elimination."""
    reduced = list[tuple[int, list[Fraction]]]()
    for row in rows:
        rest = row
        for place, other in reduced:
            ratio = rest[place] / other[place]
            rest = [x - ratio * y for x, y in zip(rest, other, strict=True)] if ratio else rest
        place = next((i for i, x in enumerate(rest) if x), None)
        if place is not None:
            reduced.append((place, rest))
    return len(reduced)


def independent(rows: Rows) -> bool:
    """Whether no row is a combination of the others."""
    return rank_of(rows) == len(rows)


def check_targets_span(exhibit: Any) -> None:
    """Targets near the stated one: independent path vectors, and weight tensors that span."""
    heads, layers, shift = exhibit["heads"], exhibit["layers"], Fraction(exhibit["shift"])
    plain, shown = binomial_weights(heads), rows_of(exhibit["tensors"])
    chosen = list(itertools.product(range(heads), repeat=layers))
    require(len(shown) == len(chosen), "there must be H^L targets")
    for choice, tensor in zip(chosen, shown, strict=True):
        weights = [[w + shift * (h == q) for h, w in enumerate(plain)] for q in choice]
        products = [math.prod(part, start=Fraction(1)) for part in itertools.product(*weights)]
        require(tensor == products, "a tensor is not that of its target")
        differences = path_differences(weights, series_length(heads, layers))
        require(independent(differences), "a target has dependent path vectors")
    require(independent(shown), "the weight tensors do not span")


# --- dimensions of responses ---------------------------------------------------------------------


def path_slopes(weights: Rows, path: tuple[int, ...]) -> list[Fraction]:
    """Derivatives of the product of a path's weights, by all weights, layer by layer."""
    slopes: list[Fraction] = []
    for layer, row in enumerate(weights):
        others = (weights[k][head] for k, head in enumerate(path) if k != layer)
        rest = math.prod(others, start=Fraction(1))
        slopes += [rest if head == path[layer] else Fraction(0) for head in range(len(row))]
    return slopes


def response_slopes(
    values: list[list[Rows]], row: Rows, column: Rows, path: tuple[int, ...]
) -> list[Fraction]:
    """Derivatives of E R_p U by the coordinates of E and of U."""
    before, after = row, column
    for layer, head in enumerate(path):
        before = product(before, values[layer][head])
    for layer in reversed(range(len(path))):
        after = product(values[layer][path[layer]], after)
    return [*transposed(after)[0], *before[0]]


def check_dimension(exhibit: Any) -> None:
    """Scaling is in the kernel of the responses' Jacobian; the tensors' has L(H-1) + 1 pivots."""
    values = [[rows_of(value) for value in layer] for layer in exhibit["values"]]
    weights, row = rows_of(exhibit["weights"]), rows_of([exhibit["embedding"]])
    column = transposed(rows_of([exhibit["readout"]]))
    heads, layers, width = len(weights[0]), len(weights), len(row[0])
    require([len(layer) for layer in values] == [heads] * layers, "values of another number")
    paths = list(itertools.product(range(heads), repeat=layers))
    responses = [response_slopes(values, row, column, path) for path in paths]
    kernel = [Fraction(x) for x in exhibit["kernel"]]
    require(kernel == [*row[0], *(-x for (x,) in column)], "the kernel is not (E, -U)")
    require(any(kernel), "the kernel vector is 0")
    moved = product(responses, [[x] for x in kernel])
    require(not any(x for (x,) in moved), "scaling moves a response")
    require(rank_of(responses) <= 2 * width - 1, "the responses have too large a rank")
    tensors = [path_slopes(weights, path) for path in paths]
    places = layers * (heads - 1) + 1
    require(rank_of(tensors) == places, f"the tensors' Jacobian has not rank {places}")
    rows, columns = list[int](exhibit["rows"]), list[int](exhibit["columns"])
    require(len(set(rows)) == len(set(columns)) == len(rows) == places, "a minor of another size")
    minor = [[tensors[i][j] for j in columns] for i in rows]
    require(independent(minor), "the minor is 0")


def check_three_heads(exhibit: Any) -> None:
    """No E, U of width 2 respond with the weights w of three heads, R_1 to R_3."""
    heads = [rows_of(value) for value in exhibit["values"]]
    require([[len(r) for r in head] for head in heads] == [[2, 2]] * 3, "not three 2 x 2 matrices")
    rows = [[*head[0], *head[1]] for head in heads]
    weights = [Fraction(x) for x in exhibit["weights"]]
    if rank_of(rows) < len(rows):
        relation = product([weights], rows)[0]
        require(any(weights) and not any(relation), "the weights are not a relation of the values")
        return
    kernel, shift = ([Fraction(x) for x in exhibit[name]] for name in ("kernel", "shift"))
    require(any(kernel), "the kernel is 0")
    require([len(kernel), len(shift)] == [4, 4], "matrices of another shape")
    for head, weight in zip(rows, weights, strict=True):
        require(not sum(map(operator.mul, head, kernel)), "the kernel is not orthogonal")
        require(sum(map(operator.mul, head, shift)) == weight, "the shift has other responses")
    (a, b, c, d), (e, f, g, h) = kernel, shift
    quadratic = [a * d - b * c, a * h + d * e - b * g - c * f, e * h - f * g]
    require(quadratic == [Fraction(x) for x in exhibit["quadratic"]], "another determinant")
    leading, middle, constant = quadratic
    if leading:
        require(middle**2 - 4 * leading * constant < 0, "the determinant has a real root")
    else:
        require(not middle and constant, "the determinant has a real root")


# --- runs of counts ------------------------------------------------------------------------------


def check_runs(exhibit: Any) -> None:
    """The runs of a network of counts: no more than (w + 1)^D, scores affine on each."""
    layers = [
        (rows_of(part["rows"]), [Fraction(x) for x in part["slope"]], part["offset"])
        for part in exhibit["layers"]
    ]
    branches = [[Fraction(x) for x in branch] for branch in exhibit["branches"]]
    counts, width = range(exhibit["longest"] + 1), len(layers[-1][0][0])
    sides, scores = list[list[bool]](), list[Fraction]()
    for count in counts:
        values, seen = [Fraction(0)] * width, list[bool]()
        states: list[Fraction] = []
        for rows, slope, offset in layers:
            states = [
                sum(map(_times, row, values), s * count + Fraction(o))
                for row, s, o in zip(rows, slope, offset, strict=True)
            ]
            seen += [state > 0 for state in states]
            values = [branches[z > 0][0] * z + branches[z > 0][1] for z in states]
        require(len(states) == 1, "the score is not one number")
        scores.append(states[0])
        sides.append(seen[:-1])
    starts = [c for c in counts if c == 0 or sides[c] != sides[c - 1]]
    require(starts == exhibit["runs"], "the runs are other ones")
    require(len(starts) <= (width + 1) ** (len(layers) - 1), "there are too many runs")
    for first, last in itertools.pairwise((*starts, len(counts))):
        for c in range(first, last - 2):
            require(scores[c] + scores[c + 2] == 2 * scores[c + 1], "a score is not affine")
    if exhibit["parity"]:
        signs = all((score > 0) if c % 2 else (score < 0) for c, score in enumerate(scores))
        require(signs and len(counts) <= 2 * len(starts), "the scores do not alternate")


# --- pieces of a ReLU network on a line ----------------------------------------------------------

Lines = list[tuple[Fraction, Fraction]]
"""Slope and offset of each coordinate."""


def along(layer: Any, lines: Lines, unit: int) -> Lines:
    """A layer's coordinates along the line, before any ReLU."""
    rows = rows_of(layer["rows"])
    require(all(len(row) == len(lines) for row in rows), "a layer does not fit the one before it")
    return [
        (
            sum((w * s for w, (s, _) in zip(row, lines, strict=True)), Fraction(0)),
            sum((w * o for w, (_, o) in zip(row, lines, strict=True)), Fraction(b) * unit),
        )
        for row, b in zip(rows, layer["bias"], strict=True)
    ]


def check_pieces(exhibit: Any) -> None:
    """Every piece of a network on a line, how many there may be, and the signs of its score."""
    unit, longest = exhibit["unit"], exhibit["longest"]
    slopes, offsets = (list(map(Fraction, exhibit[name])) for name in ("slope", "offset"))
    start = list(zip(slopes, offsets, strict=True))
    off = Fraction(0)
    found: list[tuple[Fraction, Fraction, Lines]] = [(off, Fraction(longest), start)]
    for layer in exhibit["layers"]:
        parts: list[tuple[Fraction, Fraction, Lines]] = []
        for low, high, lines in found:
            sums = along(layer, lines, unit)
            zeros = sorted({-o / s for s, o in sums if s})
            ends = [low, *(zero for zero in zeros if low < zero < high), high]
            for left, right in itertools.pairwise(ends):
                middle = (left + right) / 2
                on = [(s, o) if s * middle + o > 0 else (off, off) for s, o in sums]
                parts.append((left, right, on))
        found = parts
    widest = max((len(layer["rows"]) for layer in exhibit["layers"]), default=0)
    require(exhibit["pieces"] == len(found), f"there are {len(found)} pieces")
    require(len(found) <= (widest + 1) ** len(exhibit["layers"]), "more pieces than (w + 1)^D")
    plus: int = exhibit["plus"]
    minus: int = exhibit["minus"]
    scores: dict[Fraction, Fraction] = {}
    for low, high, lines in found:
        out = [
            (s + a, o + b)
            for (s, o), (a, b) in zip(along(exhibit["output"], lines, unit), start, strict=True)
        ]
        slope, offset = out[plus][0] - out[minus][0], out[plus][1] - out[minus][1]
        require(scores.get(low, slope * low + offset) == slope * low + offset, "the score jumps")
        inner = range(math.ceil(low), math.floor(high) + 1)
        scores |= {place: slope * place + offset for place in (*map(Fraction, inner), high)}
    signs = [scores[Fraction(place)] for place in range(longest + 1)]
    changes = sum(a * b < 0 for a, b in itertools.pairwise(signs))
    require(exhibit["sign_changes"] == changes, f"the score changes its sign {changes} times")
    require(changes <= len(found), "more sign changes than pieces")
    if exhibit["parity"]:
        require(signs[0] < 0 and changes == longest, "the score does not show the parity")


# --- machines: the parity network in floating point ----------------------------------------------

PRECISIONS = {"bfloat16": (8, 24), "float16": (11, 24), "float32": (24, 53), "float64": (53, 0)}
MOST_READINGS = 30_000

Interval = tuple[int, int]


def rounded_ratio(above: int, below: int, digits: int) -> int:
    """The whole number next to above / below with so many binary digits, ties to even."""
    spare = max(0, (abs(above) // below).bit_length() - digits)
    whole, rest = divmod(above, below << spare)
    half = (below << spare) - 2 * rest
    return (whole + (half < 0 or (half == 0 and whole & 1))) << spare


@dataclass(frozen=True)
class RoundedParity:
    """One network, K and s, in so many digits, for contexts of m tokens.

    All numbers are whole multiples of the last place of y = fl(1/m); 1 is 2^unit of them.
    """

    digits: int
    inner: int
    way: str
    levels: int
    scale: int
    context: int

    @cached_property
    def unit(self) -> int:
        """Binary places after the point."""
        return self.digits - 1 + (self.context - 1).bit_length()

    @cached_property
    def share(self) -> int:
        """The number y."""
        return rounded_ratio(1 << self.unit, self.context, self.digits)

    def near(self, number: int) -> int:
        """A number rounded."""
        if number.bit_length() <= self.digits:
            return number
        return rounded_ratio(number, 1, self.digits)

    def means(self) -> list[Interval]:
        """The least and the largest mean of 0, 1, .. ones, over all orders of the tokens."""
        if self.way == "pairwise":
            return self.halves(self.context)[: self.context]
        if self.way in ("once", "equality"):
            counts = [count << self.unit for count in range(self.context)]
            means = [rounded_ratio(count, self.context, self.digits) for count in counts]
            return [(mean, mean) for mean in means]
        inner = self.inner if self.way == "wider" else self.digits
        sums = [0]
        for _ in range(self.context - 1):
            sums.append(rounded_ratio(sums[-1] + self.share, 1, inner))
        return [(self.near(total), self.near(total)) for total in sums]

    def halves(self, size: int) -> list[Interval]:
        """The least and the largest sum over a balanced tree, by the number of ones."""
        if size == 1:
            return [(0, 0), (self.share, self.share)]
        right = self.halves(size // 2)
        left = right if size % 2 == 0 else self.halves(size - size // 2)
        sums: list[list[Interval]] = [[] for _ in range(size + 1)]
        for (a, (low, high)), (b, (least, most)) in itertools.product(
            enumerate(left), enumerate(right)
        ):
            sums[a + b].append((low + least, high + most))
        return [(self.near(min(s)[0]), self.near(max(h for _, h in s))) for s in sums]

    def tree(self, order: str) -> int:
        """The sum over a balanced tree with these ones and zeros at its leaves."""
        if len(order) == 1:
            return self.share * int(order)
        half = (len(order) + 1) // 2
        return self.near(self.tree(order[:half]) + self.tree(order[half:]))

    def reads(self, count: int, mean: Interval) -> bool:
        """Whether the parity of the count is right from every mean of the interval."""
        low, high = mean
        for level in reversed(range(self.levels)):
            middle = self.share << level
            first = self.near(low - middle)
            ends = first, first if low == high else self.near(high - middle)
            low = 0 if ends[0] < 0 < ends[1] else min(map(abs, ends))
            high = max(map(abs, ends))
        if self.way == "equality":
            asked = self.share if count % 2 else 0
            return {self.near(self.share - end) for end in (low, high)} == {asked}
        least, most = (self.near(2 * self.scale * (self.share - 2 * end)) for end in (high, low))
        if count % 2 == 0:
            return most <= 0
        return 1 << self.unit <= least and most <= 1 << (self.unit + self.digits)


def enough_precision(way: str, longest: int, digits: int, inner: int) -> bool:
    """The proved condition on S."""
    levels, _ = levels_and_scale(longest)
    loads = {
        "wider": 8 * longest,
        "once": 18 * longest,
        "pairwise": 9 * (levels + 1) * longest,
        "sequential": 9 * longest * longest,
    }
    if way not in loads or (way == "wider" and longest > 1 << (inner - digits)):
        return False
    return loads[way] + 10 * (1 << levels) <= 2 << digits


def networks_up_to(longest: int) -> list[tuple[int, int, int]]:
    """K and s, and the longest context, of each network that serves windows up to a length."""
    found = {levels_and_scale(size): size + 1 for size in range(1, longest + 1)}
    return [(levels, scale, context) for (levels, scale), context in found.items()]


def check_precision_frontier(exhibit: Any) -> None:
    """The first failure as it stands, the bound, and what is read up to the frontier.

    All contexts and counts if they are few (16 bits but for the longest windows of float16), else
    contexts drawn from a seed, each with all its counts; trees above the size drawn are left out.
    """
    name, way, frontier = exhibit["format"], exhibit["way"], exhibit["frontier"]
    digits, inner = PRECISIONS[name]
    require(exhibit["digits"] == digits, f"{name} has {digits} digits")
    bound, failure = exhibit["bound"], exhibit["failure"]
    require(
        (bound == 0 or enough_precision(way, bound, digits, inner))
        and not enough_precision(way, bound + 1, digits, inner),
        f"{bound} is not the largest S that meets the condition",
    )
    if failure is None:
        require(frontier == exhibit["limit"], "the search ended before its limit")
    else:
        require(bound <= frontier < exhibit["limit"], "the bound exceeds what was found")
        require(failure["longest"] == frontier + 1, "the frontier is not before the failure")
        require(not read_failure(failure, digits, inner, way), "the failure is read rightly")
    drawn = random.Random(f"{name} {way}")  # noqa: S311 - a choice of samples, no secret
    pairs = [
        (levels, scale, context)
        for levels, scale, longest in networks_up_to(frontier)
        for context in range(1, longest + 1)
    ]
    if sum(context for _, _, context in pairs) > MOST_READINGS:
        drawn.shuffle(pairs)
    left = MOST_READINGS
    for levels, scale, context in pairs:
        left -= context * context // 40 if way == "pairwise" else context
        if left < 0:
            break
        network = RoundedParity(digits, inner, way, levels, scale, context)
        for count, mean in enumerate(network.means()):
            require(network.reads(count, mean), f"{count} of {context} tokens are misread")


def read_failure(failure: Any, digits: int, inner: int, way: str) -> bool:
    """Whether the stated failure is read rightly after all."""
    count: int = failure["count"]
    context, order = failure["context"], failure["order"]
    require(0 <= count < context <= failure["longest"] + 1, "no such count or context")
    network = RoundedParity(digits, inner, way, *levels_and_scale(failure["longest"]), context)
    if way != "pairwise":
        return network.reads(count, network.means()[count])
    require(len(order) == context and order.count("1") == count, "the order has other ones")
    total = network.tree(order)
    return network.reads(count, (total, total))


def check_wraparound(exhibit: Any) -> None:
    """Bits by XOR over the tokens; the next token from one token for each bit that is 1."""
    shown = exhibit["displayed"].split()
    odd: set[str] = set()
    for symbol in shown:
        odd ^= {symbol}
    require(exhibit["bits"] == [int(symbol in odd) for symbol in ("a", "b", MARKER)], "other bits")
    require(("next" in exhibit) == (shown.count(MARKER) <= 1), "two markers have no next token")
    label = ("N", (exhibit["state"],))
    for context in (shown, sorted(odd)) if "next" in exhibit else ():
        tokens: list[Any] = [(symbol, label) for symbol in context]
        display, after, bit = transformer_token(
            tokens or [("", label)], numbered_delta(exhibit["machine"]), "a"
        )
        require(exhibit["next"] == [display, label_text(after), bit], "another next token")


# --- windows of a minimal transformer -------------------------------------------------------------

BOX_PLACES = 40
SLOPE_PLACES = 16
MOST_PARTS = 256
TOKENS, OPERATOR, SHORTEST_WINDOW = 12, 11, 2
PARAMETERS = 250
EVEN, OTHER = range(0, OPERATOR, 2), [1, 3, 5, 7, 9, OPERATOR]

Whole3 = tuple[int, int, int]
"""first * y_1 + second * y_2 + constant."""
PlaneBox = tuple[int, int, int, int]
"""Least and greatest of both coordinates."""


def least_over(line: Whole3, box: PlaneBox) -> int:
    """The least value of a linear function over a box."""
    return line[2] + sum(line[axis] * box[2 * axis + (line[axis] < 0)] for axis in range(2))


def greatest_over(line: Whole3, box: PlaneBox) -> int:
    """The greatest value of a linear function over a box."""
    return -least_over((-line[0], -line[1], -line[2]), box)


class MinimalModel:
    """A minimal transformer, from its exact weights."""

    def __init__(self, weights: Any) -> None:
        """Read the weights; shapes must fit."""
        self.weights = {name: rows_of(rows) for name, rows in weights.items()}
        w = self.weights
        hidden, context = len(w["b_1"][0]), len(w["P"])
        shapes = {
            "E": (TOKENS, 2), "P": (context, 2), "W_Q": (2, 2), "W_K": (2, 2), "W_V": (2, 2),
            "W_1": (2, hidden), "b_1": (1, hidden), "W_2": (hidden, 2), "b_2": (1, 2),
            "U": (2, TOKENS), "c": (1, TOKENS),
        }  # fmt: skip
        found = {name: (len(rows), len(rows[0])) for name, rows in w.items()}
        require(found == shapes, f"tensors of shapes {found}, not {shapes}")
        names = ("W_1", "b_1", "W_2", "b_2", "U", "c")
        entries = [x for name in names for row in w[name] for x in row]
        self.places = max(x.denominator.bit_length() - 1 for x in entries)
        self.whole = {name: [[self._scaled(x) for x in row] for row in w[name]] for name in names}

    def _scaled(self, x: Fraction) -> int:
        scaled = x * (1 << self.places)
        require(scaled.denominator == 1, "a weight is not dyadic")
        return int(scaled)

    def at(self, place: int, name: str) -> Rows:
        """[token]: what a matrix makes of token and position."""
        embedded = [[x + p for x, p in zip(row, self.weights["P"][place], strict=True)]
                    for row in self.weights["E"]]  # fmt: skip
        return product(embedded, self.weights[name]) if name else embedded

    def label(self, box: PlaneBox, required: int) -> str:
        """What holds at every point of a box, which is halved where that is not seen at once."""
        waiting, parts, found = [box], 0, set[str]()
        while waiting:
            part = waiting.pop()
            parts += 1
            label = self._label_at_once(part, required)
            if label:
                found.add(label)
                continue
            require(parts < MOST_PARTS, "a box is not seen to have one label")
            axis = 0 if part[1] - part[0] >= part[3] - part[2] else 1
            middle = (part[2 * axis] + part[2 * axis + 1]) // 2
            low, high = list(part), list(part)
            low[2 * axis + 1] = high[2 * axis] = middle
            waiting += [(low[0], low[1], low[2], low[3]), (high[0], high[1], high[2], high[3])]
        require(len(found) == 1, "parts of a box have different labels")
        return found.pop()

    def _label_at_once(self, box: PlaneBox, required: int) -> str:
        others = [token for token in range(TOKENS) if token != required]
        neurons = list(self._neurons(box))
        if all(self._lead(box, neurons, required, other) > 0 for other in others):
            return "right"
        if any(self._lead(box, neurons, other, required) >= 0 for other in others):
            return "wrong"
        return ""

    def _neurons(self, box: PlaneBox) -> Iterator[tuple[list[int], Whole3, Whole3]]:
        """For each neuron its output row, and lines below and above its ReLU over the box."""
        w, one = self.whole, 1 << SLOPE_PLACES
        (bias,) = w["b_1"]
        for first, second, shift, out in zip(*w["W_1"], bias, w["W_2"], strict=True):
            line = (first, second, shift << BOX_PLACES)
            low, high = least_over(line, box), greatest_over(line, box)
            if high <= 0:
                continue
            if low >= 0:
                below, slope, rise = one, one, 0
            else:
                below = one if high > -low else 0
                slope = (high << SLOPE_PLACES) // (high - low)
                rise = max(-slope * low, (one - slope) * high)
            a, b, c = line
            yield (
                out,
                (below * a, below * b, below * c),
                (slope * a, slope * b, slope * c + rise),
            )

    def _lead(
        self,
        box: PlaneBox,
        neurons: list[tuple[list[int], Whole3, Whole3]],
        one: int,
        other: int,
    ) -> int:
        """A lower bound of one logit less another over a box; only its sign has a meaning."""
        w, up = self.whole, self.places + SLOPE_PLACES
        across = [row[one] - row[other] for row in w["U"]]
        constant = (w["c"][0][one] - w["c"][0][other]) << (self.places + BOX_PLACES)
        constant += sum(x * y for x, y in zip(across, w["b_2"][0], strict=True)) << BOX_PLACES
        sums = [across[0] << up, across[1] << up, constant << SLOPE_PLACES]
        sums = [sums[0] << self.places, sums[1] << self.places, sums[2] << self.places]
        for out, below, above in neurons:
            weight = across[0] * out[0] + across[1] * out[1]
            line = below if weight > 0 else above
            sums = [x + weight * y for x, y in zip(sums, line, strict=True)]
        return least_over((sums[0], sums[1], sums[2]), box)


class MinimalLength:
    """What the windows of a length read: weights around their exponentials, and values."""

    def __init__(self, model: MinimalModel, length: int) -> None:
        """Tables by position and token."""
        self.model, self.length = model, length
        query = model.at(length - 1, "W_Q")[OPERATOR]
        self.scores = [
            [sum(map(_times, query, key), Fraction(0)) for key in model.at(place, "W_K")]
            for place in range(length)
        ]
        self.values = [model.at(place, "W_V") for place in range(length)]
        self.stream = model.at(length - 1, "")[OPERATOR]
        self.largest = max(map(max, self.scores))
        spread = self.largest - min(map(min, self.scores))
        require(spread < 1 << 12, "scores are too far apart")
        self.balls = Balls(128 + 2 * math.ceil(spread))
        self.exponentials = [[self.exponential(self.balls, x) for x in row] for row in self.scores]

    def exponential(self, balls: Balls, score: Fraction) -> Ball:
        """exp((score - largest) / sqrt 2)."""
        root: Ball = math.isqrt(1 << (2 * balls.scale - 1)), 1
        return balls.exp(balls.times(balls.of(score - self.largest), root))

    def within(self, allowed: list[list[int]], box: PlaneBox) -> bool:
        """Whether the stream at the last token is in the box, for all windows of a set."""
        for axis in range(2):
            for side in (0, 1):
                end = Fraction(box[2 * axis + side], 1 << BOX_PLACES) - self.stream[axis]
                sign, most = 2 * side - 1, Fraction(0)
                for place, tokens in enumerate(allowed):
                    most += max(self._pull(place, token, axis, end, sign) for token in tokens)
                if most > 0:
                    return False
        return True

    def _pull(self, place: int, token: int, axis: int, end: Fraction, sign: int) -> Fraction:
        middle, radius = self.exponentials[place][token]
        beyond = sign * (self.values[place][token][axis] - end)
        return (middle + radius if beyond > 0 else max(middle - radius, 0)) * beyond

    def judged(self, window: list[int], required: int) -> str:
        """The label of one window, from signs of sums over its places."""
        w, scores = self.model.weights, [self.scores[i][t] for i, t in enumerate(window)]
        plane = [
            [x + y for x, y in zip(self.stream, self.values[place][token], strict=True)]
            for place, token in enumerate(window)
        ]
        after = [[y + b for y, b in zip(point, w["b_2"][0], strict=True)] for point in plane]
        for first, second, bias, out in zip(*w["W_1"], w["b_1"][0], w["W_2"], strict=True):
            states = [first * y + second * z + bias for y, z in plane]
            if self.sign(states, scores) > 0:
                after = [
                    [z + state * x for z, x in zip(point, out, strict=True)]
                    for point, state in zip(after, states, strict=True)
                ]
        for other in set(range(TOKENS)) - {required}:
            across = [row[required] - row[other] for row in w["U"]]
            shift = w["c"][0][required] - w["c"][0][other]
            leads = [sum(map(_times, across, point), shift) for point in after]
            if self.sign(leads, scores) <= 0:
                return "wrong"
        return "right"

    def sign(self, factors: list[Fraction], scores: list[Fraction]) -> int:
        """The sign of the sum of factors times exp(score / sqrt 2).

        It is 0 only if the factors of equal scores add up to 0 (Lindemann and Weierstrass).
        """
        grouped: dict[Fraction, Fraction] = {}
        for factor, score in zip(factors, scores, strict=True):
            grouped[score] = grouped.get(score, Fraction(0)) + factor
        left = {score: factor for score, factor in grouped.items() if factor}
        if not left:
            return 0
        for doublings in range(6):
            balls = Balls(self.balls.scale << doublings)
            middle, radius = balls.total(
                [
                    balls.times(balls.of(factor), self.exponential(balls, score))
                    for score, factor in left.items()
                ]
            )
            if abs(middle) > radius:
                return 1 if middle > 0 else -1
        raise RejectedError("a sum of exponentials is too near 0 to be told from it")


def check_window_cover(exhibit: Any) -> None:
    """Trees of sets that hold every window of each length once, each set with one label."""
    model = MinimalModel(exhibit["weights"])
    for part in exhibit["lengths"]:
        length = part["length"]
        require(
            SHORTEST_WINDOW <= length <= len(model.weights["P"]),
            "a length is not within the context",
        )
        reading, counts = MinimalLength(model, length), {"right": 0, "wrong": 0}
        groups = [(place, even) for place in range(length - 1) for even in EVEN]
        require(len(part["groups"]) == len(groups), "there must be a tree for each group")
        for (place, even), tree in zip(groups, part["groups"], strict=True):
            allowed = [list(range(TOKENS)) for _ in range(place)]
            allowed += [[even], *([*OTHER] for _ in range(length - place - 2)), [OPERATOR]]
            count_leaves(reading, tree, allowed, even, counts)
        require(counts == {name: part[name] for name in counts}, "the counts are other ones")
        every = TOKENS ** (length - 1) - len(OTHER) ** (length - 1)
        require(sum(counts.values()) == every, "windows are left out")


def count_leaves(
    reading: MinimalLength, tree: Any, allowed: list[list[int]], even: int, counts: dict[str, int]
) -> None:
    """Adds the windows of each leaf to its label's count, when the leaf is seen to have it."""
    if "at" in tree:
        at: int = tree["at"]
        parts: list[tuple[list[int], Any]] = tree["parts"]
        listed = [token for tokens, _ in parts for token in tokens]
        require(sorted(listed) == sorted(allowed[at]), "the parts do not hold each token once")
        for tokens, below in parts:
            require(tokens, "a part is empty")
            count_leaves(reading, below, [*allowed[:at], tokens, *allowed[at + 1 :]], even, counts)
        return
    box, label = tree["box"], tree["label"]
    if box is None:
        require(all(len(tokens) == 1 for tokens in allowed), "only single windows have no box")
        found = reading.judged([token for (token,) in allowed], even)
    else:
        require(reading.within(allowed, (box[0], box[1], box[2], box[3])), "a box is too small")
        found = reading.model.label((box[0], box[1], box[2], box[3]), even)
    require(found == label, f"a set labelled {label} is {found}")
    counts[label] += math.prod(len(tokens) for tokens in allowed)


def check_geometry(exhibit: Any) -> None:
    """A reading of the geometry at one length."""
    model, length = MinimalModel(exhibit["weights"]), exhibit["length"]
    reading, name = MinimalLength(model, length), exhibit["reading"]
    scores, before = reading.scores, range(length - 1)
    if name == "even":
        evens = [scores[place][token] for place in before for token in EVEN]
        others = [scores[place][token] for place in before for token in OTHER]
        require(min(evens) > max(*others, scores[-1][OPERATOR]), "an even number is outweighed")
    elif name == "later":
        rows = [[scores[place][token] for token in EVEN] for place in before]
        rising = all(max(one) < min(two) for one, two in itertools.pairwise(rows))
        require(rising, "an earlier even number outweighs")
    else:
        require(name in ("share", "value", "region"), f"no reading {name!r}")
        groups = [(place, even) for place in before for even in EVEN]
        boxes = exhibit["boxes"] if name == "region" else [None] * len(groups)
        require(len(boxes) == len(groups), "there must be a box for each group")
        for (place, even), box in zip(groups, boxes, strict=True):
            allowed = [list(range(TOKENS)) for _ in range(place)]
            allowed += [[even], *([*OTHER] for _ in range(length - place - 2)), [OPERATOR]]
            check_reading(reading, name, place, allowed, box)


def check_reading(
    reading: MinimalLength, name: str, place: int, allowed: list[list[int]], box: Any
) -> None:
    """A reading for the windows whose last even number stands at a place."""
    (even,) = allowed[place]
    if name == "share":
        middle, radius = reading.exponentials[place][even]
        others = sum(
            max(sum(reading.exponentials[at][token]) for token in tokens)
            for at, tokens in enumerate(allowed)
            if at != place
        )
        require(middle - radius > others, "the last even number may get half or less")
        return
    if name == "value":
        unit = 1 << BOX_PLACES
        ends = [
            (x + y) * unit for x, y in zip(reading.stream, reading.values[place][even], strict=True)
        ]
        box = [end for x in ends for end in (math.floor(x), math.ceil(x))]
    else:
        require(reading.within(allowed, (box[0], box[1], box[2], box[3])), "a box is too small")
    found = reading.model.label((box[0], box[1], box[2], box[3]), even)
    require(found == "right", "a point is predicted otherwise")


def check_parameters(exhibit: Any) -> None:
    """Shapes with 250 entries in all, and a head in the plane."""
    require(sum(math.prod(shape) for shape in exhibit.values()) == PARAMETERS, "another number")
    require(all(exhibit[name] == [2, 2] for name in ("W_Q", "W_K", "W_V")), "not in the plane")


# --- learning: balanced strings and hops -----------------------------------------------------


def is_balanced(text: str) -> bool:
    """Whether the depth never falls below 0 and ends there."""
    depth = 0
    for symbol in text:
        depth += 1 if symbol == "(" else -1
        if depth < 0:
            return False
    return depth == 0


def check_equation(exhibit: Any) -> None:
    """Both sides of an equation have one value at a point."""
    left, right = (
        sum(
            (
                math.prod((Fraction(exhibit["point"][name]) for name in word), start=factor)
                for word, factor in expand(exhibit[side], True).items()
            ),
            Fraction(0),
        )
        for side in ("left", "right")
    )
    require(left == right, f"the left side is {left}, the right one {right}")


def check_dyck_sequences(exhibit: Any) -> None:
    """A string of 1..2P parentheses, ?, ) if it is balanced and else (, zeros up to 2P + 3."""
    most = 2 * exhibit["pairs"]
    for sequence in exhibit["sequences"]:
        text = sequence[: sequence.index("?")]
        require(1 <= len(text) <= most and set(text) <= set("()"), "no string of parentheses")
        rest = "?" + "(" + "0" * (most + 1 - len(text))
        if is_balanced(text):
            rest = rest.replace("(", ")")
        require(sequence[len(text) :] == rest, f"another answer or other padding behind {text}")


def check_dyck_strings(exhibit: Any) -> None:
    """All balanced strings of a length, in lexical order."""
    every = map("".join, itertools.product("()", repeat=exhibit["length"]))
    require(exhibit["balanced"] == list(filter(is_balanced, every)), "other strings are balanced")


def check_dyck_derivations(exhibit: Any) -> None:
    """Balanced strings of the numbers of pairs that were asked for."""
    for pairs, text in zip(exhibit["pairs"], exhibit["strings"], strict=True):
        require(set(text) == set("()") and is_balanced(text), f"{text} is not balanced")
        require(len(text) == 2 * pairs, f"{text} has not {pairs} pairs")


def check_dyck_baselines(exhibit: Any) -> None:
    """How many labels counting gets right, and how many counting with a look at both ends."""
    strings, right = exhibit["strings"], dict.fromkeys(("count", "count and ends"), 0)
    for text in strings:
        counted = text.count("(") == text.count(")")
        right["count"] += counted == is_balanced(text)
        framed = counted and text[0] == "(" and text[-1] == ")"
        right["count and ends"] += framed == is_balanced(text)
    require(exhibit["right"] == right, "other numbers of labels are right")
    for name, (least, most) in exhibit["shares"].items():
        share = Fraction(right[name], len(strings))
        require(Fraction(least) <= share <= Fraction(most), f"'{name}' is outside its bounds")


HOP_LETTERS, NO_TARGET, BLANK_TARGET, FIRST_LETTER = range(4), 4, 5, 17


def hop_targets(text: list[int], hops: int) -> list[int]:
    """0 hops give the character, one more what fewer give behind its last occurrence."""
    behind = [
        max((j + 1 for j in range(place) if text[j] == letter), default=None)
        for place, letter in enumerate(text)
    ]
    targets = text
    for _ in range(hops):
        targets = [NO_TARGET if place is None else targets[place] for place in behind]
    return targets


def hop_strings(length: int) -> Iterator[list[int]]:
    """All strings of characters in lexical order."""
    return map(list, itertools.product(HOP_LETTERS, repeat=length))


def neighbours_differ(text: list[int]) -> bool:
    """Whether no character is followed by itself."""
    return all(map(operator.ne, text, text[1:]))


def check_hop_sequences(exhibit: Any) -> None:
    """Tokens: query and characters of which no neighbours are equal, a blank and the targets."""
    hops = exhibit["hops"]
    for inputs, targets in zip(exhibit["inputs"], exhibit["targets"], strict=True):
        text = [token - FIRST_LETTER for token in inputs[1:]]
        require(inputs[0] == hops, "another query")
        require(set(text) <= set(HOP_LETTERS) and neighbours_differ(text), "not such characters")
        wanted = [FIRST_LETTER + target for target in (BLANK_TARGET, *hop_targets(text, hops))]
        require(targets == wanted, "other targets")


def check_hop_strings(exhibit: Any) -> None:
    """The hash of the targets of all strings of a length, a line each, with a blank before them."""
    lines = (hop_targets(text, exhibit["hops"]) for text in hop_strings(exhibit["length"]))
    text = "\n".join("_" + "".join("abcd-"[target] for target in line) for line in lines)
    require(exhibit["sha256"] == sha256(text.encode()).hexdigest(), "other targets")


def check_hop_baselines(exhibit: Any) -> None:
    """Targets that do not exist, are the character that is read, and are another."""
    right = dict.fromkeys(("missing", "current", "others"), 0)
    for text in filter(neighbours_differ, hop_strings(exhibit["length"])):
        for letter, target in zip(text, hop_targets(text, exhibit["hops"]), strict=True):
            missing = target == NO_TARGET
            right["missing" if missing else "current" if target == letter else "others"] += 1
    require({name: exhibit[name] for name in right} == right, "the targets are counted otherwise")


EXHIBITS: dict[str, Callable[[Any], None]] = {
    "equation": check_equation,
    "fixed-parameters": check_fixed_parameters,
    "folded-parameters": check_folded_parameters,
    "block-parameters": check_block_parameters,
    "block-width": check_block_width,
    "draw-rank": check_draw_rank,
    "encoding": check_encoding,
    "reencoding": check_reencoding,
    "reencoded-runs": check_reencoded_runs,
    "width": check_width,
    "simulation": check_simulation,
    "factor-moves-out": check_factor_moves_out,
    "factorisation": check_factorisation,
    "vanishing-paths": check_vanishing_paths,
    "independent-paths": check_independent_paths,
    "zero-input": check_zero_input,
    "large-output": check_large_output,
    "shifted-output": check_shifted_output,
    "queue-run": check_queue_run,
    "window-run": check_window_run,
    "context": check_context,
    "words": check_words,
    "relu-parity": check_relu_parity,
    "relu-network": check_relu_network,
    "relu-blocks": check_relu_blocks,
    "pieces": check_pieces,
    "runs": check_runs,
    "two-types": check_two_types,
    "logistic-derivative": check_logistic_derivative,
    "difference": check_difference,
    "path-series": check_path_series,
    "targets-span": check_targets_span,
    "dimension": check_dimension,
    "three-heads": check_three_heads,
    "meeting": check_meeting,
    "independence": check_independence,
    "precision-frontier": check_precision_frontier,
    "wraparound": check_wraparound,
    "chain": check_chain,
    "parameters": check_parameters,
    "window-cover": check_window_cover,
    "geometry": check_geometry,
    "dyck-sequences": check_dyck_sequences,
    "dyck-strings": check_dyck_strings,
    "dyck-derivations": check_dyck_derivations,
    "dyck-baselines": check_dyck_baselines,
    "hop-sequences": check_hop_sequences,
    "hop-strings": check_hop_strings,
    "hop-baselines": check_hop_baselines,
}


# --- kinds of certificates -------------------------------------------------------------------


@dataclass(frozen=True)
class Item:
    """One certificate, with what the record says of its check."""

    content: dict[str, Any]
    check: dict[str, Any]
    solver: str | None

    def fields(self, *names: str) -> list[Any]:
        """The content's fields; there must be these and no others."""
        require(set(self.content) == set(names), f"fields {sorted(self.content)} are not {names}")
        return [self.content[name] for name in names]


Outcome = tuple[str, str]


def recheck_identity(item: Item) -> Outcome:
    """Expand both sides of every equation."""
    (equations,) = item.fields("equations")
    require(len(equations) == item.check["instances"], "another number of equations")
    for equation in equations:
        require(
            set(equation) == {"name", "left", "right", "commutative"},
            "an equation has other fields",
        )
        left, right = (
            without_zeros(expand(equation[side], bool(equation["commutative"])))
            for side in ("left", "right")
        )
        require(left == right, f"the sides of {equation['name']!r} differ")
    names = [equation["name"] for equation in equations]
    require(names == item.check["evidence"]["equations"], "the record names other equations")
    return ACCEPTED, f"{len(equations)} identities expanded"


def recheck_smt(item: Item) -> Outcome:
    """The goals are the record's; a solver is asked only if one is named."""
    (goals,) = item.fields("goals")
    stated = [(row["name"], row["smtlib_sha256"]) for row in item.check["evidence"]["goals"]]
    given = [(goal["name"], sha256(goal["smtlib"].encode()).hexdigest()) for goal in goals]
    require(stated == given, "the goals are not those of the record")
    if item.solver is None:
        return NOT_RECHECKED, f"{len(goals)} SMT goals need --solver NAME"
    for goal in goals:
        require(goal["smtlib"].count("(check-sat)") == 1, "a goal must ask once")
        answer = ask(item.solver, goal["smtlib"])
        require(answer == "unsat", f"{item.solver} answers {answer!r} to {goal['name']!r}")
    return ACCEPTED, f"{len(goals)} goals found valid by {item.solver}"


def _exhibits(kind: str, exhibits: Any) -> str:
    check = EXHIBITS.get(kind)
    if check is None:
        return ""
    for number, exhibit in enumerate(exhibits):
        try:
            check(exhibit)
        except RejectedError as error:
            raise RejectedError(f"instance {number}: {error}") from error
    return f"{len(exhibits)} instances by the definitions of {kind!r}"


def recheck_exhaustive(item: Item) -> Outcome:
    """Every instance that the certificate shows, by plain definitions."""
    kind, exhibits = item.fields("rechecked_as", "instances")
    require(len(exhibits) == item.check["instances"], "another number of instances than recorded")
    done = _exhibits(kind, exhibits)
    return (ACCEPTED, done) if done else (NOT_RECHECKED, f"no plain definitions of {kind!r}")


def recheck_witness(item: Item) -> Outcome:
    """The exhibited object, by plain definitions."""
    return recheck_exhaustive(item)


def recheck_sampled(item: Item) -> Outcome:
    """The instances that a search shows; the search itself has no certificate."""
    kind, exhibits, tried, seed = item.fields("rechecked_as", "instances", "tried", "seed")
    evidence = item.check["evidence"]
    require((tried, seed) == (evidence["tried"], evidence["seed"]), "another search than recorded")
    done = _exhibits(kind, exhibits)
    return PARTLY, f"{done or 'no instance'}; the other {tried - len(exhibits)} tried are not shown"


def recheck_counterexample(item: Item) -> Outcome:
    """A counterexample is replayed by the suite; it is only compared here."""
    instance, text, kind, exhibit = item.fields("instance", "text", "rechecked_as", "exhibit")
    evidence = item.check["evidence"]
    require(
        (instance, text) == (evidence["counterexample"], evidence["text"]),
        "another counterexample than recorded",
    )
    if kind not in EXHIBITS or exhibit is None:
        return NOT_RECHECKED, f"no plain definitions of {kind!r}, or an object too broken to show"
    try:
        EXHIBITS[kind](exhibit)
    except RejectedError as error:
        return ACCEPTED, f"the definitions of {kind!r} fail on it: {error}"
    return NOT_RECHECKED, f"the definitions of {kind!r} do not see the fault"


def recheck_enclosure(item: Item) -> Outcome:
    """Fields are compared; instances are enclosed anew where their definitions are known here."""
    kind = item.content.get("rechecked_as", "")
    named = ("rechecked_as",) if kind else ()
    margin, bits, exhibits = item.fields("margin", "bits", "instances", *named)[:3]
    evidence = item.check["evidence"]
    require(len(exhibits) == item.check["instances"], "another number of instances than recorded")
    require(len(exhibits) == evidence["checked"], "another number of instances than checked")
    stated = (evidence["margin"], evidence["bits"])
    require((margin, bits) == stated, "another margin or precision than recorded")
    done = _exhibits(kind, exhibits)
    if done:
        return ACCEPTED, done
    return NOT_RECHECKED, f"{len(exhibits)} instances need special functions"


def recheck_floating(item: Item) -> Outcome:
    """The trials are the record's; figures have no certificate."""
    *said, exhibits = item.fields("tried", "seed", "bound", "held", "instances")
    evidence = item.check["evidence"]
    require(len(exhibits) == item.check["instances"], "another number of trials than recorded")
    require(
        said == [evidence[name] for name in ("tried", "seed", "bound", "held")],
        "other trials or bounds than recorded",
    )
    held: dict[str, int] = {}
    for exhibit in exhibits:
        place = f"{exhibit['dtype']} on {exhibit['device']}"
        held[place] = held.get(place, 0) + 1
    require(held == evidence["held"], "other dtypes or devices than recorded")
    return NOT_RECHECKED, "floating-point runs are repeated by verify, not here"


KINDS: dict[str, Callable[[Item], Outcome]] = {
    "identity": recheck_identity,
    "smt": recheck_smt,
    "exhaustive": recheck_exhaustive,
    "witness": recheck_witness,
    "sampled": recheck_sampled,
    "counterexample": recheck_counterexample,
    "enclosure": recheck_enclosure,
    "floating": recheck_floating,
}


# --- solvers ---------------------------------------------------------------------------------

MODULES = {
    "z3": (
        "import sys, z3; s = z3.SimpleSolver(); s.from_string(sys.stdin.read()); print(s.check())"
    ),
    "cvc5": (
        "import sys, cvc5; s = cvc5.Solver(cvc5.TermManager()); "
        "s.setOption('enum-inst', 'true'); p = cvc5.InputParser(s); "
        "p.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, sys.stdin.read(), 'goal')\n"
        "m = p.getSymbolManager()\n"
        "while not (c := p.nextCommand()).isNull(): print(c.invoke(s, m), end='')"
    ),
}


def solver_command(solver: str, file: str) -> list[str] | None:
    """How to start a solver on a file: as a Python module that can be imported, or a binary."""
    if solver in MODULES and find_spec(solver) is not None:
        return [sys.executable, "-c", MODULES[solver]]
    return None if shutil.which(solver) is None else [solver, file]


def ask(solver: str, script: str) -> str:
    """A solver's answer to a script, from a child process."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "goal.smt2"
        file.write_text(script)
        command = solver_command(solver, str(file))
        if command is None:
            return "no such solver"
        try:
            done = subprocess.run(
                command,
                input=script,
                capture_output=True,
                text=True,
                timeout=SOLVER_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"no answer in {SOLVER_SECONDS} s"
    return done.stdout.strip() or f"exit status {done.returncode}"


# --- the run ---------------------------------------------------------------------------------


def inputs_of(record: Any, number: int, check: Any) -> str:
    """The hash of what a check was given: profile, seed, place, method and scope."""
    given = {name: record[name] for name in ("profile", "seed")}
    given |= {"check": number, "method": check["method"], "scope": check["scope"]}
    return sha256(canonical(given)).hexdigest()


def recheck_file(path: Path, record: Any, claim: Any, number: int, solver: str | None) -> Outcome:
    """One certificate against the record's claim and check."""
    check = claim["checks"][number]
    try:
        value, data = read_json(path)
        body = fields_of(value)
        require(path.stem == sha256(data).hexdigest(), "its name is not the hash of its bytes")
        require(data == canonical(body), "it is not in canonical form")
        require(
            type(body) is dict and set(body) == FIELDS, "it has other fields than a certificate"
        )
        require(body["schema"] == SCHEMA, f"its schema is {body['schema']!r}, not {SCHEMA!r}")
        require(body["claim"] == claim["id"], f"it belongs to claim {body['claim']!r}")
        statement = sha256(claim["statement"].encode()).hexdigest()
        require(body["statement"] == statement, "it belongs to another statement")
        same = body["construction"] == claim["construction"]
        require(same, "it was made by another version of the sources")
        require(body["inputs"] == inputs_of(record, number, check), "its check had other inputs")
        kind = KINDS.get(body["kind"])
        if kind is None:
            raise RejectedError(f"its kind {body['kind']!r} is unknown")
        return kind(Item(body["content"], check, solver))
    except UnreadableError as error:
        return UNREADABLE, str(error)
    except RejectedError as error:
        return REJECTED, str(error)
    except (KeyError, IndexError, TypeError, ValueError, ZeroDivisionError) as error:
        return REJECTED, f"it is malformed: {type(error).__name__}: {error}"


def recheck_run(folder: Path, solver: str | None) -> Iterator[tuple[str, str, str]]:
    """(what, outcome, words) for every certificate that the record names or the folder holds."""
    value, _ = read_json(folder / "record.json")
    record = fields_of(value)
    if record.get("schema") != RECORD_SCHEMA:
        raise UnreadableError(f"is not a record of schema {RECORD_SCHEMA}")
    named: set[str] = set()
    for claim in record["claims"]:
        for number, check in enumerate(claim["checks"]):
            where = check["certificate"]
            if where is None:
                continue
            what = f"{claim['id']} check {number} ({check['method']})"
            if Path(where).parent != Path("certificates"):
                yield what, REJECTED, f"{where} lies outside certificates/"
                continue
            named.add(Path(where).name)
            yield what, *recheck_file(folder / where, record, claim, number, solver)
    for extra in sorted(p.name for p in (folder / "certificates").glob("*") if p.name not in named):
        yield f"certificates/{extra}", REJECTED, "no check of the record names it"


def main(arguments: list[str]) -> int:
    """Report every certificate and return the exit status."""
    solver = None
    if "--solver" in arguments:
        place = arguments.index("--solver")
        solver = arguments[place + 1] if place + 1 < len(arguments) else ""
        arguments = arguments[:place] + arguments[place + 2 :]
    if len(arguments) != 1 or solver == "":
        sys.stderr.write("recheck: one run's folder is required: recheck.py DIR [--solver NAME]\n")
        return 2
    if solver is not None and solver_command(solver, "") is None:
        sys.stderr.write(
            f"recheck: --solver must name z3, cvc5 or a binary on PATH, got {solver!r}; "
            "install it\n"
        )
        return 2
    outcomes = (ACCEPTED, PARTLY, NOT_RECHECKED, REJECTED, UNREADABLE)
    counts: dict[str, int] = dict.fromkeys(outcomes, 0)
    try:
        for what, outcome, words in recheck_run(Path(arguments[0]), solver):
            counts[outcome] += 1
            sys.stdout.write(f"{outcome:13} {what}: {words}\n")
    except (UnreadableError, KeyError, TypeError) as error:
        sys.stderr.write(f"recheck: {arguments[0]}/record.json {error}; run verify first\n")
        return 2
    sys.stdout.write(", ".join(f"{count} {name}" for name, count in counts.items()) + "\n")
    if counts[REJECTED]:
        return 1
    return 3 if counts[UNREADABLE] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
