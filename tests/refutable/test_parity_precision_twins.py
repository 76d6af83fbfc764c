"""Every wrong twin of a claim on the parity network's precision is refuted, and none is proved."""

from __future__ import annotations

from pathlib import Path

import pytest

from constructions.machines import precision_claims, wraparound
from verify.claims import Setting, claims_of, load_file
from verify.verdicts import Status

refuting = load_file(Path(__file__).with_name("refuting.py"))
FILE = "parity_precision_twins.py"
TWINS = sorted(refuting.twins_of(FILE))
FRONTIER = "twin.machines.precision.frontier"
WRAPAROUND = "twin.machines.precision.wraparound"


@pytest.mark.parametrize("name", TWINS)
def test_the_instance_checks_refute_each_twin_with_a_witness(name: str) -> None:
    refuting.require_refuted(FILE, name)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (FRONTIER, "bfloat16, once: the bound says that S <= 256 is enough, but the network for S"),
        (f"{FRONTIER}.margin", "float64, once: the bound says that S <= 562949953421312"),
        (f"{FRONTIER}.order", "float16, sequential: the bound says that S <= 128 is enough"),
        (WRAPAROUND, "machine 0 of the family in state p on the context #: the bits (0, 0, 1)"),
    ],
)
def test_the_witness_says_what_fails(name: str, text: str) -> None:
    (verdict,) = (v for _, v in refuting.settled(FILE, name) if v.status is Status.REFUTED)
    assert verdict.evidence["text"].startswith(text)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (FRONTIER, "axiom load"),
        (f"{FRONTIER}.order", "axiom load"),
        (WRAPAROUND, "axiom bits"),
    ],
)
def test_a_broken_rule_is_not_proved_either(name: str, reason: str) -> None:
    verdict = next(
        check.method.settle(Setting(profile="quick"))
        for check in refuting.twins_of(FILE)[name].checks()
        if check.method.name == "smt"
    )
    assert verdict.status is Status.UNKNOWN
    assert reason in verdict.evidence["reason"]


def test_each_claim_has_a_twin() -> None:
    claims = (*claims_of(precision_claims), *claims_of(wraparound))
    assert {f"twin.{item.id}" for item in claims} <= set(TWINS)
