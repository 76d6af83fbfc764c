"""The two tasks as training sees them: inputs, targets, and the places that are scored.

Source: Fixed Universal Transformers, Section 5.1 and Appendix H.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from constructions.learning import dyck
from constructions.learning.baselines import Baseline, balancing, hopping
from constructions.learning.hops import (
    CHARACTERS,
    FIRST_CHARACTER,
    LENGTH,
    MOST_HOPS,
    VOCABULARY,
    sequences,
)
from verify.errors import UsageError

Tokens = NDArray[np.int64]
SHORTEST = 3
"""Characters drawn at least: two are not shown."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Examples:
    """Next-token prediction: inputs and targets of shape (count, n).

    asked   (count,): the place of each string whose target is the answer; None if every place but
            the first has one
    """

    inputs: Tokens
    targets: Tokens
    asked: Tokens | None

    def part(self, start: int, end: int) -> Examples:
        """Some of the examples."""
        asked = None if self.asked is None else self.asked[start:end]
        return Examples(inputs=self.inputs[start:end], targets=self.targets[start:end], asked=asked)


class Task(Protocol):
    """What is learnt."""

    @property
    def name(self) -> str:
        """As commands and files call it, such as dyck or 2-hop."""
        ...

    @property
    def vocabulary(self) -> int:
        """d_in, the number of tokens."""
        ...

    @property
    def tokens(self) -> tuple[int, ...]:
        """The tokens that inputs hold."""
        ...

    def examples(self, random: np.random.Generator, count: int) -> Examples:
        """Fresh examples."""
        ...

    def baselines(self, seed: int, count: int) -> tuple[Baseline, ...]:
        """What trivial rules reach on fresh examples."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Dyck:
    """Parenthesis balancing, strings of at most 2 `pairs` parentheses."""

    pairs: int = dyck.PAIRS

    def __post_init__(self) -> None:
        """Check the length."""
        if self.pairs < 1:
            raise UsageError(
                f"balancing needs at least 1 pair of parentheses, got {self.pairs}; raise it"
            )

    @property
    def name(self) -> str:
        """As commands and files call it."""
        return "dyck"

    @property
    def vocabulary(self) -> int:
        """Padding, two parentheses, the query."""
        return dyck.VOCABULARY

    @property
    def tokens(self) -> tuple[int, ...]:
        """All."""
        return tuple(range(dyck.VOCABULARY))

    def examples(self, random: np.random.Generator, count: int) -> Examples:
        """Fresh examples; the answer is what follows the query."""
        found = dyck.strings(random, count, self.pairs)
        return Examples(
            inputs=found.tokens[:, :-1], targets=found.tokens[:, 1:], asked=found.lengths
        )

    def baselines(self, seed: int, count: int) -> tuple[Baseline, ...]:
        """What trivial rules reach on fresh strings."""
        return balancing(seed, count, self.pairs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hops:
    """k-hop induction heads on strings of `length` - 2 characters."""

    hops: int
    length: int = LENGTH

    def __post_init__(self) -> None:
        """Check number and length."""
        if not 0 <= self.hops <= MOST_HOPS:
            raise UsageError(
                f"the number of hops must be from 0 to {MOST_HOPS}, got {self.hops}; choose another"
            )
        if self.length < SHORTEST:
            raise UsageError(
                f"hops need a length of at least {SHORTEST}, of which two characters are "
                f"not shown, got {self.length}; raise it"
            )

    @property
    def name(self) -> str:
        """As commands and files call it."""
        return f"{self.hops}-hop"

    @property
    def vocabulary(self) -> int:
        """Table 6's."""
        return VOCABULARY

    @property
    def tokens(self) -> tuple[int, ...]:
        """The query of this number of hops, and the characters."""
        return (self.hops, *range(FIRST_CHARACTER, FIRST_CHARACTER + CHARACTERS))

    def examples(self, random: np.random.Generator, count: int) -> Examples:
        """Fresh examples; every place but the query's has a target."""
        inputs, targets = sequences(random, count, self.hops, self.length)
        return Examples(inputs=inputs, targets=targets, asked=None)

    def baselines(self, seed: int, count: int) -> tuple[Baseline, ...]:
        """What trivial rules reach on fresh strings."""
        return hopping(seed, count, self.hops, self.length)
