"""What stays open of Theorem 4.1: for odd L the bound and the best construction leave an interval.

    from below    m^2 >= H^L and 2 m - 1 >= L(H-1) + 1, a readout per target; m >= 3 at (3, 1)
    from above    H^((L-1)/2) c(H), the middle layer's weights as coefficients of a product

For even L both are H^(L/2). For L = 1 they meet unless H = 3 mod 4 and H > 3.

Source: Fixed Universal Transformers, Section 4 and Theorem 4.1; the table is ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import isqrt

from lowerbounds.dimension import least_width
from lowerbounds.meeting import stated_width
from lowerbounds.three_heads import LEAST_WIDTH
from verify.errors import SizeError

MOST = 1 << 12
"""H and L beyond this make numbers that nobody reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenCase:
    """Sizes with what is proved of the least embedding dimension m.

    Raises:
        SizeError: a size that is no integer from 1 on, or too large to write out.
    """

    heads: int
    layers: int

    def __post_init__(self) -> None:
        """Check the sizes."""
        for name, size in (("heads", self.heads), ("layers", self.layers)):
            if type(size) is not int or not 1 <= size <= MOST:
                raise SizeError(
                    f"OpenCase.{name} must be an integer from 1 to {MOST}, got {size!r}; choose "
                    "another size"
                )

    @property
    def bounds(self) -> dict[str, int]:
        """The proved lower bounds, by the claims that prove them."""
        found = {
            "lowerbounds.attention_matching": isqrt(self.heads**self.layers - 1) + 1,
            "lowerbounds.dimension": least_width(self.heads, self.layers),
        }
        if (self.heads, self.layers) == (3, 1):
            found["lowerbounds.three_heads"] = LEAST_WIDTH
        return found

    @property
    def below(self) -> int:
        """The largest of the proved lower bounds."""
        return max(self.bounds.values())

    @property
    def rests_on(self) -> str:
        """The claim that proves the largest, the first of several."""
        bounds = self.bounds
        return max(bounds, key=bounds.__getitem__)

    @property
    def above(self) -> int:
        """The width of the best construction known."""
        return stated_width(self.heads, self.layers)

    @property
    def settled(self) -> bool:
        """Whether the two meet."""
        return self.below == self.above


def open_cases(heads: Iterable[int], layers: Iterable[int]) -> Iterator[OpenCase]:
    """The cases of all these sizes, H first."""
    many = tuple(layers)
    for head_count in heads:
        for layer_count in many:
            yield OpenCase(heads=head_count, layers=layer_count)
