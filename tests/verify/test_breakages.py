"""What is broken in a formula, where, and in which order."""

from __future__ import annotations

import pytest

from verify.breakages import breakages

DECLARATIONS = """
(declare-sort S 0) (declare-sort T 0)
(declare-fun same (S S) Bool) (declare-fun mixed (S T) Bool)
(define-fun twice ((a S) (b S)) Bool (and (same a b) (same b a)))
"""


def broken(formula: str, *, premises: bool = True) -> dict[str, str]:
    found = list(breakages(formula, DECLARATIONS, premises=premises))
    assert len({way.change for way in found}) == len(found)
    return {way.change: way.formula for way in found}


@pytest.mark.parametrize(
    ("formula", "change", "wrong"),
    [
        ("(= a b)", "a comparison turned", "(distinct a b)"),
        ("(distinct a b)", "a comparison turned", "(= a b)"),
        ("(< a b)", "a comparison turned", "(>= a b)"),
        ("(>= a b)", "a comparison turned", "(< a b)"),
        ("(p a)", "denied", "(not (p a))"),
        ("(not (p a))", "denied", "(p a)"),
        ("(p 3)", "a number raised by 1", "(p 4)"),
        ("(p 3.0)", "a number raised by 1", "(p 4.0)"),
        ("(p (+ a b))", "+ made -", "(p (- a b))"),
        ("(and p q)", "and, or switched", "(or p q)"),
        ("(or p q)", "and, or switched", "(and p q)"),
        ("(same a b)", "two arguments exchanged", "(same b a)"),
        ("(twice a b)", "two arguments exchanged", "(twice b a)"),
        ("(p (- a b))", "two arguments exchanged", "(p (- b a))"),
    ],
)
def test_each_change_at_the_first_place_that_fits(formula: str, change: str, wrong: str) -> None:
    assert broken(formula)[f"the conclusion: {change}"] == wrong


def test_arguments_of_other_sorts_or_equal_ones_stay() -> None:
    assert "the conclusion: two arguments exchanged" not in broken("(mixed a b)")
    assert "the conclusion: two arguments exchanged" not in broken("(same a a)")


def test_the_conclusion_stands_behind_quantifiers_patterns_lets_and_premises() -> None:
    formula = "(forall ((a S)) (! (=> (= a 1) (let ((b 2)) (= a b))) :pattern ((p a))))"
    found = broken(formula)
    assert found["the conclusion: a comparison turned"] == (
        "(forall ((a S)) (! (=> (= a 1) (let ((b 2)) (distinct a b))) :pattern ((p a))))"
    )
    assert found["a premise: a comparison turned"] == (
        "(forall ((a S)) (! (=> (distinct a 1) (let ((b 2)) (= a b))) :pattern ((p a))))"
    )
    assert not any(change.startswith("a premise") for change in broken(formula, premises=False))


def test_comparisons_are_turned_first_and_premises_come_last() -> None:
    changes = list(broken("(=> (< a 1) (and (= a 2) p))"))
    assert changes[0] == "the conclusion: a comparison turned"
    parts = [change.partition(":")[0] for change in changes]
    assert parts == sorted(parts, reverse=True)


def test_every_formula_can_be_broken_and_comes_out_different() -> None:
    for formula in ("p", "(p a)", "(exists ((n Int)) (= n n))", "(ite p q r)", "((_ is c) a)"):
        found = broken(formula)
        assert found
        assert formula not in found.values()
