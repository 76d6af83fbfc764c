"""The probe lemma as a claim: for every number of heads, layers and tokens, every normaliser.

The theory speaks of streams X(l), Y(l), of probes P(l) and coefficients C(l) by their blocks of
columns, and of the attention normaliser as of any function. It holds for any factors F_Q, F_K of
the target's logits, F_Q F_K^T = W_Q W_K^T.

Source: Fixed Universal Transformers, Appendix A and Lemma E.1; the induction is spelled out here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import cast

from constructions.universal.comparisons import (
    Factoring,
    LemmaCase,
    Simulation,
    comparison_check,
    refactored,
    simulation,
)
from constructions.universal.definitions import TransformerSize, run_target, run_universal
from constructions.universal.instances import Kind
from constructions.universal.layouts import Layout
from constructions.universal.lemma_theory import FACTORS, lemma_goals, lemma_theory
from constructions.universal.probes import (
    coefficients,
    inner_coefficients,
    inner_probe,
    invariant_holds,
    inverted,
    local_blocks,
    probe,
)
from constructions.universal.routed import LAYOUT as ROUTED
from constructions.universal.sums import PAPER, member, summed
from constructions.universal.tree import LAYOUT as TREE
from verify.claims import Check, Source, claim, covers
from verify.counterexamples import Counterexample
from verify.facts import INDUCTION, MATRIX_LAWS
from verify.methods.smt import Smt
from verify.rational import Matrix
from verify.smtlib import Symbol, World
from verify.verdicts import Status

# --- the theory's meaning in the code --------------------------------------------------------


def padded(matrix: Matrix, size: int) -> Matrix:
    """The matrix in the upper left corner of a square of zeros: matrices of all shapes at once."""
    wide = Matrix.beside([matrix, Matrix.zero(matrix.height, size - matrix.width)])
    return Matrix.stack([wide, Matrix.zero(size - matrix.height, size)])


def lemma_worlds(
    layout: Layout = TREE, factor: Factoring = refactored, carried: Layout = ROUTED
) -> Iterator[World]:
    """The theory on actual forward passes with rational attention, without and with residual."""
    for heads, layers, residual in ((2, 2, False), (2, 1, True), (3, 1, False)):
        size = TransformerSize(
            heads=heads, layers=layers, head_width=2, token_width=2, residual=residual
        )
        chosen = carried if residual else layout
        yield lemma_world(simulation(chosen, size, seed=heads, factor=factor))


def lemma_world(case: Simulation) -> World:
    """The attention half on one pair of forward passes."""
    size, full = case.universal.size, case.universal.width
    symbols, families = attention_symbols(case)
    return World(
        sorts={
            "Mat": [
                padded(case.inputs, full),
                cast("Matrix", symbols["E"]),
                cast("Callable[[int], Matrix]", symbols["P"])(0),
                cast("Callable[[int], Matrix]", symbols["C"])(0),
            ],
            "Family": families,
            "Block": [("q", 1), ("k", size.heads), ("v", size.heads + size.residual)],
        },
        integers=range(-1, max(size.layers, size.heads + size.residual) + 2),
        symbols=symbols,
        free={"k": range(size.layers)},
    )


def attention_symbols(case: Simulation) -> tuple[dict[str, Symbol], list[tuple[Matrix, ...]]]:
    """The meaning of the lemma's symbols on two actual forward passes, and all families of sums."""
    size, model, target = case.universal.size, case.universal, case.target
    full, tokens = model.width, case.inputs.height
    branches = size.heads + size.residual
    theirs = run_target(target, case.inputs, case.normalise, case.activate)
    ours = run_universal(model, case.embedding, case.inputs, case.normalise, case.activate)
    unit = Matrix.identity(full)

    def pad(matrix: Matrix) -> Matrix:
        return padded(matrix, full)

    def table(
        values: Callable[[int, int], Matrix], last: Matrix = unit
    ) -> Callable[[int, int], Matrix]:
        known = {
            (layer, head + 1): pad(values(layer, head))
            for layer in range(size.layers)
            for head in range(size.heads)
        }
        known |= {(layer, size.heads + 1): last for layer in range(size.layers)}
        return lambda layer, head: known[layer, head]

    inverses = inverted(local_blocks(model))
    probes = [probe(model, layer) for layer in range(size.layers + 1)]
    taught = [coefficients(case.factored, layer, inverses) for layer in range(size.layers + 1)]
    inner = [pad(inner_probe(model.layer(t), probes[t + 1]).dense()) for t in range(size.layers)]
    inner_taught = [
        pad(inner_coefficients(case.factored, t, taught[t + 1], inverses[t]).transposed)
        for t in range(size.layers)
    ]

    def members(
        streams: Sequence[Matrix],
        attention: Sequence[Sequence[Matrix]],
        moved: Callable[[int, int], Matrix],
        last: Callable[[int], Matrix],
    ) -> Callable[[int], tuple[Matrix, ...]]:
        weights = [[*map(pad, heads), unit][:branches] for heads in attention]
        known = {
            layer: tuple(
                weights[layer][h] @ (pad(streams[layer]) @ moved(layer, h + 1)) @ last(layer)
                for h in range(branches)
            )
            for layer in range(size.layers)
        }
        return known.__getitem__

    def normalise(logits: Matrix) -> Matrix:
        corner = Matrix.from_rows([row[:tokens] for row in logits.rows()[:tokens]])
        return pad(case.normalise(corner))

    value = table(lambda layer, head: model.values[layer][head].dense())
    mix = table(target.mix)
    members_x = members(theirs.streams, theirs.attention, mix, lambda _: unit)
    members_y = members(ours.streams, ours.attention, value, lambda _: unit)
    times_d = members(theirs.streams, theirs.attention, mix, inner_taught.__getitem__)
    times_q = members(ours.streams, ours.attention, value, inner.__getitem__)
    layers = range(size.layers)
    families = [f(layer) for f in (members_x, members_y, times_d, times_q) for layer in layers]
    symbols: dict[str, Symbol] = {
        "H": size.heads,
        "N": branches,
        "L": size.layers,
        "residual": size.residual,
        "identity": pad(Matrix.identity(size.token_width)),
        "carry": unit,
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
        "E": pad(case.embedding),
        "U": pad(model.readout.dense()),
        "P": [pad(part.dense()) for part in probes].__getitem__,
        "C": [pad(part.transposed) for part in taught].__getitem__,
        "Q": inner.__getitem__,
        "D": inner_taught.__getitem__,
        "X": [pad(stream) for stream in theirs.streams].__getitem__,
        "Y": [pad(stream) for stream in ours.streams].__getitem__,
        "SX": [pad(total) for total in theirs.sums].__getitem__,
        "SY": [pad(total) for total in ours.sums].__getitem__,
        "fX": members_x,
        "fY": members_y,
        "gX": times_d,
        "gY": times_q,
        "at": member,
        "total": summed,
    }
    return symbols, families


def _columns(size: TransformerSize, level: int, matrix: Matrix, block: tuple[str, int]) -> Matrix:
    """One block of the columns of a matrix as wide as P_level; the carried branch comes first."""
    kind, head = block
    width = size.inner_width(size.probe_widths[level + 1])
    carried = width if size.residual else 0
    if kind == "v":
        count = width
        start = 0 if head > size.heads else carried + size.reads + (head - 1) * width
    else:
        count = size.head_width
        start = carried + (2 * (head - 1) + (kind == "k")) * count
    return matrix.select_columns(range(start, start + count))


# --- instances -------------------------------------------------------------------------------


def agreement_fails(
    layout: Layout, factor: Factoring = refactored
) -> Callable[[LemmaCase], Counterexample | None]:
    """The obligation X~^l P_l = X^l C_l in every layer, equal attention and equal output."""

    def holds(case: LemmaCase) -> Counterexample | None:
        chosen = simulation(layout, case.size, case.seed, factor)
        theirs = run_target(chosen.target, chosen.inputs, chosen.normalise, chosen.activate)
        ours = run_universal(
            chosen.universal, chosen.embedding, chosen.inputs, chosen.normalise, chosen.activate
        )
        inverses = inverted(local_blocks(chosen.universal))
        layer = invariant_holds(chosen.universal, chosen.factored, ours, theirs, inverses)
        if layer is not None:
            text = f"X~^{layer} P_{layer} must equal X^{layer} C_{layer}; it does not"
        elif ours.attention != theirs.attention or ours.output != theirs.output:
            text = "attention matrices and outputs must agree; they do not"
        else:
            return None
        return Counterexample(text=f"{text} ({case.as_json()})", instance=case.as_json())

    return holds


CARRIED: tuple[Kind, ...] = ((0, True),)
"""Attention only, with streams carried on."""


# --- claim -----------------------------------------------------------------------------------


def lemma_checks(
    factors: str = FACTORS,
    layout: Layout = TREE,
    factor: Factoring = refactored,
    *,
    carried: Layout = ROUTED,
) -> tuple[Check, ...]:
    """The for-all proof, and forward passes compared layer by layer.

    `carried` is the layout where streams are carried on, `layout` where they are not.
    """
    return (
        covers(
            Smt(
                goals=lambda: lemma_goals(
                    lemma_theory(factors, lambda: lemma_worlds(layout, factor, carried))
                ),
                instances="all H, L, d, d_in, m, n, normalisers, masks and factors of the logits",
                leans_on=(INDUCTION, MATRIX_LAWS),
            )
        ),
        comparison_check(agreement_fails(layout, factor), layout),
        comparison_check(agreement_fails(carried, factor), carried, CARRIED),
    )


@claim(
    id="universal.probes.layer",
    source=Source(PAPER, "Appendix A and Lemma E.1"),
    latex=r"E P_0 = C_0 \;\Longrightarrow\; \tilde X^l P_l = X^l C_l,\quad "
    r"\tilde A^{l,h} = A^{l,h},\quad \tilde X^L U = T(X)",
    scope="all H, L, d, d_in, m, n, every normaliser and mask, every factorisation of the logits, "
    "streams carried on or not",
    uses=("universal.sums.laws",),
    expected=Status.PROVED,
)
def probe_equations_make_the_models_agree() -> tuple[Check, ...]:
    """If the probe equations hold for some factorisation of the logits, every attention matrix
    agrees and the output is T(X), for every normaliser and mask, by induction over the layers.
    """  # noqa: D205 - one statement, in one sentence
    return lemma_checks()
