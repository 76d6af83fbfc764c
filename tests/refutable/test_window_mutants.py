"""Every mutant about trained minimal transformers is refuted by a window."""

from __future__ import annotations

from pathlib import Path

import pytest

from verify.loading import load_file

refuting = load_file(Path(__file__).with_name("refuting.py"))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("minimal.parameters", "250 parameters and heads in the plane are required, got 254"),
        ("minimal.rule.decided", "length 2: the set ((0,), (11,)) is labelled wrong, but right is"),
        ("minimal.rule.decided.groups", "length 2: the groups of length 2 must each be covered"),
        ("minimal.rule.holds", "length 7: 0 4 1 1 1 1 + must be right; (6,) have greater logits"),
        ("minimal.geometry", "reading 'later' at length 3"),
        ("minimal.geometry.paper", "reading 'even' at length 8"),
    ],
)
def test_the_witness_says_what_is_wrong(name: str, text: str) -> None:
    _, verdict = refuting.settled(f"twin.{name}")[0]
    assert verdict.evidence["text"].startswith(text)
