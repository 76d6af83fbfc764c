"""Wrong versions of the queue machine of a Turing machine, and of the whole chain."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from constructions.machines.chain_claims import chain_checks
from constructions.machines.simulate import Constructions
from constructions.machines.turing import HALT, Phase, TuringQueue
from constructions.machines.turing_claims import length_bound, queue_checks, steps_bound
from constructions.machines.window import ABSENT, window_transformer
from verify.claims import Check
from verify.mutants import mutant


def no_growth(source: TuringQueue) -> Any:
    """A queue machine that appends no blank where the head leaves the tape on the left."""
    right = source.queue_machine()

    def rule(control: Any, symbol: str) -> Any:
        target, word = right.rule(control, symbol)
        grows = control.phase is Phase.SCAN and len(word) > 1 and target != HALT
        return target, word[1:] if grows else word

    return replace(right, rule=rule)


@mutant(of="machines.turing.queue", breaks="rule")
def the_growth_blank_is_dropped() -> tuple[Check, ...]:
    """A step to the left of the separator appends one symbol only."""
    return queue_checks(Constructions(queue=no_growth))


@mutant(of="machines.turing.queue", breaks="bound", name="steps")
def a_rotation_is_one_pop_shorter() -> tuple[Check, ...]:
    """At most t (s - 1) + 2 queue steps."""
    return queue_checks(steps=lambda rules, space: steps_bound(rules, space - 3))


@mutant(of="machines.turing.queue", breaks="bound", name="length")
def the_queue_is_one_symbol_shorter() -> tuple[Check, ...]:
    """At most s + 1 symbols in the queue."""
    return queue_checks(length=lambda space: length_bound(space) - 1)


def grows_when_it_refreshes(machine: Any) -> Any:
    """A transformer that keeps the oldest token when it brings the marker back."""
    right = window_transformer(machine)

    def rule(label: Any, seen: int) -> Any:
        token = right.rule(label, seen)
        return replace(token, update=1) if seen == ABSENT else token

    return replace(right, rule=rule)


@mutant(of="machines.chain", breaks="rule")
def the_marker_is_brought_back_without_sliding() -> tuple[Check, ...]:
    """The refresh does not remove the oldest token."""
    return chain_checks(Constructions(window=grows_when_it_refreshes))


LARGE_ALPHABET = 4
"""Symbols."""


def no_growth_of_large_alphabets(source: TuringQueue) -> Any:
    """A queue machine that does not grow on the left where there are four symbols or more."""
    large = len(source.machine.alphabet) >= LARGE_ALPHABET
    return no_growth(source) if large else source.queue_machine()


@mutant(of="machines.chain", breaks="rule", name="large_alphabet")
def the_growth_blank_is_dropped_for_large_alphabets() -> tuple[Check, ...]:
    """With four symbols a step to the left of the separator appends one symbol only."""
    return chain_checks(Constructions(queue=no_growth_of_large_alphabets))


def moving_on(source: TuringQueue) -> Any:
    """The queue machine of the Turing machine whose head moves right where it should stay."""
    rules = {
        place: rule if rule.move else replace(rule, move=1)
        for place, rule in source.machine.rules.items()
    }
    return replace(source, machine=replace(source.machine, rules=rules)).queue_machine()


@mutant(of="machines.chain", breaks="rule", name="stay")
def a_head_that_stays_moves_right() -> tuple[Check, ...]:
    """The queue machine moves right where the Turing machine stays."""
    return chain_checks(Constructions(queue=moving_on))
