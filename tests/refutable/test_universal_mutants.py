"""Every mutant of a claim on universal transformers is refuted, with its smallest witness."""

from __future__ import annotations

from pathlib import Path

import pytest

from verify.loading import load_file
from verify.verdicts import Status

refuting = load_file(Path(__file__).with_name("refuting.py"))


@pytest.mark.parametrize(
    ("mutant", "reason"),
    [
        ("twin.universal.sums.laws", "false on real objects of the code: sums: axiom one more"),
        ("twin.universal.tree.padding", "goal unused coordinates are not read by R_Q"),
        ("twin.lowerbounds.spanning.fixed_readout", "axiom inner dimension"),
    ],
)
def test_a_broken_rule_is_not_proved_either(mutant: str, reason: str) -> None:
    verdict = refuting.proof_of(mutant)
    assert verdict.status is Status.UNKNOWN
    assert reason in verdict.evidence["reason"]


@pytest.mark.parametrize(
    ("mutant", "heads", "layers"),
    [("heads_swapped", 2, 1), ("mask_off", 2, 2), ("leaf_keeps_its_end", 2, 2)],
)
def test_a_search_ends_at_the_smallest_sizes_that_show_the_fault(
    mutant: str, heads: int, layers: int
) -> None:
    name = f"twin.universal.end_to_end.{mutant}"
    ((_, verdict),) = refuting.settled(name)
    assert verdict.evidence["seed"] == 0
    found = verdict.evidence["counterexample"]
    assert found["size"] == {
        "heads": heads,
        "layers": layers,
        "head_width": 1,
        "token_width": 1,
        "neurons": 0,
        "residual": 0,
    }
    assert found["tokens"] == 1
    assert set(found["entries"]) == {"0", "1"}
    (check,) = refuting.our_mutants()[name].claim.checks()
    assert check.method.settle(refuting.QUICK).evidence == verdict.evidence
