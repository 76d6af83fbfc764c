"""Where a run stands, as a JSON object from which it goes on as if it had never stopped.

    run      schema, machine's fingerprint, levels, input
    figures  what has been counted so far
    state    the queue machine's; first and parity as HIST stores them
    words    queue, window and displayed context as indices into the displayed symbols
    turing   state, known cells, head, extent

All else is derived from these, and the levels are compared before a restored run goes on, so that
a file that was altered ends as an error or as a difference, never as another run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from constructions.machines.compiled import kernel
from constructions.machines.compiled.comparisons import difference
from constructions.machines.compiled.lockstep import Lockstep
from constructions.machines.definitions import QueueMachine, TuringMachine
from constructions.machines.parity import Stored
from constructions.machines.turing import Control, Phase
from constructions.machines.window import Normal
from verify.errors import CheckpointError
from verify.verdicts import Json

SCHEMA = "certiformer/checkpoint/1"
_FIGURES = {
    "queue_steps": kernel.STEPS,
    "rules": kernel.RULES,
    "refreshes": kernel.REFRESHES,
    "max_length": kernel.MAX_QUEUE,
    "max_window": kernel.MAX_WINDOW,
    "max_context": kernel.MAX_CONTEXT,
    "due": kernel.DUE,
}
_EXTENT = {"head": kernel.TURING_HEAD, "lowest": kernel.LOWEST, "highest": kernel.HIGHEST}


def fingerprint(machine: TuringMachine | QueueMachine[str]) -> str:
    """A digest of all that a machine's runs depend on; its name is not part of it."""
    if isinstance(machine, TuringMachine):
        parts: list[Json] = [
            machine.blank,
            list(machine.alphabet),
            machine.start,
            sorted(machine.halting),
            sorted(
                [state, read, *row[read]] for state, row in machine.rows.items() for read in row
            ),
        ]
    else:
        parts = [
            machine.blank,
            list(machine.alphabet),
            machine.front,
            machine.start,
            machine.halt,
            _reachable_rows(machine),
        ]
    return hashlib.sha256(json.dumps(parts).encode("ascii")).hexdigest()


def _reachable_rows(machine: QueueMachine[str]) -> list[Json]:
    rows: list[Json] = []
    found = [machine.start]
    for state in found:
        for symbol in machine.alphabet if state != machine.halt else ():
            step = machine.transition(state, symbol)
            rows.append([state, symbol, step.state, list(step.appended)])
            if step.state not in found:
                found.append(step.state)
    return rows


def snapshot(run: Lockstep[Any], machine: str) -> dict[str, Json]:
    """The run as an object; it stands between two steps, as it does whenever `advance` returned."""
    r, stored = run.registers, run.stored
    kept: dict[str, Json] = {
        "schema": SCHEMA,
        "machine": machine,
        "levels": sorted(run.levels),
        "input": list(run.word),
        "figures": {name: int(r[place]) for name, place in _FIGURES.items()},
        "tokens": run.tokens,
        "state": _state_json(run.state),
        "first": stored.first,
        "parity": stored.parity,
        "queue": run.queue_word.tolist(),
        "window": run.window_word.tolist() if r[kernel.WITH_HIST] else [],
        "context": run.context_word.tolist() if r[kernel.WITH_TOKENS] else [],
    }
    if "turing" in run.levels:
        kept["turing"] = {
            "state": int(r[kernel.TURING_STATE]),
            "cells": run.tape.tolist(),
            **{name: int(r[place]) for name, place in _EXTENT.items()},
        }
    return kept


def _state_json(state: Any) -> Json:
    if isinstance(state, Control):
        return [state.state, state.held, state.phase.value]
    return state


def restore(run: Lockstep[Any], machine: str, kept: Json, where: str) -> None:
    """Takes a run that stands before its first step to where the object says.

    Raises:
        CheckpointError: another machine, input or levels, or an object that is no such place.
    """
    value = _Reader(kept, where)
    for name, asked in (
        ("schema", SCHEMA),
        ("machine", machine),
        ("levels", sorted(run.levels)),
        ("input", list(run.word)),
    ):
        found = value.of(name)
        if found != asked:
            raise CheckpointError(
                f"{where}: a checkpoint's {name} must be the run's own, {_short(asked)}, got "
                f"{_short(found)}; remove the file or name another"
            )
    _restore_figures(run, value)
    _restore_words(run, value)
    if "turing" in run.levels:
        _restore_tape(run, _Reader(value.of("turing"), where))
    trouble = difference(run)
    if trouble:
        raise CheckpointError(
            f"{where}: the levels of a checkpoint must agree, got {trouble}; remove the file"
        )


def _restore_figures(run: Lockstep[Any], value: _Reader) -> None:
    r = run.registers
    figures = _Reader(value.of("figures"), value.where)
    for name, place in _FIGURES.items():
        r[place] = figures.number(name)
    r[kernel.HIST_STEPS] = r[kernel.TOKEN_STEPS] = r[kernel.STEPS]
    state = _state_of(value.of("state"), value.where)
    stored = Stored(state=state, parity=value.number("parity"), first=value.of("first") is True)
    r[kernel.STATE] = run.queue_table.states.number(state)
    r[kernel.HIST] = run.hist_table.states.number(stored)
    r[kernel.LABEL] = run.token_table.labels.number(Normal(state=stored))
    r[kernel.HALTED] = int(state == run.machine.halt)


def _state_of(found: Json, where: str) -> Any:
    if isinstance(found, str):
        return found
    match found:
        case [str(state), str(held), str(phase)] if phase in set(Phase):
            return Control(state=state, held=held, phase=Phase(phase))
        case _:
            raise CheckpointError(
                f"{where}: a checkpoint's state must be a name, or Turing state, held symbol and "
                f"phase, got {_short(found)}; remove the file"
            )


def _restore_words(run: Lockstep[Any], value: _Reader) -> None:
    r, symbols = run.registers, len(run.machine.alphabet)
    steps, total = int(r[kernel.STEPS]), value.number("tokens") + len(run.word) + 1
    queue = value.numbers("queue", symbols)
    window, context = value.numbers("window", symbols), value.numbers("context", symbols + 1)
    if not r[kernel.WITH_HIST]:
        window = queue[1:]
    if not r[kernel.WITH_TOKENS]:
        context, total = [*window, symbols], int(r[kernel.CONTEXT_END])
    starts = (steps, steps, total - len(context))
    run.place_words((queue, window, context), starts)
    r[kernel.QUEUE_END], r[kernel.WINDOW_END] = steps + len(queue), steps + len(window)
    r[kernel.CONTEXT_FIRST], r[kernel.CONTEXT_END] = total - len(context), total
    r[kernel.LENGTH], r[kernel.OWED] = len(window), context[0]
    r[kernel.PARITY], r[kernel.SEEN] = _parity(queue), _parity(window)
    r[kernel.MASK] = _parity([symbol for symbol in context if symbol != symbols])
    run.counts[:] = np.bincount(context, minlength=symbols + 1)


def _restore_tape(run: Lockstep[Any], value: _Reader) -> None:
    r, turing = run.registers, run.queue_table.turing
    if turing is None:
        return
    cells = value.numbers("cells", len(turing.symbols))
    state = value.number("state")
    for name, place in _EXTENT.items():
        r[place] = value.number(name)
    inside = all(-1 <= r[place] < len(cells) for place in _EXTENT.values())
    if not inside or r[kernel.TURING_HEAD] < 0 or state >= len(turing.states):
        raise CheckpointError(
            f"{value.where}: a checkpoint's head and state must be on its tape and the machine's, "
            f"got head {r[kernel.TURING_HEAD]} of {len(cells)} cells and state {state}; remove "
            "the file"
        )
    run.tape = np.array(cells, dtype=np.uint8)
    r[kernel.TURING_STATE], r[kernel.NONBLANK] = state, np.count_nonzero(run.tape)


def _parity(word: list[int]) -> int:
    mask = 0
    for symbol in word:
        mask ^= 1 << symbol
    return mask


def _short(found: object) -> str:
    text = json.dumps(found)
    return text if len(text) <= 60 else f"{text[:57]}..."  # noqa: PLR2004


class _Reader:
    """A JSON object whose fields are asked for by name and kind."""

    def __init__(self, found: Json, where: str) -> None:
        if not isinstance(found, Mapping):
            raise CheckpointError(
                f"{where}: a checkpoint must be a JSON object, got {_short(found)}; remove the file"
            )
        self._fields: Mapping[str, Json] = found
        self.where = where

    def of(self, name: str) -> Json:
        """The field itself."""
        if name not in self._fields:
            raise CheckpointError(
                f"{self.where}: a checkpoint must have the field {name!r}, got none; remove the "
                "file"
            )
        return self._fields[name]

    def number(self, name: str) -> int:
        """A number that fits a register."""
        found = self.of(name)
        if type(found) is not int or not -1 <= found <= 1 << 62:
            raise self._wrong(name, "a number from -1 to 2^62", found)
        return found

    def numbers(self, name: str, below: int) -> list[int]:
        """A list of numbers from 0 to `below` - 1."""
        found = self.of(name)
        if not isinstance(found, list):
            raise self._wrong(name, f"numbers below {below}", found)
        entries = cast("list[Json]", found)
        kept = [entry for entry in entries if type(entry) is int and 0 <= entry < below]
        if len(kept) != len(entries):
            raise self._wrong(name, f"numbers below {below}", found)
        return kept

    def _wrong(self, name: str, required: str, found: Json) -> CheckpointError:
        return CheckpointError(
            f"{self.where}: the checkpoint's {name} must be {required}, got {_short(found)}; "
            "remove the file"
        )
