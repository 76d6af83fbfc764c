"""Wrong versions of meeting in the middle."""

from __future__ import annotations

from dataclasses import replace

from lowerbounds.meeting import meeting_checks
from lowerbounds.meeting_models import MEETING, Coordinate, all_coordinates, joined
from verify.claims import Check
from verify.mutants import mutant


def without_the_last(heads: int, length: int, last: int) -> tuple[Coordinate, ...]:
    """All coordinates but one."""
    return all_coordinates(heads, length, last)[:-1]


@mutant(of="lowerbounds.meeting.tight", breaks="size", latex=r"m = H^{L/2} - 1")
def a_coordinate_is_dropped() -> tuple[Check, ...]:
    """One coordinate less suffices."""
    return meeting_checks(replace(MEETING, coordinates=without_the_last))


def joined_to_itself(before: Coordinate, after: Coordinate, head: int) -> bool:
    """The middle joins a word to itself only."""
    return before[0] == after[0] and joined(before, after, head)


@mutant(
    of="lowerbounds.meeting.tight",
    breaks="construction",
    name="middle",
    latex=r"R^{L/2,h} \text{ is the mask alone}",
)
def the_middle_does_not_join_all_words() -> tuple[Check, ...]:
    """The middle layer lacks the all-ones matrix."""
    return meeting_checks(replace(MEETING, joins=joined_to_itself))


def other_halves(heads: int) -> tuple[int, int]:
    """Degrees that add up to H - 1, the first rounded down."""
    return heads // 2, heads - 1 - heads // 2


@mutant(
    of="lowerbounds.meeting.tight",
    breaks="rule",
    name="places",
    latex=r"c(H) = \tfrac{H+1}{2} \text{ for } H \equiv 3",
)
def both_degrees_are_odd() -> tuple[Check, ...]:
    """The middle weights split into halves of equal degree for H = 3 mod 4."""
    return meeting_checks(replace(MEETING, degrees=other_halves), "(div i 2)")


def without_the_last_of_three(heads: int, length: int, last: int) -> tuple[Coordinate, ...]:
    """All coordinates but one for words of length 1 over three heads."""
    short = (heads, length) == (3, 1)
    return (without_the_last if short else all_coordinates)(heads, length, last)


@mutant(of="lowerbounds.meeting.tight", breaks="size", name="three_heads")
def a_coordinate_is_dropped_for_three_heads() -> tuple[Check, ...]:
    """One coordinate less suffices for three heads and words of length 1."""
    return meeting_checks(replace(MEETING, coordinates=without_the_last_of_three))
