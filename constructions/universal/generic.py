"""Almost every draw of the fixed parameters is universal: Theorems of Section 3.2 and E.3.

A maximal minor of P_0 is a polynomial in the parameters; at a sparse construction's parameters it
is +-1, so it is not the zero polynomial, so it vanishes with probability 0. With gated blocks it is
multiplied by the determinants of all local blocks. One event serves every target.

Source: Fixed Universal Transformers, Section 3.2, Theorem E.3 and Appendix E.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from constructions.universal import looped, routed, tree
from constructions.universal.comparisons import (
    ATTENTION_ONLY,
    LemmaCase,
    Simulation,
    full_exhibit,
    lemma_ranges,
)
from constructions.universal.definitions import TransformerSize, run_target, run_universal
from constructions.universal.drawn import random_model
from constructions.universal.generic_theory import (
    ENTRY_OF_IDENTITY,
    determinant_theory,
    inversion_goals,
    inversion_theory,
    local_goals,
    minor_goals,
    polynomial_goals,
    polynomial_theory,
    product_goals,
)
from constructions.universal.generic_worlds import generic_worlds
from constructions.universal.instances import DenseModel, Kind, random_matrix, random_target, seeded
from constructions.universal.layouts import Layout
from constructions.universal.nonlinearities import causal_mask, scrambled_attention, softsign
from constructions.universal.probes import invariant_holds
from constructions.universal.solving import exact_embedding, local_inverses
from constructions.universal.sums import PAPER
from verify.claims import Check, Source, claim, covers, supports
from verify.counterexamples import Counterexample
from verify.facts import DETERMINANT, INDUCTION, LEFT_INVERSE, MATRIX_LAWS, ZERO_SET
from verify.methods.exhaustive import Exhaustive
from verify.methods.smt import Smt
from verify.smtlib import Goal
from verify.verdicts import Json, Status

Draw = Callable[[TransformerSize, int], DenseModel]
"""A model of a size for a seed."""


# --- instances -------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def drawn_simulation(case: LemmaCase, draw: Draw) -> Simulation | None:
    """A drawn model and a target that it simulates; None if P_0 or a local block lacks rank."""
    model, target = draw(case.size, case.seed), random_target(case.size, case.seed)
    embedding = exact_embedding(model, target)
    if embedding is None:
        return None
    return Simulation(
        universal=model,
        target=target,
        factored=target,
        embedding=embedding.transposed,
        inputs=random_matrix(seeded(case.seed), 3, case.size.token_width),
        normalise=scrambled_attention(causal_mask(3)),
        activate=softsign,
    )


def drawn_fails(draw: Draw) -> Callable[[LemmaCase], Counterexample | None]:
    """The obligation that a drawn model has full rank and simulates a target, layer by layer."""

    def holds(case: LemmaCase) -> Counterexample | None:
        chosen = drawn_simulation(case, draw)
        if chosen is None:
            text = "P_0 must have full column rank and local blocks inverses; one lacks rank"
            return Counterexample(text=f"{text} ({case.as_json()})", instance=case.as_json())
        model = chosen.universal
        theirs = run_target(chosen.target, chosen.inputs, chosen.normalise, chosen.activate)
        ours = run_universal(
            model, chosen.embedding, chosen.inputs, chosen.normalise, chosen.activate
        )
        layer = invariant_holds(model, chosen.target, ours, theirs, local_inverses(model))
        if layer is None and ours.output == theirs.output:
            return None
        where = "the output" if layer is None else f"X~^{layer} P_{layer} = X^{layer} C_{layer}"
        return Counterexample(
            text=f"target and model must agree; {where} differs ({case.as_json()})",
            instance=case.as_json(),
        )

    return holds


def drawn_exhibit(draw: Draw) -> Callable[[LemmaCase], Json]:
    """Both models in full, for a second program to run."""

    def exhibit(case: LemmaCase) -> Json:
        chosen = drawn_simulation(case, draw)
        return chosen and full_exhibit(chosen, causal_mask(3), "scrambled", "softsign")

    return exhibit


# --- claims ----------------------------------------------------------------------------------


def generic_checks(
    layout: Layout,
    kinds: Sequence[Kind],
    *,
    tied: bool = False,
    entry: str = ENTRY_OF_IDENTITY,
    draw: Draw | None = None,
) -> tuple[Check, ...]:
    """The polynomial argument with a layout as its witness, and random models solved exactly."""

    def plain(size: TransformerSize, seed: int) -> DenseModel:
        return random_model(size, seed, tied)

    chosen = draw or plain

    def sizes() -> list[TransformerSize]:
        return [
            TransformerSize(
                heads=heads,
                layers=layers,
                head_width=1,
                token_width=1,
                neurons=neurons,
                residual=residual,
            )
            for neurons, residual in kinds
            for heads, layers in ((1, 2), (2, 1))
        ]

    def goals() -> tuple[Goal, ...]:
        def worlds():
            return generic_worlds(layout, sizes(), tied)

        entries, minors = polynomial_theory(worlds), determinant_theory(entry, worlds)
        gated = any(neurons for neurons, _ in kinds)
        return (
            *polynomial_goals(entries),
            *(local_goals(entries) if gated else ()),
            *minor_goals(minors),
            *(product_goals(minors) if gated else ()),
            *inversion_goals(inversion_theory(worlds)),
        )

    return (
        covers(
            Smt(
                goals=goals,
                instances="all sizes and every m >= s_0; almost every choice of the parameters",
                leans_on=(INDUCTION, MATRIX_LAWS, DETERMINANT, LEFT_INVERSE, ZERO_SET),
            )
        ),
        supports(
            Exhaustive(
                holds=drawn_fails(chosen),
                ranges=lemma_ranges(kinds, dense=True),
                rechecked_as="simulation",
                exhibit=drawn_exhibit(chosen),
            )
        ),
    )


@claim(
    id="universal.generic.witness",
    source=Source(PAPER, "Random theorem, Section 3.2"),
    latex=r"\det \overline P_0 \not\equiv 0,\quad \det \overline P_0 = \pm 1 "
    r"\text{ at the tree}",
    scope="all H, L, d, d_in and every m >= s_0; absolutely continuous draws",
    uses=("universal.probes.layer", "universal.tree.identity", "universal.tree.padding"),
    expected=Status.PROVED,
)
def almost_every_draw_is_universal() -> tuple[Check, ...]:
    """The determinant polynomial is not zero, so almost every draw is universal."""
    return generic_checks(tree.LAYOUT, ATTENTION_ONLY)


@claim(
    id="universal.generic.looped",
    source=Source(PAPER, "Looped random theorem, Section 3.2"),
    latex=r"\det \overline P_0 \not\equiv 0 \text{ on } R^{1,h} = \dots = R^{L,h}",
    scope="all H, L, d, d_in and every m >= s_0; absolutely continuous draws, weight-tied",
    uses=("universal.probes.layer", "universal.looped.identity"),
    expected=Status.PROVED,
)
def almost_every_tied_draw_is_universal() -> tuple[Check, ...]:
    """The same with weights shared by all layers: at the looped construction's parameters the
    determinant polynomial is not zero.
    """  # noqa: D205 - one statement, in one sentence
    return generic_checks(looped.LAYOUT, ATTENTION_ONLY, tied=True)


GATED: tuple[Kind, ...] = ((2, False),)
RESIDUAL: tuple[Kind, ...] = ((1, True), (0, True))


@claim(
    id="universal.gated.generic",
    source=Source(PAPER, "Theorem E.3"),
    latex=r"\Delta = \det \overline P_0 \prod_{l,j} \det B_{l,j} \not\equiv 0",
    scope="all H, L, d, d_in, r and every m >= s_0; absolutely continuous draws",
    uses=("universal.gated.probe", "universal.gated.sparse"),
    expected=Status.PROVED,
)
def almost_every_gated_draw_meets_the_lemma() -> tuple[Check, ...]:
    """Almost every draw meets the probe conditions of gated blocks: P_0 has full column rank and
    every local block is invertible.
    """  # noqa: D205 - one statement, in one sentence
    return generic_checks(routed.LAYOUT, GATED)


@claim(
    id="universal.residual.generic",
    source=Source(PAPER, "Appendix E, residual blocks"),
    latex=r"\Delta = \det \overline P_0 \prod_{l,j} \det B_{l,j} \not\equiv 0",
    scope="all H, L, d, d_in, r (also none) and every m >= s_0; absolutely continuous draws",
    uses=("universal.probes.layer", "universal.gated.probe", "universal.residual.sparse"),
    expected=Status.PROVED,
)
def almost_every_residual_draw_meets_the_lemma() -> tuple[Check, ...]:
    """Almost every draw meets the probe conditions of residual blocks, gated or not."""
    return generic_checks(routed.LAYOUT, RESIDUAL)
