"""Outputs, losses and scores of a model on a task: through its tables where it has no MLPs.

Source: Fixed Universal Transformers, Section 5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from constructions.learning import dense, probed, tables
from constructions.learning.definitions import Architecture, Tensors
from constructions.learning.tasks import Examples, Task

SLICE = 250
"""Strings that are scored at a time, about."""
PARTS = 3
"""Into which a batch is divided by length where the answer alone is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One point of a curve: mean loss, and how many of the answers asked for had the top logit."""

    step: int
    loss: float
    right: int
    asked: int

    @property
    def accuracy(self) -> float:
        """The share of right answers."""
        return self.right / self.asked


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evaluator:
    """A model's parameters on a device, and what is made of them once for all steps.

    types   (V,): each token's number among those that occur
    """

    model: Architecture
    parameters: Tensors
    fixed: tuple[tables.Fixed, ...]
    tokens: Any
    types: Any

    @classmethod
    def of(
        cls, model: Architecture, task: Task, parameters: Mapping[str, Any], device: str = "cpu"
    ) -> Evaluator:
        """The evaluation of parameters on a task."""
        import torch

        moved = {name: part.to(device) for name, part in parameters.items()}
        tokens = torch.tensor(task.tokens, device=device)
        types = torch.zeros(model.vocabulary, dtype=torch.long, device=device)
        types[tokens] = torch.arange(len(tokens), device=device)
        fixed = () if model.components.has_mlp else tables.fixed_layers(model, moved)
        return cls(model=model, parameters=moved, fixed=fixed, tokens=tokens, types=types)

    @property
    def device(self) -> Any:
        """Where the parameters are."""
        return self.tokens.device

    def reader(self) -> Callable[[Any, Any], Any]:
        """Outputs (B, V, n) of tokens (B, n), or (B, V, 1) where one place of each string is asked.

        What depends on the parameters alone is computed here, once.
        """
        if self.model.components.has_mlp:
            return self._wide
        found = tables.coefficients(self.model, self.parameters, self.tokens, self.fixed)

        def thin(inputs: Any, asked: Any) -> Any:
            strings = probed.batch(self.types[inputs], len(self.tokens), asked, found.dtype)
            return probed.logits(self.model, found, strings)

        return thin

    def _wide(self, inputs: Any, asked: Any) -> Any:
        import torch

        every = dense.logits(self.model, self.parameters, inputs).transpose(1, 2)
        return every if asked is None else torch.take_along_dim(every, asked[:, None, None], 2)

    def loss(self, examples: Examples, answer_only: bool, *, mixed: bool = False) -> Any:
        """The mean cross entropy, at all places or at the answer alone."""
        import torch

        total: Any = 0
        context = torch.autocast(self.device.type, torch.bfloat16) if mixed else nullcontext()
        with context:
            read = self.reader()
            for part in _parts(examples, PARTS if answer_only else 1, answer_only):
                places = part.asked if answer_only else None
                found = read(self._put(part.inputs), self._put(places)).float()
                targets = self._put(_at(part.targets, places))
                mean = torch.nn.functional.cross_entropy(found, targets)
                total = total + mean * (len(part.inputs) / len(examples.inputs))
        return total

    def score(self, examples: Examples, answer_only: bool, step: int = 0) -> Score:
        """Loss and right answers on held-out strings; of a tie the first token counts."""
        import torch

        losses, right, asked = 0.0, 0, 0
        count = len(examples.inputs)
        with torch.no_grad():
            read = self.reader()
            for part in _parts(examples, -(-count // SLICE), answer_only):
                places = part.asked if answer_only else None
                found = read(self._put(part.inputs), self._put(places)).float()
                targets = _at(part.targets, places)
                loss = torch.nn.functional.cross_entropy(found, self._put(targets))
                losses += float(loss) * len(part.inputs)
                hits = found.argmax(1).cpu().numpy() == targets
                if part.asked is None:
                    hits = hits[:, 1:]
                elif not answer_only:
                    hits = _at(hits, part.asked)
                right, asked = right + int(hits.sum()), asked + hits.size
        return Score(step=step, loss=losses / count, right=right, asked=asked)

    def _put(self, array: Any) -> Any:
        import torch

        return None if array is None else torch.as_tensor(array, device=self.device)


def _at(rows: Any, places: Any) -> Any:
    return rows if places is None else np.take_along_axis(rows, places[:, None], 1)


def _parts(examples: Examples, number: int, answer_only: bool) -> Iterator[Examples]:
    """The examples in parts of nearly equal size.

    Where the answer alone is read, nothing behind its place matters: strings of like length come
    together, cut behind the longest.
    """
    count = len(examples.inputs)
    ends = [count * place // number for place in range(number + 1)]
    if not answer_only or examples.asked is None:
        yield from (examples.part(start, end) for start, end in pairwise(ends) if end > start)
        return
    order = np.argsort(examples.asked, kind="stable")
    for start, end in pairwise(ends):
        if end > start:
            rows = order[start:end]
            asked = examples.asked[rows]
            most = int(asked[-1]) + 1
            yield Examples(
                inputs=examples.inputs[rows, :most],
                targets=examples.targets[rows, :most],
                asked=asked,
            )
