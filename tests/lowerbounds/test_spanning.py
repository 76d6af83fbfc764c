"""Shared-attention models, their weight tensors, and how these factor."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lowerbounds.shared_attention import (
    fixed_factors,
    free_factors,
    leaves_only,
    weight_tensor,
)
from lowerbounds.spanning import dependent, independent_attention
from verify.errors import SizeError
from verify.rational import Matrix

WEIGHT = st.fractions(-2, 2, max_denominator=3)


@given(st.lists(st.lists(WEIGHT, min_size=2, max_size=2), min_size=1, max_size=3))
def test_a_weight_tensor_lists_the_product_along_each_path(weights: list[list[Fraction]]) -> None:
    expected = [
        _product(weights[layer][head] for layer, head in enumerate(path))
        for path in itertools.product(range(2), repeat=len(weights))
    ]
    assert weight_tensor(tuple(map(tuple, weights))) == expected


def _product(values: object) -> Fraction:
    result = Fraction(1)
    for value in values:  # type: ignore[attr-defined]
        result *= value
    return result


@pytest.mark.parametrize(("heads", "layers"), [(1, 1), (2, 2), (3, 2)])
def test_unit_weights_make_the_tensors_the_identity(heads: int, layers: int) -> None:
    assert leaves_only(heads, layers, 0).tensors == Matrix.identity(heads**layers)


@pytest.mark.parametrize("seed", range(3))
def test_the_responses_of_the_leaves_are_the_tensors_and_factor_both_ways(seed: int) -> None:
    model = leaves_only(2, 2, seed)
    assert model.responses() == model.tensors
    for factors, inner in ((fixed_factors, 4), (free_factors, 16)):
        left, right = factors(model)
        assert left @ right == model.tensors
        assert left.width == right.height == inner


def test_a_size_below_one_is_refused() -> None:
    with pytest.raises(SizeError, match="H and L must be at least 1, got H = 0, L = 2"):
        leaves_only(0, 2, 0)


def test_the_found_path_vectors_are_independent_and_their_inverse_is_shown() -> None:
    found = independent_attention(1)
    assert dependent(found) is None
    for layer in found["attention"]:
        for weights in layer:
            assert all(sum(row) == 1 for row in weights.rows())
            assert all(entry > 0 for row in weights.rows() for entry in row)
