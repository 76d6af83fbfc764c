"""Every wrong twin of a claim on universal transformers is refuted, with its smallest witness."""

from __future__ import annotations

from pathlib import Path

import pytest

import constructions
import lowerbounds
from verify.claims import claims_in, load_file
from verify.verdicts import Status

refuting = load_file(Path(__file__).with_name("refuting.py"))
FILE = "universal_twins.py"
TWINS = refuting.twins_of(FILE)


@pytest.mark.parametrize("twin", sorted(TWINS))
def test_the_instance_checks_refute_each_twin_with_a_witness(twin: str) -> None:
    refuting.require_refuted(FILE, twin)


@pytest.mark.parametrize(
    ("twin", "reason"),
    [
        ("twin.universal.sums.laws", "false on real objects of the code: sums: axiom one more"),
        ("twin.universal.tree.padding", "goal unused coordinates are not read by R_Q"),
        ("twin.lowerbounds.spanning.fixed_readout", "axiom inner dimension"),
    ],
)
def test_a_broken_rule_is_not_proved_either(twin: str, reason: str) -> None:
    verdict = refuting.proof_of(FILE, twin)
    assert verdict.status is Status.UNKNOWN
    assert reason in verdict.evidence["reason"]


@pytest.mark.parametrize(
    ("twin", "heads", "layers"),
    [("heads_swapped", 2, 1), ("mask_off", 2, 2), ("leaf_keeps_its_end", 2, 2)],
)
def test_a_search_ends_at_the_smallest_sizes_that_show_the_fault(
    twin: str, heads: int, layers: int
) -> None:
    name = f"twin.universal.end_to_end.{twin}"
    ((_, verdict),) = refuting.settled(FILE, name)
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
    (check,) = TWINS[name].checks()
    assert check.method.settle(refuting.QUICK).evidence == verdict.evidence


def test_each_claim_of_ours_has_a_twin() -> None:
    ours = [*claims_in(constructions), *claims_in(lowerbounds)]
    files = sorted(path.name for path in Path(__file__).parent.glob("[!t]*_twins.py"))
    known = {name for file in files for name in refuting.twins_of(file)}
    families = {twin.removeprefix("twin.").rsplit(".", 1)[0] for twin in known}
    renamed = {"universal.paths.unrolling", "universal.tree.identity", "universal.shift.identity"}
    renamed |= {"universal.looped.identity", "universal.end_to_end"}
    missing = [
        item.id for item in ours if f"twin.{item.id}" not in known and item.id not in renamed
    ]
    assert missing == []
    assert {"universal.tree", "universal.shift", "universal.looped", "universal.paths"} <= families
