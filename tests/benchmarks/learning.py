"""What a training step costs at Table 5's sizes: by tables, on the dense stream, of the target.

    python tests/benchmarks/learning.py

All take the same strings of balancing, forward, backward and AdamW, loss at the answer, one thread:

    tables   what `certiformer train` does, from the batch as numpy has it
    dense    the m-wide module as written down: R_V of every head multiplied
    target   a plain transformer of the same H, L, d in PyTorch on one-hot tokens, heads batched

Tables and dense must come to the same loss; the target is another model and has its own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parent))
from run import best, peak_megabytes, say

from constructions.learning import dense
from constructions.learning.defaults import plan
from constructions.learning.definitions import Tensors, initial
from constructions.learning.evaluation import Evaluator
from constructions.learning.kinds import Components, Family
from constructions.learning.tasks import Examples
from constructions.learning.training import Plan
from constructions.optimisation import source

BATCH = 256
GOALS = {Family.sparse: 200, Family.random: 100}
Step = Callable[[], float]


def trained_step(parameters: Tensors, names: tuple[str, ...], loss: Callable[[], Any]) -> Step:
    """A step of AdamW on the named parameters; it returns the loss before it."""
    for name in names:
        parameters[name].requires_grad_()
    optimizer = torch.optim.AdamW([parameters[name] for name in names], lr=1e-3, fused=True)

    def step() -> float:
        optimizer.zero_grad()
        found = loss()
        found.backward()
        optimizer.step()
        return float(found.detach())

    return step


def through_tables(asked: Plan, examples: Examples) -> Step:
    """What training does."""
    evaluator = Evaluator.of(asked.model, asked.task, initial(asked.model, asked.seed))
    names = asked.model.trains
    return trained_step(evaluator.parameters, names, lambda: evaluator.loss(examples, True))


def on_the_stream(asked: Plan, examples: Examples) -> Step:
    """The m-wide module; the tree's masks as matrices, like any other value map."""
    parameters = initial(asked.model, asked.seed)
    if asked.model.family is Family.sparse:
        parameters["R_V"] = torch.diag_embed(parameters["R_V"])
    return trained_step(
        parameters,
        asked.model.trains,
        lambda: answered(dense.logits(asked.model, parameters, tensor(examples.inputs)), examples),
    )


def of_the_target(asked: Plan, examples: Examples) -> Step:
    """A plain transformer of the class that is simulated."""
    model, random = asked.model, torch.Generator().manual_seed(0)
    heads, width, tokens = model.heads, model.head_width, model.vocabulary
    parameters = {
        f"{name}{layer}": torch.empty(shape).normal_(0, 0.3, generator=random)
        for layer in range(model.layers)
        for name, shape in {
            "Q": (tokens, heads * width),
            "K": (tokens, heads * width),
            "V": (tokens, heads * width),
            "O": (heads * width, tokens),
        }.items()
    }
    length = examples.inputs.shape[1]
    later = torch.ones(length, length, dtype=torch.bool).triu(1)

    def loss() -> Any:
        stream = torch.nn.functional.one_hot(tensor(examples.inputs), tokens).float()
        for layer in range(model.layers):
            queries, keys, values = (
                (stream @ parameters[f"{name}{layer}"]).unflatten(2, (heads, width)).transpose(1, 2)
                for name in "QKV"
            )
            scores = (queries @ keys.transpose(2, 3)).masked_fill(later, -torch.inf)
            moved = (scores.softmax(3) @ values).transpose(1, 2).flatten(2)
            stream = moved @ parameters[f"O{layer}"]
        return answered(stream, examples)

    return trained_step(parameters, tuple(parameters), loss)


def answered(logits: Any, examples: Examples) -> Any:
    """The cross entropy at the answer of logits (B, n, V)."""
    rows = torch.arange(len(logits))
    asked = examples.asked
    assert asked is not None
    targets = examples.targets[np.arange(len(asked)), asked]
    return torch.nn.functional.cross_entropy(logits[rows, tensor(asked)], tensor(targets))


def tensor(array: Any) -> Any:
    """An array for PyTorch."""
    return torch.as_tensor(np.ascontiguousarray(array))


def main() -> None:
    """A line for each family."""
    torch.set_num_threads(1)
    say(f"a training step at Table 5's sizes (m = 1024, H = 4, L = 2, d = 24), batch {BATCH}")
    examples = plan("dyck").task.examples(source(0, "bench", 0), BATCH)
    plain = best(of_the_target(plan("dyck"), examples), 10)
    say(f"  target transformer, plain: {1e3 * plain:.1f} ms")
    for family, goal in GOALS.items():
        asked = plan("dyck", family=family)
        thin, wide = through_tables(asked, examples), on_the_stream(asked, examples)
        if abs(thin() - wide()) > 1e-4:
            raise SystemExit(f"{family}: tables and dense stream give different losses")
        ours, slow = best(thin, 20), best(wide, 1)
        say(
            f"  {family}: tables {1e3 * ours:.1f} ms, dense {slow:.2f} s: {slow / ours:.0f} times "
            f"faster (goal {goal}); {ours / plain:.2f} times the target's (goal 3)"
        )
    normed = plan("dyck", family=Family.random, components=Components.norm)
    ours = best(through_tables(normed, examples), 10)
    say(
        f"  random with residual paths and norms, through tables: {1e3 * ours:.1f} ms; peak memory "
        f"so far {peak_megabytes():.0f} MB"
    )


if __name__ == "__main__":
    main()
