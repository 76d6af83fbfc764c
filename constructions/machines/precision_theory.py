"""The parity network with rounding, for all formats, windows, contexts and counts.

    fl (a)       a rounded to p digits, u = 2^-p its unit roundoff; no overflow or underflow
    x (l)        the share of a symbol after the levels K-1..l, computed
    count (l)    the same without rounding, in units of 1/m: an integer
    load         A with |x(K) - c y| <= A u y / 8, however the mean was summed
    b            the network's bit

If A + 10 2^K <= 2^(p + 1), then x(l) is within (A/8 + 5/4 (2^K - 2^l)) u y of count(l) y, so within
y / 4 at every level, and the bit is exactly the parity. A fold at 2^l adds at most 5/4 2^l u y.

Source: Sliding-Window Transformers Without Positional Encodings, Theorem 9, Remark 5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from constructions.machines.precision_lemmas import (
    CANCELLED,
    CONDITION_SCALED,
    DISTANCE,
    DOUBLED,
    LARGE_POWER,
    LARGER_FACTOR,
    REGROUPED,
    ROUNDS,
    SHARE_NEAR,
    SPREAD,
    absolute,
    near,
    within_unit,
)
from constructions.machines.relu_lemmas import SIZE, relu
from verify.smtlib import Axiom, Goal, Theory, World, induction

ROUNDED = """
(declare-const p Int) (declare-const u Real) (declare-const S Int) (declare-const K Int)
(declare-const m Int) (declare-const s Int) (declare-const c Int) (declare-const l Int)
(declare-const load Int) (declare-const v Real) (declare-const y Real)
(declare-fun pow (Int) Int) (declare-fun fl (Real) Real)
(declare-fun share (Int Int) Real) (declare-fun folded (Int Int) Int)
(declare-fun margin (Int) Real) (declare-fun bit (Int) Real)
(define-fun x ((k Int)) Real (share c k)) (define-fun count ((k Int)) Int (folded c k))
(define-fun z () Real (margin c)) (define-fun b () Real (bit c))
(define-fun grain ((k Int)) Real (* u (to_real (pow k))))
(define-fun slack ((k Int)) Real
  (+ (* 0.125 (* u (to_real load))) (* 1.25 (- (grain K) (grain k)))))
"""

Worlds = Callable[[], Iterable[World]]

# --- axioms ----------------------------------------------------------------------------------

UNIT = Axiom("unit", "(and (> u 0.0) (= (* u (to_real (pow p))) 1.0))", "u = 2^-p")
POWERS = Axiom(
    "powers",
    """(and (= (pow 0) 1) (forall ((k Int)) (! (=> (<= 0 k) (= (pow (+ k 1)) (* 2 (pow k))))
      :pattern ((pow (+ k 1))))))""",
    "2^0 = 1, 2^(k+1) = 2 2^k",
)
ACCURATE = Axiom(
    "accurate",
    f"(forall ((a Real)) (! {within_unit('(fl a)', 'a')} :pattern ((fl a))))",
    "|fl(a) - a| <= u |a|",
)
_SYMMETRIC = Axiom(
    "symmetric",
    """(forall ((a Real) (d Real)) (! (= (fl (- d a)) (- (fl (- a d))))
      :pattern ((fl (- d a)))))""",
    "fl(-a) = -fl(a)",
)
WINDOW = Axiom(
    "window",
    """(and (<= 1 K) (<= S (pow K)) (or (= K 1) (< (pow (- K 1)) S)) (<= 1 S) (<= 0 c)
      (<= (+ c 1) m) (<= m (+ S 1)) (<= (+ S 1) s) (<= s (* 2 S)))""",
    "c ones in a context of m <= S + 1 <= s <= 2 S tokens, the marker among them",
)
SHARE = Axiom(
    "share", "(and (> v 0.0) (= (* (to_real m) v) 1.0) (= y (fl v)))", "y = fl(v), v = 1/m"
)
CONDITION = "(<= (+ load (* 10 (pow K))) (* 2 (pow p)))"
LOADED = "(* (* 0.125 (* u (to_real load))) y)"


def summed(value: str, count: str) -> str:
    """|value - count y| <= load u y / 8."""
    return near(value, f"(* (to_real {count}) y)", LOADED)


MET = Axiom("met", f"(and (<= (* 8 S) load) {CONDITION})", "the load meets the condition")
_INPUT = Axiom("input", summed("(x K)", "c"), "the input is as near c y as the load says")
COUNTED = Axiom(
    "counted",
    f"""(and (= (count K) c) (= (count 0) (- 1 (mod c 2)))
      (forall ((k Int)) (! (=> (and (<= 0 k) (< k K)) (and (<= 0 (count (+ k 1)))
        (<= (count (+ k 1)) (* 2 (pow k)))
        (= (count k) {SIZE.format(a="(count (+ k 1))", b="(pow k)")})))
      :pattern ((count (+ k 1))))))""",
    "the folds of integers, as machines.relu.parity proves them",
)


def _difference(level: str) -> tuple[str, str]:
    """What the level's two neurons see, before rounding: x - 2^level y and its negative."""
    before, middle = f"(x (+ {level} 1))", f"(* (to_real (pow {level})) y)"
    return f"(- {before} {middle})", f"(- {middle} {before})"


_ABOVE, _BELOW = _difference("k")
FOLD = Axiom(
    "fold",
    f"""(forall ((k Int)) (! (=> (and (<= 0 k) (< k K))
      (= (x k) (+ {relu(f"(fl {_ABOVE})")} {relu(f"(fl {_BELOW})")}))) :pattern ((x (+ k 1)))))""",
    "a level's two neurons, each difference rounded",
)
# --- goals -----------------------------------------------------------------------------------

POSITIVE_UNIT = "(> u 0.0)"
SMALL_UNIT = "(and (> u 0.0) (<= (* 9.0 u) 1.0))"
NEAR_SHARE = """(and (> y 0.0) (<= (* (- 1.0 u) v) y) (<= y (* (+ 1.0 u) v))
  (<= (* 8.0 v) (* 9.0 y)))"""
POSITIVE = "(> y 0.0)"
_LEVEL = "(and (<= 0 l) (< l K))"
QUARTER = "(<= (+ (* 0.125 (* u (to_real load))) (* 1.25 (grain K))) 0.25)"
_NEXT = "(= (pow (+ l 1)) (* 2 (pow l)))"
_TWICE = "(and (= (grain (+ l 1)) (* 2.0 (grain l))) (> (grain l) 0.0))"
_D, _OPPOSITE = _difference("l")
_NEURONS = f"(= (x l) (+ {relu(f'(fl {_D})')} {relu(f'(fl {_OPPOSITE})')}))"
_FOLDED = f"(= (x l) {absolute(f'(fl {_D})')})"
_ROUNDED_ONCE = within_unit(f"(fl {_D})", _D)
_ADDED = near(f"(fl {_D})", _D, "(* (* 1.25 (grain l)) y)")
_COUNT = f"""(and (<= 0 (count (+ l 1))) (<= (count (+ l 1)) (* 2 (pow l)))
  (= (count l) {SIZE.format(a="(count (+ l 1))", b="(pow l)")}))"""
_MORE = "(= (slack l) (+ (slack (+ l 1)) (* 1.25 (grain l))))"
TIMES_M = "(and (<= (- 1.0 u) (* (to_real m) y)) (<= (* (to_real m) y) (+ 1.0 u)))"
SCALE = "(>= (* (to_real s) y) (- 1.0 u))"


def close(level: str) -> str:
    """How near the share after a level is to its exact one."""
    return near(f"(x {level})", f"(* (to_real (count {level})) y)", f"(* (slack {level}) y)")


def _sign(power: str) -> str:
    return f"(>= (pow {power}) 1)"


def real(term: str) -> str:
    """An integer term as a real one."""
    return f"(to_real {term})"


def network_theory(name: str, axioms: Sequence[Axiom], worlds: Worlds) -> Theory:
    """A theory about the rounded network."""
    return Theory(name=name, declarations=ROUNDED, axioms=tuple(axioms), worlds=worlds)


def share_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """The unit is at most 1/9, y nearly 1/m, and all errors together are at most y / 4."""
    theory = network_theory("shares", (UNIT, POWERS, ACCURATE, WINDOW, SHARE, MET), worlds)
    powers = network_theory("powers of 2", (POWERS,), worlds)
    power, load, tall = real("(pow p)"), real("load"), real("(pow K)")
    low, high = "(- 1.0 u)", "(+ 1.0 u)"
    return (
        *induction(
            name="powers are at least 1",
            theory=powers,
            invariant=_sign,
            base="0",
            step=("l", "(+ l 1)"),
            step_assumptions=("(<= 0 l)",),
        ),
        Goal(
            name="u is at most 1/9",
            theory=theory,
            assumptions=(LARGE_POWER.at(u="u", r=power),),
            conclusion=SMALL_UNIT,
        ),
        Goal(
            name="all errors stay below a quarter",
            theory=theory,
            assumptions=(CONDITION_SCALED.at(u="u", a=load, t=tall, r=power),),
            conclusion=QUARTER,
        ),
        Goal(
            name="y is nearly 1/m",
            theory=theory,
            assumptions=(SMALL_UNIT, SHARE_NEAR.at(u="u", v="v", y="y")),
            conclusion=NEAR_SHARE,
        ),
        Goal(
            name="m y is nearly 1",
            theory=theory,
            assumptions=(
                NEAR_SHARE,
                *(CANCELLED.at(m=real("m"), v="v", t=factor) for factor in (low, high)),
                LARGER_FACTOR.at(m=f"(* {low} v)", s="y", y=real("m")),
                LARGER_FACTOR.at(m="y", s=f"(* {high} v)", y=real("m")),
            ),
            conclusion=TIMES_M,
        ),
        Goal(
            name="s y is nearly 1 or more",
            theory=theory,
            assumptions=(POSITIVE, TIMES_M, LARGER_FACTOR.at(m=real("m"), s=real("s"), y="y")),
            conclusion=SCALE,
        ),
    )


def fold_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """A fold at 2^l adds at most 5/4 2^l u y to the error: induction from level K down."""
    theory = network_theory("rounded folds", (POWERS, ACCURATE, COUNTED, FOLD), worlds)
    numbers = network_theory("arithmetic of rounding", (), worlds)
    shared = {"x": "(x (+ l 1))", "r": real("(count (+ l 1))"), "q": real("(pow l)"), "y": "y"}
    before = "(slack (+ l 1))"
    return (
        Goal(
            name="what a level does",
            theory=theory,
            assumptions=(_LEVEL,),
            conclusion=f"(and {_NEURONS} {_ROUNDED_ONCE} {_COUNT} {_NEXT})",
        ),
        Goal(
            name="two neurons make the size of a difference",
            theory=network_theory("symmetric rounding", (_SYMMETRIC,), worlds),
            assumptions=(_NEURONS,),
            conclusion=_FOLDED,
        ),
        Goal(
            name="the grain of the level above is twice as large",
            theory=numbers,
            assumptions=(
                POSITIVE_UNIT,
                _sign("l"),
                _NEXT,
                DOUBLED.at(u="u", q=real("(pow l)"), t=real("(pow (+ l 1))")),
            ),
            conclusion=_TWICE,
        ),
        Goal(
            name="what a level adds to the slack",
            theory=numbers,
            assumptions=(_TWICE,),
            conclusion=_MORE,
        ),
        Goal(
            name="what rounding adds at a level",
            theory=numbers,
            assumptions=(
                POSITIVE_UNIT,
                POSITIVE,
                _sign("l"),
                _COUNT,
                _TWICE,
                QUARTER,
                _ROUNDED_ONCE,
                close("(+ l 1)"),
                DISTANCE.at(**shared, d=before),
                ROUNDS.at(u="u", f=f"(fl {_D})", a=_D, t=f"(* 1.25 (* {shared['q']} y))"),
                REGROUPED.at(u="u", q=shared["q"], y="y"),
            ),
            conclusion=_ADDED,
        ),
        Goal(
            name="computed shares stay close: base",
            theory=network_theory("inputs", (COUNTED, _INPUT), worlds),
            role="base",
            conclusion=close("K"),
        ),
        Goal(
            name="computed shares stay close: step",
            theory=numbers,
            role="step",
            assumptions=(
                POSITIVE,
                _FOLDED,
                _COUNT,
                _MORE,
                _ADDED,
                close("(+ l 1)"),
                SPREAD.at(
                    f=f"(fl {_D})", **shared, d=before, n="(* 1.25 (grain l))", t="(slack l)"
                ),
            ),
            conclusion=close("l"),
        ),
    )
