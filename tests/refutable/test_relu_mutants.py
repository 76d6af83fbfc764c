"""Every mutant of a claim on ReLU networks is refuted, and no solver proves a broken rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from verify.loading import load_file
from verify.verdicts import Status

refuting = load_file(Path(__file__).with_name("refuting.py"))
PARITY, NETWORK = "machines.relu.parity", "machines.relu.network"
PIECES = "lowerbounds.pieces.parity"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (PARITY, "S = 3: with m = 1 the bits of 0..S are 0 1 0 0"),
        (f"{PARITY}.scale", "S = 2: with m = 3 the bits of 0..S are 0 2/3 0"),
        (f"{PARITY}.margin", "S = 1: with m = 1 the bits of 0..S are 0 4"),
        (f"{NETWORK}.refresh", "increment, S = 6, labels: label N|right|"),
        (f"{NETWORK}.window", "increment, S = 6, counts: m = "),
        (f"{PIECES}.strict", "folds 1, D = 1, w = 2: 2 sign changes need 3 pieces, got 2"),
    ],
)
def test_the_witness_says_what_fails(name: str, text: str) -> None:
    (verdict,) = (v for _, v in refuting.settled(f"twin.{name}") if v.status is Status.REFUTED)
    assert verdict.evidence["text"].startswith(text)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (f"{PARITY}.fold", "goal what a level does"),
        (f"{PARITY}.margin", "goal the bit of an odd count is 1"),
        (f"{PARITY}.scale", "axiom read"),
        ("machines.relu.blocks", "goal a neuron is 1 when its row is asked for"),
        (PIECES, "goal codes are bounded"),
    ],
)
def test_a_broken_rule_is_not_proved_either(name: str, reason: str) -> None:
    verdict = refuting.proof_of(f"twin.{name}")
    assert verdict.status is Status.UNKNOWN
    assert reason in verdict.evidence["reason"]
