"""Every mutant about re-encoded models is refuted by a model and, if need be, a string."""

from __future__ import annotations

from pathlib import Path

import pytest

from verify.loading import load_file
from verify.verdicts import Status

refuting = load_file(Path(__file__).with_name("refuting.py"))
EQUATIONS, RUNS, SOFTMAX = range(3)


@pytest.mark.parametrize(
    ("name", "refuting_checks", "text"),
    [
        (
            "reencoding",
            (EQUATIONS, RUNS, SOFTMAX),
            "dyck-small in tree: E' P'_0 must equal C_0; in",
        ),
        (
            "reencoding.keys",
            (EQUATIONS, RUNS, SOFTMAX),
            "dyck-small in tree: E' P'_0 must equal C_0; in row",
        ),
        (
            "reencoding.entry",
            (EQUATIONS, RUNS),
            "dyck-small in tree: E' P'_0 must equal C_0; in row 2, colu",
        ),
        (
            "reencoding.factors",
            (EQUATIONS,),
            "dyck-small in tree: E' P'_0 must equal C_0; in row 0, column",
        ),
        (
            "reencoding.scale",
            (SOFTMAX,),
            "the outputs must agree to 30 decimals; their balls do not even me",
        ),
        (
            "reencoding.mask",
            (RUNS, SOFTMAX),
            "dyck-small in tree: both models must give the same logits on [",
        ),
    ],
)
def test_which_checks_notice_what_and_what_they_say(
    name: str, refuting_checks: tuple[int, ...], text: str
) -> None:
    verdicts = [v for _, v in refuting.settled(f"twin.learning.{name}")]
    refuted = [i for i, v in enumerate(verdicts) if v.status is Status.REFUTED]
    assert refuted == [*refuting_checks]
    assert verdicts[refuted[0]].evidence["text"].startswith(text)
