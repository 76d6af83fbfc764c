"""Real networks of counts as the meaning of the theory of runs; all by forward passes.

Source: Sliding-Window Transformers Without Positional Encodings, Theorem 9; the argument is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache

from lowerbounds.runs_networks import CountNetwork
from verify.smtlib import World

Grows = Callable[[int, int], int]
"""From the width and the runs before a layer to the most behind it."""


def count_worlds(networks: Iterable[CountNetwork], grows: Grows) -> Iterator[World]:
    """Each network, with all its counts."""
    for network in networks:
        yield _world(network, grows)


def _world(network: CountNetwork, grows: Grows) -> World:
    depth, width, longest = network.depth, network.width, network.longest
    at = cache(network.at)

    def inside(count: int) -> int:
        return min(max(count, 0), longest)

    def on(layer: int, neuron: int, count: int) -> bool:
        known = layer < depth and neuron < width
        return known and at(inside(count)).sides[layer][neuron] > 0

    def flip(layer: int, neuron: int, count: int) -> bool:
        return on(layer, neuron, count) != on(layer, neuron, count + 1)

    @cache
    def cut(layer: int, neurons: int, count: int) -> bool:
        above = [(layer, k) for k in range(neurons)]
        below = [(j, k) for j in range(layer) for k in range(width)]
        return any(flip(j, k, count) for j, k in (*below, *above))

    def cuts(layer: int, neurons: int, count: int) -> int:
        return sum(cut(layer, neurons, c) for c in range(count))

    def flips(layer: int, neuron: int, count: int) -> int:
        return sum(flip(layer, neuron, c) and not cut(layer, 0, c) for c in range(count))

    def turned(layer: int, neuron: int, count: int) -> bool:
        for before in reversed(range(count)):
            if cut(layer, 0, before):
                return False
            if flip(layer, neuron, before):
                return True
        return False

    def part(layer: int, neuron: int, terms: int, count: int) -> object:
        row = at(inside(count)).sums[layer]
        return row[min(neuron, len(row) - 1)][min(terms, width)]

    def value(layer: int, neuron: int, count: int) -> object:
        return at(inside(count)).values[min(layer, depth)][min(neuron, width - 1)]

    def reach(layer: int) -> int:
        found = 1
        for _ in range(layer):
            found = grows(width, found)
        return found

    def weight(layer: int, neuron: int, term: int) -> object:
        rows = (*network.hidden, network.output)[layer].rows
        return rows[min(neuron, len(rows) - 1)][min(term, width - 1)]

    return World(
        sorts={},
        integers=range(3),
        symbols={
            "w": width,
            "D": depth,
            "S": longest,
            "W": weight,
            "read": lambda layer, neuron, count: part(layer, neuron, 0, count),
            "z": part,
            "x": value,
            "act": network.activation.value,
            "on": on,
            "cut": cut,
            "cuts": cuts,
            "flips": flips,
            "turned": turned,
            "late": lambda count: count == 0 or cut(depth, 0, count - 1),
            "score": lambda count: at(inside(count)).score,
            "times": lambda one, two: grows(one - 1, two),
            "reach": reach,
        },
        free={
            "l": range(depth + 1),
            "a": range(width),
            "b": range(width),
            "c": range(longest),
            "m": range(1, 3),
            "n": range(1, 4),
        },
    )
