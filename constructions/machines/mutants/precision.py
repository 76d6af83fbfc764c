"""Wrong versions of what is claimed of the parity network's precision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from constructions.machines.precision import WAYS, WindowSize
from constructions.machines.precision_claims import frontier_checks
from constructions.machines.readings import MARKER
from constructions.machines.window import WindowLabel, WindowToken, WindowTransformer
from constructions.machines.wraparound import token_of_bits, wraparound_checks, xor_of_one_hots
from verify.claims import Check
from verify.mutants import mutant

ONCE, SEQUENTIAL = WAYS["once"], WAYS["sequential"]


def load_without_constant(size: WindowSize) -> int:
    """The A with which the bound reads S <= 2^p."""
    return 2 * size.longest - 10 * (1 << size.bits)


@mutant(of="machines.precision.frontier", breaks="bound", latex=r"S \le 2^p")
def the_constant_is_dropped() -> tuple[Check, ...]:
    """Windows of 2^p symbols are read rightly where inputs are rounded once."""
    return frontier_checks((replace(ONCE, load=load_without_constant),))


@mutant(
    of="machines.precision.frontier",
    breaks="construction",
    name="margin",
    latex=r"z = y - w \in \{0, y\}",
)
def the_margin_is_dropped() -> tuple[Check, ...]:
    """Read off y - w = y or 0, the parity is right up to the same bound."""
    return frontier_checks((replace(ONCE, margin=False),))


@mutant(of="machines.precision.frontier", breaks="bound", name="order", latex=r"A = 18 S")
def the_order_of_summation_is_ignored() -> tuple[Check, ...]:
    """A mean summed token by token is as good as one rounded once."""
    return frontier_checks((replace(SEQUENTIAL, load=ONCE.load),))


def marker_flips_all(coordinates: Sequence[str], displayed: Sequence[str]) -> tuple[int, ...]:
    """Bits in which the marker counts as every symbol."""
    shown = [part for s in displayed for part in (coordinates if s == MARKER else (s,))]
    return xor_of_one_hots(coordinates, shown)


@mutant(of="machines.precision.wraparound", breaks="rule", latex=r"\mathbf e_\# = (1, \dots, 1)")
def the_marker_counts_as_a_symbol() -> tuple[Check, ...]:
    """The marker flips the bits of the symbols too."""
    rule = "(xor (or (= (disp t) d) ((_ is mark) (disp t))) (bits c d))"
    return wraparound_checks(rule, marker_flips_all)


def read_backwards(
    transformer: WindowTransformer[str], label: WindowLabel[str], bits: Sequence[int]
) -> WindowToken[str]:
    """The next token where the symbols' bits are read in reverse."""
    *symbols, marker = bits
    return token_of_bits(transformer, label, (*reversed(symbols), marker))


@mutant(of="machines.precision.wraparound", breaks="rule", name="reversed")
def bits_may_be_read_in_reverse() -> tuple[Check, ...]:
    """The newest label and the symbols' bits in reverse determine the next token."""
    return wraparound_checks(read=read_backwards)
