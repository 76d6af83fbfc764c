"""What is open of the folded width: a bound, a construction that exists, a whole table."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constructions.universal import folded
from constructions.universal.definitions import TransformerSize
from lowerbounds.findings import the_least_folded_width_is_open
from lowerbounds.folded_gap import FoldedGap, folded_gaps
from lowerbounds.kernel_models import leaves
from lowerbounds.open_cases import MOST
from verify.errors import SizeError


@given(heads=st.integers(1, 30), layers=st.integers(1, 12), token_width=st.integers(1, 9))
def test_the_folded_width_is_the_bound_and_the_nodes(
    heads: int, layers: int, token_width: int
) -> None:
    gap = FoldedGap(heads=heads, layers=layers, token_width=token_width)
    nodes = sum(heads**depth for depth in range(layers))
    assert gap.below == heads**layers * token_width
    assert gap.above - gap.below == (heads + 1) * token_width * nodes
    if heads > 1:
        assert 1 < gap.quotient < Fraction(2 * heads, heads - 1)


@pytest.mark.parametrize(("heads", "layers", "token_width"), [(2, 2, 2), (3, 1, 2), (1, 2, 1)])
def test_both_ends_are_widths_of_constructions(heads: int, layers: int, token_width: int) -> None:
    gap = FoldedGap(heads=heads, layers=layers, token_width=token_width)
    size = TransformerSize(
        heads=heads, layers=layers, head_width=token_width + 1, token_width=token_width
    )
    assert folded.LAYOUT.build(size, gap.above).width == gap.above
    with pytest.raises(SizeError):
        folded.LAYOUT.build(size, gap.above - 1)
    assert leaves(heads, layers, token_width, gap.below).products[-1].rank() == token_width


def test_the_finding_shows_the_table_and_what_is_not_known() -> None:
    text = the_least_folded_width_is_open.text()
    for gap in folded_gaps((2, 3, 4), (1, 2, 3), (1,)):
        assert f"({gap.heads}, {gap.layers}, 1): {gap.below} to {gap.above}" in text
    assert "(4, 2, 4): 64 to 164" in text
    assert "is not known here" in text


@pytest.mark.parametrize("size", [0, -1, 2.0, Fraction(2), True, MOST + 1, "2"])
def test_sizes_that_are_none_are_refused(size: Any) -> None:
    with pytest.raises(SizeError, match=r"FoldedGap\.heads must be an integer from 1 to"):
        FoldedGap(heads=size, layers=2, token_width=1)
    with pytest.raises(SizeError, match=r"FoldedGap\.layers must be an integer"):
        list(folded_gaps((2,), (2, size), (1,)))
    with pytest.raises(SizeError, match=r"FoldedGap\.token_width must be an integer"):
        FoldedGap(heads=2, layers=2, token_width=size)
