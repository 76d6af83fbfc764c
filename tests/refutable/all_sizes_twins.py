"""Wrong twins of the claims on two types of tokens and on all sizes: all are refuted.

`certiformer verify tests/refutable/all_sizes_twins.py` finds the smallest instance in its range
on which each fails.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from lowerbounds.all_sizes import Rules, all_sizes_checks
from lowerbounds.attention_matching import matching_checks
from lowerbounds.differences import difference_checks
from lowerbounds.eulerian import eulerian_checks
from lowerbounds.two_types import identity_checks
from verify.claims import Check, load_file

twin = load_file(Path(__file__).with_name("refuting.py")).twin


@twin("lowerbounds.two_types.identity", r"n_1 = n_2 = 1,\ \lambda = \ln 2")
def the_types_may_have_equal_multiplicities() -> tuple[Check, ...]:
    """With one token of each type the factors are those of lambda = ln 2."""
    return identity_checks(types=(0, 1))


@twin("lowerbounds.two_types.eulerian", r"\sigma^{(k)}(0) \ne 0")
def no_derivative_vanishes_at_0() -> tuple[Check, ...]:
    """No derivative of the logistic function vanishes at 0."""
    return eulerian_checks(odds=1)


@twin("lowerbounds.two_types.differences", r"\lambda = 0")
def differences_have_every_order_for_equal_odds() -> tuple[Check, ...]:
    """The k-th difference of sigma(h x) has order exactly k."""
    return difference_checks(odds=1)


@twin("lowerbounds.two_types.differences_of_equal_heads", r"c^h = 1")
def differences_have_every_order_for_equal_heads() -> tuple[Check, ...]:
    """The k-th difference over heads that attend alike has order exactly k."""
    return difference_checks(scale=lambda head: min(head, 1))


@twin("lowerbounds.independence.all_sizes", r"c^{l,h} = 1")
def equal_heads_are_independent() -> tuple[Check, ...]:
    """Path vectors are independent where all heads attend alike."""
    return all_sizes_checks(Rules(scales=lambda heads: (1,) * heads))


@twin("lowerbounds.independence.all_sizes_at_equal_odds", r"\lambda = 0")
def equal_odds_give_the_same_orders() -> tuple[Check, ...]:
    """With as many tokens of either type the orders are the same."""
    return all_sizes_checks(Rules(odds=1))


@twin("lowerbounds.independence.all_sizes_in_an_even_base", r"2 \sum_l k_l (2H-2)^{l-1}")
def orders_are_written_in_an_even_base() -> tuple[Check, ...]:
    """The orders are 1 + 2 sum_l k_l (2 H - 2)^(l-1), and distinct."""
    return all_sizes_checks(Rules(base=lambda heads: 2 * heads - 2))


@twin("lowerbounds.attention_matching", r"\eta = 0")
def the_stated_target_spans_by_itself() -> tuple[Check, ...]:
    """The weight tensors span without moving the weights."""
    return matching_checks(shift=Fraction(0))
