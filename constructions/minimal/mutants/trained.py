"""Wrong versions of what is claimed of trained minimal transformers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from constructions.minimal import cover, decision
from constructions.minimal.cover import GroupCover, Leaf
from constructions.minimal.definitions import HIDDEN, LENGTHS, WIDTH, Model, shapes
from constructions.minimal.geometry import READINGS, geometry_checks, later_outweighs
from constructions.minimal.rule import decided_checks, holds_checks, parameters_checks
from constructions.minimal.shipped import shipped
from verify.claims import Check
from verify.mutants import mutant


@mutant(
    of="minimal.parameters", breaks="size", latex=r"\text{with an output projection in the head}"
)
def an_output_projection_keeps_250_parameters() -> tuple[Check, ...]:
    """With an output projection W_O in the head the model has 250 parameters."""
    return parameters_checks(lambda: {**shapes(), "W_O": (WIDTH, WIDTH)})


@mutant(of="minimal.parameters", breaks="size", name="width", latex=r"h = 16")
def half_the_hidden_width_keeps_250_parameters() -> tuple[Check, ...]:
    """With 16 hidden neurons the model has 250 parameters."""
    return parameters_checks(lambda: shapes(hidden=HIDDEN // 2))


def relabelled(model: Model, length: int) -> tuple[GroupCover, ...]:
    """Covers whose first wrong leaf is called right, or the first leaf wrong if there is none."""
    found = list(cover.cover(model, length))
    for place, part in enumerate(found):
        if isinstance(part.tree, Leaf) and part.tree.label == "wrong":
            found[place] = replace(part, tree=replace(part.tree, label="right"))
            return tuple(found)
    tree = found[0].tree
    if isinstance(tree, Leaf):
        found[0] = replace(found[0], tree=replace(tree, label="wrong"))
    return tuple(found)


@mutant(of="minimal.rule.decided", breaks="rule", latex=r"\text{one label turned}")
def a_cover_may_turn_a_label() -> tuple[Check, ...]:
    """A table from covers in which one set has the other label is complete."""
    return decided_checks(covered=relabelled)


def thinned(model: Model, length: int) -> tuple[GroupCover, ...]:
    """Covers without the last group."""
    return cover.cover(model, length)[:-1]


@mutant(of="minimal.rule.decided", breaks="rule", name="groups", latex=r"\text{one group left out}")
def a_cover_may_leave_windows_out() -> tuple[Check, ...]:
    """A table from covers that leave out the windows with 10 just before the + is complete."""
    return decided_checks(covered=thinned)


def perturbed(model: Model, step: float = 0.5) -> Model:
    """The model with the readout of 4 lowered until some window flips."""
    times = 0
    while True:
        times += 1
        offsets = np.array(model.tensors["c"])
        offsets[4] -= times * step
        found = Model(tensors={**model.tensors, "c": offsets})
        lengths = (length for length in LENGTHS if length <= found.context)
        tallies = (decision.covered(n, cover.cover(found, n)) for n in lengths)
        if any(tally.wrong for tally in tallies):
            return found


@mutant(of="minimal.rule.holds", breaks="construction", latex=r"c_4 \mapsto c_4 - \delta")
def a_perturbed_readout_still_holds_the_rule() -> tuple[Check, ...]:
    """The perfect checkpoint still holds the rule with one weight changed until a window flips."""
    return holds_checks(perturbed(shipped("windows").model))


@mutant(
    of="minimal.geometry",
    breaks="rule",
    latex=r"\langle q_+, k_{e,i} \rangle > \langle q_+, k_{e',i+1} \rangle",
)
def earlier_evens_outweigh_later_ones() -> tuple[Check, ...]:
    """Earlier even numbers outweigh later ones."""

    def earlier_outweighs(model: Model, length: int) -> str:
        two = range(2, length)
        held = later_outweighs(model, length)
        return "" if held or not two else "the later even number has the greater score"

    return geometry_checks(readings={**READINGS, "later": earlier_outweighs})


@mutant(
    of="minimal.geometry",
    breaks="construction",
    name="paper",
    latex=r"\text{the readings for the checkpoint of Table 2}",
)
def the_readings_hold_for_the_paper_s_recipe() -> tuple[Check, ...]:
    """The readings hold for the checkpoint of the paper's recipe."""
    return geometry_checks(shipped("paper").model)


@mutant(of="minimal.rule.holds", breaks="rule", name="groups", latex=r"\text{one group left out}")
def a_compact_proof_may_leave_windows_out() -> tuple[Check, ...]:
    """Covers that leave out the windows with 10 just before the + prove the rule."""
    return holds_checks(covered=thinned)


def counted_in_whole_numbers(model: Model, length: int) -> decision.Tally:
    """The windows of a length as the model with its weights rounded to integers decides them."""
    rounded = {name: np.rint(tensor) for name, tensor in model.tensors.items()}
    return decision.counted(Model(tensors=rounded), length)


@mutant(
    of="minimal.rule.holds",
    breaks="precision",
    name="rounded",
    latex=r"\theta \mapsto \lfloor \theta \rceil",
)
def a_count_may_round_the_weights() -> tuple[Check, ...]:
    """Counting finds no wrong window if it rounds the weights to integers."""
    return holds_checks(counted=counted_in_whole_numbers)
