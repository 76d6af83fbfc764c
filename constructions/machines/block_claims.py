"""The dense last layers of the MLP equal their block form, for all alphabets, labels and tables.

Source: Sliding-Window Transformers Without Positional Encodings, Appendix A, "The MLP layer".
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from constructions.machines.block_form import block_form
from constructions.machines.block_theory import THRESHOLD, block_goals
from constructions.machines.contexts import CHOICES, hist_machine_number, label_text, token_text
from constructions.machines.reachable import ControlGraph, Masks, control_graph
from constructions.machines.readings import graded
from constructions.machines.relu import Number
from constructions.machines.relu_machine import MachineNetwork, machine_network
from constructions.machines.window import window_transformer
from constructions.machines.words import PAPER
from verify.claims import Check, Source, claim, covers, supports
from verify.counterexamples import Counterexample
from verify.facts import INDUCTION
from verify.methods.exhaustive import Exhaustive
from verify.methods.smt import Smt
from verify.ranges import Range
from verify.smtlib import Symbol, World
from verify.verdicts import Json, Status

MakeNetwork = Callable[[ControlGraph[str], int], MachineNetwork[str]]
"""Makes the network of a control graph and S; a mutant puts a wrong one in."""

_LONGEST = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockCase:
    """A machine of the family, and the parity masks on which its rule is asked."""

    number: int
    masks: Masks

    def graph(self) -> ControlGraph[str]:
        """Its labels; on other masks G is not defined, so nothing is emitted."""
        transformer = window_transformer(hist_machine_number(self.number))
        return control_graph(transformer, lambda _: self.masks)


Asked = tuple[int, bool, int]
"""The newest label's index, whether the marker is present, the parity mask."""


def questions(network: MachineNetwork[str]) -> Iterator[Asked]:
    """All that the last layers can be asked."""
    labels = range(len(network.vocabulary.labels))
    return itertools.product(labels, (False, True), range(1 << network.symbols))


def asked_entries(network: MachineNetwork[str], asked: Asked) -> list[int]:
    """The read layer's neurons for a question: pairs that differ by a feature, then h.

    Entries of h outside the label block do not matter, so they are 1, 2, 3, ..
    """
    label, present, mask = asked
    features = [mask >> place & 1 for place in range(network.symbols)] + [int(present)]
    carried = list(range(1, network.vocabulary.width + 1))
    first = 2 * len(network.vocabulary.displayed)
    for place in range(len(network.vocabulary.labels)):
        carried[first + place] = int(place == label)
    return [entry for feature in features for entry in (feature, 0)] + carried


def last_layers(network: MachineNetwork[str], entries: Sequence[int]) -> tuple[Number, ...]:
    """The dense conjunctions and output."""
    neurons = [max(value, 0) for value in network.conjunction_layer.apply(entries)]
    return tuple(network.network.output.apply(neurons))


# --- instances -------------------------------------------------------------------------------


def blocks_fail(
    make: MakeNetwork = machine_network,
) -> Callable[[BlockCase], Counterexample | None]:
    """The obligation that both forms agree at every label, marker or none, and all parities."""

    def holds(case: BlockCase) -> Counterexample | None:
        network = make(case.graph(), _LONGEST)
        blocks = block_form(network)
        for asked in questions(network):
            entries = asked_entries(network, asked)
            required = blocks.output(*asked, entries[-network.vocabulary.width :])
            came = last_layers(network, entries)
            if came != required:
                label = label_text(network.vocabulary.labels[asked[0]])
                return Counterexample(
                    text=f"machine {case.number} of the family, label {label}, marker {asked[1]}, "
                    f"parities {asked[2]:b}: the look-up gives {required}, the dense layers {came}",
                    instance={"machine": case.number, "masks": list(case.masks)},
                )
        return None

    return holds


def blocks_exhibit(case: BlockCase) -> Json:
    """Kind `relu-blocks`: for every question the token that the look-up emits, or none."""
    network = machine_network(case.graph(), _LONGEST)
    blocks = block_form(network)
    answers: list[Json] = []
    for label, present, mask in questions(network):
        row = blocks.row(label, present, mask)
        token: list[Json] = [] if row is None else token_text(network.rows[row].token)
        shown = label_text(network.vocabulary.labels[label])
        answers.append([shown, int(present), mask, token])
    return {"machine": case.number, "masks": list(case.masks), "answers": answers}


_MASKS: tuple[Masks, ...] = ((0, 1, 2, 3), (0, 3), (1,))


def _range(every: int) -> Range:
    return Range(
        bound=f"parity-HIST machines number 0, {every}, {2 * every}, .. of the family of "
        f"{len(CHOICES)}, asked on all parities or on some, all labels and features",
        over=lambda: (
            BlockCase(number=number, masks=masks)
            for number in range(0, len(CHOICES), every)
            for masks in _MASKS
        ),
    )


# --- the theory's meaning in the code --------------------------------------------------------


def block_worlds(make: MakeNetwork = machine_network) -> Iterator[World]:
    """Networks of family machines with a question each."""
    for case, asked in (
        (BlockCase(number=2, masks=(0, 3)), (0, True, 3)),
        (BlockCase(number=2, masks=(0, 3)), (1, False, 2)),
        (BlockCase(number=4, masks=(1,)), (0, True, 2)),
    ):
        yield _world(make(case.graph(), _LONGEST), asked)


def _world(network: MachineNetwork[str], asked: Asked) -> World:
    label, present, _ = asked
    rows, blocks = network.rows, block_form(network)
    entries, width = asked_entries(network, asked), network.vocabulary.width
    carried, labels = entries[-width:], len(network.vocabulary.labels)
    found = blocks.row(*asked)
    return World(
        sorts={},
        integers=range(max(len(rows), width) + 1),
        symbols={
            "n": network.symbols,
            "R": labels,
            "B": len(rows),
            "D": width,
            "r0": label,
            "here": present,
            "lookup": -1 if found is None else found,
            "label": [row.label for row in rows].__getitem__,
            "needs": [row.present for row in rows].__getitem__,
            "reads": [row.mask is not None for row in rows].__getitem__,
            "h": carried.__getitem__,
            "dense": last_layers(network, entries).__getitem__,
            "block": blocks.output(*asked, carried).__getitem__,
            **_parities(network, asked[2]),
            **_sums(network, entries),
        },
        free={
            "k": range(len(rows)),
            "i": range(network.symbols),
            "r": range(labels),
            "j": range(width),
        },
    )


def _parities(network: MachineNetwork[str], mask: int) -> dict[str, Symbol]:
    """What each row asks of the parities, and its terms."""

    def bit(row: int, place: int) -> bool:
        return bool((network.rows[row].mask or 0) >> place & 1)

    def terms(row: int, first: int) -> list[int]:
        return [int(bit(row, place) == bool(mask >> place & 1)) for place in range(first)]

    return {
        "bit": bit,
        "p": lambda place: bool(mask >> place & 1),
        "agrees": lambda row, first: all(terms(row, first)),
        "psum": lambda row, first: sum(terms(row, first)),
    }


def _sums(network: MachineNetwork[str], entries: Sequence[int]) -> dict[str, Symbol]:
    """The real layers: a row's share of the label block, its neuron, and what rows emit."""
    layer, width = network.conjunction_layer, network.vocabulary.width
    block = len(entries) - width + 2 * len(network.vocabulary.displayed)
    neurons = [max(value, 0) for value in layer.apply(entries)]
    weights, emits = [dict(row) for row in layer.rows], network.network.output.rows
    hot = [network.hot(row.token) for row in network.rows]

    def share(row: int, first: int) -> Number:
        columns = range(block, block + first)
        return sum(weights[row].get(column, 0) * entries[column] for column in columns)

    def emitted(place: int, first: int) -> Number:
        return sum(weight * neurons[row] for row, weight in emits[place] if row < first)

    return {
        "e": entries[block:].__getitem__,
        "lsum": share,
        "v": neurons.__getitem__,
        "hot": lambda row, place: int(place in hot[row]),
        "out": emitted,
    }


# --- claim -----------------------------------------------------------------------------------


def block_checks(
    threshold: str = THRESHOLD, make: MakeNetwork = machine_network
) -> tuple[Check, ...]:
    """The for-all proof, and every question to small machines' networks."""
    return (
        covers(
            Smt(
                goals=lambda: block_goals(lambda: block_worlds(make), threshold),
                instances="all alphabets, label sets and tables with one answer for each parity",
                leans_on=(INDUCTION,),
            )
        ),
        supports(
            Exhaustive(
                holds=blocks_fail(make),
                ranges=graded(_range, 6, 2, 1),
                rechecked_as="relu-blocks",
                exhibit=blocks_exhibit,
                leans_on=(),
            )
        ),
    )


@claim(
    id="machines.relu.blocks",
    source=Source(PAPER, 'Appendix A, "The MLP layer"; the block form is ours'),
    latex=r"\sum_k \mathrm{relu}\bigl(\langle a_k, \phi(h) \rangle - (|a_k| - 1)\bigr)\,"
    r"\mathsf{emb}(v_k) - h = \mathsf{emb}(v_{k(r, p)}) - h",
    scope="all alphabets, label sets and tables with at most one answer for a label and parities",
    expected=Status.PROVED,
)
def dense_conjunctions_are_a_look_up() -> tuple[Check, ...]:
    """With the label block one-hot, the dense conjunctions and output equal the block form.

    The block form looks a row up by label index, marker and parity mask, and emits its token.
    """
    return block_checks()
