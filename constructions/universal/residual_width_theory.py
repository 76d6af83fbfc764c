"""The theory of residual models' widths: a closed form that outgrows the main text's.

Source: Fixed Universal Transformers, Section 3.3 and Appendix E; the comparisons are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from importlib import import_module
from typing import Any

from constructions.universal.definitions import TransformerSize
from verify.methods.identity import Equation
from verify.real_lemmas import RealLemma
from verify.smtlib import Axiom, Goal, Theory, World, induction

MONOTONE = RealLemma(
    name="a factor that is not negative keeps an inequality",
    variables="t x y",
    premises=("(>= {t} 0.0)", "(>= {x} {y})"),
    conclusion="(>= (* {t} {x}) (* {t} {y}))",
)
STRICT = RealLemma(
    name="a positive factor can be cancelled",
    variables="t x y",
    premises=("(> {t} 0.0)", "(> (* {t} {x}) (* {t} {y}))"),
    conclusion="(> {x} {y})",
)
SCALED = RealLemma(
    name="a positive factor keeps a strict order",
    variables="t x y",
    premises=("(> {t} 0.0)", "(> {x} {y})"),
    conclusion="(> (* {t} {x}) (* {t} {y}))",
)
OUTGROWS = RealLemma(
    name="a base larger by b / 2r gains one more each time",
    variables="a b g r n",
    premises=("(>= {g} 0.0)", "(>= {n} 0.0)", "(= {b} (* 2.0 (* {g} {r})))", "(= {a} (+ {b} {g}))"),
    conclusion="(>= (* {a} (+ (* 2.0 {r}) {n})) (* {b} (+ (* 2.0 {r}) (+ {n} 1.0))))",
)
EQUAL = RealLemma(
    name="equal numbers have equal multiples",
    variables="t x y",
    premises=("(= {x} {y})",),
    conclusion="(= (* {t} {x}) (* {t} {y}))",
)
POSITIVE = RealLemma(
    name="a product of positive numbers",
    variables="x y",
    premises=("(> {x} 0.0)", "(> {y} 0.0)"),
    conclusion="(> (* {x} {y}) 0.0)",
)
RESIDUAL_LEMMAS = (MONOTONE, STRICT, SCALED, OUTGROWS, EQUAL, POSITIVE)


def residual_equations(growth: Any = None) -> tuple[Equation, ...]:
    """Appendix E's residual recursion against its closed form; y stands for a^k.

    `growth` is what a is claimed to be, (H + 1)(2r + 1) by default.
    """
    sympy: Any = import_module("sympy")

    heads, width, tokens, neurons, s, y = sympy.symbols("H d d_in r s y")
    a = (heads + 1) * (2 * neurons + 1) if growth is None else growth(heads, neurons)
    reads = 2 * heads * width

    def closed(power: Any) -> Any:  # (a - 1) times the width, k layers above the readout
        return (a - 1) * power * tokens + reads * (power - 1)

    return (
        Equation(
            name="one layer multiplies by a and adds 2Hd",
            left=reads + (heads + 1) * s + 2 * (heads + 1) * neurons * s,
            right=a * s + reads,
        ),
        Equation(name="the readout has d_in columns", left=closed(1), right=(a - 1) * tokens),
        Equation(
            name="the closed form obeys the recursion",
            left=closed(a * y),
            right=a * closed(y) + (a - 1) * reads,
        ),
    )


def residual_width_theory() -> Theory:
    """s_0 of n layers as S(n), powers A(n) = a^n and B(n) = b^n, and n itself as a real number."""
    recursions = (
        ("N", "0.0", "(+ (N n) 1.0)", "n as a real number"),
        ("A", "1.0", "(* a (A n))", "A(n) = a^n"),
        ("B", "1.0", "(* b (B n))", "B(n) = b^n, the main text's (2(H+1)r)^n"),
        ("S", "din", "(+ (* a (S n)) (* 2.0 (* H d)))", "a layer more: s' = a s + 2Hd"),
    )
    return Theory(
        name="residual widths",
        declarations="""
(declare-const H Real) (declare-const d Real) (declare-const din Real) (declare-const r Real)
(declare-const a Real) (declare-const b Real) (declare-const g Real) (declare-const bound Real)
(declare-const k Int)
(declare-fun N (Int) Real) (declare-fun A (Int) Real) (declare-fun B (Int) Real)
(declare-fun S (Int) Real) (declare-fun grown (Int) Bool)
""",
        axioms=(
            Axiom(
                "sizes",
                "(and (>= H 1.0) (>= d 1.0) (>= din 1.0) (>= r 1.0) (> bound 0.0))",
                "all sizes are at least 1; some positive constant is tried as a bound",
            ),
            Axiom(
                "first",
                f"(and {' '.join(f'(= ({name} 0) {first})' for name, first, _, _ in recursions)})",
                "no layer: n = 0, powers are 1, and s_0 is d_in",
            ),
            *(
                Axiom(
                    name,
                    f"""(forall ((n Int)) (! (=> (>= n 0) (= ({name} (+ n 1)) {more}))
                      :pattern ((grown n))))""",
                    gloss,
                )
                for name, _, more, gloss in recursions
            ),
            Axiom(
                "depth",
                "(forall ((n Int)) (! (= (grown n) (>= n 0)) :pattern ((grown n))))",
                "n layers can be one more",
            ),
        ),
        worlds=_residual_worlds,
    )


_BASES = "(and (= g (+ H 1.0)) (= b (* 2.0 (* g r))) (= a (+ b g)))"
"""What a and b are: (H+1)(2r+1) = b + (H+1), and the main text's 2(H+1)r."""
_SIGNS = "(and (> a 0.0) (> b 0.0) (> g 0.0))"
_GAIN = "(>= (* a (+ (* 2.0 r) (N k))) (* b (+ (* 2.0 r) (+ (N k) 1.0))))"
_POWERS = "(and (> (B {0}) 0.0) (> (A {0}) 0.0) (>= (N {0}) 0.0))".format
_BERNOULLI = "(>= (* 2.0 (* r (A {0}))) (* (B {0}) (+ (* 2.0 r) (N {0}))))".format
_AT_LEAST = "(>= (S {0}) (* (A {0}) din))".format
_GAINED = """(>= (* 2.0 (* r (* a (A k))))
  (* (* b (B k)) (+ (* 2.0 r) (+ (N k) 1.0))))"""
_NEXT = """(and (grown k) (= (A (+ k 1)) (* a (A k))) (= (B (+ k 1)) (* b (B k)))
  (= (N (+ k 1)) (+ (N k) 1.0)) (= (S (+ k 1)) (+ (* a (S k)) (* 2.0 (* H d)))))"""


def residual_width_goals(theory: Theory) -> tuple[Goal, ...]:
    """Bernoulli's inequality for a/b = 1 + 1/2r, then a depth at which the bound fails."""
    step = (_SIGNS, _NEXT)

    def over_depth(
        name: str, invariant: Callable[[str], str], given: tuple[str, ...]
    ) -> tuple[Goal, Goal]:
        return induction(
            name=name,
            theory=theory,
            invariant=invariant,
            base="0",
            step=("k", "(+ k 1)"),
            step_assumptions=(*step, *given),
        )

    weight = "(* (B k) (+ (* 2.0 r) (N k)))"
    return (
        *(lemma.goal for lemma in RESIDUAL_LEMMAS),
        Goal(
            name="the bases are positive",
            theory=theory,
            assumptions=(_BASES, POSITIVE.at(x="g", y="r")),
            conclusion=_SIGNS,
        ),
        Goal(
            name="the larger base gains one more",
            theory=theory,
            assumptions=(
                _BASES,
                _SIGNS,
                _POWERS("k"),
                OUTGROWS.at(a="a", b="b", g="g", r="r", n="(N k)"),
            ),
            conclusion=_GAIN,
        ),
        Goal(name="one layer more", theory=theory, assumptions=("(>= k 0)",), conclusion=_NEXT),
        *over_depth(
            "powers are positive",
            _POWERS,
            (POSITIVE.at(x="a", y="(A k)"), POSITIVE.at(x="b", y="(B k)")),
        ),
        Goal(
            name="one layer's gain",
            theory=theory,
            assumptions=(
                _SIGNS,
                _POWERS("k"),
                _BERNOULLI("k"),
                _GAIN,
                MONOTONE.at(t="a", x="(* 2.0 (* r (A k)))", y=weight),
                MONOTONE.at(
                    t="(B k)",
                    x="(* a (+ (* 2.0 r) (N k)))",
                    y="(* b (+ (* 2.0 r) (+ (N k) 1.0)))",
                ),
            ),
            conclusion=_GAINED,
        ),
        *over_depth(
            "a^n outgrows b^n by a factor that grows with n",
            _BERNOULLI,
            (
                _GAINED,
                EQUAL.at(t="r", x="(A (+ k 1))", y="(* a (A k))"),
                EQUAL.at(t="r", x="(B (+ k 1))", y="(* b (B k))"),
                EQUAL.at(t="(N (+ k 1))", x="(B (+ k 1))", y="(* b (B k))"),
                EQUAL.at(t="(* b (B k))", x="(N (+ k 1))", y="(+ (N k) 1.0)"),
            ),
        ),
        *over_depth(
            "the width is at least a^n d_in",
            _AT_LEAST,
            (
                MONOTONE.at(t="a", x="(S k)", y="(* (A k) din)"),
                EQUAL.at(t="din", x="(A (+ k 1))", y="(* a (A k))"),
                POSITIVE.at(x="H", y="d"),
            ),
        ),
        Goal(
            name="at some depth the constant is too small",
            theory=theory,
            role="conclusion",
            assumptions=(
                "(>= k 0)",
                _SIGNS,
                _POWERS("k"),
                _BERNOULLI("k"),
                _AT_LEAST("k"),
                "(> (* (N k) din) (* (* 2.0 r) (* bound (+ din d))))",
                MONOTONE.at(t="din", x="(* 2.0 (* r (A k)))", y=weight),
                MONOTONE.at(t="(* 2.0 r)", x="(S k)", y="(* (A k) din)"),
                POSITIVE.at(x="(B k)", y="r"),
                POSITIVE.at(x="(* (B k) r)", y="din"),
                SCALED.at(t="(B k)", x="(* (N k) din)", y="(* (* 2.0 r) (* bound (+ din d)))"),
                STRICT.at(t="(* 2.0 r)", x="(S k)", y="(* bound (* (B k) (+ din d)))"),
            ),
            conclusion="(> (S k) (* bound (* (B k) (+ din d))))",
        ),
    )


def _residual_worlds() -> Iterator[World]:
    heads, width, tokens, neurons = 2, 2, 3, 1
    sizes = [
        TransformerSize(
            heads=heads,
            layers=layers,
            head_width=width,
            token_width=tokens,
            neurons=neurons,
            residual=True,
        ).probe_width
        for layers in range(1, 9)
    ]
    widths = [tokens, *sizes]

    def width_of(n: int) -> Fraction:
        return Fraction(widths[max(n, 0)])

    b: int = 2 * (heads + 1) * neurons
    a: int = b + heads + 1
    yield World(
        sorts={},
        symbols={
            "H": Fraction(heads),
            "d": Fraction(width),
            "din": Fraction(tokens),
            "r": Fraction(neurons),
            "a": Fraction(a),
            "b": Fraction(b),
            "g": Fraction(heads + 1),
            "bound": Fraction(1, 2),
            "grown": lambda n: n >= 0,
            "N": lambda n: Fraction(max(n, 0)),
            "A": lambda n: Fraction(a) ** max(n, 0),
            "B": lambda n: Fraction(b) ** max(n, 0),
            "S": width_of,
        },
        integers=range(6),
        free={"k": range(6)},
    )
