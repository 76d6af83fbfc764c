"""Softmax attention over two types of tokens as a theory; e is any character of the reals.

    e, sigma          the exponential and e / (e + 1); lambda is where e is 2
    y1, y2 (l)        the stream that enters layer l + 1, at the two types
    c (l h)           scale of head h's logits in layer l + 1
    up, low (p)       the path vector A_p X at the two types; `then` appends a layer's head
    factor (l h)      sigma(c y1 delta + lambda) - sigma(c y2 delta + lambda)

Source: Fixed Universal Transformers, Section 4 and Theorem 4.1; the proof is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from verify.real_lemmas import RealLemma
from verify.smtlib import Axiom, Goal, Theory, World, induction

_DECLARATIONS = """
(declare-sort Path 0)
(declare-fun e (Real) Real) (declare-fun sigma (Real) Real) (declare-const lambda Real)
(declare-const layers Int) (declare-const heads Int)
(declare-const nil Path) (declare-fun then (Path Int) Path) (declare-fun depth (Path) Int)
(declare-fun c (Int Int) Real) (declare-fun y1 (Int) Real) (declare-fun y2 (Int) Real)
(declare-const s Real) (declare-fun up (Path) Real) (declare-fun low (Path) Real)
(declare-fun factor (Int Int) Real) (declare-fun product (Path) Real)
(declare-const p Path) (declare-const h Int)
(declare-const a Real) (declare-const b Real) (declare-const d Real) (declare-const x Real)
"""
_STEP = "(and (<= 0 (depth p)) (< (depth p) layers) (<= 0 h) (< h heads))"
_C, _FIRST, _SECOND = "(c (depth p) h)", "(y1 (depth p))", "(y2 (depth p))"


def _logit(query: str, key: str) -> str:
    return f"(* (* {_C} {query}) {key})"


def _difference(query: str) -> str:
    """The argument of sigma at a query's stream value."""
    return f"(+ (- {_logit(query, _FIRST)} {_logit(query, _SECOND)}) lambda)"


def _row(query: str, value: str) -> str:
    """A row of the softmax: two keys of type 1 and one of type 2, times its normaliser."""
    first, second = f"(e {_logit(query, _FIRST)})", f"(e {_logit(query, _SECOND)})"
    return f"""(= (* {value} (+ (* 2.0 {first}) {second}))
      (+ (* (* 2.0 {first}) (up p)) (* {second} (low p))))"""


_CHARACTER = (
    Axiom(
        "sums",
        "(forall ((u Real) (v Real)) (! (= (e (+ u v)) (* (e u) (e v))) :pattern ((e (+ u v)))))",
        "e(a + b) = e(a) e(b)",
    ),
    Axiom("positive", "(forall ((a Real)) (! (> (e a) 0.0) :pattern ((e a))))", "e(a) > 0"),
    Axiom("lambda", "(= (e lambda) 2.0)", "lambda = ln 2"),
)
_SIGMA = Axiom(
    "logistic",
    "(forall ((a Real)) (! (= (* (sigma a) (+ (e a) 1.0)) (e a)) :pattern ((sigma a))))",
    "sigma(a) = e(a) / (e(a) + 1)",
)
_ATTENTION = Axiom(
    "attention",
    f"""(forall ((p Path) (h Int)) (! (=> {_STEP}
      (and {_row(_FIRST, "(up (then p h))")} {_row(_SECOND, "(low (then p h))")}))
      :pattern ((up (then p h))) :pattern ((low (then p h)))))""",
    "each row is the softmax of the logits c y_i y_j over two tokens of type 1 and one of type 2",
)
_FACTOR = Axiom(
    "factor",
    f"""(forall ((p Path) (h Int)) (! (=> {_STEP} (= (factor (depth p) h)
      (- (sigma {_difference(_FIRST)}) (sigma {_difference(_SECOND)}))))
      :pattern ((factor (depth p) h))))""",
    "a layer's factor, c y_i delta written as c y_i y_1 - c y_i y_2",
)
_PATHS = (
    Axiom(
        "paths",
        f"""(and (= (depth nil) 0) (<= 0 layers) (forall ((p Path) (h Int)) (! (=> {_STEP}
          (= (depth (then p h)) (+ (depth p) 1))) :pattern ((then p h)))))""",
        "a path grows by one head a layer",
    ),
    Axiom("input", "(and (= (up nil) s) (= (low nil) 0.0))", "X = s (1, 1, 0)"),
    Axiom(
        "product",
        f"""(and (= (product nil) 1.0) (forall ((p Path) (h Int)) (! (=> {_STEP}
          (= (product (then p h)) (* (product p) (factor (depth p) h))))
          :pattern ((product (then p h))))))""",
        "the factors along a path, multiplied",
    ),
)

DOUBLED = RealLemma(
    name="a common factor",
    variables="A B E T t",
    premises=("(= {E} (* {T} {t}))", "(= {t} 2.0)", "(= {A} (* {T} {B}))"),
    conclusion="(= (* {E} {B}) (* 2.0 {A}))",
)
SCALED = RealLemma(
    name="a row by its odds",
    variables="a b E S v u w",
    premises=(
        "(> {b} 0.0)",
        "(= (* {E} {b}) (* 2.0 {a}))",
        "(= (* {v} (+ (* 2.0 {a}) {b})) (+ (* (* 2.0 {a}) {u}) (* {b} {w})))",
    ),
    conclusion="(= (* {v} (+ {E} 1.0)) (+ (* {E} {u}) {w}))",
)
MIXED = RealLemma(
    name="a row mixes two values",
    variables="E S v u w",
    premises=(
        "(> {E} 0.0)",
        "(= (* {S} (+ {E} 1.0)) {E})",
        "(= (* {v} (+ {E} 1.0)) (+ (* {E} {u}) {w}))",
    ),
    conclusion="(= {v} (+ {w} (* (- {u} {w}) {S})))",
)
GROWN = RealLemma(
    name="one more factor",
    variables="d s t f",
    premises=("(= {d} (* {s} {t}))",),
    conclusion="(= (* {d} {f}) (* {s} (* {t} {f})))",
)


def _theory(name: str, axioms: Iterable[Axiom], worlds: Callable[[], Iterable[World]]) -> Theory:
    return Theory(
        name=f"two types: {name}", declarations=_DECLARATIONS, axioms=tuple(axioms), worlds=worlds
    )


def _mixed(query: str, value: str) -> str:
    weight = f"(sigma {_difference(query)})"
    return f"(= {value} (+ (low p) (* (- (up p) (low p)) {weight})))"


def two_types_goals(worlds: Callable[[], Iterable[World]]) -> tuple[Goal, ...]:
    """A row of the softmax by its odds, the difference of two rows, induction over layers."""
    return (
        *(lemma.goal for lemma in (DOUBLED, SCALED, MIXED, GROWN)),
        *_odds_goals(worlds),
        *_row_goals("type 1", _FIRST, "(up (then p h))", worlds),
        *_row_goals("type 2", _SECOND, "(low (then p h))", worlds),
        *_path_goals(worlds),
    )


_ODDS = """(and (> (e {x}) 0.0) (> (e {b}) 0.0)
  (= (* (e {x}) (e {b})) (* 2.0 (e {a}))))"""


def _odds_goals(worlds: Callable[[], Iterable[World]]) -> tuple[Goal, ...]:
    """e(a - b + lambda) e(b) = 2 e(a) for all a and b; it is used where these are logits."""
    letters = {name: name for name in "abx"}
    sums = ("(= a (+ d b))", "(= x (+ d lambda))")
    products = """(and (= (e (+ d b)) (* (e d) (e b)))
      (= (e (+ d lambda)) (* (e d) (e lambda))))"""
    values = "(and (> (e x) 0.0) (> (e b) 0.0) (= (e lambda) 2.0))"
    atoms = {"E": "(e x)", "A": "(e a)", "B": "(e b)", "T": "(e d)", "t": "(e lambda)"}
    return (
        Goal(
            name="sums of logits",
            theory=_theory("character", _CHARACTER[:1], worlds),
            conclusion=products,
        ),
        Goal(
            name="exponentials",
            theory=_theory("values", _CHARACTER[1:], worlds),
            conclusion=values,
        ),
        Goal(
            name="odds of the types",
            theory=_theory("odds", (), worlds),
            assumptions=(*sums, products, values, DOUBLED.at(**atoms)),
            conclusion=_ODDS.format(**letters),
        ),
    )


def _row_goals(
    name: str, query: str, value: str, worlds: Callable[[], Iterable[World]]
) -> tuple[Goal, ...]:
    first, second = f"(e {_logit(query, _FIRST)})", f"(e {_logit(query, _SECOND)})"
    odds = f"(e {_difference(query)})"
    weight = f"(= (* (sigma {_difference(query)}) (+ {odds} 1.0)) {odds})"
    terms = {"E": odds, "S": f"(sigma {_difference(query)})", "v": value}
    terms |= {"u": "(up p)", "w": "(low p)"}
    logits = {"a": _logit(query, _FIRST), "b": _logit(query, _SECOND), "x": _difference(query)}
    return (
        Goal(
            name=f"{name}: the weight of type 1",
            theory=_theory("logistic", (_SIGMA,), worlds),
            conclusion=weight,
        ),
        Goal(
            name=f"{name}: its row of the softmax",
            theory=_theory("attention", (_ATTENTION,), worlds),
            assumptions=(_STEP,),
            conclusion=_row(query, value),
        ),
        Goal(
            name=f"{name}: attention mixes the two values",
            theory=_theory("rows", (), worlds),
            assumptions=(
                _STEP,
                weight,
                _ODDS.format(**logits),
                _row(query, value),
                SCALED.at(a=first, b=second, **terms),
                MIXED.at(**terms),
            ),
            conclusion=_mixed(query, value),
        ),
    )


def _path_goals(worlds: Callable[[], Iterable[World]]) -> tuple[Goal, ...]:
    apart = "(- (up {0}) (low {0}))"
    whole = f"(= {apart} (* s (product {{0}})))"
    grown = f"(= {apart.format('(then p h)')} (* {apart.format('p')} (factor (depth p) h)))"
    more = GROWN.at(d=apart.format("p"), s="s", t="(product p)", f="(factor (depth p) h)")
    mixed = (_mixed(_FIRST, "(up (then p h))"), _mixed(_SECOND, "(low (then p h))"))
    return (
        Goal(
            name="a layer multiplies the difference by its factor",
            theory=_theory("factors", (_FACTOR,), worlds),
            assumptions=(_STEP, *mixed),
            conclusion=grown,
        ),
        *induction(
            name="the difference is a product over the layers",
            theory=_theory("paths", _PATHS, worlds),
            invariant=whole.format,
            base="nil",
            step=("p", "(then p h)"),
            step_assumptions=(_STEP, grown, more),
        ),
    )
