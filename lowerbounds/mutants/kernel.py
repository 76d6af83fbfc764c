"""Wrong versions of the bounds by combinations of paths that vanish."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from lowerbounds.kernel import fixed_checks, free_checks
from lowerbounds.kernel_instances import FIXED_RULES, FREE_RULES
from lowerbounds.kernel_models import Column, null_vector
from verify.claims import Check
from verify.mutants import mutant
from verify.rational import Matrix


def leaves(heads: int, layers: int, width: int) -> int:
    """H^L d_in + 1."""
    return heads**layers * width + 1


@mutant(of="lowerbounds.kernel.fixed_readout", breaks="bound", latex=r"m \ge H^L d_{in} + 1")
def the_leaves_alone_are_too_few() -> tuple[Check, ...]:
    """With a fixed readout m >= H^L d_in + 1."""
    rules = replace(FIXED_RULES, needed=leaves)
    return fixed_checks(rules, bound="(+ (* (count L) din) 1)")


def halves(heads: int, layers: int, width: int) -> int:
    """H^L + 1."""
    del width
    return heads**layers + 1


@mutant(of="lowerbounds.kernel.free_readout", breaks="bound", latex=r"m^2 \ge H^L + 1")
def halves_that_meet_are_too_few() -> tuple[Check, ...]:
    """With a readout per target m^2 >= H^L + 1."""
    rules = replace(FREE_RULES, needed=halves)
    return free_checks(rules, bound="(+ (count L) 1)")


def with_one_sign_changed(system: Matrix) -> Column:
    """A vector of the kernel whose first entry that is not 0 has the other sign."""
    found = null_vector(system)
    place = next(k for k, entry in enumerate(found) if entry)
    return (*found[:place], -found[place], *found[place + 1 :])


@mutant(
    of="lowerbounds.kernel.fixed_readout",
    breaks="rule",
    name="sign",
    latex=r"z_q \mapsto -z_q \text{ for one path } q",
)
def a_sign_in_a_combination_does_not_matter() -> tuple[Check, ...]:
    """A combination that vanishes still does with one sign changed."""
    return fixed_checks(replace(FIXED_RULES, solution=with_one_sign_changed))


def zero_alone(heads: int) -> Column:
    """The number 0, H times."""
    return (Fraction(0),) * heads


@mutant(of="lowerbounds.kernel.fixed_readout", breaks="data", name="points", latex=r"x_l \in \{0\}")
def one_number_per_layer_is_enough() -> tuple[Check, ...]:
    """Targets whose weights are the powers of one number see every combination."""
    return fixed_checks(replace(FIXED_RULES, points=zero_alone))


@mutant(of="lowerbounds.kernel.free_readout", breaks="rule", name="sign")
def a_sign_does_not_matter_to_a_free_readout() -> tuple[Check, ...]:
    """A combination that vanishes with a readout per target still does with one sign changed."""
    return free_checks(replace(FREE_RULES, solution=with_one_sign_changed))
