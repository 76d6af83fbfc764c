"""Middle weights as a product of two polynomials, and the places that takes: goals.

A real polynomial of degree at most H - 1 with n1 linear and n2 quadratic factors is f g, f of
degree at most d1 and g at most d2: take as many quadratic factors into f as fit, then linear ones.
Only if d1 and d2 were both odd could a place be left over on either side.

Source: Fixed Universal Transformers, Section 4; the construction is ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from lowerbounds.meeting_models import (
    MEETING,
    Meeting,
    Polynomial,
    Rules,
    drawn_factors,
    multiplied,
)
from lowerbounds.meeting_theory import Worlds
from verify.smtlib import Axiom, Goal, Theory, World

D1_RULE = "(+ (div i 2) (ite (= (mod i 4) 3) 1 0))"
"""The larger degree for H = i; a mutant replaces it."""

_DECLARATIONS = """
(declare-sort Poly 0)
(declare-fun d1 (Int) Int) (declare-fun d2 (Int) Int) (declare-fun places (Int) Int)
(declare-const H Int) (declare-const n1 Int) (declare-const n2 Int)
(declare-const W Poly) (declare-const zero Poly)
(declare-fun mul (Poly Poly) Poly) (declare-fun fits (Poly Int) Bool)
(declare-fun some (Int Int) Poly) (declare-fun others (Int Int) Poly)
(declare-const a Int) (declare-const b Int)
(define-fun quadratics () Int (ite (<= n2 (div (d1 H) 2)) n2 (div (d1 H) 2)))
(define-fun linears () Int
  (ite (<= n1 (- (d1 H) (* 2 quadratics))) n1 (- (d1 H) (* 2 quadratics))))
(define-fun part ((x Int) (y Int)) Bool (and (<= 0 x) (<= x n1) (<= 0 y) (<= y n2)))
"""


def _degrees(rule: str) -> Axiom:
    return Axiom(
        "degrees",
        f"""(forall ((i Int)) (! (=> (>= i 1) (and (= (d1 i) {rule})
          (= (d2 i) (- (- i 1) (d1 i))))) :pattern ((d1 i)) :pattern ((d2 i))))""",
        "the degrees of f and g for H heads add up to H - 1",
    )


_PLACES = Axiom(
    "places",
    """(forall ((i Int)) (! (=> (>= i 1) (= (places i)
      (+ (ite (>= (d1 i) (d2 i)) (d1 i) (d2 i)) 1))) :pattern ((places i))))""",
    "a place for each coefficient of the longer of f and g",
)
_FACTORED = Axiom(
    "factors",
    """(or (= W zero) (and (<= 0 n1) (<= 0 n2) (<= (+ n1 (* 2 n2)) (- H 1))
      (forall ((x Int) (y Int)) (! (=> (part x y) (= (mul (some x y) (others x y)) W))
        :pattern ((some x y))))))""",
    "the polynomial of the middle weights, of degree at most H - 1, is 0 or a constant times n1 "
    "linear and n2 quadratic factors, which may be grouped at will",
)
_PARTS = Axiom(
    "degrees of products",
    """(forall ((x Int) (y Int)) (! (=> (part x y) (and (fits (some x y) (+ x (* 2 y)))
      (fits (others x y) (+ (- n1 x) (* 2 (- n2 y)))))) :pattern ((some x y))))""",
    "a product of a linear and b quadratic factors has degree a + 2b",
)
_FITS = Axiom(
    "degrees at most",
    """(forall ((p Poly) (i Int) (j Int)) (! (=> (and (fits p i) (<= i j)) (fits p j))
      :pattern ((fits p i) (fits p j))))""",
    "a degree of at most i is one of at most j >= i",
)
_ZERO = Axiom(
    "zero",
    "(and (= (mul zero zero) zero) (fits zero 0))",
    "0 is 0 times 0, and of every degree",
)


def _theory(name: str, axioms: tuple[Axiom, ...], worlds: Worlds) -> Theory:
    return Theory(
        name=f"middle weights: {name}",
        declarations=_DECLARATIONS,
        axioms=axioms,
        worlds=worlds,
    )


_SIZES = ("(>= H 1)", "(<= 0 n1)", "(<= 0 n2)", "(<= (+ n1 (* 2 n2)) (- H 1))")
_CHOSEN = """(and (part {0} {1}) (<= (+ {0} (* 2 {1})) (d1 H))
  (<= (+ (- n1 {0}) (* 2 (- n2 {1}))) (d2 H)))"""
_GROUPED = """(and (= (mul (some a b) (others a b)) W) (fits (some a b) (d1 H))
  (fits (others a b) (d2 H)))"""
_SPLIT = """(exists ((p Poly) (q Poly)) (and (= (mul p q) {0}) (fits p (d1 H)) (fits q (d2 H))))"""


def degree_goals(rules: Rules = MEETING, rule: str = D1_RULE) -> tuple[Goal, ...]:
    """Every polynomial of degree at most H - 1 splits, and how many places that takes."""

    def worlds() -> Iterator[World]:
        return degree_worlds(rules)

    degrees = _degrees(rule)
    return (
        Goal(
            name="some factors fit, the others too",
            theory=_theory("degrees", (degrees,), worlds),
            assumptions=_SIZES,
            conclusion=_CHOSEN.format("linears", "quadratics"),
        ),
        Goal(
            name="the product of factors that fit, and that of the others",
            theory=_theory("products", (_FACTORED, _PARTS, _FITS), worlds),
            assumptions=("(distinct W zero)", _CHOSEN.format("a", "b")),
            conclusion=_GROUPED,
        ),
        Goal(
            name="a polynomial that is not 0 splits",
            theory=_theory("split", (), worlds),
            assumptions=(_GROUPED,),
            conclusion=_SPLIT.format("W"),
        ),
        Goal(
            name="0 splits",
            theory=_theory("zero", (degrees, _FITS, _ZERO), worlds),
            assumptions=("(>= H 1)",),
            conclusion=_SPLIT.format("zero"),
        ),
        Goal(
            name="how many places the middle takes",
            theory=_theory("places", (degrees, _PLACES), worlds),
            conclusion="""(forall ((i Int)) (=> (>= i 1) (= (* 2 (places i))
              (ite (= (mod i 2) 0) (+ i 2) (ite (= (mod i 4) 1) (+ i 1) (+ i 3))))))""",
        ),
    )


def degree_worlds(rules: Rules) -> Iterator[World]:
    """Polynomials with drawn factors, and the grouping by which they split."""
    for linear, quadratic, heads in ((0, 3, (7, 8)), (1, 2, (6, 7)), (4, 0, (5, 7))):
        yield _world(rules, linear, quadratic, heads)


def _world(rules: Rules, linear: int, quadratic: int, heads: tuple[int, ...]) -> World:
    factors = drawn_factors(linear, quadratic, seed=1)
    zero: Polynomial = (Fraction(0),)

    def some(a: int, b: int) -> Polynomial:
        return multiplied(((factors.scale,), *factors.linear[:a], *factors.quadratic[:b]))

    def others(a: int, b: int) -> Polynomial:
        return multiplied((*factors.linear[a:], *factors.quadratic[b:]))

    def trimmed(polynomial: Polynomial) -> Polynomial:
        while len(polynomial) > 1 and not polynomial[-1]:
            polynomial = polynomial[:-1]
        return polynomial

    def degree(place: int, i: int) -> int:
        return rules.degrees(i)[place] if i >= 1 else 0

    parts = [(a, b) for a in range(linear + 1) for b in range(quadratic + 1)]
    return World(
        sorts={
            "Poly": [zero, *(some(*part) for part in parts), *(others(*part) for part in parts)]
        },
        integers=range(9),
        symbols={
            "div": lambda a, b: a // b,
            "mod": lambda a, b: a % b,
            "d1": lambda i: degree(0, i),
            "d2": lambda i: degree(1, i),
            "places": lambda i: Meeting(heads=i, layers=1, rules=rules).width if i >= 1 else 0,
            "n1": linear,
            "n2": quadratic,
            "W": some(linear, quadratic),
            "zero": zero,
            "mul": lambda p, q: trimmed(multiplied((p, q))),
            "fits": lambda p, i: len(trimmed(p)) - 1 <= i or p == zero,
            "some": lambda a, b: some(max(a, 0), max(b, 0)),
            "others": lambda a, b: others(max(a, 0), max(b, 0)),
        },
        free={"H": heads, "a": range(linear + 1), "b": range(quadratic + 1)},
    )
