"""Training the minimal transformer, step by step; a run goes on exactly where its state stops.

    paper     Table 2: batch 8, AdamW 1e-3, 20,000 steps, loss at every position of the task
    windows   batch 256, 3e-3 with cosine decay, 30,000 steps; any tokens, and loss only where the
              rule says something

What the paper leaves open is AdamW's own: betas 0.9 and 0.999, weight decay 0.01.

Source: Fully Interpretable Minimal Transformers, Tables 1 and 2 and Figure 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from math import cos, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from constructions.minimal.definitions import CONTEXT, HIDDEN, Model, shapes
from constructions.minimal.task import (
    NONE,
    Tokens,
    required,
    task_sequences,
    uniform_sequences,
)
from constructions.minimal.torch_model import initial, logits, model_of
from constructions.optimisation import (
    one_thread,
    require_state,
    restore_moments,
    source,
    state_of,
)
from verify.errors import UsageError

EVALUATION_BATCHES = 50
EVERY = 200
IGNORED = -100


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How a model is trained; `rule_only` takes the loss where the rule speaks, on any tokens."""

    name: str
    steps: int
    batch: int
    learning_rate: float
    cosine: bool = False
    rule_only: bool = False

    def rate(self, step: int) -> float:
        """The learning rate of a step."""
        if not self.cosine:
            return self.learning_rate
        return self.learning_rate * (1 + cos(pi * step / self.steps)) / 2

    def batch_of(
        self, random: np.random.Generator, count: int, context: int
    ) -> tuple[Tokens, Tokens]:
        """Tokens and targets, each of shape (count, context); IGNORED targets have no loss."""
        if self.rule_only:
            tokens = uniform_sequences(random, count, context)
            targets = required(tokens)
            return tokens, np.where(targets == NONE, IGNORED, targets)
        tokens = task_sequences(random, count, context + 1)
        return tokens[:, :-1], tokens[:, 1:]


RECIPES: dict[str, Recipe] = {
    recipe.name: recipe
    for recipe in (
        Recipe(name="paper", steps=20_000, batch=8, learning_rate=1e-3),
        Recipe(
            name="windows",
            steps=30_000,
            batch=256,
            learning_rate=3e-3,
            cosine=True,
            rule_only=True,
        ),
    )
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All that a run depends on.

    Raises:
        UsageError: sizes that are not positive, or a seed that is negative.
    """

    recipe: Recipe
    seed: int = 0
    context: int = CONTEXT
    hidden: int = HIDDEN

    def __post_init__(self) -> None:
        """Check the numbers."""
        least = {"seed": 0, "context": 2, "hidden": 1}
        for name, smallest in least.items():
            if getattr(self, name) < smallest:
                raise UsageError(
                    f"training needs {name} of at least {smallest}, got {getattr(self, name)}; "
                    "choose another"
                )
        if self.recipe.steps < 1:
            raise UsageError(f"training needs at least 1 step, got {self.recipe.steps}")

    def as_json(self) -> dict[str, Any]:
        """The plan as files keep it."""
        return {**asdict(self), "recipe": asdict(self.recipe)}

    @classmethod
    def of_json(cls, data: Mapping[str, Any]) -> Plan:
        """The plan that a file keeps."""
        sizes = {name: int(data[name]) for name in ("seed", "context", "hidden")}
        return cls(recipe=Recipe(**data["recipe"]), **sizes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """One point of the curves: mean loss, and the share of `+` positions whose top token is wrong.

    A tie for the top counts as wrong.
    """

    step: int
    loss: float
    rule_error: float


@dataclass(slots=True)
class Training:
    """A run: `advance` takes steps, `state` and `restore` carry it from one process to another."""

    plan: Plan
    step: int = 0
    history: list[Evaluation] = field(default_factory=list[Evaluation])
    _weights: dict[str, Any] = field(init=False)
    _optimizer: Any = field(init=False)

    def __post_init__(self) -> None:
        """Begin with initial weights."""
        plan = self.plan
        self._start(initial(plan.seed, plan.context, plan.hidden))

    def _start(self, weights: dict[str, Any]) -> None:
        import torch

        self._weights = {name: part.clone().requires_grad_() for name, part in weights.items()}
        self._optimizer = torch.optim.AdamW(self._weights.values(), lr=self.plan.recipe.rate(0))

    @property
    def steps(self) -> int:
        """All steps of the run."""
        return self.plan.recipe.steps

    @property
    def done(self) -> bool:
        """Whether all steps are taken."""
        return self.step >= self.steps

    def model(self) -> Model:
        """The model as it is now."""
        return model_of(self._weights)

    def advance(self) -> Iterator[int]:
        """Takes all steps that are left and yields the number of each, behind which it may stop."""
        with one_thread():
            if not self.history:
                self._evaluate()
            while not self.done:
                self._one_step()
                if self.step % EVERY == 0 or self.done:
                    self._evaluate()
                yield self.step

    def _one_step(self) -> None:
        recipe = self.plan.recipe
        for group in self._optimizer.param_groups:
            group["lr"] = recipe.rate(self.step)
        batch = recipe.batch_of(
            source(self.plan.seed, "train", self.step), recipe.batch, self.plan.context
        )
        self._optimizer.zero_grad()
        self._loss(*batch).backward()
        self._optimizer.step()
        self.step += 1

    def _loss(self, tokens: Tokens, targets: Tokens) -> Any:
        import torch

        found = logits(self._weights, torch.as_tensor(tokens))
        return torch.nn.functional.cross_entropy(
            found.flatten(0, 1), torch.as_tensor(targets).flatten(), ignore_index=IGNORED
        )

    def _evaluate(self) -> None:
        import torch

        recipe, plan = self.plan.recipe, self.plan
        random = source(plan.seed, "evaluate", self.step)
        tokens, targets = recipe.batch_of(random, EVALUATION_BATCHES * recipe.batch, plan.context)
        with torch.no_grad():
            loss = float(self._loss(tokens, targets))
            found = logits(self._weights, torch.as_tensor(tokens)).numpy()
        self.history.append(
            Evaluation(step=self.step, loss=loss, rule_error=rule_error(tokens, found))
        )

    def state(self) -> dict[str, Any]:
        """Weights and the optimizer's moments, by name, as float32 arrays."""
        return state_of(self._weights, self._optimizer)

    @classmethod
    def restored(
        cls, plan: Plan, step: int, history: list[Evaluation], state: Mapping[str, Any]
    ) -> Training:
        """The run that had this state.

        Raises:
            CheckpointError: tensors that are not those of the plan's sizes.
        """
        run = cls(plan, step=step, history=list(history))
        require_state(shapes(plan.context, plan.hidden), state, step)
        run._restore(state)
        return run

    def _restore(self, state: Mapping[str, Any]) -> None:
        import torch

        self._start({name: torch.tensor(state[name]) for name in self._weights})
        restore_moments(self._weights, self._optimizer, state, self.step)


def rule_error(tokens: Tokens, found: NDArray[np.float32]) -> float:
    """The share of positions with a required token at which it is not the only top one."""
    wanted = required(tokens)
    asked = wanted != NONE
    rows: NDArray[np.float32] = found[asked]
    own = np.take_along_axis(rows, wanted[asked][:, None], axis=1)
    others = rows.copy()
    np.put_along_axis(others, wanted[asked][:, None], -np.inf, axis=1)
    wrong: NDArray[np.bool_] = others.max(axis=1) >= own[:, 0]
    return float(wrong.mean()) if len(rows) else 0.0
