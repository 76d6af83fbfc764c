"""A model in the plane that follows the rule at every context T, written down instead of trained.

    coordinates (u, s)    u: which number it is; s: how late, and whether it is even
    E                     number t: (t, T + 1) if even, (t, 0) if odd; `+`: (10, 0)
    P[i]                  (0, i)
    q, k, v               (0, u / 2), (0, s), (u, 0)
    feed-forward layer    0
    logits                even t: a y_1 - a^2 / 2 with a = 10 + t; others: 0

A `+` asks with (0, 5), so a token at position i has the weight exp(5 s / sqrt 2): one position is
worth r = exp(5 / sqrt 2) > 34, being even as much as T + 1 of them. All tokens but the last even
number together weigh less than 1/33 of it, so y_1 = 10 + (mean of u) lies nearest to its level.

All weights are integers or 1/2, and float32 holds them exactly at every context.

Source: ours; the architecture is that of Fully Interpretable Minimal Transformers, Table 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from constructions.minimal.definitions import (
    EVENS,
    HIDDEN,
    LONGEST_CONTEXT,
    NUMBERS,
    PLUS,
    SHORTEST,
    Model,
    shapes,
)
from verify.errors import SizeError

TOP = NUMBERS - 1
"""The greatest number, whose level `+` shares."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How the weights are chosen; each mutant replaces one.

    `query` is q_2 over u; `bonus` what being even adds to s, by T; `odd` is u of an odd number.
    """

    query: float = 1 / 2
    bonus: Callable[[int], int] = lambda context: context + 1
    odd: Callable[[int], int] = lambda number: number


RULES = Rules()


def built(context: int, hidden: int = HIDDEN, rules: Rules = RULES) -> Model:
    """The model of a context T, with so many neurons of weight 0.

    Raises:
        SizeError: a context or a hidden width that no model has.
    """
    _require_size("context", context, SHORTEST, LONGEST_CONTEXT)
    _require_size("hidden width", hidden, 1, LONGEST_CONTEXT)
    tensors = {name: np.zeros(shape) for name, shape in shapes(context, hidden).items()}
    for number in range(NUMBERS):
        even = number in EVENS
        tensors["E"][number] = (number, rules.bonus(context)) if even else (rules.odd(number), 0)
    tensors["E"][PLUS, 0] = TOP
    tensors["P"][:, 1] = range(context)
    tensors["W_Q"][0, 1] = rules.query
    tensors["W_K"][1, 1] = tensors["W_V"][0, 0] = 1
    levels = TOP + np.array(EVENS)
    tensors["U"][0, list(EVENS)] = levels
    tensors["c"][list(EVENS)] = -(levels**2) / 2
    return Model(tensors=tensors)


def _require_size(name: str, size: int, least: int, most: int) -> None:
    if type(size) is not int or not least <= size <= most:
        raise SizeError(
            f"the {name} of a built model must be an integer from {least} to {most}, got {size!r}; "
            "choose another"
        )
