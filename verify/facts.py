"""Textbook facts that a proof may lean on, each stated once with a reference.

A step that no engine checks must be one of these; a verdict carries the facts it trusts, so a
reader sees them. A fact is general mathematics, never a step of the paper that is checked.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One statement of general mathematics, with where it is proved."""

    name: str
    statement: str
    reference: str

    @property
    def trust(self) -> str:
        """How a verdict names it among what it trusts."""
        return f"fact:{self.name}"


INDUCTION = Fact(
    name="induction",
    statement=(
        "What holds for 0 (for the empty word) and passes from k to k + 1 (from a word to the "
        "word with one more symbol) holds for every natural number (every finite word)."
    ),
    reference="R. Dedekind, Was sind und was sollen die Zahlen?, 1888, theorem 80",
)

COUNTING = Fact(
    name="counting",
    statement=(
        "A disjoint union of finite sets has the sum of their sizes, a product has the product; "
        "a finite set that maps injectively into another is at most as large."
    ),
    reference="R. P. Stanley, Enumerative Combinatorics I, section 1.1",
)

MATRIX_LAWS = Fact(
    name="matrix-laws",
    statement=(
        "Products of matrices over a commutative ring are associative and distribute over sums, "
        "the identity is neutral, the transpose reverses products, and the columns of AB are A "
        "times the columns of B. Matrices of all shapes, padded with zeros, share these laws."
    ),
    reference="S. Lang, Algebra, chapter XIII, section 1",
)

SELECTION_PRODUCT = Fact(
    name="selection-product",
    statement=(
        "If column j of a matrix S has one entry 1, in row r(j), and zeros elsewhere, then "
        "column j of A S is column r(j) of A, for every A."
    ),
    reference="S. Lang, Algebra, chapter XIII, section 1 (A times a unit vector)",
)

RANK_OF_PRODUCT = Fact(
    name="rank-of-product",
    statement="The rank of a product A B is at most the inner dimension, the width of A.",
    reference="S. Axler, Linear Algebra Done Right, section 3.C",
)

LEFT_INVERSE = Fact(
    name="left-inverse",
    statement=(
        "A matrix of full column rank has a left inverse; a square matrix whose determinant is "
        "not 0 has a two-sided one."
    ),
    reference="S. Axler, Linear Algebra Done Right, sections 3.B and 9.C",
)

DETERMINANT = Fact(
    name="determinant",
    statement=(
        "The determinant of a square matrix is a polynomial in its entries with integer "
        "coefficients; that of the identity is 1."
    ),
    reference="S. Lang, Algebra, chapter XIII, section 4 (Leibniz formula)",
)

ZERO_SET = Fact(
    name="zero-set",
    statement=(
        "The zeros of a real polynomial that is not the zero polynomial are a set of Lebesgue "
        "measure 0, which no absolutely continuous distribution hits with positive probability."
    ),
    reference="R. Caron and T. Traynor, The zero set of a polynomial, 2005",
)

ARCHIMEDES = Fact(
    name="archimedes",
    statement="For every real number there is a larger natural number.",
    reference="W. Rudin, Principles of Mathematical Analysis, theorem 1.20",
)

ADJACENT_TRANSPOSITIONS = Fact(
    name="adjacent-transpositions",
    statement="Every permutation of a finite word is a product of swaps of neighbours.",
    reference="S. Lang, Algebra, chapter I, section 5",
)

MONOTONE_EXPONENTIAL = Fact(
    name="exponential-positive",
    statement="The exponential of a real number is positive.",
    reference="W. Rudin, Principles of Mathematical Analysis, theorem 8.6",
)

CONTINUITY = Fact(
    name="continuity",
    statement=(
        "Constants, affine maps and the larger of two continuous functions are continuous, and so "
        "are sums and compositions of continuous functions."
    ),
    reference="W. Rudin, Principles of Mathematical Analysis, theorems 4.7 and 4.9",
)

INTERMEDIATE_VALUE = Fact(
    name="intermediate-value",
    statement=(
        "A continuous real function on an interval that is negative at one end and positive at "
        "the other is 0 somewhere in between."
    ),
    reference="W. Rudin, Principles of Mathematical Analysis, theorem 4.23",
)

REAL_FACTORS = Fact(
    name="real-factors",
    statement=(
        "A real polynomial that is not 0 is a constant times real polynomials of degrees 1 and 2, "
        "whose degrees add up to its own."
    ),
    reference="S. Axler, Linear Algebra Done Right, theorem 4.16",
)

EXPONENTIAL = Fact(
    name="exponential",
    statement="exp(a + b) = exp(a) exp(b) for real a and b, and exp(ln 2) = 2.",
    reference="W. Rudin, Principles of Mathematical Analysis, theorem 8.6",
)

DIFFERENTIATION = Fact(
    name="differentiation",
    statement="The sum, product, quotient and chain rules; the exponential is its own derivative.",
    reference="W. Rudin, Principles of Mathematical Analysis, theorems 5.3, 5.5 and 8.6",
)

FINITE_DIFFERENCES = Fact(
    name="finite-differences",
    statement=(
        "With (D f)(j) = f(j + 1) - f(j): the k-th difference is (D^k f)(j) = "
        "sum_i (-1)^(k-i) C(k, i) f(j + i), and f(j) = sum_k C(j, k) (D^k f)(0)."
    ),
    reference="R. P. Stanley, Enumerative Combinatorics I, section 1.9",
)

POWER_SERIES = Fact(
    name="power-series",
    statement=(
        "Sums, products, quotients by functions that are not 0 and compositions of real-analytic "
        "functions are real-analytic, and so is exp; near 0 such a function is its Taylor series. "
        "The order of a series is the index of its first coefficient that is not 0. Orders add in "
        "products; where they differ, a sum has the lesser; inserting a series of order b >= 1 "
        "multiplies them by b. A series that has an order is not 0 at some points near 0."
    ),
    reference=(
        "S. Krantz and H. Parks, A Primer of Real Analytic Functions, chapter 1; "
        "S. Lang, Complex Analysis, chapter II"
    ),
)

INDEPENDENT_SEQUENCES = Fact(
    name="independent-sequences",
    statement=(
        "N sequences of real numbers are linearly independent exactly when their entries at some "
        "N places form a matrix whose determinant is not 0."
    ),
    reference="S. Axler, Linear Algebra Done Right, section 3.C (row rank is column rank)",
)

CONTINUITY_OF_POLYNOMIALS = Fact(
    name="continuity-of-polynomials",
    statement=(
        "A real polynomial in several variables is continuous; where a continuous function is not "
        "0, it is not 0 at any point near by."
    ),
    reference="W. Rudin, Principles of Mathematical Analysis, theorem 4.9 and definition 4.5",
)

KRONECKER = Fact(
    name="kronecker",
    statement=(
        "The Kronecker product of invertible matrices is invertible; a square matrix whose rows "
        "have only the trivial relation is invertible."
    ),
    reference="R. Horn and C. Johnson, Topics in Matrix Analysis, corollary 4.2.11",
)

HOMOGENEOUS = Fact(
    name="homogeneous-system",
    statement=(
        "A homogeneous system of linear equations with more unknowns than equations has a "
        "solution that is not 0."
    ),
    reference="S. Axler, Linear Algebra Done Right, section 3.B",
)

POLYNOMIAL_ZEROS = Fact(
    name="polynomial-zeros",
    statement="A real polynomial of degree below n that is 0 at n distinct numbers is 0.",
    reference="S. Axler, Linear Algebra Done Right, chapter 4",
)

ALGEBRAIC_DEPENDENCE = Fact(
    name="algebraic-dependence",
    statement=(
        "More polynomials than they have variables are algebraically dependent: a polynomial that "
        "is not the zero polynomial gives 0 when they are inserted."
    ),
    reference="S. Lang, Algebra, chapter VIII, section 1 (transcendence degree)",
)

INTEGRAL_DOMAIN = Fact(
    name="integral-domain",
    statement="A product of real polynomials that are not the zero polynomial is not it either.",
    reference="S. Lang, Algebra, chapter IV, section 1",
)

LINEAR_EQUATIONS = Fact(
    name="linear-equations",
    statement=(
        "n - 1 vectors of R^n have a linear relation that is not trivial, or the vectors "
        "orthogonal to all of them are the multiples of one that is not 0."
    ),
    reference="S. Axler, Linear Algebra Done Right, theorem 3.21",
)

EXPONENTIAL_SERIES = Fact(
    name="exponential-series",
    statement=(
        "The exponential grows, and at a number that is not negative it is at least every partial "
        "sum of its series, sum_k x^k / k!."
    ),
    reference="W. Rudin, Principles of Mathematical Analysis, theorem 8.6 and definition 8.25",
)

LINDEMANN_WEIERSTRASS = Fact(
    name="lindemann-weierstrass",
    statement=(
        "Exponentials of distinct algebraic numbers are linearly independent over the algebraic "
        "numbers."
    ),
    reference="A. Baker, Transcendental Number Theory, theorem 1.4",
)

FACTS: tuple[Fact, ...] = (
    INDUCTION,
    COUNTING,
    MATRIX_LAWS,
    SELECTION_PRODUCT,
    RANK_OF_PRODUCT,
    LEFT_INVERSE,
    DETERMINANT,
    ZERO_SET,
    ARCHIMEDES,
    ADJACENT_TRANSPOSITIONS,
    MONOTONE_EXPONENTIAL,
    CONTINUITY,
    INTERMEDIATE_VALUE,
    REAL_FACTORS,
    EXPONENTIAL,
    DIFFERENTIATION,
    FINITE_DIFFERENCES,
    POWER_SERIES,
    INDEPENDENT_SEQUENCES,
    CONTINUITY_OF_POLYNOMIALS,
    KRONECKER,
    HOMOGENEOUS,
    POLYNOMIAL_ZEROS,
    ALGEBRAIC_DEPENDENCE,
    INTEGRAL_DOMAIN,
    LINEAR_EQUATIONS,
    EXPONENTIAL_SERIES,
    LINDEMANN_WEIERSTRASS,
)
