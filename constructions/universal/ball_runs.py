"""Forward passes over balls: softmax over masks, and models over numbers other than exact ones.

Source: Fixed Universal Transformers, Section 2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from constructions.universal.definitions import FixedModel, Target, forward, target_layers
from constructions.universal.maps import ColumnMap, Dense, Ones
from constructions.universal.nonlinearities import causal_mask, full_mask
from verify.balls import Balls
from verify.rational import Exact, Matrix

Mask = Sequence[Sequence[bool]]

MASKS: dict[str, Callable[[int], Mask]] = {"causal": causal_mask, "full": full_mask}
"""The named masks of a number of tokens."""


def softmax_of(mask: Mask, shrink: Exact) -> Callable[[Balls], Balls]:
    """The softmax of each row's allowed logits divided by sqrt(shrink)."""

    def normalise(logits: Balls) -> Balls:
        if shrink == 1:
            return logits.softmax(mask)
        height, width = logits.shape
        squares = Matrix(height, width, [Fraction(1, shrink)] * (height * width))
        return logits.hadamard(Balls.of(squares, logits.bits).sqrt()).softmax(mask)

    return normalise


def converted(
    model: FixedModel[Any, Any], entries: Callable[[Matrix], Any]
) -> FixedModel[Any, Any]:
    """The model over the numbers that `entries` makes of exact matrices.

    What selects columns stays an index map, which streams of any numbers can read.
    """

    def part(one: Any) -> Any:
        selects = isinstance(one, ColumnMap) or (
            isinstance(one, Ones) and one.selection() is not None
        )
        return one if selects else Dense(matrix=entries(one.dense()))

    def grid(layers: Sequence[Sequence[Any]]) -> tuple[tuple[Any, ...], ...]:
        return tuple(tuple(map(part, layer)) for layer in layers)

    return replace(
        model,
        queries=grid(model.queries),
        keys=grid(model.keys),
        values=grid(model.values),
        readout=part(model.readout),
        gates=tuple(map(part, model.gates)),
        ups=tuple(map(part, model.ups)),
        downs=tuple(map(part, model.downs)),
    )


def enclosed_target(
    target: Target,
    inputs: Matrix,
    bits: int,
    normalise: Callable[[Balls], Balls],
    activate: Callable[[Balls], Balls] = Balls.silu,
) -> Balls:
    """Encloses T(X), shape (n, d_in)."""
    layers = target_layers(target, lambda exact: Balls.of(exact, bits))
    return forward(layers, Balls.of(inputs, bits), None, normalise, activate).output
