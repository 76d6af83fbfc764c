"""The same models as written down: every stream m wide, every matrix multiplied.

Source: Fixed Universal Transformers, Sections 2, 3.3 and 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from constructions.learning.definitions import EPSILON, Architecture


def logits(model: Architecture, parameters: Mapping[str, Any], tokens: Any) -> Any:
    """Outputs of shape (B, n, V) for tokens of shape (B, n), under a causal mask."""
    import torch

    parts = model.components
    length = tokens.shape[1]
    later = torch.ones(length, length, dtype=torch.bool, device=tokens.device).triu(1)
    stream = parameters["E"][tokens]
    for index in range(model.layers):
        rows = _normed(parts.has_norm, parameters, "1", index, stream)
        moved = _attention(model, parameters, index, rows, later)
        stream = stream + moved if parts.has_residual else moved
        if parts.has_mlp:
            rows = _normed(parts.has_norm, parameters, "2", index, stream)
            hidden = rows @ parameters["W_1"][index] + parameters["b_1"][index]
            activated = torch.nn.functional.gelu(hidden)
            stream = stream + activated @ parameters["W_2"][index] + parameters["b_2"][index]
    if parts.has_norm:
        stream = _norm(stream, parameters["gain"], parameters["shift"])
    return stream @ parameters["U"]


def _attention(
    model: Architecture, parameters: Mapping[str, Any], index: int, rows: Any, later: Any
) -> Any:
    total: Any = 0
    for head in range(model.heads):
        queries = rows @ parameters["R_Q"][index, head]
        keys = rows @ parameters["R_K"][index, head]
        scores = queries @ keys.transpose(1, 2)
        shares = scores.masked_fill(later, -float("inf")).softmax(-1)
        value = parameters["R_V"][index, head]
        moved = rows * value if value.dim() == 1 else rows @ value.T
        total = total + shares @ moved
    return total


def _normed(present: bool, parameters: Mapping[str, Any], place: str, index: int, rows: Any) -> Any:
    if not present:
        return rows
    return _norm(rows, parameters[f"gain_{place}"][index], parameters[f"shift_{place}"][index])


def _norm(rows: Any, gain: Any, shift: Any) -> Any:
    import torch

    return torch.nn.functional.layer_norm(rows, rows.shape[-1:], gain, shift, EPSILON)
