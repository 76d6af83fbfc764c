"""LayerNorm of one row as a theory; what it makes of zeros and of rows of width 1.

    upto (r k)        x_1 + .. + x_k           dev (r j)     y_j = x_j - mean
    devs, squares     y_1 + .. + y_k, and y_1^2 + .. + y_k^2
    about (r k)       (y_1 - t)^2 + .. + (y_k - t)^2
    hat (r j)         y_j / root,  root^2 = var + eps

A row of zeros is normalised to zeros, so LayerNorm returns its shift; at width 1 every row is.

Source: Fixed Universal Transformers, Section 3.3; the proofs are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction

from lowerbounds.layer_norm import exact_root, plain_norm
from lowerbounds.normalization_lemmas import NO_FACTOR
from verify.smtlib import Axiom, Goal, Symbol, Theory, World, induction

ROWS = """
(declare-sort Row 0)
(declare-const m Int) (declare-const eps Real)
(declare-fun entry (Row Int) Real) (declare-fun upto (Row Int) Real)
(declare-fun mean (Row) Real) (declare-fun var (Row) Real) (declare-fun root (Row) Real)
(declare-fun dev (Row Int) Real) (declare-fun devs (Row Int) Real) (declare-fun hat (Row Int) Real)
(declare-fun squares (Row Int) Real) (declare-fun about (Row Int) Real) (declare-const t Real)
(declare-const x Row) (declare-const k Int) (declare-const i Int)
(define-fun within ((j Int)) Bool (and (<= 0 j) (< j m)))
"""
"""Rows of width m; coordinates are counted from 0."""

Worlds = Callable[[], Iterable[World]]


def running_sum(name: str, summand: str, gloss: str, of: str = "(r Row)") -> Axiom:
    """The sums of the first k summands, of a row r or of none (`of` empty); j counts them."""
    inside, bound = ("r ", of) if of else ("", "")
    begun = f"(= ({name} {inside}0) 0.0)"
    more = f"({name} {inside}(+ j 1))"
    begins = f"(forall ({bound}) (! {begun} :pattern (({name} {inside}0))))" if of else begun
    return Axiom(
        gloss,
        f"""(and {begins} (forall ({bound} (j Int)) (! (=> (within j)
          (= {more} (+ ({name} {inside}j) {summand}))) :pattern ({more}))))""",
        f"{gloss}, one coordinate after the other",
    )


SIZES = Axiom("sizes", "(and (>= m 1) (> eps 0.0))", "m is at least 1 and eps is positive")
SUM = running_sum("upto", "(entry r j)", "sum of the coordinates")
MEAN = Axiom(
    "mean",
    "(forall ((r Row)) (! (= (* (to_real m) (mean r)) (upto r m)) :pattern ((mean r))))",
    "m times the mean is the sum of the coordinates",
)
DEVIATION = Axiom(
    "deviation",
    """(forall ((r Row) (j Int)) (! (=> (within j) (= (dev r j) (- (entry r j) (mean r))))
      :pattern ((dev r j))))""",
    "y_j = x_j - mean",
)
DEVIATIONS = running_sum("devs", "(dev r j)", "sum of the deviations")
SQUARES = running_sum("squares", "(* (dev r j) (dev r j))", "sum of their squares")
ABOUT = running_sum("about", "(* (- (dev r j) t) (- (dev r j) t))", "sum of squares about t")
VARIANCE = Axiom(
    "variance",
    "(forall ((r Row)) (! (= (* (to_real m) (var r)) (squares r m)) :pattern ((var r))))",
    "m times the variance is the sum of squares",
)
ROOT = Axiom(
    "root",
    """(forall ((r Row)) (! (and (> (root r) 0.0) (= (* (root r) (root r)) (+ (var r) eps)))
      :pattern ((root r))))""",
    "the divisor is the positive root of the variance plus eps",
)
NORMALISED = Axiom(
    "normalised",
    """(forall ((r Row) (j Int)) (! (=> (within j) (= (* (root r) (hat r j)) (dev r j)))
      :pattern ((hat r j))))""",
    "a normalised coordinate times the divisor is the deviation",
)


def row_theory(name: str, axioms: Sequence[Axiom], worlds: Worlds, more: str = "") -> Theory:
    """A theory of rows with the given axioms, and further declarations after those of rows."""
    return Theory(name=name, declarations=ROWS + more, axioms=(SIZES, *axioms), worlds=worlds)


# --- rows of zeros ---------------------------------------------------------------------------

ZERO_ROW = "(forall ((j Int)) (! (=> (within j) (= (entry {r} j) 0.0)) :pattern ((entry {r} j))))"
ZERO_HATS = "(forall ((j Int)) (! (=> (within j) (= (hat {r} j) 0.0)) :pattern ((hat {r} j))))"


def zero_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """A row of zeros has mean 0 and normalised coordinates 0."""
    theory = row_theory("rows of zeros", (SUM, MEAN, DEVIATION, ROOT, NORMALISED), worlds)
    zeros = ZERO_ROW.format(r="x")
    return (
        *induction(
            name="zeros sum to 0",
            theory=theory,
            invariant="(= (upto x {0}) 0.0)".format,
            base="0",
            step=("k", "(+ k 1)"),
            step_assumptions=("(within k)", zeros),
        ),
        Goal(
            name="zeros have mean 0",
            theory=theory,
            assumptions=("(= (upto x m) 0.0)", NO_FACTOR.at(a="(to_real m)", b="(mean x)")),
            conclusion="(= (mean x) 0.0)",
        ),
        Goal(
            name="zeros stay zeros",
            theory=theory,
            assumptions=(
                zeros,
                "(= (mean x) 0.0)",
                f"(forall ((j Int)) (! {NO_FACTOR.at(a='(root x)', b='(hat x j)')} "
                ":pattern ((hat x j))))",
            ),
            conclusion=ZERO_HATS.format(r="x"),
        ),
        NO_FACTOR.goal,
    )


# --- deviations sum to 0 ---------------------------------------------------------------------

BALANCED = "(= (devs {r} m) 0.0)"


def balance_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """The deviations sum to 0."""
    theory = row_theory("deviations", (SUM, MEAN, DEVIATION, DEVIATIONS), worlds)
    less_means = "(= (devs x {0}) (- (upto x {0}) (* (to_real {0}) (mean x))))".format
    return (
        *induction(
            name="deviations sum to the sum less the means",
            theory=theory,
            invariant=less_means,
            base="0",
            step=("k", "(+ k 1)"),
            step_assumptions=("(within k)",),
        ),
        Goal(
            name="deviations sum to 0",
            theory=theory,
            assumptions=(less_means("m"),),
            conclusion=BALANCED.format(r="x"),
        ),
    )


def narrow_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """At width 1 LayerNorm returns its shift, whatever the row and the scale are."""
    theory = row_theory("width 1", (DEVIATIONS, ROOT, NORMALISED), worlds)
    return (
        Goal(
            name="at width 1 the deviation is 0",
            theory=theory,
            assumptions=("(= k 0)", "(= m (+ k 1))", BALANCED.format(r="x")),
            conclusion="(= (dev x k) 0.0)",
        ),
        Goal(
            name="at width 1 LayerNorm returns its shift",
            theory=theory,
            assumptions=(
                "(= m 1)",
                "(= (dev x 0) 0.0)",
                NO_FACTOR.at(a="(root x)", b="(hat x 0)"),
            ),
            conclusion="""(forall ((scale Real) (shift Real))
              (= (+ (* scale (hat x 0)) shift) shift))""",
        ),
    )


# --- the theory's meaning in the code --------------------------------------------------------

EPS = Fraction(9, 16)
"""With it the samples' variances, 0, 1 and 81/25, have rational divisors."""


def coordinate(row: Sequence[Fraction], place: int) -> Fraction:
    """A coordinate counted from 0; outside the row it is 0."""
    return row[place] if 0 <= place < len(row) else Fraction(0)


def sum_of_first(row: Sequence[Fraction], count: int) -> Fraction:
    """The sum of the first so many coordinates."""
    return sum(row[: max(count, 0)], Fraction(0))


def row_symbols(eps: Fraction, width: int, about: Fraction = Fraction(0)) -> dict[str, Symbol]:
    """The symbols of `ROWS` for LayerNorm of that width, t = `about`."""
    norm = plain_norm(width, eps)
    return {
        "m": width,
        "eps": eps,
        "t": about,
        "entry": coordinate,
        "upto": sum_of_first,
        "mean": lambda r: sum(r, Fraction(0)) / width,
        "var": lambda r: norm.divided_by(r) - eps,
        "root": lambda r: exact_root(norm.divided_by(r)),
        "dev": lambda r, j: coordinate(norm.deviations(r), j),
        "devs": lambda r, k: sum_of_first(norm.deviations(r), k),
        "squares": lambda r, k: sum_of_first([y * y for y in norm.deviations(r)], k),
        "about": lambda r, k: sum_of_first([(y - about) ** 2 for y in norm.deviations(r)], k),
        "hat": lambda r, j: coordinate(norm.normalised(r), j),
    }


def row_worlds() -> Iterator[World]:
    """Rows of width 5, 2 and 1 whose divisors are rational; one coordinate differs, or none."""
    yield from _worlds(Fraction(9, 2), 5)
    yield from _worlds(Fraction(2), 2)
    yield from narrow_worlds()


def narrow_worlds() -> Iterator[World]:
    """Rows of width 1."""
    yield from _worlds(Fraction(3), 1)


def _worlds(first: Fraction, width: int) -> Iterator[World]:
    """A row with that first coordinate and the zero row; t is 0 and each mean of deviations."""
    rows = [(first, *(Fraction(0),) * (width - 1)), (Fraction(0),) * width]
    largest = first * (width - 1) / width
    for about in sorted({-largest / max(width - 1, 1), Fraction(0), first / width}):
        yield World(
            sorts={"Row": rows, "Real": (Fraction(-2), Fraction(1, 3))},
            integers=range(-1, width + 1),
            symbols=row_symbols(EPS, width, about),
            free={"x": rows, "k": range(width), "i": range(width)},
        )
