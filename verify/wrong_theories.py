"""Axioms and goals of a theory, each broken once: what notices, or why it does no harm.

A broken axiom is killed where it is false of real objects of the code, in a world of its theory,
or where the solvers prove some goal no longer. It is harmless if both solvers prove it from the
right axioms (it says no more than they do), or all goals without the axiom (which is redundant).
A broken goal is killed where it is false in a world, or not proved by both; it is harmless if
both prove it whatever becomes of its conclusion: then it has premises that nothing meets, as the
base of an induction may have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from verify.breakages import Breakage, breakages
from verify.errors import GoalError
from verify.smtlib import Axiom, Goal, Interpretation, Theory
from verify.verdicts import Json

Refusal = Callable[[Sequence[Goal]], str | None]
"""Which of the goals some solver does not prove, and its answer, or None if both prove all."""

Fate = Literal["killed", "harmless", "survived"]

FALSE = "false of real objects of the code"
UNDEFINED = "undefined on real objects of the code"
IMPLIED = "both solvers prove it from the right axioms"
REDUNDANT = "both solvers prove every goal without the axiom"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fated:
    """What became of a broken formula, and why."""

    outcome: Fate
    reason: str


UNNOTICED = Fated(outcome="survived", reason="no world and no solver notices")
VACUOUS = Fated(
    outcome="harmless",
    reason="both solvers prove it with every conclusion: its premises never hold",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """An axiom or a goal of a theory, as something to break; `place` is its number there."""

    kind: Literal["axiom", "goal"]
    place: int
    name: str
    gloss: str
    formula: str
    assumptions: tuple[str, ...]
    theory: Theory


def break_each(goals: Sequence[Goal], refusal: Refusal) -> list[dict[str, Json]]:
    """Every axiom and every conclusion broken once: what it was, what became of it and why.

    The first breakage that fits is planted; a later one only where the earlier ones were
    noticed by nothing and nothing shows that they do no harm; `tried` names these.
    """
    rows: list[dict[str, Json]] = []
    for theory in {id(goal.theory): goal.theory for goal in goals}.values():
        own = [goal for goal in goals if goal.theory is theory]
        rows += _broken_parts(theory, own, refusal)
    return _told_apart(rows)


def _told_apart(rows: Sequence[dict[str, Json]]) -> list[dict[str, Json]]:
    """The rows, the second and later of one name numbered: theories of a check may be alike."""
    seen: Counter[tuple[Json, ...]] = Counter()
    named: list[dict[str, Json]] = []
    for row in rows:
        key = (row["kind"], row["theory"], row["name"])
        seen[key] += 1
        named.append({**row, "name": f"{row['name']} ({seen[key]})"} if seen[key] > 1 else row)
    return named


def _parts(theory: Theory, goals: Sequence[Goal]) -> Iterator[Part]:
    for place, axiom in enumerate(theory.axioms):
        yield Part(
            kind="axiom",
            place=place,
            name=axiom.name,
            gloss=axiom.gloss,
            formula=axiom.formula,
            assumptions=(),
            theory=theory,
        )
    for place, goal in enumerate(goals):
        yield Part(
            kind="goal",
            place=place,
            name=goal.name,
            gloss=goal.name,
            formula=goal.conclusion,
            assumptions=goal.assumptions,
            theory=theory,
        )


def _broken_parts(theory: Theory, goals: Sequence[Goal], refusal: Refusal) -> list[dict[str, Json]]:
    parts = list(_parts(theory, goals))
    ways = [
        breakages(part.formula, theory.declarations, premises=part.kind == "axiom")
        for part in parts
    ]
    tried: list[list[Breakage]] = [[] for _ in parts]
    fates: dict[int, Fated] = {}
    waiting = set(range(len(parts)))
    while waiting:
        current: dict[int, Breakage] = {}
        for place in sorted(waiting):
            way = next(ways[place], None)
            if way is None:
                fates[place] = VACUOUS if parts[place].kind == "goal" else UNNOTICED
            else:
                tried[place].append(way)
                current[place] = way
        noticed = _noticed(theory, {k: (parts[k], way) for k, way in current.items()})
        for place, way in current.items():
            reason = noticed.get(place)
            fated = (
                Fated(outcome="killed", reason=reason)
                if reason is not None
                else _asked(parts[place], way, goals, refusal)
            )
            if fated is not None:
                fates[place] = fated
        waiting -= fates.keys()
    return [_row(part, tried[k], fates[k]) for k, part in enumerate(parts)]


def _noticed(theory: Theory, broken: Mapping[int, tuple[Part, Breakage]]) -> dict[int, str]:
    """Which of the broken formulas some world shows to be wrong, and how."""
    found: dict[int, str] = {}
    for world in theory.worlds():
        waiting = broken.keys() - found.keys()
        if not waiting:
            break
        meaning = Interpretation(theory, world)
        for place in waiting:
            part, way = broken[place]
            try:
                _, failed = meaning.judged(way.formula, part.assumptions)
            except GoalError:
                raise
            except Exception:  # whatever the code raises where a broken formula leads it
                found[place] = UNDEFINED
            else:
                if failed:
                    found[place] = FALSE
    return found


def _asked(part: Part, way: Breakage, goals: Sequence[Goal], refusal: Refusal) -> Fated | None:
    """What the solvers make of a broken formula that is true in every world, if anything."""
    if part.kind == "goal":
        refused = refusal([replace(goals[part.place], conclusion=way.formula)])
        return None if refused is None else Fated(outcome="killed", reason=refused)
    theory, place = part.theory, part.place
    before, right, after = theory.axioms[:place], theory.axioms[place], theory.axioms[place + 1 :]
    wrong = replace(right, formula=way.formula)
    refused = refusal(_under(goals, theory, (*before, wrong, *after)))
    if refused is not None:
        return Fated(outcome="killed", reason=refused)
    if refusal([Goal(name=part.name, theory=theory, conclusion=way.formula)]) is None:
        return Fated(outcome="harmless", reason=IMPLIED)
    if refusal(_under(goals, theory, (*before, *after))) is None:
        return Fated(outcome="harmless", reason=REDUNDANT)
    return None


def _under(goals: Sequence[Goal], theory: Theory, axioms: tuple[Axiom, ...]) -> list[Goal]:
    other = replace(theory, axioms=axioms)
    return [replace(goal, theory=other) for goal in goals]


def _row(part: Part, tried: Sequence[Breakage], fated: Fated) -> dict[str, Json]:
    last = tried[-1]
    return {
        "kind": part.kind,
        "theory": part.theory.name,
        "name": part.name,
        "gloss": " ".join(part.gloss.split()),
        "change": last.change,
        "formula": last.formula,
        "tried": [way.change for way in tried[:-1]],
        "outcome": fated.outcome,
        "reason": fated.reason,
    }
