"""Wrong versions of the bound that a shift exceeds."""

from __future__ import annotations

from fractions import Fraction

from lowerbounds.normalization_shift import shift_checks
from lowerbounds.normalization_shift_instances import Rules
from verify.claims import Check
from verify.mutants import mutant


@mutant(
    of="lowerbounds.normalization.shift",
    breaks="bound",
    latex=r"|F(XE)_{ic}| \le \sum_j (|\gamma_j| + |\beta_j|) |U_{jc}|",
)
def normalised_coordinates_are_at_most_one() -> tuple[Check, ...]:
    """The bound of the outputs needs no factor m beside the scales."""
    return shift_checks(Rules(room=lambda width: 1), room="1.0")


@mutant(
    of="lowerbounds.normalization.shift",
    breaks="construction",
    name="scale",
    latex=r"\gamma = \mathbf{1}",
)
def the_target_may_keep_its_scale() -> tuple[Check, ...]:
    """A target whose last scale is 1 has one output at every input."""
    return shift_checks(Rules(scale=Fraction(1)), scale="1.0")


@mutant(of="lowerbounds.normalization.shift", breaks="bound", name="reached", latex=r"\beta_1 = b")
def a_shift_that_reaches_the_bound_is_beyond_it() -> tuple[Check, ...]:
    """The target whose shift is the bound itself exceeds it."""
    return shift_checks(Rules(beyond=Fraction(0)), beyond="0.0")


@mutant(of="lowerbounds.normalization.shift", breaks="bound", name="room_in_the_code")
def the_code_may_give_coordinates_less_room() -> tuple[Check, ...]:
    """Normalised coordinates of the code are at most 1, whatever the theory bounds."""
    return shift_checks(Rules(room=lambda width: 1))
