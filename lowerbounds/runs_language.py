"""What speaks of a network of counts: symbols, guards, cuts; all at the constants of the goals.

    z (j a b c)     what neuron a of layer j + 1 reads of the line at count c, plus b terms
    x (j a c)       the value of neuron a of layer j; layer 0 has values 0
    act (s z)       the activation: on each side s, z > 0 or z <= 0, an affine function of z
    on (j a c)      whether neuron a of layer j + 1 reads more than 0
    cut (j b c)     whether c and c + 1 differ in a side, in layers up to j or in the first b
                    neurons of layer j + 1
    cuts (j b c)    how many counts before c are cut
    flips (j a c)   how often neuron a of layer j + 1 changes sides before c, within runs of layer j
    turned (j a c)  whether it has done so in the run that holds c

Source: Sliding-Window Transformers Without Positional Encodings, Theorem 9; the argument is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from verify.smtlib import Axiom, Theory, World

Worlds = Callable[[], Iterable[World]]

DECLARATIONS = """
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

C0, C1, C2 = "c", "(+ c 1)", "(+ c 2)"
TRIPLE = "(and (<= 0 c) (<= (+ c 2) S))"
PAIR = "(and (<= 0 c) (< c S))"
LAYER = "(and (<= 0 l) (<= l D))"
HIDDEN = "(and (<= 0 l) (< l D))"
NEURON = "(and (<= 0 a) (< a w))"
TERM = "(and (<= 0 b) (< b w))"


def affine(function: Callable[[str], str]) -> str:
    """The second difference at c is 0."""
    return f"(= (+ {function(C0)} {function(C2)}) (* 2.0 {function(C1)}))"


def between_cuts(layer: str, function: Callable[[str], str]) -> str:
    """If layers up to this one change no side from c to c + 2, the second difference is 0."""
    return f"""(=> (and (not (cut {layer} 0 {C0})) (not (cut {layer} 0 {C1})))
      {affine(function)})"""


SCORE_IS_AFFINE = f"(=> {TRIPLE} {between_cuts('D', lambda count: f'(score {count})')})"
"""Three counts of one run have scores whose second difference is 0."""


def each(template: str, *counts: str) -> str:
    """The template at each count."""
    return "(and " + " ".join(template.format(count) for count in counts) + ")"


SIZES = Axiom("sizes", "(and (<= 0 w) (<= 0 D) (<= 1 S))", "D hidden layers of w neurons")


CUTS = (
    Axiom("no layer, no cut", "(not (cut 0 0 c))", "no side stands before the first layer"),
    Axiom(
        "cuts of a layer",
        f"(=> {HIDDEN} {each('(= (cut (+ l 1) 0 {0}) (cut l w {0}))', C0, C1)})",
        "a layer's cuts are those of all its neurons",
    ),
    Axiom(
        "one neuron more",
        f"(=> (and {HIDDEN} {TERM} {PAIR}) (= (cut l (+ b 1) c) (or (cut l b c) (flip l b c))))",
        "a count is cut if one of the sides changes",
    ),
)
"""Which counts are cut."""


def theory_of(name: str, worlds: Worlds, *axioms: Axiom) -> Theory:
    """A theory of networks of counts with these axioms."""
    return Theory(name=name, declarations=DECLARATIONS, axioms=(SIZES, *axioms), worlds=worlds)
