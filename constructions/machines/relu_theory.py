"""The parity network for all window lengths, contexts and counts.

    x (c l)        what a symbol's two neurons sum to after the levels K-1..l, for a count of c
    count (c l)    the same in units of y = 1/m: an integer
    bit (c)        the network's output for that symbol

Levels fall from K to 0, so each induction goes from level l + 1 to level l.

Source: Sliding-Window Transformers Without Positional Encodings, Section 5, "The MLP layer".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from constructions.machines.relu_lemmas import ENOUGH, FOLD, READ_EVEN, READ_ODD, SIZE
from verify.smtlib import Axiom, Goal, Theory, World, induction

_PARITY = """
(declare-const n Int) (declare-const S Int) (declare-const K Int)
(declare-const m Int) (declare-const s Int) (declare-const y Real)
(declare-const depth Int)
(declare-fun pow (Int) Int) (declare-fun width (Int) Int) (declare-fun neurons (Int) Int)
(declare-fun x (Int Int) Real) (declare-fun count (Int Int) Int) (declare-fun bit (Int) Real)
(declare-const c Int) (declare-const l Int) (declare-const i Int)
"""


def _x(level: str) -> str:
    return f"(x c {level})"


def _count(level: str) -> str:
    return f"(count c {level})"


_MIDDLE = "(* (to_real (pow l)) y)"


def _real(term: str) -> str:
    return f"(to_real {term})"


Worlds = Callable[[], Iterable[World]]

_POWERS = (
    Axiom("power 0", "(= (pow 0) 1)", "2^0 = 1"),
    Axiom(
        "powers",
        """(forall ((l Int)) (! (=> (<= 0 l) (= (pow (+ l 1)) (* 2 (pow l))))
          :pattern ((pow (+ l 1)))))""",
        "2^(l+1) = 2 2^l",
    ),
)
_WINDOW = Axiom(
    "window",
    """(and (<= 1 n) (<= 1 K) (<= S (pow K)) (or (= K 1) (< (pow (- K 1)) S))
      (<= 1 m) (<= m (+ S 1)) (<= (+ S 1) s))""",
    "K >= 1 is the least with S <= 2^K; a context has at most S + 1 <= s tokens",
)
_COUNTED = Axiom(
    "counted",
    f"""(and (forall ((c Int)) (! (= (count c K) c) :pattern ((count c K))))
      (forall ((c Int) (l Int)) (! (=> (and (<= 0 l) (< l K)) (= (count c l)
        {SIZE.format(a="(count c (+ l 1))", b="(pow l)")}))
      :pattern ((count c l) (count c (+ l 1))))))""",
    "the folds in units of y",
)


def _theory(name: str, axioms: Sequence[Axiom], worlds: Worlds) -> Theory:
    return Theory(name=name, declarations=_PARITY, axioms=tuple(axioms), worlds=worlds)


def layer_axioms(fold_rule: str, read_rule: str) -> tuple[Axiom, ...]:
    """The network on one symbol's entry: its levels and the read layer."""
    folded = fold_rule.format(a=_x("(+ l 1)"), b=_MIDDLE)
    return (
        Axiom("share", "(and (> y 0.0) (= (* (to_real m) y) 1.0))", "y = 1/m, one marker"),
        Axiom(
            "input",
            "(forall ((c Int)) (! (= (x c K) (* (to_real c) y)) :pattern ((x c K))))",
            "the histogram holds c y",
        ),
        Axiom(
            "fold",
            f"""(forall ((c Int) (l Int)) (! (=> (and (<= 0 l) (< l K)) (= (x c l) {folded}))
              :pattern ((x c l) (x c (+ l 1)))))""",
            "a level's two neurons are relu(x - 2^l y) and relu(2^l y - x)",
        ),
        Axiom(
            "read",
            f"""(forall ((c Int)) (!
              (= (bit c) {read_rule.format(s="(to_real s)", y="y", w="(x c 0)")})
              :pattern ((bit c))))""",
            "bit = relu(2 s t) - relu(2 s t - 1), t = y - 2 w",
        ),
    )


_SIZES = (
    Axiom("depth", "(= depth (+ K 1))", "K levels and the read layer"),
    Axiom(
        "widths",
        """(and (= (width K) (* 2 n)) (forall ((l Int)) (! (=> (and (<= 0 l) (< l K))
          (= (width l) (+ (* 2 n) 1))) :pattern ((width l)))))""",
        "two neurons for each symbol, one that carries y in all layers but the last",
    ),
    Axiom(
        "neurons",
        """(and (= (neurons 0) 0) (forall ((l Int)) (! (=> (and (<= 0 l) (<= l K))
          (= (neurons (+ l 1)) (+ (neurons l) (width l))))
          :pattern ((neurons (+ l 1))))))""",
        "the neurons of the first layers",
    ),
)


_LEVEL = "(and (<= 0 l) (< l K))"
_COUNTS = "(and (<= 0 c) (<= c S))"
_ODD, _EVEN = "(= (mod c 2) 1)", "(= (mod c 2) 0)"
_LAST_EVEN = f"(=> {_EVEN} (= {_x('0')} y))"
_LAST_ODD = f"(=> {_ODD} (= {_x('0')} 0.0))"
_DOWN = ("(+ l 1)", "l")
_NEXT = "(= (pow (+ l 1)) (* 2 (pow l)))"
_FIRST = "(and (= (pow l) 1) (= (pow (+ l 1)) 2))"
_DOUBLED = "(= (pow l) (* 2 (pow i)))"
_ONE_FOLD = f"(= {_count('l')} {SIZE.format(a=_count('(+ l 1)'), b='(pow l)')})"
_LAST = f"(= {_count('l')} (- 1 (mod c 2)))"
_SCALE = "(>= (* (to_real s) y) 1.0)"


def _range(level: str) -> str:
    return f"(and (<= 0 {_count(level)}) (<= {_count(level)} (pow {level})))"


def _parity(level: str) -> str:
    return f"(= (mod {_count(level)} 2) (mod c 2))"


def _units(level: str) -> str:
    return f"(= {_x(level)} (* {_real(_count(level))} y))"


def count_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """The folds of integers keep range and parity, and end at 0 or 1."""
    theory = _theory("folded counts", (*_POWERS, _WINDOW, _COUNTED), worlds)
    powers = _theory("powers of 2", _POWERS, worlds)
    numbers = _theory("arithmetic", (), worlds)
    return (*_range_goals(theory, powers, numbers), *_parity_goals(theory, powers, numbers))


def _range_goals(theory: Theory, powers: Theory, numbers: Theory) -> tuple[Goal, ...]:
    return (
        Goal(name="what a level does", theory=theory, assumptions=(_LEVEL,), conclusion=_ONE_FOLD),
        Goal(name="the next power", theory=powers, assumptions=("(<= 0 l)",), conclusion=_NEXT),
        Goal(
            name="a level halves the range: base",
            theory=theory,
            role="base",
            assumptions=(_COUNTS,),
            conclusion=_range("K"),
        ),
        Goal(
            name="a level halves the range: step",
            theory=numbers,
            role="step",
            assumptions=(_ONE_FOLD, _NEXT, _range(_DOWN[0])),
            conclusion=_range("l"),
        ),
    )


def _parity_goals(theory: Theory, powers: Theory, numbers: Theory) -> tuple[Goal, ...]:
    return (
        Goal(
            name="2^l is twice an integer for l >= 1",
            theory=powers,
            assumptions=("(<= 0 i)", "(= l (+ i 1))"),
            conclusion=_DOUBLED,
        ),
        Goal(
            name="a level l >= 1 keeps the parity: base",
            theory=theory,
            role="base",
            conclusion=_parity("K"),
        ),
        Goal(
            name="a level l >= 1 keeps the parity: step",
            theory=numbers,
            role="step",
            assumptions=(_ONE_FOLD, _DOUBLED, _parity(_DOWN[0])),
            conclusion=_parity("l"),
        ),
        Goal(
            name="2^0 and 2^1",
            theory=powers,
            assumptions=("(= l 0)",),
            conclusion=_FIRST,
        ),
        Goal(
            name="level 0 is 0 for odd counts and 1 for even ones",
            theory=numbers,
            assumptions=(_FIRST, _ONE_FOLD, _range(_DOWN[0]), _parity(_DOWN[0])),
            conclusion=_LAST,
        ),
    )


def unit_goals(worlds: Worlds, fold_rule: str, read_rule: str) -> tuple[Goal, ...]:
    """The network's neurons are the folded counts times y, so w is 0 or y, and the bit follows."""
    theory = _theory(
        "relu parity", (*_POWERS, _WINDOW, _COUNTED, *layer_axioms(fold_rule, read_rule)), worlds
    )
    unfolded = f"(= {_x('l')} {fold_rule.format(a=_x(_DOWN[0]), b=_MIDDLE)})"
    lemma = FOLD.at(c=_real(_count(_DOWN[0])), p=_real("(pow l)"), y="y", x=_x(_DOWN[0]), b=_MIDDLE)
    return (
        Goal(name="a level's neurons", theory=theory, assumptions=(_LEVEL,), conclusion=unfolded),
        Goal(
            name="a level folds in units of y: base",
            theory=theory,
            role="base",
            conclusion=_units("K"),
        ),
        Goal(
            name="a level folds in units of y: step",
            theory=_theory("arithmetic of folds", (), worlds),
            role="step",
            assumptions=("(> y 0.0)", _ONE_FOLD, unfolded, _units(_DOWN[0]), lemma),
            conclusion=_units("l"),
        ),
        Goal(
            name="so w is 0 or y",
            theory=theory,
            assumptions=("(= l 0)", _units("l"), _LAST),
            conclusion=f"(and {_LAST_ODD} {_LAST_EVEN})",
        ),
        *_reading_goals(theory),
        FOLD.goal,
        ENOUGH.goal,
        READ_ODD.goal,
        READ_EVEN.goal,
    )


def _reading_goals(theory: Theory) -> tuple[Goal, ...]:
    numbers = {"s": "(to_real s)", "y": "y", "w": _x("0")}
    return (
        Goal(
            name="s y is at least 1",
            theory=theory,
            assumptions=(ENOUGH.at(m="(to_real m)", s="(to_real s)", y="y"),),
            conclusion=_SCALE,
        ),
        Goal(
            name="the bit of an odd count is 1",
            theory=theory,
            role="conclusion",
            assumptions=(_ODD, _SCALE, _LAST_ODD, READ_ODD.at(**numbers)),
            conclusion="(= (bit c) 1.0)",
        ),
        Goal(
            name="the bit of an even count is 0",
            theory=theory,
            role="conclusion",
            assumptions=(_EVEN, _SCALE, _LAST_EVEN, READ_EVEN.at(**numbers)),
            conclusion="(= (bit c) 0.0)",
        ),
    )


def size_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """Depth below log2(S) + 2, and all neurons."""
    theory = _theory("sizes", (*_POWERS, _WINDOW, *_SIZES), worlds)
    return (
        Goal(
            name="the depth is below log2(S) + 2",
            theory=theory,
            role="conclusion",
            assumptions=("(<= 2 S)",),
            conclusion="(< (pow (- depth 2)) S)",
        ),
        *induction(
            name="2n + 1 neurons a level",
            theory=theory,
            invariant=lambda k: f"(= (neurons {k}) (* {k} (+ (* 2 n) 1)))",
            base="0",
            step=("l", "(+ l 1)"),
            step_assumptions=(_LEVEL,),
        ),
        Goal(
            name="all neurons",
            theory=theory,
            role="conclusion",
            assumptions=("(= (neurons K) (* K (+ (* 2 n) 1)))",),
            conclusion="(= (neurons depth) (- (* (+ K 1) (+ (* 2 n) 1)) 1))",
        ),
    )
