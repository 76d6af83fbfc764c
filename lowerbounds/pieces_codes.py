"""Codes number the pieces from left to right: equal slopes within one, at most (w + 1)^D of them.

Source: Sliding-Window Transformers Without Positional Encodings, Theorem 9; the argument is ours.
"""

from __future__ import annotations

from lowerbounds.pieces_lemmas import FALLS, NEXT_BLOCK, RISES
from lowerbounds.pieces_theory import (
    COEFFICIENTS,
    HIDDEN,
    INDEX,
    INPUT,
    LAYER,
    NEURON,
    OFFSETS,
    ON,
    ORDER,
    SIZES,
    SLOPES,
    SUMS,
    WHOLE,
    Worlds,
    affine_sum,
    neuron_axiom,
    next_term,
    theory_of,
)
from verify.smtlib import Axiom, Goal, induction

PAST = neuron_axiom(
    "past",
    "(past j a p)",
    """(or (and (> (pres j a p) 0.0) (> (pre j a p) 0.0))
          (and (< (pres j a p) 0.0) (< (pre j a p) 0.0)))""",
    "the input has passed its zero, seen from the left",
)
TURNS = (
    Axiom(
        "no turns",
        """(forall ((j Int) (p Real)) (! (=> (and (<= 0 j) (< j D)) (= (turns j 0 p) 0))
          :pattern ((turns j 0 p))))""",
        "none among no neurons",
    ),
    Axiom(
        "turns",
        f"""(forall ((j Int) (a Int) (p Real)) (! (=> {HIDDEN} (= (turns j (+ a 1) p)
          (+ (turns j a p) (ite (past j a p) 1 0))))
          :pattern ((turns j (+ a 1) p))))""",
        "neurons past their zeros, counted",
    ),
)
CODE_RULE = "(+ (* (+ w 1) (code j p)) (turns j (width (+ j 1)) p))"
BOUND_RULE = "(* (+ w 1) (bound j))"
"""How the number of pieces grows with a layer; a mutant replaces it."""
_CODES = (
    Axiom("first code", "(forall ((p Real)) (= (code 0 p) 0))", "one piece before any layer"),
    Axiom(
        "code",
        f"""(forall ((j Int) (p Real)) (! (=> (and (<= 0 j) (< j D))
          (= (code (+ j 1) p) {CODE_RULE})) :pattern ((code (+ j 1) p))))""",
        "a piece's number, and how many neurons have turned in it",
    ),
)


def _bounds(rule: str) -> tuple[Axiom, Axiom]:
    return (
        Axiom("one piece", "(= (bound 0) 1)", "(w + 1)^0 = 1"),
        Axiom(
            "bound",
            f"""(forall ((j Int)) (! (=> (and (<= 0 j) (< j D)) (= (bound (+ j 1)) {rule}))
              :pattern ((bound (+ j 1)))))""",
            "(w + 1)^(l+1) = (w + 1) (w + 1)^l",
        ),
    )


# --- one code, one slope and offset ----------------------------------------------------------


def _same(layer: str) -> str:
    """Slopes and offsets of a layer's neurons agree at t and u."""
    return f"""(forall ((a Int)) (! (=> (neuron {layer} a) (and
      (= (xs {layer} a t) (xs {layer} a u)) (= (xo {layer} a t) (xo {layer} a u))))
      :pattern ((xs {layer} a t)) :pattern ((xo {layer} a t))))"""


def _same_sum(i: str) -> str:
    return f"""(and (= (zs l k {i} t) (zs l k {i} u))
      (= (zo l k {i} t) (zo l k {i} u)))"""


_MOVES = "(=> (past l k t) (past l k u))"
_SAME_TURNS = "(= (turns l (width (+ l 1)) t) (turns l (width (+ l 1)) u))"
_SAME_BEFORE = f"(and (= (code l t) (code l u)) {_SAME_TURNS})"
_EQUAL_PAST = "(= (past l k t) (past l k u))"


def _grown(k: str) -> str:
    return f"""(and (<= 0 (turns l {k} t)) (<= (turns l {k} t) (turns l {k} u))
      (<= (turns l {k} u) {k}))"""


def _agree_up_to(k: str) -> str:
    """If the first k neurons turned equally often, each did."""
    return f"""(=> (= (turns l {k} t) (turns l {k} u)) (forall ((a Int)) (!
      (=> (and (<= 0 a) (< a {k})) (= (past l a t) (past l a u)))
      :pattern ((past l a t)))))"""


def same_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """Within one code of layer l sums agree and turns grow; equal turns mean equal neurons."""
    return (*_input_goals(worlds), *_turn_goals(worlds), *_one_code_goals(worlds))


_ONE_WAY = """(and (=> (>= (pres l k t) 0.0) (<= (pre l k t) (pre l k u)))
  (=> (<= (pres l k t) 0.0) (>= (pre l k t) (pre l k u))))"""
_AFFINE = (affine_sum(WHOLE), affine_sum(WHOLE, "u"))


def _input_goals(worlds: Worlds) -> tuple[Goal, ...]:
    sums = theory_of("slopes and offsets", (SIZES, *SLOPES, *OFFSETS), worlds)
    numbers = theory_of("arithmetic of inputs", (), worlds)
    terms = (
        next_term(value, SUMS[value][0], point) for value in ("zs", "zo") for point in ("t", "u")
    )
    line = {"s": "(pres l k t)", "o": "(preo l k t)", "t": "t", "u": "u"}
    return (
        Goal(
            name="inputs have equal slopes and offsets: base",
            theory=sums,
            role="base",
            assumptions=(INPUT,),
            conclusion=_same_sum("0"),
        ),
        Goal(
            name="inputs have equal slopes and offsets: step",
            theory=numbers,
            role="step",
            assumptions=(INPUT, INDEX, *terms, _same("l"), _same_sum("i")),
            conclusion=_same_sum("(+ i 1)"),
        ),
        Goal(
            name="inputs go one way",
            theory=numbers,
            assumptions=(
                INPUT,
                ORDER,
                _same_sum(WHOLE),
                *_AFFINE,
                RISES.at(**line),
                FALLS.at(**line),
            ),
            conclusion=_ONE_WAY,
        ),
    )


def _turn_goals(worlds: Worlds) -> tuple[Goal, ...]:
    past = theory_of("past", (SIZES, PAST), worlds)
    turning = theory_of("turns", (SIZES, *TURNS), worlds)
    return (
        Goal(
            name="what is past its zero stays past it",
            theory=past,
            assumptions=(NEURON, _same_sum(WHOLE), _ONE_WAY),
            conclusion=_MOVES,
        ),
        *induction(
            name="turns grow along the line",
            theory=turning,
            invariant=_grown,
            base="0",
            step=("k", "(+ k 1)"),
            base_assumptions=(LAYER,),
            step_assumptions=(NEURON, _MOVES),
        ),
        *induction(
            name="equal turns are the same turns",
            theory=turning,
            invariant=_agree_up_to,
            base="0",
            step=("k", "(+ k 1)"),
            base_assumptions=(LAYER,),
            step_assumptions=(NEURON, _MOVES, _grown("k")),
        ),
    )


def _one_code_goals(worlds: Worlds) -> tuple[Goal, ...]:
    neurons = theory_of("coefficients", (SIZES, ON, PAST, *COEFFICIENTS), worlds)
    one_code = "(=> (= (code {l} t) (code {l} u)) {same})"
    return (
        Goal(
            name="the same turns: equal slope and offset",
            theory=neurons,
            assumptions=(NEURON, _EQUAL_PAST, _same_sum(WHOLE), *_AFFINE),
            conclusion="""(and (= (xs (+ l 1) k t) (xs (+ l 1) k u))
              (= (xo (+ l 1) k t) (xo (+ l 1) k u)))""",
        ),
        Goal(
            name="one code, one slope and offset: base",
            theory=neurons,
            role="base",
            conclusion=one_code.format(l="0", same=_same("0")),
        ),
        Goal(
            name="one code, one slope and offset: step",
            theory=theory_of("arithmetic of layers", (), worlds),
            role="step",
            assumptions=(
                NEURON,
                one_code.format(l="l", same=_same("l")),
                f"(=> (= (code (+ l 1) t) (code (+ l 1) u)) {_SAME_BEFORE})",
                f"(=> (and {_same('l')} {_SAME_TURNS}) {_same('(+ l 1)')})",
            ),
            conclusion=one_code.format(l="(+ l 1)", same=_same("(+ l 1)")),
        ),
    )


# --- codes ------------------------------------------------------------------------------------

_LAST_TURNS = _grown("(width (+ l 1))")
_STEP_CODE = """(and
  (= (code (+ l 1) {p}) (+ (* (+ w 1) (code l {p})) (turns l (width (+ l 1)) {p})))
  (<= 0 (turns l (width (+ l 1)) {p})) (<= (turns l (width (+ l 1)) {p}) w))"""


def _grows(layer: str) -> str:
    return f"(<= (code {layer} t) (code {layer} u))"


def _below(layer: str) -> str:
    return f"(and (<= 0 (code {layer} t)) (< (code {layer} t) (bound {layer})))"


def _block(low: str, high: str) -> str:
    return NEXT_BLOCK.at(w="(to_real w)", a=f"(to_real {low})", b=f"(to_real {high})")


def code_goals(worlds: Worlds, bound_rule: str = BOUND_RULE) -> tuple[Goal, ...]:
    """Codes grow along the line, determine the codes before them, and stay below (w + 1)^l."""
    return (*_growth_goals(worlds), *_bound_goals(worlds, bound_rule))


_STEPS = (_STEP_CODE.format(p="t"), _STEP_CODE.format(p="u"))


def _growth_goals(worlds: Worlds) -> tuple[Goal, ...]:
    codes = theory_of("codes", (SIZES, *_CODES), worlds)
    numbers = theory_of("arithmetic of codes", (SIZES,), worlds)
    later = _block("(code l t)", "(code l u)")
    in_one = f"(=> (= (code l t) (code l u)) {_SAME_TURNS.replace('=', '<=', 1)})"
    return (
        Goal(
            name="the next code",
            theory=codes,
            assumptions=(LAYER, _LAST_TURNS),
            conclusion=f"(and {' '.join(_STEPS)})",
        ),
        Goal(name="codes grow: base", theory=codes, role="base", conclusion=_grows("0")),
        Goal(
            name="codes grow: step",
            theory=numbers,
            role="step",
            assumptions=(LAYER, *_STEPS, in_one, _grows("l"), later),
            conclusion=_grows("(+ l 1)"),
        ),
        Goal(
            name="equal codes have equal codes before them",
            theory=numbers,
            assumptions=(
                LAYER,
                *_STEPS,
                _grows("l"),
                later,
                "(= (code (+ l 1) t) (code (+ l 1) u))",
            ),
            conclusion=_SAME_BEFORE,
        ),
    )


def _bound_goals(worlds: Worlds, bound_rule: str) -> tuple[Goal, ...]:
    bounds = theory_of("bounds", (SIZES, *_CODES, *_bounds(bound_rule)), worlds)
    grown_bound = f"(= (bound (+ l 1)) {bound_rule.replace('(bound j)', '(bound l)')})"
    return (
        Goal(name="the next bound", theory=bounds, assumptions=(LAYER,), conclusion=grown_bound),
        Goal(name="codes are bounded: base", theory=bounds, role="base", conclusion=_below("0")),
        Goal(
            name="codes are bounded: step",
            theory=theory_of("arithmetic of bounds", (SIZES,), worlds),
            role="step",
            assumptions=(
                LAYER,
                grown_bound,
                _STEPS[0],
                _below("l"),
                _block("(code l t)", "(bound l)"),
            ),
            conclusion=_below("(+ l 1)"),
        ),
    )
