"""How wide models that meet in the middle are, and that none is narrower for even L: goals.

Source: Fixed Universal Transformers, Section 4 and Theorem 4.1; the construction is ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from lowerbounds.meeting_models import MEETING, Meeting, Rules
from verify.real_lemmas import RealLemma
from verify.smtlib import Axiom, Goal, Theory, World, induction

_WIDTHS = """
(declare-const H Real) (declare-const m Real) (declare-const rival Real) (declare-const s Real)
(declare-fun count (Int) Real) (declare-const k Int) (declare-const l Int)
"""
_COUNT = Axiom(
    "powers",
    """(and (= (count 0) 1.0) (forall ((i Int)) (! (=> (>= i 0)
      (= (count (+ i 1)) (* H (count i)))) :pattern ((count i)))))""",
    "count(i) is H^i",
)
_WIDTH = Axiom(
    "coordinates",
    "(and (<= 0 k) (= m (* (count k) (+ s 1.0))))",
    "H^k words of k heads, each with the places 0..s",
)
_BOUND = Axiom(
    "lower bound",
    "(and (>= rival 1.0) (>= (* rival rival) (count (+ k k))))",
    "lowerbounds.spanning.free_readout: m'^2 >= H^L for every model that serves all targets",
)
_MORE = RealLemma(
    name="one factor more",
    variables="a b c h d e",
    premises=("(= {a} (* {b} {c}))", "(= {d} (* {h} {a}))", "(= {e} (* {h} {c}))"),
    conclusion="(= {d} (* {b} {e}))",
)
_ROOT = RealLemma(
    name="squares grow",
    variables="a b n",
    premises=("(>= {a} 1.0)", "(= {n} (* {b} {b}))", "(>= (* {a} {a}) {n})"),
    conclusion="(>= {a} {b})",
)


def _adds(length: str) -> str:
    return f"(= (count (+ k {length})) (* (count k) (count {length})))"


def width_goals(rules: Rules = MEETING) -> tuple[Goal, ...]:
    """For even L m = H^(L/2), which no other model undercuts."""

    def theory(name: str, axiom: Axiom) -> Theory:
        return Theory(
            name=f"widths: {name}",
            declarations=_WIDTHS,
            axioms=(axiom,),
            worlds=lambda: width_worlds(rules),
        )

    return (
        Goal(
            name="even L: m = H^(L/2)",
            theory=theory("coordinates", _WIDTH),
            assumptions=("(= s 0.0)",),
            conclusion="(= m (count k))",
        ),
        *_power_goals(theory("powers", _COUNT)),
        _ROOT.goal,
        Goal(
            name="no model has fewer coordinates",
            theory=theory("lower bound", _BOUND),
            role="conclusion",
            assumptions=(
                "(= m (count k))",
                _adds("k"),
                _ROOT.at(a="rival", b="(count k)", n="(count (+ k k))"),
            ),
            conclusion="(>= rival m)",
        ),
    )


def _power_goals(powers: Theory) -> tuple[Goal, ...]:
    """H^(k+l) = H^k H^l, by induction over l."""
    grown = """(and (= (count (+ l 1)) (* H (count l)))
      (= (count (+ k (+ l 1))) (* H (count (+ k l)))))"""
    more = _MORE.at(
        a="(count (+ k l))",
        b="(count k)",
        c="(count l)",
        h="H",
        d="(count (+ k (+ l 1)))",
        e="(count (+ l 1))",
    )
    return (
        _MORE.goal,
        Goal(
            name="the next power",
            theory=powers,
            assumptions=("(<= 0 k)", "(<= 0 l)"),
            conclusion=grown,
        ),
        *induction(
            name="powers multiply",
            theory=powers,
            invariant=_adds,
            base="0",
            step=("l", "(+ l 1)"),
            step_assumptions=("(<= 0 l)", grown, more),
        ),
    )


def width_worlds(rules: Rules) -> Iterator[World]:
    """Widths of actual models; the rival is one of leaves, with a coordinate for each path."""
    for heads, layers in ((2, 4), (3, 2), (3, 3)):
        model = Meeting(heads=heads, layers=layers, rules=rules)
        yield World(
            sorts={},
            integers=range(-1, 5),
            symbols={
                "H": Fraction(heads),
                "m": Fraction(model.width),
                "s": Fraction(model.last),
                "k": model.half,
                "count": lambda power, heads=heads: Fraction(heads) ** power,
            },
            free={
                "rival": [Fraction(heads**model.half), Fraction(heads**layers)],
                "l": range(3),
            },
        )
