"""Runs go on exactly where they stopped, files say what they are of, and bad ones are refused."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from constructions.learning.defaults import depth, plan
from constructions.learning.definitions import Architecture, initial, shapes
from constructions.learning.files import (
    SavedRun,
    model_bytes,
    read_model,
    read_run,
    restored_training,
    run_bytes,
    training_bytes,
)
from constructions.learning.kinds import Components, Family
from constructions.learning.tasks import Dyck, Hops
from constructions.learning.training import Plan, Recipe, Training
from constructions.universal.tree import tree
from verify.errors import CheckpointError, UsageError, WeightsError

torch = pytest.importorskip("torch")
TOY = {"heads": 2, "layers": 2, "head_width": 2, "batch": 8}


def toy(
    task: str = "dyck",
    family: Family = Family.sparse,
    components: Components = Components.attention,
    **changes: Any,
) -> Plan:
    sizes = {"pairs": 4} if task == "dyck" else {"length": 12}
    return plan(
        task,
        family=family,
        components=components,
        seed=3,
        changes={**TOY, "steps": 30, **sizes, **changes},
    )


def finished(run: Training) -> Training:
    for _ in run.advance():
        pass
    return run


@pytest.mark.parametrize("components", Components)
@pytest.mark.parametrize("family", Family)
def test_a_stopped_run_ends_bit_for_bit_as_an_uninterrupted_one(
    family: Family, components: Components, tmp_path: Path
) -> None:
    asked = toy(family=family, components=components)
    whole, part = finished(Training(asked)), Training(asked)
    list(islice(part.advance(), 17))
    path = tmp_path / "state.safetensors"
    path.write_bytes(training_bytes(part))
    later = finished(restored_training(path, asked))
    assert whole.history == later.history
    assert model_bytes(whole) == model_bytes(later)


def test_a_run_that_goes_on_in_another_block_of_batches_is_the_same(tmp_path: Path) -> None:
    asked = toy("hops", steps=140)
    whole, part = finished(Training(asked)), Training(asked)
    list(islice(part.advance(), 129))
    path = tmp_path / "state.safetensors"
    path.write_bytes(training_bytes(part))
    assert model_bytes(whole) == model_bytes(finished(restored_training(path, asked)))


def test_only_e_and_u_are_trained_but_in_the_trained_family() -> None:
    for family in Family:
        run = finished(Training(toy(family=family, components=Components.mlp_norm)))
        begun = initial(run.plan.model, run.plan.seed)
        for name, part in run.evaluator.parameters.items():
            changed = not torch.equal(part.detach(), begun[name])
            assert changed == (name in ("E", "U") or family is Family.trained), name


def test_the_sparse_parameters_are_the_trees() -> None:
    model = toy().model
    found, exact = initial(model, 0), tree(model.size, model.width)
    for layer, head in np.ndindex(model.layers, model.heads):
        for name, maps in (("R_Q", exact.queries), ("R_K", exact.keys)):
            rows, denominator = maps[layer][head].dense().integers()
            assert denominator == 1
            assert np.array_equal(found[name][layer, head].numpy(), np.array(rows))
        rows, _ = exact.values[layer][head].dense().integers()
        assert np.array_equal(np.diag(found["R_V"][layer, head].numpy()), np.array(rows))


def test_initial_values_have_the_stated_laws() -> None:
    model = plan("dyck", family=Family.random).model
    found = initial(model, 5)
    bound = model.width**-0.5
    assert float(found["R_V"].abs().max()) <= bound
    assert float(found["R_V"].std()) == pytest.approx(bound / 3**0.5, rel=0.01)
    assert float(found["E"].std()) == pytest.approx(0.02, rel=0.05)
    assert all(torch.equal(found[name], initial(model, 5)[name]) for name in found)
    assert not torch.equal(found["R_Q"], initial(model, 6)["R_Q"])


def test_the_papers_sizes() -> None:
    model = plan("dyck").model
    assert (model.heads, model.layers, model.head_width, model.width) == (4, 2, 24, 1024)
    assert [depth(k) for k in range(6)] == [2, 2, 3, 3, 4, 4]
    widths = [plan("hops", changes={"hops": k}).model.width for k in (1, 2, 3, 4)]
    assert widths == [408, 912, 912, 1920]
    steps = [plan("hops", changes={"hops": k}).recipe.steps for k in (1, 2, 3, 4)]
    assert steps == [10_000, 15_000, 60_000, 60_000]


def test_the_rate_rises_and_falls() -> None:
    recipe = Recipe(steps=100, batch=1, learning_rate=0.5, warmup=10)
    assert [recipe.rate(step) for step in (0, 4, 9, 10, 99)] == [0.05, 0.25, 0.5, 0.5, 0.5]
    falling = replace(recipe, cosine=True)
    assert falling.rate(10) == 0.5
    assert falling.rate(55) == pytest.approx(0.25)
    assert falling.rate(99) < 0.001


@pytest.mark.parametrize("everywhere", [False, True])
def test_the_loss_is_taken_where_it_is_asked(everywhere: bool) -> None:
    run = Training(toy(answer_only=not everywhere))
    examples = run.plan.task.examples(np.random.default_rng(0), 6)
    logits = run.evaluator.reader()(torch.as_tensor(examples.inputs), None).detach()
    targets = torch.as_tensor(examples.targets)
    rows = range(6)
    if everywhere:
        wanted = [torch.nn.functional.cross_entropy(logits[row].T, targets[row]) for row in rows]
    else:
        assert examples.asked is not None
        places = examples.asked
        wanted = [
            torch.nn.functional.cross_entropy(
                logits[row, :, places[row]], targets[row, places[row]]
            )
            for row in rows
        ]
    found = run.evaluator.loss(examples, answer_only=not everywhere).detach()
    assert float(found) == pytest.approx(float(torch.stack(wanted).mean()), rel=1e-5)


@pytest.mark.parametrize("components", Components)
@pytest.mark.parametrize("family", Family)
def test_mixed_precision_computes_nearly_the_same(family: Family, components: Components) -> None:
    run = Training(toy("hops", family=family, components=components))
    examples = run.plan.task.examples(np.random.default_rng(0), 8)
    weight = run.evaluator.parameters["E"]
    found = list[Any]()
    for mixed in (False, True):
        weight.grad = None
        run.evaluator.loss(examples, answer_only=False, mixed=mixed).backward()
        found.append(weight.grad.clone())
    exact, rounded = found
    assert 0 < float((exact - rounded).norm()) < 0.05 * float(exact.norm())


@pytest.mark.parametrize(
    ("task", "answer_only"), [("dyck", False), ("dyck", True), ("hops", False)]
)
def test_scores_count_the_answers_alone(task: str, answer_only: bool) -> None:
    run = finished(Training(toy(task, steps=5, answer_only=answer_only)))
    examples = run.plan.task.examples(np.random.default_rng(1), 300)
    tops = run.evaluator.reader()(torch.as_tensor(examples.inputs), None).argmax(1).numpy()
    if examples.asked is None:
        hits = (tops == examples.targets)[:, 1:]
    else:
        hits = np.take_along_axis(tops == examples.targets, examples.asked[:, None], 1)
    scored = run.evaluator.score(examples, answer_only)
    assert (scored.right, scored.asked) == (hits.sum(), hits.size)


def test_the_loss_goes_down_and_balancing_is_learnt() -> None:
    run = finished(Training(toy(steps=600, batch=64, learning_rate=1e-2)))
    assert run.history[-1].loss < run.history[0].loss / 2
    assert run.history[-1].accuracy > 0.9
    assert run.history[-1].asked == 4000


def test_saved_runs_are_read_as_they_were_written(tmp_path: Path) -> None:
    run = finished(Training(toy("hops")))
    saved = SavedRun(
        plan=run.plan, history=tuple(run.history), seconds=1.5, versions={"torch": "2"}
    )
    path = tmp_path / "run.json"
    path.write_bytes(run_bytes(saved))
    assert read_run(path) == saved
    assert saved.done
    model = tmp_path / "model.safetensors"
    model.write_bytes(model_bytes(run))
    found = read_model(model)
    assert found.plan == run.plan
    assert {name: part.shape for name, part in found.parameters.items()} == {
        name: shapes(run.plan.model)[name] for name in ("E", "U")
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"schema": "certiformer/learning-run/2"}',
        '{"schema": "certiformer/learning-run/1", "plan": []}',
        '{"schema": "certiformer/learning-run/1", "plan": {"task": {"kind": "x"}}}',
        "[" * 100_000,
    ],
)
def test_files_that_are_no_saved_runs_are_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(text)
    with pytest.raises(
        CheckpointError, match=r"run\.json: must be the run\.json of a training run"
    ):
        read_run(path)


@pytest.mark.parametrize("change", [[7, 0.5, 9, 8], [7, 0.5, 1, 0], [-1, 0.5, 1, 2], [7, 0.5, 1]])
def test_impossible_scores_are_refused(change: list[float], tmp_path: Path) -> None:
    run = finished(Training(toy(steps=2)))
    saved = SavedRun(plan=run.plan, history=tuple(run.history), seconds=1, versions={})
    data = json.loads(run_bytes(saved))
    data["history"][-1] = change
    path = tmp_path / "run.json"
    path.write_text(json.dumps(data))
    with pytest.raises(CheckpointError, match="must be the run"):
        read_run(path)


def test_another_run_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.safetensors"
    run = finished(Training(toy()))
    path.write_bytes(training_bytes(run))
    with pytest.raises(CheckpointError, match="it must be of the run"):
        restored_training(path, replace(toy(), seed=9))
    path.write_bytes(model_bytes(run))
    with pytest.raises(CheckpointError, match="must be the state of a training run"):
        restored_training(path, toy())
    with pytest.raises(WeightsError, match="must be a model that"):
        path.write_bytes(training_bytes(run))
        read_model(path)
    path.write_bytes(training_bytes(run)[:-100])
    with pytest.raises(WeightsError, match="must be one whole safetensors file"):
        restored_training(path, toy())


def test_a_model_in_another_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    whole = model_bytes(finished(Training(toy(steps=1))))
    path.write_bytes(whole.replace(b'"F32"', b'"I32"'))
    with pytest.raises(WeightsError, match=r"must hold float32 tensors \(F32\), got I32"):
        read_model(path)


SIZES: dict[str, Any] = {"heads": 2, "layers": 2, "head_width": 2, "vocabulary": 4, "width": 64}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"heads": 0}, "a model needs heads of at least 1, got 0"),
        ({"vocabulary": 1}, "a model needs vocabulary of at least 2, got 1"),
        ({"width": 39}, "needs m of at least 40, got 39; raise m or choose smaller sizes"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(change: dict[str, int], text: str) -> None:
    with pytest.raises(UsageError, match=text):
        Architecture(family=Family.sparse, components=Components.attention, **{**SIZES, **change})


@pytest.mark.parametrize(
    ("task", "change", "text"),
    [
        ("dyck", {"length": 9}, "dyck takes no length"),
        ("hops", {"pairs": 9}, "hops takes no pairs"),
        ("hops", {"answer_only": True}, "loss at the answer alone is for balancing"),
        ("hops", {"hops": 17}, "must be from 0 to 16, got 17"),
        ("hops", {"length": 2}, "need a length of at least 3"),
        ("dyck", {"pairs": 0}, "at least 1 pair"),
        ("dyck", {"steps": 0}, "training needs steps of at least 1, got 0"),
        ("dyck", {"batch": 0}, "training needs batch of at least 1, got 0"),
        ("dyck", {"learning_rate": 0.0}, "a learning rate between 0 and 1, got 0"),
        ("dyck", {"heads": 0}, "a model needs heads of at least 1"),
    ],
)
def test_plans_that_do_not_fit_are_refused(task: str, change: dict[str, Any], text: str) -> None:
    with pytest.raises(UsageError, match=text):
        plan(task, changes=change)


def test_a_model_of_another_task_is_refused() -> None:
    asked = toy()
    with pytest.raises(UsageError, match="1-hop has 30 tokens, got a model for 4"):
        replace(asked, task=Hops(hops=1), recipe=replace(asked.recipe, answer_only=False))
    assert replace(asked, task=Dyck(pairs=2)).task.name == "dyck"
