"""Streams of floating-point numbers: the same forward passes in a dtype on a device.

    format     stored in   sums of products and softmax   unit roundoff u
    float64    float64     float64                        2^-53
    float32    float32     float32                        2^-24
    tf32       float32     float32, factors cut to tf32   2^-11 (11 digits)
    bfloat16   bfloat16    float32                        2^-8
    float16    float16     float32                        2^-11

What is rounded, and only this: every parameter and input once to the stored format; the result of
every product, sum and softmax once to the stored format. tf32 exists in matrix products on CUDA.

Source: Fixed Universal Transformers, Section 3.2, Finite precision.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from typing import Any, Protocol

from constructions.universal.ball_runs import Mask
from constructions.universal.definitions import Layer, Target, target_layers
from constructions.universal.maps import Dense
from verify.balls import Balls
from verify.rational import Exact, Matrix


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A floating-point format, and how PyTorch computes in it.

    `digits` counts bits of the significand, the leading one included; numbers run from 2^least,
    the smallest positive one, to below 2^most. `inner_digits` are those of sums of products and
    of softmax; `factor_error` is what the factors of a product may lose beforehand, relatively.
    """

    name: str
    stored: str
    digits: int
    least: int
    most: int
    inner_digits: int
    factor_error: Fraction = Fraction(0)

    @property
    def unit(self) -> Fraction:
        """The roundoff u of one operation that the format's name promises."""
        return max(self.stored_unit, self.factor_error / 2)

    @property
    def stored_unit(self) -> Fraction:
        """The unit roundoff 2^-digits of stored numbers."""
        return Fraction(1, 1 << self.digits)

    @property
    def inner_unit(self) -> Fraction:
        """The unit roundoff in which products are summed and softmax is computed."""
        return Fraction(1, 1 << self.inner_digits)

    @property
    def underflow(self) -> Fraction:
        """What one rounding may lose below the normal numbers: half the smallest positive one."""
        return Fraction(2) ** (self.least - 1)

    @property
    def overflow(self) -> Fraction:
        """Numbers below this are finite when rounded."""
        return Fraction(2) ** self.most * (1 - self.stored_unit)


_SINGLE, _DOUBLE = 24, 53
FORMATS: dict[str, Format] = {
    one.name: one
    for one in (
        Format(
            name="float64",
            stored="float64",
            digits=_DOUBLE,
            least=-1074,
            most=1024,
            inner_digits=_DOUBLE,
        ),
        Format(
            name="float32",
            stored="float32",
            digits=_SINGLE,
            least=-149,
            most=128,
            inner_digits=_SINGLE,
        ),
        Format(
            name="tf32",
            stored="float32",
            digits=_SINGLE,
            least=-149,
            most=128,
            inner_digits=_SINGLE,
            factor_error=Fraction(1, 1 << 10),
        ),
        Format(
            name="bfloat16",
            stored="bfloat16",
            digits=8,
            least=-133,
            most=128,
            inner_digits=_SINGLE,
        ),
        Format(
            name="float16", stored="float16", digits=11, least=-24, most=16, inner_digits=_SINGLE
        ),
    )
}
"""By name; tf32's factors are cut, not rounded, on some devices, so they may lose 2^-10."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Floats:
    """A matrix of floating-point numbers that never changes: a tensor of shape (height, width)."""

    tensor: Any

    @classmethod
    def of(cls, matrix: Matrix, format: Format, device: str = "cpu") -> Floats:
        """The exact entries, each rounded to the format."""
        torch: Any = import_module("torch")
        rows, denominator = matrix.integers()
        rounded = [[x / denominator for x in row] for row in rows]  # division of ints rounds once
        wide = torch.tensor(rounded, dtype=torch.float64).reshape(matrix.shape)
        return cls(tensor=wide.to(getattr(torch, format.stored)).to(device))

    @property
    def shape(self) -> tuple[int, int]:
        """(height, width)."""
        height, width = self.tensor.shape
        return int(height), int(width)

    @property
    def transposed(self) -> Floats:
        """Rows and columns exchanged."""
        return Floats(tensor=self.tensor.T)

    def __matmul__(self, other: Floats) -> Floats:
        """The product as PyTorch computes it."""
        return Floats(tensor=self.tensor @ other.tensor)

    def __add__(self, other: Floats) -> Floats:
        """The rounded sum."""
        return Floats(tensor=self.tensor + other.tensor)

    def hadamard(self, other: Floats) -> Floats:
        """The rounded product entry by entry."""
        return Floats(tensor=self.tensor * other.tensor)

    def select_columns(self, indices: Sequence[int]) -> Floats:
        """Column k of the result is column `indices[k]`, or zero where the index is negative."""
        torch: Any = import_module("torch")
        blank = self.tensor.new_zeros((len(self.tensor), 1))
        return Floats(tensor=torch.cat([self.tensor, blank], dim=1)[:, list(indices)])

    def softmax(self, mask: Mask, shrink: Exact = 1) -> Floats:
        """e^(z - max) over its sum per row, z the allowed logits over sqrt(shrink).

        Computed in float32 at least, from logits that are divided first; rounded once at the end.
        Every row must have an allowed entry.
        """
        torch: Any = import_module("torch")
        stored = self.tensor.dtype
        wide = self.tensor if stored is torch.float64 else self.tensor.float()
        allowed = torch.tensor(mask, device=wide.device)
        logits = (wide / math.sqrt(shrink)).masked_fill(~allowed, -math.inf)
        weights = (logits - logits.amax(dim=1, keepdim=True)).exp()
        return Floats(tensor=(weights / weights.sum(dim=1, keepdim=True)).to(stored))

    def exact(self) -> Matrix | None:
        """The numbers as exact ones, or None if one is infinite or no number."""
        listed: list[float] = self.tensor.double().flatten().tolist()
        if not all(map(math.isfinite, listed)):
            return None
        return Matrix(*self.shape, [Fraction(x) for x in listed])


class Number(Protocol):
    """A stream's numbers, as far as a target's value maps need them."""

    def __matmul__(self, other: Any, /) -> Any:
        """The product."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoFactors:
    """A value map W_V W_O that is never multiplied out: a stream meets one factor at a time."""

    value: Any
    output: Any

    def read(self, stream: Number) -> Any:
        """(stream W_V) W_O, shape (n, d_in)."""
        return (stream @ self.value) @ self.output


def two_factor_layers(
    target: Target, entries: Callable[[Matrix], Any]
) -> list[Layer[Dense[Any], TwoFactors]]:
    """The layers of an attention-only target that computes X W_V W_O as the definition says."""
    return [
        Layer(
            queries=layer.queries,
            keys=layer.keys,
            values=[
                TwoFactors(value=entries(value), output=entries(output))
                for value, output in zip(target.values[index], target.outputs[index], strict=True)
            ],
            gated=layer.gated,
            residual=layer.residual,
        )
        for index, layer in enumerate(target_layers(target, entries))
    ]


def errors(computed: Floats, exact: Balls) -> Balls | None:
    """Upper bounds of |computed - exact| per entry, as ends of balls; None if not all finite."""
    found = computed.exact()
    return None if found is None else (Balls.of(found, exact.bits) - exact).mapped(abs)


def largest_error(computed: Floats, exact: Balls) -> float:
    """The largest |computed - exact|, at most; infinite where something overflowed."""
    found = errors(computed, exact)
    return math.inf if found is None else float(found.magnitude_upper())
