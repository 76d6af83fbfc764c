"""Real rounded networks and real sums as the meaning of the theory of precision.

Shares, folds and margins are what the emulation computes; rounding is that of the exact numbers.

Source: Sliding-Window Transformers Without Positional Encodings, Theorem 9, Remark 5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

from constructions.machines.precision import WIDER, FrontierCase, Way, levels, margins
from constructions.machines.relu import WindowSize
from constructions.machines.rounded_sums import Reals, rounded, split
from constructions.universal.floats import FORMATS, Format
from constructions.universal.rounding import nearest
from verify.smtlib import Symbol, World

Tree = Any
"""A token (True for a one) or a pair of trees."""

_CASES = (("bfloat16", 5, 6), ("float16", 9, 8), ("bfloat16", 1, 2))
"""Format, S and m of the worlds of each way."""


_TALL = 3
"""The height of trees that are not tried as halves of others."""


def comb(tokens: Sequence[bool]) -> Tree:
    """The tree that adds one token at a time."""
    tree: Tree = tokens[0]
    for token in tokens[1:]:
        tree = (tree, token)
    return tree


def balanced(tokens: Sequence[bool]) -> Tree:
    """The tree whose halves have as many tokens, or one more on the left."""
    if len(tokens) == 1:
        return tokens[0]
    left, _ = split(len(tokens))
    return balanced(tokens[:left]), balanced(tokens[left:])


def _leaves(tree: Tree) -> list[bool]:
    return [tree] if isinstance(tree, bool) else [*_leaves(tree[0]), *_leaves(tree[1])]


def _height(tree: Tree) -> int:
    return 0 if isinstance(tree, bool) else 1 + max(map(_height, tree))


def _same(build: Callable[[Sequence[bool]], Tree]) -> Callable[[Tree], bool]:
    """Whether a tree is the one that `build` makes of its tokens."""
    return lambda tree: build(_leaves(tree)) == tree


def _summed(share: Fraction, near: Callable[[Fraction], Fraction]) -> Callable[[Tree], Fraction]:
    """The sum of a tree, rounded at each node."""

    @cache
    def total(tree: Tree) -> Fraction:
        if isinstance(tree, bool):
            return share if tree else Fraction(0)
        return near(total(tree[0]) + total(tree[1]))

    return total


def _rounding(format: Format) -> Callable[[Any], Fraction]:
    """Exact numbers to the nearest of the format; the worlds' are all within its range."""

    @cache
    def near(value: Any) -> Fraction:
        found = nearest(Fraction(value), format)
        return Fraction(0) if found is None else found

    return near


def _trees(context: int) -> tuple[Tree, ...]:
    """Balanced trees, combs and their parts, of a context's length and shorter."""
    words = [
        tuple(place * ones % size < ones for place in range(size))
        for size in sorted({1, 2, context})
        for ones in sorted({1, size - 1})
    ]
    made = [build(word) for word in words for build in (balanced, comb)]
    return tuple(dict.fromkeys(made))


def _sum_symbols(format: Format, share: Fraction) -> dict[str, Symbol]:
    near, wide = _rounding(format), _rounding(FORMATS[WIDER[format.name]])
    alone = [Fraction(0)]
    for _ in range(12):
        alone.append(near(alone[-1] + share))
    return {
        "leaf": bool,
        "node": lambda left, right: (left, right),
        "is-leaf": lambda tree: isinstance(tree, bool),
        "ones": lambda tree: sum(_leaves(tree)),
        "leaves": lambda tree: len(_leaves(tree)),
        "height": _height,
        "total": _summed(share, near),
        "wide": _summed(share, wide),
        "wider": wide,
        "balanced": _same(balanced),
        "comb": _same(comb),
        "half": lambda size: size // 2,
        "alone": alone.__getitem__,
        "room": 1 << (FORMATS[WIDER[format.name]].digits - format.digits),
    }


def _exact(column: Reals) -> list[Fraction]:
    return [Fraction(float(entry)) for entry in column]


def _entry_of(table: Sequence[Sequence[Any]]) -> Callable[[Any, Any], Any]:
    """Reads what a table holds of a count at a level."""
    return lambda count, level: table[level][count]


def _network_symbols(case: FrontierCase, size: WindowSize, context: int) -> dict[str, Symbol]:
    """What the emulated network computes for each count."""
    digits = case.format.digits
    every = tuple(levels(case.inputs(range(context, context + 1)), size.bits, digits))
    read, _ = margins(every[-1], size.scale, digits)
    bits = read.clip(min=0) - rounded(read - 1, digits).clip(min=0)
    counts = [list(range(context))]
    for level in reversed(range(size.bits)):
        counts.append([abs(count - (1 << level)) for count in counts[-1]])
    return {
        "share": _entry_of([_exact(inputs.least[:, 0]) for inputs in reversed(every)]),
        "folded": _entry_of(counts[::-1]),
        "margin": _exact(read[:, 0]).__getitem__,
        "bit": _exact(bits[:, 0]).__getitem__,
    }


def _world(format: Format, way: Way, longest: int, context: int) -> World:
    case = FrontierCase(format=format, way=way, limit=longest)
    size = WindowSize(longest=longest)
    near, exact = _rounding(format), Fraction(1, context)
    trees = _trees(context)
    halves = tuple(tree for tree in trees if _height(tree) < _TALL)
    reals = (Fraction(-7, 3), 0, Fraction(1, 9), exact, near(exact), 1, Fraction(37, 11), 5)
    return World(
        sorts={"Real": tuple(map(Fraction, reals)), "Tree": trees},
        integers=range(-1, longest + 2),
        symbols={
            "p": format.digits,
            "u": format.unit,
            "S": longest,
            "K": size.bits,
            "m": context,
            "s": size.scale,
            "load": way.load(size) if way.load else 0,
            "v": exact,
            "y": near(exact),
            "fl": near,
            "pow": lambda power: Fraction(2) ** power,
            "mod": lambda a, b: a % b,
            **_network_symbols(case, size, context),
            **_sum_symbols(format, near(exact)),
        },
        free={
            "c": range(context),
            "l": range(size.bits),
            "t": trees,
            "t0": halves,
            "t1": halves,
            "o": (False, True),
            "a": range(size.bits + 2),
            "q": range(3),
        },
    )


def way_worlds(way: Way) -> Iterator[World]:
    """One way of summing in two formats, the richest world first."""
    for name, longest, context in _CASES:
        yield _world(FORMATS[name], way, longest, context)


def network_worlds(ways: Iterable[Way]) -> Iterator[World]:
    """All ways of summing."""
    for way in ways:
        yield from way_worlds(way)
