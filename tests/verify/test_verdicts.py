"""Statuses, and how the verdicts of checks add up to a claim's status."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify.verdicts import Status, Verdict, broken, claim_status, union, unknown

CHECKS = st.lists(st.tuples(st.booleans(), st.sampled_from(Status)), min_size=1, max_size=5)


def test_statuses_are_ordered_from_weakest_to_strongest() -> None:
    assert sorted(Status) == [
        Status.BROKEN,
        Status.REFUTED,
        Status.UNKNOWN,
        Status.SAMPLED,
        Status.BOUNDED,
        Status.PROVED,
    ]


@given(CHECKS)
def test_one_refuted_or_broken_check_decides_the_claim(checks: list[tuple[bool, Status]]) -> None:
    worst = min(status for _, status in checks)
    status = claim_status(checks)
    if worst <= Status.REFUTED:
        assert status is worst
    else:
        assert status >= Status.UNKNOWN


@given(CHECKS)
def test_only_covering_checks_raise_a_claim(checks: list[tuple[bool, Status]]) -> None:
    covering = [status for covers, status in checks if covers]
    if min(status for _, status in checks) > Status.REFUTED:
        assert claim_status(checks) == max(covering, default=Status.UNKNOWN)


@given(CHECKS)
def test_the_order_of_the_checks_does_not_matter(checks: list[tuple[bool, Status]]) -> None:
    assert claim_status(checks) is claim_status(checks[::-1])


def test_a_claim_without_checks_is_unknown() -> None:
    assert claim_status([]) is Status.UNKNOWN


def test_unknown_never_turns_into_a_pass() -> None:
    assert claim_status([(True, Status.UNKNOWN), (False, Status.PROVED)]) is Status.UNKNOWN


@pytest.mark.parametrize("status", Status)
def test_a_verdict_survives_json(status: Status) -> None:
    verdict = Verdict(
        status=status,
        evidence={"checked": 3},
        trusts=("solver:z3",),
        instances=3,
        certificate={"kind": "exhaustive", "instances": [1]},
        notes={"traceback": "line 1"},
    )
    assert Verdict.from_json(json.loads(json.dumps(verdict.as_json()))) == verdict


def test_unknown_and_broken_say_why() -> None:
    assert unknown("no time", seconds=3).evidence == {"reason": "no time"}
    assert unknown("no time", seconds=3).notes == {"seconds": 3}
    assert broken("it crashed").status is Status.BROKEN


def test_trust_is_the_sorted_union_of_the_parts() -> None:
    assert union([("b", "a"), ("c",), ("a",)]) == ("a", "b", "c")
