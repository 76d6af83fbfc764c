"""The score of two tokens along the line: S sign changes lie in S pieces.

Source: Sliding-Window Transformers Without Positional Encodings, Theorem 9; the argument is ours.
"""

from __future__ import annotations

from lowerbounds.pieces_lemmas import LEMMAS, TWO_ZEROS
from lowerbounds.pieces_theory import ORDER, Worlds, theory_of
from verify.smtlib import Axiom, Goal

# --- the score along the line ----------------------------------------------------------------

_SCORE = (
    Axiom(
        "outputs",
        "(and (neuron (+ D 1) plus) (neuron (+ D 1) minus))",
        "the coordinates of what the two tokens display",
    ),
    Axiom(
        "score",
        """(forall ((p Real)) (! (and (= (g p) (- (pre D plus p) (pre D minus p)))
          (= (gs p) (- (pres D plus p) (pres D minus p)))
          (= (go p) (- (preo D plus p) (preo D minus p)))) :pattern ((g p)) :pattern ((gs p))))""",
        "the two tokens' scores differ by the difference of these outputs, residual included",
    ),
)
_COMPUTES = (
    Axiom(
        "score of a count",
        "(forall ((a Int)) (! (= (gc a) (g (to_real a))) :pattern ((gc a))))",
        "a context with c times the first symbol is point c of the line",
    ),
    Axiom(
        "computes",
        """(and (<= 0 S) (forall ((a Int)) (! (=> (and (<= 0 a) (<= a S))
          (ite (= (mod a 2) 0) (< (gc a) 0.0) (> (gc a) 0.0))) :pattern ((gc a)))))""",
        "the network names the token of an odd count at odd counts, the other one at even counts",
    ),
)
_ZERO = Axiom(
    "zero",
    """(forall ((a Int)) (! (=> (and (<= 0 a) (< a S)
        (or (and (< (gc a) 0.0) (> (gc (+ a 1)) 0.0)) (and (> (gc a) 0.0) (< (gc (+ a 1)) 0.0))))
      (and (< (to_real a) (zero a)) (< (zero a) (to_real (+ a 1))) (= (g (zero a)) 0.0)))
      :pattern ((zero a))))""",
    "a continuous function that changes its sign has a zero in between",
)
_HERE, _COUNT, _NEXT = "(zero c)", "(to_real (+ c 1))", "(zero (+ c 1))"
_SEGMENT, _TURN = "(and (<= 0 c) (< c S))", "(and (<= 0 c) (< (+ c 1) S))"


def _score_is_affine(point: str) -> str:
    return f"(= (g {point}) (+ (* (gs {point}) {point}) (go {point})))"


def _one_score(first: str, second: str) -> str:
    return f"""(=> (= (code D {first}) (code D {second}))
      (and (= (gs {first}) (gs {second})) (= (go {first}) (go {second}))))"""


def _code_grows(first: str, second: str) -> str:
    return f"(<= (code D {first}) (code D {second}))"


def _crossed(count: str) -> str:
    return f"""(and (< (to_real {count}) (zero {count})) (< (zero {count}) (to_real (+ {count} 1)))
      (= (g (zero {count})) 0.0))"""


def _reached(count: str) -> str:
    return f"(<= {count} (code D (zero {count})))"


_RISEN = f"(< (code D {_HERE}) (code D {_NEXT}))"
_NOT_ZERO = f"(and (= (gc (+ c 1)) (g {_COUNT})) (distinct (gc (+ c 1)) 0.0))"


def score_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """A zero between neighbouring counts, no two in one piece: so S pieces."""
    return (
        *_line_goals(worlds),
        *_zero_goals(worlds),
        *_piece_goals(worlds),
        *(lemma.goal for lemma in LEMMAS),
    )


def _line_goals(worlds: Worlds) -> tuple[Goal, ...]:
    score = theory_of("score", _SCORE, worlds)
    ends = tuple(
        f"(= (pre D {a} t) (+ (* (pres D {a} t) t) (preo D {a} t)))" for a in ("plus", "minus")
    )
    equal = tuple(
        f"(=> (= (code D t) (code D u)) (and (= (pres D {a} t) (pres D {a} u)) "
        f"(= (preo D {a} t) (preo D {a} u))))"
        for a in ("plus", "minus")
    )
    return (
        Goal(
            name="the score is affine",
            theory=score,
            assumptions=ends,
            conclusion=_score_is_affine("t"),
        ),
        Goal(
            name="one code, one score",
            theory=score,
            assumptions=(ORDER, *equal),
            conclusion=_one_score("t", "u"),
        ),
    )


def _zero_goals(worlds: Worlds) -> tuple[Goal, ...]:
    return (
        Goal(
            name="a zero between neighbours",
            theory=theory_of("crossings", (*_COMPUTES, _ZERO), worlds),
            assumptions=(_SEGMENT,),
            conclusion=_crossed("c"),
        ),
        Goal(
            name="no zero at a count",
            theory=theory_of("counts", _COMPUTES, worlds),
            assumptions=(_TURN,),
            conclusion=_NOT_ZERO,
        ),
    )


def _piece_goals(worlds: Worlds) -> tuple[Goal, ...]:
    numbers = theory_of("arithmetic of crossings", (), worlds)
    lemma = TWO_ZEROS.at(s=f"(gs {_HERE})", o=f"(go {_HERE})", t=_HERE, u=_NEXT, c=_COUNT)
    return (
        Goal(
            name="the next zero lies in a later piece",
            theory=numbers,
            assumptions=(
                _TURN,
                _crossed("c"),
                _crossed("(+ c 1)"),
                _NOT_ZERO,
                _code_grows(_HERE, _COUNT),
                _code_grows(_COUNT, _NEXT),
                _one_score(_HERE, _COUNT),
                _one_score(_HERE, _NEXT),
                *(_score_is_affine(point) for point in (_HERE, _COUNT, _NEXT)),
                lemma,
            ),
            conclusion=_RISEN,
        ),
        Goal(
            name="c pieces before the zero: base",
            theory=numbers,
            role="base",
            assumptions=("(<= 0 (code D (zero 0)))",),
            conclusion=_reached("0"),
        ),
        Goal(
            name="c pieces before the zero: step",
            theory=numbers,
            role="step",
            assumptions=(_TURN, _RISEN, _reached("c")),
            conclusion=_reached("(+ c 1)"),
        ),
        Goal(
            name="S is at most (w + 1)^D",
            theory=numbers,
            role="conclusion",
            assumptions=(
                "(= S (+ c 1))",
                "(<= 0 c)",
                _reached("c"),
                "(< (code D (zero c)) (bound D))",
            ),
            conclusion="(<= S (bound D))",
        ),
    )
