"""The network's two rules as terms, and the facts about real numbers behind them.

Source: Sliding-Window Transformers Without Positional Encodings, Section 5, "The MLP layer".
"""

from __future__ import annotations

from verify.real_lemmas import RealLemma


def relu(term: str) -> str:
    """The ReLU of a term."""
    return f"(ite (>= {term} 0.0) {term} 0.0)"


FOLD_RULE = f"(+ {relu('(- {a} {b})')} {relu('(- {b} {a})')})"
"""What a level makes of x = a at b = 2^l y; a mutant replaces it."""
MARGIN = "(* (* 2.0 {s}) (- {y} (* 2.0 {w})))"
READ_RULE = f"(- {relu(MARGIN)} {relu(f'(- {MARGIN} 1.0)')})"
"""The bit from w; a mutant replaces it."""

SIZE = "(ite (>= {a} {b}) (- {a} {b}) (- {b} {a}))"
"""|a - b|."""

FOLD = RealLemma(
    name="a fold in units of y",
    variables="c p y x b",
    premises=("(> {y} 0.0)", "(= {x} (* {c} {y}))", "(= {b} (* {p} {y}))"),
    conclusion=f"(= {SIZE.format(a='{x}', b='{b}')} (* {SIZE.format(a='{c}', b='{p}')} {{y}}))",
)
ENOUGH = RealLemma(
    name="a scale of at least m",
    variables="m s y",
    premises=("(> {y} 0.0)", "(= (* {m} {y}) 1.0)", "(<= {m} {s})"),
    conclusion="(>= (* {s} {y}) 1.0)",
)
READ_ODD = RealLemma(
    name="the margin of an odd count",
    variables="s y w",
    premises=("(>= (* {s} {y}) 1.0)", "(= {w} 0.0)"),
    conclusion=f"(>= {MARGIN} 1.0)",
)
READ_EVEN = RealLemma(
    name="the margin of an even count",
    variables="s y w",
    premises=("(>= (* {s} {y}) 1.0)", "(= {w} {y})"),
    conclusion=f"(<= {MARGIN} 0.0)",
)
