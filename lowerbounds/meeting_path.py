"""The product of the weights along a path is its response: goals.

Layers 0..k-1 follow the word P, the layers after the middle the word Q; the middle layer, which
odd L have, takes the head h, and its weights are the coefficients of f g.

Source: Fixed Universal Transformers, Section 4; the construction is ours.
"""

from __future__ import annotations

from lowerbounds.meeting_halves import LENGTH, RESPONSE
from lowerbounds.meeting_theory import Worlds, theory_of
from verify.real_lemmas import RealLemma
from verify.smtlib import Axiom, Goal, induction

_PATH = """
(declare-const L Int) (declare-const odd Bool) (declare-const gap Int) (declare-const heads Int)
(declare-fun w (Int Int) Real)
(declare-fun value (Word Int Word Int) Real) (declare-fun output (Word Int Word) Real)
(define-fun centre ((i Int)) Real (ite odd (w k i) 1.0))
"""
_LAYERS = Axiom(
    "layers",
    "(and (<= 0 k) (= gap (ite odd 1 0)) (= L (+ (+ k gap) k)) (or odd (= heads 1)))",
    "two halves, and a layer between them if L is odd",
)
_HALVES = Axiom(
    "products of halves",
    """(forall ((v Word) (d Int)) (! (and (= (first v 0) 1.0) (= (second v 0) 1.0)
      (=> (and (<= 0 d) (< d k)) (and
        (= (first v (+ d 1)) (* (first v d) (w d (digit v d))))
        (= (second v (+ d 1)) (* (second v d) (w (+ (+ k gap) d) (digit v d)))))))
      :pattern ((first v d)) :pattern ((second v d))))""",
    "the weights of the first layers along a word, and those of the last layers",
)
_VALUE = (
    Axiom(
        "the product along a path",
        """(forall ((p Word) (i Int) (q Word) (d Int)) (! (and (= (value p i q 0) 1.0)
          (=> (and (<= 0 d) (< d k))
            (= (value p i q (+ d 1)) (* (value p i q d) (w d (digit p d))))))
          :pattern ((value p i q d))))""",
        "one weight for each layer: along P in the first half",
    ),
    Axiom(
        "its middle",
        """(forall ((p Word) (i Int) (q Word)) (! (=> odd
          (= (value p i q (+ k 1)) (* (value p i q k) (w k i)))) :pattern ((value p i q k))))""",
        "the middle head's weight",
    ),
    Axiom(
        "its second half",
        """(forall ((p Word) (i Int) (q Word) (d Int)) (! (=> (and (<= 0 d) (< d k))
          (= (value p i q (+ (+ k gap) (+ d 1)))
            (* (value p i q (+ (+ k gap) d)) (w (+ (+ k gap) d) (digit q d)))))
          :pattern ((value p i q (+ (+ k gap) d)))))""",
        "along Q in the second half",
    ),
)
_CENTRE = Axiom(
    "middle weights",
    f"""(forall ((i Int)) (! (=> (and (<= 0 i) (< i heads)) (= (conv i {LENGTH}) (centre i)))
      :pattern ((conv i {LENGTH}))))""",
    "the middle layer's weights are the coefficients of f g; without that layer f = g = 1",
)
_OUTPUT = Axiom(
    "responses",
    """(forall ((p Word) (i Int) (q Word)) (! (=> (and (<= 0 i) (< i heads)) (= (output p i q)
      (block (along (run (times (run E p k) (middle i)) q k) U) 0 m)))
      :pattern ((output p i q))))""",
    "E R_p U, from left to right: masks, middle, masks",
)
NEXT_WEIGHT = RealLemma(
    name="one more weight",
    variables="v a b w x c",
    premises=("(= {v} (* {a} {b}))", "(= {x} (* {v} {w}))", "(= {c} (* {b} {w}))"),
    conclusion="(= {x} (* {a} {c}))",
)
NO_WEIGHT = RealLemma(
    name="no weight yet",
    variables="v y a c o",
    premises=("(= {v} (* {y} {c}))", "(= {y} {a})", "(= {o} 1.0)"),
    conclusion="(= {v} (* (* {a} {c}) {o}))",
)
REORDERED = RealLemma(
    name="the middle weight in the middle",
    variables="r a b c",
    premises=("(= {r} (* (* {a} {b}) {c}))",),
    conclusion="(= {r} (* (* {a} {c}) {b}))",
)


_LAYER = "(and (<= 0 l) (< l k))"
_BEHIND = "(* (first P k) (centre h))"
_MET = "(value P h Q (+ k gap))"
_MIDDLE = f"(= {_MET} (* (value P h Q k) (centre h)))"
_NO_LAYER = "(= (second Q 0) 1.0)"
_NEXT = tuple(
    f"(= {grown.format('(+ l 1)')} (* {grown.format('l')} (w (+ (+ k gap) l) (digit Q l))))"
    for grown in ("(value P h Q (+ (+ k gap) {0}))", "(second Q {0})")
)


def _first(digits: str) -> str:
    return f"(= (value P h Q {digits}) (first P {digits}))"


def _second(digits: str) -> str:
    return f"(= (value P h Q (+ (+ k gap) {digits})) (* {_BEHIND} (second Q {digits})))"


def path_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """The product along a path, layer by layer, is the response."""
    swapped = REORDERED.at(r="(output P h Q)", a="(first P k)", b="(second Q k)", c="(centre h)")
    return (
        NEXT_WEIGHT.goal,
        NO_WEIGHT.goal,
        REORDERED.goal,
        *_weight_goals(worlds),
        *_second_half_goals(worlds),
        Goal(
            name="every response is the product of the path's weights",
            theory=theory_of("paths", (_LAYERS, _CENTRE, _OUTPUT), worlds, _PATH),
            role="conclusion",
            assumptions=("(and (<= 0 h) (< h heads))", RESPONSE, _second("k"), swapped),
            conclusion="(= (output P h Q) (value P h Q L))",
        ),
    )


def _weight_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """The first half by induction, the middle, and how the second half goes on."""
    halves = theory_of("halves", (_HALVES,), worlds, _PATH)
    return (
        *induction(
            name="the first half's weights",
            theory=theory_of("first half", (_HALVES, _VALUE[0]), worlds, _PATH),
            invariant=_first,
            base="0",
            step=("l", "(+ l 1)"),
            step_assumptions=(_LAYER,),
        ),
        Goal(
            name="the middle weight",
            theory=theory_of("middle weight", (_LAYERS, _VALUE[1]), worlds, _PATH),
            conclusion=_MIDDLE,
        ),
        Goal(name="no layer", theory=halves, conclusion=_NO_LAYER),
        Goal(
            name="the next layer's weight",
            theory=theory_of("second half", _VALUE[2:], worlds, _PATH),
            assumptions=(_LAYER,),
            conclusion=_NEXT[0],
        ),
        Goal(
            name="the second half's next weight",
            theory=halves,
            assumptions=(_LAYER,),
            conclusion=_NEXT[1],
        ),
    )


def _second_half_goals(worlds: Worlds) -> tuple[Goal, ...]:
    start = NO_WEIGHT.at(
        v=_MET, y="(value P h Q k)", a="(first P k)", c="(centre h)", o="(second Q 0)"
    )
    step = NEXT_WEIGHT.at(
        v="(value P h Q (+ (+ k gap) l))",
        a=_BEHIND,
        b="(second Q l)",
        w="(w (+ (+ k gap) l) (digit Q l))",
        x="(value P h Q (+ (+ k gap) (+ l 1)))",
        c="(second Q (+ l 1))",
    )
    return induction(
        name="the second half's weights",
        theory=theory_of("arithmetic of weights", (), worlds, _PATH),
        invariant=_second,
        base="0",
        step=("l", "(+ l 1)"),
        base_assumptions=(_first("k"), _MIDDLE, _NO_LAYER, start),
        step_assumptions=(_LAYER, *_NEXT, step),
    )
