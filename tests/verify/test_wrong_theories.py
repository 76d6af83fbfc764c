"""What becomes of a broken axiom or goal: killed by a world or a solver, harmless, or survived."""

from __future__ import annotations

from typing import Any

import pytest

from verify.claims import Setting
from verify.facts import INDUCTION
from verify.methods.smt import Smt
from verify.smtlib import Axiom, Goal, Theory, World
from verify.verdicts import Json, Status

DECLARATIONS = "(declare-sort S 0) (declare-fun f (S) S) (declare-const c S)"
FIXED = "(forall ((a S)) (= (f a) a))"
TWICE = "(forall ((a S)) (= (f (f a)) a))"
EITHER = f"(or {FIXED} (forall ((a S)) (distinct (f a) a)))"


def world(members: tuple[int, ...], f: Any = lambda a: a) -> World:
    return World(sorts={"S": members}, symbols={"f": f, "c": 0})


def mutants(world: World, *goals: str, **axioms: str) -> dict[str, dict[str, Json]]:
    theory = Theory(
        name="fixed points",
        declarations=DECLARATIONS,
        axioms=tuple(Axiom(name, text, f"about {name}") for name, text in axioms.items()),
        worlds=lambda: (world,),
    )
    made = [Goal(name=f"goal {n}", theory=theory, conclusion=text) for n, text in enumerate(goals)]
    verdict = Smt(goals=lambda: made, instances="all", leans_on=(INDUCTION,)).mutated(Setting())
    assert verdict.status is Status.UNKNOWN
    return {row["name"]: row for row in verdict.evidence["mutants"]}


def test_a_world_kills_what_is_false_of_its_objects() -> None:
    found = mutants(world((0, 1)), TWICE, fixed=FIXED)
    assert {row["outcome"] for row in found.values()} == {"killed"}
    assert {row["reason"] for row in found.values()} == {"false of real objects of the code"}
    assert found["fixed"]["kind"] == "axiom"
    assert found["fixed"]["formula"] == "(forall ((a S)) (distinct (f a) a))"
    assert found["goal 0"]["kind"] == "goal"


def test_a_solver_kills_what_no_world_notices() -> None:
    found = mutants(world(()), TWICE, fixed=FIXED)
    assert found["fixed"]["outcome"] == "killed"
    assert found["fixed"]["reason"].startswith("z3 does not prove 'goal 0' (")


def test_code_that_fails_on_a_broken_formula_kills_it_and_is_named() -> None:
    theory = Theory(
        name="inverses",
        declarations="(declare-fun invertible (Int) Bool)",
        axioms=(Axiom("0 or not", "(forall ((n Int)) (or (= n 0) (invertible n)))", "not 0 only"),),
        worlds=lambda: (World(sorts={}, symbols={"invertible": lambda n: 1 / n != 0}),),
    )
    goal = Goal(name="1", theory=theory, conclusion="(invertible 1)")
    axiom, _ = Smt(goals=lambda: [goal], instances="all").mutated(Setting()).evidence["mutants"]
    assert (axiom["outcome"], axiom["reason"]) == (
        "killed",
        "undefined on real objects of the code",
    )


def test_what_the_right_axioms_imply_is_harmless() -> None:
    found = mutants(world(()), EITHER, fixed=FIXED, none="(forall ((a S)) (distinct a a))")
    assert found["fixed"]["reason"] == "both solvers prove it from the right axioms"
    assert found["fixed"]["outcome"] == "harmless"


def test_an_axiom_that_no_goal_needs_is_harmless() -> None:
    found = mutants(world(()), "(= c c)", fixed=FIXED)
    assert found["fixed"]["outcome"] == "harmless"
    assert found["fixed"]["reason"] == "both solvers prove every goal without the axiom"


def test_what_nothing_notices_and_nothing_excuses_survives() -> None:
    found = mutants(world(()), EITHER, fixed=FIXED)
    assert found["fixed"]["outcome"] == "survived"
    assert found["fixed"]["tried"][0] == "the conclusion: a comparison turned"


def test_a_goal_whose_premises_never_hold_is_named() -> None:
    found = mutants(world((0,)), "(=> (distinct c c) (= (f c) c))", fixed=FIXED)
    assert found["goal 0"]["outcome"] == "harmless"
    assert "its premises never hold" in found["goal 0"]["reason"]


def test_theories_of_one_name_are_told_apart() -> None:
    def theory() -> Theory:
        return Theory(
            name="theories alike",
            declarations=DECLARATIONS,
            axioms=(Axiom("fixed", FIXED, "f keeps all"),),
            worlds=lambda: (world((0, 1)),),
        )

    goals = [Goal(name="twice", theory=theory(), conclusion=TWICE) for _ in range(2)]
    rows = Smt(goals=lambda: goals, instances="all").mutated(Setting()).evidence["mutants"]
    assert [row["name"] for row in rows] == ["fixed", "twice", "fixed (2)", "twice (2)"]


@pytest.mark.parametrize("members", [(0, 1), ()])
def test_the_same_is_broken_each_time(members: tuple[int, ...]) -> None:
    assert mutants(world(members), EITHER, fixed=FIXED) == mutants(
        world(members), EITHER, fixed=FIXED
    )
