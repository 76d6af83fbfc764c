"""All levels in lock-step, by the plain semantics and by the compiled loop."""

import csv
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.machines import simulate
from constructions.machines.compiled import run as compiled
from constructions.machines.definitions import MachineError, TuringMachine
from constructions.machines.formats import bbchallenge
from constructions.machines.levels import LEVELS
from constructions.machines.parity import parity_machine
from constructions.machines.simulate import Constructions, run_levels, run_queue_levels
from constructions.machines.turing import Phase
from constructions.machines.window import ABSENT, Normal, Pending, window_transformer

CHAMPIONS = Path(__file__).parents[4] / "shared" / "data" / "champions.tsv"
BEAVERS = [
    ("1RB1LB_1LA1RZ", 6, 4, 4),
    ("1RB1RZ_1LB0RC_1LC1LA", 21, 5, 5),
    ("1RB1LB_1LA0LC_1RZ1LD_1RD0RA", 107, 13, 14),
    ("1RB2LB1RZ_2LA2RB1LB", 38, 9, 9),
]
ENGINES = pytest.mark.parametrize("engine", [simulate, compiled], ids=["plain", "compiled"])
FOUR = bbchallenge.read("1RB1LB_1LA0LC_1RZ1LD_1RD0RA")


@ENGINES
@pytest.mark.parametrize(("text", "steps", "nonblank", "cells"), BEAVERS)
def test_busy_beavers_agree_at_all_levels(engine, text, steps, nonblank, cells):
    report = engine.run_levels(bbchallenge.read(text), (), 1000)
    assert report.disagreement == ""
    assert (report.agree, report.halted, report.steps) == (True, True, steps)
    assert (report.turing.nonblank, report.turing.cells) == (nonblank, cells)
    assert report.transformer.max_context <= report.hist.max_window + 1
    assert report.transformer.tokens <= 3 * report.hist.steps


@ENGINES
@pytest.mark.skipif(not CHAMPIONS.exists(), reason=f"no file {CHAMPIONS.name} beside the project")
def test_champions_run_as_listed(engine):
    with CHAMPIONS.open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            machine = bbchallenge.read(row["machine"], CHAMPIONS.name)
            alone = engine.run_levels(machine, (), int(row["max_steps"]), ["turing"])
            figures = (alone.steps, alone.turing.nonblank, alone.turing.cells)
            assert figures == tuple(int(row[key]) for key in ("steps", "nonblank", "cells"))
            assert alone.halted == (row["halted"] == "yes")
            most = min(1500 if engine is simulate else 20_000, alone.steps)
            together = engine.run_levels(machine, (), most)
            assert together.agree, together.disagreement
            assert together.steps == most


@ENGINES
def test_the_json_has_the_asked_levels_only(engine):
    report = engine.run_levels(bbchallenge.read("1RB1LB_1LA1RZ"), (), 100)
    assert report.as_json() == {
        "machine": "1RB1LB_1LA1RZ",
        "halted": True,
        "steps": 6,
        "levels": {
            "turing": {"steps": 6, "nonblank": 4, "cells": 4, "tape": "1111"},
            "queue": {"steps": 15, "max_length": 5},
            "hist": {"steps": 15, "max_window": 4},
            "transformer": {"tokens": 26, "max_context": 5, "refreshes": 7},
        },
        "agree": True,
    }
    for levels in (["turing"], ["queue"], ["hist"], ["transformer"], ["queue", "transformer"]):
        alone = engine.run_levels(bbchallenge.read("1RB1LB_1LA1RZ"), (), 100, levels).as_json()
        assert list(alone["levels"]) == levels
        assert all(alone["levels"][name] == report.as_json()["levels"][name] for name in levels)


@settings(max_examples=150, deadline=None)
@given(data=st.data(), limit=st.integers(0, 60))
def test_random_machines_agree_at_all_levels(turing_cases, data, limit):
    machine, word = data.draw(turing_cases)
    report = run_levels(machine, word, limit)
    assert report.agree, report.disagreement
    assert report.steps <= limit
    alone = run_levels(machine, word, limit, ["turing"])
    assert (alone.halted, alone.steps, alone.turing) == (
        report.halted,
        report.steps,
        report.turing,
    )
    queue = run_levels(machine, word, limit, ["queue"])
    assert (queue.halted, queue.steps, queue.queue) == (report.halted, report.steps, report.queue)


@settings(max_examples=150, deadline=None)
@given(data=st.data(), limit=st.integers(0, 400), some=st.sets(st.sampled_from(LEVELS), min_size=1))
def test_compiled_reports_are_the_plain_ones(turing_cases, queue_cases, data, limit, some):
    machine, word = data.draw(turing_cases)
    levels = [level for level in LEVELS if level in some]
    assert compiled.run_levels(machine, word, limit, levels) == run_levels(
        machine, word, limit, levels
    )
    machine, word = data.draw(queue_cases)
    levels = levels[levels[0] == "turing" :] or ["queue"]
    assert compiled.run_queue_levels(machine, word, limit, levels) == run_queue_levels(
        machine, word, limit, levels
    )


@settings(max_examples=100, deadline=None)
@given(data=st.data(), limit=st.integers(0, 120))
def test_random_queue_machines_agree(queue_cases, data, limit):
    machine, word = data.draw(queue_cases)
    report = run_queue_levels(machine, word, limit)
    assert report.agree, report.disagreement
    assert report.steps == report.queue.steps == report.hist.steps <= limit
    assert report.halted or report.steps == limit
    assert "turing" not in report.as_json()["levels"]


@ENGINES
@pytest.mark.parametrize("levels", [["turing"], ["queue"], list(LEVELS)])
def test_max_steps_counts_rules_at_every_level(engine, levels):
    assert engine.run_levels(FOUR, (), 106, levels).as_json()["halted"] is False
    assert engine.run_levels(FOUR, (), 106, levels).steps == 106
    assert engine.run_levels(FOUR, (), 107, levels).halted
    assert engine.run_levels(FOUR, (), 0, levels).steps == 0


@ENGINES
def test_a_missing_rule_halts_even_at_the_limit(engine):
    machine = bbchallenge.read("1RB---_------")
    for levels in (["turing"], ["queue"], list(LEVELS)):
        report = engine.run_levels(machine, (), 1, levels)
        assert (report.halted, report.steps, report.agree) == (True, 1, True)


@ENGINES
def test_inputs_and_empty_inputs_agree(engine):
    for word in ("", "1", "0", "1101", "0010"):
        report = engine.run_levels(FOUR, word, 300)
        assert report.agree, report.disagreement


@ENGINES
def test_a_halting_start_agrees(engine):
    machine = TuringMachine(
        name="none",
        blank="_",
        alphabet=("_", "1"),
        states=("H",),
        start="H",
        halting=frozenset({"H"}),
        rules={},
    )
    report = engine.run_levels(machine, ("_", "1", "_", "1"), 10)
    assert (report.agree, report.halted, report.steps) == (True, True, 0)
    assert report.turing.tape == "1_1"


def test_wrong_requests_are_refused():
    with pytest.raises(MachineError, match="levels must be some of turing, queue"):
        run_levels(FOUR, (), 5, ["tape"])
    with pytest.raises(MachineError, match=r"levels must be some of .*got none"):
        run_levels(FOUR, (), 5, [])
    with pytest.raises(MachineError, match=r"run_levels\.input_word: symbol 0"):
        run_levels(FOUR, ("2",), 5)


def twin(machine, change):
    """The same machine whose rule's answers are changed: change(state, read, answer)."""
    return replace(machine, rule=lambda state, read: change(state, read, machine.rule(state, read)))


def forgets_parity(stored, _, answer):
    after, word = answer
    return (replace(after, parity=stored.parity) if len(word) > 1 else after), word


def shifts_parity(_, __, answer):
    after, word = answer
    return replace(after, parity=after.parity ^ 0b11), word


def swaps_appended(_, __, answer):
    after, word = answer
    return after, word[::-1]


def keeps_the_flag(_, __, answer):
    after, word = answer
    return replace(after, first=True), word


@ENGINES
@pytest.mark.parametrize("change", [forgets_parity, shifts_parity, swaps_appended, keeps_the_flag])
def test_wrong_parity_machines_disagree(engine, change):
    wrong = Constructions(hist=lambda queue: twin(parity_machine(queue), change))
    report = engine.run_levels(FOUR, (), 200, constructions=wrong)
    assert not report.agree
    assert report.disagreement


def loses_the_head(control, _, answer):
    after, word = answer
    left = len(word) == 1 and word[0].endswith("*") and control.phase is not Phase.START
    return after, (word[0][:-1],) if left else word


def writes_wrongly(_, symbol, answer):
    after, word = answer
    wrong = after.phase is Phase.ARRIVE and symbol == "0"
    return (replace(after, held="0") if wrong else after), word


def never_halts(control, symbol, answer):
    after, word = answer
    return (control, (control.held,)) if after.phase is Phase.HALT else (after, word)


@ENGINES
@pytest.mark.parametrize("levels", [list(LEVELS), ["turing", "queue"]])
@pytest.mark.parametrize("change", [loses_the_head, writes_wrongly, never_halts])
def test_wrong_queue_machines_disagree(engine, change, levels):
    wrong = Constructions(queue=lambda source: twin(source.queue_machine(), change))
    report = engine.run_levels(FOUR, (), 200, levels, constructions=wrong)
    assert not report.agree
    assert report.disagreement


@ENGINES
@pytest.mark.parametrize("change", [loses_the_head, never_halts])
def test_wrong_queue_machines_do_not_run_for_ever(engine, change):
    machine = bbchallenge.read("1RB1LB_1LA---")
    wrong = Constructions(queue=lambda source: twin(source.queue_machine(), change))
    report = engine.run_levels(machine, (), 200, ["queue"], constructions=wrong)
    assert "must halt or meet the head within one rotation" in report.disagreement


def drops_refresh(transformer):
    return lambda label, seen: transformer.rule(label, 0 if seen == ABSENT else seen)


def grows_on_refresh(transformer):
    def rule(label, seen):
        token = transformer.rule(label, seen)
        return replace(token, update=1) if seen == ABSENT else token

    return rule


def forgets_to_grow(transformer):
    return lambda label, seen: replace(transformer.rule(label, seen), update=0)


def skips_pending(transformer):
    def rule(label, seen):
        token = transformer.rule(label, seen)
        pending = isinstance(token.label, Pending)
        return replace(token, label=Normal(state=token.label.state)) if pending else token

    return rule


def reads_the_wrong_bit(transformer):
    return lambda label, seen: transformer.rule(label, seen if seen == ABSENT else seen ^ 0b11)


@ENGINES
@pytest.mark.parametrize(
    "change",
    [drops_refresh, grows_on_refresh, forgets_to_grow, skips_pending, reads_the_wrong_bit],
)
def test_wrong_transformers_disagree(engine, change):
    def window(machine):
        transformer = window_transformer(machine)
        return replace(transformer, rule=change(transformer))

    report = engine.run_levels(FOUR, (), 200, constructions=Constructions(window=window))
    assert not report.agree
    assert report.disagreement
