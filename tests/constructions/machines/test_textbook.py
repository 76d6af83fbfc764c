"""The textbook machines leave the tapes that they should, at every level."""

import pytest

from constructions.machines.definitions import trimmed
from constructions.machines.runs import TuringRun
from constructions.machines.simulate import run_levels
from constructions.machines.textbook import TEXTBOOK

CASES = [
    pytest.param(book.machine, word, tape, id=f"{book.machine.name}-{''.join(word)}")
    for book in TEXTBOOK
    for word, tape in book.words()
]


def numbers(limit):
    return [(f"{n:b}", f"{n + 1:b}") for n in range(limit)]


def palindromes(length):
    words = [""]
    for _ in range(length):
        words += [word + bit for word in words for bit in "01"]
    return [(word, str(int(word == word[::-1]))) for word in dict.fromkeys(words)]


def sums(limit):
    pairs = [(a, b) for a in range(limit) for b in range(limit)]
    return [("1" * a + "+" + "1" * b, "1" * (a + b)) for a, b in pairs]


def copies(limit):
    return [("1" * n, f"{'1' * n}_{'1' * n}" if n else "") for n in range(limit)]


@pytest.mark.parametrize(("machine", "word", "tape"), CASES)
def test_the_turing_machine_leaves_the_tape(machine, word, tape):
    run = TuringRun(machine, word)
    run.advance(10_000)
    assert run.state in machine.halting
    assert run.trimmed == trimmed(tape, machine.blank)


@pytest.mark.parametrize(("machine", "word", "tape"), CASES)
def test_all_levels_agree_on_the_tape(machine, word, tape):
    report = run_levels(machine, word, 10_000)
    assert (report.agree, report.disagreement, report.halted) == (True, "", True)
    assert report.turing.tape == "".join(tape)
    assert set(report.as_json()["levels"]) == {"turing", "queue", "hist", "transformer"}


@pytest.mark.parametrize(
    ("book", "cases"),
    [*zip(TEXTBOOK, [numbers(200), palindromes(6), sums(9), copies(15)], strict=True)],
    ids=[book.machine.name for book in TEXTBOOK],
)
def test_every_small_input_gives_what_its_definition_says(book, cases):
    for word, tape in cases:
        run = TuringRun(book.machine, word)
        run.advance(10_000)
        assert ("".join(run.trimmed), run.state) == (tape, "halt"), word
