"""Parenthesis strings: their labels, and that each string comes as often as H.1's law says.

The law is computed here string by string, from its words, with nothing of the generator's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from constructions.learning.baselines import balancing
from constructions.learning.dyck import (
    PAIRS,
    RIGHT,
    Tokens,
    _balanced,
    is_balanced,
    labelled,
    reduces,
    strings,
    written,
)

SAMPLES = 200_000
Law = dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """The shares of the law."""

    free: float = 1 / 3
    nested: float = 1 / 2
    kept: float = 1 / 2
    doubled: float = 2 / 3
    again: float = 1 / 2


def mixture(*parts: tuple[float, Law]) -> Law:
    found = Counter[str]()
    for weight, law in parts:
        for text, share in law.items():
            found[text] += weight * share
    return dict(found)


def derived(pairs: int, shares: Shares) -> Law:
    """Balanced strings of some pairs, as the recursion makes them."""
    if pairs == 1:
        return {"()": 1.0}
    inside = {f"({text})": share for text, share in derived(pairs - 1, shares).items()}
    divided = [
        (p * q, {left + right: 1.0})
        for first in range(1, pairs)
        for (left, p), (right, q) in product(
            derived(first, shares).items(), derived(pairs - first, shares).items()
        )
    ]
    split = (1 - shares.nested) / (pairs - 1)
    return mixture((shares.nested, inside), (split, mixture(*divided)))


def swapped(text: str) -> Law:
    """Two places, each as likely, exchanged if the first stands before the second."""
    found = Counter[str]()
    for p, q in product(range(len(text)), repeat=2):
        other = list(text)
        if p < q:
            other[p], other[q] = other[q], other[p]
        found["".join(other)] += 1 / len(text) ** 2
    return dict(found)


def flipped(text: str) -> Law:
    """One place, each as likely, turned."""
    turned = {"(": ")", ")": "("}
    found = [text[:place] + turned[x] + text[place + 1 :] for place, x in enumerate(text)]
    return {other: 1 / len(text) for other in found}


def repeated(law: Law, once: Callable[[str], Law], shares: Shares, doubled: float = 0) -> Law:
    """A change made 1, 2, .. times with shares that fall geometrically, or twice as often."""
    found, left = Law(), 1.0
    twice = law
    for _ in range(40):
        law = mixture(*((share, once(text)) for text, share in law.items()))
        for _ in range(2 if doubled else 0):
            twice = mixture(*((share, once(text)) for text, share in twice.items()))
        weight = left * (1 - shares.again)
        found = mixture(
            (1, found), (weight * (1 - doubled), law), (weight * doubled, twice if doubled else {})
        )
        left *= shares.again
    return found


@cache
def law_of(pairs: int, shares: Shares = Shares()) -> Law:
    """How likely each string is; what has probability below 2^-40 is left out."""
    lengths = range(1, 2 * pairs + 1)
    free = mixture(
        *(
            (0.5**n / len(lengths), {"".join(x): 1.0})
            for n in lengths
            for x in product("()", repeat=n)
        )
    )
    nested = mixture(*((1 / pairs, derived(n, shares)) for n in range(1, pairs + 1)))

    def corrupted(law: Law, none: float) -> Law:
        swaps = repeated(law, swapped, shares)
        flips = repeated(law, flipped, shares, shares.doubled)
        both = repeated(swaps, flipped, shares, shares.doubled)
        some = (1 - none) / 3
        return mixture((none, law), (some, swaps), (some, flips), (some, both))

    return mixture(
        (shares.free, corrupted(free, 1 / 4)),
        (1 - shares.free, corrupted(nested, shares.kept + (1 - shares.kept) / 4)),
    )


def distance(law: Law, counts: Counter[str]) -> float:
    """Chi-square of the counts, in its standard deviations from its mean."""
    total = sum(counts.values())
    assert set(counts) <= set(law)
    chi = sum((counts[text] - total * share) ** 2 / (total * share) for text, share in law.items())
    degrees = len(law) - 1
    return (chi - degrees) / (2 * degrees) ** 0.5


@cache
def drawn(pairs: int) -> Counter[str]:
    return Counter(
        text.rstrip("0")
        for text in written(strings(np.random.default_rng(pairs), SAMPLES, pairs).text)
    )


@pytest.mark.parametrize("pairs", [1, 2, 3])
def test_every_string_comes_as_often_as_the_law_says(pairs: int) -> None:
    law = law_of(pairs)
    assert sum(law.values()) == pytest.approx(1)
    assert len(law) == 2 ** (2 * pairs + 1) - 2
    assert distance(law, drawn(pairs)) < 5
    total = sum(abs(drawn(pairs)[text] / SAMPLES - share) for text, share in law.items()) / 2
    assert total < 0.01


STEPS = {"free": 0.05, "nested": 0.05, "kept": 0.05, "doubled": 0.15, "again": 0.15}
"""Short strings mix soon, so that how often they are corrupted shows least."""


@pytest.mark.parametrize("name", [field.name for field in fields(Shares)])
def test_another_share_would_be_noticed(name: str) -> None:
    other = replace(Shares(), **{name: getattr(Shares(), name) + STEPS[name]})
    assert distance(law_of(3, other), drawn(3)) > 10


@pytest.mark.parametrize("pairs", [2, 3, 4])
def test_derivations_come_as_often_as_the_recursion_says(pairs: int) -> None:
    law = derived(pairs, Shares())
    assert len(law) == {2: 2, 3: 5, 4: 14}[pairs]
    made = _balanced(np.random.default_rng(pairs), np.full(50_000, pairs), pairs)
    assert distance(law, Counter(written(made))) < 5


def test_lengths_are_those_of_free_strings_or_of_pairs() -> None:
    lengths = strings(np.random.default_rng(0), SAMPLES).lengths.tolist()
    law = {
        str(n): 1 / 3 / (2 * PAIRS) + (2 / 3 / PAIRS if n % 2 == 0 else 0)
        for n in range(1, 2 * PAIRS + 1)
    }
    assert distance(law, Counter(map(str, lengths))) < 5


@pytest.mark.parametrize("pairs", [1, 2, 3])
def test_the_baselines_are_those_of_the_law(pairs: int) -> None:
    law = law_of(pairs)
    rules = {
        "majority": lambda text: False,
        "count": lambda text: text.count("(") == text.count(")"),
        "count and ends": lambda text: (
            text.count("(") == text.count(")") and text[0] == "(" and text[-1] == ")"
        ),
    }
    exact = {
        name: sum(share for text, share in law.items() if rule(text) == reduces(text))
        for name, rule in rules.items()
    }
    exact["majority"] = max(exact["majority"], 1 - exact["majority"])
    found = {rule.name: float(rule.share) for rule in balancing(7, SAMPLES, pairs)}
    assert found == pytest.approx({"uniform": 0.5, **exact}, abs=0.005)


@given(st.text("()", min_size=1, max_size=40))
def test_the_label_is_the_oracle_s(text: str) -> None:
    tokens = np.array([["0()".index(symbol) for symbol in text]])
    assert is_balanced(tokens).tolist() == [reduces(text)]
    made = labelled(tokens, np.array([len(text)]))
    assert written(made.tokens) == [f"{text}?{')' if reduces(text) else '('}0"]


@pytest.mark.parametrize(
    ("text", "balanced"),
    [("()", True), (")(", False), ("(()())", True), ("(", False), ("())(()", False)],
)
def test_the_oracle_knows_balanced_strings(text: str, balanced: bool) -> None:
    assert reduces(text) is balanced


def test_symbols_behind_the_string_are_not_part_of_it() -> None:
    made = labelled(np.full((2, 4), RIGHT), np.array([1, 4]))
    assert written(made.tokens) == [")?(0000", "))))?(0"]
    assert written(made.text) == [")000", "))))"]


def test_the_same_seed_gives_the_same_strings() -> None:
    def made(seed: int) -> Tokens:
        return strings(np.random.default_rng(seed), 5).tokens

    assert (made(3) == made(3)).all()
    assert (made(3) != made(4)).any()
