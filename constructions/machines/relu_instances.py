"""The whole MLP on every reachable representation, checked part by part.

    part      what is checked of the network of one machine
    layers    a symbol's neurons read that symbol and the marker only; h is carried unchanged; a
              conjunction reads one label, and without it is at most 0 whatever the other features
    counts    every count 0..m-1 in a context of m tokens yields its bit, and the marker is seen;
              m = 0 stands for contexts without a marker
    labels    each reachable label, without the marker and with it at every parity on which G is
              defined: the conjunctions add up to emb(G(h))
    run       whole forward passes on the contexts of a run

By the first part symbols do not interact, so counts may be checked symbol by symbol, and only the
conjunctions of the newest label can be other than 0.

Source: Sliding-Window Transformers Without Positional Encodings, Section 5 and Appendix A.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from hashlib import sha256
from itertools import islice
from typing import Literal

from constructions.machines.definitions import MachineError, Token, TuringMachine, Word
from constructions.machines.parity import Stored
from constructions.machines.reachable import ControlGraph, reachable_labels
from constructions.machines.relu import Number, Sparse
from constructions.machines.relu_machine import MachineNetwork, machine_network
from constructions.machines.relu_texts import answer_text, label_text, machine_json
from constructions.machines.textbook import TEXTBOOK, Textbook
from constructions.machines.turing import Control, queue_machine
from constructions.machines.window import (
    SlidingWindowRun,
    WindowLabel,
)
from verify.counterexamples import Counterexample
from verify.ranges import Range
from verify.verdicts import Json

Part = Literal["layers", "counts", "labels", "run"]
Graph = ControlGraph[Stored[Control]]
Network = MachineNetwork[Stored[Control]]
MakeNetwork = Callable[[Graph, int], Network]
"""Makes the network of a control graph and S; a mutant puts a wrong one in."""

_BOOKS = {book.machine.name: book for book in TEXTBOOK}


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkCase:
    """One part of one textbook machine's network, built for windows of at most `longest`."""

    name: str
    longest: int
    part: Part
    context: int = 0
    word: Word = ()

    @property
    def machine(self) -> TuringMachine:
        """The Turing machine."""
        return _BOOKS[self.name].machine

    def as_json(self) -> dict[str, Json]:
        """The case as counterexamples name it."""
        return {
            "machine": self.name,
            "longest": self.longest,
            "part": self.part,
            "context": self.context,
            "input": "".join(self.word),
        }


def network_range(books: Iterable[Textbook], longest: int, inputs: int) -> Range:
    """All labels and counts of some textbook machines, and runs on their first inputs."""
    chosen = tuple(books)
    return Range(
        bound=f"the machines {', '.join(book.machine.name for book in chosen)}: all labels "
        f"reachable in the control graph at all parities on which G is defined, times all counts "
        f"in contexts of at most {longest + 1} tokens; runs on the first {inputs} inputs of each",
        over=lambda: _cases(chosen, longest, inputs),
    )


def _cases(books: Iterable[Textbook], longest: int, inputs: int) -> Iterator[NetworkCase]:
    for book in books:
        name = book.machine.name
        yield NetworkCase(name=name, longest=longest, part="layers")
        for context in range(longest + 2):
            yield NetworkCase(name=name, longest=longest, part="counts", context=context)
        yield NetworkCase(name=name, longest=longest, part="labels")
        for word, _ in book.words()[:inputs]:
            yield NetworkCase(name=name, longest=longest, part="run", word=word)


@lru_cache(maxsize=len(TEXTBOOK))
def graph_of(name: str) -> Graph:
    """The control graph of a textbook machine, for all inputs over its tape alphabet."""
    machine = _BOOKS[name].machine
    return reachable_labels(queue_machine(machine), machine.alphabet)


@lru_cache(maxsize=1)
def _network(make: MakeNetwork, name: str, longest: int) -> Network:
    return make(graph_of(name), longest)


# --- obligations -----------------------------------------------------------------------------


def network_fails(
    make: MakeNetwork = machine_network,
) -> Callable[[NetworkCase], Counterexample | None]:
    """The obligation that one part of a machine's network does what G asks."""

    def holds(case: NetworkCase) -> Counterexample | None:
        network = _network(make, case.name, case.longest)
        try:
            trouble = _TROUBLES[case.part](network, case)
        except MachineError as error:
            trouble = str(error)
        if not trouble:
            return None
        return Counterexample(
            text=f"{case.name}, S = {case.longest}, {case.part}: {trouble}",
            instance=case.as_json(),
        )

    return holds


def _layers_trouble(network: Network, case: NetworkCase) -> str:
    del case
    width, count = network.vocabulary.width, network.symbols
    start, mass = 0, network.marker
    reads = [{count + 1 + place} for place in range(count)]
    for layer in (*network.fold_layers, network.read_layer):
        for place, row in enumerate(layer.rows[: 2 * count]):
            if not {column for column, _ in row} <= {*reads[place // 2], mass}:
                return f"neuron {place} of symbol {place // 2} reads {row}"
        if not _carries(layer.rows, layer.bias, start, width):
            return "h must be carried unchanged through every layer"
        reads = [{2 * place, 2 * place + 1} for place in range(count)]
        start, mass = 2 * count, 2 * count + network.marker
    return _conjunctions_trouble(network)


def _carries(rows: tuple[Sparse, ...], bias: Iterable[object], start: int, width: int) -> bool:
    """Whether the last `width` rows copy the entries from column `start` on."""
    copied = tuple(((start + place, 1),) for place in range(width))
    return rows[-width:] == copied and not any(tuple(bias)[-width:])


def _conjunctions_trouble(network: Network) -> str:
    layer, width = network.conjunction_layer, network.vocabulary.width
    start = layer.inputs - width
    block = 2 * len(network.vocabulary.displayed)
    labels = range(start + block, start + block + len(network.vocabulary.labels))
    if not _carries(layer.rows, layer.bias, start, width):
        return "h must be carried unchanged through the conjunctions"
    for neuron, row in enumerate(layer.rows[:-width]):
        weights = dict(row)
        read = [weights.pop(column) for column, _ in row if column in labels]
        pairs = [(weights.pop(2 * p, 0), weights.pop(2 * p + 1, 0)) for p in range(start // 2)]
        if read != [1] or weights or any(first + second for first, second in pairs):
            return f"conjunction {neuron} must read one label and differences, got {row}"
        if sum(max(first, 0) for first, _ in pairs) + layer.bias[neuron] > 0:
            return f"conjunction {neuron} can be positive without its label"
    for place, row in enumerate(network.network.output.rows):
        kept = [(column, weight) for column, weight in row if column >= len(network.rows)]
        if kept != [(len(network.rows) + place, -1)]:
            return f"output {place} must subtract h's entry, got {kept}"
    return ""


def _counts_trouble(network: Network, case: NetworkCase) -> str:
    """All counts of one context; without a marker neither bits nor presence are seen."""
    present = int(case.context > 0)
    unit = case.context or case.longest + 1
    for count in range(unit):
        entries = [0] * network.vocabulary.width
        for place in range(network.symbols):
            entries[network.symbols + 1 + place] = count
        entries[network.marker] = present
        *_, read = islice(network.network.activations(entries, unit), network.window.bits + 1)
        came = [read[2 * p] - read[2 * p + 1] for p in range(network.symbols + 1)]
        if came != [unit * present * (count % 2)] * network.symbols + [unit * present]:
            shown = " ".join(str(Fraction(entry) / unit) for entry in came)
            return f"m = {case.context}, count {count}: bits and marker are read as {shown}"
    return ""


def _labels_trouble(network: Network, case: NetworkCase) -> str:
    graph = graph_of(case.name)
    for number, label in enumerate(network.vocabulary.labels):
        answers = [(0, 0, graph.refreshed(label))]
        for mask, token in graph.answers(label):
            every = (0, (1 << network.symbols) - 1) if mask is None else (mask,)
            answers += [(1, seen, token) for seen in every]
        for present, mask, token in answers:
            came = emitted(network, number, present, mask)
            if came != dict.fromkeys(network.hot(token), 1):
                return (
                    f"label {label_text(label, case.machine)}, marker {present}, parities "
                    f"{mask:b}: {answer_text(token, case.machine)} is required, the conjunctions "
                    f"emit {came} in place of {sorted(network.hot(token))}"
                )
    return ""


def emitted(network: Network, label: int, present: int, mask: int) -> dict[int, Number]:
    """What the conjunctions of one label add up to, by coordinate; zeros are left out.

    A feature is a pair of neurons with this difference: (1, 0) or (0, 0).
    """
    layer, output = network.conjunction_layer, network.network.output
    start = layer.inputs - network.vocabulary.width
    column = start + 2 * len(network.vocabulary.displayed) + label
    features = {2 * place: mask >> place & 1 for place in range(network.symbols)}
    features |= {2 * network.symbols: present, column: 1}
    sums: dict[int, Number] = {}
    for neuron, _ in layer.columns[column]:
        if neuron >= len(network.rows):
            continue
        value = layer.bias[neuron] + sum(w * features.get(c, 0) for c, w in layer.rows[neuron])
        for place, weight in output.columns[neuron] if value > 0 else ():
            sums[place] = sums.get(place, 0) + weight * value
    return sums


def _run_trouble(network: Network, case: NetworkCase) -> str:
    run = SlidingWindowRun(network.transformer, case.word)
    while not run.halted and len(run.context) <= case.longest + 1:
        context = tuple(run.context)
        required, came = run.step(), network.next_token(context)
        if came != required:
            return (
                f"token {run.tokens} of the run on {''.join(case.word) or 'no input'}: "
                f"{answer_text(required, case.machine)} is required, "
                f"{answer_text(came, case.machine)} came"
            )
    return ""


_TROUBLES: dict[Part, Callable[[Network, NetworkCase], str]] = {
    "layers": _layers_trouble,
    "counts": _counts_trouble,
    "labels": _labels_trouble,
    "run": _run_trouble,
}


# --- exhibits --------------------------------------------------------------------------------


def network_exhibit(case: NetworkCase) -> Json:
    """Kind `relu-network`: one part, with what the network answers."""
    network = _network(machine_network, case.name, case.longest)
    shown: dict[str, Json] = {"part": case.part}
    if case.part == "counts":
        return {**shown, "longest": case.longest, "context": case.context}
    shown["machine"] = machine_json(case.machine)
    if case.part == "labels":
        lines = sorted(_lines(network, case.machine))
        digest = sha256("\n".join(lines).encode()).hexdigest()
        return {**shown, "answers": len(lines), "sha256": digest}
    shown["longest"] = case.longest
    if case.part == "layers":
        return {**shown, "widths": list(network.network.widths)}
    return {**shown, "input": list(case.word), "tokens": _tokens(network, case)}


def _lines(network: Network, machine: TuringMachine) -> Iterator[str]:
    """A line for each conjunction: label, parities it asks for, the token that it emits."""
    for row in network.rows:
        label = label_text(network.vocabulary.labels[row.label], machine)
        asked = "any" if row.present else "absent"
        if row.mask is not None:
            asked = "".join(str(row.mask >> place & 1) for place in range(network.symbols))
        yield f"{label} {asked} -> {answer_text(row.token, machine)}"


def _tokens(network: Network, case: NetworkCase) -> list[Json]:
    run = SlidingWindowRun(network.transformer, case.word)
    tokens: list[Json] = []
    while not run.halted and len(run.context) <= case.longest + 1:
        token: Token[WindowLabel[Stored[Control]]] = run.step()
        tokens.append(answer_text(token, case.machine))
    return tokens
