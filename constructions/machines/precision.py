"""The parity network in floating point: per format and way of summing, how long a window may be.

    way          the share x of a symbol that occurs c times among m tokens, from y = fl(1/m)
    once         x = fl(c/m), rounded once from the exact mean
    wider        the mean is summed in the next wider format and rounded once
    pairwise     the mean is summed along a balanced binary tree over the tokens
    sequential   the mean is summed token by token
    equality     as once, but the parity is read without the margin

Of S depend K and s (`WindowSize`). Then, operation by operation, each rounded to the format:

    fold    x <- |x - 2^k y| for k = K-1..0     one rounding: 2^k y is exact, one relu of two is 0
    read    z = 2 s (y - 2 x)                   right if 1 <= z <= 2^p for odd c, z <= 0 for even
    or      y - x                               without the margin: right if it is y, or it is 0

With 1 <= z <= 2^p the network's bit relu(z) - relu(z - 1) is exactly 1, with z <= 0 exactly 0. All
these numbers are multiples of the last place of y, so nothing underflows where 1/m is normal.

The order of the tokens matters in pairwise sums only. Rounding keeps order, so the least and the
largest sum over all orders come from least and largest partial sums, and the network, run on the
interval between them, is right for all orders or shows one for which it is not.

Source: Sliding-Window Transformers Without Positional Encodings, Theorem 9, Remark 5.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from constructions.machines.definitions import MachineError
from constructions.machines.relu import WindowSize
from constructions.machines.rounded_sums import (
    Inputs,
    Reals,
    placed,
    rounded,
    rounded_once,
    summed_in_turn,
    summed_pairwise,
    tree_sums,
)
from constructions.universal.floats import FORMATS, Format

Sum = Literal["once", "wider", "pairwise", "sequential"]

WIDER = {"bfloat16": "float32", "float16": "float32", "float32": "float64"}
"""The format in which `wider` sums."""
_BLOCK = 128
"""Contexts that are run at a time."""


# --- ways of summing -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How the mean is summed and the bit is read.

    `load` is the A of a window size with |x - c y| <= A u y / 8; there is none without the margin.
    """

    name: str
    sum: Sum
    load: Callable[[WindowSize], int] | None
    margin: bool = True


WAYS: dict[str, Way] = {
    way.name: way
    for way in (
        Way(
            name="wider",
            sum="wider",
            load=lambda size: 8 * size.longest,
        ),
        Way(
            name="once",
            sum="once",
            load=lambda size: 18 * size.longest,
        ),
        Way(
            name="pairwise",
            sum="pairwise",
            load=lambda size: 9 * (size.bits + 1) * size.longest,
        ),
        Way(
            name="sequential",
            sum="sequential",
            load=lambda size: 9 * size.longest**2,
        ),
        Way(
            name="equality",
            sum="once",
            load=None,
            margin=False,
        ),
    )
}


# --- the network -----------------------------------------------------------------------------


def levels(inputs: Inputs, bits: int, digits: int) -> Iterator[Inputs]:
    """The interval between least and most, as given and after each of the K folds."""
    least, most = inputs.least, inputs.most
    yield inputs
    for level in reversed(range(bits)):
        middle = inputs.share * 2**level
        low = rounded(least - middle, digits)
        if most is least:
            least = most = np.abs(low)
        else:
            high = rounded(most - middle, digits)
            ends = np.abs(low), np.abs(high)
            least = np.where((low < 0) & (high > 0), 0, np.minimum(*ends))
            most = np.maximum(*ends)
        yield replace(inputs, least=least, most=most)


def margins(last: Inputs, scale: int, digits: int) -> tuple[Reals, Reals]:
    """The least and the largest 2 s (y - 2 x) over the last level's interval."""
    low = rounded(2 * scale * (last.share - 2 * last.most), digits)
    if last.most is last.least:
        return low, low
    return low, rounded(2 * scale * (last.share - 2 * last.least), digits)


def right(inputs: Inputs, way: Way, size: WindowSize, digits: int) -> NDArray[np.bool_]:
    """Whether the parity is read rightly from all shares between least and most.

    shape (counts, contexts)
    """
    (last,) = deque(levels(inputs, size.bits, digits), maxlen=1)
    odd = (np.arange(len(last.least)) % 2 == 1)[:, None]
    if way.margin:
        low, high = margins(last, size.scale, digits)
        return np.where(odd, (low >= 1) & (high <= 2**digits), high <= 0)
    asked = np.where(odd, last.share, 0)
    low, high = (rounded(last.share - end, digits) for end in (last.most, last.least))
    return (low == asked) & (high == asked)


# --- frontiers -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierCase:
    """A format and a way, tried for all windows of at most `limit` symbols.

    Raises:
        MachineError: numbers of the network would leave the format's range, or no wider format.
    """

    format: Format
    way: Way
    limit: int

    def __post_init__(self) -> None:
        """Check the range."""
        if self.limit > in_range(self.format):
            raise MachineError(
                f"FrontierCase.limit must be at most {in_range(self.format)} in "
                f"{self.format.name}, got {self.limit}; a longer window leaves its range"
            )
        if self.way.sum == "wider" and self.format.name not in WIDER:
            raise MachineError(
                f"FrontierCase.way: no format is known that is wider than {self.format.name}; "
                f"choose one of {', '.join(WIDER)}"
            )

    def inputs(self, contexts: range) -> Inputs:
        """Shares of all counts in contexts of these lengths."""
        if self.way.sum == "once":
            return rounded_once(contexts, self.format.digits)
        if self.way.sum == "pairwise":
            return summed_pairwise(contexts, self.format.digits)
        return summed_in_turn(contexts, self.format.digits, inner_digits(self.format, self.way))


def in_range(format: Format) -> int:
    """The longest windows for which 1/m stays normal and 4 S finite."""
    return min(1 << (format.most - 3), (1 << (1 - format.least - format.digits)) - 1)


def inner_digits(format: Format, way: Way) -> int:
    """Digits in which the mean is summed."""
    return FORMATS[WIDER[format.name]].digits if way.sum == "wider" else format.digits


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A count that is read wrongly in a context by the network for windows of `longest` symbols.

    `order` shows the ones among the tokens where it matters.
    """

    longest: int
    context: int
    count: int
    order: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontier:
    """The largest S up to the limit with a right network for every window of at most S symbols."""

    longest: int
    failure: Failure | None


def same_network(limit: int) -> Iterator[tuple[WindowSize, range]]:
    """The window lengths 1..limit, those with one K and s together, with the first one's size."""

    def network(longest: int) -> tuple[int, int]:
        size = WindowSize(longest=longest)
        return size.bits, size.scale

    for _, group in groupby(range(1, limit + 1), key=network):
        lengths = tuple(group)
        yield WindowSize(longest=lengths[0]), range(lengths[0], lengths[-1] + 1)


@lru_cache(maxsize=64)
def frontier(case: FrontierCase) -> Frontier:
    """Every count below m in every context of m <= S + 1 tokens, for S = 1, 2, .. up to a failure.

    Raises:
        MachineError: the interval of pairwise sums decides neither way.
    """
    for size, lengths in same_network(case.limit):
        found = _first_wrong(case, size, lengths[-1] + 1)
        if found is not None:
            context, count = found
            longest = max(size.longest, context - 1)
            order = _order(case, size, context, count)
            failure = Failure(longest=longest, context=context, count=count, order=order)
            return Frontier(longest=longest - 1, failure=failure)
    return Frontier(longest=case.limit, failure=None)


def _first_wrong(case: FrontierCase, size: WindowSize, longest: int) -> tuple[int, int] | None:
    """The shortest context of at most `longest` tokens with a wrong count, and the least such."""
    for start in range(1, longest + 1, _BLOCK):
        contexts = range(start, min(start + _BLOCK, longest + 1))
        good = right(case.inputs(contexts), case.way, size, case.format.digits)
        good |= np.arange(contexts[-1])[:, None] >= np.array(contexts)
        places = np.argwhere(~good.T)
        if len(places):
            return contexts[int(places[0][0])], int(places[0][1])
    return None


def _order(case: FrontierCase, size: WindowSize, context: int, count: int) -> str:
    """An order of the tokens that is read wrongly; none where the order does not matter."""
    if case.way.sum != "pairwise":
        return ""
    inputs = case.inputs(range(context, context + 1))
    for end, sums in enumerate((inputs.least, inputs.most)):
        one = replace(inputs, least=sums, most=sums)
        if not right(one, case.way, size, case.format.digits)[count, 0]:
            return placed(tree_sums(context, case.format.digits), context, count, end)
    raise MachineError(
        f"{case.format.name}, pairwise, S = {size.longest}, m = {context}, count {count}: least "
        "and largest sum are read rightly, but not all between them; enumerate the sums"
    )


# --- the proved bound ------------------------------------------------------------------------


def is_enough(format: Format, way: Way, longest: int) -> bool:
    """The proved condition A + 10 2^K <= 2^(p + 1), for numbers within the format's range."""
    if way.load is None or longest > in_range(format):
        return False
    if way.sum == "wider" and longest > 1 << (inner_digits(format, way) - format.digits):
        return False
    size = WindowSize(longest=longest)
    return way.load(size) + 10 * (1 << size.bits) <= 2 << format.digits


def proved_bound(format: Format, way: Way) -> int:
    """The largest S that meets the proved condition; so do all shorter windows."""
    low, high = 0, in_range(format) + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if is_enough(format, way, middle) else (low, middle)
    return low
