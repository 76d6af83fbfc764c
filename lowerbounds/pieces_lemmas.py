"""Facts about real numbers behind the count of pieces, proved once and used at terms.

Source: Sliding-Window Transformers Without Positional Encodings, Theorem 9; the argument is ours.
"""

from __future__ import annotations

from verify.real_lemmas import RealLemma

TERM = RealLemma(
    name="one more affine term",
    variables="z s o x p q v t",
    premises=("(= {z} (+ (* {s} {t}) {o}))", "(= {x} (+ (* {p} {t}) {q}))"),
    conclusion="(= (+ {z} (* {v} {x})) (+ (* (+ {s} (* {v} {p})) {t}) (+ {o} (* {v} {q}))))",
)
RISES = RealLemma(
    name="an affine map that rises",
    variables="s o t u",
    premises=("(>= {s} 0.0)", "(<= {t} {u})"),
    conclusion="(<= (+ (* {s} {t}) {o}) (+ (* {s} {u}) {o}))",
)
FALLS = RealLemma(
    name="an affine map that falls",
    variables="s o t u",
    premises=("(<= {s} 0.0)", "(<= {t} {u})"),
    conclusion="(>= (+ (* {s} {t}) {o}) (+ (* {s} {u}) {o}))",
)
NEXT_BLOCK = RealLemma(
    name="a later block of w + 1 codes",
    variables="w a b",
    premises=("(>= {w} 0.0)", "(<= (+ {a} 1.0) {b})"),
    conclusion="(<= (+ (* (+ {w} 1.0) {a}) {w}) (- (* (+ {w} 1.0) {b}) 1.0))",
)
TWO_ZEROS = RealLemma(
    name="an affine map with two zeros",
    variables="s o t u c",
    premises=("(< {t} {u})", "(= (+ (* {s} {t}) {o}) 0.0)", "(= (+ (* {s} {u}) {o}) 0.0)"),
    conclusion="(= (+ (* {s} {c}) {o}) 0.0)",
)
LEMMAS = (TERM, RISES, FALLS, NEXT_BLOCK, TWO_ZEROS)
