"""Real numbers behind the built model: its bounds, and facts proved once and used at terms.

Source: ours.
"""

from __future__ import annotations

from fractions import Fraction
from math import factorial

from verify.real_lemmas import RealLemma

ROOT_BOUND = Fraction(7071, 2000)
"""Below 5 / sqrt 2."""
TERMS = 20
RATE_SERIES = sum((ROOT_BOUND**a / factorial(a) for a in range(TERMS)), Fraction(0))
"""So many terms of the series of exp, at the bound."""
LEAST_RATE = 34
"""Below exp(5 / sqrt 2)."""
RANGE = 10
"""Levels lie between 0 and this."""
DISTANCE = Fraction(RANGE, LEAST_RATE - 1)
"""How far the mean lies from the level of the last even number, at most."""
MARGIN = 2 * (1 - DISTANCE)
"""By how much its logit leads those of other even numbers, which lie 2 away or more."""
OTHER_MARGIN = RANGE * (Fraction(RANGE, 2) - DISTANCE)
"""By how much it leads those of odd numbers and `+`."""


def real(value: Fraction) -> str:
    """A number as an SMT-LIB term."""
    return f"(/ {value.numerator}.0 {value.denominator}.0)"


ROOT = RealLemma(
    name="5 / sqrt 2 from below",
    variables="x",
    premises=("(>= {x} 0.0)", "(= (* {x} {x}) (/ 25.0 2.0))"),
    conclusion=f"(>= {{x}} {real(ROOT_BOUND)})",
)
GROWS = RealLemma(
    name="a factor of 1 or more",
    variables="b x",
    premises=("(>= {b} 1.0)", "(>= {x} 0.0)"),
    conclusion="(>= (* {b} {x}) {x})",
)
SWAP = RealLemma(
    name="factors in another order",
    variables="a b c x",
    premises=("(= {x} (* {b} {c}))",),
    conclusion="(= (* {a} {x}) (* {b} (* {a} {c})))",
)
SCALED = RealLemma(
    name="a factor that is not negative",
    variables="a x z",
    premises=("(>= {a} 0.0)", "(<= {x} {z})"),
    conclusion="(<= (* {a} {x}) (* {a} {z}))",
)
EARLIER = RealLemma(
    name="one more earlier weight",
    variables="r b s x g",
    premises=(
        "(<= (* (- {r} 1.0) {s}) (* {b} (- {g} 1.0)))",
        "(<= (* (- {r} 1.0) {x}) (* (- {r} 1.0) (* {b} {g})))",
    ),
    conclusion="(<= (* (- {r} 1.0) (+ {s} {x})) (* {b} (- (* {r} {g}) 1.0)))",
)
LATER = RealLemma(
    name="one more later weight",
    variables="r c s g",
    premises=("(<= (* (- {r} 1.0) {s}) (+ {c} {g}))",),
    conclusion="(<= (* (- {r} 1.0) (+ {s} {g})) (+ {c} (* {r} {g})))",
)
TOGETHER = RealLemma(
    name="earlier and later weights",
    variables="b x s e f",
    premises=("(<= {s} (+ (- (* {b} (- {x} 1.0)) {f}) {e}))", "(<= {e} {b})", "(>= {f} 0.0)"),
    conclusion="(<= {s} (* {b} {x}))",
)
SPREAD = RealLemma(
    name="a weight times a bounded distance",
    variables="w x",
    premises=("(>= {w} 0.0)", f"(<= (- {RANGE}.0) {{x}} {RANGE}.0)"),
    conclusion=f"(<= (- (* {RANGE}.0 {{w}})) (* {{w}} {{x}}) (* {RANGE}.0 {{w}}))",
)
REFERRED = RealLemma(
    name="one more weighted value",
    variables="e s v m w u",
    premises=("(= {v} (+ (* {e} {s}) {m}))",),
    conclusion="(= (+ {v} (* {w} {u})) (+ (* {e} (+ {s} {w})) (+ {m} (* {w} (- {u} {e})))))",
)
FEWER = RealLemma(
    name="the others against the last even number",
    variables="r s w",
    premises=(f"(>= {{r}} {LEAST_RATE}.0)", "(>= {s} 0.0)", "(<= (* (- {r} 1.0) {s}) {w})"),
    conclusion=f"(<= (* {LEAST_RATE - 1}.0 {{s}}) {{w}})",
)
NEAR = RealLemma(
    name="a mean near its heaviest value",
    variables="a e s o w m",
    premises=(
        "(= (* {a} {s}) (+ (* {e} {s}) {m}))",
        "(= {s} (+ {o} {w}))",
        "(> {w} 0.0)",
        "(>= {o} 0.0)",
        f"(<= (* {LEAST_RATE - 1}.0 {{o}}) {{w}})",
        f"(<= (- (* {RANGE}.0 {{o}})) {{m}} (* {RANGE}.0 {{o}}))",
    ),
    conclusion=f"(<= (- {real(DISTANCE)}) (- {{a}} {{e}}) {real(DISTANCE)})",
)
_LOGIT = "(- (* {a} {y}) (/ (* {a} {a}) 2.0))"
DIFFERENCE = RealLemma(
    name="logits of two levels",
    variables="a b y",
    premises=(),
    conclusion=f"(= {_LOGIT} (+ (- (* {{b}} {{y}}) (/ (* {{b}} {{b}}) 2.0)) "
    "(* (- {a} {b}) (+ (/ (- {a} {b}) 2.0) (- {y} {a})))))",
)
LEADS = RealLemma(
    name="the nearest of two levels leads",
    variables="x d",
    premises=("(>= {x} 2.0)", f"(<= (- {real(DISTANCE)}) {{d}})"),
    conclusion=f"(>= (* {{x}} (+ (/ {{x}} 2.0) {{d}})) {real(MARGIN)})",
)
ABOVE = RealLemma(
    name="the nearest level leads 0",
    variables="a y",
    premises=(f"(<= (- {real(DISTANCE)}) (- {{y}} {{a}}))", f"(>= {{a}} {RANGE}.0)"),
    conclusion=f"(>= {_LOGIT} {real(OTHER_MARGIN)})",
)
LEMMAS = (
    ROOT,
    GROWS,
    SWAP,
    SCALED,
    EARLIER,
    LATER,
    TOGETHER,
    SPREAD,
    REFERRED,
    FEWER,
    NEAR,
    DIFFERENCE,
    LEADS,
    ABOVE,
)
