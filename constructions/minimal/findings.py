"""What the checks found in the paper on minimal transformers, with every number computed.

Source: Fully Interpretable Minimal Transformers.
"""

from __future__ import annotations

from functools import cache

from constructions.minimal import cover, decision
from constructions.minimal.definitions import (
    CONTEXT,
    LENGTHS,
    PAPER,
    WIDTH,
    groups,
    window_count,
    window_text,
)
from constructions.minimal.geometry import failing_readings
from constructions.minimal.shipped import shipped
from verify.claims import Source
from verify.findings import finding


@cache
def _tallies(name: str) -> tuple[decision.Tally, ...]:
    """What covers say of each length, for a shipped checkpoint."""
    model = shipped(name).model
    return tuple(decision.covered(length, cover.cover(model, length)) for length in LENGTHS)


@finding(
    id="minimal.rule_error",
    kind="gap",
    source=Source(PAPER, "Figures 3 and 4"),
    words="near 0% indicates the rule is learned",
    claims=("minimal.rule.decided",),
)
def a_low_rule_error_leaves_windows_wrong() -> str:
    """A rule error near 0 on sampled sequences leaves whole families of windows wrong."""
    checkpoint = shipped("paper")
    last = checkpoint.history[-1]
    longest = _tallies("paper")[-1]
    shortest = next(t for t in _tallies("paper") if t.smallest is not None)
    example = "" if shortest.smallest is None else window_text(shortest.smallest)
    return f"""The paper's recipe ends at a rule error of {last.rule_error:.1%}, measured on
    sequences of the task, and is wrong on {longest.wrong:,} of the {window_count(CONTEXT):,}
    windows of length {CONTEXT}. The smallest of any length is {example}."""


@finding(
    id="minimal.every_window",
    kind="sharper",
    source=Source(PAPER, "Figures 3 and 4"),
    words="Our central claim is that the learned geometry implies an algorithm",
    claims=("minimal.rule.holds", "minimal.parameters"),
)
def some_model_is_right_on_every_window() -> str:
    """The same 250 parameters can hold the rule without exception, and a short proof shows it."""
    leaves = sum(tally.leaves for tally in _tallies("windows"))
    windows = sum(window_count(length) for length in LENGTHS)
    model = shipped("windows").model
    parted = leaves - sum(len(groups(length)) for length in LENGTHS)
    return f"""A checkpoint of {model.parameters} parameters, trained where the rule speaks, is
    right on all {windows:,} windows of length {LENGTHS[0]} to {LENGTHS[-1]}. {leaves} sets of
    windows prove it, one for each place and value of the last even number and {parted} more."""


@finding(
    id="minimal.readings",
    kind="gap",
    source=Source(PAPER, "Figures 7 to 15"),
    words="can be read as a step-by-step procedure",
    claims=("minimal.geometry", "minimal.rule.decided"),
)
def the_readings_need_not_hold_where_the_curves_look_right() -> str:
    """The readings hold as inequalities for the perfect model, and fail for the recipe's."""
    failing = failing_readings(shipped("paper").model)
    shown = "; ".join(
        f"'{name}' at length {', '.join(str(c.length) for c in failing if c.reading == name)}"
        for name in dict.fromkeys(case.reading for case in failing)
    )
    return f"""Even numbers outweigh all else, later ones outweigh earlier ones, the last one has
    more than half of the attention, and sums land where it is predicted: all of it holds for the
    perfect model at every length and all contexts. For the checkpoint of the paper's recipe these
    readings fail: {shown}."""


@finding(
    id="minimal.every_context",
    kind="sharper",
    source=Source(PAPER, "Figure 1"),
    words="Every component operates entirely in",
    claims=("minimal.built.every_context",),
)
def two_dimensions_serve_every_context() -> str:
    """Two dimensions are enough for every context length, not only for the paper's."""
    return f"""Explicit weights, as functions of the context length T, follow the rule on every
    window in {WIDTH} dimensions, for every T; the paper trains T = {CONTEXT}."""
