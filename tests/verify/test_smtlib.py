"""SMT-LIB text means on real objects what it means to a solver."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify.errors import GoalError
from verify.smtlib import Axiom, Goal, Interpretation, Theory, World, ground, induction, parse


def theory(
    *axioms: str, declarations: str = "", worlds: Callable[[], Any] = lambda: (WORLD,)
) -> Theory:
    return Theory(
        name="numbers",
        declarations=declarations,
        axioms=tuple(Axiom(f"axiom {i}", text, "it holds") for i, text in enumerate(axioms)),
        worlds=worlds,
    )


WORLD = World(
    sorts={"Letter": ("a", "b", "c")},
    symbols={
        "first": "a",
        "next": {"a": "b", "b": "c", "c": "a"}.__getitem__,
        "near": lambda x, y: x == y or {x, y} == {"a", "b"},
        "is-pair": lambda value: isinstance(value, tuple),
        "pair": lambda x, y: (x, y),
        "small": lambda n: n < 3,
    },
    integers=range(4),
    free={"n": range(3), "m": (0, 5)},
)


def value(text: str, declarations: str = "", **free: Any) -> Any:
    return Interpretation(theory(declarations=declarations), WORLD).value(text, free)


# --- parser ----------------------------------------------------------------------------------


def test_text_is_read_as_nested_terms_and_comments_are_skipped() -> None:
    assert parse("(f x (g y)) ; a comment (\n z") == (("f", "x", ("g", "y")), "z")


Tree = st.recursive(
    st.sampled_from(["x", "y", "+", "12"]), lambda part: st.lists(part).map(tuple), max_leaves=12
)


@given(Tree)
def test_what_is_written_is_read_back(term: Any) -> None:
    def written(part: Any) -> str:
        return part if isinstance(part, str) else f"({' '.join(map(written, part))})"

    assert parse(written(term)) == (term,)


@pytest.mark.parametrize(
    ("text", "message"),
    [("(f x", "leaves 1 brackets open"), ("(f x))", "closes a bracket too many")],
)
def test_brackets_that_do_not_match_are_reported(text: str, message: str) -> None:
    with pytest.raises(GoalError, match=message):
        parse(text)


# --- operators -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("true", True),
        ("(not false)", True),
        ("(and true false)", False),
        ("(and)", True),
        ("(or false true)", True),
        ("(or)", False),
        ("(xor true true)", False),
        ("(xor true true true)", True),
        ("(=> true false)", False),
        ("(=> false false)", True),
        ("(=> true true false)", False),
        ("(= 1 1 1)", True),
        ("(= 1 1 2)", False),
        ("(distinct 1 2 1)", False),
        ("(distinct 1 2 3)", True),
        ("(< 1 2 3)", True),
        ("(< 1 3 2)", False),
        ("(<= 2 2)", True),
        ("(> 2 2)", False),
        ("(>= 3 2 2)", True),
        ("(+ 1 2 3)", 6),
        ("(- 5)", -5),
        ("(- 5 1 1)", 3),
        ("(* 2 3 4)", 24),
        ("(/ 1 3)", Fraction(1, 3)),
        ("(to_real 2)", Fraction(2)),
        ("1.5", Fraction(3, 2)),
        ("(ite (< 1 2) 7 8)", 7),
        ("(let ((x 2) (y 3)) (+ x y))", 5),
        ("(! (= 1 1) :pattern ((f x)))", True),
        ("(next first)", "b"),
        ("((_ is pair) (pair 1 2))", True),
        ("((_ is pair) 1)", False),
    ],
)
def test_each_operator_has_its_meaning(text: str, expected: Any) -> None:
    assert value(text) == expected


def test_let_binds_all_its_names_at_once() -> None:
    assert value("(let ((x 1)) (let ((x 2) (y x)) (+ x y)))") == 3


def test_macros_are_expanded_with_their_arguments() -> None:
    macros = "(define-fun twice ((x Int)) Int (+ x x)) (define-fun two () Int 2)"
    assert value("(twice (twice two))", macros) == 8


def test_a_macros_parameter_hides_a_bound_name() -> None:
    macros = "(define-fun succ ((x Int)) Int (+ x 1))"
    assert value("(exists ((x Int)) (and (= x 0) (= (succ (succ x)) 2) (= x 0)))", macros)


def test_quantifiers_range_over_the_worlds_members() -> None:
    assert value("(forall ((x Letter)) (exists ((y Letter)) (= (next y) x)))")
    assert not value("(exists ((y Letter)) (forall ((x Letter)) (= (next y) x)))")
    assert value("(forall ((p Bool)) (or p (not p)))")
    assert value("(exists ((k Int)) (= k 3))")
    assert not value("(exists ((k Int)) (= k 4))")


def test_an_inner_quantifier_may_reuse_a_name() -> None:
    assert value("(forall ((x Int)) (=> (= x 0) (and (exists ((x Int)) (= x 3)) (= x 0))))")


ATOMS = st.sampled_from(
    [
        "(= x 1)",
        "(< x y)",
        "(= (+ x y) z)",
        "(small z)",
        "(<= z x)",
        "(distinct x y z)",
        "(exists ((x Int)) (= x y))",
        "true",
    ]
)


@given(st.lists(ATOMS, min_size=1, max_size=4), ATOMS, st.booleans(), st.permutations("xyz"))
def test_pruned_quantifiers_agree_with_plain_evaluation(
    premises: list[str], conclusion: str, joined: bool, order: list[str]
) -> None:
    given_all = f"(and {' '.join(premises)})" if joined else " ".join(premises)
    body = f"(=> {given_all} {conclusion})"
    variables = " ".join(f"({name} Int)" for name in order)
    plain = all(value(body, x=x, y=y, z=z) for x, y, z in itertools.product(range(4), repeat=3))
    assert value(f"(forall ({variables}) {body})") is plain
    nested = "".join(f"(forall (({name} Int)) " for name in order)
    assert value(f"{nested}{body})))") is plain


# --- worlds, goals, inductions ---------------------------------------------------------------


def test_a_symbol_without_a_meaning_is_reported_with_the_remedy() -> None:
    with pytest.raises(GoalError) as error:
        value("(unheard 1)")
    assert str(error.value) == (
        "theory numbers: the world must give 'unheard' a meaning, got none; "
        "add it to `symbols` or `free`"
    )


def test_a_sort_without_members_is_reported() -> None:
    with pytest.raises(GoalError, match="must list members of sort 'Digit', got none"):
        value("(forall ((x Digit)) true)")


def test_free_constants_take_all_their_values_together() -> None:
    meaning = Interpretation(theory(), WORLD)
    assert list(meaning.valuations(["(= n 1)"])) == [{"n": 0}, {"n": 1}, {"n": 2}]
    assert len(list(meaning.valuations(["(= n 1)", "(< m 2)"]))) == 6
    assert list(meaning.valuations(["(forall ((n Int)) (= n n))"])) == [{}]
    macro = Interpretation(theory(declarations="(define-fun f () Int (+ n 1))"), WORLD)
    assert len(list(macro.valuations(["(= f 1)"]))) == 3


def test_a_false_axiom_a_false_goal_and_an_idle_goal_are_reported_by_name() -> None:
    wrong = theory("(= 1 1)", "(< n 2)")
    goals = (
        Goal(name="true", theory=wrong, conclusion="(>= n 0)"),
        Goal(name="false", theory=wrong, assumptions=("(> n 0)",), conclusion="(= n 1)"),
        Goal(name="idle", theory=wrong, assumptions=("(> n 9)",), conclusion="false"),
    )
    grounding = ground(goals)
    assert grounding.worlds == 1
    assert grounding.failures == ("numbers: axiom axiom 1", "numbers: goal false")
    assert grounding.idle == ("idle",)


def test_a_goal_is_idle_if_no_world_was_given() -> None:
    empty = theory(worlds=lambda: ())
    grounding = ground((Goal(name="any", theory=empty, conclusion="true"),))
    assert (grounding.worlds, grounding.idle) == (0, ("any",))


def test_an_induction_is_a_base_and_a_step_of_one_invariant() -> None:
    base, step = induction(
        name="sum",
        theory=theory(),
        invariant=lambda x: f"(small {x})",
        base="0",
        step=("n", "(+ n 1)"),
        step_assumptions=("(>= n 0)",),
    )
    assert (base.role, base.name, base.conclusion) == ("base", "sum: base", "(small 0)")
    assert (step.role, step.name, step.conclusion) == ("step", "sum: step", "(small (+ n 1))")
    assert step.assumptions == ("(>= n 0)", "(small n)")


def test_a_script_asserts_axioms_assumptions_and_the_negated_conclusion() -> None:
    goal = Goal(
        name="it",
        theory=theory("(= 1 1)", declarations="(declare-const n Int)"),
        assumptions=("(> n 0)",),
        conclusion="(>= n 1)",
    )
    script = goal.script()
    assert parse(script) == (
        ("set-logic", "ALL"),
        ("declare-const", "n", "Int"),
        ("assert", ("=", "1", "1")),
        ("assert", (">", "n", "0")),
        ("assert", ("not", (">=", "n", "1"))),
        ("check-sat",),
    )
