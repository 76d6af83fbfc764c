"""Runners that step a machine in place: one object per run, with the figures that a run has.

    runner              machine             holds
    TuringRun           TuringMachine       the known stretch of tape and the head
    QueueRun            QueueMachine        the queue
    HistRun             HistMachine         the window and its counts
    ParityHistRun       ParityHistMachine   the window and its parity

Source: Sliding-Window Transformers Without Positional Encodings, Sections 3 and 4.
"""

from collections import deque
from collections.abc import Iterable
from typing import Generic

from constructions.machines.definitions import (
    HistMachine,
    ParityHistMachine,
    QueueMachine,
    State,
    TuringConfiguration,
    TuringMachine,
    Word,
    halted_error,
    parity_mask,
    require_appended,
    require_word,
    trimmed,
)


class TuringRun:
    """A Turing machine in motion: `cells` is the known stretch of tape, `head` an index in it.

    The head moves by at most one cell, so the cells on which a rule was applied are an interval and
    two ends suffice to count them.
    """

    __slots__ = ("_highest", "_lowest", "_origin", "cells", "head", "machine", "state", "steps")

    def __init__(self, machine: TuringMachine, word: Iterable[str] = ()) -> None:
        """Stand before the first step."""
        self.machine = machine
        self.cells = [*require_word(machine.alphabet, word, "TuringRun.word")] or [machine.blank]
        self.head = 0
        self.state = machine.start
        self.steps = 0
        self._origin = 0
        self._lowest = 0
        self._highest = -1

    @property
    def halted(self) -> bool:
        """Whether no rule can be applied."""
        return self.cells[self.head] not in self.machine.rows[self.state]

    @property
    def visited(self) -> int:
        """Distinct cells on which a rule was applied."""
        return self._highest - self._lowest + 1

    @property
    def space(self) -> int:
        """Distinct cells among the input's and those the head ever stood on, the last included."""
        return len(self.cells)

    @property
    def nonblank(self) -> int:
        """Cells that are not blank now."""
        return len(self.cells) - self.cells.count(self.machine.blank)

    @property
    def trimmed(self) -> Word:
        """The tape without the blanks at its two ends."""
        return trimmed(self.cells, self.machine.blank)

    @property
    def configuration(self) -> TuringConfiguration:
        """State, known cells and head as a value."""
        return TuringConfiguration(state=self.state, cells=tuple(self.cells), head=self.head)

    def step(self) -> None:
        """Applies one rule.

        Raises:
            MachineError: the machine has halted.
        """
        if not self.advance(1):
            raise halted_error("TuringRun", self.state, self.steps)

    def advance(self, limit: int) -> int:
        """Applies at most `limit` rules and returns how many; fewer only where it halts."""
        rows, blank, cells = self.machine.rows, self.machine.blank, self.cells
        head, state, origin = self.head, self.state, self._origin
        lowest, highest = self._lowest + origin, self._highest + origin
        applied = 0
        while applied < limit:
            rule = rows[state].get(cells[head])
            if rule is None:
                break
            if head > highest:
                highest = head
            elif head < lowest:
                lowest = head
            cells[head], move, state = rule
            applied += 1
            head += move
            if head < 0:
                cells.insert(0, blank)
                head = 0
                origin, lowest, highest = origin + 1, lowest + 1, highest + 1
            elif head == len(cells):
                cells.append(blank)
        self.head, self.state, self._origin = head, state, origin
        self._lowest, self._highest = lowest - origin, highest - origin
        self.steps += applied
        return applied


class QueueRun(Generic[State]):
    """A queue machine in motion; `appended` is the word of the last step."""

    __slots__ = ("_row", "appended", "halted", "machine", "max_length", "queue", "state", "steps")

    def __init__(self, machine: QueueMachine[State], word: Iterable[str] = ()) -> None:
        """Stand before the first step."""
        self.machine = machine
        kept = require_word(machine.alphabet, word, "QueueRun.word")
        self.queue: deque[str] = deque((machine.front, *kept))
        self.state, self._row = machine.row(machine.start)
        self.halted = machine.start == machine.halt
        self.steps = 0
        self.max_length = len(self.queue)
        self.appended: Word = ()

    def step(self) -> str:
        """Removes the front symbol, appends one or two, and returns the removed symbol.

        Raises:
            MachineError: the machine has halted.
        """
        if self.halted:
            raise halted_error("QueueRun", self.state, self.steps)
        queue = self.queue
        symbol = queue.popleft()
        step = self._row.get(symbol)
        if step is None:
            step = self.machine.transition(self.state, symbol)
        self.state, self._row, self.halted, appended = step
        self.appended = appended
        queue.extend(appended)
        self.steps += 1
        if len(appended) > 1:
            self.max_length = max(self.max_length, len(queue))
        return symbol


class HistRun(Generic[State]):
    """A HIST machine in motion: the window and its counts."""

    __slots__ = ("_places", "counts", "machine", "max_window", "state", "steps", "window")

    def __init__(self, machine: HistMachine[State], word: Iterable[str] = ()) -> None:
        """Stand before the first step."""
        self.machine = machine
        self.window = deque(require_word(machine.alphabet, word, "HistRun.word"))
        self._places = {symbol: place for place, symbol in enumerate(machine.alphabet)}
        self.counts = [self.window.count(symbol) for symbol in machine.alphabet]
        self.state = machine.start
        self.steps = 0
        self.max_window = len(self.window)

    @property
    def halted(self) -> bool:
        """Whether the state is a halting one."""
        return self.machine.is_halting(self.state)

    def step(self) -> Word:
        """One step; returns the appended word.

        Raises:
            MachineError: the machine has halted.
        """
        if self.halted:
            raise halted_error("HistRun", self.state, self.steps)
        self.state, word = self.machine.rule(self.state, tuple(self.counts))
        where = f"HistMachine {self.machine.name}"
        for symbol in require_appended(self.machine.alphabet, word, where):
            self.window.append(symbol)
            self.counts[self._places[symbol]] += 1
        self.counts[self._places[self.window.popleft()]] -= 1
        self.steps += 1
        self.max_window = max(self.max_window, len(self.window))
        return word


class ParityHistRun(Generic[State]):
    """A parity-HIST machine in motion: the window, its parity, the last appended word."""

    __slots__ = (
        "_bits", "_row", "appended", "halted", "machine", "max_window", "parity", "state", "steps",
        "window",
    )  # fmt: skip

    def __init__(self, machine: ParityHistMachine[State], word: Iterable[str] = ()) -> None:
        """Stand before the first step."""
        self.machine = machine
        self.window = deque(require_word(machine.alphabet, word, "ParityHistRun.word"))
        self._bits = {symbol: 1 << place for place, symbol in enumerate(machine.alphabet)}
        self.parity = parity_mask(machine.alphabet, self.window)
        self.state, self._row = machine.row(machine.start)
        self.halted = machine.is_halting(machine.start)
        self.steps = 0
        self.max_window = len(self.window)
        self.appended: Word = ()

    def step(self) -> Word:
        """One step; returns the appended word.

        Raises:
            MachineError: the machine has halted.
        """
        if self.halted:
            raise halted_error("ParityHistRun", self.state, self.steps)
        step = self._row.get(self.parity)
        if step is None:
            step = self.machine.transition(self.state, self.parity)
        self.state, self._row, self.halted, appended, change = step
        self.appended = appended
        window = self.window
        window.extend(appended)
        self.parity ^= change ^ self._bits[window.popleft()]
        self.steps += 1
        if len(appended) > 1:
            self.max_window = max(self.max_window, len(window))
        return appended
