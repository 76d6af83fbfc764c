"""Every mutant of a claim on minimal transformers is refuted; no solver proves one."""

from __future__ import annotations

from pathlib import Path

import pytest

from constructions.minimal.built import Rules, built
from constructions.minimal.decision import decide, smallest_counterexample
from constructions.minimal.exact import judge
from verify.loading import load_file
from verify.verdicts import Status

refuting = load_file(Path(__file__).with_name("refuting.py"))
BUILT = "minimal.built.every_context"


@pytest.mark.parametrize(
    ("name", "text", "rules"),
    [
        (BUILT, "T = 2, length 2: 0 + must be right", Rules(bonus=lambda _: 1)),
        (f"{BUILT}.query", "T = 2, length 2: 0 + must be right", Rules(query=1 / 32)),
        (
            f"{BUILT}.levels",
            "T = 3, length 3: 0 1 + must be right",
            Rules(odd=lambda number: number << 16),
        ),
    ],
)
def test_the_witness_is_the_smallest_wrong_window(name: str, text: str, rules: Rules) -> None:
    (verdict,) = (v for _, v in refuting.settled(f"twin.{name}"))
    assert verdict.evidence["text"].startswith(text)
    witness = verdict.evidence["counterexample"]
    model = built(witness["context"], rules=rules)
    lengths = range(2, witness["context"] + 1)
    assert smallest_counterexample(decide(model, lengths)) == tuple(witness["window"])
    assert not judge(model, witness["window"]).right


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (BUILT, "built: scores: axiom scores"),
        (f"{BUILT}.query", "built: scores: axiom scores"),
        (f"{BUILT}.levels", "built: levels: axiom levels"),
    ],
)
def test_a_broken_rule_is_not_proved_either(name: str, reason: str) -> None:
    verdict = refuting.proof_of(f"twin.{name}")
    assert verdict.status is Status.UNKNOWN
    assert reason in verdict.evidence["reason"]
