"""Every mutant of a LayerNorm claim is refuted, and no solver proves a broken rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from verify.loading import load_file
from verify.verdicts import Status

refuting = load_file(Path(__file__).with_name("refuting.py"))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("bias", "at X = 0 a fixed model must have one output for all embeddings"),
        ("bias.same_shift", "at X = 0 the target's output must differ from the fixed model's"),
        ("scale", "the square of a normalised coordinate must be at most 0, got"),
        ("scale.narrow_target", "the target's first normalised coordinate must be positive"),
        ("scale.bound_as_scale", "the target's output must exceed"),
        ("scale.shifts_unbounded", "an output must be at most"),
    ],
)
def test_the_witness_says_what_fails(name: str, text: str) -> None:
    (verdict,) = (v for _, v in refuting.settled(f"twin.lowerbounds.normalization.{name}"))
    assert verdict.evidence["text"].startswith(text)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("bias", "goal one output for all embeddings"),
        ("bias.same_shift", "no embedding simulates the target"),
        ("scale", "goal the size of a normalised coordinate"),
        (
            "scale.narrow_target",
            "goal 'what leads is above the mean' needs unsat from every solver",
        ),
        ("scale.bound_as_scale", "the target exceeds the bound"),
    ],
)
def test_a_broken_rule_is_not_proved_either(name: str, reason: str) -> None:
    verdict = refuting.proof_of(f"twin.lowerbounds.normalization.{name}")
    assert verdict.status is Status.UNKNOWN
    assert reason in verdict.evidence["reason"]
