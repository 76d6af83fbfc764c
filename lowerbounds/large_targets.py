"""What the large post-LayerNorm targets do to one token: a theory, for all H, L and d_in.

The input is x = (1, 0, .., 0). With residual all weights are 0, so S = x; without, M^{l,1} =
w_l e_1 e_1^T and the other heads have M = 0, and the token attends to itself with weight 1, so
S = w_l x_1 e_1. The last layer's LayerNorm has scale g, the ones before it scale 1; shifts are 0.

Source: Fixed Universal Transformers, Section 3.3; the targets are ours.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from constructions.universal.definitions import TransformerSize
from lowerbounds.layer_norm import ALONE, Head, LayerNorm, PostNorm, Row
from lowerbounds.layer_norm_theory import EPS, Worlds, coordinate, row_symbols, row_theory
from lowerbounds.post_norm_models import large_target, output_limits, reversing_model
from verify.rational import Matrix
from verify.smtlib import Axiom, Goal, Symbol, Theory, World, induction

_TARGET = """
(declare-const H Int) (declare-const L Int) (declare-const residual Bool)
(declare-fun stream (Int) Row) (declare-fun value (Int) Row)
(declare-fun w (Int) Real) (declare-fun M (Int Int Int Int) Real) (declare-fun A (Int Int) Real)
(declare-fun product (Int Int Int Int) Real) (declare-fun passed (Int) Real)
(declare-fun through (Int Int Int Int) Real) (declare-fun heads (Int Int Int) Real)
(declare-fun weighted (Int Int Int) Real)
(declare-const l Int) (declare-const h Int) (declare-const g Int)
(declare-const result Row) (declare-const gain Real) (declare-const bound Real)
(declare-sort Embedding 0) (declare-fun response (Embedding) Real)
(define-fun layer ((n Int)) Bool (and (<= 0 n) (< n L)))
(define-fun head ((n Int)) Bool (and (<= 0 n) (< n H)))
(define-fun leads ((r Row)) Bool (and (> (entry r 0) 0.0) (<= (upto r m) (entry r 0))))
"""

_COUNTS = Axiom("counts", "(and (>= H 1) (>= L 1))", "there is a head and a layer")
INPUT = Axiom(
    "input",
    """(and (= (entry (stream 0) 0) 1.0) (forall ((j Int)) (! (=> (and (within j) (distinct j 0))
      (= (entry (stream 0) j) 0.0)) :pattern ((entry (stream 0) j)))))""",
    "X is one token, e_1",
)
_WEIGHTS = Axiom(
    "weights",
    """(forall ((n Int) (a Int) (p Int) (q Int)) (! (= (M n a p q)
      (ite (and (not residual) (= a 0) (= p 0) (= q 0)) (w n) 0.0)) :pattern ((M n a p q))))""",
    "all M are 0, but without residual M^{l,1} = w_l e_1 e_1^T",
)
POSITIVE = Axiom("w", "(forall ((n Int)) (! (> (w n) 0.0) :pattern ((w n))))", "w_l > 0")
_ALONE = Axiom(
    "alone",
    "(forall ((n Int) (a Int)) (! (=> (head a) (= (A n a) 1.0)) :pattern ((A n a))))",
    "the only token attends to itself with weight 1",
)
_PRODUCT = Axiom(
    "product",
    """(forall ((n Int) (a Int) (q Int) (p Int)) (! (= (product n a q p)
      (* (entry (stream n) p) (M n a p q))) :pattern ((product n a q p))))""",
    "a summand of coordinate q of x M^{l,h}",
)
PASSED = Axiom(
    "passed",
    """(forall ((n Int)) (! (= (passed n) (* (entry (stream n) 0) (w n)))
      :pattern ((passed n))))""",
    "what a sublayer without residual passes on: w_l x_1",
)
_THROUGH = Axiom(
    "through a head",
    """(and (forall ((n Int) (a Int) (q Int)) (! (= (through n a q 0) 0.0)
        :pattern ((through n a q 0))))
      (forall ((n Int) (a Int) (q Int) (p Int)) (! (=> (within p) (= (through n a q (+ p 1))
        (+ (through n a q p) (product n a q p))))
        :pattern ((through n a q (+ p 1))))))""",
    "coordinate q of x M^{l,h}, summed over the coordinates of x",
)
_WEIGHTED = Axiom(
    "weighted",
    """(forall ((n Int) (q Int) (a Int)) (! (=> (head a) (= (weighted n q a)
      (* (A n a) (through n a q m)))) :pattern ((weighted n q a))))""",
    "a head's summand is its attention weight times x M^{l,h}",
)
_HEADS = Axiom(
    "heads",
    """(and (forall ((n Int) (q Int)) (! (= (heads n q 0) 0.0) :pattern ((heads n q 0))))
      (forall ((n Int) (q Int) (a Int)) (! (=> (head a) (= (heads n q (+ a 1))
        (+ (heads n q a) (weighted n q a)))) :pattern ((heads n q (+ a 1))))))""",
    "coordinate q of sum_h A^{l,h} x M^{l,h}, head by head",
)
_VALUE = Axiom(
    "sublayer",
    """(forall ((n Int) (q Int)) (! (=> (and (layer n) (within q)) (= (entry (value n) q)
      (+ (ite residual (entry (stream n) q) 0.0) (heads n q H))))
      :pattern ((entry (value n) q))))""",
    "S = [x +] sum_h A^{l,h} x M^{l,h}",
)
NEXT = Axiom(
    "next stream",
    """(forall ((n Int) (q Int)) (! (=> (and (layer n) (< (+ n 1) L) (within q))
      (= (entry (stream (+ n 1)) q) (hat (value n) q))) :pattern ((entry (stream (+ n 1)) q))))""",
    "before the last layer LayerNorm has scale 1 and shift 0",
)
RESULT = Axiom(
    "result",
    """(forall ((q Int)) (! (=> (within q) (= (entry result q) (* gain (hat (value (- L 1)) q))))
      :pattern ((entry result q))))""",
    "the last layer's LayerNorm has scale g and shift 0",
)


def target_theory(name: str, worlds: Worlds, *axioms: Axiom) -> Theory:
    """A theory of the streams of one token with the given axioms."""
    return row_theory(f"large targets: {name}", (_COUNTS, *axioms), worlds, _TARGET)


def _product(head: str, place: str) -> str:
    passes = f"(and (not residual) (= {head} 0) (= i 0) (= {place} 0))"
    return f"(= (product l {head} i {place}) (ite {passes} (passed l) 0.0))"


def _through(head: str, count: str) -> str:
    passes = f"(and (not residual) (= {head} 0) (= i 0) (>= {count} 1))"
    return f"(= (through l {head} i {count}) (ite {passes} (passed l) 0.0))"


def _heads(count: str) -> str:
    passes = f"(and (not residual) (= i 0) (>= {count} 1))"
    return f"(= (heads l i {count}) (ite {passes} (passed l) 0.0))"


def kept(place: str) -> str:
    """What the sublayer's value has at a coordinate."""
    other = f"(ite (= {place} 0) (passed l) 0.0)"
    return f"(= (entry (value l) {place}) (ite residual (entry (stream l) {place}) {other}))"


def passing_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """S is x with residual, and w_l x_1 e_1 without."""
    once = "(= (weighted l i g) (through l g i m))"
    return (
        Goal(
            name="a summand of a head",
            theory=target_theory("products", worlds, _WEIGHTS, _PRODUCT, PASSED),
            conclusion=_product("h", "k"),
        ),
        *induction(
            name="through one head",
            theory=target_theory("one head", worlds, _THROUGH),
            invariant=lambda k: _through("h", k),
            base="0",
            step=("k", "(+ k 1)"),
            step_assumptions=("(within k)", _product("h", "k")),
        ),
        Goal(
            name="a lone token's summand",
            theory=target_theory("attention", worlds, _ALONE, _WEIGHTED),
            assumptions=("(head g)",),
            conclusion=once,
        ),
        *induction(
            name="through all heads",
            theory=target_theory("heads", worlds, _HEADS),
            invariant=_heads,
            base="0",
            step=("g", "(+ g 1)"),
            step_assumptions=("(head g)", _through("g", "m"), once),
        ),
        Goal(
            name="what a sublayer passes on",
            theory=target_theory("sublayer", worlds, _VALUE),
            assumptions=("(layer l)", "(within i)", _heads("H")),
            conclusion=kept("i"),
        ),
    )


# --- the theory's meaning in the code --------------------------------------------------------


def target_worlds() -> Iterator[World]:
    """Large targets with two heads and two layers, above the bound of a fixed model of width 2."""
    norm = LayerNorm(
        scale=(Fraction(-1), Fraction(2)), shift=(Fraction(1, 2), Fraction(0)), eps=EPS
    )
    model = reversing_model(norm, Matrix(2, 1, [1, -1]))
    (bound,) = output_limits(model, Fraction(1))
    for width, residual in itertools.product((3, 2), (False, True)):
        size = TransformerSize(heads=2, layers=2, head_width=1, token_width=width)
        plain = large_target(size, residual=residual, scale=Fraction(1))
        unit = Matrix.with_ones(1, width, [0], [0])
        hat = plain.output(unit, ALONE)[0, 0]
        gain = bound / hat + 1
        result = large_target(size, residual=residual, scale=gain).output(unit, ALONE).rows()[0]
        token = OneToken(model=plain, streams=plain.streams(unit, ALONE))
        rows = [row for n in range(size.layers) for row in (token.stream(n), token.value(n))]
        yield World(
            sorts={
                "Row": rows,
                "Embedding": [unit.transposed @ Matrix(1, 2, [x, -x]) for x in (0, 1, -1)],
            },
            integers=range(width + 1),
            symbols={
                **row_symbols(plain.norms[0].eps, width),
                **token.symbols(),
                "result": result,
                "gain": gain,
                "bound": bound,
                "response": lambda e, x=unit: model.output(x @ e, ALONE)[0, 0],
            },
            free={
                "x": rows,
                **{name: range(width) for name in "ik"},
                **{name: range(2) for name in "hgl"},
            },
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class OneToken:
    """A target on one token, stage by stage; layers and heads are counted from 0.

    Layers beyond the last are those of a model that repeats itself; other heads have M = 0.
    """

    model: PostNorm
    streams: tuple[Matrix, ...]

    @property
    def layers(self) -> int:
        """L."""
        return len(self.model.layers)

    @property
    def width(self) -> int:
        """d_in."""
        return self.model.readout.height

    def _stream(self, layer: int) -> Matrix:
        return self.streams[layer % self.layers]

    def _head(self, layer: int, place: int) -> Head | None:
        heads = self.model.layers[layer % self.layers]
        return heads[place] if 0 <= place < len(heads) else None

    def stream(self, layer: int) -> Row:
        """The row that enters a layer."""
        return self._stream(layer).rows()[0]

    def value(self, layer: int) -> Row:
        """S of a layer."""
        return self.model.sublayer(layer % self.layers, self._stream(layer), ALONE).rows()[0]

    def mix(self, layer: int, place: int, row: int, column: int) -> Fraction:
        """An entry of M."""
        head, places = self._head(layer, place), range(self.width)
        inside = row in places and column in places
        return head.mix[row, column] if head and inside else Fraction(0)

    def weight(self, layer: int, place: int) -> Fraction:
        """The attention weight of the token."""
        head, stream = self._head(layer, place), self._stream(layer)
        if head is None:
            return Fraction(0)
        return ALONE((stream @ head.query) @ (stream @ head.key).transposed)[0, 0]

    def product(self, layer: int, place: int, column: int, row: int) -> Fraction:
        """A summand of a coordinate of x M."""
        return coordinate(self.stream(layer), row) * self.mix(layer, place, row, column)

    def through(self, layer: int, place: int, column: int, count: int) -> Fraction:
        """A coordinate of x M, over the first coordinates of x."""
        return sum((self.product(layer, place, column, j) for j in range(count)), Fraction(0))

    def weighted(self, layer: int, column: int, place: int) -> Fraction:
        """A coordinate of A x M."""
        return self.weight(layer, place) * self.through(layer, place, column, self.width)

    def heads(self, layer: int, column: int, count: int) -> Fraction:
        """The sum of the first heads' A x M."""
        return sum((self.weighted(layer, column, place) for place in range(count)), Fraction(0))

    def factor(self, layer: int) -> Fraction:
        """w_l; with residual none is used, and it is 1."""
        return self.mix(layer, 0, 0, 0) or Fraction(1)

    def symbols(self) -> dict[str, Symbol]:
        """The symbols of the theory."""
        return {
            "H": len(self.model.layers[0]),
            "L": self.layers,
            "residual": self.model.residual,
            "stream": self.stream,
            "value": self.value,
            "w": self.factor,
            "M": self.mix,
            "A": self.weight,
            "product": self.product,
            "passed": lambda layer: self.stream(layer)[0] * self.factor(layer),
            "through": self.through,
            "weighted": self.weighted,
            "heads": self.heads,
        }
