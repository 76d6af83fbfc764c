"""The runs that ship: whole, of the paper's sizes, and of the settings that the command has now."""

from __future__ import annotations

from dataclasses import replace

import pytest

from constructions.learning.defaults import plan
from constructions.learning.files import SavedRun
from constructions.learning.kinds import Components, Family
from constructions.learning.saved import shipped_runs
from constructions.learning.shipped import shipped
from constructions.learning.tasks import Dyck

pytest.importorskip("torch")
BALANCING = {family: plan("dyck", family=family) for family in (Family.sparse, Family.random)}


def balancing(family: Family) -> list[SavedRun]:
    wanted = BALANCING[family]
    return [run for run in shipped_runs() if replace(run.plan, seed=0) == wanted]


def test_all_shipped_runs_took_all_their_steps() -> None:
    assert shipped_runs()
    assert all(run.done and run.last.asked >= 4_000 for run in shipped_runs())


@pytest.mark.parametrize("family", BALANCING)
def test_the_balancing_row_has_five_seeds_of_the_commands_own_run(family: Family) -> None:
    assert sorted(run.plan.seed for run in balancing(family)) == list(range(5))


def test_sparse_models_miss_one_of_4000_strings_at_most_and_random_ones_few() -> None:
    assert all(run.last.asked - run.last.right <= 1 for run in balancing(Family.sparse))
    assert all(run.last.accuracy > 0.967 for run in balancing(Family.random))


def test_the_papers_rate_leaves_three_strings_as_the_readme_says() -> None:
    wanted = replace(BALANCING[Family.sparse].recipe, learning_rate=1e-3, second_beta=0.999, hold=0)
    (run,) = (run for run in shipped_runs() if run.plan.recipe == wanted)
    assert run.last.asked - run.last.right == 3


def test_loss_everywhere_and_hops_are_there_too() -> None:
    settings = {(run.plan.task.name, run.plan.model.components) for run in shipped_runs()}
    for hops in (1, 2):
        assert (f"{hops}-hop", Components.attention) in settings
    assert ("1-hop", Components.norm) in settings
    everywhere = {
        run.plan.model.family
        for run in shipped_runs()
        if isinstance(run.plan.task, Dyck) and not run.plan.recipe.answer_only
    }
    assert everywhere == {Family.sparse, Family.random}


def test_the_shipped_model_is_that_of_a_shipped_run() -> None:
    kept = shipped("dyck-sparse")
    assert any(run.plan == kept.plan for run in shipped_runs())
