"""Compiled runs: checkpoints, traces, growing words and tapes."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.machines.compiled import kernel
from constructions.machines.compiled.checkpoints import fingerprint, restore, snapshot
from constructions.machines.compiled.comparisons import report
from constructions.machines.compiled.lockstep import fits, queue_lockstep, turing_lockstep
from constructions.machines.compiled.run import run_levels
from constructions.machines.compiled.traces import trace
from constructions.machines.definitions import MachineError, Rule, TuringMachine
from constructions.machines.formats import bbchallenge
from constructions.machines.levels import LEVELS
from constructions.machines.parity import parity_machine
from constructions.machines.runs import ParityHistRun, QueueRun, TuringRun
from constructions.machines.turing import queue_machine
from constructions.machines.window import Pending, SlidingWindowRun, window_transformer
from verify.errors import CheckpointError

FIVE = bbchallenge.read("1RB1LC_1RC1RB_1RD0LE_1LA1LD_1RZ0LA")
SUBSETS = (["turing"], ["queue"], ["turing", "queue"], ["hist"], ["transformer"], list(LEVELS))


def gone_on(make, machine, limit, stops):
    """The report of a run that is written and read again at each of the stops."""
    run = make()
    for stop in stops:
        run.advance(limit, stop)
        kept = json.loads(json.dumps(snapshot(run, fingerprint(machine))))
        run = make()
        restore(run, fingerprint(machine), kept, "run.json")
    run.advance(limit, 1 << 40)
    return report(run)


@settings(max_examples=80, deadline=None)
@given(
    data=st.data(),
    limit=st.integers(0, 300),
    stops=st.lists(st.integers(0, 200), max_size=4),
    levels=st.sampled_from(SUBSETS),
)
def test_a_run_that_stopped_ends_as_one_that_did_not(
    turing_cases, queue_cases, data, limit, stops, levels
):
    machine, word = data.draw(turing_cases)
    whole = run_levels(machine, word, limit, levels)
    assert gone_on(lambda: turing_lockstep(machine, word, levels), machine, limit, stops) == whole
    queue, word = data.draw(queue_cases)
    run = queue_lockstep(queue, word)
    run.advance(limit, 1 << 40)
    assert gone_on(lambda: queue_lockstep(queue, word), queue, limit, stops) == report(run)


def test_long_runs_go_on_too():
    whole = run_levels(FIVE, (), 30_000)
    assert whole.agree, whole.disagreement
    assert whole.transformer.max_context > 2 * kernel.BLOCK // 3
    make = lambda: turing_lockstep(FIVE, ())  # noqa: E731  a maker, not a name
    assert gone_on(make, FIVE, 30_000, (1, 10_000, 1_000_000)) == whole


def changed(name, value, inner=None):
    """A checkpoint's object with one field changed, and what restoring it says."""
    run = turing_lockstep(FIVE, ())
    run.advance(1000, 5000)
    kept = snapshot(run, fingerprint(FIVE))
    (kept[inner] if inner else kept)[name] = value
    run = turing_lockstep(FIVE, ())
    with pytest.raises(CheckpointError) as caught:
        restore(run, fingerprint(FIVE), kept, "run.json")
    return str(caught.value)


def test_a_checkpoint_of_another_run_is_refused():
    assert changed("schema", "certiformer/checkpoint/9").startswith(
        "run.json: a checkpoint's schema must be the run's own, \"certiformer/checkpoint/1\", got "
        '"certiformer/checkpoint/9"; remove the file'
    )
    assert "a checkpoint's machine must be the run's own" in changed("machine", "0" * 64)
    assert "a checkpoint's levels must be the run's own" in changed("levels", ["queue"])
    assert "a checkpoint's input must be the run's own" in changed("input", ["1"])


@pytest.mark.parametrize(
    ("name", "value", "inner", "said"),
    [
        ("queue", [0, 1, 99], None, "queue must be numbers below 5"),
        ("queue", "01", None, "queue must be numbers below 5"),
        ("queue", [0, 1, 2], None, "the levels of a checkpoint must agree"),
        ("parity", 1, None, "the levels of a checkpoint must agree"),
        ("window", [], None, "the levels of a checkpoint must agree"),
        ("state", 3, None, "state must be a name"),
        ("state", ["A", "1", "waits"], None, "state must be a name"),
        ("tokens", "many", None, "tokens must be a number"),
        ("tokens", True, None, "tokens must be a number"),
        ("queue_steps", -2, "figures", "queue_steps must be a number"),
        ("figures", [], None, "must be a JSON object"),
        ("head", 10**6, "turing", "head and state must be on its tape"),
        ("state", 99, "turing", "head and state must be on its tape"),
        ("cells", [7], "turing", "cells must be numbers below 2"),
    ],
)
def test_a_checkpoint_that_is_no_place_is_refused(name, value, inner, said):
    assert said in changed(name, value, inner)


def test_a_field_that_is_missing_is_named():
    run = turing_lockstep(FIVE, ())
    kept = snapshot(run, fingerprint(FIVE))
    del kept["queue"]
    with pytest.raises(CheckpointError, match="must have the field 'queue', got none"):
        restore(turing_lockstep(FIVE, ()), fingerprint(FIVE), kept, "run.json")


def test_fingerprints_tell_machines_apart_and_not_their_names():
    other = bbchallenge.read("1RB1LC_1RC1RB_1RD0LE_1LA1LD_1RZ1LA")
    assert fingerprint(FIVE) != fingerprint(other)
    renamed = TuringMachine(
        name="five",
        blank=FIVE.blank,
        alphabet=FIVE.alphabet,
        states=FIVE.states,
        start=FIVE.start,
        halting=FIVE.halting,
        rules=FIVE.rules,
    )
    assert fingerprint(renamed) == fingerprint(FIVE)


def traced(machine, word, limit, levels=LEVELS):
    """The entries of a trace by level, and the report."""
    run = turing_lockstep(machine, word, levels)
    entries = []
    steps = list(trace(run, limit, entries.append))
    assert steps == sorted(steps)
    return {level: [e for e in entries if e["level"] == level] for level in LEVELS}, report(run)


@settings(max_examples=60, deadline=None)
@given(data=st.data(), limit=st.integers(0, 40))
def test_traces_are_the_plain_runs_step_by_step(turing_cases, data, limit):
    machine, word = data.draw(turing_cases)
    entries, found = traced(machine, word, limit)
    assert found == run_levels(machine, word, limit)
    turing = TuringRun(machine, word)
    for step, entry in enumerate(entries["turing"], 1):
        state, read = turing.state, turing.cells[turing.head]
        turing.step()
        assert (entry["step"], entry["state"], entry["read"]) == (step, state, read)
        assert entry["next"] == turing.state
    assert turing.steps == found.steps
    source = queue_machine(machine)
    queue, hist = QueueRun(source, word), ParityHistRun(parity_machine(source), word)
    run = SlidingWindowRun(window_transformer(parity_machine(source)), word)
    assert len(entries["queue"]) == len(entries["hist"]) == found.queue.steps
    for entry, above in zip(entries["queue"], entries["hist"], strict=True):
        stored, seen = hist.state.parity, hist.parity
        popped, word = queue.step(), hist.step()
        assert (entry["popped"], entry["appended"], entry["length"]) == (
            popped,
            list(word),
            len(queue.queue),
        )
        assert above["recovered"] == popped
        assert above["window"] == len(hist.window)
        assert above["seen"] == [s for i, s in enumerate(source.alphabet) if seen >> i & 1]
        assert above["stored"] == [s for i, s in enumerate(source.alphabet) if stored >> i & 1]
    assert len(entries["transformer"]) == found.transformer.tokens
    for number, entry in enumerate(entries["transformer"], 1):
        token = run.step()
        assert (entry["token"], entry["displayed"]) == (number, token.displayed)
        assert (entry["update"], entry["context"]) == (token.update, len(run.context))
        assert entry["label"].startswith("P(" if isinstance(token.label, Pending) else "N(")


def test_a_trace_holds_the_asked_levels_only():
    entries, found = traced(FIVE, (), 50, ["turing"])
    assert [len(entries[level]) for level in LEVELS] == [50, 0, 0, 0]
    assert found.steps == 50
    entries, _ = traced(FIVE, (), 50, ["transformer"])
    assert not entries["queue"]
    assert entries["transformer"]


def test_machines_with_many_symbols_are_left_to_the_plain_semantics():
    symbols = tuple(chr(0x4E00 + number) for number in range(31))
    wide = TuringMachine(
        name="wide",
        blank=symbols[0],
        alphabet=symbols,
        states=("p",),
        start="p",
        halting=frozenset(),
        rules={("p", symbols[0]): Rule(write=symbols[1], move=1, next_state="p")},
    )
    assert not fits(wide)
    assert fits(FIVE)
    with pytest.raises(MachineError, match=r"has room for 30 symbols, got 31; use"):
        turing_lockstep(wide, ())
