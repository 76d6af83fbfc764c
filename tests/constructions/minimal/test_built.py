"""The built model: its weights, the rule on small and on long windows, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.minimal.built import built
from constructions.minimal.built_lemmas import MARGIN, OTHER_MARGIN, RATE_SERIES, ROOT_BOUND
from constructions.minimal.built_theory import built_goals
from constructions.minimal.built_worlds import built_worlds, logits_at
from constructions.minimal.decision import decide
from constructions.minimal.definitions import (
    EVENS,
    LONGEST_CONTEXT,
    NOT_EVEN,
    PLUS,
    VOCABULARY,
    required_token,
)
from constructions.minimal.exact import exponential, judge
from constructions.minimal.torch_model import last_logits
from verify.errors import SizeError
from verify.rational import Matrix
from verify.smtlib import ground


def test_it_has_250_parameters_at_the_paper_s_sizes() -> None:
    assert built(8).parameters == 250
    assert built(8, hidden=1).parameters == 250 - 31 * 5


@pytest.mark.parametrize("context", [2, 8, LONGEST_CONTEXT])
def test_float32_holds_its_weights_exactly(context: int) -> None:
    for tensor in built(context).tensors.values():
        assert np.array_equal(tensor.astype(np.float32).astype(np.float64), tensor)


@pytest.mark.parametrize("context", range(2, 9))
def test_it_is_right_on_every_window_of_small_contexts(context: int) -> None:
    assert all(found.holds for found in decide(built(context, 2), range(2, context + 1)))


@st.composite
def long_windows(draw: st.DrawFn, context: int) -> tuple[int, ...]:
    """Early even numbers of one end of the range, a late one of the other, then heavy others."""
    behind = draw(st.integers(0, context - 2))
    place = draw(st.integers(0, context - 2 - behind))
    even = draw(st.sampled_from(EVENS))
    before = st.sampled_from((0, 10)) | st.integers(0, VOCABULARY - 1)
    after = st.sampled_from(NOT_EVEN)
    first = draw(st.lists(before, min_size=place, max_size=place))
    last = draw(st.lists(after, min_size=behind, max_size=behind))
    return (*first, even, *last, PLUS)


@pytest.mark.parametrize("context", [16, 64])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_it_is_right_on_long_windows(context: int, data: st.DataObject) -> None:
    window = data.draw(long_windows(context))
    model = built(context, hidden=2)
    assert judge(model, window).right
    (logits,) = last_logits(model, [window])
    own = required_token(window)
    rivals = [logits[t] for t in EVENS if t != own]
    assert logits[own] - max(rivals) >= float(MARGIN)
    assert logits[own] - max(logits[t] for t in NOT_EVEN) >= float(OTHER_MARGIN)


@pytest.mark.parametrize(
    ("context", "window"),
    [
        (16, (*(10,) * 14, 0, PLUS)),
        (16, (0, *(PLUS,) * 15)),
        (64, (*(0,) * 31, 10, *(1,) * 31, PLUS)),
        (64, (0, *(PLUS,) * 63)),
    ],
)
def test_it_is_right_where_all_others_pull_one_way(context: int, window: tuple[int, ...]) -> None:
    assert judge(built(context, hidden=2), window).right


def test_the_stated_rate_is_a_lower_bound_of_the_true_one() -> None:
    assert 2 * ROOT_BOUND**2 <= 25
    lower, upper = exponential(built(2).scores(2)[1][PLUS], 64)
    assert RATE_SERIES <= lower <= upper < 35


def test_the_worlds_meet_every_goal() -> None:
    found = ground(built_goals(built_worlds))
    assert not found.failures
    assert not found.idle


def test_the_readout_is_that_of_the_model() -> None:
    model = built(5, hidden=3)
    stream = Matrix.from_rows([[14, 4]])
    levels = (10, 12, 14, 16, 18, 20)
    logits = logits_at(model, stream)
    assert logits[::2] == tuple(a * 14 - Fraction(a * a, 2) for a in levels)
    assert logits[1::2] == (0,) * 6
    assert max(logits) == logits[4]


@pytest.mark.parametrize("size", [1, 0, -1, LONGEST_CONTEXT + 1, 8.0, True, "8"])
def test_contexts_that_are_none_are_refused(size: Any) -> None:
    with pytest.raises(SizeError, match="the context of a built model must be an integer from 2"):
        built(size)


@pytest.mark.parametrize("size", [0, -1, 2.0, True])
def test_hidden_widths_that_are_none_are_refused(size: Any) -> None:
    with pytest.raises(SizeError, match="the hidden width of a built model must be an integer"):
        built(8, size)
