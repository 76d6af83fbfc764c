"""Models of few and of enough coordinates, with polynomial relations between their responses.

    narrow  2 m - 1 < N: targets that the model serves are `near`, relations are given
    wide    a model that meets in the middle serves all: only the zero polynomial vanishes

Source: Fixed Universal Transformers, Section 4; the argument is ours.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod

from lowerbounds.dimension_models import (
    ModelPoint,
    Path,
    Rules,
    Values,
    near_first,
)
from lowerbounds.meeting_models import Meeting, Weights
from verify.rational import Matrix
from verify.smtlib import World

Vector = tuple[Fraction, ...]
Side = tuple[int, ...]
"""The entries of E or U."""
Sparse = Mapping[tuple[int, ...], Fraction]
"""A polynomial: the coefficient of each monomial, none of them 0; a monomial lists its factors."""


def multiplied(left: Sparse, right: Sparse) -> Sparse:
    """The product of two polynomials."""
    terms: dict[tuple[int, ...], Fraction] = {}
    for (u, x), (v, y) in itertools.product(left.items(), right.items()):
        monomial = tuple(sorted(u + v))
        terms[monomial] = terms.get(monomial, Fraction(0)) + x * y
    return {monomial: value for monomial, value in terms.items() if value}


def value_at(polynomial: Sparse, vector: Vector) -> Fraction:
    """The polynomial's value."""
    terms = (c * prod(vector[place] for place in part) for part, c in polynomial.items())
    return sum(terms, Fraction(0))


def chosen_weights(vector: Vector, heads: int, layers: int) -> Weights:
    """The weights whose products on the paths near the first one are these; the first is not 0."""
    first, rest = vector[0], heads - 1
    later = (vector[1 + rest * layer : 1 + rest * (layer + 1)] for layer in range(1, layers))
    rows = ((Fraction(1), *(x / first for x in row)) for row in later)
    return ((first, *vector[1 : 1 + rest]), *rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """One model at several targets, those that it must serve, and a relation of its responses."""

    points: tuple[ModelPoint, ...]
    near: tuple[ModelPoint, ...]
    relation: Sparse

    @property
    def paths(self) -> list[Path]:
        """The paths near the first one."""
        values = self.points[0].values
        return near_first(len(values[0]), len(values))

    @property
    def width(self) -> int:
        """The embedding dimension m."""
        return self.points[0].width

    def response(self, point: ModelPoint) -> Vector:
        """The responses on these paths."""
        return tuple(point.response(path) for path in self.paths)

    def tensor(self, point: ModelPoint) -> Vector:
        """The values that the target asks of these paths."""
        rows = (zip(point.weights, path, strict=True) for path in self.paths)
        return tuple(prod((row[h] for row, h in pairs), start=Fraction(1)) for pairs in rows)

    def chosen(self, vector: Vector) -> ModelPoint:
        """The target with this vector, whose first coordinate is not 0."""
        values = self.points[0].values
        weights = chosen_weights(vector, len(values[0]), len(values))
        return replace(self.points[0], weights=weights)

    def chart(self, place: int, rest: Vector) -> Vector:
        """The responses where E_i = 1 and the other coordinates are given."""
        m = self.width
        row = (*rest[: place - 1], Fraction(1), *rest[place - 1 : m - 1])
        sides = {"embedding": Matrix(1, m, row), "readout": Matrix(m, 1, rest[m - 1 :])}
        return self.response(replace(self.points[0], **sides))


def scaled_to_one(point: ModelPoint, place: int, rules: Rules) -> Vector:
    """The coordinates of (s E, s^power U), s = 1 / E_i, without the one that is 1; s = 1 at 0."""
    row = point.embedding.rows()[0]
    scale = 1 / row[place - 1] if row[place - 1] else Fraction(1)
    moved = [x * scale for i, x in enumerate(row) if i != place - 1]
    return (*moved, *(x * scale**rules.readout_power for (x,) in point.readout.rows()))


# --- families --------------------------------------------------------------------------------


def _narrow(values: Values, sides: Sequence[tuple[Side, Side]], relation: Sparse) -> Family:
    """A model at targets that it serves, and at one that it does not."""
    heads, layers, m = len(values[0]), len(values), values[0][0].height
    served: list[ModelPoint] = []
    for row, column in sides:
        point = ModelPoint(
            values=values,
            embedding=Matrix(1, m, row),
            readout=Matrix(m, 1, column),
            weights=((Fraction(0),) * heads,) * layers,
        )
        vector = tuple(point.response(path) for path in near_first(heads, layers))
        weights = chosen_weights(vector, heads, layers) if vector[0] else point.weights
        served.append(replace(point, weights=weights))
    row = tuple(Fraction(h + 1) for h in range(heads))
    other = replace(served[0], weights=(row,) * layers)
    return Family(points=(*served, other), near=tuple(served), relation=relation)


def _one_coordinate() -> Family:
    """H = L = 2, m = 1: values (2, 3) in the first layer and (1, -2) in the second."""
    values = tuple(tuple(Matrix(1, 1, [x]) for x in layer) for layer in ((2, 3), (1, -2)))
    sides = (((2,), (3,)), ((-1,), (2,)), ((0,), (1,)))
    return _narrow(values, sides, {(0,): Fraction(3), (1,): Fraction(-2)})


def _units() -> Family:
    """H = 4, L = 1, m = 2, R_h = e_i e_j^T: responses are the entries of E^T U^T."""
    units = tuple(Matrix.with_ones(2, 2, [h // 2], [h % 2]) for h in range(4))
    sides = (((1, 2), (3, 1)), ((1, 0), (2, 1)), ((0, 0), (1, 1)))
    return _narrow((units,), sides, {(0, 3): Fraction(1), (1, 2): Fraction(-1)})


def _serves_all() -> Family:
    """H = L = 2, m = 2: a model that meets in the middle; the box is around weights 1."""
    model, one = Meeting(heads=2, layers=2), (Fraction(1),)
    close = (Fraction(1), Fraction(5, 4))
    rows = [*itertools.product(close, repeat=2), (Fraction(-2), Fraction(3))]
    points = [
        ModelPoint(
            values=model.values,
            embedding=model.embedding(weights, one),
            readout=model.readout(weights, one),
            weights=weights,
        )
        for weights in itertools.product(rows, repeat=2)
    ]
    near = (p for p in points if all(x in close for row in p.weights for x in row))
    return Family(points=tuple(points), near=tuple(near), relation={})


def serving_worlds(rules: Rules) -> Iterator[World]:
    """A model that serves every target."""
    yield _world(_serves_all(), rules)


def vanishing_worlds(rules: Rules) -> Iterator[World]:
    """Two models of few coordinates, and one that serves every target."""
    for family in (_one_coordinate(), _units(), _serves_all()):
        yield _world(family, rules)


def _world(family: Family, rules: Rules) -> World:
    m, points, first = family.width, family.points, {(0,): Fraction(1)}
    products: list[Sparse] = [first]
    for _ in range(m):
        products.append(multiplied(products[-1], family.relation))
    vectors = dict.fromkeys([family.tensor(w) for w in points] + [family.response(points[0])])
    charts = dict.fromkeys(scaled_to_one(w, i, rules) for w in points for i in range(1, m + 1))
    difference: Sparse = {(0,): Fraction(2), (1,): Fraction(-1)}
    return World(
        sorts={
            "Vec": list(vectors),
            "Poly": [first, difference, family.relation, products[-1]],
            "Weights": points,
            "Point": list(charts),
        },
        integers=range(-1, m + 2),
        symbols={
            "m": m,
            "N": len(family.paths),
            "value": value_at,
            "nonzero": bool,
            "times": multiplied,
            "first": first,
            "relation": lambda _: family.relation,
            "product": products.__getitem__,
            "chart": family.chart,
            "scaled": lambda w, i: scaled_to_one(w, i, rules),
            "near": family.near.__contains__,
            "coordinate": lambda w, i: w.embedding[0, i - 1],
            "tensor": family.tensor,
            "response": family.response,
            "chosen": family.chosen,
        },
        free={"n": range(m), "i": range(1, m + 1), "w": points, "x": list(vectors)},
    )
