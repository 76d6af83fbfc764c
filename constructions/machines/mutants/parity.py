"""Wrong versions of words and of parities in place of a queue's end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from constructions.machines import parity
from constructions.machines.definitions import parity_mask
from constructions.machines.parity import parity_machine
from constructions.machines.parity_claims import recovery_checks, step_checks
from constructions.machines.readings import Context, Reading
from constructions.machines.window import WindowToken
from constructions.machines.words import law_checks
from verify.claims import Check
from verify.mutants import mutant

KEPT_MARKERS = Reading(sem=lambda context, _: tuple([t.displayed for t in context]))


SEM_WITH_MARKERS = "(wcons (symof (disp t)) (sem c))"


@mutant(of="machines.words.laws", breaks="rule")
def sem_keeps_the_markers() -> tuple[Check, ...]:
    """The map sem shows every displayed symbol, the marker too."""
    return law_checks(sem_rule=SEM_WITH_MARKERS, reading=KEPT_MARKERS)


def next_symbol(machine: Any, stored: Any, seen: int) -> str:
    """The symbol behind the recovered one in the alphabet."""
    found = parity.recovered(machine, stored, seen)
    if stored.first:
        return found
    return machine.alphabet[(machine.alphabet.index(found) + 1) % len(machine.alphabet)]


@mutant(of="machines.parity.recovers", breaks="rule")
def the_wrong_bit_is_named() -> tuple[Check, ...]:
    """The parities name the symbol behind the dropped one."""
    return recovery_checks(naming=next_symbol)


def first_symbol_only(machine: Any) -> Any:
    """A parity-HIST machine that forgets the second appended symbol in r."""
    right = parity_machine(machine)

    def rule(stored: Any, seen: int) -> Any:
        state, word = right.rule(stored, seen)
        return replace(state, parity=seen ^ parity_mask(machine.alphabet, word[:1])), word

    return replace(right, rule=rule)


KEPT_FIRST_ONLY = "(xor (has p y) (= y (o1 q s)))"


@mutant(of="machines.parity.step", breaks="rule")
def two_symbols_update_one_parity() -> tuple[Check, ...]:
    """On a two-symbol append only the first symbol enters r."""
    return step_checks(KEPT_FIRST_ONLY, first_symbol_only)


def forgetful(machine: Any) -> Any:
    """A parity-HIST machine whose halting state drops r, as the paper's does."""
    right = parity_machine(machine)

    def rule(stored: Any, seen: int) -> Any:
        state, word = right.rule(stored, seen)
        return (replace(state, parity=0) if right.is_halting(state) else state), word

    return replace(right, rule=rule)


@mutant(of="machines.parity.step", breaks="rule", name="halting")
def the_halting_state_drops_the_parity() -> tuple[Check, ...]:
    """The halting state forgets the stored parity."""
    return step_checks(make=forgetful)


def only_for_others(machine: Any, stored: Any, seen: int) -> str:
    """The wrong symbol, but for the machine that the theory is evaluated on."""
    right = machine.name == "sample"
    return (parity.recovered if right else next_symbol)(machine, stored, seen)


@mutant(of="machines.parity.recovers", breaks="rule", name="others")
def the_wrong_bit_is_named_on_other_machines() -> tuple[Check, ...]:
    """The parities name the symbol behind the dropped one on all machines but one."""
    return recovery_checks(naming=only_for_others)


def forgets_on_others(machine: Any) -> Any:
    """The right parity-HIST machine of one queue machine; others forget the second symbol."""
    return (parity_machine if machine.name == "sample" else first_symbol_only)(machine)


@mutant(of="machines.parity.step", breaks="rule", name="others")
def two_symbols_update_one_parity_on_other_machines() -> tuple[Check, ...]:
    """On a two-symbol append only the first symbol enters r, but for one machine."""
    return step_checks(make=forgets_on_others)


def always_dropping(context: Context, token: WindowToken[Any]) -> Context:
    """The context without its oldest token and with the new one, whatever the update bit."""
    return (*context[1:], token)


@mutant(of="machines.words.laws", breaks="rule", name="slide")
def the_update_bit_is_ignored() -> tuple[Check, ...]:
    """A context loses its oldest token with every new one."""
    return law_checks(reading=Reading(slide=always_dropping))
