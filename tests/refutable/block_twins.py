"""Wrong twins of the claims on drawn, gated, residual and folded models: all are refuted.

`certiformer verify tests/refutable/block_twins.py` finds the smallest instance in its range on
which each fails.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from constructions.universal import (
    block_widths,
    common_width,
    folded,
    gated,
    generic,
    looped,
    ranks,
    residual,
    routed,
    tree,
)
from constructions.universal.comparisons import ATTENTION_ONLY
from constructions.universal.definitions import Target, TransformerSize, Universal
from constructions.universal.drawn import random_model
from constructions.universal.draws import Block
from constructions.universal.instances import DenseModel
from constructions.universal.maps import ColumnMap, Dense, Ones
from verify.claims import Check, load_file
from verify.rational import Matrix
from verify.verdicts import Status

refuting = load_file(Path(__file__).with_name("refuting.py"))
twin, changed = refuting.twin, refuting.changed
heads_swapped, keys_read_queries = refuting.heads_swapped, refuting.keys_read_queries


# --- gated and residual blocks ---------------------------------------------------------------


def doubled_scale(target: Target, width: int) -> Matrix:
    """E of the sparse construction with every alpha_j twice what it is."""
    twice = tuple(down.scaled(2) for down in target.downs)
    return routed.embedding(replace(target, downs=twice), width)


@twin("universal.gated.probe", r"\alpha_j B_j = 2 W_d[j,:] C_l")
def the_scale_may_be_twice_what_it_is() -> tuple[Check, ...]:
    """Gated blocks are simulated if every scale alpha is doubled."""
    scale = "(mul (mul (WU j) (alpha j i)) (alpha j i))"
    return gated.probe_checks(scale, replace(routed.LAYOUT, write=doubled_scale))


def gate_scaled(target: Target, width: int) -> Matrix:
    """E with gate and linear branch exchanged, so that alpha scales what should be the gate."""
    swapped = replace(target, gates=target.ups, ups=target.gates)
    return routed.embedding(swapped, width)


@twin("universal.gated.probe.gate_scaled", r"\hat G_{(j,i)} = \alpha_j[i] W_g e_j")
def the_scale_may_stand_on_the_gate() -> tuple[Check, ...]:
    """Gated blocks are simulated with gate and linear branch exchanged, the scale on the gate."""
    return gated.probe_checks(layout=replace(routed.LAYOUT, write=gate_scaled))


def one_too_far(model: Universal) -> Universal:
    """Every value map sends its coordinates one further than it should."""

    def moved(value: ColumnMap) -> ColumnMap:
        rows = np.where(value.rows >= 0, (value.rows + 1) % model.width, -1)
        return ColumnMap(rows=rows)

    return replace(
        model, values=tuple(tuple(moved(value) for value in layer) for layer in model.values)
    )


@twin("universal.gated.sparse", r"R_V^{l,h} e_c = e_{2Hd+(h-1)2q_l+c+1}")
def a_branch_may_start_one_later() -> tuple[Check, ...]:
    """The sparse parameters serve with every branch one coordinate further on."""
    branch = "(+ (carried l) (* 2 (* H d)) (* (- h 1) (w l)) c 1)"
    layout = changed(routed.LAYOUT, one_too_far)
    return gated.sparse_checks(gated.SPARSE_KIND, ((2, False),), branch, layout)


def gates_on_carried(model: Universal) -> Universal:
    """R_g selects coordinates from the first one on, where P_l has its own."""
    return replace(
        model,
        gates=tuple(
            Ones.at(gate.height, gate.width, np.arange(gate.width), np.arange(gate.width))
            for gate in model.gates
        ),
    )


@twin("universal.residual.sparse", r"R_g = [e_1, \dots, e_{q_l}]")
def gates_may_read_what_is_carried() -> tuple[Check, ...]:
    """The residual construction serves with gates that select the carried coordinates."""
    return residual.residual_sparse_checks(layout=changed(routed.LAYOUT, gates_on_carried))


def repeated_units(model: Universal, hidden: int) -> Universal:
    """Padding that repeats the first unit of each layer."""
    wide = common_width.at_width(model, hidden)

    def again(part: Ones) -> Ones:
        rows = [*part.rows.tolist(), int(part.rows[part.columns == 0][0])]
        return Ones.at(part.height, part.width, rows, [*part.columns.tolist(), part.width - 1])

    def below(part: Ones) -> Ones:
        columns = [*part.columns.tolist(), int(part.columns[part.rows == 0][0])]
        return Ones.at(part.height, part.width, [*part.rows.tolist(), part.height - 1], columns)

    return replace(
        wide,
        gates=tuple(map(again, wide.gates)),
        ups=tuple(map(again, wide.ups)),
        downs=tuple(map(below, wide.downs)),
    )


@twin("universal.gated.common_width", r"R_d[q_l + 1, :] = R_d[1, :]")
def padding_may_repeat_a_unit() -> tuple[Check, ...]:
    """Padding with copies of the first unit changes nothing."""
    return common_width.padding_checks("(= (down j) (down 1))", repeated_units)


def as_printed(size: TransformerSize) -> int:
    """P_0's width if every q_l were r d_in."""
    inner = 2 * size.neurons * size.token_width
    return size.reads + size.heads * inner


@twin("universal.gated.width", r"q_l = r d_{in} \text{ in every layer}")
def the_hidden_width_is_r_d_in() -> tuple[Check, ...]:
    """The universal MLP has width r d_in in every layer."""
    return block_widths.gated_width_checks(as_printed)


@twin("universal.residual.width", r"a = 2(H+1)r")
def one_more_head_is_all() -> tuple[Check, ...]:
    """The residual recursion multiplies by 2(H+1)r, as if H were replaced by H + 1."""
    return block_widths.residual_width_checks(
        growth=lambda heads, neurons: 2 * (heads + 1) * neurons
    )


# --- draws -----------------------------------------------------------------------------------


def keys_are_queries(size: TransformerSize, seed: int) -> DenseModel:
    """A random model that reads its keys where it reads its queries."""
    model = random_model(size, seed)
    return replace(model, keys=model.queries)


@twin("universal.generic.witness", r"R_K = R_Q")
def keys_may_be_drawn_as_queries() -> tuple[Check, ...]:
    """Almost every draw with R_K = R_Q has a P_0 of full column rank."""
    entry = "(ite (= i c) 1.0 1.0)"
    return generic.generic_checks(tree.LAYOUT, ATTENTION_ONLY, entry=entry, draw=keys_are_queries)


@twin("universal.generic.looped", r"R_Q^{l,h} = R_K^{l,h}")
def tied_keys_may_be_drawn_as_queries() -> tuple[Check, ...]:
    """Almost every weight-tied draw with R_K = R_Q has a P_0 of full column rank."""

    def draw(size: TransformerSize, seed: int) -> DenseModel:
        model = random_model(size, seed, tied=True)
        return replace(model, keys=model.queries)

    return generic.generic_checks(looped.LAYOUT, ATTENTION_ONLY, tied=True, draw=draw)


def dead_units(size: TransformerSize, seed: int) -> DenseModel:
    """A random model whose MLPs write nothing."""
    model = random_model(size, seed)
    return replace(
        model,
        downs=tuple(Dense(matrix=Matrix.zero(*down.matrix.shape)) for down in model.downs),
    )


@twin("universal.gated.generic", r"R_d = 0")
def units_may_write_nothing() -> tuple[Check, ...]:
    """Almost every draw with R_d = 0 has invertible local blocks."""
    return generic.generic_checks(routed.LAYOUT, generic.GATED, draw=dead_units)


def blind(size: TransformerSize, seed: int) -> DenseModel:
    """A random model without a readout."""
    model = random_model(size, seed)
    return replace(model, readout=Dense(matrix=Matrix.zero(*model.readout.matrix.shape)))


@twin("universal.residual.generic", r"U = 0")
def the_readout_may_be_zero() -> tuple[Check, ...]:
    """Almost every residual draw with U = 0 has a P_0 of full column rank."""
    return generic.generic_checks(routed.LAYOUT, generic.RESIDUAL, draw=blind)


def zeros(block: Block) -> Block:
    """All-zero weights."""
    return replace(block, wholes=np.zeros_like(block.wholes))


@twin("universal.generic.draws", r"R = 0, U = 0", Status.BOUNDED)
def weights_may_be_zero() -> tuple[Check, ...]:
    """All-zero weights have full rank."""
    return ranks.draws_checks(zeros)


def repeated_columns(block: Block) -> Block:
    """Every column of a parameter is its first."""
    return replace(block, wholes=np.repeat(block.wholes[:, :1], block.wholes.shape[1], axis=1))


@twin("universal.generic.draws.repeated", r"R e_j = R e_1", Status.BOUNDED)
def columns_may_be_repeated() -> tuple[Check, ...]:
    """Draws whose columns are all the same have full rank."""
    return ranks.draws_checks(repeated_columns)


# --- folded ----------------------------------------------------------------------------------


@twin("universal.folded.identity", r"R_K^{l,h} = R_Q^{l,h}")
def folded_keys_may_read_queries() -> tuple[Check, ...]:
    """The folded tree serves with key readers that read the logits' factor."""
    return folded.folded_checks(
        layouts=(changed(folded.LAYOUT, keys_read_queries), folded.TIED_LAYOUT)
    )


@twin("universal.folded.identity.heads_swapped", r"R_V^h \text{ prepends } H+1-h")
def the_other_head_is_prepended() -> tuple[Check, ...]:
    """The folded looped layout serves if each value map prepends the other head."""
    return folded.folded_checks(layouts=(folded.LAYOUT, changed(folded.TIED_LAYOUT, heads_swapped)))


@twin("universal.folded.identity.unfolded", r"F_Q = W_Q,\ F_K = W_K")
def unfolded_factors_may_be_stored() -> tuple[Check, ...]:
    """The folded tree serves with E written from the queries alone, not from the logits."""

    def write(target: Target, width: int) -> Matrix:
        unit = folded.refold(target).keys
        return folded.embedding(replace(target, keys=unit), width)

    return folded.folded_checks(layouts=(replace(folded.LAYOUT, write=write), folded.TIED_LAYOUT))
