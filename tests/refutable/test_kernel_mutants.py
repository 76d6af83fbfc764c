"""Every mutant of a second argument is refuted, and no solver proves a broken rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from verify.loading import load_file
from verify.verdicts import Status

refuting = load_file(Path(__file__).with_name("refuting.py"))
FIXED, FREE = "lowerbounds.kernel.fixed_readout", "lowerbounds.kernel.free_readout"
SHIFT = "lowerbounds.normalization.shift"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (FIXED, "H = 1, L = 1, d_in = 1, m = 1, seed 0: some combination of paths must vanish"),
        (FREE, "H = 1, L = 1, d_in = 1, m = 1, seed 0: some combination of paths must vanish"),
        (f"{FIXED}.sign", "H = 1, L = 1, d_in = 2, m = 1, seed 1: the sum over paths must be 0"),
        (f"{FIXED}.points", "H = 2, L = 1, d_in = 1, m = 1, seed 0: a target of the grid must"),
        (SHIFT, "a normalised coordinate must be at most 1, its square is"),
        (f"{SHIFT}.scale", "the target must return its shift"),
        (f"{SHIFT}.reached", "the target's output must exceed"),
    ],
)
def test_the_witness_says_what_fails(name: str, text: str) -> None:
    (verdict,) = (v for _, v in refuting.settled(f"twin.{name}"))
    assert verdict.evidence["text"].startswith(text)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (FIXED, "equations and unknowns: goal the embedding dimension is bounded below"),
        (FREE, "equations and unknowns: goal the embedding dimension is bounded below"),
        (f"{FIXED}.points", "powers as weights: axiom distinct numbers"),
        (SHIFT, "normalised coordinates: goal the size of a normalised coordinate"),
        (f"{SHIFT}.scale", "targets: goal the target returns its shift"),
        (f"{SHIFT}.reached", "goal 'they differ at every input' needs unsat from every solver"),
    ],
)
def test_a_broken_rule_is_not_proved_either(name: str, reason: str) -> None:
    verdict = refuting.proof_of(f"twin.{name}")
    assert verdict.status is Status.UNKNOWN
    assert reason in verdict.evidence["reason"]
