"""Networks on the line of Theorem 9's histograms: the stated machine's MLP, and smaller ones.

The stated machine has one state and appends b when the number of a in its window is odd, else a.
Its prompt for an input with c times a among S symbols ends with the marker, and attention yields

    h(c) = (.., c/m, (S - c)/m, 1/m, ..),    m = S + 1

so these are points of one line, and the next token displays a and b alternately.

    network          D        w       sign changes
    machine          K + 2    15      S
    folds, S = 2^D   D        2       S
    zigzag           1        S - 1   S, as many as (w + 1)^D
    random           any      any     -

Source: Sliding-Window Transformers Without Positional Encodings, Theorem 9 and Appendix A.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from constructions.machines.definitions import ParityHistMachine, Word
from constructions.machines.reachable import control_graph
from constructions.machines.relu import AffineLayer, Number, ReluNetwork, Sparse
from constructions.machines.relu_machine import MachineNetwork, machine_network
from constructions.machines.window import window_transformer
from constructions.universal.instances import seeded
from lowerbounds.line import Line, LineNetwork

SYMBOLS = ("a", "b")


def stated_machine() -> ParityHistMachine[str]:
    """Appends b when the window holds an odd number of a, else a; it never halts."""

    def rule(state: str, mask: int) -> tuple[str, Word]:
        return state, (SYMBOLS[mask & 1],)

    return ParityHistMachine(
        name="parity of a",
        alphabet=SYMBOLS,
        start="p",
        is_halting=lambda state: state == "halt",
        rule=rule,
    )


@lru_cache(maxsize=4)
def stated_network(longest: int) -> MachineNetwork[str]:
    """The stated machine's MLP for windows of at most `longest` symbols."""
    transformer = window_transformer(stated_machine())
    return machine_network(control_graph(transformer, lambda _: (0, 1, 2, 3)), longest)


def prompts(longest: int) -> list[list[int]]:
    """h^(1/2), times m, at the end of each prompt a^c b^(S - c) #, c = 0..S."""
    network = stated_network(longest)
    prompt = network.transformer.prompt
    words = [SYMBOLS[0] * c + SYMBOLS[1] * (longest - c) for c in range(longest + 1)]
    return [network.representation(prompt(word)) for word in words]


def machine_case(longest: int) -> LineNetwork:
    """The stated machine's MLP on the line through its prompts; b counts against a."""
    first, second, *_ = prompts(longest)
    line = Line(
        slope=tuple(b - a for a, b in zip(first, second, strict=True)),
        offset=tuple(first),
        unit=longest + 1,
        longest=longest,
    )
    return LineNetwork(network=stated_network(longest).network, line=line, plus=1, minus=0)


def histogram_line(longest: int) -> Line:
    """(c, S - c, 1, 0) / m: the histogram and one more coordinate."""
    return Line(slope=(1, -1, 0, 0), offset=(0, longest, 1, 0), unit=longest + 1, longest=longest)


def _layer(inputs: int, rows: list[Sparse], bias: list[Number]) -> AffineLayer:
    return AffineLayer(inputs=inputs, rows=tuple(rows), bias=tuple(bias))


def folds(levels: int) -> LineNetwork:
    """The folds of the parity network at one m, two neurons a level: S = 2^D."""
    longest = 1 << levels
    line = histogram_line(longest)
    hidden: list[AffineLayer] = []
    for level in reversed(range(levels)):
        middle = Fraction(1 << level, line.unit)
        up: Sparse = ((0, 1), (1, 1)) if hidden else ((0, 1),)
        down = tuple((column, -weight) for column, weight in up)
        hidden.append(_layer(2 if hidden else 4, [up, down], [-middle, middle]))
    half = Fraction(1, 2 * line.unit)
    output = _layer(2, [(), (), (), ((0, 1), (1, 1))], [0, 0, -half, 0])
    return LineNetwork(
        network=ReluNetwork(hidden=tuple(hidden), output=output), line=line, plus=2, minus=3
    )


def zigzag(longest: int) -> LineNetwork:
    """T - 1/2 - 2 relu(t - 1) + 2 relu(t - 2) - ..: one hidden layer of S - 1 neurons."""
    line = histogram_line(longest)
    rows: list[Sparse] = [((0, 1), (2, -turn)) for turn in range(1, longest)]
    turns = tuple((place, 2 if place % 2 else -2) for place in range(longest - 1))
    output = _layer(longest - 1, [turns, (), (), ()], [0, 0, 0, Fraction(1, 2 * line.unit)])
    hidden = _layer(4, rows, [0] * len(rows))
    return LineNetwork(
        network=ReluNetwork(hidden=(hidden,), output=output), line=line, plus=0, minus=3
    )


def random_network(width: int, depth: int, seed: int, longest: int = 12) -> LineNetwork:
    """Weights from -3 to 3, biases from -9 to 9 in units of 1/m."""
    source = seeded(1000 * seed + 10 * width + depth)
    line = histogram_line(longest)

    def drawn(inputs: int, outputs: int) -> AffineLayer:
        rows = [
            tuple((column, source.randint(-3, 3)) for column in range(inputs))
            for _ in range(outputs)
        ]
        bias: list[Number] = [Fraction(source.randint(-9, 9), line.unit) for _ in range(outputs)]
        return _layer(inputs, list(rows), bias)

    sizes = [4, *[width] * depth]
    hidden = [drawn(before, after) for before, after in pairwise(sizes)]
    network = ReluNetwork(hidden=tuple(hidden), output=drawn(sizes[-1], 4))
    return LineNetwork(network=network, line=line, plus=0, minus=1)
