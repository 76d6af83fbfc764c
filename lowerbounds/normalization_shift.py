"""No fixed post-LayerNorm model is universal, a second time: a target beyond it at every input.

A fixed model's outputs have one bound for all E and X, already by |normalised coordinate| <= m,
which needs no more than that one square is at most the sum of all. A target whose last scale is 0
returns its last shift at every X, and that may be any number, such as the bound plus 1. So the two
differ at every single input, for every d_in >= 1; neither X = 0 nor a large scale is used.

Source: Fixed Universal Transformers, Section 3.3; the argument is ours.
"""

from __future__ import annotations

from collections.abc import Iterator

from constructions.universal.sums import PAPER
from lowerbounds.normalization_shift_instances import (
    RULES,
    SHIFT_RANGES,
    Rules,
    shift_exhibit,
    shift_fails,
)
from lowerbounds.normalization_shift_theory import (
    BEYOND,
    LEMMAS,
    ROOM,
    SCALE,
    output_goals,
    size_goals,
    target_goals,
)
from lowerbounds.normalization_shift_worlds import shift_worlds
from verify.claims import Check, Source, claim, covers, supports
from verify.facts import INDUCTION
from verify.methods.exhaustive import Exhaustive
from verify.methods.smt import Smt
from verify.smtlib import Goal, World
from verify.verdicts import Status


def shift_checks(
    rules: Rules = RULES, *, room: str = ROOM, scale: str = SCALE, beyond: str = BEYOND
) -> tuple[Check, ...]:
    """The bound and the target for all sizes, and instances.

    `room`, `scale` and `beyond` are in the theory what those of `rules` are in the code.
    """

    def worlds() -> Iterator[World]:
        return shift_worlds(rules.scale, rules.beyond)

    def goals() -> tuple[Goal, ...]:
        return (
            *(lemma.goal for lemma in LEMMAS),
            *size_goals(worlds, room),
            *output_goals(worlds, room),
            *target_goals(worlds, scale, beyond),
        )

    return (
        covers(
            Smt(
                goals=goals,
                instances="all fixed models, m, n and embeddings; targets for all H, L, d and "
                "d_in >= 1, at every input",
                leans_on=(INDUCTION,),
            )
        ),
        supports(
            Exhaustive(
                holds=shift_fails(rules),
                ranges=SHIFT_RANGES,
                rechecked_as="shifted-output",
                exhibit=shift_exhibit(rules),
            )
        ),
    )


@claim(
    id="lowerbounds.normalization.shift",
    source=Source(PAPER, "Section 3.3"),
    latex=r"F(XE)_{i1} \le \sum_j (|\gamma_j| m + |\beta_j|) |U_{j1}| < \beta'_1 = T(X)_{i1} "
    r"\text{ for all } X, E \quad (\gamma' = 0)",
    scope="post-LayerNorm, eps > 0, all sizes, d_in >= 1, every input",
    expected=Status.PROVED,
)
def a_shift_exceeds_a_fixed_model_at_every_input() -> tuple[Check, ...]:
    """For each fixed post-LayerNorm model (eps > 0, nothing added after E) some target, whose
    last scale is 0, differs from it at every input under every embedding, for every d_in >= 1;
    a second argument, with neither X = 0 nor a large scale.
    """  # noqa: D205 - one statement, in one sentence
    return shift_checks()
