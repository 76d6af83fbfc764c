"""The sparse parameters for every size: P_l is the identity over zeros, by induction downwards.

Columns of P_{l-1} are numbered as its blocks stand side by side: a block starts where the one
before ends. That the unit vectors in them are e_1, e_2, .. is proved from the printed rules.

Source: Fixed Universal Transformers, Appendix E.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from verify.smtlib import Axiom, Goal, Role, Theory, World, induction

_DECLARATIONS = """
(declare-const H Int) (declare-const L Int) (declare-const d Int) (declare-const din Int)
(declare-const r Int) (declare-const m Int) (declare-const residual Bool)
(declare-const k Int) (declare-const g Int) (declare-const j0 Int)
(declare-fun s (Int) Int) (declare-fun q (Int) Int) (declare-fun w (Int) Int)
(declare-fun carried (Int) Int)
(declare-fun selected (Int Int) Int) (declare-fun inner (Int Int) Int)
(declare-fun value (Int Int Int) Int)
(declare-fun down (Int Int Int) Int)
(declare-fun column (Int Int) Int)
(declare-fun startRead (Int Int) Int) (declare-fun endRead (Int Int) Int)
(declare-fun startMoved (Int Int) Int) (declare-fun endMoved (Int Int) Int)
(define-fun layer ((l Int)) Bool (and (<= 1 l) (<= l L)))
(define-fun within ((n Int) (last Int)) Bool (and (<= 1 n) (<= n last)))
"""

BRANCH = "(+ (carried l) (* 2 (* H d)) (* (- h 1) (w l)) c)"
"""Where R_V^{l,h} sends coordinate c; the mutants replace it."""


def routed_theory(kind: str, branch: str, worlds: Callable[[], Iterable[World]]) -> Theory:
    """Sizes, rules and columns of layer l (from 1); a selected coordinate per column."""
    return Theory(
        name="sparse blocks",
        declarations=_DECLARATIONS,
        axioms=(
            Axiom(
                "sizes",
                "(and (>= H 1) (>= L 1) (>= d 1) (>= din 1) (>= r 0))",
                "all sizes are at least 1, and there are no fewer than 0 neurons",
            ),
            Axiom("kind", kind, "the kind of block that the claim speaks of"),
            Axiom(
                "inner widths",
                """(forall ((l Int)) (! (=> (layer l) (and (= (q l) (* r (s l)))
                  (= (w l) (ite (= r 0) (s l) (+ (* 2 (q l)) (ite residual (s l) 0))))
                  (= (carried l) (ite residual (w l) 0)))) :pattern ((w l))))""",
                "q_l = r s_l; Q_l has s_l, 2 q_l or s_l + 2 q_l columns, carried on if residual",
            ),
            Axiom(
                "readout",
                "(and (= (s L) din) (forall ((n Int)) (! (=> (within n din) (= (selected L n) n)) "
                ":pattern ((selected L n)))))",
                "U reads the first d_in coordinates",
            ),
            Axiom(
                "Q",
                """(forall ((l Int) (n Int)) (! (=> (and (layer l) (within n (w l)))
                  (= (inner l n) (ite (and (<= n (s l)) (or (= r 0) residual)) (selected l n) n)))
                  :pattern ((inner l n))))""",
                "Q_l begins with P_l if that is carried or there is no MLP; R_g and R_u follow on",
            ),
            Axiom(
                "value",
                f"""(forall ((l Int) (h Int) (c Int)) (! (=> (and (layer l) (within h H)
                  (within c (w l))) (= (value l h c) {branch})) :pattern ((value l h c))))""",
                "R_V^{l,h} sends coordinate c to the c-th of branch h",
            ),
            Axiom(
                "reads start",
                """(forall ((l Int)) (! (=> (layer l) (= (startRead l 1) (carried l)))
                  :pattern ((startRead l 1))))""",
                "reads follow what is carried",
            ),
            Axiom(
                "reads",
                """(forall ((l Int) (h Int)) (! (=> (and (layer l) (within h H))
                  (and (= (endRead l h) (+ (startRead l h) (* 2 d)))
                    (= (startRead l (+ h 1)) (endRead l h)))) :pattern ((endRead l h))))""",
                "each head has d query and d key columns, one head after the other",
            ),
            Axiom(
                "moved start",
                """(forall ((l Int)) (! (=> (layer l) (= (startMoved l 1) (endRead l H)))
                  :pattern ((startMoved l 1))))""",
                "the branches follow the reads",
            ),
            Axiom(
                "moved",
                """(forall ((l Int) (h Int)) (! (=> (and (layer l) (within h H))
                  (and (= (endMoved l h) (+ (startMoved l h) (w l)))
                    (= (startMoved l (+ h 1)) (endMoved l h)))) :pattern ((endMoved l h))))""",
                "each branch is as wide as Q_l, one after the other",
            ),
            Axiom(
                "widths",
                """(forall ((l Int)) (! (=> (layer l) (= (s (- l 1)) (endMoved l H)))
                  :pattern ((endMoved l H))))""",
                "P_{l-1} ends where its last block ends",
            ),
            Axiom(
                "columns",
                """(forall ((l Int) (n Int)) (! (=> (layer l)
                  (= (selected (- l 1) n) (column l n))) :pattern ((column l n))))""",
                "the columns of P_{l-1} are what the parts of layer l make",
            ),
            Axiom(
                "P: carried",
                """(forall ((l Int) (n Int)) (! (=> (and (layer l) (within n (carried l)))
                  (= (column l n) (inner l n))) :pattern ((column l n))))""",
                "P_{l-1} begins with Q_l if streams are carried on",
            ),
            Axiom(
                "P: reads",
                """(forall ((l Int) (h Int) (n Int)) (! (=> (and (layer l) (within h H)
                  (< (startRead l h) n) (<= n (endRead l h)))
                  (= (column l n) (+ (carried l) (* 2 (* (- h 1) d)) (- n (startRead l h)))))
                  :pattern ((column l n) (endRead l h))))""",
                "R_Q^{l,h} reads 2(h-1)d + k, R_K^{l,h} (2h-1)d + k, after the carried coordinates",
            ),
            Axiom(
                "P: moved",
                """(forall ((l Int) (h Int) (n Int)) (! (=> (and (layer l) (within h H)
                  (< (startMoved l h) n) (<= n (endMoved l h)))
                  (= (column l n) (value l h (inner l (- n (startMoved l h))))))
                  :pattern ((column l n) (endMoved l h))))""",
                "R_V^{l,h} moves what Q_l selects",
            ),
            Axiom(
                "down",
                """(forall ((l Int) (j Int) (i Int)) (! (=> (and (layer l) (within j r)
                  (within i (s l))) (= (down l j i) i)) :pattern ((down l j i))))""",
                "row (j, i) of R_d^l is e_i",
            ),
            Axiom("dimension", "(>= m (s 0))", "m is at least s_0"),
        ),
        worlds=worlds,
    )


def _identity(l: str) -> str:  # noqa: E741 - the layer's name in the paper
    return f"""(and (>= (s {l}) 1) (forall ((n Int)) (! (=> (within n (s {l}))
      (= (selected {l} n) n)) :pattern ((selected {l} n)))))"""


_LAYER = "(layer k)"
_POSITIVE = "(and (>= (w k) (s k)) (>= (carried k) 0) (>= (q k) 0))"
_INNER = "(forall ((n Int)) (! (=> (within n (w k)) (= (inner k n) n)) :pattern ((inner k n))))"
_AS_COLUMNS = """(forall ((n Int)) (! (= (selected (- k 1) n) (column k n))
  :pattern ((selected (- k 1) n))))"""
_WIDTH = """(= (s (- k 1)) (+ (* 2 (* H d)) (* H (w k)) (carried k)))"""


def _filled(last: str) -> str:
    return f"""(forall ((n Int)) (! (=> (within n {last}) (= (column k n) n))
      :pattern ((column k n))))"""


def _read_place(h: str) -> str:
    return f"(= (startRead k {h}) (+ (carried k) (* 2 (* (- {h} 1) d))))"


def _moved_place(h: str) -> str:
    return f"(= (startMoved k {h}) (+ (carried k) (* 2 (* H d)) (* (- {h} 1) (w k))))"


_NEXT_READ = """(and (= (endRead k g) (+ (startRead k g) (* 2 d)))
  (= (startRead k (+ g 1)) (endRead k g)))"""
_NEXT_MOVED = """(and (= (endMoved k g) (+ (startMoved k g) (w k)))
  (= (startMoved k (+ g 1)) (endMoved k g)))"""
_HEAD_READS = """(forall ((n Int)) (! (=> (and (< (startRead k g) n) (<= n (endRead k g)))
  (= (column k n) (+ (carried k) (* 2 (* (- g 1) d)) (- n (startRead k g)))))
  :pattern ((column k n))))"""
_HEAD_MOVED = """(forall ((n Int)) (! (=> (and (< (startMoved k g) n) (<= n (endMoved k g)))
  (= (column k n)
    (+ (carried k) (* 2 (* H d)) (* (- g 1) (w k)) (- n (startMoved k g)))))
  :pattern ((column k n))))"""
_LAST_READ = "(= (endRead k H) (startRead k (+ H 1)))"
_LAST_MOVED = "(= (endMoved k H) (startMoved k (+ H 1)))"


def _goal(
    theory: Theory, name: str, given: tuple[str, ...], then: str, role: Role = "lemma"
) -> Goal:
    return Goal(name=name, theory=theory, assumptions=given, conclusion=then, role=role)


def _over_heads(
    name: str,
    theory: Theory,
    invariant: Callable[[str], str],
    given: tuple[str, ...],
    step: tuple[str, ...],
) -> tuple[Goal, Goal]:
    return induction(
        name=name,
        theory=theory,
        invariant=invariant,
        base="1",
        step=("g", "(+ g 1)"),
        base_assumptions=(_LAYER, *given),
        step_assumptions=(_LAYER, "(within g H)", *given, *step),
    )


def _layer_goals(theory: Theory) -> tuple[Goal, ...]:
    """The columns of P_{l-1}, block by block, when P_l is the identity over zeros."""
    after = "(+ H 1)"
    reads, moved = _filled("(startRead k {0})"), _filled("(startMoved k {0})")
    return (
        _goal(theory, "inner widths are not smaller", (_LAYER, "(>= (s k) 1)"), _POSITIVE),
        _goal(
            theory,
            "Q_l selects the first coordinates",
            (_LAYER, _POSITIVE, _identity("k")),
            _INNER,
        ),
        _goal(theory, "a head has 2d reads", (_LAYER, "(within g H)"), _NEXT_READ),
        _goal(theory, "the last reads", (_LAYER,), _LAST_READ),
        _goal(theory, "the last branch", (_LAYER,), _LAST_MOVED),
        _goal(theory, "a branch has w columns", (_LAYER, "(within g H)"), _NEXT_MOVED),
        _goal(theory, "columns are selected", (_LAYER,), _AS_COLUMNS),
        *_over_heads("reads stand side by side", theory, _read_place, (), (_NEXT_READ,)),
        *_over_heads(
            "branches stand side by side",
            theory,
            _moved_place,
            (_LAST_READ, _read_place(after)),
            (_NEXT_MOVED,),
        ),
        _goal(theory, "the width of P_{l-1}", (_LAYER, _LAST_MOVED, _moved_place(after)), _WIDTH),
        _goal(
            theory,
            "what a head's reads select",
            (_LAYER, "(within g H)", _NEXT_READ),
            _HEAD_READS,
        ),
        _goal(
            theory,
            "what a branch selects",
            (_LAYER, "(within g H)", _POSITIVE, _INNER, _NEXT_MOVED),
            _HEAD_MOVED,
        ),
        *_over_heads(
            "reads fill their columns",
            theory,
            lambda h: f"(and {_read_place(h)} {reads.replace('{0}', h)})",
            (_POSITIVE, _INNER),
            (_NEXT_READ, _HEAD_READS, _read_place("(+ g 1)")),
        ),
        *_over_heads(
            "branches fill their columns",
            theory,
            lambda h: f"(and {_moved_place(h)} {moved.replace('{0}', h)})",
            (_POSITIVE, _INNER, _LAST_READ, _read_place(after), reads.replace("{0}", after)),
            (_NEXT_MOVED, _HEAD_MOVED, _moved_place("(+ g 1)")),
        ),
    )


def _count_goals(theory: Theory) -> tuple[Goal, ...]:
    """Local blocks, and how many ones the parameters have."""
    return (
        _goal(
            theory,
            "every local block is the identity",
            (_LAYER, _identity("k")),
            """(forall ((j Int) (i Int) (n Int)) (! (=> (and (within j r) (within i (s k))
              (within n (s k))) (= (= (down k j i) (selected k n)) (= i n)))
              :pattern ((down k j i) (selected k n))))""",
            "conclusion",
        ),
        _goal(
            theory,
            "the probes of one layer fit into the next",
            (_LAYER, _POSITIVE, _WIDTH, "(>= (* H (w k)) (w k))", "(>= (* H d) d)"),
            "(and (<= (s k) (s (- k 1))) (<= (w k) (s (- k 1))) (<= d (s (- k 1))))",
        ),
        *induction(
            name="no probe is wider than m",
            theory=theory,
            invariant=lambda l: f"(<= (s {l}) m)",  # noqa: E741 - the layer's name
            base="0",
            step=("(- k 1)", "k"),
            step_assumptions=(_LAYER, "(<= (s k) (s (- k 1)))"),
        ),
        _goal(
            theory,
            "a value map has w ones, at most m",
            (_LAYER, "(<= (w k) (s (- k 1)))", "(<= (s (- k 1)) m)"),
            """(and (<= (w k) m) (= (w k) (ite (= r 0) (s k)
              (+ (* 2 (q k)) (ite residual (s k) 0)))))""",
            "conclusion",
        ),
    )


def routed_goals(theory: Theory) -> tuple[Goal, ...]:
    """One layer block by block, then all layers downwards; local blocks and counts after it."""
    base, step = induction(
        name="P_l is the identity over zeros",
        theory=theory,
        invariant=_identity,
        base="L",
        step=("k", "(- k 1)"),
        step_assumptions=(
            _LAYER,
            _POSITIVE,
            _WIDTH,
            _LAST_MOVED,
            _filled("(startMoved k (+ H 1))"),
            _AS_COLUMNS,
        ),
    )
    return (base, *_layer_goals(theory), step, *_count_goals(theory))
