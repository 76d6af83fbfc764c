"""Trainable transformers on one-hot tokens: their sizes, components, parameters and initial values.

    E (V, m)   U (m, V)   R_Q, R_K (L, H, m, d)   R_V (L, H, m, m), or the diagonals (L, H, m)
    gain_1, shift_1 (L, m)   gain_2, shift_2 (L, m) if it has MLPs   gain, shift (m)      norms
    W_1 (L, m, 4m)   b_1 (L, 4m)   W_2 (L, 4m, m)   b_2 (L, m)                              MLPs

    sparse    R of the tree, Theorem 3.1; E and U are trained
    random    R uniform on (-1/sqrt(m), 1/sqrt(m)); E and U are trained
    trained   begins as random; everything is trained

R_V is stored as outputs by inputs, like the weight of torch.nn.Linear.

MLPs come with residual paths. With residual paths and norms the blocks are X + attention(norm(X)),
then X + MLP(norm(X)), and a norm stands before U, as in GPT-2; the paper does not say. MLPs are
GELU of width 4m with PyTorch's default initial values. E and U begin as normal numbers of standard
deviation 0.02.

Source: Fixed Universal Transformers, Sections 5.1 and 5.2.1, Appendix H.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from constructions.learning.kinds import Components, Family
from constructions.universal.definitions import TransformerSize
from constructions.universal.layouts import coordinates
from constructions.universal.tree import tree_on, tree_value
from verify.errors import UsageError

DEVIATION = 0.02
EPSILON = 1e-5
EXPANSION = 4
Tensors = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """Everything about a model but its numbers.

    Raises:
        UsageError: sizes that do not fit together.
    """

    family: Family
    components: Components
    heads: int
    layers: int
    head_width: int
    vocabulary: int
    width: int

    def __post_init__(self) -> None:
        """Check the sizes."""
        least = {"heads": 1, "layers": 1, "head_width": 1, "vocabulary": 2, "width": 1}
        for name, smallest in least.items():
            if getattr(self, name) < smallest:
                raise UsageError(
                    f"a model needs {name} of at least {smallest}, got {getattr(self, name)}; "
                    "choose another"
                )
        if self.family is Family.sparse and self.width < self.size.probe_width:
            raise UsageError(
                f"a sparse model with H = {self.heads}, L = {self.layers}, d = {self.head_width} "
                f"and {self.vocabulary} tokens needs m of at least {self.size.probe_width}, got "
                f"{self.width}; raise m or choose smaller sizes"
            )

    @property
    def size(self) -> TransformerSize:
        """The sizes of the targets that a sparse model of these sizes can simulate."""
        return TransformerSize(
            heads=self.heads,
            layers=self.layers,
            head_width=self.head_width,
            token_width=self.vocabulary,
        )

    @property
    def trains(self) -> tuple[str, ...]:
        """Names of the parameters that are trained."""
        every = tuple(shapes(self))
        return every if self.family is Family.trained else ("E", "U")


def shapes(model: Architecture) -> dict[str, tuple[int, ...]]:
    """The shape of each parameter."""
    m, layers, maps = model.width, model.layers, (model.layers, model.heads)
    masks = model.family is Family.sparse
    found: dict[str, tuple[int, ...]] = {
        "E": (model.vocabulary, m),
        "U": (m, model.vocabulary),
        "R_Q": (*maps, m, model.head_width),
        "R_K": (*maps, m, model.head_width),
        "R_V": (*maps, m) if masks else (*maps, m, m),
    }
    if model.components.has_norm:
        found |= {"gain_1": (layers, m), "shift_1": (layers, m), "gain": (m,), "shift": (m,)}
    if model.components.has_mlp:
        hidden = EXPANSION * m
        found |= {"W_1": (layers, m, hidden), "b_1": (layers, hidden)}
        found |= {"W_2": (layers, hidden, m), "b_2": (layers, m)}
    if model.components.has_norm and model.components.has_mlp:
        found |= {"gain_2": (layers, m), "shift_2": (layers, m)}
    return found


def initial(model: Architecture, seed: int) -> Tensors:
    """Initial parameters as float32 tensors, the same ones for the same seed."""
    import torch

    random = torch.Generator().manual_seed(seed)

    def uniform(shape: tuple[int, ...], inputs: int) -> Any:
        bound = 1 / sqrt(inputs)
        return torch.empty(shape).uniform_(-bound, bound, generator=random)

    fan_in = {"W_2": EXPANSION * model.width, "b_2": EXPANSION * model.width}
    fixed = tree_maps(model) if model.family is Family.sparse else {}
    found = Tensors()
    for name, shape in shapes(model).items():
        if name in ("E", "U"):
            found[name] = torch.empty(shape).normal_(0, DEVIATION, generator=random)
        elif name in fixed:
            found[name] = fixed[name]
        elif name.startswith(("gain", "shift")):
            found[name] = torch.full(shape, float(name.startswith("gain")))
        else:
            found[name] = uniform(shape, fan_in.get(name, model.width))
    return found


def tree_maps(model: Architecture) -> Tensors:
    """The tree's R_Q and R_K as 0/1 matrices, and the diagonals of its R_V."""
    import torch

    places = coordinates(model.size, model.width)
    parameters = tree_on(places)
    readers = {"R_Q": parameters.queries, "R_K": parameters.keys}
    found = Tensors()
    for name, maps in readers.items():
        found[name] = torch.zeros(shapes(model)[name])
        for layer, heads in enumerate(maps):
            for head, ones in enumerate(heads):
                found[name][layer, head, ones.rows, ones.columns] = 1.0
    kept = [
        [tree_value(places, layer, head).rows >= 0 for head in range(model.heads)]
        for layer in range(model.layers)
    ]
    found["R_V"] = torch.tensor(np.array(kept), dtype=torch.float32)
    return found
