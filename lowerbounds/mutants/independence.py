"""Wrong choices of the inputs on which path vectors are independent."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from lowerbounds.independence import independence_checks
from lowerbounds.softmax_paths import CHOICE
from verify.claims import Check
from verify.mutants import mutant


def one_token(place: int) -> tuple[Fraction, ...]:
    """The first token alone."""
    return CHOICE.tokens(place)[:1]


@mutant(of="lowerbounds.independence.grid", breaks="data", latex=r"n = 1")
def one_token_is_enough() -> tuple[Check, ...]:
    """Path vectors over single tokens are independent."""
    return independence_checks(replace(CHOICE, tokens=one_token))


def same_tokens(place: int) -> tuple[Fraction, ...]:
    """The first token twice."""
    return one_token(place) * 2


@mutant(of="lowerbounds.independence.grid", breaks="data", name="constant", latex=r"X_1 = X_2")
def constant_inputs_are_enough() -> tuple[Check, ...]:
    """Path vectors of inputs of equal tokens are independent."""
    return independence_checks(replace(CHOICE, tokens=same_tokens))


def equal_logits(heads: int) -> tuple[Fraction, ...]:
    """All heads of a layer attend alike."""
    return CHOICE.logits(1) * heads


@mutant(of="lowerbounds.independence.grid", breaks="condition", name="heads", latex=r"c^1 = c^2")
def equal_heads_are_enough() -> tuple[Check, ...]:
    """Path vectors of equal heads are independent."""
    return independence_checks(replace(CHOICE, logits=equal_logits))
