"""Immutable matrices modulo a prime over FLINT: what certifies the rank of large integer matrices.

A rank modulo a prime is at most the rank over the rationals, so a left inverse modulo the prime
proves full column rank. Exact rational elimination stays in `rational.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast, final

import numpy as np
from flint import fmpz, nmod_mat
from numpy.typing import NDArray

from verify.errors import InexactError, ShapeError, SizeError

PRIMES = tuple((1 << 62) - gap for gap in (57, 87, 117, 143, 153))
"""The five largest primes of 62 bits, largest first."""
WORD = 1 << 63
"""Moduli stay below this."""

Nested = Sequence[Sequence[int]]


@final
class Residues:
    """A matrix modulo a prime that never changes.

    shape (height, width), both possibly 0; entries are residues from 0 to prime - 1.

    Raises:
        ShapeError: shapes or primes do not fit the operation.
        SizeError: the modulus is no prime below 2^63.
        InexactError: an entry is not an integer.
    """

    __slots__ = ("_flint",)
    _flint: Any

    def __init__(self) -> None:
        """Refused: `Residues.of` builds one."""
        raise TypeError("Residues are built by Residues.of(integers, prime)")

    def __setattr__(self, name: str, value: object) -> None:
        """Refused: residues never change."""
        raise AttributeError(f"Residues are immutable; build new ones instead of setting {name}")

    @classmethod
    def _wrap(cls, flint_matrix: Any) -> Residues:
        residues = object.__new__(cls)
        object.__setattr__(residues, "_flint", flint_matrix)
        return residues

    @classmethod
    def of(cls, integers: NDArray[Any] | Nested, prime: int) -> Residues:
        """The residues of integers: an array of shape (height, width), or rows of one length."""
        _require_prime(prime)
        height, width = _shape_of(integers)
        return cls._wrap(_filled(height, width, map(_exact_row, integers), prime))

    @classmethod
    def identity(cls, size: int, prime: int) -> Residues:
        """The identity of shape (size, size)."""
        return cls.of(np.eye(size, dtype=np.int64), prime)

    @property
    def prime(self) -> int:
        """The modulus."""
        return int(self._flint.modulus())

    @property
    def shape(self) -> tuple[int, int]:
        """(height, width)."""
        return int(self._flint.nrows()), int(self._flint.ncols())

    @property
    def height(self) -> int:
        """Number of rows."""
        return int(self._flint.nrows())

    @property
    def width(self) -> int:
        """Number of columns."""
        return int(self._flint.ncols())

    @property
    def transposed(self) -> Residues:
        """Rows and columns exchanged."""
        return Residues._wrap(self._flint.transpose())

    def tolist(self) -> list[list[int]]:
        """All residues, row by row."""
        return [[int(entry) for entry in self._row(index)] for index in range(self.height)]

    def _row(self, index: int) -> list[Any]:
        return [self._flint[index, column] for column in range(self.width)]

    def __matmul__(self, other: Residues) -> Residues:
        """The product modulo the prime."""
        _require_one_prime([self, other], "product")
        if self.width != other.height:
            raise ShapeError(
                f"product needs inner sizes that agree, got shapes {self.shape} and {other.shape}"
            )
        return Residues._wrap(self._flint * other._flint)

    def __eq__(self, other: object) -> bool:
        """Equal prime, equal shape and equal residues."""
        if not isinstance(other, Residues):
            return NotImplemented
        same = (self.prime, self.shape) == (other.prime, other.shape)
        return same and bool(self._flint == other._flint)

    def __hash__(self) -> int:
        """Agrees with equality."""
        return hash((self.prime, self.shape, tuple(map(tuple, self.tolist()))))

    def __repr__(self) -> str:
        """Shape and prime; entries are for `tolist`."""
        return f"Residues(shape={self.shape}, prime={self.prime})"

    def select_rows(self, indices: Sequence[int]) -> Residues:
        """Row k of the result is row `indices[k]`, or zero where the index is negative."""
        rows = (self._row(index) if index >= 0 else [] for index in indices)
        return Residues._wrap(_filled(len(indices), self.width, rows, self.prime))

    @classmethod
    def stack(cls, blocks: Sequence[Residues]) -> Residues:
        """Blocks of one width and prime, the first on top; at least one block."""
        _require_one_prime(blocks, "stack")
        width = blocks[0].width
        for index, block in enumerate(blocks):
            if block.width != width:
                raise ShapeError(
                    f"stacked block {index} must have width {width} like block 0, got {block.width}"
                )
        rows = (block._row(index) for block in blocks for index in range(block.height))
        height = sum(block.height for block in blocks)
        return cls._wrap(_filled(height, width, rows, blocks[0].prime))

    @classmethod
    def beside(cls, blocks: Sequence[Residues]) -> Residues:
        """Blocks of one height and prime, the first on the left; at least one block."""
        return cls.stack([block.transposed for block in blocks]).transposed

    def rank(self) -> int:
        """Rank modulo the prime: at most the rank of the integers."""
        return int(self._flint.rank())

    def inverse(self) -> Residues:
        """The two-sided inverse of a square matrix of full rank."""
        if self.height != self.width:
            raise ShapeError(f"only a square matrix has an inverse, got shape {self.shape}")
        try:
            return Residues._wrap(self._flint.inv())
        except ZeroDivisionError as error:
            raise ShapeError(
                f"an inverse modulo {self.prime} needs full rank {self.height}, got rank "
                f"{self.rank()}; try another prime"
            ) from error

    def independent_rows(self) -> tuple[int, ...]:
        """As many independent rows as the rank says: each the first that the ones before allow."""
        reduced, rank = self._flint.transpose().rref()
        chosen: list[int] = []
        for step in range(int(rank)):
            place = chosen[-1] + 1 if chosen else 0
            while not int(reduced[step, place]):
                place += 1
            chosen.append(place)
        return tuple(chosen)

    def left_inverse(self) -> LeftInverse:
        """A matrix G with G P = 1 for this P of full column rank: independent rows, inverted."""
        rows = self.independent_rows()
        if len(rows) < self.width:
            raise ShapeError(
                f"a left inverse modulo {self.prime} needs full column rank {self.width}, got rank "
                f"{len(rows)}; try another prime"
            )
        return self.left_inverse_on(rows)

    def left_inverse_on(self, rows: Sequence[int]) -> LeftInverse:
        """The left inverse that is zero off the given rows, as many as there are columns.

        Raises:
            ShapeError: the rows are not independent.
        """
        whole = tuple(rows) == tuple(range(self.height))
        block = (self if whole else self.select_rows(rows)).inverse()
        return LeftInverse(rows=tuple(rows), block=block, height=self.height)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftInverse:
    """A left inverse of P that is zero off `rows`: there it is the inverse of P's rows.

    P of shape (height, s), rows s of its rows, block of shape (s, s).
    """

    rows: tuple[int, ...]
    block: Residues
    height: int

    def scattered(self) -> Residues:
        """G of shape (s, height): column rows[k] is column k of the block, the others are zero."""
        place = {row: index for index, row in enumerate(self.rows)}
        spread = [place.get(row, -1) for row in range(self.height)]
        return self.block.transposed.select_rows(spread).transposed


def _filled(height: int, width: int, rows: Iterable[Iterable[Any]], prime: int) -> Any:
    """FLINT's matrix with the given rows; entries that a row lacks stay zero.

    Entries go in one by one: a list of all of them would need five times FLINT's own memory.
    """
    matrix = nmod_mat(height, width, prime)
    for i, row in enumerate(rows):
        for j, entry in enumerate(row):
            matrix[i, j] = entry
    return matrix


def _shape_of(integers: NDArray[Any] | Nested) -> tuple[int, int]:
    if isinstance(integers, np.ndarray):
        if integers.ndim != 2:  # noqa: PLR2004 - rows and columns
            raise ShapeError(f"residues need rows and columns, got an array of {integers.shape}")
        return integers.shape[0], integers.shape[1]
    width = len(integers[0]) if integers else 0
    for index, row in enumerate(integers):
        if len(row) != width:
            raise ShapeError(
                f"row {index} must have {width} entries like row 0, got {len(row)}; "
                "pad it or drop it"
            )
    return len(integers), width


def _exact_row(row: NDArray[Any] | Sequence[int]) -> list[int]:
    """A row as Python integers, made when it is needed."""
    if isinstance(row, np.ndarray) and row.dtype == np.int64:
        return row.tolist()
    listed = cast("list[Any]", row.tolist() if isinstance(row, np.ndarray) else list(row))
    for entry in listed:
        if not isinstance(entry, int):
            raise InexactError(
                f"residues are of integers, got {entry!r} ({type(entry).__name__}); "
                "multiply by a power of two first"
            )
    return listed


def _require_prime(prime: int) -> None:
    if not (1 < prime < WORD and fmpz(prime).is_prime()):
        raise SizeError(f"the modulus must be a prime below 2^63, got {prime}; see PRIMES")


def _require_one_prime(parts: Sequence[Residues], operation: str) -> None:
    primes = {part.prime for part in parts}
    if len(primes) > 1:
        raise ShapeError(f"{operation} needs one prime, got {sorted(primes)}")
