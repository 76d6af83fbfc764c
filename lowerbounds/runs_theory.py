"""Runs of consecutive counts on which no neuron changes its side: at most (w + 1)^D of them.

    z (j a b c)     what neuron a of layer j + 1 reads of the line at count c, plus b terms
    x (j a c)       the value of neuron a of layer j; layer 0 has values 0
    act (s z)       the activation: on each side s, z > 0 or z <= 0, an affine function of z
    on (j a c)      whether neuron a of layer j + 1 reads more than 0
    cut (j b c)     whether c and c + 1 differ in a side, in layers up to j or in the first b
                    neurons of layer j + 1
    cuts (j b c)    how many counts before c are cut
    flips (j a c)   how often neuron a of layer j + 1 changes sides before c, within runs of layer j
    turned (j a c)  whether it has done so in the run that holds c

Between cuts all values are affine in c: their second differences are 0. So a neuron that has
changed sides moves away from 0 for the rest of its run, and changes sides once in each. Nothing
here is about real points between counts, and no function need be continuous.

Source: Sliding-Window Transformers Without Positional Encodings, Theorem 9; the argument is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from verify.real_lemmas import RealLemma
from verify.smtlib import Axiom, Goal, Theory, World, induction

Worlds = Callable[[], Iterable[World]]
CUT_RULE = "(or (cut l b c) (flip l b c))"
"""When c is cut with one neuron more; a twin has another rule."""
LONGEST_RUN = 2
"""Counts that a run of alternating scores can hold."""

_DECLARATIONS = """
(declare-const w Int) (declare-const D Int) (declare-const S Int)
(declare-fun W (Int Int Int) Real) (declare-fun read (Int Int Int) Real)
(declare-fun z (Int Int Int Int) Real) (declare-fun x (Int Int Int) Real)
(declare-fun act (Bool Real) Real) (declare-fun on (Int Int Int) Bool)
(declare-fun cut (Int Int Int) Bool) (declare-fun cuts (Int Int Int) Int)
(declare-fun flips (Int Int Int) Int) (declare-fun turned (Int Int Int) Bool)
(declare-fun late (Int) Bool) (declare-fun score (Int) Real)
(declare-fun times (Int Int) Int) (declare-fun reach (Int) Int)
(declare-const l Int) (declare-const a Int) (declare-const b Int) (declare-const c Int)
(declare-const m Int) (declare-const n Int)
(define-fun flip ((j Int) (k Int) (p Int)) Bool (not (= (on j k p) (on j k (+ p 1)))))
(define-fun pre ((j Int) (k Int) (p Int)) Real (z j k w p))
"""

_C0, _C1, _C2 = "c", "(+ c 1)", "(+ c 2)"
_TRIPLE = "(and (<= 0 c) (<= (+ c 2) S))"
_PAIR = "(and (<= 0 c) (< c S))"
_LAYER = "(and (<= 0 l) (<= l D))"
_HIDDEN = "(and (<= 0 l) (< l D))"
_NEURON = "(and (<= 0 a) (< a w))"
_TERM = "(and (<= 0 b) (< b w))"


def _affine(function: Callable[[str], str]) -> str:
    """The second difference at c is 0."""
    return f"(= (+ {function(_C0)} {function(_C2)}) (* 2.0 {function(_C1)}))"


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


_UNCUT = "(and (not (cut l 0 c)) (not (cut l 0 (+ c 1))))"
_UNCUT_NEXT = "(and (not (cut (+ l 1) 0 c)) (not (cut (+ l 1) 0 (+ c 1))))"


def _axiom(name: str, formula: str, gloss: str) -> Axiom:
    return Axiom(name, formula, gloss)


def _each(template: str, *counts: str) -> str:
    return "(and " + " ".join(template.format(count) for count in counts) + ")"


# --- axioms, at the constants that goals speak of ---------------------------------------------

_SIZES = _axiom("sizes", "(and (<= 0 w) (<= 0 D) (<= 1 S))", "D hidden layers of w neurons")
_LINE = _axiom(
    "line",
    f"(=> (and {_LAYER} {_TRIPLE}) {_affine(_read)})",
    "what a neuron reads of the line, bias included, is affine in the count",
)
_BEGUN = _axiom(
    "input, begun",
    f"(=> {_LAYER} {_each('(= (z l a 0 {0}) (read l a {0}))', _C0, _C1, _C2)})",
    "the input of a neuron: what it reads of the line",
)
_MORE = _axiom(
    "input, one term more",
    f"""(=> (and {_LAYER} {_TERM} {_TRIPLE})
      {_each("(= (z l a (+ b 1) {0}) (+ (z l a b {0}) (* (W l a b) (x l b {0}))))", _C0, _C1, _C2)})
    """,
    "the input of a neuron: one term for each neuron of the layer before",
)
_NO_VALUES = _axiom("layer 0", _each("(= (x 0 b {0}) 0.0)", _C0, _C1, _C2), "layer 0 is empty")
_SIDES = _axiom(
    "sides",
    f"(=> {_HIDDEN} {_each('(= (on l a {0}) (> (pre l a {0}) 0.0))', _C0, _C1, _C2)})",
    "a neuron is on where its input is above 0",
)
_ACTIVE = _axiom(
    "activation",
    f"(=> (and {_HIDDEN} {_TRIPLE}) "
    f"{_each('(= (x (+ l 1) a {0}) (act (on l a {0}) (pre l a {0})))', _C0, _C1, _C2)})",
    "a hidden neuron is its activation of its input",
)
_BRANCHES = _axiom(
    "branches",
    f"""(=> (and {_HIDDEN} {_TRIPLE} (= (on l a c) (on l a {_C1})) (= (on l a c) (on l a {_C2}))
      {_affine(_pre)}) (= (+ (act (on l a c) {_pre(_C0)}) (act (on l a c) {_pre(_C2)}))
      (* 2.0 (act (on l a c) {_pre(_C1)}))))""",
    "on one side the activation is affine",
)


def _cut_axioms(rule: str) -> tuple[Axiom, ...]:
    return (
        _axiom("no layer, no cut", "(not (cut 0 0 c))", "no side stands before the first layer"),
        _axiom(
            "cuts of a layer",
            f"(=> {_HIDDEN} {_each('(= (cut (+ l 1) 0 {0}) (cut l w {0}))', _C0, _C1)})",
            "a layer's cuts are those of all its neurons",
        ),
        _axiom(
            "one neuron more",
            f"(=> (and {_HIDDEN} {_TERM} {_PAIR}) (= (cut l (+ b 1) c) {rule}))",
            "a count is cut if one of the sides changes",
        ),
    )


_COUNTED = _axiom(
    "cuts are counted",
    f"""(and (= (cuts l b 0) 0) (= (cuts l (+ b 1) 0) 0) (= (flips l b 0) 0) (=> {_PAIR} (and
      (= (cuts l b {_C1}) (+ (cuts l b c) (ite (cut l b c) 1 0)))
      (= (cuts l (+ b 1) {_C1}) (+ (cuts l (+ b 1) c) (ite (cut l (+ b 1) c) 1 0))))))""",
    "numbers of cut counts, one count after the other",
)
_FLIPS = _axiom(
    "flips are counted",
    f"""(and (= (cuts l 0 0) 0) (= (flips l a 0) 0) (not (turned l a 0)) (=> {_PAIR} (and
      (= (cuts l 0 {_C1}) (+ (cuts l 0 c) (ite (cut l 0 c) 1 0)))
      (= (flips l a {_C1}) (+ (flips l a c) (ite (and (flip l a c) (not (cut l 0 c))) 1 0)))
      (= (turned l a {_C1}) (and (not (cut l 0 c)) (or (flip l a c) (turned l a c)))))))""",
    "changes of sides within runs of the layer before, and whether the present run had one",
)

SCALED = RealLemma(
    name="a multiple of an affine sequence",
    variables="f p q r",
    premises=("(= (+ {p} {r}) (* 2.0 {q}))",),
    conclusion="(= (+ (* {f} {p}) (* {f} {r})) (* 2.0 (* {f} {q})))",
)


# --- values are affine between cuts ----------------------------------------------------------


def _theory(name: str, worlds: Worlds, *axioms: Axiom) -> Theory:
    return Theory(name=name, declarations=_DECLARATIONS, axioms=(_SIZES, *axioms), worlds=worlds)


def affine_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """Where c and c + 1 are not cut, second differences of inputs and values are 0."""
    scaled = SCALED.at(f="(W l a b)", p=_below(_C0), q=_below(_C1), r=_below(_C2))
    return (
        SCALED.goal,
        Goal(
            name="layer 0 is affine",
            theory=_theory("no values", worlds, _NO_VALUES),
            role="base",
            conclusion=_affine(lambda count: f"(x 0 b {count})"),
        ),
        *induction(
            name="inputs are affine",
            theory=_theory("inputs", worlds, _LINE, _BEGUN, _MORE),
            invariant=lambda terms: _affine(_part(terms)),
            base="0",
            step=("b", "(+ b 1)"),
            base_assumptions=(_LAYER, _TRIPLE),
            step_assumptions=(_LAYER, _TERM, _TRIPLE, _affine(_below), scaled),
        ),
        Goal(
            name="values are affine",
            theory=_theory("activations", worlds, _ACTIVE, _BRANCHES),
            role="step",
            assumptions=(
                _HIDDEN,
                _NEURON,
                _TRIPLE,
                _affine(_pre),
                "(not (flip l a c))",
                "(not (flip l a (+ c 1)))",
            ),
            conclusion=_affine(_value),
        ),
    )


def cut_goals(worlds: Worlds, rule: str) -> tuple[Goal, ...]:
    """Every change of sides is a cut, and stays one in later layers."""
    theory = _theory("cuts", worlds, *_cut_axioms(rule))

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
            step_assumptions=(_HIDDEN, _TERM, _PAIR, "(<= 0 a)"),
        ),
        Goal(
            name="no cut, no change of sides",
            theory=theory,
            assumptions=(_HIDDEN, _NEURON, kept("w"), "(not (cut (+ l 1) 0 c))"),
            conclusion="(and (not (cut l 0 c)) (not (flip l a c)))",
        ),
    )


# --- one change of sides in each run ---------------------------------------------------------


def _away(count: str, before: str) -> str:
    """A neuron that has changed sides in this run moves away from 0."""
    return f"""(=> (turned l a {count}) (and (not (cut l 0 {before})) (< 0 {count}) (ite
      (on l a {count}) (> (pre l a {count}) (pre l a {before}))
      (< (pre l a {count}) (pre l a {before})))))"""


_STEADY = f"""(=> (and (< 0 c) (not (cut l 0 (- c 1))) (not (cut l 0 c)))
  (= (+ (pre l a (- c 1)) (pre l a {_C1})) (* 2.0 (pre l a c))))"""
_ONCE = "(=> (and (turned l a c) (not (cut l 0 c))) (not (flip l a c)))"
_FEW = "(<= (flips l a {0}) (+ (cuts l 0 {0}) (ite (turned l a {0}) 1 0)))".format


def flip_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """A neuron changes sides at most once in each run of the layer before."""
    theory = _theory("changes of sides", worlds, _SIDES, _FLIPS)
    here = (_HIDDEN, _NEURON, _PAIR)
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
            conclusion=_away(_C1, "c"),
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
            step=("c", _C1),
            step_assumptions=(*here, _ONCE),
        ),
    )


# --- counting cuts ---------------------------------------------------------------------------

_TOGETHER = "(<= (cuts l (+ b 1) {0}) (+ (cuts l b {0}) (flips l b {0})))".format
_PRODUCT = _axiom(
    "products",
    """(and (= (times 0 m) 0) (= (times 0 n) 0) (= (times (+ b 1) m) (+ (times b m) m))
      (= (times (+ b 1) n) (+ (times b n) n)))""",
    "times is multiplication, by repeated addition",
)
_POWERS = _axiom(
    "powers",
    f"(and (= (reach 0) 1) (=> {_HIDDEN} (= (reach (+ l 1)) (times (+ w 1) (reach l)))))",
    "reach(l) = (w + 1)^l",
)
_RUNS = "(+ (cuts l 0 S) 1)"
_BOUND = f"(<= (+ (cuts l {{0}} S) 1) (times (+ {{0}} 1) {_RUNS}))".format
_NAMED = f"""(and (= (times 1 {_RUNS}) {_RUNS}) (=> {_TERM} (= (times (+ b 2) {_RUNS})
  (+ (times (+ b 1) {_RUNS}) {_RUNS}))))"""


def count_goals(worlds: Worlds, rule: str) -> tuple[Goal, ...]:
    """With each neuron of width w one run becomes at most one more."""
    cuts = _theory("numbers of cuts", worlds, *_cut_axioms(rule), _COUNTED)
    kept = "(=> (cut l 0 c) (cut l b c))"
    flips = """(= (flips l b (+ c 1))
      (+ (flips l b c) (ite (and (flip l b c) (not (cut l 0 c))) 1 0)))"""
    products = _axiom("products of runs", _NAMED, "times is multiplication, by repeated addition")
    runs = _theory("runs", worlds, products, _COUNTED)
    return (
        *induction(
            name="cuts with one neuron more",
            theory=cuts,
            invariant=_TOGETHER,
            base="0",
            step=("c", _C1),
            step_assumptions=(_HIDDEN, _TERM, _PAIR, kept, flips),
        ),
        *induction(
            name="runs of a layer's first neurons",
            theory=runs,
            invariant=_BOUND,
            base="0",
            step=("b", "(+ b 1)"),
            step_assumptions=(
                _HIDDEN,
                _TERM,
                _TOGETHER("S"),
                f"(<= (flips l b S) {_RUNS})",
            ),
        ),
    )


def power_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """From layer to layer: at most (w + 1)^l runs."""
    products = _theory("products", worlds, _PRODUCT)
    powers = _theory("layers", worlds, _POWERS)
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
                _HIDDEN,
                layer,
                f"(<= (+ (cuts l w S) 1) (times (+ w 1) {_RUNS}))",
                f"""(=> (<= {_RUNS} (reach l))
                  (<= (times (+ w 1) {_RUNS}) (times (+ w 1) (reach l))))""",
            ),
        ),
    )


def start_goals(worlds: Worlds, rule: str) -> tuple[Goal, ...]:
    """Before the first layer nothing is cut; a layer's cuts are counted with its last neuron."""
    first = _axiom(
        "cuts before all layers",
        f"(and (= (cuts 0 0 0) 0) (=> {_PAIR} (= (cuts 0 0 (+ c 1)) "
        "(+ (cuts 0 0 c) (ite (cut 0 0 c) 1 0)))))",
        "numbers of cut counts before the first layer",
    )
    next_layer = _axiom(
        "cuts of the next layer",
        f"""(and (= (cuts (+ l 1) 0 0) 0) (= (cuts l w 0) 0) (=> {_PAIR} (and
          (= (cuts (+ l 1) 0 (+ c 1)) (+ (cuts (+ l 1) 0 c) (ite (cut (+ l 1) 0 c) 1 0)))
          (= (cuts l w (+ c 1)) (+ (cuts l w c) (ite (cut l w c) 1 0))))))""",
        "numbers of cut counts of a layer, and with all its neurons",
    )
    cut_axioms = _cut_axioms(rule)
    return (
        *induction(
            name="no cuts before the first layer",
            theory=_theory("first cuts", worlds, *cut_axioms, first),
            invariant="(= (cuts 0 0 {0}) 0)".format,
            base="0",
            step=("c", _C1),
            step_assumptions=(_PAIR,),
        ),
        *induction(
            name="a layer's cuts",
            theory=_theory("layers' cuts", worlds, *cut_axioms, next_layer),
            invariant="(= (cuts (+ l 1) 0 {0}) (cuts l w {0}))".format,
            base="0",
            step=("c", _C1),
            step_assumptions=(_HIDDEN, _PAIR),
        ),
    )


# --- alternating scores ----------------------------------------------------------------------

_SIGNS = f"""(=> {_TRIPLE} (or
  (and (< (score c) 0.0) (> (score {_C1}) 0.0) (< (score {_C2}) 0.0))
  (and (> (score c) 0.0) (< (score {_C1}) 0.0) (> (score {_C2}) 0.0))))"""
_ALTERNATES = _axiom(
    "alternating scores", _SIGNS, "the score is below 0 at even counts and above 0 at odd ones"
)
_LATE = _axiom(
    "late cuts",
    f"""(and (late 0) (= (cuts D 0 0) 0) (=> {_PAIR} (and (= (late {_C1}) (cut D 0 c))
      (= (cuts D 0 {_C1}) (+ (cuts D 0 c) (ite (cut D 0 c) 1 0))))))""",
    "late(c): the count before c is cut, or there is none",
)


def alternation_goals(worlds: Worlds, longest: int) -> tuple[Goal, ...]:
    """Three counts of a run cannot alternate, so S + 1 <= 2 (cuts + 1)."""
    cut_one = f"(=> {_TRIPLE} (or (cut D 0 c) (cut D 0 {_C1})))"
    before = "(=> (< 0 c) (or (cut D 0 (- c 1)) (cut D 0 c)))"
    spare = "(- (* 2 (cuts D 0 {0})) {0})"
    counted = f"(and (>= {spare} (- 1)) (=> (late {{0}}) (>= {spare} 0)))".format
    late = "(=> (< 0 c) (= (late c) (cut D 0 (- c 1))))"
    return (
        Goal(
            name="one of two neighbours is cut",
            theory=_theory("scores", worlds, _ALTERNATES),
            assumptions=(
                f"(=> (and {_TRIPLE} (not (cut D 0 c)) (not (cut D 0 {_C1}))) "
                f"{_affine(lambda count: f'(score {count})')})",
            ),
            conclusion=cut_one,
        ),
        *induction(
            name="cuts of alternating scores",
            theory=_theory("late cuts", worlds, _LATE),
            invariant=counted,
            base="0",
            step=("c", _C1),
            step_assumptions=(_PAIR, before, late),
        ),
        Goal(
            name="the bound",
            theory=_theory("bound", worlds),
            role="conclusion",
            assumptions=(counted("S"), "(<= (+ (cuts D 0 S) 1) (reach D))"),
            conclusion=f"(<= (+ S 1) (* {longest} (reach D)))",
        ),
    )


def runs_goals(
    worlds: Worlds, parities: Worlds, rule: str = CUT_RULE, longest: int = LONGEST_RUN
) -> tuple[Goal, ...]:
    """The whole argument; `parities` are worlds of networks whose scores alternate."""
    return (
        *affine_goals(worlds),
        *cut_goals(worlds, rule),
        *flip_goals(worlds),
        *count_goals(worlds, rule),
        *start_goals(worlds, rule),
        *power_goals(worlds),
        *alternation_goals(parities, longest),
    )
