"""One machine in all formats runs alike; the examples are what the writers write."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.machines.definitions import Rule, TuringMachine
from constructions.machines.formats import bbchallenge, files, jflap, morphett, turingmachine_io
from constructions.machines.formats.machine_file import MachineFile
from constructions.machines.simulate import run_levels, run_queue_levels
from constructions.machines.textbook import ADDITION, COPY, INCREMENT, PALINDROMES
from verify.errors import MachineFormatError

EXAMPLES = Path(__file__).parents[3] / "examples" / "machines"
BEAVER = bbchallenge.read("1RB1LB_1LA0LC_1RZ1LD_1RD0RA")


def example(name):
    return files.read_file(EXAMPLES / name, name)


def everywhere(machine):
    """The machine read back from each format, with its symbols' names there."""
    blank = {machine.blank: "_"}
    symbols = (machine.blank, *(one for one in machine.alphabet if one != machine.blank))
    return (
        (morphett.read(morphett.write(machine), "m.txt"), blank),
        (turingmachine_io.read(turingmachine_io.write(machine), "m.yaml").machine, {}),
        (jflap.read(jflap.write(machine), "m.jff"), {machine.blank: "□"}),
        (
            bbchallenge.read(bbchallenge.write(bbchallenge.renamed(machine))),
            dict(zip(symbols, "0123", strict=False)),
        ),
    )


@settings(max_examples=100)
@given(data=st.data())
def test_random_machines_run_alike_from_every_format(moving_cases, data):
    machine, word = data.draw(moving_cases)
    expected = run_levels(machine, word, 100, ["turing"])
    for again, names in everywhere(machine):
        found = run_levels(again, [names.get(one, one) for one in word], 100, ["turing"])
        back = {name: "_" if one == machine.blank else one for one, name in names.items()}
        tape = "".join(back.get(one, one) for one in found.turing.tape)
        assert (found.halted, found.steps) == (expected.halted, expected.steps)
        assert replace(found.turing, tape=tape) == expected.turing


@pytest.mark.parametrize("book", [INCREMENT, PALINDROMES, ADDITION, COPY])
def test_textbook_machines_run_alike_at_every_level_from_every_format(book):
    for word in list(book.tapes)[-2:]:
        expected = run_levels(book.machine, word, 1000).as_json()
        for again, names in everywhere(book.machine)[:3]:
            symbols = [names.get(one, one) for one in word]
            assert run_levels(again, symbols, 1000).as_json() == expected | {"machine": again.name}


def test_every_format_of_the_beaver_gives_the_same_report():
    expected = run_levels(BEAVER, (), 1000).as_json()
    assert (expected["steps"], expected["agree"]) == (107, True)
    for ending in ("bb.txt", "txt", "yaml", "jff"):
        machine = example(f"beaver4.{ending}").machine
        assert run_levels(machine, (), 1000).as_json() == expected | {"machine": machine.name}


@pytest.mark.parametrize("ending", ["bb.txt", "txt", "yaml", "jff"])
def test_the_beaver_examples_are_what_the_writers_write(ending):
    text = (EXAMPLES / f"beaver4.{ending}").read_text(encoding="utf-8")
    assert text == files.written(MachineFile(machine=BEAVER), f"beaver4.{ending}")


@pytest.mark.parametrize(
    ("name", "states", "symbols"),
    [
        ("increment.txt", {"right": "0"}, {}),
        ("increment.yaml", {"halt": "done"}, {"_": " "}),
        ("increment.jff", {"halt": "done"}, {"_": "□"}),
    ],
)
def test_the_increment_examples_are_the_textbook_machine(name, states, symbols, table_of):
    assert table_of(example(name).machine) == table_of(INCREMENT.machine, states, symbols)


def test_the_queue_example_doubles_its_input():
    given_file = example("doubling.queue.yaml")
    report = run_queue_levels(given_file.machine.machine(), given_file.word, 100)
    assert (report.halted, report.steps, report.agree) == (True, 5, True)
    assert report.queue.max_length == 1 + 2 * len(given_file.word)
    again = files.written(given_file, "again.queue.yaml")
    assert files.queue_yaml.read(again, "doubling.queue.yaml") == given_file


def test_every_example_is_tested_here():
    endings = {"beaver4": "bb.txt txt yaml jff", "increment": "txt yaml jff"}
    names = {f"{name}.{one}" for name, listed in endings.items() for one in listed.split()}
    assert {path.name for path in EXAMPLES.iterdir()} == names | {"doubling.queue.yaml"}


# bbchallenge's names


@pytest.mark.parametrize("text", ["1RB1LB_1LA1RZ", "1RB---_1LA---", "1RB2LB1RZ_2LA2RB1LB"])
def test_a_machine_under_the_formats_names_is_renamed_to_itself(text):
    machine = bbchallenge.read(text)
    assert bbchallenge.renamed(machine) == machine


def test_the_start_becomes_a_the_blank_0_and_the_halting_state_z():
    assert bbchallenge.write(bbchallenge.renamed(INCREMENT.machine)) == "0LB1RA2RA_2LZ2LZ1LB"


def turing(*, moves=(1,), states=("s",), halting=(), start="s", symbols=("_", "a")):
    rules = {
        (state, symbols[place]): Rule(write="_", move=move, next_state=target)
        for state in states
        for place, (move, target) in enumerate(zip(moves, (*halting, state), strict=False))
    }
    return TuringMachine(
        name="m",
        blank="_",
        alphabet=symbols,
        states=(*states, *halting),
        start=start,
        halting=frozenset(halting),
        rules=rules,
    )


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        (turing(moves=(0,)), "moves L and R, got a stay move; make two moves of it"),
        (
            turing(moves=(1, 1), halting=("no", "yes")),
            "one halting state, got no, yes; merge them",
        ),
        (turing(halting=("h",), start="h"), "a start that runs, got one that halts; begin earlier"),
        (
            turing(states=tuple("abcdefghijklmnopqrstuvwxyz")[:26], start="a"),
            "at most 25 states, got 26; merge some",
        ),
        (
            turing(symbols=tuple("_abcdefghij")),
            "at most 10 symbols, got 11; encode them",
        ),
    ],
)
def test_machines_beyond_bbchallenges_shape_are_refused(machine, message):
    with pytest.raises(MachineFormatError) as caught:
        bbchallenge.renamed(machine)
    assert str(caught.value) == (
        f"machine 'm': bbchallenge text requires {message}, or use another format"
    )


# Damaged files

TEXTS = [path.read_text(encoding="utf-8") for path in sorted(EXAMPLES.iterdir())]
READERS = [
    lambda text: morphett.read(text, "x"),
    lambda text: turingmachine_io.read(text, "x"),
    lambda text: jflap.read(text, "x"),
    lambda text: files.queue_yaml.read(text, "x"),
    lambda text: bbchallenge.read(text, "x"),
]


@settings(max_examples=400)
@given(
    text=st.sampled_from(TEXTS),
    start=st.integers(0, 600),
    length=st.integers(0, 12),
    put=st.text(max_size=3) | st.text("{}[]:,-|&*!<>/'\"#\n 01_LR", max_size=8),
    reader=st.sampled_from(READERS),
)
def test_a_damaged_file_is_read_or_refused_in_words(text, start, length, put, reader):
    start = min(start, len(text))
    damaged = text[:start] + put + text[start + length :]
    try:
        assert reader(damaged) is not None
    except MachineFormatError as error:
        assert str(error).startswith("x:")
