"""The probe lemma's attention half as a theory: streams, probes and coefficients by their blocks.

A layer sums over branches: the H heads and, if streams are carried on, branch H + 1 with weight
and value map the identity. Q_l and D_l are whatever reads that sum; `CLOSING` says what they are
without an MLP. The attention normaliser is any function. The coefficients may use any factors
F_Q, F_K of the target's logits, F_Q F_K^T = W_Q W_K^T.

Source: Fixed Universal Transformers, Appendix A and Lemma E.1; the induction is spelled out here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from constructions.universal.instances import random_matrix, seeded
from constructions.universal.sums import ASSOCIATIVE, MATRICES, Summation
from verify.smtlib import Axiom, Goal, Theory, World, induction

OVER_BRANCHES = Summation(sort="Family", count="N", member="at", total="total", words="branches")

STREAMS = """
(declare-const L Int) (declare-const k Int)
(declare-const residual Bool)
(declare-fun P (Int) Mat) (declare-fun C (Int) Mat)
(declare-fun Q (Int) Mat) (declare-fun D (Int) Mat)
(declare-fun X (Int) Mat) (declare-fun Y (Int) Mat)
(declare-fun SX (Int) Mat) (declare-fun SY (Int) Mat)
(define-fun layer ((l Int)) Bool (and (<= 0 l) (< l L)))
"""
"""Streams X, X~ (here Y) and the sums over branches SX, SY; what reads them: P, C and Q, D."""

_DECLARATIONS = (
    MATRICES
    + OVER_BRANCHES.declarations
    + STREAMS
    + """
(declare-sort Block 0)
(declare-const H Int)
(declare-const identity Mat)
(declare-fun transpose (Mat) Mat) (declare-fun normalise (Mat) Mat)
(declare-fun columns (Int Mat Block) Mat)
(declare-fun bq (Int) Block) (declare-fun bk (Int) Block) (declare-fun bv (Int) Block)
(declare-fun WQ (Int Int) Mat) (declare-fun WK (Int Int) Mat) (declare-fun M (Int Int) Mat)
(declare-fun FQ (Int Int) Mat) (declare-fun FK (Int Int) Mat)
(declare-fun RQ (Int Int) Mat) (declare-fun RK (Int Int) Mat) (declare-fun RV (Int Int) Mat)
(declare-const E Mat) (declare-const U Mat) (declare-const carry Mat)
(declare-fun fX (Int) Family) (declare-fun fY (Int) Family)
(declare-fun gX (Int) Family) (declare-fun gY (Int) Family)
(declare-fun logits (Mat Mat Mat) Mat)
(define-fun attX ((l Int) (h Int)) Mat
  (ite (> h H) carry (normalise (logits (X l) (WQ l h) (WK l h)))))
(define-fun attY ((l Int) (h Int)) Mat
  (ite (> h H) carry (normalise (logits (Y l) (RQ l h) (RK l h)))))
(define-fun head ((l Int) (h Int)) Bool (and (<= 0 l) (< l L) (<= 1 h) (<= h H)))
(define-fun branch ((l Int) (h Int)) Bool (and (<= 0 l) (< l L) (<= 1 h) (<= h N)))
"""
)


def _block(name: str, block: str, value: str, trigger: str, inside: str = "head") -> str:
    return f"""(forall ((l Int) (h Int)) (! (=> ({inside} l h)
      (= (columns l ({name} l) ({block} h)) {value})) :pattern ({trigger})))"""


def _probe_block(block: str, value: str, trigger: str) -> str:
    return _block("P", block, value, trigger, "branch" if block == "bv" else "head")


def _coefficient_block(block: str, value: str) -> str:
    inside = "branch" if block == "bv" else "head"
    return _block("C", block, value, f"(columns l (C l) ({block} h))", inside)


def _family(name: str, member: str) -> str:
    return f"""(forall ((l Int) (h Int)) (! (=> (branch l h) (= (at ({name} l) h) {member}))
      :pattern ((at ({name} l) h))))"""


FACTORS = "(= (mul (FQ l h) (transpose (FK l h))) (mul (WQ l h) (transpose (WK l h))))"
"""What the coefficients' factors must satisfy; the mutants drop it."""


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


CLOSING = Axiom(
    "no MLP",
    """(forall ((l Int)) (! (=> (layer l) (and (= (Q l) (P (+ l 1))) (= (D l) (C (+ l 1)))
      (= (X (+ l 1)) (SX l)) (= (Y (+ l 1)) (SY l)))) :pattern ((Q l)) :pattern ((D l))))""",
    "without an MLP the next stream is the sum over branches, read by P_l",
)


def lemma_theory(
    factors: str, worlds: Callable[[], Iterable[World]], closing: tuple[Axiom, ...] = (CLOSING,)
) -> Theory:
    """Both models, probes and coefficients; index l is layer l + 1, which reads stream l."""
    return Theory(
        name="probes",
        declarations=_DECLARATIONS,
        axioms=(
            Axiom("heads", "(>= H 1)", "there is at least one head"),
            Axiom(
                "branches",
                "(= N (ite residual (+ H 1) H))",
                "a branch for each head, and one more if streams are carried on",
            ),
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
            OVER_BRANCHES.equal,
            OVER_BRANCHES.right,
            Axiom(
                "P: queries", _probe_block("bq", "(RQ l h)", "(RQ l h)"), "P_{l-1} holds R_Q^{l,h}"
            ),
            Axiom("P: keys", _probe_block("bk", "(RK l h)", "(RK l h)"), "P_{l-1} holds R_K^{l,h}"),
            Axiom(
                "P: values",
                _probe_block("bv", "(mul (RV l h) (Q l))", "(RV l h)"),
                "P_{l-1} holds R_V^{l,h} Q_l, and Q_l itself if streams are carried on",
            ),
            Axiom("P: readout", "(= (P L) U)", "P_L = U"),
            Axiom("C: queries", _coefficient_block("bq", "(FQ l h)"), "C_{l-1} holds F_Q^{l,h}"),
            Axiom("C: keys", _coefficient_block("bk", "(FK l h)"), "C_{l-1} holds F_K^{l,h}"),
            Axiom(
                "C: values",
                _coefficient_block("bv", "(mul (M l h) (D l))"),
                "C_{l-1} holds M^{l,h} D_l, and D_l itself if streams are carried on",
            ),
            Axiom(
                "factors",
                f"(forall ((l Int) (h Int)) (! (=> (head l h) {factors}) :pattern ((FQ l h))))",
                "F_Q F_K^T = W_Q W_K^T",
            ),
            Axiom(
                "target member",
                _family("fX", "(mul (attX l h) (mul (X l) (M l h)))"),
                "branch h of the target adds A^{l,h} X^{l-1} M^{l,h}",
            ),
            Axiom(
                "universal member",
                _family("fY", "(mul (attY l h) (mul (Y l) (RV l h)))"),
                "branch h of the universal model adds A~^{l,h} X~^{l-1} R_V^{l,h}",
            ),
            Axiom(
                "target times D",
                _family("gX", "(mul (at (fX l) h) (D l))"),
                "members times D_l",
            ),
            Axiom(
                "universal times Q",
                _family("gY", "(mul (at (fY l) h) (Q l))"),
                "members times Q_l",
            ),
            Axiom(
                "sums",
                """(forall ((l Int)) (! (=> (layer l) (and (= (SX l) (total (fX l)))
                  (= (SY l) (total (fY l))))) :pattern ((fX l)) :pattern ((fY l))))""",
                "S^l is the sum of its branches' members",
            ),
            *closing,
            Axiom("embedding", "(= (Y 0) (mul (X 0) E))", "X~^0 = X^0 E"),
            Axiom("probe equations", "(= (mul E (P 0)) (C 0))", "E P_0 = C_0"),
        ),
        worlds=worlds,
    )


def agreement(l: str) -> str:  # noqa: E741 - the layer's name in the paper
    """X~^l P_l = X^l C_l."""
    return f"(= (mul (Y {l}) (P {l})) (mul (X {l}) (C {l})))"


SUMS_AGREE = "(= (mul (SY k) (Q k)) (mul (SX k) (D k)))"
"""The sums over branches agree on the inner probes."""

_LAYER = "(layer k)"
_BLOCKS = """(forall ((x Block)) (! (= (columns k (mul (Y k) (P k)) x)
  (columns k (mul (X k) (C k)) x)) :pattern ((columns k (P k) x))))"""
_EACH_HEAD = "(forall ((h Int)) (! (=> (and (<= 1 h) (<= h H)) {0}) :pattern ({1})))"
_EACH_BRANCH = "(forall ((h Int)) (! (=> (and (<= 1 h) (<= h N)) {0}) :pattern ({1})))"
_READ_QUERIES = _EACH_HEAD.format("(= (mul (Y k) (RQ k h)) (mul (X k) (FQ k h)))", "(RQ k h)")
_READ_KEYS = _EACH_HEAD.format("(= (mul (Y k) (RK k h)) (mul (X k) (FK k h)))", "(RK k h)")
_READ_VALUES = _EACH_BRANCH.format(
    """(= (mul (Y k) (mul (RV k h) (Q k))) (mul (X k) (mul (M k h) (D k))))""",
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
_ATTENTION = _EACH_BRANCH.format("(= (attY k h) (attX k h))", "(RV k h)")
_MEMBERS = _EACH_BRANCH.format("(= (at (gY k) h) (at (gX k) h))", "(at (gY k) h)")

_TOTAL_Y = "(= (total (gY k)) (mul (SY k) (Q k)))"
_TOTAL_X = "(= (total (gX k)) (mul (SX k) (D k)))"
_TOTALS = "(= (total (gY k)) (total (gX k)))"

NO_MLP = f"(=> {SUMS_AGREE} {agreement('(+ k 1)')})"
"""From the sums over branches to the next stream; a gated block proves it in its own theory."""


def attention_goals(theory: Theory) -> tuple[Goal, ...]:
    """X~^{l-1} P_{l-1} = X^{l-1} C_{l-1} gives S~^l Q_l = S^l D_l, in small moves."""
    moves = (
        ("equal matrices have equal blocks", (agreement("k"),), _BLOCKS),
        ("the hypothesis holds for queries", (_BLOCKS,), _READ_QUERIES),
        ("the hypothesis holds for keys", (_BLOCKS,), _READ_KEYS),
        ("the hypothesis holds for values", (_BLOCKS,), _READ_VALUES),
        ("equal reads give the factors' logits", (_READ_QUERIES, _READ_KEYS), _OWN_LOGITS),
        ("all factors give the target's logits", (), _FACTORED),
        ("logits agree", (_OWN_LOGITS, _FACTORED), _LOGITS),
        ("equal logits give equal attention", (_LOGITS,), _ATTENTION),
        ("equal attention gives equal members", (_ATTENTION, _READ_VALUES), _MEMBERS),
        ("Q_l moves out of the sum over branches", (), _TOTAL_Y),
        ("D_l moves out of the sum over branches", (), _TOTAL_X),
        ("equal members have equal sums", (_MEMBERS,), _TOTALS),
        ("the sums agree", (_TOTAL_Y, _TOTAL_X, _TOTALS), SUMS_AGREE),
    )
    return (
        Goal(
            name="logits depend on the product of their factors",
            theory=logits_theory(),
            conclusion=LOGITS_FACTOR.formula,
        ),
        *(
            Goal(name=name, theory=theory, assumptions=(_LAYER, *given), conclusion=then)
            for name, given, then in moves
        ),
    )


def lemma_goals(theory: Theory, block: tuple[Goal, ...] = ()) -> tuple[Goal, ...]:
    """X~^l P_l = X^l C_l by induction over l: attention, then the block, then the output.

    `block` proves `NO_MLP` for a kind of block; without any, there is no MLP.
    """
    base, step = induction(
        name="streams agree on the probes",
        theory=theory,
        invariant=agreement,
        base="0",
        step=("k", "(+ k 1)"),
        step_assumptions=(_LAYER, SUMS_AGREE, NO_MLP),
    )
    own = Goal(
        name="the sums are the next streams",
        theory=theory,
        assumptions=(_LAYER,),
        conclusion=NO_MLP,
    )
    return (
        *attention_goals(theory),
        base,
        *(block or (own,)),
        step,
        Goal(
            name="the output is the target's",
            theory=theory,
            role="conclusion",
            assumptions=(
                agreement("L"),
                "(= (C L) identity)",
                "(= (mul (X L) identity) (X L))",
            ),
            conclusion="(= (mul (Y L) U) (X L))",
        ),
    )
