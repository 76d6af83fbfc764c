"""`recheck.py` on windows of minimal transformers: what it accepts, and every field corrupted."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from constructions.minimal.definitions import Model, shapes
from constructions.minimal.geometry import READINGS, Case, geometry_exhibit
from constructions.minimal.instances import random_model
from constructions.minimal.rule import cover_exhibit
from constructions.minimal.shipped import shipped
from verify.definitions.minimal import check_geometry, check_parameters, check_window_cover
from verify.definitions.plain import RejectedError

PAPER = json.dumps(cover_exhibit(shipped("paper").model, [3, 6]))
Change = Callable[[Any], None]


def corrupted(text: str, change: Change) -> Any:
    exhibit = json.loads(text)
    change(exhibit)
    return exhibit


def branch(exhibit: Any) -> Any:
    return next(tree for tree in exhibit["lengths"][1]["groups"] if "at" in tree)


def first(exhibit: Any) -> Any:
    return exhibit["lengths"][0]["groups"][0]


def test_covers_of_trained_models_are_accepted() -> None:
    check_window_cover(json.loads(PAPER))


@pytest.mark.parametrize("seed", range(12))
def test_covers_of_random_models_are_accepted(seed: int) -> None:
    check_window_cover(cover_exhibit(random_model(seed, digits=1), [2, 3]))


def test_ties_are_rechecked() -> None:
    zeros = {name: np.zeros(shape) for name, shape in shapes(3, 2).items()}
    check_window_cover(cover_exhibit(Model(tensors=zeros), [2]))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda e: e["weights"]["U"][0].__setitem__(2, "9"), "a set labelled right"),
        (lambda e: e["weights"]["W_K"][1].__setitem__(1, "3"), "a box is too small"),
        (lambda e: e["weights"]["c"][0].__setitem__(4, "1/3"), "a weight is not dyadic"),
        (lambda e: e["weights"]["E"].pop(), "shapes"),
        (lambda e: e["lengths"][0].update(length=9), "a length is not within the context"),
        (lambda e: e["lengths"][0].update(length=4), "there must be a tree for each group"),
        (lambda e: e["lengths"][0].update(right=107, wrong=1), "the counts are other ones"),
        (lambda e: e["lengths"][0]["groups"].pop(), "there must be a tree for each group"),
        (lambda e: e["lengths"][0]["groups"].reverse(), "a box is too small|labelled"),
        (lambda e: first(e).update(label="wrong"), "a set labelled wrong is right"),
        (lambda e: first(e).update(box=[0, 0, 0, 0]), "a box is too small"),
        (lambda e: first(e).update(box=[-(1 << 60), 1 << 60] * 2), "a box is not seen|different"),
        (lambda e: first(e).update(box=None), "only single windows have no box"),
        (lambda e: branch(e)["parts"].pop(), "the parts do not hold each token once"),
        (lambda e: branch(e)["parts"].append([[], {}]), "a part is empty"),
        (lambda e: branch(e).update(at=5), "the parts do not hold each token once"),
    ],
)
def test_a_corrupted_cover_is_rejected(change: Change, text: str) -> None:
    with pytest.raises(RejectedError, match=text):
        check_window_cover(corrupted(PAPER, change))


def test_scores_too_far_apart_are_rejected() -> None:
    exhibit = corrupted(PAPER, lambda e: e["weights"]["W_K"][1].__setitem__(1, str(1 << 20)))
    with pytest.raises(RejectedError, match="scores are too far apart"):
        check_window_cover(exhibit)


@pytest.mark.parametrize("name", sorted(READINGS))
def test_readings_are_rechecked(name: str) -> None:
    exhibit = geometry_exhibit(shipped("windows").model)(Case(reading=name, length=8))
    check_geometry(exhibit)
    with pytest.raises(RejectedError):
        paper = geometry_exhibit(shipped("paper").model)(Case(reading=name, length=8))
        check_geometry(paper if name != "later" else _turned(paper))


def _turned(exhibit: Any) -> Any:
    """Positions in the other order, so that earlier even numbers outweigh later ones."""
    exhibit["weights"]["P"].reverse()
    return exhibit


def test_unknown_readings_and_missing_boxes_are_rejected() -> None:
    exhibit: Any = geometry_exhibit(shipped("windows").model)(Case(reading="region", length=3))
    with pytest.raises(RejectedError, match="there must be a box for each group"):
        check_geometry({**exhibit, "boxes": exhibit["boxes"][1:]})
    with pytest.raises(RejectedError, match="a box is too small"):
        check_geometry({**exhibit, "boxes": exhibit["boxes"][::-1]})
    with pytest.raises(RejectedError, match="no reading 'colour'"):
        check_geometry({**exhibit, "reading": "colour"})


def test_parameters_are_counted() -> None:
    exhibit = {name: list(shape) for name, shape in shapes().items()}
    check_parameters(exhibit)
    with pytest.raises(RejectedError, match="another number"):
        check_parameters({**exhibit, "c": [13]})
    with pytest.raises(RejectedError, match="not in the plane"):
        check_parameters({**exhibit, "W_Q": [4, 1]})
