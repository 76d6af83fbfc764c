"""Gated, residual, folded and drawn models: sizes, maps, probes and forward passes."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.universal import folded, routed
from constructions.universal.block_widths import gated_closed_form, residual_closed_form
from constructions.universal.common_width import at_width
from constructions.universal.comparisons import refactored
from constructions.universal.definitions import (
    Target,
    TransformerSize,
    run_target,
    run_universal,
)
from constructions.universal.drawn import DrawnModel, random_model
from constructions.universal.draws import Block, Draw
from constructions.universal.instances import as_dense, random_matrix, random_target, seeded
from constructions.universal.layouts import folded_width
from constructions.universal.nonlinearities import (
    ACTIVATIONS,
    causal_mask,
    full_mask,
    scrambled_attention,
    softsign,
    square_attention,
)
from constructions.universal.probes import coefficients, inverted, local_blocks, probe
from constructions.universal.ranks import SMALL_PRIME, TABLE_5, drawn, rank_of
from constructions.universal.solving import exact_embedding, independent_rows, solve_probes
from verify.errors import ShapeError, SizeError
from verify.modular import Residues
from verify.rational import Matrix


def block_size(
    heads: int = 2,
    layers: int = 2,
    width: int = 2,
    tokens: int = 2,
    neurons: int = 2,
    *,
    residual: bool = True,
) -> TransformerSize:
    return TransformerSize(
        heads=heads,
        layers=layers,
        head_width=width,
        token_width=tokens,
        neurons=neurons,
        residual=residual,
    )


SIZES = st.builds(
    TransformerSize,
    heads=st.integers(1, 2),
    layers=st.integers(1, 2),
    head_width=st.integers(1, 2),
    token_width=st.integers(1, 2),
    neurons=st.integers(0, 2),
    residual=st.booleans(),
)


# --- sizes -----------------------------------------------------------------------------------


def test_the_papers_table_5_size_needs_1024_coordinates_or_164_folded() -> None:
    assert TABLE_5.probe_width == 1024
    assert folded_width(TABLE_5) == 164


@given(SIZES)
def test_the_closed_forms_are_the_recursion(size: TransformerSize) -> None:
    if size.residual:
        assert residual_closed_form(size) == size.probe_width
    elif size.gated:
        assert gated_closed_form(size) == size.probe_width


@pytest.mark.parametrize(
    ("kind", "widths"),
    [
        ((0, False), (2 * 2 * 2 * 3 + 4 * 2, 2 * 2 * 2 + 2 * 2, 2)),
        ((0, True), (8 + 3 * 14, 8 + 3 * 2, 2)),
        ((2, False), (8 + 4 * 48, 8 + 4 * 4, 2)),
        ((2, True), (8 + 3 * 38 * 5, 8 + 3 * 2 * 5, 2)),
    ],
)
def test_widths_by_hand(kind: tuple[int, bool], widths: tuple[int, ...]) -> None:
    assert block_size(neurons=kind[0], residual=kind[1]).probe_widths == widths


def test_fewer_than_no_neurons_are_refused() -> None:
    with pytest.raises(SizeError, match="TransformerSize.neurons must be at least 0, got -1"):
        block_size(neurons=-1)


def test_a_gated_target_needs_its_three_matrices() -> None:
    target = random_target(block_size(), 1)
    with pytest.raises(ShapeError, match=r"Target.gates must hold 2 matrices, got 0"):
        replace(target, gates=())
    with pytest.raises(ShapeError, match=r"Target.downs must hold matrices of shape \(2, 2\)"):
        replace(target, downs=(Matrix.zero(3, 2), Matrix.zero(2, 2)))
    with pytest.raises(ShapeError, match=r"Target.ups must hold 0 matrices, got 2"):
        replace(target, size=block_size(neurons=0), gates=(), downs=())


# --- forward passes against a plain oracle -----------------------------------------------------


def plain(matrix: Matrix) -> list[list[Fraction]]:
    return [list(row) for row in matrix.rows()]


def times(a: list[list[Fraction]], b: list[list[Fraction]]) -> list[list[Fraction]]:
    columns = list(zip(*b, strict=True))
    return [
        [sum((x * y for x, y in zip(r, c, strict=True)), Fraction(0)) for c in columns] for r in a
    ]


def oracle(target: Target, inputs: Matrix) -> list[list[Fraction]]:
    """Square attention over earlier tokens and softsign gates, entry by entry."""
    x = plain(inputs)
    for layer in range(target.size.layers):
        total = [list(row) if target.size.residual else [Fraction(0)] * len(row) for row in x]
        for head in range(target.size.heads):
            q = times(x, plain(target.queries[layer][head]))
            k = times(x, plain(target.keys[layer][head]))
            v = times(
                times(x, plain(target.values[layer][head])), plain(target.outputs[layer][head])
            )
            for i in range(len(x)):
                logits = [sum(a * b for a, b in zip(q[i], k[j], strict=True)) for j in range(i + 1)]
                weights = [1 + z * z for z in logits]
                for j, weight in enumerate(weights):
                    for c in range(len(total[i])):
                        total[i][c] += weight / sum(weights) * v[j][c]
        if target.size.gated:
            gate = times(total, plain(target.gates[layer]))
            up = times(total, plain(target.ups[layer]))
            hidden = [
                [g / (1 + abs(g)) * u for g, u in zip(gs, us, strict=True)]
                for gs, us in zip(gate, up, strict=True)
            ]
            made = times(hidden, plain(target.downs[layer]))
            x = (
                [
                    [a + b for a, b in zip(r, s, strict=True)]
                    for r, s in zip(made, total, strict=True)
                ]
                if target.size.residual
                else made
            )
        else:
            x = total
    return x


@settings(max_examples=25)
@given(SIZES, st.integers(0, 50))
def test_the_target_runs_as_the_paper_defines_it(size: TransformerSize, seed: int) -> None:
    target, inputs = random_target(size, seed), random_matrix(seeded(seed), 2, size.token_width)
    ours = run_target(target, inputs, square_attention(causal_mask(2)), softsign)
    assert plain(ours.output) == oracle(target, inputs)


@pytest.mark.parametrize("activation", sorted(ACTIVATIONS))
@pytest.mark.parametrize("kind", [(0, False), (0, True), (2, False), (2, True)])
def test_sparse_models_compute_the_target_exactly_with_every_size_two(
    kind: tuple[int, bool], activation: str
) -> None:
    size = block_size(neurons=kind[0], residual=kind[1])
    target, inputs = random_target(size, 5), random_matrix(seeded(7), 3, 2)
    model = routed.routed(size, size.probe_width + 1)
    embedding = routed.embedding(target, model.width).transposed
    normalise, activate = scrambled_attention(causal_mask(3)), ACTIVATIONS[activation]
    theirs = run_target(target, inputs, normalise, activate)
    ours = run_universal(model, embedding, inputs, normalise, activate)
    assert ours.output == theirs.output
    assert ours.attention == theirs.attention
    assert theirs.output != inputs


@settings(max_examples=10)
@given(SIZES.filter(lambda size: size.probe_width < 60), st.integers(0, 20))
def test_random_models_compute_the_target_exactly(size: TransformerSize, seed: int) -> None:
    model, target = random_model(size, seed), random_target(size, seed)
    embedding = exact_embedding(model, target)
    assert embedding is not None
    inputs, normalise = (
        random_matrix(seeded(seed), 2, size.token_width),
        scrambled_attention(full_mask(2)),
    )
    theirs = run_target(target, inputs, normalise, softsign)
    assert (
        run_universal(model, embedding.transposed, inputs, normalise, softsign).output
        == theirs.output
    )


# --- probes ----------------------------------------------------------------------------------


@given(SIZES, st.integers(0, 2))
def test_the_sparse_probe_is_the_identity_over_zeros(size: TransformerSize, spare: int) -> None:
    model = routed.routed(size, size.probe_width + spare)
    selection = probe(model, 0).selection()
    assert selection is not None
    assert selection.tolist() == list(range(size.probe_width))
    for layer in local_blocks(model):
        assert all(block == Matrix.identity(block.height) for block in layer)


@given(SIZES.filter(lambda size: size.probe_width < 120))
def test_one_recursion_serves_index_maps_rationals_and_residues(size: TransformerSize) -> None:
    model = routed.routed(size)
    exact = probe(as_dense(model), 0).dense()
    assert exact == probe(model, 0).dense()
    drawn_model = random_model(size, 3)
    entries, denominator = probe(drawn_model, 0).dense().integers()
    assert denominator == 1
    source = seeded(3)

    def take(height: int, width: int) -> Residues:
        rows = [[source.randint(-9, 9) for _ in range(width)] for _ in range(height)]
        return Residues.of(rows, SMALL_PRIME)

    from constructions.universal.drawn import assembled

    modular = probe(assembled(size, size.probe_width, take, tied=False), 0).dense()
    assert modular == Residues.of(entries, SMALL_PRIME)


def test_coefficients_scale_the_linear_branch_by_alpha() -> None:
    size = block_size(heads=1, layers=1, width=1, tokens=2, neurons=1, residual=False)
    target = random_target(size, 4)
    columns = coefficients(target, 0).rows()
    alpha = target.downs[0].rows()[0]
    mixed = target.mix(0, 0)
    gate, up = mixed @ target.gates[0], mixed @ target.ups[0]
    assert columns[2:4] == (gate.transposed.rows()[0],) * 2
    assert columns[4:6] == tuple(tuple(a * x for x in up.transposed.rows()[0]) for a in alpha)


def test_a_wider_model_is_solved_on_independent_rows() -> None:
    probes = Matrix.from_rows([[0, 0], [1, 2], [2, 4], [0, 1]])
    assert independent_rows(probes) == (1, 3)
    content = Matrix.from_rows([[3, 1], [5, 2]])
    solved = solve_probes(probes, content)
    assert solved is not None
    assert probes.transposed @ solved == content
    assert solved.rows()[0] == solved.rows()[2] == (0, 0)
    assert solve_probes(Matrix.from_rows([[1, 2], [2, 4]]), content) is None


def test_singular_local_blocks_leave_no_embedding() -> None:
    size = block_size(layers=1)
    model = random_model(size, 1)
    dead = replace(model, downs=(replace(model.downs[0], matrix=model.downs[0].matrix.scaled(0)),))
    assert exact_embedding(dead, random_target(size, 1)) is None
    assert inverted(local_blocks(model))


# --- padding, folding, draws -------------------------------------------------------------------


def test_padding_gives_every_layer_one_hidden_width() -> None:
    size = block_size(neurons=1, residual=False)
    model = at_width(routed.routed(size), 99)
    assert {gate.width for gate in (*model.gates, *model.ups)} == {99}
    assert {down.height for down in model.downs} == {99}
    assert sum(part.ones for part in model.gates) == sum(
        routed.routed(size).gates[t].ones for t in (0, 1)
    )


def test_refolding_keeps_the_logits() -> None:
    size = TransformerSize(heads=2, layers=2, head_width=3, token_width=2)
    target = random_target(size, 2)
    for again in (folded.refold(target), folded.refold(refactored(target, 1))):
        for layer in range(2):
            for head in range(2):
                ours = again.queries[layer][head] @ again.keys[layer][head].transposed
                assert ours == target.queries[layer][head] @ target.keys[layer][head].transposed


@pytest.mark.parametrize("layout", [folded.LAYOUT, folded.TIED_LAYOUT], ids=["plain", "tied"])
def test_folding_needs_heads_as_wide_as_tokens(layout) -> None:
    size = TransformerSize(heads=2, layers=1, head_width=1, token_width=2)
    with pytest.raises(SizeError, match=r"d >= d_in = 2, got d = 1; use tree or looped"):
        layout.build(size, 100)
    with pytest.raises(SizeError, match="d >= d_in = 2, got d = 1"):
        layout.write(random_target(size, 1), 100)


def test_a_drawn_model_needs_room_and_untied_gates() -> None:
    size = block_size(neurons=1, residual=False)
    draw = Draw(distribution="uniform32", seed=1, width=size.probe_width - 1)
    with pytest.raises(SizeError, match=f"must be at least {size.probe_width}, got"):
        DrawnModel(size=size, draw=draw)
    wide = replace(draw, width=size.probe_width)
    with pytest.raises(SizeError, match="a weight-tied drawn model must be attention only"):
        DrawnModel(size=size, draw=wide, tied=True).model(Block.matrix)


@pytest.mark.parametrize("tied", [False, True])
def test_a_streamed_probe_is_the_whole_models(tied: bool) -> None:
    size = TransformerSize(heads=2, layers=2, head_width=1, token_width=2)
    model = drawn(size, "uniform64", 3, tied)
    whole = model.model(Block.matrix)
    assert whole.tied is tied
    assert model.probe(Block.matrix) == probe(whole, 0).dense()


def test_a_certificate_is_a_left_inverse_of_the_very_draw() -> None:
    model = drawn(
        TransformerSize(heads=2, layers=1, head_width=2, token_width=3), "uniform32", 7, False
    )
    found = rank_of(model)
    assert found.inverse is not None
    probes = model.probe(lambda block: Residues.of(block.integers, found.prime))
    assert found.inverse.scattered() @ probes == Residues.identity(found.rank, found.prime)
    assert model.probe(Block.matrix).rank() == found.rank == model.size.probe_width


def test_a_deficit_modulo_a_prime_is_decided_exactly() -> None:
    size = TransformerSize(heads=1, layers=1, head_width=1, token_width=1)

    def times_the_prime(block: Block) -> Block:
        return replace(block, wholes=np.mod(np.abs(block.wholes), 97) * SMALL_PRIME)

    found = rank_of(drawn(size, "uniform32", 0, False), times_the_prime)
    assert (found.rank, found.prime > SMALL_PRIME) == (3, True)
