"""Every window of a length in float64, with a proved bound on what rounding can do.

A window's attention output is a quotient of sums over its positions, so the windows of a group
are all pairs of a part before the last even number and a part behind it, whose sums are tables.
What the loop finds is the least lead of the required logit over another. A lead above the bound
is right, below minus the bound wrong, and what lies between is judged exactly (module `exact`).

The bound is the standard model's: with u = 2^-53 every sum, product and quotient is off by at most
u times itself, or by 2^-1074 where it underflows, and the weights exp(..) are the doubles nearest
to their enclosures. It is computed with magnitudes that no window exceeds, in exact rationals.

Source: N. J. Higham, Accuracy and Stability of Numerical Algorithms, sections 2.2 and 3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from constructions.minimal.definitions import (
    PLUS,
    SHORTEST,
    VOCABULARY,
    Group,
    Model,
    Reals,
    Window,
    groups,
)
from constructions.minimal.exact import exponential
from verify.errors import PrecisionError, SizeError

LONGEST = 8
"""Windows of length 9 are 12 times as many; those are decided by covers alone."""
UNIT = Fraction(1, 1 << 53)
TINY = Fraction(1, 1 << 1074)
"""What underflow adds to the error of one operation."""
LEAST_TOTAL = 2.0**-900
"""Sums of weights below it may have lost digits to underflow, so floats decide nothing there."""
MOST_UNDECIDED = 1 << 16
RIGHT, WRONG, UNDECIDED = range(3)
FIGURES = 3
THREADS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """What the loops read: weights times values, and weights, by position and token."""

    weighted: Reals
    embedded: Reals
    bound: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupCount:
    """What floats say of a group.

    instead[t] counts the wrong windows in which t leads; first_wrong and undecided are windows'
    numbers within the group, counted lexicographically.
    """

    group: Group
    right: int
    wrong: int
    instead: tuple[int, ...]
    first_wrong: int
    undecided: tuple[int, ...]

    def window(self, number: int) -> Window:
        """The window with a number."""
        return window_of(self.group, number)


def window_of(group: Group, number: int) -> Window:
    """The window of a group that has a number when its windows are counted lexicographically."""
    tokens = list[int]()
    for allowed in reversed(group.allowed()):
        number, index = divmod(number, len(allowed))
        tokens.append(allowed[index])
    return tuple(reversed(tokens))


def nearest_weights(model: Model, length: int) -> Reals:
    """[position][token]: the doubles nearest to exp((score - largest) / sqrt 2)."""
    scores = model.scores(length)
    largest = max(max(row) for row in scores)

    def nearest(score: Fraction) -> float:
        bits = 64
        while True:
            lower, upper = exponential(score - largest, bits)
            if float(lower) == float(upper):
                return float(lower)
            bits *= 2

    return np.array([[nearest(score) for score in row] for row in scores])


def tables(model: Model, length: int) -> Tables:
    """The tables of a length.

    Raises:
        SizeError: a length that is not between 2 and the context, or too long to enumerate.
    """
    if not SHORTEST <= length <= min(LONGEST, model.context):
        raise SizeError(
            f"windows are counted for lengths {SHORTEST} to {min(LONGEST, model.context)}, got "
            f"{length}; longer ones are decided by covers"
        )
    weights = nearest_weights(model, length)
    values = np.array(
        [[[float(x) for x in vector] for vector in at] for at in model.values[:length]]
    )
    weighted = np.empty((length, VOCABULARY, FIGURES))
    weighted[:, :, :2] = weights[:, :, None] * values
    weighted[:, :, 2] = weights
    last = model.embedded[length - 1][PLUS]
    return Tables(
        weighted=weighted,
        embedded=np.array([float(x) for x in last]),
        bound=_upward(rounding_bound(model, length)),
    )


def rounding_bound(model: Model, length: int) -> Fraction:
    """A bound of |computed lead - lead| for every window of a length and every other token.

    Magnitudes bound what is computed, errors the distance from the exact value.
    """
    unit = UNIT * Fraction(1001, 1000)  # (1 + u)^k - 1 <= k u 1.001 for all k used here
    most = max(abs(x) for at in model.values[:length] for vector in at for x in vector)
    # A value and its product with a weight are rounded, the weight is, and then up to length
    # sums are: 3 + length in the numerator, 1 + length in the denominator, and the quotient.
    underflow = 3 * length * TINY / Fraction(LEAST_TOTAL)
    attention = most * unit * (2 * length + 5) + (1 + most) * underflow
    last = model.embedded[length - 1][PLUS]
    streams = [abs(x) + most + attention for x in last]
    errors = [attention + unit * (abs(x) + size) for x, size in zip(last, streams, strict=True)]
    inward, biases = list(zip(*model.exact("W_1"), strict=True)), model.exact("b_1")[0]
    neurons, noise = list[Fraction](), list[Fraction]()
    for weights, bias in zip(inward, biases, strict=True):
        size = sum((abs(w) * y for w, y in zip(weights, streams, strict=True)), abs(bias))
        passed = sum((abs(w) * e for w, e in zip(weights, errors, strict=True)), Fraction(0))
        neurons.append(size * (1 + 4 * unit))
        noise.append(passed + 4 * (unit * size + TINY))
    steps = len(biases) + 3
    after, off = list[Fraction](), list[Fraction]()
    for axis, shift in enumerate(model.exact("b_2")[0]):
        column = [abs(row[axis]) for row in model.exact("W_2")]
        size = streams[axis] + abs(shift)
        size += sum((w * h for w, h in zip(column, neurons, strict=True)), Fraction(0))
        passed = sum((w * e for w, e in zip(column, noise, strict=True)), errors[axis])
        after.append(size * (1 + steps * unit))
        off.append(passed + steps * (unit * size + TINY))
    readout, offsets = list(zip(*model.exact("U"), strict=True)), model.exact("c")[0]
    logits = list[tuple[Fraction, Fraction]]()
    for row, offset in zip(readout, offsets, strict=True):
        size = sum((abs(w) * z for w, z in zip(row, after, strict=True)), abs(offset))
        passed = sum((abs(w) * e for w, e in zip(row, off, strict=True)), Fraction(0))
        logits.append((size * (1 + 4 * unit), passed + 4 * (unit * size + TINY)))
    size, error = (max(part) for part in zip(*logits, strict=True))
    return 2 * error + 2 * unit * size


def _upward(bound: Fraction) -> float:
    """A double that is not below.

    Raises:
        PrecisionError: weights so large that float64 cannot hold what comes out.
    """
    if bound >= 1 << 512:
        raise PrecisionError(
            "float64 must be able to hold every logit of the model, got weights that are too "
            "large; decide it with covers alone"
        )
    return float(np.nextafter(float(bound), np.inf))


def count_group(
    before: Reals,
    behind: Reals,
    fixed: Reals,
    required: int,
    stream: Reals,
    network: tuple[Reals, Reals, Reals, Reals, Reals, Reals],
    bound: float,
    least_total: float,
    counts: NDArray[np.int64],
    undecided: NDArray[np.int64],
) -> int:
    """Counts into counts = [right, wrong, undecided, first wrong, instead...]; numba compiles it.

    before, behind of shape (*, 3) hold sums of weighted values and weights. Returns how many
    windows are undecided; their numbers are kept while there is room.
    """
    inward, biases, outward, shift, readout, offsets = network
    wide = len(behind)
    waiting = 0
    for high in range(len(before)):
        for low in range(wide):
            total = before[high, 2] + behind[low, 2] + fixed[2]
            first = stream[0] + (before[high, 0] + behind[low, 0] + fixed[0]) / total
            second = stream[1] + (before[high, 1] + behind[low, 1] + fixed[1]) / total
            out_first, out_second = shift[0], shift[1]
            for neuron in range(len(biases)):
                state = inward[0, neuron] * first + inward[1, neuron] * second + biases[neuron]
                active = max(state, 0.0)
                out_first += active * outward[neuron, 0]
                out_second += active * outward[neuron, 1]
            out_first += first
            out_second += second
            rival, best, wanted = -1, -np.inf, -np.inf
            for token in range(len(offsets)):
                logit = readout[0, token] * out_first + readout[1, token] * out_second
                logit += offsets[token]
                if token == required:
                    wanted = logit
                elif logit > best:
                    rival, best = token, logit
            lead = wanted - best
            number = high * wide + low
            if total >= least_total and lead > bound:
                counts[0] += 1
            elif total >= least_total and lead < -bound:
                counts[1] += 1
                counts[4 + rival] += 1
                if counts[3] < 0:
                    counts[3] = number
            else:
                if waiting < len(undecided):
                    undecided[waiting] = number
                waiting += 1
    counts[2] = waiting
    return waiting


@lru_cache(maxsize=1)
def _compiled() -> Callable[..., int]:
    """The loop as machine code, kept on disk."""
    from numba import njit

    return njit(cache=True, nogil=True)(count_group)


def _sums(parts: Sequence[Reals]) -> Reals:
    """All sums of one row from each part, the first part's rows slowest."""
    found = np.zeros((1, FIGURES))
    for part in parts:
        found = (found[:, None, :] + part[None, :, :]).reshape(-1, FIGURES)
    return found


def _count(model: Model, made: Tables, group: Group) -> GroupCount:
    rows = [made.weighted[at, list(allowed)] for at, allowed in enumerate(group.allowed())]
    place = group.place
    part = model.tensors
    counts = np.zeros(4 + VOCABULARY, dtype=np.int64)
    counts[3] = -1
    undecided = np.zeros(MOST_UNDECIDED, dtype=np.int64)
    names = ("W_1", "b_1", "W_2", "b_2", "U", "c")
    waiting = _compiled()(
        _sums(rows[:place]),
        _sums(rows[place + 1 : -1]),
        rows[place][0] + rows[-1][0],
        group.even,
        made.embedded,
        tuple(np.ascontiguousarray(part[name]) for name in names),
        made.bound,
        LEAST_TOTAL,
        counts,
        undecided,
    )
    if waiting > MOST_UNDECIDED:
        raise PrecisionError(
            f"at most {MOST_UNDECIDED} windows of a group may be too close for float64, got "
            f"{waiting}; the weights are too large for exhaustive counting, decide by covers"
        )
    numbers: Any = undecided[:waiting].tolist()
    right, wrong, _, first, *instead = (int(count) for count in counts)
    return GroupCount(
        group=group,
        right=right,
        wrong=wrong,
        instead=tuple(instead),
        first_wrong=first,
        undecided=tuple(numbers),
    )


def counted(model: Model, length: int) -> Iterator[GroupCount]:
    """What floats say of every group of a length, in the order of `groups`."""
    made = tables(model, length)

    def one(group: Group) -> GroupCount:
        return _count(model, made, group)

    with ThreadPoolExecutor(THREADS) as pool:
        yield from pool.map(one, groups(length))
