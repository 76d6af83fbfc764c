"""Differences of powers as a theory: (D^k j^m)(h) is 0 for m < k and k! for m = k.

    dif (k m j)       the k-th difference of j^m, at j
    coef (k j m)      the coefficient of x^m in the k-th difference of f(j x), f = sum_m a_m x^m

Source: Fixed Universal Transformers, Section 4 and Theorem 4.1; the proof is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from verify.real_lemmas import RealLemma
from verify.smtlib import Axiom, Goal, Theory, World

_DECLARATIONS = """
(declare-fun power (Int Int) Real) (declare-fun dif (Int Int Int) Real)
(declare-fun fac (Int) Real) (declare-fun a (Int) Real) (declare-fun coef (Int Int Int) Real)
(declare-const k Int) (declare-const m Int) (declare-const j Int)
"""
_AXIOMS = {
    "powers": Axiom(
        "powers",
        """(forall ((m Int) (j Int)) (! (and (= (power 0 j) 1.0) (=> (>= m 0)
          (= (power (+ m 1) j) (* (to_real j) (power m j))))) :pattern ((power (+ m 1) j))))""",
        "j^0 = 1 and j^(m+1) = j j^m",
    ),
    "differences": Axiom(
        "differences",
        """(forall ((k Int) (m Int) (j Int)) (! (and (= (dif 0 m j) (power m j)) (=> (>= k 0)
          (= (dif (+ k 1) m j) (- (dif k m (+ j 1)) (dif k m j)))))
          :pattern ((dif (+ k 1) m j))))""",
        "the k-th difference of j^m, at j",
    ),
    "one": Axiom(
        "first power",
        "(forall ((j Int)) (! (and (= (dif 0 0 j) 1.0) (= (fac 0) 1.0)) :pattern ((dif 0 0 j))))",
        "j^0 = 1 = 0!",
    ),
    "factorial": Axiom(
        "factorial",
        """(forall ((m Int)) (! (=> (>= m 0) (= (fac (+ m 1)) (* (to_real (+ m 1)) (fac m))))
          :pattern ((fac (+ m 1)))))""",
        "(m + 1)! = (m + 1) m!",
    ),
    "series": Axiom(
        "coefficients",
        """(forall ((k Int) (j Int) (m Int)) (! (=> (and (>= k 0) (>= m 0))
          (= (coef k j m) (* (a m) (dif k m j)))) :pattern ((coef k j m))))""",
        "the coefficient of x^m in the k-th difference of f(j x) = sum_m a_m j^m x^m",
    ),
    "taylor": Axiom(
        "Taylor coefficients",
        "(forall ((m Int)) (! (=> (>= m 0) (not (= (* (fac m) (a m)) 0.0))) :pattern ((a m))))",
        "m! a_m is the m-th derivative at ln 2; lowerbounds.two_types.eulerian: it is not 0",
    ),
}
Worlds = Callable[[], Iterable[World]]

FIRST = RealLemma(
    name="a difference of j F",
    variables="j p q A B",
    premises=("(= {A} (* (+ {j} 1.0) {p}))", "(= {B} (* {j} {q}))"),
    conclusion="(= (- {A} {B}) (+ (* (+ {j} 1.0) (- {p} {q})) {q}))",
)
LATER = RealLemma(
    name="a further difference of j F",
    variables="n q A B r s t u",
    premises=(
        "(= {A} (+ (* (+ {n} 1.0) {r}) (* {q} {t})))",
        "(= {B} (+ (* {n} {s}) (* {q} {u})))",
        "(= {s} (- {t} {u}))",
    ),
    conclusion="(= (- {A} {B}) (+ (* (+ {n} 1.0) (- {r} {s})) (* (+ {q} 1.0) {s})))",
)
ABSENT = RealLemma(
    name="a vanishing factor",
    variables="a x",
    premises=("(= {x} 0.0)",),
    conclusion="(= (* {a} {x}) 0.0)",
)
LEMMAS = (FIRST, LATER, ABSENT)


def _theory(worlds: Worlds, *names: str) -> Theory:
    return Theory(
        name=f"differences: {', '.join(names) or 'arithmetic'}",
        declarations=_DECLARATIONS,
        axioms=tuple(_AXIOMS[name] for name in names),
        worlds=worlds,
    )


def _leibniz(k: str, j: str, number: str = "(to_real (+ j (+ {0} 1)))") -> str:
    factor = number.format(k).replace("(+ j ", f"(+ {j} ")
    return f"""(= (dif (+ {k} 1) (+ m 1) {j})
      (+ (* {factor} (dif (+ {k} 1) m {j})) (* (to_real (+ {k} 1)) (dif {k} m {j}))))"""


def difference_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """The rule for j F, powers by induction over m, and the first coefficient of a difference."""
    return (
        *(lemma.goal for lemma in LEMMAS),
        *_leibniz_goals(worlds),
        *_power_goals(worlds),
        *_coefficient_goals(worlds),
    )


_FIRST_AT = FIRST.at(
    j="(to_real j)",
    p="(power m (+ j 1))",
    q="(power m j)",
    A="(power (+ m 1) (+ j 1))",
    B="(power (+ m 1) j)",
)
_LATER_AT = LATER.at(
    n="(to_real (+ j (+ k 1)))",
    q="(to_real (+ k 1))",
    A="(dif (+ k 1) (+ m 1) (+ j 1))",
    B="(dif (+ k 1) (+ m 1) j)",
    r="(dif (+ k 1) m (+ j 1))",
    s="(dif (+ k 1) m j)",
    t="(dif k m (+ j 1))",
    u="(dif k m j)",
)


def _leibniz_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """(D^(k+1) j F)(j) = (j + k + 1) (D^(k+1) F)(j) + (k + 1) (D^k F)(j), by induction over k."""
    unfolded = """(and (= (dif (+ (+ k 1) 1) (+ m 1) j)
        (- (dif (+ k 1) (+ m 1) (+ j 1)) (dif (+ k 1) (+ m 1) j)))
      (= (dif (+ (+ k 1) 1) m j) (- (dif (+ k 1) m (+ j 1)) (dif (+ k 1) m j)))
      (= (dif (+ k 1) m j) (- (dif k m (+ j 1)) (dif k m j))))"""
    start = """(and (= (dif (+ 0 1) (+ m 1) j) (- (power (+ m 1) (+ j 1)) (power (+ m 1) j)))
      (= (dif (+ 0 1) m j) (- (power m (+ j 1)) (power m j))) (= (dif 0 m j) (power m j)))"""
    raised = tuple(
        f"(= (power (+ m 1) {at}) (* (to_real {at}) (power m {at})))" for at in ("j", "(+ j 1)")
    )
    sizes = "(and (<= 0 k) (<= 0 m))"
    return (
        Goal(
            name="a first difference",
            theory=_theory(worlds, "differences"),
            assumptions=(sizes,),
            conclusion=start,
        ),
        *(
            Goal(
                name=name,
                theory=_theory(worlds, "powers"),
                assumptions=("(<= 0 m)",),
                conclusion=shown,
            )
            for name, shown in zip(("a power", "a neighbour's power"), raised, strict=True)
        ),
        Goal(
            name="the rule for j F: base",
            theory=_theory(worlds),
            role="base",
            assumptions=(start, *raised, _FIRST_AT),
            conclusion=_leibniz("0", "j"),
        ),
        Goal(
            name="three differences",
            theory=_theory(worlds, "differences"),
            assumptions=(sizes,),
            conclusion=unfolded,
        ),
        Goal(
            name="the rule for j F: step",
            theory=_theory(worlds),
            role="step",
            assumptions=(unfolded, _LATER_AT, _leibniz("k", "j"), _leibniz("k", "(+ j 1)")),
            conclusion=_leibniz("(+ k 1)", "j"),
        ),
    )


def _vanishes(m: str) -> str:
    return f"""(forall ((k Int) (j Int)) (! (=> (> k {m}) (= (dif k {m} j) 0.0))
      :pattern ((dif k {m} j))))"""


def _leads(m: str) -> str:
    return f"(forall ((j Int)) (! (= (dif {m} {m} j) (fac {m})) :pattern ((dif {m} {m} j))))"


def _power_goals(worlds: Worlds) -> tuple[Goal, ...]:
    rule = _leibniz("k", "j")
    products = (
        ABSENT.at(a="(to_real (+ j (+ k 1)))", x="(dif (+ k 1) m j)"),
        ABSENT.at(a="(to_real (+ k 1))", x="(dif k m j)"),
    )
    sizes = "(and (<= 0 k) (<= 0 m))"

    def nothing(k: str) -> str:
        return f"(forall ((j Int)) (! (= (dif {k} 0 j) 0.0) :pattern ((dif {k} 0 j))))"

    constant = _theory(worlds, "differences", "one")
    return (
        Goal(
            name="a constant has no difference: base",
            theory=constant,
            role="base",
            conclusion="(= (dif (+ 0 1) 0 j) 0.0)",
        ),
        Goal(
            name="a constant has no difference: step",
            theory=constant,
            role="step",
            assumptions=("(<= 1 k)", nothing("k")),
            conclusion="(= (dif (+ k 1) 0 j) 0.0)",
        ),
        Goal(
            name="the first power: base",
            theory=_theory(worlds, "one"),
            role="base",
            conclusion=_leads("0"),
        ),
        Goal(
            name="lower powers vanish: step",
            theory=_theory(worlds),
            role="step",
            assumptions=(sizes, "(> k m)", _vanishes("m"), rule, *products),
            conclusion="(= (dif (+ k 1) (+ m 1) j) 0.0)",
        ),
        Goal(
            name="the power itself: step",
            theory=_theory(worlds, "factorial"),
            role="step",
            assumptions=(sizes, "(= k m)", _vanishes("m"), _leads("m"), rule, *products),
            conclusion="(= (dif (+ m 1) (+ m 1) j) (fac (+ m 1)))",
        ),
    )


def _coefficient_goals(worlds: Worlds) -> tuple[Goal, ...]:
    series = _theory(worlds, "series")
    taylor = _theory(worlds, "series", "taylor")
    return (
        Goal(
            name="lower coefficients of a difference are 0",
            theory=series,
            assumptions=("(and (<= 0 m) (< m k))", _vanishes("m")),
            conclusion="(= (coef k j m) 0.0)",
        ),
        Goal(
            name="coefficient k of the k-th difference is not 0",
            theory=taylor,
            role="conclusion",
            assumptions=("(<= 0 k)", _leads("k")),
            conclusion="(not (= (coef k j k) 0.0))",
        ),
    )
