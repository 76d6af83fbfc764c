"""Three heads and two coordinates: for every R_1, R_2, R_3 some weights are no responses. Goals.

    r (h i), x (i)    entries of R_h and of E^T U^T: (1,1), (1,2), (2,1), (2,2) for i = 0..3
    response (h)      E R_h U = sum_i R_h[i] x[i], where x_0 x_3 = x_1 x_2
    z (h)             a relation sum_h z_h R_h = 0; if z != 0 then z itself is no response
    k (i), s          K orthogonal to all R_h, and the sign of det K (either one for 0)
    shift (i)         M = K J + s J K, J = [[0, -1], [1, 0]]; then for all t
                      s det(M + t K) = |K|^2 + (2 + t^2) |det K| > 0

Source: Fixed Universal Transformers, Section 4; the argument is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from lowerbounds.bilinear import bilinear_goals, bilinear_theory
from verify.real_lemmas import RealLemma
from verify.smtlib import Axiom, Goal, Theory, World

Worlds = Callable[[], Iterable[World]]
Shift = tuple[str, str, str, str]
"""M's entries as terms in a, b, c, d (those of K) and s."""
SHIFT: Shift = (
    "(- {b} (* {s} {c}))",
    "(- (+ {a} (* {s} {d})))",
    "(+ {d} (* {s} {a}))",
    "(- (* {s} {b}) {c})",
)


def _sum(terms: Iterable[str]) -> str:
    return f"(+ {' '.join(terms)})"


def _inner(h: str, y: str) -> str:
    """sum_i R_h[i] y[i]."""
    return _sum(f"(* (r {h} {i}) ({y} {i}))" for i in range(4))


_HEADS, _ENTRIES = range(1, 4), range(4)
_DECLARATIONS = f"""
(declare-fun r (Int Int) Real) (declare-fun x (Int) Real) (declare-fun z (Int) Real)
(declare-fun k (Int) Real) (declare-fun shift (Int) Real) (declare-fun w (Int) Real)
(declare-const s Real) (declare-const t Real) (declare-const related Bool)
(define-fun response ((h Int)) Real {_inner("h", "x")})
(define-fun shifted ((h Int)) Real {_inner("h", "shift")})
(define-fun apart ((h Int)) Real {_sum(f"(* (r h {i}) (- (x {i}) (shift {i})))" for i in _ENTRIES)})
(define-fun column ((i Int)) Real {_sum(f"(* (z {h}) (r {h} i))" for h in _HEADS)})
(define-fun detX () Real (- (* (x 0) (x 3)) (* (x 1) (x 2))))
(define-fun detK () Real (- (* (k 0) (k 3)) (* (k 1) (k 2))))
(define-fun normK () Real {_sum(f"(* (k {i}) (k {i}))" for i in _ENTRIES)})
"""


def _all(form: str, range_: Iterable[int]) -> str:
    return f"(and {' '.join(form.format(i) for i in range_)})"


_SOME_Z = f"(or {' '.join(f'(distinct (z {h}) 0.0)' for h in _HEADS)})"
_SOME_K = f"(or {' '.join(f'(distinct (k {i}) 0.0)' for i in _ENTRIES)})"
_EQUATIONS = Axiom(
    "equations",
    f"""(ite related (and {_SOME_Z} {_all("(= (column {}) 0.0)", _ENTRIES)})
      (and {_SOME_K} (=> {_all("(= (apart {}) 0.0)", _HEADS)}
        {_all("(= (- (x {0}) (shift {0})) (* t (k {0})))", _ENTRIES)})))""",
    "three vectors of R^4 have a relation z != 0, or what is orthogonal to them is a multiple t K "
    "of some K != 0",
)
_WEIGHTS = Axiom(
    "weights",
    f"(ite related {_all('(= (w {0}) (z {0}))', _HEADS)} "
    f"{_all('(= (w {0}) (shifted {0}))', _HEADS)})",
    "the weights: z where there is a relation, else the responses of M",
)
_SIGN = Axiom(
    "sign",
    "(and (or (= s 1.0) (= s (- 1.0))) (>= (* s detK) 0.0))",
    "s is the sign of det K, either one for 0",
)

PADDED = RealLemma(
    name="one coordinate is a case of two",
    variables="e r u",
    premises=(),
    conclusion="(= (* (* {e} {r}) {u}) (+ (* {r} (* {e} {u})) (* 0.0 (* {e} 0.0)) "
    "(* 0.0 (* 0.0 {u})) (* 0.0 (* 0.0 0.0))))",
)
OUTER = RealLemma(
    name="an outer product has determinant 0",
    variables="e f u v",
    premises=(),
    conclusion="(= (- (* (* {e} {u}) (* {f} {v})) (* (* {e} {v}) (* {f} {u}))) 0.0)",
)
SQUARES = RealLemma(
    name="squares add up to more than 0",
    variables="a b c d",
    premises=("(or (distinct {a} 0.0) (distinct {b} 0.0) (distinct {c} 0.0) (distinct {d} 0.0))",),
    conclusion="(> (+ (* {a} {a}) (* {b} {b}) (* {c} {c}) (* {d} {d})) 0.0)",
)
NO_SUM = RealLemma(
    name="multiples of 0 add up to 0",
    variables="c0 c1 c2 c3 y x0 x1 x2 x3",
    premises=(
        *(f"(= {{c{i}}} 0.0)" for i in range(4)),
        f"(= {{y}} {_sum(f'(* {{x{i}}} {{c{i}}})' for i in range(4))})",
    ),
    conclusion="(= {y} 0.0)",
)
ITSELF = RealLemma(
    name="a vector other than 0 is not orthogonal to itself",
    variables="a b c p q r",
    premises=(
        "(or (distinct {a} 0.0) (distinct {b} 0.0) (distinct {c} 0.0))",
        "(= (+ (* {a} {p}) (* {b} {q}) (* {c} {r})) 0.0)",
    ),
    conclusion="(not (and (= {p} {a}) (= {q} {b}) (= {r} {c})))",
)
EQUAL = RealLemma(
    name="equal numbers differ by 0",
    variables="a b d",
    premises=("(= {d} (- {a} {b}))", "(= {a} {b})"),
    conclusion="(= {d} 0.0)",
)
SAME_ENTRIES = RealLemma(
    name="equal matrices have equal determinants",
    variables="a p b q c u d v",
    premises=("(= {a} {p})", "(= {b} {q})", "(= {c} {u})", "(= {d} {v})"),
    conclusion="(= (- (* {a} {d}) (* {b} {c})) (- (* {p} {v}) (* {q} {u})))",
)
NO_ROOT = RealLemma(
    name="no t makes the determinant 0",
    variables="n g s t",
    premises=("(> {n} 0.0)", "(or (= {s} 1.0) (= {s} (- 1.0)))", "(>= (* {s} {g}) 0.0)"),
    conclusion="(distinct (+ (* {s} {n}) (* (+ 1.0 (* {s} {s}) (* {t} {t})) {g})) 0.0)",
)


def points_of_line(shift: Shift) -> tuple[str, ...]:
    """The entries of M + t K."""
    return tuple(f"(+ {m} (* {{t}} {{{k}}}))" for m, k in zip(shift, "abcd", strict=True))


def determinant_lemma(shift: Shift) -> RealLemma:
    """det(M + t K) as a polynomial in t, for the rule that M is chosen by."""
    p, q, u, v = points_of_line(shift)
    return RealLemma(
        name="the determinant on the line",
        variables="a b c d s t",
        premises=(),
        conclusion=f"(= (- (* {p} {v}) (* {q} {u})) (+ (* {{s}} (+ (* {{a}} {{a}}) (* {{b}} {{b}}) "
        "(* {c} {c}) (* {d} {d}))) (* (+ 1.0 (* {s} {s}) (* {t} {t})) "
        "(- (* {a} {d}) (* {b} {c})))))",
    )


def three_heads_goals(*, outer: Worlds, line: Worlds, shift: Shift = SHIFT) -> tuple[Goal, ...]:
    """The chosen weights are no responses, whether the R_h are dependent or not.

    `outer` are worlds with an outer product X, the first with dependent values; `line` such where
    the values are independent and X = M + t K.
    """
    determinant = determinant_lemma(shift)
    lemmas = (PADDED, OUTER, SQUARES, NO_SUM, ITSELF, EQUAL, SAME_ENTRIES, NO_ROOT, determinant)
    related, unrelated = partial(_theory, outer), partial(_theory, line)
    return (
        *bilinear_goals(bilinear_theory()),
        *(lemma.goal for lemma in lemmas),
        *_relation_goals(related),
        *_line_goals(unrelated),
        *_determinant_goals(unrelated, shift, determinant),
        Goal(
            name="some weights are no responses",
            theory=related("conclusion", _WEIGHTS),
            role="conclusion",
            assumptions=(
                "(= detX 0.0)",
                f"(=> related (not {_all('(= (response {0}) (z {0}))', _HEADS)}))",
                f"(=> (and (not related) {_SAME}) (distinct detX 0.0))",
            ),
            conclusion=f"(not {_all('(= (response {0}) (w {0}))', _HEADS)})",
        ),
    )


def _theory(worlds: Worlds, name: str, *axioms: Axiom) -> Theory:
    return Theory(
        name=f"three heads: {name}", declarations=_DECLARATIONS, axioms=axioms, worlds=worlds
    )


Named = Callable[..., Theory]
_SAME = _all("(= (response {0}) (shifted {0}))", _HEADS)


def _relation_goals(theory: Named) -> tuple[Goal, ...]:
    """A relation between the R_h is one between the responses; z does not fulfil it."""
    total = _sum(f"(* (z {h}) (response {h}))" for h in _HEADS)
    passed = f"(= {total} {_sum(f'(* (x {i}) (column {i}))' for i in _ENTRIES)})"
    columns = {f"c{i}": f"(column {i})" for i in _ENTRIES}
    entries = {f"x{i}": f"(x {i})" for i in _ENTRIES}
    sides = {"a": "(z 1)", "b": "(z 2)", "c": "(z 3)"}
    came = {"p": "(response 1)", "q": "(response 2)", "r": "(response 3)"}
    zeros, relations = _all("(= (column {}) 0.0)", _ENTRIES), theory("relations")
    return (
        Goal(name="responses of a sum", theory=relations, conclusion=passed),
        Goal(
            name="values that are related",
            theory=theory("dependent values", _EQUATIONS),
            assumptions=("related",),
            conclusion=f"(and {_SOME_Z} {zeros})",
        ),
        Goal(
            name="responses have the relations of the values",
            theory=relations,
            assumptions=(zeros, passed, NO_SUM.at(y=total, **columns, **entries)),
            conclusion=f"(= {total} 0.0)",
        ),
        Goal(
            name="the relation itself is no response",
            theory=relations,
            assumptions=(_SOME_Z, f"(= {total} 0.0)", ITSELF.at(**sides, **came)),
            conclusion=f"(not {_all('(= (response {0}) (z {0}))', _HEADS)})",
        ),
    )


_ON_LINE = _all("(= (- (x {0}) (shift {0})) (* t (k {0})))", _ENTRIES)


def _line_goals(theory: Named) -> tuple[Goal, ...]:
    """What responds as M does is M + t K."""
    apart = _all("(= (apart {}) 0.0)", _HEADS)
    differences = _all("(= (apart {0}) (- (response {0}) (shifted {0})))", _HEADS)
    equal = [EQUAL.at(a=f"(response {h})", b=f"(shifted {h})", d=f"(apart {h})") for h in _HEADS]
    return (
        Goal(name="responses of a difference", theory=theory("line"), conclusion=differences),
        Goal(
            name="equal responses: X - M is orthogonal to the values",
            theory=theory("line"),
            assumptions=(_SAME, differences, *equal),
            conclusion=apart,
        ),
        Goal(
            name="X - M is a multiple of K",
            theory=theory("independent values", _EQUATIONS),
            assumptions=("(not related)", apart),
            conclusion=f"(and {_SOME_K} {_ON_LINE})",
        ),
    )


def _determinant_goals(theory: Named, shift: Shift, determinant: RealLemma) -> tuple[Goal, ...]:
    """The determinant of M + t K is not 0."""
    entries = {name: f"(k {i})" for i, name in enumerate("abcd")}
    terms = [part.format(**entries, s="s") for part in shift]
    rule = " ".join(f"(= (shift {i}) {term})" for i, term in enumerate(terms))
    ends = [part.format(**entries, s="s", t="t") for part in points_of_line(shift)]
    point = f"(and {' '.join(f'(= (x {i}) {end})' for i, end in enumerate(ends))})"
    corners = {name: f"(x {i})" for i, name in enumerate("abcd")}
    equal = SAME_ENTRIES.at(**corners, **dict(zip("pquv", ends, strict=True)))
    value = "(= detX (+ (* s normK) (* (+ 1.0 (* s s) (* t t)) detK)))"
    no_root = NO_ROOT.at(n="normK", g="detK", s="s", t="t")
    return (
        Goal(
            name="X = M + t K",
            theory=theory("shift", Axiom("shift", f"(and {rule})", "how M is chosen")),
            assumptions=(_ON_LINE,),
            conclusion=point,
        ),
        Goal(
            name="the determinant of X",
            theory=theory("determinant"),
            assumptions=(point, equal, determinant.at(**entries, s="s", t="t")),
            conclusion=value,
        ),
        Goal(
            name="the determinant of X is not 0",
            theory=theory("sign", _SIGN),
            assumptions=(_SOME_K, value, SQUARES.at(**entries), no_root),
            conclusion="(distinct detX 0.0)",
        ),
    )
