"""A polynomial that vanishes on all tensors, if 2 m - 1 < N = L(H-1) + 1: goals.

    value (p x)       the polynomial p at the vector x, over the N paths near the first one
    chart (i z)       the responses of (E, U) with E_i = 1 and the other 2 m - 1 coordinates z
    relation (i)      a polynomial relation between the coordinates of chart i
    product (n)       the first coordinate times the first n relations
    near (w)          the weights w lie in a box in which path vectors are independent
    scaled (w i)      the coordinates of (E, U) of the target w after scaling E_i to 1

Source: Fixed Universal Transformers, Section 4; the argument is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lowerbounds.attention_matching_theory import NOTHING
from lowerbounds.dimension_models import RULES, Rules
from lowerbounds.dimension_worlds import serving_worlds, vanishing_worlds
from verify.smtlib import Axiom, Goal, Theory, World, induction

Worlds = Callable[[Rules], Iterable[World]]
_DECLARATIONS = """
(declare-sort Vec 0) (declare-sort Poly 0) (declare-sort Weights 0) (declare-sort Point 0)
(declare-const m Int) (declare-const N Int)
(declare-fun value (Poly Vec) Real) (declare-fun nonzero (Poly) Bool)
(declare-fun times (Poly Poly) Poly) (declare-const first Poly)
(declare-fun relation (Int) Poly) (declare-fun product (Int) Poly)
(declare-fun chart (Int Point) Vec) (declare-fun scaled (Weights Int) Point)
(declare-fun near (Weights) Bool) (declare-fun coordinate (Weights Int) Real)
(declare-fun tensor (Weights) Vec) (declare-fun response (Weights) Vec)
(declare-fun chosen (Vec) Weights)
(declare-const n Int) (declare-const i Int) (declare-const w Weights) (declare-const x Vec)
"""
_PRODUCT = Axiom(
    "products",
    """(and (= (product 0) first) (forall ((j Int)) (! (=> (and (<= 0 j) (< j m))
      (= (product (+ j 1)) (times (product j) (relation (+ j 1))))) :pattern ((product j)))))""",
    "the first coordinate times the relations, one after the other",
)
_VALUES = Axiom(
    "values",
    """(forall ((p Poly) (q Poly) (x Vec)) (! (= (value (times p q) x) (* (value p x) (value q x)))
      :pattern ((value (times p q) x))))""",
    "polynomials are multiplied by their values",
)
_DOMAIN = Axiom(
    "no zero divisors",
    """(and (nonzero first) (forall ((p Poly) (q Poly)) (! (=> (and (nonzero p) (nonzero q))
      (nonzero (times p q))) :pattern ((times p q)))))""",
    "a product of polynomials other than 0 is not 0, and a coordinate is not",
)
_CONDITION = Axiom(
    "condition",
    "(forall ((w Weights)) (! (=> (near w) (= (response w) (tensor w))) :pattern ((near w))))",
    "the condition: path vectors are independent at these targets, so responses are the tensor",
)
_CHARTS = Axiom(
    "charts",
    """(forall ((w Weights) (j Int)) (! (=> (and (<= 1 j) (<= j m)
        (distinct (coordinate w j) 0.0)) (= (response w) (chart j (scaled w j))))
      :pattern ((coordinate w j)) :pattern ((scaled w j))))""",
    "a coordinate E_i that is not 0 may be taken to be 1",
)
_ZERO = Axiom(
    "embedding 0",
    """(forall ((w Weights)) (! (=> (forall ((j Int)) (=> (and (<= 1 j) (<= j m))
      (= (coordinate w j) 0.0))) (= (value first (response w)) 0.0)) :pattern ((response w))))""",
    "the embedding 0 responds with 0",
)
_BOX = Axiom(
    "boxes",
    """(forall ((p Poly)) (! (=> (forall ((w Weights)) (=> (near w) (= (value p (tensor w)) 0.0)))
      (forall ((w Weights)) (= (value p (tensor w)) 0.0))) :pattern ((nonzero p))))""",
    "p of the tensor is a polynomial in the weights; if it vanishes on a box it is 0",
)
_OCCURS = Axiom(
    "tensors",
    """(forall ((x Vec)) (! (=> (distinct (value first x) 0.0) (= (tensor (chosen x)) x))
      :pattern ((value first x))))""",
    "every vector with a first coordinate other than 0 is a target's",
)
_SOMEWHERE = Axiom(
    "somewhere",
    """(forall ((p Poly)) (! (=> (nonzero p) (exists ((x Vec)) (distinct (value p x) 0.0)))
      :pattern ((nonzero p))))""",
    "a polynomial other than 0 is not 0 somewhere",
)


def _dependence(narrow: str) -> Axiom:
    return Axiom(
        "dependence",
        f"""(=> {narrow} (forall ((j Int)) (! (=> (and (<= 1 j) (<= j m))
          (and (nonzero (relation j)) (forall ((z Point)) (!
            (= (value (relation j) (chart j z)) 0.0) :pattern ((chart j z))))))
          :pattern ((relation j)))))""",
        "N polynomials in fewer variables are dependent: each chart's coordinates have a relation",
    )


def vanishing_goals(rules: Rules = RULES) -> tuple[Goal, ...]:
    """The product of all relations is not 0, it vanishes on all vectors: 2 m - 1 >= N."""
    narrow = f"(< (- (* 2 m) {rules.fixed}) N)"

    def theory(name: str, *axioms: Axiom, worlds: Worlds = vanishing_worlds) -> Theory:
        return Theory(
            name=f"dimension: {name}",
            declarations=_DECLARATIONS,
            axioms=axioms,
            worlds=lambda: worlds(rules),
        )

    return (
        *_relation_goals(theory, narrow),
        *_chart_goals(theory, narrow),
        *_everywhere_goals(theory, narrow),
    )


Named = Callable[..., Theory]
_ROOT = "(or (= (value first x) 0.0) (and (<= 1 i) (<= i {0}) (= (value (relation i) x) 0.0)))"
_STEP = ("(<= 0 n)", "(< n m)")
_ALL_ROOTS = """(forall ((x Vec) (i Int)) (! (=> (and (<= 0 m) (or (= (value first x) 0.0)
    (and (<= 1 i) (<= i m) (= (value (relation i) x) 0.0)))) (= (value (product m) x) 0.0))
  :pattern ((value (relation i) x))))"""
_ON_BOX = "(forall ((w Weights)) (=> (near w) (= (value (product m) (tensor w)) 0.0)))"
_ON_TENSORS = (
    "(forall ((w Weights)) (! (= (value (product m) (tensor w)) 0.0) :pattern ((tensor w))))"
)
_ON_ALL = "(forall ((x Vec)) (! (= (value (product m) x) 0.0) :pattern ((value (product m) x))))"


def _relation_goals(theory: Named, narrow: str) -> tuple[Goal, ...]:
    """The product is not the zero polynomial, and vanishes where one of its factors does."""
    vanishes = f"(=> {_ROOT} (= (value (product {{0}}) x) 0.0))"
    factors = "(value (product n) x)", "(value (relation (+ n 1)) x)"
    return (
        NOTHING.goal,
        *induction(
            name="the product of relations is not 0",
            theory=theory("relations", _PRODUCT, _DOMAIN, _dependence(narrow)),
            invariant="(nonzero (product {0}))".format,
            base="0",
            step=("n", "(+ n 1)"),
            base_assumptions=(narrow,),
            step_assumptions=(narrow, *_STEP),
        ),
        *induction(
            name="it vanishes where a factor does",
            theory=theory("values", _PRODUCT, _VALUES),
            invariant=vanishes.format,
            base="0",
            step=("n", "(+ n 1)"),
            step_assumptions=(
                *_STEP,
                NOTHING.at(x=factors[0], y=factors[1]),
                NOTHING.at(x=factors[1], y=factors[0]),
            ),
        ),
    )


def _chart_goals(theory: Named, narrow: str) -> tuple[Goal, ...]:
    """On the box the tensor lies in a chart, or its first coordinate is 0."""
    in_chart = """(forall ((j Int)) (! (=> (and (<= 1 j) (<= j m) (distinct (coordinate w j) 0.0))
      (= (value (relation j) (tensor w)) 0.0)) :pattern ((value (relation j) (tensor w)))))"""
    at_zero = """(=> (forall ((j Int)) (=> (and (<= 1 j) (<= j m)) (= (coordinate w j) 0.0)))
      (= (value first (tensor w)) 0.0))"""
    return (
        Goal(
            name="a relation vanishes on the tensor",
            theory=theory("charts", _CONDITION, _CHARTS, _dependence(narrow)),
            assumptions=(narrow, "(near w)"),
            conclusion=in_chart,
        ),
        Goal(
            name="or its first coordinate is 0",
            theory=theory("embedding 0", _CONDITION, _ZERO),
            assumptions=("(near w)",),
            conclusion=at_zero,
        ),
        Goal(
            name="the product vanishes on the tensor",
            theory=theory("sizes", _SIZES),
            assumptions=(in_chart, at_zero, _ALL_ROOTS),
            conclusion="(= (value (product m) (tensor w)) 0.0)",
        ),
    )


_SIZES = Axiom("sizes", "(>= m 1)", "m is at least 1")


def _everywhere_goals(theory: Named, narrow: str) -> tuple[Goal, ...]:
    """From the box to all weights, from there to all vectors, and the conclusion."""
    return (
        Goal(
            name="it vanishes on all tensors",
            theory=theory("boxes", _BOX, worlds=serving_worlds),
            assumptions=(_ON_BOX,),
            conclusion=_ON_TENSORS,
        ),
        Goal(
            name="it vanishes on all vectors",
            theory=theory("vectors", _OCCURS, _SIZES, worlds=serving_worlds),
            assumptions=(_ON_TENSORS, _ALL_ROOTS),
            conclusion=_ON_ALL,
        ),
        Goal(
            name="so it is 0",
            theory=theory("somewhere", _SOMEWHERE, worlds=serving_worlds),
            assumptions=(_ON_ALL,),
            conclusion="(not (nonzero (product m)))",
        ),
        Goal(
            name="2 m - 1 >= L(H - 1) + 1",
            theory=theory("bound", worlds=serving_worlds),
            role="conclusion",
            assumptions=(
                f"(=> {narrow} (nonzero (product m)))",
                f"(=> {narrow} {_ON_BOX})",
                f"(=> {_ON_BOX} {_ON_TENSORS})",
                f"(=> {_ON_TENSORS} {_ON_ALL})",
                f"(=> {_ON_ALL} (not (nonzero (product m))))",
            ),
            conclusion=f"(not {narrow})",
        ),
    )
