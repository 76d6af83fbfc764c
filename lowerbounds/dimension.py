"""A second bound from below: 2 m - 1 >= L(H - 1) + 1, by counting dimensions.

Scaling (E, U) to (s E, U / s) moves no response, so a coordinate E_i != 0 may be taken to be 1: all
responses lie in the images of m polynomial maps of 2 m - 1 variables, or are 0. On the L(H - 1) + 1
paths that differ from the first one in at most one layer the targets ask for every vector whose
first coordinate is not 0. Fewer variables than coordinates would leave a polynomial relation on
each image; the product of these relations and the first coordinate would be a polynomial that is
not 0 and vanishes everywhere.

The condition on path vectors is asked in a box of weights only: a polynomial that vanishes there is
0, so what is not served elsewhere does not matter. For softmax it holds in a box around the stated
target; not at all weights, since weights 0 in one layer make the next layer's heads attend alike.

Source: Fixed Universal Transformers, Section 4 and Theorem 4.1; the bound and its proof are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from constructions.universal.sums import PAPER
from lowerbounds.dimension_models import RULES, ModelPoint, Rules, drawn_point, near_first
from lowerbounds.dimension_theory import near_goals, scaling_goals
from lowerbounds.dimension_vanishing import vanishing_goals
from verify.certificates import matrix, number
from verify.claims import Check, Profile, Source, claim, covers, supports
from verify.counterexamples import Counterexample
from verify.facts import (
    ALGEBRAIC_DEPENDENCE,
    COUNTING,
    INDUCTION,
    INTEGRAL_DOMAIN,
    MATRIX_LAWS,
    ZERO_SET,
)
from verify.methods.exhaustive import Exhaustive
from verify.methods.smt import Smt
from verify.ranges import Range
from verify.smtlib import Goal
from verify.verdicts import Json, Status

Case = tuple[int, int, int, int]
"""H, L, m and a seed."""
Drawn = Callable[[int, int, int, int], ModelPoint]
"""The model and the target of a case."""


def least_width(heads: int, layers: int) -> int:
    """The least m with 2 m - 1 >= L(H - 1) + 1."""
    return (layers * (heads - 1) + 1) // 2 + 1


# --- instances -------------------------------------------------------------------------------


def dimension_fails(
    rules: Rules = RULES, drawn: Drawn = drawn_point
) -> Callable[[Case], Counterexample | None]:
    """The obligation: scaling moves no response, and both Jacobians have the ranks stated."""

    def holds(case: Case) -> Counterexample | None:
        heads, layers, width, seed = case
        point = drawn(heads, layers, width, seed)
        responses, places = point.response_jacobian(), layers * (heads - 1) + 1
        moved = responses @ point.scaling_direction(rules)
        most, came, asked = (
            rules.parameters(width),
            responses.rank(),
            point.tensor_jacobian().rank(),
        )
        if any(entry for row in moved.rows() for entry in row):
            text = "scaling must move no response; it moves one"
        elif came > most:
            text = f"the responses' Jacobian must have a rank of at most {most}, got {came}"
        elif asked != places:
            text = f"the tensors' Jacobian must have rank {places}, got {asked}"
        else:
            return None
        return Counterexample(
            text=f"H = {heads}, L = {layers}, m = {width}, seed {seed}: {text}",
            instance={"heads": heads, "layers": layers, "width": width, "seed": seed},
        )

    return holds


def dimension_exhibit(case: Case, drawn: Drawn = drawn_point) -> Json:
    """Kind `dimension`: the model, the target, the kernel vector and a minor that is not 0."""
    point = drawn(*case)
    rows, columns = _minor(point)
    return {
        "values": [[matrix(value) for value in layer] for layer in point.values],
        "embedding": matrix(point.embedding)[0],
        "readout": matrix(point.readout.transposed)[0],
        "weights": [[number(weight) for weight in layer] for layer in point.weights],
        "kernel": matrix(point.scaling_direction().transposed)[0],
        "rows": rows,
        "columns": columns,
    }


def _minor(point: ModelPoint) -> tuple[list[int], list[int]]:
    """Rows and columns of a largest minor of the tensors' Jacobian that is not 0."""
    heads, layers = len(point.weights[0]), len(point.weights)
    rows = [point.paths.index(path) for path in near_first(heads, layers)]
    chosen = point.tensor_jacobian().select_rows(rows)
    return rows, list(chosen.transposed.independent_rows())


def _range(sizes: tuple[tuple[int, int], ...], widths: int, seeds: int) -> Range:
    def over() -> Iterator[Case]:
        for heads, layers in sizes:
            for width in range(1, widths + 1):
                yield from ((heads, layers, width, seed) for seed in range(seeds))

    shown = ", ".join(map(str, sizes))
    return Range(bound=f"(H, L) in {shown}; m <= {widths}; {seeds} random points each", over=over)


_SMALL = ((2, 1), (2, 2), (3, 1), (3, 2))
_MIDDLE = (*_SMALL, (1, 2), (2, 3), (3, 3), (4, 1), (5, 1))
RANGES: dict[Profile, Range] = {
    "quick": _range(_SMALL, 2, 1),
    "standard": _range(_MIDDLE, 3, 2),
    "deep": _range((*_MIDDLE, (2, 5), (4, 3), (7, 1)), 5, 4),
}


# --- claim -----------------------------------------------------------------------------------


def dimension_checks(rules: Rules = RULES, *, drawn: Drawn = drawn_point) -> tuple[Check, ...]:
    """The proof for all sizes, and exact Jacobians at random points."""

    def goals() -> tuple[Goal, ...]:
        return (*scaling_goals(rules), *near_goals(), *vanishing_goals(rules))

    return (
        covers(
            Smt(
                goals=goals,
                instances="all H, L and m, under the condition on path vectors in a box of weights",
                leans_on=(
                    INDUCTION,
                    COUNTING,
                    MATRIX_LAWS,
                    ALGEBRAIC_DEPENDENCE,
                    INTEGRAL_DOMAIN,
                    ZERO_SET,
                ),
            )
        ),
        supports(
            Exhaustive(
                holds=dimension_fails(rules, drawn),
                ranges=RANGES,
                rechecked_as="dimension",
                exhibit=lambda case: dimension_exhibit(case, drawn),
            )
        ),
    )


@claim(
    id="lowerbounds.dimension",
    source=Source(PAPER, "Theorem 4.1; the bound is beyond the paper"),
    latex=r"2m - 1 \ge L(H - 1) + 1",
    scope="shared attention, d_in = 1, readout per target, all H and L; path vectors independent "
    "at the targets of a box of weights, as they are for softmax near the stated target",
    uses=("lowerbounds.attention_matching",),
    expected=Status.PROVED,
)
def responses_have_enough_dimensions() -> tuple[Check, ...]:
    """Shared attention, d_in = 1, readout per target: if path vectors are independent at the
    targets of a box of weights, then 2 m - 1 >= L(H - 1) + 1, for all H and L.
    """  # noqa: D205 - one statement, in one sentence
    return dimension_checks()
