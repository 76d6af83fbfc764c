"""Wrong twins of the claims on the data of the learning tasks.

`certiformer verify tests/refutable/learning_data_twins.py` finds for each a sequence on which it
fails.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from constructions.learning.baselines import (
    Tally,
    counting_checks,
    counts_agree,
    tallied,
    tally_checks,
)
from constructions.learning.dyck import (
    EOF,
    LEFT,
    QUERY,
    RIGHT,
    Strings,
    dyck_checks,
    is_balanced,
    labelled,
    strings,
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
from verify.claims import Check, load_file
from verify.verdicts import Status

refuting = load_file(Path(__file__).with_name("refuting.py"))
bounded = partial(refuting.twin, expected=Status.BOUNDED)
sampled = partial(refuting.twin, expected=Status.SAMPLED)


def relabelled(made: Strings, rule: Callable[[Strings], Texts]) -> Strings:
    """Sequences that carry the labels of another rule."""
    tokens = made.tokens.copy()
    tokens[np.arange(len(tokens)), made.lengths + 1] = np.where(rule(made), RIGHT, LEFT)
    return replace(made, tokens=tokens)


@sampled("learning.dyck.generator", r"|x|_( = |x|_)")
def counting_labels_strings() -> tuple[Check, ...]:
    """The label is whether there are as many ( as ): the depth may fall below 0."""
    return dyck_checks(
        framed=lambda text, lengths: relabelled(labelled(text, lengths), counts_agree)
    )


@sampled("learning.dyck.generator.depth", r"\text{the depth never falls below } 0")
def strings_may_end_above_zero() -> tuple[Check, ...]:
    """The label is whether the depth never falls below 0, wherever it ends."""

    def never_below(made: Strings) -> Texts:
        return (np.cumsum((made.text == LEFT) * 1 - (made.text == RIGHT), axis=1) >= 0).all(axis=1)

    return dyck_checks(
        framed=lambda text, lengths: relabelled(labelled(text, lengths), never_below)
    )


@sampled("learning.dyck.generator.answer", r"(x_1 \dots x_n, y, ?, 0, \dots, 0)")
def the_answer_stands_before_the_query() -> tuple[Check, ...]:
    """The answer stands before the ?."""

    def made(random: np.random.Generator, count: int, pairs: int) -> Strings:
        found = strings(random, count, pairs)
        tokens, rows = found.tokens.copy(), np.arange(count)
        tokens[rows, found.lengths] = tokens[rows, found.lengths + 1]
        tokens[rows, found.lengths + 1] = QUERY
        return replace(found, tokens=tokens)

    return dyck_checks(made=made)


@sampled("learning.dyck.generator.padding", r"(x_1 \dots x_n, ?, y, ?, \dots, ?)")
def sequences_are_padded_with_queries() -> tuple[Check, ...]:
    """Sequences are padded with ?."""

    def made(random: np.random.Generator, count: int, pairs: int) -> Strings:
        found = strings(random, count, pairs)
        return replace(found, tokens=np.where(found.tokens == EOF, QUERY, found.tokens))

    return dyck_checks(made=made)


@sampled("learning.dyck.generator.derivation", r"S \to )S( \mid SS")
def pairs_may_open_to_the_left() -> tuple[Check, ...]:
    """A derivation writes ) for a pair's first symbol."""

    def derived(random: np.random.Generator, pairs: Texts, most: int) -> Texts:
        del random
        place = np.arange(2 * most)
        return np.where(place < 2 * pairs[:, None], RIGHT - place % 2, EOF)

    return dyck_checks(derived=derived)


@bounded("learning.dyck.baselines", r"\Pr[\text{never below } 0] \ge 0.92")
def the_depth_alone_answers_as_much() -> tuple[Check, ...]:
    """Balancing itself is right on 92 to 94 % of the sequences."""
    return counting_checks({"count": lambda made: is_balanced(made.text)})


def first(text: Texts) -> Texts:
    """At each place the first earlier place of the same character, or NONE."""
    found = [[row.index(letter) for letter in row] for row in text.tolist()]
    return np.where(found == np.arange(text.shape[1]), NONE, found)


@sampled("learning.hops.generator", r"s_{k+1}(i) = 1 + \min \{\dots\}")
def a_hop_takes_the_first_occurrence() -> tuple[Check, ...]:
    """A hop leads behind the first occurrence, not the last."""
    return hops_checks(frame=partial(framed, leads=partial(sources, occurrence=first)))


@sampled("learning.hops.generator.behind", r"s_{k+1}(i) = \max \{\dots\}")
def a_hop_reads_the_occurrence() -> tuple[Check, ...]:
    """A hop leads to the occurrence, not behind it."""
    return hops_checks(frame=partial(framed, leads=partial(sources, behind=0)))


Pair = tuple[Texts, Texts]


@sampled("learning.hops.generator.blank", r"y_0 = x_{s_k(1)}")
def targets_are_not_shifted_by_the_blank() -> tuple[Check, ...]:
    """The targets stand one place earlier, where the input is the character before."""

    def made(random: np.random.Generator, count: int, hops: int, length: int) -> Pair:
        inputs, targets = sequences(random, count, hops, length)
        return inputs, np.roll(targets, -1, axis=1)

    return hops_checks(made=made)


@sampled("learning.hops.generator.neighbours", r"x_{i+1} \text{ uniform}")
def neighbours_may_be_equal() -> tuple[Check, ...]:
    """Each character is uniform among all four."""

    def made(random: np.random.Generator, count: int, hops: int, length: int) -> Pair:
        return framed(random.integers(0, CHARACTERS, (count, length - 2)), hops)

    return hops_checks(made=made)


@sampled("learning.hops.generator.length", r"(k, x_1, \dots, x_n)")
def all_characters_are_shown() -> tuple[Check, ...]:
    """The input holds all characters drawn, the last two as well."""

    def made(random: np.random.Generator, count: int, hops: int, length: int) -> Pair:
        return sequences(random, count, hops, length + 2)

    return hops_checks(made=made)


@bounded("learning.hops.baselines", r"\#\{y_i \text{ does not exist}\} = 1")
def all_but_one_target_exist() -> tuple[Check, ...]:
    """Only the first target does not exist: the characters are seen from the beginning."""

    def seen(length: int, hops: int) -> Tally:
        found = tallied(length, hops)
        missing = min(found.missing, CHARACTERS * (CHARACTERS - 1) ** (length - 1))
        return replace(found, missing=missing, others=found.others + found.missing - missing)

    return tally_checks(seen)
