"""Every mutant of the claims about enclosures and finite precision is refuted."""

from __future__ import annotations

from pathlib import Path

import pytest

from verify.loading import load_file
from verify.verdicts import Status

refuting = load_file(Path(__file__).with_name("refuting.py"))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("enclosure", "the outputs must agree to 30 decimals; their balls do not even meet"),
        ("enclosure.gate", "the outputs must agree to 30 decimals"),
        ("precision.sparse", "float64 on cpu, seed"),
        ("precision.generic", "float64 on cpu, seed"),
    ],
)
def test_the_statement_itself_is_refuted_and_says_where(name: str, text: str) -> None:
    (verdict,) = (v for covers, v in refuting.settled(f"twin.universal.{name}") if covers)
    assert verdict.status is Status.REFUTED
    assert verdict.evidence["text"].startswith(text)


def test_a_bound_for_another_format_is_refuted_by_the_derived_check_alone() -> None:
    stated, derived = refuting.settled("twin.universal.precision.sparse.derived")
    assert stated[1].status is Status.SAMPLED
    assert derived[1].status is Status.REFUTED
    assert derived[1].evidence["counterexample"]["dtype"] == "float32"
