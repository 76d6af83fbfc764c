"""What stays open of the folded width: it and the bound for a fixed readout leave an interval.

    from below    H^L d_in, what the leaves need: shared attention, readout fixed, independent path
                  vectors
    from above    (H + 1) d_in (1 + H + .. + H^{L-1}) + H^L d_in, the folded layouts (d >= d_in)

The difference is what the folded layouts store to form the logits. Whether these coordinates can be
shared with the leaves is not known here. For H >= 2 the quotient is below 2 H / (H - 1).

Source: Fixed Universal Transformers, Theorem 3.1 and Section 4; the table is ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from fractions import Fraction

from constructions.universal.definitions import TransformerSize
from constructions.universal.layouts import folded_width
from lowerbounds.kernel_instances import unknowns
from lowerbounds.open_cases import MOST
from verify.errors import SizeError


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldedGap:
    """Sizes with the proved bound and the width of the folded layouts, for every d >= d_in.

    Raises:
        SizeError: a size that is no integer from 1 on, or too large to write out.
    """

    heads: int
    layers: int
    token_width: int

    def __post_init__(self) -> None:
        """Check the sizes."""
        for name in (field.name for field in fields(self)):
            size = getattr(self, name)
            if type(size) is not int or not 1 <= size <= MOST:
                raise SizeError(
                    f"FoldedGap.{name} must be an integer from 1 to {MOST}, got {size!r}; choose "
                    "another size"
                )

    @property
    def below(self) -> int:
        """The proved lower bound H^L d_in."""
        return unknowns(self.heads, self.layers, self.token_width)

    @property
    def above(self) -> int:
        """The folded width."""
        return folded_width(
            TransformerSize(
                heads=self.heads,
                layers=self.layers,
                head_width=self.token_width,
                token_width=self.token_width,
            )
        )

    @property
    def quotient(self) -> Fraction:
        """How many times the bound the folded width is."""
        return Fraction(self.above, self.below)


def folded_gaps(
    heads: Iterable[int], layers: Iterable[int], token_widths: Iterable[int]
) -> Iterator[FoldedGap]:
    """The table over all these sizes, H first and d_in last."""
    depths, widths = tuple(layers), tuple(token_widths)
    for head_count in heads:
        for depth in depths:
            for width in widths:
                yield FoldedGap(heads=head_count, layers=depth, token_width=width)
