"""Balanced strings and hops, by their definitions."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator
from fractions import Fraction
from hashlib import sha256
from typing import Any

from verify.definitions.plain import require


def is_balanced(text: str) -> bool:
    """Whether the depth never falls below 0 and ends there."""
    depth = 0
    for symbol in text:
        depth += 1 if symbol == "(" else -1
        if depth < 0:
            return False
    return depth == 0


def check_dyck_sequences(exhibit: Any) -> None:
    """A string of 1..2P parentheses, ?, ) if it is balanced and else (, zeros up to 2P + 3."""
    most = 2 * exhibit["pairs"]
    for sequence in exhibit["sequences"]:
        text = sequence[: sequence.index("?")]
        require(1 <= len(text) <= most and set(text) <= set("()"), "no string of parentheses")
        rest = "?" + "(" + "0" * (most + 1 - len(text))
        if is_balanced(text):
            rest = rest.replace("(", ")")
        require(sequence[len(text) :] == rest, f"another answer or other padding behind {text}")


def check_dyck_strings(exhibit: Any) -> None:
    """All balanced strings of a length, in lexical order."""
    every = map("".join, itertools.product("()", repeat=exhibit["length"]))
    require(exhibit["balanced"] == list(filter(is_balanced, every)), "other strings are balanced")


def check_dyck_derivations(exhibit: Any) -> None:
    """Balanced strings of the numbers of pairs that were asked for."""
    for pairs, text in zip(exhibit["pairs"], exhibit["strings"], strict=True):
        require(set(text) == set("()") and is_balanced(text), f"{text} is not balanced")
        require(len(text) == 2 * pairs, f"{text} has not {pairs} pairs")


def check_dyck_baselines(exhibit: Any) -> None:
    """How many labels counting gets right, and how many counting with a look at both ends."""
    strings, right = exhibit["strings"], dict.fromkeys(("count", "count and ends"), 0)
    for text in strings:
        counted = text.count("(") == text.count(")")
        right["count"] += counted == is_balanced(text)
        framed = counted and text[0] == "(" and text[-1] == ")"
        right["count and ends"] += framed == is_balanced(text)
    require(exhibit["right"] == right, "other numbers of labels are right")
    require(exhibit["shares"].keys() == right.keys(), "there must be bounds for each")
    for name, (least, most) in exhibit["shares"].items():
        share = Fraction(right[name], len(strings))
        require(Fraction(least) <= share <= Fraction(most), f"'{name}' is outside its bounds")


HOP_LETTERS, NO_TARGET, BLANK_TARGET, FIRST_LETTER = range(4), 4, 5, 17


def hop_targets(text: list[int], hops: int) -> list[int]:
    """0 hops give the character, one more what fewer give behind its last occurrence."""
    behind = [
        max((j + 1 for j in range(place) if text[j] == letter), default=None)
        for place, letter in enumerate(text)
    ]
    targets = text
    for _ in range(hops):
        targets = [NO_TARGET if place is None else targets[place] for place in behind]
    return targets


def hop_strings(length: int) -> Iterator[list[int]]:
    """All strings of characters in lexical order."""
    return map(list, itertools.product(HOP_LETTERS, repeat=length))


def neighbours_differ(text: list[int]) -> bool:
    """Whether no character is followed by itself."""
    return all(map(operator.ne, text, text[1:]))


def check_hop_sequences(exhibit: Any) -> None:
    """Tokens: query and characters of which no neighbours are equal, a blank and the targets."""
    hops = exhibit["hops"]
    for inputs, targets in zip(exhibit["inputs"], exhibit["targets"], strict=True):
        text = [token - FIRST_LETTER for token in inputs[1:]]
        require(inputs[0] == hops, "another query")
        require(set(text) <= set(HOP_LETTERS) and neighbours_differ(text), "not such characters")
        wanted = [FIRST_LETTER + target for target in (BLANK_TARGET, *hop_targets(text, hops))]
        require(targets == wanted, "other targets")


def check_hop_strings(exhibit: Any) -> None:
    """The hash of the targets of all strings of a length, a line each, with a blank before them."""
    lines = (hop_targets(text, exhibit["hops"]) for text in hop_strings(exhibit["length"]))
    text = "\n".join("_" + "".join("abcd-"[target] for target in line) for line in lines)
    require(exhibit["sha256"] == sha256(text.encode()).hexdigest(), "other targets")


def check_hop_baselines(exhibit: Any) -> None:
    """Targets that do not exist, are the character that is read, and are another."""
    right = dict.fromkeys(("missing", "current", "others"), 0)
    for text in filter(neighbours_differ, hop_strings(exhibit["length"])):
        for letter, target in zip(text, hop_targets(text, exhibit["hops"]), strict=True):
            missing = target == NO_TARGET
            right["missing" if missing else "current" if target == letter else "others"] += 1
    require({name: exhibit[name] for name in right} == right, "the targets are counted otherwise")
