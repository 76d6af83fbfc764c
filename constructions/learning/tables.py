"""A stream without MLPs as features times tables: the tables are m wide, the features are not.

    stream   X~^l = F_l T_l      F_l (n, D_l) of tokens and attention, T_l (D_l, m) of parameters
    T_0 = E, the rows of the tokens that occur; F_0 one-hot, D_0 = v
    F_{l+1} = [F_l if residual, {A^{l+1,h} F'_l}_h]
    T_{l+1} = [T_l if residual, {T'_l R_V^{l+1,h}}_h]          D_{l+1} = (H + residual) D_l

    without norms   F'_l = F_l, T'_l = T_l
    with norms      T'_l: the rows of T_l less their means, times the gain, and the shift as one row
                    F'_l: F_l over the stream's deviation, and a 1; the variance of F_l T_l is the
                    quadratic form F_l G F_l^T with G = C C^T / m, C the rows less their means

So queries and keys need T'_l R_Q and T'_l R_K alone, the output T_L U: a few rows each, whatever
the number of strings. For attention alone the rows are those of E P_0 (the probe lemma).

Source: Fixed Universal Transformers, Section 5; the tables, with norms, are ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from constructions.learning.definitions import EPSILON, Architecture
from constructions.learning.kinds import Family


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """What a layer's attention needs.

    forms   (H, D', D'): queries times keys
    gram    (D, D): G, or None without norms
    shift   whether F' has the row of ones
    """

    forms: Any
    gram: Any
    shift: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficients:
    """All that the output needs of the parameters.

    layers   one per layer
    dtype    that of the tables

    without norms
    heads    (H, D', V): what the last layer's heads add to the output
    carried  (D_{L-1}, V): the residual stream read out, or None

    with norms
    gram     (D_L, D_L): G of the last stream
    read     (D_L + read_shift, V): T'_L U
    """

    layers: tuple[Layer, ...]
    dtype: Any
    heads: Any = None
    carried: Any = None
    gram: Any = None
    read: Any = None
    read_shift: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """A fixed matrix F (k, m) and its transpose, each by rows, as thin products are fast."""

    rows: Any
    columns: Any

    @classmethod
    def of(cls, matrix: Any) -> Factor:
        """Both orders of a matrix."""
        return cls(rows=matrix.contiguous(), columns=matrix.T.contiguous())

    def times(self, thin: Any) -> Any:
        """F times a thin matrix (m, D), with the gradient F^T g."""
        return _product().apply(thin, self.rows, self.columns)


@cache
def _product() -> Any:
    import torch

    class Product(torch.autograd.Function):
        """F X, whose gradient in X uses the other order of F."""

        @staticmethod
        def forward(ctx: Any, thin: Any, rows: Any, columns: Any) -> Any:
            ctx.columns = columns
            return rows @ thin

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            # mixed precision hands down bfloat16
            return ctx.columns @ gradients[0].to(ctx.columns.dtype), None, None

    return Product


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixed:
    """A layer's parameters that are not trained, as they are multiplied.

    readers   (2 H d, m): R_Q^T of all heads, then R_K^T
    values    None if they are diagonals; else R_V^T of all heads, (H m, m), for the table on the
              left, or, in the last layer without norms, R_V of all heads, for the readout on the
              right
    """

    readers: Factor
    values: Factor | None


def fixed_layers(model: Architecture, parameters: Mapping[str, Any]) -> tuple[Fixed, ...]:
    """The fixed parameters of all layers, made once for all steps; none if they are trained."""
    if model.family is Family.trained:
        return ()
    from_readout = None if model.components.has_norm else model.layers - 1
    found = list[Fixed]()
    for index in range(model.layers):
        values = None
        if model.family is Family.random:
            maps = parameters["R_V"][index]
            maps = maps.transpose(1, 2) if index == from_readout else maps
            values = Factor.of(maps.flatten(0, 1))
        readers = Factor.of(_readers(parameters, index))
        found.append(Fixed(readers=readers, values=values))
    return tuple(found)


def _readers(parameters: Mapping[str, Any], index: int) -> Any:
    import torch

    maps = torch.cat([parameters["R_Q"][index], parameters["R_K"][index]])
    return maps.transpose(1, 2).flatten(0, 1)


def coefficients(
    model: Architecture,
    parameters: Mapping[str, Any],
    tokens: Any,
    fixed: Sequence[Fixed] = (),
) -> Coefficients:
    """The coefficients for strings over the given tokens, of shape (v,).

    `fixed` are those of `fixed_layers`; without them every product is plain.
    """
    import torch

    norms, residual = model.components.has_norm, model.components.has_residual
    table = parameters["E"][tokens]
    normed, layers = table, list[Layer]()
    for index in range(model.layers):
        normed, gram, shift = _normed(model, parameters, table, ("gain_1", "shift_1"), index)
        readers = fixed[index].readers if fixed else None
        read = readers.times(normed.T) if readers else _readers(parameters, index) @ normed.T
        queries, keys = read.unflatten(0, (2, model.heads, -1))  # (H, d, D') each
        forms = queries.transpose(1, 2) @ keys
        layers.append(Layer(forms=forms, gram=gram, shift=shift))
        if norms or index + 1 < model.layers:
            values = fixed[index].values if fixed else None
            moved = _moved(model, normed, parameters["R_V"][index], values).flatten(0, 1)
            table = torch.cat([table, moved]) if residual else moved
    if norms:
        normed, gram, shift = _normed(model, parameters, table, ("gain", "shift"), ())
        read = normed @ parameters["U"]
        return Coefficients(
            layers=tuple(layers), dtype=table.dtype, gram=gram, read=read, read_shift=shift
        )
    return Coefficients(
        layers=tuple(layers),
        dtype=table.dtype,
        heads=_read(model, normed, parameters, fixed[-1].values if fixed else None),
        carried=table @ parameters["U"] if residual else None,
    )


def _normed(
    model: Architecture,
    parameters: Mapping[str, Any],
    table: Any,
    names: tuple[str, str],
    index: Any,
) -> tuple[Any, Any, bool]:
    """T', G, and whether T' has a row for the shift; frozen norms have gain 1 and shift 0."""
    import torch

    if not model.components.has_norm:
        return table, None, False
    centred = table - table.mean(1, keepdim=True)
    gram = centred @ centred.T / table.shape[1]
    if model.family is not Family.trained:
        return centred, gram, False
    gain, shift = (parameters[name][index] for name in names)
    return torch.cat([centred * gain, shift[None]]), gram, True


def _moved(model: Architecture, table: Any, values: Any, fixed: Factor | None) -> Any:
    """(H, D, m): the table times each head's value map."""
    if model.family is Family.sparse:
        return table * values[:, None, :]
    products = fixed.times(table.T) if fixed else values.flatten(0, 1) @ table.T
    return products.unflatten(0, (model.heads, -1)).transpose(1, 2)


def _read(
    model: Architecture, table: Any, parameters: Mapping[str, Any], fixed: Factor | None
) -> Any:
    """(H, D, V): the table times each head's value map of the last layer and the readout."""
    readout = parameters["U"]
    if fixed is None:
        return _moved(model, table, parameters["R_V"][-1], None) @ readout
    return table @ fixed.times(readout).unflatten(0, (model.heads, -1))


def reciprocal_deviations(features: Any, gram: Any) -> Any:
    """1 / sqrt(variance + epsilon) of each column of features (B, D, n); shape (B, 1, n)."""
    return ((gram @ features) * features).sum(1, keepdim=True).add(EPSILON).rsqrt()
