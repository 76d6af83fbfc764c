"""Every mutant of a claim on the parity network's precision is refuted, and none is proved."""

from __future__ import annotations

from pathlib import Path

import pytest

from verify.loading import load_file
from verify.verdicts import Status

refuting = load_file(Path(__file__).with_name("refuting.py"))
FRONTIER = "twin.machines.precision.frontier"
WRAPAROUND = "twin.machines.precision.wraparound"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (FRONTIER, "bfloat16, once: the bound says that S <= 256 is enough, but the network for S"),
        (f"{FRONTIER}.margin", "float64, once: the bound says that S <= 562949953421312"),
        (f"{FRONTIER}.order", "float16, sequential: the bound says that S <= 128 is enough"),
        (WRAPAROUND, "machine 0 of the family in state p on the context #: the bits (0, 0, 1)"),
    ],
)
def test_the_witness_says_what_fails(name: str, text: str) -> None:
    (verdict,) = (v for _, v in refuting.settled(name) if v.status is Status.REFUTED)
    assert verdict.evidence["text"].startswith(text)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (FRONTIER, "axiom load"),
        (f"{FRONTIER}.order", "axiom load"),
        (WRAPAROUND, "axiom bits"),
    ],
)
def test_a_broken_rule_is_not_proved_either(name: str, reason: str) -> None:
    verdict = refuting.proof_of(name)
    assert verdict.status is Status.UNKNOWN
    assert reason in verdict.evidence["reason"]
