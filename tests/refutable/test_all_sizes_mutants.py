"""Every mutant of the claims on all sizes is refuted, and no solver proves a broken rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from verify.loading import load_file
from verify.verdicts import Status

refuting = load_file(Path(__file__).with_name("refuting.py"))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("two_types.identity", "the difference of path [1] must be s times its factors"),
        ("two_types.eulerian", "derivative 2 of the logistic function at ln 1 must be"),
        ("two_types.differences", "difference 2 of f(c^h x) from h = 0 must begin with"),
        ("two_types.differences.equal_heads", "difference 1 of f(c^h x) from h = 1 must begin"),
        ("independence.all_sizes", "at H = 2, L = 1 the combinations of path vectors must have"),
        ("independence.all_sizes.equal_odds", "at H = 2, L = 1 the combinations of path"),
        ("independence.all_sizes.even_base", "at H = 2, L = 2 the combinations of path"),
        ("attention_matching", "the targets' weight tensors must have rank 2, got 1"),
    ],
)
def test_the_witness_says_what_fails(name: str, text: str) -> None:
    verdicts = [v for _, v in refuting.settled(f"twin.lowerbounds.{name}")]
    (refuted,) = (v for v in verdicts if v.status is Status.REFUTED)
    assert refuted.evidence["text"].startswith(text)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("two_types.identity", "attention"),
        ("two_types.eulerian", "R_k is odd: step"),
        ("two_types.differences", "axiom Taylor coefficients"),
        ("two_types.differences.equal_heads", "axiom powers"),
        ("independence.all_sizes.equal_odds", "axiom differences have every order"),
        ("attention_matching", "axiom continuity"),
    ],
)
def test_a_broken_rule_is_not_proved_either(name: str, reason: str) -> None:
    verdict = refuting.proof_of(f"twin.lowerbounds.{name}")
    assert verdict.status is Status.UNKNOWN
    assert reason in verdict.evidence["reason"]
