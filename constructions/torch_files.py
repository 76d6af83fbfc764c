"""What `torch.save` wrote of a state_dict, read with `weights_only`, so that no code in it runs.

A training script's checkpoint that keeps the state_dict beside other plain values is read too.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from constructions.tensor_files import CODES, Tensor, TensorFile
from verify.errors import WeightsError

_ARCHIVES = (b"PK\x03\x04", b"\x80")
"""How files by `torch.save` begin."""
_NESTED = ("model", "state_dict", "model_state_dict")
"""Where training scripts keep the state_dict."""
_WHOLE = {"bool": "BOOL", "uint8": "U8", "int64": "I64"}
"""Codes of numbers that are no reals, such as masks."""
_CODES = {**_WHOLE, **{name: code for code, (name, _) in CODES.items()}}


def begins_as_archive(path: Path) -> bool:
    """Whether a file begins as those of `torch.save` do, and not as safetensors."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as stream:
            start = stream.read(9)
    except OSError:
        return False  # `read_file` says what is wrong
    return start.startswith(_ARCHIVES) and start[8:9] != b"{"


def read_torch_file(path: Path, largest: int, what: str) -> TensorFile:
    """The tensors of a state_dict of at most `largest` bytes; `what` it should hold, in words.

    Metadata holds `heads` where the checkpoint's `model_args` name `n_head`, as nanoGPT's do.

    Raises:
        WeightsError: the file is larger, broken, holds anything but plain values, or PyTorch is
            not installed.
    """
    if (size := path.stat().st_size) > largest:
        raise WeightsError(
            f"{path}: must have at most {largest} bytes, got {size}; this is no {what}"
        )
    data = path.read_bytes()
    found = _loaded(path, data)
    tensors = _state_dict(found)
    named = all(isinstance(name, str) for name in tensors)
    if not tensors or not named or not all(map(_is_dense, tensors.values())):
        raise WeightsError(
            f"{path}: must map names to tensors, got another object; save model.state_dict()"
        )
    return TensorFile(
        tensors={name: _tensor(part) for name, part in tensors.items()},
        metadata=_metadata(found),
        sha256=sha256(data).hexdigest(),
    )


def _loaded(path: Path, data: bytes) -> Any:
    try:
        import torch
    except ImportError as error:
        raise WeightsError(
            f"{path}: needs PyTorch to be read, which is not installed; install "
            "certiformer[numeric], or convert it with safetensors.torch.save_file"
        ) from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    except Exception as error:  # a broken pickle may raise anything
        raise WeightsError(
            f"{path}: must be a state_dict of tensors alone, got one that is broken or holds other "
            f"objects, which are never loaded ({type(error).__name__}); save model.state_dict(), "
            "or use safetensors.torch.save_file"
        ) from error


def _state_dict(found: Any) -> dict[Any, Any]:
    if not isinstance(found, dict):
        return {}
    tensors = cast("dict[Any, Any]", found)
    nested = (tensors[key] for key in _NESTED if isinstance(tensors.get(key), dict))
    return next(nested, tensors)


def _metadata(found: Any) -> Mapping[str, str]:
    arguments: Any = found.get("model_args")
    heads = cast("dict[Any, Any]", arguments).get("n_head") if isinstance(arguments, dict) else None
    return {"heads": str(heads)} if isinstance(heads, int) else {}


def _is_dense(part: Any) -> bool:
    import torch

    return torch.is_tensor(part) and part.layout == torch.strided and not part.is_quantized


def _tensor(part: Any) -> Tensor:
    """Reals in their own dtype; words of a dtype that is not read are left behind."""
    dtype = str(part.dtype).removeprefix("torch.")
    data = part.detach().numpy().tobytes() if dtype in _WHOLE else b""
    tensor = Tensor(code=_CODES.get(dtype, dtype), shape=tuple(part.shape), data=data)
    return Tensor.of_reals(part.detach().double().numpy(), dtype) if tensor.floating else tensor
