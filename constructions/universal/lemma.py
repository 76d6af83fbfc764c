"""The probe lemma as a claim: for every number of heads, layers and tokens, every normaliser.

The theory speaks of streams X(l), Y(l), of probes P(l) and coefficients C(l) by their blocks of
columns, and of the attention normaliser as of any function. It holds for any factors F_Q, F_K of
the target's logits, F_Q F_K^T = W_Q W_K^T.

Source: Fixed Universal Transformers, Appendix A and Lemma E.1; the induction is spelled out here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from constructions.universal.comparisons import (
    Factoring,
    LemmaCase,
    Simulation,
    comparison_check,
    refactored,
    simulation,
)
from constructions.universal.definitions import TransformerSize, run_target, run_universal
from constructions.universal.layouts import Layout
from constructions.universal.lemma_theory import FACTORS, lemma_goals, lemma_theory
from constructions.universal.probes import coefficients, invariant_holds, probe
from constructions.universal.sums import (
    PAPER,
)
from constructions.universal.tree import LAYOUT as TREE
from verify.claims import Check, Source, claim, covers
from verify.counterexamples import Counterexample
from verify.facts import INDUCTION, MATRIX_LAWS
from verify.methods.smt import Smt
from verify.rational import Matrix
from verify.smtlib import World
from verify.verdicts import Status

# --- the theory's meaning in the code --------------------------------------------------------


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
            "Mat": [streams_x[0], embedding, probes[0], coefficient[0]],
            "Family": families,
            "Block": [("q", 1), ("k", size.heads), ("v", size.heads)],
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


# --- instances -------------------------------------------------------------------------------


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
        comparison_check(agreement_fails(layout, factor), layout),
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
    """  # noqa: D205 - one statement, in one sentence
    return lemma_checks()
