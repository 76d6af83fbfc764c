"""The claims on universal transformers reach what is expected, and their definitions are right."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import constructions.universal
import lowerbounds
from constructions.universal.comparisons import refactored
from constructions.universal.definitions import (
    Target,
    TransformerSize,
    most_ones,
    require_width,
    run_target,
    run_universal,
)
from constructions.universal.instances import as_dense, random_matrix, random_target, seeded
from constructions.universal.layouts import UNUSED, Layout, coordinates, embedding, tree_order
from constructions.universal.looped import LAYOUT as LOOPED
from constructions.universal.maps import ColumnMap, Ones
from constructions.universal.nonlinearities import NORMALISERS, causal_mask, full_mask
from constructions.universal.probes import coefficients, probe
from constructions.universal.shift import LAYOUT as SHIFT
from constructions.universal.shift import shift
from constructions.universal.tree import LAYOUT as TREE
from constructions.universal.tree import tree
from verify.claims import Claim, Setting
from verify.errors import ShapeError, SizeError
from verify.loading import claims_in
from verify.rational import Matrix
from verify.verdicts import Status, Verdict, claim_status

# --- claims ----------------------------------------------------------------------------------

CLAIMS = {item.id: item for item in (*claims_in(constructions.universal), *claims_in(lowerbounds))}


@cache
def settled(item: Claim) -> tuple[tuple[bool, Verdict], ...]:
    quick = Setting(profile="quick")
    return tuple((check.covers, check.method.settle(quick)) for check in item.checks())


@pytest.mark.parametrize("name", sorted(CLAIMS))
def test_each_claim_reaches_its_expected_status(name: str) -> None:
    verdicts = settled(CLAIMS[name])
    assert [v.evidence["reason"] for _, v in verdicts if "reason" in v.evidence] == []
    status = claim_status([(covers, v.status) for covers, v in verdicts])
    assert status is CLAIMS[name].expected


@pytest.mark.parametrize("name", sorted(CLAIMS))
def test_each_verdict_says_how_many_instances_it_saw_and_what_it_trusts(name: str) -> None:
    item = CLAIMS[name]
    for check, (_, verdict) in zip(item.checks(), settled(item), strict=True):
        assert verdict.instances >= 1
        assert verdict.trusts or check.method.leans_on == ()  # Python's own numbers
        assert verdict.certificate is not None


# --- index maps ------------------------------------------------------------------------------


@st.composite
def column_maps(draw: st.DrawFn, width: int) -> ColumnMap:
    rows = draw(st.lists(st.integers(-1, width - 1), min_size=width, max_size=width))
    return ColumnMap(rows=np.array(rows, dtype=np.int64))


@st.composite
def ones(draw: st.DrawFn, height: int) -> Ones:
    width = draw(st.integers(1, 4))
    places = st.tuples(st.integers(0, height - 1), st.integers(0, width - 1))
    chosen = sorted(draw(st.sets(places, max_size=height * width)))
    return Ones.at(height, width, [row for row, _ in chosen], [column for _, column in chosen])


@st.composite
def matrices(draw: st.DrawFn, width: int) -> Matrix:
    height = draw(st.integers(1, 3))
    entry = st.fractions(-3, 3, max_denominator=4)
    return Matrix(
        height,
        width,
        draw(st.lists(entry, min_size=height * width, max_size=height * width)),
    )


WIDE = 5


@given(ones(WIDE))
def test_ones_are_the_dense_matrix_with_a_one_at_each_place(part: Ones) -> None:
    places = set(zip(part.rows.tolist(), part.columns.tolist(), strict=True))
    expected = [[int((i, j) in places) for j in range(part.width)] for i in range(part.height)]
    assert part.dense() == Matrix.from_rows(expected)
    assert part.ones == len(places)


@given(matrices(WIDE), ones(WIDE))
def test_reading_is_the_dense_product(stream: Matrix, part: Ones) -> None:
    assert part.read(stream) == stream @ part.dense()


@given(ones(WIDE), column_maps(WIDE))
def test_ones_after_a_value_map_are_the_dense_product(part: Ones, value: ColumnMap) -> None:
    moved = part.after(value)
    product = value.dense() @ part.dense()
    if all(entry in (0, 1) for row in product.rows() for entry in row):
        assert moved.dense() == product
    for column in range(part.width):
        assert sorted(moved.rows[moved.columns == column].tolist()) == sorted(
            row for row in value.rows[part.rows[part.columns == column]].tolist() if row >= 0
        )


@given(matrices(WIDE), column_maps(WIDE))
def test_selecting_columns_is_the_product_with_a_column_map(
    stream: Matrix, value: ColumnMap
) -> None:
    assert stream.select_columns(value.rows.tolist()) == stream @ value.dense()
    assert value.ones == sum(1 for row in value.dense().rows() for entry in row if entry)


@given(st.lists(ones(WIDE), min_size=1, max_size=3))
def test_beside_is_the_dense_matrices_side_by_side(blocks: list[Ones]) -> None:
    assert Ones.beside(blocks).dense() == Matrix.beside([block.dense() for block in blocks])


@given(ones(WIDE))
def test_a_selection_has_one_one_per_column_each_in_a_row_of_its_own(part: Ones) -> None:
    dense, sources = part.dense(), part.selection()
    columns = [[i for i in range(part.height) if dense[i, j]] for j in range(part.width)]
    single = all(len(rows) == 1 for rows in columns)
    if single and len({rows[0] for rows in columns}) == part.width:
        assert sources is not None
        assert sources.tolist() == [rows[0] for rows in columns]
    else:
        assert sources is None


# --- layouts ---------------------------------------------------------------------------------

SIZES = st.builds(
    TransformerSize,
    heads=st.integers(1, 3),
    layers=st.integers(1, 3),
    head_width=st.integers(1, 2),
    token_width=st.integers(1, 3),
)
SMALL = st.builds(
    TransformerSize,
    heads=st.integers(1, 2),
    layers=st.integers(1, 2),
    head_width=st.integers(1, 2),
    token_width=st.integers(1, 2),
)


@given(SIZES, st.integers(0, 3))
def test_coordinates_have_distinct_labels(size: TransformerSize, spare: int) -> None:
    places = coordinates(size, size.probe_width + spare)
    used = [i for i in range(places.width) if places.kind[i] != UNUSED]
    labels = {(places.kind[i], places.path(i), places.head[i], places.column[i]) for i in used}
    assert len(labels) == len(used) == size.probe_width
    assert places.width == size.probe_width + spare


@given(SIZES)
def test_each_digit_of_a_path_is_the_head_at_its_layer(size: TransformerSize) -> None:
    places = coordinates(size, size.probe_width)
    for i in range(places.width):
        path = places.path(i)
        assert len(path) == places.depth[i]
        assert [int(places.digit(layer)[i]) for layer in range(len(path))] == list(path)


@given(SIZES, st.integers(0, 2))
def test_the_order_of_the_probe_columns_names_each_used_coordinate_once(
    size: TransformerSize, spare: int
) -> None:
    order = tree_order(size, size.probe_width + spare)
    assert sorted(order.tolist()) == list(range(size.probe_width))


@settings(max_examples=25)
@given(SMALL, st.sampled_from([TREE, LOOPED]), st.integers(0, 2))
def test_composed_index_maps_are_the_dense_product(
    size: TransformerSize, layout: Layout, spare: int
) -> None:
    model = layout.build(size, layout.least_width(size) + spare)
    assert probe(model, 0).dense() == probe(as_dense(model), 0).dense()


@settings(max_examples=25)
@given(SMALL, st.integers(0, 2), st.integers(0, 9))
def test_the_embedding_solves_the_probe_equations(
    size: TransformerSize, spare: int, seed: int
) -> None:
    width, target = size.probe_width + spare, random_target(size, seed)
    written = embedding(target, width)
    assert written.shape == (width, size.token_width)
    sources = probe(tree(size, width), 0).selection()
    assert sources is not None
    assert written.select_rows(sources.tolist()) == coefficients(target, 0)
    unused = written.select_rows(range(size.probe_width, width))
    assert unused == Matrix.zero(spare, size.token_width)


@settings(max_examples=25)
@given(
    SMALL,
    st.sampled_from([TREE, LOOPED]),
    st.sampled_from(sorted(NORMALISERS)),
    st.sampled_from([causal_mask, full_mask]),
    st.integers(0, 9),
)
def test_a_forward_pass_of_index_maps_is_the_dense_forward_pass(
    size: TransformerSize, layout: Layout, name: str, mask: object, seed: int
) -> None:
    assert callable(mask)
    target, width = random_target(size, seed), layout.least_width(size)
    model = layout.build(size, width)
    inputs = random_matrix(seeded(seed), 3, size.token_width)
    normalise = NORMALISERS[name](mask(3))
    written = layout.write(target, width).transposed
    run = run_universal(model, written, inputs, normalise)
    stream = inputs @ written
    for layer in range(size.layers):
        total = Matrix.zero(3, width)
        for head in range(size.heads):
            query = stream @ model.queries[layer][head].dense()
            key = stream @ model.keys[layer][head].dense()
            weights = normalise(query @ key.transposed)
            total = total + weights @ stream @ model.values[layer][head].dense()
        stream = total
    assert run.streams[-1] == stream
    assert run.output == stream @ model.readout.dense()
    assert run.output == run_target(target, inputs, normalise).output


@given(SMALL, st.integers(0, 20))
def test_other_factors_have_the_same_logits(size: TransformerSize, seed: int) -> None:
    target = random_target(size, seed)
    other = refactored(target, seed)
    for layer in range(size.layers):
        for head in range(size.heads):
            ours = other.queries[layer][head] @ other.keys[layer][head].transposed
            assert ours == target.queries[layer][head] @ target.keys[layer][head].transposed


# --- errors ----------------------------------------------------------------------------------


def test_a_size_below_one_is_refused_by_name() -> None:
    with pytest.raises(SizeError) as error:
        TransformerSize(heads=0, layers=1, head_width=1, token_width=1)
    assert str(error.value) == "TransformerSize.heads must be at least 1, got 0"


def test_a_size_that_is_not_a_whole_number_is_refused() -> None:
    with pytest.raises(SizeError, match=r"TransformerSize.layers must be at least 1, got 1\.5"):
        TransformerSize(heads=1, layers=1.5, head_width=1, token_width=1)  # type: ignore[arg-type]


def test_a_width_too_small_is_refused_with_the_least_one_and_a_remedy() -> None:
    with pytest.raises(SizeError) as error:
        require_width(2, 3, "tree")
    assert str(error.value) == (
        "tree: the embedding dimension m must be at least 3, got 2; "
        "raise it or choose smaller sizes"
    )


@pytest.mark.parametrize("layout", [TREE, LOOPED, SHIFT], ids=lambda layout: layout.name)
def test_each_layout_refuses_one_coordinate_less_than_its_least_width(layout: Layout) -> None:
    size = TransformerSize(heads=1, layers=2, head_width=1, token_width=2)
    least = layout.least_width(size)
    assert layout.build(size, least).width == least
    with pytest.raises(SizeError, match=f"must be at least {least}, got {least - 1}"):
        layout.build(size, least - 1)
    with pytest.raises(SizeError, match=f"must be at least {least}, got {least - 1}"):
        layout.write(random_target(size, 1), least - 1)


def test_the_shift_refuses_two_heads() -> None:
    size = TransformerSize(heads=2, layers=1, head_width=1, token_width=1)
    with pytest.raises(SizeError) as error:
        shift(size)
    assert str(error.value) == ("the shift construction needs one head, got 2; use tree or looped")


def test_a_target_with_a_matrix_of_the_wrong_shape_is_refused() -> None:
    right = random_target(TransformerSize(heads=1, layers=1, head_width=1, token_width=2), 1)
    with pytest.raises(ShapeError) as error:
        Target(
            size=right.size,
            queries=right.outputs,
            keys=right.keys,
            values=right.values,
            outputs=right.outputs,
        )
    assert str(error.value) == "Target.queries must hold matrices of shape (2, 1), got (1, 2)"


def test_a_target_with_a_head_too_few_is_refused() -> None:
    right = random_target(TransformerSize(heads=2, layers=1, head_width=1, token_width=1), 1)
    with pytest.raises(
        ShapeError, match=r"Target.keys must hold 1 layers of 2 matrices, got \[1\]"
    ):
        Target(
            size=right.size,
            queries=right.queries,
            keys=(right.keys[0][:1],),
            values=right.values,
            outputs=right.outputs,
        )


# --- widths ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "width"),
    [((1, 1, 1, 1), 3), ((1, 3, 2, 5), 17), ((2, 2, 1, 1), 16), ((3, 2, 2, 1), 57)],
)
def test_the_probe_width_is_the_papers_sum(size: tuple[int, int, int, int], width: int) -> None:
    heads, layers, head_width, token_width = size
    chosen = TransformerSize(
        heads=heads, layers=layers, head_width=head_width, token_width=token_width
    )
    assert chosen.probe_width == width
    assert chosen.paper_width >= width


def test_no_parameter_has_more_ones_than_coordinates() -> None:
    size = TransformerSize(heads=2, layers=2, head_width=2, token_width=2)
    for layout in (TREE, LOOPED):
        model = layout.build(size, size.probe_width + 1)
        assert most_ones(model) <= model.width
        assert model.tied is layout.tied


def test_the_claims_speak_for_all_sizes_or_say_how_many() -> None:
    for item in CLAIMS.values():
        assert item.scope
        assert item.expected in (Status.PROVED, Status.BOUNDED, Status.SAMPLED)
