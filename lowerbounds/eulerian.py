"""No derivative of the logistic function vanishes at ln 2.

With z = e^x the k-th derivative of sigma(x) = z / (1 + z) is z R_k(z) / (1 + z)^(k+1), where

    R_0 = 1,  R_{k+1} = (1 - k z) R_k + z (1 + z) R_k'.

R_k has integer coefficients, so R_{k+1}(2) = (1 - 2k) R_k(2) + 6 R'_k(2): R_k(2) is odd for all k.
(R_k(-z) is the Eulerian polynomial.)

Source: Fixed Universal Transformers, Section 4 and Theorem 4.1; the proof is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import factorial

from constructions.universal.sums import PAPER
from lowerbounds.eulerian_theory import eulerian_goals
from lowerbounds.path_series import ODDS, Series, logistic_series
from verify.claims import Check, Profile, Source, claim, covers, supports
from verify.counterexamples import Counterexample
from verify.facts import DIFFERENTIATION, INDUCTION
from verify.methods.exhaustive import Exhaustive
from verify.methods.smt import Smt
from verify.ranges import Range
from verify.smtlib import World
from verify.verdicts import Json, Status

Polynomial = tuple[int, ...]
Taylor = Callable[[int, int], Series]
"""Taylor coefficients of sigma(x + ln odds), by the odds and how many are asked."""


def next_polynomial(order: int, coefficients: Polynomial) -> Polynomial:
    """(1 - k z) R + z (1 + z) R': from R_k to R_{k+1}, constant term first."""
    padded = (*coefficients, 0)
    return tuple(
        (1 + i) * padded[i] + ((i - 1 - order) * padded[i - 1] if i else 0)
        for i in range(len(padded))
    )


def polynomial(order: int) -> Polynomial:
    """R_k."""
    found: Polynomial = (1,)
    for k in range(order):
        found = next_polynomial(k, found)
    return found


def value(coefficients: Polynomial, point: Fraction | int) -> Fraction:
    """The polynomial at a point."""
    return sum((a * Fraction(point) ** i for i, a in enumerate(coefficients)), Fraction(0))


def derived(coefficients: Polynomial) -> Polynomial:
    """The derivative."""
    return tuple(i * a for i, a in enumerate(coefficients))[1:] or (0,)


def derivative(order: int, point: Fraction) -> Fraction:
    """sigma^(k) at ln z, by the chain rule on polynomials in sigma: P_{k+1} = P_k' u (1 - u)."""
    found: Polynomial = (0, 1)
    for _ in range(order):
        slope = (*derived(found), 0, 0)
        found = tuple(
            (slope[i - 1] if i > 0 else 0) - (slope[i - 2] if i > 1 else 0)
            for i in range(len(slope))
        )
    return value(found, point / (1 + point))


# --- the theory's meaning ------------------------------------------------------------------


def _formed(order: int, point: Fraction) -> bool:
    left = derivative(order, point) * (1 + point) ** (order + 1)
    return left == point * value(polynomial(order), point)


def _worlds(point: int) -> Callable[[], Iterator[World]]:
    def worlds() -> Iterator[World]:
        reals = (Fraction(point), Fraction(1, 2), Fraction(3))
        yield World(
            sorts={"Real": reals},
            integers=range(6),
            symbols={
                "R": polynomial,
                "der": derived,
                "at": value,
                "whole": lambda p: int(value(p, point)),
                "D": derivative,
                "pow": lambda k, z: (1 + z) ** k,
                "formed": lambda k: all(_formed(k, z) for z in reals),
                "mod": lambda a, b: a % b,
            },
            free={"k": range(5), "z": reals},
        )

    return worlds


# --- instances -------------------------------------------------------------------------------


def derivative_fails(
    odds: int, taylor: Taylor = logistic_series
) -> Callable[[int], Counterexample | None]:
    """The obligation that the k-th derivative at ln odds is that of the recursion and not 0.

    The derivative comes from the Taylor coefficients of f' = f (1 - f).
    """

    def holds(order: int) -> Counterexample | None:
        found = factorial(order) * taylor(odds, order + 1)[order]
        wanted = odds * value(polynomial(order), odds) / Fraction(1 + odds) ** (order + 1)
        if found == wanted != 0:
            return None
        text = (
            f"derivative {order} of the logistic function at ln {odds} must be "
            f"z R_k(z) / (1 + z)^(k+1) = {wanted} and not 0, got {found}"
        )
        return Counterexample(text=text, instance={"odds": odds, "order": order})

    return holds


def derivative_exhibit(odds: int, taylor: Taylor = logistic_series) -> Callable[[int], Json]:
    """Kind `logistic-derivative`: the order and the value."""

    def exhibit(order: int) -> Json:
        found = factorial(order) * taylor(odds, order + 1)[order]
        return {"odds": odds, "order": order, "value": str(found)}

    return exhibit


def _range(last: int) -> Range:
    return Range(bound=f"k <= {last}", over=lambda: range(last + 1))


RANGES: dict[Profile, Range] = {"quick": _range(6), "standard": _range(12), "deep": _range(40)}


# --- claim -----------------------------------------------------------------------------------


def eulerian_checks(odds: int = ODDS, *, taylor: Taylor = logistic_series) -> tuple[Check, ...]:
    """Form and parity by induction, and exact derivatives."""
    return (
        covers(
            Smt(
                goals=lambda: eulerian_goals(odds, _worlds(odds)),
                instances="all k >= 0",
                leans_on=(INDUCTION, DIFFERENTIATION),
            )
        ),
        supports(
            Exhaustive(
                holds=derivative_fails(odds, taylor),
                ranges=RANGES,
                rechecked_as="logistic-derivative",
                exhibit=derivative_exhibit(odds, taylor),
                leans_on=(),
            )
        ),
    )


@claim(
    id="lowerbounds.two_types.eulerian",
    source=Source(PAPER, "Theorem 4.1"),
    latex=r"\sigma^{(k)}(\ln 2) = 2 R_k(2) / 3^{k+1},\ R_k(2) \text{ odd, so } "
    r"\sigma^{(k)}(\ln 2) \ne 0",
    scope="all orders k >= 0",
    expected=Status.PROVED,
)
def no_derivative_of_the_logistic_function_vanishes_at_ln_2() -> tuple[Check, ...]:
    """No derivative of the logistic function vanishes at ln 2: the k-th is 2 R / 3^(k+1) with an
    odd integer R.
    """  # noqa: D205 - one statement, in one sentence
    return eulerian_checks()
