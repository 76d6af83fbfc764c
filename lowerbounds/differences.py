"""Differences over the heads: combinations of sigma(h x + lambda), h = 0..k, of every order k in x.

With scales c^h = h the heads give f(h x), f(x) = sigma(x + ln 2). Its k-th difference in h,

    (D^k f)(h) = sum_i (-1)^(k-i) C(k, i) f((h + i) x) = sum_m a_m (D^k j^m)(h) x^m,

begins with k! a_k x^k: the k-th difference of j^m is 0 for m < k and k! for m = k, and k! a_k is
the k-th derivative of sigma at ln 2, which is not 0.

Source: Fixed Universal Transformers, Section 4 and Theorem 4.1; the proof is ours.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from math import comb, factorial

from constructions.universal.sums import PAPER
from lowerbounds.differences_theory import difference_goals
from lowerbounds.path_series import ODDS, Series, logistic_series
from verify.claims import Check, Profile, Source, claim, covers, supports
from verify.counterexamples import Counterexample
from verify.facts import FINITE_DIFFERENCES, INDUCTION, POWER_SERIES
from verify.methods.exhaustive import Exhaustive
from verify.methods.smt import Smt
from verify.ranges import Range
from verify.smtlib import World
from verify.verdicts import Json, Status

Scale = Callable[[int], int]
"""The scale c^h of head h; h = 0 stands for the constant f(0)."""


def natural(head: int) -> int:
    """c^h = h."""
    return head


def difference(values: Callable[[int], Fraction], order: int, start: int) -> Fraction:
    """(D^k F)(j), as the alternating sum over binomials."""
    return sum(
        ((-1) ** (order - i) * comb(order, i) * values(start + i) for i in range(order + 1)),
        Fraction(0),
    )


def difference_series(order: int, start: int, length: int, scale: Scale, odds: int) -> Series:
    """The k-th difference of f(c^h x) in h, as a power series in x."""
    taylor = logistic_series(odds, length)
    return tuple(
        taylor[m] * difference(lambda h, m=m: Fraction(scale(h)) ** m, order, start)
        for m in range(length)
    )


# --- instances of the theory ---------------------------------------------------------------


def difference_worlds(scale: Scale, odds: int) -> Callable[[], Iterator[World]]:
    """Powers of the scales of a few heads, and the logistic function's Taylor coefficients."""

    def worlds() -> Iterator[World]:
        taylor = logistic_series(odds, 8)

        def dif(k: int, m: int, j: int) -> Fraction:
            return difference(lambda h: Fraction(scale(h)) ** m, k, j)

        def coef(k: int, j: int, m: int) -> Fraction:
            return difference_series(k, j, 8, scale, odds)[m]

        yield World(
            sorts={},
            integers=range(4),
            symbols={
                "power": lambda m, j: Fraction(scale(j)) ** m,
                "dif": dif,
                "fac": factorial,
                "a": taylor.__getitem__,
                "coef": coef,
            },
            free={"k": range(4), "m": range(4), "j": range(3)},
        )

    return worlds


# --- instances -------------------------------------------------------------------------------

Case = tuple[int, int]


def order_fails(scale: Scale, odds: int) -> Callable[[Case], Counterexample | None]:
    """The obligation that the k-th difference begins with k! a_k x^k, and k! a_k is not 0."""

    def holds(case: Case) -> Counterexample | None:
        order, start = case
        found = difference_series(order, start, order + 1, scale, odds)
        leading = factorial(order) * logistic_series(odds, order + 1)[order]
        wanted = (*[Fraction(0)] * order, leading)
        if found == wanted and leading != 0:
            return None
        text = (
            f"difference {order} of f(c^h x) from h = {start} must begin with a coefficient "
            f"{leading} that is not 0 at x^{order}, got {[str(x) for x in found]}"
        )
        return Counterexample(text=text, instance={"order": order, "start": start, "odds": odds})

    return holds


def order_exhibit(scale: Scale, odds: int) -> Callable[[Case], Json]:
    """Kind `difference`: the scales that are met and the series up to x^k."""

    def exhibit(case: Case) -> Json:
        order, start = case
        series = difference_series(order, start, order + 1, scale, odds)
        scales = [scale(start + i) for i in range(order + 1)]
        return {"odds": odds, "scales": scales, "series": [str(x) for x in series]}

    return exhibit


def _range(last: int) -> Range:
    return Range(
        bound=f"k <= {last}, from h = 0 and from h = 1",
        over=lambda: itertools.product(range(last + 1), range(2)),
    )


RANGES: dict[Profile, Range] = {"quick": _range(4), "standard": _range(10), "deep": _range(24)}


# --- claim -----------------------------------------------------------------------------------


def difference_checks(scale: Scale = natural, odds: int = ODDS) -> tuple[Check, ...]:
    """Differences of powers by induction, and exact series."""
    return (
        covers(
            Smt(
                goals=lambda: difference_goals(difference_worlds(scale, odds)),
                instances="all k and h",
                leans_on=(INDUCTION, FINITE_DIFFERENCES, POWER_SERIES),
            )
        ),
        supports(
            Exhaustive(
                holds=order_fails(scale, odds),
                ranges=RANGES,
                rechecked_as="difference",
                exhibit=order_exhibit(scale, odds),
                leans_on=(),
            )
        ),
    )


@claim(
    id="lowerbounds.two_types.differences",
    source=Source(PAPER, "Theorem 4.1"),
    latex=r"\sum_i (-1)^{k-i} \tbinom{k}{i} \sigma((h+i) x + \ln 2) = "
    r"\sigma^{(k)}(\ln 2)\, x^k + O(x^{k+1})",
    scope="all orders k, scales c^h = h",
    uses=("lowerbounds.two_types.eulerian",),
    expected=Status.PROVED,
)
def differences_over_the_heads_have_every_order() -> tuple[Check, ...]:
    """The k-th difference over h of sigma(h x + ln 2) is a power series in x of order exactly k."""
    return difference_checks()
