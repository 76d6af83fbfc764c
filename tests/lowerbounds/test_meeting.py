"""Models whose halves of a path meet in the middle: sizes, splits and responses."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lowerbounds.meeting import CLAIM_SIZES, MeetingCase, meeting_fails, stated_width
from lowerbounds.meeting_models import (
    Meeting,
    coefficient,
    drawn_factors,
    drawn_weights,
    middle_degrees,
    multiplied,
)
from lowerbounds.shared_attention import weight_tensor
from verify.errors import SizeError
from verify.rational import Matrix

NUMBERS = st.fractions(-3, 3, max_denominator=4)


@pytest.mark.parametrize(
    ("heads", "layers", "width"),
    [(2, 2, 2), (3, 4, 9), (4, 3, 12), (5, 3, 15), (5, 1, 3), (3, 1, 3), (7, 1, 5), (1, 3, 1)],
)
def test_the_width_is_the_stated_one(heads: int, layers: int, width: int) -> None:
    assert Meeting(heads=heads, layers=layers).width == stated_width(heads, layers) == width


@given(st.integers(1, 60))
def test_degrees_add_up_and_are_not_both_odd(heads: int) -> None:
    larger, smaller = middle_degrees(heads)
    assert larger + smaller == heads - 1
    assert 0 <= larger - smaller <= 2
    assert larger % 2 == 0 or smaller % 2 == 0


@given(st.integers(1, 9), st.data())
def test_every_number_of_factors_splits(heads: int, data: st.DataObject) -> None:
    quadratic = data.draw(st.integers(0, (heads - 1) // 2))
    linear = data.draw(st.integers(0, heads - 1 - 2 * quadratic))
    factors = drawn_factors(linear, quadratic, data.draw(st.integers(0, 20)))
    larger, smaller = middle_degrees(heads)
    f, g = factors.split(larger)
    assert (len(f) - 1 <= larger) and (len(g) - 1 <= smaller)
    parts = ((factors.scale,), *factors.linear, *factors.quadratic)
    assert multiplied((f, g)) == multiplied(parts)


@given(
    st.lists(NUMBERS, min_size=1, max_size=4), st.lists(NUMBERS, min_size=1, max_size=4), NUMBERS
)
def test_products_of_polynomials_multiply_their_values(
    first: list[Fraction], second: list[Fraction], at: Fraction
) -> None:
    def value(polynomial: tuple[Fraction, ...]) -> Fraction:
        return sum((c * at**power for power, c in enumerate(polynomial)), Fraction(0))

    product = multiplied((tuple(first), tuple(second)))
    assert value(product) == value(tuple(first)) * value(tuple(second))
    assert coefficient(product, len(product)) == coefficient(product, -1) == 0


@pytest.mark.parametrize("seed", range(4))
def test_even_layers_respond_with_the_product_along_each_path(seed: int) -> None:
    model = Meeting(heads=3, layers=4)
    weights = drawn_weights(3, 4, seed)
    one = (Fraction(1),)
    rows, column = model.embedding(weights, one), model.readout(weights, one)
    responses = model.responses(rows, column)
    assert responses == weight_tensor(weights)
    for place, path in enumerate(itertools.product(range(3), repeat=4)):
        along = rows
        for layer, head in enumerate(path):
            along = along @ model.values[layer][head]
        assert (along @ column)[0, 0] == responses[place]


def test_all_values_but_the_middle_ones_are_masks_and_the_middle_is_all_ones() -> None:
    model = Meeting(heads=2, layers=4)
    assert model.coordinates == (((0, 0), 0), ((0, 1), 0), ((1, 0), 0), ((1, 1), 0))
    ones = Matrix(4, 4, [1] * 16)
    assert model.middle(0) == ones
    assert model.values[1][1] == model.mask(1, 1) @ ones
    for layer, digit in ((0, 0), (2, 0), (3, 1)):
        for head in range(2):
            assert model.values[layer][head] == model.mask(digit, head)


def test_the_named_instances_are_among_those_of_the_standard_range() -> None:
    for sizes in ((4, 3), (5, 3), (5, 1), (3, 4)):
        assert sizes in CLAIM_SIZES["standard"]


@pytest.mark.parametrize(("linear", "quadratic"), [(0, 0), (0, 1), (2, 1), (4, 0), (1, 1)])
def test_odd_layers_respond_for_every_number_of_factors(linear: int, quadratic: int) -> None:
    case = MeetingCase(heads=5, layers=3, seed=3, linear=linear, quadratic=quadratic)
    assert meeting_fails()(case) is None


@pytest.mark.parametrize(("heads", "layers"), [(0, 2), (2, 0), (2.0, 2), (2, True), ("2", 2)])
def test_sizes_that_are_no_numbers_from_one_on_are_refused(heads: int, layers: int) -> None:
    with pytest.raises(SizeError, match="to be an int of at least 1, got .*; choose H, L >= 1"):
        Meeting(heads=heads, layers=layers)
