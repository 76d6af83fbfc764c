"""Real parity networks as the meaning of their theory.

Source: Sliding-Window Transformers Without Positional Encodings, Section 5, "The MLP layer".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from constructions.machines.relu import Number, ReluNetwork, WindowSize
from verify.smtlib import World

Make = Callable[[int, int, int], ReluNetwork]
"""Makes the parity network of so many symbols, K and s; a mutant puts a wrong one in."""


def _sums(network: ReluNetwork, bits: int, entries: list[Fraction]) -> list[list[Number]]:
    """What each symbol's two neurons sum to, by level: the input at K, then levels K-1..0."""
    symbols = len(entries) - 1
    table: list[list[Number]] = [[] for _ in range(bits + 1)]
    table[bits] = [*entries[:-1]]
    for place, values in zip(range(bits), network.activations(entries), strict=False):
        table[bits - 1 - place] = [values[2 * a] + values[2 * a + 1] for a in range(symbols)]
    return table


def _entry(row: Sequence[Any]) -> Callable[[Any], Any]:
    """Reads an entry of a row."""
    return lambda place: row[place]


def _entry_of(table: Sequence[Sequence[Any]]) -> Callable[[Any, Any], Any]:
    """Reads what a table holds of a count at a level."""
    return lambda count, level: table[level][count]


def _powers(level: int) -> int | Fraction:
    return Fraction(2) ** level


def parity_worlds(make: Make) -> Iterator[World]:
    """Networks for several S and m, one symbol for each count from 0 to S."""
    for longest, context in ((6, 5), (5, 6), (2, 3), (4, 5), (1, 1)):
        size = WindowSize(longest=longest)
        network = make(longest + 1, size.bits, size.scale)
        share = Fraction(1, context)
        entries = [*(count * share for count in range(longest + 1)), share]
        sums, bits = _sums(network, size.bits, entries), network.run(entries)
        counts = [[int(entry / share) for entry in row] for row in sums]
        widths = network.widths
        yield World(
            sorts={},
            integers=range(longest + 1),
            symbols={
                "n": longest + 1,
                "S": longest,
                "K": size.bits,
                "m": context,
                "s": size.scale,
                "y": share,
                "depth": network.depth,
                "pow": _powers,
                "width": _entry(widths),
                "neurons": _entry([sum(widths[:first]) for first in range(len(widths) + 1)]),
                "x": _entry_of(sums),
                "count": _entry_of(counts),
                "bit": _entry(bits),
                "mod": lambda a, b: a % b,
            },
            free={"c": range(longest + 1), "l": range(size.bits), "i": range(size.bits)},
        )
