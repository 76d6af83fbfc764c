"""The theory of gated models' widths: they grow strictly from the readout downwards.

Source: Fixed Universal Transformers, Section 3.3 and Appendix E; the comparisons are ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from constructions.universal.definitions import TransformerSize
from verify.real_lemmas import RealLemma
from verify.smtlib import Axiom, Goal, Theory, World, induction

NOT_SHRUNK = RealLemma(
    name="a factor of at least 1 does not shrink",
    variables="x y",
    premises=("(>= {x} 1.0)", "(>= {y} 0.0)"),
    conclusion="(>= (* {x} {y}) {y})",
)
ENLARGED = RealLemma(
    name="a positive factor keeps a strict inequality",
    variables="x y z",
    premises=("(>= {x} 1.0)", "(> {y} {z})"),
    conclusion="(> (* {x} {y}) (* {x} {z}))",
)


def gated_width_theory() -> Theory:
    """Appendix E's recursion without residual, over real sizes of at least 1."""
    return Theory(
        name="gated widths",
        declarations="""
(declare-const H Real) (declare-const d Real) (declare-const din Real) (declare-const r Real)
(declare-const L Int) (declare-const k Int)
(declare-fun s (Int) Real) (declare-fun q (Int) Real)
""",
        axioms=(
            Axiom(
                "sizes",
                "(and (>= H 1.0) (>= d 1.0) (>= din 1.0) (>= r 1.0) (>= L 1))",
                "all sizes are at least 1",
            ),
            Axiom("last", "(= (s L) din)", "s_L = d_in"),
            Axiom(
                "widths",
                """(forall ((l Int)) (! (=> (and (<= 1 l) (<= l L)) (and (= (q l) (* r (s l)))
                  (= (s (- l 1)) (+ (* 2.0 (* H d)) (* 2.0 (* H (q l))))))) :pattern ((q l))))""",
                "q_l = r s_l and s_{l-1} = 2Hd + 2H q_l",
            ),
        ),
        worlds=_gated_worlds,
    )


def gated_width_goals(theory: Theory) -> tuple[Goal, ...]:
    """Widths grow strictly downwards, so only the last one is d_in."""
    layer = "(and (<= 1 k) (<= k L))"
    step = """(and (= (q k) (* r (s k)))
      (= (s (- k 1)) (+ (* 2.0 (* H d)) (* 2.0 (* H (q k))))))"""
    grows = "(> (s (- k 1)) (s k))"
    bounded = "(and (>= (s {0}) din) (>= (s {0}) 1.0))".format
    return (
        NOT_SHRUNK.goal,
        ENLARGED.goal,
        Goal(name="one layer", theory=theory, assumptions=(layer,), conclusion=step),
        Goal(
            name="widths grow downwards",
            theory=theory,
            assumptions=(
                layer,
                step,
                bounded("k"),
                NOT_SHRUNK.at(x="r", y="(s k)"),
                NOT_SHRUNK.at(x="H", y="(q k)"),
                NOT_SHRUNK.at(x="H", y="d"),
            ),
            conclusion=grows,
        ),
        *induction(
            name="no width is below d_in",
            theory=theory,
            invariant=bounded,
            base="L",
            step=("k", "(- k 1)"),
            step_assumptions=(layer, grows),
        ),
        Goal(
            name="r d_in is right for the last layer",
            theory=theory,
            role="conclusion",
            conclusion="(= (q L) (* r din))",
        ),
        Goal(
            name="and too small for every other one",
            theory=theory,
            role="conclusion",
            assumptions=(
                layer,
                grows,
                bounded("k"),
                "(= (q (- k 1)) (* r (s (- k 1))))",
                ENLARGED.at(x="r", y="(s (- k 1))", z="din"),
            ),
            conclusion="(> (q (- k 1)) (* r din))",
        ),
    )


def _gated_worlds() -> Iterator[World]:
    for heads, layers, neurons in ((2, 2, 2), (1, 3, 1)):
        size = TransformerSize(
            heads=heads, layers=layers, head_width=2, token_width=3, neurons=neurons
        )
        widths = size.probe_widths

        def width(layer: int, widths: tuple[int, ...] = widths) -> Fraction:
            return Fraction(widths[layer] if 0 <= layer < len(widths) else 1)

        yield World(
            sorts={},
            symbols={
                "H": Fraction(heads),
                "d": Fraction(2),
                "din": Fraction(3),
                "r": Fraction(neurons),
                "L": layers,
                "s": width,
                "q": lambda layer, width=width, neurons=neurons: neurons * width(layer),
            },
            free={"k": range(1, layers + 1)},
        )
