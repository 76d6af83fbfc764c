"""Goals on the built model's mean and readout: its logit leads all others, at every context.

Source: ours.
"""

from __future__ import annotations

from functools import partial

from constructions.minimal.built_axioms import (
    APART,
    EVENS,
    LEVELS,
    MEAN,
    OTHERS,
    READOUT,
    TOTAL,
    VALUE,
    WANTED,
    WINDOW,
    Named,
    Worlds,
    built_theory,
)
from constructions.minimal.built_lemmas import (
    ABOVE,
    DIFFERENCE,
    DISTANCE,
    LEADS,
    LEMMAS,
    MARGIN,
    NEAR,
    OTHER_MARGIN,
    RANGE,
    REFERRED,
    SPREAD,
    real,
)
from constructions.minimal.built_weights import (
    FEW,
    NOT_NEGATIVE,
    PLACE,
    POSITIVE,
    STEP,
    weight_goals,
)
from verify.smtlib import Goal, induction

_PULL = f"(<= (- (* {RANGE}.0 (others {{0}}))) (apart {{0}}) (* {RANGE}.0 (others {{0}})))".format
_SPLIT = "(= (total {0}) (+ (others {0}) (ite (< j {0}) (w j) 0.0)))".format
_REFERRED = "(= (value {0}) (+ (* (level j) (total {0})) (apart {0})))".format
_NEAR = f"(<= (- {real(DISTANCE)}) (- mean (level j)) {real(DISTANCE)})"
_OWN, _OTHER = (f"(+ {RANGE}.0 (to_real {token}))" for token in ("wanted", "t"))
_AT_LEVEL = f"(<= (- {real(DISTANCE)}) (- y {_OWN}) {real(DISTANCE)})"
_LEADS, _LEADS_OTHERS = (
    f"(>= (logit wanted) (+ (logit t) {real(margin)}))" for margin in (MARGIN, OTHER_MARGIN)
)


def built_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """Weights, the sums that attention forms, the mean, and the readout."""
    theory = partial(built_theory, worlds)
    return (
        *(lemma.goal for lemma in LEMMAS),
        *weight_goals(theory),
        *_pull_goals(theory),
        *_sum_goals(theory),
        _near_goal(theory),
        *_readout_goals(theory),
    )


def _pull_goals(theory: Named) -> tuple[Goal, ...]:
    """The others move the weighted sum by at most 10 times their weight."""
    away = "(- (level i) (level j))"
    bounded = f"(<= (- {RANGE}.0) {away} {RANGE}.0)"
    return (
        Goal(
            name="levels differ by at most 10",
            theory=theory("levels", WINDOW, LEVELS),
            assumptions=(PLACE,),
            conclusion=bounded,
        ),
        *induction(
            name="the others' pull",
            theory=theory("pull", OTHERS, APART),
            invariant=_PULL,
            base="0",
            step=STEP,
            step_assumptions=(PLACE, POSITIVE, bounded, SPREAD.at(w="(w i)", x=away)),
        ),
    )


def _sum_goals(theory: Named) -> tuple[Goal, ...]:
    """The sums of attention, in terms of place j and the others."""
    terms = {"s": "(total i)", "v": "(value i)", "m": "(apart i)", "w": "(w i)", "u": "(level i)"}
    return (
        *induction(
            name="all weights",
            theory=theory("all weights", WINDOW, TOTAL, OTHERS),
            invariant=_SPLIT,
            base="0",
            step=STEP,
            step_assumptions=(PLACE,),
        ),
        *induction(
            name="weighted values",
            theory=theory("weighted values", TOTAL, VALUE, APART),
            invariant=_REFERRED,
            base="0",
            step=STEP,
            step_assumptions=(PLACE, REFERRED.at(e="(level j)", **terms)),
        ),
    )


def _near_goal(theory: Named) -> Goal:
    terms = {"s": "(total n)", "o": "(others n)", "w": "(w j)", "m": "(apart n)"}
    return Goal(
        name="the mean is near the last even number",
        theory=theory("mean", WINDOW, MEAN),
        assumptions=(
            _REFERRED("n"),
            _SPLIT("n"),
            "(>= (w j) 1.0)",
            NOT_NEGATIVE("n"),
            FEW,
            _PULL("n"),
            NEAR.at(a="mean", e="(level j)", **terms),
        ),
        conclusion=_NEAR,
    )


def _readout_goals(theory: Named) -> tuple[Goal, ...]:
    """The logit of the token at j leads those of other even numbers, and of all other tokens."""
    readout = theory("readout", READOUT, EVENS, WANTED)
    return (
        Goal(name="y is near a level", theory=readout, assumptions=(_NEAR,), conclusion=_AT_LEVEL),
        Goal(
            name="other even numbers",
            theory=readout,
            assumptions=(
                "(evenToken t)",
                "(distinct t wanted)",
                _AT_LEVEL,
                DIFFERENCE.at(a=_OWN, b=_OTHER, y="y"),
                LEADS.at(x=f"(- {_OWN} {_OTHER})", d=f"(- y {_OWN})"),
                LEADS.at(x=f"(- (- {_OWN} {_OTHER}))", d=f"(- (- y {_OWN}))"),
            ),
            conclusion=_LEADS,
        ),
        Goal(
            name="tokens that are not even",
            theory=readout,
            assumptions=("(not (evenToken t))", _AT_LEVEL, ABOVE.at(a=_OWN, y="y")),
            conclusion=_LEADS_OTHERS,
        ),
        Goal(
            name="the last even number leads",
            theory=theory("tokens"),
            role="conclusion",
            assumptions=(
                f"(=> (and (evenToken t) (distinct t wanted)) {_LEADS})",
                f"(=> (not (evenToken t)) {_LEADS_OTHERS})",
                "(distinct t wanted)",
            ),
            conclusion=_LEADS,
        ),
    )
