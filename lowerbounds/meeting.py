"""How tight Theorem 4.1 is: two halves of a path meet in the middle of H^(L/2) coordinates.

For a readout per target the bound is m^2 >= H^L. Even L attain it: E holds the products of the
first half's weights, U those of the second half's, the layers mask the digits of a word, and the
middle joins every first word to every second one. For odd L the middle layer's H weights have to
be shared out as well: as the coefficients of a product f g, with f in E and g in U.

Source: Fixed Universal Transformers, Section 4 and Theorem 4.1; the construction is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from constructions.universal.sums import PAPER
from lowerbounds.meeting_degrees import D1_RULE, degree_goals
from lowerbounds.meeting_halves import middle_goals, readout_goals
from lowerbounds.meeting_models import (
    MEETING,
    Meeting,
    Polynomial,
    Rules,
    Weights,
    coefficient,
    drawn_factors,
    drawn_weights,
    multiplied,
)
from lowerbounds.meeting_path import path_goals
from lowerbounds.meeting_theory import mask_goals, sum_goals
from lowerbounds.meeting_widths import width_goals
from lowerbounds.meeting_worlds import meeting_worlds
from lowerbounds.shared_attention import weight_tensor
from verify.certificates import matrix
from verify.claims import Check, Profile, Source, claim, covers, supports
from verify.counterexamples import Counterexample
from verify.facts import COUNTING, INDUCTION, MATRIX_LAWS, REAL_FACTORS
from verify.methods.exhaustive import Exhaustive
from verify.methods.smt import Smt
from verify.ranges import Range
from verify.rational import Matrix
from verify.smtlib import Goal, World
from verify.verdicts import Json, Status

# --- instances -------------------------------------------------------------------------------


def stated_width(heads: int, layers: int) -> int:
    """H^(L/2) for even L, H^((L-1)/2) c(H) for odd L."""
    words = heads ** (layers // 2)
    if layers % 2 == 0:
        return words
    doubled = heads + 2 if heads % 2 == 0 else heads + heads % 4
    return words * (doubled // 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeetingCase:
    """Sizes, a target's seed, and for odd L how many factors its middle polynomial has."""

    heads: int
    layers: int
    seed: int
    linear: int = 0
    quadratic: int = 0

    def target(self, rules: Rules) -> tuple[Weights, Polynomial, Polynomial]:
        """The target's weights, f and g."""
        weights = drawn_weights(self.heads, self.layers, self.seed)
        if self.layers % 2 == 0:
            one = multiplied(())
            return weights, one, one
        factors = drawn_factors(self.linear, self.quadratic, self.seed)
        f, g = factors.split(rules.degrees(self.heads)[0])
        product = multiplied((f, g))
        middle = tuple(coefficient(product, head) for head in range(self.heads))
        half = self.layers // 2
        return (*weights[:half], middle, *weights[half + 1 :]), f, g

    def as_json(self) -> dict[str, Json]:
        """The case as counterexamples name it."""
        sizes = {"heads": self.heads, "layers": self.layers, "seed": self.seed}
        return {**sizes, "linear": self.linear, "quadratic": self.quadratic}


def _run(case: MeetingCase, rules: Rules) -> tuple[Meeting, Weights, Matrix, Matrix]:
    model = Meeting(heads=case.heads, layers=case.layers, rules=rules)
    weights, f, g = case.target(rules)
    return model, weights, model.embedding(weights, f), model.readout(weights, g)


def meeting_fails(rules: Rules = MEETING) -> Callable[[MeetingCase], Counterexample | None]:
    """The obligation: every path's response is the product of its weights, and m as stated."""

    def holds(case: MeetingCase) -> Counterexample | None:
        model, weights, embedding, readout = _run(case, rules)
        width = stated_width(case.heads, case.layers)
        pairs = zip(model.responses(embedding, readout), weight_tensor(weights), strict=True)
        text = next(
            (
                f"path {place} must respond {wanted}, got {came}"
                for place, (came, wanted) in enumerate(pairs)
                if came != wanted
            ),
            f"m must be at most {width}, got {model.width}" if model.width > width else None,
        )
        if text is None:
            return None
        sizes = f"H = {case.heads}, L = {case.layers}, m = {model.width}, seed {case.seed}"
        return Counterexample(text=f"{sizes}: {text}", instance=case.as_json())

    return holds


def meeting_exhibit(case: MeetingCase) -> Json:
    """Kind `meeting`: the target's weights, E and U; R is known from the sizes alone."""
    _, weights, embedding, readout = _run(case, MEETING)
    return {
        "heads": case.heads,
        "layers": case.layers,
        "weights": [[str(weight) for weight in layer] for layer in weights],
        "embedding": matrix(embedding)[0],
        "readout": matrix(readout.transposed)[0],
    }


def _cases(heads: int, layers: int, seeds: int) -> Iterator[MeetingCase]:
    """Targets of one size; for odd L with every number of linear and quadratic factors."""
    kinds = [
        (linear, quadratic)
        for linear in range(heads)
        for quadratic in range((heads - linear + 1) // 2)
    ]
    for linear, quadratic in kinds if layers % 2 else [(0, 0)]:
        for seed in range(seeds):
            yield MeetingCase(
                heads=heads, layers=layers, seed=seed, linear=linear, quadratic=quadratic
            )


Sizes = tuple[tuple[int, int], ...]


def _range(sizes: Sizes, seeds: int) -> Range:
    return Range(
        bound=f"(H, L) in {', '.join(map(str, sizes))}; {seeds} random rational targets each, "
        "for odd L with every number of real factors of degrees 1 and 2 in the middle",
        over=lambda: (case for pair in sizes for case in _cases(*pair, seeds)),
    )


_SMALL: Sizes = tuple((heads, layers) for heads in (1, 2, 3) for layers in (1, 2, 3, 4))
CLAIM_SIZES: dict[Profile, Sizes] = {
    "quick": ((2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (3, 3)),
    "standard": (*_SMALL, (4, 3), (5, 1), (5, 3), (7, 1)),
    "deep": (*_SMALL, (2, 5), (2, 6), (4, 2), (4, 3), (4, 4), (5, 1), (5, 3), (7, 3)),
}
SEEDS: dict[Profile, int] = {"quick": 1, "standard": 2, "deep": 6}
RANGES: dict[Profile, Range] = {
    profile: _range(sizes, SEEDS[profile]) for profile, sizes in CLAIM_SIZES.items()
}


# --- claim -----------------------------------------------------------------------------------


def meeting_checks(rules: Rules = MEETING, degree_rule: str = D1_RULE) -> tuple[Check, ...]:
    """The for-all proof, and models whose every path is compared exactly."""

    def worlds() -> Iterator[World]:
        return meeting_worlds(rules)

    def goals() -> tuple[Goal, ...]:
        return (
            *sum_goals(worlds),
            *mask_goals(worlds),
            *middle_goals(worlds),
            *readout_goals(worlds),
            *path_goals(worlds),
            *degree_goals(rules, degree_rule),
            *width_goals(rules),
        )

    return (
        covers(
            Smt(
                goals=goals,
                instances="all H, L and weights; the bound from below is that of "
                "lowerbounds.attention_matching",
                leans_on=(INDUCTION, COUNTING, MATRIX_LAWS, REAL_FACTORS),
            )
        ),
        supports(
            Exhaustive(
                holds=meeting_fails(rules),
                ranges=RANGES,
                rechecked_as="meeting",
                exhibit=meeting_exhibit,
            )
        ),
    )


@claim(
    id="lowerbounds.meeting.tight",
    source=Source(PAPER, "Section 4 and Theorem 4.1; the construction is beyond the paper"),
    latex=r"m = H^{L/2} \text{ (even } L\text{)},\quad m = H^{(L-1)/2} c(H) \text{ (odd } L\text{)}"
    r",\quad c(H) = \tfrac H2 + 1,\ \tfrac{H+1}2,\ \tfrac{H+3}2 "
    r"\text{ for even } H,\ H \equiv 1,\ H \equiv 3 \pmod 4",
    scope="shared attention, d_in = 1, readout per target; all H, L and real weights; the bound "
    "from below for softmax targets",
    uses=("lowerbounds.attention_matching",),
    expected=Status.PROVED,
)
def halves_of_a_path_meet_in_the_middle() -> tuple[Check, ...]:
    """Shared attention, d_in = 1, readout per target: m = H^(L/2) suffices for even L, which is
    tight since m^2 >= H^L, and m = H^((L-1)/2) c(H) for odd L, where c(H) = H/2 + 1 for even H,
    (H+1)/2 for H = 1 mod 4 and (H+3)/2 for H = 3 mod 4.
    """  # noqa: D205 - one statement, in one sentence
    return meeting_checks()
