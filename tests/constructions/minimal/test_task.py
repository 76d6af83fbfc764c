"""Sequences of the task: what may follow, how often, and what the rule requires."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from constructions.minimal.definitions import PLUS, VOCABULARY, last_even
from constructions.minimal.task import (
    NONE,
    PLUS_SHARE,
    last_evens,
    required,
    task_sequences,
    uniform_sequences,
)
from constructions.optimisation import source

ROWS = st.lists(st.lists(st.integers(0, PLUS), min_size=5, max_size=5), min_size=1, max_size=4)


@given(ROWS)
def test_the_oracle_reads_each_prefix(rows: list[list[int]]) -> None:
    tokens = np.array(rows)
    latest, wanted = last_evens(tokens), required(tokens)
    for row, evens, asked in zip(rows, latest, wanted, strict=True):
        for place, token in enumerate(row):
            even = last_even(row[: place + 1])
            assert evens[place] == (NONE if even is None else even)
            assert asked[place] == (evens[place] if token == PLUS else NONE)


@given(st.integers(0, 2**32), st.integers(1, 12))
def test_every_sequence_follows_the_rule(seed: int, length: int) -> None:
    tokens = task_sequences(source(seed, "test", 0), 20, length)
    assert tokens.shape == (20, length)
    assert (tokens[:, 0] != PLUS).all()
    for row in tokens.tolist():
        for place in range(1, length):
            even = last_even(row[:place])
            if row[place - 1] == PLUS and even is not None:
                assert row[place] == even


def test_free_tokens_are_as_likely_as_stated() -> None:
    tokens = task_sequences(source(0, "test", 1), 200_000, 2)
    share = float(np.mean(tokens[:, 1] == PLUS))
    assert share == pytest.approx(PLUS_SHARE, abs=0.005)
    numbers = tokens[:, 1][tokens[:, 1] != PLUS]
    counts = np.bincount(numbers, minlength=PLUS) / len(numbers)
    assert counts == pytest.approx(np.full(PLUS, 1 / PLUS), abs=0.005)
    everywhere = uniform_sequences(source(0, "test", 2), 100_000, 3)
    counts = np.bincount(everywhere.ravel(), minlength=VOCABULARY) / everywhere.size
    assert counts == pytest.approx(np.full(VOCABULARY, 1 / VOCABULARY), abs=0.005)


def test_batches_are_known_by_seed_purpose_and_step() -> None:
    def batch(seed: int, purpose: str, step: int) -> list[list[int]]:
        return task_sequences(source(seed, purpose, step), 4, 9).tolist()

    assert batch(1, "train", 2) == batch(1, "train", 2)
    others = [batch(0, "train", 2), batch(1, "evaluate", 2), batch(1, "train", 3)]
    assert batch(1, "train", 2) not in others
