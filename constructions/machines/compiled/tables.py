"""Machines as tables of integers, each row computed by the machine's own rule when it is met.

    table        key                          row
    QueueTable   state, symbol                next state, appended symbols, what it does to the tape
    HistTable    state, parity mask           next state, appended symbols, recovered symbol
    TokenTable   label, parity mask or -1     displayed symbol, update bit, next label
    TuringTable  state, symbol                next state, written symbol, move

Source: Sliding-Window Transformers Without Positional Encodings, Theorems 6, 7 and 9.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np

from constructions.machines.compiled import kernel
from constructions.machines.compiled.kernel import Array
from constructions.machines.definitions import (
    ParityHistMachine,
    QueueMachine,
    State,
    TuringMachine,
)
from constructions.machines.parity import Stored
from constructions.machines.turing import TuringQueue
from constructions.machines.window import Pending, WindowLabel, WindowTransformer

Member = TypeVar("Member", bound=Hashable)
_ROWS = 64
_NO_SYMBOL = -1


@dataclass(slots=True)
class Numbering(Generic[Member]):
    """Values in the order in which they were first met."""

    members: list[Member] = field(default_factory=list)
    _numbers: dict[Member, int] = field(default_factory=dict)

    def number(self, member: Member) -> int:
        """The value's number, a new one if it has none."""
        known = self._numbers.get(member)
        if known is None:
            known = self._numbers[member] = len(self.members)
            self.members.append(member)
        return known


def _unknown(rows: int) -> Array:
    return np.full(rows * kernel.WIDTH, kernel.UNKNOWN, dtype=np.int64)


def _empty(rows: int) -> Array:
    """Rows none of which was followed by another than the first."""
    found = _unknown(rows)
    found[kernel.FOLLOWER :: kernel.WIDTH] = 0
    return found


def packed(first: int, second: int, third: int, flag: bool) -> int:
    """Three numbers below 256 and a flag in one."""
    return first | second << 8 | third << 16 | int(flag) << 24


@dataclass(slots=True)
class Hashed:
    """Rows found by key and mask: open addressing, at most half full."""

    rows: Array = field(default_factory=lambda: _empty(_ROWS))
    used: int = 0

    def add(self, key: int, mask: int, following: int, word: int, of: int, parity: int) -> None:
        """A new row; the table doubles when it is half full."""
        if 2 * self.used * kernel.WIDTH >= len(self.rows):
            table = self.rows.reshape(-1, kernel.WIDTH)
            self.rows = _empty(2 * len(table))
            for row in table[table[:, kernel.KEY] != kernel.UNKNOWN]:
                self._insert(row[: kernel.FOLLOWER])
        self._insert(np.array([key, mask, following, word, of, parity], dtype=np.int64))
        self.used += 1

    def _insert(self, row: Array) -> None:
        """Puts a row in the first free place of its chain, where `kernel.find` looks for it."""
        last = len(self.rows) // kernel.WIDTH - 1
        place = kernel.slot(int(row[kernel.KEY]), int(row[kernel.SEES])) & last
        while self.rows[place * kernel.WIDTH + kernel.KEY] != kernel.UNKNOWN:
            place = (place + 1) & last
        start = place * kernel.WIDTH
        self.rows[start : start + kernel.FOLLOWER] = row


class QueueTable(Generic[State]):
    """Transitions of a queue machine; with a `source`, what each does to the Turing machine's tape.

    Queue symbols are numbered in the order of the alphabet, tape symbols with the blank first.
    """

    def __init__(self, machine: QueueMachine[State], source: TuringQueue | None = None) -> None:
        """No transition is known yet."""
        self.machine = machine
        self.source = source
        self.symbols = {symbol: place for place, symbol in enumerate(machine.alphabet)}
        self.states: Numbering[State] = Numbering()
        self.turing = TuringTable(source.machine) if source else None
        self.rows = _unknown(_ROWS * len(self.symbols))
        self.cells = np.array([self._cell(symbol) for symbol in machine.alphabet], dtype=np.int64)

    def add(self, state: int, symbol: int) -> None:
        """Computes one transition.

        Raises:
            MachineError: the machine's rule is not defined there.
        """
        control, read = self.states.members[state], self.machine.alphabet[symbol]
        step = self.machine.transition(control, read)
        words = [self.symbols[appended] for appended in step.appended]
        number = self.states.number(step.state)
        start = (state * len(self.symbols) + symbol) * kernel.WIDTH
        while len(self.states.members) * len(self.symbols) * kernel.WIDTH > len(self.rows):
            self.rows = np.concatenate([self.rows, np.full_like(self.rows, kernel.UNKNOWN)])
        first, second = words[0], words[1] if len(words) > 1 else _NO_SYMBOL
        kind, turing, cell, held = self._on_tape(control, read)
        self.rows[start : start + kernel.WIDTH] = (
            kind,
            number,
            packed(first, second + 1, symbol + 1, step.halting),
            packed(first, len(words) - 1, second + 1, step.halting and len(words) == 1),
            packed(max(second, 0), 0, 0, step.halting),
            turing,
            cell,
            held,
        )

    def _cell(self, symbol: str) -> int:
        if self.source is None or self.turing is None or symbol == self.source.front:
            return _NO_SYMBOL
        return self.turing.symbols[self.source.unmarked.get(symbol, symbol)]

    def _on_tape(self, control: Any, symbol: str) -> tuple[int, int, int, int]:
        """Kind of the step, Turing state, symbol under the head, held symbol."""
        if self.source is None or self.turing is None:
            return kernel.PLAIN, 0, 0, 0
        cell = self.source.head_cell(control, symbol)
        if cell is None:
            return kernel.PLAIN, 0, 0, 0
        applies = cell in self.source.machine.rows[control.state]
        kind = kernel.APPLIES if applies else kernel.ENDS
        held = self.symbols[control.held]
        return kind, self.turing.states[control.state], self.turing.symbols[cell], held


class TuringTable:
    """Rules of a Turing machine; symbol 0 is the blank."""

    def __init__(self, machine: TuringMachine) -> None:
        """All rules at once."""
        order = (machine.blank, *(s for s in machine.alphabet if s != machine.blank))
        self.alphabet = order
        self.symbols = {symbol: place for place, symbol in enumerate(order)}
        self.states = {state: place for place, state in enumerate(machine.states)}
        self.rows = np.full((len(self.states) * len(order), 3), kernel.UNKNOWN, dtype=np.int64)
        for state, row in machine.rows.items():
            for symbol, (write, move, target) in row.items():
                place = self.states[state] * len(order) + self.symbols[symbol]
                self.rows[place] = self.states[target], self.symbols[write], move


class HistTable(Generic[State]):
    """Transitions of a parity-HIST machine whose states are those of Theorem 7."""

    def __init__(self, machine: ParityHistMachine[Stored[State]], queue: QueueTable[State]) -> None:
        """No transition is known yet."""
        self.machine = machine
        self.queue = queue
        self.states: Numbering[Stored[State]] = Numbering()
        self.hashed = Hashed()

    def add(self, state: int, seen: int) -> None:
        """Computes one transition.

        Raises:
            MachineError: the machine's rule is not defined there.
        """
        stored = self.states.members[state]
        step = self.machine.transition(stored, seen)
        words = [self.queue.symbols[symbol] for symbol in step.appended]
        second = words[1] if len(words) > 1 else _NO_SYMBOL
        self.hashed.add(
            state,
            seen,
            self.states.number(step.state),
            packed(words[0], second + 1, self._recovered(stored, seen) + 1, step.halting),
            self.queue.states.number(step.state.state),
            step.state.parity,
        )

    def _recovered(self, stored: Stored[State], seen: int) -> int:
        if stored.first:
            return self.queue.symbols[self.queue.machine.front]
        unit = stored.parity ^ seen
        return unit.bit_length() - 1 if unit.bit_count() == 1 else _NO_SYMBOL


class TokenTable(Generic[State]):
    """The map G of a transformer; the marker's number follows those of the alphabet."""

    def __init__(
        self, transformer: WindowTransformer[Stored[State]], hist: HistTable[State]
    ) -> None:
        """No answer is known yet."""
        self.transformer = transformer
        self.hist = hist
        self.labels: Numbering[WindowLabel[Stored[State]]] = Numbering()
        self.symbols = {symbol: place for place, symbol in enumerate(transformer.displayed)}
        self.hashed = Hashed()

    def add(self, label: int, mask: int, counts: list[int]) -> None:
        """Computes one answer; `counts` are displayed counts of that parity, marker last.

        Raises:
            MachineError: G is not defined there.
        """
        token = self.transformer.next_token(self.labels.members[label], counts)
        pending = token.label.symbol if isinstance(token.label, Pending) else None
        self.hashed.add(
            label,
            mask,
            self.labels.number(token.label),
            packed(
                self.symbols[token.displayed],
                token.update,
                0 if pending is None else self.symbols[pending] + 1,
                self.transformer.is_final(token.label),
            ),
            self.hist.states.number(token.label.state),
            0,
        )
