"""Wrong versions of re-encoded models."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from constructions.learning.reencoding import Embedded, coefficients_of
from constructions.learning.reencoding_claims import reencoding_checks
from constructions.universal.ball_runs import Mask
from constructions.universal.layouts import coordinates, tree_order
from constructions.universal.nonlinearities import causal_mask, full_mask
from constructions.universal.rounding import exact
from verify.claims import Check
from verify.mutants import mutant
from verify.rational import Matrix


@mutant(of="learning.reencoding", breaks="construction", latex=r"E' = E")
def the_embedding_alone_is_enough() -> tuple[Check, ...]:
    """The leaves hold E_{C_p}: the trained readout is forgotten."""
    return reencoding_checks(written=lambda model: coefficients_of(replace(model, readout=None)))


@mutant(
    of="learning.reencoding", breaks="construction", name="keys", latex=r"R_Q \leftrightarrow R_K"
)
def queries_and_keys_may_be_exchanged() -> tuple[Check, ...]:
    """Each head's query block is written where its key block stands, and the other way round."""

    def exchanged(model: Embedded) -> Matrix:
        fixed = model.fixed
        return coefficients_of(
            replace(model, fixed=replace(fixed, queries=fixed.keys, keys=fixed.queries))
        )

    return reencoding_checks(written=exchanged)


@mutant(
    of="learning.reencoding",
    breaks="construction",
    name="entry",
    latex=r"E' \overline P'_0 = C_0 + 2^{-300} e_2 e_5^T",
)
def one_entry_may_be_off_by_a_hair() -> tuple[Check, ...]:
    """One coefficient is larger by 2^-300."""

    def changed(model: Embedded) -> Matrix:
        found = coefficients_of(model)
        return found + Matrix.with_ones(*found.shape, [5], [2]).scaled(Fraction(1, 1 << 300))

    return reencoding_checks(written=changed)


@mutant(
    of="learning.reencoding",
    breaks="construction",
    name="factors",
    latex=r"F_Q F_K^T = (2 R_Q) (R_K / 2)^T",
)
def other_factors_of_the_logits_solve_the_equations() -> tuple[Check, ...]:
    """Queries are written twice as large and keys half as large, which leaves all logits."""

    def rescaled(model: Embedded) -> Matrix:
        found, places = coefficients_of(model), coordinates(model.size, model.fixed.width)
        kinds = places.kind[tree_order(model.size, model.fixed.width)]
        factors = np.array([Fraction(2), Fraction(1, 2), Fraction(1)])[kinds]
        return exact(np.diag(factors)) @ found

    return reencoding_checks(written=rescaled)


@mutant(
    of="learning.reencoding",
    breaks="construction",
    name="scale",
    latex=r"\mathrm{softmax}(z / \sqrt 2)",
)
def logits_may_be_scaled() -> tuple[Check, ...]:
    """The re-encoded model divides its logits by the root of d, as transformers often do."""
    return reencoding_checks(shrink=2)


@mutant(
    of="learning.reencoding", breaks="rule", name="mask", latex=r"j \le i \text{ in one model only}"
)
def the_other_model_may_look_ahead() -> tuple[Check, ...]:
    """The re-encoded model attends to later tokens as well."""
    return reencoding_checks(mask=full_mask)


SHORT_STRING = 8
"""Tokens."""


def full_when_short(length: int) -> Mask:
    """The full mask of a short string, the causal one of others."""
    return (full_mask if length <= SHORT_STRING else causal_mask)(length)


@mutant(
    of="learning.reencoding",
    breaks="rule",
    name="short",
    latex=r"j \le i \text{ in one model only, for } n \le 8",
)
def short_strings_need_no_mask() -> tuple[Check, ...]:
    """The re-encoded model attends to later tokens in strings of at most 8 tokens."""
    return reencoding_checks(mask=full_when_short)
