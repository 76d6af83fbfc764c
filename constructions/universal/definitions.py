"""Targets and universal transformers, exactly as the paper defines them.

    attention   A^{l,h} = N((X^{l-1} W_Q)(X^{l-1} W_K)^T),  S^l = sum_h A^{l,h} X^{l-1} W_V W_O
    residual    X^{l-1} is added to S^l, and S^l to the block's output
    gated       X^l = [sigma(S^l W_g) . (S^l W_u)] W_d;  without neurons X^l = S^l
    universal   the same with R_Q, R_K, R_V, R_g, R_u, R_d on X~^0 = X^0 E, read out as X~^L U

N, the attention normaliser (with whatever mask), and sigma are parameters: the proofs use only
that equal logits give equal attention. One forward pass serves targets and universal models.

Source: Fixed Universal Transformers, Section 2, Section 3.3 and Appendix E.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, Generic, TypeVar

from constructions.universal.maps import ColumnMap, Dense, Entries, Ones
from constructions.universal.nonlinearities import Activation, Normaliser, relu
from verify.errors import ShapeError, SizeError
from verify.rational import Matrix


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformerSize:
    """Sizes of a transformer; every width in the proofs follows from them.

    heads H, layers L, head_width d, token_width d_in, each at least 1; neurons r, the width of
    the target's gated blocks (0: attention only); residual: whether streams are carried on.
    """

    heads: int
    layers: int
    head_width: int
    token_width: int
    neurons: int = 0
    residual: bool = False

    def __post_init__(self) -> None:
        """Refuse sizes below 1, and fewer than no neurons."""
        for field in fields(self):
            value = getattr(self, field.name)
            least = 0 if field.name in ("neurons", "residual") else 1
            if not isinstance(value, int) or value < least:
                raise SizeError(
                    f"TransformerSize.{field.name} must be at least {least}, got {value!r}"
                )

    @property
    def gated(self) -> bool:
        """Whether the blocks have gated MLPs."""
        return self.neurons > 0

    @property
    def internal_nodes(self) -> int:
        """Head sequences shorter than L: 1 + H + .. + H^{L-1}."""
        return sum(self.heads**depth for depth in range(self.layers))

    @property
    def leaves(self) -> int:
        """Head sequences of length L: H^L."""
        return self.heads**self.layers

    @property
    def reads(self) -> int:
        """Columns by which a layer reads queries and keys: 2Hd."""
        return 2 * self.heads * self.head_width

    def inner_width(self, above: int) -> int:
        """Columns that read the sum over heads of a layer whose P_l has `above` columns.

        s_l without neurons; 2 q_l = 2 r s_l for a gated block, and s_l more if S is carried on.
        """
        if not self.gated:
            return above
        return 2 * self.neurons * above + (above if self.residual else 0)

    @property
    def probe_widths(self) -> tuple[int, ...]:
        """s_0..s_L, the columns of P_0..P_L: s_{l-1} = 2Hd + (H, or H + 1) inner widths."""
        widths = [self.token_width]
        for _ in range(self.layers):
            branches = self.heads + self.residual
            widths.append(self.reads + branches * self.inner_width(widths[-1]))
        return tuple(reversed(widths))

    @property
    def probe_width(self) -> int:
        """Columns of P_0; attention only: 2Hd per sequence shorter than L, d_in per full one."""
        return self.probe_widths[0]

    def hidden_width(self, layer: int) -> int:
        """q_l = r s_l, the universal MLP's width in a layer counted from 0."""
        return self.neurons * self.probe_widths[layer + 1]

    @property
    def paper_width(self) -> int:
        """The paper's m-bar, attention only: it differs from `probe_width` for H = 1 only."""
        if self.heads == 1:
            return (self.layers + 1) * max(2 * self.head_width, self.token_width)
        return self.probe_width

    def as_json(self) -> dict[str, int]:
        """All sizes by name."""
        return {field.name: int(getattr(self, field.name)) for field in fields(self)}


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


Grid = tuple[tuple[Matrix, ...], ...]
"""Matrices indexed [layer][head], both from 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A transformer of the class; attention matrices indexed [layer][head], both from 0.

    queries, keys, values: (d_in, d); outputs: (d, d_in). With neurons, indexed [layer]:
    gates, ups: (d_in, r); downs: (r, d_in)
    """

    size: TransformerSize
    queries: Grid
    keys: Grid
    values: Grid
    outputs: Grid
    gates: tuple[Matrix, ...] = ()
    ups: tuple[Matrix, ...] = ()
    downs: tuple[Matrix, ...] = ()

    def __post_init__(self) -> None:
        """Refuse matrices that do not fit the sizes."""
        size = self.size
        tokens, width, neurons = size.token_width, size.head_width, size.neurons
        for name, shape in (
            ("queries", (tokens, width)),
            ("keys", (tokens, width)),
            ("values", (tokens, width)),
            ("outputs", (width, tokens)),
        ):
            layers: Grid = getattr(self, name)
            if [len(layer) for layer in layers] != [size.heads] * size.layers:
                raise ShapeError(
                    f"Target.{name} must hold {size.layers} layers of {size.heads} "
                    f"matrices, got {[len(layer) for layer in layers]}"
                )
            _require_shapes(name, [matrix for layer in layers for matrix in layer], shape)
        for name, shape in (
            ("gates", (tokens, neurons)),
            ("ups", (tokens, neurons)),
            ("downs", (neurons, tokens)),
        ):
            matrices: tuple[Matrix, ...] = getattr(self, name)
            count = size.layers if size.gated else 0
            if len(matrices) != count:
                raise ShapeError(f"Target.{name} must hold {count} matrices, got {len(matrices)}")
            _require_shapes(name, matrices, shape)

    def mix(self, layer: int, head: int) -> Matrix:
        """M^{l,h} = W_V W_O, shape (d_in, d_in)."""
        return self.values[layer][head] @ self.outputs[layer][head]

    def mixes(self) -> Grid:
        """Every M^{l,h}, indexed [layer][head]."""
        return tuple(
            tuple(self.mix(layer, head) for head in range(self.size.heads))
            for layer in range(self.size.layers)
        )


def _require_shapes(name: str, matrices: Sequence[Matrix], shape: tuple[int, int]) -> None:
    for matrix in matrices:
        if matrix.shape != shape:
            raise ShapeError(
                f"Target.{name} must hold matrices of shape {shape}, got {matrix.shape}"
            )


Reader = TypeVar("Reader")
Mover = TypeVar("Mover")


@dataclass(frozen=True, kw_only=True, eq=False)
class Layer(Generic[Reader, Mover]):
    """One layer's linear maps: per head, and gate, up and down if the block is gated.

    It runs on streams of any numbers that its maps can read: exact, enclosed or floating.
    """

    queries: Sequence[Reader]
    keys: Sequence[Reader]
    values: Sequence[Mover]
    gated: tuple[Reader, Reader, Reader] | None
    residual: bool

    def run(
        self, stream: Any, normalise: Callable[[Any], Any], activate: Callable[[Any], Any]
    ) -> tuple[tuple[Any, ...], Any, Any]:
        """Attention per head, the sum over heads, and the next stream."""
        maps: Any = self
        weights = tuple(
            normalise(query.read(stream) @ key.read(stream).transposed)
            for query, key in zip(maps.queries, maps.keys, strict=True)
        )
        moved = (a @ value.read(stream) for a, value in zip(weights, maps.values, strict=True))
        first, *others = (*moved, stream) if self.residual else moved
        total = sum(others, start=first)
        if maps.gated is None:
            return weights, total, total
        gate, up, down = maps.gated
        block = down.read(activate(gate.read(total)).hadamard(up.read(total)))
        return weights, total, block + total if self.residual else block


@dataclass(frozen=True, kw_only=True, eq=False)
class FixedModel(Generic[Reader, Mover]):
    """Fixed parameters of a universal transformer, indexed [layer][head] from 0.

    queries, keys: (m, d); values: (m, m); readout: (m, d_in). With neurons, indexed [layer]:
    gates, ups: (m, q_l); downs: (q_l, m). A weight-tied model repeats one layer's maps L times.
    """

    size: TransformerSize
    width: int
    queries: tuple[tuple[Reader, ...], ...]
    keys: tuple[tuple[Reader, ...], ...]
    values: tuple[tuple[Mover, ...], ...]
    readout: Reader
    gates: tuple[Reader, ...] = ()
    ups: tuple[Reader, ...] = ()
    downs: tuple[Reader, ...] = ()

    @property
    def tied(self) -> bool:
        """Whether all layers share their parameters."""
        return all(
            layer is first[0] for first in (self.queries, self.keys, self.values) for layer in first
        )

    def layer(self, index: int) -> Layer[Reader, Mover]:
        """The maps of one layer, counted from 0."""
        gated = (self.gates[index], self.ups[index], self.downs[index]) if self.gates else None
        return Layer(
            queries=self.queries[index],
            keys=self.keys[index],
            values=self.values[index],
            gated=gated,
            residual=self.size.residual,
        )

    def parts(self) -> Iterator[Reader | Mover]:
        """Every fixed parameter."""
        for layers in (self.queries, self.keys, self.values):
            for layer in layers:
                yield from layer
        yield from (*self.gates, *self.ups, *self.downs, self.readout)


Universal = FixedModel[Ones, ColumnMap]
"""A sparse universal transformer: all its parameters are index maps."""


def most_ones(universal: Universal) -> int:
    """The largest number of ones in any fixed parameter."""
    return max(part.ones for part in universal.parts())


def places_json(universal: Universal) -> dict[str, Any]:
    """Sizes and the places of all ones, as certificates show them."""

    def places(part: Ones) -> list[list[int]]:
        return [part.rows.tolist(), part.columns.tolist()]

    return {
        "size": universal.size.as_json(),
        "width": universal.width,
        "queries": [[places(part) for part in layer] for layer in universal.queries],
        "keys": [[places(part) for part in layer] for layer in universal.keys],
        "values": [[part.rows.tolist() for part in layer] for layer in universal.values],
        "readout": places(universal.readout),
        **{
            name: [places(part) for part in getattr(universal, name)]
            for name in ("gates", "ups", "downs")
        },
    }


# --- forward passes --------------------------------------------------------------------------


Stream = TypeVar("Stream")


@dataclass(frozen=True, kw_only=True)
class Pass(Generic[Stream]):
    """One forward pass: the streams X^0..X^L, the attention matrices and the output.

    `sums` holds S^1..S^L, the sums over heads that enter the MLPs.
    """

    streams: tuple[Stream, ...]
    attention: tuple[tuple[Stream, ...], ...]
    sums: tuple[Stream, ...]
    output: Stream


def forward(
    layers: Iterable[Layer[Any, Any]],
    stream: Stream,
    readout: Any,
    normalise: Callable[[Stream], Stream],
    activate: Callable[[Stream], Stream],
) -> Pass[Stream]:
    """X^0..X^L from X^0; the output is read by the readout, or X^L itself if that is None."""
    streams, attention, sums = [stream], list[tuple[Stream, ...]](), list[Stream]()
    for layer in layers:
        weights, total, after = layer.run(streams[-1], normalise, activate)
        attention.append(weights)
        sums.append(total)
        streams.append(after)
    output = streams[-1] if readout is None else readout.read(streams[-1])
    return Pass(streams=tuple(streams), attention=tuple(attention), sums=tuple(sums), output=output)


def target_layers(
    target: Target, entries: Callable[[Matrix], Entries]
) -> Iterator[Layer[Dense[Entries], Dense[Entries]]]:
    """The target's layers over the numbers that `entries` makes of its exact matrices.

    A head's value map is M = W_V W_O, multiplied exactly.
    """

    def maps(matrices: Sequence[Matrix]) -> tuple[Dense[Entries], ...]:
        return tuple(Dense(matrix=entries(matrix)) for matrix in matrices)

    mixes = target.mixes()
    for index in range(target.size.layers):
        gated = None
        if target.size.gated:
            gate, up, down = maps((target.gates[index], target.ups[index], target.downs[index]))
            gated = (gate, up, down)
        yield Layer(
            queries=maps(target.queries[index]),
            keys=maps(target.keys[index]),
            values=maps(mixes[index]),
            gated=gated,
            residual=target.size.residual,
        )


def run_target(
    target: Target, inputs: Matrix, normalise: Normaliser, activate: Activation = relu
) -> Pass[Matrix]:
    """Forward pass of the target on inputs of shape (n, d_in), exactly."""
    return forward(target_layers(target, lambda exact: exact), inputs, None, normalise, activate)


def run_universal(
    universal: FixedModel[Any, Any],
    embedding: Matrix,
    inputs: Matrix,
    normalise: Normaliser,
    activate: Activation = relu,
) -> Pass[Matrix]:
    """Forward pass of the universal model on inputs (n, d_in) under E of shape (d_in, m)."""
    layers = (universal.layer(index) for index in range(universal.size.layers))
    return forward(layers, inputs @ embedding, universal.readout, normalise, activate)
