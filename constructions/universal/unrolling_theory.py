"""Streams and sums over head sequences as a theory; layers count from 0.

Two laws of sums over paths (equal summands have equal sums, factors move out) carry the induction
over the layers.

Source: Fixed Universal Transformers, Lemma (unrolling), Appendix A.1 and A.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from constructions.universal.sums import (
    ASSOCIATIVE,
    MATRICES,
    OVER_HEADS,
)
from verify.smtlib import Axiom, Goal, Theory, World, induction

_UNROLLING = (
    MATRICES
    + OVER_HEADS.declarations
    + """
(declare-sort Path 0) (declare-sort Terms 0)
(declare-const nil Path) (declare-fun snoc (Path Int) Path) (declare-fun len (Path) Int)
(declare-fun A (Int Int) Mat) (declare-fun V (Int Int) Mat) (declare-fun X (Int) Mat)
(declare-fun left (Path) Mat) (declare-fun right (Path) Mat)
(declare-fun pick (Terms Path) Mat)
(declare-fun psum (Int Terms) Mat)
(declare-fun ext (Terms Int) Terms)
(declare-fun around (Mat Terms Mat) Terms)
(declare-fun slices (Int Terms) Family)
(declare-fun inside (Int Terms Mat) Family)
(declare-fun members (Int) Family)
(declare-const printed Terms)
(declare-const n Int) (declare-const F Terms) (declare-const G Terms)
(declare-const a0 Mat) (declare-const b0 Mat)
(define-fun term ((q Path)) Mat (mul (left q) (mul (X 0) (right q))))
"""
)

EXTENSION = "(= (right (snoc q h)) (mul (right q) (V (len q) h)))"
"""How the value factors of a path grow; the mutants replace it."""


def unrolling_theory(extension: str, worlds: Callable[[], Iterator[World]]) -> Theory:
    """Streams, and sums over paths that take one head more at their end; layers count from 0."""
    return Theory(
        name="unrolling",
        declarations=_UNROLLING,
        axioms=(
            OVER_HEADS.nonempty,
            ASSOCIATIVE,
            *OVER_HEADS.laws,
            Axiom("empty path", "(= (len nil) 0)", "the empty path has length 0"),
            Axiom(
                "longer path",
                """(forall ((q Path) (h Int)) (! (and (= (len (snoc q h)) (+ (len q) 1))
                  (not (= (snoc q h) nil))) :pattern ((snoc q h))))""",
                "one head more is one longer",
            ),
            Axiom(
                "left factors",
                """(forall ((q Path) (h Int)) (! (= (left (snoc q h)) (mul (A (len q) h) (left q)))
                  :pattern ((left (snoc q h)))))""",
                "attention matrices pile up on the left",
            ),
            Axiom(
                "right factors",
                f"(forall ((q Path) (h Int)) (! {extension} :pattern ((right (snoc q h)))))",
                "value factors pile up on the right",
            ),
            Axiom("empty products", "(= (term nil) (X 0))", "the empty products leave X^0"),
            Axiom(
                "printed",
                "(forall ((q Path)) (! (= (pick printed q) (term q)) :pattern ((pick printed q))))",
                "the summand of a path",
            ),
            Axiom(
                "sum over the empty path",
                "(forall ((f Terms)) (! (= (psum 0 f) (pick f nil)) :pattern ((psum 0 f))))",
                "[H]^0 has one member",
            ),
            Axiom(
                "sum over longer paths",
                """(forall ((l Int) (f Terms)) (! (=> (>= l 0)
                  (= (psum (+ l 1) f) (total (slices l f)))) :pattern ((slices l f))))""",
                "[H]^{l+1} is [H]^l once for each last head",
            ),
            Axiom(
                "slices",
                """(forall ((l Int) (f Terms) (h Int)) (! (=> (and (>= l 0) (<= 1 h) (<= h H))
                  (= (at (slices l f) h) (psum l (ext f h)))) :pattern ((at (slices l f) h))))""",
                "the part of the sum with last head h",
            ),
            Axiom(
                "extended",
                """(forall ((f Terms) (h Int) (q Path)) (! (= (pick (ext f h) q)
                  (pick f (snoc q h))) :pattern ((pick (ext f h) q))))""",
                "summands of the paths that end in h",
            ),
            Axiom(
                "around",
                """(forall ((a Mat) (f Terms) (b Mat) (q Path)) (! (= (pick (around a f b) q)
                  (mul a (mul (pick f q) b))) :pattern ((pick (around a f b) q))))""",
                "every summand between two factors",
            ),
            Axiom(
                "inside",
                """(forall ((l Int) (f Terms) (b Mat) (h Int)) (! (=> (and (<= 1 h) (<= h H))
                  (= (at (inside l f b) h) (mul (at (slices l f) h) b)))
                  :pattern ((at (inside l f b) h))))""",
                "slices times the right factor",
            ),
            Axiom(
                "members",
                """(forall ((l Int) (h Int)) (! (=> (and (>= l 0) (<= 1 h) (<= h H))
                  (= (at (members l) h) (mul (A l h) (mul (X l) (V l h)))))
                  :pattern ((at (members l) h))))""",
                "head h adds A X V",
            ),
            Axiom(
                "streams",
                """(forall ((l Int)) (! (=> (>= l 0) (= (X (+ l 1)) (total (members l))))
                  :pattern ((members l))))""",
                "a stream is the sum of its heads' members",
            ),
        ),
        worlds=worlds,
    )


def _congruent(l: str) -> str:  # noqa: E741 - the layer's name in the paper
    return f"""(forall ((f Terms) (g Terms)) (! (=>
      (forall ((q Path)) (=> (= (len q) {l}) (= (pick f q) (pick g q))))
      (= (psum {l} f) (psum {l} g))) :pattern ((psum {l} f) (psum {l} g))))"""


def _linear(l: str) -> str:  # noqa: E741 - the layer's name in the paper
    return f"""(forall ((a Mat) (f Terms) (b Mat)) (! (= (psum {l} (around a f b))
      (mul a (mul (psum {l} f) b))) :pattern ((psum {l} (around a f b)))))"""


_N = "(>= n 0)"
_EACH = "(forall ((h Int)) (! (=> (and (<= 1 h) (<= h H)) {0}) :pattern ({1})))"
_SAME_PATHS = "(forall ((q Path)) (=> (= (len q) (+ n 1)) (= (pick F q) (pick G q))))"
_SAME_SLICES = _EACH.format("(= (psum n (ext F h)) (psum n (ext G h)))", "(psum n (ext F h))")
_SAME_TOTALS = "(= (total (slices n F)) (total (slices n G)))"
_PRINTED_TOTAL = "(= (total (members n)) (total (slices n printed)))"
_AROUND_PATHS = """(forall ((h Int) (q Path)) (= (pick (ext (around a0 F b0) h) q)
  (pick (around a0 (ext F h) b0) q)))"""
_AROUND_ENDINGS = _EACH.format(
    "(= (psum n (ext (around a0 F b0) h)) (psum n (around a0 (ext F h) b0)))",
    "(psum n (ext (around a0 F b0) h))",
)
_AROUND_SLICES = _EACH.format(
    "(= (at (slices n (around a0 F b0)) h) (mul a0 (at (inside n F b0) h)))",
    "(at (slices n (around a0 F b0)) h)",
)
_INSIDE = "(= (total (inside n F b0)) (mul (total (slices n F)) b0))"
_OUTSIDE = "(= (total (slices n (around a0 F b0))) (mul a0 (total (inside n F b0))))"
_GROWTH = """(forall ((q Path) (h Int)) (! (= (term (snoc q h))
  (mul (A (len q) h) (mul (term q) (V (len q) h)))) :pattern ((snoc q h))))"""
_MEMBERS = _EACH.format("(= (at (members n) h) (at (slices n printed) h))", "(at (members n) h)")
_ENDINGS = _EACH.format(
    "(= (psum n (ext printed h)) (psum n (around (A n h) printed (V n h))))",
    "(psum n (ext printed h))",
)


def unrolling_goals(theory: Theory) -> tuple[Goal, ...]:
    """Two laws of sums over paths by induction, then the streams by induction over the layers."""

    def goal(name: str, given: tuple[str, ...], then: str) -> Goal:
        return Goal(name=name, theory=theory, assumptions=(_N, *given), conclusion=then)

    def printed(l: str) -> str:  # noqa: E741 - the layer's name in the paper
        return f"(= (X {l}) (psum {l} printed))"

    base, step = induction(
        name="a stream is the printed sum",
        theory=theory,
        invariant=printed,
        base="0",
        step=("n", "(+ n 1)"),
        step_assumptions=(_N, _PRINTED_TOTAL),
    )
    return (
        Goal(
            name="congruent sums: base",
            theory=theory,
            role="base",
            conclusion=_congruent("0"),
        ),
        goal("congruent slices", (_congruent("n"), _SAME_PATHS), _SAME_SLICES),
        goal("congruent totals", (_SAME_SLICES,), _SAME_TOTALS),
        goal("congruent sums: step", (_SAME_TOTALS,), "(= (psum (+ n 1) F) (psum (+ n 1) G))"),
        Goal(name="factors leave sums: base", theory=theory, role="base", conclusion=_linear("0")),
        goal("factors commute with endings", (), _AROUND_PATHS),
        goal("factors leave endings", (_congruent("n"), _AROUND_PATHS), _AROUND_ENDINGS),
        goal("factors leave slices", (_linear("n"), _AROUND_ENDINGS), _AROUND_SLICES),
        goal("the right factor leaves the sum over last heads", (), _INSIDE),
        goal("the left factor leaves it too", (_AROUND_SLICES,), _OUTSIDE),
        goal(
            "factors leave sums: step",
            (_INSIDE, _OUTSIDE),
            "(= (psum (+ n 1) (around a0 F b0)) (mul a0 (mul (psum (+ n 1) F) b0)))",
        ),
        goal("one head more wraps the summand", (), _GROWTH),
        goal("endings wrap the sum", (_congruent("n"), _GROWTH), _ENDINGS),
        goal("members are slices", (_linear("n"), _ENDINGS, printed("n")), _MEMBERS),
        goal("members have the sum of the slices", (_MEMBERS,), _PRINTED_TOTAL),
        base,
        step,
    )
