"""Three facts about real numbers behind uniform attention, proved once and used at terms.

Source: Sliding-Window Transformers Without Positional Encodings, Section 5.
"""

from __future__ import annotations

from verify.real_lemmas import RealLemma

CANCEL = RealLemma(
    name="a weight of m equal ones",
    variables="w s r",
    premises=("(> {s} 0.0)", "(> {r} 0.0)", "(= (* {w} (* {s} {r})) {r})"),
    conclusion="(= (* {w} {s}) 1.0)",
)
HELD = RealLemma(
    name="m times a mass",
    variables="w s c a",
    premises=("(= (* {w} {s}) 1.0)", "(= {a} (* {c} {w}))"),
    conclusion="(= (* {a} {s}) {c})",
)
RATIO = RealLemma(
    name="a ratio of masses",
    variables="w s c a b o",
    premises=("(= (* {w} {s}) 1.0)", "(= {o} 1.0)", "(= {a} (* {c} {w}))", "(= {b} (* {o} {w}))"),
    conclusion="(= (/ {a} {b}) {c})",
)
