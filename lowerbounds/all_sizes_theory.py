"""Path vectors on two types of tokens are independent: streams, orders, induction over the layers.

    y1, y2 (l)        the stream that enters layer l + 1, at the two types
    dif (k F j)       the k-th difference of a head-indexed family; the weights make sums of it
    order (F)         of a power series in t that is not `zero`
    D (k)             the k-th difference of f(h t^2) at h = 0; phi(t) what the next stream is
    psi (A)           sum_p A[p] prod_l (f(p_l y_l^2) - f(0)) along y_{l+1} = phi(y_l), y_1 = t
    child (A k)       sum_h C(h, k) A[h ..]; part (A h) is A[h ..]
    half, digit       order = 2 half, half = digit + b rest with 0 <= digit < b = 2 H - 1

Source: Fixed Universal Transformers, Section 4 and Theorem 4.1; the proof is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from verify.smtlib import Axiom, Theory, World

_DECLARATIONS = """
(declare-sort Family 0) (declare-sort Fun 0) (declare-sort Tensor 0)
(declare-const H Int) (declare-const L Int) (declare-const k Int) (declare-const l Int)
(declare-const j Int) (declare-const F Family)
(declare-fun y1 (Int) Real) (declare-fun y2 (Int) Real) (declare-fun weight (Int Real) Real)
(declare-fun at (Family Int) Real) (declare-fun dif (Int Family Int) Real)
(declare-fun uppers (Int) Family) (declare-fun lowers (Int) Family)
(declare-fun shape (Int) Family)
(declare-const zero Fun) (declare-const t Fun) (declare-const square Fun) (declare-const phi Fun)
(declare-fun order (Fun) Int) (declare-fun plus (Fun Fun) Fun) (declare-fun times (Fun Fun) Fun)
(declare-fun insert (Fun Fun) Fun) (declare-fun ser (Int Int) Fun) (declare-fun D (Int) Fun)
(declare-fun half (Int) Int) (declare-fun digit (Int) Int) (declare-fun rest (Int) Int)
(declare-const P Fun) (declare-const T Fun) (declare-const A Tensor)
(declare-fun layers (Tensor) Int) (declare-fun null (Tensor) Bool)
(declare-fun part (Tensor Int) Tensor) (declare-fun child (Tensor Int) Tensor)
(declare-fun psi (Tensor) Fun) (declare-fun partial (Tensor Int) Fun)
(declare-fun vanishes (Tensor) Bool)
(define-fun b () Int (- (* 2 H) 1))
(define-fun proper ((f Fun)) Bool (and (not (= f zero)) (= (order f) (* 2 (half (order f))))
  (>= (half (order f)) 0)))
"""

Worlds = Callable[[], Iterable[World]]
SIZES = Axiom("sizes", "(and (>= H 2) (>= L 0))", "two heads or more")


def theory_of(worlds: Worlds, name: str, *axioms: Axiom) -> Theory:
    """A part of the theory, with some of its axioms."""
    return Theory(
        name=f"all sizes: {name}",
        declarations=_DECLARATIONS,
        axioms=(SIZES, *axioms),
        worlds=worlds,
    )
