"""Facts about real numbers behind the rounded parity network, each proved once.

Products stand in them alone or in pairs, so that both solvers find each.

Source: Sliding-Window Transformers Without Positional Encodings, Theorem 9, Remark 5.
"""

from __future__ import annotations

from constructions.machines.relu_lemmas import SIZE
from verify.real_lemmas import RealLemma


def absolute(term: str) -> str:
    """The size of a term."""
    return f"(ite (>= {term} 0.0) {term} (- {term}))"


def near(value: str, exact: str, error: str) -> str:
    """|value - exact| <= error."""
    return f"(and (<= (- {value} {exact}) {error}) (<= (- {exact} {value}) {error}))"


def within_unit(value: str, exact: str, unit: str = "u") -> str:
    """|value - exact| <= unit |exact|."""
    return near(value, exact, f"(* {unit} {absolute(exact)})")


_SMALL_UNIT = "(and (> {u} 0.0) (<= (* 9.0 {u}) 1.0))"

# --- units and shares ------------------------------------------------------------------------

LARGE_POWER = RealLemma(
    name="a unit of at most 1/9",
    variables="u r",
    premises=("(> {u} 0.0)", "(= (* {u} {r}) 1.0)", "(>= {r} 9.0)"),
    conclusion="(<= (* 9.0 {u}) 1.0)",
)
CONDITION_SCALED = RealLemma(
    name="the condition times u",
    variables="u a t r",
    premises=("(> {u} 0.0)", "(= (* {u} {r}) 1.0)", "(<= (+ {a} (* 10.0 {t})) (* 2.0 {r}))"),
    conclusion="(<= (+ (* 0.125 (* {u} {a})) (* 1.25 (* {u} {t}))) 0.25)",
)
SHARE_NEAR = RealLemma(
    name="a rounded share",
    variables="u v y",
    premises=(_SMALL_UNIT, "(> {v} 0.0)", within_unit("{y}", "{v}", "{u}")),
    conclusion="""(and (> {y} 0.0) (<= (* (- 1.0 {u}) {v}) {y}) (<= {y} (* (+ 1.0 {u}) {v}))
      (<= (* 8.0 {v}) (* 9.0 {y})))""",
)
CANCELLED = RealLemma(
    name="m shares of 1/m",
    variables="m v t",
    premises=("(= (* {m} {v}) 1.0)",),
    conclusion="(= (* (* {t} {v}) {m}) {t})",
)
LARGER_FACTOR = RealLemma(
    name="a larger factor",
    variables="m s y",
    premises=("(<= {m} {s})", "(>= {y} 0.0)"),
    conclusion="(<= (* {m} {y}) (* {s} {y}))",
)

# --- folds -----------------------------------------------------------------------------------

DOUBLED = RealLemma(
    name="twice a grain",
    variables="u q t",
    premises=("(> {u} 0.0)", "(>= {q} 1.0)", "(= {t} (* 2.0 {q}))"),
    conclusion="(and (= (* {u} {t}) (* 2.0 (* {u} {q}))) (> (* {u} {q}) 0.0))",
)
DISTANCE = RealLemma(
    name="how far a share is from a level",
    variables="x r q y d",
    premises=(
        "(> {y} 0.0)",
        "(>= {q} 1.0)",
        "(and (<= 0.0 {r}) (<= {r} (* 2.0 {q})))",
        "(<= {d} 0.25)",
        near("{x}", "(* {r} {y})", "(* {d} {y})"),
    ),
    conclusion=near("(- {x} (* {q} {y}))", "0.0", "(* 1.25 (* {q} {y}))"),
)
ROUNDS = RealLemma(
    name="what a rounding adds",
    variables="u f a t",
    premises=("(> {u} 0.0)", within_unit("{f}", "{a}", "{u}"), near("{a}", "0.0", "{t}")),
    conclusion=near("{f}", "{a}", "(* {u} {t})"),
)
REGROUPED = RealLemma(
    name="a rounding error in grains",
    variables="u q y",
    premises=("(> {y} 0.0)",),
    conclusion="(= (* {u} (* 1.25 (* {q} {y}))) (* (* 1.25 (* {u} {q})) {y}))",
)
SPREAD = RealLemma(
    name="errors add up over a fold",
    variables="f x r q y d n t",
    premises=(
        "(> {y} 0.0)",
        "(= {t} (+ {d} {n}))",
        near("{x}", "(* {r} {y})", "(* {d} {y})"),
        near("{f}", "(- {x} (* {q} {y}))", "(* {n} {y})"),
    ),
    conclusion=near(absolute("{f}"), f"(* {SIZE.format(a='{r}', b='{q}')} {{y}})", "(* {t} {y})"),
)

# --- reading ---------------------------------------------------------------------------------

READ_MOST = RealLemma(
    name="what is read of a small share",
    variables="s y w d",
    premises=("(>= {s} 0.0)", "(<= {w} (* {d} {y}))"),
    conclusion="(>= (* {s} (- {y} (* 2.0 {w}))) (* (- 1.0 (* 2.0 {d})) (* {s} {y})))",
)
AT_LEAST_ONE = RealLemma(
    name="the margin of an odd count",
    variables="u d t",
    premises=(_SMALL_UNIT, "(<= (+ {d} (* 1.25 {u})) 0.25)", "(>= {t} (- 1.0 {u}))"),
    conclusion="(>= (* 2.0 (* (- 1.0 (* 2.0 {d})) {t})) 1.0)",
)
READ_LEAST = RealLemma(
    name="what is read is at most s y",
    variables="s y w",
    premises=("(>= {s} 0.0)", "(>= {w} 0.0)"),
    conclusion="(<= (* {s} (- {y} (* 2.0 {w}))) (* {s} {y}))",
)
SHARE_HALVED = RealLemma(
    name="the share in a context of two tokens or more",
    variables="u m y",
    premises=(
        "(<= (* 9.0 {u}) 1.0)",
        "(>= {m} 2.0)",
        "(> {y} 0.0)",
        "(<= (* {m} {y}) (+ 1.0 {u}))",
    ),
    conclusion="(<= (* 9.0 {y}) 5.0)",
)
SCALED_SHARE = RealLemma(
    name="s y is at most 10/9 S",
    variables="s y S",
    premises=("(and (<= 0.0 {s}) (<= {s} (* 2.0 {S})))", "(<= (* 9.0 {y}) 5.0)"),
    conclusion="(<= (* 9.0 (* {s} {y})) (* 10.0 {S}))",
)
AT_MOST_ZERO = RealLemma(
    name="the margin of an even count",
    variables="s y w d",
    premises=("(> {y} 0.0)", "(>= {s} 0.0)", "(<= {d} 0.25)", near("{w}", "{y}", "(* {d} {y})")),
    conclusion="(<= (* {s} (- {y} (* 2.0 {w}))) 0.0)",
)

# --- sums ------------------------------------------------------------------------------------

HALVES = RealLemma(
    name="errors of the two halves of a sum",
    variables="a b c d e g",
    premises=(
        "(= {c} (+ {a} {b}))",
        near("{d}", "{a}", "(* {g} {a})"),
        near("{e}", "{b}", "(* {g} {b})"),
    ),
    conclusion=near("(+ {d} {e})", "{c}", "(* {g} {c})"),
)
SUM_SIZE = RealLemma(
    name="the size of a sum",
    variables="a d g",
    premises=(
        "(and (>= {a} 0.0) (<= {g} 0.125))",
        near("{d}", "{a}", "(* {g} {a})"),
    ),
    conclusion=near("{d}", "0.0", "(* 1.125 {a})"),
)
SUM_ROUNDED = RealLemma(
    name="the error of a rounded sum",
    variables="a d f g u r",
    premises=(
        "(= {r} (+ {g} (* 1.125 {u})))",
        near("{d}", "{a}", "(* {g} {a})"),
        near("{f}", "{d}", "(* {u} (* 1.125 {a}))"),
    ),
    conclusion=near("{f}", "{a}", "(* {r} {a})"),
)
PRODUCT_SIGN = RealLemma(
    name="products of what is not negative",
    variables="a y",
    premises=("(>= {a} 0.0)", "(>= {y} 0.0)"),
    conclusion="(>= (* {a} {y}) 0.0)",
)
REGROUPED_RATE = RealLemma(
    name="a rate times a sum",
    variables="u h t",
    premises=("(>= {h} 0.0)",),
    conclusion="(= (* (* 1.125 (* {u} {h})) {t}) (* (* 0.125 (* 9.0 {h})) (* {u} {t})))",
)
REGROUPED_LOAD = RealLemma(
    name="a load in units of u and y",
    variables="u n a S y",
    premises=("(= {n} (* {a} {S}))",),
    conclusion="(= (* (* 0.125 (* {u} {n})) {y}) (* (* 0.125 {a}) (* {u} (* {S} {y}))))",
)

LEMMAS: tuple[RealLemma, ...] = (
    LARGE_POWER, CONDITION_SCALED, SHARE_NEAR, CANCELLED, LARGER_FACTOR, DOUBLED, DISTANCE, ROUNDS,
    REGROUPED, SPREAD, READ_MOST, AT_LEAST_ONE, READ_LEAST, SHARE_HALVED, SCALED_SHARE,
    AT_MOST_ZERO, HALVES, SUM_SIZE, SUM_ROUNDED, PRODUCT_SIGN,
    REGROUPED_RATE, REGROUPED_LOAD,
)  # fmt: skip
