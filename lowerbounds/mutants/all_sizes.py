"""Wrong versions of what is claimed of two types of tokens and of all sizes."""

from __future__ import annotations

from fractions import Fraction

from lowerbounds.all_sizes import Rules, all_sizes_checks
from lowerbounds.attention_matching import matching_checks
from lowerbounds.differences import difference_checks
from lowerbounds.eulerian import eulerian_checks
from lowerbounds.two_types import identity_checks
from verify.claims import Check
from verify.mutants import mutant


@mutant(
    of="lowerbounds.two_types.identity", breaks="data", latex=r"n_1 = n_2 = 1,\ \lambda = \ln 2"
)
def the_types_may_have_equal_multiplicities() -> tuple[Check, ...]:
    """With one token of each type the factors are those of lambda = ln 2."""
    return identity_checks(types=(0, 1))


@mutant(of="lowerbounds.two_types.eulerian", breaks="condition", latex=r"\sigma^{(k)}(0) \ne 0")
def no_derivative_vanishes_at_0() -> tuple[Check, ...]:
    """No derivative of the logistic function vanishes at 0."""
    return eulerian_checks(odds=1)


@mutant(of="lowerbounds.two_types.differences", breaks="condition", latex=r"\lambda = 0")
def differences_have_every_order_for_equal_odds() -> tuple[Check, ...]:
    """The k-th difference of sigma(h x) has order exactly k."""
    return difference_checks(odds=1)


@mutant(
    of="lowerbounds.two_types.differences", breaks="condition", name="equal_heads", latex=r"c^h = 1"
)
def differences_have_every_order_for_equal_heads() -> tuple[Check, ...]:
    """The k-th difference over heads that attend alike has order exactly k."""
    return difference_checks(scale=lambda head: min(head, 1))


@mutant(of="lowerbounds.independence.all_sizes", breaks="condition", latex=r"c^{l,h} = 1")
def equal_heads_are_independent() -> tuple[Check, ...]:
    """Path vectors are independent where all heads attend alike."""
    return all_sizes_checks(Rules(scales=lambda heads: (1,) * heads))


@mutant(
    of="lowerbounds.independence.all_sizes",
    breaks="condition",
    name="equal_odds",
    latex=r"\lambda = 0",
)
def equal_odds_give_the_same_orders() -> tuple[Check, ...]:
    """With as many tokens of either type the orders are the same."""
    return all_sizes_checks(Rules(odds=1))


@mutant(
    of="lowerbounds.independence.all_sizes",
    breaks="rule",
    name="even_base",
    latex=r"2 \sum_l k_l (2H-2)^{l-1}",
)
def orders_are_written_in_an_even_base() -> tuple[Check, ...]:
    """The orders are 1 + 2 sum_l k_l (2 H - 2)^(l-1), and distinct."""
    return all_sizes_checks(Rules(base=lambda heads: 2 * heads - 2))


@mutant(of="lowerbounds.attention_matching", breaks="condition", latex=r"\eta = 0")
def the_stated_target_spans_by_itself() -> tuple[Check, ...]:
    """The weight tensors span without moving the weights."""
    return matching_checks(shift=Fraction(0))


@mutant(of="lowerbounds.two_types.differences", breaks="condition", name="later_heads")
def differences_have_every_order_for_equal_later_heads() -> tuple[Check, ...]:
    """The k-th difference has order exactly k where heads from the fourth on attend alike."""
    return difference_checks(scale=lambda head: min(head, 4))
