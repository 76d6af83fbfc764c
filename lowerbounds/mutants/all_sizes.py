"""Wrong versions of what is claimed of two types of tokens and of all sizes."""

from __future__ import annotations

from fractions import Fraction

from lowerbounds.all_sizes import Rules, all_sizes_checks
from lowerbounds.attention_matching import eighth, matching_checks
from lowerbounds.differences import difference_checks
from lowerbounds.eulerian import eulerian_checks
from lowerbounds.path_series import Series, logistic_series
from lowerbounds.two_types import Case, identity_checks, stated_types
from verify.claims import Check
from verify.mutants import mutant


@mutant(
    of="lowerbounds.two_types.identity", breaks="data", latex=r"n_1 = n_2 = 1,\ \lambda = \ln 2"
)
def the_types_may_have_equal_multiplicities() -> tuple[Check, ...]:
    """With one token of each type the factors are those of lambda = ln 2."""
    return identity_checks(types=lambda _: (0, 1))


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
    return matching_checks(shift=lambda _: Fraction(0))


@mutant(of="lowerbounds.two_types.differences", breaks="condition", name="later_heads")
def differences_have_every_order_for_equal_later_heads() -> tuple[Check, ...]:
    """The k-th difference has order exactly k where heads from the fourth on attend alike."""
    return difference_checks(scale=lambda head: min(head, 4))


@mutant(
    of="lowerbounds.attention_matching",
    breaks="condition",
    name="three_heads",
    latex=r"\eta = 0 \text{ for } H = 3",
)
def three_heads_span_by_themselves() -> tuple[Check, ...]:
    """With three heads the weight tensors span without moving the weights."""
    return matching_checks(shift=lambda heads: Fraction(0) if heads == 3 else eighth(heads))  # noqa: PLR2004 - H = 3


def equal_in_one_layer(case: Case) -> tuple[int, ...]:
    """One token of each type where there is one layer."""
    _, layers, _ = case
    return (0, 1) if layers == 1 else stated_types(case)


@mutant(of="lowerbounds.two_types.identity", breaks="data", name="one_layer")
def one_layer_may_have_equal_multiplicities() -> tuple[Check, ...]:
    """In models of one layer the factors are those of lambda = ln 2 with one token of each type."""
    return identity_checks(equal_in_one_layer)


def at_the_other_end(odds: int, length: int) -> Series:
    """Taylor coefficients of x -> sigma(-x + ln odds) at 0."""
    return tuple(a * (-1) ** k for k, a in enumerate(logistic_series(odds, length)))


@mutant(
    of="lowerbounds.two_types.eulerian",
    breaks="data",
    name="reflected",
    latex=r"\tfrac{d^k}{dx^k} \sigma(\ln 2 - x)",
)
def derivatives_may_be_reflected() -> tuple[Check, ...]:
    """The derivatives of sigma(ln 2 - x) at 0 are those of the recursion."""
    return eulerian_checks(taylor=at_the_other_end)


@mutant(
    of="lowerbounds.independence.all_sizes",
    breaks="data",
    name="either_sign",
    latex=r"s \in \{\pm 1, \pm 2, \dots\}",
)
def inputs_may_be_of_either_sign() -> tuple[Check, ...]:
    """Path vectors are independent on inputs s (1, 1, 0) with s = 1, -1, 2, -2, .."""
    return all_sizes_checks(
        inputs=lambda count: [Fraction((-1) ** j * (j // 2 + 1)) for j in range(count)]
    )
