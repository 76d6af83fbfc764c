"""Real targets of two heads as the meaning of the theory of all sizes, as exact power series.

Source: Fixed Universal Transformers, Section 4 and Theorem 4.1; the proof is ours.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache, partial
from math import comb
from typing import TypeAlias

from lowerbounds.differences import difference, difference_series, natural
from lowerbounds.path_series import (
    Series,
    SeriesTarget,
    inserted,
    order_of,
    plus,
    scaled,
    times,
)
from verify.smtlib import World

LENGTH = 48
"""Longer than every order that is met."""
Tensor: TypeAlias = "Fraction | int | tuple[Tensor, ...]"
"""A number, or one tensor for each head."""


def depth(tensor: Tensor) -> int:
    """The number of layers."""
    return 1 + depth(tensor[0]) if isinstance(tensor, tuple) else 0


def entries(tensor: Tensor) -> list[Fraction]:
    """Coefficients by path, in lexicographic order."""
    if not isinstance(tensor, tuple):
        return [Fraction(tensor)]
    return [x for part in tensor for x in entries(part)]


def mixed(tensor: Tensor, head: int) -> Tensor:
    """sum_h C(h, k) A[h ..]; a number, which no layer is left to split, stays itself."""
    if not isinstance(tensor, tuple):
        return tensor
    return _combined([(comb(h, head), part) for h, part in enumerate(tensor, start=1)])


def _combined(terms: Sequence[tuple[int, Tensor]]) -> Tensor:
    split = [(factor, part) for factor, part in terms if isinstance(part, tuple)]
    if split:
        places = range(len(split[0][1]))
        return tuple(_combined([(factor, part[i]) for factor, part in split]) for i in places)
    numbers = [(factor, part) for factor, part in terms if not isinstance(part, tuple)]
    return sum((factor * part for factor, part in numbers), Fraction(0))


def _number(value: int) -> Series:
    return (Fraction(value), *[Fraction(0)] * (LENGTH - 1))


_ZERO = _number(0)
_T: Series = tuple(Fraction(int(i == 1)) for i in range(LENGTH))
_SQUARE = times(_T, _T)


@lru_cache(maxsize=256)
def _difference(target: SeriesTarget, order: int, start: int) -> Series:
    return difference_series(order, start, LENGTH, natural, target.odds)


@lru_cache(maxsize=256)
def _insert(outer: Series, inner: Series) -> Series:
    return inserted(outer, inner)


def _term(target: SeriesTarget, order: int) -> Series:
    """D_k."""
    return _insert(_difference(target, order, 0), _SQUARE)


def _phi(target: SeriesTarget) -> Series:
    return times(_T, _insert(_difference(target, len(target.scales) - 1, 1), _SQUARE))


@lru_cache(maxsize=256)
def _psi(target: SeriesTarget, tensor: Tensor) -> Series:
    """The path vectors of the target's first layers, combined; without the factor s."""
    part = replace(target, weights=target.weights[: depth(tensor)])
    total = (Fraction(0),) * (LENGTH + 1)
    for value, series in zip(entries(tensor), part.differences(LENGTH + 1), strict=True):
        total = plus(total, scaled(value, series))
    return total[1:]


@lru_cache(maxsize=256)
def _partial(target: SeriesTarget, tensor: Tensor, count: int) -> Series:
    total = _ZERO
    for k in range(1, count + 1):
        later = _insert(_psi(target, mixed(tensor, k)), _phi(target))
        total = plus(total, times(_term(target, k), later))
    return total


def sizes_worlds(target: SeriesTarget) -> Iterator[World]:
    """A target with its combinations of path vectors; the target has two layers."""
    heads = len(target.scales)
    tensors = [*_tensors(heads)]
    psi = partial(_psi, target)
    sums = [_ZERO, *(_term(target, k) for k in (1, 2))]
    yield World(
        sorts={"Fun": [_ZERO, _number(2), _T, _SQUARE, _phi(target)], "Tensor": tensors},
        integers=range(heads + 2),
        symbols={
            "H": heads,
            "L": len(target.weights),
            "zero": _ZERO,
            "t": _T,
            "square": _SQUARE,
            "phi": _phi(target),
            "order": _order,
            "plus": plus,
            "times": lru_cache(maxsize=1024)(times),
            "insert": _insert,
            "ser": partial(_difference, target),
            "D": partial(_term, target),
            "half": lambda x: x // 2,
            "digit": lambda x: x % (2 * heads - 1),
            "rest": lambda x: x // (2 * heads - 1),
            "layers": depth,
            "null": lambda tensor: not any(entries(tensor)),
            "part": _part,
            "child": mixed,
            "psi": psi,
            "partial": partial(_partial, target),
            "vanishes": lambda tensor: psi(tensor) == _ZERO,
        },
        free={"k": range(heads + 1), "l": (0, 1), "A": tensors, "P": sums, "T": sums},
    )


def _order(series: Series) -> int:
    found = order_of(series)
    return -1 if found is None else found


def _part(tensor: Tensor, head: int) -> Tensor:
    if isinstance(tensor, tuple) and 1 <= head <= len(tensor):
        return tensor[head - 1]
    return Fraction(0)


def _tensors(heads: int) -> Iterator[Tensor]:
    yield from (Fraction(0), Fraction(-2))
    rows = [(0,) * heads, (0,) * (heads - 1) + (3,), (1,) * heads, tuple(range(1, heads + 1))]
    yield from rows
    yield from ((first,) * (heads - 1) + (last,) for first, last in itertools.combinations(rows, 2))


# --- streams ---------------------------------------------------------------------------------


def _weight(head: int, argument: Fraction | int) -> Fraction:
    return 1 / (Fraction(3, 2) + head * Fraction(argument) / 4)


def _mixture(head: int, own: Fraction, stream: tuple[Fraction, Fraction]) -> Fraction:
    """y_2 + delta sigma(h y_i delta + lambda) for the type whose stream is `own`."""
    first, second = stream
    return second + (first - second) * _weight(head, own * (first - second))


def _streams(target: SeriesTarget) -> list[tuple[Fraction, Fraction]]:
    found = [(Fraction(1), Fraction(0))]
    for row in target.weights:
        first, second = (
            sum((w * _mixture(h, own, found[-1]) for h, w in enumerate(row, 1)), Fraction(0))
            for own in found[-1]
        )
        found.append((first, second))
    return found


def stream_worlds(target: SeriesTarget) -> Iterator[World]:
    """The target's streams for one input; sigma is a rational function with sigma(lambda) = 2/3."""
    heads, layers = len(target.scales), len(target.weights)
    streams = _streams(target)

    def values(family: tuple[str, int], head: int) -> Fraction:
        name, layer = family
        first, second = streams[layer]
        if name == "shape":
            return _weight(head, first * first)
        return _mixture(head, first if name == "uppers" else second, streams[layer])

    yield World(
        sorts={"Family": [("uppers", 0), ("lowers", 1)], "Real": [Fraction(0), Fraction(1, 2)]},
        integers=range(layers),
        symbols={
            "H": heads,
            "L": layers,
            "y1": [first for first, _ in streams].__getitem__,
            "y2": [second for _, second in streams].__getitem__,
            "weight": _weight,
            "at": values,
            "dif": lambda k, family, j: difference(lambda h: values(family, h), k, j),
            "uppers": lambda layer: ("uppers", layer),
            "lowers": lambda layer: ("lowers", layer),
            "shape": lambda layer: ("shape", layer),
        },
        free={
            "k": range(3),
            "l": range(layers),
            "j": range(3),
            "F": [("uppers", 0), ("lowers", 0), ("lowers", 1)],
        },
    )
