"""Sparse parameters for every kind of block: P_l is the identity over zeros, for every l.

    readout           U reads the first d_in coordinates
    inner probe       Q_l reads the first w: s_l as P_l does, if streams are carried on or there is
                      no MLP, then q_l by R_g and q_l by R_u
    layer l           reads its queries and keys after the carried coordinates (w, or none), and
                      R_V^{l,h} sends coordinate c <= w to the c-th coordinate of branch h
    R_d[(j, i), :]    is the unit vector e_i, so every B_j is the identity

It is Appendix E's assignment with the free choices made so that P_{l-1} selects 1..s_{l-1}.

Source: Fixed Universal Transformers, Appendix E.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from constructions.universal.definitions import Target, TransformerSize, Universal, require_width
from constructions.universal.layouts import Layout
from constructions.universal.maps import ColumnMap, Indices, Ones
from constructions.universal.probes import coefficients
from verify.rational import Matrix


@dataclass(frozen=True, slots=True, kw_only=True)
class Wiring:
    """Where one layer's parts stand, all counted from 0; the layer too."""

    size: TransformerSize
    layer: int

    @property
    def above(self) -> int:
        """s_l."""
        return self.size.probe_widths[self.layer + 1]

    @property
    def hidden(self) -> int:
        """q_l."""
        return self.size.neurons * self.above

    @property
    def inner(self) -> int:
        """w, the columns of Q_l."""
        return self.size.inner_width(self.above)

    @property
    def gates(self) -> int:
        """The first coordinate of R_g; that of R_u comes q_l later."""
        return self.above if self.size.residual else 0

    @property
    def reads(self) -> int:
        """The first coordinate of the queries and keys, after what is carried on."""
        return self.inner if self.size.residual else 0

    def branch(self, head: int) -> int:
        """The first coordinate of a head's branch."""
        return self.reads + self.size.reads + head * self.inner

    def value(self, head: int, width: int) -> ColumnMap:
        """R_V^{l,h}: column c < w has its 1 in row c of the branch."""
        column = np.arange(width)
        return ColumnMap(rows=np.where(column < self.inner, self.branch(head) + column, -1))

    def reader(self, kind: int, head: int, width: int) -> Ones:
        """R_Q^{l,h} (kind 0) or R_K^{l,h} (kind 1)."""
        d = self.size.head_width
        return selects(self.reads + (2 * head + kind) * d + np.arange(d), width)

    def down(self, width: int) -> Ones:
        """R_d: row (j, i) is e_i."""
        columns = np.tile(np.arange(self.above), self.size.neurons)
        return Ones.at(self.hidden, width, np.arange(self.hidden), columns)


def selects(rows: Indices, width: int) -> Ones:
    """The matrix whose column k is the unit vector of coordinate rows[k]; shape (m, len(rows))."""
    return Ones.at(width, len(rows), rows, np.arange(len(rows)))


def routed(size: TransformerSize, width: int | None = None) -> Universal:
    """The sparse fixed parameters in an embedding dimension of `width`, or of the least one.

    Raises:
        SizeError: width below `size.probe_width`.
    """
    m = size.probe_width if width is None else width
    require_width(m, size.probe_width, "the sparse construction")
    layers = [Wiring(size=size, layer=layer) for layer in range(size.layers)]
    gated = layers if size.gated else []
    heads = range(size.heads)
    return Universal(
        size=size,
        width=m,
        queries=tuple(tuple(layer.reader(0, h, m) for h in heads) for layer in layers),
        keys=tuple(tuple(layer.reader(1, h, m) for h in heads) for layer in layers),
        values=tuple(tuple(layer.value(h, m) for h in heads) for layer in layers),
        readout=selects(np.arange(size.token_width), m),
        gates=tuple(selects(w.gates + np.arange(w.hidden), m) for w in gated),
        ups=tuple(selects(w.gates + w.hidden + np.arange(w.hidden), m) for w in gated),
        downs=tuple(layer.down(m) for layer in gated),
    )


def embedding(target: Target, width: int) -> Matrix:
    """E transposed, shape (m, d_in): the columns of C_0, one coordinate each, and zeros.

    Raises:
        SizeError: width below `size.probe_width`.
    """
    require_width(width, target.size.probe_width, "embedding")
    spare = Matrix.zero(width - target.size.probe_width, target.size.token_width)
    return Matrix.stack([coefficients(target, 0), spare])


LAYOUT = Layout(
    name="sparse",
    build=routed,
    least_width=lambda size: size.probe_width,
    order=lambda size, width: np.arange(size.probe_width),
    write=embedding,
    tied=False,
    blocks=True,
)
