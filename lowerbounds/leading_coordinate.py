"""The large targets exceed every bound: the first coordinate leads in every layer.

    leads (r)     r_1 > 0, and the sum of all coordinates of r is at most r_1

What leads stays ahead through a sublayer; for d_in >= 2 it is above the mean, so positive once
normalised, and normalised coordinates sum to 0, so the next stream leads too. The output's first
coordinate is g h, where h > 0 does not depend on g.

Source: Fixed Universal Transformers, Section 3.3; the proof is ours.
"""

from __future__ import annotations

from lowerbounds.large_targets import (
    INPUT,
    NEXT,
    PASSED,
    POSITIVE,
    RESULT,
    kept,
    target_theory,
)
from lowerbounds.layer_norm_theory import (
    BALANCED,
    DEVIATION,
    DEVIATIONS,
    MEAN,
    NORMALISED,
    ROOT,
    SUM,
    Worlds,
)
from lowerbounds.normalization_lemmas import (
    ABOVE,
    BELOW,
    BOTH_POSITIVE,
    DISTRIBUTES,
    NO_FACTOR,
    POSITIVE_QUOTIENT,
    at_most,
)
from verify.smtlib import Axiom, Goal, induction


def _wide(least: int) -> Axiom:
    return Axiom("width", f"(>= m {least})", f"the target's width d_in is at least {least}")


_SUMS = """(= (- (upto (value l) {0}) (entry (value l) 0))
  (ite residual (- (upto (stream l) {0}) (entry (stream l) 0)) 0.0))""".format


def keeping_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """What leads stays ahead through a sublayer."""
    theory = target_theory("keeping", worlds, POSITIVE, PASSED, SUM)
    return (
        *induction(
            name="the other coordinates' sum",
            theory=theory,
            invariant=_SUMS,
            base="(+ 0 1)",
            step=("k", "(+ k 1)"),
            step_assumptions=("(within k)", "(>= k 1)", kept("k")),
        ),
        Goal(
            name="a sublayer keeps the lead",
            theory=theory,
            assumptions=(
                "(leads (stream l))",
                _SUMS("m"),
                kept("0"),
                BOTH_POSITIVE.at(a="(entry (stream l) 0)", b="(w l)"),
            ),
            conclusion="(leads (value l))",
        ),
        BOTH_POSITIVE.goal,
    )


def leading_goals(worlds: Worlds, least: int = 2) -> tuple[Goal, ...]:
    """What leads in a row of width 2 or more is positive once normalised."""
    axioms = (_wide(least), MEAN, DEVIATION, ROOT, NORMALISED)
    theory = target_theory("leading", worlds, *axioms)
    return (
        Goal(
            name="what leads is above the mean",
            theory=theory,
            assumptions=(
                "(leads x)",
                BELOW.at(n="(to_real m)", u="(mean x)", s="(upto x m)", a="(entry x 0)"),
            ),
            conclusion="(> (dev x 0) 0.0)",
        ),
        Goal(
            name="what leads is positive once normalised",
            theory=theory,
            assumptions=(
                "(> (dev x 0) 0.0)",
                POSITIVE_QUOTIENT.at(r="(root x)", h="(hat x 0)", y="(dev x 0)"),
            ),
            conclusion="(> (hat x 0) 0.0)",
        ),
        BELOW.goal,
        POSITIVE_QUOTIENT.goal,
    )


_POSITIVE_HAT = "(=> (leads (stream {0})) (> (hat (value {0}) 0) 0.0))".format
_AFTER = "(stream (+ l 1))"
_FOLLOWS = f"(= (entry {_AFTER} k) (hat (value l) k))"
_OVER_ROOT = f"(= (* (root (value l)) (upto {_AFTER} {{0}})) (devs (value l) {{0}}))".format
_NOT_LAST = ("(layer l)", "(< (+ l 1) L)")


def next_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """The coordinates of the next stream sum to 0."""
    return (
        Goal(
            name="the next stream",
            theory=target_theory("next", worlds, NEXT),
            assumptions=(*_NOT_LAST, "(within k)"),
            conclusion=_FOLLOWS,
        ),
        *induction(
            name="normalised coordinates sum to the deviations' sum over the divisor",
            theory=target_theory("sums", worlds, SUM, DEVIATIONS, NORMALISED),
            invariant=_OVER_ROOT,
            base="0",
            step=("k", "(+ k 1)"),
            step_assumptions=(
                "(within k)",
                _FOLLOWS,
                DISTRIBUTES.at(
                    r="(root (value l))",
                    s=f"(upto {_AFTER} k)",
                    h="(hat (value l) k)",
                    t=f"(upto {_AFTER} (+ k 1))",
                    d="(devs (value l) k)",
                    y="(dev (value l) k)",
                ),
            ),
        ),
        Goal(
            name="normalised coordinates sum to 0",
            theory=target_theory("divisors", worlds, ROOT),
            assumptions=(
                _OVER_ROOT("m"),
                BALANCED.format(r="(value l)"),
                NO_FACTOR.at(a="(root (value l))", b=f"(upto {_AFTER} m)"),
            ),
            conclusion=f"(= (upto {_AFTER} m) 0.0)",
        ),
        DISTRIBUTES.goal,
        NO_FACTOR.goal,
    )


def layer_goals(worlds: Worlds, least: int = 2) -> tuple[Goal, ...]:
    """The first coordinate leads in every stream before the last normalisation."""
    theory = target_theory("layers", worlds, _wide(least), INPUT, SUM, NEXT)
    return (
        *induction(
            name="the input's sum",
            theory=theory,
            invariant="(= (upto (stream 0) {0}) 1.0)".format,
            base="(+ 0 1)",
            step=("k", "(+ k 1)"),
            step_assumptions=("(within k)", "(>= k 1)"),
        ),
        *induction(
            name="the first coordinate leads in every layer",
            theory=theory,
            invariant="(leads (stream {0}))".format,
            base="0",
            step=("l", "(+ l 1)"),
            base_assumptions=("(= (upto (stream 0) m) 1.0)",),
            step_assumptions=(*_NOT_LAST, _POSITIVE_HAT("l"), f"(= (upto {_AFTER} m) 0.0)"),
        ),
    )


GAIN = "(+ (/ {bound} {hat}) 1.0)"
"""The last layer's scale for a bound and the normalised coordinate; a mutant changes it."""


def exceeding_goals(worlds: Worlds, gain: str = GAIN) -> tuple[Goal, ...]:
    """With scale bound / h + 1 the output exceeds the bound, so no embedding simulates it."""
    theory = target_theory("output", worlds, RESULT)
    hat = "(hat (value (- L 1)) 0)"
    exceeds = "(> (entry result 0) bound)"
    return (
        Goal(
            name="the target exceeds the bound",
            theory=theory,
            assumptions=(
                "(leads (stream (- L 1)))",
                _POSITIVE_HAT("(- L 1)"),
                f"(= gain {gain.format(bound='bound', hat=hat)})",
                ABOVE.at(b="bound", h=hat, g="gain"),
            ),
            conclusion=exceeds,
        ),
        Goal(
            name="no embedding simulates the target",
            theory=theory,
            role="conclusion",
            assumptions=(
                exceeds,
                f"(forall ((E Embedding)) {at_most('(response E)', 'bound')})",
            ),
            conclusion="(forall ((E Embedding)) (distinct (response E) (entry result 0)))",
        ),
        ABOVE.goal,
    )
