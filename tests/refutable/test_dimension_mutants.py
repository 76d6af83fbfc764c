"""Every mutant of a claim on dimensions or on three heads is refuted; no solver proves one."""

from __future__ import annotations

from pathlib import Path

import pytest

from verify.loading import load_file
from verify.verdicts import Status

refuting = load_file(Path(__file__).with_name("refuting.py"))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("dimension", "H = 2, L = 1, m = 1, seed 0: the responses' Jacobian must have a rank of"),
        ("dimension.scaling", "H = 2, L = 1, m = 1, seed 0: scaling must move no response"),
        ("three_heads", "det(M + t K) must have no real root, got "),
        ("three_heads.sign", "det(M + t K) must have no real root, got -1 t^2 + 0 t + "),
    ],
)
def test_the_witness_says_what_fails(name: str, text: str) -> None:
    (verdict,) = (v for _, v in refuting.settled(f"twin.lowerbounds.{name}"))
    assert verdict.evidence["text"].startswith(text)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("dimension", "assumptions that no real object met: 2 m - 1 >= L(H - 1) + 1"),
        ("dimension.scaling", "dimension: charts: axiom charts"),
        ("three_heads", "real numbers: goal the determinant on the line"),
        ("three_heads.sign", "three heads: sign: axiom sign"),
    ],
)
def test_a_broken_rule_is_not_proved_either(name: str, reason: str) -> None:
    verdict = refuting.proof_of(f"twin.lowerbounds.{name}")
    assert verdict.status is Status.UNKNOWN
    assert reason in verdict.evidence["reason"]
