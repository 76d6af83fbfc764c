"""The probe lemma as a theory: streams, probes and coefficients by their blocks of columns.

The attention normaliser is any function. The coefficients may use any factors F_Q, F_K of the
target's logits, F_Q F_K^T = W_Q W_K^T.

Source: Fixed Universal Transformers, Appendix A and Lemma E.1; the induction is spelled out here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from constructions.universal.instances import random_matrix, seeded
from constructions.universal.sums import (
    ASSOCIATIVE,
    FAMILIES,
    HEADS,
    MATRICES,
    SUM_EQUAL,
    SUM_RIGHT,
)
from verify.smtlib import Axiom, Goal, Theory, World, induction

_DECLARATIONS = (
    MATRICES
    + FAMILIES
    + """
(declare-sort Block 0)
(declare-const L Int) (declare-const k Int)
(declare-const identity Mat)
(declare-fun transpose (Mat) Mat) (declare-fun normalise (Mat) Mat)
(declare-fun columns (Int Mat Block) Mat)
(declare-fun bq (Int) Block) (declare-fun bk (Int) Block) (declare-fun bv (Int) Block)
(declare-fun WQ (Int Int) Mat) (declare-fun WK (Int Int) Mat) (declare-fun M (Int Int) Mat)
(declare-fun FQ (Int Int) Mat) (declare-fun FK (Int Int) Mat)
(declare-fun RQ (Int Int) Mat) (declare-fun RK (Int Int) Mat) (declare-fun RV (Int Int) Mat)
(declare-const E Mat) (declare-const U Mat)
(declare-fun P (Int) Mat) (declare-fun C (Int) Mat)
(declare-fun X (Int) Mat) (declare-fun Y (Int) Mat)
(declare-fun fX (Int) Family) (declare-fun fY (Int) Family)
(declare-fun gX (Int) Family) (declare-fun gY (Int) Family)
(declare-fun logits (Mat Mat Mat) Mat)
(define-fun attX ((l Int) (h Int)) Mat (normalise (logits (X l) (WQ l h) (WK l h))))
(define-fun attY ((l Int) (h Int)) Mat (normalise (logits (Y l) (RQ l h) (RK l h))))
(define-fun layer ((l Int)) Bool (and (<= 0 l) (< l L)))
(define-fun inner ((l Int) (h Int)) Bool (and (<= 0 l) (< l L) (<= 1 h) (<= h H)))
"""
)


def _block(name: str, block: str, value: str, trigger: str) -> str:
    return f"""(forall ((l Int) (h Int)) (! (=> (inner l h)
      (= (columns l ({name} l) ({block} h)) {value})) :pattern ({trigger})))"""


def _probe_block(block: str, value: str, trigger: str) -> str:
    return _block("P", block, value, trigger)


def _coefficient_block(block: str, value: str) -> str:
    return _block("C", block, value, f"(columns l (C l) ({block} h))")


def _family(name: str, member: str) -> str:
    return f"""(forall ((l Int) (h Int)) (! (=> (inner l h) (= (at ({name} l) h) {member}))
      :pattern ((at ({name} l) h))))"""


FACTORS = "(= (mul (FQ l h) (transpose (FK l h))) (mul (WQ l h) (transpose (WK l h))))"
"""What the coefficients' factors must satisfy; the refutable twins drop it."""


LOGITS = Axiom(
    "logits",
    """(forall ((s Mat) (a Mat) (b Mat)) (! (= (logits s a b)
      (mul (mul s a) (transpose (mul s b)))) :pattern ((logits s a b))))""",
    "the logits of a stream S under A and B are (S A)(S B)^T",
)
LOGITS_FACTOR = Axiom(
    "logits factor",
    """(forall ((s Mat) (a Mat) (b Mat)) (! (= (logits s a b)
      (mul s (mul (mul a (transpose b)) (transpose s)))) :pattern ((logits s a b))))""",
    "they depend on A B^T only: S (A B^T) S^T",
)


def _logits_worlds() -> Iterator[World]:
    source = seeded(1)
    yield World(
        sorts={"Mat": [random_matrix(source, 2, 2) for _ in range(3)]},
        symbols={
            "mul": lambda a, b: a @ b,
            "transpose": lambda a: a.transposed,
            "logits": lambda s, a, b: (s @ a) @ (s @ b).transposed,
        },
    )


def logits_theory() -> Theory:
    """Products and transposes alone, from which `LOGITS_FACTOR` follows."""
    return Theory(
        name="logits",
        declarations=MATRICES
        + """
(declare-fun transpose (Mat) Mat)
(declare-fun logits (Mat Mat Mat) Mat)
""",
        axioms=(
            ASSOCIATIVE,
            Axiom(
                "transpose",
                """(forall ((a Mat) (b Mat)) (! (= (transpose (mul a b))
                  (mul (transpose b) (transpose a))) :pattern ((transpose (mul a b)))))""",
                "(A B)^T = B^T A^T",
            ),
            LOGITS,
        ),
        worlds=_logits_worlds,
    )


def lemma_theory(factors: str, worlds: Callable[[], Iterable[World]]) -> Theory:
    """Both models, probes and coefficients; index l is layer l + 1, which reads stream l."""
    return Theory(
        name="probes",
        declarations=_DECLARATIONS,
        axioms=(
            HEADS,
            Axiom("layers", "(>= L 1)", "there is at least one layer"),
            ASSOCIATIVE,
            LOGITS,
            LOGITS_FACTOR,
            Axiom(
                "columns of a product",
                """(forall ((l Int) (a Mat) (b Mat) (x Block)) (! (=> (layer l)
                  (= (columns l (mul a b) x) (mul a (columns l b x))))
                  :pattern ((columns l (mul a b) x))))""",
                "a block of columns of A B is A times that block of B",
            ),
            SUM_EQUAL,
            SUM_RIGHT,
            Axiom(
                "P: queries", _probe_block("bq", "(RQ l h)", "(RQ l h)"), "P_{l-1} holds R_Q^{l,h}"
            ),
            Axiom("P: keys", _probe_block("bk", "(RK l h)", "(RK l h)"), "P_{l-1} holds R_K^{l,h}"),
            Axiom(
                "P: values",
                _probe_block("bv", "(mul (RV l h) (P (+ l 1)))", "(RV l h)"),
                "P_{l-1} holds R_V^{l,h} P_l",
            ),
            Axiom("P: readout", "(= (P L) U)", "P_L = U"),
            Axiom("C: queries", _coefficient_block("bq", "(FQ l h)"), "C_{l-1} holds F_Q^{l,h}"),
            Axiom("C: keys", _coefficient_block("bk", "(FK l h)"), "C_{l-1} holds F_K^{l,h}"),
            Axiom(
                "C: values",
                _coefficient_block("bv", "(mul (M l h) (C (+ l 1)))"),
                "C_{l-1} holds M^{l,h} C_l",
            ),
            Axiom(
                "factors",
                f"(forall ((l Int) (h Int)) (! (=> (inner l h) {factors}) :pattern ((FQ l h))))",
                "F_Q F_K^T = W_Q W_K^T",
            ),
            Axiom(
                "target member",
                _family("fX", "(mul (attX l h) (mul (X l) (M l h)))"),
                "head h of the target adds A^{l,h} X^{l-1} M^{l,h}",
            ),
            Axiom(
                "universal member",
                _family("fY", "(mul (attY l h) (mul (Y l) (RV l h)))"),
                "head h of the universal model adds A~^{l,h} X~^{l-1} R_V^{l,h}",
            ),
            Axiom(
                "target times C",
                _family("gX", "(mul (at (fX l) h) (C (+ l 1)))"),
                "members times C_l",
            ),
            Axiom(
                "universal times P",
                _family("gY", "(mul (at (fY l) h) (P (+ l 1)))"),
                "members times P_l",
            ),
            Axiom(
                "streams",
                """(forall ((l Int)) (! (=> (layer l) (and (= (X (+ l 1)) (total (fX l)))
                  (= (Y (+ l 1)) (total (fY l))))) :pattern ((fX l)) :pattern ((fY l))))""",
                "a stream is the sum of its heads' members",
            ),
            Axiom("embedding", "(= (Y 0) (mul (X 0) E))", "X~^0 = X^0 E"),
            Axiom("probe equations", "(= (mul E (P 0)) (C 0))", "E P_0 = C_0"),
        ),
        worlds=worlds,
    )


def _agreement(l: str) -> str:  # noqa: E741 - the layer's name in the paper
    return f"(= (mul (Y {l}) (P {l})) (mul (X {l}) (C {l})))"


_LAYER = "(layer k)"
_BLOCKS = """(forall ((x Block)) (! (= (columns k (mul (Y k) (P k)) x)
  (columns k (mul (X k) (C k)) x)) :pattern ((columns k (P k) x))))"""
_EACH_HEAD = "(forall ((h Int)) (! (=> (and (<= 1 h) (<= h H)) {0}) :pattern ({1})))"
_READ_QUERIES = _EACH_HEAD.format("(= (mul (Y k) (RQ k h)) (mul (X k) (FQ k h)))", "(RQ k h)")
_READ_KEYS = _EACH_HEAD.format("(= (mul (Y k) (RK k h)) (mul (X k) (FK k h)))", "(RK k h)")
_READ_VALUES = _EACH_HEAD.format(
    """(= (mul (Y k) (mul (RV k h) (P (+ k 1)))) (mul (X k) (mul (M k h) (C (+ k 1)))))""",
    "(RV k h)",
)
_LOGITS = _EACH_HEAD.format(
    "(= (logits (Y k) (RQ k h) (RK k h)) (logits (X k) (WQ k h) (WK k h)))", "(RQ k h)"
)
_FACTORED = _EACH_HEAD.format(
    "(= (logits (X k) (FQ k h) (FK k h)) (logits (X k) (WQ k h) (WK k h)))", "(FQ k h)"
)
_OWN_LOGITS = _EACH_HEAD.format(
    "(= (logits (Y k) (RQ k h) (RK k h)) (logits (X k) (FQ k h) (FK k h)))", "(RQ k h)"
)
_ATTENTION = _EACH_HEAD.format("(= (attY k h) (attX k h))", "(RQ k h)")
_MEMBERS = _EACH_HEAD.format("(= (at (gY k) h) (at (gX k) h))", "(at (gY k) h)")

_TOTAL_Y = "(= (total (gY k)) (mul (Y (+ k 1)) (P (+ k 1))))"
_TOTAL_X = "(= (total (gX k)) (mul (X (+ k 1)) (C (+ k 1))))"
_TOTALS = "(= (total (gY k)) (total (gX k)))"


def lemma_goals(theory: Theory) -> tuple[Goal, ...]:
    """X~^l P_l = X^l C_l by induction over l, one layer in small moves; then the output."""
    base, step = induction(
        name="streams agree on the probes",
        theory=theory,
        invariant=_agreement,
        base="0",
        step=("k", "(+ k 1)"),
        step_assumptions=(_LAYER, _TOTAL_Y, _TOTAL_X, _TOTALS),
    )
    moves = (
        ("equal matrices have equal blocks", (_agreement("k"),), _BLOCKS),
        ("the hypothesis holds for queries", (_BLOCKS,), _READ_QUERIES),
        ("the hypothesis holds for keys", (_BLOCKS,), _READ_KEYS),
        ("the hypothesis holds for values", (_BLOCKS,), _READ_VALUES),
        ("equal reads give the factors' logits", (_READ_QUERIES, _READ_KEYS), _OWN_LOGITS),
        ("all factors give the target's logits", (), _FACTORED),
        ("logits agree", (_OWN_LOGITS, _FACTORED), _LOGITS),
        ("equal logits give equal attention", (_LOGITS,), _ATTENTION),
        ("equal attention gives equal members", (_ATTENTION, _READ_VALUES), _MEMBERS),
        ("P_l moves out of the sum over heads", (), _TOTAL_Y),
        ("C_l moves out of the sum over heads", (), _TOTAL_X),
        ("equal members have equal sums", (_MEMBERS,), _TOTALS),
    )
    return (
        Goal(
            name="logits depend on the product of their factors",
            theory=logits_theory(),
            conclusion=LOGITS_FACTOR.formula,
        ),
        base,
        *(
            Goal(name=name, theory=theory, assumptions=(_LAYER, *given), conclusion=then)
            for name, given, then in moves
        ),
        step,
        Goal(
            name="the output is the target's",
            theory=theory,
            role="conclusion",
            assumptions=(
                _agreement("L"),
                "(= (C L) identity)",
                "(= (mul (X L) identity) (X L))",
            ),
            conclusion="(= (mul (Y L) U) (X L))",
        ),
    )
