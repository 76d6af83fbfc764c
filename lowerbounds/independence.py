"""The condition of Theorem 4.1 for softmax targets, size by size: determinants that are not 0.

Unit weights e_{q_l}, for every path q, are those whose weight tensors span, so both bounds of
`lowerbounds.spanning` hold at the sizes of the grid without a condition.

Source: Fixed Universal Transformers, Section 4 and Theorem 4.1; the determinants are ours.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

from constructions.universal.sums import PAPER
from lowerbounds.softmax_paths import (
    BITS,
    CHOICE,
    Choice,
    PathCase,
    determinant,
    rank_limit,
)
from verify.certificates import number
from verify.claims import Check, Profile, Source, claim, covers
from verify.counterexamples import Counterexample
from verify.methods.enclosure import Decision, Enclosure, Undecided
from verify.ranges import Range
from verify.verdicts import Json, Status

# --- instances -------------------------------------------------------------------------------


def dependent(choice: Choice = CHOICE) -> Callable[[PathCase, int], Decision]:
    """The obligation that the determinant's ball leaves 0 out."""

    def decide(case: PathCase, bits: int) -> Decision:
        limit = rank_limit(case, choice)
        if limit < case.paths:
            return Counterexample(
                text=f"H = {case.heads}, L = {case.layers}: the path vectors must have rank "
                f"{case.paths}, it is at most {limit}",
                instance={**case.as_json(), "rank": limit},
            )
        lower, upper = determinant(case, choice, bits)
        if lower > 0 or upper < 0:
            return None
        return Undecided(f"the ball of the determinant contains 0 at {bits} bits")

    return decide


def path_exhibit(choice: Choice = CHOICE) -> Callable[[PathCase], Json]:
    """Kind `independence`: the target, its inputs, and the exact ends of the determinant's ball."""

    def exhibit(case: PathCase) -> Json:
        lower, upper = determinant(case, choice, BITS)
        inputs = case.inputs(choice)
        return {
            "heads": case.heads,
            "layers": case.layers,
            "tokens": len(inputs[0]),
            "logits": list(map(number, choice.logits(case.heads))),
            "weights": [list(map(number, layer)) for layer in case.weights],
            "inputs": [list(map(number, tokens)) for tokens in inputs],
            "bits": BITS,
            "digits": len(str(int(max(-lower, upper) / (upper - lower)))) - 1,
            "determinant": [number(lower), number(upper)],
        }

    return exhibit


def _cases(sizes: tuple[tuple[int, int], ...]) -> Iterator[PathCase]:
    """Per size the mixed weights, then unit weights along every path."""
    for heads, layers in sizes:
        yield PathCase(heads=heads, layers=layers)
        for unit in itertools.product(range(heads), repeat=layers):
            yield PathCase(heads=heads, layers=layers, unit=unit)


def _range(*sizes: tuple[int, int]) -> Range:
    return Range(
        bound=f"(H, L) in {', '.join(map(str, sizes))}; two tokens, the least number; "
        "ceil(H^L / 2) inputs, the least number; mixed weights, and unit weights along every path",
        over=lambda: _cases(sizes),
    )


SMALL_GRID = ((2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (4, 1))
GRID = (*SMALL_GRID, (2, 4), (2, 5), (3, 3), (4, 2), (5, 1), (5, 2))
RANGES: dict[Profile, Range] = {
    "quick": _range(*SMALL_GRID),
    "standard": _range(*GRID),
    "deep": _range(*GRID, (2, 6), (4, 3)),
}


# --- claim -----------------------------------------------------------------------------------


def independence_checks(choice: Choice = CHOICE) -> tuple[Check, ...]:
    """Determinants of stacked path vectors in balls."""
    return (
        covers(
            Enclosure(
                decide=dependent(choice),
                ranges=RANGES,
                margin="the determinant of H^L rows of path vectors is certainly not 0",
                exhibit=path_exhibit(choice),
                first_bits=BITS,
                last_bits=BITS,
                parts=2,
                rechecked_as="independence",
            )
        ),
    )


@claim(
    id="lowerbounds.independence.grid",
    source=Source(PAPER, "Section 4 and Theorem 4.1"),
    latex=r"\{A_p X\}_{p \in [H]^L} \text{ independent over two tokens and } "
    r"\lceil H^L / 2 \rceil \text{ inputs}",
    scope="softmax targets with d_in = 1 and c^h = -h, at unit weights along every path and at "
    "mixed ones",
    expected=Status.BOUNDED,
)
def path_vectors_of_softmax_targets_are_independent() -> tuple[Check, ...]:
    """The path vectors A_p X of softmax targets are linearly independent, for each (H, L) of a
    stated grid.
    """  # noqa: D205 - one statement, in one sentence
    return independence_checks()
