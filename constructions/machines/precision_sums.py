"""How far a summed mean is from c y, for every way of summing, all windows and all orders.

    t            a binary tree of tokens: the order in which the mean is summed
    ones (t)     tokens of the symbol, each y; the others are 0
    total (t)    the sum, rounded to p digits at every node
    wide (t)     the sum, rounded to more digits at every node

A node adds at most 9/8 u of its sum to the error, so a tree of height h at most 9/8 h u of the
whole.

Source: Sliding-Window Transformers Without Positional Encodings, Theorem 9, Remark 5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from constructions.machines.precision_lemmas import (
    HALVES,
    LARGER_FACTOR,
    PRODUCT_SIGN,
    ROUNDS,
    SUM_ROUNDED,
    SUM_SIZE,
    near,
    within_unit,
)
from constructions.machines.precision_theory import (
    ACCURATE,
    POSITIVE_UNIT,
    ROUNDED,
    Worlds,
    real,
)
from verify.smtlib import Axiom, Goal, Theory

_TREES = """
(declare-datatypes ((Tree 0)) (((leaf (one Bool)) (node (left Tree) (right Tree)))))
(declare-fun ones (Tree) Int) (declare-fun leaves (Tree) Int) (declare-fun height (Tree) Int)
(declare-fun total (Tree) Real) (declare-fun wide (Tree) Real) (declare-fun wider (Real) Real)
(declare-fun balanced (Tree) Bool) (declare-fun comb (Tree) Bool) (declare-fun half (Int) Int)
(declare-fun alone (Int) Real)
(declare-const t Tree) (declare-const t0 Tree) (declare-const t1 Tree) (declare-const o Bool)
(declare-const room Int) (declare-const a Int) (declare-const q Int)
(define-fun rate ((k Int)) Real (* 1.125 (* u (to_real k))))
(define-fun held ((k Int)) Real (* (to_real k) y))
"""

TREE = Axiom(
    "trees",
    """(and (forall ((d Bool)) (! (and (= (leaves (leaf d)) 1) (= (height (leaf d)) 0)
      (= (ones (leaf d)) (ite d 1 0))) :pattern ((leaf d))))
      (forall ((d Tree) (f Tree)) (! (and (= (leaves (node d f)) (+ (leaves d) (leaves f)))
      (= (ones (node d f)) (+ (ones d) (ones f)))
      (= (height (node d f)) (+ 1 (ite (>= (height d) (height f)) (height d) (height f)))))
      :pattern ((node d f)))))""",
    "tokens, tokens of the symbol, and height of a tree",
)


def sums_axiom(name: str, rounding: str, gloss: str) -> Axiom:
    """How a sum is rounded at every node of a tree."""
    return Axiom(
        name,
        f"""(and (forall ((d Bool)) (! (= ({name} (leaf d)) (ite d y 0.0))
        :pattern (({name} (leaf d)))))
      (forall ((d Tree) (f Tree)) (! (= ({name} (node d f)) ({rounding} (+ ({name} d) ({name} f))))
      :pattern (({name} (node d f))))))""",
        gloss,
    )


TOTAL = sums_axiom("total", "fl", "each node's sum is rounded")
NODE = "(node t0 t1)"
ADDED = f"(= (ones {NODE}) (+ (ones t0) (ones t1)))"
SMALL_RATE = "(<= (* 9.0 (* u (to_real {h}))) 1.0)"


def sum_theory(name: str, axioms: Sequence[Axiom], worlds: Worlds) -> Theory:
    """A theory about sums of rounded numbers."""
    return Theory(name=name, declarations=ROUNDED + _TREES, axioms=tuple(axioms), worlds=worlds)


def structural(
    name: str,
    theory: Theory,
    invariant: Callable[[str], str],
    *facts: str,
) -> tuple[Goal, Goal]:
    """Base and step of the induction over a tree; `facts` are known of a node."""
    return (
        Goal(name=f"{name}: base", theory=theory, role="base", conclusion=invariant("(leaf o)")),
        Goal(
            name=f"{name}: step",
            theory=theory,
            role="step",
            assumptions=(invariant("t0"), invariant("t1"), *facts),
            conclusion=invariant(NODE),
        ),
    )


def signs(tree: str) -> str:
    """Counts and heights are not negative."""
    return f"(and (<= 0 (ones {tree})) (<= 0 (height {tree})))"


def _error(tree: str, rate: str = "") -> str:
    held = f"(held (ones {tree}))"
    return near(f"(total {tree})", held, f"(* {rate or f'(rate (height {tree}))'} {held})")


def bounded(tree: str) -> str:
    """What is proved of the error of a tree's sum."""
    return f"(=> {SMALL_RATE.format(h=f'(height {tree})')} {_error(tree)})"


_TOP = f"(height {NODE})"
_BELOW = f"(- {_TOP} 1)"
_SMALL = SMALL_RATE.format(h=_TOP)
_LOWER = f"(and (<= (height t0) {_BELOW}) (<= (height t1) {_BELOW}) (>= {_BELOW} 0))"
_BOTH = "(+ (total t0) (total t1))"
_ONCE = within_unit(f"(total {NODE})", _BOTH)
_HELD = f"(held (ones {NODE}))"
HALVES_ADD_UP = f"(= {_HELD} (+ (held (ones t0)) (held (ones t1))))"


def tree_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """Along a tree of height h the error is at most 9/8 h u of the sum, if 9 h u <= 1."""
    trees = sum_theory("trees", (TREE,), worlds)
    theory = sum_theory("rounded sums", (ACCURATE, TREE, TOTAL), worlds)
    return (
        *structural("counts and heights are not negative", trees, signs),
        Goal(
            name="what a node does",
            theory=theory,
            assumptions=(signs("t0"), signs("t1")),
            conclusion=f"(and {_LOWER} {ADDED} {_ONCE})",
        ),
        *(
            goal
            for side, tree in (("left", "t0"), ("right", "t1"))
            for goal in _half_goals(side, tree, worlds)
        ),
        Goal(
            name="a tree's error: base",
            theory=theory,
            role="base",
            conclusion=bounded("(leaf o)"),
        ),
        Goal(
            name="halves add up",
            theory=sum_theory("arithmetic of sums", (), worlds),
            assumptions=(ADDED,),
            conclusion=HALVES_ADD_UP,
        ),
        *_node_goals(worlds),
    )


def _positive(tree: str) -> str:
    return f"(>= (held (ones {tree})) 0.0)"


def _half_goals(side: str, tree: str, worlds: Worlds) -> tuple[Goal, ...]:
    """The error of half of a node's tokens, at the rate that the node allows below it."""
    numbers = sum_theory("arithmetic of sums", (), worlds)
    ones, height = f"(ones {tree})", f"(height {tree})"
    return (
        Goal(
            name=f"the sum of a {side} half is not negative",
            theory=numbers,
            assumptions=("(> y 0.0)", signs(tree), PRODUCT_SIGN.at(a=real(ones), y="y")),
            conclusion=_positive(tree),
        ),
        Goal(
            name=f"the error of a {side} half at the node's rate",
            theory=numbers,
            assumptions=(
                POSITIVE_UNIT,
                _LOWER,
                _SMALL,
                _positive(tree),
                bounded(tree),
                LARGER_FACTOR.at(m=real(height), s=real(_BELOW), y="u"),
                LARGER_FACTOR.at(m=f"(rate {height})", s=f"(rate {_BELOW})", y=f"(held {ones})"),
            ),
            conclusion=_error(tree, f"(rate {_BELOW})"),
        ),
    )


def _node_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """What both halves' errors and one more rounding come to."""
    numbers = sum_theory("arithmetic of sums", (), worlds)
    rate = f"(rate {_BELOW})"
    before = near(_BOTH, _HELD, f"(* {rate} {_HELD})")
    rounding = near(f"(total {NODE})", _BOTH, f"(* u (* 1.125 {_HELD}))")
    shared = {"a": _HELD, "d": _BOTH, "g": rate}
    return (
        Goal(
            name="the error of a node before rounding",
            theory=numbers,
            assumptions=(
                HALVES_ADD_UP,
                _error("t0", rate),
                _error("t1", rate),
                HALVES.at(
                    a="(held (ones t0))",
                    b="(held (ones t1))",
                    c=_HELD,
                    d="(total t0)",
                    e="(total t1)",
                    g=rate,
                ),
            ),
            conclusion=before,
        ),
        Goal(
            name="the rounding at a node",
            theory=numbers,
            assumptions=(
                POSITIVE_UNIT,
                _SMALL,
                _positive("t0"),
                _positive("t1"),
                _ONCE,
                HALVES_ADD_UP,
                before,
                SUM_SIZE.at(**shared),
                ROUNDS.at(u="u", f=f"(total {NODE})", a=_BOTH, t=f"(* 1.125 {_HELD})"),
            ),
            conclusion=rounding,
        ),
        Goal(
            name="a tree's error: step",
            theory=numbers,
            role="step",
            assumptions=(
                before,
                rounding,
                SUM_ROUNDED.at(**shared, f=f"(total {NODE})", u="u", r=f"(rate {_TOP})"),
            ),
            conclusion=_error(NODE),
        ),
    )
