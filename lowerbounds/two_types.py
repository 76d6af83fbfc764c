"""Tokens of two types: softmax attention acts on their difference by one number a head.

Three tokens, two of type 1 and one of type 2; e is any function with e(a + b) = e(a) e(b) > 0, and
sigma(x) = e(x) / (e(x) + 1), e(lambda) = 2. Where y_1, y_2 enter a layer and delta = y_1 - y_2, a
head with scale c takes type values u to

    (A u)_i = u_2 + (u_1 - u_2) sigma(c y_i delta + lambda)

so the type difference of A_p X, for X = s (1, 1, 0), is s times one factor for each layer,

    S_h = sigma(c_h y_1 delta + lambda) - sigma(c_h y_2 delta + lambda).

With c an integer times ln 2 and integer streams every weight of the softmax is a power of two, so
instances are exact and are real softmax attention.

Source: Fixed Universal Transformers, Section 4 and Theorem 4.1; the proof is ours.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from constructions.universal.instances import seeded
from constructions.universal.sums import PAPER
from lowerbounds.two_types_theory import two_types_goals
from verify.claims import Check, Profile, Source, claim, covers, supports
from verify.counterexamples import Counterexample
from verify.errors import SizeError
from verify.facts import EXPONENTIAL, INDUCTION, MONOTONE_EXPONENTIAL
from verify.methods.exhaustive import Exhaustive
from verify.methods.smt import Smt
from verify.ranges import Range
from verify.rational import Matrix
from verify.smtlib import Goal, World
from verify.verdicts import Json, Status

Path = tuple[int, ...]
TYPES = (0, 0, 1)
"""Types of the three tokens; the first is of type 1 and the last of type 2."""
ODDS = 1
"""lambda in units of ln 2: a type-1 token is met twice for each one of type 2."""


def power(exponent: Fraction | int) -> Fraction:
    """2^x for an integer x: the exponential, with logits in units of ln 2."""
    return Fraction(2) ** int(exponent)


def logistic(exponent: Fraction | int) -> Fraction:
    """e(x) / (e(x) + 1)."""
    return power(exponent) / (power(exponent) + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoTypes:
    """Attention over tokens of two types; the scales of the logits are in units of ln 2.

    `scales[l][h]` and `streams[l]` = (y_1, y_2) belong to layer l + 1; `start` is s.

    Raises:
        SizeError: no head, or not one stream for each layer.
    """

    scales: tuple[tuple[int, ...], ...]
    streams: tuple[tuple[int, int], ...]
    start: int
    types: tuple[int, ...] = TYPES

    def __post_init__(self) -> None:
        """Refuse layers without heads or streams."""
        if len(self.scales) != len(self.streams) or not all(self.scales):
            raise SizeError(
                "TwoTypes must have heads and a stream in each layer, got heads "
                f"{[len(layer) for layer in self.scales]} and {len(self.streams)} streams"
            )

    @property
    def paths(self) -> list[Path]:
        """All head sequences, heads counted from 0, shorter ones first."""
        heads = [range(len(layer)) for layer in self.scales]
        return [p for n in range(len(heads) + 1) for p in itertools.product(*heads[:n])]

    def attention(self, layer: int, head: int) -> Matrix:
        """Row softmax of the logits c y_i y_j over all tokens, shape (n, n)."""
        tokens = [self.streams[layer][kind] for kind in self.types]
        rows = [[power(self.scales[layer][head] * a * b) for b in tokens] for a in tokens]
        return Matrix.from_rows([[weight / sum(row) for weight in row] for row in rows])

    def vector(self, path: Path) -> tuple[Fraction, Fraction]:
        """A_p X at the two types, by products of attention matrices.

        It is read at the first token and the last, which are of types 1 and 2.
        """
        inputs = [[self.start * (1 - kind)] for kind in self.types]
        column = Matrix.from_rows(inputs)
        for layer, head in enumerate(path):
            column = self.attention(layer, head) @ column
        return column[0, 0], column[len(self.types) - 1, 0]

    def factor(self, layer: int, head: int) -> Fraction:
        """S_h of a layer."""
        first, second = self.streams[layer]
        step = self.scales[layer][head] * (first - second)
        return logistic(step * first + ODDS) - logistic(step * second + ODDS)

    def product(self, path: Path) -> Fraction:
        """The factors along a path, multiplied."""
        value = Fraction(1)
        for layer, head in enumerate(path):
            value *= self.factor(layer, head)
        return value


# --- instances -------------------------------------------------------------------------------

Case = tuple[int, int, int]
TypesOf = Callable[[Case], tuple[int, ...]]
"""The types of a case's tokens."""


def stated_types(case: Case) -> tuple[int, ...]:
    """Two tokens of type 1 and one of type 2, in every case."""
    del case
    return TYPES


def attention_of(case: Case, types: tuple[int, ...]) -> TwoTypes:
    """Small integer scales and streams, drawn from a seed."""
    heads, layers, seed = case
    source = seeded(seed)
    return TwoTypes(
        scales=tuple(tuple(source.randint(-2, 3) for _ in range(heads)) for _ in range(layers)),
        streams=tuple((source.randint(-3, 3), source.randint(-2, 2)) for _ in range(layers)),
        start=source.randint(1, 4),
        types=types,
    )


def identity_fails(types: tuple[int, ...]) -> Callable[[Case], Counterexample | None]:
    """The obligation that every path vector's difference is s times the product of factors."""

    def holds(case: Case) -> Counterexample | None:
        model = attention_of(case, types)
        for path in model.paths:
            first, second = model.vector(path)
            wanted = model.start * model.product(path)
            if first - second != wanted:
                text = (
                    f"the difference of path {[h + 1 for h in path]} must be s times its factors, "
                    f"{wanted}, got {first - second}"
                )
                return Counterexample(text=text, instance=_plain(model))
        return None

    return holds


def _plain(model: TwoTypes) -> dict[str, Json]:
    return {
        "scales": [list(layer) for layer in model.scales],
        "streams": [list(pair) for pair in model.streams],
        "start": model.start,
        "types": list(model.types),
    }


def identity_exhibit(types: tuple[int, ...]) -> Callable[[Case], Json]:
    """Kind `two-types`: the model, and the type difference of every whole path."""

    def exhibit(case: Case) -> Json:
        model = attention_of(case, types)
        whole = [path for path in model.paths if len(path) == len(model.scales)]
        vectors = [model.vector(path) for path in whole]
        return {**_plain(model), "differences": [str(first - last) for first, last in vectors]}

    return exhibit


def _range(heads: int, layers: int, seeds: int) -> Range:
    sizes = (range(2, heads + 1), range(1, layers + 1), range(seeds))
    return Range(
        bound=f"2 <= H <= {heads}, L <= {layers}, {seeds} draws of integer scales and streams",
        over=lambda: itertools.product(*sizes),
    )


RANGES: dict[Profile, Range] = {
    "quick": _range(2, 2, 3),
    "standard": _range(3, 3, 5),
    "deep": _range(4, 4, 10),
}


def identity_worlds(types: TypesOf) -> Callable[[], Iterator[World]]:
    """Drawn models of two layers with two heads; e is 2^x on integers."""

    def worlds() -> Iterator[World]:
        for case in ((2, 2, 1), (2, 2, 4)):
            yield _world(attention_of(case, types(case)))

    return worlds


def _world(model: TwoTypes) -> World:
    layers = range(len(model.scales))
    reals = [Fraction(x) for x in (-2, -1, 0, 1, 3)]

    def scale(layer: int, head: int) -> int:
        return model.scales[layer][head]

    def stream(kind: int) -> Callable[[int], int]:
        return lambda layer: model.streams[layer][kind]

    def side(kind: int) -> Callable[[Path], Fraction]:
        return lambda path: model.vector(path)[kind]

    return World(
        sorts={"Path": model.paths, "Real": reals},
        integers=layers,
        symbols={
            "e": power,
            "sigma": logistic,
            "lambda": Fraction(ODDS),
            "layers": len(layers),
            "heads": len(model.scales[0]),
            "nil": (),
            "then": lambda path, head: (*path, head),
            "depth": len,
            "c": scale,
            "y1": stream(0),
            "y2": stream(1),
            "s": model.start,
            "up": side(0),
            "low": side(1),
            "factor": model.factor,
            "product": model.product,
        },
        free={
            "p": [path for path in model.paths if len(path) < len(layers)],
            "h": (0, 1),
            "a": (-1, 2),
            "b": (0, 3),
            "d": (-4, -1, 2),
            "x": (-3, 0, 3),
        },
    )


# --- claim -----------------------------------------------------------------------------------


def identity_checks(types: TypesOf = stated_types) -> tuple[Check, ...]:
    """Rows of the softmax, then induction over the layers; and exact instances."""

    def goals() -> tuple[Goal, ...]:
        return two_types_goals(identity_worlds(types))

    return (
        covers(
            Smt(
                goals=goals,
                instances="all H, L, scales, streams and s; every e with e(a + b) = e(a) e(b) > 0",
                leans_on=(INDUCTION, MONOTONE_EXPONENTIAL, EXPONENTIAL),
            )
        ),
        supports(
            Exhaustive(
                holds=lambda case: identity_fails(types(case))(case),
                ranges=RANGES,
                rechecked_as="two-types",
                exhibit=lambda case: identity_exhibit(types(case))(case),
            )
        ),
    )


@claim(
    id="lowerbounds.two_types.identity",
    source=Source(PAPER, "Theorem 4.1"),
    latex=r"(A_p X)_1 - (A_p X)_2 = s \prod_l \left(\sigma(c^{l,p_l} y_1 \delta + \ln 2)"
    r" - \sigma(c^{l,p_l} y_2 \delta + \ln 2)\right)",
    scope="softmax attention, d_in = 1, three tokens of two types; all H, L, scales and streams",
    expected=Status.PROVED,
)
def the_type_difference_is_a_product_over_the_layers() -> tuple[Check, ...]:
    """On tokens (1, 1, 0) s the difference of the path vector A_p X between the two types is s
    times one factor for each layer of the path, whatever the streams.
    """  # noqa: D205 - one statement, in one sentence
    return identity_checks()
