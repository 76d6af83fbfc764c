"""Which orders of summation there are: sums in a wider format, along combs, along balanced trees.

A wider sum is exact, and along a comb zeros change nothing: there no order of the tokens matters. A
balanced tree over m <= S + 1 tokens has at most the height K + 1, a comb at most S.

Source: Sliding-Window Transformers Without Positional Encodings, Theorem 9, Remark 5.
"""

from __future__ import annotations

from constructions.machines.precision_sums import (
    ADDED,
    HALVES_ADD_UP,
    NODE,
    TOTAL,
    TREE,
    signs,
    structural,
    sum_theory,
    sums_axiom,
)
from constructions.machines.precision_theory import POWERS, WINDOW, Worlds
from verify.smtlib import Axiom, Goal

_WIDE = sums_axiom("wide", "wider", "each node's sum is rounded to the wider format")
_ROOM = Axiom(
    "room",
    """(forall ((k Int)) (! (=> (and (<= 0 k) (<= k room)) (= (wider (held k)) (held k)))
      :pattern ((wider (held k)))))""",
    "small multiples of y are numbers of the wider format",
)
_BALANCED = Axiom(
    "balanced",
    """(forall ((d Tree) (f Tree)) (! (=> (balanced (node d f)) (and (balanced d) (balanced f)
      (= (leaves f) (half (leaves (node d f)))))) :pattern ((balanced (node d f)))))""",
    "the right half has half of the tokens, rounded down",
)
_HALF = Axiom(
    "half",
    """(forall ((k Int)) (! (and (<= (* 2 (half k)) k) (<= k (+ (* 2 (half k)) 1)))
      :pattern ((half k))))""",
    "half, rounded down",
)
_COMB = Axiom(
    "comb",
    """(forall ((d Tree) (f Tree)) (! (=> (comb (node d f)) (and (comb d) ((_ is leaf) f)))
      :pattern ((comb (node d f)))))""",
    "one token at a time",
)
_ALONE = Axiom(
    "ones alone",
    """(and (= (alone 0) 0.0) (= (fl 0.0) 0.0) (= (fl y) y)
      (forall ((d Real)) (! (= (fl (fl d)) (fl d)) :pattern ((fl (fl d)))))
      (forall ((k Int)) (! (=> (<= 0 k) (= (alone (+ k 1)) (fl (+ (alone k) y))))
      :pattern ((alone (+ k 1))))))""",
    "c times y summed by itself; numbers of the format stay as they are",
)


def wide_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """A sum in the wider format is exact, so no order of the tokens matters."""
    theory = sum_theory("wider sums", (TREE, _WIDE), worlds)
    room = sum_theory("room", (_ROOM,), worlds)
    done = f"(= (wide {NODE}) (wider (+ (wide t0) (wide t1))))"

    def exact(tree: str) -> str:
        return f"(=> (<= (ones {tree}) room) (= (wide {tree}) (held (ones {tree}))))"

    return (
        Goal(
            name="what a node of a wider sum does",
            theory=theory,
            conclusion=f"(and {ADDED} {done})",
        ),
        Goal(
            name="a wider sum is exact: base",
            theory=theory,
            role="base",
            conclusion=exact("(leaf o)"),
        ),
        Goal(
            name="a wider sum is exact: step",
            theory=room,
            role="step",
            assumptions=(
                signs("t0"),
                signs("t1"),
                ADDED,
                HALVES_ADD_UP,
                done,
                HALVES_ADD_UP,
                exact("t0"),
                exact("t1"),
            ),
            conclusion=exact(NODE),
        ),
    )


def comb_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """Along a comb zeros change nothing, so no order of the tokens matters."""
    theory = sum_theory("combs", (TREE, TOTAL, _COMB, _ALONE), worlds)
    sums = sum_theory("sums of ones", (_ALONE,), worlds)
    node = "(node t0 (leaf o))"
    added = f"(= (ones {node}) (+ (ones t0) (ite o 1 0)))"
    done = f"(= (total {node}) (fl (+ (total t0) (ite o y 0.0))))"

    def alone(tree: str) -> str:
        return f"""(and (= (total {tree}) (alone (ones {tree})))
          (= (fl (total {tree})) (total {tree})))"""

    return (
        Goal(
            name="what a node of a comb does",
            theory=theory,
            assumptions=(f"(comb {NODE})",),
            conclusion="(and (comb t0) ((_ is leaf) t1))",
        ),
        Goal(name="what one more token does", theory=theory, conclusion=f"(and {added} {done})"),
        Goal(
            name="zeros change nothing: base",
            theory=theory,
            role="base",
            conclusion=alone("(leaf o)"),
        ),
        Goal(
            name="zeros change nothing: step",
            theory=sums,
            role="step",
            assumptions=("(<= 0 (ones t0))", added, done, alone("t0")),
            conclusion=alone(node),
        ),
    )


def height_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """A balanced tree over m <= S + 1 tokens has height K + 1 at most, a comb S at most."""
    trees = sum_theory("heights", (TREE, _BALANCED, _HALF, _COMB), worlds)
    windows = sum_theory("balanced windows", (POWERS, WINDOW), worlds)
    halved = """(and (balanced t0) (balanced t1) (<= (leaves t0) (+ (leaves t1) 1))
      (<= (leaves t1) (leaves t0)))"""
    counted = f"""(and (= (leaves {NODE}) (+ (leaves t0) (leaves t1))) (= (height {NODE})
      (+ 1 (ite (>= (height t0) (height t1)) (height t0) (height t1)))))"""
    some = "(and (<= 1 (leaves t0)) (<= 1 (leaves t1)))"

    def low(level: str, tree: str) -> str:
        return f"""(=> (and (balanced {tree}) (<= (leaves {tree}) (pow {level})))
          (<= (height {tree}) {level}))"""

    def flat(tree: str) -> str:
        return f"(=> (comb {tree}) (= (+ (height {tree}) 1) (leaves {tree})))"

    return (
        *structural("a tree has a token", trees, lambda d: f"(<= 1 (leaves {d}))"),
        Goal(name="tokens and height of a node", theory=trees, conclusion=counted),
        Goal(
            name="halves of a balanced tree",
            theory=trees,
            assumptions=(f"(balanced {NODE})",),
            conclusion=halved,
        ),
        Goal(
            name="a leaf is low",
            theory=trees,
            role="base",
            assumptions=("(<= 0 l)",),
            conclusion=low("l", "(leaf o)"),
        ),
        Goal(
            name="a balanced node is low: base",
            theory=windows,
            role="base",
            assumptions=(counted, some),
            conclusion=low("0", NODE),
        ),
        Goal(
            name="a balanced node is low: step",
            theory=windows,
            role="step",
            assumptions=(
                "(<= 0 l)",
                counted,
                f"(=> (balanced {NODE}) {halved})",
                low("l", "t0"),
                low("l", "t1"),
            ),
            conclusion=low("(+ l 1)", NODE),
        ),
        Goal(
            name="a balanced tree over a context",
            theory=windows,
            role="conclusion",
            assumptions=("(<= (leaves t) m)", low("(+ K 1)", "t"), "(>= (pow K) 1)"),
            conclusion="(=> (balanced t) (<= (height t) (+ K 1)))",
        ),
        *structural("a comb is as high as it is long", trees, flat),
        Goal(
            name="a comb over a context",
            theory=windows,
            role="conclusion",
            assumptions=("(<= (leaves t) m)", flat("t")),
            conclusion="(=> (comb t) (<= (height t) S))",
        ),
    )
