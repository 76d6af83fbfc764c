"""What the theory of the built model means: real windows, with a rational stand-in for exp.

The axioms ask of x -> exp(x / sqrt 2) only that it is 1 at 0, and that 5 more multiply it by some
r that is at least exp(5 / sqrt 2). So x -> STAND_IN^floor(x / 5) serves on the built model's
scores; all else is computed from the model's tensors.

Source: ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import floor

from constructions.minimal.built import RULES, Rules, built
from constructions.minimal.definitions import (
    EVENS,
    PLUS,
    VOCABULARY,
    Model,
    required_token,
)
from verify.rational import Matrix
from verify.smtlib import World

STAND_IN = 35
_WINDOWS = {
    2: ((4, PLUS),),
    3: ((10, 7, PLUS), (PLUS, 0, PLUS), (2, PLUS)),
    5: ((8, 5, 0, 9, PLUS), (1, 4, PLUS, 3, PLUS), (2, 6, PLUS)),
}
"""By context."""


def built_worlds(rules: Rules = RULES) -> Iterator[World]:
    """Windows of small contexts, the longest first."""
    for context in sorted(_WINDOWS, reverse=True):
        model = built(context, hidden=2, rules=rules)
        for window in _WINDOWS[context]:
            yield window_world(model, window)


def weight(score: Fraction) -> Fraction:
    """The stand-in for exp(score / sqrt 2)."""
    return Fraction(STAND_IN) ** floor(score / 5)


def logits_at(model: Model, stream: Matrix) -> tuple[Fraction, ...]:
    """The logits of a residual stream (1, 2), exactly."""
    inward, first, outward, second, readout, offsets = (
        Matrix.from_rows(model.exact(name)) for name in ("W_1", "b_1", "W_2", "b_2", "U", "c")
    )
    hidden = Matrix.from_rows([[max(x, Fraction(0)) for x in (stream @ inward + first).rows()[0]]])
    return tuple((((stream + hidden @ outward + second) @ readout) + offsets).rows()[0])


def window_world(model: Model, window: Sequence[int]) -> World:
    """One window: its scores, the sums of its weights, and its logits."""
    length, last = len(window), len(window) - 1
    wanted = required_token(window)
    place = max(p for p, token in enumerate(window) if token == wanted)
    scores = [model.scores(length)[p][token] for p, token in enumerate(window)]
    values = [model.values[p][token] for p, token in enumerate(window)]
    weights = [weight(score) for score in scores]
    total = sum(weights, Fraction(0))
    heads = [
        sum((w * v[axis] for w, v in zip(weights, values, strict=True)), Fraction(0)) / total
        for axis in range(2)
    ]
    stream = [x + a for x, a in zip(model.embedded[last][window[last]], heads, strict=True)]
    logits = logits_at(model, Matrix.from_rows([stream]))
    levels = [value[0] for value in values]

    def upto(count: int, terms: Sequence[Fraction]) -> Fraction:
        return sum(terms[: max(count, 0)], Fraction(0))

    apart = [w * (u - levels[place]) for w, u in zip(weights, levels, strict=True)]
    valued = [w * u for w, u in zip(weights, levels, strict=True)]
    others = [Fraction(0) if p == place else w for p, w in enumerate(weights)]
    return World(
        sorts={},
        integers=range(VOCABULARY),
        symbols={
            "T": model.context,
            "n": length,
            "j": place,
            "r": Fraction(STAND_IN),
            "g": lambda count: Fraction(STAND_IN) ** count,
            "even": lambda p: p < length and window[p] in EVENS,
            "level": levels.__getitem__,
            "score": scores.__getitem__,
            "w": weights.__getitem__,
            "total": lambda p: upto(p, weights),
            "value": lambda p: upto(p, valued),
            "others": lambda p: upto(p, others),
            "apart": lambda p: upto(p, apart),
            "mean": heads[0],
            "y": stream[0],
            "evenToken": EVENS.__contains__,
            "logit": logits.__getitem__,
            "wanted": wanted,
        },
        free={"i": range(length), "k": range(3), "t": range(VOCABULARY)},
    )
