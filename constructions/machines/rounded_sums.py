"""The mean of a symbol's occurrences in floating point, summed in several ways, to any precision.

    once         fl(c/m)
    in turn      ((y + y) + y) + .. from y = fl(1/m), each sum rounded
    pairwise     along the balanced binary tree over the tokens, y or 0 at its leaves

Numbers of p digits are held exactly in float32 or float64, and every operation is rounded to p
digits. Exponents are not bounded below or above: callers keep within their format's range.

Source: Sliding-Window Transformers Without Positional Encodings, Theorem 9, Remark 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.floating[Any]]

_SINGLE = 24
"""Binary digits of float32."""


# --- rounding --------------------------------------------------------------------------------


def rounded(values: Reals, digits: int) -> Reals:
    """Each number rounded to so many binary digits, ties to even.

        answer float32 up to 24 digits, else float64

    What one operation on numbers of p digits gives, computed in 2 p + 2 digits or more and then
    rounded to p, is the operation rounded once (S. Figueroa, When is double rounding innocuous?,
    1995): float32 serves for the formats of 16 bits.
    """
    if digits == _SINGLE:
        return values.astype(np.float32, copy=False)
    spare = np.finfo(values.dtype).nmant + 1 - digits
    if spare > 0:
        bits = values.view(np.int32 if values.dtype == np.float32 else np.int64)
        bits = bits + ((bits >> spare) & 1) + ((1 << (spare - 1)) - 1)
        values = (bits >> spare << spare).view(values.dtype)
    return values.astype(_stored(digits), copy=False)


def _stored(digits: int) -> type[np.floating[Any]]:
    return np.float32 if digits <= _SINGLE else np.float64


# --- ways of summing -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """Shares of a symbol for counts 0, 1, .. and contexts: the least and the largest over orders.

    `least` and `most` have the shape (counts, contexts), `share`, which is y, has (contexts,).
    """

    least: Reals
    most: Reals
    share: Reals


def split(size: int) -> tuple[int, int]:
    """How a balanced tree shares out its positions."""
    return (size + 1) // 2, size // 2


def shares(contexts: range, digits: int) -> Reals:
    """The share y = fl(1/m) of one token, for each context length."""
    return rounded(1 / np.array(contexts, dtype=_stored(digits)), digits)


def rounded_once(contexts: range, digits: int) -> Inputs:
    """fl(c/m): the exact mean, rounded once."""
    lengths = np.array(contexts, dtype=_stored(digits))
    counts = np.arange(contexts[-1], dtype=lengths.dtype)
    found = rounded(counts[:, None] / lengths, digits)
    return Inputs(least=found, most=found, share=shares(contexts, digits))


def summed_in_turn(contexts: range, digits: int, inner: int) -> Inputs:
    """The mean summed token by token in `inner` digits and then rounded.

    Only the ones are added: the zeros between them change nothing, so all orders are alike.
    """
    share = shares(contexts, digits)
    total = np.zeros(len(contexts), dtype=_stored(inner))
    sums = [total]
    for _ in range(contexts[-1] - 1):
        total = rounded(total + share, inner)
        sums.append(total)
    found = rounded(np.stack(sums), digits)
    return Inputs(least=found, most=found, share=share)


def summed_pairwise(contexts: range, digits: int) -> Inputs:
    """The mean summed along the balanced tree over the tokens."""
    share = shares(contexts, digits)
    least = np.zeros((contexts[-1], len(contexts)), dtype=share.dtype)
    most = least.copy()
    for place, context in enumerate(contexts):
        low, high = _extremes(context, digits)
        least[:context, place], most[:context, place] = low[:context], high[:context]
    return Inputs(least=least, most=most, share=share)


@lru_cache(maxsize=4096)
def _extremes(context: int, digits: int) -> tuple[Reals, Reals]:
    """The least and the largest sum of each count, over all orders."""
    return tree_sums(context, digits)[context]


def tree_sums(context: int, digits: int) -> dict[int, tuple[Reals, Reals]]:
    """By size of a subtree, the least and the largest sum of each count of ones in it.

    The tree is the balanced one over a context's tokens. Rounding keeps order, so least and largest
    sums come from those of the halves.
    """
    leaf = np.append(
        np.zeros(1, dtype=_stored(digits)), shares(range(context, context + 1), digits)
    )
    found = {1: (leaf, leaf)}

    def grow(size: int) -> None:
        left, right = split(size)
        for part in (left, right):
            if part not in found:
                grow(part)
        low, high = (
            _by_count(rounded(np.add.outer(found[left][end], found[right][end]), digits))
            for end in (0, 1)
        )
        found[size] = np.nanmin(low, axis=0), np.nanmax(high, axis=0)

    if context > 1:
        grow(context)
    return found


def _by_count(sums: Reals) -> Reals:
    """The table of sums by ones on the left and on the right, shifted so that columns are counts.

    shape (a, b) becomes (a, a + b - 1), with NaN where there is no sum
    """
    height, width = sums.shape
    counts = height + width - 1
    wide = np.full((height, counts + 1), np.nan, dtype=sums.dtype)
    wide[:, :width] = sums
    return wide.ravel()[: height * counts].reshape(height, counts)


def placed(sums: dict[int, tuple[Reals, Reals]], size: int, count: int, end: int) -> str:
    """Ones and zeros at a subtree's leaves that give its least (`end` 0) or its largest (1) sum."""
    if size == 1:
        return str(count)
    left, right = split(size)
    one, other = sums[left][end], sums[right][end]
    ways = [a for a in range(left + 1) if 0 <= count - a <= right]
    totals = [float(one[a]) + float(other[count - a]) for a in ways]
    a = ways[totals.index((min, max)[end](totals))]
    return placed(sums, left, a, end) + placed(sums, right, count - a, end)
