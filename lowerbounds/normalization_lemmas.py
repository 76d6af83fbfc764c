"""Facts about real numbers behind LayerNorm's bounds, proved once and used at terms.

Source: Fixed Universal Transformers, Section 3.3; the facts are elementary.
"""

from __future__ import annotations

from verify.real_lemmas import RealLemma


def size(term: str) -> str:
    """The absolute value of a term."""
    return f"(ite (>= {term} 0.0) {term} (- {term}))"


def at_most(term: str, most: str) -> str:
    """The absolute value of a term is at most `most`."""
    return f"(and (<= (- {most}) {term}) (<= {term} {most}))"


NO_FACTOR = RealLemma(
    name="a product with a positive factor",
    variables="a b",
    premises=("(> {a} 0.0)", "(= (* {a} {b}) 0.0)"),
    conclusion="(= {b} 0.0)",
)
GROWS = RealLemma(
    name="a sum grows by a square",
    variables="s b z",
    premises=("(<= {b} {s})",),
    conclusion="(<= {b} (+ {s} (* {z} {z})))",
)
MEAN_OF_OTHERS = RealLemma(
    name="the mean of the other deviations",
    variables="c t y",
    premises=("(= (* {c} {t}) (- {y}))",),
    conclusion="(= (- {y} {t}) (- (* (+ {c} 1.0) {t})))",
)
DIVIDED = RealLemma(
    name="one square of m about t",
    variables="n t d v",
    premises=(
        "(> {n} 0.0)",
        "(= {d} (- (* {n} {t})))",
        "(<= (* {d} {d}) (+ (* {n} {v}) (* {n} (* {t} {t}))))",
    ),
    conclusion="(<= (* (- {n} 1.0) (* {t} {t})) {v})",
)
SHARE = RealLemma(
    name="the share of one square in the variance",
    variables="c t y v",
    premises=("(>= {c} 0.0)", "(= (* {c} {t}) (- {y}))", "(<= (* {c} (* {t} {t})) {v})"),
    conclusion="(<= (* {y} {y}) (* {c} {v}))",
)
QUOTIENT = RealLemma(
    name="the square of a quotient",
    variables="r v e h y c",
    premises=(
        "(> {r} 0.0)",
        "(> {e} 0.0)",
        "(>= {c} 0.0)",
        "(= (* {r} {r}) (+ {v} {e}))",
        "(= (* {r} {h}) {y})",
        "(<= (* {y} {y}) (* {c} {v}))",
    ),
    conclusion="(<= (* {h} {h}) {c})",
)
"""Here eps > 0 is used: the divisor's square exceeds the variance."""
ROOT_OF_SQUARE = RealLemma(
    name="a number whose square is at most B^2",
    variables="h c b",
    premises=("(>= {b} 0.0)", "(<= {c} (* {b} {b}))", "(<= (* {h} {h}) {c})"),
    conclusion=at_most("{h}", "{b}"),
)
PRODUCT = RealLemma(
    name="the size of a product",
    variables="a s u",
    premises=("(<= (- {s}) {a})", "(<= {a} {s})"),
    conclusion=at_most("(* {u} {a})", f"(* {size('{u}')} {{s}})"),
)
BOTH_POSITIVE = RealLemma(
    name="a product of positive numbers",
    variables="a b",
    premises=("(> {a} 0.0)", "(> {b} 0.0)"),
    conclusion="(> (* {a} {b}) 0.0)",
)
BELOW = RealLemma(
    name="a mean below the first of two or more",
    variables="n u s a",
    premises=("(>= {n} 2.0)", "(> {a} 0.0)", "(= (* {n} {u}) {s})", "(<= {s} {a})"),
    conclusion="(< {u} {a})",
)
POSITIVE_QUOTIENT = RealLemma(
    name="a positive quotient",
    variables="r h y",
    premises=("(> {r} 0.0)", "(= (* {r} {h}) {y})", "(> {y} 0.0)"),
    conclusion="(> {h} 0.0)",
)
DISTRIBUTES = RealLemma(
    name="a factor of a sum with one more term",
    variables="r s h t d y",
    premises=("(= (* {r} {s}) {d})", "(= (* {r} {h}) {y})", "(= {t} (+ {s} {h}))"),
    conclusion="(= (* {r} {t}) (+ {d} {y}))",
)
ABOVE = RealLemma(
    name="a scale that exceeds a bound",
    variables="b h g",
    premises=("(> {h} 0.0)", "(= {g} (+ (/ {b} {h}) 1.0))"),
    conclusion="(> (* {g} {h}) {b})",
)
