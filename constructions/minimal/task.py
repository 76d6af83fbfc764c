"""The task: random tokens in which every `+` is followed by the last even number.

    first token       a number
    behind a `+`      the even number that stood last; any token where none did
    elsewhere         `+` with probability PLUS_SHARE, else a number

Source: Fully Interpretable Minimal Transformers, Figure 2; the paper leaves PLUS_SHARE open.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from constructions.minimal.definitions import NUMBERS, PLUS, VOCABULARY

Tokens = NDArray[np.int64]
PLUS_SHARE = 0.25
NONE = -1
"""Stands where no even number has come, and where no token is required."""


def is_even(tokens: Tokens) -> NDArray[np.bool_]:
    """Which tokens are even numbers."""
    return (tokens < NUMBERS) & (tokens % 2 == 0)


def last_evens(tokens: Tokens) -> Tokens:
    """At each position the even number that stands last up to it, NONE where there is none."""
    order = np.arange(tokens.shape[1], dtype=np.int64)
    latest: Tokens = np.maximum.accumulate(np.where(is_even(tokens), order, NONE), axis=1)
    found = np.take_along_axis(tokens, np.maximum(latest, 0), axis=1)
    return np.where(latest >= 0, found, NONE)


def required(tokens: Tokens) -> Tokens:
    """What the rule requires behind each position, NONE where it says nothing."""
    return np.where(tokens == PLUS, last_evens(tokens), NONE)


def task_sequences(random: np.random.Generator, count: int, length: int) -> Tokens:
    """Sequences of the task, of shape (count, length)."""
    numbers = random.integers(0, NUMBERS, (count, length))
    operators = random.random((count, length)) < PLUS_SHARE
    operators[:, 0] = False
    tokens = np.where(operators, PLUS, numbers)
    latest = np.full(count, NONE)
    for place in range(length):
        column: Any = tokens[:, place]
        if place:
            bound = (tokens[:, place - 1] == PLUS) & (latest != NONE)
            tokens[:, place] = column = np.where(bound, latest, column)
        latest = np.where(is_even(column), column, latest)
    return tokens


def uniform_sequences(random: np.random.Generator, count: int, length: int) -> Tokens:
    """Sequences in which every token is as likely at every position, of shape (count, length)."""
    return random.integers(0, VOCABULARY, (count, length))
