"""Theorem 4.1 rebuilt: path vectors that are independent force the embedding dimension up.

In the shared-attention model with d_in = 1 the target's output is sum_p A_p X prod_l w^{l,p_l} and
the model's is sum_p A_p X (E R_p U), p over the H^L head sequences. Where the vectors A_p X are
independent the coefficients agree: E_q R_p U_q = T[q, p] for each target q and each path p. If
the targets' weight tensors T[q, :] span, T has rank H^L, and it factors

    readout U fixed         T = [E_q]_q [R_p U]_p                    inner dimension m
    readout per target      T = [E_q (x) U_q]_q [vec R_p]_p          inner dimension m^2

so m >= H^L, and m^2 >= H^L. Unit weights w^l = e_{q_l} make T the identity.

Source: Fixed Universal Transformers, Section 4 and Theorem 4.1; the proof is ours.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from constructions.universal.instances import random_matrix, seeded
from constructions.universal.sums import PAPER
from lowerbounds.bilinear import bilinear_goals, bilinear_theory
from lowerbounds.shared_attention import (
    Case,
    Factors,
    SharedAttention,
    fixed_factors,
    free_factors,
    leaves_only,
)
from lowerbounds.spanning_theory import (
    spanning_goals,
    spanning_theory,
    spanning_worlds,
    unit_goals,
    unit_theory,
    unit_worlds,
)
from verify.claims import Check, Profile, Source, claim, covers, supports
from verify.counterexamples import Counterexample
from verify.facts import COUNTING, INDUCTION, MATRIX_LAWS, RANK_OF_PRODUCT
from verify.methods.exhaustive import Exhaustive
from verify.methods.smt import Smt
from verify.methods.witness import Witness
from verify.ranges import Range
from verify.rational import Matrix
from verify.smtlib import Goal
from verify.verdicts import Json, Status

# --- instances -------------------------------------------------------------------------------


def factors_fail(
    factors: Factors, bound: Callable[[SharedAttention], int]
) -> Callable[[Case], Counterexample | None]:
    """The obligation that T factors as stated, and that its rank is at most the bound's side.

    `bound` is the inner dimension that the theorem compares with H^L (m or m^2).
    """

    def holds(case: Case) -> Counterexample | None:
        heads, layers, seed = case
        model = leaves_only(heads, layers, seed)
        left, right = factors(model)
        tensors = model.responses()
        if tensors != model.tensors or left @ right != tensors:
            text = "the responses must be the weight tensors and factor as stated; they do not"
        elif tensors.rank() > bound(model):
            text = f"rank {tensors.rank()} must be at most {bound(model)}; it is not"
        else:
            return None
        return Counterexample(
            text=f"{text} (H = {heads}, L = {layers}, m = {model.width}, seed {seed})",
            instance={"heads": heads, "layers": layers, "seed": seed, "width": model.width},
        )

    return holds


def _range(heads: int, layers: int, seeds: int) -> Range:
    return Range(
        bound=f"H <= {heads}, L <= {layers}, unit weights and {seeds - 1} random ones",
        over=lambda: itertools.product(range(1, heads + 1), range(1, layers + 1), range(seeds)),
    )


RANGES: dict[Profile, Range] = {
    "quick": _range(2, 2, 2),
    "standard": _range(3, 2, 3),
    "deep": _range(3, 3, 5),
}


def factors_exhibit(factors: Factors) -> Callable[[Case], Json]:
    """The two factors and the tensors, exactly."""

    def texts(matrix: Matrix) -> Json:
        return [[str(x) for x in row] for row in matrix.rows()]

    def exhibit(case: Case) -> Json:
        model = leaves_only(*case)
        left, right = factors(model)
        return {"left": texts(left), "right": texts(right), "product": texts(model.tensors)}

    return exhibit


# --- claims ----------------------------------------------------------------------------------


def spanning_checks(
    *,
    inner: str,
    words: str,
    factors: Factors,
    bound: Callable[[SharedAttention], int],
    factorise: Callable[[], tuple[Goal, ...]] = tuple,
) -> tuple[Check, ...]:
    """The rank argument for all sizes, unit weights as targets that span, and instances."""

    def goals() -> tuple[Goal, ...]:
        theory = spanning_theory(inner, words, spanning_worlds(factors))
        units = unit_goals(unit_theory(unit_worlds))
        return (*spanning_goals(theory, inner), *units, *factorise())

    return (
        covers(
            Smt(
                goals=goals,
                instances="all H, L, m, under the condition on path vectors",
                leans_on=(INDUCTION, COUNTING, MATRIX_LAWS, RANK_OF_PRODUCT),
            )
        ),
        supports(
            Exhaustive(
                holds=factors_fail(factors, bound),
                ranges=RANGES,
                rechecked_as="factorisation",
                exhibit=factors_exhibit(factors),
            )
        ),
    )


@claim(
    id="lowerbounds.spanning.fixed_readout",
    source=Source(PAPER, "Section 4"),
    latex=r"[E_q R_p U]_{q,p} = T,\ \mathrm{rank}\, T = H^L \;\Longrightarrow\; m \ge H^L",
    scope="shared attention, d_in = 1, all H, L; targets with independent path vectors",
    uses=("universal.paths.unrolling",),
    expected=Status.PROVED,
)
def a_fixed_readout_needs_a_coordinate_per_path() -> tuple[Check, ...]:
    """Shared attention, d_in = 1: if the path vectors are independent at targets whose weight
    tensors span, then m >= H^L for a fixed readout, for all H and L.
    """  # noqa: D205 - one statement, in one sentence
    return spanning_checks(
        inner="m",
        words="T = [E_q]_q [R_p U]_p, since the readout is the same for every target",
        factors=fixed_factors,
        bound=lambda model: model.width,
    )


@claim(
    id="lowerbounds.spanning.free_readout",
    source=Source(PAPER, "Theorem 4.1"),
    latex=r"[E_q R_p U_q]_{q,p} = T,\ \mathrm{rank}\, T = H^L \;\Longrightarrow\; m^2 \ge H^L",
    scope="shared attention, d_in = 1, all H, L; targets with independent path vectors",
    uses=("universal.paths.unrolling",),
    expected=Status.PROVED,
)
def a_readout_per_target_needs_the_root_of_the_paths() -> tuple[Check, ...]:
    """Shared attention, d_in = 1: under the same condition m^2 >= H^L for a readout chosen per
    target, for all H and L.
    """  # noqa: D205 - one statement, in one sentence
    return spanning_checks(
        inner="(* m m)",
        words="T = [E_q (x) U_q]_q [vec R_p]_p: E R U is bilinear in (E, U) and linear in R",
        factors=free_factors,
        bound=lambda model: model.width**2,
        factorise=lambda: bilinear_goals(bilinear_theory()),
    )


def independent_attention(seed: int) -> dict[str, Any]:
    """Row-stochastic rational attention for H = L = 2, inputs X and the four vectors A_p X."""
    source = seeded(seed)

    def stochastic() -> Matrix:
        rows = [[Fraction(source.randint(1, 5)) for _ in range(4)] for _ in range(4)]
        return Matrix.from_rows([[x / sum(row) for x in row] for row in rows])

    attention = [[stochastic() for _ in range(2)] for _ in range(2)]
    inputs = random_matrix(source, 4, 1)
    vectors = [attention[1][b] @ attention[0][a] @ inputs for a in range(2) for b in range(2)]
    return {"attention": attention, "inputs": inputs, "vectors": Matrix.beside(vectors)}


def dependent(found: dict[str, Any]) -> Counterexample | None:
    """The obligation that the path vectors are independent."""
    vectors: Matrix = found["vectors"]
    if vectors.rank() == vectors.width:
        return None
    return Counterexample(
        text=f"{vectors.width} path vectors must be independent, their rank is {vectors.rank()}",
        instance=_attention_exhibit(found),
    )


def _attention_exhibit(found: dict[str, Any]) -> dict[str, Json]:
    def texts(matrix: Matrix) -> Json:
        return [[str(x) for x in row] for row in matrix.rows()]

    return {
        "attention": [[texts(a) for a in layer] for layer in found["attention"]],
        "inputs": texts(found["inputs"]),
        "inverse": texts(found["vectors"].inverse())
        if found["vectors"].rank() == found["vectors"].width
        else [],
    }


def condition_checks(
    find: Callable[[], dict[str, Any]] = lambda: independent_attention(1),
) -> tuple[Check, ...]:
    """One exact instance, exhibited with the inverse of its matrix of path vectors."""
    return (
        covers(
            Witness(
                find=find,
                holds=dependent,
                exhibit=_attention_exhibit,
                rechecked_as="independent-paths",
                instances="four tokens, rational row-stochastic attention, H = L = 2",
            )
        ),
    )


@claim(
    id="lowerbounds.spanning.condition",
    source=Source(PAPER, "Section 4"),
    latex=r"\{A_p X\}_{p \in [2]^2} \text{ independent for some row-stochastic } A^{l,h}",
    scope="some attention matrices at H = L = 2",
    expected=Status.PROVED,
)
def path_vectors_can_be_independent() -> tuple[Check, ...]:
    """The condition on path vectors can be met: some row-stochastic attention matrices with
    H = L = 2 have four independent path vectors on four tokens.
    """  # noqa: D205 - one statement, in one sentence
    return condition_checks()
