"""Path vectors of softmax targets on a grid of sizes are independent."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from verify.definitions.balls import Ball, Balls
from verify.definitions.plain import require, rows_of


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
