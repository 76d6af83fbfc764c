"""Almost every draw is universal, for every size: a polynomial that is not the zero polynomial.

The polynomial is the determinant of rows of P_0, times the determinants of the local blocks if the
blocks are gated. That it is a polynomial in the parameters follows the probe recursion downwards;
at the parameters of a sparse construction each determinant is that of an identity matrix.

Source: Fixed Universal Transformers, Section 3.2, Theorem E.3 and Appendix E.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from verify.smtlib import Axiom, Goal, Theory, World, induction

_DECLARATIONS = """
(declare-sort Fn 0) (declare-sort Point 0) (declare-sort Mat 0)
(declare-const L Int) (declare-const m Int) (declare-const blocks Int)
(declare-const k Int) (declare-const n Int) (declare-const theta Point) (declare-const point Point)
(declare-const b0 Int) (declare-const i0 Int) (declare-const c0 Int) (declare-const h0 Int)
(declare-fun at (Fn Point) Real) (declare-fun polynomial (Fn) Bool)
(declare-fun plus (Fn Fn) Fn) (declare-fun times (Fn Fn) Fn) (declare-const zero Fn)
(declare-fun P (Int Int Int) Fn) (declare-fun Q (Int Int Int) Fn)
(declare-fun made (Int Int Int) Fn) (declare-fun parameter (Int Int Int) Fn)
(declare-fun RV (Int Int Int Int) Fn) (declare-fun RD (Int Int Int) Fn)
(declare-fun moves (Int Int) Bool) (declare-fun carries (Int Int) Bool)
(declare-fun reads (Int Int) Bool)
(declare-fun head (Int Int) Int) (declare-fun column (Int Int) Int)
(declare-fun partial (Int Int Int Int Int) Fn)
(declare-fun local (Int Int Int) Fn) (declare-fun localPartial (Int Int Int Int) Fn)
(declare-fun above (Int) Int)
(declare-fun row (Int) Int) (declare-fun size (Int) Int)
(declare-fun minor (Int) Fn) (declare-fun product (Int) Fn)
(declare-fun null (Fn) Bool)
(declare-fun values (Int Point) Mat) (declare-fun inverse (Mat) Mat)
(declare-fun unit (Int) Mat) (declare-const selector Mat)
(declare-fun mul (Mat Mat) Mat)
(declare-fun probes (Point) Mat) (declare-fun rows (Mat) Mat) (declare-const C Mat)
(define-fun layer ((l Int)) Bool (and (<= 1 l) (<= l L)))
(define-fun stage ((l Int)) Bool (and (<= 0 l) (<= l L)))
"""


ENTRY_OF_IDENTITY = "(ite (= i c) 1.0 0.0)"
"""What the witness has where column c of P_0 selects row i; a mutant changes it."""

_POLYNOMIALS = (
    Axiom(
        "closed",
        """(forall ((f Fn) (g Fn)) (! (=> (and (polynomial f) (polynomial g))
          (and (polynomial (plus f g)) (polynomial (times f g))))
          :pattern ((plus f g)) :pattern ((times f g))))""",
        "sums and products of polynomials are polynomials",
    ),
    Axiom("zero", "(polynomial zero)", "0 is a polynomial"),
    Axiom(
        "products at a point",
        """(forall ((f Fn) (g Fn) (x Point)) (! (= (at (times f g) x) (* (at f x) (at g x)))
          :pattern ((at (times f g) x))))""",
        "a product's value is the product of values",
    ),
)

_RECURSION = (
    Axiom("sizes", "(and (>= L 1) (>= m 1) (>= blocks 0))", "there is a layer and a coordinate"),
    Axiom(
        "parameters",
        """(and (forall ((l Int) (i Int) (c Int)) (! (polynomial (parameter l i c))
            :pattern ((parameter l i c))))
          (forall ((l Int) (h Int) (i Int) (j Int)) (! (polynomial (RV l h i j))
            :pattern ((RV l h i j))))
          (forall ((b Int) (i Int) (j Int)) (! (polynomial (RD b i j)) :pattern ((RD b i j)))))""",
        "an entry of a fixed parameter is a coordinate of the parameter space",
    ),
    Axiom(
        "readout",
        "(forall ((i Int) (c Int)) (! (= (P L i c) (parameter L i c)) :pattern ((P L i c))))",
        "P_L = U",
    ),
    Axiom(
        "P",
        """(forall ((l Int) (i Int) (c Int)) (! (=> (layer l) (and
          (= (P (- l 1) i c) (made l i c))
          (= (made l i c) (ite (moves l c) (partial l (head l c) i (column l c) m)
            (ite (carries l c) (Q l i (column l c)) (parameter (- l 1) i c))))))
          :pattern ((made l i c))))""",
        "a column of P_{l-1} is R_V^{l,h} times one of Q_l, one of Q_l, or one that reads",
    ),
    Axiom(
        "Q",
        """(forall ((l Int) (i Int) (c Int)) (! (=> (layer l) (= (Q l i c)
          (ite (reads l c) (parameter (+ L l) i c) (P l i c)))) :pattern ((Q l i c))))""",
        "a column of Q_l is one of R_g or R_u, or one of P_l",
    ),
    Axiom(
        "products of matrices",
        """(forall ((l Int) (h Int) (i Int) (c Int) (t Int)) (! (=> (and (layer l) (>= t 1))
          (= (partial l h i c t)
            (plus (partial l h i c (- t 1)) (times (RV l h i t) (Q l t c)))))
          :pattern ((partial l h i c t))))""",
        "an entry of R_V^{l,h} Q_l is summed over the coordinates one by one",
    ),
    Axiom(
        "empty sums",
        """(and (forall ((l Int) (h Int) (i Int) (c Int)) (! (= (partial l h i c 0) zero)
            :pattern ((partial l h i c 0))))
          (forall ((b Int) (i Int) (c Int)) (! (= (localPartial b i c 0) zero)
            :pattern ((localPartial b i c 0)))))""",
        "from 0 on",
    ),
    Axiom(
        "local blocks",
        """(forall ((b Int) (i Int) (c Int)) (! (=> (and (<= 1 b) (<= b blocks))
          (and (stage (above b)) (= (local b i c) (localPartial b i c m))))
          :pattern ((local b i c))))""",
        "local block b is rows of R_d times the P_l above it",
    ),
    Axiom(
        "local products",
        """(forall ((b Int) (i Int) (c Int) (t Int)) (! (=> (and (<= 1 b) (<= b blocks) (>= t 1))
          (= (localPartial b i c t)
            (plus (localPartial b i c (- t 1)) (times (RD b i t) (P (above b) t c)))))
          :pattern ((localPartial b i c t))))""",
        "an entry of it is summed over the coordinates one by one",
    ),
)


def polynomial_theory(worlds: Callable[[], Iterable[World]]) -> Theory:
    """The probe recursion, entry by entry, over functions of the parameters."""
    return Theory(
        name="probe entries",
        declarations=_DECLARATIONS,
        axioms=(*_POLYNOMIALS, *_RECURSION),
        worlds=worlds,
    )


def determinant_theory(entry: str, worlds: Callable[[], Iterable[World]]) -> Theory:
    """Minor 0 is that of P_0, minor b that of local block b; their product, and its zeros."""
    return Theory(
        name="determinants",
        declarations=_DECLARATIONS,
        axioms=(
            *_POLYNOMIALS,
            Axiom("blocks", "(>= blocks 0)", "there may be no local block"),
            Axiom(
                "determinants",
                """(and
                  (=> (forall ((i Int) (c Int)) (polynomial (P 0 i c))) (polynomial (minor 0)))
                  (forall ((b Int)) (! (=> (and (<= 1 b) (<= b blocks)
                    (forall ((i Int) (c Int)) (polynomial (local b i c))))
                    (polynomial (minor b))) :pattern ((minor b)))))""",
                "a determinant is a polynomial in its entries",
            ),
            Axiom(
                "witness",
                f"""(and
                  (forall ((i Int) (c Int)) (! (=> (and (<= 1 i) (<= i (size 0)) (<= 1 c)
                    (<= c (size 0))) (= (at (P 0 (row i) c) theta) {entry}))
                    :pattern ((at (P 0 (row i) c) theta))))
                  (forall ((b Int) (i Int) (c Int)) (! (=> (and (<= 1 b) (<= b blocks) (<= 1 i)
                    (<= i (size b)) (<= 1 c) (<= c (size b)))
                    (= (at (local b i c) theta) (ite (= i c) 1.0 0.0)))
                    :pattern ((at (local b i c) theta)))))""",
                "at the sparse parameters rows of P_0 are the identity, and every local block is",
            ),
            Axiom(
                "determinant of the identity",
                """(and
                  (=> (forall ((i Int) (c Int)) (=> (and (<= 1 i) (<= i (size 0)) (<= 1 c)
                    (<= c (size 0))) (= (at (P 0 (row i) c) theta) (ite (= i c) 1.0 0.0))))
                    (= (at (minor 0) theta) 1.0))
                  (forall ((b Int)) (! (=> (and (<= 1 b) (<= b blocks)
                    (forall ((i Int) (c Int)) (=> (and (<= 1 i) (<= i (size b)) (<= 1 c)
                      (<= c (size b))) (= (at (local b i c) theta) (ite (= i c) 1.0 0.0)))))
                    (= (at (minor b) theta) 1.0)) :pattern ((at (minor b) theta)))))""",
                "the determinant of the identity is 1",
            ),
            Axiom(
                "product",
                """(and (= (product 0) (minor 0)) (forall ((b Int)) (! (=> (and (<= 0 b)
                  (< b blocks)) (= (product (+ b 1)) (times (product b) (minor (+ b 1)))))
                  :pattern ((product (+ b 1))))))""",
                "all minors multiplied one by one",
            ),
            Axiom(
                "zero sets",
                """(forall ((f Fn)) (! (=> (and (polynomial f)
                  (exists ((x Point)) (not (= (at f x) 0.0)))) (null f)) :pattern ((null f))))""",
                "a polynomial that is not 0 somewhere vanishes on a null set only",
            ),
        ),
        worlds=worlds,
    )


def inversion_theory(worlds: Callable[[], Iterable[World]]) -> Theory:
    """Off the zeros of a minor its matrix has an inverse; rows of P_0 that have one solve it."""
    return Theory(
        name="inversion",
        declarations=_DECLARATIONS,
        axioms=(
            Axiom(
                "associative",
                """(forall ((a Mat) (b Mat) (c Mat)) (! (= (mul (mul a b) c) (mul a (mul b c)))
                  :pattern ((mul (mul a b) c))))""",
                "matrix products are associative",
            ),
            Axiom(
                "inverse",
                """(forall ((b Int) (x Point)) (! (=> (and (<= 0 b) (<= b blocks)
                  (not (= (at (minor b) x) 0.0)))
                  (= (mul (inverse (values b x)) (values b x)) (unit b)))
                  :pattern ((values b x))))""",
                "a square matrix with a determinant that is not 0 has an inverse",
            ),
            Axiom(
                "rows",
                """(forall ((x Point)) (! (= (values 0 x) (rows (probes x)))
                  :pattern ((probes x))))""",
                "minor 0 is that of the chosen rows of P_0",
            ),
            Axiom(
                "rows of a product",
                "(forall ((a Mat)) (! (= (rows a) (mul selector a)) :pattern ((rows a))))",
                "rows are chosen by a selection on the left",
            ),
            Axiom("neutral", "(= (mul C (unit 0)) C)", "the identity is neutral"),
        ),
        worlds=worlds,
    )


_ENTRIES = """(forall ((i Int) (c Int)) (! (polynomial (P {0} i c)) :pattern ((P {0} i c))))"""
_INNER = "(forall ((i Int) (c Int)) (! (polynomial (Q k i c)) :pattern ((Q k i c))))"
_MADE = "(forall ((i Int) (c Int)) (! (polynomial (made k i c)) :pattern ((made k i c))))"
_AS_MADE = """(forall ((i Int) (c Int)) (! (= (P (- k 1) i c) (made k i c))
  :pattern ((P (- k 1) i c))))"""
_STAGE = """(forall ((i Int) (c Int)) (! (polynomial (P (above b0) i c))
  :pattern ((P (above b0) i c))))"""
_BLOCK = "(and (<= 1 b0) (<= b0 blocks))"
_SUMMED = """(forall ((h Int) (i Int) (c Int)) (! (polynomial (partial k h i c m))
  :pattern ((partial k h i c m))))"""


def polynomial_goals(theory: Theory) -> tuple[Goal, ...]:
    """Entries of P_L, Q_L, P_{L-1}, .. are polynomials."""
    base, step = induction(
        name="entries of P_l are polynomials",
        theory=theory,
        invariant=lambda l: _ENTRIES.replace("{0}", l),  # noqa: E741 - the layer's name
        base="L",
        step=("k", "(- k 1)"),
        step_assumptions=("(layer k)", _MADE, _AS_MADE),
    )

    def move(name: str, given: tuple[str, ...], then: str) -> Goal:
        return Goal(name=name, theory=theory, assumptions=("(layer k)", *given), conclusion=then)

    return (
        base,
        move("entries of Q_l are polynomials", (_ENTRIES.replace("{0}", "k"),), _INNER),
        *induction(
            name="partial sums of R_V Q are polynomials",
            theory=theory,
            invariant="(polynomial (partial k h0 i0 c0 {0}))".format,
            base="0",
            step=("n", "(+ n 1)"),
            step_assumptions=("(layer k)", "(>= n 0)", _INNER),
        ),
        move("columns of P_{l-1} are polynomials", (_INNER, _SUMMED), _MADE),
        move("P_{l-1} is what layer l makes", (), _AS_MADE),
        step,
    )


def local_goals(theory: Theory) -> tuple[Goal, ...]:
    """Entries of the local blocks are polynomials."""
    summed = "(polynomial (localPartial b0 i0 c0 {0}))".format
    return (
        *induction(
            name="partial sums of a local block are polynomials",
            theory=theory,
            invariant=summed,
            base="0",
            step=("n", "(+ n 1)"),
            step_assumptions=(_BLOCK, "(>= n 0)", _STAGE),
        ),
        Goal(
            name="entries of a local block are polynomials",
            theory=theory,
            assumptions=(_BLOCK, summed("m")),
            conclusion="(polynomial (local b0 i0 c0))",
        ),
    )


_P0 = "(forall ((i Int) (c Int)) (polynomial (P 0 i c)))"
_LOCALS = """(forall ((b Int) (i Int) (c Int)) (=> (and (<= 1 b) (<= b blocks))
  (polynomial (local b i c))))"""
_MINORS = """(forall ((b Int)) (! (=> (and (<= 0 b) (<= b blocks)) (polynomial (minor b)))
  :pattern ((minor b))))"""
_ONES = """(forall ((b Int)) (! (=> (and (<= 0 b) (<= b blocks)) (= (at (minor b) theta) 1.0))
  :pattern ((minor b))))"""


_NEXT = """(= (at (product (+ n 1)) point)
  (* (at (product n) point) (at (minor (+ n 1)) point)))"""


def minor_goals(theory: Theory) -> tuple[Goal, ...]:
    """The minors are polynomials and 1 at the witness; that of P_0 is almost nowhere 0."""
    return (
        Goal(
            name="minors are polynomials",
            theory=theory,
            assumptions=(_P0, _LOCALS),
            conclusion=_MINORS,
        ),
        Goal(name="minors are 1 at the witness", theory=theory, conclusion=_ONES),
        Goal(
            name="the minor of P_0 vanishes on a null set only",
            theory=theory,
            role="conclusion",
            assumptions=(_MINORS, _ONES),
            conclusion="(null (minor 0))",
        ),
    )


def product_goals(theory: Theory) -> tuple[Goal, ...]:
    """So is the product of all minors; where it is not 0, no minor is."""
    inside = ("(<= 0 n)", "(< n blocks)")
    product = "(polynomial (product {0}))".format
    witness = "(= (at (product {0}) theta) 1.0)".format
    nonzero = "(not (= (at ({0} {1}) point) 0.0))".format

    def over_blocks(name: str, invariant: Callable[[str], str], given: str) -> tuple[Goal, Goal]:
        return induction(
            name=name,
            theory=theory,
            invariant=invariant,
            base="0",
            step=("n", "(+ n 1)"),
            base_assumptions=(given,),
            step_assumptions=(*inside, given),
        )

    def move(name: str, given: tuple[str, ...], then: str) -> Goal:
        return Goal(name=name, theory=theory, assumptions=given, conclusion=then)

    return (
        *over_blocks("the product of minors is a polynomial", product, _MINORS),
        *over_blocks("the product of minors is 1 at the witness", witness, _ONES),
        Goal(
            name="the product vanishes on a null set only",
            theory=theory,
            role="conclusion",
            assumptions=(product("blocks"), witness("blocks")),
            conclusion="(null (product blocks))",
        ),
        move("the next product", inside, _NEXT),
        *induction(
            name="where the product is not 0, no smaller one is",
            theory=theory,
            invariant=lambda n: nonzero("product", n),
            base="blocks",
            step=("(+ n 1)", "n"),
            base_assumptions=(nonzero("product", "blocks"),),
            step_assumptions=(*inside, _NEXT),
        ),
        move(
            "a factor of the product",
            (*inside, _NEXT, nonzero("product", "(+ n 1)")),
            nonzero("minor", "(+ n 1)"),
        ),
        move("the first factor", (nonzero("product", "0"),), nonzero("minor", "0")),
    )


def inversion_goals(theory: Theory) -> tuple[Goal, ...]:
    """There every probe equation has a solution, and every local block an inverse."""
    nonzero = "(not (= (at (minor {0}) point) 0.0))".format
    return (
        Goal(
            name="the probe equations can be solved for every target",
            theory=theory,
            role="conclusion",
            assumptions=("(>= blocks 0)", nonzero("0")),
            conclusion="""(= (mul (mul C (mul (inverse (values 0 point)) selector))
              (probes point)) C)""",
        ),
        Goal(
            name="local blocks are invertible",
            theory=theory,
            role="conclusion",
            assumptions=("(and (<= 0 b0) (<= b0 blocks))", nonzero("b0")),
            conclusion="(= (mul (inverse (values b0 point)) (values b0 point)) (unit b0))",
        ),
    )
