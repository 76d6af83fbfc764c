"""Orders of power series: D_k has order 2k, phi 2 H - 1, and digits below 2 H - 1 are unique.

Source: Fixed Universal Transformers, Section 4 and Theorem 4.1; the proof is ours.
"""

from __future__ import annotations

from lowerbounds.all_sizes_theory import Worlds, theory_of
from verify.real_lemmas import RealLemma
from verify.smtlib import Axiom, Goal

PRODUCTS = Axiom(
    "orders of products",
    """(forall ((f Fun) (g Fun)) (! (and
      (=> (or (= f zero) (= g zero)) (= (times f g) zero))
      (=> (and (not (= f zero)) (not (= g zero))) (and (not (= (times f g) zero))
        (= (order (times f g)) (+ (order f) (order g)))))) :pattern ((times f g))))""",
    "orders add",
)
SUMS = Axiom(
    "orders of sums",
    """(forall ((f Fun) (g Fun)) (! (and (=> (= f zero) (= (plus f g) g))
      (=> (= g zero) (= (plus f g) f))
      (=> (and (not (= f zero)) (not (= g zero)) (not (= (order f) (order g))))
        (and (not (= (plus f g) zero)) (= (order (plus f g))
          (ite (< (order f) (order g)) (order f) (order g)))))) :pattern ((plus f g))))""",
    "a sum of different orders has the lesser one",
)
INSERTIONS = Axiom(
    "orders of insertions",
    """(forall ((f Fun) (g Fun)) (! (=> (and (not (= g zero)) (>= (order g) 1)) (and
      (=> (= f zero) (= (insert f g) zero)) (=> (not (= f zero)) (and
        (not (= (insert f g) zero)) (= (order (insert f g)) (* (order g) (order f)))))))
      :pattern ((insert f g))))""",
    "f(g(t)): the order of g times that of f",
)
SERIES = Axiom(
    "series",
    """(and (not (= t zero)) (= (order t) 1) (not (= square zero)) (= (order square) 2)
      (= phi (times t (insert (ser (- H 1) 1) square)))
      (forall ((k Int)) (! (= (D k) (insert (ser k 0) square)) :pattern ((D k)))))""",
    "t and t^2; phi(t) = t (D^(H-1) f)(1) and D_k = (D^k f)(0), both at x = t^2",
)
_KNOWN = Axiom(
    "differences have every order",
    """(forall ((k Int) (j Int)) (! (=> (and (<= 0 k) (<= 0 j) (<= j 1)) (and
      (not (= (ser k j) zero)) (= (order (ser k j)) k))) :pattern ((ser k j))))""",
    "lowerbounds.two_types.differences",
)
HALVES = Axiom(
    "halves and digits",
    """(and (= (half 0) 0) (forall ((x Int)) (! (and (= (half (* 2 x)) x) (<= 0 (digit x))
      (< (digit x) b) (= x (+ (digit x) (* b (rest x))))) :pattern ((digit x)))))""",
    "halves of even numbers; division by b = 2 H - 1 with remainder",
)
PHI_ORDER = "(and (not (= phi zero)) (= (order phi) b))"
DIFFERENCE_ORDER = "(and (not (= (D k) zero)) (= (order (D k)) (* 2 k)))"
HEAD = "(and (<= 1 k) (<= k H))"
NEXT_BLOCK = RealLemma(
    name="a later block",
    variables="b m q",
    premises=("(>= {b} 0.0)", "(>= {m} (+ {q} 1.0))"),
    conclusion="(>= (* {b} {m}) (+ (* {b} {q}) {b}))",
)
TWICE = RealLemma(
    name="twice a multiple",
    variables="b m",
    premises=("true",),
    conclusion="(= (* {b} (* 2.0 {m})) (* 2.0 (* {b} {m})))",
)


def order_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """D_k has order 2k and phi order 2H - 1; digits below b are unique."""
    series = theory_of(worlds, "series", SERIES, _KNOWN, PRODUCTS, INSERTIONS)
    real = {"b": "(to_real b)"}
    blocks = (
        NEXT_BLOCK.at(m="(to_real l)", q="(to_real (rest (+ k (* b l))))", **real),
        NEXT_BLOCK.at(q="(to_real l)", m="(to_real (rest (+ k (* b l))))", **real),
    )
    return (
        NEXT_BLOCK.goal,
        TWICE.goal,
        Goal(
            name="the order of a difference",
            theory=series,
            assumptions=("(<= 0 k)",),
            conclusion=DIFFERENCE_ORDER,
        ),
        Goal(name="the order of the next stream", theory=series, conclusion=PHI_ORDER),
        Goal(
            name="digits are unique",
            theory=theory_of(worlds, "digits", HALVES),
            assumptions=(HEAD, *blocks),
            conclusion="(= (digit (+ k (* b l))) k)",
        ),
    )
