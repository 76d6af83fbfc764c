"""A claim as its code states it, before anything was settled."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast, get_args

from reports.explanation import (
    WAYS,
    ExplainedCheck,
    Explanation,
    Related,
    StatedGoal,
    StatedTheory,
    command_of,
)
from reports.formulas import laid_out
from reports.selection import Selection, stdout_to_stderr
from verify.claims import Check, Claim, Profile, Setting
from verify.errors import ClaimError
from verify.methods.identity import Identity
from verify.methods.smt import Smt
from verify.smtlib import Axiom, Goal
from verify.verdicts import Json

UNTOLD = ""
"""The status, standing and outcome of what was not settled."""
_USUAL = {"profile": "standard", "seed": 0}


def stated(item: Claim, whole: Selection) -> tuple[Explanation, str]:
    """The claim among all others, and why its checks cannot be built, if they cannot."""
    checks, fault = _checks(item)
    users = [other.id for other in whole.chosen if item.id in other.uses]
    explanation = Explanation(
        id=item.id,
        paper=item.source.paper,
        where=item.source.where,
        statement=item.statement,
        latex=item.latex,
        scope=item.scope,
        status=UNTOLD,
        standing=UNTOLD,
        expected=item.expected.name,
        outcome=UNTOLD,
        command=command_of(_USUAL, [whole.files.get(item.id, item.id)]),
        rests_on=tuple(Related(id=used, standing=None) for used in item.uses),
        used_by=tuple(Related(id=user, standing=None) for user in users),
        trusted=(),
        checks=checks,
    )
    return explanation, fault


def _checks(item: Claim) -> tuple[tuple[ExplainedCheck, ...], str]:
    """The checks as their code states them; or none, and why they cannot be built."""
    try:
        with stdout_to_stderr():
            return tuple(map(_check, item.checks())), ""
    except ClaimError as error:
        return (), str(error)
    except (Exception, SystemExit) as error:  # a claim's code may raise anything
        return (), f"{type(error).__name__}: {error}"


def _check(check: Check) -> ExplainedCheck:
    method = check.method
    goals = tuple(method.goals()) if isinstance(method, Smt) else ()
    return ExplainedCheck(
        method=method.name,
        way=WAYS.get(method.name, ""),
        covers=check.covers,
        status=UNTOLD,
        scope=_scope(check),
        goals=tuple(map(_goal, goals)),
        theories=_theories(goals),
        equations=_equations(method) if isinstance(method, Identity) else (),
        evidence={},
        rest={},
        certificate=None,
        seconds=None,
    )


def _scope(check: Check) -> str:
    """The instances of the check; of each profile, where they differ."""
    profiles = cast("tuple[Profile, ...]", get_args(Profile))
    scopes = {profile: check.method.scope(Setting(profile=profile)) for profile in profiles}
    if len(set(scopes.values())) == 1:
        return scopes["standard"]
    return "; ".join(f"{profile}: {scope}" for profile, scope in scopes.items())


def _equations(method: Identity) -> tuple[Json, ...]:
    return tuple(f"{one.name}: {one.left} = {one.right}" for one in method.equations())


def _goal(goal: Goal) -> StatedGoal:
    return StatedGoal(
        name=goal.name,
        role=goal.role,
        theory=goal.theory.name,
        assumptions=tuple(map(_formula, goal.assumptions)),
        conclusion=_formula(goal.conclusion),
        answers={},
    )


def _theories(goals: Iterable[Goal]) -> tuple[StatedTheory, ...]:
    theories = {goal.theory.name: goal.theory for goal in goals}
    return tuple(
        StatedTheory(
            name=theory.name,
            axioms=tuple(Axiom(a.name, _formula(a.formula), a.gloss) for a in theory.axioms),
        )
        for theory in theories.values()
    )


def _formula(text: str) -> str:
    return laid_out(" ".join(text.split()))
