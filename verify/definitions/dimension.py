"""Dimensions of responses, from slopes at a point."""

from __future__ import annotations

import itertools
import math
import operator
from fractions import Fraction
from typing import Any

from verify.definitions.plain import Rows, product, require, rows_of, transposed
from verify.definitions.two_types import independent, rank_of


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
    require(
        len(set(rows)) == len(set(columns)) == len(rows) == len(columns) == places,
        "a minor of another size",
    )
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
