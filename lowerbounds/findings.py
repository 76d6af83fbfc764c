"""What the checks found in the papers' lower bounds, with every number computed.

Source: Fixed Universal Transformers, Section 4.
"""

from __future__ import annotations

from constructions.universal.ranks import TABLE_5
from constructions.universal.sums import PAPER
from lowerbounds.folded_gap import FoldedGap, folded_gaps
from lowerbounds.independence import SMALL_GRID
from lowerbounds.open_cases import OpenCase, open_cases
from lowerbounds.path_series import signed_binomials
from verify.claims import Source
from verify.findings import finding

_SHOWN = OpenCase(heads=4, layers=2)
_WORDS = "the embedding dimension must grow exponentially in the depth $L$"


@finding(
    id="lowerbounds.tight",
    kind="sharper",
    source=Source(PAPER, "Theorem 4.1"),
    words=_WORDS,
    claims=("lowerbounds.meeting.tight", "lowerbounds.attention_matching"),
)
def the_bound_is_attained_for_even_depth() -> str:
    """With a readout per target m = H^(L/2) is both necessary and enough for even L."""
    return f"""The bound is m^2 >= H^L, and for even L a construction attains it: at
    H = {_SHOWN.heads}, L = {_SHOWN.layers} the least m is {_SHOWN.below}, and {_SHOWN.above}
    coordinates serve every target. With the readout fixed, as in the definition of a universal
    transformer, m >= H^L."""


@finding(
    id="lowerbounds.odd_depth",
    kind="gap",
    source=Source(PAPER, "Theorem 4.1"),
    words=_WORDS,
    claims=(
        "lowerbounds.meeting.tight",
        "lowerbounds.attention_matching",
        "lowerbounds.dimension",
        "lowerbounds.three_heads",
    ),
)
def odd_depths_are_open() -> str:
    """For odd L the bounds and the best construction known mostly leave an interval."""
    cases = list(open_cases((2, 3, 4, 5, 7), (1, 3, 5)))
    shown = "; ".join(
        f"({case.heads}, {case.layers}): {case.below}"
        if case.settled
        else f"({case.heads}, {case.layers}): {case.below} to {case.above}"
        for case in cases
    )
    return f"""H^((L-1)/2) c(H) coordinates serve, the middle layer's weights being the coefficients
    of a product of two polynomials. Necessary are m^2 >= H^L, 2 m - 1 >= L(H - 1) + 1, and m >= 3
    at (3, 1). What is proved of the least m, by (H, L): {shown}. Below the upper end of an interval
    neither a construction nor an infeasibility is known here: UNKNOWN."""


@finding(
    id="lowerbounds.theorem_4_1",
    kind="confirmed",
    source=Source(PAPER, "Section 4 and Theorem 4.1"),
    words="there are $H^{L}$ possible sequences of attention heads",
    claims=(
        "lowerbounds.attention_matching",
        "lowerbounds.independence.all_sizes",
        "lowerbounds.independence.grid",
    ),
)
def the_omitted_proof_is_supplied() -> str:
    """Theorem 4.1, whose proof the text at hand leaves out, holds for all H and L."""
    weights = ", ".join(map(str, signed_binomials(_SHOWN.heads)))
    sizes = ", ".join(map(str, SMALL_GRID))
    return f"""For softmax targets both bounds hold for all H and L, without condition. The path
    vectors of an explicit target are independent on three tokens of two types: logits h y y' for
    head h and, in every layer, the weights (-1)^(H-h) C(H-1, h-1), which are {weights} for
    H = {_SHOWN.heads}. On two tokens determinants certify the same at (H, L) in {sizes} in every
    profile, and at more sizes in the longer ones."""


@finding(
    id="lowerbounds.folded_gap",
    kind="gap",
    source=Source(PAPER, "Theorem 3.1 and Section 4"),
    words=_WORDS,
    claims=("universal.folded.identity", "lowerbounds.kernel.fixed_readout"),
)
def the_least_folded_width_is_open() -> str:
    """Between the bound for a fixed readout and the folded width an interval stays open."""
    printed = FoldedGap(heads=TABLE_5.heads, layers=TABLE_5.layers, token_width=TABLE_5.token_width)
    shown = "; ".join(
        f"({gap.heads}, {gap.layers}, {gap.token_width}): {gap.below} to {gap.above}"
        for gap in (*folded_gaps((2, 3, 4), (1, 2, 3), (1,)), printed)
    )
    return f"""With the readout fixed, a shared-attention model needs H^L d_in coordinates if the
    path vectors are independent; for d >= d_in the folded layouts serve with more, which hold what
    the logits are read from. What is left by (H, L, d_in): {shown}. Whether query and key blocks
    can share coordinates with the leaves is not known here: no bound above H^L d_in and no
    narrower layout is proved."""
