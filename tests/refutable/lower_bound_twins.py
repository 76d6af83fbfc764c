"""Wrong twins of the claims on meeting in the middle and on independent path vectors.

`certiformer verify tests/refutable/lower_bound_twins.py` finds the smallest instance in its range
on which each fails.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from lowerbounds.independence import independence_checks
from lowerbounds.meeting import meeting_checks
from lowerbounds.meeting_models import MEETING, Coordinate, all_coordinates, joined
from lowerbounds.softmax_paths import CHOICE
from verify.claims import Check, load_file
from verify.verdicts import Status

twin = load_file(Path(__file__).with_name("refuting.py")).twin


# --- meeting in the middle -------------------------------------------------------------------


def without_the_last(heads: int, length: int, last: int) -> tuple[Coordinate, ...]:
    """All coordinates but one."""
    return all_coordinates(heads, length, last)[:-1]


@twin("lowerbounds.meeting.tight", r"m = H^{L/2} - 1")
def a_coordinate_is_dropped() -> tuple[Check, ...]:
    """One coordinate less suffices."""
    return meeting_checks(replace(MEETING, coordinates=without_the_last))


def joined_to_itself(before: Coordinate, after: Coordinate, head: int) -> bool:
    """The middle joins a word to itself only."""
    return before[0] == after[0] and joined(before, after, head)


@twin("lowerbounds.meeting.tight.middle", r"R^{L/2,h} \text{ is the mask alone}")
def the_middle_does_not_join_all_words() -> tuple[Check, ...]:
    """The middle layer lacks the all-ones matrix."""
    return meeting_checks(replace(MEETING, joins=joined_to_itself))


@twin("lowerbounds.meeting.tight.places", r"c(H) = \tfrac{H+1}{2} \text{ for } H \equiv 3")
def both_degrees_are_odd() -> tuple[Check, ...]:
    """The middle weights split into halves of equal degree for H = 3 mod 4."""
    return meeting_checks(
        replace(MEETING, degrees=lambda heads: (heads // 2, heads - 1 - heads // 2)),
        "(div i 2)",
    )


# --- independent path vectors ----------------------------------------------------------------


def one_token(place: int) -> tuple[Fraction, ...]:
    """The first token alone."""
    return CHOICE.tokens(place)[:1]


@twin("lowerbounds.independence.grid", r"n = 1", Status.BOUNDED)
def one_token_is_enough() -> tuple[Check, ...]:
    """Path vectors over single tokens are independent."""
    return independence_checks(replace(CHOICE, tokens=one_token))


def same_tokens(place: int) -> tuple[Fraction, ...]:
    """The first token twice."""
    return one_token(place) * 2


@twin("lowerbounds.independence.grid.constant", r"X_1 = X_2", Status.BOUNDED)
def constant_inputs_are_enough() -> tuple[Check, ...]:
    """Path vectors of inputs of equal tokens are independent."""
    return independence_checks(replace(CHOICE, tokens=same_tokens))


def equal_logits(heads: int) -> tuple[Fraction, ...]:
    """All heads of a layer attend alike."""
    return CHOICE.logits(1) * heads


@twin("lowerbounds.independence.grid.heads", r"c^1 = c^2", Status.BOUNDED)
def equal_heads_are_enough() -> tuple[Check, ...]:
    """Path vectors of equal heads are independent."""
    return independence_checks(replace(CHOICE, logits=equal_logits))
