"""Targets and universal transformers, exactly as the paper defines them.

    target      A^{l,h} = N((X^{l-1} W_Q)(X^{l-1} W_K)^T),  X^l = sum_h A^{l,h} X^{l-1} W_V W_O
    universal   the same with R_Q, R_K, R_V on X~^0 = X^0 E, read out as X~^L U

N, the attention normaliser (with whatever mask), is a parameter: the proofs use only that equal
logits give equal attention. Fixed parameters are index maps; dense arrays are made on request.

Source: Fixed Universal Transformers, Section 2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verify.errors import ShapeError, SizeError
from verify.rational import Matrix

Indices = NDArray[np.int64]
Normaliser = Callable[[Matrix], Matrix]
"""Attention from logits, both of shape (n, n); any function of the logits, mask included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformerSize:
    """Sizes of an attention-only transformer; every width in the proofs follows from them.

    heads H, layers L, head_width d, token_width d_in, each at least 1.
    """

    heads: int
    layers: int
    head_width: int
    token_width: int

    def __post_init__(self) -> None:
        """Refuse sizes below 1."""
        for field in fields(self):
            value = getattr(self, field.name)
            if not isinstance(value, int) or value < 1:
                raise SizeError(f"TransformerSize.{field.name} must be at least 1, got {value!r}")

    @property
    def internal_nodes(self) -> int:
        """Head sequences shorter than L: 1 + H + .. + H^{L-1}."""
        return sum(self.heads**depth for depth in range(self.layers))

    @property
    def leaves(self) -> int:
        """Head sequences of length L: H^L."""
        return self.heads**self.layers

    @property
    def probe_width(self) -> int:
        """Columns of P_0: 2Hd per sequence shorter than L, d_in per full one."""
        reads = 2 * self.heads * self.head_width
        return reads * self.internal_nodes + self.leaves * self.token_width

    @property
    def paper_width(self) -> int:
        """The paper's m-bar: it differs from `probe_width` for H = 1 only."""
        if self.heads == 1:
            return (self.layers + 1) * max(2 * self.head_width, self.token_width)
        return self.probe_width

    def as_json(self) -> dict[str, int]:
        """The four sizes by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def require_width(width: int, least: int, where: str) -> None:
    """Refuse an embedding dimension in which a construction does not fit.

    Raises:
        SizeError: width below the least one.
    """
    if width < least:
        raise SizeError(
            f"{where}: the embedding dimension m must be at least {least}, got {width}; "
            "raise it or choose smaller sizes"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A transformer of the class; every matrix indexed [layer][head], both from 0.

    queries, keys, values: (d_in, d); outputs: (d, d_in)
    """

    size: TransformerSize
    queries: tuple[tuple[Matrix, ...], ...]
    keys: tuple[tuple[Matrix, ...], ...]
    values: tuple[tuple[Matrix, ...], ...]
    outputs: tuple[tuple[Matrix, ...], ...]

    def __post_init__(self) -> None:
        """Refuse matrices that do not fit the sizes."""
        tall = (self.size.token_width, self.size.head_width)
        for name, shape in (
            ("queries", tall),
            ("keys", tall),
            ("values", tall),
            ("outputs", tall[::-1]),
        ):
            layers: tuple[tuple[Matrix, ...], ...] = getattr(self, name)
            if [len(layer) for layer in layers] != [self.size.heads] * self.size.layers:
                raise ShapeError(
                    f"Target.{name} must hold {self.size.layers} layers of {self.size.heads} "
                    f"matrices, got {[len(layer) for layer in layers]}"
                )
            for matrix in (matrix for layer in layers for matrix in layer):
                if matrix.shape != shape:
                    raise ShapeError(
                        f"Target.{name} must hold matrices of shape {shape}, got {matrix.shape}"
                    )

    def mix(self, layer: int, head: int) -> Matrix:
        """M^{l,h} = W_V W_O, shape (d_in, d_in)."""
        return self.values[layer][head] @ self.outputs[layer][head]

    def mixes(self) -> tuple[tuple[Matrix, ...], ...]:
        """Every M^{l,h}, indexed [layer][head]."""
        return tuple(
            tuple(self.mix(layer, head) for head in range(self.size.heads))
            for layer in range(self.size.layers)
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class ColumnMap:
    """A square 0/1 matrix with at most one 1 in each column.

    `rows[j]` is the row of column j's 1, or -1 if column j is zero; shape (m, m), at most m ones.
    """

    rows: Indices

    @property
    def width(self) -> int:
        """The embedding dimension m."""
        return len(self.rows)

    @property
    def ones(self) -> int:
        """How many entries are 1."""
        return int((self.rows >= 0).sum())

    def dense(self) -> Matrix:
        """The matrix itself."""
        alive = np.flatnonzero(self.rows >= 0)
        return Matrix.with_ones(self.width, self.width, self.rows[alive].tolist(), alive.tolist())

    @cached_property
    def sources(self) -> list[int]:
        """`rows` as a list: stream R_V has column `sources[j]` of the stream as its column j."""
        return self.rows.tolist()


@dataclass(frozen=True, kw_only=True, eq=False)
class Ones:
    """A 0/1 matrix as the places of its ones, sorted by column and then row.

    shape (height, width); entry (rows[k], columns[k]) is 1 for each k
    """

    height: int
    width: int
    rows: Indices
    columns: Indices

    @classmethod
    def at(cls, height: int, width: int, rows: Any, columns: Any) -> Ones:
        """Ones at the given places, sorted; the places are distinct."""
        listed_rows = np.asarray(rows, dtype=np.int64)
        listed_columns = np.asarray(columns, dtype=np.int64)
        order = np.lexsort((listed_rows, listed_columns))
        return cls(
            height=height,
            width=width,
            rows=listed_rows[order],
            columns=listed_columns[order],
        )

    @property
    def ones(self) -> int:
        """How many entries are 1."""
        return len(self.rows)

    def selection(self) -> Indices | None:
        """Per column the row of its only 1, if every column has exactly one 1, in its own row."""
        if not np.array_equal(self.columns, np.arange(self.width)):
            return None
        return self.rows if len(np.unique(self.rows)) == self.width else None

    def after(self, value: ColumnMap) -> Ones:
        """The product `value` times this matrix: each 1 moves to the row that `value` sends it."""
        moved = value.rows[self.rows]
        alive = moved >= 0
        return Ones(
            height=self.height,
            width=self.width,
            rows=moved[alive],
            columns=self.columns[alive],
        )

    def read(self, stream: Matrix) -> Matrix:
        """The product `stream` times this matrix, shape (n, width)."""
        if self._sources is not None:
            return stream.select_columns(self._sources)
        return stream @ self._dense

    def dense(self) -> Matrix:
        """The matrix itself."""
        return self._dense

    @cached_property
    def _dense(self) -> Matrix:
        rows, columns = self.rows.tolist(), self.columns.tolist()
        return Matrix.with_ones(self.height, self.width, rows, columns)

    @cached_property
    def _sources(self) -> list[int] | None:
        sources = self.selection()
        return None if sources is None else sources.tolist()


def beside(blocks: Sequence[Ones]) -> Ones:
    """Blocks of one height next to each other."""
    offsets = np.cumsum([0, *(block.width for block in blocks)])
    return Ones(
        height=blocks[0].height,
        width=int(offsets[-1]),
        rows=np.concatenate([block.rows for block in blocks]),
        columns=np.concatenate(
            [block.columns + offset for block, offset in zip(blocks, offsets, strict=False)]
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Universal:
    """Fixed parameters of a universal transformer, indexed [layer][head] from 0.

    queries, keys: (m, d); values: (m, m); readout: (m, d_in). A weight-tied model repeats one
    layer's maps L times.
    """

    size: TransformerSize
    width: int
    queries: tuple[tuple[Ones, ...], ...]
    keys: tuple[tuple[Ones, ...], ...]
    values: tuple[tuple[ColumnMap, ...], ...]
    readout: Ones

    @property
    def tied(self) -> bool:
        """Whether all layers share their parameters."""
        return all(
            layer is first[0] for first in (self.queries, self.keys, self.values) for layer in first
        )

    def most_ones(self) -> int:
        """The largest number of ones in any fixed parameter."""
        everything = [*self.queries, *self.keys, *self.values, (self.readout,)]
        return max(part.ones for layer in everything for part in layer)

    def as_json(self) -> dict[str, Any]:
        """Sizes and the places of all ones, as certificates show them."""

        def places(part: Ones) -> list[list[int]]:
            return [part.rows.tolist(), part.columns.tolist()]

        return {
            "size": self.size.as_json(),
            "width": self.width,
            "queries": [[places(part) for part in layer] for layer in self.queries],
            "keys": [[places(part) for part in layer] for layer in self.keys],
            "values": [[part.rows.tolist() for part in layer] for layer in self.values],
            "readout": places(self.readout),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """One forward pass: the streams X^0..X^L, the attention matrices and the output."""

    streams: tuple[Matrix, ...]
    attention: tuple[tuple[Matrix, ...], ...]
    output: Matrix


def run_target(target: Target, inputs: Matrix, normalise: Normaliser) -> Pass:
    """Forward pass of the target on inputs of shape (n, d_in)."""
    streams, attention = [inputs], list[tuple[Matrix, ...]]()
    mixes = target.mixes()
    for layer in range(target.size.layers):
        stream = streams[-1]
        weights = tuple(
            normalise(
                (stream @ target.queries[layer][head])
                @ (stream @ target.keys[layer][head]).transposed
            )
            for head in range(target.size.heads)
        )
        streams.append(_mixed(weights, [stream @ mixes[layer][h] for h in range(len(weights))]))
        attention.append(weights)
    return Pass(streams=tuple(streams), attention=tuple(attention), output=streams[-1])


def run_universal(
    universal: Universal, embedding: Matrix, inputs: Matrix, normalise: Normaliser
) -> Pass:
    """Forward pass of the universal model on inputs (n, d_in) under E of shape (d_in, m)."""
    streams, attention = [inputs @ embedding], list[tuple[Matrix, ...]]()
    for layer in range(universal.size.layers):
        stream = streams[-1]
        weights = tuple(
            normalise(query.read(stream) @ key.read(stream).transposed)
            for query, key in zip(universal.queries[layer], universal.keys[layer], strict=True)
        )
        moved = stream.selections([value.sources for value in universal.values[layer]])
        streams.append(_mixed(weights, moved))
        attention.append(weights)
    return Pass(
        streams=tuple(streams),
        attention=tuple(attention),
        output=universal.readout.read(streams[-1]),
    )


def _mixed(weights: Sequence[Matrix], moved: Sequence[Matrix]) -> Matrix:
    """sum_h A^h Z^h."""
    first, *others = (a @ z for a, z in zip(weights, moved, strict=True))
    return sum(others, start=first)


# --- instances -------------------------------------------------------------------------------


def causal_mask(length: int) -> tuple[tuple[bool, ...], ...]:
    """True where token i may attend to token j: j <= i."""
    return tuple(tuple(j <= i for j in range(length)) for i in range(length))


def full_mask(length: int) -> tuple[tuple[bool, ...], ...]:
    """Every token may attend to every token."""
    return ((True,) * length,) * length


def _indicator(mask: Sequence[Sequence[bool]]) -> Matrix:
    return Matrix.from_rows([[int(allowed) for allowed in row] for row in mask])


def linear_attention(mask: Sequence[Sequence[bool]]) -> Normaliser:
    """A_ij = z_ij / 4 where the mask allows, 0 elsewhere."""
    share = _indicator(mask).scaled(Fraction(1, 4))
    return lambda logits: logits.hadamard(share)


def square_attention(mask: Sequence[Sequence[bool]]) -> Normaliser:
    """A_ij proportional to 1 + z_ij^2 over the allowed j: positive rows of sum 1."""
    allowed = _indicator(mask)

    def normalise(logits: Matrix) -> Matrix:
        masked = logits.hadamard(allowed)
        return (masked.hadamard(masked) + allowed).rows_shared()

    return normalise


def scrambled_attention(mask: Sequence[Sequence[bool]]) -> Normaliser:
    """A_ij proportional to 1 + (p + 3q mod 5), z_ij = p/q: small numbers in every layer.

    As sensitive to a wrong logit as softmax, but the exact numbers do not grow with depth.
    """
    allowed = _indicator(mask)

    def normalise(logits: Matrix) -> Matrix:
        weights = logits.mapped_parts(lambda p, q: 1 + (p + 3 * q) % 5)
        return weights.hadamard(allowed).rows_shared()

    return normalise


NORMALISERS: dict[str, Callable[[Sequence[Sequence[bool]]], Normaliser]] = {
    "scrambled": scrambled_attention,
    "linear": linear_attention,
    "square": square_attention,
}
"""Rational stand-ins for softmax by name, simplest first."""
