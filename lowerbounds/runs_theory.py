"""Between cuts all values are affine, and a neuron changes sides once in each run of counts.

All second differences of values are 0 there, by induction over layers. So a neuron that has changed
sides moves away from 0 for the rest of its run, and changes sides once in each. Nothing here is
about real points between counts, and no function need be continuous.

Source: Sliding-Window Transformers Without Positional Encodings, Theorem 9; the argument is ours.
"""

from __future__ import annotations

from collections.abc import Callable

from lowerbounds.runs_language import (
    C0,
    C1,
    C2,
    CUTS,
    HIDDEN,
    LAYER,
    NEURON,
    PAIR,
    SCORE_IS_AFFINE,
    TERM,
    TRIPLE,
    Worlds,
    affine,
    between_cuts,
    each,
    theory_of,
)
from verify.real_lemmas import RealLemma
from verify.smtlib import Axiom, Goal, induction


def _read(count: str) -> str:
    return f"(read l a {count})"


def _below(count: str) -> str:
    return f"(x l b {count})"


def _pre(count: str) -> str:
    return f"(pre l a {count})"


def _part(terms: str) -> Callable[[str], str]:
    return lambda count: f"(z l a {terms} {count})"


def _value(count: str) -> str:
    return f"(x (+ l 1) a {count})"


def _output(count: str) -> str:
    return f"(pre D 0 {count})"


def _kept_sides(count: str) -> str:
    """What is not cut with layer l + 1 is not cut before, and neuron a keeps its side."""
    return f"""(=> (not (cut (+ l 1) 0 {count}))
      (and (not (cut l 0 {count})) (not (flip l a {count}))))"""


# --- axioms, at the constants that goals speak of ---------------------------------------------

_LINE = Axiom(
    "line",
    f"(=> (and {LAYER} {TRIPLE}) {affine(_read)})",
    "what a neuron reads of the line, bias included, is affine in the count",
)
_BEGUN = Axiom(
    "input, begun",
    f"(=> {LAYER} {each('(= (z l a 0 {0}) (read l a {0}))', C0, C1, C2)})",
    "the input of a neuron: what it reads of the line",
)
_MORE = Axiom(
    "input, one term more",
    f"""(=> (and {LAYER} {TERM} {TRIPLE})
      {each("(= (z l a (+ b 1) {0}) (+ (z l a b {0}) (* (W l a b) (x l b {0}))))", C0, C1, C2)})
    """,
    "the input of a neuron: one term for each neuron of the layer before",
)
_NO_VALUES = Axiom("layer 0", each("(= (x 0 b {0}) 0.0)", C0, C1, C2), "layer 0 is empty")
_SIDES = Axiom(
    "sides",
    f"(=> {HIDDEN} {each('(= (on l a {0}) (> (pre l a {0}) 0.0))', C0, C1, C2)})",
    "a neuron is on where its input is above 0",
)
_ACTIVE = Axiom(
    "activation",
    f"(=> (and {HIDDEN} {TRIPLE}) "
    f"{each('(= (x (+ l 1) a {0}) (act (on l a {0}) (pre l a {0})))', C0, C1, C2)})",
    "a hidden neuron is its activation of its input",
)
_BRANCHES = Axiom(
    "branches",
    f"""(=> (and {HIDDEN} {TRIPLE} (= (on l a c) (on l a {C1})) (= (on l a c) (on l a {C2}))
      {affine(_pre)}) (= (+ (act (on l a c) {_pre(C0)}) (act (on l a c) {_pre(C2)}))
      (* 2.0 (act (on l a c) {_pre(C1)}))))""",
    "on one side the activation is affine",
)
_SCORE = Axiom(
    "score",
    each("(= (score {0}) (pre D 0 {0}))", C0, C1, C2),
    "the score is what the one output neuron reads",
)

_FLIPS = Axiom(
    "flips are counted",
    f"""(and (= (cuts l 0 0) 0) (= (flips l a 0) 0) (not (turned l a 0)) (=> {PAIR} (and
      (= (cuts l 0 {C1}) (+ (cuts l 0 c) (ite (cut l 0 c) 1 0)))
      (= (flips l a {C1}) (+ (flips l a c) (ite (and (flip l a c) (not (cut l 0 c))) 1 0)))
      (= (turned l a {C1}) (and (not (cut l 0 c)) (or (flip l a c) (turned l a c)))))))""",
    "changes of sides within runs of the layer before, and whether the present run had one",
)

SCALED = RealLemma(
    name="a multiple of an affine sequence",
    variables="f p q r",
    premises=("(= (+ {p} {r}) (* 2.0 {q}))",),
    conclusion="(= (+ (* {f} {p}) (* {f} {r})) (* 2.0 (* {f} {q})))",
)


# --- changes of sides are cuts ---------------------------------------------------------------


def cut_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """Every change of sides is a cut, and stays one in later layers."""
    theory = theory_of("cuts", worlds, *CUTS)

    def kept(neurons: str) -> str:
        return f"""(=> (or (cut l 0 c) (and (< a {neurons}) (flip l a c))) (cut l {neurons} c))"""

    return (
        *induction(
            name="cuts of a layer and its first neurons",
            theory=theory,
            invariant=kept,
            base="0",
            step=("b", "(+ b 1)"),
            base_assumptions=("(<= 0 a)",),
            step_assumptions=(HIDDEN, TERM, PAIR, "(<= 0 a)"),
        ),
        Goal(
            name="no cut, no change of sides",
            theory=theory,
            assumptions=(HIDDEN, NEURON, kept("w")),
            conclusion=_kept_sides(C0),
        ),
    )


# --- values are affine between cuts ----------------------------------------------------------


def affine_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """Where c and c + 1 are not cut, second differences of inputs, values and scores are 0."""
    return (*_input_goals(worlds), *_value_goals(worlds))


def _input_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """The hypothesis of the induction over layers speaks of each neuron b of layer l."""
    scaled = SCALED.at(f="(W l a b)", p=_below(C0), q=_below(C1), r=_below(C2))
    return (
        SCALED.goal,
        Goal(
            name="layer 0 is affine",
            theory=theory_of("no values", worlds, _NO_VALUES),
            role="base",
            conclusion=between_cuts("0", lambda count: f"(x 0 b {count})"),
        ),
        *induction(
            name="inputs are affine",
            theory=theory_of("inputs", worlds, _LINE, _BEGUN, _MORE),
            invariant=lambda terms: between_cuts("l", _part(terms)),
            base="0",
            step=("b", "(+ b 1)"),
            base_assumptions=(LAYER, TRIPLE),
            step_assumptions=(LAYER, TERM, TRIPLE, between_cuts("l", _below), scaled),
        ),
    )


def _value_goals(worlds: Worlds) -> tuple[Goal, ...]:
    return (
        Goal(
            name="values are affine",
            theory=theory_of("activations", worlds, _ACTIVE, _BRANCHES),
            role="step",
            assumptions=(
                HIDDEN,
                NEURON,
                TRIPLE,
                between_cuts("l", _pre),
                _kept_sides(C0),
                _kept_sides(C1),
            ),
            conclusion=between_cuts("(+ l 1)", _value),
        ),
        Goal(
            name="the score is affine",
            theory=theory_of("scores", worlds, _SCORE),
            assumptions=(f"(=> {TRIPLE} {between_cuts('D', _output)})",),
            conclusion=SCORE_IS_AFFINE,
        ),
    )


# --- one change of sides in each run ---------------------------------------------------------


def _away(count: str, before: str) -> str:
    """A neuron that has changed sides in this run moves away from 0."""
    return f"""(=> (turned l a {count}) (and (not (cut l 0 {before})) (< 0 {count}) (ite
      (on l a {count}) (> (pre l a {count}) (pre l a {before}))
      (< (pre l a {count}) (pre l a {before})))))"""


_STEADY = f"""(=> (and (< 0 c) (not (cut l 0 (- c 1))) (not (cut l 0 c)))
  (= (+ (pre l a (- c 1)) (pre l a {C1})) (* 2.0 (pre l a c))))"""
RUNS = "(+ (cuts l 0 S) 1)"
"""The runs of layers up to l."""
_ONCE = "(=> (and (turned l a c) (not (cut l 0 c))) (not (flip l a c)))"
_FEW = "(<= (flips l a {0}) (+ (cuts l 0 {0}) (ite (turned l a {0}) 1 0)))".format


def flip_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """A neuron changes sides at most once in each run of the layer before."""
    theory = theory_of("changes of sides", worlds, _SIDES, _FLIPS)
    here = (HIDDEN, NEURON, PAIR)
    return (
        Goal(
            name="away from 0: base",
            theory=theory,
            role="base",
            conclusion="(not (turned l a 0))",
        ),
        Goal(
            name="away from 0: step",
            theory=theory,
            role="step",
            assumptions=(*here, _STEADY, _away("c", "(- c 1)")),
            conclusion=_away(C1, "c"),
        ),
        Goal(
            name="no second change in a run",
            theory=theory,
            assumptions=(*here, _STEADY, _away("c", "(- c 1)")),
            conclusion=_ONCE,
        ),
        *induction(
            name="changes and runs",
            theory=theory,
            invariant=_FEW,
            base="0",
            step=("c", C1),
            step_assumptions=(*here, _ONCE),
        ),
        Goal(
            name="a change of sides for each run",
            theory=theory,
            assumptions=(HIDDEN, NEURON, _FEW("S")),
            conclusion=f"(<= (flips l a S) {RUNS})",
        ),
    )
