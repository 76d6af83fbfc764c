"""One output bound without the mean, and a shift beyond it at every input: a theory.

    dev (r j)        how far coordinate j of a row is from any centre; LayerNorm takes the mean
    squares (r k)    dev_1^2 + .. + dev_k^2
    hat (r j)        dev_j / root,  m root^2 = squares(m) + m eps

One square is at most the sum of all, which is below m root^2: so hat_j^2 <= m, |hat_j| <= m, and
an output coordinate is at most the sum of |U_j gamma_j| m + |U_j beta_j|. That the deviations sum
to 0 is not used. A target whose last scale is 0 returns its last shift whatever its input is.

Source: Fixed Universal Transformers, Section 3.3; the argument is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from verify.real_lemmas import RealLemma
from verify.smtlib import Axiom, Goal, Theory, World, induction

Worlds = Callable[[], Iterable[World]]

ROOM = "(to_real m)"
"""What a normalised coordinate is at most in size."""
SCALE = "0.0"
"""The last scale of the target."""
BEYOND = "1.0"
"""How far the target's shift is beyond the bound."""

_DECLARATIONS = """
(declare-sort Row 0) (declare-sort Input 0) (declare-sort Embedding 0)
(declare-const m Int) (declare-const eps Real)
(declare-fun dev (Row Int) Real) (declare-fun squares (Row Int) Real)
(declare-fun root (Row) Real) (declare-fun hat (Row Int) Real)
(declare-fun U (Int) Real) (declare-fun scale (Int) Real) (declare-fun shift (Int) Real)
(declare-fun term (Row Int) Real) (declare-fun limit (Int) Real)
(declare-fun out (Row Int) Real) (declare-fun bound (Int) Real)
(declare-fun last (Input Embedding) Row) (declare-fun response (Input Embedding) Real)
(declare-const gamma Real) (declare-const beta Real)
(declare-fun normed (Input) Real) (declare-fun target (Input) Real)
(declare-const r Row) (declare-const j Int) (declare-const k Int)
(define-fun within ((c Int)) Bool (and (<= 0 c) (< c m)))
(define-fun size ((a Real)) Real (ite (>= a 0.0) a (- a)))
"""

_SIZES = Axiom("sizes", "(and (>= m 1) (> eps 0.0))", "m is at least 1 and eps is positive")
_SQUARES = Axiom(
    "squares",
    """(and (forall ((s Row)) (! (= (squares s 0) 0.0) :pattern ((squares s 0))))
      (forall ((s Row) (c Int)) (! (=> (within c)
        (= (squares s (+ c 1)) (+ (squares s c) (* (dev s c) (dev s c)))))
        :pattern ((squares s (+ c 1))))))""",
    "the sum of squares, one coordinate after the other",
)
_ROOT = Axiom(
    "root",
    """(forall ((s Row)) (! (and (> (root s) 0.0)
      (= (* (to_real m) (* (root s) (root s))) (+ (squares s m) (* (to_real m) eps))))
      :pattern ((root s))))""",
    "the divisor is positive; m times its square is the sum of squares plus m eps",
)
_HAT = Axiom(
    "normalised",
    """(forall ((s Row) (c Int)) (! (=> (within c) (= (* (root s) (hat s c)) (dev s c)))
      :pattern ((hat s c))))""",
    "a normalised coordinate times the divisor is the deviation",
)
_TERM = Axiom(
    "summand",
    """(forall ((s Row) (c Int)) (! (=> (within c)
      (= (term s c) (* (U c) (+ (* (scale c) (hat s c)) (shift c))))) :pattern ((term s c))))""",
    "a summand of the output: what LayerNorm returns, times its entry of the readout",
)
_SUMS = Axiom(
    "sums",
    """(and (= (bound 0) 0.0) (forall ((s Row)) (! (= (out s 0) 0.0) :pattern ((out s 0))))
      (forall ((c Int)) (! (=> (within c) (= (bound (+ c 1)) (+ (bound c) (limit c))))
        :pattern ((bound (+ c 1)))))
      (forall ((s Row) (c Int)) (! (=> (within c) (= (out s (+ c 1)) (+ (out s c) (term s c))))
        :pattern ((out s (+ c 1))))))""",
    "the output coordinate and the bound, one summand after the other",
)
_MODEL = Axiom(
    "model",
    """(forall ((X Input) (E Embedding)) (! (= (response X E) (out (last X E) m))
      :pattern ((response X E))))""",
    "the response is read off the last normalised row, whatever row X and E lead to",
)
_TARGET = Axiom(
    "target",
    """(forall ((X Input)) (! (= (target X) (+ (* gamma (normed X)) beta))
      :pattern ((target X))))""",
    "the target's first coordinate: its last scale and shift, whatever row X leads to",
)

ONE_MORE = RealLemma(
    name="a sum with one more square",
    variables="b s y",
    premises=("(<= {b} {s})",),
    conclusion="(<= {b} (+ {s} (* {y} {y})))",
)
BELOW_DIVISOR = RealLemma(
    name="a part of the squares is below the divisor",
    variables="n e d s q",
    premises=(
        "(> {n} 0.0)",
        "(> {e} 0.0)",
        "(= (* {n} {d}) (+ {s} (* {n} {e})))",
        "(<= {q} {s})",
    ),
    conclusion="(<= {q} (* {n} {d}))",
)
DIVIDED = RealLemma(
    name="a square divided by that of the divisor",
    variables="n r h y",
    premises=("(> {r} 0.0)", "(= (* {r} {h}) {y})", "(<= (* {y} {y}) (* {n} (* {r} {r})))"),
    conclusion="(<= (* {h} {h}) {n})",
)
COARSE = RealLemma(
    name="a number whose square is at most n >= 1",
    variables="n h",
    premises=("(>= {n} 1.0)", "(<= (* {h} {h}) {n})"),
    conclusion="(and (<= (- {n}) {h}) (<= {h} {n}))",
)
_SIZE = "(ite (>= {0} 0.0) {0} (- {0}))"
FACTOR = RealLemma(
    name="a factor of a bounded number",
    variables="n h c",
    premises=("(<= (- {n}) {h})", "(<= {h} {n})"),
    conclusion=f"(<= (* {{c}} {{h}}) (* {_SIZE.format('{c}')} {{n}}))",
)
SPREAD = RealLemma(
    name="a factor of an affine map",
    variables="u g h b t",
    premises=("(= {t} (* {u} (+ (* {g} {h}) {b})))",),
    conclusion="(= {t} (+ (* (* {u} {g}) {h}) (* {u} {b})))",
)
LEMMAS = (ONE_MORE, BELOW_DIVISOR, DIVIDED, COARSE, FACTOR, SPREAD)


def _theory(name: str, worlds: Worlds, *axioms: Axiom) -> Theory:
    return Theory(name=name, declarations=_DECLARATIONS, axioms=(_SIZES, *axioms), worlds=worlds)


# --- the size of a normalised coordinate -----------------------------------------------------

_OWN = "(ite (< j {0}) (* (dev r j) (dev r j)) 0.0)"
_PART = f"(<= {_OWN} (squares r {{0}}))"
_BELOW = "(<= (* (dev r j) (dev r j)) (* (to_real m) (* (root r) (root r))))"


def _part_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """One square is at most the sum of all, which is below m times the divisor's square."""
    return (
        *induction(
            name="a square is a part of the sum",
            theory=_theory("sums of squares", worlds, _SQUARES),
            invariant=_PART.format,
            base="0",
            base_assumptions=("(within j)",),
            step=("k", "(+ k 1)"),
            step_assumptions=(
                "(within j)",
                "(within k)",
                ONE_MORE.at(b=_OWN.format("k"), s="(squares r k)", y="(dev r k)"),
            ),
        ),
        Goal(
            name="a square is below m times that of the divisor",
            theory=_theory("divisors", worlds, _ROOT),
            assumptions=(
                "(within j)",
                _PART.format("m"),
                BELOW_DIVISOR.at(
                    n="(to_real m)",
                    e="eps",
                    d="(* (root r) (root r))",
                    s="(squares r m)",
                    q="(* (dev r j) (dev r j))",
                ),
            ),
            conclusion=_BELOW,
        ),
    )


def size_goals(worlds: Worlds, room: str = ROOM) -> tuple[Goal, ...]:
    """No normalised coordinate exceeds m in size."""
    return (
        *_part_goals(worlds),
        Goal(
            name="the size of a normalised coordinate",
            theory=_theory("normalised coordinates", worlds, _ROOT, _HAT),
            assumptions=(
                "(within j)",
                _BELOW,
                DIVIDED.at(n="(to_real m)", r="(root r)", h="(hat r j)", y="(dev r j)"),
                COARSE.at(n="(to_real m)", h="(hat r j)"),
            ),
            conclusion=_bounded(room),
        ),
    )


def _bounded(room: str) -> str:
    return f"(and (<= (- {room}) (hat r j)) (<= (hat r j) {room}))"


# --- the output ------------------------------------------------------------------------------

_READ = "(* (U j) (scale j))"
_FIXED = "(* (U j) (shift j))"


def output_goals(worlds: Worlds, room: str = ROOM) -> tuple[Goal, ...]:
    """An output coordinate is at most a number in which neither embedding nor input occurs."""
    limit = Axiom(
        "limit",
        f"""(forall ((j Int)) (! (=> (within j)
          (= (limit j) (+ (* (size {_READ}) {room}) (size {_FIXED})))) :pattern ((limit j))))""",
        "a summand of the bound: |U_j gamma_j| times the room, plus |U_j beta_j|",
    )
    sums = _theory("outputs", worlds, _SUMS, _MODEL)
    return (
        Goal(
            name="a summand keeps its limit",
            theory=_theory("summands", worlds, _TERM, limit),
            assumptions=(
                "(within j)",
                _bounded(room),
                SPREAD.at(u="(U j)", g="(scale j)", h="(hat r j)", b="(shift j)", t="(term r j)"),
                FACTOR.at(n=room, h="(hat r j)", c=_READ),
            ),
            conclusion="(<= (term r j) (limit j))",
        ),
        *induction(
            name="an output coordinate keeps its bound",
            theory=sums,
            invariant="(<= (out r {0}) (bound {0}))".format,
            base="0",
            step=("j", "(+ j 1)"),
            step_assumptions=("(within j)", "(<= (term r j) (limit j))"),
        ),
        Goal(
            name="one bound for all embeddings and inputs",
            theory=sums,
            assumptions=("(forall ((s Row)) (<= (out s m) (bound m)))",),
            conclusion="(forall ((X Input) (E Embedding)) (<= (response X E) (bound m)))",
        ),
    )


# --- the target ------------------------------------------------------------------------------


def target_goals(worlds: Worlds, scale: str = SCALE, beyond: str = BEYOND) -> tuple[Goal, ...]:
    """The target returns its shift at every input, beyond every output of the fixed model."""
    chosen = Axiom(
        "chosen",
        f"(and (= gamma {scale}) (= beta (+ (bound m) {beyond})))",
        "the target's last scale and shift",
    )
    theory = _theory("targets", worlds, _TARGET, chosen)
    returned = "(forall ((X Input)) (! (= (target X) beta) :pattern ((target X))))"
    return (
        Goal(name="the target returns its shift", theory=theory, conclusion=returned),
        Goal(
            name="they differ at every input",
            theory=theory,
            role="conclusion",
            assumptions=(
                returned,
                """(forall ((X Input) (E Embedding)) (! (<= (response X E) (bound m))
                  :pattern ((response X E))))""",
            ),
            conclusion="(forall ((X Input) (E Embedding)) (> (target X) (response X E)))",
        ),
    )
