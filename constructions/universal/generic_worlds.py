"""The theory of generic draws on actual models: functions of the parameters, at sample points.

A point is a choice of all fixed parameters; the first is the sparse construction, whose minors are
1. A function is known by its values at the sample points, and by whether it is a polynomial.

Source: Fixed Universal Transformers, Section 3.2 and Theorem E.3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import accumulate
from operator import mul

from constructions.universal.definitions import TransformerSize
from constructions.universal.drawn import random_model
from constructions.universal.instances import DenseModel, as_dense, random_matrix, seeded
from constructions.universal.layouts import Layout
from constructions.universal.lemma import padded
from constructions.universal.probes import inner_probe, local_blocks, probe
from verify.rational import Matrix
from verify.smtlib import World


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the parameters: its values at the sample points, and whether a polynomial."""

    values: tuple[Fraction, ...]
    polynomial: bool = True

    def __add__(self, other: Function) -> Function:
        """The sum, point by point."""
        values = tuple(a + b for a, b in zip(self.values, other.values, strict=True))
        return Function(values, self.polynomial and other.polynomial)

    def __mul__(self, other: Function) -> Function:
        """The product, point by point."""
        values = tuple(a * b for a, b in zip(self.values, other.values, strict=True))
        return Function(values, self.polynomial and other.polynomial)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """One size's models at the sample points, and the rows of P_0 that the sparse one selects."""

    size: TransformerSize
    rows: Sequence[int]
    models: tuple[DenseModel, ...]

    @property
    def width(self) -> int:
        """The embedding dimension m."""
        return self.models[0].width

    def function(self, entry: Callable[[DenseModel], Fraction]) -> Function:
        """What the models have at one place."""
        return Function(tuple(entry(model) for model in self.models))


def generic_worlds(layout: Layout, sizes: Sequence[TransformerSize], tied: bool) -> Iterator[World]:
    """Worlds of a construction at some sizes, each with the sparse and two random models."""
    for size in sizes:
        width = layout.least_width(size)
        models = (
            as_dense(layout.build(size, width)),
            random_model(size, seed=1, tied=tied),
            random_model(size, seed=2, tied=tied),
        )
        rows = layout.order(size, width).tolist()
        yield _world(Sampled(size=size, rows=rows, models=models))


def _world(case: Sampled) -> World:
    size, m = case.size, case.width
    layers = range(size.layers + 1)
    widths = size.probe_widths
    probes = {model: [probe(model, t).dense() for t in layers] for model in case.models}
    inner = {
        model: [
            inner_probe(model.layer(t), probe(model, t + 1)).dense() for t in range(size.layers)
        ]
        for model in case.models
    }
    blocks = {
        model: [block for layer in local_blocks(model) for block in layer] for model in case.models
    }
    count = size.layers * size.neurons
    zero = Function((Fraction(0),) * len(case.models))

    def entry(matrices: Callable[[DenseModel], Matrix], i: int, c: int) -> Function:
        first = matrices(case.models[0])
        if not (1 <= i <= first.height and 1 <= c <= first.width):
            return zero
        return case.function(lambda model: matrices(model)[i - 1, c - 1])

    def p(layer: int, i: int, c: int) -> Function:
        return entry(lambda model: probes[model][layer], i, c) if layer in layers else zero

    def q(layer: int, i: int, c: int) -> Function:
        inside = 1 <= layer <= size.layers
        return entry(lambda model: inner[model][layer - 1], i, c) if inside else zero

    def carried(layer: int) -> int:
        return size.inner_width(widths[layer]) if size.residual else 0

    def moves(layer: int, c: int) -> bool:
        return carried(layer) + size.reads < c <= widths[layer - 1]

    def carries(layer: int, c: int) -> bool:
        return 1 <= c <= carried(layer)

    def place(layer: int, c: int) -> int:
        return c - carried(layer) - size.reads - 1

    def column(layer: int, c: int) -> int:
        return c if carries(layer, c) else place(layer, c) % size.inner_width(widths[layer]) + 1

    def reads(layer: int, c: int) -> bool:
        return size.gated and c > (widths[layer] if size.residual else 0)

    def parameter(layer: int, i: int, c: int) -> Function:
        if layer > size.layers:
            return q(layer - size.layers, i, c)
        return p(layer, i, c)

    def value(layer: int, h: int, i: int, j: int) -> Function:
        if not (1 <= layer <= size.layers and 1 <= h <= size.heads):
            return zero
        return entry(lambda model: model.values[layer - 1][h - 1].dense(), i, j)

    @cache
    def partial(layer: int, h: int, i: int, c: int, t: int) -> Function:
        terms = (value(layer, h, i, j) * q(layer, j, c) for j in range(1, t + 1))
        return sum(terms, start=zero)

    def layer_of(block: int) -> int:
        return (block - 1) // size.neurons + 1 if size.gated else 0

    def down(block: int, i: int, j: int) -> Function:
        if not 1 <= block <= count:
            return zero
        layer = layer_of(block)
        row = (block - 1) % size.neurons * widths[layer] + i
        return entry(lambda model: model.downs[layer - 1].dense(), row, j)

    @cache
    def local_partial(block: int, i: int, c: int, t: int) -> Function:
        terms = (down(block, i, j) * p(layer_of(block), j, c) for j in range(1, t + 1))
        return sum(terms, start=zero)

    def square(model: DenseModel, block: int) -> Matrix:
        if block == 0:
            return probes[model][0].select_rows(case.rows)
        return blocks[model][block - 1]

    minors = [
        case.function(lambda model, b=b: square(model, b).determinant()) for b in range(count + 1)
    ]
    products = list(accumulate(minors, mul))
    absolute = Function(tuple(abs(v) for v in p(0, 1, widths[0]).values), polynomial=False)
    points = range(len(case.models))
    invertible = [x for x in points if all(minor.values[x] for minor in minors)]

    def pad(matrix: Matrix) -> Matrix:
        return padded(matrix, m)

    def values(block: int, x: int) -> Matrix:
        inside = 0 <= block <= count
        return pad(square(case.models[x], block)) if inside else Matrix.zero(m, m)

    inverses = {
        values(b, x): pad(square(case.models[x], b).inverse())
        for b in range(count + 1)
        for x in invertible
    }
    selector = pad(Matrix.identity(m).select_rows(case.rows))
    sample = [zero, absolute, minors[0], p(0, 1, 1), p(0, m, widths[0])]
    return World(
        sorts={
            "Fn": sample,
            "Point": points,
            "Mat": [selector, values(0, invertible[-1]), pad(probes[case.models[0]][0])],
        },
        integers=(0, 1, 2, widths[0] - 1, widths[0]),
        symbols={
            "L": size.layers,
            "m": m,
            "blocks": count,
            "theta": 0,
            "at": lambda f, x: f.values[x],
            "polynomial": lambda f: f.polynomial,
            "plus": lambda f, g: f + g,
            "times": lambda f, g: f * g,
            "zero": zero,
            "P": p,
            "Q": q,
            "made": lambda layer, i, c: p(layer - 1, i, c),
            "parameter": parameter,
            "RV": value,
            "RD": down,
            "moves": moves,
            "carries": carries,
            "reads": reads,
            "head": lambda layer, c: place(layer, c) // size.inner_width(widths[layer]) + 1,
            "column": column,
            "partial": partial,
            "local": lambda b, i, c: local_partial(b, i, c, m),
            "localPartial": local_partial,
            "above": layer_of,
            "row": lambda i: case.rows[i - 1] + 1 if 1 <= i <= len(case.rows) else 0,
            "size": lambda b: widths[0] if b == 0 else widths[layer_of(b)],
            "minor": lambda b: minors[b] if 0 <= b <= count else zero,
            "product": lambda b: products[b] if 0 <= b <= count else zero,
            "null": lambda f: f.polynomial and any(f.values),
            "values": values,
            "inverse": lambda matrix: inverses.get(matrix, matrix),
            "unit": lambda b: pad(Matrix.identity(widths[0] if b == 0 else widths[layer_of(b)])),
            "selector": selector,
            "mul": lambda a, b: a @ b,
            "probes": lambda x: pad(probes[case.models[x]][0]),
            "rows": lambda a: selector @ a,
            "C": pad(random_matrix(seeded(1), size.token_width, widths[0])),
        },
        free={
            "k": range(1, size.layers + 1),
            "n": (0, 1),
            "point": points,
            "b0": range(count + 1),
            "i0": (1, 2),
            "c0": (1, widths[0]),
            "h0": (1,),
        },
    )
