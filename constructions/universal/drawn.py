"""Universal models with drawn parameters, over exact rationals, residues or balls.

The parameters take a draw's numbers in this order, row by row: the readout U; then the layers
from the last to the first, and of each the gate, up and down maps, per head the query and the key
map, and the value maps. It is the order in which the probe recursion needs them, so P_0 of a large
draw is formed with one layer in memory at a time. A weight-tied model draws one layer.

Source: Fixed Universal Transformers, Section 3.2 and Appendix E.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from constructions.universal.definitions import FixedModel, Layer, TransformerSize, require_width
from constructions.universal.draws import Block, Draw
from constructions.universal.instances import DenseModel, seeded
from constructions.universal.maps import Dense, Entries
from constructions.universal.probes import probe_below
from verify.errors import SizeError
from verify.rational import Matrix
from verify.verdicts import Json

Take = Callable[[int, int], Entries]
"""The next matrix of a height and a width."""
DenseLayer = Layer[Dense[Entries], Dense[Entries]]


def _layer(size: TransformerSize, width: int, index: int, take: Take[Entries]) -> DenseLayer[Any]:
    def part(height: int, columns: int) -> Dense[Entries]:
        return Dense(matrix=take(height, columns))

    gated = None
    if size.gated:
        hidden = size.hidden_width(index)
        gated = (part(width, hidden), part(width, hidden), part(hidden, width))
    readers = [part(width, size.head_width) for _ in range(2 * size.heads)]
    return Layer(
        queries=tuple(readers[::2]),
        keys=tuple(readers[1::2]),
        values=tuple(part(width, width) for _ in range(size.heads)),
        gated=gated,
        residual=size.residual,
    )


def backwards(
    size: TransformerSize, width: int, take: Take[Entries], tied: bool
) -> Iterator[DenseLayer[Entries]]:
    """The layers from the last to the first, drawn as they are asked for.

    Raises:
        SizeError: gated blocks with shared parameters.
    """
    if tied and size.gated and size.layers > 1:
        raise SizeError(
            "a weight-tied drawn model must be attention only, since hidden widths differ from "
            f"layer to layer; got {size.neurons} neurons"
        )
    shared: DenseLayer[Entries] | None = None
    for index in range(size.layers - 1, -1, -1):
        layer = _layer(size, width, index, take) if shared is None else shared
        shared = layer if tied else None
        yield layer


def assembled(
    size: TransformerSize, width: int, take: Take[Entries], tied: bool
) -> FixedModel[Dense[Entries], Dense[Entries]]:
    """The whole model in memory."""
    readout = Dense(matrix=take(width, size.token_width))
    layers = list(backwards(size, width, take, tied))[::-1]
    gated = [layer.gated for layer in layers if layer.gated is not None]
    return FixedModel(
        size=size,
        width=width,
        queries=tuple(tuple(layer.queries) for layer in layers),
        keys=tuple(tuple(layer.keys) for layer in layers),
        values=tuple(tuple(layer.values) for layer in layers),
        readout=readout,
        gates=tuple(gate for gate, _, _ in gated),
        ups=tuple(up for _, up, _ in gated),
        downs=tuple(down for _, _, down in gated),
    )


def random_model(size: TransformerSize, seed: int, tied: bool = False) -> DenseModel:
    """A model of the least m with whole entries from -9 to 9, the same for the same seed."""
    source = seeded(seed)

    def take(height: int, width: int) -> Matrix:
        return Matrix(height, width, [source.randint(-9, 9) for _ in range(height * width)])

    return assembled(size, size.probe_width, take, tied)


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnModel:
    """A size, the draw of its parameters, and whether all layers share them; m is the draw's.

    Raises:
        SizeError: m below `size.probe_width`.
    """

    size: TransformerSize
    draw: Draw
    tied: bool = False

    def __post_init__(self) -> None:
        """Refuse an m in which P_0 cannot have full column rank."""
        require_width(self.width, self.size.probe_width, "a drawn model")

    @property
    def width(self) -> int:
        """The embedding dimension m."""
        return self.draw.width

    def as_json(self) -> dict[str, Json]:
        """What makes the model again."""
        return {"size": self.size.as_json(), "draw": self.draw.as_json(), "tied": self.tied}

    def _take(self, entries: Callable[[Block], Entries]) -> Take[Entries]:
        stream = self.draw.stream()
        return lambda height, width: entries(stream.take(height, width))

    def model(
        self, entries: Callable[[Block], Entries]
    ) -> FixedModel[Dense[Entries], Dense[Entries]]:
        """The whole model in memory."""
        return assembled(self.size, self.width, self._take(entries), self.tied)

    def probe(self, entries: Callable[[Block], Entries]) -> Entries:
        """P_0, shape (m, s_0), with one layer in memory at a time."""
        take = self._take(entries)
        current = Dense(matrix=take(self.width, self.size.token_width))
        for layer in backwards(self.size, self.width, take, self.tied):
            current = probe_below(layer, current)
        return current.matrix
