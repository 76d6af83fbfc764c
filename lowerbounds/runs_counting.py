"""Runs of counts are counted: at most (w + 1)^D, and S + 1 <= 2 (w + 1)^D for alternating scores.

Source: Sliding-Window Transformers Without Positional Encodings, Theorem 9; the argument is ours.
"""

from __future__ import annotations

from lowerbounds.runs_language import (
    C1,
    C2,
    CUTS,
    HIDDEN,
    PAIR,
    SCORE_IS_AFFINE,
    TERM,
    TRIPLE,
    Worlds,
    theory_of,
)
from lowerbounds.runs_theory import RUNS, affine_goals, cut_goals, flip_goals
from verify.smtlib import Axiom, Goal, induction

LONGEST_RUN = 2
"""Counts that a run of alternating scores can hold."""


_COUNTED = Axiom(
    "cuts are counted",
    f"""(and (= (cuts l b 0) 0) (= (cuts l (+ b 1) 0) 0) (= (flips l b 0) 0) (=> {PAIR} (and
      (= (cuts l b {C1}) (+ (cuts l b c) (ite (cut l b c) 1 0)))
      (= (cuts l (+ b 1) {C1}) (+ (cuts l (+ b 1) c) (ite (cut l (+ b 1) c) 1 0))))))""",
    "numbers of cut counts, one count after the other",
)

# --- counting cuts ---------------------------------------------------------------------------

_TOGETHER = "(<= (cuts l (+ b 1) {0}) (+ (cuts l b {0}) (flips l b {0})))".format
_PRODUCT = Axiom(
    "products",
    """(and (= (times 0 m) 0) (= (times 0 n) 0) (= (times (+ b 1) m) (+ (times b m) m))
      (= (times (+ b 1) n) (+ (times b n) n)))""",
    "times is multiplication, by repeated addition",
)
_POWERS = Axiom(
    "powers",
    f"(and (= (reach 0) 1) (=> {HIDDEN} (= (reach (+ l 1)) (times (+ w 1) (reach l)))))",
    "reach(l) = (w + 1)^l",
)
_BOUND = f"(<= (+ (cuts l {{0}} S) 1) (times (+ {{0}} 1) {RUNS}))".format
_NAMED = f"""(and (= (times 1 {RUNS}) {RUNS}) (=> {TERM} (= (times (+ b 2) {RUNS})
  (+ (times (+ b 1) {RUNS}) {RUNS}))))"""


def count_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """With each neuron of width w one run becomes at most one more."""
    cuts = theory_of("numbers of cuts", worlds, *CUTS, _COUNTED)
    kept = "(=> (cut l 0 c) (cut l b c))"
    flips = """(= (flips l b (+ c 1))
      (+ (flips l b c) (ite (and (flip l b c) (not (cut l 0 c))) 1 0)))"""
    products = Axiom("products of runs", _NAMED, "times is multiplication, by repeated addition")
    runs = theory_of("runs", worlds, products, _COUNTED)
    return (
        *induction(
            name="cuts with one neuron more",
            theory=cuts,
            invariant=_TOGETHER,
            base="0",
            step=("c", C1),
            step_assumptions=(HIDDEN, TERM, PAIR, kept, flips),
        ),
        *induction(
            name="runs of a layer's first neurons",
            theory=runs,
            invariant=_BOUND,
            base="0",
            step=("b", "(+ b 1)"),
            step_assumptions=(
                HIDDEN,
                TERM,
                _TOGETHER("S"),
                f"(<= (flips l b S) {RUNS})",
            ),
        ),
    )


def power_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """From layer to layer: at most (w + 1)^l runs."""
    products = theory_of("products", worlds, _PRODUCT)
    powers = theory_of("layers", worlds, _POWERS)
    layer = "(= (cuts (+ l 1) 0 S) (cuts l w S))"
    few = "(<= (+ (cuts {0} 0 S) 1) (reach {0}))".format
    return (
        *induction(
            name="products grow",
            theory=products,
            invariant="(=> (<= m n) (<= (times {0} m) (times {0} n)))".format,
            base="0",
            step=("b", "(+ b 1)"),
            step_assumptions=("(<= 0 b)",),
        ),
        *induction(
            name="runs of all layers",
            theory=powers,
            invariant=few,
            base="0",
            step=("l", "(+ l 1)"),
            base_assumptions=("(= (cuts 0 0 S) 0)",),
            step_assumptions=(
                HIDDEN,
                layer,
                f"(<= (+ (cuts l w S) 1) (times (+ w 1) {RUNS}))",
                f"""(=> (<= {RUNS} (reach l))
                  (<= (times (+ w 1) {RUNS}) (times (+ w 1) (reach l))))""",
            ),
        ),
    )


def start_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """Before the first layer nothing is cut; a layer's cuts are counted with its last neuron."""
    first = Axiom(
        "cuts before all layers",
        f"(and (= (cuts 0 0 0) 0) (=> {PAIR} (= (cuts 0 0 (+ c 1)) "
        "(+ (cuts 0 0 c) (ite (cut 0 0 c) 1 0)))))",
        "numbers of cut counts before the first layer",
    )
    next_layer = Axiom(
        "cuts of the next layer",
        f"""(and (= (cuts (+ l 1) 0 0) 0) (= (cuts l w 0) 0) (=> {PAIR} (and
          (= (cuts (+ l 1) 0 (+ c 1)) (+ (cuts (+ l 1) 0 c) (ite (cut (+ l 1) 0 c) 1 0)))
          (= (cuts l w (+ c 1)) (+ (cuts l w c) (ite (cut l w c) 1 0))))))""",
        "numbers of cut counts of a layer, and with all its neurons",
    )
    return (
        *induction(
            name="no cuts before the first layer",
            theory=theory_of("first cuts", worlds, *CUTS, first),
            invariant="(= (cuts 0 0 {0}) 0)".format,
            base="0",
            step=("c", C1),
            step_assumptions=(PAIR,),
        ),
        *induction(
            name="a layer's cuts",
            theory=theory_of("layers' cuts", worlds, *CUTS, next_layer),
            invariant="(= (cuts (+ l 1) 0 {0}) (cuts l w {0}))".format,
            base="0",
            step=("c", C1),
            step_assumptions=(HIDDEN, PAIR),
        ),
    )


# --- alternating scores ----------------------------------------------------------------------

_SIGNS = f"""(=> {TRIPLE} (or
  (and (< (score c) 0.0) (> (score {C1}) 0.0) (< (score {C2}) 0.0))
  (and (> (score c) 0.0) (< (score {C1}) 0.0) (> (score {C2}) 0.0))))"""
_ALTERNATES = Axiom(
    "alternating scores", _SIGNS, "the score is below 0 at even counts and above 0 at odd ones"
)
_LATE = Axiom(
    "late cuts",
    f"""(and (late 0) (= (cuts D 0 0) 0) (=> {PAIR} (and (= (late {C1}) (cut D 0 c))
      (= (cuts D 0 {C1}) (+ (cuts D 0 c) (ite (cut D 0 c) 1 0))))))""",
    "late(c): the count before c is cut, or there is none",
)


def alternation_goals(worlds: Worlds, longest: int) -> tuple[Goal, ...]:
    """Three counts of a run cannot alternate, so S + 1 <= 2 (cuts + 1)."""
    cut_one = f"(=> {TRIPLE} (or (cut D 0 c) (cut D 0 {C1})))"
    before = "(=> (< 0 c) (or (cut D 0 (- c 1)) (cut D 0 c)))"
    spare = "(- (* 2 (cuts D 0 {0})) {0})"
    counted = f"(and (>= {spare} (- 1)) (=> (late {{0}}) (>= {spare} 0)))".format
    late = "(=> (< 0 c) (= (late c) (cut D 0 (- c 1))))"
    return (
        Goal(
            name="one of two neighbours is cut",
            theory=theory_of("alternating scores", worlds, _ALTERNATES),
            assumptions=(SCORE_IS_AFFINE,),
            conclusion=cut_one,
        ),
        *induction(
            name="cuts of alternating scores",
            theory=theory_of("late cuts", worlds, _LATE),
            invariant=counted,
            base="0",
            step=("c", C1),
            step_assumptions=(PAIR, before, late),
        ),
        Goal(
            name="the bound",
            theory=theory_of("bound", worlds),
            role="conclusion",
            assumptions=(counted("S"), "(<= (+ (cuts D 0 S) 1) (reach D))"),
            conclusion=f"(<= (+ S 1) (* {longest} (reach D)))",
        ),
    )


def runs_goals(worlds: Worlds, parities: Worlds, longest: int = LONGEST_RUN) -> tuple[Goal, ...]:
    """The whole argument; `parities` are worlds of networks whose scores alternate."""
    return (
        *cut_goals(worlds),
        *affine_goals(worlds),
        *flip_goals(worlds),
        *count_goals(worlds),
        *start_goals(worlds),
        *power_goals(worlds),
        *alternation_goals(parities, longest),
    )
