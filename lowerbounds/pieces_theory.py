"""A ReLU network on a line has at most (w + 1)^D pieces, and S sign changes need S of them.

    x (l k t)       the value of neuron k of layer l at t
    z (l k i t)     what neuron k of layer l + 1 reads of the line, plus its first i terms
    xs xo zs zo     slope and offset of x and z at t: forward derivatives
    on (l k t)      neuron k of layer l + 1 is on: z > 0, or z >= 0 where its slope is negative
    past (l k t)    z has passed its zero: z > 0 if it rises, z < 0 if it falls
    turns (l k t)   how many of the first k neurons of layer l + 1 are past their zeros
    code (l t)      code(l+1) = (w + 1) code(l) + turns: the number of a piece, from left to right

Points of one code have equal slopes and offsets; codes grow along the line and stay below
(w + 1)^l. Layer 0 has no neurons, and each neuron may read the line besides the layer before it, so
carried inputs and residual connections are in. Layer D + 1 is the output.

Source: Sliding-Window Transformers Without Positional Encodings, Theorem 9; the argument is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from lowerbounds.pieces_lemmas import TERM
from verify.smtlib import Axiom, Goal, Theory, World

_PIECES = """
(declare-const w Int) (declare-const D Int) (declare-const S Int)
(declare-const plus Int) (declare-const minus Int)
(declare-fun width (Int) Int) (declare-fun bound (Int) Int)
(declare-fun W (Int Int Int) Real) (declare-fun ls (Int Int) Real) (declare-fun lo (Int Int) Real)
(declare-fun z (Int Int Int Real) Real) (declare-fun x (Int Int Real) Real)
(declare-fun zs (Int Int Int Real) Real) (declare-fun zo (Int Int Int Real) Real)
(declare-fun xs (Int Int Real) Real) (declare-fun xo (Int Int Real) Real)
(declare-fun on (Int Int Real) Bool) (declare-fun past (Int Int Real) Bool)
(declare-fun turns (Int Int Real) Int) (declare-fun code (Int Real) Int)
(declare-fun g (Real) Real) (declare-fun gs (Real) Real) (declare-fun go (Real) Real)
(declare-fun gc (Int) Real)
(declare-fun zero (Int) Real)
(declare-const l Int) (declare-const k Int) (declare-const i Int) (declare-const c Int)
(declare-const t Real) (declare-const u Real)
(define-fun layer ((j Int)) Bool (and (<= 0 j) (<= j D)))
(define-fun neuron ((j Int) (a Int)) Bool (and (<= 0 a) (< a (width j))))
(define-fun pre ((j Int) (a Int) (p Real)) Real (z j a (width j) p))
(define-fun pres ((j Int) (a Int) (p Real)) Real (zs j a (width j) p))
(define-fun preo ((j Int) (a Int) (p Real)) Real (zo j a (width j) p))
"""

Worlds = Callable[[], Iterable[World]]

# --- the network on the line -----------------------------------------------------------------

SIZES = Axiom(
    "sizes",
    """(and (<= 0 w) (<= 0 D) (= (width 0) 0) (forall ((j Int)) (! (=> (and (<= 1 j) (<= j D))
      (and (<= 0 (width j)) (<= (width j) w))) :pattern ((width j)))))""",
    "D hidden layers of at most w neurons; layer 0 has none",
)
_GUARD = "(and (layer j) (neuron (+ j 1) a) (neuron j b))"


def _sum_axioms(value: str, start: str, term: str, gloss: str) -> tuple[Axiom, Axiom]:
    """A partial sum over the layer before: its start and its next term."""
    return (
        Axiom(
            f"{gloss}, begun",
            f"""(forall ((j Int) (a Int) (p Real)) (! (=> (and (layer j) (neuron (+ j 1) a))
              (= ({value} j a 0 p) {start})) :pattern (({value} j a 0 p))))""",
            f"{gloss}: what the neuron reads of the line",
        ),
        Axiom(
            gloss,
            f"""(forall ((j Int) (a Int) (b Int) (p Real)) (! (=> {_GUARD}
              (= ({value} j a (+ b 1) p)
                (+ ({value} j a b p) (* (W j a b) ({term} j b p)))))
              :pattern (({value} j a (+ b 1) p))))""",
            f"{gloss}: one term for each neuron of the layer before",
        ),
    )


_VALUES = _sum_axioms("z", "(+ (* (ls j a) p) (lo j a))", "x", "input of a neuron")
SLOPES = _sum_axioms("zs", "(ls j a)", "xs", "its slope")
OFFSETS = _sum_axioms("zo", "(lo j a)", "xo", "its offset")
HIDDEN = "(and (<= 0 j) (< j D) (neuron (+ j 1) a))"


def neuron_axiom(name: str, left: str, right: str, gloss: str) -> Axiom:
    """What a function is for neuron a of hidden layer j + 1 at point p."""
    return Axiom(
        name,
        f"""(forall ((j Int) (a Int) (p Real)) (! (=> {HIDDEN} (= {left} {right}))
          :pattern ({left})))""",
        gloss,
    )


_RELU = neuron_axiom(
    "relu",
    "(x (+ j 1) a p)",
    "(ite (>= (pre j a p) 0.0) (pre j a p) 0.0)",
    "a hidden neuron is relu of its input",
)
ON = neuron_axiom(
    "on",
    "(on j a p)",
    "(ite (< (pres j a p) 0.0) (>= (pre j a p) 0.0) (> (pre j a p) 0.0))",
    "at its zero a neuron counts with what lies to the left",
)
COEFFICIENTS = (
    neuron_axiom(
        "slope of a neuron",
        "(xs (+ j 1) a p)",
        "(ite (on j a p) (pres j a p) 0.0)",
        "that of its input where it is on, else 0",
    ),
    neuron_axiom(
        "offset of a neuron",
        "(xo (+ j 1) a p)",
        "(ite (on j a p) (preo j a p) 0.0)",
        "likewise",
    ),
)


def theory_of(name: str, axioms: Sequence[Axiom], worlds: Worlds) -> Theory:
    """A part of the theory, with some of its axioms."""
    return Theory(name=name, declarations=_PIECES, axioms=tuple(axioms), worlds=worlds)


# --- every neuron is affine with its slope and offset ----------------------------------------

INPUT = "(and (layer l) (neuron (+ l 1) k))"
LAYER = "(and (<= 0 l) (< l D))"
NEURON = "(and (<= 0 l) (< l D) (neuron (+ l 1) k))"
INDEX = "(neuron l i)"
WHOLE, ORDER = "(width l)", "(<= t u)"


def _affine(layer: str, point: str) -> str:
    """Each neuron of a layer is its slope times t plus its offset."""
    return f"""(forall ((a Int)) (! (=> (neuron {layer} a)
      (= (x {layer} a {point}) (+ (* (xs {layer} a {point}) {point}) (xo {layer} a {point}))))
      :pattern ((x {layer} a {point}))))"""


def affine_sum(i: str, point: str = "t") -> str:
    """The first terms of a neuron's input are affine with their slope and offset."""
    value, slope, offset = (f"({name} l k {i} {point})" for name in ("z", "zs", "zo"))
    return f"(= {value} (+ (* {slope} {point}) {offset}))"


_TERM = TERM.at(
    z="(z l k i t)",
    s="(zs l k i t)",
    o="(zo l k i t)",
    x="(x l i t)",
    p="(xs l i t)",
    q="(xo l i t)",
    v="(W l k i)",
    t="t",
)


def next_term(value: str, term: str, point: str) -> str:
    """One more term of a neuron's input, of its slope or of its offset."""
    return f"""(= ({value} l k (+ i 1) {point})
      (+ ({value} l k i {point}) (* (W l k i) ({term} l i {point}))))"""


SUMS = {"z": ("x", _VALUES), "zs": ("xs", SLOPES), "zo": ("xo", OFFSETS)}
_AFFINE_TERM = "(= (x l i t) (+ (* (xs l i t) t) (xo l i t)))"


def affine_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """Inputs by induction over terms, neurons by cases, layers by induction."""
    return (*_sum_goals(worlds), *_layer_goals(worlds))


def _sum_goals(worlds: Worlds) -> tuple[Goal, ...]:
    sums = theory_of("sums", (SIZES, *_VALUES, *SLOPES, *OFFSETS), worlds)
    numbers = theory_of("arithmetic of terms", (), worlds)
    terms = (next_term(value, term, "t") for value, (term, _) in SUMS.items())
    return (
        *(
            Goal(
                name=f"the next term of {value}",
                theory=theory_of(f"sums of {value}", axioms, worlds),
                assumptions=(INPUT, INDEX),
                conclusion=next_term(value, term, "t"),
            )
            for value, (term, axioms) in SUMS.items()
        ),
        Goal(
            name="a neuron's term is affine",
            theory=numbers,
            assumptions=("(layer l)", INDEX, _affine("l", "t")),
            conclusion=_AFFINE_TERM,
        ),
        Goal(
            name="an input is affine: base",
            theory=sums,
            role="base",
            assumptions=(INPUT,),
            conclusion=affine_sum("0"),
        ),
        Goal(
            name="an input is affine: step",
            theory=numbers,
            role="step",
            assumptions=(INPUT, INDEX, *terms, _AFFINE_TERM, affine_sum("i"), _TERM),
            conclusion=affine_sum("(+ i 1)"),
        ),
    )


def _layer_goals(worlds: Worlds) -> tuple[Goal, ...]:
    neurons = theory_of("neurons", (SIZES, _RELU, ON, *COEFFICIENTS), worlds)
    return (
        Goal(
            name="a layer is affine: base",
            theory=neurons,
            role="base",
            conclusion=_affine("0", "t"),
        ),
        Goal(
            name="a layer is affine: step, neuron by neuron",
            theory=neurons,
            role="step",
            assumptions=(NEURON, affine_sum("(width l)")),
            conclusion="(= (x (+ l 1) k t) (+ (* (xs (+ l 1) k t) t) (xo (+ l 1) k t)))",
        ),
    )
