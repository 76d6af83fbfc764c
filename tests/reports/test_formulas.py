"""Formulas on several lines: the same formula, and lines that are not too long."""

from __future__ import annotations

import pytest

from reports.formulas import laid_out
from verify.smtlib import parse

INDUCTION = (
    "(forall ((l Int) (p Path)) (! (=> (and (<= 0 l) (< l L)) (= (mask (+ l 1) p) "
    "(mul (mask l p) (value l (head p l))))) :pattern ((mask (+ l 1) p))))"
)


def test_parts_stand_below_each_other_and_a_keyword_before_its_value() -> None:
    assert laid_out(INDUCTION, width=60).splitlines() == [
        "(forall ((l Int) (p Path))",
        "  (! (=> (and (<= 0 l) (< l L))",
        "         (= (mask (+ l 1) p)",
        "            (mul (mask l p) (value l (head p l)))))",
        "     :pattern ((mask (+ l 1) p))))",
    ]


@pytest.mark.parametrize("width", [1, 20, 50, 200])
def test_the_formula_stays_the_same(width: int) -> None:
    text = laid_out(INDUCTION, width)
    assert parse(text) == parse(INDUCTION)
    assert (text == INDUCTION) == (width == 200)


@pytest.mark.parametrize(
    "text",
    [
        "(and a",
        "a))",
        "; a note\n(and a b)",
        '(= a "b  c")',
        "(= |a  b| c)",
        "",
        "x",
        "(" * 9999 + ")" * 9999,
    ],
    ids=["open", "closed", "comment", "string", "symbol", "empty", "atom", "deep"],
)
def test_what_cannot_be_laid_out_stands_as_it_is(text: str) -> None:
    assert laid_out(text, width=1) == text
