"""Every wrong twin of a claim on universal transformers is refuted, with its smallest witness."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

import constructions.universal
import lowerbounds
from verify.claims import Claim, Setting, claims_in, claims_of, load_file
from verify.verdicts import Status, Verdict, claim_status

TWINS = Path(__file__).with_name("universal_twins.py")
QUICK = Setting(profile="quick")


@cache
def twins() -> dict[str, Claim]:
    return {item.id: item for item in claims_of(_module())}


@cache
def _module() -> ModuleType:
    return load_file(str(TWINS))


@cache
def settled(twin: str) -> list[tuple[bool, Verdict]]:
    """The verdicts of the checks that look at instances."""
    return [
        (check.covers, check.method.settle(QUICK))
        for check in twins()[twin].checks()
        if check.method.name != "smt"
    ]


@pytest.mark.parametrize("twin", sorted(twins()))
def test_the_instance_checks_refute_each_twin_with_a_witness(twin: str) -> None:
    verdicts = settled(twin)
    assert claim_status([(covers, v.status) for covers, v in verdicts]) is Status.REFUTED
    refuted = [v for _, v in verdicts if v.status is Status.REFUTED]
    assert all(v.evidence["text"] and v.evidence["counterexample"] for v in refuted)
    assert all(v.certificate and v.certificate["kind"] == "counterexample" for v in refuted)


@pytest.mark.parametrize(
    ("twin", "reason"),
    [
        ("twin.universal.sums.laws", "false on real objects of the code: sums: axiom one more"),
        ("twin.universal.tree.padding", "goal unused coordinates are not read by R_Q"),
        ("twin.lowerbounds.spanning.fixed_readout", "axiom inner dimension"),
    ],
)
def test_a_broken_rule_is_not_proved_either(twin: str, reason: str) -> None:
    (verdict,) = (
        check.method.settle(QUICK) for check in twins()[twin].checks() if check.method.name == "smt"
    )
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
    ((_, verdict),) = settled(name)
    assert verdict.evidence["seed"] == 0
    found = verdict.evidence["counterexample"]
    assert found["size"] == {
        "heads": heads,
        "layers": layers,
        "head_width": 1,
        "token_width": 1,
    }
    assert found["tokens"] == 1
    assert set(found["entries"]) == {"0", "1"}
    (check,) = twins()[name].checks()
    assert check.method.settle(QUICK).evidence == verdict.evidence


def test_each_claim_of_ours_has_a_twin() -> None:
    ours = [*claims_in(constructions.universal), *claims_in(lowerbounds)]
    families = {twin.removeprefix("twin.").rsplit(".", 1)[0] for twin in twins()}
    renamed = {"universal.paths.unrolling", "universal.tree.identity", "universal.shift.identity"}
    renamed |= {"universal.looped.identity", "universal.end_to_end"}
    missing = [
        item.id for item in ours if f"twin.{item.id}" not in twins() and item.id not in renamed
    ]
    assert missing == []
    assert {"universal.tree", "universal.shift", "universal.looped", "universal.paths"} <= families
