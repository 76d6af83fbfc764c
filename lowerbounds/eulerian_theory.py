"""Derivatives of the logistic function as a theory: their form and the parity of R_k.

    R (k), der        the integer polynomials R_k and the derivative of a polynomial
    at, whole         a polynomial's value, and its integer value at the odds
    D (k z)           the k-th derivative of sigma at ln z; pow (k z) is (1 + z)^k

Source: Fixed Universal Transformers, Section 4 and Theorem 4.1; the proof is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from verify.real_lemmas import RealLemma
from verify.smtlib import Axiom, Goal, Theory, World, induction

_DECLARATIONS = """
(declare-sort Polynomial 0)
(declare-fun R (Int) Polynomial) (declare-fun der (Polynomial) Polynomial)
(declare-fun at (Polynomial Real) Real) (declare-fun whole (Polynomial) Int)
(declare-fun D (Int Real) Real) (declare-fun pow (Int Real) Real)
(declare-fun formed (Int) Bool)
(declare-const k Int) (declare-const z Real)
"""
_NEXT = "(+ (* (- 1.0 (* {k} {z})) {r}) (* (* {z} (+ 1.0 {z})) {d}))"
_QUOTIENT = "(* {z} (- (* (+ 1.0 {z}) (+ {r} (* {z} {d}))) (* (* (+ {k} 1.0) {z}) {r})))"

RECURSION = RealLemma(
    name="the recursion of R",
    variables="z k r d",
    premises=("(> {z} 0.0)",),
    conclusion=f"(= {_QUOTIENT} (* {{z}} {_NEXT}))",
)
NOT_ZERO = RealLemma(
    name="a product that is not 0",
    variables="a b x c",
    premises=("(= (* {a} {b}) (* {c} {x}))", "(> {c} 0.0)", "(not (= {x} 0.0))"),
    conclusion="(not (= {a} 0.0))",
)
Worlds = Callable[[], Iterator[World]]
_TERMS = {"z": "z", "k": "(to_real k)", "r": "(at (R k) z)", "d": "(at (der (R k)) z)"}
_FORM = "(= (* (D {k} {z}) (pow (+ {k} 1) {z})) (* {z} (at (R {k}) {z})))"


def _axioms(point: int) -> dict[str, Axiom]:
    quotient = f"(= (* (D (+ k 1) z) (pow (+ k 2) z)) {_QUOTIENT.format(**_TERMS)})"
    one = {"z": f"{point}", "k": "k", "r": "(whole (R k))", "d": "(whole (der (R k)))"}
    grown = _NEXT.format(**one).replace("1.0", "1")
    return {
        "first": Axiom(
            "first",
            """(and (= (whole (R 0)) 1) (forall ((z Real)) (! (and (= (at (R 0) z) 1.0)
              (= (pow 1 z) (+ 1.0 z)) (=> (> z 0.0) (= (* (D 0 z) (+ 1.0 z)) z)))
              :pattern ((at (R 0) z)) :pattern ((D 0 z)))))""",
            "R_0 = 1 and sigma = z / (1 + z)",
        ),
        "next": Axiom(
            "recursion",
            f"""(forall ((k Int) (z Real)) (! (=> (>= k 0) (= (at (R (+ k 1)) z)
              {_NEXT.format(**_TERMS)})) :pattern ((at (R (+ k 1)) z))))""",
            "R_{k+1} = (1 - k z) R_k + z (1 + z) R_k'",
        ),
        "quotient": Axiom(
            "quotient rule",
            f"""(forall ((k Int) (z Real)) (! (=> (and (>= k 0) (formed k) (> z 0.0)) {quotient})
              :pattern ((D (+ k 1) z))))""",
            "d/dx = z d/dz of z R_k / (1 + z)^(k+1), by the product, quotient and chain rules",
        ),
        "form": Axiom(
            "form",
            f"""(forall ((k Int)) (! (= (formed k) (forall ((z Real)) (! (=> (> z 0.0)
              {_FORM.format(k="k", z="z")}) :pattern ((D k z))))) :pattern ((formed k))))""",
            "`formed` names the form of the k-th derivative: it holds for all z > 0",
        ),
        "whole": Axiom(
            "integer values",
            f"""(forall ((k Int)) (! (=> (>= k 0) (and (= (at (R k) {point}.0)
              (to_real (whole (R k)))) (= (whole (R (+ k 1))) {grown}))) :pattern ((R k))))""",
            "sums, products and derivatives of integer polynomials have integer values at integers",
        ),
    }


def _part(point: int, worlds: Worlds, *names: str) -> Theory:
    axioms = _axioms(point)
    return Theory(
        name=f"derivatives: {', '.join(names) or 'arithmetic'}",
        declarations=_DECLARATIONS,
        axioms=tuple(axioms[name] for name in names),
        worlds=worlds,
    )


def eulerian_goals(point: int, worlds: Worlds) -> tuple[Goal, ...]:
    """The form of the derivatives and the parity of R_k, both by induction; then the value."""
    return (
        RECURSION.goal,
        NOT_ZERO.goal,
        *_form_goals(point, worlds),
        *_value_goals(point, worlds),
    )


def _form_goals(point: int, worlds: Worlds) -> tuple[Goal, ...]:
    quotient = f"(= (* (D (+ k 1) z) (pow (+ k 2) z)) {_QUOTIENT.format(**_TERMS)})"
    recursion = f"(= (at (R (+ k 1)) z) {_NEXT.format(**_TERMS)})"
    start = "(and (<= 0 k) (> z 0.0))"
    following = _FORM.format(k="(+ k 1)", z="z").replace("(+ (+ k 1) 1)", "(+ k 2)")
    everywhere = f"(forall ((z Real)) (! (=> (> z 0.0) {following}) :pattern ((D (+ k 1) z))))"
    return (
        Goal(
            name="derivatives: base",
            theory=_part(point, worlds, "first", "form"),
            role="base",
            conclusion="(formed 0)",
        ),
        Goal(
            name="derivatives: quotient rule",
            theory=_part(point, worlds, "quotient"),
            assumptions=(start, "(formed k)"),
            conclusion=quotient,
        ),
        Goal(
            name="derivatives: recursion",
            theory=_part(point, worlds, "next"),
            assumptions=(start,),
            conclusion=recursion,
        ),
        Goal(
            name="derivatives: the next form",
            theory=_part(point, worlds),
            assumptions=(start, quotient, recursion, RECURSION.at(**_TERMS)),
            conclusion=following,
        ),
        Goal(
            name="derivatives: step",
            theory=_part(point, worlds, "form"),
            role="step",
            assumptions=(everywhere,),
            conclusion="(formed (+ k 1))",
        ),
    )


def _value_goals(point: int, worlds: Worlds) -> tuple[Goal, ...]:
    parity = "(= (mod (whole (R {0})) 2) 1)"
    at_point = _FORM.format(k="k", z=f"{point}.0")
    value, polynomial = f"(D k {point}.0)", f"(at (R k) {point}.0)"
    product = NOT_ZERO.at(a=value, b=f"(pow (+ k 1) {point}.0)", c=f"{point}.0", x=polynomial)
    return (
        Goal(
            name="the form at the odds",
            theory=_part(point, worlds, "form"),
            assumptions=("(formed k)",),
            conclusion=at_point,
        ),
        *induction(
            name="R_k is odd",
            theory=_part(point, worlds, "first", "whole"),
            invariant=parity.format,
            base="0",
            step=("k", "(+ k 1)"),
            step_assumptions=("(<= 0 k)",),
        ),
        Goal(
            name="no derivative is 0",
            theory=_part(point, worlds, "whole"),
            role="conclusion",
            assumptions=("(<= 0 k)", parity.format("k"), at_point, product),
            conclusion=f"(not (= {value} 0.0))",
        ),
    )
