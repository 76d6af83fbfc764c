"""Networks of counts: every neuron reads the line and the layer before, with two-sided activations.

    act(z) = p z + q     with one (p, q) for z <= 0 and another for z > 0; they need not meet at 0

Source: Sliding-Window Transformers Without Positional Encodings, Theorem 9; the argument is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, pairwise

from constructions.machines.relu import Number
from constructions.universal.instances import seeded
from lowerbounds.line import LineNetwork


@dataclass(frozen=True, slots=True, kw_only=True)
class Activation:
    """A function that is affine between its bends: (p, q) on each side, from left to right.

    The claim is of one bend, at 0; a twin has two.
    """

    branches: tuple[tuple[Number, Number], ...]
    bends: tuple[Number, ...] = (0,)

    def side(self, state: Number) -> int:
        """How many bends lie below a state."""
        return sum(state > bend for bend in self.bends)

    def value(self, side: int, state: Number) -> Number:
        """The branch of a side, at any state."""
        slope, offset = self.branches[side]
        return slope * state + offset


RELU = Activation(branches=((0, 0), (1, 0)))
STEP = Activation(branches=((0, 0), (0, 1)))
LEAKY = Activation(branches=((Fraction(1, 4), 1), (2, -1)))
"""Leaky, and with a jump at 0."""
CLIP = Activation(branches=((0, 0), (1, 0), (0, 2)), bends=(0, 2))
"""min(max(z, 0), 2), which has two bends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountLayer:
    """Weights on the layer before; slope and offset of what each neuron reads of the line."""

    rows: tuple[tuple[Number, ...], ...]
    slope: tuple[Number, ...]
    offset: tuple[Number, ...]

    def partial_sums(self, count: int, below: Sequence[Number]) -> list[list[Number]]:
        """For each neuron what it reads of the line, then with one term more after another."""
        return [
            list(
                accumulate((w * x for w, x in zip(row, below, strict=True)), initial=s * count + o)
            )
            for row, s, o in zip(self.rows, self.slope, self.offset, strict=True)
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """A forward pass at one count, layer by layer: partial sums, sides, values; and the score."""

    sums: tuple[list[list[Number]], ...]
    sides: tuple[tuple[int, ...], ...]
    values: tuple[tuple[Number, ...], ...]
    score: Number


@dataclass(frozen=True, kw_only=True)
class CountNetwork:
    """Hidden layers of one width, and an output neuron that reads the score; counts 0 to S."""

    hidden: tuple[CountLayer, ...]
    output: CountLayer
    longest: int
    activation: Activation = RELU
    parity: bool = False

    @property
    def width(self) -> int:
        """Neurons of a hidden layer."""
        return len(self.output.rows[0])

    @property
    def depth(self) -> int:
        """Hidden layers."""
        return len(self.hidden)

    def at(self, count: int) -> Pass:
        """The pass at a count."""
        sums, sides = list[list[list[Number]]](), list[tuple[int, ...]]()
        values: list[tuple[Number, ...]] = [(0,) * self.width]
        for layer in self.hidden:
            sums.append(layer.partial_sums(count, values[-1]))
            states = [row[-1] for row in sums[-1]]
            sides.append(tuple(map(self.activation.side, states)))
            values.append(
                tuple(self.activation.value(s, z) for s, z in zip(sides[-1], states, strict=True))
            )
        sums.append(self.output.partial_sums(count, values[-1]))
        return Pass(
            sums=tuple(sums), sides=tuple(sides), values=tuple(values), score=sums[-1][0][-1]
        )

    def runs(self) -> list[range]:
        """The longest runs of consecutive counts with the same sides everywhere."""
        passes = [self.at(count).sides for count in range(self.longest + 1)]
        cuts = [c + 1 for c, (one, two) in enumerate(pairwise(passes)) if one != two]
        return [range(a, b) for a, b in pairwise((0, *cuts, self.longest + 1))]


def of_line(case: LineNetwork, parity: bool) -> CountNetwork:
    """A ReLU network on a line, its layers padded to one width with neurons of weight 0."""
    network, line, width = case.network, case.line, case.width
    hidden = list[CountLayer]()
    for number, layer in enumerate(network.hidden):
        below = 0 if number == 0 else layer.inputs
        slope = layer.apply(line.slope, 0) if number == 0 else [0] * len(layer.rows)
        offset = [bias * line.unit for bias in layer.bias]
        if number == 0:
            offset = layer.apply(line.offset, line.unit)
        rows = [[dict(row).get(k, 0) for k in range(below)] for row in layer.rows]
        hidden.append(_padded(rows, slope, offset, width))
    plus, minus = case.plus, case.minus
    rows, bias = [dict(row) for row in network.output.rows], network.output.bias
    across = [rows[plus].get(k, 0) - rows[minus].get(k, 0) for k in range(network.output.inputs)]
    return CountNetwork(
        hidden=tuple(hidden),
        output=CountLayer(
            rows=((*across, *[0] * (width - len(across))),),
            slope=(line.slope[plus] - line.slope[minus],),
            offset=(
                (bias[plus] - bias[minus]) * line.unit + line.offset[plus] - line.offset[minus],
            ),
        ),
        longest=line.longest,
        parity=parity,
    )


def _padded(
    rows: list[list[Number]], slope: Sequence[Number], offset: Sequence[Number], width: int
) -> CountLayer:
    missing = width - len(rows)
    full = [(*row, *[0] * (width - len(row))) for row in rows]
    return CountLayer(
        rows=(*full, *[(0,) * width] * missing),
        slope=(*slope, *[0] * missing),
        offset=(*offset, *[0] * missing),
    )


def stairs(longest: int) -> CountNetwork:
    """Parity by steps alone: S neurons, a step before each count, weights 1 and -1 in turn."""
    weights = tuple((-1) ** turn for turn in range(longest))
    layer = CountLayer(
        rows=((0,) * longest,) * longest,
        slope=(1,) * longest,
        offset=tuple(Fraction(-1 - 2 * turn, 2) for turn in range(longest)),
    )
    return CountNetwork(
        hidden=(layer,),
        output=CountLayer(rows=(weights,), slope=(0,), offset=(Fraction(-1, 2),)),
        longest=longest,
        activation=STEP,
        parity=True,
    )


@lru_cache(maxsize=256)
def random_counts(
    width: int, depth: int, seed: int, activation: Activation = LEAKY
) -> CountNetwork:
    """Weights from -3 to 3, and every neuron reads the line."""
    source = seeded(1000 * seed + 10 * width + depth)

    def layer(neurons: int) -> CountLayer:
        return CountLayer(
            rows=tuple(tuple(source.randint(-3, 3) for _ in range(width)) for _ in range(neurons)),
            slope=tuple(source.randint(-3, 3) for _ in range(neurons)),
            offset=tuple(Fraction(source.randint(-19, 19), 2) for _ in range(neurons)),
        )

    return CountNetwork(
        hidden=tuple(layer(width) for _ in range(depth)),
        output=layer(1),
        longest=12,
        activation=activation,
    )
