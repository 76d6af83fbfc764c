"""The MLP as a ReLU network: parities, the whole map, block form, and what is an error."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constructions.machines import block_claims, relu_claims, relu_network_claims
from constructions.machines.block_form import block_form
from constructions.machines.contexts import exact, hist_machine_number
from constructions.machines.definitions import MachineError, QueueMachine, tabulated
from constructions.machines.reachable import control_graph, reachable_labels
from constructions.machines.relu import AffineLayer, ReluNetwork, WindowSize, parity_network
from constructions.machines.relu_instances import graph_of
from constructions.machines.relu_machine import MachineNetwork, machine_network
from constructions.machines.textbook import TEXTBOOK
from constructions.machines.turing import queue_machine
from constructions.machines.window import (
    Normal,
    Pending,
    SlidingWindowRun,
    window_transformer,
)
from verify.claims import Setting
from verify.errors import SizeError
from verify.loading import claims_of

CLAIMS = [
    item
    for module in (relu_claims, relu_network_claims, block_claims)
    for item in claims_of(module)
]


@pytest.mark.parametrize("item", CLAIMS, ids=lambda item: item.id)
def test_the_claim_reaches_its_status(item: Any) -> None:
    for check in item.checks():
        verdict = check.method.settle(Setting(profile="quick"))
        assert verdict.status == check.method.ceiling, verdict.evidence
        assert not check.covers or verdict.status == item.expected


# --- networks --------------------------------------------------------------------------------


@given(st.integers(1, 6), st.data())
def test_parities_are_exact_for_counts_up_to_2_to_the_k_and_contexts_up_to_s(
    bits: int, data: st.DataObject
) -> None:
    scale = 2 << bits
    counts = data.draw(st.lists(st.integers(0, 1 << bits), min_size=1, max_size=4))
    share = Fraction(1, data.draw(st.integers(1, scale)))
    network = parity_network(len(counts), bits, scale)
    came = network.run([*(count * share for count in counts), share])
    assert came == tuple(count % 2 for count in counts)


def test_a_count_beyond_2_to_the_k_is_read_wrongly() -> None:
    network = parity_network(1, 2, 16)
    assert [network.run([Fraction(c, 16), Fraction(1, 16)])[0] for c in range(8)] == [
        *(0, 1, 0, 1, 0),
        *(0, 0, 0),
    ]


def test_entries_times_a_unit_give_the_answer_times_that_unit() -> None:
    network = parity_network(3, 3, 16)
    assert network.run([5, 8, 1, 1], 9) == (9, 0, 9)
    assert network.run([Fraction(n, 9) for n in (5, 8, 1, 1)]) == (1, 0, 1)


@pytest.mark.parametrize(
    ("longest", "bits", "scale"),
    [(0, 1, 1), (1, 1, 2), (2, 1, 4), (3, 2, 4), (4, 2, 8), (5, 3, 8), (16, 4, 32)],
)
def test_k_and_s_are_the_least_for_a_window(longest: int, bits: int, scale: int) -> None:
    size = WindowSize(longest=longest)
    assert (size.bits, size.scale) == (bits, scale)
    assert longest <= 1 << size.bits
    assert longest + 1 <= size.scale


def test_depth_and_widths_of_the_parity_network() -> None:
    network = parity_network(5, 3, 16)
    assert network.depth == 4
    assert network.widths == (11, 11, 11, 10)


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (
            lambda: AffineLayer(inputs=2, rows=(((2, 1),),), bias=(0,)),
            "AffineLayer.rows[0] must read columns below 2, got 2; give the layer its input width",
        ),
        (
            lambda: AffineLayer(inputs=1, rows=(((0, 1),),), bias=()),
            "AffineLayer.bias must have an entry for each of 1 rows, got 0",
        ),
        (
            lambda: ReluNetwork(
                hidden=(AffineLayer(inputs=1, rows=(((0, 1),),), bias=(0,)),),
                output=AffineLayer(inputs=2, rows=(), bias=()),
            ),
            "ReluNetwork: layer 1 must read 1 neurons, got 2",
        ),
        (
            lambda: parity_network(2, 1, 4).run([1, 1]),
            "AffineLayer.apply: 3 entries are required, got 2; pass the whole vector",
        ),
        (
            lambda: WindowSize(longest=-1),
            "WindowSize.longest must be at least 0, got -1; pass the largest S",
        ),
    ],
)
def test_layers_that_do_not_fit_are_errors(build: Any, text: str) -> None:
    with pytest.raises(MachineError) as caught:
        build()
    assert str(caught.value).startswith(text)


# --- reachable labels ------------------------------------------------------------------------


def swapping() -> QueueMachine[str]:
    """Two states that take turns; the second has no rule on the front symbol."""
    table: dict[str, dict[str, tuple[str, tuple[str, ...]]]] = {
        "p": {">": ("q", (">", "a")), "a": ("q", ("b",)), "b": ("halt", ("a",))},
        "q": {"a": ("p", ("a",)), "b": ("p", ("b", "b"))},
    }
    return QueueMachine(
        name="swapping",
        alphabet=(">", "a", "b"),
        blank="a",
        front=">",
        start="p",
        halt="halt",
        rule=tabulated(table),
    )


def test_a_label_is_asked_on_the_parities_of_the_symbols_it_has_rules_on() -> None:
    graph = reachable_labels(swapping(), ("a", "b"))
    masks = {label: graph.masks[label] for label in graph.labels if isinstance(label, Normal)}
    assert graph.labels[0] == Normal(state=graph.transformer.machine.start)
    assert graph.masks[graph.labels[0]] == (0, 2, 4, 6)
    for label, asked in masks.items():
        stored = label.state
        symbols = {"p": (1, 2, 4), "q": (2, 4)}.get(stored.state)
        if not stored.first:
            assert asked == (symbols and tuple(stored.parity ^ bit for bit in symbols))
    assert all(graph.masks[label] is None for label in graph.labels if isinstance(label, Pending))


@pytest.mark.parametrize("book", TEXTBOOK, ids=lambda book: book.machine.name)
def test_every_run_stays_among_the_reachable_labels(book: Any) -> None:
    graph = graph_of(book.machine.name)
    for word in book.tapes:
        run = SlidingWindowRun(graph.transformer, word)
        while not run.halted and run.tokens < 400:
            assert run.step().label in graph.masks


def test_too_many_labels_are_an_error() -> None:
    machine = TEXTBOOK[0].machine
    with pytest.raises(SizeError, match="at most 100 labels are allowed, got more; raise most_lab"):
        reachable_labels(queue_machine(machine), machine.alphabet, most_labels=100)


# --- the whole map ---------------------------------------------------------------------------


def small(number: int = 3, longest: int = 5) -> MachineNetwork[str]:
    transformer = window_transformer(hist_machine_number(number))
    return machine_network(control_graph(transformer, lambda _: (0, 1, 2, 3)), longest)


def test_depth_and_widths_of_a_machines_network() -> None:
    network = small()
    width, rows = network.vocabulary.width, len(network.rows)
    assert network.network.depth == network.window.bits + 2 == 5
    assert network.network.widths == (4 + width,) * 3 + (4 + 2 + width, rows + width)
    assert len(network.fold_layers) == 3
    assert network.read_layer is network.network.hidden[3]
    assert network.conjunction_layer is network.network.hidden[4]


@pytest.mark.parametrize("number", range(0, 18, 5))
def test_the_network_is_the_posited_map_in_exact_matrices(number: int) -> None:
    network = small(number, longest=7)
    model = exact(network.transformer, network.vocabulary)
    run = SlidingWindowRun(network.transformer, "abba")
    while not run.halted and run.tokens < 12 and len(run.context) <= 8:
        context = tuple(run.context)
        middle = model.attend(context)
        scaled = [len(context) * entry for entry in middle]
        assert network.representation(context) == scaled
        assert network.feed_forward(middle) == model.feed_forward(middle)
        assert network.next_token(context) == model.next_token(context) == run.step()


def test_a_context_longer_than_built_for_is_an_error_that_names_s() -> None:
    network = small(longest=3)
    context = network.transformer.prompt("abab")
    with pytest.raises(MachineError) as caught:
        network.next_token(context)
    assert str(caught.value) == (
        "MachineNetwork of family 3: built for S = 3, so a context must have at most 4 tokens, "
        "got 5 tokens; build a network for a longer window"
    )
    with pytest.raises(MachineError, match=r"got A\(#\) = 1/5; build a network for a longer"):
        network.feed_forward(network.representation(context), len(context))


def test_a_label_without_rows_ties_and_is_an_error() -> None:
    network = small()
    context = network.transformer.prompt("a")
    blind = replace(network, rows=network.rows[-1:])
    with pytest.raises(MachineError, match="one token must score highest, got 3 places"):
        blind.next_token(context)


# --- block form ------------------------------------------------------------------------------


def test_the_block_form_names_the_row_of_a_label_marker_and_parities() -> None:
    network = small()
    blocks = block_form(network)
    for number, row in enumerate(network.rows):
        assert blocks.row(row.label, row.present, row.mask or 0) == number
    assert blocks.row(0, present=False, mask=3) == 0


def test_nothing_is_emitted_where_the_map_is_not_defined() -> None:
    transformer = window_transformer(hist_machine_number(3))
    network = machine_network(control_graph(transformer, lambda _: (1,)), 2)
    blocks = block_form(network)
    carried = range(network.vocabulary.width)
    assert blocks.row(0, present=True, mask=2) is None
    assert blocks.output(0, True, 2, carried) == tuple(-entry for entry in carried)


def test_two_answers_for_the_same_parities_are_an_error() -> None:
    network = small()
    doubled = replace(network, rows=(*network.rows, network.rows[1]))
    with pytest.raises(MachineError, match="label 0 must have one answer for each parity, got two"):
        block_form(doubled)
