"""Every mutant of a claim on drawn, gated, residual and folded models is refuted."""

from __future__ import annotations

from pathlib import Path

import pytest

from constructions.universal.ranks import draws_checks
from verify.loading import load_file
from verify.verdicts import Status

refuting = load_file(Path(__file__).with_name("refuting.py"))


@pytest.mark.parametrize(
    ("mutant", "reason"),
    [
        ("universal.gated.probe", "axiom D: branches"),
        ("universal.gated.sparse", "goal what a branch selects"),
        ("universal.gated.common_width", "goal a zero unit adds nothing"),
        ("universal.generic.witness", "axiom witness"),
    ],
)
def test_a_broken_rule_is_not_proved_either(mutant: str, reason: str) -> None:
    verdict = refuting.proof_of(f"twin.{mutant}")
    assert verdict.status is Status.UNKNOWN
    assert reason in verdict.evidence["reason"]


@pytest.mark.parametrize(
    ("mutant", "rank"), [("universal.generic.draws", 0), ("universal.generic.draws.repeated", 3)]
)
def test_a_deficient_draw_is_refuted_of_full_rank_not_of_universality(
    mutant: str, rank: int
) -> None:
    (_, verdict), _ = refuting.settled(f"twin.{mutant}")
    said = f"its rank is {rank}; that refutes full column rank of this draw, not its universality"
    assert said in verdict.evidence["text"]


def test_the_right_draws_are_certified_at_the_quick_grid() -> None:
    verdicts = [check.method.settle(refuting.QUICK) for check in draws_checks()]
    assert [verdict.status for verdict in verdicts] == [Status.BOUNDED] * 2
    assert [verdict.instances for verdict in verdicts] == [144, 18]
