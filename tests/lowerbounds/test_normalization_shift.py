"""One coarse bound of outputs, a target beyond it at every input, and the rechecker on both."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constructions.universal.definitions import TransformerSize
from lowerbounds import normalization_shift
from lowerbounds.layer_norm import ALONE, plain_norm
from lowerbounds.normalization_shift_instances import (
    EPS,
    RULES,
    SHIFT_RANGES,
    Shifted,
    shift_exhibit,
)
from verify.claims import Setting
from verify.definitions.normalization import check_shifted_output
from verify.definitions.plain import RejectedError
from verify.loading import claims_of
from verify.rational import Matrix
from verify.verdicts import Status

ROW = st.lists(st.fractions(-5, 5, max_denominator=6), min_size=1, max_size=6).map(tuple)
DEEP = TransformerSize(heads=2, layers=2, head_width=1, token_width=2)


@given(ROW)
def test_a_square_is_at_most_m_times_the_variance_and_eps(row: tuple[Fraction, ...]) -> None:
    norm = plain_norm(len(row), EPS)
    square = norm.divided_by(row)
    assert all(y * y <= len(row) * square for y in norm.deviations(row))


@pytest.mark.parametrize("residual", [False, True])
def test_a_target_of_two_layers_is_run_exactly_and_returns_its_shift(residual: bool) -> None:
    case = Shifted(width=3, size=DEEP, residual=residual, seed=1)
    target = case.target(RULES)
    shift = (case.bound(RULES) + 1, Fraction(0))
    streams = []
    for inputs in case.inputs():
        first = target.norms[0].of(target.sublayer(0, inputs, ALONE))
        streams.append(first)
        row = target.sublayer(1, first, ALONE).rows()[0]
        read = [target.norms[1].read_between(row, unit) for unit in Matrix.identity(2).rows()]
        assert read == [(value, value) for value in shift]
    assert len({stream.rows() for stream in streams}) == len(streams)


def test_every_size_is_met_with_two_or_more_in_each_index() -> None:
    cases: list[Shifted] = list(SHIFT_RANGES["standard"].over())
    assert {(case.size.layers, case.size.token_width) for case in cases} == {
        (1, 1), (1, 2), (1, 3), (2, 1), (2, 2),
    }  # fmt: skip
    assert {case.width for case in cases} == {2, 3, 4, 5, 6}


@pytest.mark.parametrize("claim", claims_of(normalization_shift), ids=lambda claim: claim.id)
def test_the_claim_is_proved_and_its_instances_hold(claim: Any) -> None:
    verdicts = [check.method.settle(Setting(profile="quick")) for check in claim.checks()]
    assert [verdict.status for verdict in verdicts] == [Status.PROVED, Status.BOUNDED]


# --- the rechecker ---------------------------------------------------------------------------


def shown() -> dict[str, Any]:
    case = Shifted(width=4, size=DEEP, residual=False, seed=1)
    return json.loads(json.dumps(shift_exhibit()(case)))


def no_eps(exhibit: dict[str, Any]) -> None:
    exhibit["fixed"]["norms"][-1]["eps"] = "0"


def a_smaller_bound(exhibit: dict[str, Any]) -> None:
    exhibit["bound"] = "1"


def a_scale(exhibit: dict[str, Any]) -> None:
    exhibit["target"]["norms"][-1]["scale"][0] = "1"


def the_bound_as_shift(exhibit: dict[str, Any]) -> None:
    exhibit["target"]["norms"][-1]["shift"][0] = exhibit["bound"]


def another_readout(exhibit: dict[str, Any]) -> None:
    exhibit["target"]["readout"][0][0] = "-1"


def a_layer_without_normalisation(exhibit: dict[str, Any]) -> None:
    del exhibit["target"]["norms"][0]


def an_irrational_input(exhibit: dict[str, Any]) -> None:
    exhibit["inputs"][0] = [["7", "1/3"]]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (no_eps, "eps must be positive"),
        (a_smaller_bound, "the bound is another"),
        (a_scale, "the target's last scale is not 0"),
        (the_bound_as_shift, "the target's shift is within the bound"),
        (another_readout, "the target's readout is not the identity"),
        (a_layer_without_normalisation, "each layer needs its normalisation"),
        (an_irrational_input, "a run needs rational square roots"),
    ],
)
def test_a_broken_instance_is_rejected(change: Any, text: str) -> None:
    exhibit = shown()
    check_shifted_output(exhibit)
    change(exhibit)
    with pytest.raises(RejectedError, match=text):
        check_shifted_output(exhibit)
