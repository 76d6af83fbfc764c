"""Training goes on exactly where it stopped, and its files say what they are of."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from constructions.minimal.definitions import Model
from constructions.minimal.files import (
    model_bytes,
    read_checkpoint,
    restored_training,
    training_bytes,
)
from constructions.minimal.shipped import NAMES, shipped
from constructions.minimal.training import RECIPES, Plan, Training, rule_error
from verify.errors import CheckpointError, UsageError, WeightsError

pytest.importorskip("torch")


def plan(name: str = "paper", steps: int = 30, seed: int = 3) -> Plan:
    return Plan(recipe=replace(RECIPES[name], steps=steps, batch=4), seed=seed)


def finished(run: Training) -> Training:
    for _ in run.advance():
        pass
    return run


def same(one: Model, two: Model) -> bool:
    return all(np.array_equal(one.tensors[name], two.tensors[name]) for name in one.tensors)


@pytest.mark.parametrize("name", sorted(RECIPES))
@pytest.mark.parametrize("stopped", [0, 1, 17])
def test_a_stopped_run_ends_bit_for_bit_as_an_uninterrupted_one(
    name: str, stopped: int, tmp_path: Path
) -> None:
    whole = finished(Training(plan(name)))
    part = Training(plan(name))
    list(islice(part.advance(), stopped))
    path = tmp_path / "state.safetensors"
    path.write_bytes(training_bytes(part))
    later = finished(restored_training(path, plan(name)))
    assert same(whole.model(), later.model())
    assert whole.history == later.history
    assert model_bytes(whole.model(), whole) == model_bytes(later.model(), later)


def test_seeds_and_recipes_make_other_runs() -> None:
    first = finished(Training(plan()))
    assert same(first.model(), finished(Training(plan())).model())
    for other in (plan(seed=4), plan("windows"), plan(steps=31)):
        assert not same(first.model(), finished(Training(other)).model())


def test_the_loss_goes_down() -> None:
    run = finished(
        Training(replace(plan(steps=400), recipe=replace(RECIPES["windows"], steps=400)))
    )
    assert run.history[-1].loss < run.history[0].loss * 0.75
    assert run.history[-1].rule_error < run.history[0].rule_error
    assert [point.step for point in run.history] == [0, 200, 400]


def test_a_tie_counts_as_a_rule_error() -> None:
    tokens = np.array([[4, 11, 4], [6, 11, 1]])
    found = np.zeros((2, 3, 12), dtype=np.float32)
    assert rule_error(tokens, found) == 1.0
    found[0, 1, 4] = 1
    assert rule_error(tokens, found) == 0.5
    assert rule_error(tokens[:, :1], found[:, :1]) == 0.0


def test_the_cosine_ends_near_zero() -> None:
    recipe = RECIPES["windows"]
    assert recipe.rate(0) == recipe.learning_rate
    assert recipe.rate(recipe.steps - 1) < recipe.learning_rate / 1000
    assert RECIPES["paper"].rate(19_999) == 1e-3


@pytest.mark.parametrize("change", [{"seed": -1}, {"context": 1}, {"hidden": 0}])
def test_sizes_that_no_run_has_are_refused(change: dict[str, int]) -> None:
    with pytest.raises(UsageError, match=f"training needs {next(iter(change))} of at least"):
        replace(plan(), **change)


def test_another_run_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.safetensors"
    path.write_bytes(training_bytes(finished(Training(plan()))))
    with pytest.raises(CheckpointError, match="it must be of the run"):
        restored_training(path, plan(seed=9))
    path.write_bytes(model_bytes(shipped("paper").model))
    with pytest.raises(CheckpointError, match="must be the state of a training run"):
        restored_training(path, plan())
    whole = training_bytes(finished(Training(plan())))
    path.write_bytes(whole[:-100])
    with pytest.raises(WeightsError, match="must be one whole safetensors file"):
        restored_training(path, plan())


@pytest.mark.parametrize("name", NAMES)
def test_shipped_checkpoints_say_how_they_were_made(name: str) -> None:
    found = shipped(name)
    assert found.plan is not None
    assert found.plan.recipe == RECIPES[name]
    assert found.history[-1].step == RECIPES[name].steps
    assert found.history[-1].rule_error < 0.01
    assert found.model.parameters == 250


def test_checkpoints_are_read_as_they_were_written(tmp_path: Path) -> None:
    run = finished(Training(plan()))
    path = tmp_path / "model.safetensors"
    path.write_bytes(model_bytes(run.model(), run))
    found = read_checkpoint(path)
    assert same(found.model, run.model())
    assert found.plan == run.plan
    assert list(found.history) == run.history
