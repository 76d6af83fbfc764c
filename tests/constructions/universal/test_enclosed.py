"""Softmax, SiLU and GELU over balls: both outputs agree, and every kind of instance is there."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from constructions.universal import enclosed
from constructions.universal.ball_runs import converted, softmax_of
from constructions.universal.enclosed import RANGES, outputs_agree
from constructions.universal.instances import random_target
from constructions.universal.maps import ColumnMap, Dense, Ones
from constructions.universal.nonlinearities import causal_mask, full_mask
from constructions.universal.tree import LAYOUT
from verify.balls import Balls
from verify.claims import Profile, Setting
from verify.methods.enclosure import Undecided
from verify.rational import Matrix
from verify.verdicts import Status

CASES = list(RANGES["standard"].over())


def test_the_quick_profile_is_bounded_to_thirty_decimals() -> None:
    (check,) = enclosed.enclosure_checks()
    verdict = check.method.settle(Setting(profile="quick"))
    assert check.covers
    assert verdict.status is Status.BOUNDED
    assert verdict.instances == 12
    assert "30 decimals" in verdict.evidence["margin"]


def test_every_kind_of_block_meets_every_gate_mask_and_scale() -> None:
    kinds = {(case.construction, case.size) for case in CASES}
    turns = {(case.gate, case.mask, case.scaled) for case in CASES}
    assert len(turns) == 8
    assert len({(c.construction, c.size, c.gate, c.mask, c.scaled) for c in CASES}) == 8 * len(
        kinds
    )
    assert {construction for construction, _ in kinds} == {
        "tree",
        "looped",
        "shift",
        "sparse",
        "drawn",
    }


@pytest.mark.parametrize("profile", ["quick", "standard", "deep"])
def test_every_size_is_at_least_two(profile: Profile) -> None:
    for case in RANGES[profile].over():
        size = case.size
        assert size.heads >= 2 or case.construction == "shift"
        assert min(size.layers, size.head_width, size.token_width) >= 2
        assert size.neurons != 1
        assert case.tokens >= 3


def test_too_few_bits_leave_an_instance_open() -> None:
    decide = outputs_agree(lambda exact: exact, lambda gate: gate)
    assert isinstance(decide(CASES[0], 64), Undecided)
    assert decide(CASES[0], 160) is None


def test_the_gate_matters_to_gated_blocks_alone() -> None:
    decide = outputs_agree(lambda exact: exact, lambda _: "silu")
    gated = next(case for case in CASES if case.size.gated)
    plain = next(case for case in CASES if not case.size.gated)
    assert decide(replace(gated, gate="gelu"), 160) is not None
    assert decide(replace(plain, gate="gelu"), 160) is None


def test_a_drawn_model_is_solved_for_its_target() -> None:
    case = next(case for case in CASES if case.construction == "drawn")
    model, target, embedding = enclosed.prepared(case, 160)
    assert isinstance(model.readout, Dense)
    assert target == random_target(case.size, case.seed)
    assert embedding.shape == (case.size.token_width, case.size.probe_width)


def test_logits_are_divided_by_the_root() -> None:
    logits = Balls.of(Matrix.from_rows([[3, 6], [9, 12]]), 128)
    thirds = Balls.of(Matrix.from_rows([[1, 2], [3, 4]]), 128)
    mask = full_mask(2)
    assert softmax_of(mask, 9)(logits).agreeing_decimals(thirds.softmax(mask)) >= 35
    assert softmax_of(mask, 1)(logits).agreeing_decimals(logits.softmax(mask)) >= 35


def test_masked_logits_do_not_count() -> None:
    logits = Balls.of(Matrix.from_rows([[1, 50], [2, 2]]), 128)
    assert softmax_of(causal_mask(2), 4)(logits)[0, 0] == (1, 1)
    low, high = softmax_of(causal_mask(2), 4)(logits)[1, 0]
    assert low <= Fraction(1, 2) <= high


def test_selections_stay_index_maps_and_other_maps_are_converted() -> None:
    size = CASES[0].size
    model = LAYOUT.build(size, size.probe_width)
    over = converted(model, lambda exact: Balls.of(exact, 64))
    assert isinstance(over.values[1][1], ColumnMap)
    assert isinstance(over.queries[0][0], Ones)
    assert isinstance(over.queries[1][0], Dense)
    assert isinstance(over.readout.matrix, Balls)
