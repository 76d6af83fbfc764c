"""k-hop strings: the paper's example, the oracle, and how often characters and gaps come."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from constructions.learning.hops import (
    BLANK,
    CHARACTERS,
    FIRST_CHARACTER,
    LENGTH,
    LETTERS,
    MISSING,
    NONE,
    characters,
    framed,
    hopped,
    previous,
    sequences,
    sources,
    written,
)

TEXTS = st.text(LETTERS, min_size=1, max_size=30)
SAMPLES = 40_000


def tokens(text: str) -> np.ndarray:
    return np.array([[LETTERS.index(letter) for letter in text]])


def test_the_example_of_section_5_1() -> None:
    text = "aabccabca"
    places = sources(tokens(text), 2)[0].tolist()
    assert text[places[-1]] == "c"
    assert places[-1] == 3
    assert sources(tokens(text), 1)[0].tolist()[-1] == 6
    assert hopped(text, len(text) - 1, 2) == "c"


@given(TEXTS, st.integers(0, 16))
def test_targets_are_the_oracle_s(text: str, hops: int) -> None:
    inputs, targets = framed(tokens(text), hops)
    assert inputs[0].tolist() == [hops, *(FIRST_CHARACTER + tokens(text)[0])]
    assert written(targets) == ["_" + "".join(hopped(text, i, hops) for i in range(len(text)))]
    places = sources(tokens(text), hops)[0].tolist()
    assert [(text[p] if p != NONE else "-") for p in places] == list(written(targets)[0][1:])


@given(TEXTS)
def test_previous_is_the_last_earlier_place(text: str) -> None:
    assert previous(tokens(text))[0].tolist() == [text.rfind(x, 0, i) for i, x in enumerate(text)]


def test_labels_are_written_as_tokens() -> None:
    inputs, targets = framed(tokens("aba"), 1)
    assert inputs.tolist() == [[1, 17, 18, 17]]
    assert targets.tolist() == [[BLANK, MISSING, MISSING, 18]]
    assert (BLANK, MISSING) == (22, 21)


def test_the_last_two_characters_are_not_shown() -> None:
    inputs, targets = sequences(np.random.default_rng(5), 3, 2)
    text = characters(np.random.default_rng(5), 3, LENGTH)
    assert inputs.shape == targets.shape == (3, LENGTH - 1)
    assert (inputs[:, 1:] == FIRST_CHARACTER + text[:, :-2]).all()


def test_first_characters_and_steps_are_uniform() -> None:
    text = characters(np.random.default_rng(0), SAMPLES, 6)
    assert np.bincount(text[:, 0]) / SAMPLES == pytest.approx(np.full(CHARACTERS, 0.25), abs=0.01)
    for place in range(5):
        pairs = np.bincount(text[:, place] * CHARACTERS + text[:, place + 1], minlength=16)
        expected = (1 - np.eye(CHARACTERS)).ravel() / 12
        assert pairs / SAMPLES == pytest.approx(expected, abs=0.005)


def test_steps_do_not_depend_on_earlier_steps() -> None:
    steps = np.diff(characters(np.random.default_rng(1), SAMPLES, 3), axis=1) % CHARACTERS
    counts = np.bincount((steps[:, 0] - 1) * 3 + steps[:, 1] - 1, minlength=9)
    assert counts / SAMPLES == pytest.approx(np.full(9, 1 / 9), abs=0.01)


def test_gaps_to_the_last_occurrence_fall_by_two_thirds() -> None:
    text = characters(np.random.default_rng(2), SAMPLES, 60)
    gaps = 59 - previous(text)[:, -1]
    expected = [0, 0, *((2 / 3) ** (gap - 2) / 3 for gap in range(2, 12))]
    assert np.bincount(gaps)[:12] / SAMPLES == pytest.approx(np.array(expected), abs=0.01)
