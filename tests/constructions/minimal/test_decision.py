"""Counting, covering and exact judgement decide every window alike."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.minimal import cover, decision, exhaustive
from constructions.minimal.cover import Branch, GroupCover, Leaf
from constructions.minimal.definitions import Model, groups, shapes, window_count
from constructions.minimal.exact import judge
from constructions.minimal.exhaustive import window_of
from constructions.minimal.instances import random_model as drawn
from constructions.minimal.shipped import shipped
from constructions.minimal.torch_model import last_logits
from verify.errors import PrecisionError, SizeError

SEEDS = st.integers(0, 10**6)


def plainly(model: Model, length: int) -> decision.Tally:
    """Every window judged exactly, one by one."""
    judged = [
        (group, judge(model, window))
        for group in groups(length)
        for window in product(*group.allowed())
    ]
    wrong = [(group, found) for group, found in judged if not found.right]
    wrong_of: dict[tuple[int, int], int] = {}
    for group, _ in wrong:
        key = group.even, length - 1 - group.place
        wrong_of[key] = wrong_of.get(key, 0) + 1
    return decision.Tally(
        length=length,
        right=len(judged) - len(wrong),
        wrong=len(wrong),
        wrong_of=wrong_of,
        smallest=min((found.window for _, found in wrong), default=None),
        judged=len(judged),
    )


@settings(deadline=None, max_examples=25)
@given(SEEDS, st.integers(0, 2), st.integers(2, 3))
def test_three_ways_agree(seed: int, digits: int, length: int) -> None:
    model = drawn(seed, digits=digits)
    found = decision.decided(model, length)
    required = plainly(model, length)
    for tally in found.tallies.values():
        assert (tally.right, tally.wrong, tally.smallest, dict(tally.wrong_of)) == (
            required.right,
            required.wrong,
            required.smallest,
            required.wrong_of,
        )


def test_ties_everywhere_are_all_wrong() -> None:
    zeros = {name: np.zeros(shape) for name, shape in shapes(4, 4).items()}
    found = decision.decided(Model(tensors=zeros), 3)
    assert found.tally.wrong == window_count(3)
    assert found.tallies["exhaustive"].judged == window_count(3)


@settings(deadline=None, max_examples=25)
@given(SEEDS)
def test_the_rounding_bound_holds_against_torch(seed: int) -> None:
    model = drawn(seed, hidden=16, digits=5)
    bound = float(exhaustive.rounding_bound(model, 4))
    assert 0 < bound < 1e-9
    for group in groups(4)[::5]:
        window = window_of(group, seed % group.size())
        row = last_logits(model, [window])[0]
        leads = [row[group.even] - row[t] for t in range(12) if t != group.even]
        right = judge(model, window).right
        if min(leads) > 2 * bound:
            assert right
        if min(leads) < -2 * bound:
            assert not right


def test_window_numbers_are_lexicographic() -> None:
    group = groups(4)[13]
    every = list(product(*group.allowed()))
    assert [window_of(group, number) for number in range(group.size())] == every


def test_the_shipped_models_are_decided() -> None:
    for name in ("paper", "windows"):
        for found in decision.decide(shipped(name).model, [2, 5]):
            assert found.tally.right + found.tally.wrong == window_count(found.length)
    paper = decision.decided(shipped("paper").model, 5)
    assert paper.tally.smallest is not None
    assert not judge(shipped("paper").model, paper.tally.smallest).right


def test_large_weights_need_an_answer_or_a_reason() -> None:
    model = shipped("windows").model
    huge = Model(tensors={**model.tensors, "W_K": model.tensors["W_K"] * 2.0**12})
    with pytest.raises(PrecisionError, match="attention weights must be within"):
        cover.cover(huge, 4)
    vast = Model(tensors={**model.tensors, "U": model.tensors["U"] * 2.0**600})
    with pytest.raises(PrecisionError, match="float64 must be able to hold every logit"):
        decision.counted(vast, 3)
    assert decision.covered(3, cover.cover(vast, 3)).wrong == 0


def test_a_cover_that_would_be_long_is_given_up_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decision, "MOST_COMPARED", 20)
    found = decision.decided(shipped("paper").model, 5)
    assert list(found.tallies) == ["exhaustive"]
    assert found.tally.wrong == 432
    row = found.as_json()
    assert (row["leaves"], row["engines"]) == (None, ["exhaustive"])
    assert row["uncovered"].startswith("a cover must have at most 20 sets")
    assert decision.decided(shipped("paper").model, 4).uncovered == ""


@pytest.mark.parametrize("lengths", [[], [1], [9], [2, 0]])
def test_lengths_that_do_not_exist_are_refused(lengths: list[int]) -> None:
    with pytest.raises(SizeError, match="lengths to decide must be 2 to 8"):
        decision.decide(shipped("windows").model, lengths)


# --- covers that are wrong ---------------------------------------------------------------------

PAPER = shipped("paper").model
SIX = cover.cover(PAPER, 6)
PARTED = next(place for place, part in enumerate(SIX) if isinstance(part.tree, Branch))


def with_tree(place: int, tree: cover.Tree) -> tuple[GroupCover, ...]:
    found = list(SIX)
    found[place] = replace(found[place], tree=tree)
    return tuple(found)


def test_covers_hold() -> None:
    assert cover.check(PAPER, SIX) == ""


def test_a_box_that_is_too_small_is_noticed() -> None:
    leaf = SIX[0].tree
    assert isinstance(leaf, Leaf)
    assert leaf.box is not None
    low, _, second, high = leaf.box
    smaller = replace(leaf, box=(low, low, second, high))
    assert "must hold the output" in cover.check(PAPER, with_tree(0, smaller))


def test_a_box_with_both_labels_is_noticed() -> None:
    leaf = SIX[0].tree
    assert isinstance(leaf, Leaf)
    wide = replace(leaf, box=(-(1 << 60), 1 << 60, -(1 << 60), 1 << 60))
    assert "None is shown" in cover.check(PAPER, with_tree(0, wide))


def test_a_turned_label_is_noticed() -> None:
    leaf = SIX[0].tree
    assert isinstance(leaf, Leaf)
    other = "wrong" if leaf.label == "right" else "right"
    assert "is labelled" in cover.check(PAPER, with_tree(0, replace(leaf, label=other)))


@pytest.mark.parametrize("change", ["drop", "repeat", "empty"])
def test_parts_that_do_not_cover_are_noticed(change: str) -> None:
    branch = SIX[PARTED].tree
    assert isinstance(branch, Branch)
    (tokens, tree), *others = branch.parts
    changed = {
        "drop": ((tokens[1:], tree), *others),
        "repeat": ((tokens, tree), (tokens, tree), *others),
        "empty": ((tokens, tree), ((), tree), *others),
    }[change]
    assert "must hold each of" in cover.check(
        PAPER, with_tree(PARTED, replace(branch, parts=tuple(changed)))
    )


def test_only_single_windows_are_judged() -> None:
    leaf = Leaf(box=None, label="right")
    assert "only single windows" in cover.check(PAPER, with_tree(len(SIX) - 1, leaf))


def test_groups_left_out_or_exchanged_are_noticed() -> None:
    for found in (SIX[1:], (SIX[1], SIX[0], *SIX[2:])):
        assert "must each be covered once" in cover.check(PAPER, found)
