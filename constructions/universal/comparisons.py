"""A target, the universal model that is to simulate it, and the sizes at which they are compared.

E is written from other factors of the logits than the target's own, so that a comparison also
shows that only the logits matter.

Source: Fixed Universal Transformers, Section 2.2.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from constructions.universal.definitions import FixedModel, Target, TransformerSize, places_json
from constructions.universal.instances import (
    Kind,
    block_names,
    random_matrix,
    random_target,
    seeded,
)
from constructions.universal.layouts import Layout
from constructions.universal.maps import Ones
from constructions.universal.nonlinearities import (
    Activation,
    Normaliser,
    causal_mask,
    relu,
    scrambled_attention,
    softsign,
)
from verify.claims import Check, Profile, supports
from verify.counterexamples import Counterexample
from verify.methods.exhaustive import Exhaustive
from verify.ranges import Range
from verify.rational import Matrix
from verify.verdicts import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """A universal model, a target, the E that should make one simulate the other, and inputs."""

    universal: FixedModel[Any, Any]
    target: Target
    factored: Target
    """The target whose queries and keys are the factors F_Q, F_K of the same logits."""
    embedding: Matrix
    inputs: Matrix
    normalise: Normaliser
    activate: Activation = relu


def refactored(target: Target, seed: int) -> Target:
    """Other factors of the same logits: F_Q = W_Q B, F_K = W_K B^{-T}, B unit triangular."""
    size = target.size.head_width
    change = Matrix(
        size,
        size,
        [1 if i == j else (seed + i + j) % 3 * (j > i) for i in range(size) for j in range(size)],
    )
    back = change.inverse().transposed
    return replace(
        target,
        queries=tuple(tuple(q @ change for q in layer) for layer in target.queries),
        keys=tuple(tuple(k @ back for k in layer) for layer in target.keys),
    )


Factoring = Callable[[Target, int], Target]


def simulation(
    layout: Layout, size: TransformerSize, seed: int, factor: Factoring = refactored
) -> Simulation:
    """Three tokens under a causal mask; E written from other factors than the target's own."""
    target = random_target(size, seed)
    factored = layout.factored(factor(target, seed))
    width = layout.least_width(size)
    return Simulation(
        universal=layout.build(size, width),
        target=target,
        factored=factored,
        embedding=layout.write(factored, width).transposed,
        inputs=random_matrix(seeded(seed), 3, size.token_width),
        normalise=scrambled_attention(causal_mask(3)),
        activate=softsign,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LemmaCase:
    """Sizes and a seed at which every layer's streams are compared."""

    size: TransformerSize
    seed: int

    def as_json(self) -> dict[str, Json]:
        """The case as certificates name it."""
        return {"size": self.size.as_json(), "seed": self.seed}


def simulation_exhibit(layout: Layout) -> Callable[[LemmaCase], Json]:
    """Both models in full, for a second program to run."""

    def exhibit(case: LemmaCase) -> Json:
        return full_exhibit(
            simulation(layout, case.size, case.seed), causal_mask(3), "scrambled", "softsign"
        )

    return exhibit


def entries_json(matrix: Matrix) -> Json:
    """Rows of exact numbers as texts p/q."""
    return [[str(x) for x in row] for row in matrix.rows()]


def target_json(target: Target) -> dict[str, Json]:
    """All matrices of a target, exactly."""
    grids = ("queries", "keys", "values", "outputs")
    return {
        "size": target.size.as_json(),
        **{
            name: [[entries_json(matrix) for matrix in layer] for layer in getattr(target, name)]
            for name in grids
        },
        **{
            name: [entries_json(matrix) for matrix in getattr(target, name)]
            for name in ("gates", "ups", "downs")
        },
    }


def model_json(model: FixedModel[Any, Any]) -> dict[str, Json]:
    """A fixed model's parameters: places of ones if it is sparse, else all entries."""
    if isinstance(model.readout, Ones):
        return places_json(model)
    grids = ("queries", "keys", "values")
    return {
        "size": model.size.as_json(),
        "width": model.width,
        "dense": {
            **{
                name: [
                    [entries_json(part.dense()) for part in layer] for layer in getattr(model, name)
                ]
                for name in grids
            },
            "readout": entries_json(model.readout.dense()),
            **{
                name: [entries_json(part.dense()) for part in getattr(model, name)]
                for name in ("gates", "ups", "downs")
            },
        },
    }


def full_exhibit(
    case: Simulation, mask: Any, normaliser: str, activation: str = "relu"
) -> dict[str, Json]:
    """Everything that a forward pass of both models needs, exactly."""
    gated = case.target.size.gated
    return {
        "universal": model_json(case.universal),
        "target": target_json(case.target),
        "embedding": entries_json(case.embedding),
        "inputs": entries_json(case.inputs),
        "mask": [list(row) for row in mask],
        "normaliser": normaliser,
        **({"activation": activation} if gated else {}),
    }


ATTENTION_ONLY: tuple[Kind, ...] = ((0, False),)


def _lemma_range(kinds: Sequence[Kind], wide: bool, heads: int, layers: int, width: int) -> Range:
    shapes = [range(1, most + 1) for most in (heads, layers, width, width)]

    def over() -> Iterator[LemmaCase]:
        for neurons, residual in kinds:
            for h, depth, d, tokens in itertools.product(*shapes):
                if wide and d < tokens:
                    continue
                size = TransformerSize(
                    heads=h,
                    layers=depth,
                    head_width=d,
                    token_width=tokens,
                    neurons=neurons,
                    residual=residual,
                )
                yield LemmaCase(size=size, seed=h + 10 * depth)

    return Range(
        bound=f"one random target each of H <= {heads}, L <= {layers}, d, d_in <= {width}, "
        f"{'d_in <= d, ' if wide else ''}"
        f"three tokens, causal mask; blocks: {block_names(kinds)}",
        over=over,
    )


def lemma_ranges(
    kinds: Sequence[Kind] = ATTENTION_ONLY, *, wide: bool = False, dense: bool = False
) -> dict[Profile, Range]:
    """Small sizes of the kinds of blocks, by profile; gated streams grow fast with depth.

    `wide` leaves out d < d_in; `dense` is for models of dense matrices, which cost more.
    """
    gated = any(neurons for neurons, _ in kinds)
    return {
        "quick": _lemma_range(kinds, wide, 2, 2, 1 if gated else 2),
        "standard": _lemma_range(kinds, wide, 2 if gated else 3, 2, 1 if gated and dense else 2),
        "deep": _lemma_range(kinds, wide, *((2, 2, 2) if gated else (3, 3, 2))),
    }


def comparison_check(
    holds: Callable[[LemmaCase], Counterexample | None],
    layout: Layout,
    kinds: Sequence[Kind] = ATTENTION_ONLY,
) -> Check:
    """An obligation on forward passes of both models, at every small size."""
    return supports(
        Exhaustive(
            holds=holds,
            ranges=lemma_ranges(kinds, wide=layout.wide_heads),
            rechecked_as="simulation",
            exhibit=simulation_exhibit(layout),
        )
    )
