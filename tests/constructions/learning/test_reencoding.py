"""Trained sparse models in other universal models: exactly the same coefficients and logits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from constructions.learning import dense, shipped
from constructions.learning.defaults import plan
from constructions.learning.definitions import tree_maps
from constructions.learning.files import Trained
from constructions.learning.kinds import Components, Family
from constructions.learning.reencoding import (
    SERVING,
    Embedded,
    coefficients_of,
    exact_model,
    reencoded,
)
from constructions.learning.reencoding_claims import RANGES, SMALL, cases, texts
from constructions.universal.ball_runs import converted
from constructions.universal.definitions import TransformerSize, forward
from constructions.universal.draws import Stream
from constructions.universal.encoding import Deficit
from constructions.universal.floats import FORMATS, Floats
from constructions.universal.instances import random_matrix, seeded
from constructions.universal.layouts import LEAF, coordinates, placed
from constructions.universal.looped import prepend
from constructions.universal.maps import ColumnMap
from constructions.universal.nonlinearities import causal_mask, scrambled_attention
from constructions.universal.rounding import exact
from verify.errors import SizeError, UsageError, WeightsError
from verify.rational import Matrix

SIZES = {
    "two heads": {"heads": 2, "layers": 2, "head_width": 2},
    "one head": {"heads": 1, "layers": 3, "head_width": 2},
    "deep": {"heads": 2, "layers": 3, "head_width": 1},
    "spare": {"heads": 3, "layers": 1, "head_width": 1, "width": 40},
}


def trained(seed: int = 0, **changes: Any) -> Trained:
    """A model of the sizes with random float32 parameters, as a file would hold it."""
    asked = {name: changes.pop(name) for name in ("family", "components") if name in changes}
    made = plan("dyck", **asked, changes=changes)
    random = np.random.default_rng(seed)
    shapes = {"E": (4, made.model.width), "U": (made.model.width, 4)}
    parameters = {
        name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()
    }
    return Trained(plan=made, parameters=parameters, sha256="")


def encoded(source: Embedded, name: str, **more: Any) -> Embedded:
    found = reencoded(source.size, coefficients_of(source), name, **more)
    assert isinstance(found, Embedded)
    return found


@pytest.mark.parametrize("name", SERVING)
@pytest.mark.parametrize("kind", SIZES)
def test_every_construction_has_the_same_coefficients_and_logits(kind: str, name: str) -> None:
    source = exact_model(trained(**SIZES[kind]))
    ours = encoded(source, name)
    assert coefficients_of(ours) == coefficients_of(source)
    for tokens in texts(2, 3):
        normalise = scrambled_attention(causal_mask(len(tokens)))
        assert ours.output(tokens, normalise) == source.output(tokens, normalise)


@pytest.mark.parametrize("kind", SIZES)
def test_in_the_tree_only_the_leaves_change_and_hold_the_products(kind: str) -> None:
    given = trained(**SIZES[kind])
    source, model = exact_model(given), given.plan.model
    ours = encoded(source, "tree", width=model.width)
    before, after = (np.array(one.embedding.rows()) for one in (source, ours))
    read = np.flatnonzero(coordinates(model.size, model.width).kind == LEAF)
    inside = np.setdiff1d(np.arange(model.size.probe_width), read)
    assert (before[:, inside] == after[:, inside]).all()
    readout = np.array(exact(given.parameters["U"]).rows())
    for leaf in read.reshape(-1, model.vocabulary):
        assert (after[:, leaf] == before[:, leaf] @ readout[leaf]).all()


@pytest.mark.parametrize("name", shipped.NAMES)
def test_a_shipped_model_gives_the_logits_of_the_training_code(name: str) -> None:
    import torch

    given, tokens = shipped.shipped(name), texts(1, 8)[0]
    parts = {key: torch.tensor(part) for key, part in given.parameters.items()}
    every = {key: part.double() for key, part in (parts | tree_maps(given.plan.model)).items()}
    wanted = dense.logits(given.plan.model, every, torch.tensor([tokens]))[0].numpy()
    ours = encoded(exact_model(given), "looped")
    format = FORMATS["float64"]
    model = converted(ours.model, lambda matrix: Floats.of(matrix, format))
    found = forward(
        (model.layer(index) for index in range(model.size.layers)),
        Floats.of(ours.embedding.select_rows(tokens), format),
        model.readout,
        lambda logits: logits.softmax(causal_mask(len(tokens))),
        lambda gates: gates,
    ).output.exact()
    assert found is not None
    came = np.array([[float(x) for x in row] for row in found.rows()])
    np.testing.assert_allclose(came, wanted, rtol=1e-9, atol=1e-9)


def test_the_claim_is_about_every_shipped_model_in_every_construction() -> None:
    files = {path.stem for path in shipped.FOLDER.glob("*.safetensors")}
    assert files == set(shipped.NAMES)
    pairs = {(case.model, case.construction) for case in cases(shipped.NAMES)}
    assert pairs == {
        *((name, construction) for name in files for construction in ("tree", "looped")),
        (SMALL, "generic"),
    }
    assert set(RANGES["standard"].over()) == set(cases(shipped.NAMES))
    assert {token for text in texts(2, 2) for token in text} == {0, 1, 2, 3}


@pytest.mark.parametrize("name", SERVING)
def test_a_wider_model_serves_and_a_narrower_one_is_refused(name: str) -> None:
    source = exact_model(trained(**SIZES["two heads"]))
    least = source.size.probe_width
    wider = encoded(source, name, width=least + 3)
    assert wider.embedding.shape == (4, least + 3)
    assert coefficients_of(wider) == coefficients_of(source)
    with pytest.raises(SizeError, match=f"at least {least}, got {least - 1}"):
        encoded(source, name, width=least - 1)


def test_seeds_draw_other_models() -> None:
    source = exact_model(trained(**SIZES["two heads"]))
    first, other = (encoded(source, "generic", seed=seed) for seed in (0, 1))
    assert first.embedding != other.embedding
    assert other.drawn is not None
    assert other.drawn.draw.seed == 1


def test_a_draw_that_lacks_rank_is_a_deficit(monkeypatch: pytest.MonkeyPatch) -> None:
    source, take = exact_model(trained(**SIZES["two heads"])), Stream.take

    def zero(stream: Stream, height: int, width: int) -> Any:
        block = take(stream, height, width)
        return replace(block, wholes=block.wholes * 0)

    monkeypatch.setattr(Stream, "take", zero)
    found = reencoded(source.size, coefficients_of(source), "generic")
    assert found == Deficit(text="P_0 must have full column rank 40, its rank is 0")


@pytest.mark.parametrize(
    "changes",
    [{"family": Family.random}, {"components": Components.residual}, {"family": Family.trained}],
)
def test_only_sparse_attention_only_models_are_read(changes: dict[str, Any]) -> None:
    with pytest.raises(WeightsError, match="must be sparse and attention-only, got "):
        exact_model(trained(**SIZES["two heads"], **changes))


def test_a_diverged_model_is_refused() -> None:
    given = trained(**SIZES["two heads"])
    given.parameters["U"][3, 1] = np.nan
    with pytest.raises(WeightsError, match="U must have finite entries, got 1 others"):
        exact_model(given)


@pytest.mark.parametrize("name", ["folded", "shift", "sparse", "other"])
def test_other_constructions_are_refused(name: str) -> None:
    source = exact_model(trained(**SIZES["one head"]))
    with pytest.raises(UsageError, match="must be tree, looped, generic for a trained model"):
        reencoded(source.size, coefficients_of(source), name)


# --- what the other modules were given for it ------------------------------------------------


@pytest.mark.parametrize("head", [0, 1])
def test_an_index_map_times_a_block_is_the_product_of_the_matrices(head: int) -> None:
    size = TransformerSize(heads=2, layers=2, head_width=1, token_width=2)
    value = prepend(coordinates(size, size.probe_width + 1), head)
    block = random_matrix(seeded(head), value.width, 3)
    assert max(np.bincount(value.rows[value.rows >= 0])) == 2
    assert value.times(block) == value.dense() @ block
    nothing = ColumnMap(rows=np.full(3, -1))
    assert nothing.times(Matrix.identity(3)) == Matrix.zero(3, 3)


def test_content_is_placed_at_the_coordinates_of_its_columns() -> None:
    content = Matrix.from_rows([[1, 2], [3, 4]])
    assert placed(content, np.array([2, 0]), 4) == Matrix.from_rows(
        [[3, 4], [0, 0], [1, 2], [0, 0]]
    )


def test_floats_are_read_without_rounding() -> None:
    entries = np.array([[0.1, -3.0]], dtype=np.float32)
    found = exact(entries)
    assert found[0, 0] == 13421773 / 2**27
    assert found[0, 1] == -3
