"""Hypothesis strategies of sizes, exact matrices, targets and masks.

    sizes()             TransformerSize, every size at least 2
    matrices(n, k)      Matrix of shape (n, k)
    targets(size)       Target: W_Q, W_K, W_V (d_in, d), W_O its transpose; W_g, W_u (d_in, r), W_d
    masks(n)            n rows of n booleans, true where token i may attend to token j

Entries are those of the end-to-end check, small rationals, 0 the simplest. All entries of a matrix
or target are one draw of bytes, which is quick and shrinks entry by entry.

Source: Fixed Universal Transformers, Section 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from constructions.universal.definitions import Target, TransformerSize
from constructions.universal.instances import target_of
from constructions.universal.simulation import ENTRIES, Mask, mask_of
from verify.errors import SizeError
from verify.rational import Matrix

if TYPE_CHECKING:
    from hypothesis import strategies as st

MOST_ENTRIES = 1 << 12
"""Larger objects do not fit what Hypothesis draws for one example."""
_KINDS = 3
"""Masks are causal, full, or drawn bit by bit."""


def sizes(
    *,
    heads: tuple[int, int] = (2, 3),
    layers: tuple[int, int] = (2, 3),
    head_width: tuple[int, int] = (2, 3),
    token_width: tuple[int, int] = (2, 3),
    neurons: tuple[int, int] = (0, 0),
    residual: bool | None = False,
) -> st.SearchStrategy[TransformerSize]:
    """Sizes between bounds (least, most), the least the simplest.

    With `neurons` from 0 on some blocks are attention only; with `residual` None streams are
    carried on or not. A size below two hides what a wrong index does, so none is drawn by default.
    """
    from hypothesis import strategies as st

    return st.builds(
        TransformerSize,
        heads=st.integers(*heads),
        layers=st.integers(*layers),
        head_width=st.integers(*head_width),
        token_width=st.integers(*token_width),
        neurons=st.integers(*neurons),
        residual=st.booleans() if residual is None else st.just(residual),
    )


def matrices(height: int, width: int) -> st.SearchStrategy[Matrix]:
    """Exact matrices of shape (height, width), the zero matrix the simplest.

    Raises:
        SizeError: more than MOST_ENTRIES entries.
    """
    return _entries(height * width).map(lambda entries: _taken(iter(entries), height, width))


def targets(
    size: TransformerSize | st.SearchStrategy[TransformerSize] | None = None,
) -> st.SearchStrategy[Target]:
    """Targets of a size, of drawn sizes, or of those of `sizes()`; the simplest is all zero.

    Raises:
        SizeError: more than MOST_ENTRIES entries.
    """
    if isinstance(size, TransformerSize):
        return _targets(size)
    return (sizes() if size is None else size).flatmap(_targets)


def _targets(size: TransformerSize) -> st.SearchStrategy[Target]:
    per_layer = 4 * size.heads * size.head_width + 3 * size.neurons
    count = size.layers * size.token_width * per_layer

    def target(entries: bytes) -> Target:
        rest = iter(entries)
        return target_of(size, lambda height, width: _taken(rest, height, width))

    return _entries(count).map(target)


def masks(tokens: int, *, to_itself: bool = True) -> st.SearchStrategy[Mask]:
    """Masks of `tokens` tokens: causal, the simplest, or full, or any.

    Every token may attend to itself, so that softmax is defined, unless `to_itself` is false.
    """
    from hypothesis import strategies as st

    def mask(drawn: tuple[int, bytes]) -> Mask:
        found = mask_of(*drawn, tokens)
        return tuple(
            tuple(allowed or (to_itself and i == j) for j, allowed in enumerate(row))
            for i, row in enumerate(found)
        )

    size = (tokens * tokens + 7) // 8
    return st.tuples(st.integers(0, _KINDS - 1), st.binary(min_size=size, max_size=size)).map(mask)


def _entries(count: int) -> st.SearchStrategy[bytes]:
    from hypothesis import strategies as st

    if count > MOST_ENTRIES:
        raise SizeError(
            f"a drawn matrix or target must have at most {MOST_ENTRIES} entries, got {count}; "
            "bound its sizes lower"
        )
    return st.binary(min_size=count, max_size=count)


def _taken(entries: Iterator[int], height: int, width: int) -> Matrix:
    """A matrix of the next bytes' entries, row by row."""
    wanted = (next(entries) for _ in range(height * width))
    return Matrix(height, width, [ENTRIES[byte % len(ENTRIES)] for byte in wanted])
