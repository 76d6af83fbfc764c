"""The rechecker's definitions of tokens of two types accept what holds, reject what is changed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lowerbounds.all_sizes import Rules, orders_exhibit
from lowerbounds.attention_matching import SHIFT, matching_exhibit
from lowerbounds.differences import natural, order_exhibit
from lowerbounds.eulerian import derivative_exhibit
from lowerbounds.two_types import TYPES, identity_exhibit
from verify.definitions import EXHIBITS
from verify.definitions.plain import RejectedError

SHOWN: dict[str, Any] = {
    "two-types": identity_exhibit(TYPES)((2, 2, 1)),
    "logistic-derivative": derivative_exhibit(2)(3),
    "difference": order_exhibit(natural, 2)((3, 1)),
    "path-series": orders_exhibit(Rules())((2, 2)),
    "targets-span": matching_exhibit(SHIFT)((2, 2)),
}


@pytest.mark.parametrize("kind", sorted(SHOWN))
def test_what_the_suite_shows_is_accepted(kind: str) -> None:
    EXHIBITS[kind](json.loads(json.dumps(SHOWN[kind])))


@pytest.mark.parametrize(
    ("kind", "field", "change", "text"),
    [
        (
            "two-types",
            "differences",
            ["1/7", *SHOWN["two-types"]["differences"][1:]],
            "other differences",
        ),
        ("two-types", "types", [0, 1], "two tokens of type 1"),
        ("two-types", "start", SHOWN["two-types"]["start"] + 1, "other differences"),
        ("logistic-derivative", "odds", 1, "odds of the types must be 2"),
        ("logistic-derivative", "value", "1/3", "another derivative"),
        ("difference", "odds", 1, "odds of the types must be 2"),
        ("difference", "scales", [1, 1, 1, 1], "other scales"),
        ("difference", "series", ["0", "0", "0", "1"], "another coefficient of x\\^3"),
        ("path-series", "orders", SHOWN["path-series"]["orders"][::-1], "other orders"),
        ("path-series", "scales", ["1", "1"], "the scales must be 1..H"),
        ("path-series", "weights", [["1", "1"]] * 2, "signed binomials"),
        ("path-series", "odds", 1, "odds of the types must be 2"),
        ("targets-span", "shift", "0", "not that of its target"),
        ("targets-span", "tensors", SHOWN["targets-span"]["tensors"][1:], "H\\^L targets"),
    ],
)
def test_a_changed_exhibit_is_rejected(kind: str, field: str, change: Any, text: str) -> None:
    with pytest.raises(RejectedError, match=text):
        EXHIBITS[kind]({**SHOWN[kind], field: change})


def test_tensors_that_do_not_span_are_rejected() -> None:
    shown = matching_exhibit(SHIFT * 0)((2, 1))
    with pytest.raises(RejectedError, match="the weight tensors do not span"):
        EXHIBITS["targets-span"](shown)
