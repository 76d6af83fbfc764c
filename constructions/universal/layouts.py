"""Where the coordinates of a universal transformer stand, and the embedding written to them.

All sparse layouts share one order: level by level, the blocks of each head sequence p of length
t < L (for each head h the d query and the d key columns), then the leaves (d_in columns for each
sequence of length L). Sequences of one length are ordered as numbers in base H.

Source: Fixed Universal Transformers, Appendix A.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from constructions.universal.definitions import Target, TransformerSize, Universal, require_width
from constructions.universal.maps import Indices, Ones
from verify.rational import Matrix

QUERY, KEY, LEAF, UNUSED = range(4)
"""Kinds of coordinates."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Coordinates:
    """The labels of all m coordinates, one array entry each.

    kind; depth t of the head sequence (L for leaves, -1 if unused); number of the sequence in
    base H; head (0 for leaves) and column, all from 0.
    """

    size: TransformerSize
    kind: Indices
    depth: Indices
    number: Indices
    head: Indices
    column: Indices

    @property
    def width(self) -> int:
        """The embedding dimension m."""
        return len(self.kind)

    def digit(self, layer: int) -> Indices:
        """The sequence's head at a layer (both from 0); meaningless unless the depth is above."""
        heads = self.size.heads
        return self.number // heads ** np.maximum(self.depth - layer - 1, 0) % heads

    def path(self, coordinate: int) -> tuple[int, ...]:
        """The head sequence of one coordinate, heads from 0."""
        return digits(int(self.number[coordinate]), int(self.depth[coordinate]), self.size.heads)


def digits(number: int, length: int, base: int) -> tuple[int, ...]:
    """The `length` digits of a number, most significant first."""
    return tuple(number // base ** (length - 1 - place) % base for place in range(length))


def coordinates(size: TransformerSize, width: int) -> Coordinates:
    """The labels of the shared layout; coordinates from `size.probe_width` on are unused.

    Raises:
        SizeError: width below `size.probe_width`.
    """
    require_width(width, size.probe_width, "coordinates of the tree")
    block = 2 * size.heads * size.head_width
    position = np.arange(block)
    per_node = (
        position // size.head_width % 2,
        position // (2 * size.head_width),
        position % size.head_width,
    )
    kind, head, column = list[Indices](), list[Indices](), list[Indices]()
    depth, number = list[Indices](), list[Indices]()
    for level in range(size.layers):
        nodes: int = size.heads**level
        kind.append(np.tile(per_node[0], nodes))
        head.append(np.tile(per_node[1], nodes))
        column.append(np.tile(per_node[2], nodes))
        depth.append(np.full(nodes * block, level, dtype=np.int64))
        number.append(np.arange(nodes * block) // block)
    leaves, spare = size.leaves * size.token_width, width - size.probe_width
    kind += [np.full(leaves, LEAF), np.full(spare, UNUSED)]
    head += [np.zeros(leaves, dtype=np.int64), np.zeros(spare, dtype=np.int64)]
    column += [np.tile(np.arange(size.token_width), size.leaves), np.arange(spare)]
    depth += [np.full(leaves, size.layers), np.full(spare, -1)]
    number += [np.repeat(np.arange(size.leaves), size.token_width), np.zeros(spare, dtype=np.int64)]
    return Coordinates(
        size=size,
        kind=np.concatenate(kind),
        depth=np.concatenate(depth),
        number=np.concatenate(number),
        head=np.concatenate(head),
        column=np.concatenate(column),
    )


def ones_where(places: Coordinates, chosen: Indices, columns: int) -> Ones:
    """A 0/1 matrix whose row i has a 1 in column `places.column[i]` for each chosen i."""
    rows = np.flatnonzero(chosen)
    return Ones.at(places.width, columns, rows, places.column[rows])


def node_blocks(target: Target) -> Iterator[Matrix]:
    """The blocks of E^T in layout order, level by level, then leaf by leaf.

    (M^{1:t,p} [W_Q^{t+1,h}, W_K^{t+1,h}]_h)^T per sequence p, then (M^{1:L,p})^T per leaf. Each
    prefix product is formed once.
    """
    mixes = target.mixes()
    prefixes = [Matrix.identity(target.size.token_width)]
    for level in range(target.size.layers):
        pairs = zip(target.queries[level], target.keys[level], strict=True)
        reads = Matrix.beside([matrix for pair in pairs for matrix in pair])
        for prefix in prefixes:
            yield (prefix @ reads).transposed
        prefixes = [prefix @ mix for prefix in prefixes for mix in mixes[level]]
    for prefix in prefixes:
        yield prefix.transposed


def embedding(target: Target, width: int) -> Matrix:
    """E of the tree and of the looped layout, transposed: shape (m, d_in), zero where unused.

    Raises:
        SizeError: width below `size.probe_width`.
    """
    require_width(width, target.size.probe_width, "embedding")
    spare = Matrix.zero(width - target.size.probe_width, target.size.token_width)
    return Matrix.stack([*node_blocks(target), spare])


def tree_order(size: TransformerSize, width: int) -> Indices:
    """Per column of P_0 the coordinate that has its label.

    P_0 lists a sequence's reads and then, head by head, all that extends it; the layout lists
    level by level. shape (s_0,)
    """
    places = coordinates(size, width)
    reads = 2 * size.heads * size.head_width
    below = [size.token_width]
    for _ in range(size.layers):
        below.append(reads + size.heads * below[-1])
    column = np.where(
        places.kind == LEAF,
        places.column,
        (2 * places.head + places.kind) * size.head_width + places.column,
    )
    for layer in range(size.layers):
        deeper = places.depth > layer
        step = reads + places.digit(layer) * below[size.layers - layer - 1]
        column = column + np.where(deeper, step, 0)
    used = np.flatnonzero(places.kind != UNUSED)
    order = np.empty(size.probe_width, dtype=np.int64)
    order[column[used]] = used
    return order


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A sparse construction: its fixed parameters, and where each block of E stands.

    `build(size, m)` makes the fixed parameters; `least_width(size)` is the smallest m;
    `order(size, m)` lists, per column of P_0, the coordinate that it should select;
    `write(target, m)` is E transposed, shape (m, d_in). `single_head` layouts need H = 1.
    """

    name: str
    build: Callable[[TransformerSize, int], Universal]
    least_width: Callable[[TransformerSize], int]
    order: Callable[[TransformerSize, int], Indices]
    write: Callable[[Target, int], Matrix]
    tied: bool
    single_head: bool = False
