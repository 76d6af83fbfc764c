"""Wrong versions of what counts dimensions, and of what settles three heads."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from lowerbounds.dimension import dimension_checks
from lowerbounds.dimension_models import ModelPoint, Rules, drawn_point
from lowerbounds.three_heads import Rules as ThreeHeads
from lowerbounds.three_heads import three_heads_checks
from verify.claims import Check
from verify.mutants import mutant


@mutant(of="lowerbounds.dimension", breaks="bound", latex=r"2m - 2 \ge L(H - 1) + 1")
def scaling_fixes_two_coordinates() -> tuple[Check, ...]:
    """Responses have 2 m - 2 dimensions."""
    return dimension_checks(Rules(fixed=2))


@mutant(of="lowerbounds.dimension", breaks="rule", name="scaling", latex=r"(E, U) \mapsto (E/t, U)")
def only_the_embedding_is_scaled() -> tuple[Check, ...]:
    """Scaling E alone moves no response."""
    return dimension_checks(Rules(readout_power=0))


def kernel_itself(kernel: tuple[Fraction, ...], sign: int) -> tuple[Fraction, ...]:
    """K."""
    del sign
    return kernel


@mutant(of="lowerbounds.three_heads", breaks="construction", latex=r"J = I:\ M = K")
def the_kernel_is_not_turned() -> tuple[Check, ...]:
    """det(M + t K) is never 0 for M = K."""
    shift = ("{a}", "{b}", "{c}", "{d}")
    return three_heads_checks(ThreeHeads(move=kernel_itself, shift=shift))


@mutant(
    of="lowerbounds.three_heads",
    breaks="rule",
    name="sign",
    latex=r"M = KJ + JK \text{ for every } K",
)
def one_sign_is_enough() -> tuple[Check, ...]:
    """M = K J + J K also serves where det K < 0."""
    return three_heads_checks(ThreeHeads(sign=lambda _: 1))


TWO = Fraction(2)


def wrong_at_two(value: Fraction) -> int:
    """The sign of a number, but for 2."""
    return -1 if value == TWO or value < 0 else 1


@mutant(of="lowerbounds.three_heads", breaks="rule", name="at_two")
def the_sign_is_wrong_at_two() -> tuple[Check, ...]:
    """M serves with the other sign where det K = 2."""
    return three_heads_checks(ThreeHeads(sign=wrong_at_two))


def without_the_first_layer(heads: int, layers: int, width: int, seed: int) -> ModelPoint:
    """A drawn model, at a target whose weights are 0 in the first layer."""
    point = drawn_point(heads, layers, width, seed)
    nothing = (Fraction(0),) * heads
    return replace(point, weights=(nothing, *point.weights[1:]))


@mutant(of="lowerbounds.dimension", breaks="condition", name="zero_layer", latex=r"w^1 = 0")
def weights_of_a_layer_may_be_zero() -> tuple[Check, ...]:
    """The weight tensors move in L(H - 1) + 1 directions also where a layer's weights are 0."""
    return dimension_checks(drawn=without_the_first_layer)
