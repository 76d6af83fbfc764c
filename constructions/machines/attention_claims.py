"""Section 5 and Appendix A: attention is a histogram, and the argmax is G.

Source: Sliding-Window Transformers Without Positional Encodings, Section 5 and Appendix A.
"""

from __future__ import annotations

from collections.abc import Iterator

from constructions.machines.attention_theory import (
    VALUE_RULE,
    logit_goals,
    mix_goals,
    softmax_goals,
    value_goals,
)
from constructions.machines.contexts import (
    Exact,
    context_range,
    exact,
    histogram_exhibit,
    histogram_fails,
)
from constructions.machines.matrix_worlds import attention_worlds
from constructions.machines.readings import graded
from constructions.machines.words import PAPER
from verify.claims import Check, Source, claim, covers, supports
from verify.facts import INDUCTION, MONOTONE_EXPONENTIAL
from verify.methods.exhaustive import Exhaustive
from verify.methods.smt import Smt
from verify.smtlib import Goal, World
from verify.verdicts import Status


def histogram_checks(value_rule: str = VALUE_RULE, make: Exact = exact) -> tuple[Check, ...]:
    """The for-all proof, and the matrices on every short context."""

    def goals() -> tuple[Goal, ...]:
        def worlds() -> Iterator[World]:
            return attention_worlds(make)

        return (
            *logit_goals(worlds),
            *softmax_goals(worlds),
            *value_goals(worlds, value_rule),
            *mix_goals(worlds),
        )

    return (
        covers(
            Smt(
                goals=goals,
                instances="all alphabets, label sets and contexts",
                leans_on=(INDUCTION, MONOTONE_EXPONENTIAL),
            )
        ),
        supports(
            Exhaustive(
                holds=histogram_fails(make),
                ranges=graded(
                    lambda length: context_range(length, marked=True, states=("p",)), 1, 2, 4
                ),
                rechecked_as="context",
                exhibit=histogram_exhibit,
                leans_on=(),
            )
        ),
    )


@claim(
    id="machines.window.histogram",
    source=Source(PAPER, "Section 5"),
    latex=r"\alpha_{i,j} = \tfrac1m,\quad A_i(\rho) = \frac{\#\{j : \tau_j = \rho\}}{m},\quad"
    r" \mathrm{cnt}_i(\sigma) = A_i(\sigma) / A_i(\#)",
    scope="all alphabets, label sets and contexts that are not empty",
    expected=Status.PROVED,
)
def attention_is_the_normalised_histogram() -> tuple[Check, ...]:
    """With Q = K = 0 the attention output is the normalised histogram.

    With exactly one marker counts are its ratio to the marker mass.
    """
    return histogram_checks()
