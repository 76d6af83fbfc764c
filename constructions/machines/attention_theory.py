"""Attention with Q = K = 0 and the one-hot decoding, for all alphabets, labels and contexts.

    entry (v k)      coordinate k of emb(v)
    qsum, vsum       partial sums over k of a row of Q (or K), of V, with emb(v)
    logit            <Q emb(u), K emb(v)>
    weight (x u v)   exp(logit(u, v)) / sum over x
    mix (x c u i)    attention output at coordinate i, summed over the part c of the context x
    mid (c i)        h^(1/2) at the newest token of c

Each sum over coordinates or over tokens is an induction of its own. Lengths and counts are real
numbers here.

Source: Sliding-Window Transformers Without Positional Encodings, Section 5 and Appendix A.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from constructions.machines.real_lemmas import CANCEL, HELD, RATIO
from constructions.machines.words import WORDS
from verify.smtlib import Axiom, Goal, Theory, World, induction

ATTENTION = """
(declare-const width Int) (declare-const n Int)
(declare-fun entry (Tok Int) Real) (declare-fun place (Disp) Int)
(declare-fun Qm (Int Int) Real) (declare-fun Vm (Int Int) Real)
(declare-fun qsum (Int Tok Int) Real) (declare-fun vsum (Int Tok Int) Real)
(declare-fun lsum (Tok Tok Int) Real) (declare-fun logit (Tok Tok) Real)
(declare-fun e (Real) Real)
(declare-fun mass (Ctx Tok) Real) (declare-fun weight (Ctx Tok Tok) Real)
(declare-fun size (Ctx) Real) (declare-fun cnt (Ctx Disp) Real)
(declare-fun mix (Ctx Ctx Tok Int) Real) (declare-fun mid (Ctx Int) Real)
(declare-fun last (Ctx) Tok)
(declare-const i0 Int) (declare-const v0 Tok)
(declare-const k Int) (declare-const u Tok) (declare-const d Disp) (declare-const x Ctx)
(declare-const c0 Ctx) (declare-const t0 Tok)
(define-fun within ((j Int)) Bool (and (<= 0 j) (< j width)))
(define-fun block ((i Int)) Bool (and (<= n i) (< i (+ n n))))
"""

Worlds = Callable[[], Iterable[World]]

_SIZES = Axiom("sizes", "(and (<= 1 n) (<= (+ n n) width))", "N symbols, D at least 2N coordinates")
_PLACES = Axiom(
    "places",
    """(and (forall ((a Disp)) (! (and (<= 0 (place a)) (< (place a) n)) :pattern ((place a))))
      (forall ((a Disp) (b Disp)) (! (=> (= (place a) (place b)) (= a b))
        :pattern ((place a) (place b)))))""",
    "each displayed symbol has a coordinate of its own among the first N",
)
_EMBEDDING = Axiom(
    "embedding",
    """(forall ((v Tok) (j Int)) (! (=> (and (<= 0 j) (< j (+ n n)))
      (= (entry v j) (ite (= j (place (disp v))) 1.0 0.0))) :pattern ((entry v j))))""",
    "emb(v) is one-hot in the displayed block and 0 in the histogram block",
)


def _theory(name: str, axioms: Sequence[Axiom], worlds: Worlds) -> Theory:
    return Theory(name=name, declarations=WORDS + ATTENTION, axioms=tuple(axioms), worlds=worlds)


def _partial_sum(start: str, step: str, bound: str, pattern: str, gloss: str) -> tuple[Axiom, ...]:
    return (
        Axiom(f"{gloss}, begun", f"(forall ({bound}) (= {start} 0.0))", "an empty sum"),
        Axiom(
            gloss,
            f"(forall ({bound} (j Int)) (! (=> (within j) {step}) :pattern ({pattern})))",
            f"{gloss}, coordinate by coordinate",
        ),
    )


def _zero_row(i: str, v: str, k: str) -> str:
    return f"(= (qsum {i} {v} {k}) 0.0)"


_ZERO_SUM = (
    f"(forall ((i Int) (v Tok)) (! {_zero_row('i', 'v', 'width')} :pattern ((qsum i v width))))"
)
_ZERO_LOGIT = "(forall ((a Tok) (b Tok)) (! (= (lsum a b {k}) 0.0) :pattern ((lsum a b {k}))))"


def logit_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """With Q = K = 0 every logit is 0: two inductions over coordinates."""
    theory = _theory(
        "logits",
        (
            _SIZES,
            Axiom(
                "zero",
                "(forall ((i Int) (j Int)) (! (= (Qm i j) 0.0) :pattern ((Qm i j))))",
                "Q = K = 0",
            ),
            *_partial_sum(
                "(qsum i v 0)",
                "(= (qsum i v (+ j 1)) (+ (qsum i v j) (* (Qm i j) (entry v j))))",
                "(i Int) (v Tok)",
                "(qsum i v (+ j 1))",
                "a row of Q (or of K) times emb(v)",
            ),
            *_partial_sum(
                "(lsum a b 0)",
                "(= (lsum a b (+ j 1)) (+ (lsum a b j) (* (qsum j a width) (qsum j b width))))",
                "(a Tok) (b Tok)",
                "(lsum a b (+ j 1))",
                "the inner product of Q emb(a) and K emb(b)",
            ),
        ),
        worlds,
    )
    return (
        *induction(
            name="rows of a zero matrix sum to 0",
            theory=theory,
            invariant=lambda k: _zero_row("i0", "v0", k),
            base="0",
            step=("k", "(+ k 1)"),
            step_assumptions=("(within k)",),
        ),
        *induction(
            name="every logit is 0",
            theory=theory,
            invariant=lambda k: _ZERO_LOGIT.format(k=k),
            base="0",
            step=("k", "(+ k 1)"),
            base_assumptions=(_ZERO_SUM,),
            step_assumptions=("(within k)", _ZERO_SUM),
        ),
    )


_MASS = "(forall ((v Tok)) (! (= (mass {x} v) (* (size {x}) (e 0.0))) :pattern ((mass {x} v))))"
_SIZE = (
    Axiom("size of nothing", "(= (size cnil) 0.0)", "m = 0 for the empty context"),
    Axiom(
        "size",
        """(forall ((t Tok) (c Ctx)) (! (= (size (ccons t c)) (+ (size c) 1.0))
          :pattern ((size (ccons t c)))))""",
        "m counts the tokens",
    ),
)
_SOFTMAX = (
    "(> (size x) 0.0)",
    "(> (e 0.0) 0.0)",
    "(= (* (weight x u u) (* (size x) (e 0.0))) (e 0.0))",
)
EQUAL = "(forall ((v Tok)) (! (= (weight x u v) (weight x u u)) :pattern ((weight x u v))))"
SHARE = "(= (* (weight x u u) (size x)) 1.0)"
"""Uniform attention: all weights are the one of u, and m times it is 1."""


def softmax_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """Softmax of equal logits is uniform, whatever positive function exp is."""
    theory = _theory(
        "softmax",
        (
            *_SIZE,
            Axiom("equal logits", "(forall ((a Tok) (b Tok)) (= (logit a b) 0.0))", "all are 0"),
            Axiom("exp", "(forall ((r Real)) (! (> (e r) 0.0) :pattern ((e r))))", "exp > 0"),
            Axiom("no mass", "(forall ((v Tok)) (= (mass cnil v) 0.0))", "an empty sum"),
            Axiom(
                "mass",
                """(forall ((t Tok) (c Ctx) (v Tok)) (! (= (mass (ccons t c) v)
                  (+ (mass c v) (e (logit v t)))) :pattern ((mass (ccons t c) v))))""",
                "the denominator sums exp(logit) over the context",
            ),
            Axiom(
                "weight",
                """(forall ((c Ctx) (a Tok) (b Tok)) (! (=> (distinct c cnil)
                  (= (* (weight c a b) (mass c a)) (e (logit a b)))) :pattern ((weight c a b))))""",
                "softmax: a weight times the denominator is exp(logit)",
            ),
        ),
        worlds,
    )
    sign = "(>= (size {x}) 0.0)"
    return (
        *induction(
            name="the denominator is m exp(0)",
            theory=theory,
            invariant=lambda c: _MASS.format(x=c),
            base="cnil",
            step=("c0", "(ccons t0 c0)"),
        ),
        *induction(
            name="m is not negative",
            theory=theory,
            invariant=lambda c: sign.format(x=c),
            base="cnil",
            step=("c0", "(ccons t0 c0)"),
        ),
        Goal(
            name="all weights are equal",
            theory=theory,
            assumptions=("(distinct x cnil)",),
            conclusion=EQUAL,
        ),
        Goal(
            name="the weights of a context",
            theory=theory,
            assumptions=("(= x (ccons t0 c0))", sign.format(x="c0"), _MASS.format(x="x")),
            conclusion=f"(and {' '.join(_SOFTMAX)})",
        ),
        Goal(
            name="m times the weight is 1",
            theory=_theory("arithmetic", (), worlds),
            role="conclusion",
            assumptions=(*_SOFTMAX, CANCEL.at(w="(weight x u u)", s="(size x)", r="(e 0.0)")),
            conclusion=SHARE,
        ),
        CANCEL.goal,
    )


VALUE_RULE = "(ite (and (block i) (= j (- i n))) 1.0 0.0)"
"""Entry (i, j) of V; a mutant replaces it."""
_COPIED = (
    "(forall ((i Int) (v Tok)) (! (= (vsum i v {k}) (ite (and (block i) (< (- i n) {k})) "
    "(entry v (- i n)) 0.0)) :pattern ((vsum i v {k}))))"
)
SHOWS = """(forall ((v Tok) (b Disp)) (! (= (vsum (+ n (place b)) v width)
  (ite (= (disp v) b) 1.0 0.0)) :pattern ((vsum (+ n (place b)) v width))))"""
ELSEWHERE = """(forall ((i Int) (v Tok)) (! (=> (not (block i)) (= (vsum i v width) 0.0))
  :pattern ((vsum i v width))))"""


def value_goals(worlds: Worlds, value_rule: str = VALUE_RULE) -> tuple[Goal, ...]:
    """V copies the displayed block into the histogram block and is zero elsewhere."""
    theory = _theory(
        "values",
        (
            _SIZES,
            _PLACES,
            _EMBEDDING,
            Axiom(
                "value matrix",
                f"(forall ((i Int) (j Int)) (! (= (Vm i j) {value_rule}) :pattern ((Vm i j))))",
                "V has a 1 from each displayed coordinate to its histogram coordinate",
            ),
            *_partial_sum(
                "(vsum i v 0)",
                "(= (vsum i v (+ j 1)) (+ (vsum i v j) (* (Vm i j) (entry v j))))",
                "(i Int) (v Tok)",
                "(vsum i v (+ j 1))",
                "a row of V times emb(v)",
            ),
        ),
        worlds,
    )
    return (
        *induction(
            name="a row of V picks one coordinate",
            theory=theory,
            invariant=lambda k: _COPIED.format(k=k),
            base="0",
            step=("k", "(+ k 1)"),
            step_assumptions=("(within k)",),
        ),
        Goal(
            name="V emb(v) shows the displayed symbol",
            theory=theory,
            assumptions=(_COPIED.format(k="width"),),
            conclusion=SHOWS,
        ),
        Goal(
            name="V emb(v) is zero outside the histogram block",
            theory=theory,
            assumptions=(_COPIED.format(k="width"),),
            conclusion=ELSEWHERE,
        ),
    )


_COUNTED = """(forall ((b Disp)) (! (= (mix x {c} u (+ n (place b))) (* (cnt {c} b) (weight x u u)))
  :pattern ((mix x {c} u (+ n (place b))))))"""
_PART = "(> (size x) 0.0)"


def _mixed(part: str, displayed: str) -> str:
    mixed = f"(mix x {part} u (+ n (place {displayed})))"
    return f"(= {mixed} (* (cnt {part} {displayed}) (weight x u u)))"


def _held(displayed: str) -> str:
    """M times the mass of a displayed symbol is its count."""
    return f"(= (* (mid x (+ n (place {displayed}))) (size x)) (cnt x {displayed}))"


def _mid(displayed: str) -> str:
    return f"(mid x (+ n (place {displayed})))"


def _mass_of(displayed: str) -> str:
    return f"(= (mid x (+ n (place {displayed}))) (* (cnt x {displayed}) (weight x u u)))"


def mix_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """The attention output is count over m, and counts are its ratios to the marker's mass."""
    numbers = _theory("arithmetic of shares", (), worlds)
    theory = _theory(
        "mixture",
        (
            _SIZES,
            _PLACES,
            _EMBEDDING,
            Axiom("no count", "(forall ((b Disp)) (= (cnt cnil b) 0.0))", "none in ()"),
            Axiom(
                "count",
                """(forall ((t Tok) (c Ctx) (b Disp)) (! (= (cnt (ccons t c) b)
                  (+ (cnt c b) (ite (= (disp t) b) 1.0 0.0))) :pattern ((cnt (ccons t c) b))))""",
                "a token adds 1 to the count of what it displays",
            ),
            Axiom(
                "no mixture",
                "(forall ((y Ctx) (v Tok) (i Int)) (= (mix y cnil v i) 0.0))",
                "an empty sum",
            ),
            Axiom(
                "mixture",
                """(forall ((y Ctx) (t Tok) (c Ctx) (v Tok) (i Int)) (! (=> (within i)
                  (= (mix y (ccons t c) v i)
                  (+ (mix y c v i) (* (weight y v t) (vsum i t width)))))
                  :pattern ((mix y (ccons t c) v i))))""",
                "the attention output sums weight times V emb(t) over the context",
            ),
            Axiom(
                "residual",
                """(forall ((c Ctx) (i Int)) (! (=> (and (distinct c cnil) (within i))
                  (= (mid c i) (+ (mix c c (last c) i) (entry (last c) i))))
                  :pattern ((mid c i))))""",
                "the residual connection adds emb of the newest token",
            ),
        ),
        worlds,
    )
    return (
        *induction(
            name="attention sums to count over m",
            theory=theory,
            invariant=lambda c: _COUNTED.format(c=c),
            base="cnil",
            step=("c0", "(ccons t0 c0)"),
            step_assumptions=(EQUAL, SHOWS),
        ),
        *induction(
            name="attention is zero outside the histogram block",
            theory=theory,
            invariant=lambda c: f"(=> (within k) (not (block k)) (= (mix x {c} u k) 0.0))",
            base="cnil",
            step=("c0", "(ccons t0 c0)"),
            step_assumptions=(ELSEWHERE,),
        ),
        Goal(
            name="h^(1/2) holds what was mixed",
            theory=theory,
            assumptions=("(distinct x cnil)", "(= u (last x))", _mixed("x", "d")),
            conclusion=_mass_of("d"),
        ),
        Goal(
            name="h^(1/2) holds the normalised histogram",
            theory=numbers,
            role="conclusion",
            assumptions=(
                "(distinct x cnil)",
                "(= u (last x))",
                SHARE,
                _mass_of("d"),
                HELD.at(w="(weight x u u)", s="(size x)", c="(cnt x d)", a=_mid("d")),
            ),
            conclusion=_held("d"),
        ),
        Goal(
            name="with one marker counts are ratios to its mass",
            theory=numbers,
            role="conclusion",
            assumptions=(
                "(distinct x cnil)",
                "(= u (last x))",
                "(= (cnt x mark) 1.0)",
                SHARE,
                _mass_of("d"),
                _mass_of("mark"),
                RATIO.at(
                    w="(weight x u u)",
                    s="(size x)",
                    c="(cnt x d)",
                    a=_mid("d"),
                    b=_mid("mark"),
                    o="(cnt x mark)",
                ),
            ),
            conclusion=f"(= (/ {_mid('d')} {_mid('mark')}) (cnt x d))",
        ),
        HELD.goal,
        RATIO.goal,
        Goal(
            name="without a marker its mass is 0",
            theory=theory,
            assumptions=("(= (cnt x mark) 0.0)", _PART, _held("mark")),
            conclusion="(= (mid x (+ n (place mark))) 0.0)",
        ),
    )
