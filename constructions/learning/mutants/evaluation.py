"""Wrong versions of evaluation through tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from constructions.learning import probed, tables
from constructions.learning.definitions import Architecture, Tensors
from constructions.learning.equality import equal_checks
from constructions.learning.tables import Coefficients
from verify.claims import Check
from verify.mutants import mutant

LATEX = r"\tilde X^L U = F_L\, (T_L U)"


Breakage = Callable[[Architecture, Coefficients], Coefficients]


def broken(breakage: Breakage) -> tuple[Check, ...]:
    """The claim's checks with coefficients of which something is wrong."""

    def evaluate(
        model: Architecture, parameters: Tensors, tokens: Any, types: Any, asked: Any
    ) -> Any:
        found = breakage(model, tables.coefficients(model, parameters, tokens))
        return probed.logits(model, found, probed.batch(types, len(tokens), asked, found.dtype))

    return equal_checks(evaluate)


@mutant(of="learning.evaluation.equal", breaks="rule", latex=LATEX)
def keys_ask_queries() -> tuple[Check, ...]:
    """Logits are read from keys to queries."""

    def transposed(model: Architecture, found: Coefficients) -> Coefficients:
        del model
        layers = [replace(layer, forms=layer.forms.transpose(1, 2)) for layer in found.layers]
        return replace(found, layers=tuple(layers))

    return broken(transposed)


@mutant(of="learning.evaluation.equal", breaks="construction", name="carried", latex=LATEX)
def the_residual_stream_is_not_read_out() -> tuple[Check, ...]:
    """The output forgets the stream that is carried on."""
    return broken(lambda _, found: replace(found, carried=None))


@mutant(of="learning.evaluation.equal", breaks="rule", name="deviation", latex=LATEX)
def streams_are_not_divided_by_their_deviation() -> tuple[Check, ...]:
    """Norms subtract the mean alone."""

    def undivided(model: Architecture, found: Coefficients) -> Coefficients:
        if not model.components.has_norm:
            return found
        return replace(found, gram=found.gram * 0)

    return broken(undivided)


@mutant(of="learning.evaluation.equal", breaks="rule", name="gradient", latex=LATEX)
def the_readout_gets_no_gradient() -> tuple[Check, ...]:
    """Outputs agree, but what reads the last layer's heads is cut off from its parameters."""

    def detached(model: Architecture, found: Coefficients) -> Coefficients:
        del model
        return found if found.heads is None else replace(found, heads=found.heads.detach())

    return broken(detached)


@mutant(of="learning.evaluation.equal", breaks="rule", name="counts", latex=LATEX)
def a_type_counts_once() -> tuple[Check, ...]:
    """The first layer asks whether a token has come, not how often."""

    def evaluate(
        model: Architecture, parameters: Tensors, tokens: Any, types: Any, asked: Any
    ) -> Any:
        found = tables.coefficients(model, parameters, tokens)
        strings = probed.batch(types, len(tokens), asked, found.dtype)
        return probed.logits(model, found, replace(strings, counts=strings.counts.clamp(max=0.0)))

    return equal_checks(evaluate)
