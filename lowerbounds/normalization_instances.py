"""Instances of the LayerNorm claims: models at X = 0, and models beside targets that exceed them.

Source: Fixed Universal Transformers, Section 3.3.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from constructions.universal.definitions import TransformerSize
from constructions.universal.instances import random_matrix, seeded
from lowerbounds.layer_norm import ALONE, PAIR, PostNorm, Row, root_bounds, texts
from lowerbounds.post_norm_models import (
    large_target,
    output_limits,
    random_model,
    shifted_target,
    universal_model,
)
from verify.claims import Profile
from verify.counterexamples import Counterexample
from verify.ranges import Range
from verify.rational import Matrix
from verify.verdicts import Json

TOKENS = 2
EMBEDDINGS = 3

# --- zero inputs -----------------------------------------------------------------------------

Embed = Callable[[Matrix, Matrix], Matrix]
"""The stream X~^0 from X and E."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ZeroInput:
    """A universal model and a target at X = 0, of one size."""

    size: TransformerSize
    residual: bool

    @property
    def inputs(self) -> Matrix:
        """X = 0."""
        return Matrix.zero(TOKENS, self.size.token_width)

    @property
    def fixed(self) -> PostNorm:
        """The tree with LayerNorm after each layer."""
        return universal_model(self.size, residual=self.residual, seed=1)

    def embeddings(self) -> list[Matrix]:
        """Zero, then random ones, each of shape (d_in, m)."""
        shape = self.size.token_width, self.fixed.readout.height
        drawn = [random_matrix(seeded(seed), *shape) for seed in range(1, EMBEDDINGS)]
        return [Matrix.zero(*shape), *drawn]

    def outputs(self, embed: Embed) -> list[Matrix]:
        """The fixed model's output under each embedding."""
        return [self.fixed.output(embed(self.inputs, e), PAIR) for e in self.embeddings()]

    def target(self, other: Fraction) -> PostNorm:
        """Its last shift is the fixed output's first row, the first entry moved by `other`."""
        first, *rest = self.fixed.output(self.inputs @ self.embeddings()[0], PAIR).rows()[0]
        shift = (first + other, *rest)
        return shifted_target(self.size, residual=self.residual, shift=shift, seed=2)

    def as_json(self) -> dict[str, Json]:
        """The instance as counterexamples name it."""
        return {"size": self.size.as_json(), "residual": self.residual, "tokens": TOKENS}


def plain(inputs: Matrix, embedding: Matrix) -> Matrix:
    """X E."""
    return inputs @ embedding


def zero_input_fails(embed: Embed, other: Fraction) -> Callable[[ZeroInput], Counterexample | None]:
    """The obligation: one output for all E; the target returns its shift, which differs."""

    def holds(case: ZeroInput) -> Counterexample | None:
        outputs, target = case.outputs(embed), case.target(other)
        found = target.output(case.inputs, PAIR)
        if any(output != outputs[0] for output in outputs):
            text = "at X = 0 a fixed model must have one output for all embeddings"
        elif any(row != target.norms[-1].shift for row in found.rows()):
            text = "at X = 0 every row of the target's output must be its last shift"
        elif found == outputs[0]:
            text = "at X = 0 the target's output must differ from the fixed model's"
        else:
            return None
        return Counterexample(
            text=f"{text}; got {outputs} for the model and {found} for the target",
            instance={**case.as_json(), "outputs": [texts(output) for output in outputs]},
        )

    return holds


def zero_input_exhibit(other: Fraction) -> Callable[[ZeroInput], Json]:
    """Both models and the embeddings in full."""
    return lambda case: {
        "fixed": case.fixed.as_json(),
        "target": case.target(other).as_json(),
        "embeddings": [texts(embedding) for embedding in case.embeddings()],
        "tokens": TOKENS,
    }


def _zero_range(heads: int, layers: int, head_width: int, token_width: int) -> Range:
    def over() -> Iterator[ZeroInput]:
        for h, n, d, t in itertools.product(
            range(1, heads + 1),
            range(1, layers + 1),
            range(1, head_width + 1),
            range(2, token_width + 1),
        ):
            size = TransformerSize(heads=h, layers=n, head_width=d, token_width=t)
            for residual in (False, True):
                yield ZeroInput(size=size, residual=residual)

    return Range(
        bound=f"H <= {heads}, L <= {layers}, d <= {head_width}, 2 <= d_in <= {token_width}, "
        f"{TOKENS} tokens, {EMBEDDINGS} embeddings, with and without residual",
        over=over,
    )


ZERO_RANGES: dict[Profile, Range] = {
    "quick": _zero_range(2, 2, 1, 2),
    "standard": _zero_range(2, 2, 2, 3),
    "deep": _zero_range(3, 3, 2, 3),
}

# --- large outputs ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What is claimed of a fixed model and of the target; mutants change one of them.

    most: the largest square of a normalised coordinate, from m
    limits: the bound of each output coordinate, from the model and B, B^2 >= most
    scale: the target's last scale, from the bound and its first normalised coordinate
    """

    most: Callable[[int], int] = lambda width: width - 1
    limits: Callable[[PostNorm, Fraction], list[Fraction]] = output_limits
    scale: Callable[[Fraction, Fraction], Fraction] = lambda bound, hat: bound / hat + 1
    least_width: int = 2


RULES = Rules()
"""What we claim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LargeOutput:
    """A fixed model on rows of width m, and a target that is to exceed its bound."""

    width: int
    size: TransformerSize
    residual: bool
    seed: int

    @property
    def fixed(self) -> PostNorm:
        """One layer of two heads; seed 0 passes its stream on."""
        return random_model(self.width, self.size.token_width, self.seed)

    @property
    def unit(self) -> Matrix:
        """One token, e_1."""
        return Matrix.with_ones(1, self.size.token_width, [0], [0])

    def inputs(self) -> list[Matrix]:
        """The target's input e_1, and two random tokens."""
        source = seeded(self.seed)
        return [self.unit, random_matrix(source, TOKENS, self.size.token_width)]

    def embeddings(self) -> list[Matrix]:
        """100 in one corner, so that a coordinate stands alone; then random ones."""
        shape, source = (self.size.token_width, self.width), seeded(self.seed)
        corner = Matrix.with_ones(*shape, [0], [0]).scaled(100)
        return [corner, *(random_matrix(source, *shape) for _ in range(EMBEDDINGS - 1))]

    def rows(self) -> Iterator[Row]:
        """The fixed model's rows before its last normalisation."""
        for inputs, attend in zip(self.inputs(), (ALONE, PAIR), strict=True):
            for embedding in self.embeddings():
                yield from self.fixed.sublayer(0, inputs @ embedding, attend).rows()

    def target(self, scale: Fraction) -> PostNorm:
        """The target with that scale in its last layer."""
        return large_target(self.size, residual=self.residual, scale=scale)

    def room(self, rules: Rules) -> Fraction:
        """B, at least the root of `most`."""
        return root_bounds(Fraction(rules.most(self.width)))[1]

    def bounds(self, rules: Rules) -> list[Fraction]:
        """The bound of each output coordinate of the fixed model."""
        return rules.limits(self.fixed, self.room(rules))

    def exceeding(self, rules: Rules) -> PostNorm | None:
        """The target that is to exceed the first bound; None if no scale can make it."""
        hat = self.target(Fraction(1)).output(self.unit, ALONE)[0, 0]
        return self.target(rules.scale(self.bounds(rules)[0], hat)) if hat > 0 else None

    def as_json(self) -> dict[str, Json]:
        """The instance as counterexamples name it."""
        return {
            "width": self.width,
            "size": self.size.as_json(),
            "residual": self.residual,
            "seed": self.seed,
        }


def large_output_fails(rules: Rules) -> Callable[[LargeOutput], Counterexample | None]:
    """The obligation: coordinates and outputs keep their bounds, and the target exceeds them."""

    def holds(case: LargeOutput) -> Counterexample | None:
        text = _unbounded(case, rules) or _not_exceeding(case, rules)
        if text is None:
            return None
        return Counterexample(text=f"{text} ({case.as_json()})", instance=case.as_json())

    return holds


def _unbounded(case: LargeOutput, rules: Rules) -> str | None:
    """Which coordinate of the fixed model leaves its bound."""
    model, bounds, most = case.fixed, case.bounds(rules), rules.most(case.width)
    norm, columns = model.norms[-1], model.readout.transposed.rows()
    for row in case.rows():
        largest = max(y * y for y in norm.deviations(row)) / norm.divided_by(row)
        if largest > most:
            return f"the square of a normalised coordinate must be at most {most}, got {largest}"
        for column, bound in zip(columns, bounds, strict=True):
            low, high = norm.read_between(row, column)
            if not -bound <= low <= high <= bound:
                return f"an output must be at most {bound} in size, got one in [{low}, {high}]"
    return None


def _not_exceeding(case: LargeOutput, rules: Rules) -> str | None:
    """Why the target does not exceed the bound."""
    bound, target = case.bounds(rules)[0], case.exceeding(rules)
    if target is None:
        return "the target's first normalised coordinate must be positive; it is not"
    found = target.output(case.unit, ALONE)[0, 0]
    return None if found > bound else f"the target's output must exceed {bound}, got {found}"


def large_output_exhibit(rules: Rules) -> Callable[[LargeOutput], Json]:
    """The fixed model, its embeddings and inputs, the bounds and the target in full."""

    def exhibit(case: LargeOutput) -> Json:
        target = case.exceeding(rules)
        return {
            "fixed": case.fixed.as_json(),
            "embeddings": [texts(embedding) for embedding in case.embeddings()],
            "inputs": [texts(inputs) for inputs in case.inputs()],
            "room": str(case.room(rules)),
            "bounds": [str(bound) for bound in case.bounds(rules)],
            "target": target and target.as_json(),
        }

    return exhibit


def large_ranges(least_width: int) -> dict[Profile, Range]:
    """Widths m from 2 to 6, d_in from `least_width` on, by profile."""

    def over(layers: int, token_width: int, seeds: int) -> Iterator[LargeOutput]:
        for seed, width, n, t, residual in itertools.product(
            range(seeds),
            range(2, 7),
            range(1, layers + 1),
            range(least_width, token_width + 1),
            (False, True),
        ):
            size = TransformerSize(heads=2, layers=n, head_width=1, token_width=t)
            yield LargeOutput(width=width, size=size, residual=residual, seed=seed)

    def chosen(layers: int, token_width: int, seeds: int) -> Range:
        return Range(
            bound=f"2 <= m <= 6, L <= {layers}, {least_width} <= d_in <= {token_width}, H = 2, "
            f"{seeds} fixed models, {EMBEDDINGS} embeddings, with and without residual",
            over=lambda: over(layers, token_width, seeds),
        )

    return {"quick": chosen(2, 2, 2), "standard": chosen(2, 3, 3), "deep": chosen(4, 4, 6)}
