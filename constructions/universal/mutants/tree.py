"""Wrong versions of the tree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from constructions.universal import (
    tree,
)
from constructions.universal.definitions import Target, TransformerSize, Universal
from constructions.universal.layouts import LEAF, coordinates
from constructions.universal.maps import Ones
from constructions.universal.mutants.layouts import (
    a_layer_late,
    changed,
    heads_swapped,
    keys_read_queries,
    one_wide_head,
    where,
)
from verify.claims import Check
from verify.mutants import mutant
from verify.rational import Matrix


def one_less(size: TransformerSize) -> int:
    """m-bar - 1."""
    return size.probe_width - 1


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


def last_leaves_first(target: Target, width: int) -> Matrix:
    """E of the tree with its leaves in reverse: each holds the product of another path."""
    right = tree.embedding(target, width)
    places = coordinates(target.size, width)
    order = np.arange(width)
    leaves = np.flatnonzero(places.kind == LEAF).reshape(-1, target.size.token_width)
    order[leaves.ravel()] = leaves[::-1].ravel()
    return right.select_rows(order.tolist())


@mutant(
    of="universal.tree.identity",
    breaks="construction",
    name="mask_off",
    latex=r"R_V^{l,h} \text{ keeps the paths with head } h \text{ at } l-1",
)
def masks_look_at_the_layer_before() -> tuple[Check, ...]:
    """The masks of the layer before pick the block of their path."""
    rule = "(and (>= (depth i) l) (= (path i (ite (= l 1) 1 (- l 1))) g))"
    return tree.identity_checks(rule, changed(tree.LAYOUT, a_layer_late))


@mutant(
    of="universal.tree.identity",
    breaks="construction",
    name="heads_swapped",
    latex=r"R_V^{l,h} \text{ keeps the paths with head } H+1-h",
)
def masks_of_the_other_head() -> tuple[Check, ...]:
    """The masks of the other head pick the block of their path."""
    rule = "(and (>= (depth i) l) (= (path i l) (- (+ H 1) g)))"
    return tree.identity_checks(rule, changed(tree.LAYOUT, heads_swapped))


@mutant(
    of="universal.tree.identity",
    breaks="construction",
    name="keys_read_queries",
    latex=r"R_K^{l,h} = R_Q^{l,h}",
)
def a_key_reader_may_read_queries() -> tuple[Check, ...]:
    """The tree serves with key readers that read the query columns."""
    return tree.identity_checks(layout=changed(tree.LAYOUT, keys_read_queries))


@mutant(
    of="universal.tree.identity",
    breaks="construction",
    name="one_leaf",
    latex=r"U = S_{C_{(1,\dots,1)}}",
)
def one_leaf_is_enough() -> tuple[Check, ...]:
    """The tree serves with a readout that reads one leaf, as the looped construction's does."""
    return tree.identity_checks(layout=changed(tree.LAYOUT, one_leaf))


@mutant(
    of="universal.tree.identity",
    breaks="construction",
    name="wrong_leaf",
    latex=r"E_{C_p} = M^{1:L,p'},\ p' = (H+1-p_1, \dots)",
)
def leaves_of_the_wrong_heads() -> tuple[Check, ...]:
    """The tree serves with each leaf of E written for the path of the other heads."""
    return tree.identity_checks(layout=replace(tree.LAYOUT, write=last_leaves_first))


@mutant(
    of="universal.tree.identity",
    breaks="size",
    name="one_coordinate_less",
    latex=r"m = \overline m - 1",
)
def one_coordinate_less_serves() -> tuple[Check, ...]:
    """The tree fits into one coordinate less than it has."""
    return tree.identity_checks(layout=replace(tree.LAYOUT, least_width=one_less))


@mutant(of="universal.tree.width", breaks="size", latex=r"\overline m - 1")
def the_tree_has_one_coordinate_less() -> tuple[Check, ...]:
    """The tree has one coordinate less than m-bar."""
    return tree.width_checks(one_less)


@mutant(of="universal.tree.binary", breaks="construction", latex=r"R_Q e_1 = R_Q e_d")
def a_row_may_hold_two_ones() -> tuple[Check, ...]:
    """The parameters stay sparse selections with two ones in a row of a reader."""
    return tree.binary_checks(changed(tree.LAYOUT, two_ones_in_a_row))


@mutant(
    of="universal.tree.padding",
    breaks="construction",
    latex=r"R_Q^{1,1} \text{ reads coordinate } m > \overline m",
)
def spare_coordinates_may_be_read() -> tuple[Check, ...]:
    """Any larger m serves if a reader reads a spare coordinate."""
    return tree.padding_checks(changed(tree.LAYOUT, spare_is_read))


@mutant(
    of="universal.tree.binary",
    breaks="construction",
    name="one_head",
    latex=r"R_Q e_1 = R_Q e_d,\ H = 1",
)
def one_head_may_hold_two_ones_in_a_row() -> tuple[Check, ...]:
    """One head of width 2 may read a coordinate twice where tokens have width 1."""
    return tree.binary_checks(changed(tree.LAYOUT, where(one_wide_head, two_ones_in_a_row)))


@mutant(of="universal.tree.padding", breaks="construction", name="one_head")
def one_head_may_read_a_spare_coordinate() -> tuple[Check, ...]:
    """One head of width 2 may read a spare coordinate where tokens have width 1."""
    return tree.padding_checks(changed(tree.LAYOUT, where(one_wide_head, spare_is_read)))


@mutant(of="universal.tree.width", breaks="bound", name="keys", latex=r"H d \text{ in a node}")
def the_columns_of_keys_are_not_counted() -> tuple[Check, ...]:
    """The closed form counts H d coordinates in a node, those of the queries."""
    return tree.width_checks(counted=lambda heads, width: heads * width)
