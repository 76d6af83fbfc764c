"""Every mutant of a claim on meeting and independence is refuted; no solver proves one."""

from __future__ import annotations

from pathlib import Path

import pytest

from verify.loading import load_file
from verify.verdicts import Status

refuting = load_file(Path(__file__).with_name("refuting.py"))
MEETING, GRID = "lowerbounds.meeting.tight", "lowerbounds.independence.grid"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (MEETING, "H = 2, L = 1, m = 1, seed 0: path 1 must respond 3/2, got 0"),
        (f"{MEETING}.middle", "H = 2, L = 2, m = 2, seed 0: path 1 must respond 1/4, got 0"),
        (f"{MEETING}.places", "H = 3, L = 1, m = 2, seed 0: path 2 must respond 3/2, got 0"),
        (GRID, "H = 2, L = 1: the path vectors must have rank 2, it is at most 1"),
        (f"{GRID}.constant", "H = 2, L = 1: the path vectors must have rank 2, it is at most 1"),
        (f"{GRID}.heads", "H = 2, L = 1: the path vectors must have rank 2, it is at most 1"),
    ],
)
def test_the_witness_says_what_fails(name: str, text: str) -> None:
    (verdict,) = (v for _, v in refuting.settled(f"twin.{name}"))
    assert verdict.evidence["text"] == text


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (MEETING, "meeting: coordinates: goal a coordinate that is read"),
        (f"{MEETING}.middle", "meeting: joined terms: axiom middle"),
        (f"{MEETING}.places", "middle weights: degrees: goal some factors fit, the others too"),
    ],
)
def test_a_broken_rule_is_not_proved_either(name: str, reason: str) -> None:
    verdict = refuting.proof_of(f"twin.{name}")
    assert verdict.status is Status.UNKNOWN
    assert reason in verdict.evidence["reason"]
