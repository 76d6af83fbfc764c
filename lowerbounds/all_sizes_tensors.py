"""Combinations of path vectors have an order: terms differ in a digit; induction over layers.

Source: Fixed Universal Transformers, Section 4 and Theorem 4.1; the proof is ours.
"""

from __future__ import annotations

from lowerbounds.all_sizes_orders import (
    DIFFERENCE_ORDER,
    HALVES,
    HEAD,
    INSERTIONS,
    PHI_ORDER,
    PRODUCTS,
    SERIES,
    SUMS,
    TWICE,
)
from lowerbounds.all_sizes_theory import Worlds, theory_of
from verify.real_lemmas import RealLemma
from verify.smtlib import Axiom, Goal

_PARTS = Axiom(
    "parts",
    """(forall ((A Tensor)) (! (=> (and (>= (layers A) 1) (not (null A)))
      (exists ((k Int)) (and (<= 1 k) (<= k H) (not (null (part A k)))
        (forall ((h Int)) (! (=> (and (< k h) (<= h H)) (null (part A h)))
          :pattern ((part A h))))))) :pattern ((null A))))""",
    "coefficients that are not all 0 have a last head at which they are not",
)
_CHILDREN = Axiom(
    "children",
    """(forall ((A Tensor) (k Int)) (! (=> (and (>= (layers A) 1) (<= 1 k) (<= k H)) (and
      (= (layers (child A k)) (- (layers A) 1)) (=> (forall ((h Int)) (! (=> (and (< k h) (<= h H))
        (null (part A h))) :pattern ((part A h)))) (= (child A k) (part A k)))))
      :pattern ((child A k))))""",
    "child k is sum_h C(h, k) part h: C(h, k) is 0 for h < k and 1 for h = k",
)
_CONSTANTS = Axiom(
    "constants",
    """(forall ((A Tensor)) (! (and (=> (null A) (= (psi A) zero)) (=> (and (= (layers A) 0)
      (not (null A))) (and (not (= (psi A) zero)) (= (order (psi A)) 0)))) :pattern ((psi A))))""",
    "without layers psi is the constant A; coefficients 0 give 0",
)
_PARTIAL = Axiom(
    "partial sums",
    """(and (forall ((A Tensor)) (! (=> (>= (layers A) 1) (= (partial A 0) zero))
        :pattern ((partial A 0))))
      (forall ((A Tensor) (k Int)) (! (=> (and (>= (layers A) 1) (<= 0 k) (< k H))
        (= (partial A (+ k 1)) (plus (partial A k)
          (times (D (+ k 1)) (insert (psi (child A (+ k 1))) phi)))))
        :pattern ((partial A (+ k 1))))))""",
    "the sum of D_i times psi of child i at phi, for i = 1 .. k",
)
_PSI = Axiom(
    "first layer",
    """(forall ((A Tensor)) (! (=> (>= (layers A) 1) (= (psi A) (partial A H)))
      :pattern ((psi A))))""",
    "the sum over the first head, exchanged as shown for one input; psi is linear in A, so that "
    "columns are those of the children; the later layers start at phi",
)
_TERM = "(times (D k) (insert (psi (child A k)) phi))"
_CHILD = "(child A k)"


def _good(tensor: str) -> str:
    return f"(=> (not (null {tensor})) (proper (psi {tensor})))"


def _term_state(term: str, child: str, head: str) -> str:
    return f"""(and (=> (null {child}) (= {term} zero)) (=> (not (null {child}))
      (and (proper {term}) (= (digit (half (order {term}))) {head}))))"""


def _state(total: str, count: str) -> str:
    """Either no child counts so far, or the digit is one of the heads so far."""
    return f"""(or (and (= {total} zero) (forall ((i Int)) (! (=> (and (<= 1 i) (<= i {count}))
        (null (child A i))) :pattern ((child A i)))))
      (and (proper {total}) (<= 1 (digit (half (order {total}))))
        (<= (digit (half (order {total}))) {count})))"""


def tensor_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """Terms have different digits, so sums have an order; by induction over heads and layers."""
    return (
        *_term_goals(worlds),
        *_sum_goals(worlds),
        *_depth_goals(worlds),
    )


PRODUCT = RealLemma(
    name="a product of numbers not below 0",
    variables="b m",
    premises=("(>= {b} 0.0)", "(>= {m} 0.0)"),
    conclusion="(>= (* {b} {m}) 0.0)",
)


def _term_goals(worlds: Worlds) -> tuple[Goal, ...]:
    inner = "(half (order (psi (child A k))))"
    value = f"(+ k (* b {inner}))"
    orders = theory_of(worlds, "terms", PRODUCTS, INSERTIONS)
    twice = TWICE.at(b="(to_real b)", m=f"(to_real {inner})")
    raw = f"""(and (=> (= (psi {_CHILD}) zero) (= {_TERM} zero)) (=> (proper (psi {_CHILD}))
      (and (not (= {_TERM} zero)) (= (order {_TERM}) (+ (* 2 k) (* b (order (psi {_CHILD}))))))))"""
    even = f"""(=> (not (null {_CHILD})) (and (not (= {_TERM} zero)) (>= {value} 0)
      (= (order {_TERM}) (* 2 {value}))))"""
    empty = f"(=> (null {_CHILD}) (= (psi {_CHILD}) zero))"
    return (
        PRODUCT.goal,
        Goal(
            name="the order of a term",
            theory=orders,
            assumptions=(HEAD, DIFFERENCE_ORDER, PHI_ORDER),
            conclusion=raw,
        ),
        Goal(
            name="no coefficients",
            theory=theory_of(worlds, "constants", _CONSTANTS),
            assumptions=(HEAD, "(>= (layers A) 1)"),
            conclusion=empty,
        ),
        Goal(
            name="a term's order is even",
            theory=theory_of(worlds, "arithmetic"),
            assumptions=(
                HEAD,
                raw,
                _good(_CHILD),
                twice,
                PRODUCT.at(b="(to_real b)", m=f"(to_real {inner})"),
            ),
            conclusion=even,
        ),
        Goal(
            name="a term's digit is its head",
            theory=theory_of(worlds, "digits", HALVES),
            assumptions=(HEAD, raw, empty, even, f"(= (digit {value}) k)"),
            conclusion=_term_state(_TERM, _CHILD, "k"),
        ),
    )


def _sum_goals(worlds: Worlds) -> tuple[Goal, ...]:
    following = "(+ k 1)"
    term = _TERM.replace("(D k)", "(D (+ k 1))").replace(_CHILD, "(child A (+ k 1))")
    start = "(and (<= 0 k) (< k H) (>= (layers A) 1))"
    return (
        Goal(
            name="partial sums: base",
            theory=theory_of(worlds, "partial sums", _PARTIAL),
            role="base",
            assumptions=(start,),
            conclusion=_state("(partial A 0)", "0"),
        ),
        Goal(
            name="one more term",
            theory=theory_of(worlds, "partial sums", _PARTIAL),
            assumptions=(start,),
            conclusion=f"(= (partial A (+ k 1)) (plus (partial A k) {term}))",
        ),
        Goal(
            name="a sum of different digits",
            theory=theory_of(worlds, "sums", SUMS),
            assumptions=(
                "(<= 0 k)",
                _state("P", "k"),
                _term_state("T", f"(child A {following})", following),
            ),
            conclusion=_state("(plus P T)", following),
        ),
        Goal(
            name="partial sums: step",
            theory=theory_of(worlds, "arithmetic"),
            role="step",
            assumptions=(
                start,
                f"(= (partial A (+ k 1)) (plus (partial A k) {term}))",
                _state(f"(plus (partial A k) {term})", following),
            ),
            conclusion=_state(f"(partial A {following})", following),
        ),
    )


_VANISHING = Axiom(
    "vanishing",
    """(forall ((A Tensor)) (! (=> (vanishes A) (= (times t (psi A)) zero))
      :pattern ((vanishes A))))""",
    "if sum_p A[p] A_p X = 0 for all X = s (1, 1, 0), so is its type difference s psi(A)(s), "
    "near s = 0",
)


def _depth_goals(worlds: Worlds) -> tuple[Goal, ...]:
    deeper = "(and (>= (layers A) 1) (not (null A)))"
    some = "(exists ((k Int)) (and (<= 1 k) (<= k H) (not (null (child A k)))))"
    return (
        Goal(
            name="independence: base",
            theory=theory_of(worlds, "constants, halves", _CONSTANTS, HALVES),
            role="base",
            assumptions=("(= (layers A) 0)",),
            conclusion=_good("A"),
        ),
        Goal(
            name="the hypothesis for a child",
            theory=theory_of(worlds, "children", _CHILDREN),
            assumptions=(
                "(and (<= 0 l) (= (layers A) (+ l 1)) (<= 1 k) (<= k H))",
                f"(forall ((B Tensor)) (! (=> (= (layers B) l) {_good('B')}) :pattern ((psi B))))",
            ),
            conclusion=f"(and (= (layers {_CHILD}) l) {_good(_CHILD)})",
        ),
        Goal(
            name="some child counts",
            theory=theory_of(worlds, "tensors", _PARTS, _CHILDREN),
            assumptions=(deeper,),
            conclusion=some,
        ),
        Goal(
            name="independence: step",
            theory=theory_of(worlds, "first layer", _PSI),
            role="step",
            assumptions=(deeper, some, _state("(partial A H)", "H")),
            conclusion=_good("A"),
        ),
        Goal(
            name="path vectors are independent",
            theory=theory_of(worlds, "vanishing", _VANISHING, SERIES, PRODUCTS),
            role="conclusion",
            assumptions=(_good("A"), "(vanishes A)"),
            conclusion="(null A)",
        ),
    )
