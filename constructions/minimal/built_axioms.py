"""The built model is right at every context: the goals behind it, for two solvers.

    T, n, j         context, length of the window, place of its last even number
    even (p)        whether the token at place p is an even number; level (p): its value v_1
    g (k)           exp(5 k / sqrt 2); r = g(1) and bonus = g(T + 1)
    score, w (p)    <q, k> of the last `+` and place p; exp of it over sqrt 2
    total (p)       the weights of the first p places, summed; value (p) with their levels
    others (p)      the weights without place j; apart (p) with the levels less that of j
    mean, y         attention's first coordinate, and that of the residual stream behind it
    logit (t)       of a token t; `wanted` is the token at place j

Before place j the others weigh at most bonus (g(p) - 1) / (r - 1), behind it at most
(g(p) - g(j + 1)) / (r - 1) more: together at most w(j) / (r - 1). All levels lie in [0, 10], so the
mean is within 10 / (r - 1) of j's, and r >= 34.

Source: ours; the rule is that of Fully Interpretable Minimal Transformers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from constructions.minimal.built_lemmas import RANGE, RATE_SERIES, ROOT_BOUND, TERMS, real
from verify.smtlib import Axiom, Theory, World

Worlds = Callable[[], Iterable[World]]
Named = Callable[..., Theory]
"""A theory of the built model, by its name and axioms."""

_DECLARATIONS = """
(declare-const T Int) (declare-const n Int) (declare-const j Int)
(declare-const i Int) (declare-const k Int) (declare-const t Int) (declare-const wanted Int)
(declare-const r Real) (declare-const mean Real) (declare-const y Real)
(declare-fun g (Int) Real) (declare-fun even (Int) Bool) (declare-fun level (Int) Real)
(declare-fun score (Int) Int) (declare-fun w (Int) Real)
(declare-fun total (Int) Real) (declare-fun value (Int) Real)
(declare-fun others (Int) Real) (declare-fun apart (Int) Real)
(declare-fun evenToken (Int) Bool) (declare-fun logit (Int) Real)
(define-fun bonus () Real (g (+ T 1)))
(define-fun place ((p Int)) Bool (and (<= 0 p) (< p n)))
(define-fun late ((p Int)) Int (+ p (ite (even p) (+ T 1) 0)))
"""


WINDOW = Axiom(
    "window",
    """(and (<= 2 n) (<= n T) (<= 0 j) (< (+ j 1) n) (even j)
      (forall ((p Int)) (! (=> (and (< j p) (< p n)) (not (even p))) :pattern ((even p)))))""",
    "a window of at most T tokens, whose last even number stands at j, before its end",
)
LEVELS = Axiom(
    "levels",
    f"""(forall ((p Int)) (! (=> (place p) (and (<= 0.0 (level p)) (<= (level p) {RANGE}.0)))
      :pattern ((level p))))""",
    "the values' first coordinates lie in [0, 10]",
)
SCORES = Axiom(
    "scores",
    """(forall ((p Int)) (! (=> (place p) (= (score p) (* 5 (late p)))) :pattern ((score p))))""",
    "a place scores 5 for each position, and 5 (T + 1) more if its token is even",
)
WEIGHTS = Axiom(
    "weights",
    """(forall ((p Int) (a Int)) (! (=> (and (place p) (<= 0 a) (= (score p) (* 5 a)))
      (= (w p) (g a))) :pattern ((w p) (g a))))""",
    "softmax weighs a place by the exponential of its score over sqrt 2",
)
POWERS = Axiom(
    "powers",
    """(and (= (g 0) 1.0) (forall ((a Int)) (! (=> (<= 0 a) (= (g (+ a 1)) (* r (g a))))
      :pattern ((g a)))))""",
    "exp(0) = 1, and one position more multiplies by r = exp(5 / sqrt 2)",
)
RATE = Axiom(
    "rate",
    f"(>= r {real(RATE_SERIES)})",
    f"{TERMS} terms of the series of exp({ROOT_BOUND}), and {ROOT_BOUND} <= 5 / sqrt 2",
)


def _sum(name: str, term: str, skip: bool, gloss: str) -> Axiom:
    """A sum over places, with or without place j."""
    added = f"(+ ({name} p) {term})"
    after = f"(ite (= p j) ({name} p) {added})" if skip else added
    return Axiom(
        name,
        f"""(and (= ({name} 0) 0.0) (forall ((p Int)) (! (=> (place p)
          (= ({name} (+ p 1)) {after})) :pattern (({name} (+ p 1))))))""",
        gloss,
    )


TOTAL = _sum("total", "(w p)", False, "the sum of weights")
VALUE = _sum("value", "(* (w p) (level p))", False, "the sum of weighted values")
OTHERS = _sum("others", "(w p)", True, "the sum of weights without place j")
APART = _sum(
    "apart", "(* (w p) (- (level p) (level j)))", False, "the weighted distances from j's level"
)
MEAN = Axiom("mean", "(= (* mean (total n)) (value n))", "what attention gives")
READOUT = Axiom(
    "readout",
    f"""(and (= y (+ {RANGE}.0 mean)) (forall ((a Int)) (! (= (logit a) (ite (evenToken a)
      (- (* (+ {RANGE}.0 (to_real a)) y)
        (/ (* (+ {RANGE}.0 (to_real a)) (+ {RANGE}.0 (to_real a))) 2.0))
      0.0)) :pattern ((logit a)))))""",
    "y: the level of +, and the mean; behind a feed-forward layer of zeros an even number t has "
    "the logit a y - a^2 / 2 with a = 10 + t, and every other token 0",
)
EVENS = Axiom(
    "even numbers",
    f"""(and (forall ((a Int)) (! (=> (evenToken a) (and (<= 0 a) (<= a {RANGE})))
        :pattern ((evenToken a))))
      (forall ((a Int) (b Int)) (! (=> (and (evenToken a) (evenToken b) (distinct a b))
        (or (<= (+ a 2) b) (<= (+ b 2) a))) :pattern ((evenToken a) (evenToken b)))))""",
    "0, 2, .., 10: two of them are at least 2 apart",
)
WANTED = Axiom(
    "wanted token",
    "(and (evenToken wanted) (= (level j) (to_real wanted)))",
    "the token at j is an even number, whose level is itself",
)


def built_theory(worlds: Worlds, name: str, *axioms: Axiom) -> Theory:
    """A part of the theory, with some of its axioms."""
    return Theory(name=f"built: {name}", declarations=_DECLARATIONS, axioms=axioms, worlds=worlds)
