"""The bbchallenge text format."""

from itertools import islice

import pytest

from constructions.machines.definitions import Rule, TuringMachine
from constructions.machines.formats import bbchallenge
from verify.errors import MachineFormatError


@pytest.mark.parametrize(
    "text",
    [
        "1RB1LB_1LA1RZ",
        "1RB1LC_1RC1RB_1RD0LE_1LA1LD_1RZ0LA",
        "1RB2LA1RA1RA_1LB1LA3RB1RZ",
        "1RB---_1LA0RH",
        "_".join(["9RA" * 10] * 25),
    ],
)
def test_texts_are_read_and_written_back(text):
    machine = bbchallenge.read(text)
    assert bbchallenge.write(machine) == machine.name == text


def test_rows_are_states_and_entries_are_symbols():
    machine = bbchallenge.read("1RB---_0LH1LA")
    assert machine.rules == {
        ("A", "0"): Rule(write="1", move=1, next_state="B"),
        ("B", "0"): Rule(write="0", move=-1, next_state="H"),
        ("B", "1"): Rule(write="1", move=-1, next_state="A"),
    }
    assert (machine.start, machine.blank, machine.halting) == ("A", "0", {"H"})
    assert machine.states == ("A", "B", "H")


def test_a_record_may_carry_its_result():
    record = bbchallenge.read("1RB1LB_1LA1RZ Halt 6 4\n", "records.txt")
    assert record == bbchallenge.read("1RB1LB_1LA1RZ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1RB1LB_1LA", "row B must have 2 transitions as row A has, got 1"),
        ("1RB1LB_1LA1R", "row B must be 1 to 10 transitions of 3 characters, got '1LA1R'"),
        ("1RB1LB__1LA1RZ", "row B must be 1 to 10 transitions of 3 characters, got ''"),
        ("1RA" * 11, "row A must be 1 to 10 transitions"),
        ("1RB2LB_1LA1RZ", "row A, symbol 1: a transition must be --- or a digit below 2.*'2LB'"),
        ("1RB1SB_1LA1RZ", "row A, symbol 1: .* L or R.*'1SB'"),
        ("1RB1LB_1LA1Rz", "row B, symbol 1: .* a state A to Z, got '1Rz'"),
        ("1RB1LB_1LA1--", "row B, symbol 1: .*got '1--'"),
        ("_".join(["1RA"] * 26), "at most 25 rows are possible, got 26"),
        ("1RB1LB_1LA1RZ Halt 6", "only ' Halt STEPS SCORE' may stand, got 'Halt 6'"),
        ("1RB1LB_1LA1RZ halts", "only ' Halt STEPS SCORE' may stand"),
        ("", "one line with one machine is required, got 0 lines"),
        ("1RA\n1LA", "one line with one machine is required, got 2 lines"),
    ],
)
def test_wrong_texts_say_where_and_what(text, message):
    with pytest.raises(MachineFormatError, match=message):
        bbchallenge.read(text)


def test_errors_name_the_file_and_line_or_the_machine_string():
    with pytest.raises(MachineFormatError, match=r"^machine string: row A, symbol 0: "):
        bbchallenge.read("2RA1RA")
    with pytest.raises(MachineFormatError, match=r"^bad\.txt:2: row A, symbol 0: "):
        bbchallenge.read("\n2RA1RA\n", "bad.txt")


def test_machines_with_other_names_are_not_written():
    machine = TuringMachine(
        name="other",
        blank="_",
        alphabet=("_",),
        states=("A",),
        start="A",
        halting=frozenset(),
        rules={},
    )
    with pytest.raises(MachineFormatError, match="machine 'other': bbchallenge text requires"):
        bbchallenge.write(machine)


def test_every_machine_comes_once_and_in_lexical_order():
    names = [machine.name for machine in bbchallenge.every_machine(1, 2)]
    assert len(set(names)) == (1 + 2 * 2 * 2) ** 2
    assert names == sorted(names)
    assert all(bbchallenge.write(bbchallenge.read(name)) == name for name in names)


def test_two_states_and_symbols_make_13_to_the_fourth_machines():
    names = [machine.name for machine in bbchallenge.every_machine(2, 2)]
    assert len(set(names)) == 13**4
    assert names == sorted(names)
    assert "1RB1LB_1LA1RZ" in names


def test_enumerated_machines_equal_read_ones():
    for machine in islice(bbchallenge.every_machine(2, 2), 0, None, 997):
        assert machine == bbchallenge.read(machine.name)


def test_impossible_sizes_are_refused():
    with pytest.raises(MachineFormatError, match="1 to 25 states and 1 to 10 symbols"):
        next(bbchallenge.every_machine(26, 2))
