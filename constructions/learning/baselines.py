"""What rules that do not solve the tasks reach on them, to be printed beside every result.

    balancing    uniform             a fair coin
                 majority            the label that is more frequent
                 count               balanced if there are as many ( as )
                 count and ends      and if the first symbol is ( and the last is )

    hops         uniform             each of the five labels as likely
                 does not exist      that label everywhere
                 best constant       the label that is most frequent
                 current character   the character that is read
                 another character   the one that follows it in the cycle a b c d
                 previous character  the one read before; at first as does not exist

The shares of three of them are known exactly: a string that is read character by character is a
chain whose states are few (`tallied`).

Source: Fixed Universal Transformers, Table 1, where "random guessing gives 20%" is the only one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np

from constructions.learning.dyck import LEFT, PAIRS, RIGHT, Strings, Truths, strings
from constructions.learning.dyck import written as parentheses
from constructions.learning.hops import (
    ABSENT,
    CHARACTERS,
    FIRST_CHARACTER,
    LENGTH,
    MISSING,
    every_string,
    framed,
    sequences,
)
from constructions.universal.sums import PAPER
from verify.claims import Check, Source, claim, covers
from verify.counterexamples import Counterexample
from verify.methods.exhaustive import Exhaustive
from verify.ranges import Range
from verify.verdicts import Json, Status

LIBRARY = ("library:numpy",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """How many answers a rule gets right of those that it is asked for."""

    name: str
    right: int
    asked: int

    @property
    def share(self) -> Fraction:
        """The share of right answers."""
        return Fraction(self.right, self.asked)


# --- balancing ---------------------------------------------------------------------------------

Rule = Callable[[Strings], Truths]


def counts_agree(made: Strings) -> Truths:
    """The rule that only counts: as many ( as )."""
    text = made.text
    found: Truths = (text == LEFT).sum(axis=1) == (text == RIGHT).sum(axis=1)
    return found


def counts_and_ends_agree(made: Strings) -> Truths:
    """The rule that counts and looks at two symbols: the first is (, the last is )."""
    text = made.text
    last = np.take_along_axis(text, made.lengths[:, None] - 1, axis=1)[:, 0]
    found: Truths = counts_agree(made) & (text[:, 0] == LEFT) & (last == RIGHT)
    return found


RULES: dict[str, Rule] = {"count": counts_agree, "count and ends": counts_and_ends_agree}


def rights(made: Strings, rules: dict[str, Rule]) -> dict[str, int]:
    """How many labels each rule gets right."""
    return {name: int((rule(made) == made.balanced).sum()) for name, rule in rules.items()}


def balancing(seed: int, count: int, pairs: int = PAIRS) -> tuple[Baseline, ...]:
    """The rules on a seed's sequences."""
    random = np.random.default_rng(seed)
    made = strings(random, count, pairs)
    label, coin = made.balanced, random.integers(0, 2, count) == 1
    found = {
        "uniform": int((coin == label).sum()),
        "majority": max(int(label.sum()), int((~label).sum())),
        **rights(made, RULES),
    }
    return tuple(Baseline(name=name, right=right, asked=count) for name, right in found.items())


# --- hops --------------------------------------------------------------------------------------


def hopping(seed: int, count: int, hops: int, length: int = LENGTH) -> tuple[Baseline, ...]:
    """The rules on a seed's sequences, at every position but the first, whose target is a blank."""
    random = np.random.default_rng(seed)
    inputs, targets = (part[:, 1:] for part in sequences(random, count, hops, length))
    before = np.concatenate([np.full((count, 1), MISSING), inputs[:, :-1]], axis=1)
    constants = range(FIRST_CHARACTER, MISSING + 1)
    frequent = max(constants, key=lambda label: int((targets == label).sum()))
    following = FIRST_CHARACTER + (inputs - FIRST_CHARACTER + 1) % CHARACTERS
    guesses = {
        "uniform": random.integers(FIRST_CHARACTER, MISSING + 1, targets.shape),
        "does not exist": np.full_like(targets, MISSING),
        "best constant": np.full_like(targets, frequent),
        "current character": inputs,
        "another character": following,
        "previous character": before,
    }
    return tuple(
        Baseline(name=name, right=int((guess == targets).sum()), asked=targets.size)
        for name, guess in guesses.items()
    )


Targets = tuple[str | int, ...]
"""Targets of 0, 1, .. hops at one place: characters by how recently they were read, or ABSENT."""
State = tuple[Targets, ...]
"""For each character, the last read first, the targets behind its last occurrence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How many targets of all strings of a length without equal neighbours are which.

    `others` counts the three characters that are not read; each of them has a third of it, since
    renaming them leaves the strings as they are.
    """

    missing: int
    current: int
    others: int

    @property
    def another(self) -> int:
        """How many are one fixed other character than the one that is read."""
        return self.others // (CHARACTERS - 1)

    @property
    def asked(self) -> int:
        """How many targets there are."""
        return self.missing + self.current + self.others

    def as_json(self) -> dict[str, Json]:
        """The three counts."""
        return {"missing": self.missing, "current": self.current, "others": self.others}


def tallied(length: int, hops: int) -> Tally:
    """The tally, by a chain over strings that are read character by character.

    The k-hop target where a character is read is the (k-1)-hop target behind its last occurrence.
    Characters are numbered by how recently they were read, so that states which differ in names
    only are one.
    """
    nothing: Targets = (ABSENT,) * hops
    states = Counter[State]({(nothing,) * CHARACTERS: CHARACTERS})
    found = Counter({_kind((0, *nothing)): CHARACTERS})
    for _ in range(length - 1):
        grown, new = Counter[State](), Counter[str]()
        for state, strings_read in states.items():
            for rank in range(1, CHARACTERS):
                targets, following = _read(state, rank)
                new[_kind(targets)] += strings_read
                grown[following] += strings_read
        states = grown
        found = Counter({kind: (CHARACTERS - 1) * count for kind, count in found.items()}) + new
    return Tally(missing=found["missing"], current=found["current"], others=found["others"])


def _kind(targets: Targets) -> str:
    return {ABSENT: "missing", 0: "current"}.get(targets[-1], "others")


def _read(state: State, rank: int) -> tuple[Targets, State]:
    """The targets where the character of a rank is read, and the state behind it."""

    def renamed(targets: Targets) -> Targets:
        return tuple(
            x if isinstance(x, str) else 0 if x == rank else x + (x < rank) for x in targets
        )

    targets = (0, *renamed(state[rank]))
    unread = (ABSENT,) * len(state[rank])
    rest = (renamed(old) for place, old in enumerate(state) if place not in (0, rank))
    return targets, (unread, targets[:-1], *rest)


# --- claims ------------------------------------------------------------------------------------

COUNTED = 10_000
SHARES = {
    "count": (Fraction(92, 100), Fraction(94, 100)),
    "count and ends": (Fraction(97, 100), Fraction(985, 1000)),
}
"""Between which shares each rule must be right, a little more than sampling leaves open."""


def counting_checks(rules: dict[str, Rule] = RULES) -> tuple[Check, ...]:
    """Sequences on which each rule's share lies where it is stated."""

    def drawn(seed: int) -> Strings:
        return strings(np.random.default_rng(seed), COUNTED)

    def holds(seed: int) -> Counterexample | None:
        for name, right in rights(drawn(seed), rules).items():
            least, most = SHARES[name]
            if not least <= Fraction(right, COUNTED) <= most:
                return Counterexample(
                    text=f"the rule '{name}' must be right on {least} to {most} of the sequences "
                    f"of seed {seed}, got {right} of {COUNTED}",
                    instance={"seed": seed, "rule": name, "right": right},
                )
        return None

    def exhibit(seed: int) -> Json:
        made = drawn(seed)
        return {
            "strings": [text.rstrip("0") for text in parentheses(made.text)],
            "right": rights(made, rules),
            "shares": {name: [str(end) for end in SHARES[name]] for name in rules},
        }

    def seeds(count: int) -> Range:
        bound = f"{count} seeds, {COUNTED} sequences each, P = {PAIRS}"
        return Range(bound=bound, over=lambda: range(count))

    return (
        covers(
            Exhaustive(
                holds=holds,
                ranges={"quick": seeds(1), "standard": seeds(1), "deep": seeds(10)},
                rechecked_as="dyck-baselines",
                exhibit=exhibit,
                leans_on=LIBRARY,
            )
        ),
    )


@claim(
    id="learning.dyck.baselines",
    source=Source(PAPER, "Section 5.1, Table 1"),
    latex=r"0.92 \le \Pr[\,|x|_( = |x|_) \iff x \text{ is balanced}\,] \le 0.94",
    scope=f"the generator's sequences at P = {PAIRS} for the seeds 0, 1, ..",
    uses=(),
    expected=Status.BOUNDED,
)
def counting_answers_most_strings() -> tuple[Check, ...]:
    """The rule that only counts gives 92 to 94 % of the answers, and the rule that also looks at
    the first and the last symbol 97 to 98.5 %.
    """  # noqa: D205 - one statement, in one sentence
    return counting_checks()


def counted(length: int, hops: int) -> Tally:
    """The tally, by the generator's targets on all strings of a length."""
    text = every_string(length)
    inputs, targets = framed(text[(np.diff(text) != 0).all(axis=1)], hops)
    missing = int((targets[:, 1:] == MISSING).sum())
    current = int((targets[:, 1:] == inputs[:, 1:]).sum())
    return Tally(missing=missing, current=current, others=targets[:, 1:].size - missing - current)


def tally_checks(tally: Callable[[int, int], Tally] = tallied) -> tuple[Check, ...]:
    """The chain's tallies against all short strings, one by one."""

    def holds(sizes: tuple[int, int]) -> Counterexample | None:
        length, hops = sizes
        came, wanted = tally(length, hops), counted(length, hops)
        if came == wanted:
            return None
        return Counterexample(
            text=f"{hops} hops, {length} characters: {wanted.as_json()} is required, got "
            f"{came.as_json()}",
            instance={"length": length, "hops": hops, **came.as_json()},
        )

    def sizes(length: int, hops: int) -> Range:
        return Range(
            bound=f"all strings of 1 to {length} characters without equal neighbours, 0 to {hops} "
            "hops",
            over=lambda: product(range(1, length + 1), range(hops + 1)),
        )

    return (
        covers(
            Exhaustive(
                holds=holds,
                ranges={"quick": sizes(6, 2), "standard": sizes(7, 3), "deep": sizes(9, 4)},
                rechecked_as="hop-baselines",
                exhibit=lambda sizes: {
                    "length": sizes[0],
                    "hops": sizes[1],
                    **tally(*sizes).as_json(),
                },
                leans_on=LIBRARY,
            )
        ),
    )


@claim(
    id="learning.hops.baselines",
    source=Source(PAPER, "Section 5.1, Table 1"),
    latex=r"\#\{(x, i) : y_i = x_i\},\ \#\{(x, i) : y_i \text{ does not exist}\}",
    scope="0 to 3 hops and at most 7 characters, of which no two neighbours are equal",
    uses=(),
    expected=Status.BOUNDED,
)
def trivial_targets_are_counted_by_a_chain() -> tuple[Check, ...]:
    """How many targets do not exist, and how many are the character that is read, is what a chain
    over few states counts.
    """  # noqa: D205 - one statement, in one sentence
    return tally_checks()
