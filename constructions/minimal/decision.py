"""The rule decided on every window of a model: tables of what is right and what is wrong.

Up to length 8 windows are counted one by one and covered by sets, and the two must agree; longer
ones are covered alone. Nothing is left undecided. Where counting decides, a cover that would need
more than MOST_COMPARED sets is given up, and the decision says so.

Source: Fully Interpretable Minimal Transformers, Figures 3 and 4; the decision is ours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from constructions.minimal import cover, exhaustive
from constructions.minimal.definitions import (
    EVENS,
    SHORTEST,
    Model,
    Window,
    token_name,
    window_count,
    window_text,
)
from constructions.minimal.exact import judge
from verify.engines import remembered
from verify.errors import DisagreementError, PrecisionError, SizeError
from verify.verdicts import Json

Engine = Literal["exhaustive", "cover"]
MOST_COMPARED = 1 << 10
"""Sets of a cover that is only to confirm a count: half a minute's work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """The windows of a length by what the model does, from one engine.

    wrong_of[required, distance] counts the wrong windows; instead[required, rival] those in which
    a rival leads, as far as the engine knows. `judged` windows were too close for floats or boxes.
    """

    length: int
    right: int
    wrong: int
    wrong_of: Mapping[tuple[int, int], int]
    smallest: Window | None
    judged: int
    leaves: int = 0
    instead: Mapping[tuple[int, int], int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthDecision:
    """All that is decided of a length, by the engines that were asked."""

    length: int
    tallies: Mapping[Engine, Tally]
    uncovered: str = ""
    """Why there is no cover beside the count."""

    @property
    def tally(self) -> Tally:
        """What the engines agree on."""
        return next(iter(self.tallies.values()))

    @property
    def holds(self) -> bool:
        """Whether the rule holds on every window."""
        return self.tally.wrong == 0

    def as_json(self) -> dict[str, Json]:
        """The length as `decide --json` writes it."""
        tally = self.tally
        smallest = None if tally.smallest is None else list(map(token_name, tally.smallest))
        return {
            "windows": window_count(self.length),
            "correct": tally.right,
            "wrong": tally.wrong,
            "smallest_counterexample": smallest,
            "wrong_by_required": {
                token_name(even): sum(n for (e, _), n in tally.wrong_of.items() if e == even)
                for even in EVENS
            },
            "wrong_by_distance": {
                str(distance): sum(n for (_, d), n in tally.wrong_of.items() if d == distance)
                for distance in range(1, self.length)
            },
            "wrong_by_rival": _by_rival(self.tallies),
            "judged_exactly": {engine: found.judged for engine, found in self.tallies.items()},
            "leaves": self.tallies["cover"].leaves if "cover" in self.tallies else None,
            "engines": list(self.tallies),
            "uncovered": self.uncovered or None,
            "status": "PROVED" if self.holds else "REFUTED",
        }


def _by_rival(tallies: Mapping[Engine, Tally]) -> Json:
    instead = tallies["exhaustive"].instead if "exhaustive" in tallies else None
    if instead is None:
        return None
    found = Counter[str]()
    for (required, rival), count in sorted(instead.items()):
        found[f"{token_name(required)} -> {token_name(rival)}"] += count
    return dict(found)


def decide(
    model: Model,
    lengths: Sequence[int],
    progress: Callable[[int], None] = lambda length: None,
) -> tuple[LengthDecision, ...]:
    """Decides every window of each length.

    Raises:
        SizeError: no length, or one that the model's context does not allow.
        PrecisionError: weights so large that numbers around them cannot be written out.
        DisagreementError: the two engines disagree.
    """
    if not lengths or not all(SHORTEST <= length <= model.context for length in lengths):
        raise SizeError(
            f"lengths to decide must be {SHORTEST} to {model.context}, the model's context, got "
            f"{list(lengths) or 'none'}; choose others with --length"
        )
    found = list[LengthDecision]()
    for length in lengths:
        found.append(decided(model, length))
        progress(length)
    return tuple(found)


def decided(model: Model, length: int) -> LengthDecision:
    """One length, by both engines where windows can be counted."""
    tallies: dict[Engine, Tally] = {}
    uncovered = ""
    if length <= exhaustive.LONGEST:
        tallies["exhaustive"] = counted(model, length)
        try:
            covers = cover.cover(model, length, MOST_COMPARED)
            tallies["cover"] = covered(length, covers)
        except PrecisionError as error:
            uncovered = str(error)
    else:
        tallies["cover"] = covered(length, cover.cover(model, length))
    found = LengthDecision(length=length, tallies=tallies, uncovered=uncovered)
    _require_agreement(found)
    return found


def _require_agreement(decision: LengthDecision) -> None:
    first, *others = decision.tallies.values()
    windows = window_count(decision.length)
    for tally in (first, *others):
        if tally.right + tally.wrong != windows:
            raise DisagreementError(
                f"all {windows} windows of length {decision.length} must be decided, got "
                f"{tally.right} right and {tally.wrong} wrong; this is a fault, please report it"
            )
    for tally in others:
        if (tally.wrong_of, tally.smallest) != (first.wrong_of, first.smallest):
            raise DisagreementError(
                f"counting and covering must agree at length {decision.length}, got "
                f"{first.wrong} and {tally.wrong} wrong windows; this is a fault, please report it"
            )


@remembered(64)
def counted(model: Model, length: int) -> Tally:
    """Windows counted one by one; those too close for floats are judged exactly."""
    right = wrong = judged = 0
    wrong_of, instead = Counter[tuple[int, int]](), Counter[tuple[int, int]]()
    smallest: Window | None = None
    for found in exhaustive.counted(model, length):
        group = found.group
        key = group.even, length - 1 - group.place
        right += found.right
        wrong_of[key] += found.wrong
        wrong += found.wrong
        failures: list[Window] = [found.window(found.first_wrong)] if found.wrong else []
        for rival, count in enumerate(found.instead):
            instead[group.even, rival] += count
        for number in found.undecided:
            judgement = judge(model, found.window(number))
            judged += 1
            if judgement.right:
                right += 1
                continue
            wrong += 1
            wrong_of[key] += 1
            instead[group.even, judgement.rivals[0]] += 1
            failures.append(judgement.window)
        if smallest is not None:
            failures.append(smallest)
        smallest = min(failures, default=None)
    return Tally(
        length=length,
        right=right,
        wrong=wrong,
        wrong_of=+wrong_of,
        smallest=smallest,
        judged=judged,
        instead=+instead,
    )


def covered(length: int, covers: Sequence[cover.GroupCover]) -> Tally:
    """What covers of all groups of a length say."""
    right = wrong = judged = leaves = 0
    wrong_of = Counter[tuple[int, int]]()
    failures = list[Window]()
    for part in covers:
        for leaf, allowed in part.leaves():
            size = cover.set_size(allowed)
            leaves += 1
            judged += leaf.box is None
            if leaf.label == "right":
                right += size
                continue
            wrong += size
            wrong_of[part.group.even, length - 1 - part.group.place] += size
            failures.append(tuple(min(tokens) for tokens in allowed))
    return Tally(
        length=length,
        right=right,
        wrong=wrong,
        wrong_of=wrong_of,
        smallest=min(failures, default=None),
        judged=judged,
        leaves=leaves,
    )


def as_json(model: Model, decisions: Sequence[LengthDecision]) -> dict[str, Json]:
    """The decision as `decide --json` writes it."""
    holds = all(decision.holds for decision in decisions)
    return {
        "parameters": model.parameters,
        "lengths": {str(decision.length): decision.as_json() for decision in decisions},
        "status": "PROVED" if holds else "REFUTED",
    }


def smallest_counterexample(decisions: Sequence[LengthDecision]) -> Window | None:
    """The shortest wrong window, lexicographically the first of its length."""
    for decision in sorted(decisions, key=lambda found: found.length):
        if decision.tally.smallest is not None:
            return decision.tally.smallest
    return None


def summary(decision: LengthDecision) -> str:
    """A length in one line."""
    tally = decision.tally
    windows = window_count(decision.length)
    if decision.holds:
        return f"length {decision.length}: right on all {windows:,} windows"
    shown = "" if tally.smallest is None else f", the smallest {window_text(tally.smallest)}"
    return f"length {decision.length}: wrong on {tally.wrong:,} of {windows:,} windows{shown}"
