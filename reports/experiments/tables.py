"""Tables 1 and 2 of the first paper: our saved runs beside its numbers.

A table is made of blocks, one for each task; a block's rows are models of the same components and
sizes, trained with the loss at the same places. A cell holds one entry for each further setting.

Source: Fixed Universal Transformers, Section 5.2, Tables 1 and 2.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from constructions.learning import defaults
from constructions.learning.baselines import Baseline
from constructions.learning.kinds import Components, Family
from constructions.learning.paper import (
    BALANCING,
    COMPONENTS,
    FAMILIES,
    PRINTED,
    RANDOM_SEEDS,
    RANGES,
    TASKS,
)
from constructions.learning.tasks import Dyck, Hops
from constructions.learning.training import HELD_OUT, Plan
from reports.experiments.groups import Group
from reports.experiments.intervals import LEVEL
from reports.experiments.settings import (
    differences,
    has_stated_sizes,
    loss_words,
    size_words,
    task_words,
)

NOTHING = "-"
NOT_RUN = "not run"
HOW = (
    f"Share of right answers, mean over seeds, after the last step, with a {LEVEL:.0%} interval: "
    "Student's over seeds, or Wilson's over held-out strings for one seed or seeds that agree "
    f"exactly. The paper averages random models over {RANDOM_SEEDS} seeds and gives no intervals. "
    "Trivial rules are those that do not solve the task."
)
NORMS = "Norms stand before attention and MLP, as in GPT-2; the paper does not say where."


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What one group of runs came to, in words; `unfinished` is empty if all took all steps."""

    accuracy: str
    interval: str
    seeds: str
    training: str
    unfinished: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """Our entries of a family, and the paper's accuracy."""

    family: str
    entries: tuple[Entry, ...]
    paper: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Models of the same components and sizes; `notes` say where all entries differ from the paper.

    `stated` is whether the sizes are the paper's.
    """

    label: str
    sizes: str
    loss: str
    stated: bool
    cells: tuple[Cell, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """The rows of a task, and what trivial rules reach on it."""

    task: str
    rules: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table as page and terminal show it."""

    title: str
    caption: str
    blocks: tuple[Block, ...]


def tables(groups: Sequence[Group]) -> tuple[Table, Table]:
    """Table 1, attention-only on every task, and Table 2, all components."""
    tasks = sorted({group.setting.task for group in groups}, key=_order)
    alone = {g.setting.task for g in groups if g.setting.model.components is Components.attention}
    first = [*TASKS, *(task for task in tasks if task in alone and task not in TASKS)]
    second = [BALANCING, *(task for task in tasks if task != BALANCING)]
    return (
        Table(
            title="Table 1: attention-only models",
            caption=HOW,
            blocks=tuple(_block(task, [Components.attention], groups) for task in first),
        ),
        Table(
            title="Table 2: components beside attention",
            caption=f"{NORMS} As Table 1 otherwise.",
            blocks=tuple(_block(task, list(Components), groups) for task in second),
        ),
    )


def _order(task: Dyck | Hops) -> tuple[int, int, int]:
    """Balancing first, then hops; the paper's lengths before others."""
    if isinstance(task, Dyck):
        return (0, 0, abs(task.pairs - BALANCING.pairs))
    return (1, task.hops, abs(task.length - TASKS[-1].length))


def _block(task: Dyck | Hops, components: Iterable[Components], groups: Sequence[Group]) -> Block:
    rows: list[Row] = []
    for one in components:
        found = [
            group
            for group in groups
            if (group.setting.task, group.setting.model.components) == (task, one)
        ]
        if task in TASKS and not any(has_stated_sizes(group.setting) for group in found):
            rows.append(_empty(task, one))
        keys = {_key(group.setting) for group in found}
        rows += [_row([g for g in found if _key(g.setting) == key]) for key in sorted(keys)]
    return Block(task=task_words(task), rules=_rules(task), rows=tuple(rows))


def _key(plan: Plan) -> tuple[Any, ...]:
    """What rows differ in; the paper's sizes first, then those of the largest models."""
    model = plan.model
    sizes = (-model.width, -model.heads, -model.layers, -model.head_width)
    return (not has_stated_sizes(plan), sizes, plan.recipe.answer_only)


def _empty(task: Dyck | Hops, components: Components) -> Row:
    """The row of the paper's sizes where there is no run."""
    kind = "dyck" if isinstance(task, Dyck) else "hops"
    changes = {} if isinstance(task, Dyck) else {"hops": task.hops}
    plan = defaults.plan(kind, components=components, changes=changes)
    return _shown(plan, loss="", cells={family: () for family in FAMILIES}, notes=())


def _row(groups: Sequence[Group]) -> Row:
    every = [differences(group.setting) for group in groups]
    common = tuple(note for note in every[0] if all(note in notes for notes in every))
    cells = {
        family: tuple(
            _entry(group, common)
            for group in sorted(groups, key=_longest_first)
            if group.setting.model.family is family
        )
        for family in FAMILIES
    }
    plan = groups[0].setting
    return _shown(plan, loss=loss_words(plan), cells=cells, notes=common)


def _longest_first(group: Group) -> tuple[Any, ...]:
    recipe = group.setting.recipe
    return (group.counted == group.unfinished, -recipe.steps, -recipe.batch, recipe.learning_rate)


def _shown(
    plan: Plan, *, loss: str, cells: dict[Family, tuple[Entry, ...]], notes: tuple[str, ...]
) -> Row:
    components, comparable = plan.model.components, has_stated_sizes(plan)
    return Row(
        label=COMPONENTS[components],
        sizes=size_words(plan.model),
        loss=loss,
        stated=comparable,
        cells=tuple(
            Cell(
                family=FAMILIES[family],
                entries=entries,
                paper=_paper(plan.task, components, family) if comparable else NOTHING,
            )
            for family, entries in cells.items()
        ),
        notes=notes,
    )


def _paper(task: Dyck | Hops, components: Components, family: Family) -> str:
    """The paper's accuracy as it prints it."""
    printed = PRINTED.get((task, components, family))
    if printed is None:
        return NOTHING
    least, greatest = (f"{float(share):.1%}" for share in (printed.least, printed.greatest))
    words = greatest if least == greatest else f"{least} to {greatest}"
    return f"{words} (text, all hops together)" if printed in RANGES.values() else words


def _entry(group: Group, common: Sequence[str]) -> Entry:
    interval, counted = group.interval, group.counted
    least, greatest = percent(min(group.shares)), percent(max(group.shares))
    devices = " and ".join(sorted({run.versions.get("device", "?") for run in counted}))
    recipe = group.setting.recipe
    return Entry(
        accuracy=percent(group.mean),
        interval=f"{LEVEL:.0%} interval {percent(interval.low)} to {percent(interval.high)} over "
        f"{interval.over}",
        seeds="1 seed" if len(counted) == 1 else f"{len(counted)} seeds, {least} to {greatest}",
        training=f"{recipe.steps:,} steps of {recipe.batch:,} strings, {group.seconds:,.0f} s on "
        f"{devices}",
        unfinished=_unfinished(group),
        notes=tuple(note for note in differences(group.setting) if note not in common),
    )


def _unfinished(group: Group) -> str:
    if not group.unfinished:
        return ""
    told = ", ".join(f"seed {run.plan.seed} at {run.last.step:,}" for run in group.unfinished)
    left_out = "" if group.counted == group.runs else ", left out here"
    return f"unfinished: {told} of {group.setting.recipe.steps:,} steps{left_out}"


def percent(share: float | Fraction) -> str:
    """A share in percent; what is not all is never rounded to all."""
    words = f"{float(share):.2%}"
    return ">99.99%" if words == "100.00%" and share < 1 else words


@cache
def baselines(task: Dyck | Hops) -> tuple[Baseline, ...]:
    """What trivial rules reach on as many strings as runs are scored on."""
    return task.baselines(0, HELD_OUT)


def _rules(task: Dyck | Hops) -> str:
    return ", ".join(f"{rule.name} {float(rule.share):.1%}" for rule in baselines(task))
