"""Wrong versions of the strings of parentheses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from constructions.learning.baselines import (
    counting_checks,
    counts_agree,
)
from constructions.learning.dyck import (
    EOF,
    LEFT,
    QUERY,
    RIGHT,
    Strings,
    Truths,
    dyck_checks,
    is_balanced,
    labelled,
    strings,
)
from constructions.learning.dyck import Tokens as Texts
from verify.claims import Check
from verify.mutants import mutant


def relabelled(made: Strings, rule: Callable[[Strings], Truths]) -> Strings:
    """Sequences that carry the labels of another rule."""
    tokens = made.tokens.copy()
    tokens[np.arange(len(tokens)), made.lengths + 1] = np.where(rule(made), RIGHT, LEFT)
    return replace(made, tokens=tokens)


@mutant(of="learning.dyck.generator", breaks="rule", latex=r"|x|_( = |x|_)")
def counting_labels_strings() -> tuple[Check, ...]:
    """The label is whether there are as many ( as ): the depth may fall below 0."""
    return dyck_checks(
        framed=lambda text, lengths: relabelled(labelled(text, lengths), counts_agree)
    )


@mutant(
    of="learning.dyck.generator",
    breaks="rule",
    name="depth",
    latex=r"\text{the depth never falls below } 0",
)
def strings_may_end_above_zero() -> tuple[Check, ...]:
    """The label is whether the depth never falls below 0, wherever it ends."""

    def never_below(made: Strings) -> Truths:
        depth = np.cumsum((made.text == LEFT) * 1 - (made.text == RIGHT), axis=1)
        return np.asarray((depth >= 0).all(axis=1))

    return dyck_checks(
        framed=lambda text, lengths: relabelled(labelled(text, lengths), never_below)
    )


@mutant(
    of="learning.dyck.generator",
    breaks="data",
    name="answer",
    latex=r"(x_1 \dots x_n, y, ?, 0, \dots, 0)",
)
def the_answer_stands_before_the_query() -> tuple[Check, ...]:
    """The answer stands before the ?."""

    def made(random: np.random.Generator, count: int, pairs: int) -> Strings:
        found = strings(random, count, pairs)
        tokens, rows = found.tokens.copy(), np.arange(count)
        tokens[rows, found.lengths] = tokens[rows, found.lengths + 1]
        tokens[rows, found.lengths + 1] = QUERY
        return replace(found, tokens=tokens)

    return dyck_checks(made=made)


@mutant(
    of="learning.dyck.generator",
    breaks="data",
    name="padding",
    latex=r"(x_1 \dots x_n, ?, y, ?, \dots, ?)",
)
def sequences_are_padded_with_queries() -> tuple[Check, ...]:
    """Sequences are padded with ?."""

    def made(random: np.random.Generator, count: int, pairs: int) -> Strings:
        found = strings(random, count, pairs)
        return replace(found, tokens=np.where(found.tokens == EOF, QUERY, found.tokens))

    return dyck_checks(made=made)


@mutant(of="learning.dyck.generator", breaks="rule", name="derivation", latex=r"S \to )S( \mid SS")
def pairs_may_open_to_the_left() -> tuple[Check, ...]:
    """A derivation writes ) for a pair's first symbol."""

    def derived(random: np.random.Generator, pairs: Texts, most: int) -> Texts:
        del random
        place = np.arange(2 * most)
        return np.where(place < 2 * pairs[:, None], RIGHT - place % 2, EOF)

    return dyck_checks(derived=derived)


@mutant(of="learning.dyck.baselines", breaks="bound", latex=r"\Pr[\text{never below } 0] \ge 0.92")
def the_depth_alone_answers_as_much() -> tuple[Check, ...]:
    """Balancing itself is right on 92 to 94 % of the sequences."""
    return counting_checks({"count": lambda made: is_balanced(made.text)})
