"""Wrong twins of the claims on ReLU networks and on their pieces: all are refuted.

`certiformer verify tests/refutable/relu_twins.py` finds the smallest instance in its range on
which each fails.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from constructions.machines.block_claims import block_checks
from constructions.machines.relu import AffineLayer, ReluNetwork, linear, parity_network
from constructions.machines.relu_claims import parity_checks
from constructions.machines.relu_lemmas import MARGIN, relu
from constructions.machines.relu_machine import MachineNetwork, machine_network
from constructions.machines.relu_network_claims import network_checks
from lowerbounds.pieces import pieces_checks
from verify.claims import Check, load_file
from verify.verdicts import Status

twin = load_file(Path(__file__).with_name("refuting.py")).twin


# --- parities --------------------------------------------------------------------------------


@twin("machines.relu.parity", r"K - 1 \text{ levels suffice for } c \le 2^K")
def a_level_is_missing() -> tuple[Check, ...]:
    """The first fold is at 2^(K - 2)."""
    return parity_checks(make=lambda n, bits, scale: parity_network(n, max(1, bits - 1), scale))


@twin("machines.relu.parity.scale", r"s < m")
def the_scale_is_below_the_context() -> tuple[Check, ...]:
    """Bits are read at a quarter of the scale."""
    return parity_checks(make=lambda n, bits, scale: parity_network(n, bits, max(1, scale // 4)))


def without_margin(symbols: int, bits: int, scale: int) -> ReluNetwork:
    """The bit is relu(2 s t) alone."""
    right = parity_network(symbols, bits, scale)
    forms = [((2 * place, 1),) for place in range(symbols)]
    return replace(right, output=linear(forms, 2 * symbols))


@twin("machines.relu.parity.margin", r"p = \mathrm{relu}(2 s t)")
def the_bit_is_read_without_the_margin() -> tuple[Check, ...]:
    """No second neuron cuts relu(2 s t) off at 1."""
    return parity_checks(read_rule=relu(MARGIN), make=without_margin)


def half_folds(symbols: int, bits: int, scale: int) -> ReluNetwork:
    """Levels without the neurons relu(2^k y - x)."""
    right = parity_network(symbols, bits, scale)

    def halved(layer: AffineLayer) -> AffineLayer:
        rows = [
            () if place % 2 and place < 2 * symbols else r for place, r in enumerate(layer.rows)
        ]
        return replace(layer, rows=tuple(rows))

    return replace(right, hidden=(*map(halved, right.hidden[:-1]), right.hidden[-1]))


@twin("machines.relu.parity.fold", r"x \leftarrow \mathrm{relu}(x - 2^k y)")
def a_fold_keeps_one_side_only() -> tuple[Check, ...]:
    """A level forgets what lies below 2^k y."""
    return parity_checks(fold_rule=relu("(- {a} {b})"), make=half_folds)


# --- the whole map ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class IgnoresTwoBits(MachineNetwork[Any]):
    """Conjunctions that leave out the parities of the first two symbols.

    One alone is never missed: any two parities that a label is asked on differ in two symbols.
    """

    def neuron(self, row: Any, start: int) -> Any:
        """The right neuron without the first four columns, and a term less for each 1 asked."""
        form, bias = MachineNetwork.neuron(self, row, start)
        wanted = ((row.mask or 0) & 3).bit_count() if row.present else 0
        return tuple(part for part in form if part[0] >= 4), bias + wanted


def rebuilt(kind: Any) -> Any:
    """Makes networks of a subclass of MachineNetwork."""

    def make(graph: Any, longest: int) -> Any:
        right = machine_network(graph, longest)
        return kind(
            transformer=right.transformer,
            vocabulary=right.vocabulary,
            window=right.window,
            rows=right.rows,
        )

    return make


@twin("machines.relu.network", r"p_1, p_2 \text{ are not read}", Status.BOUNDED)
def a_conjunction_ignores_two_bits() -> tuple[Check, ...]:
    """The conjunctions do not read the parities of the first two symbols."""
    return network_checks(rebuilt(IgnoresTwoBits))


def without_refresh(graph: Any, longest: int) -> Any:
    """A network without the rows that bring the marker back."""
    right = machine_network(graph, longest)
    return replace(right, rows=tuple(row for row in right.rows if row.present))


@twin("machines.relu.network.refresh", r"A(\#) = 0 \text{ has no row}", Status.BOUNDED)
def the_refresh_rows_are_missing() -> tuple[Check, ...]:
    """Nothing is emitted where the marker has slid out."""
    return network_checks(without_refresh)


def for_shorter_windows(graph: Any, longest: int) -> Any:
    """A network for windows of half the length."""
    return machine_network(graph, longest // 2)


@twin("machines.relu.network.window", r"S / 2 \text{ in place of } S", Status.BOUNDED)
def the_window_is_longer_than_built_for() -> tuple[Check, ...]:
    """A network for windows of S / 2 symbols serves windows of S."""
    return network_checks(for_shorter_windows)


@dataclass(frozen=True, slots=True, kw_only=True)
class LowThreshold(MachineNetwork[Any]):
    """Conjunctions that are 1 when one feature is missing."""

    def neuron(self, row: Any, start: int) -> Any:
        """The right neuron with a bias larger by 1."""
        form, bias = MachineNetwork.neuron(self, row, start)
        return form, bias + row.present


@twin("machines.relu.blocks", r"\mathrm{relu}(\Sigma - (\text{terms} - 2))")
def a_conjunction_forgives_one_feature() -> tuple[Check, ...]:
    """The threshold of a conjunction is one too low."""
    return block_checks("(ite (reads a) n 0)", rebuilt(LowThreshold))


# --- pieces ----------------------------------------------------------------------------------


@twin("lowerbounds.pieces.parity", r"S \le w D + 1")
def pieces_add_up_from_layer_to_layer() -> tuple[Check, ...]:
    """A layer of w neurons adds at most w pieces."""
    return pieces_checks("(+ (bound j) w)", lambda width, bound: bound + width)


@twin("lowerbounds.pieces.parity.strict", r"S < (w + 1)^D")
def fewer_sign_changes_than_pieces() -> tuple[Check, ...]:
    """S sign changes need S + 1 pieces."""
    return pieces_checks(zeros_per_piece=0)
