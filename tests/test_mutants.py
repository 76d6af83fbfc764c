"""What is broken on purpose is noticed: every claim has mutants, and of many none survives."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterator

import pytest

import constructions
import lowerbounds
from reports.mutant_selection import field_of
from reports.mutation import Work, broken_claims, broken_formulas, mutate
from reports.progress import PlainProgress
from verify.claims import Setting
from verify.loading import claims_in
from verify.mutants import mutants_in
from verify.worker import Limits

CLAIMS = {item.id: item for package in (constructions, lowerbounds) for item in claims_in(package)}
MUTANTS = [item for package in (constructions, lowerbounds) for item in mutants_in(package)]

PART = (
    "universal.tree.*",
    "universal.shift.*",
    "machines.words.*",
    "machines.parity.*",
    "machines.relu.parity",
    "lowerbounds.spanning.*",
    "lowerbounds.normalization.bias",
)
"""Claims of both kinds of papers whose checks take seconds; `make trust` takes all."""


@pytest.fixture(autouse=True)
def _interruptible() -> Iterator[None]:
    kept = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, kept)


def test_every_claim_has_a_mutant_and_every_mutant_breaks_a_claim() -> None:
    assert {item.of for item in MUTANTS} == set(CLAIMS)


def test_a_mutant_bears_the_name_of_the_claim_that_it_breaks() -> None:
    for item in MUTANTS:
        assert f"{item.claim.id}.".startswith(f"twin.{item.of}.")


def test_a_mutant_has_the_checks_of_the_claim_that_it_breaks() -> None:
    for item in MUTANTS:
        own, right = item.claim.checks(), CLAIMS[item.of].checks()
        assert [c.method.name for c in own] == [c.method.name for c in right], item.claim.id


def test_of_three_hundred_mutants_all_are_killed_or_proved_harmless() -> None:
    work = Work(
        field=field_of(PART),
        setting=Setting(profile="quick"),
        limits=Limits(),
        jobs=2,
        watch=PlainProgress,
    )
    done = mutate(work, (broken_formulas, broken_claims))
    assert not done.interrupted
    assert done.failures == ()
    assert len(done.planted) >= 300
    assert set(Counter(item.kind for item in done.planted)) == {"claim", "axiom", "goal"}
    assert [item.id for item in done.planted if item.outcome == "survived"] == []
    assert all(item.reason for item in done.planted)
    assert all(item.by for item in done.planted if item.outcome == "killed")
    assert done.exit_status == 0
