"""Training universal transformers on fresh data; a run goes on exactly where it stopped.

    AdamW (betas 0.9 and `second_beta`, weight decay 0.01), learning rate rising linearly over the
    warm-up steps and then constant, or falling as a cosine; cross entropy at all places, or at the
    answer

What H.2 leaves open (decay, weight decay) is the default of the optimizer that it names.

Source: Fixed Universal Transformers, Appendix H.2, Tables 5 and 6.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from math import cos, pi
from typing import Any

from constructions.learning.definitions import Architecture, initial, shapes
from constructions.learning.evaluation import Evaluator, Score
from constructions.learning.kinds import Components, Family
from constructions.learning.tasks import Dyck, Examples, Hops
from constructions.optimisation import (
    one_thread,
    require_state,
    restore_moments,
    source,
    state_of,
)
from verify.errors import UsageError

BLOCK = 64
"""Batches that are made at a time."""
HELD_OUT = 4_000
POINTS = 50
"""Evaluations of a whole run, at most."""
EVERY = 20
"""Steps between two evaluations, at least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How a model is trained; before it falls as a cosine, the rate stays for `hold` steps.

    Raises:
        UsageError: numbers that no training has.
    """

    steps: int
    batch: int
    learning_rate: float
    warmup: int
    cosine: bool = False
    hold: int = 0
    second_beta: float = 0.999
    answer_only: bool = False

    def __post_init__(self) -> None:
        """Check the numbers."""
        for name, smallest in {"steps": 1, "batch": 1, "warmup": 0, "hold": 0}.items():
            if getattr(self, name) < smallest:
                raise UsageError(
                    f"training needs {name} of at least {smallest}, got {getattr(self, name)}; "
                    "choose another"
                )
        if not 0 < self.second_beta < 1:
            raise UsageError(f"AdamW needs a second beta between 0 and 1, got {self.second_beta}")
        if not 0 < self.learning_rate < 1:
            raise UsageError(
                f"training needs a learning rate between 0 and 1, got {self.learning_rate}"
            )

    def rate(self, step: int) -> float:
        """The learning rate of a step."""
        if step < self.warmup:
            return self.learning_rate * (step + 1) / self.warmup
        if not self.cosine:
            return self.learning_rate
        start = self.warmup + self.hold
        passed = max(step - start, 0) / max(self.steps - start, 1)
        return self.learning_rate * (1 + cos(pi * passed)) / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All that a run depends on; `mixed` computes in bfloat16 on a CUDA device.

    Raises:
        UsageError: parts that do not fit together.
    """

    task: Dyck | Hops
    model: Architecture
    recipe: Recipe
    seed: int = 0
    device: str = "cpu"
    mixed: bool = False

    def __post_init__(self) -> None:
        """Check what the parts cannot."""
        if self.seed < 0:
            raise UsageError(f"training needs a seed of at least 0, got {self.seed}")
        if self.model.vocabulary != self.task.vocabulary:
            raise UsageError(
                f"{self.task.name} has {self.task.vocabulary} tokens, got a model for "
                f"{self.model.vocabulary}"
            )
        if self.recipe.answer_only and not isinstance(self.task, Dyck):
            raise UsageError(
                f"loss at the answer alone is for balancing, got {self.task.name}, whose places "
                "all have an answer"
            )

    def as_json(self) -> dict[str, Any]:
        """The plan as files keep it."""
        kind = "dyck" if isinstance(self.task, Dyck) else "hops"
        return {
            "task": {"kind": kind, **asdict(self.task)},
            "model": {
                name: getattr(value, "value", value) for name, value in asdict(self.model).items()
            },
            "recipe": asdict(self.recipe),
            "seed": self.seed,
            "device": self.device,
            "mixed": self.mixed,
        }

    @classmethod
    def of_json(cls, data: Mapping[str, Any]) -> Plan:
        """The plan that a file keeps."""
        task = dict(data["task"])
        model = dict(data["model"])
        model["family"] = Family(model["family"])
        model["components"] = Components(model["components"])
        kind = {"dyck": Dyck, "hops": Hops}[task.pop("kind")]
        return cls(
            task=kind(**task),
            model=Architecture(**model),
            recipe=Recipe(**data["recipe"]),
            seed=int(data["seed"]),
            device=data["device"],
            mixed=data["mixed"],
        )


@dataclass(slots=True)
class Training:
    """A run: `advance` takes steps, `state` and `restored` carry it from one process to another.

    `seconds` is what the steps took, without evaluations.
    """

    plan: Plan
    step: int = 0
    history: list[Score] = field(default_factory=list[Score])
    seconds: float = 0.0
    evaluator: Evaluator = field(init=False)
    _weights: dict[str, Any] = field(init=False)
    _optimizer: Any = field(init=False)
    _held_out: Examples = field(init=False)
    _block: tuple[int, Examples] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        """Begin with initial weights."""
        import torch

        plan = self.plan
        self._held_out = plan.task.examples(source(0, "held-out", 0), HELD_OUT)
        every = initial(plan.model, plan.seed)
        self.evaluator = Evaluator.of(plan.model, plan.task, every, plan.device)
        self._weights = {
            name: self.evaluator.parameters[name].requires_grad_() for name in plan.model.trains
        }
        self._optimizer = torch.optim.AdamW(
            self._weights.values(),
            lr=plan.recipe.rate(0),
            betas=(0.9, plan.recipe.second_beta),
            fused=True,
        )

    @property
    def steps(self) -> int:
        """All steps of the run."""
        return self.plan.recipe.steps

    @property
    def done(self) -> bool:
        """Whether all steps are taken."""
        return self.step >= self.steps

    def advance(self) -> Iterator[int]:
        """Takes all steps that are left and yields the number of each, behind which it may stop."""
        with one_thread():
            if not self.history:
                self._evaluate()
            while not self.done:
                began = time.perf_counter()
                self._one_step()
                self.seconds += time.perf_counter() - began
                if self.step % max(self.steps // POINTS, EVERY) == 0 or self.done:
                    self._evaluate()
                yield self.step

    def _one_step(self) -> None:
        recipe = self.plan.recipe
        for group in self._optimizer.param_groups:
            group["lr"] = recipe.rate(self.step)
        self._optimizer.zero_grad()
        self.evaluator.loss(self._batch(), recipe.answer_only, mixed=self.plan.mixed).backward()
        self._optimizer.step()
        self.step += 1

    def _batch(self) -> Examples:
        number, place = divmod(self.step, BLOCK)
        size = self.plan.recipe.batch
        if self._block is None or self._block[0] != number:
            random = source(self.plan.seed, "train", number)
            self._block = number, self.plan.task.examples(random, BLOCK * size)
        return self._block[1].part(place * size, (place + 1) * size)

    def _evaluate(self) -> None:
        scored = self.evaluator.score(self._held_out, self.plan.recipe.answer_only, self.step)
        self.history.append(scored)

    def state(self) -> dict[str, Any]:
        """Weights and the optimizer's moments, by name, as float32 arrays."""
        return state_of(self._weights, self._optimizer)

    @classmethod
    def restored(
        cls,
        plan: Plan,
        step: int,
        history: list[Score],
        state: Mapping[str, Any],
        seconds: float = 0.0,
    ) -> Training:
        """The run that had this state.

        Raises:
            CheckpointError: tensors that are not those of the plan's sizes.
        """
        import torch

        every = shapes(plan.model)
        require_state({name: every[name] for name in plan.model.trains}, state, step)
        run = cls(plan, step=step, history=list(history), seconds=seconds)
        with torch.no_grad():
            for name, weight in run._weights.items():
                weight.copy_(torch.tensor(state[name]))
        restore_moments(run._weights, run._optimizer, state, step)
        return run
