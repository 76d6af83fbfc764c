"""Theorem 7: queue machines as parity-HIST machines."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.machines.definitions import MachineError, QueueMachine, parity_mask, tabulated
from constructions.machines.parity import Stored, final_queue, parity_machine, recovered
from constructions.machines.runs import ParityHistRun, QueueRun


def machine(table):
    return QueueMachine(
        name="table",
        alphabet=(">", "_", "a", "b"),
        blank="_",
        front=">",
        start="p",
        halt="halt",
        rule=tabulated(table),
    )


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_the_window_is_the_tail_of_the_queue_at_every_step(queue_cases, data):
    source, word = data.draw(queue_cases)
    special = parity_machine(source)
    queue, run = QueueRun(source, word), ParityHistRun(special, word)
    while not queue.halted and queue.steps < 80:
        assert list(run.window) == list(queue.queue)[1:]
        front = recovered(source, run.state, run.parity)
        assert front == queue.step()
        assert run.step() == queue.appended
        assert run.state.parity == parity_mask(source.alphabet, queue.queue)
        assert (run.state.state, run.halted) == (queue.state, queue.halted)
        assert final_queue(source, run.state, run.window) == tuple(queue.queue)


def test_the_front_symbol_of_the_final_queue_is_kept():
    """The queues `aa` and `ba`: one window, two halting states."""
    source = machine({"p": {">": ("halt", ("a",))}})
    run_a, run_b = (ParityHistRun(parity_machine(source), word) for word in ("a", "b"))
    run_a.step()
    run_b.step()
    assert list(run_a.window) == list(run_b.window) == ["a"]
    assert final_queue(source, run_a.state, run_a.window) == ("a", "a")
    assert final_queue(source, run_b.state, run_b.window) == ("b", "a")


def test_a_machine_that_starts_halted_keeps_its_whole_queue():
    source = QueueMachine(
        name="done",
        alphabet=(">", "a"),
        blank="a",
        front=">",
        start="halt",
        halt="halt",
        rule=tabulated({}),
    )
    run = ParityHistRun(parity_machine(source), ("a",))
    assert run.halted
    assert final_queue(source, run.state, run.window) == (">", "a")


@pytest.mark.parametrize("stored", [0b0000, 0b0011, 0b1110, 0b10000])
def test_off_the_invariant_nothing_is_guessed(stored):
    special = parity_machine(machine({"p": {"a": ("p", ("a",))}}))
    with pytest.raises(MachineError, match="must be a unit vector"):
        special.transition(Stored(state="p", parity=stored, first=False), 0)


def test_transitions_read_parity_vectors():
    special = parity_machine(machine({"p": {"a": ("q", ("b", "a"))}}))
    stored = Stored(state="p", parity=0b0101, first=False)
    after = Stored(state="q", parity=0b1101, first=False)
    assert special.transition_on_vector(stored, (1, 0, 0, 0)) == (after, ("b", "a"))


def test_empty_input_has_an_empty_window():
    source = machine({"p": {">": ("q", ("a",))}, "q": {"a": ("halt", ("a", "b"))}})
    run = ParityHistRun(parity_machine(source))
    run.step()
    assert not run.window
    run.step()
    assert final_queue(source, run.state, run.window) == ("a", "b")
