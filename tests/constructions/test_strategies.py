"""Public strategies draw what they say, shrink to the smallest of it, and find what is wrong."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import find, given
from hypothesis import strategies as st

from certiformer import strategies
from constructions.machines.definitions import QueueMachine, TuringMachine, Word
from constructions.machines.formats import bbchallenge, queue_yaml
from constructions.machines.formats.machine_file import MachineFile, QueueTable
from constructions.machines.random_machines import HALT
from constructions.machines.runs import QueueRun, TuringRun
from constructions.universal import tree
from constructions.universal.definitions import (
    Target,
    TransformerSize,
    run_target,
    run_universal,
)
from constructions.universal.nonlinearities import causal_mask, full_mask, square_attention
from constructions.universal.simulation import Mask
from verify.errors import SizeError
from verify.rational import Matrix

BOTH = strategies.sizes(neurons=(0, 2), residual=None)


def anything(_: object) -> bool:
    return True


# --- transformers ----------------------------------------------------------------------------


@given(size=BOTH, data=st.data())
def test_a_drawn_target_runs_on_drawn_inputs_under_a_drawn_mask(
    size: TransformerSize, data: st.DataObject
) -> None:
    target = data.draw(strategies.targets(size))
    inputs = data.draw(strategies.matrices(3, size.token_width))
    mask = data.draw(strategies.masks(3))
    found = run_target(target, inputs, square_attention(mask))
    assert found.output.shape == (3, size.token_width)
    for weights in found.attention[0]:
        assert all(sum(row) == 1 for row in weights.rows())
        assert all(
            entry == 0 or mask[i][j]
            for i, row in enumerate(weights.rows())
            for j, entry in enumerate(row)
        )


@given(strategies.sizes(heads=(1, 1), layers=(4, 5), neurons=(3, 3), residual=True))
def test_sizes_keep_to_their_bounds(size: TransformerSize) -> None:
    assert (size.heads, size.neurons, size.residual) == (1, 3, True)
    assert 4 <= size.layers <= 5
    assert (
        2 <= min(size.head_width, size.token_width) <= max(size.head_width, size.token_width) <= 3
    )


def test_the_smallest_size_is_two_in_every_index() -> None:
    two = TransformerSize(heads=2, layers=2, head_width=2, token_width=2)
    assert find(BOTH, anything) == two
    assert find(BOTH, lambda size: size.gated and size.residual) == replace(
        two, neurons=1, residual=True
    )


def test_targets_shrink_to_zero_but_for_what_matters() -> None:
    smallest = find(strategies.targets(), anything)
    assert smallest.size == TransformerSize(heads=2, layers=2, head_width=2, token_width=2)
    zero = Matrix(2, 2, [0] * 4)
    assert smallest.queries == smallest.outputs == ((zero, zero), (zero, zero))
    moved = find(strategies.targets(smallest.size), lambda t: t.mix(1, 0) != zero)
    entries = [entry for row in moved.mix(1, 0).rows() for entry in row]
    assert sorted(entries) == [0, 0, 0, 1]
    assert moved.queries == smallest.queries


def test_masks_are_causal_first_and_of_every_kind() -> None:
    assert find(strategies.masks(3), anything) == causal_mask(3)
    assert find(strategies.masks(3), lambda mask: mask[0][2]) == full_mask(3)
    lone = find(strategies.masks(3), lambda mask: sum(map(sum, mask)) == 3)
    assert lone == ((True, False, False), (False, True, False), (False, False, True))
    empty = find(strategies.masks(3, to_itself=False), lambda mask: not any(mask[1]))
    assert empty == ((False,) * 3,) * 3


@given(data=st.data(), tokens=st.integers(1, 7))
def test_every_token_may_attend_to_itself(data: st.DataObject, tokens: int) -> None:
    mask: Mask = data.draw(strategies.masks(tokens))
    assert [len(row) for row in mask] == [tokens] * tokens
    assert all(mask[i][i] for i in range(tokens))


def _output_differs(target: Target, inputs: Matrix, *, swapped: bool) -> bool:
    """Whether the tree's model differs from the target, its two heads' values swapped or not."""
    width = tree.LAYOUT.least_width(target.size)
    model = tree.LAYOUT.build(target.size, width)
    if swapped:
        model = replace(model, values=tuple(layer[::-1] for layer in model.values))
    embedding = tree.LAYOUT.write(target, width).transposed
    attend = square_attention(causal_mask(inputs.height))
    ours = run_universal(model, embedding, inputs, attend).output
    return ours != run_target(target, inputs, attend).output


def _cases() -> st.SearchStrategy[tuple[Target, Matrix]]:
    size = TransformerSize(heads=2, layers=2, head_width=2, token_width=2)
    return st.tuples(strategies.targets(size), strategies.matrices(2, 2))


@given(_cases())
def test_a_search_finds_nothing_against_the_tree(case: tuple[Target, Matrix]) -> None:
    assert not _output_differs(*case, swapped=False)


def test_a_search_finds_a_construction_that_swaps_heads() -> None:
    target, inputs = find(_cases(), lambda case: _output_differs(*case, swapped=True))
    zero = Matrix(2, 2, [0] * 4)
    assert inputs != zero
    assert target.mixes() != ((zero, zero), (zero, zero))
    assert _output_differs(target, inputs, swapped=True)


def test_what_hypothesis_cannot_draw_is_refused() -> None:
    large = TransformerSize(heads=9, layers=9, head_width=9, token_width=9)
    with pytest.raises(SizeError, match="must have at most 4096 entries, got 26244; bound its"):
        strategies.targets(large)
    with pytest.raises(SizeError, match="at most 4096 entries, got 10000"):
        strategies.matrices(100, 100)


# --- machines --------------------------------------------------------------------------------


@given(data=st.data(), machine=strategies.machines())
def test_a_drawn_machine_runs_on_a_drawn_word(data: st.DataObject, machine: TuringMachine) -> None:
    word = data.draw(strategies.words(machine.alphabet, longest=4))
    run = TuringRun(machine, word)
    while not run.halted and run.steps < 20:
        run.step()
    assert len(word) <= 4
    assert run.halted or run.steps == 20
    assert 2 <= len(machine.alphabet) <= 3
    assert 2 <= len(machine.states) - 1 <= 5


@given(strategies.machines(states=(2, 4), symbols=(2, 4), moves=(-1, 1)))
def test_drawn_machines_survive_their_text(machine: TuringMachine) -> None:
    renamed = bbchallenge.renamed(machine)
    read = bbchallenge.read(bbchallenge.write(renamed))
    assert (read.rules, read.alphabet) == (renamed.rules, renamed.alphabet)


def test_the_simplest_machine_has_two_states_two_symbols_and_no_rule() -> None:
    machine = find(strategies.machines(), anything)
    assert machine.states == ("p", "q", HALT)
    assert machine.alphabet == ("_", "a")
    assert machine.rules == {}
    assert find(strategies.words(machine.alphabet), anything) == ()
    assert find(strategies.words(machine.alphabet), lambda word: len(word) > 1) == ("_", "_")


def test_a_search_finds_a_machine_that_leaves_its_input_to_the_left() -> None:
    def left(case: tuple[TuringMachine, Word]) -> bool:
        run = TuringRun(*case)
        while not run.halted and run.steps < 9:
            run.step()
        return run.halted and run.steps == 1

    machine, word = find(st.tuples(strategies.machines(), st.just(())), left)
    assert word == ()
    assert list(machine.rules) == [("p", "_")]


@given(data=st.data(), table=strategies.queue_tables(states=(1, 3), symbols=(3, 4)))
def test_a_drawn_queue_machine_runs_and_survives_its_text(
    data: st.DataObject, table: QueueTable
) -> None:
    word = data.draw(strategies.words(table.alphabet))
    file = MachineFile(machine=table, word=word)
    assert queue_yaml.read(queue_yaml.write(table, word), "random.queue.yaml") == file
    run = QueueRun(table.machine(), word)
    while not run.halted and run.steps < 20:
        run.step()
    assert run.halted or run.steps == 20


def test_the_simplest_queue_machine_keeps_its_state() -> None:
    machine: QueueMachine[str] = find(strategies.queue_machines(), anything)
    assert machine.alphabet == (">", "_")
    assert machine.rule("p", "_") == ("p", (">",))
    assert machine.rule("q", ">") == ("p", (">",))


@pytest.mark.parametrize("bounds", [(0, 2), (3, 2), (2, 40)])
def test_bounds_without_a_machine_between_them_are_refused(bounds: tuple[int, int]) -> None:
    with pytest.raises(SizeError, match=r"states must be bounded by \(least, most\) with 1 <= le"):
        strategies.machines(states=bounds)
    with pytest.raises(SizeError, match="symbols must be bounded by"):
        strategies.machines(symbols=bounds)
    with pytest.raises(SizeError, match="symbols but the front must be bounded by"):
        strategies.queue_machines(symbols=(1, 3))


# --- the public face -------------------------------------------------------------------------


def test_hypothesis_is_loaded_by_the_first_strategy_only() -> None:
    program = (
        "import sys, certiformer\n"
        "before = 'hypothesis' in sys.modules, 'constructions' in sys.modules\n"
        "from certiformer import strategies\n"
        "between = 'hypothesis' in sys.modules\n"
        "strategies.words(('a',))\n"
        "print(before, between, 'hypothesis' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "(False, False) False True\n"


def test_another_name_is_an_error_that_names_it() -> None:
    import certiformer

    with pytest.raises(AttributeError, match="module 'certiformer' has no attribute 'strategy'"):
        getattr(certiformer, "strategy")  # noqa: B009 - a type checker would refuse the plain name
