"""Wrong twins of the claims on the parity network's precision: all are refuted.

`certiformer verify tests/refutable/parity_precision_twins.py` finds the first format in which each
fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from constructions.machines.precision import WAYS
from constructions.machines.precision_claims import frontier_checks
from constructions.machines.readings import MARKER
from constructions.machines.wraparound import wraparound_checks, xor_of_one_hots
from verify.claims import Check, load_file
from verify.verdicts import Status

twin = load_file(Path(__file__).with_name("refuting.py")).twin

FRONTIER = "machines.precision.frontier"
ONCE, SEQUENTIAL = WAYS["once"], WAYS["sequential"]


@twin(FRONTIER, r"S \le 2^p", Status.BOUNDED)
def the_constant_is_dropped() -> tuple[Check, ...]:
    """Windows of 2^p symbols are read rightly where inputs are rounded once."""
    power = replace(ONCE, load=lambda size: 2 * size.longest - 10 * (1 << size.bits))
    return frontier_checks((power,))


@twin(f"{FRONTIER}.margin", r"z = y - w \in \{0, y\}", Status.BOUNDED)
def the_margin_is_dropped() -> tuple[Check, ...]:
    """Read off y - w = y or 0, the parity is right up to the same bound."""
    return frontier_checks((replace(ONCE, margin=False),))


@twin(f"{FRONTIER}.order", r"A = 18 S", Status.BOUNDED)
def the_order_of_summation_is_ignored() -> tuple[Check, ...]:
    """A mean summed token by token is as good as one rounded once."""
    return frontier_checks((replace(SEQUENTIAL, load=ONCE.load),))


def marker_flips_all(coordinates: Sequence[str], displayed: Sequence[str]) -> tuple[int, ...]:
    """Bits in which the marker counts as every symbol."""
    shown = [part for s in displayed for part in (coordinates if s == MARKER else (s,))]
    return xor_of_one_hots(coordinates, shown)


@twin("machines.precision.wraparound", r"\mathbf e_\# = (1, \dots, 1)")
def the_marker_counts_as_a_symbol() -> tuple[Check, ...]:
    """The marker flips the bits of the symbols too."""
    rule = "(xor (or (= (disp t) d) ((_ is mark) (disp t))) (bits c d))"
    return wraparound_checks(rule, marker_flips_all)
