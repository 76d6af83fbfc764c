"""Wrong versions of the shift, of the looped construction and of one head."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from constructions.universal import (
    looped,
    shift,
    single_head,
    tree,
)
from constructions.universal.definitions import TransformerSize, Universal
from constructions.universal.maps import ColumnMap
from constructions.universal.mutants.layouts import (
    changed,
    heads_swapped,
    keys_read_queries,
    leaves_keep_their_end,
    one_wide_head,
    where,
)
from verify.claims import Check
from verify.mutants import mutant


def by_two_blocks(model: Universal) -> Universal:
    """The shift's value map moves each block by two."""
    block, rows = shift.block_width(model.size), model.values[0][0].rows
    moved = np.where((rows >= 0) & (rows + block < model.width), rows + block, -1)
    return replace(model, values=((ColumnMap(rows=moved),),) * model.size.layers)


@mutant(
    of="universal.shift.identity",
    breaks="construction",
    name="by_two_blocks",
    latex=r"E R^{l-1} S_1 = E S_{2l-1}",
)
def a_shift_by_two_blocks() -> tuple[Check, ...]:
    """A shift by two blocks brings each block to the front."""
    return shift.shift_checks(
        "(= (shift (at i o)) (at (+ i 2) o))", changed(shift.LAYOUT, by_two_blocks)
    )


def least_width(size: TransformerSize) -> int:
    """(L + 1) b - 1."""
    return shift.shift_width(size) - 1


@mutant(
    of="universal.shift.identity",
    breaks="size",
    name="one_coordinate_less",
    latex=r"m = (L+1) \max\{2d, d_{in}\} - 1",
)
def the_shift_fits_one_coordinate_less() -> tuple[Check, ...]:
    """The shift fits into one coordinate less than it has."""
    return shift.shift_checks(layout=replace(shift.LAYOUT, least_width=least_width))


@mutant(
    of="universal.looped.identity",
    breaks="construction",
    name="leaf_keeps_its_end",
    latex=r"s \mapsto (h, s_2, \dots, s_L)",
)
def a_leaf_that_keeps_its_end() -> tuple[Check, ...]:
    """The readout forgets its leaf if a value map replaces a leaf's first head."""
    rule = "(= (path (push g i) s) (path i (ite (= (kind i) KC) s (- s 1))))"
    return looped.looped_checks(rule, changed(looped.LAYOUT, leaves_keep_their_end))


@mutant(
    of="universal.looped.identity",
    breaks="construction",
    name="heads_swapped",
    latex=r"R_V^h \text{ prepends } H+1-h",
)
def the_other_head_is_prepended() -> tuple[Check, ...]:
    """The looped construction serves if each value map prepends the other head."""
    return looped.looped_checks(layout=changed(looped.LAYOUT, heads_swapped))


@mutant(
    of="universal.looped.identity", breaks="construction", name="untied", latex=r"R_V^{l,h} = R_V^h"
)
def the_tree_is_weight_tied() -> tuple[Check, ...]:
    """The tree's own parameters are shared by all layers."""
    return looped.looped_checks(layout=replace(tree.LAYOUT, tied=True))


@mutant(of="universal.single_head.sharper", breaks="size", latex=r"2Ld + d_{in} - 1")
def one_head_needs_one_less_still() -> tuple[Check, ...]:
    """2Ld + d_in - 1 coordinates suffice for H = 1."""
    return single_head.sharper_checks(lambda size: single_head.sharp_width(size) - 1)


@mutant(of="universal.looped.identity", breaks="construction", name="one_head")
def one_head_may_read_queries_as_keys() -> tuple[Check, ...]:
    """The looped construction serves if one head of width 2 reads queries where keys are meant."""
    return looped.looped_checks(
        layout=changed(looped.LAYOUT, where(one_wide_head, keys_read_queries))
    )


@mutant(of="universal.single_head.sharper", breaks="construction", name="tree")
def the_tree_of_one_head_may_read_queries_as_keys() -> tuple[Check, ...]:
    """The tree of one head fits if its keys are read where its queries are."""
    broken = changed(tree.LAYOUT, keys_read_queries)
    return single_head.sharper_checks(layouts=(broken, looped.LAYOUT))


@mutant(of="universal.single_head.sharper", breaks="construction", name="looped")
def one_looped_head_may_read_queries_as_keys() -> tuple[Check, ...]:
    """The looped construction of one head fits if its keys are read where its queries are."""
    broken = changed(looped.LAYOUT, keys_read_queries)
    return single_head.sharper_checks(layouts=(tree.LAYOUT, broken))
