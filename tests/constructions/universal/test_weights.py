"""Weights are read as the exact numbers that a file holds, or the whole file is refused."""

from __future__ import annotations

import pickle
import zipfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import deserialize, safe_open
from safetensors.numpy import save

from constructions.tensor_files import Tensor, file_bytes, read_file
from constructions.universal.definitions import Target, TransformerSize
from constructions.universal.floats import FORMATS
from constructions.universal.instances import random_target
from constructions.universal.rounding import nearest, rounded
from constructions.universal.weights import DTYPES, read_target, write_target
from verify.errors import UsageError, WeightsError
from verify.rational import Matrix

SIZE = TransformerSize(heads=2, layers=2, head_width=3, token_width=2)
GATED = TransformerSize(heads=2, layers=2, head_width=3, token_width=2, neurons=4)
SHAPES = {"W_Q": (2, 2, 2, 3), "W_K": (2, 2, 2, 3), "W_V": (2, 2, 2, 3), "W_O": (2, 2, 3, 2)}
BLOCKS = {"W_g": (2, 2, 4), "W_u": (2, 2, 4), "W_d": (2, 4, 2)}


def arrays(gated: bool = False) -> dict[str, Any]:
    shapes = {**SHAPES, **(BLOCKS if gated else {})}
    return {name: np.ones(shape, dtype=np.float32) for name, shape in shapes.items()}


def written(path: Path, tensors: dict[str, Any], metadata: dict[str, str] | None = None) -> Path:
    path.write_bytes(save(tensors, metadata))
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "target.safetensors"


def all_entries(target: Target) -> list[Fraction]:
    grids = (target.queries, target.keys, target.values, target.outputs)
    rows = [matrix for grid in grids for layer in grid for matrix in layer]
    rows += [*target.gates, *target.ups, *target.downs]
    return [entry for matrix in rows for row in matrix.rows() for entry in row]


# --- what is read ----------------------------------------------------------------------------

FLOATS = {
    "float64": st.floats(allow_nan=False, allow_infinity=False),
    "float32": st.floats(allow_nan=False, allow_infinity=False, width=32),
    "float16": st.floats(allow_nan=False, allow_infinity=False, width=16),
    "bfloat16": st.floats(allow_nan=False, allow_infinity=False, width=32).map(
        lambda x: float((np.array(x, np.float32).view(np.uint32) & 0xFFFF0000).view(np.float32))
    ),
}


@settings(max_examples=25, deadline=None)
@given(data=st.data(), dtype=st.sampled_from(DTYPES), neurons=st.sampled_from([0, 2]))
def test_what_is_written_is_read_as_the_same_exact_numbers(
    data: Any, dtype: str, neurons: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    size = TransformerSize(heads=1, layers=2, head_width=2, token_width=1, neurons=neurons)
    values = st.lists(FLOATS[dtype], min_size=4, max_size=4)

    def mapped(matrix: Matrix) -> Matrix:
        found = data.draw(values)[: matrix.height * matrix.width]
        return Matrix(*matrix.shape, [Fraction(x) for x in found])

    shape = random_target(size, 0)
    grids = {
        name: tuple(tuple(map(mapped, layer)) for layer in getattr(shape, name))
        for name in ("queries", "keys", "values", "outputs")
    }
    rows = {name: tuple(map(mapped, getattr(shape, name))) for name in ("gates", "ups", "downs")}
    target = Target(size=size, **grids, **rows)
    path = tmp_path_factory.mktemp("weights") / "target.safetensors"
    write_target(path, target, dtype)
    stored = read_target(path)
    assert stored.target == target
    assert set(stored.dtypes.values()) == {dtype}


@pytest.mark.parametrize("dtype", DTYPES)
def test_files_of_torch_are_read_bit_by_bit(dtype: str, file: Path) -> None:
    import torch
    from safetensors.torch import save_file

    source = torch.Generator().manual_seed(1)
    tensors = {
        name: torch.randn(shape, generator=source).to(getattr(torch, dtype))
        for name, shape in {**SHAPES, **BLOCKS}.items()
    }
    save_file(tensors, file)
    expected = [Fraction(x) for part in tensors.values() for x in part.double().flatten().tolist()]
    stored = read_target(file)
    assert all_entries(stored.target) == expected
    assert stored.target.size == GATED


def test_metadata_is_read_and_has_defaults(file: Path) -> None:
    said = {"logit_scale": "1/sqrt(d)", "activation": "gelu", "residual": "true", "mask": "full"}
    stored = read_target(written(file, arrays(), {**said, "format": "pt"}))
    assert (stored.shrink, stored.logit_scale) == (3, "1/sqrt(d)")
    assert (stored.activation, stored.mask, stored.target.size.residual) == ("gelu", "full", True)
    plain = read_target(written(file, arrays()))
    assert (plain.shrink, plain.activation, plain.mask) == (1, "silu", "causal")
    assert not plain.target.size.residual


@pytest.mark.parametrize(
    ("scale", "shrink"),
    [("1/8", 64), ("3/4", Fraction(16, 9)), ("0.5", 4), ("2", Fraction(1, 4)), ("1/sqrt(7)", 7)],
)
def test_a_logit_scale_needs_no_rational_root(scale: str, shrink: Fraction, file: Path) -> None:
    assert read_target(written(file, arrays(), {"logit_scale": scale})).shrink == shrink


def test_a_written_file_is_the_same_bytes_and_one_that_the_library_reads(file: Path) -> None:
    target = random_target(GATED, 3)
    write_target(file, target, "bfloat16", logit_scale="1/8", mask="full", activation="relu")
    first = file.read_bytes()
    write_target(file, target, "bfloat16", activation="relu", mask="full", logit_scale="1/8")
    assert file.read_bytes() == first
    assert {name for name, _ in deserialize(first)} == {*SHAPES, *BLOCKS}
    with safe_open(file, framework="np") as opened:
        assert opened.metadata()["logit_scale"] == "1/8"


def test_tensors_of_several_dtypes_share_a_file(file: Path) -> None:
    file.write_bytes(
        file_bytes(
            {
                "halves": Tensor.of_reals(np.array([[0.5, -2.0, 3.0]]), "bfloat16"),
                "wide": Tensor.of_reals(np.array([1 / 3]), "float64"),
                "places": Tensor.of_places(np.array([5, 6, 7])),
            },
            {},
        )
    )
    found = read_file(file).tensors
    assert found["halves"].reals().tolist() == [[0.5, -2.0, 3.0]]
    assert found["wide"].reals().tolist() == [1 / 3]
    assert (found["places"].code, found["places"].shape) == ("I64", (3,))


# --- rounding --------------------------------------------------------------------------------


@settings(max_examples=300, deadline=None)
@given(
    value=st.one_of(
        st.floats(allow_nan=False, allow_infinity=False),
        st.floats(min_value=-1e-4, max_value=1e-4),
        st.floats(min_value=-65520, max_value=65520),
    ),
    dtype=st.sampled_from(["float32", "float16", "bfloat16"]),
)
def test_rounding_is_that_of_ieee_754(value: float, dtype: str) -> None:
    import torch

    expected = torch.tensor(value, dtype=torch.float64).to(getattr(torch, dtype)).double().item()
    if dtype != "float32":  # PyTorch passes by float32 on the way down
        single = torch.tensor(value, dtype=torch.float64).float().double().item()
        value = single if np.isfinite(single) else value
    found = nearest(Fraction(value), FORMATS[dtype])
    assert found == (None if np.isinf(expected) else Fraction(expected))


def test_a_tie_that_float64_cannot_see_is_no_tie() -> None:
    half_way = 1 + Fraction(1, 1 << 24)
    hair = Fraction(1, 1 << 200)
    single = FORMATS["float32"]
    assert nearest(half_way, single) == 1
    assert nearest(half_way + hair, single) == 1 + Fraction(1, 1 << 23)
    assert nearest(-half_way - hair, single) == -1 - Fraction(1, 1 << 23)
    assert nearest(3 * Fraction(1, 1 << 150), single) == Fraction(1, 1 << 148)
    assert nearest(Fraction(1, 1 << 150), single) == 0


def test_overflow_is_an_error_that_names_the_entry() -> None:
    half = FORMATS["float16"]
    assert rounded(Matrix(1, 1, [65519]), half, "E") == Matrix(1, 1, [65504])
    with pytest.raises(
        UsageError, match=r"E: entries must be finite in float16, got one .*\(0, 1\)"
    ):
        rounded(Matrix(1, 2, [1, 65520]), half, "E")


# --- what is refused -------------------------------------------------------------------------

Change = Callable[[dict[str, Any]], None]


def dropped(name: str) -> Change:
    return lambda tensors: tensors.pop(name)


def replaced(name: str, shape: tuple[int, ...]) -> Change:
    return lambda tensors: tensors.update({name: np.ones(shape, dtype=np.float32)})


def spoiled(name: str, index: tuple[int, ...], value: float) -> Change:
    def change(tensors: dict[str, Any]) -> None:
        tensors[name][index] = value

    return change


def without(letter: str) -> Change:
    """A dimension of 0 in every tensor that has it."""
    letters = {"W_Q": "LHtd", "W_K": "LHtd", "W_V": "LHtd", "W_O": "LHdt"}
    letters |= {"W_g": "Ltr", "W_u": "Ltr", "W_d": "Lrt"}

    def change(tensors: dict[str, Any]) -> None:
        for name, array in tensors.items():
            shape = [
                0 if key == letter else n for key, n in zip(letters[name], array.shape, strict=True)
            ]
            tensors[name] = np.ones(shape, dtype=np.float32)

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (dropped("W_O"), "must hold W_Q, W_K, W_V, W_O, .*, got none called W_O"),
        (dropped("W_u"), "got none called W_u; add what is missing, or drop W_g, W_u and W_d"),
        (replaced("W_x", (2, 2)), "and nothing else, got also W_x"),
        (replaced("W_K", (2, 2, 2, 4)), r"W_K must have shape \[L, H, d_in, d\] with d = 3 as"),
        (replaced("W_V", (2, 3, 2, 3)), r"with H = 2 as in W_Q, got \[2, 3, 2, 3\], where H = 3"),
        (replaced("W_K", (1, 2, 2, 3)), "with L = 2 as in W_Q"),
        (replaced("W_O", (2, 2, 2, 3)), r"W_O must have shape \[L, H, d, d_in\] with d = 3 as"),
        (replaced("W_d", (2, 2, 4)), r"W_d must have shape \[L, r, d_in\] with r = 4 as in W_g"),
        (replaced("W_Q", (2, 2, 6)), r"which are 4 dimensions, got \[2, 2, 6\]; reshape it"),
        (spoiled("W_V", (1, 0, 1, 2), np.nan), r"W_V must .*, got nan at index \[1, 0, 1, 2\]"),
        (spoiled("W_d", (0, 3, 1), -np.inf), r"W_d must .*, got -inf at index \[0, 3, 1\]"),
        (without("H"), r"W_Q must have shape \[L, H, d_in, d\] with H at least 1"),
        (without("L"), "with L at least 1"),
        (without("d"), "with d at least 1"),
        (without("t"), "with d_in at least 1"),
        (without("r"), "with r at least 1"),
    ],
)  # fmt: skip
def test_a_tensor_that_no_target_has_is_refused(change: Change, words: str, file: Path) -> None:
    tensors = arrays(gated=True)
    change(tensors)
    with pytest.raises(WeightsError, match=words) as caught:
        read_target(written(file, tensors))
    assert str(file) in str(caught.value)


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.bool_, np.uint8, np.complex64])
def test_a_dtype_without_exact_reals_is_refused(dtype: Any, file: Path) -> None:
    tensors = arrays()
    tensors["W_K"] = tensors["W_K"].astype(dtype)
    with pytest.raises(WeightsError, match="W_K must have dtype float64 or float32 or float16 or"):
        read_target(written(file, tensors))


def test_eight_bit_floats_are_refused(file: Path) -> None:
    import torch
    from safetensors.torch import save_file

    tensors = {name: torch.ones(shape) for name, shape in SHAPES.items()}
    tensors["W_V"] = tensors["W_V"].to(torch.float8_e4m3fn)
    save_file(tensors, file)
    with pytest.raises(WeightsError, match="W_V must have dtype .*, got F8_E4M3; convert it"):
        read_target(file)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("logit_scale", "1/sqrt(x)"),
        ("logit_scale", "1/0"),
        ("logit_scale", "0"),
        ("logit_scale", "-1/8"),
        ("logit_scale", "1/sqrt(0)"),
        ("logit_scale", "1e-3"),
        ("activation", "tanh"),
        ("residual", "yes"),
        ("mask", "sliding"),
    ],
)
def test_a_metadata_value_of_no_meaning_is_refused(key: str, value: str, file: Path) -> None:
    with pytest.raises(WeightsError, match=f"metadata {key} must be .*, got '"):
        read_target(written(file, arrays(), {key: value}))


def test_files_of_torch_save_are_refused_and_never_unpickled(file: Path) -> None:
    file.write_bytes(pickle.dumps({"W_Q": [1.0]}))
    with pytest.raises(WeightsError, match="got a pickle, as torch.save writes; .*save_file"):
        read_target(file)
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("data.pkl", pickle.dumps([1.0]))
    with pytest.raises(WeightsError, match="got a zip archive, as torch.save writes"):
        read_target(file)


def test_a_header_that_starts_like_a_pickle_is_none(file: Path) -> None:
    for extra in range(128):
        data = save(arrays(), {"note": "x" * extra})
        if data[0] == 0x80:
            file.write_bytes(data)
            assert read_target(file).target.size == SIZE
            return
    raise AssertionError("no header of such a length was made")


def test_a_truncated_file_is_refused_wherever_it_is_cut(file: Path) -> None:
    whole = save(arrays())
    for end in (*range(0, len(whole), 37), len(whole) - 1):
        file.write_bytes(whole[:end])
        with pytest.raises(WeightsError, match="must be one whole safetensors file"):
            read_target(file)
    file.write_bytes(whole + b"\0")
    with pytest.raises(WeightsError, match="must be one whole safetensors file"):
        read_target(file)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="got a folder; name the file"):
        read_target(tmp_path)
    with pytest.raises(WeightsError, match="got no such file; check the path"):
        read_target(tmp_path / "nowhere.safetensors")
