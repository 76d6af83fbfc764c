"""The model's shapes, windows and rule."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from constructions.minimal.definitions import (
    EVENS,
    PLUS,
    VOCABULARY,
    Model,
    groups,
    last_even,
    required_token,
    shapes,
    token_name,
    window_count,
    window_text,
)
from verify.errors import SizeError, WeightsError

ZEROS = {name: np.zeros(shape) for name, shape in shapes().items()}


@pytest.mark.parametrize("length", [2, 3, 4])
def test_groups_hold_every_window_once(length: int) -> None:
    every = [
        (*before, PLUS)
        for before in product(range(VOCABULARY), repeat=length - 1)
        if any(token in EVENS for token in before)
    ]
    grouped = [window for group in groups(length) for window in product(*group.allowed())]
    assert sorted(grouped) == sorted(every)
    assert len(every) == window_count(length) == sum(group.size() for group in groups(length))
    assert all(
        required_token(window) == group.even
        for group in groups(length)
        for window in product(*group.allowed())
    )


def test_the_last_window_count_is_the_papers() -> None:
    assert window_count(8) == 12**7 - 6**7 == 35_551_872


def test_the_rule_takes_the_even_number_that_stands_last() -> None:
    assert last_even((4, 1, PLUS, 4, 6, 9, 5, PLUS)) == 6
    assert last_even((1, PLUS)) is None
    assert window_text((4, 10, PLUS)) == "4 10 +"
    assert token_name(PLUS) == "+"


def test_a_model_counts_its_parameters() -> None:
    model = Model(tensors=ZEROS)
    assert (model.parameters, model.context, model.hidden) == (250, 8, 32)


def test_a_model_is_read_only() -> None:
    model = Model(tensors=ZEROS)
    with pytest.raises(ValueError, match="read-only"):
        model.tensors["E"][0, 0] = 1


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"E": None}, "got E missing and none extra"),
        ({"W_O": np.zeros((2, 2))}, "got none missing and W_O extra"),
        ({"E": np.zeros((11, 2))}, r"tensor E must have shape \(12, 2\), got \(11, 2\)"),
        ({"U": np.zeros((2, 13))}, r"tensor U must have shape \(2, 12\), got \(2, 13\)"),
        ({"W_2": np.zeros((16, 2))}, r"tensor W_2 must have shape \(32, 2\), got \(16, 2\)"),
        ({"P": np.zeros((1, 2))}, "the context must be 2 to 4096, got 1 positions in P"),
        ({"P": np.zeros(2)}, r"tensor P must have 2 axes and at least one row, got shape \(2,\)"),
        ({"c": np.array([0.0] * 11 + [np.nan])}, r"tensor c must be finite, got nan at \(11,\)"),
        ({"b_2": np.array([0.0, np.inf])}, r"tensor b_2 must be finite, got inf at \(1,\)"),
    ],
)
def test_wrong_tensors_are_refused(change: dict[str, np.ndarray | None], text: str) -> None:
    tensors = {**ZEROS, **change}
    with pytest.raises(WeightsError, match=text):
        Model(tensors={name: part for name, part in tensors.items() if part is not None})


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        ((PLUS,), "a window must have 2 to 8 tokens, got 1"),
        ((2,) * 8 + (PLUS,), "a window must have 2 to 8 tokens, got 9"),
        ((2, 12), "tokens must be 0 to 11"),
        ((2, 3), r"a window must end in \+, got 2 3"),
        ((1, PLUS), r"a window must hold an even number, got 1 \+"),
    ],
)
def test_what_is_no_window_is_refused(tokens: tuple[int, ...], text: str) -> None:
    with pytest.raises(SizeError, match=text):
        Model(tensors=ZEROS).window(tokens)
