"""Sparse parameters for every kind of block: each P_l selects coordinates of its own.

    inner probe       Q_l selects `inner`: P_l's coordinates if they are carried on, and those of
                      R_g and R_u
    layer l           reads its queries and keys from the coordinates after them (from 0 on if
                      nothing is carried); R_V^{l,h} sends inner[c] to a coordinate of branch h, so
                      that R_V^{l,h} Q_l selects that one
    R_d[(j, i), :]    has its 1 where column i of P_l has its, so every B_j is the identity

It is Appendix E's assignment with the free choices made so that P_0 selects 0..s_0 - 1.

Source: Fixed Universal Transformers, Appendix E.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from constructions.universal.definitions import Target, TransformerSize, Universal, require_width
from constructions.universal.layouts import Layout
from constructions.universal.maps import ColumnMap, Indices, Ones
from constructions.universal.probes import coefficients, written
from verify.rational import Matrix


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Wiring:
    """Which coordinates the parts of one layer select.

    above: P_l, (s_l,); gates, ups: R_g, R_u, (q_l,); inner: Q_l; reads: (2Hd,), per head the
    query and then the key columns; branches: per head what R_V^{l,h} Q_l selects
    """

    size: TransformerSize
    above: Indices
    gates: Indices
    ups: Indices

    @property
    def inner(self) -> Indices:
        """What Q_l selects."""
        if not self.size.gated:
            return self.above
        carried = [self.above] if self.size.residual else []
        return np.concatenate([*carried, self.gates, self.ups])

    @property
    def base(self) -> int:
        """The first coordinate of the reads: after the inner probe's if that is carried on."""
        return len(self.inner) if self.size.residual else 0

    @property
    def reads(self) -> Indices:
        """Query and key columns, head by head."""
        return self.base + np.arange(self.size.reads)

    def branch(self, head: int) -> Indices:
        """What R_V^{l,h} Q_l selects."""
        width = len(self.inner)
        return self.base + self.size.reads + head * width + np.arange(width)

    @property
    def below(self) -> Indices:
        """What P_{l-1} selects."""
        carried = [self.inner] if self.size.residual else []
        heads = range(self.size.heads)
        return np.concatenate([self.reads, *carried, *(self.branch(h) for h in heads)])


def wirings(size: TransformerSize) -> tuple[Wiring, ...]:
    """The wiring of each layer, from the first to the last."""
    layers: list[Wiring] = []
    above = np.arange(size.token_width)
    for _ in range(size.layers):
        hidden = size.neurons * len(above)
        start = len(above) if size.residual else 0
        layer = Wiring(
            size=size,
            above=above,
            gates=start + np.arange(hidden),
            ups=start + hidden + np.arange(hidden),
        )
        layers.append(layer)
        above = layer.below
    return tuple(reversed(layers))


def selects(rows: Indices, width: int) -> Ones:
    """The matrix whose column k is the unit vector of coordinate rows[k]; shape (m, len(rows))."""
    return Ones.at(width, len(rows), rows, np.arange(len(rows)))


def _value(layer: Wiring, head: int, width: int) -> ColumnMap:
    rows = np.full(width, -1, dtype=np.int64)
    rows[layer.inner] = layer.branch(head)
    return ColumnMap(rows=rows)


def _down(layer: Wiring, width: int) -> Ones:
    hidden = len(layer.gates)
    columns = np.tile(layer.above, layer.size.neurons)
    return Ones.at(hidden, width, np.arange(hidden), columns)


def routed(size: TransformerSize, width: int | None = None) -> Universal:
    """The sparse fixed parameters in an embedding dimension of `width`, or of the least one.

    Raises:
        SizeError: width below `size.probe_width`.
    """
    m = size.probe_width if width is None else width
    require_width(m, size.probe_width, "the sparse construction")
    layers, heads, d = wirings(size), range(size.heads), size.head_width

    def readers(kind: int) -> tuple[tuple[Ones, ...], ...]:
        return tuple(
            tuple(
                selects(layer.reads[(2 * h + kind) * d : (2 * h + kind + 1) * d], m) for h in heads
            )
            for layer in layers
        )

    gated = layers if size.gated else ()
    return Universal(
        size=size,
        width=m,
        queries=readers(0),
        keys=readers(1),
        values=tuple(tuple(_value(layer, h, m) for h in heads) for layer in layers),
        readout=selects(layers[-1].above, m),
        gates=tuple(selects(layer.gates, m) for layer in gated),
        ups=tuple(selects(layer.ups, m) for layer in gated),
        downs=tuple(_down(layer, m) for layer in gated),
    )


def selected(size: TransformerSize, width: int) -> Indices:
    """The coordinate that each column of P_0 selects; shape (s_0,).

    Raises:
        SizeError: width below `size.probe_width`.
    """
    require_width(width, size.probe_width, "the sparse construction")
    return wirings(size)[0].below


def embedding(target: Target, width: int) -> Matrix:
    """E transposed, shape (m, d_in): coordinate by coordinate the column of C_0 that it holds.

    Raises:
        SizeError: width below `size.probe_width`.
    """
    return written(selected(target.size, width), coefficients(target, 0), width)


LAYOUT = Layout(
    name="sparse",
    build=routed,
    least_width=lambda size: size.probe_width,
    order=selected,
    write=embedding,
    tied=False,
)
