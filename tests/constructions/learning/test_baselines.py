"""What trivial rules reach: counts agree with enumeration, samples with the exact shares."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from constructions.learning.baselines import (
    Baseline,
    Tally,
    balancing,
    counts_agree,
    counts_and_ends_agree,
    hopping,
    tallied,
)
from constructions.learning.dyck import PAIRS, labelled
from constructions.learning.findings import (
    counting_alone_reaches_such_accuracies,
    naming_a_character_beats_guessing,
)
from constructions.learning.hops import LENGTH, LETTERS, hopped


def shares(rules: tuple[Baseline, ...]) -> dict[str, float]:
    return {rule.name: float(rule.share) for rule in rules}


def enumerated(length: int, hops: int) -> Tally:
    """The tally by the oracle alone."""
    found = Counter[str]()
    for letters in product(LETTERS, repeat=length):
        text = "".join(letters)
        if any(2 * letter in text for letter in LETTERS):
            continue
        for place, letter in enumerate(text):
            target = hopped(text, place, hops)
            found["missing" if target == "-" else "current" if target == letter else "others"] += 1
    return Tally(missing=found["missing"], current=found["current"], others=found["others"])


@pytest.mark.parametrize(("length", "hops"), list(product(range(1, 7), range(5))))
def test_the_chain_counts_what_enumeration_counts(length: int, hops: int) -> None:
    found = tallied(length, hops)
    assert found == enumerated(length, hops)
    assert found.asked == length * 4 * 3 ** (length - 1)
    assert 3 * found.another == found.others


def test_one_hop_fails_once_for_each_character_that_is_seen() -> None:
    seen, expected = [Fraction(0), Fraction(1), Fraction(0), Fraction(0), Fraction(0)], Fraction(1)
    for _ in range(LENGTH - 3):
        new = [seen[n] * Fraction(4 - n, 3) for n in range(5)]
        expected += sum(new)
        seen = [Fraction(0), *(seen[n] - new[n] + new[n - 1] for n in range(1, 5))]
    found = tallied(LENGTH - 2, 1)
    assert Fraction(found.missing, found.asked) == expected / (LENGTH - 2)
    assert found.current == 0


@pytest.mark.parametrize("hops", [0, 1, 2])
def test_samples_agree_with_the_exact_shares(hops: int) -> None:
    found, exact = shares(hopping(3, 4_000, hops)), tallied(LENGTH - 2, hops)
    for name, right in (
        ("does not exist", exact.missing),
        ("current character", exact.current),
        ("another character", exact.another),
    ):
        assert found[name] == pytest.approx(float(Fraction(right, exact.asked)), abs=0.005)
    assert found["uniform"] == pytest.approx(0.2, abs=0.005)
    assert found["best constant"] == pytest.approx((1 - found["does not exist"]) / 4, abs=0.01)


def test_the_previous_character_is_behind_a_gap_of_two() -> None:
    rules = {rule.name: rule for rule in hopping(0, 4_000, 1)}
    assert float(rules["previous character"].share) == pytest.approx(0.49, abs=0.01)
    assert {rule.asked for rule in rules.values()} == {4_000 * (LENGTH - 2)}


def test_counting_does_not_balance() -> None:
    text = np.array(
        [[1, 2, 2, 1, 1, 2], [2, 1, 0, 0, 0, 0], [1, 1, 2, 0, 0, 0], [1, 2, 0, 0, 0, 0]]
    )
    made = labelled(text, np.array([6, 2, 3, 2]))
    assert made.balanced.tolist() == [False, False, False, True]
    assert counts_agree(made).tolist() == [True, True, False, True]
    assert counts_and_ends_agree(made).tolist() == [True, False, False, True]


def test_baselines_depend_on_the_seed_alone() -> None:
    assert balancing(1, 500, PAIRS) == balancing(1, 500)
    assert balancing(1, 500) != balancing(2, 500)
    assert hopping(1, 50, 2) == hopping(1, 50, 2)
    assert hopping(1, 50, 2) != hopping(2, 50, 2)
    rules = balancing(1, 500)
    assert [rule.name for rule in rules] == ["uniform", "majority", "count", "count and ends"]
    assert rules[0].share == Fraction(rules[0].right, 500)


def test_the_findings_name_the_accuracies_that_lie_below() -> None:
    counting = counting_alone_reaches_such_accuracies.text()
    naming = naming_a_character_beats_guessing.text()
    assert "fully trained, + residual and LN 93.0%" in counting
    assert "1 hop: sparse 30.2%, random 29.4%, fully trained 8.4%;" in naming
    assert "2 hops: sparse 33.2%, random 30.5%. Below random guessing: fully trained 8.4%" in naming
    assert "other one is right on 32.0%" in naming
    assert "51.8%" not in naming
