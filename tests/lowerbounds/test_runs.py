"""Runs of counts: networks, their runs, and the recheck of what is shown of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lowerbounds.line_networks import folds, machine_case, random_network, zigzag
from lowerbounds.runs import RunCase, grown, runs_exhibit, runs_fail
from lowerbounds.runs_networks import LEAKY, STEP, of_line, random_counts, stairs
from verify.definitions.pieces import check_runs
from verify.definitions.plain import RejectedError


@pytest.mark.parametrize(
    "case", [folds(3), zigzag(5), machine_case(4), random_network(3, 2, 1), random_network(2, 3, 7)]
)
def test_networks_on_a_line_keep_their_scores(case: Any) -> None:
    network = of_line(case, parity=False)
    for count in range(case.line.longest + 1):
        assert network.at(count).score == case.score(count)


def test_stairs_attain_as_many_runs_as_there_may_be() -> None:
    for longest in range(1, 9):
        network = stairs(longest)
        assert len(network.runs()) == longest + 1 == grown(network.width, 1)
        assert runs_fail()(RunCase(kind="stairs", size=longest)) is None


def test_folds_hold_two_counts_in_a_run() -> None:
    network = of_line(folds(3), parity=True)
    assert network.longest + 1 <= 2 * len(network.runs())
    assert max(map(len, network.runs())) <= 2


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 4), st.integers(1, 3), st.integers(0, 10**6), st.sampled_from([STEP, LEAKY]))
def test_runs_stay_within_the_bound(width: int, depth: int, seed: int, branches: Any) -> None:
    network = random_counts(width, depth, seed, branches)
    runs = network.runs()
    assert len(runs) <= (width + 1) ** depth
    assert [c for run in runs for c in run] == list(range(network.longest + 1))
    for run in runs:
        assert len({network.at(count).sides for count in run}) == 1


SHOWN = json.dumps(runs_exhibit(RunCase(kind="folds", size=2)))


@pytest.mark.parametrize("kind", ["stairs", "machine", "zigzag", "step", "leaky", "relu"])
def test_what_is_shown_is_rechecked(kind: Any) -> None:
    check_runs(json.loads(json.dumps(runs_exhibit(RunCase(kind=kind, size=3, depth=2)))))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda e: e["runs"].pop(), "the runs are other ones"),
        (lambda e: e["layers"][0]["offset"].__setitem__(0, "-3/2"), "the runs are other ones"),
        (lambda e: e["layers"][-1]["offset"].__setitem__(0, "9"), "the scores do not alternate"),
        (lambda e: e["branches"].__setitem__(1, ["-1", "0"]), "the runs are|do not alternate"),
        (lambda e: e["layers"].pop(1), "there are too many runs|the runs are|alternate"),
    ],
)
def test_a_changed_exhibit_is_rejected(change: Any, text: str) -> None:
    exhibit = json.loads(SHOWN)
    change(exhibit)
    with pytest.raises(RejectedError, match=text):
        check_runs(exhibit)
