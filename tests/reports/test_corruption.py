"""Every field of a run's certificates, broken with all hashes made to fit, is noticed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from reports.corruption import (
    Corrupted,
    corrupted,
    decided,
    rechecked,
    shown_in,
    specimens,
    unnoticed,
)

SELECTION = (
    "universal.tree.width",
    "universal.folded.identity",
    "universal.sums.laws",
    "universal.end_to_end",
    "lowerbounds.spanning.*",
    "lowerbounds.kernel.fixed_readout",
    "lowerbounds.two_types.*",
    "machines.words.laws",
    "machines.turing.queue",
    "machines.window.halting",
    "learning.hops.*",
    "learning.dyck.*",
    "minimal.parameters",
)


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> list[Corrupted]:
    folder = tmp_path_factory.mktemp("corruption")
    command = [sys.executable, "-m", "reports.cli", "verify", *SELECTION, "--profile", "quick"]
    done = subprocess.run(
        [*command, "--jobs", "2", "--out", str(folder / "run")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return rechecked(corrupted(specimens(shown_in(folder / "run"))), folder / "broken", jobs=1)


def test_many_fields_of_many_kinds_are_broken(broken: list[Corrupted]) -> None:
    kinds = {(one.specimen.kind, one.specimen.definitions) for one in broken}
    assert len(broken) > 1000
    assert len(kinds) > 15
    assert {kind for kind, _ in kinds} >= {"smt", "identity", "exhaustive", "witness", "sampled"}


def test_every_corruption_differs_from_what_the_claim_states(broken: list[Corrupted]) -> None:
    assert [one for one in broken if not one.difference] == []
    goal = next(one for one in broken if one.place == ".goals[].smtlib")
    assert goal.difference.startswith("certificate.content.goals[0].smtlib differs: got ")


def test_the_rechecker_by_itself_notices_every_field_of_what_it_decides(
    broken: list[Corrupted],
) -> None:
    assert unnoticed(broken) == set()


def test_fields_of_goals_are_bound_to_the_record(broken: list[Corrupted]) -> None:
    goals = [one for one in broken if one.specimen.kind == "smt"]
    assert goals
    assert all(one.refused for one in goals)


def test_missing_further_and_mistyped_fields_are_refused(broken: list[Corrupted]) -> None:
    structural = [
        one
        for one in broken
        if decided(one) and (one.change.startswith("without ") or one.change == "a field more")
    ]
    assert len(structural) > 100
    assert [
        (one.specimen.definitions, one.place, one.change) for one in structural if not one.refused
    ] == []
