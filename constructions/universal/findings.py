"""What the checks found in the paper on fixed universal transformers, with every number computed.

Source: Fixed Universal Transformers.
"""

from __future__ import annotations

from fractions import Fraction

from constructions.universal.definitions import TransformerSize
from constructions.universal.layouts import folded_width
from constructions.universal.ranks import TABLE_5
from constructions.universal.single_head import sharp_width
from constructions.universal.sums import PAPER
from verify.claims import Source
from verify.findings import finding

_ONE_HEAD = TransformerSize(heads=1, layers=4, head_width=2, token_width=16)
_GATED = TransformerSize(heads=2, layers=2, head_width=2, token_width=4, neurons=3)


def _sizes(size: TransformerSize) -> str:
    return f"H = {size.heads}, L = {size.layers}, d = {size.head_width}, d_in = {size.token_width}"


@finding(
    id="universal.folded_width",
    kind="sharper",
    source=Source(PAPER, "Theorem 3.1 and Table 5"),
    words="| Embedding dimension $m$ | $1024$ |",
    claims=("universal.folded.identity", "universal.tree.width"),
)
def only_logits_need_to_be_stored() -> str:
    """For d >= d_in only the logits need coordinates, not queries and keys."""
    return f"""At Table 5's sizes ({_sizes(TABLE_5)}) a folded layout needs {folded_width(TABLE_5)}
    coordinates, weight-tied or not, where the tree needs {TABLE_5.probe_width}: X times
    W_Q W_K^T is stored in place of both factors."""


@finding(
    id="universal.table_5",
    kind="confirmed",
    source=Source(PAPER, "Table 5 and Theorem 3.1"),
    words="| Embedding dimension $m$ | $1024$ |",
    claims=("universal.tree.width",),
)
def the_printed_width_is_m_bar() -> str:
    """The embedding dimension of Table 5 is m-bar at its sizes."""
    return f"""m-bar at {_sizes(TABLE_5)} is {TABLE_5.paper_width}, the printed dimension, so the
    paper's experiment runs at the least width of its own construction."""


@finding(
    id="universal.single_head",
    kind="sharper",
    source=Source(PAPER, "Theorem 3.1, H = 1"),
    words=r"(L+1)\max\{2d,d_{\operatorname{in}}\},&\text{if }H=1",
    claims=("universal.single_head.sharper",),
)
def one_head_needs_fewer_coordinates() -> str:
    """One head needs 2 L d + d_in coordinates, never more than the printed width."""
    return f"""At {_sizes(_ONE_HEAD)} that is {sharp_width(_ONE_HEAD)} in place of
    {_ONE_HEAD.paper_width}; the two are equal only if 2 d = d_in."""


@finding(
    id="universal.looped_proof",
    kind="confirmed",
    source=Source(PAPER, "Section 3.1, the looped theorem"),
    words="We further provide a sparse construction for looped (weight-tied) transformers",
    claims=("universal.looped.identity", "universal.generic.looped"),
)
def the_looped_proof_is_supplied() -> str:
    """The looped theorem, whose proof the text at hand leaves out, is proved."""
    return """A construction with R_Q, R_K and R_V shared by all layers serves at the same m-bar,
    for all sizes: each value map prepends its head, and the readout forgets where a block began.
    Almost every weight-tied draw is universal too."""


@finding(
    id="universal.gated_width",
    kind="discrepancy",
    source=Source(PAPER, "Section 3.3 against Appendix E"),
    words=r"we use $d_{\operatorname{in}}$ universal neurons",
    claims=("universal.gated.width", "universal.gated.sparse"),
)
def two_widths_of_the_universal_mlp() -> str:
    """The universal MLP's width is r d_in in the main text and r s_l in Appendix E."""
    widths = [_GATED.hidden_width(layer) for layer in range(_GATED.layers)]
    return f"""The construction needs Appendix E's r s_l, which is r d_in in the last layer only. At
    {_sizes(_GATED)}, r = {_GATED.neurons} its layers have {", ".join(map(str, widths))} neurons,
    and r d_in is {_GATED.neurons * _GATED.token_width}."""


@finding(
    id="universal.residual_width",
    kind="discrepancy",
    source=Source(PAPER, "Section 3.3, Residual connections, against Appendix E"),
    words="after replacing $H$ by $H+1$ in the embedding-dimension bound",
    claims=("universal.residual.width",),
)
def the_residual_bound_grows_faster() -> str:
    """With residual connections the width outgrows the main text's bound."""
    ratios = [_residual_ratio(layers) for layers in (1, 8)]
    return f"""Appendix E's recursion solves to a^L d_in + 2Hd (a^L - 1)/(a - 1) with
    a = (H+1)(2r+1), which no constant times (2(H+1)r)^L (d_in + d) bounds for all L. At H = 2,
    d = d_in = r = 1 the quotient grows from {float(ratios[0]):.2f} at L = 1 to
    {float(ratios[1]):.1f} at L = 8."""


def _residual_ratio(layers: int) -> Fraction:
    size = TransformerSize(
        heads=2, layers=layers, head_width=1, token_width=1, neurons=1, residual=True
    )
    base = 2 * (size.heads + 1) * size.neurons
    return Fraction(size.probe_width, base**layers * (size.token_width + size.head_width))
