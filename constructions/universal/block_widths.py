"""How wide gated and residual models are: Appendix E's recursions against the main text.

    gated      q_l = r s_l, which is the main text's r d_in in the last layer only
    residual   s_0 = a^L d_in + 2Hd (a^L - 1)/(a - 1), a = (H+1)(2r+1), which no constant times
               (2(H+1)r)^L (d_in + d), the main text's "replace H by H+1", bounds for all L

A statement about the recursions that Appendix E solves, not about what is necessary.

Source: Fixed Universal Transformers, Section 3.3 and Appendix E; the comparisons are ours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from constructions.universal.definitions import TransformerSize
from constructions.universal.gated_width_theory import gated_width_goals, gated_width_theory
from constructions.universal.instances import FixedCase, Kind, block_ranges
from constructions.universal.residual_width_theory import (
    residual_equations,
    residual_width_goals,
    residual_width_theory,
)
from constructions.universal.routed import LAYOUT as ROUTED
from constructions.universal.sums import PAPER
from verify.claims import Check, Source, claim, covers, supports
from verify.counterexamples import Counterexample
from verify.facts import ARCHIMEDES, INDUCTION
from verify.methods.exhaustive import Exhaustive
from verify.methods.identity import Identity
from verify.methods.smt import Smt
from verify.verdicts import Status

# --- claims ----------------------------------------------------------------------------------


def widths_fail(
    width: Callable[[TransformerSize], int],
) -> Callable[[FixedCase], Counterexample | None]:
    """The obligation that a size's probe width, summed from its columns, is what a formula says."""

    def holds(case: FixedCase) -> Counterexample | None:
        size = case.size
        columns = ROUTED.build(size, case.width)
        used = len({int(row) for value in columns.values[0] for row in value.rows if row >= 0})
        reads = sum(part.ones for layer in (columns.queries[0], columns.keys[0]) for part in layer)
        carried = size.inner_width(size.probe_widths[1]) if size.residual else 0
        found, wanted = carried + reads + used, width(size)
        if found == wanted:
            return None
        return Counterexample(
            text=f"P_0 has {found} columns, the formula gives {wanted} ({case.as_json()})",
            instance=case.as_json(),
        )

    return holds


def _instances(width: Callable[[TransformerSize], int], kinds: tuple[Kind, ...]) -> Check:
    return supports(
        Exhaustive(
            holds=widths_fail(width),
            ranges=block_ranges(ROUTED, kinds, quick=(2, 2)),
            rechecked_as="block-width",
            exhibit=lambda case: case.as_json(),
        )
    )


def gated_closed_form(size: TransformerSize) -> int:
    """(2Hr)^L d_in + 2Hd ((2Hr)^L - 1) / (2Hr - 1)."""
    base = 2 * size.heads * size.neurons
    power = base**size.layers
    return power * size.token_width + size.reads * (power - 1) // (base - 1)


def residual_closed_form(size: TransformerSize) -> int:
    """a^L d_in + 2Hd (a^L - 1) / (a - 1), a = (H+1)(2r+1); attention only is r = 0."""
    base = (size.heads + 1) * (2 * size.neurons + 1)
    power = base**size.layers
    return power * size.token_width + size.reads * (power - 1) // (base - 1)


def gated_width_checks(
    width: Callable[[TransformerSize], int] = gated_closed_form,
) -> tuple[Check, ...]:
    """Hidden widths for every size, and the columns of P_0 counted at small ones."""
    return (
        covers(
            Smt(
                goals=lambda: gated_width_goals(gated_width_theory()),
                instances="all H, L, d, d_in, r",
                leans_on=(INDUCTION,),
            )
        ),
        _instances(width, ((1, False), (2, False))),
    )


@claim(
    id="universal.gated.width",
    source=Source(PAPER, "Section 3.3 against Appendix E"),
    latex=r"q_l = r s_l,\quad q_L = r d_{in},\quad q_l > r d_{in}\ (l < L)",
    scope="all H, L, d, d_in, r",
    expected=Status.PROVED,
)
def the_hidden_width_is_r_d_in_in_the_last_layer_only() -> tuple[Check, ...]:
    """Appendix E's universal MLP widths are r s_l, which equal the main text's r d_in only in the
    last layer.
    """  # noqa: D205 - one statement, in one sentence
    return gated_width_checks()


def residual_width_checks(
    width: Callable[[TransformerSize], int] = residual_closed_form, growth: Any = None
) -> tuple[Check, ...]:
    """The closed form, that no constant bounds it as the main text says, and counted columns."""
    return (
        covers(
            Smt(
                goals=lambda: residual_width_goals(residual_width_theory()),
                instances="all H, d, d_in, r and every constant; some L for each",
                leans_on=(INDUCTION, ARCHIMEDES),
            )
        ),
        covers(
            Identity(
                equations=lambda: residual_equations(growth),
                instances="all H, L, d, d_in, r (also none)",
                leans_on=(INDUCTION,),
            )
        ),
        _instances(width, ((2, True), (0, True))),
    )


@claim(
    id="universal.residual.width",
    source=Source(PAPER, "Section 3.3 against Appendix E"),
    latex=r"s_0 = a^L d_{in} + 2Hd \frac{a^L - 1}{a - 1},\ a = (H+1)(2r+1);\quad "
    r"\sup_L \frac{s_0}{(2(H+1)r)^L (d_{in} + d)} = \infty",
    scope="all H, L, d, d_in, r",
    expected=Status.PROVED,
)
def no_constant_bounds_the_residual_width_as_printed() -> tuple[Check, ...]:
    """The recursion of Appendix E solves to a^L d_in + 2Hd(a^L-1)/(a-1), a = (H+1)(2r+1), which
    no constant times (2(H+1)r)^L (d_in+d) bounds for all L.
    """  # noqa: D205 - one statement, in one sentence
    return residual_width_checks()
