"""Signs of sums of exponentials, and exact judgements."""

from __future__ import annotations

from fractions import Fraction
from math import exp, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.minimal.definitions import PLUS, Model, shapes
from constructions.minimal.exact import exponential, judge, sign
from constructions.minimal.instances import random_model as drawn
from constructions.minimal.shipped import shipped
from constructions.minimal.torch_model import last_logits

RATIONALS = st.fractions(-8, 8, max_denominator=16)


@given(RATIONALS)
def test_exponentials_are_enclosed(score: Fraction) -> None:
    lower, upper = exponential(score, 80)
    assert lower <= upper
    assert float(lower) == pytest.approx(exp(float(score) / sqrt(2)), rel=1e-14)
    assert upper - lower < Fraction(1, 1 << 70) * upper


@given(st.lists(st.tuples(RATIONALS, RATIONALS), min_size=1, max_size=6))
def test_signs_agree_with_floats_where_those_are_sure(
    terms: list[tuple[Fraction, Fraction]],
) -> None:
    factors, scores = zip(*terms, strict=True)
    parts = [float(f) * exp(float(s) / sqrt(2)) for f, s in terms]
    found = sign(factors, scores)
    if abs(sum(parts)) > 1e-9:
        assert found == (1 if sum(parts) > 0 else -1)
    assert sign([-f for f in factors], scores) == -found


@given(st.lists(RATIONALS, min_size=1, max_size=3), RATIONALS)
def test_sums_that_vanish_are_seen_to(factors: list[Fraction], score: Fraction) -> None:
    both = [*factors, *(-f for f in factors)]
    assert sign(both, [score] * len(both)) == 0


def test_a_sum_that_floats_take_for_zero_has_a_sign() -> None:
    tiny = Fraction(1, 10**40)
    assert sign([1 + tiny, Fraction(-1)], [Fraction(1, 3)] * 2) == 1
    lower, _ = exponential(Fraction(1, 3), 400)
    assert sign([Fraction(1), -lower], [Fraction(1, 3), Fraction(0)]) == 1


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.data())
def test_judgements_agree_with_torch(seed: int, data: st.DataObject) -> None:
    model = drawn(seed)
    before = data.draw(st.lists(st.integers(0, 11), min_size=1, max_size=3))
    if not any(token < PLUS and token % 2 == 0 for token in before):
        before[0] = 4
    judged = judge(model, (*before, PLUS))
    row = last_logits(model, [judged.window])[0]
    for token, found in enumerate(judged.signs):
        lead = row[judged.required] - row[token]
        if abs(lead) > 1e-9:
            assert found == (1 if lead > 0 else -1)
    assert judged.signs[judged.required] == 0


def test_a_tie_is_wrong() -> None:
    zeros = {name: np.zeros(shape) for name, shape in shapes(4, 4).items()}
    judged = judge(Model(tensors=zeros), (2, PLUS))
    assert not judged.right
    assert set(judged.signs) == {0}
    assert judged.rivals == tuple(token for token in range(12) if token != 2)


def test_the_demo_sequence_is_right() -> None:
    judged = judge(shipped("windows").model, (4, 1, PLUS, 4, 6, 9, 5, PLUS))
    assert (judged.required, judged.right) == (6, True)
