"""Targets near the stated one, whose weight tensors span, as a theory; and both bounds.

    near (e q)        the target with weights w0 + e e_{q_l}; start has w0 in every layer
    minor (T)         a minor of the Taylor coefficients of T's path vectors, not 0 at start
    relation (x)      x (1 w0^T + eta I): the rows of one layer's weights, combined
    invertible (e)    that matrix is; rank (e) is that of the targets' weight tensors

Source: Fixed Universal Transformers, Section 4 and Theorem 4.1; the proof is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from verify.real_lemmas import RealLemma
from verify.smtlib import Axiom, Goal, Theory, World

_DECLARATIONS = """
(declare-sort Target 0) (declare-sort Choice 0) (declare-sort Row 0)
(declare-const start Target) (declare-fun near (Real Choice) Target)
(declare-fun distance (Target) Real) (declare-fun minor (Target) Real)
(declare-fun independent (Target) Bool)
(declare-const eta Real) (declare-const q Choice)
(declare-const H Int) (declare-const L Int) (declare-const m Int) (declare-const j Int)
(declare-fun count (Int) Int) (declare-fun rank (Real) Int) (declare-fun invertible (Real) Bool)
(declare-fun w (Int) Real) (declare-fun at (Row Int) Real) (declare-fun total (Row) Real)
(declare-const weights Row) (declare-const X Row) (declare-fun relation (Row) Row)
"""
Worlds = Callable[[], Iterable[World]]
_START = Axiom(
    "the stated target",
    "(and (independent start) (not (= (minor start) 0.0)))",
    "lowerbounds.independence.all_sizes; independent sequences have a minor that is not 0",
)
_CONTINUOUS = Axiom(
    "continuity",
    """(=> (not (= (minor start) 0.0)) (and (> eta 0.0) (forall ((T Target)) (!
      (=> (<= (distance T) eta) (not (= (minor T) 0.0))) :pattern ((distance T))))))""",
    "the minor is a polynomial in the weights: where it is not 0 at `start`, eta is so small that "
    "it is not 0 up to the distance eta either",
)
_INDEPENDENT = Axiom(
    "minors",
    """(forall ((T Target)) (! (=> (not (= (minor T) 0.0)) (independent T))
      :pattern ((independent T))))""",
    "path vectors are independent where a minor of their coefficients is not 0",
)
_NEAR = Axiom(
    "distances",
    """(forall ((e Real) (q Choice)) (! (=> (> e 0.0) (= (distance (near e q)) e))
      :pattern ((near e q))))""",
    "w0 + eta e_q is at the distance eta from w0",
)
_ROWS = Axiom(
    "rows",
    """(and (= (total weights) 0.0) (forall ((x Row)) (! (=> (forall ((h Int))
        (=> (and (<= 1 h) (<= h H)) (= (at (relation x) h) 0.0))) (= (total (relation x)) 0.0))
        :pattern ((relation x)))))""",
    "w0 is a difference of order H - 1 >= 1 of a constant, so it adds up to 0; zeros add up to 0",
)
_RELATION = Axiom(
    "relations",
    """(forall ((x Row)) (! (and (= (total (relation x))
        (+ (* (total x) (total weights)) (* eta (total x))))
      (forall ((h Int)) (! (=> (and (<= 1 h) (<= h H)) (= (at (relation x) h)
        (+ (* (total x) (at weights h)) (* eta (at x h))))) :pattern ((at (relation x) h)))))
      :pattern ((relation x))))""",
    "x (1 w0^T + eta I) = (sum x) w0 + eta x, and the sum of its entries",
)
_ZEROS = """(forall ((h Int)) (! (=> (and (<= 1 h) (<= h H)) (= (at {0} h) 0.0))
  :pattern ((at {0} h))))"""
_TRIVIAL = f"(forall ((x Row)) (=> {_ZEROS.format('(relation x)')} {_ZEROS.format('x')}))"
_SQUARE = Axiom(
    "square matrices",
    f"(=> {_TRIVIAL} (invertible eta))",
    "a square matrix whose rows have only the trivial relation is invertible",
)
_ONE_HEAD = Axiom(
    "one head",
    "(and (>= m 1) (=> (= H 1) (= (count L) 1)))",
    "a width is at least 1, and 1^L = 1",
)
_TENSORS = Axiom(
    "tensors",
    """(forall ((e Real)) (! (=> (invertible e) (= (rank e) (count L))) :pattern ((rank e))))""",
    "a Kronecker power of an invertible matrix is invertible: its rank is H^L",
)
LARGER_SQUARE = RealLemma(
    name="a square",
    variables="m",
    premises=("(>= {m} 1.0)",),
    conclusion="(>= (* {m} {m}) {m})",
)
_BOUNDS = (
    Axiom(
        "fixed readout",
        """(forall ((e Real)) (! (=> (and (= (rank e) (count L))
          (forall ((q Choice)) (! (independent (near e q)) :pattern ((near e q)))))
          (>= m (count L))) :pattern ((rank e))))""",
        "lowerbounds.spanning.fixed_readout, for a model of width m that simulates the targets: "
        "their path vectors are independent and their tensors span",
    ),
    Axiom(
        "readout per target",
        """(forall ((e Real)) (! (=> (and (= (rank e) (count L))
          (forall ((q Choice)) (! (independent (near e q)) :pattern ((near e q)))))
          (>= (* m m) (count L))) :pattern ((rank e))))""",
        "lowerbounds.spanning.free_readout, under the same condition",
    ),
)
ONE_FACTOR = RealLemma(
    name="one factor is 0",
    variables="e x",
    premises=("(> {e} 0.0)", "(= (* {e} {x}) 0.0)"),
    conclusion="(= {x} 0.0)",
)
NOTHING = RealLemma(
    name="products with 0",
    variables="x y",
    premises=("(= {y} 0.0)",),
    conclusion="(and (= (* {x} {y}) 0.0) (= (* {y} {x}) 0.0))",
)


def one_head_world() -> World:
    """One head: every tensor is one number."""
    return World(sorts={}, symbols={"H": 1, "L": 3, "m": 1, "count": lambda depth: 1})


def _theory(worlds: Worlds, name: str, *axioms: Axiom) -> Theory:
    return Theory(
        name=f"attention matching: {name}",
        declarations=_DECLARATIONS,
        axioms=axioms,
        worlds=worlds,
    )


def matching_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """Independent targets near the stated one, tensors that span, both bounds."""
    return (*_near_goals(worlds), *_row_goals(worlds), *_bound_goals(worlds))


_ALL = "(forall ((q Choice)) (! (independent (near {0} q)) :pattern ((near {0} q))))"
_BOTH = "(and (>= m (count L)) (>= (* m m) (count L)))"
_SPAN = "(= (rank eta) (count L))"


def _near_goals(worlds: Worlds) -> tuple[Goal, ...]:
    near = """(forall ((q Choice)) (! (not (= (minor (near eta q)) 0.0))
      :pattern ((near eta q))))"""
    return (
        Goal(
            name="the minor is not 0 nearby",
            theory=_theory(worlds, "nearby", _START, _CONTINUOUS, _NEAR),
            conclusion=f"(and (> eta 0.0) {near})",
        ),
        Goal(
            name="independent path vectors nearby",
            theory=_theory(worlds, "minors", _INDEPENDENT),
            assumptions=(near,),
            conclusion=_ALL.format("eta"),
        ),
    )


def _row_goals(worlds: Worlds) -> tuple[Goal, ...]:
    zeros = f"(and (> eta 0.0) {_ZEROS.format('(relation X)')})"
    head = "(and (<= 1 j) (<= j H))"
    sums = """(and (= (total weights) 0.0) (= (total (relation X)) 0.0)
      (= (total (relation X)) (+ (* (total X) (total weights)) (* eta (total X)))))"""
    entry = """(= (at (relation X) j)
      (+ (* (total X) (at weights j)) (* eta (at X j))))"""
    return (
        ONE_FACTOR.goal,
        NOTHING.goal,
        Goal(
            name="sums of a relation between the rows",
            theory=_theory(worlds, "relations", _ROWS, _RELATION),
            assumptions=(zeros,),
            conclusion=sums,
        ),
        Goal(
            name="an entry of a relation",
            theory=_theory(worlds, "relations", _RELATION),
            assumptions=(head,),
            conclusion=entry,
        ),
        Goal(
            name="only the trivial relation",
            theory=_theory(worlds, "arithmetic"),
            assumptions=(
                zeros,
                head,
                sums,
                entry,
                NOTHING.at(x="(total X)", y="(total weights)"),
                ONE_FACTOR.at(e="eta", x="(total X)"),
                NOTHING.at(x="(at weights j)", y="(total X)"),
                ONE_FACTOR.at(e="eta", x="(at X j)"),
            ),
            conclusion="(= (at X j) 0.0)",
        ),
    )


def _bound_goals(worlds: Worlds) -> tuple[Goal, ...]:
    return (
        LARGER_SQUARE.goal,
        Goal(
            name="the matrix of one layer is invertible",
            theory=_theory(worlds, "square matrices", _SQUARE),
            assumptions=(_TRIVIAL,),
            conclusion="(invertible eta)",
        ),
        Goal(
            name="the tensors span",
            theory=_theory(worlds, "tensors", _TENSORS),
            assumptions=("(invertible eta)",),
            conclusion=_SPAN,
        ),
        Goal(
            name="both bounds",
            theory=_theory(worlds, "bounds", *_BOUNDS),
            role="conclusion",
            assumptions=(_ALL.format("eta"), _SPAN),
            conclusion=_BOTH,
        ),
        Goal(
            name="both bounds with one head",
            theory=_theory(lambda: [one_head_world()], "one head", _ONE_HEAD),
            role="conclusion",
            assumptions=("(= H 1)", LARGER_SQUARE.at(m="(to_real m)")),
            conclusion=_BOTH,
        ),
    )
