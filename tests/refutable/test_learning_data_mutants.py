"""Every mutant about the data of the learning tasks is refuted by a sequence."""

from __future__ import annotations

from pathlib import Path

import pytest

from verify.loading import load_file
from verify.verdicts import Status

refuting = load_file(Path(__file__).with_name("refuting.py"))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("dyck.generator", ")(?(000 of length 2 with label False is required, got )(?)000"),
        ("dyck.generator.depth", "(?(000 of length 1 with label False is required, got (?)000"),
        ("dyck.generator.answer", "1 to 2 parentheses must stand before a ?, got"),
        ("dyck.generator.padding", "()?)0 of length 2 with label True is required, got ()?)?"),
        ("dyck.generator.derivation", "1 pairs must be balanced and zeros must follow, got )("),
        ("dyck.baselines", "the rule 'count' must be right on 23/25 to 47/50 of the sequences"),
        ("hops.generator", "query 1 and _-a-b for aaba are required, got 1 and _-a-a"),
        ("hops.generator.behind", "query 2 and _-a for aa are required, got 2 and _--"),
        ("hops.generator.blank", "query 0 and _"),
        ("hops.generator.neighbours", "neighbours must differ, got "),
        ("hops.generator.length", "(1, 2) tokens are required, got (1, 4) and (1, 4)"),
        ("hops.baselines", "1 hops, 2 characters: {'missing': 24, 'current': 0, 'others': 0}"),
    ],
)
def test_the_witness_says_what_is_wrong(name: str, text: str) -> None:
    verdicts = [v for _, v in refuting.settled(f"twin.learning.{name}")]
    (refuted,) = (v for v in verdicts if v.status is Status.REFUTED)
    assert refuted.evidence["text"].startswith(text)
