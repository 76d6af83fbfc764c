"""Newton's formula carried through a sum over the heads, at any one input.

    d (k)             the k-th difference of f(h x) at h = 0; g (h) is f(h x) - f(0)
    q (h)             what the later layers make of the coefficients that begin with head h
    columns (n k)     sum_{h <= n} C(h, k) q_h: what they make of child k, for n = H
    newton (h k)      sum_{i <= k} C(h, i) d_i, which is g_h for k = H
    rows (n k)        sum_{i <= k} d_i columns(n, i); heads (n) is sum_{h <= n} g_h q_h

So the sum over heads, g_h q_h, is the sum over differences, d_k times that of child k.

Source: Fixed Universal Transformers, Section 4 and Theorem 4.1; the proof is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from math import comb

from lowerbounds.differences import difference
from verify.real_lemmas import RealLemma
from verify.smtlib import Axiom, Goal, Theory, World, induction

_DECLARATIONS = """
(declare-const H Int) (declare-const n Int) (declare-const k Int)
(declare-fun d (Int) Real) (declare-fun g (Int) Real) (declare-fun q (Int) Real)
(declare-fun choose (Int Int) Real) (declare-fun columns (Int Int) Real)
(declare-fun newton (Int Int) Real) (declare-fun rows (Int Int) Real)
(declare-fun heads (Int) Real)
"""
_ROWS = Axiom(
    "sums over differences",
    """(and (forall ((n Int)) (! (= (rows n 0) 0.0) :pattern ((rows n 0))))
      (forall ((n Int) (k Int)) (! (=> (>= k 0) (= (rows n (+ k 1))
        (+ (rows n k) (* (d (+ k 1)) (columns n (+ k 1)))))) :pattern ((rows n (+ k 1))))))""",
    "d_1 columns(n, 1) + .. + d_k columns(n, k)",
)
_COLUMNS = Axiom(
    "columns",
    """(forall ((n Int) (k Int)) (! (and (= (columns 0 k) 0.0) (=> (>= n 0)
      (= (columns (+ n 1) k) (+ (columns n k) (* (choose (+ n 1) k) (q (+ n 1)))))))
      :pattern ((columns (+ n 1) k))))""",
    "C(1, k) q_1 + .. + C(n, k) q_n",
)
_EMPTY = Axiom(
    "no heads",
    """(and (= (heads 0) 0.0) (forall ((k Int)) (! (= (columns 0 k) 0.0)
      :pattern ((columns 0 k)))))""",
    "empty sums",
)
_NEWTON = Axiom(
    "Newton sums",
    """(and (forall ((n Int)) (! (= (newton n 0) 0.0) :pattern ((newton n 0))))
      (forall ((n Int) (k Int)) (! (=> (>= k 0) (= (newton n (+ k 1))
        (+ (newton n k) (* (choose n (+ k 1)) (d (+ k 1)))))) :pattern ((newton n (+ k 1))))))""",
    "C(n, 1) d_1 + .. + C(n, k) d_k",
)
_FORMULA = Axiom(
    "Newton's formula",
    """(forall ((n Int)) (! (=> (and (<= 1 n) (<= n H)) (= (g n) (newton n H)))
      :pattern ((g n))))""",
    "f(n x) - f(0) = sum_{k >= 1} C(n, k) d_k, and C(n, k) = 0 for k > n",
)
_HEADS = Axiom(
    "sums over heads",
    """(forall ((n Int)) (! (=> (>= n 0) (= (heads (+ n 1))
      (+ (heads n) (* (g (+ n 1)) (q (+ n 1)))))) :pattern ((heads (+ n 1)))))""",
    "g_1 q_1 + .. + g_n q_n",
)
SHARED = RealLemma(
    name="one more difference of one more head",
    variables="r R N M c C d b q",
    premises=("(= {C} (+ {c} (* {b} {q})))", "(= {M} (+ {N} (* {b} {d})))"),
    conclusion="(= (+ (+ {r} (* {N} {q})) (* {d} {C})) (+ (+ {r} (* {d} {c})) (* {M} {q})))",
)
ABSENT = RealLemma(
    name="nothing times",
    variables="d c",
    premises=("(= {c} 0.0)",),
    conclusion="(and (= (* {d} {c}) 0.0) (= (* {c} {d}) 0.0))",
)
Worlds = Callable[[], Iterable[World]]


def _theory(name: str, *axioms: Axiom) -> Theory:
    return Theory(
        name=f"all sizes: {name}",
        declarations=_DECLARATIONS,
        axioms=axioms,
        worlds=newton_worlds,
    )


def _added(k: str) -> str:
    return f"(= (rows (+ n 1) {k}) (+ (rows n {k}) (* (newton (+ n 1) {k}) (q (+ n 1)))))"


_SHARED = SHARED.at(
    r="(rows n k)",
    N="(newton (+ n 1) k)",
    M="(newton (+ n 1) (+ k 1))",
    c="(columns n (+ k 1))",
    C="(columns (+ n 1) (+ k 1))",
    d="(d (+ k 1))",
    b="(choose (+ n 1) (+ k 1))",
    q="(q (+ n 1))",
)


def newton_goals() -> tuple[Goal, ...]:
    """No heads; one head more, by induction over differences; all heads, by induction."""
    return (SHARED.goal, ABSENT.goal, *_row_goals(), *_head_goals())


def _row_goals() -> tuple[Goal, ...]:
    sizes = "(and (<= 0 n) (<= 0 k))"
    before, after = (
        f"(= (rows {n} (+ k 1)) (+ (rows {n} k) (* (d (+ k 1)) (columns {n} (+ k 1)))))"
        for n in ("n", "(+ n 1)")
    )
    column = """(= (columns (+ n 1) (+ k 1))
      (+ (columns n (+ k 1)) (* (choose (+ n 1) (+ k 1)) (q (+ n 1)))))"""
    grown = """(= (newton (+ n 1) (+ k 1))
      (+ (newton (+ n 1) k) (* (choose (+ n 1) (+ k 1)) (d (+ k 1)))))"""
    parts = (
        ("a row", _ROWS, before),
        ("the next row", _ROWS, after),
        ("a column", _COLUMNS, column),
        ("sums", _NEWTON, grown),
    )
    return (
        *(
            Goal(
                name=f"one more difference: {name}",
                theory=_theory(name, axiom),
                assumptions=(sizes,),
                conclusion=shown,
            )
            for name, axiom, shown in parts
        ),
        Goal(
            name="one more head: base",
            theory=_theory("no differences", _ROWS, _NEWTON),
            role="base",
            assumptions=(ABSENT.at(d="(q (+ n 1))", c="(newton (+ n 1) 0)"),),
            conclusion=_added("0"),
        ),
        Goal(
            name="one more head: step",
            theory=_theory("arithmetic"),
            role="step",
            assumptions=(sizes, before, after, column, grown, _SHARED, _added("k")),
            conclusion=_added("(+ k 1)"),
        ),
    )


def _head_goals() -> tuple[Goal, ...]:
    next_head = "(= (heads (+ n 1)) (+ (heads n) (* (newton (+ n 1) H) (q (+ n 1)))))"
    inside = "(and (<= 0 n) (< n H))"
    return (
        *induction(
            name="without heads nothing is added",
            theory=_theory("no heads", _EMPTY, _ROWS),
            invariant="(= (rows 0 {0}) 0.0)".format,
            base="0",
            step=("k", "(+ k 1)"),
            step_assumptions=("(<= 0 k)", ABSENT.at(d="(d (+ k 1))", c="(columns 0 (+ k 1))")),
        ),
        Goal(
            name="one head more",
            theory=_theory("heads", _HEADS, _FORMULA),
            assumptions=(inside,),
            conclusion=next_head,
        ),
        *induction(
            name="a sum over heads is one over differences",
            theory=_theory("exchange", _EMPTY),
            invariant="(= (heads {0}) (rows {0} H))".format,
            base="0",
            step=("n", "(+ n 1)"),
            base_assumptions=("(= (rows 0 H) 0.0)",),
            step_assumptions=(inside, next_head, _added("H")),
        ),
    )


def newton_worlds() -> Iterator[World]:
    """Three heads, f a rational function, small numbers for what the later layers make."""
    count, later = 3, (0, 2, -1, Fraction(1, 2), 5)

    def value(head: int) -> Fraction:
        return 1 / (Fraction(3, 2) + Fraction(head, 4))

    def differences(k: int) -> Fraction:
        return difference(value, k, 0)

    def columns(n: int, k: int) -> Fraction:
        return sum((comb(h, k) * Fraction(later[h]) for h in range(1, n + 1)), Fraction(0))

    def newton(n: int, k: int) -> Fraction:
        return sum((comb(n, i) * differences(i) for i in range(1, k + 1)), Fraction(0))

    def rows(n: int, k: int) -> Fraction:
        return sum((differences(i) * columns(n, i) for i in range(1, k + 1)), Fraction(0))

    def heads(n: int) -> Fraction:
        terms = ((value(h) - value(0)) * later[h] for h in range(1, n + 1))
        return sum(terms, Fraction(0))

    yield World(
        sorts={"Real": (Fraction(0), Fraction(1, 2), Fraction(3))},
        integers=range(count + 1),
        symbols={
            "H": count,
            "d": differences,
            "g": lambda h: value(h) - value(0),
            "q": later.__getitem__,
            "choose": lambda n, k: Fraction(comb(n, k)),
            "columns": columns,
            "newton": newton,
            "rows": rows,
            "heads": heads,
        },
        free={"n": range(count + 1), "k": range(count + 1)},
    )
