"""Mutants that one instance check alone notices, whatever the others look at."""

from __future__ import annotations

from pathlib import Path

import pytest

from verify.loading import load_file
from verify.verdicts import Status

refuting = load_file(Path(__file__).with_name("refuting.py"))


@pytest.mark.parametrize(
    ("name", "alone"),
    [
        ("learning.reencoding.short", 1),
        ("lowerbounds.attention_matching.three_heads", 1),
        ("lowerbounds.dimension.zero_layer", 1),
        ("lowerbounds.independence.all_sizes.either_sign", 2),
        ("lowerbounds.pieces.runs.third_neuron", 1),
        ("lowerbounds.two_types.eulerian.reflected", 1),
        ("lowerbounds.two_types.identity.one_layer", 1),
        ("machines.chain.large_alphabet", 0),
        ("machines.chain.stay", 1),
        ("machines.precision.wraparound.reversed", 1),
        ("machines.words.laws.slide", 1),
        ("minimal.built.every_context.four", 1),
        ("minimal.rule.holds.groups", 0),
        ("minimal.rule.holds.rounded", 1),
        ("universal.folded.identity.keys", 1),
        ("universal.folded.identity.logits", 3),
        ("universal.folded.identity.unfolded_tied", 4),
        ("universal.folded.identity.logits_tied", 5),
        ("universal.generic.draws.uniform", 0),
        ("universal.generic.draws.normal", 1),
        ("universal.precision.generic.condition", 0),
        ("universal.precision.generic.solved", 1),
        ("universal.precision.generic.derived", 2),
        ("universal.precision.sparse.own", 0),
        ("universal.probes.layer.carried", 2),
        ("universal.residual.width.carried", 2),
        ("universal.tree.width.keys", 0),
    ],
)
def test_one_check_refutes_what_the_other_instance_checks_pass(name: str, alone: int) -> None:
    checks = refuting.our_mutants()[f"twin.{name}"].claim.checks()
    instances = [place for place, check in enumerate(checks) if check.method.name != "smt"]
    found = {
        place: verdict.status
        for place, (_, verdict) in zip(instances, refuting.settled(f"twin.{name}"), strict=True)
    }
    assert found.pop(alone) is Status.REFUTED
    assert all(status >= Status.SAMPLED for status in found.values())
