"""Wrong versions of the ReLU networks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from constructions.machines.block_claims import block_checks
from constructions.machines.relu import AffineLayer, ReluNetwork, linear, parity_network
from constructions.machines.relu_claims import parity_checks
from constructions.machines.relu_lemmas import MARGIN, relu
from constructions.machines.relu_machine import MachineNetwork, machine_network
from constructions.machines.relu_network_claims import network_checks
from verify.claims import Check
from verify.mutants import mutant


@mutant(
    of="machines.relu.parity",
    breaks="construction",
    latex=r"K - 1 \text{ levels suffice for } c \le 2^K",
)
def a_level_is_missing() -> tuple[Check, ...]:
    """The first fold is at 2^(K - 2)."""
    return parity_checks(make=lambda n, bits, scale: parity_network(n, max(1, bits - 1), scale))


@mutant(of="machines.relu.parity", breaks="size", name="scale", latex=r"s < m")
def the_scale_is_below_the_context() -> tuple[Check, ...]:
    """Bits are read at a quarter of the scale."""
    return parity_checks(make=lambda n, bits, scale: parity_network(n, bits, max(1, scale // 4)))


def without_margin(symbols: int, bits: int, scale: int) -> ReluNetwork:
    """The bit is relu(2 s t) alone."""
    right = parity_network(symbols, bits, scale)
    forms = [((2 * place, 1),) for place in range(symbols)]
    return replace(right, output=linear(forms, 2 * symbols))


@mutant(
    of="machines.relu.parity",
    breaks="construction",
    name="margin",
    latex=r"p = \mathrm{relu}(2 s t)",
)
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


@mutant(
    of="machines.relu.parity",
    breaks="construction",
    name="fold",
    latex=r"x \leftarrow \mathrm{relu}(x - 2^k y)",
)
def a_fold_keeps_one_side_only() -> tuple[Check, ...]:
    """A level forgets what lies below 2^k y."""
    return parity_checks(fold_rule=relu("(- {a} {b})"), make=half_folds)


FIRST_READ = 4
"""The columns before it hold the bits of the first two symbols."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IgnoresTwoBits(MachineNetwork[Any]):
    """Conjunctions that leave out the parities of the first two symbols.

    One alone is never missed: any two parities that a label is asked on differ in two symbols.
    """

    def neuron(self, row: Any, start: int) -> Any:
        """The right neuron without the first four columns, and a term less for each 1 asked."""
        form, bias = MachineNetwork[Any].neuron(self, row, start)
        wanted = ((row.mask or 0) & 3).bit_count() if row.present else 0
        return tuple(part for part in form if part[0] >= FIRST_READ), bias + wanted


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


@mutant(of="machines.relu.network", breaks="construction", latex=r"p_1, p_2 \text{ are not read}")
def a_conjunction_ignores_two_bits() -> tuple[Check, ...]:
    """The conjunctions do not read the parities of the first two symbols."""
    return network_checks(rebuilt(IgnoresTwoBits))


def without_refresh(graph: Any, longest: int) -> Any:
    """A network without the rows that bring the marker back."""
    right = machine_network(graph, longest)
    return replace(right, rows=tuple(row for row in right.rows if row.present))


@mutant(
    of="machines.relu.network",
    breaks="construction",
    name="refresh",
    latex=r"A(\#) = 0 \text{ has no row}",
)
def the_refresh_rows_are_missing() -> tuple[Check, ...]:
    """Nothing is emitted where the marker has slid out."""
    return network_checks(without_refresh)


def for_shorter_windows(graph: Any, longest: int) -> Any:
    """A network for windows of half the length."""
    return machine_network(graph, longest // 2)


@mutant(
    of="machines.relu.network", breaks="size", name="window", latex=r"S / 2 \text{ in place of } S"
)
def the_window_is_longer_than_built_for() -> tuple[Check, ...]:
    """A network for windows of S / 2 symbols serves windows of S."""
    return network_checks(for_shorter_windows)


@dataclass(frozen=True, slots=True, kw_only=True)
class LowThreshold(MachineNetwork[Any]):
    """Conjunctions that are 1 when one feature is missing."""

    def neuron(self, row: Any, start: int) -> Any:
        """The right neuron with a bias larger by 1."""
        form, bias = MachineNetwork[Any].neuron(self, row, start)
        return form, bias + row.present


@mutant(
    of="machines.relu.blocks",
    breaks="construction",
    latex=r"\mathrm{relu}(\Sigma - (\text{terms} - 2))",
)
def a_conjunction_forgives_one_feature() -> tuple[Check, ...]:
    """The threshold of a conjunction is one too low."""
    return block_checks("(ite (reads a) n 0)", rebuilt(LowThreshold))


MOST_EVALUATED = 7
"""Symbols of the largest network that the theory is evaluated on."""


def without_a_level_on_more(symbols: int, bits: int, scale: int) -> ReluNetwork:
    """A network that lacks a level for more symbols than any of the theory's worlds has."""
    return parity_network(symbols, max(1, bits - 1) if symbols > MOST_EVALUATED else bits, scale)


@mutant(of="machines.relu.parity", breaks="construction", name="more_symbols")
def a_level_is_missing_for_more_symbols() -> tuple[Check, ...]:
    """The first fold is at 2^(K - 2) for windows of seven symbols and more."""
    return parity_checks(make=without_a_level_on_more)


def low_on_others(graph: Any, longest: int) -> Any:
    """Thresholds that are too low, but for the machines that the theory is evaluated on."""
    right = machine_network(graph, longest)
    evaluated = right.transformer.machine.name in {"family 2", "family 4"}
    return right if evaluated else rebuilt(LowThreshold)(graph, longest)


@mutant(of="machines.relu.blocks", breaks="construction", name="others")
def a_conjunction_forgives_one_feature_on_others() -> tuple[Check, ...]:
    """The threshold of a conjunction is one too low, but for two machines."""
    return block_checks(make=low_on_others)
