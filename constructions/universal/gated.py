"""Gated (GLU) blocks: the lemma, the sparse parameters, their widths and their padding.

Source: Fixed Universal Transformers, Section 3.3 and Appendix E.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from constructions.universal.comparisons import Simulation, comparison_check, simulation
from constructions.universal.definitions import TransformerSize
from constructions.universal.gated_theory import (
    SCALE,
    branches_theory,
    gated_goals,
    gated_theory,
    solving_goals,
    solving_theory,
)
from constructions.universal.instances import Kind, block_ranges, fixed_exhibit, selection_fails
from constructions.universal.layouts import Layout
from constructions.universal.lemma import agreement_fails, attention_symbols, lemma_world, padded
from constructions.universal.lemma_theory import FACTORS, lemma_goals, lemma_theory
from constructions.universal.probes import coefficients, inverted, local_blocks
from constructions.universal.routed import LAYOUT as ROUTED
from constructions.universal.routed_theory import BRANCH, routed_goals, routed_theory
from constructions.universal.routed_worlds import routed_worlds
from constructions.universal.sums import PAPER, member, summed
from verify.claims import Check, Source, claim, covers, supports
from verify.facts import COUNTING, INDUCTION, LEFT_INVERSE, MATRIX_LAWS, SELECTION_PRODUCT
from verify.methods.exhaustive import Exhaustive
from verify.methods.smt import Smt
from verify.rational import Matrix
from verify.smtlib import World
from verify.verdicts import Status

GATED: tuple[Kind, ...] = ((1, False), (2, False), (2, True))
"""Gated blocks, without and with a carried stream."""

# --- the theories' meaning in the code -------------------------------------------------------


def _cases(layout: Layout) -> Iterator[Simulation]:
    """Small gated models; two neurons each, two heads or two layers."""
    for heads, layers, width, residual in ((2, 1, 2, True), (2, 1, 2, False), (1, 2, 1, False)):
        size = TransformerSize(
            heads=heads,
            layers=layers,
            head_width=width,
            token_width=width,
            neurons=2,
            residual=residual,
        )
        yield simulation(layout, size, seed=heads)


def gated_lemma_worlds(layout: Layout = ROUTED) -> Iterator[World]:
    """The attention half on models whose blocks are gated."""
    yield from map(lemma_world, _cases(layout))


def gated_worlds(layout: Layout = ROUTED) -> Iterator[World]:
    """The gated half on each layer of actual forward passes."""
    for case in _cases(layout):
        symbols, _ = attention_symbols(case)
        for layer in range(case.universal.size.layers):
            yield _block_world(case, symbols, layer)


def _block_world(case: Simulation, symbols: dict[str, Any], layer: int) -> World:
    model, target, size = case.universal, case.target, case.universal.size
    full, tokens = model.width, case.inputs.height
    width, neurons = size.probe_widths[layer + 1], size.neurons
    hidden, offset = neurons * width, width if size.residual else 0
    inverses = inverted(local_blocks(model))[layer]
    above = coefficients(case.factored, layer + 1, inverted(local_blocks(model))).transposed

    def pad(matrix: Matrix) -> Matrix:
        return padded(matrix, full)

    def columns(matrix: Matrix) -> dict[int, Matrix]:
        return {c + 1: pad(matrix.select_columns([c])) for c in range(matrix.width)}

    def rows(matrix: Matrix) -> dict[int, Matrix]:
        return {c + 1: pad(matrix.select_rows([c])) for c in range(matrix.height)}

    def of_units(known: dict[int, Matrix]) -> Callable[[int, int], Matrix]:
        def unit(j: int, i: int) -> Matrix:
            return known[(j - 1) * width + i]

        return unit

    gate, up = columns(target.gates[layer]), columns(target.ups[layer])
    down, down_y = rows(target.downs[layer]), rows(model.downs[layer].dense())
    gate_y, up_y = columns(model.gates[layer].dense()), columns(model.ups[layer].dense())
    alphas = [target.downs[layer].select_rows([j]) @ above @ inverses[j] for j in range(neurons)]

    def act(column: Matrix) -> Matrix:
        corner = column.select_rows(range(tokens)).select_columns([0])
        return pad(case.activate(corner))

    def alpha(j: int, i: int) -> Matrix:
        return pad(Matrix.from_rows([[alphas[j - 1][0, i - 1]]]))

    sx, sy = symbols["SX"](layer), symbols["SY"](layer)
    p, c = symbols["P"](layer + 1), symbols["C"](layer + 1)
    rd, j_range, i_range = of_units(down_y), range(1, neurons + 1), range(1, width + 1)

    def hidden_x(j: int) -> Matrix:
        return act(sx @ gate[j]).hadamard(sx @ up[j])

    def unit_y(j: int, i: int) -> Matrix:
        g, u = sy @ of_units(gate_y)(j, i), sy @ of_units(up_y)(j, i)
        return act(g).hadamard(u) @ rd(j, i)

    local = {j: tuple(alpha(j, i) @ (rd(j, i) @ p) for i in i_range) for j in j_range}
    units = {j: tuple(unit_y(j, i) for i in i_range) for j in j_range}
    units_p = {j: tuple(part @ p for part in units[j]) for j in j_range}
    neurons_x = tuple(hidden_x(j) @ down[j] for j in j_range)
    neurons_y = tuple(summed(units[j]) for j in j_range)
    families = (
        neurons_x,
        tuple(part @ c for part in neurons_x),
        neurons_y,
        tuple(part @ p for part in neurons_y),
    )

    def piece(matrix: Matrix, which: tuple[str, int]) -> Matrix:
        kind, number = which
        if kind == "carried":
            return pad(matrix.select_columns(range(width)))
        return pad(matrix.select_columns([offset + number + (hidden if kind == "up" else 0)]))

    return World(
        sorts={
            "Mat": [sx, sy, symbols["Q"](layer)],
            "Neurons": families,
            "Units": [*local.values(), *units.values(), *units_p.values()],
            "Piece": [("gate", 0), ("up", hidden - 1), ("carried", 0)],
        },
        integers=range(max(neurons, width, layer + 1) + 1),
        symbols={
            **{
                name: symbols[name]
                for name in ("L", "residual", "P", "C", "Q", "D", "X", "Y", "SX", "SY", "mul")
            },
            "k": layer,
            "r": neurons,
            "s": width,
            "neuron": member,
            "unit": member,
            "overNeurons": summed,
            "overUnits": summed,
            "act": act,
            "had": lambda a, b: a.hadamard(b),
            "add": lambda a, b: a + b,
            "piece": piece,
            "carried": ("carried", 0),
            "gate": lambda j, i: ("gate", (j - 1) * width + i - 1),
            "up": lambda j, i: ("up", (j - 1) * width + i - 1),
            "WG": gate.__getitem__,
            "WU": up.__getitem__,
            "WD": down.__getitem__,
            "RG": of_units(gate_y),
            "RU": of_units(up_y),
            "RD": rd,
            "alpha": alpha,
            "local": local.__getitem__,
            "unitsY": units.__getitem__,
            "unitsYP": units_p.__getitem__,
            "neuronsX": families[0],
            "neuronsXC": families[1],
            "neuronsY": families[2],
            "neuronsYP": families[3],
        },
    )


# --- claims ----------------------------------------------------------------------------------


def probe_checks(scale: str = SCALE, layout: Layout = ROUTED) -> tuple[Check, ...]:
    """Both halves of the lemma for every size, and forward passes compared layer by layer."""
    return (
        covers(
            Smt(
                goals=lambda: (
                    *lemma_goals(
                        lemma_theory(FACTORS, lambda: gated_lemma_worlds(layout), closing=()),
                        gated_goals(
                            branches_theory(scale, lambda: gated_worlds(layout)),
                            gated_theory(lambda: gated_worlds(layout)),
                        ),
                    ),
                    *solving_goals(solving_theory()),
                ),
                instances="all H, L, d, d_in, m, n, r, normalisers, masks, activations and factors "
                "of the logits, streams carried on or not",
                leans_on=(INDUCTION, MATRIX_LAWS, LEFT_INVERSE),
            )
        ),
        comparison_check(agreement_fails(layout), layout, GATED),
    )


@claim(
    id="universal.gated.probe",
    source=Source(PAPER, "Lemma E.1"),
    latex=r"\mathrm{rank}\, P_0 = s_0,\ \det B_{l,j} \ne 0 \;\Longrightarrow\; "
    r"\tilde X^l P_l = X^l C_l,\quad \tilde X^L U = T(X)",
    scope="all H, L, d, d_in, m, n, r, every normaliser, mask and activation, "
    "streams carried on or not",
    uses=("universal.probes.layer", "universal.sums.laws"),
    expected=Status.PROVED,
)
def gated_blocks_are_simulated_exactly() -> tuple[Check, ...]:
    """With P_0 of full column rank and all B invertible, GLU blocks are simulated exactly, for
    every activation.
    """  # noqa: D205 - one statement, in one sentence
    return probe_checks()


SPARSE_KIND = "(and (>= r 1) (not residual))"


def sparse_sizes(kinds: Sequence[Kind]) -> list[TransformerSize]:
    """Sizes at which the theory of the sparse parameters is evaluated, one or two of each kind."""
    return [
        TransformerSize(
            heads=heads,
            layers=layers,
            head_width=width,
            token_width=width,
            neurons=neurons,
            residual=residual,
        )
        for neurons, residual in kinds
        for heads, layers, width in ((2, 1, 2), (1, 2, 1))
    ]


def sparse_checks(
    kind: str, kinds: Sequence[Kind], branch: str = BRANCH, layout: Layout = ROUTED
) -> tuple[Check, ...]:
    """The parameters of a kind of block for every size, and themselves at small ones."""
    return (
        covers(
            Smt(
                goals=lambda: routed_goals(
                    routed_theory(kind, branch, lambda: routed_worlds(layout, sparse_sizes(kinds)))
                ),
                instances="all H, L, d, d_in, r and every m >= s_0",
                leans_on=(INDUCTION, COUNTING, MATRIX_LAWS, SELECTION_PRODUCT),
            )
        ),
        supports(
            Exhaustive(
                holds=selection_fails(layout),
                ranges=block_ranges(layout, kinds),
                rechecked_as="block-parameters",
                exhibit=fixed_exhibit(layout),
            )
        ),
    )


@claim(
    id="universal.gated.sparse",
    source=Source(PAPER, "Appendix E"),
    latex=r"P_{l-1} = \begin{bmatrix} I \\ 0 \end{bmatrix},\quad B_{l,j} = I;\quad "
    r"d,\ q_l,\ 2q_l \text{ and } d_{in} \text{ ones}",
    scope="all H, L, d, d_in, r and every m >= s_0",
    uses=("universal.gated.probe",),
    expected=Status.PROVED,
)
def the_sparse_gated_parameters_meet_the_lemma() -> tuple[Check, ...]:
    """The sparse GLU construction meets the probe conditions with the stated counts of ones: d in
    a query or key map, q_l in a gate, up or down map, 2 q_l in a value map, d_in in the readout.
    """  # noqa: D205 - one statement, in one sentence
    return sparse_checks(SPARSE_KIND, ((1, False), (2, False)))
