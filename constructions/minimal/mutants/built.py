"""Wrong choices of the weights of the model built for every context."""

from __future__ import annotations

from constructions.minimal.built import Rules
from constructions.minimal.every_context import built_checks
from verify.claims import Check
from verify.mutants import mutant


@mutant(of="minimal.built.every_context", breaks="rule", latex=r"s = 1 \text{ for even numbers}")
def being_even_counts_as_one_position() -> tuple[Check, ...]:
    """The model is right if being even counts as much as one position."""
    return built_checks(Rules(bonus=lambda _: 1))


@mutant(of="minimal.built.every_context", breaks="rule", name="query", latex=r"q = (0, u / 32)")
def attention_is_a_sixteenth_as_sharp() -> tuple[Check, ...]:
    """The model is right if a position counts 5/16."""
    return built_checks(Rules(query=1 / 32))


@mutant(
    of="minimal.built.every_context",
    breaks="rule",
    name="levels",
    latex=r"u = 2^{16} t \text{ for odd } t",
)
def odd_numbers_lie_outside_the_range() -> tuple[Check, ...]:
    """The model is right wherever odd numbers lie."""
    return built_checks(Rules(odd=lambda number: number << 16))


FOUR = 4
"""A context that the theory is not evaluated on."""


@mutant(
    of="minimal.built.every_context",
    breaks="rule",
    name="four",
    latex=r"s = 1 \text{ for even numbers, at } T = 4",
)
def being_even_counts_as_one_position_in_one_context() -> tuple[Check, ...]:
    """The model of context 4 is right if being even counts as much as one position."""
    return built_checks(Rules(bonus=lambda context: 1 if context == FOUR else context + 1))
