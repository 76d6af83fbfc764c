"""A user's transformer weights, read from a file of named tensors as exact rationals.

    W_Q, W_K, W_V    [L, H, d_in, d]        W_g, W_u    [L, d_in, r]    gated blocks only
    W_O              [L, H, d, d_in]        W_d         [L, r, d_in]

Metadata may name `logit_scale` (a positive rational such as 1/8, or 1/sqrt(d) or 1/sqrt(N): it
belongs to the normaliser, so it needs no rational root; 1 by default), `activation` (relu, silu or
gelu; silu by default), `residual` (true or false; false by default) and `mask` (causal or full;
causal by default). Other metadata is left alone. `gpt_files` reads other people's names as these.

Source: Fixed Universal Transformers, Section 2, for what a target is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from constructions.tensor_files import CODES, Tensor, TensorFile, file_bytes, read_file
from constructions.universal.definitions import Target, TransformerSize
from constructions.universal.floats import FORMATS
from constructions.universal.rounding import exact, reals, rounded
from verify.errors import WeightsError
from verify.rational import Matrix

ATTENTION = {
    "W_Q": ("L", "H", "d_in", "d"),
    "W_K": ("L", "H", "d_in", "d"),
    "W_V": ("L", "H", "d_in", "d"),
    "W_O": ("L", "H", "d", "d_in"),
}
GATED = {"W_g": ("L", "d_in", "r"), "W_u": ("L", "d_in", "r"), "W_d": ("L", "r", "d_in")}
CHOICES = {
    "activation": ("silu", "relu", "gelu"),
    "residual": ("false", "true"),
    "mask": ("causal", "full"),
}
"""Metadata of few values, the default first."""
DTYPES = tuple(name for name, _ in CODES.values() if name in FORMATS)
"""What entries may be stored as."""
_ROOT = re.compile(r"1/sqrt\((d|[1-9][0-9]{0,17})\)")
_RATIONAL = re.compile(r"[0-9]{1,18}([/.][0-9]{1,18})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTarget:
    """A target as a file holds it: exact entries, and what its forward pass needs beside them.

    `logit_scale` is as the file writes it; `shrink` is 1/scale^2, so that logits are divided by
    its root. `dtypes` names each tensor's; `sha256` is that of the file's bytes. `left_out` says
    which of its tensors are no part of a target, `assumed` what other people's names imply.
    """

    target: Target
    logit_scale: str
    shrink: Fraction
    activation: str
    mask: str
    dtypes: Mapping[str, str]
    sha256: str
    left_out: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()


# --- reading ---------------------------------------------------------------------------------


def read_target(path: Path) -> StoredTarget:
    """The target in a safetensors file, every entry exactly as it is stored.

    Raises:
        WeightsError: the file is unreadable or truncated, lacks a tensor or holds one that no
            target has, or a shape, dtype, entry or metadata value is not what it must be.
    """
    return stored_target(path, read_file(path))


def stored_target(path: Path, file: TensorFile) -> StoredTarget:
    """The target in the tensors of a file.

    Raises:
        WeightsError: as for `read_target`.
    """
    shapes = _expected(path, file)
    lengths = _lengths(path, file, shapes)
    entries = {name: finite_reals(f"{path}: {name}", file.tensors[name]) for name in shapes}
    chosen = {key: _choice(path, file, key) for key in CHOICES}
    size = TransformerSize(
        heads=lengths["H"],
        layers=lengths["L"],
        head_width=lengths["d"],
        token_width=lengths["d_in"],
        neurons=lengths.get("r", 0),
        residual=chosen["residual"] == "true",
    )
    scale = file.metadata.get("logit_scale", "1")
    return StoredTarget(
        target=_target(size, entries),
        logit_scale=scale,
        shrink=_shrink(path, scale, size),
        activation=chosen["activation"],
        mask=chosen["mask"],
        dtypes={name: file.tensors[name].dtype for name in shapes},
        sha256=file.sha256,
    )


def _expected(path: Path, file: TensorFile) -> dict[str, tuple[str, ...]]:
    """The tensors that the file must hold, with the names of their dimensions."""
    gated = bool(GATED.keys() & file.tensors.keys())
    shapes = {**ATTENTION, **(GATED if gated else {})}
    missing = sorted(shapes.keys() - file.tensors.keys())
    if missing:
        raise WeightsError(
            f"{path}: must hold {_words(shapes)}, got none called {_words(missing)}; add what is "
            "missing, or drop W_g, W_u and W_d if the blocks are attention only"
        )
    extra = sorted(file.tensors.keys() - shapes.keys())
    if extra:
        raise WeightsError(
            f"{path}: must hold {_words(shapes)} and nothing else, got also {_words(extra)}; no "
            "target has such weights, so leave them out only if they do nothing"
        )
    return shapes


def _words(names: Iterable[str]) -> str:
    return ", ".join(ascii(name)[1:-1] for name in names)


def _lengths(path: Path, file: TensorFile, shapes: dict[str, tuple[str, ...]]) -> dict[str, int]:
    """Every dimension's length, on which all tensors must agree."""
    known: dict[str, tuple[int, str]] = {}
    for name, letters in shapes.items():
        shape = file.tensors[name].shape
        wanted = f"{path}: {name} must have shape [{', '.join(letters)}]"
        if len(shape) != len(letters):
            raise WeightsError(
                f"{wanted}, which are {len(letters)} dimensions, got {list(shape)}; reshape it"
            )
        for letter, length in zip(letters, shape, strict=True):
            first, where = known.setdefault(letter, (length, name))
            if length != first:
                raise WeightsError(
                    f"{wanted} with {letter} = {first} as in {where}, got {list(shape)}, where "
                    f"{letter} = {length}; transpose or correct one of them"
                )
            if length < 1:
                raise WeightsError(
                    f"{wanted} with {letter} at least 1, got {list(shape)}; a target without "
                    "entries computes nothing"
                )
    return {letter: length for letter, (length, _) in known.items()}


def finite_reals(where: str, tensor: Tensor) -> NDArray[np.float64]:
    """All entries, none NaN or infinite; float64 holds those of every dtype exactly.

    Raises:
        WeightsError: another dtype, or such an entry.
    """
    if tensor.dtype not in DTYPES:
        raise WeightsError(
            f"{where} must have dtype {' or '.join(DTYPES)}, got {tensor.dtype}; convert it, "
            "scales included, before it is saved"
        )
    entries = tensor.reals()
    wrong = np.argwhere(~np.isfinite(entries))
    if len(wrong):
        index: list[int] = wrong[0].tolist()
        raise WeightsError(
            f"{where} must have finite entries, got {entries[tuple(index)]} at index "
            f"{index} ({len(wrong)} such in all); save a model that has not diverged"
        )
    return entries


def _choice(path: Path, file: TensorFile, key: str) -> str:
    value = file.metadata.get(key, CHOICES[key][0])
    if value not in CHOICES[key]:
        raise WeightsError(
            f"{path}: metadata {key} must be {' or '.join(CHOICES[key])}, got {value!r}; correct "
            f"it, or leave it out for {CHOICES[key][0]}"
        )
    return value


def _shrink(path: Path, text: str, size: TransformerSize) -> Fraction:
    """1/scale^2 of a logit scale."""
    if (root := _ROOT.fullmatch(text)) is not None:
        return Fraction(size.head_width if root[1] == "d" else int(root[1]))
    if _RATIONAL.fullmatch(text) and not re.search(r"/0+$", text) and (scale := Fraction(text)):
        return 1 / scale**2
    raise WeightsError(
        f"{path}: metadata logit_scale must be a positive rational such as 1/8, or 1/sqrt(d) or "
        f"1/sqrt(N) for a whole N, got {text!r}; write it so, or leave it out for 1"
    )


def _target(size: TransformerSize, entries: Mapping[str, NDArray[np.float64]]) -> Target:
    def grid(name: str) -> tuple[tuple[Matrix, ...], ...]:
        return tuple(tuple(map(exact, layer)) for layer in entries[name])

    def row(name: str) -> tuple[Matrix, ...]:
        return tuple(map(exact, entries[name])) if size.gated else ()

    return Target(
        size=size,
        queries=grid("W_Q"),
        keys=grid("W_K"),
        values=grid("W_V"),
        outputs=grid("W_O"),
        gates=row("W_g"),
        ups=row("W_u"),
        downs=row("W_d"),
    )


# --- writing ---------------------------------------------------------------------------------


def write_target(path: Path, target: Target, dtype: str, **metadata: str) -> None:
    """Write a target's file, its entries rounded to the dtype; residual is the target's own.

    Raises:
        UsageError: an entry overflows in the dtype.
    """
    format = FORMATS[dtype]

    def reals_of(name: str, matrices: Iterable[Matrix]) -> NDArray[np.float64]:
        return np.stack([reals(rounded(matrix, format, name)) for matrix in matrices])

    grids = zip(
        ATTENTION, (target.queries, target.keys, target.values, target.outputs), strict=True
    )
    entries = {name: np.stack([reals_of(name, layer) for layer in grid]) for name, grid in grids}
    if target.size.gated:
        rows = zip(GATED, (target.gates, target.ups, target.downs), strict=True)
        entries |= {name: reals_of(name, matrices) for name, matrices in rows}
    tensors = {name: Tensor.of_reals(part, dtype) for name, part in entries.items()}
    said = {"residual": "true" if target.size.residual else "false", **metadata}
    path.write_bytes(file_bytes(tensors, said))
