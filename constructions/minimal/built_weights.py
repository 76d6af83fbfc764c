"""Goals on the built model: what a place weighs, and all others beside the last even number.

Source: ours.
"""

from __future__ import annotations

from constructions.minimal.built_axioms import (
    OTHERS,
    POWERS,
    RATE,
    SCORES,
    WEIGHTS,
    WINDOW,
    Named,
)
from constructions.minimal.built_lemmas import (
    EARLIER,
    FEWER,
    GROWS,
    LATER,
    LEAST_RATE,
    SCALED,
    SWAP,
    TOGETHER,
)
from verify.smtlib import Goal, Theory, induction

PLACE = "(place i)"
STEP = ("i", "(+ i 1)")
POSITIVE = "(>= (w i) 1.0)"
NOT_NEGATIVE = "(>= (others {0}) 0.0)".format
FEW = f"(<= (* {LEAST_RATE - 1}.0 (others n)) (w j))"
"""The others weigh at most 1/33 of the last even number."""

_BEFORE, _BEHIND = "(and (<= 0 i) (< i j))", "(and (< j i) (< i n))"
_COUNT, _COUNTED = "(<= 0 k)", ("k", "(+ k 1)")
_FAST = f"(>= r {LEAST_RATE}.0)"
_ONE = "(= (g 0) 1.0)"
_NEXT = "(= (g (+ {0} 1)) (* r (g {0})))".format
_AT_LEAST_ONE = "(>= (g {0}) 1.0)".format
_MULTIPLIED = "(= (g (+ {0} (+ T 1))) (* bonus (g {0})))".format
_MORE = "(<= (g n) (g (+ n {0})))".format
_ENDS = "(<= (g n) bonus)"
_WEIGHT = "(= (w i) (g (late i)))"
_AT_MOST = "(<= (w i) (* bonus (g i)))"
_LAST = "(= (w j) (* bonus (g j)))"
_LATER_WEIGHT = "(= (w i) (g i))"
_ADDED = "(= (others (+ i 1)) (+ (others i) (w i)))"
_NONE = "(= (others 0) 0.0)"
_KEPT = "(= (others (+ j 1)) (others j))"
_EARLIER = "(<= (* (- r 1.0) (others {0})) (* bonus (- (g {0}) 1.0)))".format
_HEAD = "(- (* bonus (- (g j) 1.0)) (g (+ j 1)))"
_LATER = f"(<= (* (- r 1.0) (others {{0}})) (+ {_HEAD} (g {{0}})))".format
_WHOLE = "(* (- r 1.0) (others n))"


def weight_goals(theory: Named) -> tuple[Goal, ...]:
    """Exponentials, weights, and the sum of the others."""
    return (
        *_power_goals(theory("powers", POWERS), theory),
        *_growth_goals(theory("arithmetic of powers")),
        *_place_goals(theory),
        *_added_goals(theory),
        *_sum_goals(theory("arithmetic of others")),
        *_whole_goals(theory),
    )


def _power_goals(powers: Theory, theory: Named) -> tuple[Goal, ...]:
    """The rate, and what one position more does."""
    return (
        Goal(name="the rate", theory=theory("rate", RATE), conclusion=_FAST),
        Goal(name="no position", theory=powers, conclusion=_ONE),
        Goal(name="one position more", theory=powers, assumptions=(_COUNT,), conclusion=_NEXT("k")),
    )


def _growth_goals(numbers: Theory) -> tuple[Goal, ...]:
    """Exponentials are at least 1, multiply with the bonus, and grow."""
    further = "(+ k (+ T 1))"
    return (
        *induction(
            name="exponentials are at least 1",
            theory=numbers,
            invariant=_AT_LEAST_ONE,
            base="0",
            step=_COUNTED,
            base_assumptions=(_ONE,),
            step_assumptions=(_COUNT, _FAST, _NEXT("k"), GROWS.at(b="r", x="(g k)")),
        ),
        *induction(
            name="the bonus multiplies",
            theory=numbers,
            invariant=_MULTIPLIED,
            base="0",
            step=_COUNTED,
            base_assumptions=(_ONE,),
            step_assumptions=(
                _COUNT,
                _NEXT("k"),
                _NEXT(further),
                SWAP.at(a="r", b="bonus", c="(g k)", x=f"(g {further})"),
            ),
        ),
        *induction(
            name="exponentials grow",
            theory=numbers,
            invariant=_MORE,
            base="0",
            step=_COUNTED,
            step_assumptions=(
                _COUNT,
                _FAST,
                _AT_LEAST_ONE("(+ n k)"),
                _NEXT("(+ n k)"),
                GROWS.at(b="r", x="(g (+ n k))"),
            ),
        ),
        Goal(
            name="a window ends before the bonus",
            theory=numbers,
            assumptions=(_MORE("(- (+ T 1) n)"),),
            conclusion=_ENDS,
        ),
    )


def _place_goals(theory: Named) -> tuple[Goal, ...]:
    """What a place weighs, from its score."""
    score = "(= (score i) (* 5 (late i)))"
    numbers, windows = theory("arithmetic of weights"), theory("windows", WINDOW)
    lower = (_AT_LEAST_ONE("(+ T 1)"), _AT_LEAST_ONE("i"), GROWS.at(b="bonus", x="(g i)"))

    def goal(name: str, within: Theory, assumptions: tuple[str, ...], conclusion: str) -> Goal:
        return Goal(name=name, theory=within, assumptions=assumptions, conclusion=conclusion)

    return (
        goal("a score", theory("scores", SCORES), (PLACE,), score),
        goal("a place is not negative", windows, (PLACE,), "(<= 0 (late i))"),
        goal("a weight", theory("weights", WEIGHTS), (PLACE, "(<= 0 (late i))", score), _WEIGHT),
        goal("a weight is at least 1", numbers, (_WEIGHT, _AT_LEAST_ONE("(late i)")), POSITIVE),
        goal(
            "a weight is at most that of an even number there",
            numbers,
            (_WEIGHT, _MULTIPLIED("i"), *lower),
            _AT_MOST,
        ),
        goal(
            "the last even number's weight",
            windows,
            ("(= i j)", _WEIGHT, _MULTIPLIED("i")),
            _LAST,
        ),
        goal("a later weight", windows, (_BEHIND, _WEIGHT), _LATER_WEIGHT),
    )


def _added_goals(theory: Named) -> tuple[Goal, ...]:
    """How the sum of the others goes on, and that it is not negative."""
    sums = theory("sums of others", WINDOW, OTHERS)
    return (
        Goal(name="no others", theory=sums, conclusion=_NONE),
        Goal(
            name="one more place",
            theory=sums,
            assumptions=(PLACE, "(distinct i j)"),
            conclusion=_ADDED,
        ),
        Goal(name="place j", theory=sums, conclusion=_KEPT),
        *induction(
            name="the others' weight is not negative",
            theory=theory("others' weight", OTHERS),
            invariant=NOT_NEGATIVE,
            base="0",
            step=STEP,
            step_assumptions=(PLACE, POSITIVE),
        ),
    )


def _sum_goals(numbers: Theory) -> tuple[Goal, ...]:
    """The others before j, and behind it."""
    return (
        *induction(
            name="the others before j",
            theory=numbers,
            invariant=_EARLIER,
            base="0",
            step=STEP,
            base_assumptions=(_ONE, _NONE),
            step_assumptions=(
                _BEFORE,
                _FAST,
                _ADDED,
                _NEXT("i"),
                _AT_MOST,
                SCALED.at(a="(- r 1.0)", x="(w i)", z="(* bonus (g i))"),
                EARLIER.at(r="r", b="bonus", s="(others i)", x="(w i)", g="(g i)"),
            ),
        ),
        *induction(
            name="the others behind j",
            theory=numbers,
            invariant=_LATER,
            base="(+ j 1)",
            step=STEP,
            base_assumptions=(_KEPT, _EARLIER("j")),
            step_assumptions=(
                _BEHIND,
                _ADDED,
                _NEXT("i"),
                _LATER_WEIGHT,
                LATER.at(r="r", c=_HEAD, s="(others i)", g="(g i)"),
            ),
        ),
    )


def _whole_goals(theory: Named) -> tuple[Goal, ...]:
    """The others together."""
    numbers, little = theory("arithmetic of the whole"), f"(<= {_WHOLE} (* bonus (g j)))"
    return (
        Goal(
            name="the others together",
            theory=numbers,
            assumptions=(
                _LATER("n"),
                _ENDS,
                _AT_LEAST_ONE("(+ j 1)"),
                TOGETHER.at(b="bonus", x="(g j)", s=_WHOLE, e="(g n)", f="(g (+ j 1))"),
            ),
            conclusion=little,
        ),
        Goal(
            name="the others weigh little",
            theory=numbers,
            assumptions=(
                _FAST,
                _LAST,
                little,
                NOT_NEGATIVE("n"),
                FEWER.at(r="r", s="(others n)", w="(w j)"),
            ),
            conclusion=FEW,
        ),
    )
