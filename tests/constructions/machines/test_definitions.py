"""Machines as values, their runners, and contexts."""

from itertools import islice

import pytest
from automata.base.exceptions import RejectionException
from automata.tm.dtm import DTM
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.machines.definitions import (
    MachineError,
    ParityHistMachine,
    QueueMachine,
    Rule,
    Token,
    TuringMachine,
    fresh_symbol,
    markers,
    parity_mask,
    parity_mask_of,
    parity_vector,
    sem,
    slide,
    tabulated,
    trimmed,
)
from constructions.machines.formats import bbchallenge
from constructions.machines.parity import parity_machine
from constructions.machines.runs import HistRun, ParityHistRun, QueueRun, TuringRun


def machine(**changes):
    rules = {
        ("A", "_"): Rule(write="1", move=1, next_state="B"),
        ("B", "_"): Rule(write="1", move=0, next_state="H"),
    }
    values = {
        "name": "two steps",
        "blank": "_",
        "alphabet": ("_", "1"),
        "states": ("A", "B", "H"),
        "start": "A",
        "halting": frozenset({"H"}),
        "rules": rules,
    }
    return TuringMachine(**{**values, **changes})


def oracle(turing, word, limit):
    transitions = {} if turing.start in turing.halting else {turing.start: {}}
    for (state, symbol), rule in turing.rules.items():
        move = {-1: "L", 0: "N", 1: "R"}[rule.move]
        transitions.setdefault(state, {})[symbol] = (rule.next_state, rule.write, move)
    independent = DTM(
        states=set(turing.states),
        input_symbols=set(turing.alphabet) - {turing.blank},
        tape_symbols=set(turing.alphabet),
        transitions=transitions,
        initial_state=turing.start,
        blank_symbol=turing.blank,
        final_states=set(turing.halting),
    )
    configurations = []
    try:
        for configuration in islice(independent.read_input_stepwise("".join(word)), limit + 1):
            configurations.append(configuration)
    except RejectionException:
        pass
    return configurations


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_turing_runs_equal_an_independent_implementation(turing_cases, data):
    turing, word = data.draw(turing_cases)
    run = TuringRun(turing, word)
    expected = oracle(turing, word, 60)
    for place, configuration in enumerate(expected):
        tape = configuration.tape
        assert configuration.state == run.state
        assert tape.tape[tape.current_position] == run.cells[run.head]
        assert trimmed(tape.tape, "_") == run.trimmed
        if place + 1 < len(expected):
            run.step()
    assert run.steps == 60 or run.halted


@settings(max_examples=100, deadline=None)
@given(data=st.data(), limit=st.integers(0, 80))
def test_visited_cells_are_those_on_which_a_rule_was_applied(turing_cases, data, limit):
    turing, word = data.draw(turing_cases)
    slow, fast = TuringRun(turing, word), TuringRun(turing, word)
    position, seen, stood = 0, set(), {0, *range(len(word))}
    while slow.steps < limit and not slow.halted:
        seen.add(position)
        position += turing.rules[slow.state, slow.cells[slow.head]].move
        stood.add(position)
        slow.step()
    fast.advance(limit)
    assert slow.visited == fast.visited == len(seen)
    assert slow.space == fast.space == len(stood)
    assert slow.configuration == fast.configuration


def test_the_rule_that_enters_the_halting_state_counts():
    run = TuringRun(machine())
    assert run.advance(100) == run.steps == 2
    assert run.halted
    assert (run.state, run.nonblank, run.visited) == ("H", 2, 2)


def test_a_missing_rule_halts_before_a_step():
    run = TuringRun(machine(), ("1",))
    assert run.halted
    assert (run.advance(5), run.steps, run.visited, run.nonblank) == (0, 0, 0, 1)


def test_a_rule_of_a_halting_state_is_never_applied():
    rules = {("H", "_"): Rule(write="1", move=1, next_state="H")}
    assert TuringRun(machine(start="H", rules=rules)).halted


def test_turing_machines_are_values():
    assert machine() == machine()
    assert hash(machine()) == hash(machine())
    with pytest.raises(TypeError):
        machine().rules["A", "1"] = Rule(write="1", move=1, next_state="A")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"blank": "0"}, r"TuringMachine\.blank must be one of _, 1, got '0'"),
        ({"start": "Z"}, r"TuringMachine\.start must be one of A, B, H, got 'Z'"),
        ({"halting": frozenset({"Y"})}, r"TuringMachine\.halting must be one of"),
        ({"alphabet": ("_", "1", "1")}, r"TuringMachine\.alphabet must be distinct names"),
        ({"states": ()}, r"TuringMachine\.states must be distinct names"),
        (
            {"rules": {("A", "1"): Rule(write="2", move=1, next_state="A")}},
            r"rules\['A', '1'\]\.write must be one of _, 1, got '2'",
        ),
        (
            {"rules": {("A", "1"): Rule(write="1", move=2, next_state="A")}},
            r"rules\['A', '1'\]\.move must be -1, 0 or 1, got 2",
        ),
        (
            {"rules": {("A", "1"): Rule(write="1", move=1, next_state="C")}},
            r"next_state must be one of A, B, H, got 'C'",
        ),
    ],
)
def test_wrong_turing_machines_say_what_is_wrong(changes, message):
    with pytest.raises(MachineError, match=message):
        machine(**changes)


def doubling(**changes):
    table = {"p": {">": ("q", ("a", "a"))}, "q": {"a": ("halt", (">",))}}
    values = {
        "name": "doubling",
        "alphabet": (">", "_", "a"),
        "blank": "_",
        "front": ">",
        "start": "p",
        "halt": "halt",
        "rule": tabulated(table),
    }
    return QueueMachine(**{**values, **changes})


def test_queue_runs_remove_the_front_and_append_at_the_rear():
    run = QueueRun(doubling())
    assert (run.step(), run.appended, list(run.queue)) == (">", ("a", "a"), ["a", "a"])
    assert (run.step(), run.appended, list(run.queue)) == ("a", (">",), ["a", ">"])
    assert (run.halted, run.steps, run.max_length) == (True, 2, 2)


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_queue_runs_equal_plain_list_slicing(queue_cases, data):
    queue_machine, word = data.draw(queue_cases)
    run = QueueRun(queue_machine, word)
    queue, state = [">", *word], "p"
    for _ in range(60):
        if state == "halt":
            break
        state, appended = queue_machine.rule(state, queue[0])
        queue = queue[1:] + list(appended)
        run.step()
        assert (list(run.queue), run.state) == (queue, state)
        assert run.max_length >= len(queue)


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_a_parity_machine_runs_as_a_general_hist_machine(queue_cases, data):
    queue_machine, word = data.draw(queue_cases)
    special = parity_machine(queue_machine)
    run, general = ParityHistRun(special, word), HistRun(special.as_hist(), word)
    while not run.halted and run.steps < 60:
        assert run.step() == general.step()
        assert list(run.window) == list(general.window)
        assert general.counts == [run.window.count(symbol) for symbol in special.alphabet]
        assert run.parity == parity_mask_of(general.counts)
    assert (run.halted, run.max_window) == (general.halted, general.max_window)


def test_runners_refuse_to_step_after_halting():
    special = ParityHistMachine(
        name="done", alphabet=("a",), start="end", is_halting=bool, rule=lambda s, _: (s, ("a",))
    )
    runs = [
        TuringRun(machine(start="H")),
        QueueRun(doubling(start="halt")),
        ParityHistRun(special),
        HistRun(special.as_hist()),
    ]
    for run in runs:
        with pytest.raises(MachineError, match="must be running, but it halted"):
            run.step()
    with pytest.raises(MachineError, match="must be running"):
        special.transition("end", 0)
    with pytest.raises(MachineError, match="must be running"):
        doubling().transition("halt", "a")


def test_steps_append_one_or_two_known_symbols():
    for word in ((), ("a", "a", "a")):
        with pytest.raises(MachineError, match="must append one or two symbols"):
            QueueRun(doubling(rule=lambda state, _, word=word: (state, word))).step()
    with pytest.raises(MachineError, match="symbol 0 must be one of >, _, a, got 'z'"):
        QueueRun(doubling(rule=lambda state, _: (state, ("z",)))).step()
    with pytest.raises(MachineError, match="state 'q' must have a rule for '_', got none"):
        doubling().transition("q", "_")


def test_inputs_use_the_alphabet():
    for run, thing in ((TuringRun, machine()), (QueueRun, doubling())):
        with pytest.raises(MachineError, match="symbol 1 must be one of"):
            run(thing, ("_", "?"))
    with pytest.raises(MachineError, match=r"QueueMachine\.front"):
        doubling(front="?")


def test_parities_are_masks_and_vectors():
    alphabet = ("a", "b", "c")
    mask = parity_mask(alphabet, "abbcbca")
    assert parity_vector(mask, 3) == (0, 1, 0)
    assert parity_mask_of((2, 3, 2)) == mask
    assert parity_mask(alphabet, ()) == 0


def test_a_fresh_symbol_is_not_taken():
    assert fresh_symbol("#", ("a",)) == "#"
    assert fresh_symbol("#", ("#", "##")) == "###"


def test_contexts_slide_or_grow_by_the_update_bit():
    def token(displayed, update=0):
        return Token(displayed=displayed, label="N", update=update)

    context = (token("a"), token("#"), token("b"))
    assert sem(context, "#") == ("a", "b")
    assert markers(context, "#") == 1
    assert sem(slide(context, token("c")), "#") == ("b", "c")
    assert sem(slide(context, token("c", 1)), "#") == ("a", "b", "c")
    assert markers(slide(slide(context, token("c")), token("d")), "#") == 0


@pytest.mark.parametrize(
    ("text", "steps", "nonblank", "cells"),
    [
        ("1RB1LB_1LA1RZ", 6, 4, 4),
        ("1RB1RZ_1LB0RC_1LC1LA", 21, 5, 5),
        ("1RB1RZ_0RC1RB_1LC1LA", 14, 6, 6),
        ("1RB1LC_1LA1RB_1LB1RZ", 13, 6, 6),
        ("1RB1LB_1LA0LC_1RZ1LD_1RD0RA", 107, 13, 14),
        ("1RB2LB1RZ_2LA2RB1LB", 38, 9, 9),
    ],
)
def test_busy_beavers_run_as_recorded(text, steps, nonblank, cells):
    run = TuringRun(bbchallenge.read(text))
    run.advance(1000)
    assert (run.halted, run.steps, run.nonblank, run.visited) == (True, steps, nonblank, cells)
