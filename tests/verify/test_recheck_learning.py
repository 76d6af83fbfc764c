"""`recheck.py` on the data of the learning tasks: what it accepts, and every field corrupted."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from constructions.learning.baselines import counting_checks, tally_checks
from constructions.learning.dyck import dyck_checks
from constructions.learning.hops import hops_checks
from verify.claims import Setting
from verify.definitions import EXHIBITS
from verify.definitions.learning import hop_targets
from verify.definitions.plain import RejectedError

Change = Callable[[Any], None]
CHECKS = {
    check.method.rechecked_as: check.method
    for check in (*dyck_checks(), *counting_checks(), *hops_checks(), *tally_checks())
}


@cache
def shown(kind: str) -> str:
    """What the check of a kind shows under the quick profile."""
    certificate = CHECKS[kind].settle(Setting(profile="quick")).certificate
    assert certificate is not None
    return json.dumps(certificate["instances"])


@pytest.mark.parametrize("kind", sorted(CHECKS))
def test_what_the_checks_show_is_accepted(kind: str) -> None:
    exhibits = json.loads(shown(kind))
    assert exhibits
    for exhibit in exhibits:
        EXHIBITS[kind](exhibit)


def turned(texts: list[str]) -> None:
    """The first text with its first parenthesis turned."""
    texts[0] = {"(": ")", ")": "("}[texts[0][0]] + texts[0][1:]


def answered(exhibit: Any) -> None:
    """The first sequence with the other answer."""
    text, answer = exhibit["sequences"][0].split("?")
    exhibit["sequences"][0] = f"{text}?{'(' if answer[0] == ')' else ')'}{answer[1:]}"


@pytest.mark.parametrize(
    ("kind", "change", "text"),
    [
        ("dyck-sequences", answered, "another answer or other padding"),
        ("dyck-sequences", lambda e: e.update(pairs=e["pairs"] + 1), "other padding"),
        ("dyck-sequences", lambda e: e.update(sequences=["?(000"]), "no string of parentheses"),
        ("dyck-sequences", lambda e: e.update(sequences=["(0?(0"]), "no string of parentheses"),
        ("dyck-strings", lambda e: e["balanced"].append(")("), "other strings are balanced"),
        ("dyck-strings", lambda e: e["balanced"].pop(), "other strings are balanced"),
        ("dyck-derivations", lambda e: turned(e["strings"]), "is not balanced"),
        ("dyck-derivations", lambda e: e["pairs"].reverse(), "has not 30 pairs"),
        ("dyck-baselines", lambda e: e["right"].update(count=9_000), "other numbers of labels"),
        ("dyck-baselines", lambda e: e["strings"].pop(), "other numbers of labels"),
        ("dyck-baselines", lambda e: e["shares"].update(count=["0", "1/2"]), "outside its bounds"),
        ("hop-sequences", lambda e: e["inputs"][0].__setitem__(0, 17), "another query"),
        ("hop-sequences", lambda e: e["inputs"][0].__setitem__(1, 21), "not such characters"),
        ("hop-sequences", lambda e: e["inputs"][0].extend([17, 17]), "not such"),
        ("hop-sequences", lambda e: e["targets"][0].reverse(), "other targets"),
        ("hop-strings", lambda e: e.update(hops=1), "other targets"),
        ("hop-baselines", lambda e: e.update(missing=e["missing"] + 1), "counted otherwise"),
        ("hop-baselines", lambda e: e.update(hops=e["hops"] + 1), "counted otherwise"),
    ],
)
def test_what_is_corrupted_is_rejected(kind: str, change: Change, text: str) -> None:
    exhibit = json.loads(shown(kind))[-1]
    change(exhibit)
    with pytest.raises(RejectedError, match=text):
        EXHIBITS[kind](exhibit)


@pytest.mark.parametrize(
    ("text", "hops", "targets"),
    [
        ("aabccabca", 1, [4, 0, 4, 4, 2, 1, 2, 0, 1]),
        ("aabccabca", 2, [4, 0, 4, 4, 2, 4, 4, 1, 2]),
        ("aaa", 16, [4, 0, 0]),
        ("ab", 0, [0, 1]),
    ],
)
def test_hops_by_hand(text: str, hops: int, targets: list[int]) -> None:
    assert hop_targets(["abcd".index(letter) for letter in text], hops) == targets
