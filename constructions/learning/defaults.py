"""The runs of the paper's tables: its numbers where it states them, ours where it does not.

                 balancing (Table 5)               k hops (Table 6)
    H, L, d      4, 2, 24                          2, depth(k), 24: L and d are ours
    m            least for the tree: 1,024         least for the tree: 408, 912, 912, 1,920
    steps        10,000                            10,000, 15,000, 60,000, 60,000
    batch        256 (the paper: 1,000)            32 (the paper: 128)
    rate         2e-3 after 50 steps (1e-3)        1e-4 after 1,000 steps
    decay        cosine in the last 30 % of steps  none
    second beta  0.95                              0.999
    loss         at the answer (H.1: everywhere)   everywhere

The paper states neither decay nor betas. At its rate of 1e-3 and PyTorch's betas a sparse model
still misses 3 of the 4,000 held-out strings (the run ships): to tell one parenthesis in 60 takes
large logits, which entries of E reach late if a step moves them by at most the rate. At larger
rates the loss jumps where a rare string meets small second moments; with a second beta of 0.95 it
jumps less.

depth(k) = 2 + floor(log2 k): so many layers are enough for k hops where a layer can look at the
token before (Sanford, Hsu and Telgarsky, whom the paper refers to).

Source: Fixed Universal Transformers, Section 5.1, Tables 5 and 6.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from constructions.learning.definitions import Architecture
from constructions.learning.kinds import Components, Family
from constructions.learning.paper import stated
from constructions.learning.tasks import Dyck, Hops
from constructions.learning.training import Plan, Recipe
from constructions.universal.definitions import TransformerSize
from verify.errors import UsageError

HEAD_WIDTH = 24
LONGEST = 60_000
"""Steps for numbers of hops of which the paper says none."""
SIZES = ("heads", "layers", "head_width", "width")
RECIPE = tuple(field.name for field in fields(Recipe))
OF_TASK = {"dyck": ("pairs",), "hops": ("hops", "length")}


def depth(hops: int) -> int:
    """Layers for k hops: 2 + floor(log2 k)."""
    return 1 + max(hops, 1).bit_length()


def plan(
    task: str,
    *,
    family: Family = Family.sparse,
    components: Components = Components.attention,
    seed: int = 0,
    changes: Mapping[str, Any] | None = None,
) -> Plan:
    """The paper's run of a task, `dyck` or `hops`, but for what `changes` names.

    Raises:
        UsageError: a change of another task, or one that does not fit.
    """
    asked = dict(changes or {})
    known = (*SIZES, *RECIPE, *OF_TASK[task])
    if unknown := sorted(asked.keys() - set(known)):
        raise UsageError(
            f"{task} takes no {', '.join(unknown)}; it takes {', '.join(sorted(known))}"
        )
    chosen = {name: asked[name] for name in OF_TASK[task] if name in asked}
    found = Dyck(**chosen) if task == "dyck" else Hops(**{"hops": 1, **chosen})
    return Plan(
        task=found,
        model=Architecture(
            family=family,
            components=components,
            vocabulary=found.vocabulary,
            **_sizes(found, {name: asked[name] for name in SIZES if name in asked}),
        ),
        recipe=_recipe(found, {name: asked[name] for name in RECIPE if name in asked}),
        seed=seed,
    )


def _recipe(task: Dyck | Hops, asked: Mapping[str, Any]) -> Recipe:
    paper = stated(task)
    found = Recipe(
        steps=asked.get("steps", paper.steps or LONGEST),
        batch=paper.batch,
        learning_rate=paper.learning_rate,
        warmup=paper.warmup,
    )
    if isinstance(task, Hops):
        return replace(found, **{"batch": 32, **asked})
    ours: dict[str, Any] = {
        "batch": 256,
        "learning_rate": 2e-3,
        "cosine": True,
        "hold": found.steps * 7 // 10,
        "second_beta": 0.95,
        "answer_only": True,
    }
    return replace(found, **{**ours, **asked})


def _sizes(task: Dyck | Hops, asked: Mapping[str, int]) -> dict[str, int]:
    paper = stated(task)
    found = {
        "heads": paper.heads,
        "layers": paper.layers or depth(task.hops if isinstance(task, Hops) else 1),
        "head_width": paper.head_width or HEAD_WIDTH,
        **asked,
    }
    return {"width": _least_width(found, task.vocabulary), **found}


def _least_width(sizes: Mapping[str, int], vocabulary: int) -> int:
    """m-bar of Theorem 3.1; sizes that make none are refused by the architecture."""
    heads, layers, head_width = (sizes[name] for name in ("heads", "layers", "head_width"))
    if min(heads, layers, head_width) < 1:
        return 1
    return TransformerSize(
        heads=heads, layers=layers, head_width=head_width, token_width=vocabulary
    ).probe_width
