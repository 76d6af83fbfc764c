"""Figures 2 to 4: what the model was trained on, how its errors fell, and what it then writes.

Source: Fully Interpretable Minimal Transformers, Figures 2 to 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from constructions.minimal.definitions import VOCABULARY, Model, token_name
from constructions.minimal.task import NONE, Tokens, required, task_sequences
from constructions.minimal.training import IGNORED, Plan
from constructions.optimisation import source
from reports.figures.minimal import cells, drawing, values
from reports.figures.minimal.drawing import BLUE, DARK, ORANGE, Subject
from reports.figures.svg import Figure

SEQUENCES = 12
FREE_CELL, RIGHT_CELL, WRONG_CELL = "#d0d7de", "#9ecbff", "#ffb77c"
"""Where any token may stand, where the required one stands, and where another does."""
LOGARITHMIC_FROM = 100.0
"""Losses that differ by more than this factor are shown on a logarithmic axis."""
LEARNT = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """A table of sequences, (count, length): texts, and in `right` 1, -1 or 0 where any may be."""

    texts: Sequence[Sequence[str]]
    right: Tokens

    @property
    def bound(self) -> int:
        """How many cells have a required token."""
        return int(np.count_nonzero(self.right))

    @property
    def told(self) -> str:
        """How many of those are right."""
        return f"{np.count_nonzero(self.right > 0)} of {self.bound}"


def of_sequences(tokens: Tokens) -> Marked:
    """Sequences whose tokens are right or wrong where the token before them requires one."""
    wanted = required(tokens)[:, :-1]
    right = np.where(wanted == NONE, 0, np.where(tokens[:, 1:] == wanted, 1, -1))
    texts = [[token_name(token) for token in row] for row in tokens.tolist()]
    return Marked(texts=texts, right=np.pad(right, ((0, 0), (1, 0))))


def _of_targets(tokens: Tokens, targets: Tokens) -> Marked:
    """Sequences with the required token beside each `+` that has one."""
    asked = targets != IGNORED
    texts = [
        [
            f"{token_name(token)} → {token_name(target)}" if there else token_name(token)
            for token, target, there in zip(*row, strict=True)
        ]
        for row in zip(tokens.tolist(), targets.tolist(), asked.tolist(), strict=True)
    ]
    return Marked(texts=texts, right=asked.astype(np.int64))


def training_sequences(subject: Subject) -> Figure:
    """Figure 2: sequences as in training; the first batch, if the plan is known."""
    plan, context = subject.checkpoint.plan, subject.positions
    random = source(plan.seed if plan else 0, "train", 0)
    if plan is not None and plan.recipe.rule_only:
        table = _of_targets(*plan.recipe.batch_of(random, SEQUENCES, context))
        told = "Any token at any place; the loss is taken at a + with its required token (+ → 4)."
        words = "+ with the token that the loss asks for"
    else:
        table = of_sequences(task_sequences(random, SEQUENCES, context + 1))
        told = "Sequences of the paper's task: behind a + comes the even number that stood last."
        words = "the required token, behind a +"
    figure, (axes,) = drawing.page(7.2, 5.0, [(0.6, 0.3, 6.3, 3.8)])
    _draw_table(axes, table)
    drawing.title(axes, "training sequences")
    _legend(figure, {RIGHT_CELL: words, FREE_CELL: "any token may stand here"})
    seen = f"Blue: {words}, in {table.bound} of {table.right.size} cells. Gray: any token."
    return subject.figure("02", told, seen, figure)


def _draw_table(axes: Any, table: Marked) -> None:
    colours = [WRONG_CELL, FREE_CELL, RIGHT_CELL]
    cells.paint(axes, table.right + 1, colours)
    rows, columns = table.right.shape
    axes.hlines(range(rows + 1), 0, columns, color="#ffffff", linewidth=1.2)
    axes.vlines(range(columns + 1), 0, rows, color="#ffffff", linewidth=1.2)
    for row, texts in enumerate(table.texts):
        for column, text in enumerate(texts):
            cells.write(axes, (column + 0.5, row + 0.5), text, DARK, 9)
    for row, column in np.argwhere(table.right < 0):  # colour alone is not for everyone
        axes.plot(column + 0.85, row + 0.5, "x", color=DARK, markersize=5, markeredgewidth=1.2)
    axes.set_xticks(np.arange(columns) + 0.5, map(str, range(columns)))
    axes.set_yticks(np.arange(rows) + 0.5, map(str, range(1, rows + 1)))
    axes.set_xlabel("position", fontsize=9)
    axes.set_ylabel("sequence", fontsize=9)


def _legend(figure: Any, words: dict[str, str]) -> None:
    drawing.legend(figure, [drawing.patch(*item) for item in words.items()], 0.08)


def curves(subject: Subject) -> Figure | None:
    """Figure 3: loss and rule error along the training; None if the file does not tell."""
    history = subject.checkpoint.history
    if subject.checkpoint.plan is None or not history:
        return None
    steps = [point.step for point in history]
    losses, errors = [p.loss for p in history], [100 * p.rule_error for p in history]
    box = (0.8, 0.35, 6.0, 3.3)
    figure, (left, right) = drawing.page(7.8, 4.6, [box, box])
    left.plot(steps, losses, color=BLUE, linewidth=1.3, label="cross-entropy loss")
    right.plot(steps, errors, color=ORANGE, linewidth=1.3, linestyle="--", label="rule error")
    if max(losses) > LOGARITHMIC_FROM * min(losses) > 0:
        left.set_yscale("log")
    right.spines[["left", "bottom"]].set_visible(False)
    right.spines["right"].set_visible(True)
    right.yaxis.tick_right()
    right.yaxis.set_label_position("right")
    right.set(xticks=[], ylim=(-2, 100))
    right.set_ylabel("rule error in %", fontsize=9)
    left.set_xlabel("training step", fontsize=9)
    left.set_ylabel("cross-entropy loss in nats", fontsize=9)
    for axes in (left, right):
        axes.set_xlim(0, steps[-1])
    drawing.legend(figure, [left.lines[0], right.lines[0]], 0.08)
    return subject.figure("03", _recipe(subject.checkpoint.plan), _course(steps, errors), figure)


def _recipe(plan: Plan) -> str:
    recipe = plan.recipe
    return (
        f"Training dynamics over {recipe.steps:,} steps: recipe “{recipe.name}”, batch "
        f"{recipe.batch}, learning rate {recipe.learning_rate:g}, seed {plan.seed}. Left axis: "
        "loss. Right axis: the share of + positions at which the model's top token is not the "
        "required one, on fresh sequences."
    )


def _course(steps: Sequence[int], errors: Sequence[float]) -> str:
    low = next((step for step, error in zip(steps, errors, strict=True) if error < 100 * LEARNT), 0)
    fell = f", and is first below {LEARNT:.0%} at step {low:,}" if low else ""
    return f"The rule error begins at {errors[0]:.1f} % and ends at {errors[-1]:.2f} %{fell}."


def generated_sequences(subject: Subject) -> Figure:
    """Figure 4: what the model writes, before training too if its plan is known."""
    parts = {"after training": subject.checkpoint.model}
    plan = subject.checkpoint.plan
    before = _initial(plan)
    if before is not None:
        parts = {"at initialization": before, **parts}
    prompted = plan is not None and plan.recipe.rule_only
    tables = {
        when: of_sequences(generated(model, SEQUENCES, subject.positions + 1, prompted=prompted))
        for when, model in parts.items()
    }
    high = 0.6 + 3.75 * len(tables)
    boxes = drawing.grid(1, len(tables), (0.6, 0.35), (6.3, 3.0), (0, 0.75))
    figure, panels = drawing.page(7.2, high, boxes)
    for axes, (when, table) in zip(panels, tables.items(), strict=True):
        _draw_table(axes, table)
        drawing.title(axes, f"{when}: right in {table.told} cells behind a +")
    words = ("right, behind a +", "wrong, behind a + (crossed)", "any token may stand here")
    colours = (RIGHT_CELL, WRONG_CELL, FREE_CELL)
    _legend(figure, dict(zip(colours, words, strict=True)))
    told = (
        "The model writes the tokens behind a + that has an even number, drawn as it predicts; the "
        "others are random, for it was trained to predict no others."
        if prompted
        else "Sequences that the model writes: a random number, then tokens drawn as it predicts."
    )
    counts = "; ".join(f"{when} {table.told}" for when, table in tables.items())
    return subject.figure(
        "04", told, f"Right behind a + that has an even number: {counts}.", figure
    )


def _initial(plan: Plan | None) -> Model | None:
    """The model that training began with, which is PyTorch's own initialization."""
    if plan is None or find_spec("torch") is None:
        return None
    from constructions.minimal.torch_model import initial, model_of

    return model_of(initial(plan.seed, plan.context, plan.hidden))


def generated(model: Model, count: int, length: int, *, prompted: bool) -> Tokens:
    """Sequences that the model writes behind a random number, (count, length).

    A prompted one writes only where a token is required, in a sequence of the task.
    """
    random = source(0, "generate", 0)
    prompts = task_sequences(random, count, length)
    rows = prompts[:, :1]
    for place in range(1, length):
        logits = np.array([values.stages(model, row.tolist()).logits[-1] for row in rows])
        drawn = [random.choice(VOCABULARY, p=share) for share in values.softmax(logits)]
        free = required(rows)[:, -1] == NONE
        rows = np.column_stack([rows, np.where(prompted & free, prompts[:, place], drawn)])
    return rows
