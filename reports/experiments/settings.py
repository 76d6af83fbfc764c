"""What a run's setting is in words, and where it differs from what the paper states."""

from __future__ import annotations

from collections.abc import Iterator

from constructions.learning.definitions import Architecture
from constructions.learning.paper import BALANCING, HOPPING, stated
from constructions.learning.tasks import Dyck, Hops
from constructions.learning.training import Plan, Recipe

DEFAULT_BETA = 0.999
"""PyTorch's own."""


def task_words(task: Dyck | Hops) -> str:
    """The task and the length of its strings."""
    if isinstance(task, Dyck):
        return f"parenthesis balancing, at most {2 * task.pairs} parentheses"
    return f"{task.hops}-hop induction head, {task.length} characters"


def size_words(model: Architecture) -> str:
    """The model's sizes."""
    return f"H = {model.heads}, L = {model.layers}, d = {model.head_width}, {width_words(model)}"


def width_words(model: Architecture) -> str:
    """The embedding dimension, and which of the paper's two it is."""
    names = {model.heads * model.head_width: " = Hd", model.size.probe_width: " = m\u0304"}
    return f"m{names.get(model.width, '')} = {model.width:,}"


def loss_words(plan: Plan) -> str:
    """Where the loss was taken."""
    return "loss at the answer alone" if plan.recipe.answer_only else "loss at all places"


def recipe_words(plan: Plan) -> dict[str, str]:
    """What else a setting is made of, by name."""
    recipe = plan.recipe
    return {
        "loss": loss_words(plan),
        "steps": f"{recipe.steps:,} steps",
        "batch": f"batch {recipe.batch:,}",
        "rate": f"learning rate {recipe.learning_rate:g}",
        "warmup": f"{recipe.warmup:,} warm-up steps",
        "decay": _decay_words(recipe),
        "arithmetic": "bfloat16" if plan.mixed else "float32",
        "device": plan.device,
    }


def _decay_words(recipe: Recipe) -> str:
    """How the rate falls, and what moments remember."""
    beta = "" if recipe.second_beta == DEFAULT_BETA else f", second beta {recipe.second_beta:g}"
    if not recipe.cosine:
        return f"constant rate{beta}"
    return f"cosine decay{f' after {recipe.hold:,} more' if recipe.hold else ''}{beta}"


def has_stated_sizes(plan: Plan) -> bool:
    """Whether strings and model are as large as the paper states, and m the least for the tree."""
    return not list(_of_strings(plan.task)) and not list(_of_sizes(plan))


def differences(plan: Plan) -> tuple[str, ...]:
    """Where a setting differs from the paper's, or fills in what the paper leaves open."""
    return (*_of_strings(plan.task), *_of_sizes(plan), *_of_open(plan), *_of_recipe(plan))


def _of_strings(task: Dyck | Hops) -> Iterator[str]:
    if isinstance(task, Dyck):
        if task.pairs != BALANCING.pairs:
            yield f"at most {2 * task.pairs} parentheses (paper {2 * BALANCING.pairs})"
    elif task.length != (length := HOPPING[0].length):
        yield f"{task.length} characters (paper {length})"


def _of_sizes(plan: Plan) -> Iterator[str]:
    model, paper = plan.model, stated(plan.task)
    sizes = {
        "H": (model.heads, paper.heads),
        "L": (model.layers, paper.layers),
        "d": (model.head_width, paper.head_width),
    }
    for name, (ours, theirs) in sizes.items():
        if theirs is not None and ours != theirs:
            yield f"{name} = {ours} (paper {theirs})"
    if model.width != model.size.probe_width:
        yield f"m = {model.width:,} (paper m\u0304, here {model.size.probe_width:,})"


def _of_open(plan: Plan) -> Iterator[str]:
    model, paper = plan.model, stated(plan.task)
    if paper.layers is None and paper.head_width is None:
        yield f"L = {model.layers} and d = {model.head_width} are ours (paper states neither)"


def _of_recipe(plan: Plan) -> Iterator[str]:
    recipe, paper = plan.recipe, stated(plan.task)
    if recipe.answer_only:
        yield "loss at the answer alone (paper at all places)"
    if paper.steps is None:
        yield f"{recipe.steps:,} steps (paper states none)"
    elif recipe.steps != paper.steps:
        yield f"{recipe.steps:,} steps (paper {paper.steps:,})"
    if recipe.batch != paper.batch:
        yield f"batch {recipe.batch:,} (paper {paper.batch:,})"
    if recipe.learning_rate != paper.learning_rate:
        yield f"learning rate {recipe.learning_rate:g} (paper {paper.learning_rate:g})"
    if recipe.warmup != paper.warmup:
        yield f"{recipe.warmup:,} warm-up steps (paper {paper.warmup:,})"
    if recipe.cosine:
        held = f" after {recipe.warmup + recipe.hold:,} steps" if recipe.hold else ""
        yield f"learning rate falls as a cosine{held} (paper states no decay)"
    if recipe.second_beta != DEFAULT_BETA:
        yield f"second beta {recipe.second_beta:g} (paper states none; usual {DEFAULT_BETA:g})"
    if plan.mixed:
        yield "computed in bfloat16 (paper does not say)"
