"""The transformer of Theorem 9 as named tensors, dense or in block form.

    dense                              shape
    embedding                          (2 N |R|, D)       one row a token of the vocabulary
    query, key, value                  (D, D)             query and key are zero
    hidden.i.weight, hidden.i.bias     (w_(i+1), w_i)     the MLP's K + 2 hidden layers, w_0 = D
    output.weight, output.bias         (D, w_(K+2))

    block                              shape
    hidden.i.weight, hidden.i.bias     the parity part alone, from (A(sigma).., A(#))
    row.label, row.present             (rows,)            when a conjunction holds
    row.parity                         (rows, N - 1)      1 odd, 0 even, -1 either
    row.token                          (rows, 3)          displayed symbol, label, update bit

Every weight is a whole number, small or a power of two, held exactly by every dtype. What
block form leaves out is zero, or one-hot, or carried past the MLP only to be subtracted.

Source: Sliding-Window Transformers Without Positional Encodings, Section 5 and Appendix A.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from constructions.machines.definitions import MachineError, TuringMachine, Word
from constructions.machines.formats.machine_file import QueueTable
from constructions.machines.parity import Stored
from constructions.machines.precision import WAYS, WIDER, FrontierCase, frontier, proved_bound
from constructions.machines.reachable import ControlGraph, reachable_labels
from constructions.machines.relu import AffineLayer, WindowSize, fold_layers, read_forms, steps
from constructions.machines.relu_machine import Conjunction, MachineNetwork, machine_network
from constructions.machines.relu_machine import conjunctions as rows_of
from constructions.machines.turing import TuringQueue
from constructions.tensor_files import Tensor
from constructions.universal.floats import FORMATS
from verify.errors import UsageError

DTYPES = ("float64", "float32", "bfloat16", "float16")
FORMS = ("dense", "block")
SIXTEEN_BITS = 11
"""Digits of the widest format whose windows are tried one by one."""
MOST_ENTRIES = 1 << 26
"""Entries of the largest matrices that are written densely unless they are asked for."""
Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The machine behind a transformer, with its queue machine's control graph."""

    machine: TuringMachine | QueueTable
    graph: ControlGraph[Stored[Any]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Close the control graph over every symbol that an input may have."""
        object.__setattr__(self, "graph", _graph(self.machine))

    @property
    def displayed(self) -> Word:
        """N symbols, the marker last."""
        return self.graph.transformer.displayed

    @property
    def entries(self) -> int:
        """Entries of the dense embedding and of the last hidden layer, the two largest."""
        shown, labels = len(self.displayed), len(self.graph.labels)
        width = 2 * shown + labels + 2
        rows = len(rows_of(self.graph))
        return 2 * shown * labels * width + (rows + width) * (2 * shown + width)


def _graph(machine: TuringMachine | QueueTable) -> ControlGraph[Stored[Any]]:
    if isinstance(machine, TuringMachine):
        return reachable_labels(TuringQueue(machine=machine).queue_machine(), machine.alphabet)
    queue = machine.machine()
    return reachable_labels(queue, queue.alphabet)


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowModel:
    """A machine's transformer for windows of at most `window` symbols, in one dtype and form."""

    source: Source
    window: int
    dtype: str
    form: str
    tensors: Mapping[str, Tensor] = field(repr=False)

    @property
    def longest_context(self) -> int:
        """S + 1: one marker more than the longest window."""
        return self.window + 1


def compiled(source: Source, window: int, dtype: str, form: str) -> WindowModel:
    """The tensors of a machine's transformer.

    Raises:
        UsageError: an unknown dtype or form, or a window for which the dtype is too narrow.
    """
    for name, value, known in (("dtype", dtype, DTYPES), ("form", form, FORMS)):
        if value not in known:
            raise UsageError(f"--{name} must be one of {', '.join(known)}, got {value}; choose one")
    require_window(window, dtype)
    tensors = dense(source, window, dtype) if form == "dense" else block(source, window, dtype)
    return WindowModel(source=source, window=window, dtype=dtype, form=form, tensors=tensors)


def require_window(window: int, dtype: str) -> None:
    """Require a window for which parities are known to be right in the dtype.

    Raises:
        UsageError: a longer one.
    """
    most = largest_window(dtype)
    if not 1 <= window <= most:
        raise UsageError(
            f"--window must be from 1 to {most} in {dtype}, got {window}; beyond it parities are "
            "not known to be right: choose a shorter window or a wider --dtype"
        )


@lru_cache(maxsize=len(DTYPES))
def largest_window(dtype: str) -> int:
    """The longest window for which a dtype is known to give every parity, S in all.

    In 16 bits every count in every context was tried, the mean summed in float32; float32 sums in
    float64 and has a proved bound, and so has float64, whatever the order of its sums.
    """
    format = FORMATS[dtype]
    if format.digits <= SIXTEEN_BITS:
        case = FrontierCase(format=format, way=WAYS["wider"], limit=4 << format.digits)
        return frontier(case).longest
    return proved_bound(format, WAYS["wider" if dtype in WIDER else "sequential"])


# --- dense -----------------------------------------------------------------------------------


def dense(source: Source, window: int, dtype: str) -> dict[str, Tensor]:
    """Embedding, attention and MLP as matrices."""
    network = machine_network(source.graph, window)
    vocabulary = network.vocabulary
    size, width = len(vocabulary.displayed), vocabulary.width
    zero, value = np.zeros((width, width)), np.zeros((width, width))
    value[np.arange(size, 2 * size), np.arange(size)] = 1
    layers = {f"hidden.{i}": layer for i, layer in enumerate(network.network.hidden)}
    return _stored(
        {
            "embedding": _embedding(network),
            "query": zero,
            "key": zero,
            "value": value,
            **_matrices({**layers, "output": network.network.output}),
        },
        dtype,
    )


def _embedding(network: MachineNetwork[Any]) -> Reals:
    """emb(v) of each token, in the order displayed symbol, label, update bit."""
    size, labels = len(network.vocabulary.displayed), len(network.vocabulary.labels)
    tokens = np.arange(2 * size * labels)
    found = np.zeros((len(tokens), network.vocabulary.width))
    found[tokens, tokens // (2 * labels)] = 1
    found[tokens, 2 * size + tokens // 2 % labels] = 1
    found[tokens, 2 * size + labels + tokens % 2] = 1
    return found


def _matrices(layers: Mapping[str, AffineLayer]) -> dict[str, Reals]:
    found: dict[str, Reals] = {}
    for name, layer in layers.items():
        weight = np.zeros((len(layer.rows), layer.inputs))
        for place, row in enumerate(layer.rows):
            for column, entry in row:
                weight[place, column] += float(entry)
        found[f"{name}.weight"] = weight
        found[f"{name}.bias"] = np.array([float(entry) for entry in layer.bias])
    return found


def _stored(matrices: Mapping[str, Reals], dtype: str) -> dict[str, Tensor]:
    found = {name: Tensor.of_reals(entries, dtype) for name, entries in matrices.items()}
    for name, tensor in found.items():
        if not np.array_equal(tensor.reals(), matrices[name]):
            raise MachineError(
                f"tensors: {name} must be exact in {dtype}, got entries that are rounded; use a "
                "wider dtype"
            )
    return found


# --- block -----------------------------------------------------------------------------------


def block(source: Source, window: int, dtype: str) -> dict[str, Tensor]:
    """The parity part as matrices, the conjunctions as places."""
    size = WindowSize(longest=window)
    symbols = len(source.displayed) - 1
    folds = fold_layers(range(symbols), symbols, (symbols,), symbols + 1, size.bits)
    mass = 2 * symbols
    forms = (*read_forms(symbols, mass, size.scale), ((mass, size.scale),))
    layers = (*folds, steps(forms, (), mass + 1))
    labels = {label: place for place, label in enumerate(source.graph.labels)}
    rows = rows_of(source.graph)
    shown = {symbol: place for place, symbol in enumerate(source.displayed)}
    places = {
        "row.label": [row.label for row in rows],
        "row.present": [int(row.present) for row in rows],
        "row.parity": [_wanted(row, symbols) for row in rows],
        "row.token": [
            [shown[row.token.displayed], labels[row.token.label], row.token.update] for row in rows
        ],
    }
    return {
        **_stored(_matrices({f"hidden.{i}": layer for i, layer in enumerate(layers)}), dtype),
        **{name: Tensor.of_places(np.array(entries)) for name, entries in places.items()},
    }


def _wanted(row: Conjunction[Any], symbols: int) -> list[int]:
    if row.mask is None:
        return [-1] * symbols
    return [row.mask >> place & 1 for place in range(symbols)]
