"""Dimensions of responses and tensors: Jacobians are derivatives, ranks are those stated."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lowerbounds.dimension import dimension_exhibit, dimension_fails, least_width
from lowerbounds.dimension_models import (
    ModelPoint,
    drawn_point,
    drawn_values,
    near_first,
    paths_of,
)
from lowerbounds.dimension_worlds import chosen_weights, multiplied, value_at
from lowerbounds.shared_attention import weight_tensor
from verify.definitions.dimension import check_dimension
from verify.definitions.plain import RejectedError
from verify.errors import SizeError
from verify.rational import Matrix

STEP = Fraction(1, 7)
SMALL = st.integers(1, 3)
ENTRY = st.integers(-3, 3).map(Fraction)


def moved(point: ModelPoint, name: str, place: int) -> ModelPoint:
    """The point with one entry of E or U increased by the step."""
    before: Matrix = getattr(point, name)
    entries = [entry for row in before.rows() for entry in row]
    entries[place] += STEP
    return replace(point, **{name: Matrix(before.height, before.width, entries)})


@given(heads=SMALL, layers=SMALL, width=SMALL, seed=st.integers(0, 20))
def test_responses_are_linear_in_each_coordinate_with_the_jacobian_as_slopes(
    heads: int, layers: int, width: int, seed: int
) -> None:
    point = drawn_point(heads, layers, width, seed)
    jacobian = point.response_jacobian()
    for row, path in enumerate(point.paths):
        for column in range(2 * width):
            name = "embedding" if column < width else "readout"
            other = moved(point, name, column % width)
            change = other.response(path) - point.response(path)
            assert change == STEP * jacobian[row, column]


@given(heads=SMALL, layers=SMALL, seed=st.integers(0, 20))
def test_tensors_are_linear_in_each_weight_with_the_jacobian_as_slopes(
    heads: int, layers: int, seed: int
) -> None:
    point = drawn_point(heads, layers, 1, seed)
    jacobian, before = point.tensor_jacobian(), weight_tensor(point.weights)
    for layer in range(layers):
        for head in range(heads):
            rows = [list(row) for row in point.weights]
            rows[layer][head] += STEP
            after = weight_tensor(tuple(map(tuple, rows)))
            for place, (new, old) in enumerate(zip(after, before, strict=True)):
                assert new - old == STEP * jacobian[place, heads * layer + head]


@given(heads=SMALL, layers=SMALL)
def test_near_paths_are_those_with_at_most_one_other_head(heads: int, layers: int) -> None:
    near = near_first(heads, layers)
    assert near[0] == (0,) * layers
    assert len(near) == len(set(near)) == layers * (heads - 1) + 1
    assert set(near) == {path for path in paths_of(heads, layers) if sum(map(bool, path)) <= 1}


@given(st.data())
def test_chosen_weights_have_the_vector_as_their_products_on_near_paths(
    data: st.DataObject,
) -> None:
    heads, layers = data.draw(SMALL), data.draw(SMALL)
    paths = near_first(heads, layers)
    rest = data.draw(st.lists(ENTRY, min_size=len(paths) - 1, max_size=len(paths) - 1))
    vector = (data.draw(ENTRY.filter(bool)), *rest)
    weights = chosen_weights(vector, heads, layers)
    assert [len(row) for row in weights] == [heads] * layers
    tensor = weight_tensor(weights)
    assert tuple(tensor[paths_of(heads, layers).index(path)] for path in paths) == vector


@given(st.lists(ENTRY, min_size=2, max_size=2), st.lists(ENTRY, min_size=2, max_size=2), ENTRY)
def test_products_of_polynomials_multiply_their_values(
    left: list[Fraction], right: list[Fraction], at: Fraction
) -> None:
    one, two = ({(): c[0], (0,): c[1]} for c in (left, right))
    product = multiplied(one, two)
    assert value_at(product, (at,)) == value_at(one, (at,)) * value_at(two, (at,))
    assert all(product.values())


@pytest.mark.parametrize(("heads", "layers", "width"), [(2, 3, 2), (5, 1, 3), (1, 2, 2)])
def test_the_obligation_holds_and_a_generic_rank_reaches_the_bound(
    heads: int, layers: int, width: int
) -> None:
    assert dimension_fails()((heads, layers, width, 3)) is None
    rank = drawn_point(heads, layers, width, 3).response_jacobian().rank()
    assert rank == min(heads**layers, 2 * width - 1)


@pytest.mark.parametrize(
    ("heads", "layers", "width"), [(1, 5, 1), (2, 1, 2), (3, 1, 2), (4, 1, 3), (7, 1, 4), (2, 4, 3)]
)
def test_the_least_width_that_the_bound_allows(heads: int, layers: int, width: int) -> None:
    assert least_width(heads, layers) == width


@pytest.mark.parametrize("size", [(0, 1, 1), (1, 0, 1), (1, 1, 0)])
def test_sizes_below_one_are_refused(size: tuple[int, int, int]) -> None:
    with pytest.raises(SizeError, match="a shared-attention model needs"):
        drawn_values(*size, seed=0)


# --- the rechecker ---------------------------------------------------------------------------


def shown(value: Any) -> Any:
    return json.loads(json.dumps(value))


EXHIBIT = shown(dimension_exhibit((3, 2, 2, 1)))


@pytest.mark.parametrize("case", [(1, 2, 2, 0), (2, 3, 2, 0), (4, 1, 3, 1)])
def test_stated_points_are_accepted(case: tuple[int, int, int, int]) -> None:
    check_dimension(shown(dimension_exhibit(case)))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"kernel": EXHIBIT["kernel"][::-1]}, "the kernel is not"),
        ({"rows": EXHIBIT["rows"][:-1]}, "a minor of another size"),
        ({"rows": [EXHIBIT["rows"][0]] * 5}, "a minor of another size"),
        ({"columns": [0, 1, 2, 3, 3]}, "a minor of another size"),
        ({"values": EXHIBIT["values"][:1]}, "values of another number"),
        ({"weights": [["0"] * 3] * 2}, "has not rank 5"),
        ({"rows": [8, 7, 5, 4, 3]}, "the minor is 0"),
    ],
)
def test_changed_points_are_rejected(change: dict[str, Any], text: str) -> None:
    check_dimension(EXHIBIT)
    with pytest.raises(RejectedError, match=text):
        check_dimension({**EXHIBIT, **change})
