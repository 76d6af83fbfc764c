"""Transformers with layer normalisation after each sublayer, run with exact roots."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

from verify.definitions.models import PlainLayer, attention, forward
from verify.definitions.plain import Rows, product, require, rows_of


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
    first |= {name: target[name] for name in ("residual", "readout")}
    require(len(last["scale"]) == len(last["shift"]), "the last norm needs a scale per coordinate")
    for inputs in exhibit["inputs"]:
        stream = post_norm_output(first, rows_of(inputs))
        for row in sublayer(target, before, stream):
            require(deviations_of(row, last)[1] > 0, "the last divisor must be positive")
    require(not any(map(Fraction, last["scale"])), "the target's last scale is not 0")
    require(Fraction(last["shift"][0]) > bound, "the target's shift is within the bound")
