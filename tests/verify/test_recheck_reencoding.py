"""`recheck.py` on models encoded again: what it accepts, and every field corrupted."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from constructions.learning.reencoding_claims import reencoding_checks
from verify.claims import Setting
from verify.definitions import EXHIBITS
from verify.definitions.plain import RejectedError

Change = Callable[[Any], Any]
EQUATIONS, RUNS = "reencoding", "reencoded-runs"
TREE, LOOPED, DRAWN = range(3)
CHECKS = {
    check.method.rechecked_as: check.method
    for check in reencoding_checks()
    if check.method.name == "exhaustive"
}


@cache
def shown(kind: str) -> str:
    """What the check of a kind shows under the quick profile."""
    certificate = CHECKS[kind].settle(Setting(profile="quick")).certificate
    assert certificate is not None
    return json.dumps(certificate["instances"])


@pytest.mark.parametrize("kind", [EQUATIONS, RUNS])
def test_what_the_checks_show_is_accepted(kind: str) -> None:
    exhibits = json.loads(shown(kind))
    assert len(exhibits) == 3
    for exhibit in exhibits:
        EXHIBITS[kind](exhibit)


def raised(numbers: Any, row: int = 1, column: int = 2) -> None:
    """One whole number one larger."""
    numbers["rows"][row][column] = hex(int(numbers["rows"][row][column], 16) + 1)


def trained_readout(exhibit: Any) -> None:
    """The re-encoded model as the trained one itself."""
    exhibit["reencoded"] = exhibit["source"]


def shorter(exhibit: Any) -> None:
    """A re-encoded model said to have one layer."""
    exhibit["reencoded"]["fixed"]["size"]["layers"] = 1


def cut(matrix: Any) -> None:
    """A matrix without its last column."""
    for row in matrix["rows"]:
        row.pop()


@pytest.mark.parametrize(
    ("kind", "place", "change", "text"),
    [
        (EQUATIONS, TREE, lambda e: raised(e["reencoded"]["embedding"]), "is not C_0 in column"),
        (EQUATIONS, LOOPED, lambda e: raised(e["source"]["embedding"]), "is not C_0 in column"),
        (EQUATIONS, TREE, lambda e: raised(e["source"]["readout"], 30), "is not C_0 in column"),
        (EQUATIONS, DRAWN, lambda e: raised(e["reencoded"]["embedding"]), "is not C_0 in column"),
        (
            EQUATIONS,
            DRAWN,
            lambda e: e["reencoded"]["fixed"]["draw"].update(seed=1),
            "is not C_0 in column 0",
        ),
        (EQUATIONS, TREE, trained_readout, "readout is not fixed"),
        (
            EQUATIONS,
            DRAWN,
            lambda e: e["reencoded"]["fixed"]["size"].update(head_width=1),
            "the models have different sizes",
        ),
        (EQUATIONS, TREE, shorter, "there must be a value map per layer and head"),
        (EQUATIONS, TREE, lambda e: cut(e["reencoded"]["embedding"]), "another width than the mo"),
        (EQUATIONS, TREE, lambda e: cut(e["source"]["readout"]), "another shape"),
        (EQUATIONS, TREE, lambda e: e["source"]["readout"].update(over="0x3"), "power of 2"),
        (
            EQUATIONS,
            TREE,
            lambda e: e["reencoded"]["fixed"]["size"].update(residual=1),
            "is not attention-only",
        ),
        (
            EQUATIONS,
            DRAWN,
            lambda e: e["reencoded"].update(readout=e["source"]["readout"]),
            "has a readout of its own",
        ),
        (
            EQUATIONS,
            TREE,
            lambda e: e["reencoded"]["fixed"]["queries"][0].reverse(),
            "is not C_0 in column 0",
        ),
        (RUNS, TREE, lambda e: raised(e["source"]["embedding"]), "the logits differ on"),
        (RUNS, LOOPED, lambda e: raised(e["reencoded"]["embedding"]), "the logits differ on"),
        (RUNS, TREE, lambda e: raised(e["source"]["readout"], 30), "the logits differ on"),
        (RUNS, TREE, lambda e: e.update(strings=[]), "no string is run"),
    ],
)
def test_what_is_corrupted_is_rejected(kind: str, place: int, change: Change, text: str) -> None:
    exhibit = json.loads(shown(kind))[place]
    change(exhibit)
    with pytest.raises(RejectedError, match=text):
        EXHIBITS[kind](exhibit)
