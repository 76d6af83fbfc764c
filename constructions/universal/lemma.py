"""The probe lemma as a claim: for every number of heads, layers and tokens, every normaliser.

The theory speaks of streams X(l), Y(l), of probes P(l) and coefficients C(l) by their blocks of
columns, and of the attention normaliser as of any function. It holds for any factors F_Q, F_K of
the target's logits, F_Q F_K^T = W_Q W_K^T.

Source: Fixed Universal Transformers, Appendix A and Lemma E.1; the induction is spelled out here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from constructions.universal.definitions import (
    Normaliser,
    Target,
    TransformerSize,
    Universal,
    causal_mask,
    run_target,
    run_universal,
    scrambled_attention,
)
from constructions.universal.instances import random_matrix, random_target
from constructions.universal.layouts import Layout
from constructions.universal.probes import coefficients, invariant_holds, probe
from constructions.universal.sums import (
    ASSOCIATIVE,
    FAMILIES,
    HEADS,
    MATRICES,
    PAPER,
    SUM_EQUAL,
    SUM_RIGHT,
)
from constructions.universal.tree import LAYOUT as TREE
from verify.claims import Check, Profile, Source, claim, covers, supports
from verify.counterexamples import Counterexample
from verify.facts import INDUCTION, MATRIX_LAWS
from verify.methods.exhaustive import Exhaustive, Range
from verify.methods.smt import Smt
from verify.rational import Matrix
from verify.smtlib import Axiom, Goal, Theory, World, induction
from verify.verdicts import Json, Status

# --- theory ----------------------------------------------------------------------------------

_DECLARATIONS = (
    MATRICES
    + FAMILIES
    + """
(declare-sort Block 0)
(declare-const L Int) (declare-const k Int)
(declare-const identity Mat)
(declare-fun transpose (Mat) Mat) (declare-fun normalise (Mat) Mat)
(declare-fun columns (Int Mat Block) Mat)
(declare-fun bq (Int) Block) (declare-fun bk (Int) Block) (declare-fun bv (Int) Block)
(declare-fun WQ (Int Int) Mat) (declare-fun WK (Int Int) Mat) (declare-fun M (Int Int) Mat)
(declare-fun FQ (Int Int) Mat) (declare-fun FK (Int Int) Mat)
(declare-fun RQ (Int Int) Mat) (declare-fun RK (Int Int) Mat) (declare-fun RV (Int Int) Mat)
(declare-const E Mat) (declare-const U Mat)
(declare-fun P (Int) Mat) (declare-fun C (Int) Mat)
(declare-fun X (Int) Mat) (declare-fun Y (Int) Mat)
(declare-fun fX (Int) Family) (declare-fun fY (Int) Family)
(declare-fun gX (Int) Family) (declare-fun gY (Int) Family)
(declare-fun logits (Mat Mat Mat) Mat)
(define-fun attX ((l Int) (h Int)) Mat (normalise (logits (X l) (WQ l h) (WK l h))))
(define-fun attY ((l Int) (h Int)) Mat (normalise (logits (Y l) (RQ l h) (RK l h))))
(define-fun layer ((l Int)) Bool (and (<= 0 l) (< l L)))
(define-fun inner ((l Int) (h Int)) Bool (and (<= 0 l) (< l L) (<= 1 h) (<= h H)))
"""
)


def _block(name: str, block: str, value: str, trigger: str) -> str:
    return f"""(forall ((l Int) (h Int)) (! (=> (inner l h)
      (= (columns l ({name} l) ({block} h)) {value})) :pattern ({trigger})))"""


def _probe_block(block: str, value: str, trigger: str) -> str:
    return _block("P", block, value, trigger)


def _coefficient_block(block: str, value: str) -> str:
    return _block("C", block, value, f"(columns l (C l) ({block} h))")


def _family(name: str, member: str) -> str:
    return f"""(forall ((l Int) (h Int)) (! (=> (inner l h) (= (at ({name} l) h) {member}))
      :pattern ((at ({name} l) h))))"""


FACTORS = "(= (mul (FQ l h) (transpose (FK l h))) (mul (WQ l h) (transpose (WK l h))))"
"""What the coefficients' factors must satisfy; the refutable twins drop it."""


LOGITS = Axiom(
    "logits",
    """(forall ((s Mat) (a Mat) (b Mat)) (! (= (logits s a b)
      (mul (mul s a) (transpose (mul s b)))) :pattern ((logits s a b))))""",
    "the logits of a stream S under A and B are (S A)(S B)^T",
)
LOGITS_FACTOR = Axiom(
    "logits factor",
    """(forall ((s Mat) (a Mat) (b Mat)) (! (= (logits s a b)
      (mul s (mul (mul a (transpose b)) (transpose s)))) :pattern ((logits s a b))))""",
    "they depend on A B^T only: S (A B^T) S^T",
)


def logits_theory(worlds: Callable[[], Iterator[World]]) -> Theory:
    """Products and transposes alone, from which `LOGITS_FACTOR` follows."""
    return Theory(
        name="logits",
        declarations=MATRICES
        + """
(declare-fun transpose (Mat) Mat)
(declare-fun logits (Mat Mat Mat) Mat)
""",
        axioms=(
            ASSOCIATIVE,
            Axiom(
                "transpose",
                """(forall ((a Mat) (b Mat)) (! (= (transpose (mul a b))
                  (mul (transpose b) (transpose a))) :pattern ((transpose (mul a b)))))""",
                "(A B)^T = B^T A^T",
            ),
            LOGITS,
        ),
        worlds=worlds,
    )


def lemma_theory(factors: str, worlds: Callable[[], Iterator[World]]) -> Theory:
    """Both models, probes and coefficients; index l stands for layer l + 1, which reads stream l."""
    return Theory(
        name="probes",
        declarations=_DECLARATIONS,
        axioms=(
            HEADS,
            Axiom("layers", "(>= L 1)", "there is at least one layer"),
            ASSOCIATIVE,
            LOGITS,
            LOGITS_FACTOR,
            Axiom(
                "columns of a product",
                """(forall ((l Int) (a Mat) (b Mat) (x Block)) (! (=> (layer l)
                  (= (columns l (mul a b) x) (mul a (columns l b x))))
                  :pattern ((columns l (mul a b) x))))""",
                "a block of columns of A B is A times that block of B",
            ),
            SUM_EQUAL,
            SUM_RIGHT,
            Axiom(
                "P: queries", _probe_block("bq", "(RQ l h)", "(RQ l h)"), "P_{l-1} holds R_Q^{l,h}"
            ),
            Axiom("P: keys", _probe_block("bk", "(RK l h)", "(RK l h)"), "P_{l-1} holds R_K^{l,h}"),
            Axiom(
                "P: values",
                _probe_block("bv", "(mul (RV l h) (P (+ l 1)))", "(RV l h)"),
                "P_{l-1} holds R_V^{l,h} P_l",
            ),
            Axiom("P: readout", "(= (P L) U)", "P_L = U"),
            Axiom("C: queries", _coefficient_block("bq", "(FQ l h)"), "C_{l-1} holds F_Q^{l,h}"),
            Axiom("C: keys", _coefficient_block("bk", "(FK l h)"), "C_{l-1} holds F_K^{l,h}"),
            Axiom(
                "C: values",
                _coefficient_block("bv", "(mul (M l h) (C (+ l 1)))"),
                "C_{l-1} holds M^{l,h} C_l",
            ),
            Axiom(
                "factors",
                f"(forall ((l Int) (h Int)) (! (=> (inner l h) {factors}) :pattern ((FQ l h))))",
                "F_Q F_K^T = W_Q W_K^T",
            ),
            Axiom(
                "target member",
                _family("fX", "(mul (attX l h) (mul (X l) (M l h)))"),
                "head h of the target adds A^{l,h} X^{l-1} M^{l,h}",
            ),
            Axiom(
                "universal member",
                _family("fY", "(mul (attY l h) (mul (Y l) (RV l h)))"),
                "head h of the universal model adds A~^{l,h} X~^{l-1} R_V^{l,h}",
            ),
            Axiom(
                "target times C", _family("gX", "(mul (at (fX l) h) (C (+ l 1)))"), "members times C_l"
            ),
            Axiom(
                "universal times P",
                _family("gY", "(mul (at (fY l) h) (P (+ l 1)))"),
                "members times P_l",
            ),
            Axiom(
                "streams",
                """(forall ((l Int)) (! (=> (layer l) (and (= (X (+ l 1)) (total (fX l)))
                  (= (Y (+ l 1)) (total (fY l))))) :pattern ((fX l)) :pattern ((fY l))))""",
                "a stream is the sum of its heads' members",
            ),
            Axiom("embedding", "(= (Y 0) (mul (X 0) E))", "X~^0 = X^0 E"),
            Axiom("probe equations", "(= (mul E (P 0)) (C 0))", "E P_0 = C_0"),
        ),
        worlds=worlds,
    )


def _agreement(l: str) -> str:  # noqa: E741 - the layer's name in the paper
    return f"(= (mul (Y {l}) (P {l})) (mul (X {l}) (C {l})))"


_LAYER = "(layer k)"
_BLOCKS = """(forall ((x Block)) (! (= (columns k (mul (Y k) (P k)) x)
  (columns k (mul (X k) (C k)) x)) :pattern ((columns k (P k) x))))"""
_EACH_HEAD = "(forall ((h Int)) (! (=> (and (<= 1 h) (<= h H)) {0}) :pattern ({1})))"
_READ_QUERIES = _EACH_HEAD.format("(= (mul (Y k) (RQ k h)) (mul (X k) (FQ k h)))", "(RQ k h)")
_READ_KEYS = _EACH_HEAD.format("(= (mul (Y k) (RK k h)) (mul (X k) (FK k h)))", "(RK k h)")
_READ_VALUES = _EACH_HEAD.format(
    """(= (mul (Y k) (mul (RV k h) (P (+ k 1)))) (mul (X k) (mul (M k h) (C (+ k 1)))))""",
    "(RV k h)",
)
_LOGITS = _EACH_HEAD.format(
    "(= (logits (Y k) (RQ k h) (RK k h)) (logits (X k) (WQ k h) (WK k h)))", "(RQ k h)"
)
_FACTORED = _EACH_HEAD.format(
    "(= (logits (X k) (FQ k h) (FK k h)) (logits (X k) (WQ k h) (WK k h)))", "(FQ k h)"
)
_OWN_LOGITS = _EACH_HEAD.format(
    "(= (logits (Y k) (RQ k h) (RK k h)) (logits (X k) (FQ k h) (FK k h)))", "(RQ k h)"
)
_ATTENTION = _EACH_HEAD.format("(= (attY k h) (attX k h))", "(RQ k h)")
_MEMBERS = _EACH_HEAD.format("(= (at (gY k) h) (at (gX k) h))", "(at (gY k) h)")

_TOTAL_Y = "(= (total (gY k)) (mul (Y (+ k 1)) (P (+ k 1))))"
_TOTAL_X = "(= (total (gX k)) (mul (X (+ k 1)) (C (+ k 1))))"
_TOTALS = "(= (total (gY k)) (total (gX k)))"


def lemma_goals(theory: Theory) -> tuple[Goal, ...]:
    """X~^l P_l = X^l C_l by induction over l, one layer in small moves; then the output."""
    base, step = induction(
        name="streams agree on the probes",
        theory=theory,
        invariant=_agreement,
        base="0",
        step=("k", "(+ k 1)"),
        step_assumptions=(_LAYER, _TOTAL_Y, _TOTAL_X, _TOTALS),
    )
    moves = (
        ("equal matrices have equal blocks", (_agreement("k"),), _BLOCKS),
        ("the hypothesis holds for queries", (_BLOCKS,), _READ_QUERIES),
        ("the hypothesis holds for keys", (_BLOCKS,), _READ_KEYS),
        ("the hypothesis holds for values", (_BLOCKS,), _READ_VALUES),
        ("equal reads give the factors' logits", (_READ_QUERIES, _READ_KEYS), _OWN_LOGITS),
        ("all factors give the target's logits", (), _FACTORED),
        ("logits agree", (_OWN_LOGITS, _FACTORED), _LOGITS),
        ("equal logits give equal attention", (_LOGITS,), _ATTENTION),
        ("equal attention gives equal members", (_ATTENTION, _READ_VALUES), _MEMBERS),
        ("P_l moves out of the sum over heads", (), _TOTAL_Y),
        ("C_l moves out of the sum over heads", (), _TOTAL_X),
        ("equal members have equal sums", (_MEMBERS,), _TOTALS),
    )
    return (
        Goal(
            name="logits depend on the product of their factors",
            theory=logits_theory(theory.worlds),
            conclusion=LOGITS_FACTOR.formula,
        ),
        base,
        *(
            Goal(name=name, theory=theory, assumptions=(_LAYER, *given), conclusion=then)
            for name, given, then in moves
        ),
        step,
        Goal(
            name="the output is the target's",
            theory=theory,
            role="conclusion",
            assumptions=(
                _agreement("L"),
                "(= (C L) identity)",
                "(= (mul (X L) identity) (X L))",
            ),
            conclusion="(= (mul (Y L) U) (X L))",
        ),
    )


# --- instances and worlds --------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """A universal model, a target, the E that should make one simulate the other, and inputs."""

    universal: Universal
    target: Target
    factored: Target
    """The target whose queries and keys are the factors F_Q, F_K of the same logits."""
    embedding: Matrix
    inputs: Matrix
    normalise: Normaliser


def refactored(target: Target, seed: int) -> Target:
    """Other factors of the same logits: F_Q = W_Q B, F_K = W_K B^{-T}, B unit triangular."""
    size = target.size.head_width
    change = Matrix(
        size, size, [1 if i == j else (seed + i + j) % 3 * (j > i) for i in range(size) for j in range(size)]
    )
    back = change.inverse().transposed
    return replace(
        target,
        queries=tuple(tuple(q @ change for q in layer) for layer in target.queries),
        keys=tuple(tuple(k @ back for k in layer) for layer in target.keys),
    )


Factoring = Callable[[Target, int], Target]


def simulation(
    layout: Layout, size: TransformerSize, seed: int, factor: Factoring = refactored
) -> Simulation:
    """Three tokens under a causal mask; E written from other factors than the target's own."""
    from random import Random

    target = random_target(size, seed)
    factored = factor(target, seed)
    width = layout.least_width(size)
    return Simulation(
        universal=layout.build(size, width),
        target=target,
        factored=factored,
        embedding=layout.write(factored, width).transposed,
        inputs=random_matrix(Random(seed), 3, size.token_width),
        normalise=scrambled_attention(causal_mask(3)),
    )


def _padded(matrix: Matrix, size: int) -> Matrix:
    """The matrix in the upper left corner of a square of zeros: matrices of all shapes at once."""
    wide = Matrix.beside([matrix, Matrix.zero(matrix.height, size - matrix.width)])
    return Matrix.stack([wide, Matrix.zero(size - matrix.height, size)])


def lemma_worlds(layout: Layout = TREE, factor: Factoring = refactored) -> Iterator[World]:
    """The theory on actual forward passes with rational attention."""
    for heads, layers in ((2, 2), (3, 1)):
        size = TransformerSize(heads=heads, layers=layers, head_width=2, token_width=2)
        yield _world(simulation(layout, size, seed=heads, factor=factor))


def _world(case: Simulation) -> World:
    size, model, target = case.universal.size, case.universal, case.target
    full = model.width
    tokens = case.inputs.height
    theirs = run_target(target, case.inputs, case.normalise)
    ours = run_universal(model, case.embedding, case.inputs, case.normalise)

    def pad(matrix: Matrix) -> Matrix:
        return _padded(matrix, full)

    def table(values: Callable[[int, int], Matrix]) -> Callable[[int, int], Matrix]:
        known = {
            (layer, head + 1): pad(values(layer, head))
            for layer in range(size.layers)
            for head in range(size.heads)
        }
        return lambda layer, head: known[layer, head]

    mixes = target.mixes()
    probes = [pad(probe(model, layer).dense()) for layer in range(size.layers + 1)]
    coefficient = [
        pad(coefficients(case.factored, layer).transposed) for layer in range(size.layers + 1)
    ]

    def normalise(logits: Matrix) -> Matrix:
        corner = Matrix.from_rows([row[:tokens] for row in logits.rows()[:tokens]])
        return pad(case.normalise(corner))

    def members(
        streams: tuple[Matrix, ...],
        attention: tuple[tuple[Matrix, ...], ...],
        moved: Callable[[int, int], Matrix],
        last: Callable[[int], Matrix],
    ) -> Callable[[int], tuple[Matrix, ...]]:
        known = {
            layer: tuple(
                pad(attention[layer][head])
                @ (pad(streams[layer]) @ moved(layer, head + 1))
                @ last(layer + 1)
                for head in range(size.heads)
            )
            for layer in range(size.layers)
        }
        return known.__getitem__

    value = table(lambda layer, head: model.values[layer][head].dense())
    mix = table(lambda layer, head: mixes[layer][head])
    unit = Matrix.identity(full)
    members_x = members(theirs.streams, theirs.attention, mix, lambda _: unit)
    members_y = members(ours.streams, ours.attention, value, lambda _: unit)
    times_c = members(theirs.streams, theirs.attention, mix, coefficient.__getitem__)
    times_p = members(ours.streams, ours.attention, value, probes.__getitem__)
    streams_x = [pad(stream) for stream in theirs.streams]
    streams_y = [pad(stream) for stream in ours.streams]
    layers = range(size.layers)
    families = [f(layer) for f in (members_x, members_y, times_c, times_p) for layer in layers]
    embedding, readout = pad(case.embedding), pad(model.readout.dense())
    return World(
        sorts={
            "Mat": [streams_x[0], embedding, probes[0], coefficient[0], readout],
            "Family": families,
            "Block": [
                ("q", 1), ("k", size.heads), ("v", 1), ("v", size.heads)
            ],
        },
        integers=range(-1, max(size.layers, size.heads) + 2),
        symbols={
            "H": size.heads,
            "L": size.layers,
            "identity": pad(Matrix.identity(size.token_width)),
            "mul": lambda a, b: a @ b,
            "transpose": lambda a: a.transposed,
            "normalise": normalise,
            "logits": lambda s, a, b: (s @ a) @ (s @ b).transposed,
            "columns": lambda level, a, block: pad(_columns(size, level, a, block)),
            "bq": lambda h: ("q", h),
            "bk": lambda h: ("k", h),
            "bv": lambda h: ("v", h),
            "WQ": table(lambda layer, head: target.queries[layer][head]),
            "WK": table(lambda layer, head: target.keys[layer][head]),
            "FQ": table(lambda layer, head: case.factored.queries[layer][head]),
            "FK": table(lambda layer, head: case.factored.keys[layer][head]),
            "M": mix,
            "RQ": table(lambda layer, head: model.queries[layer][head].dense()),
            "RK": table(lambda layer, head: model.keys[layer][head].dense()),
            "RV": value,
            "E": embedding,
            "U": readout,
            "P": probes.__getitem__,
            "C": coefficient.__getitem__,
            "X": streams_x.__getitem__,
            "Y": streams_y.__getitem__,
            "fX": members_x,
            "fY": members_y,
            "gX": times_c,
            "gY": times_p,
            "at": lambda family, h: family[h - 1] if 1 <= h <= size.heads else None,
            "total": lambda family: sum(family[1:], start=family[0]),
        },
        free={"k": range(size.layers)},
    )


def _columns(size: TransformerSize, level: int, matrix: Matrix, block: tuple[str, int]) -> Matrix:
    """One block of the columns of a matrix as wide as P_level."""
    kind, head = block
    reads, width = 2 * size.heads * size.head_width, size.token_width
    for _ in range(size.layers - level - 1):
        width = reads + size.heads * width
    if kind == "v":
        start, count = reads + (head - 1) * width, width
    else:
        start, count = (2 * (head - 1) + (kind == "k")) * size.head_width, size.head_width
    return matrix.select_columns(range(start, start + count))


@dataclass(frozen=True, slots=True, kw_only=True)
class LemmaCase:
    """Sizes and a seed at which every layer's streams are compared."""

    size: TransformerSize
    seed: int

    def as_json(self) -> dict[str, Json]:
        """The case as certificates name it."""
        return {"size": self.size.as_json(), "seed": self.seed}


def agreement_fails(
    layout: Layout, factor: Factoring = refactored
) -> Callable[[LemmaCase], Counterexample | None]:
    """The obligation X~^l P_l = X^l C_l in every layer, equal attention and equal output."""

    def holds(case: LemmaCase) -> Counterexample | None:
        chosen = simulation(layout, case.size, case.seed, factor)
        theirs = run_target(chosen.target, chosen.inputs, chosen.normalise)
        ours = run_universal(chosen.universal, chosen.embedding, chosen.inputs, chosen.normalise)
        layer = invariant_holds(chosen.universal, chosen.factored, ours, theirs)
        if layer is not None:
            text = f"X~^{layer} P_{layer} must equal X^{layer} C_{layer}; it does not"
        elif ours.attention != theirs.attention or ours.output != theirs.output:
            text = "attention matrices and outputs must agree; they do not"
        else:
            return None
        return Counterexample(text=f"{text} ({case.as_json()})", instance=case.as_json())

    return holds


def simulation_exhibit(layout: Layout) -> Callable[[LemmaCase], Json]:
    """Both models in full, for a second program to run."""

    def exhibit(case: LemmaCase) -> Json:
        return full_exhibit(simulation(layout, case.size, case.seed), causal_mask(3), "scrambled")

    return exhibit


def full_exhibit(case: Simulation, mask: Any, normaliser: str) -> dict[str, Json]:
    """Everything that a forward pass of both models needs, exactly."""

    def texts(matrix: Matrix) -> Json:
        return [[str(Fraction(x)) for x in row] for row in matrix.rows()]

    def grid(layers: tuple[tuple[Matrix, ...], ...]) -> Json:
        return [[texts(matrix) for matrix in layer] for layer in layers]

    return {
        "universal": case.universal.as_json(),
        "target": {
            "queries": grid(case.target.queries),
            "keys": grid(case.target.keys),
            "values": grid(case.target.values),
            "outputs": grid(case.target.outputs),
        },
        "embedding": texts(case.embedding),
        "inputs": texts(case.inputs),
        "mask": [list(row) for row in mask],
        "normaliser": normaliser,
    }


def _lemma_range(heads: int, layers: int, width: int) -> Range:
    def over() -> Iterator[LemmaCase]:
        for h in range(1, heads + 1):
            for depth in range(1, layers + 1):
                for d in range(1, width + 1):
                    for tokens in range(1, width + 1):
                        size = TransformerSize(
                            heads=h, layers=depth, head_width=d, token_width=tokens
                        )
                        yield LemmaCase(size=size, seed=h + 10 * depth)

    return Range(
        bound=f"one random target each of H <= {heads}, L <= {layers}, d, d_in <= {width}, "
        "three tokens, causal mask",
        over=over,
    )


LEMMA_RANGES: dict[Profile, Range] = {
    "quick": _lemma_range(2, 2, 2),
    "standard": _lemma_range(3, 2, 2),
    "deep": _lemma_range(3, 3, 2),
}


# --- claim -----------------------------------------------------------------------------------


def lemma_checks(
    factors: str = FACTORS, layout: Layout = TREE, factor: Factoring = refactored
) -> tuple[Check, ...]:
    """The for-all proof, and forward passes compared layer by layer."""
    return (
        covers(
            Smt(
                goals=lambda: lemma_goals(
                    lemma_theory(factors, lambda: lemma_worlds(layout, factor))
                ),
                instances="all H, L, d, d_in, m, n, normalisers, masks and factors of the logits",
                leans_on=(INDUCTION, MATRIX_LAWS),
            )
        ),
        supports(
            Exhaustive(
                holds=agreement_fails(layout, factor),
                ranges=LEMMA_RANGES,
                rechecked_as="simulation",
                exhibit=simulation_exhibit(layout),
            )
        ),
    )


@claim(
    id="universal.probes.layer",
    source=Source(PAPER, "Appendix A and Lemma E.1"),
    latex=r"E P_0 = C_0 \;\Longrightarrow\; \tilde X^l P_l = X^l C_l,\quad "
    r"\tilde A^{l,h} = A^{l,h},\quad \tilde X^L U = T(X)",
    scope="all H, L, d, d_in, m, n, every normaliser and mask, every factorisation of the logits",
    uses=("universal.sums.laws",),
    expected=Status.PROVED,
)
def probe_equations_make_the_models_agree() -> tuple[Check, ...]:
    """If the probe equations hold for some factorisation of the logits, every attention matrix
    agrees and the output is T(X), for every normaliser and mask, by induction over the layers.
    """
    return lemma_checks()
