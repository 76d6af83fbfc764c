"""Theorem 4.1 without condition: targets near the stated one, whose weight tensors span.

Near 0 path vectors are power series in s whose coefficients are polynomials in the weights, so
that the path vectors are independent where some minor M of these coefficients is not 0. At the
stated target w0 one is not; it is continuous, so it is not 0 either at

    w^l = w0 + eta e_{q_l},   q in [H]^L,   for one small eta > 0.

The weight tensors of these H^L targets are the rows of the L-fold Kronecker power of
1 w0^T + eta I, which is invertible for every eta that is not 0 because the weights w0 add up to 0.
So the condition of both spanning bounds holds: m >= H^L for a fixed readout, m^2 >= H^L for one per
target.

Source: Fixed Universal Transformers, Section 4 and Theorem 4.1; the proof is ours.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction

from constructions.universal.sums import PAPER
from lowerbounds.attention_matching_theory import matching_goals
from lowerbounds.path_series import (
    SeriesTarget,
    largest_order,
    natural_scales,
    signed_binomials,
    stated_target,
)
from lowerbounds.shared_attention import weight_tensor
from verify.claims import Check, Profile, Source, claim, covers, supports
from verify.counterexamples import Counterexample
from verify.facts import (
    CONTINUITY_OF_POLYNOMIALS,
    FINITE_DIFFERENCES,
    INDEPENDENT_SEQUENCES,
    KRONECKER,
    POWER_SERIES,
)
from verify.methods.exhaustive import Exhaustive
from verify.methods.smt import Smt
from verify.ranges import Range
from verify.rational import Matrix
from verify.smtlib import World
from verify.verdicts import Json, Status

Case = tuple[int, int]
Choice = tuple[int, ...]
"""q in [H]^L, heads counted from 0."""
SHIFT = Fraction(1, 8)
"""eta in the instances; any number near 0 that is not 0 would do."""


def eighth(heads: int) -> Fraction:
    """The same eta for every H."""
    del heads
    return SHIFT


def row_of(heads: int, shift: Fraction, chosen: int) -> tuple[Fraction, ...]:
    """w0 + eta e_q."""
    weights = signed_binomials(heads)
    return tuple(Fraction(w) + shift * (h == chosen) for h, w in enumerate(weights))


def shifted_target(heads: int, shift: Fraction, choice: Choice) -> SeriesTarget:
    """The target of q: w0 + eta e_{q_l} in layer l."""
    rows = tuple(row_of(heads, shift, chosen) for chosen in choice)
    return SeriesTarget(scales=natural_scales(heads), weights=rows)


def choices(case: Case) -> list[Choice]:
    """[H]^L."""
    heads, layers = case
    return [*itertools.product(range(heads), repeat=layers)]


def tensors(case: Case, shift: Fraction) -> Matrix:
    """The targets' weight tensors, one a row."""
    found = (shifted_target(case[0], shift, choice) for choice in choices(case))
    return Matrix.from_rows([weight_tensor(target.weights) for target in found])


def coefficients(target: SeriesTarget) -> Matrix:
    """Type differences of the path vectors, one a row, up to the largest order at w0."""
    heads = len(target.scales)
    length = largest_order(heads, len(target.weights), 2 * heads - 1) + 1
    return Matrix.from_rows(target.differences(length))


# --- the theory's meaning ------------------------------------------------------------------


def matching_worlds(case: Case, shift: Fraction) -> Iterator[World]:
    """The targets near the stated one with exact minors; m is the width that the bound allows."""
    heads, layers = case
    start = coefficients(stated_target(heads, layers))
    columns = start.transposed.independent_rows()
    family = choices(case)
    rows: list[tuple[Fraction, ...]] = [
        tuple(map(Fraction, signed_binomials(heads))),
        (Fraction(0),) * heads,
        tuple(Fraction(h - 1) for h in range(heads)),
    ]

    def near(eta: Fraction, choice: Choice) -> SeriesTarget:
        return shifted_target(heads, Fraction(eta), choice)

    known = {t: coefficients(t) for t in [stated_target(heads, layers)]}
    known |= {t: coefficients(t) for t in (near(shift, q) for q in family)}

    def relation(row: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
        total = sum(row)
        return tuple(total * w + shift * x for w, x in zip(rows[0], row, strict=True))

    yield World(
        sorts={"Target": list(known), "Choice": family, "Row": rows, "Real": [shift]},
        integers=range(1, heads + 1),
        symbols={
            "start": stated_target(heads, layers),
            "near": near,
            "distance": _distance,
            "minor": lambda t: known[t].select_columns(columns).determinant(),
            "independent": lambda t: known[t].rank() == len(family),
            "H": heads,
            "L": layers,
            "m": heads**layers,
            "count": lambda depth: heads**depth,
            "rank": lambda eta: tensors(case, eta).rank(),
            "invertible": lambda eta: tensors((heads, 1), eta).rank() == heads,
            "at": lambda row, h: row[h - 1],
            "total": sum,
            "weights": rows[0],
            "relation": relation,
            "eta": shift,
        },
        free={"q": family, "j": range(1, heads + 1), "X": rows},
    )


def _distance(target: SeriesTarget) -> Fraction:
    weights = signed_binomials(len(target.scales))
    return max(
        abs(Fraction(x) - w) for row in target.weights for x, w in zip(row, weights, strict=True)
    )


# --- instances -------------------------------------------------------------------------------


def matching_fails(shift: Fraction) -> Callable[[Case], Counterexample | None]:
    """The obligation: all H^L targets have independent path vectors, and their tensors span."""

    def holds(case: Case) -> Counterexample | None:
        heads, layers = case
        paths, text = heads**layers, ""
        for choice in choices(case):
            found = coefficients(shifted_target(heads, shift, choice)).rank()
            if found != paths:
                shown = [head + 1 for head in choice]
                text = f"the target of {shown} must have {paths} independent path vectors"
                text += f", their coefficients have rank {found}"
        span = tensors(case, shift).rank()
        if span != paths:
            text = f"the targets' weight tensors must have rank {paths}, got {span}"
        if not text:
            return None
        return Counterexample(
            text=f"{text} (H = {heads}, L = {layers}, eta = {shift})",
            instance={"heads": heads, "layers": layers, "shift": str(shift)},
        )

    return holds


def matching_exhibit(shift: Fraction) -> Callable[[Case], Json]:
    """Kind `targets-span`: H, L, eta, and the targets' weight tensors."""

    def exhibit(case: Case) -> Json:
        heads, layers = case
        rows = [[str(x) for x in row] for row in tensors(case, shift).rows()]
        return {"heads": heads, "layers": layers, "shift": str(shift), "tensors": rows}

    return exhibit


def _range(cases: tuple[Case, ...]) -> Range:
    return Range(bound=f"(H, L) in {', '.join(map(str, cases))}", over=lambda: cases)


RANGES: dict[Profile, Range] = {
    "quick": _range(((2, 1), (2, 2), (3, 1))),
    "standard": _range(((2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (4, 1))),
    "deep": _range(((2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (4, 1), (4, 2), (5, 1))),
}


# --- claim -----------------------------------------------------------------------------------


def matching_checks(shift: Callable[[int], Fraction] = eighth) -> tuple[Check, ...]:
    """The conclusion for all sizes, and exact targets near the stated one."""
    size = (2, 2)
    return (
        covers(
            Smt(
                goals=lambda: matching_goals(lambda: matching_worlds(size, shift(size[0]))),
                instances="all H, L and m",
                leans_on=(
                    FINITE_DIFFERENCES,
                    POWER_SERIES,
                    INDEPENDENT_SEQUENCES,
                    CONTINUITY_OF_POLYNOMIALS,
                    KRONECKER,
                ),
            )
        ),
        supports(
            Exhaustive(
                holds=lambda case: matching_fails(shift(case[0]))(case),
                ranges=RANGES,
                rechecked_as="targets-span",
                exhibit=lambda case: matching_exhibit(shift(case[0]))(case),
            )
        ),
    )


@claim(
    id="lowerbounds.attention_matching",
    source=Source(PAPER, "Theorem 4.1"),
    latex=r"m \ge H^L \text{ for a fixed readout}, \quad m^2 \ge H^L \text{ for a free one}",
    scope="shared attention, softmax, d_in = 1, three tokens; all H and L",
    uses=(
        "lowerbounds.spanning.fixed_readout",
        "lowerbounds.spanning.free_readout",
        "lowerbounds.independence.all_sizes",
    ),
    expected=Status.PROVED,
)
def attention_matching_needs_exponential_width() -> tuple[Check, ...]:
    """For softmax targets both bounds hold for all H and L without condition: m >= H^L for a
    fixed readout and m^2 >= H^L for a readout chosen per target.
    """  # noqa: D205 - one statement, in one sentence
    return matching_checks()
