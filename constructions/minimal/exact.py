"""Whether a model is right on a window, decided exactly: signs of sums of exponentials.

Multiplied by the sum D of the attention weights, everything before a ReLU is
sum_j f_j exp(r_j / sqrt 2) with rational f_j and r_j: D y = sum_j exp(r_j / sqrt 2) (e_n + v_j).
Such a sum is 0 only if the f_j of each r_j add up to 0, by Lindemann and Weierstrass; where they
do not, balls of enough bits show its sign. So ReLUs are known to be on or off, and then the signs
of all differences of logits, ties included.

Source: the argument is ours.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from constructions.minimal.definitions import VOCABULARY, Model, Window, required_token
from verify.balls import Balls
from verify.engines import remembered
from verify.errors import PrecisionError
from verify.rational import Matrix

FIRST_BITS = 64
MOST_BITS = 1 << 16
"""Sums that are not 0 but nearer to it than such balls show would be a sensation."""

Vector = Sequence[Fraction]


@remembered(1 << 16)
def exponential(score: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """A lower and an upper bound of exp(score / sqrt 2), as narrow as the bits allow."""
    root = Balls.of(Matrix(1, 1, [Fraction(1, 2)]), bits).sqrt()
    return root.scaled(score).exp()[0, 0]


def sign(factors: Vector, scores: Vector) -> int:
    """The sign of sum_j factors[j] exp(scores[j] / sqrt 2): -1, 0 or 1, exactly.

    Raises:
        PrecisionError: not even MOST_BITS show the sign of a sum that is not 0.
    """
    grouped: defaultdict[Fraction, Fraction] = defaultdict(Fraction)
    for factor, score in zip(factors, scores, strict=True):
        grouped[score] += factor
    left = {score: factor for score, factor in grouped.items() if factor}
    signs = {1 if factor > 0 else -1 for factor in left.values()}
    if len(signs) < 2:  # noqa: PLR2004 - terms of both signs
        return sum(signs)
    bits = FIRST_BITS
    while bits <= MOST_BITS:
        lower, upper = _enclosed(left, bits)
        if lower > 0 or upper < 0:
            return 1 if lower > 0 else -1
        bits *= 2
    raise PrecisionError(
        f"the sign of a sum of exponentials needs more than {MOST_BITS} bits; choose weights of "
        "smaller size"
    )


def _enclosed(factors: dict[Fraction, Fraction], bits: int) -> tuple[Fraction, Fraction]:
    """Bounds of the sum over its largest exponential."""
    most = max(factors)
    lower = upper = Fraction(0)
    for score, factor in factors.items():
        ends = [factor * end for end in exponential(score - most, bits)]
        lower += min(ends)
        upper += max(ends)
    return lower, upper


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What a model does on one window: `signs[t]` is that of the required logit less t's."""

    window: Window
    required: int
    signs: tuple[int, ...]

    @property
    def right(self) -> bool:
        """Whether the required logit is greater than all others; ties are wrong."""
        return all(self.signs[token] > 0 for token in range(VOCABULARY) if token != self.required)

    @property
    def rivals(self) -> tuple[int, ...]:
        """The other tokens whose logit is as great or greater."""
        others = (token for token in range(VOCABULARY) if token != self.required)
        return tuple(token for token in others if self.signs[token] <= 0)


def judge(model: Model, tokens: Sequence[int]) -> Judgement:
    """The exact judgement of a window.

    Raises:
        SizeError: it is no window of the model.
        PrecisionError: a sign that no reasonable number of bits shows.
    """
    window = model.window(tokens)
    required = required_token(window)
    scores = model.scores(len(window))
    chosen = [scores[place][token] for place, token in enumerate(window)]
    streams = _after_feed_forward(model, window, chosen)
    readout = list(zip(*model.exact("U"), strict=True))
    offsets = model.exact("c")[0]
    signs = list[int]()
    for token in range(VOCABULARY):
        row = [x - y for x, y in zip(readout[required], readout[token], strict=True)]
        offset = offsets[required] - offsets[token]
        factors = [row[0] * z[0] + row[1] * z[1] + offset for z in streams]
        signs.append(sign(factors, chosen))
    return Judgement(window=window, required=required, signs=tuple(signs))


def _after_feed_forward(model: Model, window: Window, scores: Vector) -> list[list[Fraction]]:
    """The vectors f_j with D z = sum_j exp(r_j / sqrt 2) f_j."""
    last = model.embedded[len(window) - 1][window[-1]]
    before = [
        [x + y for x, y in zip(last, model.values[place][token], strict=True)]
        for place, token in enumerate(window)
    ]
    inward, outward = list(zip(*model.exact("W_1"), strict=True)), model.exact("W_2")
    biases, shift = model.exact("b_1")[0], model.exact("b_2")[0]
    after = [[x + y for x, y in zip(vector, shift, strict=True)] for vector in before]
    for weights, bias, out in zip(inward, biases, outward, strict=True):
        factors = [weights[0] * y[0] + weights[1] * y[1] + bias for y in before]
        if sign(factors, scores) > 0:
            for vector, factor in zip(after, factors, strict=True):
                vector[0] += factor * out[0]
                vector[1] += factor * out[1]
    return after
