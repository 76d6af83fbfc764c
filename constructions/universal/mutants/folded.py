"""Wrong versions of the folded constructions."""

from __future__ import annotations

from dataclasses import replace

from constructions.universal import folded
from constructions.universal.comparisons import refactored
from constructions.universal.definitions import Target
from constructions.universal.mutants.layouts import (
    changed,
    heads_swapped,
    keys_read_queries,
)
from constructions.universal.mutants.paths import other_logits
from verify.claims import Check
from verify.mutants import mutant
from verify.rational import Matrix


@mutant(of="universal.folded.identity", breaks="construction", latex=r"R_K^{l,h} = R_Q^{l,h}")
def folded_keys_may_read_queries() -> tuple[Check, ...]:
    """The folded tree serves with key readers that read the logits' factor."""
    return folded.folded_checks(
        layouts=(changed(folded.LAYOUT, keys_read_queries), folded.TIED_LAYOUT)
    )


@mutant(
    of="universal.folded.identity",
    breaks="construction",
    name="heads_swapped",
    latex=r"R_V^h \text{ prepends } H+1-h",
)
def the_other_head_is_prepended() -> tuple[Check, ...]:
    """The folded looped layout serves if each value map prepends the other head."""
    return folded.folded_checks(layouts=(folded.LAYOUT, changed(folded.TIED_LAYOUT, heads_swapped)))


def queries_alone(target: Target, width: int) -> Matrix:
    """E written from the queries, not from the logits."""
    unit = folded.refold(target).keys
    return folded.embedding(replace(target, keys=unit), width)


@mutant(
    of="universal.folded.identity",
    breaks="construction",
    name="unfolded",
    latex=r"F_Q = W_Q,\ F_K = W_K",
)
def unfolded_factors_may_be_stored() -> tuple[Check, ...]:
    """The folded tree serves with E written from the queries alone, not from the logits."""
    return folded.folded_checks(
        layouts=(replace(folded.LAYOUT, write=queries_alone), folded.TIED_LAYOUT)
    )


@mutant(
    of="universal.folded.identity",
    breaks="construction",
    name="unfolded_tied",
    latex=r"F_Q = W_Q,\ F_K = W_K",
)
def unfolded_factors_may_be_stored_where_layers_share() -> tuple[Check, ...]:
    """The folded looped layout serves with E written from the queries alone."""
    tied = replace(folded.TIED_LAYOUT, write=queries_alone)
    return folded.folded_checks(layouts=(folded.LAYOUT, tied))


@mutant(of="universal.folded.identity", breaks="bound", name="keys", latex=r"m \ge H d_{in} \cdots")
def the_block_of_all_keys_is_not_counted() -> tuple[Check, ...]:
    """The closed form counts H d_in coordinates in a node."""
    return folded.folded_checks(counted=lambda heads, tokens: heads * tokens)


@mutant(
    of="universal.folded.identity", breaks="rule", name="logits", latex=r"F_Q F_K^T = 2 W_Q W_K^T"
)
def any_folded_factors_will_do() -> tuple[Check, ...]:
    """The folded tree agrees with the target if E is written from factors of other logits."""
    return folded.folded_checks(factors=(other_logits, refactored))


@mutant(
    of="universal.folded.identity",
    breaks="rule",
    name="logits_tied",
    latex=r"F_Q F_K^T = 2 W_Q W_K^T",
)
def any_folded_factors_will_do_where_layers_share() -> tuple[Check, ...]:
    """The folded looped layout agrees if E is written from factors of other logits."""
    return folded.folded_checks(factors=(refactored, other_logits))
