"""Words that change in time, seen as strips: a strip is one symbol's way, time runs downwards.

    standing   each symbol keeps its column until another is written there: upright strips
    sliding    the oldest symbols leave on the left, new ones enter on the right: slanted strips

Row t shows the word after t steps: at its upper edge exactly, and on the way to the next below.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

MOST_PLACES = 120
"""Symbols that have more than so many before them are left out where words slide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """A symbol, and at the times where its way bends, its left and its right edge.

    edges   (time, left, right), at least two, times increasing
    """

    symbol: str
    edges: tuple[tuple[int, int, int], ...]

    @property
    def outline(self) -> list[tuple[int, int]]:
        """The corners once round, as (column, time)."""
        down = [(left, time) for time, left, _ in self.edges]
        return down + [(right, time) for time, _, right in reversed(self.edges)]

    @property
    def middle(self) -> list[tuple[float, int]]:
        """The line halfway between the edges."""
        return [((left + right) / 2, time) for time, left, right in self.edges]


def standing(rows: Sequence[Mapping[int, str]]) -> tuple[Strip, ...]:
    """The strips of words whose symbols stand in columns; a row maps columns to symbols."""
    begun: dict[int, tuple[int, str]] = {}
    strips: list[Strip] = []

    def close(column: int, time: int) -> None:
        since, symbol = begun.pop(column)
        edges = ((since, column, column + 1), (time, column, column + 1))
        strips.append(Strip(symbol=symbol, edges=edges))

    for time, row in enumerate(rows):
        for column, symbol in row.items():
            if column in begun and begun[column][1] != symbol:
                close(column, time)
            begun.setdefault(column, (time, symbol))
        for column in begun.keys() - row.keys():
            close(column, time)
    for column in [*begun]:
        close(column, len(rows))
    return tuple(strips)


def sliding(
    symbols: Sequence[str], firsts: Sequence[int], ends: Sequence[int]
) -> tuple[Strip, ...]:
    """The strips of words that are stretches of one long word.

    After t steps the word is symbols[firsts[t]:ends[t]], shown from column 0; both bounds grow.
    """
    strips: list[Strip] = []
    last = len(firsts) - 1
    for number, symbol in enumerate(symbols[: ends[-1]]):
        enters, leaves = bisect_right(ends, number), bisect_right(firsts, number)
        ways: list[tuple[int, int, int]] = []
        for time in range(max(enters - 1, 0), min(leaves, last) + 1):
            first, end = firsts[time], ends[time]
            edges = [min(max(at - first, 0), end - first) for at in (number, number + 1)]
            left, right = (min(edge, MOST_PLACES) for edge in edges)
            ways.append((time, left, right))
        if leaves > last:
            ways.append((last + 1, *ways[-1][1:]))
        if any(left < right for _, left, right in ways):
            strips.append(Strip(symbol=symbol, edges=_bends(ways)))
    return tuple(strips)


def _bends(ways: Sequence[tuple[int, int, int]]) -> tuple[tuple[int, int, int], ...]:
    """The ends and the times at which an edge changes direction."""

    def turns(place: int) -> bool:
        before, here, after = ways[place - 1 : place + 2]
        return any(after[edge] - here[edge] != here[edge] - before[edge] for edge in (1, 2))

    kept = [ways[place] for place in range(1, len(ways) - 1) if turns(place)]
    return (ways[0], *kept, ways[-1])
