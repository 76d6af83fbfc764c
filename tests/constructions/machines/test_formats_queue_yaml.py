"""The YAML of queue machines."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.machines.formats import queue_yaml
from constructions.machines.formats.machine_file import MachineFile, QueueTable
from constructions.machines.runs import QueueRun
from verify.errors import MachineFormatError

TEXT = """\
alphabet: '>_a'
blank: _
front: '>'
start state: p
halt state: h
rules:
  p:
    '>': [p, '>']
    a: [p, aa]
    _: [h, _]
"""
TABLE = QueueTable(
    name="m",
    alphabet=(">", "_", "a"),
    blank="_",
    front=">",
    start="p",
    halt="h",
    rules={"p": {">": ("p", (">",)), "a": ("p", ("a", "a")), "_": ("h", ("_",))}},
)


def read(text):
    return queue_yaml.read(text, "m.queue.yaml")


def test_a_machine_and_its_input_are_read():
    assert read(TEXT) == MachineFile(machine=TABLE)
    assert read(TEXT + "input: a_\n") == MachineFile(machine=TABLE, word=("a", "_"))
    assert read(TEXT.replace("'>_a'", "['>', _, a]")).machine == TABLE
    assert read(TEXT + "name: doubling\n").machine.name == "doubling"


def test_symbols_may_share_a_rule():
    shared = TEXT.replace("    a: [p, aa]\n    _: [h, _]\n", "    [a, _]: [h, _]\n")
    assert read(shared).machine.rules["p"]["a"] == read(shared).machine.rules["p"]["_"]


def test_the_machine_runs_by_its_table():
    run = QueueRun(TABLE.machine(), "aa_")
    while not run.halted:
        run.step()
    assert ("".join(run.queue), run.steps, run.state) == (">aaaa_", 4, "h")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("'>_a'", "'>_aa'", "1: the alphabet must have each symbol once, got > _ a a; drop one"),
        ("'>_a'", "[ab]", "1: a symbol of the alphabet must be one character, got 'ab'; rename it"),
        (
            "blank: _",
            "blank: b",
            "2: the blank must be one of >, _, a, got 'b'; add it to the alphabet",
        ),
        (
            "front: '>'",
            "front: b",
            "3: the front symbol must be one of >, _, a, got 'b'; add it to the alphabet",
        ),
        (
            "front:",
            "frnt:",
            "3: the keys of the machine are alphabet, blank, front, start state, halt state, "
            "rules, input, name, got 'frnt'; remove it",
        ),
        (
            "state: p",
            "state: q",
            "4: 'start state' names the unknown state 'q'; declared states: h, p",
        ),
        (
            "state: h",
            "state: p",
            "7: the halt state must have no rules, got rules of 'p'; remove them",
        ),
        (
            "[h, _]",
            "[x, _]",
            "10: state 'p' names the unknown state 'x'; declared states: h, p",
        ),
        (
            "[p, aa]",
            "[p, aaa]",
            "9: a rule of state 'p' must append one or two of >, _, a, got 'aaa'; correct it",
        ),
        (
            "[p, aa]",
            "[p, ab]",
            "9: a rule of state 'p' must append one or two of >, _, a, got 'ab'; correct it",
        ),
        (
            "[p, aa]",
            "[p, '']",
            "9: what a rule of state 'p' appends must be a text, got nothing; write it in quotes",
        ),
        (
            "[p, aa]",
            "[p]",
            "9: a rule of state 'p' must be [next state, appended symbols], got 1 parts; write it "
            'as [p, "ab"]',
        ),
        ("[p, aa]", "p", "9: a rule of state 'p' must be a list, got 'p'; write [..]"),
        (
            "    a: [p, aa]\n",
            "",
            "7: state 'p' must have a rule for every symbol, got none for 'a'; add it, or name it "
            "in a list of symbols that share a rule",
        ),
        (
            "    _:",
            "    [_, a]:",
            "10: state 'p' must have one rule for 'a', got a second one beside line 9's; keep one "
            "of them",
        ),
        (
            "    _:",
            "    [_, b]:",
            "10: a symbol of state 'p' must be one of >, _, a, got 'b'; add it to the alphabet",
        ),
        (
            "rules:",
            "input: ab\nrules:",
            "6: input symbol 1 must be one of >, _, a, got 'b'; give it a rule or correct the "
            "input",
        ),
        (
            TEXT,
            "&a {}",
            "1: no anchors may stand in a machine's YAML, got an anchor; remove it",
        ),
    ],
)
def test_wrong_texts_say_where_and_what(old, new, message):
    assert old in TEXT
    with pytest.raises(MachineFormatError) as caught:
        read(TEXT.replace(old, new))
    assert str(caught.value) == f"m.queue.yaml:{message}"


@settings(max_examples=100)
@given(data=st.data())
def test_what_is_written_is_read_again(queue_files, data):
    given_file = data.draw(queue_files)
    assert queue_yaml.read(queue_yaml.write(given_file.machine, given_file.word), "x") == given_file


def test_symbols_of_several_characters_are_not_written():
    table = QueueTable(
        name="m", alphabet=("ab",), blank="ab", front="ab", start="h", halt="h", rules={}
    )
    with pytest.raises(MachineFormatError) as caught:
        queue_yaml.write(table)
    assert str(caught.value) == (
        "machine 'm': a queue machine's YAML requires symbols of one printable character, got "
        "'ab'; rename it, or use another format"
    )
