"""Every wrong twin of a LayerNorm claim is refuted, and no solver proves a broken rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from lowerbounds import normalization
from verify.claims import claims_of, load_file
from verify.verdicts import Status

refuting = load_file(Path(__file__).with_name("refuting.py"))
FILE = "normalization_twins.py"
TWINS = sorted(refuting.twins_of(FILE))


@pytest.mark.parametrize("name", TWINS)
def test_the_instance_checks_refute_each_twin_with_a_witness(name: str) -> None:
    refuting.require_refuted(FILE, name)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("bias", "at X = 0 a fixed model must have one output for all embeddings"),
        ("same_shift", "at X = 0 the target's output must differ from the fixed model's"),
        ("scale", "the square of a normalised coordinate must be at most 0, got"),
        ("narrow_target", "the target's first normalised coordinate must be positive"),
        ("bound_as_scale", "the target's output must exceed"),
        ("shifts_unbounded", "an output must be at most"),
    ],
)
def test_the_witness_says_what_fails(name: str, text: str) -> None:
    (verdict,) = (v for _, v in refuting.settled(FILE, f"twin.lowerbounds.normalization.{name}"))
    assert verdict.evidence["text"].startswith(text)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("bias", "goal one output for all embeddings"),
        ("same_shift", "no embedding simulates the target"),
        ("scale", "goal the size of a normalised coordinate"),
        ("narrow_target", "goal 'what leads is above the mean' needs unsat from every solver"),
        ("bound_as_scale", "the target exceeds the bound"),
    ],
)
def test_a_broken_rule_is_not_proved_either(name: str, reason: str) -> None:
    verdict = refuting.proof_of(FILE, f"twin.lowerbounds.normalization.{name}")
    assert verdict.status is Status.UNKNOWN
    assert reason in verdict.evidence["reason"]


def test_each_claim_has_a_twin() -> None:
    assert {f"twin.{item.id}" for item in claims_of(normalization)} <= set(TWINS)
