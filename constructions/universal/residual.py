"""Residual blocks: a residual path is one more branch, whose weight and value map are identities.

Source: Fixed Universal Transformers, Section 3.3 and Appendix E.
"""

from __future__ import annotations

from constructions.universal.gated import sparse_checks
from constructions.universal.instances import Kind
from constructions.universal.layouts import Layout
from constructions.universal.routed import LAYOUT as ROUTED
from constructions.universal.routed_theory import BRANCH
from constructions.universal.sums import PAPER
from verify.claims import Check, Source, claim
from verify.verdicts import Status

RESIDUAL: tuple[Kind, ...] = ((2, True), (0, True))


def residual_sparse_checks(branch: str = BRANCH, layout: Layout = ROUTED) -> tuple[Check, ...]:
    """The sparse parameters of residual blocks, gated and attention only."""
    return sparse_checks("residual", RESIDUAL, branch, layout)


@claim(
    id="universal.residual.sparse",
    source=Source(PAPER, "Appendix E, residual blocks"),
    latex=r"P_{l-1} = \begin{bmatrix} I \\ 0 \end{bmatrix},\quad B_{l,j} = I;\quad "
    r"s_l + 2q_l \text{ ones in } R_V^{l,h}",
    scope="all H, L, d, d_in, r (also none) and every m >= s_0",
    uses=("universal.probes.layer", "universal.gated.probe"),
    expected=Status.PROVED,
)
def the_sparse_residual_parameters_meet_the_lemma() -> tuple[Check, ...]:
    """The sparse residual GLU construction meets the residual probe conditions, with s_l + 2 q_l
    ones in a value map.
    """  # noqa: D205 - one statement, in one sentence
    return residual_sparse_checks()
