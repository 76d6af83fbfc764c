"""The whole MLP of a machine's transformer as one ReLU network, and its rows as data.

Source: Sliding-Window Transformers Without Positional Encodings, Section 5 and Appendix A, "The MLP
layer".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Generic, NamedTuple

from constructions.machines.definitions import MachineError, State, Token
from constructions.machines.matrices import Vocabulary
from constructions.machines.reachable import ControlGraph
from constructions.machines.relu import (
    AffineLayer,
    Number,
    ReluNetwork,
    Sparse,
    WindowSize,
    fold_layers,
    linear,
    read_forms,
    step_of,
    steps,
)
from constructions.machines.window import WindowLabel, WindowToken, WindowTransformer


class Conjunction(NamedTuple, Generic[State]):
    """One neuron of the last hidden layer: when it is 1, `token` is emitted.

    `label` is the newest label's index. The marker must be present or absent; `mask` names the
    parities that must hold, bit i for symbol i, or is None where they do not matter.
    """

    label: int
    present: bool
    mask: int | None
    token: WindowToken[State]


def conjunctions(graph: ControlGraph[State]) -> tuple[Conjunction[State], ...]:
    """A neuron for each answer of G: first the refresh of each label, then its other answers."""
    rows: list[Conjunction[State]] = []
    for place, label in enumerate(graph.masks):
        rows.append(Conjunction(place, False, None, graph.refreshed(label)))
        rows += [Conjunction(place, True, mask, token) for mask, token in graph.answers(label)]
    return tuple(rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineNetwork(Generic[State]):
    """The MLP h -> emb(G(h)) - h of a transformer, for windows of at most `window.longest` symbols.

    `network` has a fold layer for each of K levels, a read layer and a layer of conjunctions; all
    but the output carry h, of width D, in their last neurons.

    Source: Section 5 and Appendix A, "The MLP layer".
    """

    transformer: WindowTransformer[State]
    vocabulary: Vocabulary[State]
    window: WindowSize
    rows: tuple[Conjunction[State], ...]
    network: ReluNetwork = field(init=False, repr=False, compare=False)
    _labels: Mapping[WindowLabel[State], int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Number the labels and build the layers."""
        places = {label: place for place, label in enumerate(self.vocabulary.labels)}
        object.__setattr__(self, "_labels", places)
        object.__setattr__(self, "network", self._build())

    @property
    def symbols(self) -> int:
        """N - 1 = |Sigma|: displayed symbols without the marker."""
        return len(self.vocabulary.displayed) - 1

    @property
    def marker(self) -> int:
        """The coordinate of A(#) in h^(1/2)."""
        return 2 * self.symbols + 1

    @property
    def fold_layers(self) -> tuple[AffineLayer, ...]:
        """Levels K-1..0."""
        return self.network.hidden[: self.window.bits]

    @property
    def read_layer(self) -> AffineLayer:
        """Two neurons for each parity and two for the marker, then h."""
        return self.network.hidden[self.window.bits]

    @property
    def conjunction_layer(self) -> AffineLayer:
        """A neuron for each of `rows`, then h."""
        return self.network.hidden[-1]

    def hot(self, token: WindowToken[State]) -> tuple[int, int, int]:
        """The coordinates at which emb(token) is 1: displayed symbol, label, update bit."""
        offset = 2 * len(self.vocabulary.displayed)
        return (
            self.vocabulary.displayed.index(token.displayed),
            offset + self._labels[token.label],
            offset + len(self._labels) + token.update,
        )

    def representation(self, context: Sequence[WindowToken[State]]) -> list[int]:
        """h^(1/2) at the newest of m tokens, times m: attention is the histogram."""
        shown, entries = self.vocabulary.displayed, [0] * self.vocabulary.width
        places = {symbol: len(shown) + place for place, symbol in enumerate(shown)}
        for token in context:
            entries[places[token.displayed]] += 1
        for place in self.hot(context[-1]):
            entries[place] = len(context)
        return entries

    def feed_forward(self, middle: Sequence[Number], unit: int = 1) -> tuple[Number, ...]:
        """emb(G(h)) - h from h^(1/2) of length D, both times `unit`.

        Raises:
            MachineError: A(#) is below 1 / (S + 1), so the context is longer than built for.
        """
        mass = middle[self.marker]
        if 0 < mass * (self.window.longest + 1) < unit:
            raise self._too_long(f"A(#) = {Fraction(mass) / unit}")
        return self.network.run(middle, unit)

    def next_token(self, context: Sequence[WindowToken[State]]) -> WindowToken[State]:
        """The next token by attention, this network and the argmax over the whole vocabulary.

        A score is the sum of three, one of each block, so the argmax is taken block by block.

        Raises:
            MachineError: a context longer than S + 1, or two tokens that share the highest score.
        """
        if len(context) > self.window.longest + 1:
            raise self._too_long(f"{len(context)} tokens")
        middle = self.representation(context)
        change = self.feed_forward(middle, len(context))
        final = [f + h for f, h in zip(change, middle, strict=True)]
        shown, labels = self.vocabulary.displayed, self.vocabulary.labels
        bits = 2 * len(shown) + len(labels)
        return Token(
            displayed=shown[_place_of_largest(final[: len(shown)])],
            label=labels[_place_of_largest(final[2 * len(shown) : bits])],
            update=_place_of_largest(final[bits:]),
        )

    def _too_long(self, came: str) -> MachineError:
        longest = self.window.longest
        return MachineError(
            f"MachineNetwork of {self.transformer.machine.name}: built for S = {longest}, so a "
            f"context must have at most {longest + 1} tokens, got {came}; build a network for a "
            "longer window"
        )

    def _build(self) -> ReluNetwork:
        width, count = self.vocabulary.width, self.symbols
        folds = fold_layers(
            range(count + 1, self.marker), self.marker, range(width), width, self.window.bits
        )
        start, inner = 2 * count, 2 * count + width
        mass = start + self.marker
        forms = (
            *read_forms(count, mass, self.window.scale),
            ((mass, self.window.scale),),
        )
        read = steps(forms, range(start, inner), inner)
        last = self._conjunction_layer(len(read.rows))
        return ReluNetwork(hidden=(*folds, read, last), output=self._output_layer())

    def _conjunction_layer(self, inputs: int) -> AffineLayer:
        start = inputs - self.vocabulary.width
        built = [self.neuron(row, start) for row in self.rows]
        carried: list[Sparse] = [((column, 1),) for column in range(start, inputs)]
        return AffineLayer(
            inputs=inputs,
            rows=(*(form for form, _ in built), *carried),
            bias=(*(bias for _, bias in built), *(0 for _ in carried)),
        )

    def neuron(self, row: Conjunction[State], start: int) -> tuple[Sparse, int]:
        """Form and bias of relu(sum of features - (terms - 1)), or relu(e_r - present).

        `start` is the column at which the carried h begins. 1 - p_i is one term, whose 1 goes into
        the bias.
        """
        present = step_of(self.symbols)
        label = (start + 2 * len(self.vocabulary.displayed) + row.label, 1)
        if not row.present:
            return (label, *((column, -weight) for column, weight in present)), 0
        form: list[tuple[int, Number]] = [label, *present]
        bias = -1
        for place in range(self.symbols) if row.mask is not None else ():
            wanted = (row.mask or 0) >> place & 1
            form += [(c, w if wanted else -w) for c, w in step_of(place)]
            bias -= wanted
        return tuple(form), bias

    def _output_layer(self) -> AffineLayer:
        forms: list[list[tuple[int, Number]]] = [[] for _ in range(self.vocabulary.width)]
        for neuron, row in enumerate(self.rows):
            for place in self.hot(row.token):
                forms[place].append((neuron, 1))
        for place, form in enumerate(forms):
            form.append((len(self.rows) + place, -1))
        return linear(map(tuple, forms), len(self.rows) + self.vocabulary.width)


def machine_network(graph: ControlGraph[State], longest: int) -> MachineNetwork[State]:
    """The MLP for all labels of a control graph and windows of at most `longest` symbols."""
    shown = graph.transformer.displayed
    return MachineNetwork(
        transformer=graph.transformer,
        vocabulary=Vocabulary(displayed=shown, labels=graph.labels),
        window=WindowSize(longest=longest),
        rows=conjunctions(graph),
    )


def _place_of_largest(scores: Sequence[Number]) -> int:
    """The one place of the largest score.

    Raises:
        MachineError: it is reached twice.
    """
    highest = max(scores)
    places = [place for place, score in enumerate(scores) if score == highest]
    if len(places) != 1:
        raise MachineError(
            f"MachineNetwork.next_token: one token must score highest, got {len(places)} places "
            "of one block with the largest score; the MLP's output is not an embedding"
        )
    return places[0]
