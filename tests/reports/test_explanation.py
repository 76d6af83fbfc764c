"""What a reader is told of a claim, as data."""

from __future__ import annotations

from typing import Any

import pytest

from reports.explanation import Explanation, Related, explained
from verify.verdicts import Json


def goal(name: str, role: str, **answers: str) -> dict[str, Json]:
    return {
        "name": name,
        "role": role,
        "theory": "tree",
        "assumptions": ["(> n 0)"],
        "conclusion": "(= n n)",
        "answers": answers or {"z3": "unsat", "cvc5": "unsat"},
    }


def told(*goals: dict[str, Json], **fields: Any) -> tuple[Explanation, ...]:
    """Two claims, of which the second rests on the first and on one that is not there."""
    axiom = {"name": "sizes", "gloss": "there is a layer", "formula": "(>= L 1)"}
    check: dict[str, Json] = {
        "method": "smt",
        "covers": True,
        "status": "PROVED",
        "scope": "all n",
        "evidence": {
            "goals": list(goals),
            "theories": [{"name": "tree", "axioms": [axiom]}],
            "worlds": 3,
            "own": 7,
        },
        "trusts": ["fact:induction"],
        "instances": 1,
        "certificate": f"certificates/{'0' * 64}.json",
    }
    row: dict[str, Json] = {
        "id": "paper.one",
        "source": {"paper": "paper", "where": "Theorem 1"},
        "statement": "It holds.",
        "latex": "n = n",
        "scope": "all n",
        "uses": [],
        "expected": "PROVED",
        "status": "PROVED",
        "standing": "PROVED",
        "trusts": ["fact:induction", "solver:z3"],
        "checks": [{**check, "covers": False, "method": "exhaustive", "evidence": {}}, check],
        **fields,
    }
    other = {**row, "id": "paper.two", "uses": ["paper.absent", "paper.one"]}
    return explained({"profile": "quick", "seed": 3, "claims": [row, other]})


def test_a_claim_knows_what_it_rests_on_and_what_rests_on_it() -> None:
    one, two = told()
    assert one.used_by == (Related(id="paper.two", standing="PROVED"),)
    assert two.rests_on == (
        Related(id="paper.absent", standing=None),
        Related(id="paper.one", standing="PROVED"),
    )
    assert (one.rests_on, two.used_by) == ((), ())


def test_goals_come_with_their_axioms_and_what_is_concluded_apart() -> None:
    goals = goal("a", "lemma"), goal("b", "conclusion"), goal("c", "step")
    _, check = told(*goals)[0].checks
    assert [found.name for found in check.concluded] == ["b"]
    assert [found.name for found in check.lemmas] == ["a", "c"]
    assert check.goals[0].assumptions == ("(> n 0)",)
    ((axiom,),) = (theory.axioms for theory in check.theories)
    assert (axiom.name, axiom.gloss) == ("sizes", "there is a layer")
    assert dict(check.rest) == {"own": 7}


def test_the_last_goal_is_concluded_where_none_says_so() -> None:
    _, check = told(goal("a", "lemma"), goal("b", "lemma"))[0].checks
    assert [found.name for found in check.concluded] == ["b"]
    assert told()[0].checks[1].concluded == ()


@pytest.mark.parametrize(
    ("answers", "valid"),
    [
        (({"z3": "unsat"}, {"z3": "unsat"}), True),
        (({"z3": "unsat"}, {"z3": "sat"}), False),
        (({"z3": "unsat"}, {"z3": "unsat", "cvc5": "unsat"}), False),
        ((), False),
    ],
)
def test_goals_are_valid_where_every_solver_says_so_of_each(
    answers: tuple[dict[str, str], ...], valid: bool
) -> None:
    _, check = told(*(goal("a", "lemma", **found) for found in answers))[0].checks
    assert check.valid is valid


def test_methods_are_told_once_and_those_that_cover_the_claim_first() -> None:
    assert told()[0].methods == ("smt", "exhaustive")


def test_the_command_repeats_the_run_for_the_claim_or_for_its_file() -> None:
    assert told()[0].command == "certiformer verify paper.one --profile quick --seed 3"
    (one, _) = told(file="my claims.py")
    assert one.command == "certiformer verify 'my claims.py' --profile quick --seed 3"


def test_a_fact_is_told_with_its_reference_and_a_solver_by_its_name() -> None:
    fact, solver = told()[0].trusted
    assert fact.reference is not None
    assert "Dedekind" in fact.reference
    assert (solver.kind, solver.statement) == ("solver", None)


def test_a_certificate_elsewhere_is_none() -> None:
    (one, _) = told(checks=[{**_bare(), "certificate": "../certificates/x.json"}])
    assert one.checks[0].certificate is None
    assert told()[0].checks[1].certificate == f"certificates/{'0' * 64}.json"


def _bare() -> dict[str, Json]:
    return {"method": "own", "covers": True, "status": "PROVED", "scope": "", "evidence": {}}
