"""From the last level of the rounded network to the bit.

The margin z = fl(2 s (y - 2 x)) of an odd count is between 1 and 2^p, so z - 1 is exact and the bit
1; that of an even count is at most 0, and so is the bit.

Source: Sliding-Window Transformers Without Positional Encodings, Theorem 9, Remark 5.
"""

from __future__ import annotations

from constructions.machines.precision_lemmas import (
    AT_LEAST_ONE,
    AT_MOST_ZERO,
    READ_LEAST,
    READ_MOST,
    SCALED_SHARE,
    SHARE_HALVED,
    near,
)
from constructions.machines.precision_theory import (
    COUNTED,
    FOLD,
    MET,
    POSITIVE,
    POSITIVE_UNIT,
    POWERS,
    QUARTER,
    SCALE,
    SMALL_UNIT,
    TIMES_M,
    WINDOW,
    Worlds,
    close,
    network_theory,
    real,
)
from constructions.machines.relu_lemmas import relu
from verify.smtlib import Axiom, Goal

_ORDERED = Axiom(
    "ordered",
    """(forall ((a Real) (d Real)) (! (=> (<= a d) (<= (fl a) (fl d)))
      :pattern ((fl a) (fl d))))""",
    "rounding keeps order",
)
_FIXED = Axiom(
    "fixed",
    "(and (= (fl 0.0) 0.0) (= (fl 1.0) 1.0) (= (fl (to_real (pow p))) (to_real (pow p))))",
    "0, 1 and 2^p are numbers of the format",
)
_LESS_ONE = Axiom(
    "less one",
    """(forall ((a Real)) (! (=> (and (<= 1.0 (fl a)) (<= (fl a) (to_real (pow p))))
      (= (fl (- (fl a) 1.0)) (- (fl a) 1.0))) :pattern ((fl (- (fl a) 1.0)))))""",
    "z - 1 is a number of the format for each of its z from 1 to 2^p",
)
_READ_OFF = "(* (to_real s) (- y (* 2.0 (x 0))))"
_READ = Axiom(
    "read",
    f"(and (= z (fl (* 2.0 {_READ_OFF}))) (= b (- {relu('z')} {relu('(fl (- z 1.0))')})))",
    "z = fl(2 s (y - 2 x)), b = relu(z) - relu(fl(z - 1))",
)


_LAST = "(<= (+ (slack 0) (* 1.25 u)) 0.25)"
_ODD, _EVEN = "(= (mod c 2) 1)", "(= (mod c 2) 0)"
_LARGE = f"(>= (* 2.0 {_READ_OFF}) 1.0)"
_BELOW = f"(<= (* 9.0 {_READ_OFF}) (* 10.0 {real('S')}))"
_BETWEEN = "(and (<= 1.0 z) (<= z (to_real (pow p))))"
_W = "(x 0)"
_LAST_ODD = f"(and (<= 0.0 {_W}) (<= {_W} (* (slack 0) y)))"
_LAST_EVEN = near(_W, "y", "(* (slack 0) y)")


def last_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """What is left after the last level: little for odd counts, about y for even ones."""
    theory = network_theory("last level", (POWERS, WINDOW, FOLD, COUNTED), worlds)
    return (
        Goal(name="the last slack", theory=theory, assumptions=(QUARTER,), conclusion=_LAST),
        Goal(
            name="the last share of an odd count",
            theory=theory,
            assumptions=(_ODD, close("0")),
            conclusion=_LAST_ODD,
        ),
        Goal(
            name="the last share of an even count",
            theory=theory,
            assumptions=(_EVEN, close("0")),
            conclusion=_LAST_EVEN,
        ),
    )


def margin_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """The margin before rounding: from 1/2 to 10/9 S for odd counts, at most 0 for even ones."""
    numbers = network_theory("arithmetic of reading", (WINDOW,), worlds)
    s = real("s")
    return (
        Goal(
            name="an odd count is read as 1 or more",
            theory=numbers,
            assumptions=(
                SMALL_UNIT,
                _LAST,
                SCALE,
                _LAST_ODD,
                READ_MOST.at(s=s, y="y", w=_W, d="(slack 0)"),
                AT_LEAST_ONE.at(u="u", d="(slack 0)", t=f"(* {s} y)"),
            ),
            conclusion=_LARGE,
        ),
        Goal(
            name="an odd count is read as 20/9 S or less",
            theory=numbers,
            assumptions=(
                _ODD,
                SMALL_UNIT,
                POSITIVE,
                TIMES_M,
                _LAST_ODD,
                READ_LEAST.at(s=s, y="y", w=_W),
                SHARE_HALVED.at(u="u", m=real("m"), y="y"),
                SCALED_SHARE.at(s=s, y="y", S=real("S")),
            ),
            conclusion=_BELOW,
        ),
        Goal(
            name="an even count is read as 0 or less",
            theory=numbers,
            assumptions=(
                POSITIVE_UNIT,
                POSITIVE,
                _LAST,
                _LAST_EVEN,
                AT_MOST_ZERO.at(s=s, y="y", w=_W, d="(slack 0)"),
            ),
            conclusion=f"(<= {_READ_OFF} 0.0)",
        ),
    )


def bit_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """The bit is exactly 1 for odd counts and exactly 0 for even ones."""
    rounding = network_theory("rounded margin", (WINDOW, MET, _ORDERED, _FIXED, _READ), worlds)
    theory = network_theory("rounded reading", (_ORDERED, _FIXED, _LESS_ONE, _READ), worlds)
    return (
        Goal(
            name="the margin of an odd count is between 1 and 2^p",
            theory=rounding,
            assumptions=(_LARGE, _BELOW),
            conclusion=_BETWEEN,
        ),
        Goal(
            name="the bit of an odd count is 1",
            theory=theory,
            role="conclusion",
            assumptions=(_ODD, _BETWEEN),
            conclusion="(= b 1.0)",
        ),
        Goal(
            name="the bit of an even count is 0",
            theory=theory,
            role="conclusion",
            assumptions=(_EVEN, f"(<= {_READ_OFF} 0.0)"),
            conclusion="(= b 0.0)",
        ),
    )
