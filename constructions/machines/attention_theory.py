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

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from constructions.machines.contexts import Exact, exact, hist_machine_number, next_of
from constructions.machines.matrices import Vocabulary, labels_met
from constructions.machines.readings import Context, word_symbols
from constructions.machines.window import SlidingWindowRun, window_transformer
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
    return Theory(
        name=name, declarations=WORDS + ATTENTION, axioms=tuple(axioms), worlds=worlds
    )


def _partial_sum(name: str, start: str, step: str, bound: str, pattern: str, gloss: str) -> Axiom:
    return Axiom(
        name,
        f"""(forall ({bound}) (and (= {start} 0.0) (forall ((j Int)) (! (=> (within j) {step})
          :pattern ({pattern})))))""",
        gloss,
    )


_ZERO_SUM = "(forall ((i Int) (v Tok)) (! (= (qsum i v {k}) 0.0) :pattern ((qsum i v {k}))))"
_ZERO_LOGIT = "(forall ((a Tok) (b Tok)) (! (= (lsum a b {k}) 0.0) :pattern ((lsum a b {k}))))"


def logit_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """With Q = K = 0 every logit is 0: two inductions over coordinates."""
    theory = _theory(
        "logits",
        (
            _SIZES,
            Axiom("zero", "(forall ((i Int) (j Int)) (= (Qm i j) 0.0))", "Q = K = 0"),
            _partial_sum(
                "rows of Q",
                "(qsum i v 0)",
                "(= (qsum i v (+ j 1)) (+ (qsum i v j) (* (Qm i j) (entry v j))))",
                "(i Int) (v Tok)",
                "(qsum i v (+ j 1))",
                "a row of Q (or of K) times emb(v), coordinate by coordinate",
            ),
            _partial_sum(
                "inner product",
                "(lsum a b 0)",
                "(= (lsum a b (+ j 1)) (+ (lsum a b j) (* (qsum j a width) (qsum j b width))))",
                "(a Tok) (b Tok)",
                "(lsum a b (+ j 1))",
                "the inner product of Q emb(a) and K emb(b), coordinate by coordinate",
            ),
        ),
        worlds,
    )
    return (
        *induction(
            name="rows of a zero matrix sum to 0",
            theory=theory,
            invariant=lambda k: _ZERO_SUM.format(k=k),
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
            base_assumptions=(_ZERO_SUM.format(k="width"),),
            step_assumptions=("(within k)", _ZERO_SUM.format(k="width")),
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
UNIFORM = "(forall ((v Tok)) (! (= (weight x u v) (/ 1.0 (size x))) :pattern ((weight x u v))))"


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
                  (= (weight c a b) (/ (e (logit a b)) (mass c a)))) :pattern ((weight c a b))))""",
                "softmax",
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
            name="attention is uniform",
            theory=theory,
            role="conclusion",
            assumptions=(
                "(= x (ccons t0 c0))",
                sign.format(x="c0"),
                _MASS.format(x="x"),
            ),
            conclusion=UNIFORM,
        ),
    )


VALUE_RULE = "(ite (and (block i) (= j (- i n))) 1.0 0.0)"
"""Entry (i, j) of V; a refutable twin replaces it."""
_COPIED = "(forall ((i Int) (v Tok)) (! (= (vsum i v {k}) (ite (and (block i) (< (- i n) {k})) " \
    "(entry v (- i n)) 0.0)) :pattern ((vsum i v {k}))))"
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
            _partial_sum(
                "rows of V",
                "(vsum i v 0)",
                "(= (vsum i v (+ j 1)) (+ (vsum i v j) (* (Vm i j) (entry v j))))",
                "(i Int) (v Tok)",
                "(vsum i v (+ j 1))",
                "a row of V times emb(v), coordinate by coordinate",
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


_COUNTED = "(forall ((b Disp)) (! (= (mix x {c} u (+ n (place b))) (/ (cnt {c} b) (size x))) " \
    ":pattern ((mix x {c} u (+ n (place b))))))"
_NOTHING = "(forall ((i Int)) (! (=> (not (block i)) (= (mix x {c} u i) 0.0)) " \
    ":pattern ((mix x {c} u i))))"
_PART = "(> (size x) 0.0)"


def mix_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """The attention output is count over m, and counts are its ratios to the marker's mass."""
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
    histogram = "(forall ((b Disp)) (= (mid x (+ n (place b))) (/ (cnt x b) (size x))))"
    return (
        *induction(
            name="attention sums to count over m",
            theory=theory,
            invariant=lambda c: _COUNTED.format(c=c),
            base="cnil",
            step=("c0", "(ccons t0 c0)"),
            base_assumptions=(_PART,),
            step_assumptions=(_PART, UNIFORM, SHOWS),
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
            name="h^(1/2) holds the normalised histogram",
            theory=theory,
            role="conclusion",
            assumptions=("(distinct x cnil)", "(= u (last x))", _COUNTED.format(c="x")),
            conclusion=histogram,
        ),
        Goal(
            name="with one marker counts are ratios to its mass",
            theory=theory,
            role="conclusion",
            assumptions=("(= (cnt x mark) 1.0)", _PART, "(distinct x cnil)", histogram),
            conclusion="(= (/ (mid x (+ n (place d))) (mid x (+ n (place mark)))) (cnt x d))",
        ),
        Goal(
            name="without a marker its mass is 0",
            theory=theory,
            assumptions=("(= (cnt x mark) 0.0)", _PART, "(distinct x cnil)", histogram),
            conclusion="(= (mid x (+ n (place mark))) 0.0)",
        ),
    )


# --- the theory's meaning in the code --------------------------------------------------------


def _sums(rows: Any, vector: Any) -> list[list[Fraction]]:
    """Partial sums of every row of a matrix with a vector."""
    table: list[list[Fraction]] = []
    for row in rows:
        sums = [Fraction(0)]
        for left, right in zip(row, vector, strict=True):
            sums.append(sums[-1] + left * right)
        table.append(sums)
    return table


def attention_worlds(make: Exact = exact) -> Iterator[World]:
    """A family machine's matrices on the contexts of a run."""
    transformer = window_transformer(hist_machine_number(3))
    vocabulary = Vocabulary(
        displayed=transformer.displayed, labels=labels_met(transformer, "ab", 3)
    )
    model = make(transformer, vocabulary)
    run = SlidingWindowRun(transformer, "ab")
    contexts: list[Context] = []
    for _ in range(3):
        contexts += [tuple(run.context), tuple(run.context)[:2]]
        run.step()
    contexts = list(dict.fromkeys(contexts))
    tokens = tuple(dict.fromkeys(token for context in contexts for token in context))
    embedded = {token: vocabulary.embed(token) for token in tokens}
    queries = {token: _sums(vocabulary.zero_matrix(), embedded[token]) for token in tokens}
    values = {token: _sums(vocabulary.value_matrix(), embedded[token]) for token in tokens}
    middles = {context: model.attend(context) for context in contexts}
    width, size = vocabulary.width, len(vocabulary.displayed)
    whole = {token: [sums[width] for sums in queries[token]] for token in tokens}
    logits = {
        (a, b): _sums([whole[a]], whole[b])[0] for a in tokens for b in tokens
    }

    def mixed(context: Context, part: Context, token: Any, coordinate: int) -> Fraction:
        del token
        shares = [values[t][coordinate][width] for t in part]
        return sum(shares, Fraction(0)) / len(context)

    def exponential(logit: Fraction) -> Fraction:
        return {Fraction(0): Fraction(1)}[Fraction(logit)]

    yield World(
        sorts={
            "Tok": tokens,
            "Ctx": tuple(contexts),
            "Disp": transformer.displayed,
            "Real": (Fraction(0),),
        },
        integers=range(width),
        symbols={
            **word_symbols(transformer.machine.alphabet, transformer.marker),
            "width": width,
            "n": size,
            "entry": lambda v, j: embedded[v][j],
            "place": transformer.displayed.index,
            "Qm": lambda i, j: vocabulary.zero_matrix()[i][j],
            "Vm": lambda i, j: vocabulary.value_matrix()[i][j],
            "qsum": lambda i, v, j: queries[v][i][j],
            "vsum": lambda i, v, j: values[v][i][j],
            "lsum": lambda a, b, j: logits[a, b][j],
            "logit": lambda a, b: logits[a, b][width],
            "e": exponential,
            "mass": lambda c, v: sum((exponential(logits[v, t][width]) for t in c), Fraction(0)),
            "weight": lambda c, a, b: Fraction(1, len(c)),
            "size": lambda c: Fraction(len(c)),
            "cnt": lambda c, b: Fraction([t.displayed for t in c].count(b)),
            "mix": mixed,
            "mid": lambda c, i: middles[c][i],
            "last": lambda c: c[-1],
            "G": lambda c: next_of(transformer, c),
        },
        free={
            "k": range(width),
            "u": tokens[-2:],
            "d": transformer.displayed,
            "x": tuple(contexts),
            "c0": ((), *contexts),
            "t0": tokens,
        },
    )
