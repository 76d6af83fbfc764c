"""ReLU, SiLU and GELU over every kind of number: enclosed, floating, and floating with a bound.

Floating ones compute in float32 at least and round once to the stored format. Beside the error of
what enters, which grows by the function's slope at most, each is off by at most

    8 u |z| + 128 times the smallest normal float32

(two ulps of exp, a sum and a quotient; or erf to 8 u and four roundings of a half of it), and by
one more rounding where the stored format is shorter.

Source: Fixed Universal Transformers, Section 3.3 (any activation; these are what targets use).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from typing import Any

from constructions.universal.error_bounds import FLUSHED, Bounded, constant_balls
from constructions.universal.floats import Floats
from verify.balls import Balls

ROUNDINGS = 8
"""Units of roundoff, at the size of what enters, by which SiLU and GELU are off."""
LOST = 128 * FLUSHED
"""More than |z| e^z where e^-z overflows in float32."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """An activation: `enclosed` over balls, `computed` on a wide tensor; its steepest slope."""

    enclosed: Callable[[Balls], Balls]
    computed: Callable[[Any], Any]
    slope: Fraction
    rounds: bool

    def floats(self, entering: Floats) -> Floats:
        """Every entry, computed in float32 at least and stored as what entered."""
        torch: Any = import_module("torch")
        stored = entering.tensor.dtype
        wide = entering.tensor if stored is torch.float64 else entering.tensor.float()
        return Floats(tensor=self.computed(wide).to(stored))

    def bounded(self, entering: Bounded) -> Bounded:
        """The exact gates, and how far the computed ones are from them at most."""
        format, exact = entering.format, self.enclosed(entering.exact)
        error = entering.error.scaled(self.slope)
        if self.rounds:
            error = error + entering.size.scaled(ROUNDINGS * format.inner_unit)
            error = error + constant_balls(error, LOST)
            if format.inner_unit < format.stored_unit:
                size = exact.mapped(abs) + error
                error = error + size.scaled(format.stored_unit)
                error = error + constant_balls(error, format.underflow)
        return Bounded(exact=exact, error=error, format=format)


def _erf(wide: Any) -> Any:
    torch: Any = import_module("torch")
    return torch.erf(wide)


GATES: dict[str, Gate] = {
    "relu": Gate(
        enclosed=Balls.relu, computed=lambda z: z.clamp(min=0), slope=Fraction(1), rounds=False
    ),
    "silu": Gate(
        enclosed=Balls.silu,
        computed=lambda z: z / (1 + (-z).exp()),
        slope=Fraction(11, 10),
        rounds=True,
    ),
    "gelu": Gate(
        enclosed=Balls.gelu,
        computed=lambda z: z / 2 * (1 + _erf(z * math.sqrt(0.5))),
        slope=Fraction(113, 100),
        rounds=True,
    ),
}
"""By name; the slopes are those of SiLU near 2.4 and of GELU at sqrt 2, rounded up."""
