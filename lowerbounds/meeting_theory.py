"""Sums whose terms vanish outside a block, and row vectors behind masks: a theory.

    block (f a t)     the sum of the t terms of f from a on; vector-matrix products are such sums
    mask (l h)        the diagonal matrix of the coordinates whose word has h as its digit l
    run (x p l)       the row x behind the masks of the first l digits of p
    middle (h)        entry 1 where places add up to h
    f, g              coefficients, 0 outside the places 0..s

Every sum here has its non-zero terms in one block: one coordinate, or the places of one word.

Source: Fixed Universal Transformers, Section 4; the construction is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from verify.smtlib import Axiom, Goal, Theory, World, induction

DECLARATIONS = """
(declare-sort Word 0) (declare-sort Vec 0) (declare-sort Mat 0) (declare-sort Terms 0)
(declare-const k Int) (declare-const s Int) (declare-const m Int)
(declare-fun pick (Terms Int) Real) (declare-fun block (Terms Int Int) Real)
(declare-fun at (Vec Int) Real) (declare-fun entry (Mat Int Int) Real)
(declare-fun times (Vec Mat) Vec) (declare-fun column (Vec Mat Int) Terms)
(declare-fun along (Vec Vec) Terms)
(declare-fun word (Int) Word) (declare-fun place (Int) Int) (declare-fun coord (Word Int) Int)
(declare-fun digit (Word Int) Int) (declare-fun agree (Word Word Int) Bool)
(declare-fun mask (Int Int) Mat) (declare-fun middle (Int) Mat)
(declare-fun run (Vec Word Int) Vec)
(declare-fun f (Int) Real) (declare-fun g (Int) Real) (declare-fun conv (Int Int) Real)
(declare-fun first (Word Int) Real) (declare-fun second (Word Int) Real)
(declare-const E Vec) (declare-const U Vec) (declare-const P Word) (declare-const Q Word)
(declare-const F Terms) (declare-const X Vec)
(declare-const a Int) (declare-const e Int) (declare-const n Int)
(declare-const l Int) (declare-const h Int) (declare-const c Int)
(define-fun inside ((b Int)) Bool (and (<= 0 b) (< b m)))
"""

Worlds = Callable[[], Iterable[World]]


def theory_of(name: str, axioms: Iterable[Axiom], worlds: Worlds, more: str = "") -> Theory:
    """A part of the theory, with some of its axioms and further declarations."""
    return Theory(
        name=f"meeting: {name}",
        declarations=DECLARATIONS + more,
        axioms=tuple(axioms),
        worlds=worlds,
    )


# --- sums ------------------------------------------------------------------------------------

BLOCK = Axiom(
    "sums",
    """(forall ((y Terms) (b Int) (t Int)) (! (and (= (block y b 0) 0.0) (=> (>= t 0)
      (= (block y b (+ t 1)) (+ (block y b t) (pick y (+ b t))))))
      :pattern ((block y b t))))""",
    "the empty sum, and one term more",
)


def _vanish(terms: str, start: str, length: str) -> str:
    return f"""(forall ((b Int)) (! (=> (and (inside b)
      (or (< b {start}) (<= (+ {start} {length}) b))) (= (pick {terms} b) 0.0))
      :pattern ((pick {terms} b))))"""


def _within(start: str, length: str) -> str:
    return f"(and (<= 0 {start}) (<= 0 {length}) (<= (+ {start} {length}) m))"


def block_lemma(terms: str, start: str, length: str) -> str:
    """A sum whose terms vanish outside a block is the block's sum."""
    return f"""(=> (and {_within(start, length)} {_vanish(terms, start, length)})
      (= (block {terms} 0 m) (block {terms} {start} {length})))"""


def one_term(terms: str, start: str) -> str:
    """A block of one term is that term."""
    return f"(= (block {terms} {start} 1) (pick {terms} {start}))"


_BEFORE = "(=> (<= {0} a) (= (block F 0 {0}) 0.0))"
_UP_TO = "(=> (<= {0} e) (= (block F 0 (+ a {0})) (block F a {0})))"
_AFTER = "(=> (<= (+ (+ a e) {0}) m) (= (block F 0 (+ (+ a e) {0})) (block F 0 (+ a e))))"
_OUTSIDE = (_within("a", "e"), _vanish("F", "a", "e"))


def sum_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """Up to the block, through it and behind it, each by induction over the terms."""
    sums = theory_of("sums", (BLOCK,), worlds)
    numbers = theory_of("sums put together", (), worlds)
    whole = "(- m (+ a e))"

    def growing(
        name: str, invariant: str, given: tuple[str, ...], start: tuple[str, ...] = ()
    ) -> tuple[Goal, ...]:
        return induction(
            name=name,
            theory=sums,
            invariant=invariant.format,
            base="0",
            step=("n", "(+ n 1)"),
            base_assumptions=start,
            step_assumptions=("(>= n 0)", *given),
        )

    return (
        *growing("a sum before the block", _BEFORE, _OUTSIDE),
        *growing("a sum through the block", _UP_TO, _OUTSIDE[:1], (_BEFORE.format("a"),)),
        *growing("a sum behind the block", _AFTER, _OUTSIDE),
        Goal(
            name="a sum is its block's sum",
            theory=numbers,
            assumptions=(_within("a", "e"), _UP_TO.format("e"), _AFTER.format(whole)),
            conclusion="(= (block F 0 m) (block F a e))",
        ),
        Goal(name="one term", theory=sums, conclusion=one_term("F", "a")),
    )


# --- masks -----------------------------------------------------------------------------------

PRODUCT = Axiom(
    "row times matrix",
    """(forall ((x Vec) (A Mat) (b Int)) (! (=> (inside b)
      (= (at (times x A) b) (block (column x A b) 0 m))) :pattern ((at (times x A) b))))""",
    "(x A)_b is the sum of m terms",
)
COLUMN = Axiom(
    "its terms",
    """(forall ((x Vec) (A Mat) (b Int) (r Int)) (! (=> (and (inside b) (inside r))
      (= (pick (column x A b) r) (* (at x r) (entry A r b))))
      :pattern ((pick (column x A b) r))))""",
    "x_r A_rb",
)
_MASK = Axiom(
    "masks",
    """(forall ((d Int) (i Int) (r Int) (b Int)) (! (=> (and (<= 0 d) (< d k) (inside r) (inside b))
      (= (entry (mask d i) r b) (ite (and (= r b) (= (digit (word b) d) i)) 1.0 0.0)))
      :pattern ((entry (mask d i) r b))))""",
    "ones on the diagonal, where digit d of the word is head i",
)
_RUN = Axiom(
    "behind masks",
    """(forall ((x Vec) (p Word) (d Int)) (! (and (= (run x p 0) x)
      (=> (and (<= 0 d) (< d k)) (= (run x p (+ d 1)) (times (run x p d) (mask d (digit p d))))))
      :pattern ((run x p d))))""",
    "a row behind the masks of a word's first digits, one digit after the other",
)
_AGREE = Axiom(
    "agreeing words",
    """(forall ((v Word) (p Word) (d Int)) (! (and (agree v p 0) (=> (and (<= 0 d) (< d k))
      (= (agree v p (+ d 1)) (and (agree v p d) (= (digit v d) (digit p d))))))
      :pattern ((agree v p d))))""",
    "two words agree in their first digits",
)
_WORDS = Axiom(
    "equal words",
    """(and (<= 0 k) (forall ((v Word) (p Word)) (! (= (agree v p k) (= v p))
      :pattern ((agree v p k)))))""",
    "words of k heads are equal if and only if all their digits agree",
)
_LAYER = "(and (<= 0 l) (< l k))"


def _masked(row: str, digit: str, head: str) -> str:
    """What a mask makes of a row, at every coordinate."""
    return f"""(forall ((b Int)) (! (=> (inside b) (= (at (times {row} (mask {digit} {head})) b)
      (ite (= (digit (word b) {digit}) {head}) (at {row} b) 0.0)))
      :pattern ((at (times {row} (mask {digit} {head})) b))))"""


def _agreeing(digits: str) -> str:
    return f"""(forall ((b Int)) (! (=> (inside b) (= (at (run X P {digits}) b)
      (ite (agree (word b) P {digits}) (at X b) 0.0))) :pattern ((at (run X P {digits}) b))))"""


def only_word(row: str, word: str) -> str:
    """A row behind all masks of a word keeps that word's coordinates only."""
    return f"""(forall ((b Int)) (! (=> (inside b) (= (at (run {row} {word} k) b)
      (ite (= (word b) {word}) (at {row} b) 0.0))) :pattern ((at (run {row} {word} k) b))))"""


def mask_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """One mask has one term for each coordinate; masks in a row, by induction."""
    return (
        *_one_mask_goals(worlds),
        *induction(
            name="a row behind the first masks of a word",
            theory=theory_of("masks in a row", (_RUN, _AGREE), worlds),
            invariant=_agreeing,
            base="0",
            step=("l", "(+ l 1)"),
            step_assumptions=(_LAYER, _masked("(run X P l)", "l", "(digit P l)")),
        ),
        Goal(
            name="all masks of a word keep that word",
            theory=theory_of("whole words", (_WORDS,), worlds),
            assumptions=(_agreeing("k"),),
            conclusion=only_word("X", "P"),
        ),
    )


def _one_mask_goals(worlds: Worlds) -> tuple[Goal, ...]:
    terms = theory_of("masked terms", (COLUMN, _MASK), worlds)
    mine = "(column X (mask l h) c)"
    here = "(ite (= (digit (word c) l) h) (at X c) 0.0)"
    others, own = _vanish(mine, "c", "1"), f"(= (pick {mine} c) {here})"
    place = (_LAYER, "(inside c)")
    sums = (one_term(mine, "c"), block_lemma(mine, "c", "1"))
    return (
        Goal(
            name="a mask joins no two coordinates",
            theory=terms,
            assumptions=place,
            conclusion=others,
        ),
        Goal(
            name="a mask keeps a coordinate or not",
            theory=terms,
            assumptions=place,
            conclusion=own,
        ),
        Goal(
            name="a row behind a mask",
            theory=theory_of("masked rows", (PRODUCT,), worlds),
            assumptions=(*place, others, own, *sums),
            conclusion=f"(= (at (times X (mask l h)) c) {here})",
        ),
    )
