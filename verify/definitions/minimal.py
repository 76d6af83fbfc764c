"""Windows of a minimal transformer, decided by sets, and readings of its plane."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from verify.definitions.balls import Ball, Balls
from verify.definitions.plain import RejectedError, Rows, dot, product, require, rows_of

BOX_PLACES = 40
SLOPE_PLACES = 16
MOST_PARTS = 256
TOKENS, OPERATOR, SHORTEST_WINDOW = 12, 11, 2
PARAMETERS = 250
EVEN, OTHER = range(0, OPERATOR, 2), [1, 3, 5, 7, 9, OPERATOR]
Whole3 = tuple[int, int, int]
"""first * y_1 + second * y_2 + constant."""
PlaneBox = tuple[int, int, int, int]
"""Least and greatest of both coordinates."""


def least_over(line: Whole3, box: PlaneBox) -> int:
    """The least value of a linear function over a box."""
    return line[2] + sum(line[axis] * box[2 * axis + (line[axis] < 0)] for axis in range(2))


def greatest_over(line: Whole3, box: PlaneBox) -> int:
    """The greatest value of a linear function over a box."""
    return -least_over((-line[0], -line[1], -line[2]), box)


class MinimalModel:
    """A minimal transformer, from its exact weights."""

    def __init__(self, weights: Any) -> None:
        """Read the weights; shapes must fit."""
        self.weights = {name: rows_of(rows) for name, rows in weights.items()}
        w = self.weights
        hidden, context = len(w["b_1"][0]), len(w["P"])
        shapes = {
            "E": (TOKENS, 2), "P": (context, 2), "W_Q": (2, 2), "W_K": (2, 2), "W_V": (2, 2),
            "W_1": (2, hidden), "b_1": (1, hidden), "W_2": (hidden, 2), "b_2": (1, 2),
            "U": (2, TOKENS), "c": (1, TOKENS),
        }  # fmt: skip
        found = {name: (len(rows), len(rows[0])) for name, rows in w.items()}
        require(found == shapes, f"tensors of shapes {found}, not {shapes}")
        names = ("W_1", "b_1", "W_2", "b_2", "U", "c")
        entries = [x for name in names for row in w[name] for x in row]
        self.places = max(x.denominator.bit_length() - 1 for x in entries)
        self.whole = {name: [[self._scaled(x) for x in row] for row in w[name]] for name in names}

    def _scaled(self, x: Fraction) -> int:
        scaled = x * (1 << self.places)
        require(scaled.denominator == 1, "a weight is not dyadic")
        return int(scaled)

    def at(self, place: int, name: str) -> Rows:
        """[token]: what a matrix makes of token and position."""
        embedded = [[x + p for x, p in zip(row, self.weights["P"][place], strict=True)]
                    for row in self.weights["E"]]  # fmt: skip
        return product(embedded, self.weights[name]) if name else embedded

    def label(self, box: PlaneBox, required: int) -> str:
        """What holds at every point of a box, which is halved where that is not seen at once."""
        waiting, parts, found = [box], 0, set[str]()
        while waiting:
            part = waiting.pop()
            parts += 1
            label = self._label_at_once(part, required)
            if label:
                found.add(label)
                continue
            require(parts < MOST_PARTS, "a box is not seen to have one label")
            axis = 0 if part[1] - part[0] >= part[3] - part[2] else 1
            middle = (part[2 * axis] + part[2 * axis + 1]) // 2
            low, high = list(part), list(part)
            low[2 * axis + 1] = high[2 * axis] = middle
            waiting += [(low[0], low[1], low[2], low[3]), (high[0], high[1], high[2], high[3])]
        require(len(found) == 1, "parts of a box have different labels")
        return found.pop()

    def _label_at_once(self, box: PlaneBox, required: int) -> str:
        others = [token for token in range(TOKENS) if token != required]
        neurons = list(self._neurons(box))
        if all(self._lead(box, neurons, required, other) > 0 for other in others):
            return "right"
        if any(self._lead(box, neurons, other, required) >= 0 for other in others):
            return "wrong"
        return ""

    def _neurons(self, box: PlaneBox) -> Iterator[tuple[list[int], Whole3, Whole3]]:
        """For each neuron its output row, and lines below and above its ReLU over the box."""
        w, one = self.whole, 1 << SLOPE_PLACES
        (bias,) = w["b_1"]
        for first, second, shift, out in zip(*w["W_1"], bias, w["W_2"], strict=True):
            line = (first, second, shift << BOX_PLACES)
            low, high = least_over(line, box), greatest_over(line, box)
            if high <= 0:
                continue
            if low >= 0:
                below, slope, rise = one, one, 0
            else:
                below = one if high > -low else 0
                slope = (high << SLOPE_PLACES) // (high - low)
                rise = max(-slope * low, (one - slope) * high)
            a, b, c = line
            yield (
                out,
                (below * a, below * b, below * c),
                (slope * a, slope * b, slope * c + rise),
            )

    def _lead(
        self,
        box: PlaneBox,
        neurons: list[tuple[list[int], Whole3, Whole3]],
        one: int,
        other: int,
    ) -> int:
        """A lower bound of one logit less another over a box; only its sign has a meaning."""
        w, up = self.whole, self.places + SLOPE_PLACES
        across = [row[one] - row[other] for row in w["U"]]
        constant = (w["c"][0][one] - w["c"][0][other]) << (self.places + BOX_PLACES)
        constant += sum(x * y for x, y in zip(across, w["b_2"][0], strict=True)) << BOX_PLACES
        sums = [across[0] << up, across[1] << up, constant << SLOPE_PLACES]
        sums = [sums[0] << self.places, sums[1] << self.places, sums[2] << self.places]
        for out, below, above in neurons:
            weight = across[0] * out[0] + across[1] * out[1]
            line = below if weight > 0 else above
            sums = [x + weight * y for x, y in zip(sums, line, strict=True)]
        return least_over((sums[0], sums[1], sums[2]), box)


class MinimalLength:
    """What the windows of a length read: weights around their exponentials, and values."""

    def __init__(self, model: MinimalModel, length: int) -> None:
        """Tables by position and token."""
        self.model, self.length = model, length
        query = model.at(length - 1, "W_Q")[OPERATOR]
        self.scores = [
            [dot(query, key) for key in model.at(place, "W_K")] for place in range(length)
        ]
        self.values = [model.at(place, "W_V") for place in range(length)]
        self.stream = model.at(length - 1, "")[OPERATOR]
        self.largest = max(map(max, self.scores))
        spread = self.largest - min(map(min, self.scores))
        require(spread < 1 << 12, "scores are too far apart")
        self.balls = Balls(128 + 2 * math.ceil(spread))
        self.exponentials = [[self.exponential(self.balls, x) for x in row] for row in self.scores]

    def exponential(self, balls: Balls, score: Fraction) -> Ball:
        """exp((score - largest) / sqrt 2)."""
        root: Ball = math.isqrt(1 << (2 * balls.scale - 1)), 1
        return balls.exp(balls.times(balls.of(score - self.largest), root))

    def within(self, allowed: list[list[int]], box: PlaneBox) -> bool:
        """Whether the stream at the last token is in the box, for all windows of a set."""
        for axis in range(2):
            for side in (0, 1):
                end = Fraction(box[2 * axis + side], 1 << BOX_PLACES) - self.stream[axis]
                sign, most = 2 * side - 1, Fraction(0)
                for place, tokens in enumerate(allowed):
                    most += max(self._pull(place, token, axis, end, sign) for token in tokens)
                if most > 0:
                    return False
        return True

    def _pull(self, place: int, token: int, axis: int, end: Fraction, sign: int) -> Fraction:
        middle, radius = self.exponentials[place][token]
        beyond = sign * (self.values[place][token][axis] - end)
        return (middle + radius if beyond > 0 else max(middle - radius, 0)) * beyond

    def judged(self, window: list[int], required: int) -> str:
        """The label of one window, from signs of sums over its places."""
        w, scores = self.model.weights, [self.scores[i][t] for i, t in enumerate(window)]
        plane = [
            [x + y for x, y in zip(self.stream, self.values[place][token], strict=True)]
            for place, token in enumerate(window)
        ]
        after = [[y + b for y, b in zip(point, w["b_2"][0], strict=True)] for point in plane]
        for first, second, bias, out in zip(*w["W_1"], w["b_1"][0], w["W_2"], strict=True):
            states = [first * y + second * z + bias for y, z in plane]
            if self.sign(states, scores) > 0:
                after = [
                    [z + state * x for z, x in zip(point, out, strict=True)]
                    for point, state in zip(after, states, strict=True)
                ]
        for other in set(range(TOKENS)) - {required}:
            across = [row[required] - row[other] for row in w["U"]]
            shift = w["c"][0][required] - w["c"][0][other]
            leads = [dot(across, point) + shift for point in after]
            if self.sign(leads, scores) <= 0:
                return "wrong"
        return "right"

    def sign(self, factors: list[Fraction], scores: list[Fraction]) -> int:
        """The sign of the sum of factors times exp(score / sqrt 2).

        It is 0 only if the factors of equal scores add up to 0 (Lindemann and Weierstrass).
        """
        grouped: dict[Fraction, Fraction] = {}
        for factor, score in zip(factors, scores, strict=True):
            grouped[score] = grouped.get(score, Fraction(0)) + factor
        left = {score: factor for score, factor in grouped.items() if factor}
        if not left:
            return 0
        for doublings in range(6):
            balls = Balls(self.balls.scale << doublings)
            middle, radius = balls.total(
                [
                    balls.times(balls.of(factor), self.exponential(balls, score))
                    for score, factor in left.items()
                ]
            )
            if abs(middle) > radius:
                return 1 if middle > 0 else -1
        raise RejectedError("a sum of exponentials is too near 0 to be told from it")


def plane_box(ends: Any) -> PlaneBox:
    """Lower and upper end on either axis."""
    require(all(type(end) is int for end in ends), "a box's ends are whole numbers")
    first, second, third, fourth = ends
    return first, second, third, fourth


def check_window_cover(exhibit: Any) -> None:
    """Trees of sets that hold every window of each length once, each set with one label."""
    model = MinimalModel(exhibit["weights"])
    for part in exhibit["lengths"]:
        length = part["length"]
        require(
            SHORTEST_WINDOW <= length <= len(model.weights["P"]),
            "a length is not within the context",
        )
        reading, counts = MinimalLength(model, length), {"right": 0, "wrong": 0}
        groups = [(place, even) for place in range(length - 1) for even in EVEN]
        require(len(part["groups"]) == len(groups), "there must be a tree for each group")
        for (place, even), tree in zip(groups, part["groups"], strict=True):
            allowed = [list(range(TOKENS)) for _ in range(place)]
            allowed += [[even], *([*OTHER] for _ in range(length - place - 2)), [OPERATOR]]
            count_leaves(reading, tree, allowed, even, counts)
        require(counts == {name: part[name] for name in counts}, "the counts are other ones")
        every = TOKENS ** (length - 1) - len(OTHER) ** (length - 1)
        require(sum(counts.values()) == every, "windows are left out")


def count_leaves(
    reading: MinimalLength, tree: Any, allowed: list[list[int]], even: int, counts: dict[str, int]
) -> None:
    """Adds the windows of each leaf to its label's count, when the leaf is seen to have it."""
    if "at" in tree:
        at: int = tree["at"]
        parts: list[tuple[list[int], Any]] = tree["parts"]
        listed = [token for tokens, _ in parts for token in tokens]
        require(sorted(listed) == sorted(allowed[at]), "the parts do not hold each token once")
        for tokens, below in parts:
            require(tokens, "a part is empty")
            count_leaves(reading, below, [*allowed[:at], tokens, *allowed[at + 1 :]], even, counts)
        return
    box, label = tree["box"], tree["label"]
    if box is None:
        require(all(len(tokens) == 1 for tokens in allowed), "only single windows have no box")
        found = reading.judged([token for (token,) in allowed], even)
    else:
        require(reading.within(allowed, plane_box(box)), "a box is too small")
        found = reading.model.label(plane_box(box), even)
    require(found == label, f"a set labelled {label} is {found}")
    counts[label] += math.prod(len(tokens) for tokens in allowed)


def check_geometry(exhibit: Any) -> None:
    """A reading of the geometry at one length."""
    model, length = MinimalModel(exhibit["weights"]), exhibit["length"]
    reading, name = MinimalLength(model, length), exhibit["reading"]
    scores, before = reading.scores, range(length - 1)
    if name == "even":
        evens = [scores[place][token] for place in before for token in EVEN]
        others = [scores[place][token] for place in before for token in OTHER]
        require(min(evens) > max(*others, scores[-1][OPERATOR]), "an even number is outweighed")
    elif name == "later":
        rows = [[scores[place][token] for token in EVEN] for place in before]
        rising = all(max(one) < min(two) for one, two in itertools.pairwise(rows))
        require(rising, "an earlier even number outweighs")
    else:
        require(name in ("share", "value", "region"), f"no reading {name!r}")
        groups = [(place, even) for place in before for even in EVEN]
        boxes = exhibit["boxes"] if name == "region" else [None] * len(groups)
        require(len(boxes) == len(groups), "there must be a box for each group")
        for (place, even), box in zip(groups, boxes, strict=True):
            allowed = [list(range(TOKENS)) for _ in range(place)]
            allowed += [[even], *([*OTHER] for _ in range(length - place - 2)), [OPERATOR]]
            check_reading(reading, name, place, allowed, box)


def check_reading(
    reading: MinimalLength, name: str, place: int, allowed: list[list[int]], box: Any
) -> None:
    """A reading for the windows whose last even number stands at a place."""
    (even,) = allowed[place]
    if name == "share":
        middle, radius = reading.exponentials[place][even]
        others = sum(
            max(sum(reading.exponentials[at][token]) for token in tokens)
            for at, tokens in enumerate(allowed)
            if at != place
        )
        require(middle - radius > others, "the last even number may get half or less")
        return
    if name == "value":
        unit = 1 << BOX_PLACES
        ends = [
            (x + y) * unit for x, y in zip(reading.stream, reading.values[place][even], strict=True)
        ]
        box = [end for x in ends for end in (math.floor(x), math.ceil(x))]
    else:
        require(reading.within(allowed, plane_box(box)), "a box is too small")
    found = reading.model.label(plane_box(box), even)
    require(found == "right", "a point is predicted otherwise")


def check_parameters(exhibit: Any) -> None:
    """Shapes with 250 entries in all, and a head in the plane."""
    require(sum(math.prod(shape) for shape in exhibit.values()) == PARAMETERS, "another number")
    require(all(exhibit[name] == [2, 2] for name in ("W_Q", "W_K", "W_V")), "not in the plane")
