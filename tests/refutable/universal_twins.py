"""Wrong twins of the claims on universal transformers and their lower bounds: all are refuted.

Each twin is a claim of ours with one thing broken: a rule of its theory, a fixed parameter, a
width, a sum. `certiformer verify tests/refutable/universal_twins.py` finds the smallest instance
in its range on which each fails.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from constructions.universal import (
    equations,
    lemma,
    looped,
    shift,
    simulation,
    single_head,
    sums,
    tree,
    unrolling,
)
from constructions.universal.definitions import Target, TransformerSize, Universal
from constructions.universal.layouts import LEAF, Coordinates, coordinates
from constructions.universal.maps import ColumnMap, Ones
from lowerbounds import spanning
from lowerbounds.shared_attention import fixed_factors, free_factors
from verify.claims import Check, load_file
from verify.rational import Matrix
from verify.verdicts import Status

refuting = load_file(Path(__file__).with_name("refuting.py"))
twin, changed = refuting.twin, refuting.changed
heads_swapped, keys_read_queries = refuting.heads_swapped, refuting.keys_read_queries


# --- broken layouts --------------------------------------------------------------------------


def a_layer_late(model: Universal) -> Universal:
    """R_V^{l,h} of layer l - 1, from the second layer on."""
    return replace(model, values=(model.values[0], *model.values[:-1]))


def one_leaf(model: Universal) -> Universal:
    """U reads the first leaf only."""
    width = model.size.token_width
    first = [int(model.readout.rows[model.readout.columns == c][0]) for c in range(width)]
    return replace(model, readout=Ones.at(model.width, width, first, range(width)))


def also_read(model: Universal, row: int, column: int) -> Universal:
    """The first query map with one more 1."""
    first = model.queries[0][0]
    more = Ones.at(
        first.height, first.width, [*first.rows.tolist(), row], [*first.columns.tolist(), column]
    )
    return replace(model, queries=((more, *model.queries[0][1:]), *model.queries[1:]))


def spare_is_read(model: Universal) -> Universal:
    """R_Q^{1,1} reads the last coordinate as well, which is a spare one if there is any."""
    spare = model.width > model.size.probe_width
    return also_read(model, model.width - 1, 0) if spare else model


def two_ones_in_a_row(model: Universal) -> Universal:
    """The row that R_Q^{1,1} reads in its first column it also reads in its last."""
    wide = model.size.head_width > 1
    row = int(model.queries[0][0].rows[0])
    return also_read(model, row, model.size.head_width - 1) if wide else model


def by_two_blocks(model: Universal) -> Universal:
    """The shift's value map moves each block by two."""
    block, rows = shift.block_width(model.size), model.values[0][0].rows
    moved = np.where((rows >= 0) & (rows + block < model.width), rows + block, -1)
    return replace(model, values=((ColumnMap(rows=moved),),) * model.size.layers)


def leaves_keep_their_end(model: Universal) -> Universal:
    """A leaf s goes to (h, s_2, .., s_L): its first head is replaced and its end kept."""
    places = coordinates(model.size, model.width)
    maps = tuple(_keeping(places, h, value) for h, value in enumerate(model.values[0]))
    return replace(model, values=(maps,) * model.size.layers)


def _keeping(places: Coordinates, head: int, value: ColumnMap) -> ColumnMap:
    size = places.size
    ends: int = size.heads ** (size.layers - 1)
    leaf = head * ends + places.number % ends
    start = 2 * size.heads * size.head_width * size.internal_nodes
    kept = start + leaf * size.token_width + places.column
    return ColumnMap(rows=np.where(places.kind == LEAF, kept, value.rows))


def last_leaves_first(target: Target, width: int) -> Matrix:
    """E of the tree with its leaves in reverse: each holds the product of another path."""
    right = tree.embedding(target, width)
    places = coordinates(target.size, width)
    order = np.arange(width)
    leaves = np.flatnonzero(places.kind == LEAF).reshape(-1, target.size.token_width)
    order[leaves.ravel()] = leaves[::-1].ravel()
    return right.select_rows(order.tolist())


# --- tree ------------------------------------------------------------------------------------


@twin("universal.tree.mask_off", r"R_V^{l,h} \text{ keeps the paths with head } h \text{ at } l-1")
def masks_look_at_the_layer_before() -> tuple[Check, ...]:
    """The masks of the layer before pick the block of their path."""
    rule = "(and (>= (depth i) l) (= (path i (ite (= l 1) 1 (- l 1))) g))"
    return tree.identity_checks(rule, changed(tree.LAYOUT, a_layer_late))


@twin("universal.tree.heads_swapped", r"R_V^{l,h} \text{ keeps the paths with head } H+1-h")
def masks_of_the_other_head() -> tuple[Check, ...]:
    """The masks of the other head pick the block of their path."""
    rule = "(and (>= (depth i) l) (= (path i l) (- (+ H 1) g)))"
    return tree.identity_checks(rule, changed(tree.LAYOUT, heads_swapped))


@twin("universal.tree.keys_read_queries", r"R_K^{l,h} = R_Q^{l,h}")
def a_key_reader_may_read_queries() -> tuple[Check, ...]:
    """The tree serves with key readers that read the query columns."""
    return tree.identity_checks(layout=changed(tree.LAYOUT, keys_read_queries))


@twin("universal.tree.one_leaf", r"U = S_{C_{(1,\dots,1)}}")
def one_leaf_is_enough() -> tuple[Check, ...]:
    """The tree serves with a readout that reads one leaf, as the looped construction's does."""
    return tree.identity_checks(layout=changed(tree.LAYOUT, one_leaf))


@twin("universal.tree.wrong_leaf", r"E_{C_p} = M^{1:L,p'},\ p' = (H+1-p_1, \dots)")
def leaves_of_the_wrong_heads() -> tuple[Check, ...]:
    """The tree serves with each leaf of E written for the path of the other heads."""
    return tree.identity_checks(layout=replace(tree.LAYOUT, write=last_leaves_first))


@twin("universal.tree.one_coordinate_less", r"m = \overline m - 1")
def one_coordinate_less_serves() -> tuple[Check, ...]:
    """The tree fits into one coordinate less than it has."""
    narrow = replace(tree.LAYOUT, least_width=lambda size: size.probe_width - 1)
    return (tree.selection_check(narrow), *tree.identity_checks(layout=narrow))


@twin("universal.tree.width", r"\overline m - 1")
def the_tree_has_one_coordinate_less() -> tuple[Check, ...]:
    """The tree has one coordinate less than m-bar."""
    return tree.width_checks(lambda size: size.probe_width - 1)


@twin("universal.tree.binary", r"R_Q e_1 = R_Q e_d")
def a_row_may_hold_two_ones() -> tuple[Check, ...]:
    """The parameters stay sparse selections with two ones in a row of a reader."""
    return tree.binary_checks(changed(tree.LAYOUT, two_ones_in_a_row))


@twin("universal.tree.padding", r"R_Q^{1,1} \text{ reads coordinate } m > \overline m")
def spare_coordinates_may_be_read() -> tuple[Check, ...]:
    """Any larger m serves if a reader reads a spare coordinate."""
    return tree.padding_checks(changed(tree.LAYOUT, spare_is_read))


# --- shift, looped, one head -----------------------------------------------------------------


@twin("universal.shift.by_two_blocks", r"E R^{l-1} S_1 = E S_{2l-1}")
def a_shift_by_two_blocks() -> tuple[Check, ...]:
    """A shift by two blocks brings each block to the front."""
    return shift.shift_checks(
        "(= (shift (at i o)) (at (+ i 2) o))", changed(shift.LAYOUT, by_two_blocks)
    )


@twin("universal.looped.leaf_keeps_its_end", r"s \mapsto (h, s_2, \dots, s_L)")
def a_leaf_that_keeps_its_end() -> tuple[Check, ...]:
    """The readout forgets its leaf if a value map replaces a leaf's first head."""
    rule = "(= (path (push g i) s) (path i (ite (= (kind i) KC) s (- s 1))))"
    return looped.looped_checks(rule, changed(looped.LAYOUT, leaves_keep_their_end))


@twin("universal.looped.heads_swapped", r"R_V^h \text{ prepends } H+1-h")
def the_other_head_is_prepended() -> tuple[Check, ...]:
    """The looped construction serves if each value map prepends the other head."""
    return looped.looped_checks(layout=changed(looped.LAYOUT, heads_swapped))


@twin("universal.looped.untied", r"R_V^{l,h} = R_V^h")
def the_tree_is_weight_tied() -> tuple[Check, ...]:
    """The tree's own parameters are shared by all layers."""
    return looped.looped_checks(layout=replace(tree.LAYOUT, tied=True))


@twin("universal.single_head.sharper", r"2Ld + d_{in} - 1")
def one_head_needs_one_less_still() -> tuple[Check, ...]:
    """2Ld + d_in - 1 coordinates suffice for H = 1."""
    return single_head.sharper_checks(lambda size: single_head.sharp_width(size) - 1)


# --- lemma, unrolling, equations, sums -------------------------------------------------------


def other_logits(target: Target, seed: int) -> Target:
    """Factors of other logits: the keys are changed as the queries are."""
    right = lemma.refactored(target, seed)
    size = target.size
    doubled = tuple(tuple(key.scaled(2) for key in layer) for layer in right.keys)
    return replace(right, keys=doubled) if size.layers > 1 else right


@twin("universal.probes.layer", r"F_Q F_K^T = 2 W_Q W_K^T")
def any_factors_will_do() -> tuple[Check, ...]:
    """The models agree if E is written from factors of other logits."""
    return lemma.lemma_checks(factors="true", factor=other_logits)


def reversed_path_sum(
    attention: Any, factors: Callable[[int, int], Matrix], inputs: Matrix, layers: int
) -> Matrix:
    """The sum over paths with the value factors of the last layer first."""
    return unrolling.path_sum(
        attention, lambda layer, head: factors(layers - 1 - layer, head), inputs, layers
    )


@twin("universal.paths.reversed", r"X^l = \sum A^{l,h_l} \cdots X^0 M^{l,h_l} \cdots M^{1,h_1}")
def streams_are_sums_with_factors_reversed() -> tuple[Check, ...]:
    """Streams are the sums over paths with the value factors in reverse."""
    return unrolling.unrolling_checks(
        "(= (right (snoc q h)) (mul (V (len q) h) (right q)))", total=reversed_path_sum
    )


def sum_without_a_head(
    attention: Any, factors: Callable[[int, int], Matrix], inputs: Matrix, layers: int
) -> Matrix:
    """The sum over the paths that never take the last of several heads."""
    fewer = tuple(layer[: max(1, len(layer) - 1)] for layer in attention)
    return unrolling.path_sum(fewer, factors, inputs, layers)


@twin("universal.paths.skips_a_head", r"X^l = \sum_{(h_1,\dots,h_l) \in [H-1]^l} \cdots")
def streams_are_sums_without_the_last_head() -> tuple[Check, ...]:
    """Streams are the sums over paths that skip the last head."""
    return unrolling.unrolling_checks(total=sum_without_a_head)


@twin("universal.paths.identities", r"P_{l-1} = [\dots, \{R_V^{l,H+1-h} P_l\}_h]")
def columns_of_the_other_heads() -> tuple[Check, ...]:
    """The columns of P_0 are the printed products with the heads swapped."""
    return equations.equations_checks(changed(tree.LAYOUT, heads_swapped), swap=True)


def all_but_the_last(family: tuple[Matrix, ...]) -> Matrix:
    """A sum that drops its last member."""
    return sums.summed(family[:-1])


@twin("universal.sums.laws", r"\sum_h f_h = f_1 + \dots + f_{H-1}")
def a_sum_may_skip_a_head() -> tuple[Check, ...]:
    """The sum over the heads may leave out the last one."""
    return sums.sums_checks("(partial f m)", all_but_the_last)


# --- end to end ------------------------------------------------------------------------------


@twin("universal.end_to_end.heads_swapped", r"\mathrm{UTF}(X, E) = T(X)", Status.SAMPLED)
def outputs_agree_with_heads_swapped() -> tuple[Check, ...]:
    """The tree computes every target with its heads swapped."""
    return simulation.end_to_end_checks((changed(tree.LAYOUT, heads_swapped),))


@twin("universal.end_to_end.mask_off", r"\mathrm{UTF}(X, E) = T(X)", Status.SAMPLED)
def outputs_agree_with_a_mask_off() -> tuple[Check, ...]:
    """The tree computes every target with the masks of the layer before."""
    return simulation.end_to_end_checks((changed(tree.LAYOUT, a_layer_late),))


@twin("universal.end_to_end.leaf_keeps_its_end", r"\mathrm{UTF}(X, E) = T(X)", Status.SAMPLED)
def outputs_agree_if_leaves_keep_their_end() -> tuple[Check, ...]:
    """The looped construction computes every target if leaves keep their end."""
    return simulation.end_to_end_checks((changed(looped.LAYOUT, leaves_keep_their_end),))


# --- lower bounds ----------------------------------------------------------------------------


@twin("lowerbounds.spanning.fixed_readout", r"m - 1 \ge H^L")
def a_fixed_readout_needs_one_more() -> tuple[Check, ...]:
    """A fixed readout needs H^L + 1 coordinates."""
    return spanning.spanning_checks(
        inner="(- m 1)",
        words="T factors through one coordinate less",
        factors=fixed_factors,
        bound=lambda model: model.width - 1,
    )


@twin("lowerbounds.spanning.free_readout", r"m^2 - 1 \ge H^L")
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


@twin("lowerbounds.spanning.condition", r"A^{l,1} = A^{l,2}")
def equal_heads_have_independent_path_vectors() -> tuple[Check, ...]:
    """Path vectors are independent where both heads attend alike."""
    return spanning.condition_checks(equal_heads)


def least_width(size: TransformerSize) -> int:
    """(L + 1) b - 1."""
    return shift.shift_width(size) - 1


@twin("universal.shift.one_coordinate_less", r"m = (L+1) \max\{2d, d_{in}\} - 1")
def the_shift_fits_one_coordinate_less() -> tuple[Check, ...]:
    """The shift fits into one coordinate less than it has."""
    return shift.shift_checks(layout=replace(shift.LAYOUT, least_width=least_width))
