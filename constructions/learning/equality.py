"""Evaluation through tables equals the m-wide module: outputs and gradients.

Source: Fixed Universal Transformers, Section 5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from constructions.learning import dense, probed, tables
from constructions.learning.definitions import Architecture, Tensors, initial
from constructions.learning.kinds import Components, Family
from constructions.universal.definitions import TransformerSize
from constructions.universal.floats import FORMATS
from verify.claims import Check, Profile, Source, claim, covers
from verify.methods.floating import Floating, Measurement, Trial, Trials
from verify.verdicts import Json, Status

UNITS = 1 << 10
"""The bound, in units of roundoff of the largest entry of what is compared."""
BOUND = (
    f"outputs and each gradient differ by at most {UNITS} u times their largest entry, u the unit "
    "roundoff"
)
STRINGS, LENGTH, TOKENS = 5, 9, 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A model, and whether one place of each string is read or all."""

    model: Architecture
    asked: bool

    def as_json(self) -> dict[str, Json]:
        """The case by name."""
        model = self.model
        return {
            "family": model.family.value,
            "components": model.components.value,
            "sizes": [model.heads, model.layers, model.head_width, model.vocabulary, model.width],
            "asked": self.asked,
        }


Logits = Callable[[Architecture, Tensors, Any, Any, Any], Any]
"""Outputs (B, V, places) of a model and its parameters: tokens that occur, types, places asked."""


def through_tables(
    model: Architecture, parameters: Tensors, tokens: Any, types: Any, asked: Any
) -> Any:
    """The evaluation that training uses."""
    fixed = tables.fixed_layers(model, parameters)
    found = tables.coefficients(model, parameters, tokens, fixed)
    return probed.logits(model, found, probed.batch(types, len(tokens), asked, found.dtype))


def difference(evaluate: Logits) -> Callable[[Trial], Measurement]:
    """The largest difference between an evaluation and the dense module, over the largest entry."""

    def measure(trial: Trial) -> Measurement:
        import torch

        case: Case = trial.case
        random = np.random.default_rng(trial.seed)
        parameters = _parameters(case.model, trial, random)
        kinds = case.model.vocabulary - 1
        tokens = torch.as_tensor(np.sort(random.permutation(case.model.vocabulary)[:kinds]))
        types = torch.as_tensor(random.integers(0, kinds, (STRINGS, LENGTH)))
        asked = torch.as_tensor(random.integers(0, LENGTH, STRINGS)) if case.asked else None
        wide = dense.logits(case.model, parameters, tokens[types]).transpose(1, 2)
        if asked is not None:
            wide = torch.take_along_dim(wide, asked[:, None, None], 2)
        thin = evaluate(case.model, parameters, tokens, types, asked)
        weights = torch.as_tensor(random.standard_normal(wide.shape)).to(wide.dtype)
        pairs = [(wide, thin), *_gradients(case.model, parameters, (wide, thin), weights)]
        found = {"outputs": _apart(*pairs[0])}
        names = case.model.trains
        found |= {name: _apart(*pair) for name, pair in zip(names, pairs[1:], strict=True)}
        bound = UNITS * float(FORMATS[trial.dtype].unit)
        return Measurement(error=max(found.values()), bound=bound, details=found)

    return measure


def _parameters(model: Architecture, trial: Trial, random: np.random.Generator) -> Tensors:
    """Initial parameters, but E, U and norms of size 1, so that attention is far from even."""
    import torch

    found = Tensors()
    for name, part in initial(model, trial.seed % (1 << 31)).items():
        drawn = name in ("E", "U") or name.startswith(("gain", "shift"))
        fresh = model.family is Family.trained or name in ("E", "U")
        values = torch.as_tensor(random.standard_normal(part.shape)) if drawn and fresh else part
        found[name] = values.to(getattr(torch, trial.dtype)).requires_grad_(name in model.trains)
    return found


def _gradients(
    model: Architecture, parameters: Tensors, outputs: tuple[Any, Any], weights: Any
) -> Iterable[tuple[Any, Any]]:
    import torch

    trained = [parameters[name] for name in model.trains]
    found = [
        torch.autograd.grad((output * weights).sum(), trained, materialize_grads=True)
        if output.requires_grad
        else [torch.zeros_like(part) for part in trained]
        for output in outputs
    ]
    return zip(*found, strict=True)


def _apart(one: Any, two: Any) -> float:
    largest = float(one.detach().abs().max())
    return float((one - two).detach().abs().max()) / (largest or 1.0)


# --- claim -----------------------------------------------------------------------------------

THROUGH = (Components.attention, Components.residual, Components.norm)
"""What is evaluated through tables; MLPs need the wide stream."""


def cases(sizes: Iterable[tuple[int, int, int]]) -> list[Case]:
    """Every family with all of THROUGH at sizes (H, L, d), five tokens, m least or one more."""
    found = list[Case]()
    for (heads, layers, width), family, components in product(sizes, Family, THROUGH):
        least = TransformerSize(heads=heads, layers=layers, head_width=width, token_width=TOKENS)
        model = Architecture(
            family=family,
            components=components,
            heads=heads,
            layers=layers,
            head_width=width,
            vocabulary=TOKENS,
            width=least.probe_width + (heads + layers) % 2,
        )
        found += [Case(model=model, asked=asked) for asked in (False, True)]
    return found


SMALL = ((2, 2, 3), (2, 1, 2), (3, 2, 2))
SIZES: dict[Profile, tuple[tuple[tuple[int, int, int], ...], int]] = {
    "quick": (SMALL[:2], 1),
    "standard": ((*SMALL, (2, 3, 2)), 2),
    "deep": ((*SMALL, (2, 3, 2), (4, 2, 24), (2, 4, 4)), 6),
}


def _trials(sizes: tuple[tuple[int, int, int], ...], seeds: int) -> Trials:
    names = ", ".join(map(str, sizes))
    return Trials(
        scope=f"sparse, random and trained models, with and without residual paths and norms, "
        f"(H, L, d) among {names}; {STRINGS} strings of {LENGTH} tokens; one place or all; "
        f"{seeds} seeds",
        cases=lambda: cases(sizes),
        seeds=seeds,
        dtypes=("float64", "float32"),
    )


def equal_checks(evaluate: Logits = through_tables) -> tuple[Check, ...]:
    """Every case measured."""
    return (
        covers(
            Floating(
                measure=difference(evaluate),
                trials={profile: _trials(*asked) for profile, asked in SIZES.items()},
                bound=BOUND,
                exhibit=lambda case: case.as_json(),
            )
        ),
    )


@claim(
    id="learning.evaluation.equal",
    source=Source("fixed-universal-transformers", "Section 5"),
    latex=r"\tilde X^L U = F_L\, (T_L U), \qquad \nabla_{E, U}\ \text{alike}",
    scope="stated sizes, with and without residual paths and norms, without MLPs",
    uses=("universal.probes.layer",),
    expected=Status.SAMPLED,
)
def tables_evaluate_what_the_wide_stream_does() -> tuple[Check, ...]:
    """Evaluating a trainable universal transformer through its probes equals the dense evaluation,
    outputs and gradients, to rounding.
    """  # noqa: D205 - one statement, in one sentence
    return equal_checks()
