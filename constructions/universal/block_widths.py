"""How wide gated and residual models are: Appendix E's recursions against the main text.

    gated      q_l = r s_l, which is the main text's r d_in in the last layer only
    residual   s_0 = a^L d_in + 2Hd (a^L - 1)/(a - 1), a = (H+1)(2r+1), which no constant times
               (2(H+1)r)^L (d_in + d), the main text's "replace H by H+1", bounds for all L

A statement about the recursions that Appendix E solves, not about what is necessary.

Source: Fixed Universal Transformers, Section 3.3 and Appendix E; the comparisons are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from importlib import import_module
from typing import Any

from constructions.universal.definitions import TransformerSize
from constructions.universal.instances import FixedCase, Kind, block_ranges
from constructions.universal.routed import LAYOUT as ROUTED
from constructions.universal.sums import PAPER
from verify.claims import Check, Source, claim, covers, supports
from verify.counterexamples import Counterexample
from verify.facts import ARCHIMEDES, INDUCTION
from verify.methods.exhaustive import Exhaustive
from verify.methods.identity import Equation, Identity
from verify.methods.smt import Smt
from verify.real_lemmas import RealLemma
from verify.smtlib import Axiom, Goal, Theory, World, induction
from verify.verdicts import Status

# --- gated -----------------------------------------------------------------------------------

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


# --- residual --------------------------------------------------------------------------------

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


# --- claims ----------------------------------------------------------------------------------


def widths_fail(
    width: Callable[[TransformerSize], int],
) -> Callable[[FixedCase], Counterexample | None]:
    """The obligation that a size's probe width, summed from its columns, is what a formula says."""

    def holds(case: FixedCase) -> Counterexample | None:
        size = case.size
        columns = ROUTED.build(size, case.width)
        used = len({int(row) for value in columns.values[0] for row in value.rows if row >= 0})
        reads = sum(part.ones for layer in (columns.queries[0], columns.keys[0]) for part in layer)
        carried = size.inner_width(size.probe_widths[1]) if size.residual else 0
        found, wanted = carried + reads + used, width(size)
        if found == wanted:
            return None
        return Counterexample(
            text=f"P_0 has {found} columns, the formula gives {wanted} ({case.as_json()})",
            instance=case.as_json(),
        )

    return holds


def _instances(width: Callable[[TransformerSize], int], kinds: tuple[Kind, ...]) -> Check:
    return supports(
        Exhaustive(
            holds=widths_fail(width),
            ranges=block_ranges(ROUTED, kinds, quick=(2, 2)),
            rechecked_as="block-width",
            exhibit=lambda case: case.as_json(),
        )
    )


def gated_closed_form(size: TransformerSize) -> int:
    """(2Hr)^L d_in + 2Hd ((2Hr)^L - 1) / (2Hr - 1)."""
    base = 2 * size.heads * size.neurons
    power = base**size.layers
    return power * size.token_width + size.reads * (power - 1) // (base - 1)


def residual_closed_form(size: TransformerSize) -> int:
    """a^L d_in + 2Hd (a^L - 1) / (a - 1), a = (H+1)(2r+1); attention only is r = 0."""
    base = (size.heads + 1) * (2 * size.neurons + 1)
    power = base**size.layers
    return power * size.token_width + size.reads * (power - 1) // (base - 1)


def gated_width_checks(
    width: Callable[[TransformerSize], int] = gated_closed_form,
) -> tuple[Check, ...]:
    """Hidden widths for every size, and the columns of P_0 counted at small ones."""
    return (
        covers(
            Smt(
                goals=lambda: gated_width_goals(gated_width_theory()),
                instances="all H, L, d, d_in, r",
                leans_on=(INDUCTION,),
            )
        ),
        _instances(width, ((1, False), (2, False))),
    )


@claim(
    id="universal.gated.width",
    source=Source(PAPER, "Section 3.3 against Appendix E"),
    latex=r"q_l = r s_l,\quad q_L = r d_{in},\quad q_l > r d_{in}\ (l < L)",
    scope="all H, L, d, d_in, r",
    expected=Status.PROVED,
)
def the_hidden_width_is_r_d_in_in_the_last_layer_only() -> tuple[Check, ...]:
    """Appendix E's universal MLP widths are r s_l, which equal the main text's r d_in only in the
    last layer.
    """  # noqa: D205 - one statement, in one sentence
    return gated_width_checks()


def residual_width_checks(
    width: Callable[[TransformerSize], int] = residual_closed_form, growth: Any = None
) -> tuple[Check, ...]:
    """The closed form, that no constant bounds it as the main text says, and counted columns."""
    return (
        covers(
            Smt(
                goals=lambda: residual_width_goals(residual_width_theory()),
                instances="all H, d, d_in, r and every constant; some L for each",
                leans_on=(INDUCTION, ARCHIMEDES),
            )
        ),
        covers(
            Identity(
                equations=lambda: residual_equations(growth),
                instances="all H, L, d, d_in, r (also none)",
                leans_on=(INDUCTION,),
            )
        ),
        _instances(width, ((2, True), (0, True))),
    )


@claim(
    id="universal.residual.width",
    source=Source(PAPER, "Section 3.3 against Appendix E"),
    latex=r"s_0 = a^L d_{in} + 2Hd \frac{a^L - 1}{a - 1},\ a = (H+1)(2r+1);\quad "
    r"\sup_L \frac{s_0}{(2(H+1)r)^L (d_{in} + d)} = \infty",
    scope="all H, L, d, d_in, r",
    expected=Status.PROVED,
)
def no_constant_bounds_the_residual_width_as_printed() -> tuple[Check, ...]:
    """The recursion of Appendix E solves to a^L d_in + 2Hd(a^L-1)/(a-1), a = (H+1)(2r+1), which
    no constant times (2(H+1)r)^L (d_in+d) bounds for all L.
    """  # noqa: D205 - one statement, in one sentence
    return residual_width_checks()
