"""Dense conjunctions against the look-up by label and parities, for all tables of rows.

    lsum (k r)     the first r labels' share in row k: its dense row times the label block
    psum (k i)     its first i parity terms, p_i or 1 - p_i
    agrees (k i)   the first i parities are as row k asks
    v (k)          the neuron
    out (j k)      coordinate j of what the first k neurons emit

All features are 0 or 1, so everything is an integer.

Source: Sliding-Window Transformers Without Positional Encodings, Appendix A, "The MLP layer".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from verify.smtlib import Axiom, Goal, Theory, World, induction

_BLOCKS = """
(declare-const n Int) (declare-const R Int) (declare-const B Int) (declare-const D Int)
(declare-const r0 Int)
(declare-const here Bool) (declare-const lookup Int)
(declare-fun label (Int) Int) (declare-fun needs (Int) Bool) (declare-fun reads (Int) Bool)
(declare-fun bit (Int Int) Bool) (declare-fun p (Int) Bool) (declare-fun e (Int) Int)
(declare-fun agrees (Int Int) Bool)
(declare-fun lsum (Int Int) Int) (declare-fun psum (Int Int) Int) (declare-fun v (Int) Int)
(declare-fun hot (Int Int) Int) (declare-fun out (Int Int) Int) (declare-fun h (Int) Int)
(declare-fun dense (Int) Int) (declare-fun block (Int) Int)
(declare-const k Int) (declare-const i Int) (declare-const r Int) (declare-const j Int)
(define-fun one ((b Bool)) Int (ite b 1 0))
(define-fun relu ((a Int)) Int (ite (>= a 0) a 0))
(define-fun row ((a Int)) Bool (and (<= 0 a) (< a B)))
(define-fun coordinate ((c Int)) Bool (and (<= 0 c) (< c D)))
(define-fun fits ((a Int)) Bool (and (= (label a) r0) (= (needs a) here)
  (=> (needs a) (=> (reads a) (agrees a n)))))
"""

Worlds = Callable[[], Iterable[World]]

_SIZES = Axiom(
    "sizes",
    """(and (<= 0 n) (<= 1 R) (<= 0 B) (<= 0 r0) (< r0 R)
      (forall ((a Int)) (! (=> (row a) (and (<= 0 (label a)) (< (label a) R)))
        :pattern ((label a)))))""",
    "n symbols, R labels, B rows; each row has a label, and r0 is the newest one",
)
_ONE_HOT = Axiom(
    "one-hot",
    """(forall ((b Int)) (! (=> (and (<= 0 b) (< b R)) (= (e b) (one (= b r0))))
      :pattern ((e b))))""",
    "the label block is one-hot",
)
_LABELS = (
    Axiom("no labels", "(forall ((a Int)) (= (lsum a 0) 0))", "an empty sum"),
    Axiom(
        "labels",
        """(forall ((a Int) (b Int)) (! (=> (and (row a) (<= 0 b) (< b R))
          (= (lsum a (+ b 1)) (+ (lsum a b) (ite (= b (label a)) (e b) 0))))
          :pattern ((lsum a (+ b 1)))))""",
        "a row of the dense layer has weight 1 at its label, 0 at the others",
    ),
)
_PARITIES = (
    Axiom(
        "no parities",
        "(forall ((a Int)) (! (and (= (psum a 0) 0) (agrees a 0)) :pattern ((psum a 0))))",
        "an empty sum, and nothing that could differ",
    ),
    Axiom(
        "parities",
        """(forall ((a Int) (b Int)) (! (=> (and (row a) (<= 0 b) (< b n)) (and
          (= (psum a (+ b 1)) (+ (psum a b) (ite (bit a b) (one (p b)) (- 1 (one (p b))))))
          (= (agrees a (+ b 1)) (and (agrees a b) (= (bit a b) (p b))))))
          :pattern ((psum a (+ b 1)))))""",
        "a term is p_i where 1 is asked for, 1 - p_i where 0 is",
    ),
)
THRESHOLD = "(+ 1 (ite (reads a) n 0))"
"""The number of terms less 1; a mutant lowers it."""


def _neuron_axiom(threshold: str) -> Axiom:
    return Axiom(
        "neuron",
        f"""(forall ((a Int)) (! (=> (row a) (= (v a) (relu (ite (needs a)
          (- (+ (lsum a R) (one here) (ite (reads a) (psum a n) 0)) {threshold})
          (- (lsum a R) (one here)))))) :pattern ((v a))))""",
        "relu(sum of features - (terms - 1)), or relu(e_r - present) for a refresh",
    )


_OUTPUT = (
    Axiom(
        "no rows",
        "(forall ((c Int)) (! (=> (coordinate c) (= (out c 0) 0)) :pattern ((out c 0))))",
        "an empty sum",
    ),
    Axiom(
        "rows",
        """(forall ((c Int) (a Int)) (! (=> (and (row a) (coordinate c))
          (= (out c (+ a 1)) (+ (out c a) (ite (= (v a) 0) 0 (* (hot a c) (v a))))))
          :pattern ((out c (+ a 1)))))""",
        "the output adds up the embeddings of the rows' tokens, each times its neuron",
    ),
    Axiom(
        "dense",
        """(forall ((c Int)) (! (=> (coordinate c) (= (dense c) (- (out c B) (h c))))
          :pattern ((dense c))))""",
        "and subtracts the carried h",
    ),
)
_LOOKUP = (
    Axiom(
        "look-up",
        "(forall ((a Int)) (! (=> (row a) (= (fits a) (= a lookup))) :pattern ((label a))))",
        "the table has at most one row for a label and parities; the look-up finds it",
    ),
    Axiom(
        "block",
        """(forall ((c Int)) (! (=> (coordinate c)
          (= (block c) (- (ite (row lookup) (hot lookup c) 0) (h c)))) :pattern ((block c))))""",
        "the block form emits that row's token, or nothing, and subtracts h",
    ),
)


def _label_share(labels: str) -> str:
    return f"(= (lsum k {labels}) (one (and (= (label k) r0) (< r0 {labels}))))"


def _agreement(terms: str) -> str:
    return f"""(and (<= (psum k {terms}) {terms})
      (= (agrees k {terms}) (= (psum k {terms}) {terms})))"""


_ROW, _MATCHED, _FOUND = "(row k)", "(= (v k) (one (fits k)))", "(= (fits k) (= k lookup))"
_LABEL_FOUND = _label_share("R")


def _emitted(rows: str) -> str:
    return f"(= (out j {rows}) (ite (and (<= 0 lookup) (< lookup {rows})) (hot lookup j) 0))"


def _theory(name: str, axioms: Sequence[Axiom], worlds: Worlds) -> Theory:
    return Theory(name=name, declarations=_BLOCKS, axioms=tuple(axioms), worlds=worlds)


def block_goals(worlds: Worlds, threshold: str = THRESHOLD) -> tuple[Goal, ...]:
    """Label share, parity terms, the neuron, then the sum over rows."""
    return (*_neuron_goals(worlds, threshold), *_emission_goals(worlds))


def _neuron_goals(worlds: Worlds, threshold: str) -> tuple[Goal, ...]:
    return (
        *induction(
            name="a dense row picks its label",
            theory=_theory("label block", (_SIZES, _ONE_HOT, *_LABELS), worlds),
            invariant=_label_share,
            base="0",
            step=("r", "(+ r 1)"),
            base_assumptions=(_ROW,),
            step_assumptions=(_ROW, "(<= 0 r)", "(< r R)"),
        ),
        *induction(
            name="all terms are 1 when the parities agree",
            theory=_theory("parity terms", _PARITIES, worlds),
            invariant=_agreement,
            base="0",
            step=("i", "(+ i 1)"),
            base_assumptions=(_ROW,),
            step_assumptions=(_ROW, "(<= 0 i)", "(< i n)"),
        ),
        Goal(
            name="a neuron is 1 when its row is asked for, else 0",
            theory=_theory("neurons", (_neuron_axiom(threshold),), worlds),
            assumptions=("(< r0 R)", _ROW, _LABEL_FOUND, _agreement("n")),
            conclusion=_MATCHED,
        ),
    )


def _emission_goals(worlds: Worlds) -> tuple[Goal, ...]:
    return (
        Goal(
            name="the look-up finds the row",
            theory=_theory("rows", (_SIZES, *_LOOKUP), worlds),
            assumptions=(_ROW,),
            conclusion=_FOUND,
        ),
        *induction(
            name="one row is emitted",
            theory=_theory("output", _OUTPUT, worlds),
            invariant=_emitted,
            base="0",
            step=("k", "(+ k 1)"),
            base_assumptions=("(coordinate j)",),
            step_assumptions=("(coordinate j)", _ROW, _MATCHED, _FOUND),
        ),
        Goal(
            name="dense and block form are equal",
            theory=_theory("both forms", (*_OUTPUT, *_LOOKUP), worlds),
            role="conclusion",
            assumptions=("(coordinate j)", _emitted("B")),
            conclusion="(= (dense j) (block j))",
        ),
    )
