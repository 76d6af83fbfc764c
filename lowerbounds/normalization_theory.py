"""One output at X = 0, whatever the embedding, and targets with another one there: a theory.

X = 0 gives X E = 0, so a fixed model, which is any function of its stream, has one output. In the
target a sublayer maps 0 to 0; LayerNorm maps a row of zeros to its shift beta, which is 0 before
the last layer: by induction every stream before the last normalisation is 0, and the output is
beta of the last layer in every row.

Source: Fixed Universal Transformers, Section 3.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from constructions.universal.definitions import TransformerSize
from constructions.universal.sums import MATRICES
from lowerbounds.layer_norm import PAIR, Head, LayerNorm, PostNorm, Row
from lowerbounds.layer_norm_theory import (
    EPS,
    ZERO_HATS,
    ZERO_ROW,
    Worlds,
    coordinate,
    row_symbols,
    row_theory,
)
from lowerbounds.post_norm_models import passing_model, shifted_target
from verify.rational import Matrix
from verify.smtlib import Axiom, Goal, Symbol, Theory, World, induction

_STREAMS = (
    MATRICES
    + """
(declare-const zero Mat) (declare-fun add (Mat Mat) Mat) (declare-fun row (Mat Int) Row)
(declare-const n Int) (declare-const H Int) (declare-const L Int) (declare-const residual Bool)
(declare-fun A (Int Int Mat) Mat) (declare-fun M (Int Int) Mat)
(declare-fun heads (Int Mat Int) Mat) (declare-fun value (Int Mat) Mat)
(declare-fun gamma (Int Int) Real) (declare-fun beta (Int Int) Real)
(declare-fun norm (Int Mat) Mat) (declare-fun stream (Int) Mat)
(declare-fun model (Mat) Mat)
(declare-const l Int) (declare-const h Int)
(define-fun token ((a Int)) Bool (and (<= 0 a) (< a n)))
(define-fun head ((a Int)) Bool (and (<= 0 a) (< a H)))
"""
)

_COUNTS = Axiom("counts", "(and (>= n 1) (>= H 1) (>= L 1))", "a token, a head and a layer")
_PRODUCTS = Axiom(
    "products with zero",
    """(forall ((a Mat)) (! (and (= (mul zero a) zero) (= (mul a zero) zero))
      :pattern ((mul zero a)) :pattern ((mul a zero))))""",
    "0 A = A 0 = 0",
)
_ADDED = Axiom("zero plus zero", "(= (add zero zero) zero)", "0 + 0 = 0")
_HEADS = Axiom(
    "heads",
    """(and (forall ((b Int) (X Mat)) (! (= (heads b X 0) zero) :pattern ((heads b X 0))))
      (forall ((b Int) (X Mat) (a Int)) (! (=> (head a) (= (heads b X (+ a 1))
        (add (heads b X a) (mul (A b a X) (mul X (M b a)))))) :pattern ((heads b X (+ a 1))))))""",
    "sum_h A^{l,h} X M^{l,h}, head by head; A^{l,h} is any function of X",
)
_VALUE = Axiom(
    "sublayer",
    """(forall ((b Int) (X Mat)) (! (= (value b X)
      (ite residual (add X (heads b X H)) (heads b X H))) :pattern ((value b X))))""",
    "S = [X +] sum_h A^{l,h} X M^{l,h}",
)
_ENTRIES = Axiom(
    "zero",
    """(forall ((a Int) (j Int)) (! (=> (and (token a) (within j)) (= (entry (row zero a) j) 0.0))
      :pattern ((entry (row zero a) j))))""",
    "all entries of 0 are 0",
)
_EXTENSIONAL = Axiom(
    "extensional",
    """(forall ((a Mat) (b Mat)) (=> (forall ((c Int) (j Int)) (=> (and (token c) (within j))
      (= (entry (row a c) j) (entry (row b c) j)))) (= a b)))""",
    "streams with equal entries are equal",
)
_NORM = Axiom(
    "LayerNorm",
    """(forall ((b Int) (X Mat) (a Int) (j Int)) (! (=> (and (token a) (within j))
      (= (entry (row (norm b X) a) j) (+ (* (gamma b j) (hat (row X a) j)) (beta b j))))
      :pattern ((entry (row (norm b X) a) j))))""",
    "LayerNorm acts on each row: gamma_j hat_j + beta_j",
)
_SHIFTS = Axiom(
    "shifts",
    """(forall ((b Int) (j Int)) (! (=> (and (<= 1 b) (< b L) (within j)) (= (beta b j) 0.0))
      :pattern ((beta b j))))""",
    "beta is 0 before the last layer; all gamma, and beta of the last layer, are arbitrary",
)
_STREAM = Axiom(
    "streams",
    """(and (= (stream 0) zero) (forall ((b Int)) (! (=> (and (<= 0 b) (< b L))
      (= (stream (+ b 1)) (norm (+ b 1) (value (+ b 1) (stream b)))))
      :pattern ((stream (+ b 1))))))""",
    "the target runs on X = 0: X^l = LN^l(S^l)",
)

EMBEDDED = "(mul zero E)"
"""The fixed model's stream at X = 0; a mutant adds a trained shift."""
OTHER = "1.0"
"""How far beta_1 is from the fixed output's first entry; a mutant says 0."""


def _theory(name: str, worlds: Worlds, *axioms: Axiom) -> Theory:
    return row_theory(f"zero input: {name}", (_COUNTS, *axioms), worlds, _STREAMS)


def model_goals(worlds: Worlds, embedded: str = EMBEDDED) -> tuple[Goal, ...]:
    """A fixed model has one output at X = 0."""
    return (
        Goal(
            name="one output for all embeddings",
            theory=_theory("model", worlds, _PRODUCTS),
            conclusion=f"(forall ((E Mat)) (= (model {embedded}) (model zero)))",
        ),
    )


def sublayer_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """A sublayer, with or without residual, maps zero streams to zero."""
    sums = _theory("heads", worlds, _PRODUCTS, _ADDED, _HEADS)
    return (
        *induction(
            name="heads map zero to zero",
            theory=sums,
            invariant="(= (heads l zero {0}) zero)".format,
            base="0",
            step=("h", "(+ h 1)"),
            step_assumptions=("(head h)",),
        ),
        Goal(
            name="sublayers map zero to zero",
            theory=_theory("sublayer", worlds, _ADDED, _VALUE),
            assumptions=("(= (heads l zero H) zero)",),
            conclusion="(= (value l zero) zero)",
        ),
    )


_TO_SHIFT = """(forall ((a Int) (j Int)) (! (=> (and (token a) (within j))
  (= (entry (row (norm l zero) a) j) (beta l j))) :pattern ((entry (row (norm l zero) a) j))))"""
_ROWS_STAY = f"(forall ((r Row)) (=> {ZERO_ROW.format(r='r')} {ZERO_HATS.format(r='r')}))"


def target_goals(worlds: Worlds) -> tuple[Goal, ...]:
    """Streams before the last normalisation are zero; the output is beta of the last layer."""
    norms = _theory("LayerNorm", worlds, _ENTRIES, _NORM)
    layers = _theory("layers", worlds, _STREAM)
    return (
        Goal(
            name="LayerNorm maps zero to its shift",
            theory=norms,
            assumptions=(_ROWS_STAY,),
            conclusion=_TO_SHIFT,
        ),
        Goal(
            name="before the last layer zero stays zero",
            theory=_theory("shifts", worlds, _ENTRIES, _EXTENSIONAL, _SHIFTS),
            assumptions=(_TO_SHIFT, "(<= 1 l)", "(< l L)"),
            conclusion="(= (norm l zero) zero)",
        ),
        *induction(
            name="streams before the last normalisation are zero",
            theory=layers,
            invariant="(= (stream {0}) zero)".format,
            base="0",
            step=("l", "(+ l 1)"),
            step_assumptions=(
                "(<= 0 l)",
                "(< (+ l 1) L)",
                "(= (value (+ l 1) zero) zero)",
                "(= (norm (+ l 1) zero) zero)",
            ),
        ),
        Goal(
            name="the last layer normalises zero",
            theory=layers,
            assumptions=(
                "(= (stream (- L 1)) zero)",
                "(= (value L zero) zero)",
                "(= l L)",
            ),
            conclusion="(= (stream l) (norm l zero))",
        ),
    )


def difference_goals(
    worlds: Worlds, embedded: str = EMBEDDED, other: str = OTHER
) -> tuple[Goal, ...]:
    """The target whose beta differs from the fixed output is not simulated by any embedding."""
    return (
        Goal(
            name="no embedding simulates the target",
            theory=_theory("difference", worlds),
            role="conclusion",
            assumptions=(
                f"(forall ((E Mat)) (= (model {embedded}) (model zero)))",
                "(= l L)",
                "(= (stream l) (norm l zero))",
                _TO_SHIFT,
                f"(= (beta l 0) (+ (entry (row (model zero) 0) 0) {other}))",
            ),
            conclusion=f"(forall ((E Mat)) (distinct (stream l) (model {embedded})))",
        ),
    )


# --- the theory's meaning in the code --------------------------------------------------------


def zero_worlds() -> Iterator[World]:
    """Two tokens of width 2 in targets of two heads and two layers, beside a fixed model."""
    size = TransformerSize(heads=2, layers=2, head_width=1, token_width=2)
    zero = Matrix.zero(2, 2)
    samples = [zero, *(Matrix(2, 2, [x, -x, y, y]) for x, y in ((1, 0), (Fraction(5, 16), 3)))]
    fixed = passing_model(EPS)
    shift = (fixed.output(zero, PAIR)[0, 0] + 1, Fraction(2))
    for residual in (False, True):
        target = shifted_target(size, residual=residual, shift=shift, seed=1, eps=EPS)
        yield World(
            sorts={"Row": [row for mat in samples for row in mat.rows()], "Mat": samples},
            integers=range(-1, 4),
            symbols={
                **row_symbols(EPS, 2),
                **stream_symbols(target, zero),
                "zero": zero,
                "model": lambda stream: fixed.output(stream, PAIR),
            },
            free={"l": range(3), "h": range(2)},
        )


def stream_symbols(target: PostNorm, zero: Matrix) -> dict[str, Symbol]:
    """Heads, sublayers and streams of a target on zero inputs, layers counted from 1."""
    streams, layers = target.streams(zero, PAIR), len(target.layers)

    def head(layer: int, place: int) -> Head:
        heads = target.layers[(layer - 1) % layers]
        return heads[place % len(heads)]

    def weights(layer: int, place: int, stream: Matrix) -> Matrix:
        chosen = head(layer, place)
        return PAIR((stream @ chosen.query) @ (stream @ chosen.key).transposed)

    def heads(layer: int, stream: Matrix, count: int) -> Matrix:
        total = zero
        for place in range(count):
            total += weights(layer, place, stream) @ (stream @ head(layer, place).mix)
        return total

    def stream(layer: int) -> Matrix:
        return streams[layer] if 0 <= layer <= layers else zero

    def row(stream: Matrix, place: int) -> Row:
        return stream.rows()[place] if 0 <= place < stream.height else ()

    def norm(layer: int) -> LayerNorm:
        return target.norms[(layer - 1) % layers]

    return {
        "n": zero.height,
        "H": len(target.layers[0]),
        "L": layers,
        "residual": target.residual,
        "mul": lambda a, b: a @ b,
        "add": lambda a, b: a + b,
        "row": row,
        "A": weights,
        "M": lambda layer, place: head(layer, place).mix,
        "heads": heads,
        "value": lambda layer, stream: target.sublayer((layer - 1) % layers, stream, PAIR),
        "gamma": lambda layer, j: coordinate(norm(layer).scale, j),
        "beta": lambda layer, j: coordinate(norm(layer).shift, j),
        "norm": lambda layer, stream: norm(layer).of(stream),
        "stream": stream,
    }
