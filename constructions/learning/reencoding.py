"""A trained sparse model written into other universal models, exactly.

    source        E (V, m) and U (m, V) as trained, the rest the tree's       C_0 = E P_0
    re-encoded    E' (V, m') for parameters fixed without a look at it        E' P'_0 = C_0

P_0 and P'_0 are composed from each model's own readout. The probe lemma, whose proof uses of the
coefficients only that a layer's logits and values are read from X C_l, makes both outputs equal
for every input, mask and normaliser. In the tree, E' is E but for the leaves, which hold
E_{C_p} U_{C_p}: the trained readout moves into the embedding.

Floats are dyadic rationals, read without rounding.

Source: Fixed Universal Transformers, Theorem 3.1 and Section 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from constructions.learning.files import Trained
from constructions.learning.kinds import Components, Family
from constructions.universal.definitions import FixedModel, TransformerSize, run_universal
from constructions.universal.drawn import DrawnModel
from constructions.universal.draws import Block, Draw
from constructions.universal.encoding import (
    CONSTRUCTIONS,
    Deficit,
    rank_deficit,
    smallest_solution,
)
from constructions.universal.layouts import Layout, coordinates, placed
from constructions.universal.maps import Dense
from constructions.universal.nonlinearities import Normaliser
from constructions.universal.probes import probe
from constructions.universal.rounding import exact
from constructions.universal.tree import tree_on
from verify.errors import UsageError, WeightsError
from verify.rational import Matrix

SERVING = ("tree", "looped", "generic")
"""Constructions whose P_0 has full column rank, so that they take any coefficients."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """A universal model together with all that is written into it.

    fixed       parameters that do not depend on what is computed
    drawn       the draw that they come from, or None if they are 0/1
    embedding   E, shape (V, m)
    readout     a trained U, shape (m, V), in place of the fixed one, or None
    """

    fixed: FixedModel[Any, Any]
    drawn: DrawnModel | None = None
    embedding: Matrix
    readout: Matrix | None = None

    @property
    def size(self) -> TransformerSize:
        """H, L, d and the number of tokens."""
        return self.fixed.size

    @property
    def model(self) -> FixedModel[Any, Any]:
        """The parameters as they run, the trained readout included."""
        if self.readout is None:
            return self.fixed
        return replace(self.fixed, readout=Dense(matrix=self.readout))

    def output(self, tokens: Sequence[int], normalise: Normaliser) -> Matrix:
        """Logits at every place of a string, exactly; shape (n, V)."""
        one_hot = Matrix.identity(self.size.token_width).select_rows(tokens)
        return run_universal(self.model, self.embedding, one_hot, normalise).output


def coefficients_of(model: Embedded) -> Matrix:
    """C_0 = E P_0, transposed: shape (s_0, V)."""
    return probe(model.model, 0).read(model.embedding).transposed


def exact_model(trained: Trained) -> Embedded:
    """A trained sparse model without residual paths, norms and MLPs, exactly.

    Raises:
        WeightsError: a model of another family or with other components, or a diverged one.
    """
    kind = trained.plan.model
    if kind.family is not Family.sparse or kind.components is not Components.attention:
        raise WeightsError(
            "a model that is encoded again must be sparse and attention-only, got "
            f"{kind.family.value} and {kind.components.value}; train one with --family sparse "
            "--components attention-only"
        )
    for name, array in trained.parameters.items():
        if not np.isfinite(array).all():
            raise WeightsError(
                f"{name} must have finite entries, got "
                f"{int((~np.isfinite(array)).sum())} others; save a model that has not diverged"
            )
    return Embedded(
        fixed=tree_on(coordinates(kind.size, kind.width)),
        embedding=exact(trained.parameters["E"]),
        readout=exact(trained.parameters["U"]),
    )


def reencoded(
    size: TransformerSize, content: Matrix, name: str, *, width: int | None = None, seed: int = 0
) -> Embedded | Deficit:
    """The model of a construction, and the E' by which it has the coefficients `content`.

    `content` is C_0 transposed, shape (s_0, V); `width` is m', by default the least; the seed is
    that of a draw.

    Raises:
        UsageError: a construction that does not take any coefficients.
        SizeError: an m' that is too small.
    """
    if name not in SERVING:
        raise UsageError(
            f"--construction must be {', '.join(SERVING)} for a trained model, whose coefficients "
            f"are no products of a target's weights, got {name}; choose another"
        )
    layout = CONSTRUCTIONS[name].layout
    m = size.probe_width if width is None else width
    return _drawn(size, content, m, seed) if layout is None else _written(layout, size, content, m)


def _written(layout: Layout, size: TransformerSize, content: Matrix, width: int) -> Embedded:
    fixed = layout.build(size, width)
    return Embedded(
        fixed=fixed, embedding=placed(content, layout.order(size, width), width).transposed
    )


def _drawn(size: TransformerSize, content: Matrix, width: int, seed: int) -> Embedded | Deficit:
    drawn = DrawnModel(size=size, draw=Draw(distribution="uniform32", seed=seed, width=width))
    fixed = drawn.model(Block.matrix)
    found = smallest_solution(probe(fixed, 0).dense(), content)
    if found is None:
        return rank_deficit(drawn)
    return Embedded(fixed=fixed, drawn=drawn, embedding=found.transposed)
