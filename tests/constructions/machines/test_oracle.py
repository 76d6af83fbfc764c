"""Runs agree with automata-lib's Turing machines, an implementation that is not ours."""

from automata.base.exceptions import RejectionException
from automata.tm.dtm import DTM
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.machines.formats import bbchallenge
from constructions.machines.runs import TuringRun

STEPS = 100
DIRECTIONS = {-1: "L", 0: "N", 1: "R"}


def oracle(machine):
    """The same machine there; it stops in final states and raises where no rule is given."""
    transitions = {
        state: {
            symbol: (target, write, DIRECTIONS[move])
            for symbol, (write, move, target) in row.items()
        }
        for state, row in machine.rows.items()
        if state not in machine.halting
    }
    return DTM(
        states=set(machine.states),
        input_symbols=set(machine.alphabet) - {machine.blank},
        tape_symbols=set(machine.alphabet),
        transitions=transitions,
        initial_state=machine.start,
        blank_symbol=machine.blank,
        final_states=set(machine.halting),
    )


def cells(tape, head, blank):
    """The cells that are not blank, counted from the head."""
    return {place - head: symbol for place, symbol in enumerate(tape) if symbol != blank}


def agree_step_by_step(machine, word):
    run = TuringRun(machine, word)
    configurations = oracle(machine).read_input_stepwise("".join(word))
    for step in range(STEPS):
        try:
            there = next(configurations, None)
        except RejectionException:
            there = None
        if there is None:
            assert run.advance(1) == 0
            assert (run.halted, run.steps) == (True, step - 1)
            return
        if step:
            run.step()
        assert run.state == there.state
        tape = there.tape
        assert run.cells[run.head] == tape.read_symbol()
        expected = cells(tape.tape, tape.current_position, machine.blank)
        assert cells(run.cells, run.head, machine.blank) == expected
    assert run.steps == STEPS - 1


@settings(max_examples=200)
@given(data=st.data())
def test_random_machines_agree_with_automata_lib(turing_cases, data):
    agree_step_by_step(*data.draw(turing_cases))


def test_a_champion_agrees_with_automata_lib():
    agree_step_by_step(bbchallenge.read("1RB1LB_1LA0LC_1RZ1LD_1RD0RA"), ())
