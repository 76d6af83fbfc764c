"""Combinations of paths that a narrow model sends to 0, and the rechecker's view of them."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constructions.universal.instances import random_matrix, seeded
from lowerbounds import kernel
from lowerbounds.kernel_instances import FIXED_RULES, FREE_RULES, Narrow, Rules, vanishing_exhibit
from lowerbounds.kernel_models import (
    FIXED,
    FREE,
    column,
    grid_points,
    leaves,
    met_in_the_middle,
    null_vector,
    powers,
    random_path_model,
    residue,
)
from lowerbounds.shared_attention import weight_tensor
from verify.claims import Setting
from verify.definitions.paths import check_vanishing_paths
from verify.definitions.plain import RejectedError
from verify.errors import SizeError
from verify.loading import claims_of
from verify.rational import Matrix
from verify.verdicts import Status

ENTRY = st.integers(-3, 3)


# --- models ----------------------------------------------------------------------------------


def test_a_product_goes_along_its_path() -> None:
    model = random_path_model(2, 3, 1, 2, seed=1)
    first, second, third = model.values
    assert model.products[0b011] == first[0] @ second[1] @ third[1]
    assert len(model.products) == 8


def test_the_leaves_keep_and_read_the_block_of_a_path() -> None:
    model = leaves(2, 2, 2, 8)
    for place, product in enumerate(model.products):
        assert (product @ model.readout).rows() == tuple(
            tuple(Fraction(int(row // 2 == place and row % 2 == i)) for i in range(2))
            for row in range(8)
        )


def test_the_constructions_serve_every_target_of_the_grid() -> None:
    drawn = random_matrix(seeded(3), 4, 2).rows()
    for numbers in itertools.product(grid_points(2), repeat=2):
        weights = powers(numbers, 2)
        whole = FIXED.sum(leaves(2, 2, 2, 8), drawn)
        assert FIXED.serve(2, 2, 2, weights)(whole) == residue(drawn, weights)
        single = tuple(part[:1] for part in drawn)
        whole = FREE.sum(met_in_the_middle(2, 2, 1, 2), single)
        assert FREE.serve(2, 2, 1, weights)(whole) == residue(single, weights)


def test_a_construction_has_only_its_coordinates() -> None:
    with pytest.raises(SizeError, match="has 2 coordinates and d_in = 1, got m = 3 and d_in = 1"):
        met_in_the_middle(2, 2, 1, 3)


@given(st.lists(ENTRY, min_size=12, max_size=12))
def test_a_null_vector_is_sent_to_zero_and_is_none(entries: list[int]) -> None:
    system = Matrix(3, 4, entries)
    found = null_vector(system)
    assert any(found)
    assert system @ column(found) == Matrix.zero(3, 1)


def test_independent_columns_have_no_null_vector() -> None:
    with pytest.raises(SizeError, match=r"shape \(3, 2\) must have dependent columns, got 2"):
        null_vector(Matrix(3, 2, [1, 0, 0, 1, 1, 1]))


def test_the_numbers_of_a_grid_are_distinct_and_near_one() -> None:
    for heads in range(1, 7):
        points = grid_points(heads)
        assert len(set(points)) == heads
        assert all(0 < x - 1 <= Fraction(1, 8) for x in points)


# --- what a narrow model does not see --------------------------------------------------------


@pytest.mark.parametrize("rules", [FIXED_RULES, FREE_RULES])
@pytest.mark.parametrize("seed", range(4))
def test_no_embedding_and_readout_sees_a_combination_path_by_path(rules: Rules, seed: int) -> None:
    tokens, width = (1, 2) if rules is FREE_RULES else (2, 5)
    case = Narrow(heads=3, layers=2, token_width=tokens, width=width, seed=seed)
    model = case.model(rules.readout)
    found = case.combination(rules, model)
    assert found is not None
    source = seeded(seed + 10)
    embedding = random_matrix(source, tokens, width)
    readout = model.readout
    if rules is FREE_RULES:
        readout = random_matrix(source, width, 1)
    total = Matrix.zero(tokens, 1)
    for product, part in zip(model.products, found, strict=True):
        total += (embedding @ product @ readout) @ column(part)
    assert total == Matrix.zero(tokens, 1)
    target = case.target(rules, found)
    assert target is not None
    assert any(residue(found, powers(target, 3)))


@given(st.lists(ENTRY, min_size=8, max_size=8).filter(any))
def test_some_target_of_the_grid_sees_any_combination(entries: list[int]) -> None:
    combination = tuple((Fraction(entry),) for entry in entries)
    grid = itertools.product(grid_points(2), repeat=3)
    assert any(any(residue(combination, powers(numbers, 2))) for numbers in grid)


def test_unit_weights_take_each_part_out() -> None:
    combination = random_matrix(seeded(1), 4, 2).rows()
    unit = Matrix.identity(2).rows()
    for place, choice in enumerate(itertools.product(range(2), repeat=2)):
        weights = tuple(unit[q] for q in choice)
        assert weight_tensor(weights)[place] == 1
        assert residue(combination, weights) == combination[place]


def test_the_whole_construction_sees_every_combination() -> None:
    case = Narrow(heads=2, layers=2, token_width=2, width=8, seed=0)
    assert case.combination(FIXED_RULES, case.model(FIXED)) is None
    single = Narrow(heads=2, layers=2, token_width=1, width=2, seed=0)
    assert single.combination(FREE_RULES, single.model(FREE)) is None


@pytest.mark.parametrize("claim", claims_of(kernel), ids=lambda claim: claim.id)
def test_each_claim_is_proved_and_its_instances_hold(claim: Any) -> None:
    verdicts = [check.method.settle(Setting(profile="quick")) for check in claim.checks()]
    assert [verdict.status for verdict in verdicts] == [Status.PROVED, Status.BOUNDED]


# --- the rechecker ---------------------------------------------------------------------------


def shown(value: Any) -> Any:
    return json.loads(json.dumps(value))


FIXED_SHOWN = shown(
    vanishing_exhibit(FIXED_RULES)(Narrow(heads=2, layers=2, token_width=2, width=5, seed=1))
)
FREE_SHOWN = shown(
    vanishing_exhibit(FREE_RULES)(Narrow(heads=3, layers=2, token_width=1, width=2, seed=1))
)


@pytest.mark.parametrize(
    ("exhibit", "change", "text"),
    [
        (FIXED_SHOWN, {"combination": [["1", "0"]] * 4}, "the combination does not vanish"),
        (FIXED_SHOWN, {"combination": [["0", "0"]] * 4}, "the target does not see"),
        (FIXED_SHOWN, {"combination": FIXED_SHOWN["combination"][:3]}, "one part per path"),
        (FIXED_SHOWN, {"numbers": ["1"]}, "a target has one number per layer"),
        (FIXED_SHOWN, {"readout": None}, "without a readout tokens have one coordinate"),
        (FREE_SHOWN, {"combination": [["1"]] * 9}, "the combination does not vanish"),
        (FREE_SHOWN, {"combination": [["0"]] * 9}, "the target does not see"),
    ],
)
def test_changed_combinations_are_rejected(exhibit: Any, change: dict[str, Any], text: str) -> None:
    check_vanishing_paths(exhibit)
    with pytest.raises(RejectedError, match=text):
        check_vanishing_paths({**exhibit, **change})


def test_a_model_that_is_not_narrow_is_rejected() -> None:
    model = leaves(2, 1, 1, 2)
    exhibit = {
        "values": [[[[str(x) for x in row] for row in v.rows()] for v in model.values[0]]],
        "readout": [["1"], ["1"]],
        "combination": [["0"], ["1"]],
        "numbers": ["1"],
    }
    with pytest.raises(RejectedError, match="the model is not below the bound"):
        check_vanishing_paths(exhibit)
