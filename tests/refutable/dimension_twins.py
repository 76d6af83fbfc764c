"""Wrong twins of the claims that count dimensions and that settle three heads.

`certiformer verify tests/refutable/dimension_twins.py` finds the smallest instance in its range on
which each fails.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from lowerbounds.dimension import dimension_checks
from lowerbounds.dimension_models import Rules
from lowerbounds.three_heads import Rules as ThreeHeads
from lowerbounds.three_heads import three_heads_checks
from verify.claims import Check, load_file

twin = load_file(Path(__file__).with_name("refuting.py")).twin


@twin("lowerbounds.dimension", r"2m - 2 \ge L(H - 1) + 1")
def scaling_fixes_two_coordinates() -> tuple[Check, ...]:
    """Responses have 2 m - 2 dimensions."""
    return dimension_checks(Rules(fixed=2))


@twin("lowerbounds.dimension.scaling", r"(E, U) \mapsto (E/t, U)")
def only_the_embedding_is_scaled() -> tuple[Check, ...]:
    """Scaling E alone moves no response."""
    return dimension_checks(Rules(readout_power=0))


def kernel_itself(kernel: tuple[Fraction, ...], sign: int) -> tuple[Fraction, ...]:
    """K."""
    del sign
    return kernel


@twin("lowerbounds.three_heads", r"J = I:\ M = K")
def the_kernel_is_not_turned() -> tuple[Check, ...]:
    """det(M + t K) is never 0 for M = K."""
    shift = ("{a}", "{b}", "{c}", "{d}")
    return three_heads_checks(ThreeHeads(move=kernel_itself, shift=shift))


@twin("lowerbounds.three_heads.sign", r"M = KJ + JK \text{ for every } K")
def one_sign_is_enough() -> tuple[Check, ...]:
    """M = K J + J K also serves where det K < 0."""
    return three_heads_checks(ThreeHeads(sign=lambda _: 1))
