"""The rechecker's own rounded parity network and its sums mod 2 reject what is wrong."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from constructions.machines.precision import WAYS, FrontierCase
from constructions.machines.precision_claims import frontier_exhibit
from constructions.machines.wraparound import wraparound_checks
from constructions.universal.floats import FORMATS
from verify.claims import Setting
from verify.definitions.plain import RejectedError
from verify.definitions.precision import check_precision_frontier, check_wraparound, rounded_ratio


def exhibit(name: str, way: str, limit: int) -> Any:
    case = FrontierCase(format=FORMATS[name], way=WAYS[way], limit=limit)
    return json.loads(json.dumps(frontier_exhibit(case)))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("name", "limit"), [("bfloat16", 256), ("float32", 40)])
def test_what_the_search_found_is_accepted(name: str, limit: int, way: str) -> None:
    check_precision_frontier(exhibit(name, way, limit))


CHANGES: list[tuple[str, dict[str, Any], str]] = [
    ("once", {"frontier": 92}, "the frontier is not before the failure"),
    ("once", {"bound": 17}, "17 is not the largest S that meets the condition"),
    ("once", {"bound": 15}, "15 is not the largest S that meets the condition"),
    ("once", {"digits": 11}, "bfloat16 has 8 digits"),
    ("once", {"failure": None}, "the search ended before its limit"),
    ("equality", {"bound": 1}, "1 is not the largest S that meets the condition"),
    ("sequential", {"way": "once"}, "6 is not the largest S that meets the condition"),
]


@pytest.mark.parametrize(("way", "change", "text"), CHANGES)
def test_a_changed_frontier_is_rejected(way: str, change: dict[str, Any], text: str) -> None:
    changed = {**exhibit("bfloat16", way, 256), **change}
    with pytest.raises(RejectedError, match=text):
        check_precision_frontier(changed)


@pytest.mark.parametrize(
    ("way", "change", "text"),
    [
        ("once", {"count": 66}, "the failure is read rightly"),
        ("once", {"count": 95}, "no such count or context"),
        ("once", {"context": 96}, "no such count or context"),
        ("pairwise", {"order": "1" * 47}, "the order has other ones"),
        ("pairwise", {"order": "1" * 43 + "0" * 4}, "the failure is read rightly"),
    ],
)
def test_a_changed_failure_is_rejected(way: str, change: dict[str, Any], text: str) -> None:
    changed = exhibit("bfloat16", way, 256)
    changed["failure"] |= change
    with pytest.raises(RejectedError, match=text):
        check_precision_frontier(changed)


def test_a_frontier_beyond_the_first_failure_is_rejected() -> None:
    changed = exhibit("bfloat16", "sequential", 256)
    changed |= {"frontier": 256, "failure": None}
    with pytest.raises(RejectedError, match=r"\d+ of \d+ tokens are misread"):
        check_precision_frontier(changed)


def test_rounding_of_ratios_goes_to_even() -> None:
    found = [rounded_ratio(number, 2, 3) for number in (17, 18, 19, 22, -18, -19)]
    assert found == [8, 8, 10, 12, -8, -10]
    assert rounded_ratio(27, 4, 8) == 7


def wraparound_exhibits() -> list[Any]:
    (check,) = (c for c in wraparound_checks() if c.method.name == "exhaustive")
    verdict = check.method.settle(Setting(profile="quick"))
    assert verdict.certificate is not None
    return json.loads(json.dumps(verdict.certificate["instances"]))


def test_sums_mod_2_are_accepted_and_changed_ones_rejected() -> None:
    shown = wraparound_exhibits()
    for one in shown:
        check_wraparound(one)
    marked = next(one for one in shown if one["displayed"] == "a #")
    for key, value, text in (
        ("bits", [1, 1, 1], "other bits"),
        ("next", ["b", "N q", 1], "another next token"),
        ("displayed", "b #", "other bits"),
    ):
        changed = copy.deepcopy(marked) | {key: value}
        with pytest.raises(RejectedError, match=text):
            check_wraparound(changed)
    with pytest.raises(RejectedError, match="two markers have no next token"):
        check_wraparound({k: v for k, v in marked.items() if k != "next"})
