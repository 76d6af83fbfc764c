"""The rechecker's definitions of drawn, gated, residual and folded models reject what is wrong."""

from __future__ import annotations

import copy
import json
from base64 import b85decode, b85encode
from collections.abc import Callable
from typing import Any

import pytest

from constructions.universal import common_width, folded, gated, generic, ranks, residual, routed
from constructions.universal.comparisons import LemmaCase
from constructions.universal.definitions import TransformerSize, places_json
from constructions.universal.drawn import random_model
from verify.claims import Setting
from verify.definitions import EXHIBITS
from verify.definitions.draws import check_draw_rank
from verify.definitions.models import check_simulation
from verify.definitions.plain import RejectedError
from verify.definitions.universal import (
    check_block_parameters,
    check_block_width,
    check_folded_parameters,
)


def exhibits(check: Any) -> list[Any]:
    verdict = check.method.settle(Setting(profile="quick"))
    assert verdict.certificate is not None
    return json.loads(json.dumps(verdict.certificate["instances"]))


@pytest.mark.parametrize(
    "checks",
    [
        gated.probe_checks,
        lambda: gated.sparse_checks(gated.SPARSE_KIND, ((2, False),)),
        residual.residual_sparse_checks,
        folded.folded_checks,
        common_width.padding_checks,
        lambda: generic.generic_checks(routed.LAYOUT, generic.GATED),
    ],
    ids=["probe", "sparse", "residual", "folded", "padding", "generic"],
)
def test_what_a_check_shows_is_accepted(checks: Callable[[], Any]) -> None:
    seen = 0
    for check in checks():
        if check.method.name == "exhaustive":
            for exhibit in exhibits(check):
                EXHIBITS[check.method.rechecked_as](exhibit)
                seen += 1
    assert seen


SIZE = TransformerSize(heads=2, layers=2, head_width=1, token_width=2, neurons=2, residual=True)


def sparse() -> Any:
    return json.loads(json.dumps(places_json(routed.routed(SIZE))))


Change = Callable[[Any], None]


def set_row(name: str, layer: int, place: int, row: int) -> Change:
    def change(exhibit: Any) -> None:
        exhibit[name][layer][0][place] = row

    return change


def set_value(exhibit: Any) -> None:
    exhibit["values"][0][1][0] = exhibit["values"][0][0][0]


def more_ones(exhibit: Any) -> None:
    column = exhibit["values"][1][0].index(-1)
    exhibit["values"][1][0][column] = 0


def down_elsewhere(exhibit: Any) -> None:
    exhibit["downs"][0][1][0] += 1


def narrower(exhibit: Any) -> None:
    exhibit["queries"][0][0] = [[], []]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (set_value, "P_0 selects a coordinate twice"),
        (more_ones, "a value map has a 1 per inner probe"),
        (down_elsewhere, "a local block is not the identity"),
        (narrower, "a reader has d ones"),
        (set_row("gates", 1, 0, 0), "a local block is not the identity"),
        (set_row("gates", 1, 0, 10**6), "a 1 stands outside its matrix"),
    ],
)
def test_a_wrong_sparse_parameter_is_rejected(change: Change, text: str) -> None:
    exhibit = sparse()
    check_block_parameters(exhibit)
    change(exhibit)
    with pytest.raises(RejectedError, match=text):
        check_block_parameters(exhibit)


def test_a_folded_coordinate_with_two_labels_is_rejected() -> None:
    size = TransformerSize(heads=2, layers=1, head_width=2, token_width=2)
    exhibit = json.loads(
        json.dumps(places_json(folded.LAYOUT.build(size, folded.LAYOUT.least_width(size))))
    )
    check_folded_parameters(exhibit)
    exhibit["keys"][0][1] = exhibit["queries"][0][0]
    with pytest.raises(RejectedError, match="a coordinate has two labels"):
        check_folded_parameters(exhibit)


@pytest.mark.parametrize("field", ["neurons", "layers", "head_width"])
def test_a_width_of_another_size_is_rejected(field: str) -> None:
    exhibit: Any = {"size": SIZE.as_json(), "width": SIZE.probe_width}
    check_block_width(exhibit)
    exhibit["size"][field] = 3
    with pytest.raises(RejectedError, match="m is too small"):
        check_block_width(exhibit)


# --- draws -----------------------------------------------------------------------------------


def certificate(tied: bool = False, dtype: Any = "uniform32") -> Any:
    size = TransformerSize(heads=2, layers=2, head_width=2, token_width=3)
    model = ranks.drawn(size, dtype, 5, tied)
    assert ranks.rank_fails(ranks.unchanged)(model) is None
    return json.loads(json.dumps(ranks.rank_exhibit(ranks.unchanged)(model)))


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("dtype", ["uniform32", "uniform64", "gaussian"])
def test_a_certified_draw_is_accepted(tied: bool, dtype: str) -> None:
    check_draw_rank(certificate(tied, dtype))


def flip(exhibit: Any) -> None:
    data = bytearray(b85decode(exhibit["inverse"]))
    data[4 * 17] ^= 1
    exhibit["inverse"] = b85encode(bytes(data)).decode()


def another_seed(exhibit: Any) -> None:
    exhibit["draw"]["seed"] += 1


def swapped_rows(exhibit: Any) -> None:
    exhibit["rows"][:2] = exhibit["rows"][1::-1]


def composite(exhibit: Any) -> None:
    exhibit["prime"] = (1 << 31) - 3


def small_prime(exhibit: Any) -> None:
    exhibit["prime"] = 101


def repeated_row(exhibit: Any) -> None:
    exhibit["rows"][0] = exhibit["rows"][1]


def other_tie(exhibit: Any) -> None:
    exhibit["tied"] = not exhibit["tied"]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (flip, "the left inverse times P_0 is not the identity"),
        (another_seed, "the left inverse times P_0 is not the identity"),
        (swapped_rows, "the left inverse times P_0 is not the identity"),
        (other_tie, "the left inverse times P_0 is not the identity"),
        (composite, "the modulus is no prime"),
        (small_prime, "the modulus is no prime"),
        (repeated_row, "as many rows as columns are needed"),
    ],
)
def test_a_wrong_certificate_of_a_draw_is_rejected(change: Change, text: str) -> None:
    exhibit = certificate()
    change(exhibit)
    with pytest.raises(RejectedError, match=text):
        check_draw_rank(exhibit)


# --- simulations -----------------------------------------------------------------------------


def simulated() -> Any:
    size = TransformerSize(heads=1, layers=1, head_width=1, token_width=2, neurons=2)

    def draw(of: TransformerSize, seed: int) -> Any:
        return random_model(of, seed)

    return json.loads(json.dumps(generic.drawn_exhibit(draw)(LemmaCase(size=size, seed=3))))


@pytest.mark.parametrize("name", ["gates", "ups", "downs", "readout", "queries"])
def test_a_dense_simulation_with_one_entry_changed_is_rejected(name: str) -> None:
    exhibit = simulated()
    check_simulation(exhibit)
    changed = copy.deepcopy(exhibit)
    part = changed["universal"]["dense"][name]
    while isinstance(part[0], list):
        part = part[0]
    part[0] = "1000/7"
    with pytest.raises(RejectedError, match="the outputs differ"):
        check_simulation(changed)


def test_a_dense_parameter_of_another_shape_is_rejected() -> None:
    exhibit = simulated()
    exhibit["universal"]["dense"]["downs"][0].pop()
    with pytest.raises(RejectedError, match="a parameter has another shape"):
        check_simulation(exhibit)
