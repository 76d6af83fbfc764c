"""The minimal transformer as a PyTorch function: all positions of a batch at once.

Source: Fully Interpretable Minimal Transformers, Figure 1 and Table 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any

import numpy as np

from constructions.minimal.definitions import WIDTH, Model, shapes


def logits(weights: Mapping[str, Any], tokens: Any) -> Any:
    """Logits of shape (batch, n, 12) for tokens of shape (batch, n), under a causal mask."""
    import torch

    length = tokens.shape[1]
    stream = weights["E"][tokens] + weights["P"][:length]
    queries, keys = stream @ weights["W_Q"], stream @ weights["W_K"]
    scores = queries @ keys.transpose(1, 2) / sqrt(WIDTH)
    later = torch.ones(length, length, dtype=torch.bool, device=tokens.device).triu(1)
    attention = scores.masked_fill(later, -torch.inf).softmax(-1)
    stream = stream + attention @ (stream @ weights["W_V"])
    hidden = (stream @ weights["W_1"] + weights["b_1"]).relu()
    stream = stream + hidden @ weights["W_2"] + weights["b_2"]
    return stream @ weights["U"] + weights["c"]


def initial(seed: int, context: int, hidden: int) -> dict[str, Any]:
    """Weights as PyTorch's own layers begin: embeddings normal, others uniform by the fan-in."""
    import torch

    source = torch.Generator().manual_seed(seed)
    fans = {"W_2": hidden, "b_2": hidden}
    weights = dict[str, Any]()
    for name, shape in shapes(context, hidden).items():
        if name in ("E", "P"):
            weights[name] = torch.randn(shape, generator=source)
        else:
            reach = 1 / sqrt(fans.get(name, WIDTH))
            weights[name] = (2 * torch.rand(shape, generator=source) - 1) * reach
    return weights


def weights_of(model: Model, dtype: str = "float64") -> dict[str, Any]:
    """A model's tensors in torch."""
    import torch

    kind = getattr(torch, dtype)
    return {name: torch.tensor(tensor, dtype=kind) for name, tensor in model.tensors.items()}


def model_of(weights: Mapping[str, Any]) -> Model:
    """Tensors of torch as a model, without rounding."""
    return Model(tensors={name: weights[name].detach().cpu().double().numpy() for name in shapes()})


def last_logits(model: Model, windows: Sequence[Sequence[int]]) -> Any:
    """Float64 logits behind the last token of windows of one length, as an array (batch, 12)."""
    import torch

    with torch.no_grad():
        return logits(weights_of(model), torch.tensor(np.array(windows)))[:, -1].numpy()
