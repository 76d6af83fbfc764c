"""The paper's readings of the learned geometry, each as an inequality that is decided.

For a `+` at the end of a window of any length n, and whatever stands before it:

    even     a key of an even number, at any place, has a greater score than any other key
    later    a key of an even number has a greater score than that of any even number one earlier
    share    the last even number gets more than half of the attention
    value    its value alone, added to the embedding of `+`, lies where it is predicted
    region   so does every sum of embedding and attention that any window leads to

Scores are exact rationals times 1/sqrt 2; shares compare sums of enclosed exponentials; regions are
those of `readout`.

Source: Fully Interpretable Minimal Transformers, Figures 7, 8, 10, 13 and 15.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from constructions.minimal.cover import Reach
from constructions.minimal.definitions import (
    EVENS,
    LENGTHS,
    NOT_EVEN,
    PAPER,
    PLUS,
    Model,
    groups,
    token_name,
)
from constructions.minimal.exact import exponential
from constructions.minimal.readout import BOX_BITS, Box, Readout
from constructions.minimal.rule import weights_exhibit
from constructions.minimal.shipped import shipped
from verify.claims import Check, Profile, Source, claim, covers
from verify.counterexamples import Counterexample
from verify.methods.exhaustive import Exhaustive
from verify.ranges import Range
from verify.verdicts import Json, Status

SHARE_BITS = 128
Scores = tuple[tuple[Fraction, ...], ...]
Reading = Callable[[Model, int], str]
"""What contradicts a reading at a length, or nothing."""


# --- readings --------------------------------------------------------------------------------


def even_outweighs(model: Model, length: int) -> str:
    """Even numbers against all other tokens, at any two places."""
    scores = model.scores(length)
    least = min((scores[i][t], i, t) for i in range(length - 1) for t in EVENS)
    most = max((scores[i][t], i, t) for i in range(length) for t in NOT_EVEN if _may(t, i, length))
    return "" if least[0] > most[0] else f"{_key(least)} is not above {_key(most)}"


def _may(token: int, place: int, length: int) -> bool:
    """Whether a token may stand at a place: the last one is `+`."""
    return place < length - 1 or token == PLUS


def later_outweighs(model: Model, length: int) -> str:
    """Even numbers against even numbers one place earlier."""
    scores = model.scores(length)
    for place in range(length - 2):
        most = max((scores[place][t], place, t) for t in EVENS)
        least = min((scores[place + 1][t], place + 1, t) for t in EVENS)
        if least[0] <= most[0]:
            return f"{_key(least)} is not above {_key(most)}"
    return ""


def _key(found: tuple[Fraction, int, int]) -> str:
    score, place, token = found
    return f"the score {float(score):.4g} of {token_name(token)} at place {place}"


def last_even_has_most(model: Model, length: int) -> str:
    """The last even number's weight against the greatest sum of all others."""
    scores = model.scores(length)
    largest = max(map(max, scores))

    def ends(score: Fraction) -> tuple[Fraction, Fraction]:
        return exponential(score - largest, SHARE_BITS)

    for group in groups(length):
        allowed = group.allowed()
        own = ends(scores[group.place][group.even])[0]
        others = sum(
            max(ends(scores[place][token])[1] for token in tokens)
            for place, tokens in enumerate(allowed)
            if place != group.place
        )
        if own <= others:
            return f"{token_name(group.even)} at place {group.place} may get half or less"
    return ""


def values_lead(model: Model, length: int) -> str:
    """The last even number's value alone."""
    readout = Readout(model)
    stream = model.embedded[length - 1][PLUS]
    for group in groups(length):
        value = model.values[group.place][group.even]
        box = _around([x + y for x, y in zip(stream, value, strict=True)])
        if readout.label(box, group.even) != "right":
            return f"the value of {token_name(group.even)} at place {group.place} leads elsewhere"
    return ""


def _around(point: list[Fraction]) -> Box:
    """The smallest box that holds a point."""
    first, second = (coordinate * (1 << BOX_BITS) for coordinate in point)
    return floor(first), ceil(first), floor(second), ceil(second)


def sums_land(model: Model, length: int) -> str:
    """Every window's sum of embedding and attention."""
    reach, readout = Reach(model, length), Readout(model)
    for group in groups(length):
        box = reach.proposed(group.allowed(), group.place)
        if not reach.holds(group.allowed(), box) or readout.label(box, group.even) != "right":
            return f"sums for {token_name(group.even)} at place {group.place} may land elsewhere"
    return ""


READINGS: Mapping[str, Reading] = {
    "even": even_outweighs,
    "later": later_outweighs,
    "share": last_even_has_most,
    "value": values_lead,
    "region": sums_land,
}

# --- instances -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One reading at one length."""

    reading: str
    length: int


def reading_fails(
    model: Model, readings: Mapping[str, Reading] = READINGS
) -> Callable[[Case], Counterexample | None]:
    """The obligation: nothing contradicts the reading."""

    def holds(case: Case) -> Counterexample | None:
        text = readings[case.reading](model, case.length)
        if not text:
            return None
        return Counterexample(
            text=f"reading '{case.reading}' at length {case.length}: {text}",
            instance={"reading": case.reading, "length": case.length},
        )

    return holds


def failing_readings(model: Model) -> tuple[Case, ...]:
    """All readings that a model contradicts, by length."""
    fails = reading_fails(model)
    return tuple(case for case in _cases() if fails(case) is not None)


def _cases() -> tuple[Case, ...]:
    return tuple(Case(reading=name, length=length) for name in READINGS for length in LENGTHS)


def geometry_exhibit(model: Model) -> Callable[[Case], Json]:
    """Kind `geometry`: the reading, the length, the weights; boxes for regions."""

    def exhibit(case: Case) -> Json:
        shown: dict[str, Json] = {
            "reading": case.reading,
            "length": case.length,
            "weights": weights_exhibit(model),
        }
        if case.reading != "region":
            return shown
        reach, found = Reach(model, case.length), groups(case.length)
        boxes = [list(reach.proposed(group.allowed(), group.place)) for group in found]
        return {**shown, "boxes": boxes}

    return exhibit


EVERY_READING = Range(
    bound=f"{len(READINGS)} readings, lengths {LENGTHS[0]} to {LENGTHS[-1]}", over=_cases
)
RANGES: dict[Profile, Range] = {
    "quick": EVERY_READING,
    "standard": EVERY_READING,
    "deep": EVERY_READING,
}

# --- claim -----------------------------------------------------------------------------------


def geometry_checks(
    model: Model | None = None, readings: Mapping[str, Reading] = READINGS
) -> tuple[Check, ...]:
    """Every reading at every length, for a model, the shipped perfect one by default."""
    perfect = model or shipped("windows").model
    return (
        covers(
            Exhaustive(
                holds=reading_fails(perfect, readings),
                ranges=RANGES,
                rechecked_as="geometry",
                exhibit=geometry_exhibit(perfect),
            )
        ),
    )


@claim(
    id="minimal.geometry",
    source=Source(PAPER, "Figures 5 to 15"),
    latex=r"\langle q_+, k_e \rangle > \langle q_+, k_t \rangle,\quad "
    r"\langle q_+, k_{e,i+1} \rangle > \langle q_+, k_{e',i} \rangle,\quad "
    r"\alpha_{e(x)} > \tfrac12,\quad e_+ + \mathrm{Attn}(x) \in R_{e(x)}",
    scope="the shipped checkpoint that is right on every window; `+` at the end of windows of "
    "length 2 to 8, every context",
    uses=("minimal.rule.holds",),
    expected=Status.BOUNDED,
)
def the_readings_of_the_geometry_hold() -> tuple[Check, ...]:
    """The readings of the geometry that the paper states hold for the perfect checkpoint, each as
    a checked inequality.
    """  # noqa: D205 - one statement, in one sentence
    return geometry_checks()
