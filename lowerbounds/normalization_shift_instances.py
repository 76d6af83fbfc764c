"""Fixed post-LayerNorm models beside a target that exceeds them at every input.

Source: Fixed Universal Transformers, Section 3.3; the argument is ours.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from constructions.universal.definitions import Normaliser, TransformerSize
from constructions.universal.instances import random_matrix, random_target, seeded
from lowerbounds.layer_norm import ALONE, PAIR, Head, LayerNorm, PostNorm, heads_of, plain_norm
from lowerbounds.post_norm_models import output_limits, random_model
from verify.certificates import matrix, number
from verify.claims import Profile
from verify.counterexamples import Counterexample
from verify.ranges import Range
from verify.rational import Matrix
from verify.verdicts import Json

EPS = Fraction(9, 16)
SPREADS = (Fraction(0), Fraction(1), Fraction(-9, 5))
"""d^2 + EPS is a rational square, so rows (c + d, c - d) have rational divisors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What is claimed; mutants change one of them.

    room      what a normalised coordinate is at most in size, from m
    scale     the target's last scale
    beyond    how far the target's last shift is beyond the bound
    """

    room: Callable[[int], int] = lambda width: width
    scale: Fraction = Fraction(0)
    beyond: Fraction = Fraction(1)


RULES = Rules()
"""What we claim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shifted:
    """A fixed model of width m and a target of a size that is to exceed it everywhere."""

    width: int
    size: TransformerSize
    residual: bool
    seed: int

    @property
    def fixed(self) -> PostNorm:
        """One layer of two heads; seed 0 passes its stream on."""
        return random_model(self.width, self.size.token_width, self.seed)

    @property
    def attend(self) -> Normaliser:
        """One token where a target of several layers is run, else two."""
        return PAIR if self.size.layers == 1 else ALONE

    def bound(self, rules: Rules) -> Fraction:
        """What the fixed model's first output coordinate is at most."""
        return output_limits(self.fixed, Fraction(rules.room(self.width)))[0]

    def layers(self) -> tuple[tuple[Head, ...], ...]:
        """The target's random heads; before several layers every row can come about."""
        drawn = (heads_of(random_target(self.size, seed)) for seed in itertools.count(self.seed))
        return next(
            layers
            for layers in drawn
            if self.size.layers == 1 or self.mixed(layers).determinant() != 0
        )

    def mixed(self, layers: tuple[tuple[Head, ...], ...]) -> Matrix:
        """What the first sublayer does to a token alone: [I +] sum_h M^h."""
        width = self.size.token_width
        total = Matrix.identity(width) if self.residual else Matrix.zero(width, width)
        for head in layers[0]:
            total += head.mix
        return total

    def target(self, rules: Rules) -> PostNorm:
        """Its last layer has one scale and a shift beyond the bound."""
        width = self.size.token_width
        last = LayerNorm(
            scale=(rules.scale,) * width,
            shift=(self.bound(rules) + rules.beyond, *(Fraction(0),) * (width - 1)),
            eps=EPS,
        )
        return PostNorm(
            layers=self.layers(),
            norms=(*(plain_norm(width, EPS),) * (self.size.layers - 1), last),
            residual=self.residual,
            readout=Matrix.identity(width),
        )

    def inputs(self) -> list[Matrix]:
        """0 and random tokens; before several layers, those whose first divisor is rational."""
        source, width = seeded(self.seed + 1), self.size.token_width
        if self.size.layers == 1:
            return [Matrix.zero(2, width), *(random_matrix(source, 2, width) for _ in range(2))]
        back = self.mixed(self.layers()).inverse()
        rows = [[1 + spread, 1 - spread][:width] for spread in SPREADS]
        return [Matrix.from_rows([row]) @ back for row in rows]

    def embeddings(self) -> list[Matrix]:
        """100 in one corner, so that a coordinate stands alone, and a random one."""
        shape = self.size.token_width, self.width
        corner = Matrix.with_ones(*shape, [0], [0]).scaled(100)
        return [corner, random_matrix(seeded(self.seed), *shape)]

    def as_json(self) -> dict[str, Json]:
        """The case as counterexamples name it."""
        return {
            "width": self.width,
            "size": self.size.as_json(),
            "residual": self.residual,
            "seed": self.seed,
        }


def shift_fails(rules: Rules = RULES) -> Callable[[Shifted], Counterexample | None]:
    """The obligation: outputs keep their bound, and the target is beyond it at every input."""

    def holds(case: Shifted) -> Counterexample | None:
        text = _unbounded(case, rules) or _not_beyond(case, rules)
        if text is None:
            return None
        return Counterexample(text=f"{text} ({case.as_json()})", instance=case.as_json())

    return holds


def _unbounded(case: Shifted, rules: Rules) -> str | None:
    """Which coordinate of the fixed model leaves its bound."""
    model, bound, room = case.fixed, case.bound(rules), rules.room(case.width)
    norm, column = model.norms[-1], model.readout.transposed.rows()[0]
    for inputs, embedding in itertools.product(case.inputs(), case.embeddings()):
        for row in model.sublayer(0, inputs @ embedding, case.attend).rows():
            square = max(y * y for y in norm.deviations(row)) / norm.divided_by(row)
            if square > room**2:
                return f"a normalised coordinate must be at most {room}, its square is {square}"
            _, high = norm.read_between(row, column)
            if high > bound:
                return f"the first output must be at most {bound}, it may be {high}"
    return None


def _not_beyond(case: Shifted, rules: Rules) -> str | None:
    """Where the target does not return its shift, or that this is within the bound."""
    target, bound = case.target(rules), case.bound(rules)
    norm, before = target.norms[-1], case.size.layers - 1
    for inputs in case.inputs():
        stream = inputs
        for layer in range(before):
            stream = target.norms[layer].of(target.sublayer(layer, stream, case.attend))
        for row in target.sublayer(before, stream, case.attend).rows():
            for unit, shift in zip(target.readout.rows(), norm.shift, strict=True):
                if norm.read_between(row, unit) != (shift, shift):
                    return f"the target must return its shift {shift} at every input, it does not"
    if norm.shift[0] <= bound:
        return f"the target's output must exceed {bound}, got {norm.shift[0]}"
    return None


def shift_exhibit(rules: Rules = RULES) -> Callable[[Shifted], Json]:
    """Kind `shifted-output`: both models, embeddings, inputs and the bound in full."""
    return lambda case: {
        "fixed": case.fixed.as_json(),
        "target": case.target(rules).as_json(),
        "embeddings": [matrix(embedding) for embedding in case.embeddings()],
        "inputs": [matrix(inputs) for inputs in case.inputs()],
        "bound": number(case.bound(rules)),
    }


def _range(width: int, token_width: int, seeds: int) -> Range:
    def over() -> Iterator[Shifted]:
        for seed, m, layers, tokens, residual in itertools.product(
            range(seeds), range(2, width + 1), (1, 2), range(1, token_width + 1), (False, True)
        ):
            if layers == 1 or tokens <= 2:  # noqa: PLR2004 - wider rows have irrational divisors
                size = TransformerSize(heads=2, layers=layers, head_width=1, token_width=tokens)
                yield Shifted(width=m, size=size, residual=residual, seed=seed)

    return Range(
        bound=f"2 <= m <= {width}, H = 2, L = 1 with d_in <= {token_width} and L = 2 with "
        f"d_in <= 2, {seeds} fixed models, three inputs, with and without residual",
        over=over,
    )


SHIFT_RANGES: dict[Profile, Range] = {
    "quick": _range(4, 2, 2),
    "standard": _range(6, 3, 3),
    "deep": _range(8, 4, 6),
}
