"""Wrong versions of gated and residual blocks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from constructions.universal import (
    block_widths,
    common_width,
    gated,
    residual,
    routed,
)
from constructions.universal.definitions import Target, TransformerSize, Universal
from constructions.universal.maps import ColumnMap, Ones
from constructions.universal.mutants.layouts import (
    changed,
    keys_read_queries,
    single,
    where,
)
from verify.claims import Check
from verify.mutants import mutant
from verify.rational import Matrix


def doubled_scale(target: Target, width: int) -> Matrix:
    """E of the sparse construction with every alpha_j twice what it is."""
    twice = tuple(down.scaled(2) for down in target.downs)
    return routed.embedding(replace(target, downs=twice), width)


@mutant(of="universal.gated.probe", breaks="rule", latex=r"\alpha_j B_j = 2 W_d[j,:] C_l")
def the_scale_may_be_twice_what_it_is() -> tuple[Check, ...]:
    """Gated blocks are simulated if every scale alpha is doubled."""
    scale = "(mul (mul (WU j) (alpha j i)) (alpha j i))"
    return gated.probe_checks(scale, replace(routed.LAYOUT, write=doubled_scale))


def gate_scaled(target: Target, width: int) -> Matrix:
    """E with gate and linear branch exchanged, so that alpha scales what should be the gate."""
    swapped = replace(target, gates=target.ups, ups=target.gates)
    return routed.embedding(swapped, width)


@mutant(
    of="universal.gated.probe",
    breaks="construction",
    name="gate_scaled",
    latex=r"\hat G_{(j,i)} = \alpha_j[i] W_g e_j",
)
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


@mutant(
    of="universal.gated.sparse",
    breaks="construction",
    latex=r"R_V^{l,h} e_c = e_{2Hd+(h-1)2q_l+c+1}",
)
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


@mutant(of="universal.residual.sparse", breaks="construction", latex=r"R_g = [e_1, \dots, e_{q_l}]")
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


@mutant(
    of="universal.gated.common_width", breaks="construction", latex=r"R_d[q_l + 1, :] = R_d[1, :]"
)
def padding_may_repeat_a_unit() -> tuple[Check, ...]:
    """Padding with copies of the first unit changes nothing."""
    return common_width.padding_checks("(= (down j) (down 1))", repeated_units)


def as_printed(size: TransformerSize) -> int:
    """P_0's width if every q_l were r d_in."""
    inner = 2 * size.neurons * size.token_width
    return size.reads + size.heads * inner


@mutant(of="universal.gated.width", breaks="size", latex=r"q_l = r d_{in} \text{ in every layer}")
def the_hidden_width_is_r_d_in() -> tuple[Check, ...]:
    """The universal MLP has width r d_in in every layer."""
    return block_widths.gated_width_checks(as_printed)


def by_heads_plus_one(heads: int, neurons: int) -> int:
    """2(H+1)r."""
    return 2 * (heads + 1) * neurons


@mutant(of="universal.residual.width", breaks="size", latex=r"a = 2(H+1)r")
def one_more_head_is_all() -> tuple[Check, ...]:
    """The residual recursion multiplies by 2(H+1)r, as if H were replaced by H + 1."""
    return block_widths.residual_width_checks(growth=by_heads_plus_one)


@mutant(of="universal.gated.probe", breaks="construction", name="single")
def one_head_in_one_layer_may_ask_with_its_keys() -> tuple[Check, ...]:
    """Gated blocks are simulated if a single head in one layer reads queries as keys."""
    return gated.probe_checks(layout=changed(routed.LAYOUT, where(single, keys_read_queries)))


@mutant(of="universal.gated.sparse", breaks="construction", name="single")
def a_single_sparse_head_may_read_queries_as_keys() -> tuple[Check, ...]:
    """The sparse parameters serve if a single head in one layer reads queries as keys."""
    layout = changed(routed.LAYOUT, where(single, keys_read_queries))
    return gated.sparse_checks(gated.SPARSE_KIND, ((2, False),), layout=layout)


@mutant(of="universal.residual.sparse", breaks="construction", name="single")
def a_single_residual_head_may_read_queries_as_keys() -> tuple[Check, ...]:
    """The residual construction serves if a single head in one layer reads queries as keys."""
    return residual.residual_sparse_checks(
        layout=changed(routed.LAYOUT, where(single, keys_read_queries))
    )


def repeated_elsewhere(model: Universal, hidden: int) -> Universal:
    """Padding that is right for one head and two layers, and repeats units elsewhere."""
    right = (model.size.heads, model.size.layers) == (1, 2)
    return (common_width.at_width if right else repeated_units)(model, hidden)


@mutant(of="universal.gated.common_width", breaks="construction", name="elsewhere")
def padding_may_repeat_a_unit_elsewhere() -> tuple[Check, ...]:
    """Padding may copy the first unit but for one head and two layers."""
    return common_width.padding_checks(pad=repeated_elsewhere)


def as_without_residual(size: TransformerSize) -> int:
    """The closed form with a = H (2r + 1)."""
    base = size.heads * (2 * size.neurons + 1)
    return sum(base**level * size.reads for level in range(size.layers)) + (
        base**size.layers * size.token_width
    )


@mutant(of="universal.residual.width", breaks="bound", name="carried", latex=r"a = H (2r + 1)")
def the_carried_branch_is_not_counted() -> tuple[Check, ...]:
    """The recursion solves to the closed form with a = H (2 r + 1)."""
    return block_widths.residual_width_checks(as_without_residual)
