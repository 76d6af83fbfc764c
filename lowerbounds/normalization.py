"""LayerNorm with learned scale and shift has no fixed universal transformer.

A fixed model is a post-LayerNorm transformer on the stream X E, with eps > 0 and nothing added
after E. At X = 0 its output is the same for every E, and a target with another shift beta differs
there. And its output has one bound for all E and X, because normalised coordinates are at most
sqrt(m - 1) in size, while for d_in >= 2 a target with a large scale gamma exceeds every bound.

Source: Fixed Universal Transformers, Section 3.3; the proofs are ours.
"""

from __future__ import annotations

from fractions import Fraction

from constructions.universal.sums import PAPER
from lowerbounds.bounded_outputs import (
    OTHERS,
    about_goals,
    output_goals,
    output_worlds,
    size_goals,
    summand_goals,
)
from lowerbounds.large_targets import passing_goals, target_worlds
from lowerbounds.layer_norm_theory import (
    balance_goals,
    narrow_goals,
    narrow_worlds,
    row_worlds,
    zero_goals,
)
from lowerbounds.leading_coordinate import (
    GAIN,
    exceeding_goals,
    keeping_goals,
    layer_goals,
    leading_goals,
    next_goals,
)
from lowerbounds.normalization_instances import (
    RULES,
    ZERO_RANGES,
    Embed,
    Rules,
    large_output_exhibit,
    large_output_fails,
    large_ranges,
    plain,
    zero_input_exhibit,
    zero_input_fails,
)
from lowerbounds.normalization_theory import (
    EMBEDDED,
    OTHER,
    difference_goals,
    model_goals,
    sublayer_goals,
    target_goals,
    zero_worlds,
)
from verify.claims import Check, Source, claim, covers, supports
from verify.facts import INDUCTION, MATRIX_LAWS
from verify.methods.exhaustive import Exhaustive
from verify.methods.smt import Smt
from verify.smtlib import Goal
from verify.verdicts import Status


def bias_checks(
    *,
    embedded: str = EMBEDDED,
    embed: Embed = plain,
    other: str = OTHER,
) -> tuple[Check, ...]:
    """The two outputs at X = 0 for all sizes, and instances.

    `embedded` and `embed` are the fixed model's stream in the theory and in the code; `other` is
    how far the target's shift is from the fixed output.
    """

    def goals() -> tuple[Goal, ...]:
        return (
            *zero_goals(row_worlds),
            *model_goals(zero_worlds, embedded),
            *sublayer_goals(zero_worlds),
            *target_goals(zero_worlds),
            *difference_goals(zero_worlds, embedded, other),
        )

    moved = Fraction(other)
    return (
        covers(
            Smt(
                goals=goals,
                instances="every fixed model, all n, H, L, d_in and m, with and without residual",
                leans_on=(INDUCTION, MATRIX_LAWS),
            )
        ),
        supports(
            Exhaustive(
                holds=zero_input_fails(embed, moved),
                ranges=ZERO_RANGES,
                rechecked_as="zero-input",
                exhibit=zero_input_exhibit(moved),
            )
        ),
    )


@claim(
    id="lowerbounds.normalization.bias",
    source=Source(PAPER, "Section 3.3"),
    latex=r"X = 0:\quad F(XE) = F(0) \text{ for all } E,\qquad "
    r"T_\beta(X) = \mathbf{1}_n \beta^\top \ne F(0) \text{ for some } \beta",
    scope="post-LayerNorm, eps > 0, every fixed function of the stream, all sizes",
    expected=Status.PROVED,
)
def a_fixed_model_has_one_output_at_zero() -> tuple[Check, ...]:
    """A fixed post-LayerNorm model (eps > 0, nothing added after E) has one output at X = 0;
    targets differ there.
    """  # noqa: D205 - one statement, in one sentence
    return bias_checks()


def scale_checks(
    rules: Rules = RULES, *, most: str = OTHERS, gain: str = GAIN
) -> tuple[Check, ...]:
    """One bound and targets beyond it for all sizes, and instances.

    `most` and `gain` are in the theory what `rules.most` and `rules.scale` are in the code.
    """

    def goals() -> tuple[Goal, ...]:
        return (
            *balance_goals(row_worlds),
            *narrow_goals(narrow_worlds),
            *about_goals(row_worlds),
            *size_goals(row_worlds, most),
            *summand_goals(output_worlds, most),
            *output_goals(output_worlds, most),
            *passing_goals(target_worlds),
            *keeping_goals(target_worlds),
            *leading_goals(target_worlds, rules.least_width),
            *next_goals(target_worlds),
            *layer_goals(target_worlds, rules.least_width),
            *exceeding_goals(target_worlds, gain),
        )

    return (
        covers(
            Smt(
                goals=goals,
                instances="all fixed models and m; targets for all H, L, d and d_in >= 2",
                leans_on=(INDUCTION,),
            )
        ),
        supports(
            Exhaustive(
                holds=large_output_fails(rules),
                ranges=large_ranges(rules.least_width),
                rechecked_as="large-output",
                exhibit=large_output_exhibit(rules),
            )
        ),
    )


@claim(
    id="lowerbounds.normalization.scale",
    source=Source(PAPER, "Section 3.3"),
    latex=r"|F(XE)_{ic}| \le \sum_j (|\gamma_j| \sqrt{m-1} + |\beta_j|) |U_{jc}|,\qquad "
    r"\forall b\ \exists T, X:\ T(X)_{11} > b",
    scope="post-LayerNorm, eps > 0, all sizes; targets with d_in >= 2",
    expected=Status.PROVED,
)
def a_fixed_model_is_bounded_and_targets_are_not() -> tuple[Check, ...]:
    """A fixed post-LayerNorm model has one output bound for all E and X; for d_in >= 2 and every
    bound some target exceeds it.
    """  # noqa: D205 - one statement, in one sentence
    return scale_checks()
