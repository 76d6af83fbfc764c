"""What the checks found in the papers' lower bounds, with every number computed.

Source: Fixed Universal Transformers, Section 4.
"""

from __future__ import annotations

from constructions.universal.sums import PAPER
from lowerbounds.independence import SMALL_GRID
from lowerbounds.open_cases import OpenCase, open_cases
from verify.claims import Source
from verify.findings import finding

_WORDS = "the embedding dimension must grow exponentially in the depth $L$"


@finding(
    id="lowerbounds.tight",
    kind="sharper",
    source=Source(PAPER, "Theorem 4.1"),
    words=_WORDS,
    claims=("lowerbounds.meeting.tight", "lowerbounds.spanning.free_readout"),
)
def the_bound_is_attained_for_even_depth() -> str:
    """With a readout per target m = H^(L/2) is both necessary and enough for even L."""
    case = OpenCase(heads=4, layers=2)
    return f"""The bound is m^2 >= H^L, under the condition that path vectors are independent, and
    for even L a construction attains it: at H = {case.heads}, L = {case.layers} the least m is
    {case.below}, and {case.above} coordinates serve every target. With the readout fixed, as in the
    definition of a universal transformer, m >= H^L."""


@finding(
    id="lowerbounds.odd_depth",
    kind="gap",
    source=Source(PAPER, "Theorem 4.1"),
    words=_WORDS,
    claims=("lowerbounds.meeting.tight", "lowerbounds.spanning.free_readout"),
)
def odd_depths_are_open() -> str:
    """For odd L the bound and the best construction known leave an interval."""
    cases = list(open_cases((2, 3, 4, 5), (1, 3, 5)))
    shown = "; ".join(
        f"({case.heads}, {case.layers}): {case.below}"
        if case.settled
        else f"({case.heads}, {case.layers}): {case.below} to {case.above}"
        for case in cases
    )
    return f"""H^((L-1)/2) c(H) coordinates serve, the middle layer's weights being the coefficients
    of a product of two polynomials. What is proved of the least m, by (H, L): {shown}."""


@finding(
    id="lowerbounds.condition",
    kind="confirmed",
    source=Source(PAPER, "Section 4 and Theorem 4.1"),
    words="there are $H^{L}$ possible sequences of attention heads",
    claims=("lowerbounds.independence.grid",),
)
def path_vectors_are_independent_on_two_tokens() -> str:
    """The path vectors of softmax targets are independent, as both bounds need."""
    sizes = ", ".join(map(str, SMALL_GRID))
    return f"""For explicit targets on two tokens, unit weights along every path among them,
    determinants of the path vectors are enclosed away from zero, at (H, L) in {sizes} in every
    profile and at more sizes in the longer ones."""
