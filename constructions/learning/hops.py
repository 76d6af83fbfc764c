"""k-hop induction heads: strings, their targets, and an oracle for them.

    0..16        how many hops are asked: the first token
    17..20       the characters a, b, c, d
    21           "does not exist", a target
    22           blank, the target of the first token
    23..29       never used: Table 6 has 30 tokens

    string       uniform first character, each next one uniform among the three others
    one hop      from the character at place i to the one behind its last occurrence before i

Source: Fixed Universal Transformers, Section 5.1 and Appendix H.1; tokens and the length 99 as in
the generator of Sanford, Hsu and Telgarsky (2024) that it follows.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from itertools import pairwise, product
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

CHARACTERS = 4
MOST_HOPS = 16
FIRST_CHARACTER = MOST_HOPS + 1
MISSING = FIRST_CHARACTER + CHARACTERS
BLANK = MISSING + 1
VOCABULARY = 30
LENGTH = 100
"""Characters drawn; the last two are not shown, and the query stands before the others."""
NONE = -1

Tokens = NDArray[np.int64]
Places = Callable[[Tokens], Tokens]
Leads = Callable[[Tokens, int], Tokens]


def characters(random: np.random.Generator, count: int, length: int) -> Tokens:
    """Strings of shape (count, length) of numbers 0..3, no two neighbours equal."""
    steps = random.integers(1, CHARACTERS, (count, length))
    steps[:, 0] = random.integers(0, CHARACTERS, count)
    return np.cumsum(steps, axis=1) % CHARACTERS


def previous(text: Tokens) -> Tokens:
    """At each place the last earlier place of the same character, or NONE."""
    count, length = text.shape
    seen = np.full((count, CHARACTERS), NONE, dtype=np.int64)
    found = np.empty_like(text)
    rows = np.arange(count, dtype=np.int64)
    for place in range(length):
        found[:, place] = seen[rows, text[:, place]]
        seen[rows, text[:, place]] = place
    return found


def sources(text: Tokens, hops: int, occurrence: Places = previous, behind: int = 1) -> Tokens:
    """At each place the place that `hops` hops lead to, or NONE.

    A hop leads `behind` places behind the earlier place that `occurrence` names.
    """
    earlier = occurrence(text)
    found: Tokens = np.broadcast_to(np.arange(text.shape[1], dtype=np.int64), text.shape)
    for _ in range(hops):
        before = np.take_along_axis(earlier, np.maximum(found, 0), axis=1)
        found = np.where((found >= 0) & (before >= 0), before + behind, NONE)
    return found


def sequences(
    random: np.random.Generator, count: int, hops: int, length: int = LENGTH
) -> tuple[Tokens, Tokens]:
    """Inputs and targets, each of shape (count, length - 1)."""
    text = characters(random, count, length)[:, : length - 2]
    return framed(text, hops)


def framed(text: Tokens, hops: int, leads: Leads = sources) -> tuple[Tokens, Tokens]:
    """Inputs and targets of strings: the query before them, a blank before their targets."""
    places = leads(text, hops)
    reached = FIRST_CHARACTER + np.take_along_axis(text, np.maximum(places, 0), axis=1)
    targets = np.where(places >= 0, reached, MISSING)
    first = np.ones((len(text), 1), dtype=np.int64)
    inputs = np.concatenate([first * hops, FIRST_CHARACTER + text], axis=1)
    return inputs, np.concatenate([first * BLANK, targets], axis=1)


def every_string(length: int) -> Tokens:
    """All strings of a length in lexical order, equal neighbours included."""
    return np.array(list(product(range(CHARACTERS), repeat=length)), dtype=np.int64)


# --- what is required --------------------------------------------------------------------------

LETTERS = "abcd"
ABSENT = "-"
SYMBOLS = {BLANK: "_", MISSING: ABSENT} | {FIRST_CHARACTER + i: x for i, x in enumerate(LETTERS)}
LIBRARY = ("library:numpy",)


def hopped(text: str, source: int, hops: int) -> str:
    """The oracle, as H.1 puts it: the character that `hops` hops from a place lead to, or ABSENT.

    Each looks back for the last occurrence of the character at the source before the source, and
    the place behind that occurrence is the next source.
    """
    for _ in range(hops):
        occurrence = text.rfind(text[source], 0, source)
        if occurrence < 0:
            return ABSENT
        source = occurrence + 1
    return text[source]


def written(tokens: Tokens) -> list[str]:
    """The rows as texts; what is no character, no "does not exist" and no blank is shown as #."""
    return ["".join(SYMBOLS.get(token, "#") for token in row) for row in tokens.tolist()]


def unlike(inputs: Tokens, targets: Tokens, hops: int) -> Counterexample | None:
    """The first row that is not query and characters with a blank and the oracle's targets."""
    queries = inputs[:, 0].tolist()
    for query, text, came in zip(queries, written(inputs[:, 1:]), written(targets), strict=True):
        wanted = "_" + "".join(hopped(text, place, hops) for place in range(len(text)))
        if query != hops or set(text) - set(LETTERS) or came != wanted:
            return Counterexample(
                text=f"query {hops} and {wanted} for {text} are required, got {query} and {came}",
                instance={"hops": hops, "text": text, "targets": came},
            )
    return None


def repeated(inputs: Tokens) -> Counterexample | None:
    """The first row with two equal neighbours."""
    for text in written(inputs[:, 1:]):
        if any(one == other for one, other in pairwise(text)):
            return Counterexample(
                text=f"neighbours must differ, got {text}", instance={"text": text}
            )
    return None


# --- checks ------------------------------------------------------------------------------------

Asked = tuple[int, int, int, int]
"""A seed, how many sequences, hops, and how many characters are drawn."""
Pair = tuple[Tokens, Tokens]
Make = Callable[[np.random.Generator, int, int, int], Pair]
Frame = Callable[[Tokens, int], Pair]


def generator_check(made: Make) -> Check:
    """Sequences of the generator against the oracle."""

    def drawn(asked: Asked) -> Pair:
        seed, *rest = asked
        return made(np.random.default_rng(seed), *rest)

    def holds(asked: Asked) -> Counterexample | None:
        _, count, hops, length = asked
        inputs, targets = drawn(asked)
        if inputs.shape == targets.shape == (count, length - 1):
            return repeated(inputs) or unlike(inputs, targets, hops)
        return Counterexample(
            text=f"{(count, length - 1)} tokens are required, got {inputs.shape} and "
            f"{targets.shape}",
            instance={"count": count, "length": length},
        )

    def strategy() -> Any:
        from hypothesis import strategies as st

        sizes = (st.integers(1, 8), st.integers(0, MOST_HOPS), st.integers(3, LENGTH))
        return st.tuples(st.integers(0, 2**32 - 1), *sizes)

    def exhibit(asked: Asked) -> Json:
        inputs, targets = drawn(asked)
        return {"hops": asked[2], "inputs": inputs.tolist(), "targets": targets.tolist()}

    return covers(
        Sampled(
            holds=holds,
            strategy=strategy,
            instances=f"seeds, 1 to 8 sequences each, 0 to {MOST_HOPS} hops, 3 to {LENGTH} "
            "characters drawn",
            examples={"quick": 100, "standard": 400, "deep": 10_000},
            rechecked_as="hop-sequences",
            exhibit=exhibit,
            leans_on=("library:hypothesis", *LIBRARY),
        )
    )


def targets_check(frame: Frame) -> Check:
    """The targets of all strings up to a length."""

    def exhibit(sizes: tuple[int, int]) -> Json:
        length, hops = sizes
        lines = "\n".join(written(frame(every_string(length), hops)[1]))
        return {"length": length, "hops": hops, "sha256": sha256(lines.encode()).hexdigest()}

    def sizes(length: int, hops: int) -> Range:
        return Range(
            bound=f"all strings of 1 to {length} characters, 0 to {hops} hops",
            over=lambda: product(range(1, length + 1), range(hops + 1)),
        )

    return supports(
        Exhaustive(
            holds=lambda sizes: unlike(*frame(every_string(sizes[0]), sizes[1]), sizes[1]),
            ranges={"quick": sizes(5, 3), "standard": sizes(7, 4), "deep": sizes(8, 5)},
            rechecked_as="hop-strings",
            exhibit=exhibit,
            leans_on=LIBRARY,
        )
    )


def hops_checks(made: Make = sequences, frame: Frame = framed) -> tuple[Check, ...]:
    """The whole generator, and its targets on all short strings."""
    return generator_check(made), targets_check(frame)


@claim(
    id="learning.hops.generator",
    source=Source(PAPER, "Appendix H.1"),
    latex=r"s_0(i) = i,\quad s_{k+1}(i) = 1 + \max \{\, j < s_k(i) : x_j = x_{s_k(i)} \,\},"
    r"\quad y_i = x_{s_k(i)}",
    scope=f"0 to {MOST_HOPS} hops, at most {LENGTH} characters drawn",
    uses=("learning.hops.baselines",),
    expected=Status.SAMPLED,
)
def targets_agree_with_an_independent_oracle() -> tuple[Check, ...]:
    """Every sequence that the generator makes is a query and characters of which no two neighbours
    are equal, and its targets are a blank and the k-hop targets of an independent oracle; what
    trivial rules reach on them is stated.
    """  # noqa: D205 - one statement, in one sentence
    return hops_checks()
