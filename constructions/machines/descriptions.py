"""A machine as a JSON object and back, for files that must hold it whole.

kind "turing"   name, blank, alphabet, states, start, halting, rules [state, read, write, move,
                next]
kind "queue"    name, blank, alphabet, front, start, halt, rules [state, symbol, next, appended]
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from constructions.machines.definitions import MachineError, Rule, TuringMachine
from constructions.machines.formats.machine_file import QueueTable
from verify.errors import MachineFormatError
from verify.verdicts import Json


def description(machine: TuringMachine | QueueTable) -> dict[str, Json]:
    """The machine as an object of texts, numbers and lists."""
    shared: dict[str, Json] = {
        "name": machine.name,
        "blank": machine.blank,
        "alphabet": list(machine.alphabet),
        "start": machine.start,
    }
    if isinstance(machine, TuringMachine):
        return {
            "kind": "turing",
            **shared,
            "states": list(machine.states),
            "halting": sorted(machine.halting),
            "rules": [
                [state, read, rule.write, rule.move, rule.next_state]
                for (state, read), rule in machine.rules.items()
            ],
        }
    return {
        "kind": "queue",
        **shared,
        "front": machine.front,
        "halt": machine.halt,
        "rules": [
            [state, symbol, target, list(word)]
            for state, row in machine.rules.items()
            for symbol, (target, word) in row.items()
        ],
    }


def described_machine(found: Json, where: str) -> TuringMachine | QueueTable:
    """The machine of such an object.

    Raises:
        MachineFormatError: the object describes none.
    """
    try:
        fields = cast("Mapping[str, Any]", found)
        return _turing(fields) if fields["kind"] == "turing" else _queue(fields)
    except (MachineError, KeyError, TypeError, ValueError) as error:
        raise MachineFormatError(
            f"{where}: a machine's description must have the fields of its kind, got one that does "
            f"not ({error}); compile the machine again"
        ) from error


def _turing(fields: Mapping[str, Any]) -> TuringMachine:
    rules = {
        (str(state), str(read)): Rule(write=write, move=move, next_state=target)
        for state, read, write, move, target in fields["rules"]
    }
    return TuringMachine(
        name=str(fields["name"]),
        blank=fields["blank"],
        alphabet=tuple(fields["alphabet"]),
        states=tuple(fields["states"]),
        start=fields["start"],
        halting=frozenset(fields["halting"]),
        rules=rules,
    )


def _queue(fields: Mapping[str, Any]) -> QueueTable:
    rules: dict[str, dict[str, tuple[str, tuple[str, ...]]]] = {}
    for state, symbol, target, word in fields["rules"]:
        rules.setdefault(str(state), {})[str(symbol)] = (str(target), tuple(map(str, word)))
    return QueueTable(
        name=str(fields["name"]),
        alphabet=tuple(fields["alphabet"]),
        blank=fields["blank"],
        front=fields["front"],
        start=fields["start"],
        halt=fields["halt"],
        rules=rules,
    )
