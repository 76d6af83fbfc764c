"""The parity network in floating point: which windows are read rightly."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from verify.definitions.machines import (
    MARKER,
    STATES,
    label_text,
    numbered_delta,
    transformer_token,
)
from verify.definitions.plain import require
from verify.definitions.relu import levels_and_scale

PRECISIONS = {"bfloat16": (8, 24), "float16": (11, 24), "float32": (24, 53), "float64": (53, 0)}
MOST_READINGS = 30_000
Interval = tuple[int, int]


def rounded_ratio(above: int, below: int, digits: int) -> int:
    """The whole number next to above / below with so many binary digits, ties to even."""
    spare = max(0, (abs(above) // below).bit_length() - digits)
    whole, rest = divmod(above, below << spare)
    half = (below << spare) - 2 * rest
    return (whole + (half < 0 or (half == 0 and whole & 1))) << spare


@dataclass(frozen=True)
class RoundedParity:
    """One network, K and s, in so many digits, for contexts of m tokens.

    All numbers are whole multiples of the last place of y = fl(1/m); 1 is 2^unit of them.
    """

    digits: int
    inner: int
    way: str
    levels: int
    scale: int
    context: int

    @cached_property
    def unit(self) -> int:
        """Binary places after the point."""
        return self.digits - 1 + (self.context - 1).bit_length()

    @cached_property
    def share(self) -> int:
        """The number y."""
        return rounded_ratio(1 << self.unit, self.context, self.digits)

    def near(self, number: int) -> int:
        """A number rounded."""
        if number.bit_length() <= self.digits:
            return number
        return rounded_ratio(number, 1, self.digits)

    def means(self) -> list[Interval]:
        """The least and the largest mean of 0, 1, .. ones, over all orders of the tokens."""
        if self.way == "pairwise":
            return self.halves(self.context)[: self.context]
        if self.way in ("once", "equality"):
            counts = [count << self.unit for count in range(self.context)]
            means = [rounded_ratio(count, self.context, self.digits) for count in counts]
            return [(mean, mean) for mean in means]
        inner = self.inner if self.way == "wider" else self.digits
        sums = [0]
        for _ in range(self.context - 1):
            sums.append(rounded_ratio(sums[-1] + self.share, 1, inner))
        return [(self.near(total), self.near(total)) for total in sums]

    def halves(self, size: int) -> list[Interval]:
        """The least and the largest sum over a balanced tree, by the number of ones."""
        if size == 1:
            return [(0, 0), (self.share, self.share)]
        right = self.halves(size // 2)
        left = right if size % 2 == 0 else self.halves(size - size // 2)
        sums: list[list[Interval]] = [[] for _ in range(size + 1)]
        for (a, (low, high)), (b, (least, most)) in itertools.product(
            enumerate(left), enumerate(right)
        ):
            sums[a + b].append((low + least, high + most))
        return [(self.near(min(s)[0]), self.near(max(h for _, h in s))) for s in sums]

    def tree(self, order: str) -> int:
        """The sum over a balanced tree with these ones and zeros at its leaves."""
        if len(order) == 1:
            return self.share * int(order)
        half = (len(order) + 1) // 2
        return self.near(self.tree(order[:half]) + self.tree(order[half:]))

    def reads(self, count: int, mean: Interval) -> bool:
        """Whether the parity of the count is right from every mean of the interval."""
        low, high = mean
        for level in reversed(range(self.levels)):
            middle = self.share << level
            first = self.near(low - middle)
            ends = first, first if low == high else self.near(high - middle)
            low = 0 if ends[0] < 0 < ends[1] else min(map(abs, ends))
            high = max(map(abs, ends))
        if self.way == "equality":
            asked = self.share if count % 2 else 0
            return {self.near(self.share - end) for end in (low, high)} == {asked}
        least, most = (self.near(2 * self.scale * (self.share - 2 * end)) for end in (high, low))
        if count % 2 == 0:
            return most <= 0
        return 1 << self.unit <= least and most <= 1 << (self.unit + self.digits)


def enough_precision(way: str, longest: int, digits: int, inner: int) -> bool:
    """The proved condition on S."""
    levels, _ = levels_and_scale(longest)
    loads = {
        "wider": 8 * longest,
        "once": 18 * longest,
        "pairwise": 9 * (levels + 1) * longest,
        "sequential": 9 * longest * longest,
    }
    if way not in loads or (way == "wider" and longest > 1 << (inner - digits)):
        return False
    return loads[way] + 10 * (1 << levels) <= 2 << digits


def networks_up_to(longest: int) -> list[tuple[int, int, int]]:
    """K and s, and the longest context, of each network that serves windows up to a length."""
    found = {levels_and_scale(size): size + 1 for size in range(1, longest + 1)}
    return [(levels, scale, context) for (levels, scale), context in found.items()]


def check_precision_frontier(exhibit: Any) -> str | None:
    """The first failure as it stands, the bound, and what is read up to the frontier.

    All contexts and counts if they are few (16 bits but for the longest windows of float16), else
    contexts drawn from a seed, each with all its counts; trees above the size drawn are left out.
    """
    name, way, frontier = exhibit["format"], exhibit["way"], exhibit["frontier"]
    digits, inner = PRECISIONS[name]
    require(exhibit["digits"] == digits, f"{name} has {digits} digits")
    bound, failure = exhibit["bound"], exhibit["failure"]
    require(
        (bound == 0 or enough_precision(way, bound, digits, inner))
        and not enough_precision(way, bound + 1, digits, inner),
        f"{bound} is not the largest S that meets the condition",
    )
    if failure is None:
        require(frontier == exhibit["limit"], "the search ended before its limit")
    else:
        require(bound <= frontier < exhibit["limit"], "the bound exceeds what was found")
        require(failure["longest"] == frontier + 1, "the frontier is not before the failure")
        require(not read_failure(failure, digits, inner, way), "the failure is read rightly")
    drawn = random.Random(f"{name} {way}")  # noqa: S311 - a choice of samples, no secret
    pairs = [
        (levels, scale, context)
        for levels, scale, longest in networks_up_to(frontier)
        for context in range(1, longest + 1)
    ]
    if sum(context for _, _, context in pairs) > MOST_READINGS:
        drawn.shuffle(pairs)
    left, done = MOST_READINGS, 0
    for levels, scale, context in pairs:
        left -= context * context // 40 if way == "pairwise" else context
        if left < 0:
            break
        network = RoundedParity(digits, inner, way, levels, scale, context)
        for count, mean in enumerate(network.means()):
            require(network.reads(count, mean), f"{count} of {context} tokens are misread")
        done += 1
    return None if done == len(pairs) else f"{done} of {len(pairs)} contexts, drawn by a seed"


def read_failure(failure: Any, digits: int, inner: int, way: str) -> bool:
    """Whether the stated failure is read rightly after all."""
    count: int = failure["count"]
    context, order = failure["context"], failure["order"]
    require(0 <= count < context <= failure["longest"] + 1, "no such count or context")
    network = RoundedParity(digits, inner, way, *levels_and_scale(failure["longest"]), context)
    if way != "pairwise":
        require(not order, "only pairwise sums have an order")
        return network.reads(count, network.means()[count])
    require(len(order) == context and order.count("1") == count, "the order has other ones")
    total = network.tree(order)
    return network.reads(count, (total, total))


def check_wraparound(exhibit: Any) -> None:
    """Bits by XOR over the tokens; the next token from one token for each bit that is 1."""
    shown = exhibit["displayed"].split()
    odd: set[str] = set()
    for symbol in shown:
        odd ^= {symbol}
    require(exhibit["bits"] == [int(symbol in odd) for symbol in ("a", "b", MARKER)], "other bits")
    require(("next" in exhibit) == (shown.count(MARKER) <= 1), "two markers have no next token")
    require(exhibit["state"] in STATES, "no such state")
    label, delta = ("N", (exhibit["state"],)), numbered_delta(exhibit["machine"])
    for context in (shown, sorted(odd)) if "next" in exhibit else ():
        tokens: list[Any] = [(symbol, label) for symbol in context]
        display, after, bit = transformer_token(tokens or [("", label)], delta, "a")
        require(exhibit["next"] == [display, label_text(after), bit], "another next token")
