"""Scaling, the paths near the first one, and how many they are: goals behind 2 m - 1 >= L(H-1) + 1.

    stream (r k)      the row r after k layers along a path
    along (k h n)     the product of the first n weights along the path with head h in layer k
    v (k h)           the value asked of that path, v(0, 0) of the first path; heads, layers from 0
    paths (l)         how many paths of l layers differ from the first in at most one layer

Source: Fixed Universal Transformers, Section 4; the argument is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import partial

from constructions.universal.instances import seeded
from lowerbounds.dimension_models import RULES, ModelPoint, Rules, drawn_point, near_first
from verify.rational import Matrix
from verify.real_lemmas import RealLemma
from verify.smtlib import Axiom, Goal, Theory, World, induction

INVERSES = RealLemma(
    name="factors that cancel",
    variables="s t x",
    premises=("(= (* {s} {t}) 1.0)",),
    conclusion="(= (* {s} (* {t} {x})) {x})",
)
QUOTIENT = RealLemma(
    name="a divisor cancels",
    variables="c x",
    premises=("(distinct {c} 0.0)",),
    conclusion="(= (* {c} (/ {x} {c})) {x})",
)

# --- scaling ---------------------------------------------------------------------------------

_SCALING = """
(declare-sort Row 0) (declare-sort Mat 0) (declare-sort Column 0)
(declare-fun scaled (Real Row) Row) (declare-fun scaledColumn (Real Column) Column)
(declare-fun times (Row Mat) Row) (declare-fun dot (Row Column) Real)
(declare-fun at (Row Int) Real) (declare-fun value (Int) Mat) (declare-fun stream (Row Int) Row)
(declare-const E Row) (declare-const U Column) (declare-const s Real) (declare-const t Real)
(declare-const L Int) (declare-const k Int) (declare-const i Int)
"""
_STREAM = Axiom(
    "layers",
    """(and (>= L 1) (forall ((r Row)) (! (= (stream r 0) r) :pattern ((stream r 0))))
      (forall ((r Row) (j Int)) (! (=> (and (<= 0 j) (< j L))
        (= (stream r (+ j 1)) (times (stream r j) (value j)))) :pattern ((stream r j)))))""",
    "each layer multiplies the row by the matrix of its head",
)
_LAWS = (
    Axiom(
        "scaled rows",
        """(forall ((c Real) (r Row) (a Mat)) (! (= (times (scaled c r) a) (scaled c (times r a)))
          :pattern ((times (scaled c r) a))))""",
        "(c r) A = c (r A)",
    ),
    Axiom(
        "scaled responses",
        """(and (forall ((c Real) (r Row) (u Column)) (! (= (dot (scaled c r) u) (* c (dot r u)))
            :pattern ((dot (scaled c r) u))))
          (forall ((c Real) (r Row) (u Column)) (! (= (dot r (scaledColumn c u)) (* c (dot r u)))
            :pattern ((dot r (scaledColumn c u))))))""",
        "(c r) u = c (r u) = r (c u)",
    ),
    Axiom(
        "scaled coordinates",
        """(forall ((c Real) (r Row) (j Int)) (! (= (at (scaled c r) j) (* c (at r j)))
          :pattern ((at (scaled c r) j))))""",
        "(c r)_j = c r_j",
    ),
)


def _scaling_theory(worlds: Callable[[], Iterable[World]], name: str, *axioms: Axiom) -> Theory:
    return Theory(name=f"dimension: {name}", declarations=_SCALING, axioms=axioms, worlds=worlds)


def scaling_goals(rules: Rules = RULES) -> tuple[Goal, ...]:
    """(s E, U / s) responds as (E, U), E_i = 1 for s = 1 / E_i, and E = 0 responds with 0."""
    theory = partial(_scaling_theory, lambda: scaling_worlds(rules))
    moves = "(= (stream (scaled s E) {0}) (scaled s (stream E {0})))".format
    return (
        INVERSES.goal,
        *induction(
            name="a factor of E stays in front",
            theory=theory("streams", _STREAM, _LAWS[0]),
            invariant=moves,
            base="0",
            step=("k", "(+ k 1)"),
            step_assumptions=("(<= 0 k)", "(< k L)"),
        ),
        Goal(
            name="scaling moves no response",
            theory=theory("responses", _LAWS[1]),
            assumptions=(
                moves("L"),
                "(= (* s t) 1.0)",
                INVERSES.at(s="s", t="t", x="(dot (stream E L) U)"),
            ),
            conclusion="""(= (dot (stream (scaled s E) L) (scaledColumn t U))
              (dot (stream E L) U))""",
        ),
        Goal(
            name="a coordinate that is not 0 may be taken to be 1",
            theory=theory("coordinates", _LAWS[2]),
            assumptions=("(= t (at E i))", "(= (* s t) 1.0)"),
            conclusion="(= (at (scaled s E) i) 1.0)",
        ),
        Goal(
            name="the embedding 0 responds with 0",
            theory=_scaling_theory(zero_worlds, "embedding 0 scaled", _LAWS[1]),
            assumptions=(moves("L"), "(= s 0.0)", "(= (scaled s E) E)"),
            conclusion="(= (dot (stream E L) U) 0.0)",
        ),
    )


def scaling_worlds(rules: Rules) -> Iterator[World]:
    """A drawn model with E_0 scaled to 1."""
    point = drawn_point(3, 2, 2, 1)
    scale = 1 / point.embedding[0, 0]
    yield _scaling_world(point, point.embedding, scale, scale**rules.readout_power)


def zero_worlds() -> Iterator[World]:
    """The same with E = 0, which the factor 0 leaves as it is."""
    yield _scaling_world(drawn_point(3, 2, 2, 1), Matrix.zero(1, 2), Fraction(0), Fraction(1))


def _scaling_world(point: ModelPoint, row: Matrix, s: Fraction, t: Fraction) -> World:
    along = [layer[2 - place] for place, layer in enumerate(point.values)]

    def stream(start: Matrix, layer: int) -> Matrix:
        for value in along[: max(layer, 0)]:
            start = start @ value
        return start

    return World(
        sorts={
            "Row": [row, row.scaled(s), stream(row, 1)],
            "Mat": along,
            "Column": [point.readout, point.readout.scaled(t)],
            "Real": [Fraction(0), s, t],
        },
        integers=range(len(along)),
        symbols={
            "scaled": lambda c, r: r.scaled(c),
            "scaledColumn": lambda c, u: u.scaled(c),
            "times": lambda r, a: r @ a,
            "dot": lambda r, u: (r @ u)[0, 0],
            "at": lambda r, j: r[0, j],
            "value": along.__getitem__,
            "stream": stream,
            "E": row,
            "U": point.readout,
            "s": s,
            "t": t,
            "L": len(along),
        },
        free={"k": range(len(along)), "i": range(point.width)},
    )


# --- paths near the first one ----------------------------------------------------------------

_PATHS = """
(declare-const H Int) (declare-const L Int) (declare-const k Int) (declare-const h Int)
(declare-const n Int) (declare-fun paths (Int) Int)
(declare-fun v (Int Int) Real) (declare-fun w (Int Int) Real)
(declare-fun along (Int Int Int) Real)
(define-fun c () Real (v 0 0))
"""
_NEAR = "(and (<= 0 k) (< k L) (<= 0 h) (< h H) (=> (= h 0) (= k 0)))"
_WEIGHTS = Axiom(
    "weights",
    """(and (= (w 0 0) c)
      (forall ((l Int)) (! (=> (and (<= 1 l) (< l L)) (= (w l 0) 1.0)) :pattern ((w l 0))))
      (forall ((j Int)) (! (=> (and (<= 1 j) (< j H)) (= (w 0 j) (v 0 j))) :pattern ((w 0 j))))
      (forall ((l Int) (j Int)) (! (=> (and (<= 1 l) (< l L) (<= 1 j) (< j H))
        (= (w l j) (/ (v l j) c))) :pattern ((w l j)))))""",
    "the target chosen for the values v: the first layer has those of its own heads, the others 1 "
    "for the first head and v / c for the rest",
)
_ALONG = Axiom(
    "products",
    """(forall ((l Int) (j Int) (n Int)) (! (and (= (along l j 0) 1.0) (=> (<= 0 n)
      (= (along l j (+ n 1)) (* (along l j n) (w n (ite (= n l) j 0))))))
      :pattern ((along l j n))))""",
    "the product along the path that has head j in layer l and the first head elsewhere",
)
_COUNT = Axiom(
    "count",
    """(and (>= H 1) (= (paths 0) 1) (forall ((l Int)) (! (=> (<= 0 l)
      (= (paths (+ l 1)) (+ (paths l) (- H 1)))) :pattern ((paths l)))))""",
    "one layer more: the first head after such a path, or another head after the first path",
)
_PLACES = "(= (paths {0}) (+ (* {0} (- H 1)) 1))"


def near_goals() -> tuple[Goal, ...]:
    """Every vector with first coordinate c != 0 is a target's, and it has L(H - 1) + 1 of them."""

    def theory(name: str, *axioms: Axiom) -> Theory:
        return Theory(
            name=f"dimension: {name}", declarations=_PATHS, axioms=axioms, worlds=near_worlds
        )

    products, counts = theory("near paths", _WEIGHTS, _ALONG), theory("number of paths", _COUNT)
    reached = "(= (along k h {0}) (ite (<= {0} k) c (v k h)))".format
    sides = (_NEAR, "(distinct c 0.0)")
    return (
        QUOTIENT.goal,
        *induction(
            name="the product along a near path",
            theory=products,
            invariant=reached,
            base="1",
            step=("n", "(+ n 1)"),
            base_assumptions=sides,
            step_assumptions=(*sides, "(<= 1 n)", "(< n L)", QUOTIENT.at(c="c", x="(v k h)")),
        ),
        Goal(
            name="every vector with c != 0 occurs",
            theory=products,
            assumptions=(*sides, reached("L")),
            conclusion="(= (along k h L) (v k h))",
        ),
        *induction(
            name="L(H - 1) + 1 near paths",
            theory=counts,
            invariant=_PLACES.format,
            base="0",
            step=("n", "(+ n 1)"),
            step_assumptions=("(<= 0 n)",),
        ),
    )


def near_worlds() -> Iterator[World]:
    """Drawn values and the target chosen for them; paths are counted one by one."""
    for heads, layers in ((3, 3), (2, 2)):
        yield _near_world(heads, layers)


def _near_world(heads: int, layers: int) -> World:
    source = seeded(heads)
    values = [[Fraction(source.randint(1, 5), 2) for _ in range(heads)] for _ in range(layers)]
    first = values[0][0]
    rest = [[Fraction(1), *(value / first for value in row[1:])] for row in values[1:]]
    weights = [values[0], *rest]

    def entry(rows: list[list[Fraction]], layer: int, head: int) -> Fraction:
        inside = 0 <= layer < layers and 0 <= head < heads
        return rows[layer][head] if inside else Fraction(0)

    def along(layer: int, head: int, length: int) -> Fraction:
        product = Fraction(1)
        for place in range(length):
            product *= entry(weights, place, head if place == layer else 0)
        return product

    return World(
        sorts={},
        integers=range(-1, 4),
        symbols={
            "H": heads,
            "L": layers,
            "v": lambda layer, head: entry(values, layer, head),
            "w": lambda layer, head: entry(weights, layer, head),
            "along": along,
            "paths": lambda length: len(set(near_first(heads, length))),
        },
        free={"k": range(layers), "h": range(heads), "n": range(layers)},
    )
