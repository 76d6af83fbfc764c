"""A target read from any file: the suite's own names, or those of common small GPT code.

What their code does and the file does not say is assumed, unless metadata says otherwise: logits
times 1/sqrt(d), a causal mask, residual blocks where blocks are numbered. A target has no biases,
no normalisation and no positions within, and is gated or attention only; a file with more is
refused for all its reasons at once. What stands before X^0 and behind X^L is left out, and said.

Source: Fixed Universal Transformers, Section 2 and Section 3.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from constructions.tensor_files import LARGEST_BYTES, Tensor, read_file
from constructions.torch_files import begins_as_archive, read_torch_file
from constructions.universal.gpt_blocks import Given, collected
from constructions.universal.gpt_names import MULTIHEAD, Role, listed, named
from constructions.universal.weights import (
    ATTENTION,
    CHOICES,
    GATED,
    StoredTarget,
    stored_target,
)
from verify.errors import WeightsError

SAID = ("heads", "logit_scale", *CHOICES)
"""What metadata may say of a target."""
_REFUSED = {
    Role.NORM: "normalisation is in no target, since no fixed model with LayerNorm is universal "
    "(lowerbounds.normalization); train the model without it",
    Role.MLP: "of MLPs only gated ones (gate_proj, up_proj and down_proj) are in the class; train "
    "the model with those, or with attention only",
    Role.POSITIONS: "positions inside attention change its logits, which then are not those of a "
    "target; add positions to the input instead",
    Role.UNKNOWN: "no target has tensors of these names; leave them out only if they do nothing",
}
_LEFT_OUT = {
    Role.EMBEDDING: "embedding, positions at the input, or readout",
    Role.FILL: "what masked logits are set to",
    Role.MASK: "the causal mask",
    Role.BIAS: "a bias that is zero",
}
_LOWERED = -1e4
"""GPT-2's masked logits; lower ones mask too."""


# --- reading ---------------------------------------------------------------------------------


def read_weights(path: Path, said: Mapping[str, str] | None = None) -> StoredTarget:
    """The target in a safetensors file or a PyTorch state_dict, every entry as it is stored.

    `said` stands in for metadata, or overrules it; its `heads` says how many there are.

    Raises:
        WeightsError: the file is unreadable, or holds no target; every reason is named.
    """
    if unknown := sorted((said or {}).keys() - set(SAID)):
        raise WeightsError(
            f"{path}: metadata must be one of {', '.join(SAID)}, got {unknown[0]!r}; correct it"
        )
    archive = begins_as_archive(path)
    file = read_torch_file(path, LARGEST_BYTES, "target") if archive else read_file(path)
    file = replace(file, metadata={**file.metadata, **(said or {})})
    found = [named(name, tensor.shape) for name, tensor in sorted(file.tensors.items())]
    own = not file.tensors.keys().isdisjoint({*ATTENTION, *GATED})
    if own or all(one.role is Role.UNKNOWN for one in found):
        target = stored_target(path, file)
    else:
        target = _translated(path, Given(file=file, found=tuple(found)))
    heads = file.metadata.get("heads", "")
    if heads and heads != str(target.target.size.heads):
        raise WeightsError(
            f"{path}: heads must be {target.target.size.heads}, as its tensors say, got {heads!r}; "
            "correct it or leave it out"
        )
    return target


def _translated(path: Path, given: Given) -> StoredTarget:
    """The target, if nothing speaks against it."""
    reasons = [*_strangers(given), *_biases(given), *_masks(given), *_unsaid(given)]
    tensors = collected(given, reasons)
    if reasons:
        numbered = "; ".join(f"({i}) {reason}" for i, reason in enumerate(reasons, start=1))
        raise WeightsError(
            f"{path}: must hold a target's weights and nothing that changes what it computes, got: "
            f"{numbered}"
        )
    implied = {
        "logit_scale": "1/sqrt(d)",
        "mask": "causal",
        "residual": "true" if _numbered(given) else "false",
        **({"activation": CHOICES["activation"][0]} if given.of(Role.GATE) else {}),
    }
    metadata = {**implied, **given.file.metadata}
    assumed = [f"{key} {value}" for key, value in implied.items() if key not in given.file.metadata]
    assumed.append("no positions inside attention, rotary ones having no weights")
    target = stored_target(path, replace(given.file, tensors=tensors, metadata=metadata))
    return replace(target, left_out=tuple(_left_out(given)), assumed=tuple(assumed))


def _numbered(given: Given) -> bool:
    return any(one.block is not None for one in given.layers)


# --- what speaks against it ------------------------------------------------------------------


def _strangers(given: Given) -> Iterator[str]:
    for role, reason in _REFUSED.items():
        if found := given.of(role):
            yield f"{listed(found)}: {reason}"


def _biases(given: Given) -> Iterator[str]:
    found = given.of(Role.BIAS)
    if moving := [one for one in found if not _all_zero(given.tensor(one))]:
        yield (
            f"{listed(moving)}: biases that are not zero, which a target has none of; train the "
            "model with bias=False"
        )


def _all_zero(tensor: Tensor) -> bool:
    return tensor.floating and not tensor.reals().any()


def _masks(given: Given) -> Iterator[str]:
    masks = given.of(Role.MASK)
    if other := [one for one in masks if not _is_causal(given.tensor(one))]:
        yield (
            f"{listed(other)}: a mask that is not causal; say mask=full if it masks nothing, and "
            "leave it out"
        )
    elif masks and given.file.metadata.get("mask", "causal") != "causal":
        yield f"{listed(masks)}: a causal mask, where metadata says another; correct one of them"


def _is_causal(tensor: Tensor) -> bool:
    """Whether it keeps (ones) j <= i, or marks (ones) or lowers (to _LOWERED or less) j > i."""
    if not tensor.floating and tensor.code not in ("BOOL", "U8"):
        return False
    flat = tensor.reals() if tensor.floating else np.frombuffer(tensor.data, dtype=np.uint8)
    grid = flat.astype(np.float64).reshape(tensor.shape[-2:])
    above = np.triu(np.ones_like(grid), 1)
    lowered = (grid[above > 0] <= _LOWERED).all() and not grid[above == 0].any()
    return bool(np.array_equal(grid, 1 - above) or np.array_equal(grid, above) or lowered)


def _unsaid(given: Given) -> Iterator[str]:
    """What nn.MultiheadAttention is told where it is called."""
    known = given.file.metadata
    if not any(one.module == MULTIHEAD for one in given.of(Role.PACKED)):
        return
    if "mask" not in known and not given.of(Role.MASK):
        yield "nn.MultiheadAttention is told its mask when it is called; say mask=causal or full"
    if "residual" not in known and _numbered(given):
        yield "blocks of nn.MultiheadAttention may be residual or not; say residual=true or false"


def _left_out(given: Given) -> Iterator[str]:
    """One line for each kind of tensor that is no part of a target and changes nothing in it."""
    lines = (
        f"{one.shown_pattern} {list(given.tensor(one).shape)}: {reason}"
        for role, reason in _LEFT_OUT.items()
        for one in given.of(role)
    )
    return iter(dict.fromkeys(lines))
