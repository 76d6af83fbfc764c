"""Checkpoints by other people: names, layouts, and what is refused."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.minimal.definitions import Model
from constructions.minimal.files import model_bytes, read_checkpoint
from constructions.minimal.instances import random_model
from constructions.tensor_files import Tensor, file_bytes
from verify.errors import WeightsError

torch = pytest.importorskip("torch")

MODEL = random_model(5, context=8, hidden=32)
BY_GPT = {
    "token_embedding.weight": ("E", False),
    "position_embedding_table.weight": ("P", False),
    "sa_heads.heads.0.query.weight": ("W_Q", True),
    "sa_heads.heads.0.key.weight": ("W_K", True),
    "sa_heads.heads.0.value.weight": ("W_V", True),
    "ffwd.net.0.weight": ("W_1", True),
    "ffwd.net.0.bias": ("b_1", False),
    "ffwd.net.2.weight": ("W_2", True),
    "ffwd.net.2.bias": ("b_2", False),
    "lm_head.weight": ("U", True),
    "lm_head.bias": ("c", False),
}


def state_dict(model: Model = MODEL) -> dict[str, Any]:
    """The model as small GPT code holds it, its causal mask included."""
    found = {
        name: torch.tensor(model.tensors[ours].T.copy() if turned else model.tensors[ours].copy())
        for name, (ours, turned) in BY_GPT.items()
    }
    return {**found, "sa_heads.heads.0.tril": torch.tril(torch.ones(8, 8))}


def same(one: Model, two: Model) -> bool:
    return all(np.array_equal(one.tensors[name], two.tensors[name]) for name in one.tensors)


@pytest.mark.parametrize("zipped", [True, False])
def test_a_state_dict_of_small_gpt_code_is_read(zipped: bool, tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    torch.save(state_dict(), path, _use_new_zipfile_serialization=zipped)
    assert same(read_checkpoint(path).model, MODEL)


def test_their_names_are_read_from_safetensors_too(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    tensors = {
        name: Tensor.of_reals(part.numpy(), "float64") for name, part in state_dict().items()
    }
    path.write_bytes(file_bytes(tensors, {}))
    found = read_checkpoint(path)
    assert same(found.model, MODEL)
    assert (found.plan, found.history) == (None, ())


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10**6), st.integers(0, 40))
def test_models_are_read_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, seed: int, digits: int
) -> None:
    model = random_model(seed, digits=digits)
    path = tmp_path_factory.mktemp("files") / "model.safetensors"
    path.write_bytes(model_bytes(model))
    assert same(read_checkpoint(path).model, model)
    assert model_bytes(read_checkpoint(path).model) == path.read_bytes()


class Hostile:
    """Runs code when it is unpickled."""

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return eval, ("1 / 0",)


@pytest.mark.parametrize(
    "write", [torch.save, lambda thing, path: path.write_bytes(pickle.dumps(thing))]
)
def test_a_pickle_with_code_is_refused_and_never_run(write: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    write({"E": Hostile()}, path)
    with pytest.raises(WeightsError, match="must be a state_dict of tensors alone"):
        read_checkpoint(path)


def changed(**changes: Any) -> dict[str, Any]:
    found = {**state_dict(), **{name.replace("__", "."): part for name, part in changes.items()}}
    return {name: part for name, part in found.items() if part is not None}


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"lm_head__bias": None}, "got c missing and none extra"),
        (
            {"sa_heads__heads__0__query__bias": torch.zeros(2)},
            r"none missing and sa_heads\.heads\.0\.query\.bias extra",
        ),
        (
            {"sa_heads__proj__weight": torch.zeros(2, 2)},
            r"none missing and sa_heads\.proj\.weight extra",
        ),
        ({"lm_head__weight": torch.zeros(13, 2)}, r"tensor U must have shape \(2, 12\)"),
        ({"token_embedding__weight": torch.zeros(12, 3)}, r"tensor E must have shape \(12, 2\)"),
        ({"lm_head__bias": torch.full((12,), torch.nan)}, "tensor c must be finite, got nan"),
        ({"lm_head__bias": torch.zeros(12, dtype=torch.int64)}, "must hold floating-point numbers"),
        ({"lm_head__bias": 3}, "must map names to tensors"),
        ({"E": torch.zeros(12, 2)}, "tensor E must be given once"),
    ],
)
def test_other_architectures_are_refused(
    changes: dict[str, Any], text: str, tmp_path: Path
) -> None:
    path = tmp_path / "model.pt"
    torch.save(changed(**changes), path)
    with pytest.raises(WeightsError, match=text) as caught:
        read_checkpoint(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("thing", [[1, 2], {}, torch.zeros(3)])
def test_what_is_no_state_dict_is_refused(thing: object, tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    torch.save(thing, path)
    with pytest.raises(WeightsError, match="must map names to tensors"):
        read_checkpoint(path)


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"\x80\x04", b"nonsense", b"PK\x03\x04" * 9])
def test_broken_files_are_refused(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    path.write_bytes(data)
    with pytest.raises(WeightsError, match="must be"):
        read_checkpoint(path)


def test_missing_files_and_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="no such file"):
        read_checkpoint(tmp_path / "nothing")
    with pytest.raises(WeightsError, match="got a folder"):
        read_checkpoint(tmp_path)
