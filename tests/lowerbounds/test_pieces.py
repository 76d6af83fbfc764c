"""Pieces of ReLU networks on a line: counted, bounded, and what they say of depth."""

from __future__ import annotations

from fractions import Fraction
from math import prod
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lowerbounds import pieces
from lowerbounds.line import LineNetwork
from lowerbounds.line_networks import (
    folds,
    machine_case,
    prompts,
    random_network,
    stated_machine,
    stated_network,
    zigzag,
)
from lowerbounds.pieces_worlds import dense, trace
from verify.claims import Setting
from verify.loading import claims_of

(CLAIM,) = claims_of(pieces)


def test_the_claim_reaches_its_status() -> None:
    for check in CLAIM.checks():
        verdict = check.method.settle(Setting(profile="quick"))
        assert verdict.status == check.method.ceiling, verdict.evidence
        assert not check.covers or verdict.status == CLAIM.expected


@pytest.mark.parametrize("longest", [1, 2, 5, 8])
def test_the_machines_own_network_has_at_least_s_pieces(longest: int) -> None:
    case = machine_case(longest)
    assert case.sign_changes() == longest
    assert longest <= len(case.pieces()) <= 4 * longest


def test_the_prompts_lie_on_the_line_and_show_the_parity() -> None:
    case, network = machine_case(4), stated_network(4)
    assert prompts(4) == [case.line.at(count) for count in range(5)]
    shown = [
        network.next_token(network.transformer.prompt("a" * c + "b" * (4 - c))).displayed
        for c in range(5)
    ]
    assert shown == ["a", "b", "a", "b", "a"]
    assert [stated_machine().rule("p", mask) for mask in range(4)] == [
        ("p", ("a",)),
        ("p", ("b",)),
        ("p", ("a",)),
        ("p", ("b",)),
    ]


@pytest.mark.parametrize("levels", [1, 2, 3, 4])
def test_folds_double_the_pieces_with_every_layer(levels: int) -> None:
    case = folds(levels)
    assert case.network.widths == (2,) * levels
    assert len(case.pieces()) == case.sign_changes() == 2**levels


@pytest.mark.parametrize("longest", [1, 2, 3, 6])
def test_one_hidden_layer_meets_the_bound(longest: int) -> None:
    case = zigzag(longest)
    assert len(case.pieces()) == case.sign_changes() == longest == case.width + 1


@given(st.integers(1, 3), st.integers(0, 3), st.integers(0, 200))
def test_the_pieces_are_those_of_forward_passes_and_within_the_bound(
    width: int, depth: int, seed: int
) -> None:
    case = random_network(width, depth, seed)
    found = case.pieces()
    assert len(found) <= prod(entry + 1 for entry in case.network.widths) <= (width + 1) ** depth
    assert [piece.high for piece in found[:-1]] == [piece.low for piece in found[1:]]
    assert (found[0].low, found[-1].high) == (0, case.line.longest)
    for piece in found:
        for place in (piece.low, (piece.low + piece.high) / 2, piece.high):
            assert piece.slope[0] * place + piece.offset[0] == case.score(place)


@given(st.integers(0, 60))
def test_codes_number_the_pieces_from_left_to_right(seed: int) -> None:
    case = random_network(2, 2, seed)
    codes = [_code(case, (piece.low + piece.high) / 2) for piece in case.pieces()]
    assert codes == sorted(set(codes))
    assert codes[-1] < 3**2


def _code(case: LineNetwork, place: Fraction) -> int:
    return trace(case, dense(case), place).codes[case.network.depth]


def test_a_bound_is_compared_layer_by_layer() -> None:
    assert pieces.bound_of(pieces.grown, 3, 4) == 4**4
    assert pieces.bound_of(pieces.grown, 3, 0) == 1


def test_a_network_that_misses_a_count_is_a_counterexample(monkeypatch: Any) -> None:
    monkeypatch.setattr("lowerbounds.pieces.zigzag", lambda size: random_network(1, 1, size))
    found = pieces.pieces_fail()(pieces.LineCase(kind="zigzag", size=3))
    assert found is not None
    assert "the score must be negative at 0 and change its sign 12 times" in found.text
