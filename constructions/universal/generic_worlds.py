"""The theory of generic draws on actual models: functions of the parameters, at sample points.

A point is a choice of all fixed parameters; the first is the sparse construction, whose minors are
1. A function is known by its values at the sample points, and by whether it is a polynomial.

Source: Fixed Universal Transformers, Section 3.2 and Theorem E.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

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


class _Entries:
    """Every function of the theory at a place: what all sampled models have there."""

    def __init__(self, case: Sampled) -> None:
        """Form each model's probes, inner probes and local blocks once."""
        self.case, self.size, self.width = case, case.size, case.width
        self.widths = case.size.probe_widths
        self.zero = Function((Fraction(0),) * len(case.models))
        self.count = case.size.layers * case.size.neurons
        self._partial: dict[tuple[int, ...], Function] = {}
        layers = range(case.size.layers)
        self.probes = [
            [probe(model, layer).dense() for layer in range(case.size.layers + 1)]
            for model in case.models
        ]
        self.inner = [
            [inner_probe(model.layer(t), probe(model, t + 1)).dense() for t in layers]
            for model in case.models
        ]
        self.blocks = [
            [block for layer in local_blocks(model) for block in layer] for model in case.models
        ]

    def _entry(self, matrices: Sequence[Matrix], i: int, c: int) -> Function:
        first = matrices[0]
        if not (1 <= i <= first.height and 1 <= c <= first.width):
            return self.zero
        return Function(tuple(matrix[i - 1, c - 1] for matrix in matrices))

    def p(self, layer: int, i: int, c: int) -> Function:
        """P_l."""
        if not 0 <= layer <= self.size.layers:
            return self.zero
        return self._entry([probes[layer] for probes in self.probes], i, c)

    def q(self, layer: int, i: int, c: int) -> Function:
        """Q_l."""
        if not 1 <= layer <= self.size.layers:
            return self.zero
        return self._entry([inner[layer - 1] for inner in self.inner], i, c)

    def made(self, layer: int, i: int, c: int) -> Function:
        """P_{l-1}, as layer l makes it."""
        return self.p(layer - 1, i, c)

    def parameter(self, layer: int, i: int, c: int) -> Function:
        """Columns that are parameters: of R_g and R_u above L, else those that read."""
        above = layer - self.size.layers
        return self.q(above, i, c) if above > 0 else self.p(layer, i, c)

    def carried(self, layer: int) -> int:
        """Columns of P_{l-1} that carry Q_l on."""
        return self.size.inner_width(self.widths[layer]) if self.size.residual else 0

    def carries(self, layer: int, c: int) -> bool:
        """Whether column c of P_{l-1} is one of Q_l."""
        return 1 <= c <= self.carried(layer)

    def moves(self, layer: int, c: int) -> bool:
        """Whether it is R_V^{l,h} times one of Q_l."""
        return self.carried(layer) + self.size.reads < c <= self.widths[layer - 1]

    def reads(self, layer: int, c: int) -> bool:
        """Whether column c of Q_l is one of R_g or R_u."""
        return self.size.gated and c > (self.widths[layer] if self.size.residual else 0)

    def _place(self, layer: int, c: int) -> tuple[int, int]:
        start = self.carried(layer) + self.size.reads
        return divmod(c - start - 1, self.size.inner_width(self.widths[layer]))

    def head(self, layer: int, c: int) -> int:
        """The head whose value map moves column c."""
        return self._place(layer, c)[0] + 1

    def column(self, layer: int, c: int) -> int:
        """The column of Q_l that it moves or carries."""
        return c if self.carries(layer, c) else self._place(layer, c)[1] + 1

    def value(self, layer: int, h: int, i: int, j: int) -> Function:
        """R_V^{l,h}."""
        if not (1 <= layer <= self.size.layers and 1 <= h <= self.size.heads):
            return self.zero
        matrices = [model.values[layer - 1][h - 1].dense() for model in self.case.models]
        return self._entry(matrices, i, j)

    def partial(self, layer: int, h: int, i: int, c: int, t: int) -> Function:
        """The first t terms of an entry of R_V^{l,h} Q_l."""
        key = (0, layer, h, i, c, t)
        if key not in self._partial:
            terms = (self.value(layer, h, i, j) * self.q(layer, j, c) for j in range(1, t + 1))
            self._partial[key] = sum(terms, start=self.zero)
        return self._partial[key]

    def layer_of(self, block: int) -> int:
        """The layer of a local block, both counted from 1."""
        return (block - 1) // self.size.neurons + 1 if self.size.gated else 0

    def down(self, block: int, i: int, j: int) -> Function:
        """R_d's rows of a local block."""
        if not 1 <= block <= self.count:
            return self.zero
        layer = self.layer_of(block)
        row = (block - 1) % self.size.neurons * self.widths[layer] + i
        return self._entry([model.downs[layer - 1].dense() for model in self.case.models], row, j)

    def local_partial(self, block: int, i: int, c: int, t: int) -> Function:
        """The first t terms of an entry of a local block."""
        key = (1, block, i, c, t)
        if key not in self._partial:
            layer = self.layer_of(block)
            terms = (self.down(block, i, j) * self.p(layer, j, c) for j in range(1, t + 1))
            self._partial[key] = sum(terms, start=self.zero)
        return self._partial[key]

    def local(self, block: int, i: int, c: int) -> Function:
        """An entry of a local block."""
        return self.local_partial(block, i, c, self.width)

    def row(self, i: int) -> int:
        """The i-th chosen row of P_0."""
        return self.case.rows[i - 1] + 1 if 1 <= i <= len(self.case.rows) else 0

    def side(self, block: int) -> int:
        """The size of a minor: that of P_0 for block 0."""
        return self.widths[self.layer_of(block) if block else 0]

    def square(self, point: int, block: int) -> Matrix:
        """The matrix of a minor at a point."""
        if block == 0:
            return self.probes[point][0].select_rows(self.case.rows)
        return self.blocks[point][block - 1]


class _Minors:
    """All minors, their products and inverses."""

    def __init__(self, entries: _Entries) -> None:
        """Form them once."""
        self.entries = entries
        self.points = range(len(entries.case.models))
        blocks = range(entries.count + 1)
        self.minors = [
            Function(tuple(entries.square(x, b).determinant() for x in self.points)) for b in blocks
        ]
        self.products = self.minors[:1]
        for minor in self.minors[1:]:
            self.products.append(self.products[-1] * minor)
        self.invertible = [x for x in self.points if all(minor.values[x] for minor in self.minors)]
        self._inverses = {
            self.values(b, x): self.pad(entries.square(x, b).inverse())
            for b in blocks
            for x in self.invertible
        }
        m = entries.width
        self.selector = self.pad(Matrix.identity(m).select_rows(entries.case.rows))

    def pad(self, matrix: Matrix) -> Matrix:
        """The matrix among zeros, of shape (m, m)."""
        return padded(matrix, self.entries.width)

    def minor(self, block: int) -> Function:
        """Minor 0 is that of P_0."""
        return self.minors[block] if 0 <= block < len(self.minors) else self.entries.zero

    def product(self, block: int) -> Function:
        """Minors 0..block multiplied."""
        return self.products[block] if 0 <= block < len(self.products) else self.entries.zero

    def values(self, block: int, x: int) -> Matrix:
        """A minor's matrix at a point."""
        if not 0 <= block <= self.entries.count:
            return Matrix.zero(self.entries.width, self.entries.width)
        return self.pad(self.entries.square(x, block))

    def inverse(self, matrix: Matrix) -> Matrix:
        """Its inverse, if it has one."""
        return self._inverses.get(matrix, matrix)

    def unit(self, block: int) -> Matrix:
        """The identity of a minor's size."""
        return self.pad(Matrix.identity(self.entries.side(block)))

    def probes(self, x: int) -> Matrix:
        """P_0 at a point."""
        return self.pad(self.entries.probes[x][0])


def _world(case: Sampled) -> World:
    entries = _Entries(case)
    minors = _Minors(entries)
    size, m, last = case.size, case.width, entries.widths[0]
    absolute = tuple(abs(value) for value in entries.p(0, 1, last).values)
    return World(
        sorts={
            "Fn": [
                entries.zero,
                Function(absolute, polynomial=False),
                minors.minor(0),
                entries.p(0, 1, 1),
                entries.p(0, m, last),
            ],
            "Point": minors.points,
            "Mat": [
                minors.selector,
                minors.values(0, minors.invertible[-1]),
                minors.probes(0),
            ],
        },
        integers=(0, 1, 2, last - 1, last),
        symbols={
            "L": size.layers,
            "m": m,
            "blocks": entries.count,
            "theta": 0,
            "at": lambda f, x: f.values[x],
            "polynomial": lambda f: f.polynomial,
            "plus": lambda f, g: f + g,
            "times": lambda f, g: f * g,
            "zero": entries.zero,
            "P": entries.p,
            "Q": entries.q,
            "made": entries.made,
            "parameter": entries.parameter,
            "RV": entries.value,
            "RD": entries.down,
            "moves": entries.moves,
            "carries": entries.carries,
            "reads": entries.reads,
            "head": entries.head,
            "column": entries.column,
            "partial": entries.partial,
            "local": entries.local,
            "localPartial": entries.local_partial,
            "above": entries.layer_of,
            "row": entries.row,
            "size": entries.side,
            "minor": minors.minor,
            "product": minors.product,
            "null": lambda f: f.polynomial and any(f.values),
            "values": minors.values,
            "inverse": minors.inverse,
            "unit": minors.unit,
            "selector": minors.selector,
            "mul": lambda a, b: a @ b,
            "probes": minors.probes,
            "rows": lambda a: minors.selector @ a,
            "C": minors.pad(random_matrix(seeded(1), size.token_width, last)),
        },
        free={
            "k": range(1, size.layers + 1),
            "n": (0, 1),
            "point": minors.points,
            "b0": range(entries.count + 1),
            "i0": (1, 2),
            "c0": (1, last),
            "h0": (1,),
        },
    )
