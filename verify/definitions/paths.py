"""Spanning bounds: factorisations, sums, and paths that a narrow model cannot see."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

from verify.definitions.plain import Rows, product, require, rows_of, total


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
    square = all(len(value) == len(value[0]) == width for layer in values for value in layer)
    require(square, "values are square matrices of one width")
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
