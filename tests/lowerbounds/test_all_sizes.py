"""Two types of tokens: exact power series, their orders, and the claims that rest on them."""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import factorial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lowerbounds import all_sizes, attention_matching, differences, eulerian, two_types
from lowerbounds.path_series import (
    SeriesTarget,
    inserted,
    largest_order,
    logistic_series,
    order_of,
    signed_binomials,
    stated_target,
    times,
)
from verify.claims import Claim, Setting
from verify.errors import SizeError
from verify.loading import claims_of
from verify.rational import Matrix

CLAIMS = [
    item
    for module in (two_types, eulerian, differences, all_sizes, attention_matching)
    for item in claims_of(module)
]
SERIES = st.lists(st.fractions(-2, 2, max_denominator=3), min_size=6, max_size=6).map(tuple)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda item: item.id)
def test_each_claim_reaches_its_status(claim: Claim) -> None:
    for check in claim.checks():
        verdict = check.method.settle(Setting(profile="quick"))
        assert verdict.status == check.method.ceiling, verdict.evidence
        assert not check.covers or verdict.status == claim.expected


def test_attention_without_a_stream_for_each_layer_is_refused() -> None:
    with pytest.raises(SizeError, match="got heads \\[2\\] and 0 streams"):
        two_types.TwoTypes(scales=((1, 2),), streams=(), start=1)


def test_attention_over_two_types_is_a_row_softmax() -> None:
    model = two_types.attention_of((2, 2, 3), two_types.TYPES)
    for layer, head in itertools.product(range(2), repeat=2):
        rows = model.attention(layer, head).rows()
        assert all(sum(row) == 1 and min(row) > 0 for row in rows)
        assert rows[0] == rows[1]


def test_the_logistic_series_begins_with_its_value_and_slope() -> None:
    assert logistic_series(2, 3) == (Fraction(2, 3), Fraction(2, 9), Fraction(-1, 27))
    assert logistic_series(1, 4)[2] == 0


@pytest.mark.parametrize("order", range(8))
def test_derivatives_by_the_series_and_by_the_chain_rule_agree(order: int) -> None:
    by_series = factorial(order) * logistic_series(2, order + 1)[order]
    assert by_series == eulerian.derivative(order, Fraction(2))
    assert eulerian.value(eulerian.polynomial(order), 2) % 2 == 1


def test_the_recursion_gives_eulerian_numbers() -> None:
    assert [eulerian.polynomial(k)[:k] for k in (1, 2, 3, 4)] == [
        (1,),
        (1, -1),
        (1, -4, 1),
        (1, -11, 11, -1),
    ]


@given(SERIES, SERIES)
def test_an_insertion_is_horners_rule(
    outer: tuple[Fraction, ...], rest: tuple[Fraction, ...]
) -> None:
    inner = (Fraction(0), *rest[1:])
    power, total = (Fraction(1), *[Fraction(0)] * 5), [Fraction(0)] * 6
    for a in outer:
        total = [x + a * y for x, y in zip(total, power, strict=True)]
        power = times(power, inner)
    assert inserted(outer, inner) == tuple(total)


def test_the_stated_weights_add_up_to_zero() -> None:
    assert signed_binomials(4) == (-1, 3, -3, 1)
    assert all(sum(signed_binomials(heads)) == 0 for heads in range(2, 8))


@pytest.mark.parametrize(("heads", "layers"), [(2, 1), (2, 2), (3, 1), (3, 2)])
def test_path_vectors_have_independent_series(heads: int, layers: int) -> None:
    length = largest_order(heads, layers, 2 * heads - 1) + 1
    series = stated_target(heads, layers).differences(length)
    assert Matrix.from_rows(series).rank() == heads**layers
    orders = [order_of(part) for part in all_sizes.reduced(series, heads, layers)]
    assert orders == all_sizes.Rules().orders((heads, layers))
    assert orders[-1] == length - 1


def test_a_target_with_one_head_is_refused() -> None:
    with pytest.raises(SizeError, match="got 1 scales and \\[1\\] weights"):
        SeriesTarget(scales=(1,), weights=((Fraction(1),),))


@pytest.mark.parametrize("seed", range(3))
def test_the_series_of_one_layer_is_the_difference_of_two_logistic_values(seed: int) -> None:
    start = Fraction(seed + 1, 50)
    series = stated_target(2, 1).differences(14)
    argument = 2 * start**2
    summed = sum((a * start**i for i, a in enumerate(series[1])), Fraction(0))
    value = sum((a * argument**i for i, a in enumerate(logistic_series(2, 12))), Fraction(0))
    assert abs(summed - start * (value - Fraction(2, 3))) < start**14


def test_targets_near_the_stated_one_have_invertible_tensors() -> None:
    shift = attention_matching.SHIFT
    assert attention_matching.tensors((3, 1), shift).determinant() == shift**3
    assert attention_matching.tensors((2, 2), Fraction(0)).rank() == 1
