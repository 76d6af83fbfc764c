"""Wrong versions of the strings for hops."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from constructions.learning.baselines import (
    Tally,
    tallied,
    tally_checks,
)
from constructions.learning.dyck import Tokens as Texts
from constructions.learning.hops import (
    CHARACTERS,
    NONE,
    framed,
    hops_checks,
    sequences,
    sources,
)
from verify.claims import Check
from verify.mutants import mutant


def first(text: Texts) -> Texts:
    """At each place the first earlier place of the same character, or NONE."""
    rows: list[list[int]] = text.tolist()
    found: Texts = np.array([[row.index(letter) for letter in row] for row in rows])
    return np.where(found == np.arange(len(rows[0])), NONE, found)


@mutant(of="learning.hops.generator", breaks="rule", latex=r"s_{k+1}(i) = 1 + \min \{\dots\}")
def a_hop_takes_the_first_occurrence() -> tuple[Check, ...]:
    """A hop leads behind the first occurrence, not the last."""
    return hops_checks(frame=partial(framed, leads=partial(sources, occurrence=first)))


@mutant(
    of="learning.hops.generator", breaks="rule", name="behind", latex=r"s_{k+1}(i) = \max \{\dots\}"
)
def a_hop_reads_the_occurrence() -> tuple[Check, ...]:
    """A hop leads to the occurrence, not behind it."""
    return hops_checks(frame=partial(framed, leads=partial(sources, behind=0)))


Pair = tuple[Texts, Texts]


@mutant(of="learning.hops.generator", breaks="data", name="blank", latex=r"y_0 = x_{s_k(1)}")
def targets_are_not_shifted_by_the_blank() -> tuple[Check, ...]:
    """The targets stand one place earlier, where the input is the character before."""

    def made(random: np.random.Generator, count: int, hops: int, length: int) -> Pair:
        inputs, targets = sequences(random, count, hops, length)
        return inputs, np.roll(targets, -1, axis=1)

    return hops_checks(made=made)


@mutant(
    of="learning.hops.generator", breaks="data", name="neighbours", latex=r"x_{i+1} \text{ uniform}"
)
def neighbours_may_be_equal() -> tuple[Check, ...]:
    """Each character is uniform among all four."""

    def made(random: np.random.Generator, count: int, hops: int, length: int) -> Pair:
        return framed(random.integers(0, CHARACTERS, (count, length - 2)), hops)

    return hops_checks(made=made)


@mutant(of="learning.hops.generator", breaks="data", name="length", latex=r"(k, x_1, \dots, x_n)")
def all_characters_are_shown() -> tuple[Check, ...]:
    """The input holds all characters drawn, the last two as well."""

    def made(random: np.random.Generator, count: int, hops: int, length: int) -> Pair:
        return sequences(random, count, hops, length + 2)

    return hops_checks(made=made)


@mutant(of="learning.hops.baselines", breaks="bound", latex=r"\#\{y_i \text{ does not exist}\} = 1")
def all_but_one_target_exist() -> tuple[Check, ...]:
    """Only the first target does not exist: the characters are seen from the beginning."""

    def seen(length: int, hops: int) -> Tally:
        found = tallied(length, hops)
        missing = min(found.missing, CHARACTERS * (CHARACTERS - 1) ** (length - 1))
        return replace(found, missing=missing, others=found.others + found.missing - missing)

    return tally_checks(seen)
