"""The YAML of turingmachine.io, and what all YAML formats refuse."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.machines.definitions import Rule, TuringMachine
from constructions.machines.formats import turingmachine_io
from constructions.machines.formats.machine_file import MachineFile
from constructions.machines.runs import TuringRun
from verify.errors import MachineFormatError

INCREMENT = """\
blank: ' '
start state: right
input: '1011'
table:
  right: {[1,0]: R, ' ': {L: carry}}
  carry: {1: {write: 0, L}, [0,' ']: {write: 1, L: done}}
  done:
"""


def read(text):
    return turingmachine_io.read(text, "increment.yaml")


def test_a_machine_and_its_input_are_read():
    rules = {
        ("right", "1"): Rule(write="1", move=1, next_state="right"),
        ("right", "0"): Rule(write="0", move=1, next_state="right"),
        ("right", " "): Rule(write=" ", move=-1, next_state="carry"),
        ("carry", "1"): Rule(write="0", move=-1, next_state="carry"),
        ("carry", "0"): Rule(write="1", move=-1, next_state="done"),
        ("carry", " "): Rule(write="1", move=-1, next_state="done"),
    }
    machine = TuringMachine(
        name="increment",
        blank=" ",
        alphabet=(" ", "1", "0"),
        states=("right", "carry", "done"),
        start="right",
        halting=frozenset({"done"}),
        rules=rules,
    )
    assert read(INCREMENT) == MachineFile(machine=machine, word=tuple("1011"))
    run = TuringRun(machine, "1011")
    run.advance(100)
    assert ("".join(run.trimmed), run.state, run.steps) == ("1100", "done", 8)


def test_synonyms_stand_for_instructions():
    text = """
blank: _
start state: even
synonyms: {accept: {R: yes}, on: {write: x, R}, null: L}
table:
  even: {a: on, _: accept, b: 'null'}
  yes: {}
"""
    rules = read(text).machine.rules
    assert rules["even", "a"] == Rule(write="x", move=1, next_state="even")
    assert rules["even", "_"] == Rule(write="_", move=1, next_state="yes")
    assert rules["even", "b"] == Rule(write="b", move=-1, next_state="even")


def test_symbols_and_states_are_the_characters_that_stand_in_the_file():
    text = """
blank: 0
start state: 1.50
input: 0010
table:
  1.50: {1: {write: ~, R: yes}, 0: {R: null}, y: L}
  yes: {~: {R: 'null'}, '~': {R: 0x1F}}
  null:
  0x1F:
"""
    with pytest.raises(MachineFormatError, match=r"yaml:7: state 'yes' must have each key once"):
        read(text)
    found = read(text.replace(", '~': {R: 0x1F}", ", 7: {R: 0x1F}"))
    assert found.word == ("0", "0", "1", "0")
    assert found.machine.alphabet == ("0", "1", "y", "~", "7")
    assert found.machine.start == "1.50"
    assert found.machine.rules["1.50", "1"] == Rule(write="~", move=1, next_state="yes")
    assert found.machine.rules["1.50", "0"].next_state == "1.50"
    assert found.machine.rules["yes", "~"].next_state == "null"
    assert found.machine.halting == {"null", "0x1F"}


def test_saved_files_wrap_the_text():
    indented = "".join(f"  {line}\n" for line in INCREMENT.splitlines())
    saved = f"name: plus one\nsource code: |\n\n{indented}positions:\n  right: {{x: 1.5, y: 2}}\n"
    assert read(saved).machine.rules == read(INCREMENT).machine.rules
    assert read(saved).machine.name == "plus one"
    assert read(saved).word == tuple("1011")
    with pytest.raises(MachineFormatError, match=r"^increment\.yaml:9: state 'carry' names the"):
        read(saved.replace("L: done", "L: don"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "L: done",
            "L: don",
            "6: state 'carry' names the unknown state 'don'; declared states: carry, done, right",
        ),
        (
            "state: right",
            "state: left",
            "2: 'start state' names the unknown state 'left'; declared states: carry, done, right",
        ),
        ("blank: ' '\n", "", "1: the machine must have the key 'blank', got none; add it"),
        ("blank: ' '", "blank: '  '", "1: the blank must be one character, got '  '; rename it"),
        ("blank: ' '", "blank:", "1: the blank must be a text, got nothing; write it in quotes"),
        (
            "table:",
            "tabel:",
            "4: the keys of the machine are blank, start state, table, input, synonyms, name, "
            "positions, got 'tabel'; remove it",
        ),
        (
            "{1: {",
            "{10: {",
            "6: a symbol of state 'carry' must be one character, got '10'; rename it",
        ),
        (
            "{1: {",
            "{true: {",
            "6: a symbol of state 'carry' must be one character, got 'true'; rename it",
        ),
        (
            "{1: {",
            "{? {a: b} : {",
            "6: a symbol of state 'carry' must be a text, got a mapping; write it in quotes",
        ),
        ("write: 0", "write: 00", "6: what is written must be one character, got '00'; rename it"),
        (
            "write: 0, L",
            "write: 0, L, R",
            "6: state 'carry': an instruction must have one move, L or R, got 2; the format has "
            "no stay move",
        ),
        (
            "write: 0, L",
            "write: 0",
            "6: state 'carry': an instruction must have one move, L or R, got 0; the format has "
            "no stay move",
        ),
        (
            "write: 0, L",
            "write: 0, N",
            "6: the keys of an instruction of state 'carry' are write, L, R, got 'N'; remove it",
        ),
        (
            "]: R",
            "]: S",
            "5: state 'right': an instruction must be L, R, a synonym (there is none), or as in "
            "{write: 1, R: state}, got 'S'; correct it",
        ),
        (
            "]: R",
            "]: ",
            "5: state 'right': an instruction must be L, R, a synonym (there is none), or as in "
            "{write: 1, R: state}, got nothing; correct it",
        ),
        (
            "[1,0]",
            "[]",
            "5: a symbol of state 'right' must be one character or several, got []; name one",
        ),
        (
            "[1,0]",
            "[1,[0]]",
            "5: a symbol of state 'right' must be a text, got a list; write it in quotes",
        ),
        (
            "[1,0]: R",
            "[1,0]: R, 1: L",
            "5: state 'right' must have one rule for '1', got a second one beside line 5's; keep "
            "one of them",
        ),
        (
            "done:\n",
            "right:\n",
            "7: the table must have each key once, got 'right' again after line 5; keep one of "
            "them",
        ),
        ("done:\n", "done: 3\n", "7: state 'done' must be a mapping, got '3'; write {..}"),
        ("done:", '"\\ud800":', "7: a state must be Unicode text, got '\\ud800'; rename it"),
        (
            "'1011'",
            "'1021'",
            "3: input symbol 2 must be one of ' ', 0, 1, got '2'; give it a rule or correct the "
            "input",
        ),
        ("'1011'", "[1]", "3: the input must be a text, got a list; write it in quotes"),
        (
            "table:",
            "synonyms: {go: {R: no}}\ntable:",
            "4: synonym 'go' names the unknown state 'no'; declared states: carry, done, right",
        ),
        (
            "table:",
            "synonyms: {go: R, on: go}\ntable:",
            "4: synonym 'on': an instruction must be L, R, a synonym (there is none), or as in "
            "{write: 1, R: state}, got 'go'; correct it",
        ),
        (
            INCREMENT,
            "source code: hello",
            "1: 'source code' must be a block of text as it is saved; begin it with |",
        ),
        (INCREMENT, "- a", "1: the machine must be a mapping, got a list; write {..}"),
        (INCREMENT, "# a", "1: must be a mapping, got an empty document; describe a machine"),
    ],
)
def test_wrong_texts_say_where_and_what(old, new, message):
    assert old in INCREMENT
    with pytest.raises(MachineFormatError) as caught:
        read(INCREMENT.replace(old, new))
    assert str(caught.value) == f"increment.yaml:{message}"


STANDS = "may stand in a machine's YAML, got"
ONE = "must be one document of YAML, the parser says:"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("carry: {", "carry: &a {", f"6: no anchors {STANDS} an anchor; remove it"),
        ("done:", "done: *a", f"7: no aliases {STANDS} an alias; write it out"),
        ("]: R", "]: !!str R", f"5: no tags {STANDS} a tag; remove it"),
        ("]: R", "]: !!python/object/apply:os.system R", f"5: no tags {STANDS} a tag; remove it"),
        ("carry: {", "carry: ! {", f"6: no tags {STANDS} a tag; remove it"),
        ("{[1,0]:", "{<<:", f"5: no merge keys {STANDS} <<; write it in quotes"),
        (INCREMENT, "a: [[[[[[[[1]]]]]]]]", f"1: at most 8 levels {STANDS} one more; flatten it"),
        (INCREMENT, "[" * 50_000, f"1: at most 8 levels {STANDS} one more; flatten it"),
        (INCREMENT, "\n- " * 100_001, f"100001: at most 100,000 nodes {STANDS} one more; split it"),
        (
            "done:\n",
            "done:\n---\nblank: _",
            f"8: {ONE} expected a single document in the stream but found another document; "
            "correct it",
        ),
        ("done:", "a: b: c", f"7: {ONE} mapping values are not allowed here; correct it"),
        (
            "'1011'",
            "'1011",
            f"5: {ONE} while parsing a block mapping expected <block end>, but found '<scalar>'; "
            "correct it",
        ),
        (
            "{1: {",
            "{: {",
            f"6: {ONE} while parsing a flow node expected the node content, but found ':'; "
            "correct it",
        ),
        ("done", "do\x07ne", "6: must be printable text, got '\\x07'; remove it"),
    ],
)
def test_what_yaml_may_not_have_is_refused(old, new, message):
    with pytest.raises(MachineFormatError) as caught:
        read(INCREMENT.replace(old, new))
    assert str(caught.value) == f"increment.yaml:{message}"


def test_a_long_list_of_states_is_cut():
    table = "".join(f"  s{n:02}:\n" for n in range(20))
    with pytest.raises(MachineFormatError, match="declared states: s00, .*, s11 and 8 more$"):
        read(f"blank: _\nstart state: x\ntable:\n{table}")


@settings(max_examples=150)
@given(data=st.data())
def test_what_is_written_is_read_again(moving_cases, table_of, data):
    machine, word = data.draw(moving_cases)
    again = turingmachine_io.read(turingmachine_io.write(machine, word), "random.yaml")
    assert table_of(again.machine) == table_of(machine)
    assert again.word == word
    assert again.machine.name == "random"
    assert set(again.machine.states) == set(machine.states)
    text = turingmachine_io.write(again.machine, again.word)
    assert turingmachine_io.read(text, "random.yaml") == again


names = st.text(st.characters(exclude_categories=("C", "Z"), include_characters=" "), min_size=1)


@settings(max_examples=150)
@given(
    symbols=st.lists(names.map(lambda text: text[0]), min_size=2, max_size=4, unique=True),
    states=st.lists(names, min_size=2, max_size=4, unique=True),
    name=names,
)
def test_any_printable_names_are_written_and_read_again(symbols, states, name):
    rules = {
        (states[0], symbol): Rule(write=symbols[0], move=1, next_state=states[1])
        for symbol in symbols
    }
    machine = TuringMachine(
        name=name,
        blank=symbols[0],
        alphabet=tuple(symbols),
        states=tuple(states),
        start=states[0],
        halting=frozenset(states[1:]),
        rules=rules,
    )
    given_file = MachineFile(machine=machine, word=tuple(symbols))
    assert turingmachine_io.read(turingmachine_io.write(machine, symbols), "x.yaml") == given_file


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"rules": {("s", "b"): Rule(write="1", move=0, next_state="s")}},
            "moves L and R, got a stay move in state 's' on 'b'; move there and back",
        ),
        (
            {"alphabet": ("b", "1", "2")},
            "symbols that some rule reads or writes, got '2', which none does; leave it out of "
            "the alphabet",
        ),
        (
            {"blank": "10", "alphabet": ("10",), "rules": {}},
            "symbols of one printable character, got '10'; rename it",
        ),
        ({"states": ("s", "\t")}, "printable names of states, got '\\t'; rename it"),
    ],
)
def test_what_the_format_lacks_is_not_written(changes, message):
    plain = {
        "name": "m",
        "blank": "b",
        "alphabet": ("b", "1"),
        "states": ("s",),
        "start": "s",
        "halting": frozenset(),
        "rules": {("s", "b"): Rule(write="1", move=1, next_state="s")},
    }
    with pytest.raises(MachineFormatError) as caught:
        turingmachine_io.write(TuringMachine(**(plain | changes)))
    assert str(caught.value) == (
        f"machine 'm': turingmachine.io's YAML requires {message}, or use another format"
    )
