"""Real networks on a line as the meaning of the theory of pieces.

Slopes and offsets are forward derivatives at a point, computed layer by layer; the values are those
of a forward pass of the network.

Source: Sliding-Window Transformers Without Positional Encodings, Theorem 9; the argument is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import Any

from constructions.machines.relu import Number
from lowerbounds.line import LineNetwork
from verify.smtlib import Symbol, World


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """A network at one point, by layer: 0 has no neurons, D + 1 is the output.

    `inputs`, `slopes` and `offsets` hold each neuron's partial sums; `values`, `slope` and `offset`
    what its ReLU makes of the last ones.
    """

    values: tuple[Sequence[Number], ...]
    slope: tuple[Sequence[Number], ...]
    offset: tuple[Sequence[Number], ...]
    inputs: tuple[Sequence[Sequence[Number]], ...]
    slopes: tuple[Sequence[Sequence[Number]], ...]
    offsets: tuple[Sequence[Sequence[Number]], ...]
    on: tuple[Sequence[bool], ...]
    past: tuple[Sequence[bool], ...]
    codes: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dense:
    """Layer by layer: weights on the layer before, and what each neuron reads of the line."""

    weights: tuple[tuple[tuple[Number, ...], ...], ...]
    slope: tuple[tuple[Number, ...], ...]
    offset: tuple[tuple[Number, ...], ...]


def dense(case: LineNetwork) -> Dense:
    """The network's layers; the first and the output, with its residual connection, read h."""
    network, line = case.network, case.line
    weights: list[tuple[tuple[Number, ...], ...]] = []
    slope: list[tuple[Number, ...]] = []
    offset: list[tuple[Number, ...]] = []
    for number, layer in enumerate((*network.hidden, network.output)):
        bias = [entry * line.unit for entry in layer.bias]
        reads = [Fraction(0)] * len(layer.rows)
        if number == 0:
            reads, bias = layer.apply(line.slope, 0), layer.apply(line.offset, line.unit)
        if number == len(network.hidden):
            reads = [a + b for a, b in zip(reads, line.slope, strict=True)]
            bias = [a + b for a, b in zip(bias, line.offset, strict=True)]
        before = range(layer.inputs if number else 0)
        weights.append(tuple(tuple(dict(row).get(i, 0) for i in before) for row in layer.rows))
        slope.append(tuple(reads))
        offset.append(tuple(bias))
    return Dense(weights=tuple(weights), slope=tuple(slope), offset=tuple(offset))


def trace(case: LineNetwork, plain: Dense, point: Fraction) -> Trace:
    """The network at a point, neuron by neuron."""
    entries = case.line.at(point)
    values = [(), *case.network.activations(entries, case.line.unit)]
    sums: list[list[Sequence[Sequence[Number]]]] = [[()], [()], [()]]
    slope: list[Sequence[Number]] = [()]
    offset: list[Sequence[Number]] = [()]
    on: list[Sequence[bool]] = [()]
    past: list[Sequence[bool]] = [()]
    codes = [0]
    for number, rows in enumerate(plain.weights):
        s, o = plain.slope[number], plain.offset[number]
        starts = [a * point + b for a, b in zip(s, o, strict=True)], s, o
        for kind, terms in enumerate((values[number], slope[-1], offset[-1])):
            sums[kind].append(_partial_sums(starts[kind], rows, terms))
        z, s, o = ([row[-1] for row in part[-1]] for part in sums)
        on.append([a >= 0 if b < 0 else a > 0 for a, b in zip(z, s, strict=True)])
        past.append([a * b > 0 for a, b in zip(z, s, strict=True)])
        slope.append([a if flag else 0 for a, flag in zip(s, on[-1], strict=True)])
        offset.append([a if flag else 0 for a, flag in zip(o, on[-1], strict=True)])
        codes.append((case.width + 1) * codes[-1] + sum(past[-1]))
    inputs, slopes, offsets = map(tuple, sums)
    return Trace(
        values=tuple(values),
        slope=tuple(slope),
        offset=tuple(offset),
        inputs=inputs,
        slopes=slopes,
        offsets=offsets,
        on=tuple(on),
        past=tuple(past),
        codes=tuple(codes),
    )


def _partial_sums(
    starts: Sequence[Number], rows: Sequence[Sequence[Number]], terms: Sequence[Number]
) -> list[list[Number]]:
    return [
        list(accumulate((w * x for w, x in zip(row, terms, strict=True)), initial=start))
        for start, row in zip(starts, rows, strict=True)
    ]


def _entry(table: Sequence[Sequence[Any]]) -> Callable[[int, int], Any]:
    return lambda layer, place: table[layer][place]


def _zeros(case: LineNetwork) -> list[Fraction]:
    """A zero of the score between neighbouring counts, where it changes its sign."""
    pieces = case.pieces()
    found: list[Fraction] = []
    for count in range(case.line.longest):
        inside = (
            Fraction(-piece.offset[0]) / piece.slope[0]
            for piece in pieces
            if piece.slope[0] and piece.low < count + 1 and piece.high > count
        )
        found += [zero for zero in inside if count < zero < count + 1][:1]
    return found


def line_worlds(cases: Iterable[LineNetwork], grows: Callable[[int, int], int]) -> Iterator[World]:
    """Each network with a few points of its line; `grows(w, bound)` is the next layer's bound."""
    for case in cases:
        yield _world(case, grows)


def _world(case: LineNetwork, grows: Callable[[int, int], int]) -> World:
    depth, width, longest = case.network.depth, case.width, case.line.longest
    outputs, zeros = len(case.network.output.rows), _zeros(case)
    points = sorted({*map(Fraction, range(longest + 1)), *zeros[-2:]})
    bounds = list(accumulate(range(depth), lambda bound, _: grows(width, bound), initial=1))
    return World(
        sorts={"Real": points},
        integers=range(outputs),
        symbols={
            "w": width,
            "D": depth,
            "S": longest,
            "plus": case.plus,
            "minus": case.minus,
            "width": [0, *case.network.widths, outputs].__getitem__,
            "bound": bounds.__getitem__,
            "zero": zeros.__getitem__,
            "mod": lambda a, b: a % b,
            **_functions(case),
        },
        free={
            "l": range(depth + 1),
            "k": range(outputs),
            "i": range(max(case.network.widths)),
            "c": range(longest),
            "t": points[::2],
            "u": points[1:],
        },
    )


def _functions(case: LineNetwork) -> dict[str, Symbol]:
    """The functions of a point: those of the theory named for layer l + 1 stand one further on."""
    plain = dense(case)

    @lru_cache(maxsize=64)
    def at(point: Fraction) -> Trace:
        return trace(case, plain, Fraction(point))

    def entry(name: str, ahead: int) -> Callable[[int, int, Fraction], Any]:
        return lambda layer, place, point: getattr(at(point), name)[layer + ahead][place]

    def partial(name: str) -> Callable[[int, int, int, Fraction], Any]:
        return lambda layer, place, terms, point: getattr(at(point), name)[layer + 1][place][terms]

    def score(name: str) -> Callable[[Fraction], Any]:
        output, (plus, minus) = partial(name), (case.plus, case.minus)
        last = case.network.depth
        return lambda point: output(last, plus, -1, point) - output(last, minus, -1, point)

    def turns(layer: int, first: int, point: Fraction) -> int:
        return sum(at(point).past[layer + 1][:first])

    def code(layer: int, point: Fraction) -> int:
        return at(point).codes[layer]

    def weight(layer: int, place: int, term: int) -> Number:
        return plain.weights[layer][place][term]

    return {
        "W": weight,
        "ls": _entry(plain.slope),
        "lo": _entry(plain.offset),
        "z": partial("inputs"),
        "zs": partial("slopes"),
        "zo": partial("offsets"),
        "x": entry("values", 0),
        "xs": entry("slope", 0),
        "xo": entry("offset", 0),
        "on": entry("on", 1),
        "past": entry("past", 1),
        "turns": turns,
        "code": code,
        "g": case.score,
        "gc": case.score,
        "gs": score("slopes"),
        "go": score("offsets"),
    }
