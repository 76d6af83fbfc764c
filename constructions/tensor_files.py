"""Files of named tensors: safetensors, read exactly and written the same bytes every time.

    F64, F32, F16    IEEE 754 binary64, binary32, binary16
    BF16             the upper half of a binary32
    I64              places of ones

Reading is left to the `safetensors` library, which checks the header and every length; nothing is
ever unpickled. Writing is not: the library orders metadata by chance, and files are to be equal.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from verify.errors import WeightsError

LARGEST_BYTES = 1 << 30
"""Larger files hold more weights than exact arithmetic can take in."""
CODES = {
    "F64": ("float64", "<f8"),
    "F32": ("float32", "<f4"),
    "F16": ("float16", "<f2"),
    "BF16": ("bfloat16", "<u2"),
    "I64": ("int64", "<i8"),
}
"""Per code of the format: the dtype's name, and how NumPy reads its words."""
PLACES = "I64"
"""The code of whole numbers."""
_BY_NAME = {name: (code, words) for code, (name, words) in CODES.items()}
_TORCH = {b"PK\x03\x04": "a zip archive", b"\x80": "a pickle"}
"""How files by `torch.save` begin."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tensor:
    """A tensor's code of dtype, and its words; those of BF16 are the upper halves of floats."""

    code: str
    shape: tuple[int, ...]
    data: bytes

    @property
    def dtype(self) -> str:
        """The dtype's name, or the code itself where it is not one of CODES."""
        return CODES[self.code][0] if self.code in CODES else self.code

    @property
    def floating(self) -> bool:
        """Whether `reals` reads it."""
        return self.code in CODES and self.code != PLACES

    def reals(self) -> NDArray[np.float64]:
        """The floating-point entries, which float64 holds exactly."""
        words: NDArray[Any] = np.frombuffer(self.data, dtype=CODES[self.code][1])
        if self.code == "BF16":
            words = (words.astype(np.uint32) << np.uint32(16)).view(np.float32)
        return words.astype(np.float64).reshape(self.shape)

    @classmethod
    def of_reals(cls, entries: NDArray[np.float64], dtype: str) -> Tensor:
        """Entries that the dtype holds exactly."""
        code, words = _BY_NAME[dtype]
        if dtype == "bfloat16":
            halves = entries.astype(np.float32).view(np.uint32) >> np.uint32(16)
            return cls(code=code, shape=entries.shape, data=halves.astype(words).tobytes())
        return cls(code=code, shape=entries.shape, data=entries.astype(words).tobytes())

    @classmethod
    def of_places(cls, places: NDArray[np.int64]) -> Tensor:
        """Whole numbers of 64 bits."""
        return cls(code=PLACES, shape=places.shape, data=places.astype("<i8").tobytes())


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorFile:
    """What a file holds, and the SHA-256 of its bytes."""

    tensors: Mapping[str, Tensor]
    metadata: Mapping[str, str]
    sha256: str


def read_file(path: Path) -> TensorFile:
    """The tensors of a safetensors file.

    Raises:
        WeightsError: it is no readable file, or not one whole safetensors file.
    """
    library: Any = import_module("safetensors")
    data = _bytes_of(path)
    for start, what in _TORCH.items():
        if data.startswith(start) and not _has_header(data):
            raise WeightsError(
                f"{path}: must be a safetensors file, got {what}, as torch.save writes; load it "
                "where you trust it and convert it with safetensors.torch.save_file"
            )
    try:
        found: list[tuple[str, dict[str, Any]]] = library.deserialize(data)
    except library.SafetensorError as error:
        raise WeightsError(
            f"{path}: must be one whole safetensors file, got {len(data)} bytes that are not "
            f"({error}); copy it again or write it with safetensors.torch.save_file"
        ) from error
    tensors = {
        name: Tensor(code=part["dtype"], shape=tuple(part["shape"]), data=bytes(part["data"]))
        for name, part in found
    }
    return TensorFile(tensors=tensors, metadata=_metadata(data), sha256=sha256(data).hexdigest())


def _bytes_of(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise WeightsError(f"{path}: must be a safetensors file, got a folder; name the file")
        if not path.is_file():
            raise WeightsError(
                f"{path}: must be a safetensors file, got no such file; check the path"
            )
        if (size := path.stat().st_size) > LARGEST_BYTES:
            raise WeightsError(
                f"{path}: must have at most {LARGEST_BYTES} bytes, got {size}; exact arithmetic "
                "needs a smaller target"
            )
        return path.read_bytes()
    except OSError as error:
        raise WeightsError(
            f"{path}: must be a readable safetensors file, got {error.strerror or error}; check "
            "its path and permissions"
        ) from error


def _has_header(data: bytes) -> bool:
    """Whether a header's opening brace stands where safetensors files have it."""
    return data[8:9] == b"{"


def _metadata(data: bytes) -> dict[str, str]:
    """What the header, which the library has checked, says beside the tensors."""
    length = int.from_bytes(data[:8], "little")
    header = cast("dict[str, Any]", json.loads(data[8 : 8 + length]))
    return header.get("__metadata__") or {}


def file_bytes(tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> bytes:
    """A safetensors file: wider words first, then by name, so that every tensor is aligned."""

    def place(item: tuple[str, Tensor]) -> tuple[int, str]:
        return -np.dtype(CODES[item[1].code][1]).itemsize, item[0]

    header: dict[str, Any] = {"__metadata__": dict(sorted(metadata.items()))}
    blocks, offset = list[bytes](), 0
    for name, tensor in sorted(tensors.items(), key=place):
        end = offset + len(tensor.data)
        header[name] = {
            "dtype": tensor.code,
            "shape": list(tensor.shape),
            "data_offsets": [offset, end],
        }
        blocks.append(tensor.data)
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode("ascii")
    text += b" " * (-len(text) % 8)
    return b"".join((len(text).to_bytes(8, "little"), text, *blocks))
