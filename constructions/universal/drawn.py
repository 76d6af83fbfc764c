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
from typing import Generic

from constructions.universal.definitions import FixedModel, Layer, TransformerSize, require_width
from constructions.universal.draws import Block, Draw, Stream
from constructions.universal.maps import Dense, Entries
from constructions.universal.probes import probe_below
from verify.errors import SizeError
from verify.verdicts import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnModel:
    """A size, the draw of its parameters, and whether all layers share them; m is the draw's.

    Raises:
        SizeError: m below `size.probe_width`, or gated blocks with shared parameters.
    """

    size: TransformerSize
    draw: Draw
    tied: bool = False

    def __post_init__(self) -> None:
        """Refuse an m in which P_0 cannot have full column rank."""
        require_width(self.width, self.size.probe_width, "a drawn model")
        if self.tied and self.size.gated and self.size.layers > 1:
            raise SizeError(
                "a weight-tied drawn model must be attention only, since hidden widths differ "
                f"from layer to layer; got {self.size.neurons} neurons"
            )

    @property
    def width(self) -> int:
        """The embedding dimension m."""
        return self.draw.width

    def as_json(self) -> dict[str, Json]:
        """What makes the model again."""
        return {"size": self.size.as_json(), "draw": self.draw.as_json(), "tied": self.tied}

    def parameters(
        self, entries: Callable[[Block], Entries]
    ) -> tuple[Dense[Entries], Iterator[Layer[Dense[Entries], Dense[Entries]]]]:
        """The readout, and the layers from the last to the first, drawn as they are asked for."""
        take = _Taker(stream=self.draw.stream(), entries=entries)
        readout = take.matrix(self.width, self.size.token_width)
        return readout, self._layers(take)

    def _layers(self, take: _Taker[Entries]) -> Iterator[Layer[Dense[Entries], Dense[Entries]]]:
        shared: Layer[Dense[Entries], Dense[Entries]] | None = None
        for index in range(self.size.layers - 1, -1, -1):
            layer = self._layer(index, take) if shared is None else shared
            shared = layer if self.tied else None
            yield layer

    def _layer(self, index: int, take: _Taker[Entries]) -> Layer[Dense[Entries], Dense[Entries]]:
        size, m = self.size, self.width
        gated = None
        if size.gated:
            hidden = size.hidden_width(index)
            gated = (take.matrix(m, hidden), take.matrix(m, hidden), take.matrix(hidden, m))
        readers = [take.matrix(m, size.head_width) for _ in range(2 * size.heads)]
        return Layer(
            queries=readers[::2],
            keys=readers[1::2],
            values=[take.matrix(m, m) for _ in range(size.heads)],
            gated=gated,
            residual=size.residual,
        )

    def model(
        self, entries: Callable[[Block], Entries]
    ) -> FixedModel[Dense[Entries], Dense[Entries]]:
        """The whole model in memory."""
        readout, backwards = self.parameters(entries)
        layers = list(backwards)[::-1]
        gated = [layer.gated for layer in layers if layer.gated is not None]
        return FixedModel(
            size=self.size,
            width=self.width,
            queries=tuple(tuple(layer.queries) for layer in layers),
            keys=tuple(tuple(layer.keys) for layer in layers),
            values=tuple(tuple(layer.values) for layer in layers),
            readout=readout,
            gates=tuple(gate for gate, _, _ in gated),
            ups=tuple(up for _, up, _ in gated),
            downs=tuple(down for _, _, down in gated),
        )

    def probe(self, entries: Callable[[Block], Entries]) -> Entries:
        """P_0, shape (m, s_0), with one layer in memory at a time."""
        current, layers = self.parameters(entries)
        for layer in layers:
            current = probe_below(layer, current)
        return current.matrix


@dataclass(frozen=True, kw_only=True)
class _Taker(Generic[Entries]):
    stream: Stream
    entries: Callable[[Block], Entries]

    def matrix(self, height: int, width: int) -> Dense[Entries]:
        return Dense(matrix=self.entries(self.stream.take(height, width)))
