"""What the mean is off from c y in each way of summing, and windows that are short enough.

    way          x             load: |x - c y| <= load u y / 8    enough
    wider        fl(wide t)    8 S                                S <= 2^(p - 4)
    once         fl(c/m)       18 S                               S <= 2^(p - 4)
    pairwise     total t       9 (K + 1) S, t balanced            S (K + 2) <= 2^(p - 3)
    sequential   total t       9 S^2, t a comb                    S^2 <= 2^(p - 3), p >= 8

The network is right where load + 10 2^K <= 2^(p + 1); the last column implies that.

Source: Sliding-Window Transformers Without Positional Encodings, Theorem 9, Remark 5.
"""

from __future__ import annotations

from constructions.machines.precision_lemmas import (
    LARGER_FACTOR,
    PRODUCT_SIGN,
    REGROUPED_LOAD,
    REGROUPED_RATE,
    near,
)
from constructions.machines.precision_sums import SMALL_RATE, bounded, sum_theory
from constructions.machines.precision_theory import (
    ACCURATE,
    CONDITION,
    NEAR_SHARE,
    POSITIVE_UNIT,
    POWERS,
    SHARE,
    UNIT,
    WINDOW,
    Worlds,
    real,
    summed,
)
from verify.smtlib import Axiom, Goal, induction

# --- the ways --------------------------------------------------------------------------------

_REACH = {"pairwise": "(+ K 1)", "sequential": "S"}
"""The greatest height of the trees of a way."""
_FACTORS = {
    "wider": "8.0",
    "once": "18.0",
    **{way: f"(* 9.0 (to_real {reach}))" for way, reach in _REACH.items()},
}
"""The load of each way over S."""
_FEW = "(and (<= 0 (ones t)) (<= (ones t) S))"


def load_of(way: str) -> str:
    """The load of a way."""
    return f"(* {_FACTORS[way]} (to_real S))"


def _load(way: str) -> Axiom:
    return Axiom(
        "load", f"(and {CONDITION} (= (to_real load) {load_of(way)}))", "the load of this way"
    )


def _in_units(way: str) -> str:
    return REGROUPED_LOAD.at(u="u", n=real("load"), a=_FACTORS[way], S=real("S"), y="y")


def way_goals(way: str, worlds: Worlds) -> tuple[Goal, ...]:
    """What the mean of one way is off from c y, in its load; and that the load is at least 8 S."""
    theory = sum_theory(f"load of {way}", (POWERS, WINDOW, _load(way)), worlds)
    make = {"once": _once_goals, "wider": _wider_goals}.get(way, _height_goals)
    return (
        Goal(
            name=f"{way}: the load is at least 8 S",
            theory=theory,
            assumptions=(LARGER_FACTOR.at(m="8.0", s=_FACTORS[way], y=real("S")),),
            conclusion="(<= (* 8 S) load)",
        ),
        *make(way, worlds),
    )


def _once_goals(way: str, worlds: Worlds) -> tuple[Goal, ...]:
    theory = sum_theory("rounded mean", (ACCURATE, WINDOW, SHARE), worlds)
    numbers = sum_theory(f"arithmetic of {way}", (WINDOW, _load(way)), worlds)
    mean, count, whole = "(* (to_real c) v)", real("c"), real("S")
    found = f"(fl {mean})"
    rounded = f"(and {near(found, mean, f'(* u {mean})')} {near('y', 'v', '(* u v)')})"
    return (
        Goal(
            name=f"{way}: mean and share are rounded",
            theory=theory,
            assumptions=(PRODUCT_SIGN.at(a=count, y="v"),),
            conclusion=rounded,
        ),
        Goal(
            name=f"{way}: the mean against c y",
            theory=numbers,
            assumptions=(
                rounded,
                LARGER_FACTOR.at(m="(- y v)", s="(* u v)", y=count),
                LARGER_FACTOR.at(m="(- v y)", s="(* u v)", y=count),
            ),
            conclusion=near(found, f"(* {count} y)", f"(* 2.0 (* u {mean}))"),
        ),
        Goal(
            name=f"{way}: the exact mean against S y",
            theory=numbers,
            assumptions=(
                NEAR_SHARE,
                LARGER_FACTOR.at(m="(* 8.0 v)", s="(* 9.0 y)", y=count),
                LARGER_FACTOR.at(m=count, s=whole, y="y"),
            ),
            conclusion=f"(<= {mean} (* 1.125 (* {whole} y)))",
        ),
        Goal(
            name=f"{way}: within the load",
            theory=numbers,
            role="conclusion",
            assumptions=(
                POSITIVE_UNIT,
                near(found, f"(* {count} y)", f"(* 2.0 (* u {mean}))"),
                f"(<= {mean} (* 1.125 (* {whole} y)))",
                LARGER_FACTOR.at(m=mean, s=f"(* 1.125 (* {whole} y))", y="u"),
                _in_units(way),
            ),
            conclusion=summed(found, "c"),
        ),
    )


def _wider_goals(way: str, worlds: Worlds) -> tuple[Goal, ...]:
    theory = sum_theory("rounded wider sum", (ACCURATE,), worlds)
    numbers = sum_theory(f"arithmetic of {way}", (_load(way),), worlds)
    held, found = "(held (ones t))", "(fl (wide t))"
    rounded = near(found, held, f"(* u {held})")
    return (
        Goal(
            name=f"{way}: the sum is rounded",
            theory=theory,
            assumptions=(
                "(> y 0.0)",
                _FEW,
                "(<= S room)",
                f"(=> (<= (ones t) room) (= (wide t) {held}))",
                PRODUCT_SIGN.at(a=real("(ones t)"), y="y"),
            ),
            conclusion=rounded,
        ),
        Goal(
            name=f"{way}: within the load",
            theory=numbers,
            role="conclusion",
            assumptions=(
                POSITIVE_UNIT,
                "(> y 0.0)",
                _FEW,
                rounded,
                LARGER_FACTOR.at(m=real("(ones t)"), s=real("S"), y="y"),
                LARGER_FACTOR.at(m=held, s=f"(* {real('S')} y)", y="u"),
                _in_units(way),
            ),
            conclusion=summed(found, "(ones t)"),
        ),
    )


def _height_goals(way: str, worlds: Worlds) -> tuple[Goal, ...]:
    theory = sum_theory(f"condition of {way}", (UNIT, POWERS, WINDOW, _load(way)), worlds)
    numbers = sum_theory(f"arithmetic of {way}", (_load(way),), worlds)
    reach, held, whole = _REACH[way], "(held (ones t))", f"(* {real('S')} y)"
    tall = f"(rate {reach})"
    fits = f"(<= (* 9 {reach}) (pow p))"
    low = f"(and (<= 0 (height t)) (<= (height t) {reach}))"
    small = SMALL_RATE.format(h="(height t)")
    return (
        Goal(
            name=f"{way}: the height fits the format",
            theory=theory,
            assumptions=(
                "(>= (pow (- K 1)) 1)",
                LARGER_FACTOR.at(m="2.0", s=real("S"), y=f"(* 9.0 {real(reach)})"),
            ),
            conclusion=fits,
        ),
        Goal(
            name=f"{way}: nine heights times u are at most 1",
            theory=theory,
            assumptions=(
                fits,
                low,
                LARGER_FACTOR.at(m=real("(height t)"), s=real(reach), y="u"),
                LARGER_FACTOR.at(m=f"(* 9.0 {real(reach)})", s=real("(pow p)"), y="u"),
            ),
            conclusion=small,
        ),
        Goal(
            name=f"{way}: within the load",
            theory=numbers,
            role="conclusion",
            assumptions=(
                POSITIVE_UNIT,
                "(> y 0.0)",
                low,
                _FEW,
                small,
                bounded("t"),
                PRODUCT_SIGN.at(a=real("(ones t)"), y="y"),
                PRODUCT_SIGN.at(a=real(reach), y="u"),
                LARGER_FACTOR.at(m=real("(height t)"), s=real(reach), y="u"),
                LARGER_FACTOR.at(m="(rate (height t))", s=tall, y=held),
                LARGER_FACTOR.at(m=real("(ones t)"), s=real("S"), y="y"),
                LARGER_FACTOR.at(m=held, s=whole, y=tall),
                REGROUPED_RATE.at(u="u", h=real(reach), t=whole),
                _in_units(way),
            ),
            conclusion=summed("(total t)", "(ones t)"),
        ),
    )


def closed_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """Simple windows that meet the conditions: S <= 2^(p - 4), and the like for sums."""
    powers = sum_theory("powers of 2", (POWERS,), worlds)
    theory = sum_theory("short windows", (POWERS, WINDOW), worlds)
    grown = "(<= (pow a) (pow (+ a {q})))"
    tight = "(<= (pow K) (pow a))"
    twice = "(<= (pow K) (* 2 S))"
    square, levels = f"(* {real('S')} {real('S')})", f"(* 10.0 {real('(pow K)')})"
    words = {
        "wider": ("(= (pow p) (* 16 (pow a)))", "(<= S (pow a))", tight),
        "once": ("(= (pow p) (* 16 (pow a)))", "(<= S (pow a))", tight),
        "pairwise": (f"(<= (* 8.0 (* {real('(+ K 2)')} {real('S')})) {real('(pow p)')})", twice),
        "sequential": (
            f"(<= (* 8.0 {square}) {real('(pow p)')})",
            "(<= 256 (pow p))",
            twice,
            LARGER_FACTOR.at(m="3.0", s=real("S"), y=real("S")),
            LARGER_FACTOR.at(m=real("S"), s="2.0", y=real("S")),
        ),
    }
    return (
        *induction(
            name="powers grow",
            theory=powers,
            invariant=lambda k: grown.format(q=k),
            base="0",
            step=("q", "(+ q 1)"),
            step_assumptions=("(<= 0 a)", "(<= 0 q)", "(>= (pow (+ a q)) 1)"),
        ),
        Goal(
            name="S <= 2^a needs no more than a levels",
            theory=theory,
            assumptions=(
                "(<= 1 a)",
                "(<= S (pow a))",
                f"(=> (<= a (- K 1)) {grown.format(q='(- (- K 1) a)')})",
                "(=> (<= K a) (<= (pow K) (pow (+ K (- a K)))))",
            ),
            conclusion=tight,
        ),
        Goal(
            name="2^K is at most 2 S",
            theory=theory,
            assumptions=("(= (pow (+ (- K 1) 1)) (* 2 (pow (- K 1))))",),
            conclusion=twice,
        ),
        *(
            Goal(
                name=f"{way}: {_SHORT[way]} is enough",
                theory=theory,
                role="conclusion",
                assumptions=assumed,
                conclusion=f"(<= (+ {load_of(way)} {levels}) (* 2.0 {real('(pow p)')}))",
            )
            for way, assumed in words.items()
        ),
    )


_SHORT = {
    "wider": "S <= 2^(p - 4)",
    "once": "S <= 2^(p - 4)",
    "pairwise": "S (K + 2) <= 2^(p - 3)",
    "sequential": "S^2 <= 2^(p - 3)",
}
