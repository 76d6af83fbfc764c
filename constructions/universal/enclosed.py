"""Softmax, SiLU and GELU themselves: both outputs enclosed by balls agree to 30 decimals.

E is written, or solved for a drawn model, in exact rationals; then target and universal model run
over balls. The exact runs elsewhere compare every layer under rational stand-ins; here nothing
stands in.

Source: Fixed Universal Transformers, Section 2.2 (definition of universality) and Section 3.3.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any, Literal

from constructions.universal import looped, routed, shift, tree
from constructions.universal.ball_runs import MASKS, converted, enclosed_target, softmax_of
from constructions.universal.definitions import FixedModel, Target, TransformerSize, forward
from constructions.universal.drawn import DrawnModel
from constructions.universal.draws import Block, Draw
from constructions.universal.instances import DenseModel, random_matrix, random_target, seeded
from constructions.universal.layouts import Layout
from constructions.universal.solving import exact_embedding
from constructions.universal.sums import PAPER
from verify.balls import Balls
from verify.claims import Check, Profile, Source, claim, covers
from verify.counterexamples import Counterexample
from verify.errors import ShapeError
from verify.methods.enclosure import Decision, Enclosure, Undecided
from verify.ranges import Range
from verify.rational import Matrix
from verify.verdicts import Json, Status

DECIMALS = 30
"""Decimals to which both outputs agree, in units of the larger of 1 and an entry."""

Gate = Literal["silu", "gelu"]

GATES: dict[Gate, Callable[[Balls], Balls]] = {"silu": Balls.silu, "gelu": Balls.gelu}
LAYOUTS: dict[str, Layout] = {
    layout.name: layout for layout in (tree.LAYOUT, looped.LAYOUT, shift.LAYOUT, routed.LAYOUT)
}
DRAWN = "drawn"


# --- instances -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftCase:
    """A construction, sizes and a seed; how many tokens, which mask, gates and logit scale.

    `construction` names a layout, or is `drawn`; `scaled` divides logits by sqrt(d).
    """

    construction: str
    size: TransformerSize
    seed: int
    tokens: int
    mask: str
    gate: Gate
    scaled: bool

    def as_json(self) -> dict[str, Json]:
        """The case as certificates and counterexamples name it."""
        return {
            "construction": self.construction,
            "size": self.size.as_json(),
            "seed": self.seed,
            "tokens": self.tokens,
            "mask": self.mask,
            "gate": self.gate,
            "scaled": self.scaled,
        }


@lru_cache(maxsize=1)
def _drawn(size: TransformerSize, seed: int) -> tuple[DenseModel, Matrix]:
    """A drawn model and the exact E^T for the target of the seed; kept while precisions double."""
    draw = Draw(distribution="uniform32", seed=seed, width=size.probe_width)
    model = DrawnModel(size=size, draw=draw).model(Block.matrix)
    solved = exact_embedding(model, random_target(size, seed))
    if solved is None:
        raise ShapeError(
            f"the draw of seed {seed} must have a P_0 of full column rank, it has not; "
            "take another seed"
        )
    return model, solved


@cache
def _sparse(construction: str, size: TransformerSize, bits: int) -> FixedModel[Any, Any]:
    layout = LAYOUTS[construction]
    model = layout.build(size, layout.least_width(size))
    return converted(model, lambda exact: Balls.of(exact, bits))


def prepared(case: SoftCase, bits: int) -> tuple[FixedModel[Any, Any], Target, Matrix]:
    """The universal model over balls, the target, and the exact E of shape (d_in, m)."""
    target = random_target(case.size, case.seed)
    if case.construction != DRAWN:
        layout = LAYOUTS[case.construction]
        written = layout.write(target, layout.least_width(case.size))
        return _sparse(case.construction, case.size, bits), target, written.transposed
    model, solved = _drawn(case.size, case.seed)
    return converted(model, lambda exact: Balls.of(exact, bits)), target, solved.transposed


_NARROW = TransformerSize(heads=2, layers=2, head_width=2, token_width=2)
_ONE_HEAD = replace(_NARROW, heads=1, layers=3)
_WIDE = TransformerSize(heads=3, layers=2, head_width=3, token_width=2)
_DEEP = TransformerSize(heads=2, layers=3, head_width=2, token_width=3)
_GATED = replace(_NARROW, neurons=2)
_RESIDUAL = replace(_NARROW, residual=True)
_BOTH = replace(_NARROW, neurons=2, residual=True)

Kind = tuple[str, TransformerSize]
_QUICK: tuple[Kind, ...] = (
    ("tree", _NARROW),
    ("looped", _NARROW),
    ("shift", _ONE_HEAD),
    ("sparse", _GATED),
    ("sparse", _BOTH),
    (DRAWN, _NARROW),
)
_STANDARD: tuple[Kind, ...] = (*_QUICK, ("sparse", _RESIDUAL), ("tree", _WIDE), ("looped", _DEEP))
_ALL: tuple[Kind, ...] = (
    *_STANDARD,
    ("tree", _DEEP),
    ("looped", _WIDE),
    (DRAWN, _WIDE),
    (DRAWN, _RESIDUAL),
)
_SLOW: tuple[Kind, ...] = ((DRAWN, _GATED),)
"""Solved exactly in many seconds."""


_TURNS = tuple(itertools.product(GATES, MASKS, (True, False)))


def _cases(kinds: Sequence[Kind], seeds: int) -> Iterator[SoftCase]:
    """Per kind and seed one case; gates, masks and scales take turns, all within eight seeds."""
    for seed in range(seeds):
        for place, (construction, size) in enumerate(kinds):
            gate, mask, scaled = _TURNS[(seed + 3 * place) % len(_TURNS)]
            yield SoftCase(
                construction=construction,
                size=size,
                seed=seed,
                tokens=3 + seed % 2,
                mask=mask,
                gate=gate,
                scaled=scaled,
            )


def _range(*parts: tuple[Sequence[Kind], int]) -> Range:
    random = "; ".join(f"{seeds} for each of {_names(kinds)}" for kinds, seeds in parts)
    return Range(
        bound=f"random rational targets and inputs, sizes (H, L, d, d_in): {random}; three or "
        "four tokens, causal and full masks, SiLU and GELU, logits as they are or over sqrt(d)",
        over=lambda: itertools.chain.from_iterable(_cases(kinds, seeds) for kinds, seeds in parts),
    )


def _names(kinds: Sequence[Kind]) -> str:
    def name(kind: Kind) -> str:
        construction, size = kind
        sizes = (size.heads, size.layers, size.head_width, size.token_width)
        return (
            f"{construction} {sizes}"
            + (f" with {size.neurons} neurons" if size.gated else "")
            + (" residual" if size.residual else "")
        )

    return ", ".join(map(name, kinds))


RANGES: dict[Profile, Range] = {
    "quick": _range((_QUICK, 2)),
    "standard": _range((_STANDARD, 8)),
    "deep": _range((_ALL, 32), (_SLOW, 2)),
}


# --- claim -----------------------------------------------------------------------------------


def _same(gate: Gate) -> Gate:
    return gate


def outputs_agree(
    embedded: Callable[[Matrix], Matrix], gate_of: Callable[[Gate], Gate]
) -> Callable[[SoftCase, int], Decision]:
    """The obligation that both outputs' balls agree to 30 decimals.

    `embedded` is what becomes of the exact E, `gate_of` the universal model's gate for the
    target's: both are the identity but for the mutants.
    """

    def decide(case: SoftCase, bits: int) -> Decision:
        model, target, embedding = prepared(case, bits)
        inputs = random_matrix(seeded(case.seed), case.tokens, case.size.token_width)
        mask = MASKS[case.mask](case.tokens)
        normalise = softmax_of(mask, case.size.head_width if case.scaled else 1)
        theirs = enclosed_target(target, inputs, bits, normalise, GATES[case.gate])
        ours = forward(
            (model.layer(index) for index in range(case.size.layers)),
            Balls.of(inputs @ embedded(embedding), bits),
            model.readout,
            normalise,
            GATES[gate_of(case.gate)],
        ).output
        return agreement(ours, theirs, case.as_json())

    return decide


def agreement(ours: Balls, theirs: Balls, instance: Mapping[str, Json]) -> Decision:
    """Whether two outputs agree to 30 decimals, certainly differ, or are enclosed too widely."""
    if ours.agreeing_decimals(theirs) >= DECIMALS:
        return None
    if ours.overlaps(theirs):
        return Undecided(f"the outputs are not enclosed to {DECIMALS} decimals")
    return Counterexample(
        text=f"the outputs must agree to {DECIMALS} decimals; their balls do not even meet",
        instance=instance,
    )


def enclosure_checks(
    embedded: Callable[[Matrix], Matrix] = lambda exact: exact,
    gate_of: Callable[[Gate], Gate] = _same,
) -> tuple[Check, ...]:
    """Both forward passes over balls, for attention-only, gated, residual and drawn models."""
    return (
        covers(
            Enclosure(
                decide=outputs_agree(embedded, gate_of),
                ranges=RANGES,
                margin=f"both outputs certainly agree to {DECIMALS} decimals",
                exhibit=lambda case: case.as_json(),
                first_bits=160,
                parts=2,
            )
        ),
    )


@claim(
    id="universal.enclosure",
    source=Source(PAPER, "Definition of universality, Section 2.2; Section 3.3"),
    latex=r"|\mathrm{UTF}^m(X, E) - T(X)| \le 10^{-30} \max(1, |T(X)|)"
    r"\text{ for softmax, SiLU and GELU}",
    scope="random rational targets and inputs of the stated sizes, sparse and drawn models",
    uses=("universal.probes.layer", "universal.gated.probe"),
    expected=Status.BOUNDED,
)
def both_outputs_agree_to_thirty_decimals() -> tuple[Check, ...]:
    """With softmax, SiLU and GELU the ball enclosures of both outputs agree to 30 decimals."""
    return enclosure_checks()
