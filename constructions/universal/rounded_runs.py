"""Targets, draws and inputs that every format holds exactly, and their runs over any numbers.

    targets, inputs   Gaussian entries k/64, |k| <= 255: eight bits
    draws             multiples of 2^-24 of eight significant bits; entries of about 1/sqrt(m)

So all formats run the same target and the same universal model; what a format rounds beforehand
is E alone, which is written or solved exactly. Logits are divided by sqrt(d).

Source: Fixed Universal Transformers, Section 3.2, Finite precision.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from constructions.universal import looped, tree
from constructions.universal.ball_runs import MASKS, Mask, converted, enclosed_target, softmax_of
from constructions.universal.definitions import (
    FixedModel,
    Pass,
    Target,
    TransformerSize,
    forward,
)
from constructions.universal.drawn import DrawnModel
from constructions.universal.draws import SEEDS, Block, Distribution, Draw
from constructions.universal.floats import FORMATS, Floats, two_factor_layers
from constructions.universal.instances import DenseModel, seeded
from constructions.universal.layouts import Layout
from constructions.universal.probes import coefficients, probe
from constructions.universal.solving import solve_probes
from verify.balls import Balls, condition_number_infinity
from verify.errors import PrecisionError
from verify.rational import Matrix
from verify.verdicts import Json

BITS = 160
"""Working precision of references and error bounds."""
CONDITION_BITS = 256
"""Working precision of the inverse of P_0: that of float64 beside condition numbers to 10^50."""
LARGEST, GRID = 255, 64
"""Entries of targets and inputs are k/64 with |k| <= 255."""
SIGNIFICANT, FINEST = 1 << 8, 2.0**24
"""Drawn entries have eight significant bits and are multiples of 2^-24."""

MOST_DRAWS = 20
"""Draws that are tried for one that float16 can hold; nearly always the first one is."""

LAYOUTS: dict[str, Layout] = {layout.name: layout for layout in (tree.LAYOUT, looped.LAYOUT)}


# --- parameters ------------------------------------------------------------------------------


def gaussian_matrix(source: random.Random, height: int, width: int, spread: float) -> Matrix:
    """Gaussian entries of that standard deviation, rounded to k/64 with |k| <= 255."""

    def entry() -> Fraction:
        nearest = round(source.gauss(0, spread) * GRID)
        return Fraction(max(-LARGEST, min(LARGEST, nearest)), GRID)

    return Matrix(height, width, [entry() for _ in range(height * width)])


def gaussian_target(size: TransformerSize, source: random.Random) -> Target:
    """An attention-only target whose weights keep the size of what passes through them."""

    def grid(height: int, width: int) -> tuple[tuple[Matrix, ...], ...]:
        spread = height**-0.5
        return tuple(
            tuple(gaussian_matrix(source, height, width, spread) for _ in range(size.heads))
            for _ in range(size.layers)
        )

    tall, wide = (size.token_width, size.head_width), (size.head_width, size.token_width)
    return Target(
        size=size, queries=grid(*tall), keys=grid(*tall), values=grid(*tall), outputs=grid(*wide)
    )


def eight_bits(block: Block, halvings: int = 0) -> Matrix:
    """A drawn matrix over 2^halvings, to multiples of 2^-24 and then eight significant bits."""
    drawn = block.integers.astype(np.float64) * 2.0 ** (block.exponent - halvings)
    fraction, power = np.frexp(np.rint(drawn * FINEST) / FINEST)
    rounded = np.ldexp(np.rint(fraction * SIGNIFICANT) / SIGNIFICANT, power)
    height, width = block.integers.shape
    return Matrix(height, width, [Fraction(x) for x in rounded.ravel().tolist()])


# --- instances -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundedCase:
    """Sizes, tokens and a mask, and which universal model: a layout by name, or else a draw.

    Gaussian draws are divided by a power of two near sqrt(m). A draw is replaced by the next one
    if E or a stream reaches half of what float16 can hold.
    """

    size: TransformerSize
    tokens: int
    mask: str
    layout: str | None = None
    distribution: Distribution = "uniform32"
    tied: bool = False

    def as_json(self) -> dict[str, Json]:
        """The case as certificates and counterexamples name it."""
        return {
            "size": self.size.as_json(),
            "tokens": self.tokens,
            "mask": self.mask,
            "model": self.layout or self.distribution,
            "tied": self.tied,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A target, inputs and a mask, with the enclosure of T(X), shape (n, d_in)."""

    target: Target
    inputs: Matrix
    mask: Mask
    exact: Balls

    @property
    def scale(self) -> float:
        """The largest |T(X)|."""
        return float(self.exact.magnitude_upper())


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A universal model, the exact E of shape (d_in, m), and how P_0 is conditioned."""

    model: FixedModel[Any, Any]
    embedding: Matrix
    condition: float


@lru_cache(maxsize=2)
def question(case: RoundedCase, seed: int) -> Question:
    """The case's target and inputs for a seed, the same for all models."""
    source = seeded(seed)
    target = gaussian_target(case.size, source)
    inputs = gaussian_matrix(source, case.tokens, case.size.token_width, 1.0)
    mask = MASKS[case.mask](case.tokens)
    exact = enclosed_target(target, inputs, BITS, softmax_of(mask, case.size.head_width))
    return Question(target=target, inputs=inputs, mask=mask, exact=exact)


@lru_cache(maxsize=2)
def answer(case: RoundedCase, seed: int) -> Answer:
    """The case's universal model for a seed, with the E that makes it simulate the target.

    Raises:
        PrecisionError: no draw in MOST_DRAWS fits float16.
    """
    asked = question(case, seed)
    if case.layout is not None:
        layout = LAYOUTS[case.layout]
        width = layout.least_width(case.size)
        written = layout.write(asked.target, width).transposed
        return Answer(model=layout.build(case.size, width), embedding=written, condition=1.0)
    for attempt in range(MOST_DRAWS):
        drawn = drawn_model(case, (seed + attempt) % SEEDS)
        probes = probe(drawn, 0).matrix
        solved = solve_probes(probes, coefficients(asked.target, 0))
        if solved is not None and fits_float16(asked, drawn, solved.transposed):
            condition = float(condition_number_infinity(probes, CONDITION_BITS)[1])
            return Answer(model=drawn, embedding=solved.transposed, condition=condition)
    raise PrecisionError(
        f"{MOST_DRAWS} draws from seed {seed} on must hold one whose streams float16 can hold, "
        f"got none at m = {case.size.probe_width}; choose fewer layers or smaller sizes"
    )


def fits_float16(asked: Question, model: FixedModel[Any, Any], embedding: Matrix) -> bool:
    """Whether E and all streams stay below half of what float16 can hold."""

    def entries(matrix: Matrix) -> Floats:
        return Floats.of(matrix, FORMATS["float64"])

    written = entries(embedding)
    streams = universal_pass(asked, model, written, entries).streams
    most = max(float(part.tensor.abs().max()) for part in (written, *streams))
    return most < float(FORMATS["float16"].overflow) / 2


def drawn_model(case: RoundedCase, seed: int) -> DenseModel:
    """The case's draw of the least m, in eight bits; uniform draws are of 1/sqrt(m) already."""
    width = case.size.probe_width
    draw = Draw(distribution=case.distribution, seed=seed, width=width)
    halvings = round(math.log2(width) / 2) if case.distribution == "gaussian" else 0
    drawn = DrawnModel(size=case.size, draw=draw, tied=case.tied)
    return drawn.model(lambda block: eight_bits(block, halvings))


# --- runs over floating-point numbers, or over error bounds ----------------------------------

Entries = Callable[[Matrix], Any]
"""What makes numbers of exact matrices; their softmax takes a mask and d."""


def target_output(asked: Question, entries: Entries) -> Any:
    """T(X) over the numbers that `entries` makes, X W_V W_O in two steps."""
    layers = two_factor_layers(asked.target, entries)
    return forward(layers, entries(asked.inputs), None, _softmax(asked), _no_gate).output


def universal_output(asked: Question, given: Answer, entries: Entries) -> Any:
    """UTF(X, E) over the numbers that `entries` makes."""
    return universal_pass(asked, given.model, entries(given.embedding), entries).output


def universal_pass(
    asked: Question, model: FixedModel[Any, Any], embedding: Any, entries: Entries
) -> Pass[Any]:
    """The forward pass of a universal model under an E of those numbers, shape (d_in, m)."""
    over = converted(model, entries)
    layers = (over.layer(index) for index in range(model.size.layers))
    stream = entries(asked.inputs) @ embedding
    return forward(layers, stream, over.readout, _softmax(asked), _no_gate)


def _softmax(asked: Question) -> Callable[[Any], Any]:
    return lambda logits: logits.softmax(asked.mask, asked.target.size.head_width)


def _no_gate(gates: Any) -> Any:
    return gates
