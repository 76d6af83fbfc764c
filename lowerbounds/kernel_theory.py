"""What a model cannot see, no target can ask for: the linear argument as a theory.

z_p are numbers for every path p (d_in of them, entry i). Sums over paths run along the tree of
their beginnings: `sub p` is the sum over all paths that begin with p, `first p j` over those whose
next head is one of the first j. A target makes a choice y in each of its layers, which gives head
h the weight w(y, h) there; `along` is the product of the weights along a path.

    value p r         sum over the ways to go on from p, weighted by the choices r of later layers
    read t (sub p)    = along(t, p) value(p, later choices of t)                    for every p

At the root this says that a sum which is 0 has all weighted sums of the z_p equal to 0. Where no
c but 0 has sum_h w(y, h) c_h = 0 for all y, the z_p are then 0, one layer after the other. So are
they for unit weights, w(y, h) = [y = h], and for powers w(y, h) = x_y^h of H distinct numbers.

Source: Fixed Universal Transformers, Section 4 and Theorem 4.1; the argument is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from lowerbounds.kernel_axioms import AXIOMS, DECLARATIONS
from verify.real_lemmas import RealLemma
from verify.smtlib import Axiom, Goal, Theory, World, induction

Worlds = Callable[[], Iterable[World]]


def _relations(path: str, later: str) -> str:
    """Sums that are 0 for every choice have coefficients 0."""
    return f"""(=> (forall ((a Int)) (! (=> (head a) (= (upto f {path} a {later} H i) 0.0))
        :pattern ((upto f {path} a {later} H i))))
      (forall ((h Int)) (! (=> (head h) (= (value f (child {path} h) {later} i) 0.0))
        :pattern ((value f (child {path} h) {later} i)))))"""


_EVERY_RELATION = f"(forall ((q Path) (s Choices)) {_relations('q', 's')})"
_ZEROS = Axiom(
    "zeros of a polynomial",
    f"""(=> (and {AXIOMS["powers"].formula} {AXIOMS["distinct"].formula})
      {_EVERY_RELATION})""",
    "a polynomial of degree below H that is 0 at H numbers has coefficients 0; these are the "
    "values at the children",
)

GATHERED = RealLemma(
    name="one more head",
    variables="a b u w v",
    premises=("(= {b} (* {a} {w}))",),
    conclusion="(= (+ (* {a} {u}) (* {b} {v})) (* {a} (+ {u} (* {w} {v}))))",
)
ONE_OR_NONE = RealLemma(
    name="a factor that is 1 or 0",
    variables="w v",
    premises=("(or (= {w} 1.0) (= {w} 0.0))",),
    conclusion="(= (* {w} {v}) (ite (= {w} 1.0) {v} 0.0))",
)


def _theory(name: str, names: Sequence[str], worlds: Worlds, *more: Axiom) -> Theory:
    return Theory(
        name=name,
        declarations=DECLARATIONS,
        axioms=(*(AXIOMS[key] for key in names), *more),
        worlds=worlds,
    )


# --- one summand -----------------------------------------------------------------------------

_AGREES = """(forall ((c Int) (d Int)) (! (=> (and (entry c) (entry d))
  (= (response t p c d) (ite (= c d) (along t p) 0.0))) :pattern ((response t p c d))))"""
_READS = "(= (read t (send f p) i) (* (along t p) (z f p i)))"


def summand_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """The condition gives the responses, and these what a target reads of one summand."""
    theory = _theory("one path", ("condition", "simulates", "multiples"), worlds)
    return (
        Goal(
            name="independent path vectors: responses are the weights' products",
            theory=theory,
            assumptions=("(whole p)",),
            conclusion=_AGREES,
        ),
        Goal(
            name="what a target reads of one summand",
            theory=theory,
            assumptions=("(whole p)", "(entry i)", _AGREES),
            conclusion=_READS,
        ),
    )


# --- the whole sum ---------------------------------------------------------------------------


def _read_below(path: str) -> str:
    """What a target reads of the sum over the paths that begin with a path."""
    return f"""(= (read t (sub f {path}) i)
      (* (along t {path}) (value f {path} (rest t (depth {path})) i)))"""


_NEXT = "(upto f p (point t (depth p)) (rest t (+ (depth p) 1)) {0} i)"
_READ_FIRST = f"(= (read t (first f p {{0}}) i) (* (along t p) {_NEXT}))"
_BEGINS = ("(<= 0 (depth p))", "(< (depth p) L)", "(entry i)")


_NO_HEAD = f"(and (= (read t (first f p 0) i) 0.0) (= {_NEXT.format('0')} 0.0))"
_MORE_READ = """(= (read t (first f p (+ j 1)) i)
  (+ (read t (first f p j) i) (read t (sub f (child p j)) i)))"""
_WEIGHT = "(w (point t (depth p)) j)"
_BELOW = "(value f (child p j) (rest t (+ (depth p) 1)) i)"
_MORE_WEIGHTED = f"(= {_NEXT.format('(+ j 1)')} (+ {_NEXT.format('j')} (* {_WEIGHT} {_BELOW})))"
_MORE_ALONG = f"(= (along t (child p j)) (* (along t p) {_WEIGHT}))"


def _head_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """Where it is so below every next head, what is read of the first heads is a weighted sum."""

    def one_more(what: str, names: Sequence[str], conclusion: str) -> Goal:
        return Goal(
            name=f"one more head: {what}",
            theory=_theory(f"one more head: {what}", names, worlds),
            assumptions=(*_BEGINS, "(head j)"),
            conclusion=conclusion,
        )

    gathered = GATHERED.at(
        a="(along t p)", b="(along t (child p j))", u=_NEXT.format("j"), w=_WEIGHT, v=_BELOW
    )
    more = (_MORE_READ, _MORE_WEIGHTED, _MORE_ALONG, gathered)
    return (
        one_more("what is read", ("heads", "linear"), _MORE_READ),
        one_more("the weighted sum", ("weighted heads",), _MORE_WEIGHTED),
        one_more("the product of weights", ("products",), _MORE_ALONG),
        one_more("none yet", ("heads", "linear", "weighted heads"), _NO_HEAD),
        *induction(
            name="the heads that follow",
            theory=_theory("next heads", ("beginnings",), worlds),
            invariant=_READ_FIRST.format,
            base="0",
            base_assumptions=(_NO_HEAD,),
            step=("j", "(+ j 1)"),
            step_assumptions=(*_BEGINS, "(head j)", *more, _read_below("(child p j)")),
        ),
        GATHERED.goal,
    )


def sum_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """From whole paths to the root: what a target reads of the sum is a weighted sum."""
    names = ("beginnings", "sums", "linear", "products", "choices", "weighted")
    theory = _theory("sums over paths", names, worlds)
    return (
        Goal(
            name="from the leaves to the root: a whole path",
            theory=theory,
            role="base",
            assumptions=("(whole p)", "(entry i)", _READS),
            conclusion=_read_below("p"),
        ),
        *_head_goals(worlds),
        Goal(
            name="from the leaves to the root: a beginning",
            theory=theory,
            role="step",
            assumptions=(*_BEGINS, _READ_FIRST.format("H")),
            conclusion=_read_below("p"),
        ),
        Goal(
            name="a sum that vanishes has weighted sums 0",
            theory=theory,
            assumptions=("(entry i)", "(= (sub f root) nil)", _read_below("root")),
            conclusion="(= (value f root (rest t 0) i) 0.0)",
        ),
    )


# --- choices that leave only the trivial relation --------------------------------------------


def unit_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """With unit weights choice y takes the summand of head y out."""
    theory = _theory("unit weights", ("weighted heads", "unit"), worlds)
    taken = "(= (upto f p y r {0} i) (ite (< y {0}) (value f (child p y) r i) 0.0))".format
    return (
        *induction(
            name="unit weights take one summand out",
            theory=theory,
            invariant=taken,
            base="0",
            base_assumptions=("(head y)",),
            step=("j", "(+ j 1)"),
            step_assumptions=(
                "(head y)",
                "(head j)",
                ONE_OR_NONE.at(w="(w y j)", v="(value f (child p j) r i)"),
            ),
        ),
        Goal(
            name="unit weights leave only the trivial relation",
            theory=theory,
            assumptions=(
                f"(forall ((y Int)) (! (=> (head y) {taken('H')}) "
                ":pattern ((value f (child p y) r i))))",
            ),
            conclusion=_relations("p", "r"),
        ),
        ONE_OR_NONE.goal,
    )


def grid_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """With powers of H distinct numbers the sums are values of a polynomial."""
    theory = _theory("powers as weights", ("powers", "distinct"), worlds, _ZEROS)
    return (
        Goal(
            name="powers of distinct numbers leave only the trivial relation",
            theory=theory,
            conclusion=_relations("p", "r"),
        ),
    )


def _vanishes(path: str) -> str:
    """All weighted sums over the paths that begin with a path are 0."""
    return f"""(forall ((s Choices)) (! (=> (and (valid s) (= (size s) (- L (depth {path}))))
      (= (value f {path} s i) 0.0)) :pattern ((value f {path} s i))))"""


def descent_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """From the root to whole paths: weighted sums that are 0 have z_p = 0."""
    names = ("beginnings", "words", "every word", "weighted")
    theory = _theory("from the root to the leaves", names, worlds)
    return (
        Goal(
            name="from the root to the leaves: the root",
            theory=theory,
            role="base",
            assumptions=(
                """(forall ((u Target)) (! (= (value f root (rest u 0) i) 0.0)
                  :pattern ((rest u 0))))""",
            ),
            conclusion=_vanishes("root"),
        ),
        Goal(
            name="from the root to the leaves: one more head",
            theory=theory,
            role="step",
            assumptions=("(< (depth p) L)", "(head j)", _EVERY_RELATION, _vanishes("p")),
            conclusion=_vanishes("(child p j)"),
        ),
        Goal(
            name="the combination is 0",
            theory=theory,
            assumptions=("(whole p)", "(entry i)", _vanishes("p")),
            conclusion="(= (z f p i) 0.0)",
        ),
    )


# --- the bound -------------------------------------------------------------------------------

_NOTHING = """(forall ((q Path) (c Int)) (=> (and (whole q) (entry c)) (= (z g q c) 0.0)))"""


def bound_goals(worlds: Worlds, equations: str, unknowns: str, bound: str) -> tuple[Goal, ...]:
    """Fewer equations than unknowns would leave a combination that is not 0."""
    solvable = Axiom(
        "more unknowns than equations",
        f"""(=> (< {equations} {unknowns}) (exists ((g Family))
          (and (= (sub g root) nil) (not {_NOTHING}))))""",
        "the sum over all paths is 0: this many equations in this many unknowns",
    )
    return (
        Goal(
            name="the embedding dimension is bounded below",
            theory=_theory("equations and unknowns", (), worlds, solvable),
            role="conclusion",
            assumptions=(f"(forall ((g Family)) (=> (= (sub g root) nil) {_NOTHING}))",),
            conclusion=f"(>= {equations} {bound})",
        ),
    )
