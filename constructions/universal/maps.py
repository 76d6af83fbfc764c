"""The fixed matrices of a universal transformer: index maps where they are 0/1, dense otherwise.

    ColumnMap   (m, m)  0/1, at most one 1 in each column: a value map
    Ones        (m, k)  0/1, by the places of the ones: what reads a stream
    Dense       any     entries of any ring: exact, modulo a prime, or enclosed

A map is read by a stream (stream times map) and composed after a value map (value times map).

Source: Fixed Universal Transformers, Section 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from verify.rational import Matrix

Indices = NDArray[np.int64]


class Ring(Protocol):
    """Matrices over some ring: exact rationals, residues modulo a prime, balls."""

    @property
    def shape(self) -> tuple[int, int]:
        """(height, width)."""
        ...

    def __matmul__(self, other: Self, /) -> Self:
        """The product."""
        ...

    @classmethod
    def beside(cls, blocks: Sequence[Self], /) -> Self:
        """Blocks of one height next to each other."""
        ...


Entries = TypeVar("Entries", bound=Ring)


@dataclass(frozen=True, kw_only=True, eq=False)
class ColumnMap:
    """A square 0/1 matrix with at most one 1 in each column.

    `rows[j]` is the row of column j's 1, or -1 if column j is zero; shape (m, m), at most m ones.
    """

    rows: Indices

    @property
    def width(self) -> int:
        """The embedding dimension m."""
        return len(self.rows)

    @property
    def ones(self) -> int:
        """How many entries are 1."""
        return int((self.rows >= 0).sum())

    def dense(self) -> Matrix:
        """The matrix itself."""
        alive = np.flatnonzero(self.rows >= 0)
        return Matrix.with_ones(self.width, self.width, self.rows[alive].tolist(), alive.tolist())

    def read(self, stream: Matrix) -> Matrix:
        """The product `stream` times this matrix: column j is column `rows[j]` of the stream."""
        return stream.select_columns(self.sources)

    def times(self, block: Matrix) -> Matrix:
        """The product of this matrix and a block: row j of the block is added to row `rows[j]`."""
        total, left = Matrix.zero(self.width, block.width), np.flatnonzero(self.rows >= 0)
        while len(left):
            rows, first = np.unique(self.rows[left], return_index=True)
            added = np.full(self.width, -1)
            added[rows] = left[first]
            total = total + block.select_rows(added.tolist())
            left = np.delete(left, first)
        return total

    @cached_property
    def sources(self) -> list[int]:
        """`rows` as a list."""
        return self.rows.tolist()


@dataclass(frozen=True, kw_only=True, eq=False)
class Ones:
    """A 0/1 matrix as the places of its ones, sorted by column and then row.

    shape (height, width); entry (rows[k], columns[k]) is 1 for each k
    """

    height: int
    width: int
    rows: Indices
    columns: Indices

    @classmethod
    def at(cls, height: int, width: int, rows: Any, columns: Any) -> Ones:
        """Ones at the given places, sorted; the places are distinct."""
        listed_rows = np.asarray(rows, dtype=np.int64)
        listed_columns = np.asarray(columns, dtype=np.int64)
        order = np.lexsort((listed_rows, listed_columns))
        return cls(
            height=height,
            width=width,
            rows=listed_rows[order],
            columns=listed_columns[order],
        )

    @property
    def ones(self) -> int:
        """How many entries are 1."""
        return len(self.rows)

    def selection(self) -> Indices | None:
        """Per column the row of its only 1, if every column has exactly one 1, in its own row."""
        if not np.array_equal(self.columns, np.arange(self.width)):
            return None
        return self.rows if len(np.unique(self.rows)) == self.width else None

    @classmethod
    def beside(cls, blocks: Sequence[Ones]) -> Ones:
        """Blocks of one height next to each other."""
        offsets = np.cumsum([0, *(block.width for block in blocks)])
        return cls(
            height=blocks[0].height,
            width=int(offsets[-1]),
            rows=np.concatenate([block.rows for block in blocks]),
            columns=np.concatenate(
                [block.columns + offset for block, offset in zip(blocks, offsets, strict=False)]
            ),
        )

    def after(self, value: ColumnMap) -> Ones:
        """The product `value` times this matrix: each 1 moves to the row that `value` sends it."""
        moved = value.rows[self.rows]
        alive = moved >= 0
        return Ones(
            height=self.height,
            width=self.width,
            rows=moved[alive],
            columns=self.columns[alive],
        )

    def read(self, stream: Matrix) -> Matrix:
        """The product `stream` times this matrix, shape (n, width)."""
        if self._sources is not None:
            return stream.select_columns(self._sources)
        return stream @ self._dense

    def dense(self) -> Matrix:
        """The matrix itself."""
        return self._dense

    @cached_property
    def _dense(self) -> Matrix:
        rows, columns = self.rows.tolist(), self.columns.tolist()
        return Matrix.with_ones(self.height, self.width, rows, columns)

    @cached_property
    def _sources(self) -> list[int] | None:
        sources = self.selection()
        return None if sources is None else sources.tolist()


@dataclass(frozen=True, slots=True, kw_only=True)
class Dense(Generic[Entries]):
    """A matrix of arbitrary entries, as value map or as what reads a stream."""

    matrix: Entries

    @property
    def height(self) -> int:
        """Number of rows."""
        return self.matrix.shape[0]

    @property
    def width(self) -> int:
        """Number of columns."""
        return self.matrix.shape[1]

    @classmethod
    def beside(cls, blocks: Sequence[Any]) -> Dense[Any]:
        """Blocks of one height next to each other; 0/1 ones among them become matrices."""
        first, *others = (block.dense() for block in blocks)
        return Dense(matrix=first.beside([first, *others]))

    def after(self, value: Any) -> Dense[Entries]:
        """The product `value` times this matrix; the value map may be an index map."""
        return Dense(matrix=value.times(self.matrix))

    def times(self, block: Entries) -> Entries:
        """The product of this matrix and a block."""
        return self.matrix @ block

    def read(self, stream: Entries) -> Entries:
        """The product `stream` times this matrix."""
        return stream @ self.matrix

    def dense(self) -> Entries:
        """The matrix itself."""
        return self.matrix
