"""Wrong versions of the folded constructions."""

from __future__ import annotations

from dataclasses import replace

from constructions.universal import (
    folded,
)
from constructions.universal.definitions import Target
from constructions.universal.mutants.layouts import (
    changed,
    heads_swapped,
    keys_read_queries,
)
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


@mutant(
    of="universal.folded.identity",
    breaks="construction",
    name="unfolded",
    latex=r"F_Q = W_Q,\ F_K = W_K",
)
def unfolded_factors_may_be_stored() -> tuple[Check, ...]:
    """The folded tree serves with E written from the queries alone, not from the logits."""

    def write(target: Target, width: int) -> Matrix:
        unit = folded.refold(target).keys
        return folded.embedding(replace(target, keys=unit), width)

    return folded.folded_checks(layouts=(replace(folded.LAYOUT, write=write), folded.TIED_LAYOUT))
