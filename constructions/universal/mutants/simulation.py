"""Wrong constructions of which the whole output is compared."""

from __future__ import annotations

from constructions.universal import (
    looped,
    simulation,
    tree,
)
from constructions.universal.mutants.layouts import (
    a_layer_late,
    changed,
    heads_swapped,
    leaves_keep_their_end,
)
from verify.claims import Check
from verify.mutants import mutant


@mutant(
    of="universal.end_to_end",
    breaks="construction",
    name="heads_swapped",
    latex=r"\mathrm{UTF}(X, E) = T(X)",
)
def outputs_agree_with_heads_swapped() -> tuple[Check, ...]:
    """The tree computes every target with its heads swapped."""
    return simulation.end_to_end_checks((changed(tree.LAYOUT, heads_swapped),))


@mutant(
    of="universal.end_to_end",
    breaks="construction",
    name="mask_off",
    latex=r"\mathrm{UTF}(X, E) = T(X)",
)
def outputs_agree_with_a_mask_off() -> tuple[Check, ...]:
    """The tree computes every target with the masks of the layer before."""
    return simulation.end_to_end_checks((changed(tree.LAYOUT, a_layer_late),))


@mutant(
    of="universal.end_to_end",
    breaks="construction",
    name="leaf_keeps_its_end",
    latex=r"\mathrm{UTF}(X, E) = T(X)",
)
def outputs_agree_if_leaves_keep_their_end() -> tuple[Check, ...]:
    """The looped construction computes every target if leaves keep their end."""
    return simulation.end_to_end_checks((changed(looped.LAYOUT, leaves_keep_their_end),))
