"""The halves of a path meet in the middle, and a coefficient of f g comes out: goals.

For the path of a word P, a middle head h and a word Q the row is E behind the masks of P, behind
middle(h), behind the masks of Q. In turn it holds

    E_(u,i) where u = P, else 0
    first(P) f_(h-j) at every (v, j)            the one term with u = P and i = h - j, if any
    first(P) f_(h-j) where v = Q, else 0

so the product with U is first(P) second(Q) sum_j f_(h-j) g_j.

Source: Fixed Universal Transformers, Section 4; the construction is ours.
"""

from __future__ import annotations

from lowerbounds.meeting_theory import (
    BLOCK,
    COLUMN,
    PRODUCT,
    Worlds,
    block_lemma,
    one_term,
    only_word,
    theory_of,
)
from verify.real_lemmas import RealLemma
from verify.smtlib import Axiom, Goal

# --- the middle ------------------------------------------------------------------------------

_COORDINATES = Axiom(
    "coordinates",
    """(and (<= 0 s) (forall ((b Int)) (! (=> (inside b) (and (<= 0 (place b)) (<= (place b) s)
        (= b (+ (coord (word b) 0) (place b))))) :pattern ((word b)) :pattern ((place b))))
      (forall ((v Word) (i Int)) (! (=> (and (<= 0 i) (<= i s)) (and (inside (coord v i))
        (= (coord v i) (+ (coord v 0) i))
        (= (word (coord v i)) v) (= (place (coord v i)) i))) :pattern ((coord v i)))))""",
    "a coordinate is a word and a place; those of one word stand side by side",
)
_MIDDLE = Axiom(
    "middle",
    """(forall ((i Int) (r Int) (b Int)) (! (=> (and (inside r) (inside b))
      (= (entry (middle i) r b) (ite (= (+ (place r) (place b)) i) 1.0 0.0)))
      :pattern ((entry (middle i) r b))))""",
    "ones where places add up to the head; all ones if there is one place",
)
_EMBEDDING = Axiom(
    "embedding",
    """(forall ((b Int)) (! (=> (inside b) (and
      (= (at E b) (* (f (place b)) (first (word b) k)))
      (= (at U b) (* (g (place b)) (second (word b) k)))))
      :pattern ((at E b)) :pattern ((at U b))))""",
    "E holds f and the products of the first half's weights, U holds g and the second half's",
)
_FACTORS = Axiom(
    "no further coefficients",
    """(forall ((i Int)) (! (=> (or (< i 0) (< s i)) (= (f i) 0.0)) :pattern ((f i))))""",
    "f has no coefficient outside the places",
)

_JOINED = "(column (run E P k) (middle h) c)"
_PLACE = "(- h (place c))"
_MET = f"(coord P {_PLACE})"
_HAS_PLACE = f"(and (inside c) (<= 0 {_PLACE}) (<= {_PLACE} s))"
_NO_PLACE = f"(and (inside c) (or (< {_PLACE} 0) (< s {_PLACE})))"
_Y = "(times (run E P k) (middle h))"


_KNOWN = only_word("E", "P")
_TAKEN = f"(and (inside {_MET}) (= (pick {_JOINED} {_MET}) (at E {_MET})))"
_NO_OTHER = f"""(forall ((b Int)) (! (=> (and (inside b) (or (< b {_MET}) (<= (+ {_MET} 1) b)))
  (= (pick {_JOINED} b) 0.0)) :pattern ((pick {_JOINED} b))))"""
_NOTHING = f"""(forall ((b Int)) (! (=> (inside b) (= (pick {_JOINED} b) 0.0))
  :pattern ((pick {_JOINED} b))))"""
_MEETS_PLACE = f"(= (at {_Y} c) (at E {_MET}))"
_MEETS_NONE = f"(= (at {_Y} c) 0.0)"


def middle_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """Behind the middle the second half meets f and the first half's weights."""
    return (
        *_joined_goals(worlds),
        Goal(
            name="what the second half meets",
            theory=theory_of("embedding", (_COORDINATES, _EMBEDDING, _FACTORS), worlds),
            assumptions=(
                "(inside c)",
                f"(=> {_HAS_PLACE} {_MEETS_PLACE})",
                f"(=> {_NO_PLACE} {_MEETS_NONE})",
            ),
            conclusion=f"(= (at {_Y} c) (* (f {_PLACE}) (first P k)))",
        ),
    )


def _joined_goals(worlds: Worlds) -> tuple[Goal, ...]:
    terms = theory_of("joined terms", (COLUMN, _COORDINATES, _MIDDLE), worlds)
    products = theory_of("joined rows", (PRODUCT, BLOCK), worlds)
    block = block_lemma(_JOINED, _MET, "1")

    def term(name: str, given: str, then: str) -> Goal:
        return Goal(name=name, theory=terms, assumptions=(given, _KNOWN), conclusion=then)

    return (
        term("the middle joins one coordinate of the word", _HAS_PLACE, _NO_OTHER),
        term("the coordinate that is joined", _HAS_PLACE, _TAKEN),
        Goal(
            name="a row behind the middle",
            theory=products,
            assumptions=(_HAS_PLACE, _NO_OTHER, _TAKEN, one_term(_JOINED, _MET), block),
            conclusion=_MEETS_PLACE,
        ),
        term("places that meet nothing: terms", _NO_PLACE, _NOTHING),
        Goal(
            name="places that meet nothing",
            theory=products,
            assumptions=(_NO_PLACE, _NOTHING, block_lemma(_JOINED, "0", "0")),
            conclusion=_MEETS_NONE,
        ),
    )


# --- the readout -----------------------------------------------------------------------------

_READ = Axiom(
    "readout",
    """(forall ((x Vec) (y Vec) (b Int)) (! (=> (inside b)
      (= (pick (along x y) b) (* (at x b) (at y b)))) :pattern ((pick (along x y) b))))""",
    "x y is the sum over b of x_b y_b",
)
_CONVOLUTION = Axiom(
    "coefficients of a product",
    """(forall ((i Int) (t Int)) (! (and (= (conv i 0) 0.0) (=> (>= t 0)
      (= (conv i (+ t 1)) (+ (conv i t) (* (f (- i t)) (g t)))))) :pattern ((conv i t))))""",
    "coefficient i of f g is the sum over j of f_(i-j) g_j",
)
GATHERED = RealLemma(
    name="one more term of the middle",
    variables="b x y p q c f g d e",
    premises=(
        "(= {b} (* (* {p} {q}) {c}))",
        "(= {x} (* {f} {p}))",
        "(= {y} (* {g} {q}))",
        "(= {d} (+ {b} (* {x} {y})))",
        "(= {e} (+ {c} (* {f} {g})))",
    ),
    conclusion="(= {d} (* (* {p} {q}) {e}))",
)

_Z = f"(run {_Y} Q k)"
_TERMS = f"(along {_Z} U)"
_START = "(coord Q 0)"
_MEETS = f"""(forall ((b Int)) (! (=> (inside b) (= (at {_Y} b)
  (* (f (- h (place b))) (first P k)))) :pattern ((at {_Y} b))))"""
_HERE = f"(+ {_START} n)"
_READ_AT = f"(and (inside {_HERE}) (= (word {_HERE}) Q) (= (place {_HERE}) n))"
_STANDS = f"""(and (= (at {_Z} {_HERE}) (* (f (- h n)) (first P k)))
  (= (at U {_HERE}) (* (g n) (second Q k))))"""
_TERM = f"(= (pick {_TERMS} {_HERE}) (* (at {_Z} {_HERE}) (at U {_HERE})))"
_NEXT = f"""(and (= (block {_TERMS} {_START} (+ n 1))
    (+ (block {_TERMS} {_START} n) (* (at {_Z} {_HERE}) (at U {_HERE}))))
  (= (conv h (+ n 1)) (+ (conv h n) (* (f (- h n)) (g n)))))"""
_SUMMED = f"(= (block {_TERMS} {_START} {{0}}) (* (* (first P k) (second Q k)) (conv h {{0}})))"
LENGTH = "(+ s 1)"
RESPONSE = f"(= (block {_TERMS} 0 m) (* (* (first P k) (second Q k)) (conv h {LENGTH})))"


_OTHERS = f"""(forall ((b Int)) (! (=> (and (inside b) (or (< b {_START})
  (<= (+ {_START} {LENGTH}) b))) (= (pick {_TERMS} b) 0.0)) :pattern ((pick {_TERMS} b))))"""
_WITHIN = f"(and (<= 0 {_START}) (<= 0 {LENGTH}) (<= (+ {_START} {LENGTH}) m))"
_ONE_PLACE = ("(<= 0 n)", "(<= n s)")


def readout_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """The product with U has the places of one word; they make a coefficient of f g."""
    block = block_lemma(_TERMS, _START, LENGTH)
    return (
        *_read_term_goals(worlds),
        *_read_sum_goals(worlds),
        Goal(
            name="the response is a coefficient of f g",
            theory=theory_of("response", (), worlds),
            assumptions=(_WITHIN, _OTHERS, block, _SUMMED.format(LENGTH)),
            conclusion=RESPONSE,
        ),
    )


def _read_term_goals(worlds: Worlds) -> tuple[Goal, ...]:
    given = only_word(_Y, "Q")
    return (
        Goal(
            name="other words are not read",
            theory=theory_of("read terms", (_COORDINATES, _READ, _EMBEDDING), worlds),
            assumptions=(given,),
            conclusion=f"(and {_WITHIN} {_OTHERS})",
        ),
        Goal(
            name="a coordinate that is read",
            theory=theory_of("coordinates", (_COORDINATES,), worlds),
            assumptions=_ONE_PLACE,
            conclusion=_READ_AT,
        ),
        Goal(
            name="what stands there",
            theory=theory_of("read rows", (_EMBEDDING,), worlds),
            assumptions=(_READ_AT, given, _MEETS),
            conclusion=_STANDS,
        ),
        Goal(
            name="a term that is read",
            theory=theory_of("read products", (_READ,), worlds),
            assumptions=(_READ_AT,),
            conclusion=_TERM,
        ),
    )


def _read_sum_goals(worlds: Worlds) -> tuple[Goal, ...]:
    sums = theory_of("read sums", (BLOCK, _CONVOLUTION), worlds)
    lemma = GATHERED.at(
        b=f"(block {_TERMS} {_START} n)",
        x=f"(at {_Z} {_HERE})",
        y=f"(at U {_HERE})",
        p="(first P k)",
        q="(second Q k)",
        c="(conv h n)",
        f="(f (- h n))",
        g="(g n)",
        d=f"(block {_TERMS} {_START} (+ n 1))",
        e="(conv h (+ n 1))",
    )
    return (
        GATHERED.goal,
        Goal(
            name="the places of the second word: base",
            theory=sums,
            role="base",
            conclusion=_SUMMED.format("0"),
        ),
        Goal(name="one more place", theory=sums, assumptions=("(<= 0 n)", _TERM), conclusion=_NEXT),
        Goal(
            name="the places of the second word: step",
            theory=theory_of("arithmetic of places", (), worlds),
            role="step",
            assumptions=(*_ONE_PLACE, _STANDS, _NEXT, _SUMMED.format("n"), lemma),
            conclusion=_SUMMED.format("(+ n 1)"),
        ),
    )
