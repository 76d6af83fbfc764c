"""The rechecker's definitions of runs, ReLU networks and their pieces reject what is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from constructions.machines.block_claims import block_checks
from constructions.machines.chain_claims import chain_checks
from constructions.machines.relu_claims import parity_checks
from constructions.machines.relu_network_claims import network_checks
from lowerbounds.pieces import LineCase, pieces_checks, pieces_exhibit
from verify.claims import Setting
from verify.definitions import EXHIBITS, relu
from verify.definitions.plain import RejectedError
from verify.definitions.relu import check_relu_network, check_relu_parity, parity_layers

CHECKS: dict[str, Callable[[], Any]] = {
    "relu-parity": parity_checks,
    "relu-network": network_checks,
    "relu-blocks": block_checks,
    "pieces": pieces_checks,
    "chain": chain_checks,
}
Change = Callable[[Any], None]


@cache
def shown(kind: str) -> str:
    """The exhibits of a kind under the quick profile, as text."""
    (method,) = (
        check.method
        for check in CHECKS[kind]()
        if check.method.name == "exhaustive" and check.method.rechecked_as == kind
    )
    return json.dumps(method.settle(Setting(profile="quick")).certificate["instances"])


def exhibits(kind: str) -> list[Any]:
    return json.loads(shown(kind))


@pytest.mark.parametrize("kind", sorted(CHECKS))
def test_what_a_check_shows_is_accepted(kind: str) -> None:
    found = exhibits(kind)
    for exhibit in found:
        EXHIBITS[kind](exhibit)
    assert found


def reject(kind: str, exhibit: Any, change: Change, text: str) -> None:
    EXHIBITS[kind](exhibit)
    change(exhibit)
    with pytest.raises(RejectedError, match=text):
        EXHIBITS[kind](exhibit)


def put(*path: Any) -> Change:
    """Sets what stands at a path; the last entry is the new value."""
    *steps, last, value = path

    def change(exhibit: Any) -> None:
        for step in steps:
            exhibit = exhibit[step]
        exhibit[last] = value

    return change


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (put("bits", 3, 0), "the bits are others"),
        (put("levels", 2), "other K or s for this S"),
        (put("scale", 4), "other K or s for this S"),
        (put("widths", 0, 12), "the widths are others"),
        (put("longest", 6), "the widths are others"),
    ],
)
def test_a_wrong_parity_network_is_rejected(change: Change, text: str) -> None:
    reject("relu-parity", exhibits("relu-parity")[5], change, text)


def test_layers_that_read_a_wrong_bit_are_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    right = parity_layers
    monkeypatch.setattr(relu, "parity_layers", lambda levels, scale: right(levels, scale // 4))
    with pytest.raises(RejectedError, match="the layers read other bits in a context of"):
        check_relu_parity(exhibits("relu-parity")[5])


def part(name: str) -> Any:
    return next(exhibit for exhibit in exhibits("relu-network") if exhibit["part"] == name)


@pytest.mark.parametrize(
    ("name", "change", "text"),
    [
        ("layers", put("widths", 0, 7), "the widths are"),
        ("layers", put("longest", 33), "the widths are"),
        ("layers", put("part", "all"), "'all' is no part of a network"),
        ("labels", put("answers", 5), "answers"),
        ("labels", put("sha256", "0" * 64), "the answers at the reachable labels are others"),
        ("labels", put("machine", "rules", 0, 2, "1"), "answers"),
        ("counts", put("context", 30), "the context is longer than S \\+ 1"),
        ("run", put("tokens", 0, "0 0"), "the run has"),
        ("run", put("input", ["1"]), "the run has"),
    ],
)
def test_a_wrong_part_of_a_network_is_rejected(name: str, change: Change, text: str) -> None:
    reject("relu-network", part(name), change, text)


def test_conjunctions_that_emit_another_token_are_rejected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(relu, "conjunction", lambda features: max(0, features[0]))
    with pytest.raises(RejectedError, match="emit another token"):
        check_relu_network(part("labels"))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (put("answers", 7, 3, []), "the neurons emit"),
        (put("answers", 0, 3, ["a", "N p", 0]), "the neurons emit"),
        (put("machine", 1), "the neurons emit|some questions are missing"),
        (put("answers", []), "some questions are missing"),
    ],
)
def test_a_wrong_look_up_is_rejected(change: Change, text: str) -> None:
    reject("relu-blocks", exhibits("relu-blocks")[0], change, text)


def folded() -> Any:
    return json.loads(json.dumps(pieces_exhibit(LineCase(kind="folds", size=2))))


def another_output(exhibit: Any) -> None:
    exhibit["output"]["rows"][3] = ["1", "0"]


def narrow(exhibit: Any) -> None:
    exhibit["layers"][0]["rows"][0] = ["1"]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (put("pieces", 3), "there are 4 pieces"),
        (put("sign_changes", 3), "the score changes its sign 4 times"),
        (put("layers", 0, "bias", 0, "0"), "there are"),
        (another_output, "the score changes its sign"),
        (narrow, "a matrix has ragged rows"),
        (put("slope", ["2", "-2", "0", "0"]), "there are|the score changes"),
        (put("plus", 3), "the score changes its sign 0 times"),
    ],
)
def test_a_wrong_count_of_pieces_is_rejected(change: Change, text: str) -> None:
    reject("pieces", folded(), change, text)


def test_a_score_that_does_not_alternate_shows_no_parity() -> None:
    exhibit = json.loads(json.dumps(pieces_exhibit(LineCase(kind="random", size=1, depth=1))))
    reject("pieces", exhibit, put("parity", True), "the score does not show the parity")


def chain_of(part: str) -> Any:
    """A block of a family, or the run of one machine: the first exhibit that has the field."""
    return next(exhibit for exhibit in exhibits("chain") if part in exhibit)


@pytest.mark.parametrize(
    ("part", "change", "text"),
    [
        ("states", put("halted", 7), "halted is"),
        ("states", put("tokens", 0), "tokens is"),
        ("states", put("first", 1), "the certificate says"),
        ("states", put("rules", 59), "the certificate says"),
        ("states", put("max_context", 3), "max_context is"),
        ("states", put("first", 13**4), "no such machine"),
        ("states", put("rules", 10**9), "too long"),
        ("table", put("last_tape", "1"), "last_tape is"),
        ("table", put("refreshes", 0), "refreshes is"),
        ("table", put("table", 0, 3, "L"), "the certificate says"),
        ("table", put("input", ["1", "1"]), "the certificate says"),
    ],
)
def test_a_wrong_chain_is_rejected(part: str, change: Change, text: str) -> None:
    reject("chain", chain_of(part), change, text)
