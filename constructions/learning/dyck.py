"""Parenthesis balancing: strings, their labels, and an oracle for them.

    0 padding   1 (   2 )   3 ?          string, ?, then ) if it is balanced and ( if not

    with 1/3    every symbol a fair coin, length uniform in 1..2P
    else        balanced, with 1..P pairs, each number as likely: ( rest ) with 1/2, else two
                balanced parts whose sizes are a uniform split

A kind of corruption is drawn from none, swaps, flips, both, each as likely; balanced strings stay
as they are with 1/2 more. Swaps: 1, 2, .. times with 1/2, 1/4, ..; two places, exchanged if the
first stands before the second. Flips: as often, and with 2/3 twice as often; one place each.

What H.1 leaves open (the shares, the grammar) is that of the generator of Zhong and Andreas (2024)
that it follows.

Source: Fixed Universal Transformers, Section 5.1 and Appendix H.1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from constructions.universal.sums import PAPER
from verify.claims import Check, Source, claim, covers, supports
from verify.counterexamples import Counterexample
from verify.methods.exhaustive import Exhaustive
from verify.methods.sampled import Sampled
from verify.ranges import Range
from verify.verdicts import Json, Status

EOF, LEFT, RIGHT, QUERY = range(4)
VOCABULARY = 4
PAIRS = 30
"""The paper's max_len: strings of at most 60 parentheses."""

Tokens = NDArray[np.int64]
Truths = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Strings:
    """Padded sequences of shape (count, 2P + 3), and the length of each string of parentheses."""

    tokens: Tokens
    lengths: Tokens

    @property
    def balanced(self) -> Truths:
        """The labels that the sequences carry behind their ?."""
        answers = np.take_along_axis(self.tokens, self.lengths[:, None] + 1, axis=1)
        return answers[:, 0] == RIGHT

    @property
    def text(self) -> Tokens:
        """The parentheses alone, padded, of shape (count, 2P)."""
        most = self.tokens.shape[1] - 3
        return np.where(
            np.arange(most, dtype=np.int64) < self.lengths[:, None], self.tokens[:, :most], EOF
        )


def strings(random: np.random.Generator, count: int, pairs: int = PAIRS) -> Strings:
    """Sequences of the task, whose strings have at most 2 `pairs` parentheses."""
    free = random.integers(0, 3, count) == 0
    lengths = np.where(
        free, random.integers(1, 2 * pairs + 1, count), 2 * random.integers(1, pairs + 1, count)
    )
    text = random.integers(LEFT, RIGHT + 1, (count, 2 * pairs))
    nested = np.flatnonzero(~free)
    text[nested] = _balanced(random, lengths[nested] // 2, pairs)
    kinds = random.integers(0, 4, count)
    kept = ~free & (random.integers(0, 2, count) == 0)
    kinds[kept] = 0
    _swap(random, text, lengths, kinds % 2 == 1)
    _flip(random, text, lengths, kinds // 2 == 1)
    return labelled(text, lengths)


def labelled(text: Tokens, lengths: Tokens) -> Strings:
    """Strings, the first `lengths` symbols of each row, with query, answer and padding."""
    count, most = text.shape
    place = np.arange(most + 3, dtype=np.int64)
    tokens = np.zeros((count, most + 3), dtype=np.int64)
    tokens[:, :most] = np.where(place[:most] < lengths[:, None], text, EOF)
    rows = np.arange(count, dtype=np.int64)
    tokens[rows, lengths] = QUERY
    tokens[rows, lengths + 1] = np.where(is_balanced(tokens[:, :most]), RIGHT, LEFT)
    return Strings(tokens=tokens, lengths=lengths)


def is_balanced(text: Tokens) -> Truths:
    """Whether the depth of each row never falls below 0 and ends there; other symbols are none."""
    steps = (text == LEFT).astype(np.int64) - (text == RIGHT)
    depths = np.cumsum(steps, axis=1)
    found: Truths = (depths >= 0).all(axis=1) & (depths[:, -1] == 0)
    return found


def _balanced(random: np.random.Generator, pairs: Tokens, most: int) -> Tokens:
    """Balanced strings of the given numbers of pairs, shape (count, 2 most); the rest is padding.

    Each row keeps a stack of parts yet to be written: t > 0 stands for t pairs, 0 for a ).
    """
    count = len(pairs)
    text = np.full((count, 2 * most), EOF, dtype=np.int64)
    stack = np.zeros((count, 2 * most + 2), dtype=np.int64)
    stack[:, 0] = pairs
    height, written = np.ones(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    while len(rows := np.flatnonzero(height)):
        top = height[rows] - 1
        part = stack[rows, top]
        divided = (part > 1) & (random.integers(0, 2, len(rows)) == 0)
        first = random.integers(1, np.maximum(part, 2))
        symbol = np.where(part > 0, LEFT, RIGHT)
        wrote = ~divided
        text[rows[wrote], written[rows[wrote]]] = symbol[wrote]
        written[rows] += wrote
        stack[rows, top] = np.where(divided, part - first, 0)
        stack[rows, top + 1] = np.where(divided, first, part - 1)
        height[rows] += np.where(divided | (part > 1), 1, np.where(part == 1, 0, -1))
    return text


def _repeats(random: np.random.Generator, count: int) -> Tokens:
    return random.geometric(0.5, count)


def _swap(random: np.random.Generator, text: Tokens, lengths: Tokens, chosen: Truths) -> None:
    repeats = np.where(chosen, _repeats(random, len(text)), 0)
    while len(rows := np.flatnonzero(repeats)):
        first, second = random.integers(0, lengths[rows]), random.integers(0, lengths[rows])
        moved = first < second
        rows_moved, p, q = rows[moved], first[moved], second[moved]
        text[rows_moved, p], text[rows_moved, q] = text[rows_moved, q], text[rows_moved, p]
        repeats[rows] -= 1


def _flip(random: np.random.Generator, text: Tokens, lengths: Tokens, chosen: Truths) -> None:
    repeats = np.where(chosen, _repeats(random, len(text)), 0)
    repeats *= np.where(random.integers(0, 3, len(text)) > 0, 2, 1)
    while len(rows := np.flatnonzero(repeats)):
        place = random.integers(0, lengths[rows])
        text[rows, place] = LEFT + RIGHT - text[rows, place]
        repeats[rows] -= 1


# --- what is required --------------------------------------------------------------------------

SYMBOLS = "0()?"
LIBRARY = ("library:numpy",)


def reduces(text: str) -> bool:
    """The oracle: whether taking out () again and again leaves nothing."""
    while "()" in text:
        text = text.replace("()", "")
    return not text


def written(tokens: Tokens) -> list[str]:
    """The rows as texts."""
    return ["".join(SYMBOLS[token] for token in row) for row in tokens.tolist()]


def unlike(made: Strings, most: int, request: dict[str, Json]) -> Counterexample | None:
    """The first sequence that is not 1..`most` parentheses, ?, the oracle's answer and zeros."""
    for came, length, label in zip(
        written(made.tokens), made.lengths.tolist(), made.balanced.tolist(), strict=True
    ):
        string = came.partition("?")[0]
        balanced = reduces(string)
        wanted = f"{string}?{')' if balanced else '('}".ljust(most + 3, "0")
        text = ""
        if not 1 <= len(string) <= most or set(string) - {"(", ")"}:
            text = f"1 to {most} parentheses must stand before a ?, got {came}"
        elif (came, length, label) != (wanted, len(string), balanced):
            text = (
                f"{wanted} of length {len(string)} with label {balanced} is required, got {came} "
                f"of length {length} with label {label}"
            )
        if text:
            return Counterexample(text=text, instance={**request, "sequence": came})
    return None


# --- checks ------------------------------------------------------------------------------------

Asked = tuple[int, int, int]
"""A seed, how many sequences, P."""
Make = Callable[[np.random.Generator, int, int], Strings]
Frame = Callable[[Tokens, Tokens], Strings]
Derive = Callable[[np.random.Generator, Tokens, int], Tokens]


def generator_check(made: Make) -> Check:
    """Sequences of the generator against the oracle."""

    def drawn(asked: Asked) -> Strings:
        seed, count, pairs = asked
        return made(np.random.default_rng(seed), count, pairs)

    def holds(asked: Asked) -> Counterexample | None:
        seed, count, pairs = asked
        return unlike(drawn(asked), 2 * pairs, {"seed": seed, "count": count, "pairs": pairs})

    def strategy() -> Any:
        from hypothesis import strategies as st

        return st.tuples(st.integers(0, 2**32 - 1), st.integers(1, 100), st.integers(1, PAIRS))

    return covers(
        Sampled(
            holds=holds,
            strategy=strategy,
            instances="seeds, 1 to 100 sequences each, strings of at most 2P parentheses, "
            f"P <= {PAIRS}",
            examples={"quick": 100, "standard": 300, "deep": 5_000},
            rechecked_as="dyck-sequences",
            exhibit=lambda asked: {"pairs": asked[2], "sequences": written(drawn(asked).tokens)},
            leans_on=("library:hypothesis", *LIBRARY),
        )
    )


def labels_check(framed: Frame) -> Check:
    """All strings up to a length; behind each stand symbols that are not part of it."""

    def every(length: int) -> Strings:
        rows = list(product((LEFT, RIGHT), repeat=length))
        text = np.array([(*row, LEFT, RIGHT) for row in rows], dtype=np.int64)
        return framed(text, np.full(len(rows), length))

    def exhibit(length: int) -> Json:
        made = every(length)
        shown = zip(written(made.text), made.balanced, strict=True)
        return {"length": length, "balanced": [text[:length] for text, right in shown if right]}

    def lengths(most: int) -> Range:
        return Range(bound=f"all strings of 1 to {most}", over=lambda: range(1, most + 1))

    return supports(
        Exhaustive(
            holds=lambda length: unlike(every(length), length + 2, {"length": length}),
            ranges={"quick": lengths(8), "standard": lengths(12), "deep": lengths(16)},
            rechecked_as="dyck-strings",
            exhibit=exhibit,
            leans_on=LIBRARY,
        )
    )


def derivations_check(derived: Derive) -> Check:
    """Derivations of every number of pairs, a few of each."""

    def asked(seed: int) -> tuple[Tokens, list[str]]:
        pairs = np.repeat(np.arange(1, PAIRS + 1), 4)
        return pairs, written(derived(np.random.default_rng(seed), pairs, PAIRS))

    def holds(seed: int) -> Counterexample | None:
        for pairs, came in zip(*asked(seed), strict=True):
            text = came[: 2 * pairs]
            if set(text) != {"(", ")"} or not reduces(text) or came[2 * pairs :].strip("0"):
                return Counterexample(
                    text=f"{pairs} pairs must be balanced and zeros must follow, got {came}",
                    instance={"seed": seed, "pairs": int(pairs), "text": came},
                )
        return None

    def exhibit(seed: int) -> Json:
        pairs, texts = asked(seed)
        return {"pairs": pairs.tolist(), "strings": [text.rstrip("0") for text in texts]}

    def seeds(count: int) -> Range:
        bound = f"{count} seeds, 4 derivations of each number of pairs up to {PAIRS}"
        return Range(bound=bound, over=lambda: range(count))

    return supports(
        Exhaustive(
            holds=holds,
            ranges={"quick": seeds(2), "standard": seeds(6), "deep": seeds(100)},
            rechecked_as="dyck-derivations",
            exhibit=exhibit,
            leans_on=LIBRARY,
        )
    )


def dyck_checks(
    made: Make = strings, framed: Frame = labelled, derived: Derive = _balanced
) -> tuple[Check, ...]:
    """The whole generator; its labels on all short strings; its balanced strings."""
    return generator_check(made), labels_check(framed), derivations_check(derived)


@claim(
    id="learning.dyck.generator",
    source=Source(PAPER, "Appendix H.1"),
    latex=r"(x_1 \dots x_n, ?, y, 0, \dots, 0),\ 1 \le n \le 2P,"
    r"\quad y = \text{)} \iff x \text{ is balanced}",
    scope=f"strings of at most 2P parentheses, P <= {PAIRS}; the shares that H.1 leaves open are "
    "those of the generator that it follows",
    uses=("learning.dyck.baselines",),
    expected=Status.SAMPLED,
)
def labels_agree_with_an_independent_oracle() -> tuple[Check, ...]:
    """Every sequence that the generator makes is a string of parentheses, a ?, the answer that an
    independent oracle gives, and zeros; what trivial rules reach on them is stated.
    """  # noqa: D205 - one statement, in one sentence
    return dyck_checks()
