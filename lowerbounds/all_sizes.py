"""The condition of the spanning bounds holds for all H >= 2 and L, on three tokens of two types.

The target: W_Q W_K^T = h for head h, weights w^h = (-1)^(H - h) C(H - 1, h - 1), alike in all
layers. On X = s (1, 1, 0) the second type's stream stays 0, and with f(x) = sigma(x + ln 2)

    type difference of A_p X = s prod_l (f(p_l y_l^2) - f(0)),   y_1 = s, y_{l+1} = phi(y_l),
    phi(y) = y (D^(H-1) f(h y^2))(1)                               a power series of order 2 H - 1.

Differences over the heads have orders 2k, k = 1..H, in y_l; so combinations of the path vectors
have the orders 1 + 2 sum_l k_l (2 H - 1)^(l-1), which are distinct since H < 2 H - 1.

*Where this differs from a limit.* No scale tends to 0: the order in the input's scale s plays the
part of a small factor eps before the logits, so there are no iterated limits, and the target is
explicit and has integer weights.

Source: Fixed Universal Transformers, Section 4 and Theorem 4.1; the proof is ours.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import comb

from constructions.universal.definitions import Target, TransformerSize
from constructions.universal.sums import PAPER
from lowerbounds.all_sizes_newton import newton_goals
from lowerbounds.all_sizes_orders import order_goals
from lowerbounds.all_sizes_streams import stream_goals
from lowerbounds.all_sizes_tensors import tensor_goals
from lowerbounds.all_sizes_worlds import sizes_worlds, stream_worlds
from lowerbounds.path_series import (
    ODDS,
    Series,
    SeriesTarget,
    largest_order,
    natural_scales,
    order_of,
    plus,
    scaled,
    signed_binomials,
    stated_target,
)
from lowerbounds.softmax_paths import path_vectors
from verify.balls import Balls
from verify.claims import Check, Profile, Source, claim, covers, supports
from verify.counterexamples import Counterexample
from verify.facts import FINITE_DIFFERENCES, INDUCTION, POWER_SERIES
from verify.methods.enclosure import Decision, Enclosure
from verify.methods.exhaustive import Exhaustive
from verify.methods.smt import Smt
from verify.ranges import Range
from verify.rational import Matrix
from verify.smtlib import Goal, World
from verify.verdicts import Json, Status

Case = tuple[int, int]
"""H and L."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What the proof chooses: the heads' scales, the odds of the types, and the base of orders."""

    scales: Callable[[int], tuple[int, ...]] = natural_scales
    odds: int = ODDS
    base: Callable[[int], int] = lambda heads: 2 * heads - 1

    def target(self, case: Case) -> SeriesTarget:
        """The target for H and L."""
        heads, layers = case
        return stated_target(heads, layers, scales=self.scales, odds=self.odds)

    def orders(self, case: Case) -> list[int]:
        """1 + 2 sum_l k_l base^(l-1) for k in [H]^L, in lexicographic order."""
        heads, layers = case
        base = self.base(heads)
        return [
            1 + 2 * sum(digit * base**layer for layer, digit in enumerate(digits))
            for digits in itertools.product(range(1, heads + 1), repeat=layers)
        ]


# --- instances -------------------------------------------------------------------------------


def reduced(series: list[Series], heads: int, layers: int) -> list[Series]:
    """Differences over the heads in every layer, k = 1..H from h = 0, in lexicographic order."""
    for layer in range(layers):
        stride = heads ** (layers - 1 - layer)
        series = [_difference(series, place, stride, heads) for place in range(len(series))]
    return series


def _difference(series: list[Series], place: int, stride: int, heads: int) -> Series:
    order = place // stride % heads + 1
    first = place - (order - 1) * stride
    total = scaled(0, series[0])
    for head in range(1, order + 1):
        sign = (-1) ** (order - head) * comb(order, head)
        total = plus(total, scaled(sign, series[first + (head - 1) * stride]))
    return total


def orders_fail(rules: Rules) -> Callable[[Case], Counterexample | None]:
    """The obligation that the combinations of path vectors have the stated orders, all distinct."""

    def holds(case: Case) -> Counterexample | None:
        heads, layers = case
        length = largest_order(heads, layers, 2 * heads - 1) + 1
        series = reduced(rules.target(case).differences(length), heads, layers)
        came, wanted = [order_of(part) for part in series], rules.orders(case)
        if came == wanted and len(set(came)) == len(came):
            return None
        text = (
            f"at H = {heads}, L = {layers} the combinations of path vectors must have the distinct "
            f"orders {wanted}, got {came}"
        )
        return Counterexample(text=text, instance={"heads": heads, "layers": layers})

    return holds


def orders_exhibit(rules: Rules) -> Callable[[Case], Json]:
    """Kind `path-series`: the target and the orders of the combinations."""

    def exhibit(case: Case) -> Json:
        target = rules.target(case)
        return {
            "scales": [str(scale) for scale in target.scales],
            "weights": [[str(w) for w in row] for row in target.weights],
            "odds": target.odds,
            "orders": rules.orders(case),
        }

    return exhibit


def _range(cases: tuple[Case, ...]) -> Range:
    return Range(bound=f"(H, L) in {', '.join(map(str, cases))}", over=lambda: cases)


_SMALL = ((2, 1), (2, 2), (3, 1))
_MIDDLE = (*_SMALL, (2, 3), (3, 2), (4, 1))
RANGES: dict[Profile, Range] = {
    "quick": _range(_SMALL),
    "standard": _range(_MIDDLE),
    "deep": _range((*_MIDDLE, (2, 4), (3, 3), (4, 2), (5, 2))),
}
BALL_RANGES: dict[Profile, Range] = {
    "quick": _range(_SMALL),
    "standard": _range((*_SMALL, (2, 3), (3, 2))),
    "deep": _range((*_MIDDLE, (2, 4), (4, 2))),
}


def target_of(case: Case) -> Target:
    """The stated target: W_Q = h, W_K = 1, W_V = w^h, W_O = 1."""
    heads, layers = case
    ones = (Matrix(1, 1, [1]),) * heads
    scales = tuple(Matrix(1, 1, [scale]) for scale in natural_scales(heads))
    weights = tuple(Matrix(1, 1, [weight]) for weight in signed_binomials(heads))
    return Target(
        size=TransformerSize(heads=heads, layers=layers, head_width=1, token_width=1),
        queries=(scales,) * layers,
        keys=(ones,) * layers,
        values=(weights,) * layers,
        outputs=(ones,) * layers,
    )


def path_matrix(case: Case, inputs: list[Fraction], bits: int) -> Balls:
    """Type differences of A_p X for X = s (1, 1, 0), a row for each s and a column for each p."""
    target, sides = target_of(case), Balls.of(Matrix.from_rows([[1, 0, -1]]), bits)
    tokens = [(start, start, Fraction(0)) for start in inputs]
    return Balls.stack([sides @ path_vectors(target, three, bits) for three in tokens])


Inputs = Callable[[int], list[Fraction]]
"""The scales s of so many inputs."""


def halves(count: int) -> list[Fraction]:
    """1/2, 1, 3/2, .."""
    return [Fraction(j, 2) for j in range(1, count + 1)]


def dependent(inputs: Inputs) -> Callable[[Case, int], Decision]:
    """The obligation that path vectors are independent on these inputs.

    Certain where the matrix is inverted: every matrix within the balls is then invertible. A_p
    depends on X X^T alone, so that inputs s and -s have rows that differ in sign only.
    """

    def decide(case: Case, bits: int) -> Decision:
        heads, layers = case
        paths = heads**layers
        scales = inputs(paths)
        rows = len({abs(scale) for scale in scales if scale})
        if rows < paths:
            return Counterexample(
                text=f"H = {heads}, L = {layers}: the path vectors must have rank {paths}, on "
                f"these inputs it is at most {rows}",
                instance={"heads": heads, "layers": layers, "inputs": list(map(str, scales))},
            )
        path_matrix(case, scales, bits).inverse()
        return None

    return decide


# --- claim -----------------------------------------------------------------------------------


def all_sizes_checks(rules: Rules | None = None, *, inputs: Inputs = halves) -> tuple[Check, ...]:
    """The proof for all sizes, exact series, and softmax attention in balls."""
    chosen = rules or Rules()

    def goals() -> tuple[Goal, ...]:
        target = chosen.target((2, 2))
        streams = stream_goals(lambda: stream_worlds(target))

        def series() -> Iterator[World]:
            return sizes_worlds(target)

        return (*streams, *order_goals(series), *newton_goals(), *tensor_goals(series))

    return (
        covers(
            Smt(
                goals=goals,
                instances="all H >= 2 and L",
                leans_on=(INDUCTION, FINITE_DIFFERENCES, POWER_SERIES),
            )
        ),
        supports(
            Exhaustive(
                holds=orders_fail(chosen),
                ranges=RANGES,
                rechecked_as="path-series",
                exhibit=orders_exhibit(chosen),
                leans_on=(),
            )
        ),
        supports(
            Enclosure(
                decide=dependent(inputs),
                ranges=BALL_RANGES,
                margin="the matrix of path vectors on H^L inputs is inverted",
                exhibit=lambda case: {"heads": case[0], "layers": case[1]},
                first_bits=256,
                last_bits=8192,
            )
        ),
    )


@claim(
    id="lowerbounds.independence.all_sizes",
    source=Source(PAPER, "Theorem 4.1"),
    latex=r"\forall H \ge 2, L\ \exists\, T:\ \{X \mapsto A_p X\}_{p \in [H]^L} "
    r"\text{ independent on three tokens}",
    scope="softmax attention, d_in = 1, all H >= 2 and L; an explicit target with integer weights",
    uses=("lowerbounds.two_types.identity", "lowerbounds.two_types.differences"),
    expected=Status.PROVED,
)
def path_vectors_are_independent_for_all_sizes() -> tuple[Check, ...]:
    """For all H >= 2 and L some softmax target has independent path vectors on three tokens, so
    the condition of both bounds holds.
    """  # noqa: D205 - one statement, in one sentence
    return all_sizes_checks()
