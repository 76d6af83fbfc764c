"""JFLAP's XML."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.machines.definitions import Rule, TuringMachine
from constructions.machines.formats import jflap
from constructions.machines.textbook import TEXTBOOK
from verify.errors import MachineFormatError

FILE = """\
<?xml version="1.0" encoding="UTF-8" standalone="no"?><!--Created with JFLAP 6.4.--><structure>&#13;
	<type>turing</type>&#13;
	<automaton>&#13;
		<!--The list of states.-->&#13;
		<state id="0" name="start"><x>80.0</x><y>170.0</y><initial/></state>&#13;
		<state id="1" name="end"><final/></state>&#13;
		<transition><from>0</from><to>0</to><read>a</read><write/><move>R</move></transition>
		<transition><from>0</from><to>1</to><read/><write>b</write><move>S</move></transition>
	</automaton>&#13;
</structure>
"""


def read(text):
    return jflap.read(text, "m.jff")


def test_states_and_transitions_are_read():
    assert read(FILE) == TuringMachine(
        name="m",
        blank="□",
        alphabet=("□", "a", "b"),
        states=("start", "end"),
        start="start",
        halting=frozenset({"end"}),
        rules={
            ("start", "a"): Rule(write="□", move=1, next_state="start"),
            ("start", "□"): Rule(write="b", move=0, next_state="end"),
        },
    )


def test_what_is_absent_is_the_blank_or_a_move_to_the_right():
    text = FILE.replace("<write/><move>R</move>", "").replace("<read/>", "<read>□</read>")
    assert read(text).rules == read(FILE).rules


def test_plain_states_may_be_called_blocks_and_need_no_names():
    blocks = FILE.replace("<state", "<block").replace("</state>", "</block>")
    blocks = blocks.replace("<initial/>", "<tag>Machine0</tag><initial/>")
    blocks = blocks.replace("	</automaton>", "<Machine0/><Machine1/></automaton>")
    assert read(blocks) == read(FILE)
    assert read(FILE.replace(' name="start"', "")).start == "q0"


def test_the_declared_encoding_does_not_matter():
    text = FILE.replace("UTF-8", "ISO-8859-1").replace("<read>a<", "<read>é<")
    assert read(text).alphabet == ("□", "é", "b")


READ = "<read>a</read>"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (FILE, "", "1: must be XML, the parser says: no element found; correct it"),
        ("</from>", "</form>", "7: must be XML, the parser says: mismatched tag; correct it"),
        (READ, "<read>&a;</read>", "7: must be XML, the parser says: undefined entity; correct it"),
        (FILE, "\n<a/>", "2: JFLAP's structure with a type is required, got 'a'; save it anew"),
        (">turing<", ">fa<", "2: the type must be 'turing', got 'fa'; use a Turing machine"),
        (
            "</type>",
            "</type><tapes>2</tapes>",
            "2: one tape is possible, got '2'; use a single tape",
        ),
        (
            READ,
            '<read tape="2">a</read>',
            "7: one tape is possible, got tape '2'; use a single tape",
        ),
        (
            "automaton>",
            "automata>",
            "1: structure must have one automaton, got none; save it anew",
        ),
        (
            "</structure>",
            "<automaton/></structure>",
            "10: structure must have one automaton, got 2; keep one of them",
        ),
        ("<initial/>", "", "3: one initial state is required, got none; mark one state"),
        (
            "<final/>",
            "<initial/>",
            "6: one initial state is required, got end, start; mark one state",
        ),
        ('id="1"', 'id="0"', "6: state 'end' must have an id of its own, got '0'; add one"),
        (
            '"end"',
            '"start"',
            "6: each state must have a name of its own, got 'start' again after line 5; rename it",
        ),
        (
            "<to>1",
            "<to>7",
            "8: a transition's 'to' must be the id of a state, got '7'; ids: 0, 1",
        ),
        (
            "<from>0</from><to>1",
            "<to>1",
            "8: a transition's 'from' must be the id of a state, got ''; ids: 0, 1",
        ),
        (
            READ,
            "<read>!a</read>",
            "7: 'read' must be a symbol, got the variable label '!a'; write a transition for each "
            "symbol",
        ),
        (
            READ,
            "<read>~</read>",
            "7: 'read' must be a symbol, got the variable label '~'; write a transition for each "
            "symbol",
        ),
        (
            READ,
            "<read>a,b}v</read>",
            "7: 'read' must be a symbol, got the variable label 'a,b}v'; write a transition for "
            "each symbol",
        ),
        (
            "<write>b",
            "<write>bb",
            "8: 'write' must be one character or empty (the blank), got 'bb'; rename it",
        ),
        (
            READ,
            "<read> </read>",
            "7: 'read' must be one character or empty (the blank), got ' '; rename it",
        ),
        (READ, READ * 2, "7: transition must have one read, got 2; keep one of them"),
        (">R<", ">X<", "7: 'move' must be L, R or S, got 'X'; correct it"),
        (
            "<read/>",
            READ,
            "8: state 'start' must have one rule for 'a', got a second one beside line 7's, which "
            "is non-determinism; keep one of them",
        ),
        (
            "<transition><from>0</from><to>1",
            '<transition block="true"><from>0</from><to>1',
            "8: transitions with read, write and move are required, got one of a building block; "
            "convert it to a machine without blocks",
        ),
        (
            "	</automaton>",
            '<block id="2" name="R"><tag>R.jff</tag></block><R.jff><block id="0"/></R.jff>'
            "</automaton>",
            "9: states without a machine inside are required, got the building block 'R'; convert "
            "it to a machine without blocks",
        ),
        (
            "<final/>",
            "<automaton><state/></automaton>",
            "6: states without a machine inside are required, got the building block 'end'; "
            "convert it to a machine without blocks",
        ),
    ],
)
def test_wrong_files_say_where_and_what(old, new, message):
    assert old in FILE
    with pytest.raises(MachineFormatError) as caught:
        read(FILE.replace(old, new))
    assert str(caught.value) == f"m.jff:{message}"


BOMB = "".join(
    f'<!ENTITY a{n + 1} "{f"&a{n};" * 10}">' if n else '<!ENTITY a1 "aaaaaaaaaa">'
    for n in range(12)
)


@pytest.mark.parametrize(
    "declared",
    [
        "<!DOCTYPE structure>",
        '<!DOCTYPE structure SYSTEM "http://localhost/a.dtd">',
        '<!DOCTYPE structure [<!ENTITY x SYSTEM "file:///etc/hostname">]>',
        f"<!DOCTYPE structure [{BOMB}]>",
    ],
)
def test_document_types_and_entities_are_refused_before_they_are_expanded(declared):
    text = FILE.replace("<structure>", f"\n{declared}<structure>").replace(READ, "<read>&x;</read>")
    with pytest.raises(MachineFormatError) as caught:
        read(text)
    assert str(caught.value) == (
        "m.jff:2: no document type may stand in a machine's XML, nor the entities that it "
        "declares, got one; remove it"
    )


@pytest.mark.parametrize("text", ["<a>" * 100_000, "<a>" + "<b/>" * 200_001 + "</a>"])
def test_deep_and_endless_files_are_refused(text):
    with pytest.raises(MachineFormatError) as caught:
        read(text)
    assert str(caught.value) == (
        "m.jff:1: at most 200,000 elements, 32 in one another, may stand in a machine's XML, got "
        "more; split it"
    )


@settings(max_examples=150)
@given(data=st.data())
def test_what_is_written_is_read_again(named_cases, table_of, data):
    machine, _ = data.draw(named_cases)
    again = jflap.read(jflap.write(machine), "random.jff")
    assert table_of(again) == table_of(machine, symbols={"_": "□"})
    assert (again.states, again.halting) == (machine.states, machine.halting)
    assert jflap.read(jflap.write(again), "random.jff") == again


@pytest.mark.parametrize("example", TEXTBOOK)
def test_textbook_machines_are_written(example, table_of):
    again = read(jflap.write(example.machine))
    assert table_of(again) == table_of(example.machine, symbols={"_": "□"})


def machine_of(symbol, state):
    return TuringMachine(
        name="m",
        blank="_",
        alphabet=("_", symbol),
        states=("s", state),
        start="s",
        halting=frozenset(),
        rules={("s", "_"): Rule(write=symbol, move=1, next_state=state)},
    )


def test_names_are_escaped():
    machine = machine_of("<", """a & "b" <'c'>""")
    assert read(jflap.write(machine)).states == machine.states
    assert read(jflap.write(machine)).alphabet == ("□", "<")


@pytest.mark.parametrize(
    ("symbol", "state", "required", "got"),
    [
        ("~", "t", "symbols of one printable character other than ! ~ } □", "'~'"),
        ("□", "t", "symbols of one printable character other than ! ~ } □", "'□'"),
        (" ", "t", "symbols of one printable character other than ! ~ } □", "' '"),
        ("10", "t", "symbols of one printable character other than ! ~ } □", "'10'"),
        ("a", "t\n", "printable names of states", r"'t\n'"),
    ],
)
def test_names_that_the_format_lacks_are_not_written(symbol, state, required, got):
    with pytest.raises(MachineFormatError) as caught:
        jflap.write(machine_of(symbol, state))
    assert str(caught.value) == (
        f"machine 'm': JFLAP's XML requires {required}, got {got}; rename it, or use another format"
    )
