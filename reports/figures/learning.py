"""Learning curves of saved runs: accuracy against steps, mean over seeds with a band.

    learning-TASK-COMPONENTS    all settings of a task and components
    learning-width-TASK         Figure 2: settings of two hops that differ in m alone

Source: Fixed Universal Transformers, Section 5.2.2, Figure 2.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from constructions.learning.definitions import Architecture
from constructions.learning.kinds import Components, Family
from constructions.learning.paper import COMPONENTS, FAMILIES
from constructions.learning.tasks import Dyck, Hops
from constructions.learning.training import Plan
from reports.experiments.groups import Group
from reports.experiments.settings import recipe_words, task_words, width_words
from reports.experiments.tables import baselines
from reports.figures import svg
from reports.figures.svg import Figure

COLOURS = {Family.sparse: "#d97706", Family.random: "#a855f7", Family.trained: "#3b82f6"}
STYLES = tuple(product(("", "o", "s", "^"), ("-", "--", "-.", ":")))
"""Marker and dashes of a family's curves in a figure, in their order."""
WIDTH_HOPS = 2
BAND = "Lines: mean over seeds; bands: from the least to the greatest seed."


def curves(groups: Sequence[Group]) -> list[Figure]:
    """Figure 2 if there are runs for it, then a figure for each task and components."""
    found = defaultdict[tuple[Dyck | Hops, Components], list[Group]](list)
    for group in groups:
        if len(group.curve) > 1:
            found[group.setting.task, group.setting.model.components].append(group)
    compared = {key: _partners(*key, members) for key, members in found.items()}
    others = {
        key: [group for group in members if _has_tree_width(group) or group not in compared[key]]
        for key, members in found.items()
    }
    return [
        *(_by_width(*key, members) for key, members in compared.items() if members),
        *(_by_setting(*key, members) for key, members in others.items() if members),
    ]


def _partners(task: Dyck | Hops, components: Components, groups: Sequence[Group]) -> list[Group]:
    """The groups that differ in m alone from another one, on two hops."""
    if not isinstance(task, Hops) or task.hops != WIDTH_HOPS:
        return []
    partners = defaultdict[Plan, list[Group]](list)
    for group in groups:
        plan = group.setting
        tree = replace(plan.model, width=plan.model.size.probe_width)
        partners[replace(plan, model=tree)].append(group)
    return [group for members in partners.values() if len(members) > 1 for group in members]


def _has_tree_width(group: Group) -> bool:
    return group.setting.model.width == group.setting.model.size.probe_width


def _by_width(task: Dyck | Hops, components: Components, groups: Sequence[Group]) -> Figure:
    words = (
        f"Figure 2: accuracy while training on {task_words(task)}, {COMPONENTS[components]}, for "
        "m\u0304 of Theorem 3.1 and other m, such as Hd. The paper's own curves are a picture. "
    )
    return _drawn("learning-width", task, components, groups, words)


def _by_setting(task: Dyck | Hops, components: Components, groups: Sequence[Group]) -> Figure:
    words = f"Accuracy while training on {task_words(task)}, {COMPONENTS[components]}. "
    return _drawn("learning", task, components, groups, words)


def _drawn(
    kind: str, task: Dyck | Hops, components: Components, groups: Sequence[Group], words: str
) -> Figure:
    figure, axes = svg.canvas(7.6, 3.4)
    for group, label, (marker, dashes) in styled(groups):
        _draw(axes, group, label, marker, dashes)
    best = max(baselines(task), key=lambda rule: rule.share)
    axes.axhline(
        100 * float(best.share),
        color=svg.INK,
        linestyle=(0, (1, 3)),
        linewidth=1.0,
        label=f"best trivial rule\n({best.name})",
    )
    axes.set(xlabel="training step", ylabel="right answers in %", xlim=(0, None))
    svg.add_legend(figure)
    size = task.pairs if isinstance(task, Dyck) else task.length
    name = f"{kind}-{task.name}-{size}-{components}"
    caption = f"{words}{BAND} Dotted: the best rule that does not solve the task, {best.name}."
    return Figure(name=name, caption=caption, inline=svg.written(figure, name, caption))


def _draw(axes: Any, group: Group, label: str, marker: str, dashes: str) -> None:
    colour, curve = COLOURS[group.setting.model.family], group.curve
    steps = [point.step for point in curve]
    axes.plot(
        steps,
        [100 * point.mean for point in curve],
        color=colour,
        linestyle=dashes,
        linewidth=1.4,
        marker=marker,
        markersize=4,
        markevery=max(len(curve) // 8, 1),
        label=label,
    )
    if len(group.counted) > 1:
        low, high = ([100 * p.least for p in curve], [100 * p.greatest for p in curve])
        axes.fill_between(steps, low, high, color=colour, alpha=0.2, linewidth=0)


def styled(groups: Iterable[Group]) -> Iterator[tuple[Group, str, tuple[str, str]]]:
    """Each group with its label, which tells it from the others of its family, and its style."""
    order = list(FAMILIES)
    ranked = sorted(
        groups,
        key=lambda group: (order.index(group.setting.model.family), -group.setting.model.width),
    )
    every = [_words(group.setting) for group in ranked]
    telling = _telling([group.setting.model.family for group in ranked], every)
    seen = dict.fromkeys(FAMILIES, 0)
    for group, words in zip(ranked, every, strict=True):
        family = group.setting.model.family
        style = STYLES[seen[family] % len(STYLES)]
        seen[family] += 1
        label = [FAMILIES[family], *(words[name] for name in telling)]
        yield group, ",\n".join(label).replace("$", r"\$"), style  # a file's words are no formula


def _telling(families: Sequence[Family], every: Sequence[dict[str, str]]) -> list[str]:
    """Names of words that together tell groups of one family apart; each adds something."""
    found, kinds = list[str](), len(set(families))
    for name in every[0]:
        parts = zip(families, every, strict=True)
        apart = {(family, *(words[one] for one in (*found, name))) for family, words in parts}
        if len(apart) > kinds:
            found.append(name)
            kinds = len(apart)
    return found


def _words(plan: Plan) -> dict[str, str]:
    return {**_sizes(plan.model), **recipe_words(plan)}


def _sizes(model: Architecture) -> dict[str, str]:
    return {
        "heads": f"H = {model.heads}",
        "layers": f"L = {model.layers}",
        "head width": f"d = {model.head_width}",
        "width": width_words(model),
    }
