"""Streams at the two types: the second stays 0, the first goes from y to y D^(H-1) f(h y^2).

Source: Fixed Universal Transformers, Section 4 and Theorem 4.1; the proof is ours.
"""

from __future__ import annotations

from lowerbounds.all_sizes_theory import Worlds, theory_of
from verify.real_lemmas import RealLemma
from verify.smtlib import Axiom, Goal

_DIFFERENCES = Axiom(
    "differences",
    """(and (forall ((F Family) (j Int)) (! (= (dif 0 F j) (at F j)) :pattern ((dif 0 F j))))
      (forall ((k Int) (F Family) (j Int)) (! (=> (>= k 0)
        (= (dif (+ k 1) F j) (- (dif k F (+ j 1)) (dif k F j)))) :pattern ((dif (+ k 1) F j)))))""",
    "differences of a family over the heads",
)
_STREAMS = Axiom(
    "streams",
    """(forall ((l Int)) (! (=> (and (<= 0 l) (< l L)) (and
      (= (y1 (+ l 1)) (dif (- H 1) (uppers l) 1)) (= (y2 (+ l 1)) (dif (- H 1) (lowers l) 1))))
      :pattern ((y1 (+ l 1))) :pattern ((y2 (+ l 1)))))""",
    "with weights (-1)^(H - h) C(H - 1, h - 1) a sum over the heads is a difference of order H - 1",
)
_INPUT = Axiom("input", "(= (y2 0) 0.0)", "X = s (1, 1, 0)")


def _mixed(family: str, own: str) -> str:
    return f"""(= (at ({family} l) h) (+ (y2 l) (* (- (y1 l) (y2 l))
      (weight h (* {own} (- (y1 l) (y2 l)))))))"""


_HEADS = Axiom(
    "heads",
    f"""(forall ((l Int) (h Int)) (! (=> (and (<= 0 l) (< l L)) (and
      {_mixed("uppers", "(y1 l)")} {_mixed("lowers", "(y2 l)")}))
      :pattern ((at (uppers l) h)) :pattern ((at (lowers l) h))))""",
    "lowerbounds.two_types.identity, c^h = h: (A y)_i = y_2 + delta sigma(h y_i delta + lambda)",
)
_SHAPE = Axiom(
    "shape",
    """(forall ((l Int) (h Int)) (! (= (at (shape l) h) (weight h (* (y1 l) (y1 l))))
      :pattern ((at (shape l) h))))""",
    "the family f(h y_1^2)",
)
_CENTRE = Axiom(
    "centre",
    "(forall ((h Int)) (! (= (weight h 0.0) (weight 0 0.0)) :pattern ((weight h 0.0))))",
    "weight(h, x) = sigma(h x + lambda) is sigma(lambda) at x = 0 for every h",
)
ABSENT = RealLemma(
    name="a product with 0",
    variables="x y",
    premises=("(= {x} 0.0)",),
    conclusion="(= (* {x} {y}) 0.0)",
)
SPREAD = RealLemma(
    name="a multiple of a difference",
    variables="y p q",
    premises=("true",),
    conclusion="(= (- (* {y} {p}) (* {y} {q})) (* {y} (- {p} {q})))",
)
SAME = RealLemma(
    name="equal factors",
    variables="y u v w",
    premises=("(= {v} 0.0)", "(= {w} (+ {v} (* (- {y} {v}) {u})))"),
    conclusion="(= {w} (* {y} {u}))",
)


def stream_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """The second type's stream stays 0; the first one's goes from y to y D^(H-1) f(h y^2)."""
    return (
        *(lemma.goal for lemma in (ABSENT, SAME)),
        *_constant_goals(worlds),
        *_multiple_goals(worlds),
        *_layer_goals(worlds),
    )


def _constant_goals(worlds: Worlds) -> tuple[Goal, ...]:
    theory = theory_of(worlds, "differences", _DIFFERENCES)
    constant = "(forall ((h Int)) (! (= (at F h) (at F 0)) :pattern ((at F h))))"

    def nothing(k: str) -> str:
        return f"(forall ((j Int)) (! (= (dif {k} F j) 0.0) :pattern ((dif {k} F j))))"

    return (
        Goal(
            name="equal heads have no difference: base",
            theory=theory,
            role="base",
            assumptions=(constant,),
            conclusion="(= (dif (+ 0 1) F j) 0.0)",
        ),
        Goal(
            name="equal heads have no difference: step",
            theory=theory,
            role="step",
            assumptions=("(<= 1 k)", nothing("k")),
            conclusion="(= (dif (+ k 1) F j) 0.0)",
        ),
    )


def _multiple(k: str, j: str) -> str:
    return f"(= (dif {k} (uppers l) {j}) (* (y1 l) (dif {k} (shape l) {j})))"


def _multiple_goals(worlds: Worlds) -> tuple[Goal, ...]:
    theory = theory_of(worlds, "differences", _DIFFERENCES)
    layer = "(and (<= 0 l) (< l L))"
    families = "(and (= (dif 0 (uppers l) j) (at (uppers l) j)) (= (dif 0 (shape l) j) {0}))"
    unfolded = """(and (= (dif (+ k 1) (uppers l) j)
        (- (dif k (uppers l) (+ j 1)) (dif k (uppers l) j)))
      (= (dif (+ k 1) (shape l) j) (- (dif k (shape l) (+ j 1)) (dif k (shape l) j))))"""
    factors = "(= (at (uppers l) j) (* (y1 l) (at (shape l) j)))"
    return (
        SPREAD.goal,
        Goal(
            name="no difference",
            theory=theory,
            assumptions=(layer,),
            conclusion=families.format("(at (shape l) j)"),
        ),
        Goal(
            name="a multiple: base",
            theory=theory_of(worlds, "arithmetic"),
            role="base",
            assumptions=(layer, families.format("(at (shape l) j)"), factors),
            conclusion=_multiple("0", "j"),
        ),
        Goal(
            name="two differences",
            theory=theory,
            assumptions=(layer, "(<= 0 k)"),
            conclusion=unfolded,
        ),
        Goal(
            name="a multiple: step",
            theory=theory_of(worlds, "arithmetic"),
            role="step",
            assumptions=(
                layer,
                unfolded,
                SPREAD.at(y="(y1 l)", p="(dif k (shape l) (+ j 1))", q="(dif k (shape l) j)"),
                _multiple("k", "j"),
                _multiple("k", "(+ j 1)"),
            ),
            conclusion=_multiple("(+ k 1)", "j"),
        ),
    )


def _layer_goals(worlds: Worlds) -> tuple[Goal, ...]:
    layer = "(and (<= 0 l) (< l L) (= (y2 l) 0.0))"
    own, low = "(* (y1 l) (- (y1 l) (y2 l)))", "(* (y2 l) (- (y1 l) (y2 l)))"
    heads = f"(and {_mixed('uppers', '(y1 l)')} {_mixed('lowers', '(y2 l)')})".replace(" h)", " j)")
    heads = heads.replace("(weight h ", "(weight j ")
    flat = "(= (at (lowers l) j) (* (y1 l) (weight 0 0.0)))"
    return (
        Goal(
            name="a head at both types",
            theory=theory_of(worlds, "heads", _HEADS),
            assumptions=(layer,),
            conclusion=heads,
        ),
        Goal(
            name="the second type: equal heads",
            theory=theory_of(worlds, "centre", _CENTRE),
            assumptions=(
                layer,
                heads,
                ABSENT.at(x="(y2 l)", y="(- (y1 l) (y2 l))"),
                SAME.at(y="(y1 l)", u=f"(weight j {low})", v="(y2 l)", w="(at (lowers l) j)"),
            ),
            conclusion=flat,
        ),
        Goal(
            name="the first type: a multiple",
            theory=theory_of(worlds, "shape", _SHAPE),
            assumptions=(
                layer,
                heads,
                SAME.at(y="(y1 l)", u=f"(weight j {own})", v="(y2 l)", w="(at (uppers l) j)"),
            ),
            conclusion="(= (at (uppers l) j) (* (y1 l) (at (shape l) j)))",
        ),
        *_stream_goals(worlds, layer),
    )


def _stream_goals(worlds: Worlds, layer: str) -> tuple[Goal, ...]:
    return (
        Goal(
            name="the second type's stream is 0: base",
            theory=theory_of(worlds, "input", _INPUT),
            role="base",
            conclusion="(= (y2 0) 0.0)",
        ),
        Goal(
            name="the second type's stream is 0: step",
            theory=theory_of(worlds, "streams", _STREAMS),
            role="step",
            assumptions=(layer, "(= (dif (- H 1) (lowers l) 1) 0.0)"),
            conclusion="(= (y2 (+ l 1)) 0.0)",
        ),
        Goal(
            name="the first type's stream",
            theory=theory_of(worlds, "streams", _STREAMS),
            assumptions=(layer, _multiple("(- H 1)", "1")),
            conclusion="(= (y1 (+ l 1)) (* (y1 l) (dif (- H 1) (shape l) 1)))",
        ),
    )
