"""Wrong versions of the bounds by the span of targets."""

from __future__ import annotations

from typing import Any

from lowerbounds import spanning
from lowerbounds.shared_attention import fixed_factors, free_factors
from verify.claims import Check
from verify.mutants import mutant
from verify.rational import Matrix


@mutant(of="lowerbounds.spanning.fixed_readout", breaks="bound", latex=r"m - 1 \ge H^L")
def a_fixed_readout_needs_one_more() -> tuple[Check, ...]:
    """A fixed readout needs H^L + 1 coordinates."""
    return spanning.spanning_checks(
        inner="(- m 1)",
        words="T factors through one coordinate less",
        factors=fixed_factors,
        bound=lambda model: model.width - 1,
    )


@mutant(of="lowerbounds.spanning.free_readout", breaks="bound", latex=r"m^2 - 1 \ge H^L")
def a_readout_per_target_needs_more_than_the_root() -> tuple[Check, ...]:
    """A readout per target needs m^2 - 1 at least H^L."""
    return spanning.spanning_checks(
        inner="(- (* m m) 1)",
        words="T factors through one pair of coordinates less",
        factors=free_factors,
        bound=lambda model: model.width**2 - 1,
    )


def equal_heads() -> dict[str, Any]:
    """Attention in which both heads of a layer are the same."""
    found = spanning.independent_attention(1)
    attention = [[layer[0], layer[0]] for layer in found["attention"]]
    inputs = found["inputs"]
    vectors = [attention[1][b] @ attention[0][a] @ inputs for a in range(2) for b in range(2)]
    return {"attention": attention, "inputs": inputs, "vectors": Matrix.beside(vectors)}


@mutant(of="lowerbounds.spanning.condition", breaks="condition", latex=r"A^{l,1} = A^{l,2}")
def equal_heads_have_independent_path_vectors() -> tuple[Check, ...]:
    """Path vectors are independent where both heads attend alike."""
    return spanning.condition_checks(equal_heads)


@mutant(of="lowerbounds.spanning.fixed_readout", breaks="bound", name="factors")
def the_factors_have_a_rank_less() -> tuple[Check, ...]:
    """Actual factors of a fixed readout have at most rank m - 1."""
    return spanning.spanning_checks(
        inner="m",
        words="T factors through the coordinates",
        factors=fixed_factors,
        bound=lambda model: model.width - 1,
    )


@mutant(of="lowerbounds.spanning.free_readout", breaks="bound", name="factors")
def the_factors_of_pairs_have_a_rank_less() -> tuple[Check, ...]:
    """Actual factors of a readout per target have at most rank m^2 - 1."""
    return spanning.spanning_checks(
        inner="(* m m)",
        words="T factors through pairs of coordinates",
        factors=free_factors,
        bound=lambda model: model.width**2 - 1,
    )
