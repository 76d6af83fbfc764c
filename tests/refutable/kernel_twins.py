"""Wrong twins of the second arguments for the lower bounds: all are refuted.

`certiformer verify tests/refutable/kernel_twins.py` finds the smallest instance in its range on
which each fails.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from lowerbounds.kernel import fixed_checks, free_checks
from lowerbounds.kernel_instances import FIXED_RULES, FREE_RULES
from lowerbounds.kernel_models import Column, null_vector
from lowerbounds.normalization_shift import shift_checks
from lowerbounds.normalization_shift_instances import Rules
from verify.claims import Check, load_file
from verify.rational import Matrix

twin = load_file(Path(__file__).with_name("refuting.py")).twin


# --- combinations that vanish ----------------------------------------------------------------


@twin("lowerbounds.kernel.fixed_readout", r"m \ge H^L d_{in} + 1")
def the_leaves_alone_are_too_few() -> tuple[Check, ...]:
    """With a fixed readout m >= H^L d_in + 1."""
    rules = replace(FIXED_RULES, needed=lambda heads, layers, width: heads**layers * width + 1)
    return fixed_checks(rules, bound="(+ (* (count L) din) 1)")


@twin("lowerbounds.kernel.free_readout", r"m^2 \ge H^L + 1")
def halves_that_meet_are_too_few() -> tuple[Check, ...]:
    """With a readout per target m^2 >= H^L + 1."""
    rules = replace(FREE_RULES, needed=lambda heads, layers, _: heads**layers + 1)
    return free_checks(rules, bound="(+ (count L) 1)")


def with_one_sign_changed(system: Matrix) -> Column:
    """A vector of the kernel whose first entry that is not 0 has the other sign."""
    found = null_vector(system)
    place = next(k for k, entry in enumerate(found) if entry)
    return (*found[:place], -found[place], *found[place + 1 :])


@twin("lowerbounds.kernel.fixed_readout.sign", r"z_q \mapsto -z_q \text{ for one path } q")
def a_sign_in_a_combination_does_not_matter() -> tuple[Check, ...]:
    """A combination that vanishes still does with one sign changed."""
    return fixed_checks(replace(FIXED_RULES, solution=with_one_sign_changed))


def zero_alone(heads: int) -> Column:
    """The number 0, H times."""
    return (Fraction(0),) * heads


@twin("lowerbounds.kernel.fixed_readout.points", r"x_l \in \{0\}")
def one_number_per_layer_is_enough() -> tuple[Check, ...]:
    """Targets whose weights are the powers of one number see every combination."""
    return fixed_checks(replace(FIXED_RULES, points=zero_alone))


# --- shifts beyond every output --------------------------------------------------------------


@twin(
    "lowerbounds.normalization.shift", r"|F(XE)_{ic}| \le \sum_j (|\gamma_j| + |\beta_j|) |U_{jc}|"
)
def normalised_coordinates_are_at_most_one() -> tuple[Check, ...]:
    """The bound of the outputs needs no factor m beside the scales."""
    return shift_checks(Rules(room=lambda width: 1), room="1.0")


@twin("lowerbounds.normalization.shift.scale", r"\gamma = \mathbf{1}")
def the_target_may_keep_its_scale() -> tuple[Check, ...]:
    """A target whose last scale is 1 has one output at every input."""
    return shift_checks(Rules(scale=Fraction(1)), scale="1.0")


@twin("lowerbounds.normalization.shift.reached", r"\beta_1 = b")
def a_shift_that_reaches_the_bound_is_beyond_it() -> tuple[Check, ...]:
    """The target whose shift is the bound itself exceeds it."""
    return shift_checks(Rules(beyond=Fraction(0)), beyond="0.0")
