"""Wrong draws of the fixed parameters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from constructions.universal import (
    generic,
    looped,
    ranks,
    routed,
    tree,
)
from constructions.universal.comparisons import ATTENTION_ONLY
from constructions.universal.definitions import TransformerSize
from constructions.universal.drawn import random_model
from constructions.universal.draws import Block
from constructions.universal.instances import DenseModel
from constructions.universal.maps import Dense
from verify.claims import Check
from verify.mutants import mutant
from verify.rational import Matrix


def keys_are_queries(size: TransformerSize, seed: int) -> DenseModel:
    """A random model that reads its keys where it reads its queries."""
    model = random_model(size, seed)
    return replace(model, keys=model.queries)


@mutant(of="universal.generic.witness", breaks="construction", latex=r"R_K = R_Q")
def keys_may_be_drawn_as_queries() -> tuple[Check, ...]:
    """Almost every draw with R_K = R_Q has a P_0 of full column rank."""
    entry = "(ite (= i c) 1.0 1.0)"
    return generic.generic_checks(tree.LAYOUT, ATTENTION_ONLY, entry=entry, draw=keys_are_queries)


@mutant(of="universal.generic.looped", breaks="construction", latex=r"R_Q^{l,h} = R_K^{l,h}")
def tied_keys_may_be_drawn_as_queries() -> tuple[Check, ...]:
    """Almost every weight-tied draw with R_K = R_Q has a P_0 of full column rank."""

    def draw(size: TransformerSize, seed: int) -> DenseModel:
        model = random_model(size, seed, tied=True)
        return replace(model, keys=model.queries)

    return generic.generic_checks(looped.LAYOUT, ATTENTION_ONLY, tied=True, draw=draw)


def dead_units(size: TransformerSize, seed: int) -> DenseModel:
    """A random model whose MLPs write nothing."""
    model = random_model(size, seed)
    return replace(
        model,
        downs=tuple(Dense(matrix=Matrix.zero(*down.matrix.shape)) for down in model.downs),
    )


@mutant(of="universal.gated.generic", breaks="construction", latex=r"R_d = 0")
def units_may_write_nothing() -> tuple[Check, ...]:
    """Almost every draw with R_d = 0 has invertible local blocks."""
    return generic.generic_checks(routed.LAYOUT, generic.GATED, draw=dead_units)


def blind(size: TransformerSize, seed: int) -> DenseModel:
    """A random model without a readout."""
    model = random_model(size, seed)
    return replace(model, readout=Dense(matrix=Matrix.zero(*model.readout.matrix.shape)))


@mutant(of="universal.residual.generic", breaks="construction", latex=r"U = 0")
def the_readout_may_be_zero() -> tuple[Check, ...]:
    """Almost every residual draw with U = 0 has a P_0 of full column rank."""
    return generic.generic_checks(routed.LAYOUT, generic.RESIDUAL, draw=blind)


def zeros(block: Block) -> Block:
    """All-zero weights."""
    return replace(block, wholes=np.zeros_like(block.wholes))


@mutant(of="universal.generic.draws", breaks="construction", latex=r"R = 0, U = 0")
def weights_may_be_zero() -> tuple[Check, ...]:
    """All-zero weights have full rank."""
    return ranks.draws_checks(zeros)


def repeated_columns(block: Block) -> Block:
    """Every column of a parameter is its first."""
    return replace(block, wholes=np.repeat(block.wholes[:, :1], block.wholes.shape[1], axis=1))


@mutant(
    of="universal.generic.draws", breaks="construction", name="repeated", latex=r"R e_j = R e_1"
)
def columns_may_be_repeated() -> tuple[Check, ...]:
    """Draws whose columns are all the same have full rank."""
    return ranks.draws_checks(repeated_columns)


@mutant(of="universal.generic.witness", breaks="construction", name="draw")
def random_models_may_read_keys_as_queries() -> tuple[Check, ...]:
    """Random models with R_K = R_Q have a P_0 of full column rank, as the witness has."""
    return generic.generic_checks(tree.LAYOUT, ATTENTION_ONLY, draw=keys_are_queries)


@mutant(of="universal.generic.draws", breaks="construction", name="uniform")
def uniform_draws_may_repeat_columns() -> tuple[Check, ...]:
    """Uniform draws whose columns are all the same have full rank."""
    return ranks.draws_checks(repeated_columns, normal=ranks.unchanged)


@mutant(of="universal.generic.draws", breaks="construction", name="normal")
def normal_draws_may_repeat_columns() -> tuple[Check, ...]:
    """Normal draws whose columns are all the same have full rank."""
    return ranks.draws_checks(normal=repeated_columns)
