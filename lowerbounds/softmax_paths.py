"""Softmax targets with d_in = 1, and the matrix of their path vectors over balls.

    y^0 = X,  y^l = sum_h w^{l,h} A^{l,h} y^{l-1}
    A^{l,h} = softmax over j of c^h y_i y_j, where y = y^{l-1}

The path vector of p is A^{L,p_L} .. A^{1,p_1} X. Several inputs are stacked: a row for each token
of each input, a column for each path. The H^L columns need H^L rows, and on one token every
attention matrix is 1, so for H >= 2 nothing below two tokens and ceil(H^L / 2) inputs can do.

Source: Fixed Universal Transformers, Section 4; the targets are ours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from constructions.universal.ball_runs import softmax_of
from constructions.universal.definitions import Target, TransformerSize, forward, target_layers
from constructions.universal.nonlinearities import full_mask
from lowerbounds.meeting_models import Weights, require_sizes
from verify.balls import Balls
from verify.engines import remembered
from verify.rational import Matrix
from verify.verdicts import Json

BITS = 256
"""The working precision, in bits."""

Numbers = tuple[Fraction, ...]


def distinct_logits(heads: int) -> Numbers:
    """c^h = -h for h = 1..H, in every layer."""
    return tuple(Fraction(-head - 1) for head in range(heads))


def two_tokens(place: int) -> Numbers:
    """The input of a place counted from 0: (3/2 + place/6, -1/2)."""
    return Fraction(place + 9, 6), Fraction(-1, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """How logits and inputs are chosen; each mutant changes one.

    Of 144 choices tried (nine rules for the second token, four for c, four spacings of the first)
    this is one of those that 128 bits certified at (H, L) = (4, 1), (5, 2), (3, 3) and (2, 5).
    """

    logits: Callable[[int], Numbers] = distinct_logits
    tokens: Callable[[int], Numbers] = two_tokens


CHOICE = Choice()


@dataclass(frozen=True, slots=True, kw_only=True)
class PathCase:
    """Sizes and weights: w^l = e_{q_l} for `unit` = q, else weights proportional to 1..H.

    Raises:
        SizeError: H or L is below 1 or no int.
    """

    heads: int
    layers: int
    unit: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        """Refuse sizes below 1."""
        require_sizes(self.heads, self.layers)

    @property
    def paths(self) -> int:
        """H^L."""
        return self.heads**self.layers

    @property
    def weights(self) -> Weights:
        """w^{l,h}, indexed [layer][head] from 0."""
        heads = range(self.heads)
        if self.unit is not None:
            return tuple(tuple(Fraction(int(head == q)) for head in heads) for q in self.unit)
        total = self.heads * (self.heads + 1)
        return (tuple(Fraction(2 * (head + 1), total) for head in heads),) * self.layers

    def inputs(self, choice: Choice) -> tuple[Numbers, ...]:
        """As few inputs as have a token for each path."""
        count = -(-self.paths // len(choice.tokens(0)))
        return tuple(choice.tokens(place) for place in range(count))

    def target(self, choice: Choice) -> Target:
        """The target of the class: W_Q = c, W_K = 1, W_V = w, W_O = 1."""

        def layer(numbers: Numbers) -> tuple[Matrix, ...]:
            return tuple(Matrix(1, 1, [number]) for number in numbers)

        logits = layer(choice.logits(self.heads))
        ones = layer((Fraction(1),) * self.heads)
        return Target(
            size=TransformerSize(heads=self.heads, layers=self.layers, head_width=1, token_width=1),
            queries=(logits,) * self.layers,
            keys=(ones,) * self.layers,
            values=tuple(map(layer, self.weights)),
            outputs=(ones,) * self.layers,
        )

    def as_json(self) -> dict[str, Json]:
        """The case as counterexamples name it."""
        unit = None if self.unit is None else list(self.unit)
        return {"heads": self.heads, "layers": self.layers, "unit": unit}


def path_vectors(target: Target, tokens: Numbers, bits: int) -> Balls:
    """A_p X of all paths as columns; shape (n, H^L), the last layer's head slowest."""
    inputs = Balls.of(Matrix(len(tokens), 1, tokens), bits)
    layers = target_layers(target, lambda exact: Balls.of(exact, bits))
    normalise = softmax_of(full_mask(len(tokens)), 1)
    vectors = inputs
    for heads in forward(layers, inputs, None, normalise, lambda gates: gates).attention:
        vectors = Balls.beside([weights @ vectors for weights in heads])
    return vectors


@remembered(4)
def determinant(case: PathCase, choice: Choice, bits: int) -> tuple[Fraction, Fraction]:
    """Bounds of the determinant of the first H^L rows of the stacked path vectors."""
    target = case.target(choice)
    stacked = Balls.stack([path_vectors(target, x, bits) for x in case.inputs(choice)])
    return stacked.select_rows(range(case.paths)).determinant()


def rank_limit(case: PathCase, choice: Choice) -> int:
    """No stacked matrix has a larger rank.

    Heads of equal logits attend alike, and rows of attention, which sum to 1, keep a constant
    input as it is.
    """
    if all(len(set(tokens)) == 1 for tokens in case.inputs(choice)):
        return 1
    return len(set(choice.logits(case.heads))) ** case.layers
