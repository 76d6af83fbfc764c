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
class Node:
    """What a layout stores per head sequence shorter than L: kind, head, column of each coordinate.

    Plainly each head has d query and d key columns; folded, each head has d_in query columns and
    all share d_in key columns.
    """

    kind: Indices
    head: Indices
    column: Indices
    shared_keys: bool = False

    @classmethod
    def plain(cls, size: TransformerSize) -> Node:
        """[W_Q^h, W_K^h] per head."""
        d = size.head_width
        place = np.arange(2 * size.heads * d)
        return cls(kind=place // d % 2, head=place // (2 * d), column=place % d)

    @classmethod
    def folded(cls, size: TransformerSize) -> Node:
        """W_Q^h W_K^{hT} per head, and one identity."""
        place = np.arange((size.heads + 1) * size.token_width)
        head, column = place // size.token_width, place % size.token_width
        shared = head == size.heads
        return cls(
            kind=np.where(shared, KEY, QUERY),
            head=np.where(shared, 0, head),
            column=column,
            shared_keys=True,
        )

    def key_head(self, head: int) -> int:
        """The head under which a head's keys are stored: its own, or the first for all."""
        return 0 if self.shared_keys else head

    @property
    def width(self) -> int:
        """Coordinates of a sequence."""
        return len(self.kind)


def stored_width(size: TransformerSize, node: Node) -> int:
    """Coordinates of a layout with such nodes and d_in for each leaf."""
    return node.width * size.internal_nodes + size.leaves * size.token_width


def folded_width(size: TransformerSize) -> int:
    """(H + 1) d_in per sequence shorter than L, d_in per full one."""
    return stored_width(size, Node.folded(size))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Coordinates:
    """The labels of all m coordinates, one array entry each.

    kind; depth t of the head sequence (L for leaves, -1 if unused); number of the sequence in
    base H; head (0 for leaves and for shared keys) and column; place within its sequence's block;
    all from 0.
    """

    size: TransformerSize
    node: Node
    place: Indices
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


def coordinates(size: TransformerSize, width: int, node: Node | None = None) -> Coordinates:
    """The labels of the shared layout; coordinates beyond its own are unused.

    Raises:
        SizeError: width below that of the layout.
    """
    node = Node.plain(size) if node is None else node
    least = stored_width(size, node)
    require_width(width, least, "coordinates of the tree")
    inside = size.internal_nodes
    leaves, spare = size.leaves * size.token_width, width - least
    levels: list[int] = [size.heads**level for level in range(size.layers)]
    counted: list[Indices] = [np.arange(nodes) for nodes in levels]
    depths: list[Indices] = [np.full(nodes, level) for level, nodes in enumerate(levels)]
    leaf, unused = np.zeros(leaves, dtype=np.int64), np.zeros(spare, dtype=np.int64)
    leaf_column = np.tile(np.arange(size.token_width), size.leaves)
    leaf_number = np.repeat(np.arange(size.leaves), size.token_width)

    def joined(nodes: Indices, at_leaves: Indices, beyond: Indices) -> Indices:
        return np.concatenate([nodes, at_leaves, beyond])

    return Coordinates(
        size=size,
        node=node,
        kind=joined(np.tile(node.kind, inside), leaf + LEAF, unused + UNUSED),
        head=joined(np.tile(node.head, inside), leaf, unused),
        column=joined(np.tile(node.column, inside), leaf_column, np.arange(spare)),
        place=joined(np.tile(np.arange(node.width), inside), leaf_column, np.arange(spare)),
        depth=joined(np.repeat(np.concatenate(depths), node.width), leaf + size.layers, unused - 1),
        number=joined(np.repeat(np.concatenate(counted), node.width), leaf_number, unused),
    )


def ones_where(places: Coordinates, chosen: Indices, columns: int) -> Ones:
    """A 0/1 matrix whose row i has a 1 in column `places.column[i]` for each chosen i."""
    rows = np.flatnonzero(chosen)
    return Ones.at(places.width, columns, rows, places.column[rows])


def plain_reads(target: Target, level: int) -> Matrix:
    """[W_Q^h, W_K^h]_h of the layer after a level, shape (d_in, 2Hd)."""
    pairs = zip(target.queries[level], target.keys[level], strict=True)
    return Matrix.beside([matrix for pair in pairs for matrix in pair])


def node_blocks(
    target: Target, reads: Callable[[Target, int], Matrix] = plain_reads
) -> Iterator[Matrix]:
    """The blocks of E^T in layout order, level by level, then leaf by leaf.

    (M^{1:t,p} R_{t+1})^T per sequence p, R_{t+1} what a node of level t stores (by default
    [W_Q^{t+1,h}, W_K^{t+1,h}]_h), then (M^{1:L,p})^T per leaf. Each prefix product is formed once.
    """
    prefixes = [Matrix.identity(target.size.token_width)]  # (M^{1:t,p})^T
    for level, mixes in enumerate(target.mixes()):
        stored = reads(target, level).transposed
        for prefix in prefixes:
            yield stored @ prefix
        turned = [mix.transposed for mix in mixes]
        prefixes = [mix @ prefix for prefix in prefixes for mix in turned]
    yield from prefixes


def embedding(target: Target, width: int) -> Matrix:
    """E of the tree and of the looped layout, transposed: shape (m, d_in), zero where unused.

    Raises:
        SizeError: width below `size.probe_width`.
    """
    require_width(width, target.size.probe_width, "embedding")
    spare = Matrix.zero(width - target.size.probe_width, target.size.token_width)
    return Matrix.stack([*node_blocks(target), spare])


def placed(content: Matrix, order: Indices, width: int) -> Matrix:
    """E transposed, shape (m, d_in), whose coordinate `order[c]` holds row c of `content`.

    So E P_0 = C_0 for content C_0 transposed, shape (s_0, d_in), and a P_0 that selects distinct
    coordinates in this order, whatever C_0 comes from; zero elsewhere.
    """
    rows = np.full(width, -1)
    rows[order] = np.arange(len(order))
    return content.select_rows(rows.tolist())


def tree_order(size: TransformerSize, width: int, node: Node | None = None) -> Indices:
    """Per column of P_0 the coordinate that has its label, or -1 for a column of zeros.

    P_0 lists a sequence's reads and then, head by head, all that extends it; the layout lists
    level by level. shape (s_0,)
    """
    places = coordinates(size, width, node)
    start = np.zeros(width, dtype=np.int64)
    for layer, below in enumerate(size.probe_widths[1:]):
        step = size.reads + places.digit(layer) * below
        start += np.where(places.depth > layer, step, 0)
    order = np.full(size.probe_width, -1, dtype=np.int64)
    for head in range(size.heads):
        for kind, stored in ((QUERY, head), (KEY, places.node.key_head(head))):
            mine = np.flatnonzero((places.kind == kind) & (places.head == stored))
            column = (2 * head + kind) * size.head_width + places.column[mine]
            order[start[mine] + column] = mine
    leaves = np.flatnonzero(places.kind == LEAF)
    order[start[leaves] + places.column[leaves]] = leaves
    return order


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A sparse construction: its fixed parameters, and where each block of E stands.

    `build(size, m)` makes the fixed parameters; `least_width(size)` is the smallest m;
    `order(size, m)` lists, per column of P_0, the coordinate that it should select, or -1 where
    the column is zero; `write(target, m)` is E transposed, shape (m, d_in), for coefficients with
    the factors of the logits that `factored(target)` has. `single_head` layouts need H = 1,
    `wide_heads` ones d >= d_in; those with `blocks` serve gated and residual blocks as well.
    """

    name: str
    build: Callable[[TransformerSize, int], Universal]
    least_width: Callable[[TransformerSize], int]
    order: Callable[[TransformerSize, int], Indices]
    write: Callable[[Target, int], Matrix]
    tied: bool
    single_head: bool = False
    wide_heads: bool = False
    blocks: bool = False
    factored: Callable[[Target], Target] = lambda target: target
