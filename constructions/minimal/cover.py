"""Compact proofs: sets of windows that together are all, each right or wrong as a whole.

A set allows certain tokens at each position. The attention output is a quotient of sums over
positions, so a coordinate stays at or below c on the whole set exactly if

    sum_i  max_{t allowed at i}  w_{i,t} (v_{i,t} - c)  <=  0

and the least such c is found by a few steps of Dinkelbach's method. That gives a box; where
`readout` labels the box, the set is a leaf. Where it does not, the set is parted at the position
whose choice moves the output most. A set of one window that no box labels is judged exactly.

Weights w are integers around exp(score / sqrt 2), rounded outwards, and values exact; floats only
propose c.

Source: W. Dinkelbach, On nonlinear fractional programming, 1967; the covers are ours.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor

import numpy as np

from constructions.minimal.definitions import PLUS, SHORTEST, Group, Model, Reals, groups
from constructions.minimal.exact import exponential, judge
from constructions.minimal.readout import BOX_BITS, Box, Label, Readout, denominators
from verify.errors import PrecisionError, SizeError

WEIGHT_BITS = 64
MOST_RANGE_BITS = 1 << 12
LOG2_E_OVER_ROOT_2 = Fraction(10203, 10000)
"""log2(e) / sqrt 2, rounded up by less than 10^-4."""
MOST_LEAVES = 1 << 18

Allowed = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """A set of windows with one label, and the box that shows it; None if judged exactly."""

    box: Box | None
    label: Label


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """A set that is parted at a position, by the tokens that its parts allow there."""

    at: int
    parts: tuple[tuple[tuple[int, ...], Tree], ...]


Tree = Leaf | Branch


def narrowed(allowed: Allowed, at: int, tokens: tuple[int, ...]) -> Allowed:
    """The set that allows only these tokens at a position."""
    return (*allowed[:at], tokens, *allowed[at + 1 :])


def leaves(tree: Tree, allowed: Allowed) -> Iterator[tuple[Leaf, Allowed]]:
    """All leaves below a tree, with their sets."""
    if isinstance(tree, Leaf):
        yield tree, allowed
        return
    for tokens, part in tree.parts:
        yield from leaves(part, narrowed(allowed, tree.at, tokens))


def set_size(allowed: Allowed) -> int:
    """How many windows a set holds."""
    size = 1
    for tokens in allowed:
        size *= len(tokens)
    return size


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupCover:
    """A group's windows as a tree of sets."""

    group: Group
    tree: Tree

    def leaves(self) -> Iterator[tuple[Leaf, Allowed]]:
        """All leaves, with their sets."""
        return leaves(self.tree, self.group.allowed())

    def count(self, label: Label) -> int:
        """How many windows have the label."""
        return sum(set_size(allowed) for leaf, allowed in self.leaves() if leaf.label == label)


class Reach:
    """Where the attention output of the windows of one length can lie.

    Raises:
        SizeError: a length beyond the context.
        PrecisionError: weights so far apart that integers around them would be huge.
    """

    def __init__(self, model: Model, length: int) -> None:
        """Tables of weights and values by position and token."""
        if not SHORTEST <= length <= model.context:
            raise SizeError(
                f"a window's length must be {SHORTEST} to {model.context}, got {length}; the upper "
                "end is the model's context"
            )
        self._scores = model.scores(length)
        self._last = model.embedded[length - 1][PLUS]
        values = model.values[:length]
        flat = [x for at in values for vector in at for x in vector]
        self._places = max(BOX_BITS, denominators([*flat, *self._last]))
        self._values = [
            [[int(x * (1 << self._places)) for x in vector] for vector in at] for at in values
        ]
        self._stream = [int(x * (1 << self._places)) for x in self._last]
        self._floats = np.array([[[float(x) for x in v] for v in at] for at in values])
        self._offset = np.array([float(x) for x in self._last])
        self._slack = 2 + ceil(max(map(abs, flat)))  # units by which floats may be off

    @cached_property
    def _weights(self) -> list[list[tuple[int, int]]]:
        """Integers around the weights, in one unit that gives the least WEIGHT_BITS bits."""
        largest = max(map(max, self._scores))
        spread = largest - min(map(min, self._scores))
        bits = ceil(spread * LOG2_E_OVER_ROOT_2)
        if bits > MOST_RANGE_BITS:
            raise PrecisionError(
                f"attention weights must be within 2^{MOST_RANGE_BITS} of each other, got "
                f"2^{bits}; choose smaller query and key weights"
            )
        unit = 1 << (WEIGHT_BITS + bits)
        ends = [[exponential(x - largest, WEIGHT_BITS + 16) for x in row] for row in self._scores]
        return [[(floor(a * unit), ceil(b * unit)) for a, b in row] for row in ends]

    def _relative(self, place: int, token: int) -> Reals:
        """Weights as floats, over that of a token at a place."""
        reference = self._scores[place][token]
        exponents = [[float(x - reference) / 2**0.5 for x in row] for row in self._scores]
        return np.exp(np.minimum(np.array(exponents), 700.0))

    def proposed(self, allowed: Allowed, place: int) -> Box:
        """A box that floats take to hold y for all windows of the set."""
        weights = self._relative(place, allowed[place][0])
        ends = list[int]()
        for axis in range(2):
            for direction in (-1, 1):
                end = _extreme(weights, self._floats[:, :, axis], allowed, direction)
                scaled = (end + self._offset[axis]) * 2.0**BOX_BITS
                ends.append(round(scaled) + direction * self._slack)
        return ends[0], ends[1], ends[2], ends[3]

    def holds(self, allowed: Allowed, box: Box) -> bool:
        """Whether y certainly lies in the box for all windows of the set."""
        return all(
            self._bounded(allowed, axis, box[2 * axis + (direction + 1) // 2], direction)
            for axis in range(2)
            for direction in (-1, 1)
        )

    def _bounded(self, allowed: Allowed, axis: int, end: int, direction: int) -> bool:
        """Whether direction * (attention - c) <= 0 on the set, c being end less the stream."""
        c = (end << (self._places - BOX_BITS)) - self._stream[axis]
        total = 0
        for position, tokens in enumerate(allowed):
            values, weights = self._values[position], self._weights[position]
            total += max(
                _upper_product(weights[t], direction * (values[t][axis] - c)) for t in tokens
            )
        return total <= 0

    def moving(self, allowed: Allowed, place: int) -> tuple[int, tuple[tuple[int, ...], ...]]:
        """The position whose choice moves the output most, and its tokens in two parts."""
        weights = self._relative(place, allowed[place][0])
        best, found = -1.0, (-1, ((), ()))
        box = self.proposed(allowed, place)
        for position, tokens in enumerate(allowed):
            if len(tokens) < 2:  # noqa: PLR2004 - nothing to part
                continue
            for axis in range(2):
                middle = (box[2 * axis] + box[2 * axis + 1]) / 2.0 ** (BOX_BITS + 1)
                shifted = self._floats[position, :, axis] - (middle - self._offset[axis])
                pushes = {token: weights[position, token] * shifted[token] for token in tokens}
                spread = max(pushes.values()) - min(pushes.values())
                if spread > best:
                    best, found = spread, (position, _parted(pushes))
        return found


def _parted(pushes: dict[int, float]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Tokens in two parts, at the widest gap of what they do."""
    order = sorted(pushes, key=lambda token: (pushes[token], token))
    gaps = [pushes[b] - pushes[a] for a, b in itertools.pairwise(order)]
    cut = max(range(len(gaps)), key=lambda index: gaps[index]) + 1
    return tuple(sorted(order[:cut])), tuple(sorted(order[cut:]))


def _upper_product(weight: tuple[int, int], factor: int) -> int:
    return weight[1 if factor > 0 else 0] * factor


def _extreme(weights: Reals, values: Reals, allowed: Allowed, direction: int) -> float:
    """The greatest (direction 1) or least (-1) quotient over the set, by Dinkelbach's steps."""
    mask = np.full(weights.shape, -np.inf)
    for position, tokens in enumerate(allowed):
        mask[position, list(tokens)] = 0.0
    rows = np.arange(len(allowed))
    chosen = np.array([tokens[0] for tokens in allowed])
    found = -direction * np.inf
    while True:
        taken = weights[rows, chosen]
        moved = float((taken * values[rows, chosen]).sum() / taken.sum())
        if direction * (moved - found) <= 0:
            return found
        found = moved
        chosen = (direction * weights * (values - found) + mask).argmax(axis=1)


class Prover:
    """Covers of the windows of one length."""

    def __init__(self, model: Model, length: int, most: int = MOST_LEAVES) -> None:
        """Tables of the length, and the readout; `most` leaves in all."""
        self._model = model
        self._reach = Reach(model, length)
        self._readout = Readout(model)
        self._most = self._left = most

    def cover(self, group: Group) -> GroupCover:
        """The group's cover, each leaf shown exactly.

        Raises:
            PrecisionError: more leaves than there may be.
        """
        return GroupCover(group=group, tree=self._tree(group.allowed(), group))

    def _tree(self, allowed: Allowed, group: Group) -> Tree:
        box = self._reach.proposed(allowed, group.place)
        if self._reach.holds(allowed, box):
            label = self._readout.label(box, group.even)
            if label is not None:
                return self._leaf(box, label)
        if set_size(allowed) == 1:
            judged = judge(self._model, [tokens[0] for tokens in allowed])
            return self._leaf(None, "right" if judged.right else "wrong")
        at, parts = self._reach.moving(allowed, group.place)
        return Branch(
            at=at,
            parts=tuple((part, self._tree(narrowed(allowed, at, part), group)) for part in parts),
        )

    def _leaf(self, box: Box | None, label: Label) -> Leaf:
        self._left -= 1
        if self._left < 0:
            raise PrecisionError(
                f"a cover must have at most {self._most} sets, and this model needs more; count "
                "its windows one by one"
            )
        return Leaf(box=box, label=label)


def cover(model: Model, length: int, most: int = MOST_LEAVES) -> tuple[GroupCover, ...]:
    """Covers of all groups of a length, of at most so many sets.

    Raises:
        PrecisionError: more sets, or weights too far apart.
    """
    prover = Prover(model, length, most)
    return tuple(prover.cover(group) for group in groups(length))


def check(model: Model, covers: Sequence[GroupCover]) -> str:
    """What is wrong with covers of one length, or nothing: parts, boxes and labels, exactly."""
    length = covers[0].group.length
    if tuple(part.group for part in covers) != groups(length):
        return f"the groups of length {length} must each be covered once, in order"
    reach, readout = Reach(model, length), Readout(model)
    for part in covers:
        trouble = _parts_trouble(part.tree, part.group.allowed())
        if trouble:
            return trouble
        for leaf, allowed in part.leaves():
            if leaf.box is None:
                if set_size(allowed) != 1:
                    return f"only single windows are judged exactly, got {allowed}"
                right = judge(model, [tokens[0] for tokens in allowed]).right
                shown: Label | None = "right" if right else "wrong"
            elif not reach.holds(allowed, leaf.box):
                return f"the box {leaf.box} must hold the output of {allowed}; it does not"
            else:
                shown = readout.label(leaf.box, part.group.even)
            if shown != leaf.label:
                return f"the set {allowed} is labelled {leaf.label}, but {shown} is shown"
    return ""


def _parts_trouble(tree: Tree, allowed: Allowed) -> str:
    """Whether every branch parts what is allowed at its position."""
    if isinstance(tree, Leaf):
        return ""
    listed = [token for tokens, _ in tree.parts for token in tokens]
    if not all(tokens for tokens, _ in tree.parts) or sorted(listed) != sorted(allowed[tree.at]):
        return f"the parts at position {tree.at} must hold each of {allowed[tree.at]} once"
    for tokens, part in tree.parts:
        trouble = _parts_trouble(part, narrowed(allowed, tree.at, tokens))
        if trouble:
            return trouble
    return ""
