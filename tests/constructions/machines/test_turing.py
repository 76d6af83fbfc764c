"""Theorem 6: Turing machines as queue machines."""

from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.machines.definitions import MachineError, Rule, TuringMachine
from constructions.machines.formats import bbchallenge
from constructions.machines.runs import QueueRun, TuringRun
from constructions.machines.turing import HALT, Control, Phase, TuringQueue, queue_machine


def measured(machine, word, limit):
    """The Turing run and its queue run, both until the halt or before rule limit + 1."""
    source = TuringQueue(machine=machine)
    turing, run = TuringRun(machine, word), QueueRun(source.queue_machine(), word)
    lengths = [len(run.queue)]
    while not run.halted:
        if source.is_application(run.state, run.queue[0]):
            found = source.configuration(run.state, run.queue)
            assert (found.state, found.cells[found.head]) == (
                turing.state,
                turing.cells[turing.head],
            )
            if turing.steps == limit:
                break
            turing.step()
        run.step()
        lengths.append(len(run.queue))
    assert lengths == sorted(lengths)
    return source, turing, run


def assert_constants(turing, run, stay):
    rules, space = turing.steps, turing.space
    assert run.steps <= rules * (space + 1 + stay) + 2
    assert run.max_length <= space + 2


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_random_machines_end_alike_within_the_constants(turing_cases, stays, data):
    machine, word = data.draw(turing_cases)
    source, turing, run = measured(machine, word, 80)
    assert run.halted == turing.halted
    assert_constants(turing, run, stays(machine))
    if run.halted:
        assert source.decode(run.queue) == turing.trimmed


def test_machines_of_two_states_and_symbols_keep_the_constants():
    halted = 0
    for place, machine in enumerate(islice(bbchallenge.every_machine(2, 2), 0, None, 23)):
        word = ("", "1", "01", "110")[place % 4]
        source, turing, run = measured(machine, word, 40)
        assert_constants(turing, run, stay=False)
        assert run.halted == turing.halted
        if run.halted:
            halted += 1
            assert source.decode(run.queue) == turing.trimmed
    assert halted > 300


@pytest.mark.parametrize("state", ["S", "R"])
def test_the_constants_are_nearly_reached(state):
    """A stay costs a whole rotation, a bounce to the right end one step less."""
    rules = {
        ("S", "_"): Rule(write="_", move=0, next_state="S"),
        ("R", "_"): Rule(write="_", move=1, next_state="L"),
        ("L", "_"): Rule(write="_", move=-1, next_state="R"),
    }
    machine = TuringMachine(
        name="slow",
        blank="_",
        alphabet=("_",),
        states=("S", "R", "L"),
        start=state,
        halting=frozenset(),
        rules=rules,
    )
    _, turing, run = measured(machine, ("_",) * 20, 50)
    assert run.steps > (turing.steps - 25) * turing.space
    assert_constants(turing, run, stay=state == "S")


def test_empty_input_starts_on_a_blank():
    machine = bbchallenge.read("1RB1LB_1LA1RZ")
    run = QueueRun(queue_machine(machine))
    assert list(run.queue) == ["▷"]
    run.step()
    assert list(run.queue) == ["0"]
    assert run.state == Control(state="A", held="▷", phase=Phase.ARRIVE)


def test_a_halting_start_state_is_the_halting_control():
    machine = TuringMachine(
        name="none",
        blank="_",
        alphabet=("_", "1"),
        states=("H",),
        start="H",
        halting=frozenset({"H"}),
        rules={},
    )
    source = TuringQueue(machine=machine)
    run = QueueRun(source.queue_machine(), ("1", "_"))
    assert run.halted
    assert run.state == HALT
    assert source.decode(run.queue) == ("1",)


def test_symbols_that_look_like_marks_stay_apart():
    alphabet = ("_", "_*", "▷", "▷▷", "*")
    rules = {
        ("A", symbol): Rule(write=alphabet[place - 1], move=(-1, 1)[place % 2], next_state="A")
        for place, symbol in enumerate(alphabet)
    }
    machine = TuringMachine(
        name="signs",
        blank="_",
        alphabet=alphabet,
        states=("A",),
        start="A",
        halting=frozenset(),
        rules=rules,
    )
    source = TuringQueue(machine=machine)
    assert len(set(source.alphabet)) == 2 * len(alphabet) + 1
    _, turing, run = measured(machine, alphabet, 60)
    assert turing.steps == 60
    assert not run.halted


def test_configurations_are_decoded_at_every_moment():
    machine = bbchallenge.read("1RB1LB_1LA1RZ")
    source = TuringQueue(machine=machine)
    turing, run = TuringRun(machine), QueueRun(source.queue_machine())
    while not run.halted:
        found = source.configuration(run.state, run.queue)
        assert found.state == turing.state
        assert "".join(found.cells).strip("0") == "".join(turing.cells).strip("0")
        assert found.cells[found.head] == turing.cells[turing.head]
        if source.is_application(run.state, run.queue[0]):
            turing.step()
        run.step()
    with pytest.raises(MachineError, match="must be running, got the halting state"):
        source.configuration(run.state, run.queue)


def test_words_that_no_run_meets_are_refused():
    source = TuringQueue(machine=bbchallenge.read("1RB1LB_1LA1RZ"))
    arrive = Control(state="A", held="0", phase=Phase.ARRIVE)
    scan = Control(state="A", held="0", phase=Phase.SCAN)
    start = Control(state="A", held="▷", phase=Phase.START)
    with pytest.raises(MachineError, match=r"no run of .* pops '0\*'"):
        source.rule(arrive, "0*")
    with pytest.raises(MachineError, match=r"no run of .* pops '1'"):
        source.rule(start, "1")
    with pytest.raises(MachineError, match="one cell must carry the head, got none"):
        source.configuration(scan, ["1", "▷"])
    with pytest.raises(MachineError, match="must have one separator '▷', got 0"):
        source.decode(["1", "0"])
