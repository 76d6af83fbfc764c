"""Morphett's text."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.machines.definitions import Rule, TuringMachine
from constructions.machines.formats import morphett
from constructions.machines.runs import TuringRun
from constructions.machines.textbook import TEXTBOOK
from verify.errors import MachineFormatError

UNARY = "0 1 1 r 0              ; unary increment\n0 _ 1 * halt-accept\n"


def result(text, word, extra=()):
    run = TuringRun(morphett.read(text, "m.txt", extra), word)
    run.advance(100)
    assert run.halted
    return "".join(run.trimmed), run.state, run.steps


def test_rules_comments_and_breakpoints_are_read():
    machine = morphett.read(
        "; comment 0 0 0 r 0\n\n0\t1  1 R 0 !\r\n0 _ x L halt ;end\n", "a/b.c.txt"
    )
    assert machine == TuringMachine(
        name="b",
        blank="_",
        alphabet=("_", "1", "x"),
        states=("0", "halt"),
        start="0",
        halting=frozenset({"halt"}),
        rules={
            ("0", "1"): Rule(write="1", move=1, next_state="0"),
            ("0", "_"): Rule(write="x", move=-1, next_state="halt"),
        },
    )


def test_the_rule_that_enters_a_halting_state_counts_and_a_missing_one_does_not():
    assert result(UNARY, "111") == ("1111", "halt-accept", 4)
    assert result("0 1 1 r 0", "111") == ("111", "0", 3)


def test_precedence_is_state_and_symbol_then_state_then_symbol_then_any():
    rules = ["0 a 1 * halt", "0 * 2 * halt", "* a 3 * halt", "* * 4 * halt"]
    for kept, written in enumerate("1234"):
        assert result("\n".join(reversed(rules[kept:])), "a", "a")[0] == written


def test_wildcards_keep_symbol_and_state():
    assert result("0 * 1 r one\n* b 2 r 0\n", "ab", "ab") == ("121", "one", 3)
    assert result("0 * * r *\n0 _ * * halt\n0 b x r *", "aba", "ab") == ("axa", "halt", 4)


def test_symbols_of_an_input_join_the_alphabet():
    assert morphett.read(UNARY, "m.txt").alphabet == ("_", "1")
    assert morphett.read(UNARY, "m.txt", "1?").alphabet == ("_", "1", "?")
    assert result("0 * x r 0\n0 _ _ * halt", "?;", "?;")[0] == "xx"
    assert result(UNARY, "1?1", "1?") == ("1?1", "0", 1)


def test_halting_names_begin_with_halt_in_any_case_as_in_the_simulator():
    assert morphett.read("0 1 1 r Halted\nHalted 1 0 l 0", "m.txt").halting == {"Halted"}
    assert result("0 1 1 r Halted\nHalted 1 0 l 0", "11") == ("11", "Halted", 1)
    with pytest.raises(MachineFormatError, match="names the unknown state 'stop'"):
        morphett.read("0 1 1 r stop", "m.txt")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "; nothing\n",
            "m.txt:1: at least one rule is required, got none; write a rule a line, as in "
            "0 1 1 r 0",
        ),
        (
            "0 1 1 r 0\n\n0 1 1 r",
            "m.txt:3: a rule must be state, symbol, new symbol, direction and new state, got 4 "
            "words; write it as 0 1 1 r 0, comments behind ;",
        ),
        (
            "0 1 1 r 0 0",
            "m.txt:1: a rule must be state, symbol, new symbol, direction and new state, got 6 "
            "words; write it as 0 1 1 r 0, comments behind ;",
        ),
        ("0 11 1 r 0", "m.txt:1: a symbol must be one character, got '11'; rename it"),
        ("0 1 11 r 0", "m.txt:1: a new symbol must be one character, got '11'; rename it"),
        ("0 1 1 s 0", "m.txt:1: a direction must be l, r or *, got 's'; correct it"),
        (
            "0 1 1 r 0\n0 _ _ l don",
            "m.txt:2: state '0' names the unknown state 'don'; declared states: 0",
        ),
        (
            "a 1 1 r a",
            "m.txt:1: the start state '0' must have a rule, got rules of a; call the first state 0",
        ),
        (
            "0 1 1 r 0\n\n0 1 0 l halt",
            "m.txt:3: state '0' must have one rule for '1', got a second one beside line 1's; "
            "keep one of them",
        ),
        (
            "0 * 1 r 0\n0 * 1 r 0",
            "m.txt:2: state '0' must have one rule for '*', got a second one beside line 1's; "
            "keep one of them",
        ),
    ],
)
def test_wrong_texts_say_where_and_what(text, message):
    with pytest.raises(MachineFormatError) as caught:
        morphett.read(text, "m.txt")
    assert str(caught.value) == message


def test_wildcards_over_huge_tables_are_refused():
    lines = [f"{n} {chr(0x4E00 + n)} 1 r 0" for n in range(500)]
    assert len(morphett.read("\n".join(lines), "m.txt").rules) == 500
    with pytest.raises(MachineFormatError, match="at most 200,000 pairs .*, got 251,000; split"):
        morphett.read("\n".join([*lines, "* * * r 0"]), "m.txt")


@pytest.mark.parametrize("symbol", ["*", "\t", "ab"])
def test_inputs_that_the_format_cannot_have_are_refused(symbol):
    with pytest.raises(MachineFormatError, match=r"m\.txt: an input must be of single characters"):
        morphett.read(UNARY, "m.txt", (symbol,))


@settings(max_examples=150)
@given(data=st.data())
def test_what_is_written_is_read_again(named_cases, table_of, data):
    machine, word = data.draw(named_cases)
    again = morphett.read(morphett.write(machine), "random.txt")
    stopped = {state: f"halt-{state}" for state in "qrst" if not machine.rows.get(state)}
    stopped = {state: name for state, name in stopped.items() if state in machine.states}
    assert table_of(again) == table_of(machine, {"p": "0"} | stopped)
    assert morphett.read(morphett.write(again), "random.txt") == again
    first, second = TuringRun(machine, word), TuringRun(again, word)
    assert (first.advance(80), first.cells) == (second.advance(80), second.cells)


@pytest.mark.parametrize("example", TEXTBOOK)
def test_textbook_machines_are_written(example, table_of):
    machine = example.machine
    again = morphett.read(morphett.write(machine), "m.txt")
    assert table_of(again) == table_of(machine, {machine.start: "0"})


def written(**changes):
    given = {
        "name": "m",
        "blank": "b",
        "alphabet": ("b", "1"),
        "states": ("s", "t", "Z"),
        "start": "s",
        "halting": frozenset({"Z"}),
        "rules": {
            ("s", "b"): Rule(write="1", move=0, next_state="t"),
            ("t", "1"): Rule(write="b", move=1, next_state="Z"),
        },
    }
    return morphett.write(TuringMachine(**(given | changes)))


def test_the_start_is_0_the_blank_an_underscore_and_halting_names_begin_with_halt():
    assert written() == "; m\n0 _ 1 * t\nt 1 _ r halt-Z\n"


def named(state, symbol="1"):
    return {
        "alphabet": ("b", symbol),
        "states": ("s", state),
        "halting": frozenset(),
        "rules": {
            (place, read): Rule(write="b", move=1, next_state=state)
            for place in ("s", state)
            for read in ("b", symbol)
        },
    }


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (named("t", "_"), "that '_' is the blank, got the blank 'b' beside another symbol '_'"),
        (named("t", "*"), r"one printable character other than \* ;, got '\*'"),
        (named("t", ";"), r"one printable character other than \* ;, got ';'"),
        (named("t", " "), r"one printable character other than \* ;, got ' '"),
        (named("t", "10"), r"one printable character other than \* ;, got '10'"),
        (named("two words"), "states that are single words .*, got 'two words'"),
        (named("*"), r"states that are single words .*, got '\*'"),
        (named("halts"), "states that are single words .*, got 'halts'"),
        (named("0"), "the start to be '0' .*, got states s, 0, two of which would be called alike"),
        ({"start": "Z"}, "a start with rules, .*, got 'Z'"),
        ({"alphabet": ("b", "1", "2")}, "symbols that some rule reads or writes, got '2'"),
    ],
)
def test_names_that_the_format_lacks_are_not_written(changes, message):
    with pytest.raises(MachineFormatError) as caught:
        written(**changes)
    text = str(caught.value)
    assert text.startswith("machine 'm': Morphett text requires ")
    assert text.endswith(", or use another format")
    assert re.search(message, text), text
