"""A run at several levels that can be left and entered again: the loop, its tables and its words.

`Lockstep` is to `simulate.run_levels` what machine code is to its source: the same levels, the same
comparisons and the same figures, at millions of tokens a second. Memory grows with the words and
with the transitions met, not with the tokens.

Source: Sliding-Window Transformers Without Positional Encodings, Theorems 6, 7, 9, Corollary 10.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Generic, NamedTuple

import numpy as np

from constructions.machines.compiled import kernel
from constructions.machines.compiled.comparisons import described
from constructions.machines.compiled.kernel import Array
from constructions.machines.compiled.tables import HistTable, QueueTable, TokenTable
from constructions.machines.definitions import (
    MachineError,
    ParityHistMachine,
    QueueMachine,
    State,
    TuringMachine,
    Word,
    parity_mask,
    require_word,
)
from constructions.machines.levels import LEVELS, require_levels
from constructions.machines.parity import Stored, parity_machine
from constructions.machines.simulate import Constructions
from constructions.machines.turing import Control, TuringQueue
from constructions.machines.window import (
    Normal,
    WindowLabel,
    WindowTransformer,
    window_transformer,
)

NO_LIMIT = 1 << 60
_LEAST_ROOM = 4 * kernel.BLOCK
_MARGIN = 32
_FIRSTS = (kernel.STEPS, kernel.HIST_STEPS, kernel.CONTEXT_FIRST)
_ENDS = (kernel.QUEUE_END, kernel.WINDOW_END, kernel.CONTEXT_END)


def most_symbols(machine: TuringMachine | QueueMachine[Any]) -> int:
    """The most symbols of a machine's alphabet for which the loop's numbers suffice.

    A Turing machine's queue machine has a separator, and each symbol also marked.
    """
    if isinstance(machine, TuringMachine):
        return (kernel.MOST_SYMBOLS - 1) // 2
    return kernel.MOST_SYMBOLS


def fits(machine: TuringMachine | QueueMachine[Any]) -> bool:
    """Whether the loop's numbers suffice for a machine's symbols."""
    return len(machine.alphabet) <= most_symbols(machine)


def turing_lockstep(
    machine: TuringMachine,
    word: Iterable[str],
    levels: Sequence[str] = LEVELS,
    constructions: Constructions | None = None,
) -> Lockstep[Control]:
    """A Turing machine and what simulates it, before the first step.

    Raises:
        MachineError: an unknown level, too many symbols, or an input symbol outside the alphabet.
    """
    asked = require_levels(levels, LEVELS)
    kept = require_word(machine.alphabet, word, "turing_lockstep.word")
    _require_room(machine)
    made = constructions or Constructions()
    source = TuringQueue(machine=machine)
    queue = made.queue(source)
    hist = made.hist(queue)
    return Lockstep(queue, hist, made.window(hist), kept, asked, source)


def queue_lockstep(
    machine: QueueMachine[State], word: Iterable[str], levels: Sequence[str] = LEVELS[1:]
) -> Lockstep[State]:
    """A queue machine that comes from no Turing machine and what simulates it.

    Raises:
        MachineError: as for `turing_lockstep`.
    """
    asked = require_levels(levels, LEVELS[1:])
    kept = require_word(machine.alphabet, word, "queue_lockstep.word")
    _require_room(machine)
    hist = parity_machine(machine)
    return Lockstep(machine, hist, window_transformer(hist), kept, asked, None)


def _require_room(machine: TuringMachine | QueueMachine[Any]) -> None:
    if not fits(machine):
        raise MachineError(
            f"machine {machine.name!r}: a compiled run has room for {most_symbols(machine)} "
            f"symbols, got {len(machine.alphabet)}; use simulate.run_levels"
        )


class StepWords(NamedTuple):
    """The symbol that a step removed and those that it appended."""

    popped: str
    appended: Word


class Lockstep(Generic[State]):
    """One run in motion; `advance` takes it further, `comparisons` says what it found so far."""

    def __init__(
        self,
        machine: QueueMachine[State],
        hist: ParityHistMachine[Stored[State]],
        transformer: WindowTransformer[Stored[State]],
        word: Word,
        levels: frozenset[str],
        source: TuringQueue | None,
    ) -> None:
        """Stand before the first step."""
        self.machine = machine
        self.transformer = transformer
        self.source = source
        self.levels = levels
        self.word = word
        self.difference = ""
        self.queue_table = QueueTable(machine, source)
        self.hist_table = HistTable(hist, self.queue_table)
        self.token_table = TokenTable(transformer, self.hist_table)
        self.registers = np.zeros(kernel.REGISTERS, dtype=np.int64)
        self.counts = np.zeros(len(machine.alphabet) + 1, dtype=np.int64)
        self._begin(word)
        self._place_registers(hist)

    def _begin(self, word: Word) -> None:
        symbols = self.queue_table.symbols
        numbers = [symbols[symbol] for symbol in word]
        queue, context = [symbols[self.machine.front], *numbers], [*numbers, len(symbols)]
        self.place_words((queue, numbers, context), (0, 0, 0))
        self.counts += np.bincount(context, minlength=len(self.counts))
        self.trail, self.states = (np.zeros(kernel.BLOCK, dtype=np.int64) for _ in range(2))
        self.tape = np.zeros(len(word) + 2 * _MARGIN, dtype=np.uint8)
        if self.queue_table.turing:
            cells = self.queue_table.turing.symbols
            self.tape[_MARGIN : _MARGIN + len(word)] = [cells[symbol] for symbol in word]

    def place_words(self, contents: Sequence[Sequence[int]], starts: Sequence[int]) -> None:
        """Puts queue, window and context into new rings, each from its own place on."""
        room = _LEAST_ROOM
        while room < 2 * max(map(len, contents)) + _LEAST_ROOM:
            room *= 2
        self.queue, self.window, self.context = (np.zeros(room, dtype=np.uint8) for _ in range(3))
        for ring, content, start in zip(
            (self.queue, self.window, self.context), contents, starts, strict=True
        ):
            ring[np.arange(start, start + len(content)) & (room - 1)] = content

    def _place_registers(self, hist: ParityHistMachine[Stored[State]]) -> None:
        size, machine = len(self.word), self.machine
        label = Normal(state=hist.start)
        values = {
            kernel.STATE: self.queue_table.states.number(machine.start),
            kernel.HIST: self.hist_table.states.number(hist.start),
            kernel.LABEL: self.token_table.labels.number(label),
            kernel.PARITY: parity_mask(machine.alphabet, (machine.front, *self.word)),
            kernel.SEEN: parity_mask(machine.alphabet, self.word),
            kernel.MASK: parity_mask(machine.alphabet, self.word),
            kernel.QUEUE_END: size + 1,
            kernel.WINDOW_END: size,
            kernel.CONTEXT_END: size + 1,
            kernel.MAX_QUEUE: size + 1,
            kernel.MAX_WINDOW: size,
            kernel.LENGTH: size,
            kernel.MAX_CONTEXT: size + 1,
            kernel.HALTED: int(machine.start == machine.halt),
            kernel.DUE: size + 5 if self.source else NO_LIMIT,
            kernel.SYMBOLS: len(machine.alphabet),
            kernel.WITH_TURING: int("turing" in self.levels),
            kernel.WITH_HIST: int(bool(self.levels & {"hist", "transformer"})),
            kernel.WITH_TOKENS: int("transformer" in self.levels),
            kernel.OWED: -1,
        }
        turing = self.queue_table.turing
        if turing and self.source:
            values |= {
                kernel.TURING_STATE: turing.states[self.source.machine.start],
                kernel.TURING_HEAD: _MARGIN,
                kernel.HIGHEST: -1,
                kernel.NONBLANK: int(np.count_nonzero(self.tape)),
                kernel.TAPE_SYMBOLS: len(turing.symbols),
            }
        for place, value in values.items():
            self.registers[place] = value

    # --- motion ------------------------------------------------------------------------------

    @property
    def turing_only(self) -> bool:
        """Whether the Turing machine runs alone."""
        return self.levels == frozenset({"turing"})

    @property
    def halted(self) -> bool:
        """Whether the machine that leads halted."""
        if self.turing_only:
            return self.next_rule() < 0
        return bool(self.registers[kernel.HALTED])

    @property
    def steps(self) -> int:
        """Rules applied; queue steps where the machine is a queue machine."""
        return int(self.registers[kernel.RULES if self.source else kernel.STEPS])

    def advance(self, max_steps: int, turns: int) -> bool:
        """At most so many more queue steps (or rules, alone), up to `max_steps` steps in all.

        Returns whether the run is over: halted, at its limit, or with two levels that differ.
        """
        r, limit = self.registers, min(max_steps, NO_LIMIT)
        r[kernel.MAX_RULES] = limit
        if self.turing_only:
            r[kernel.MAX_STEPS] = r[kernel.RULES] + turns
        else:
            most = NO_LIMIT if self.source else limit
            r[kernel.MAX_STEPS] = min(int(r[kernel.STEPS]) + turns, most)
        while not self.difference:
            reason = self._loop()
            if reason == kernel.PAUSED:
                return not self.source and self.steps >= limit
            if reason in {kernel.ENDED, kernel.LIMIT}:
                return True
            self._attend(reason)
        return True

    def _loop(self) -> int:
        advance, apply_rules = kernel.compiled()
        turing = self.queue_table.turing
        rules = turing.rows if turing else np.zeros((1, 3), dtype=np.int64)
        if self.turing_only:
            return apply_rules(self.registers, rules, self.tape)
        return advance(
            self.registers,
            self.queue_table.rows,
            self.hist_table.hashed.rows,
            self.token_table.hashed.rows,
            rules,
            self.queue,
            self.window,
            self.context,
            self.tape,
            self.queue_table.cells,
            self.counts,
            self.trail,
            self.states,
        )

    def _attend(self, reason: int) -> None:
        """Gives the loop what it lacked, or keeps the difference that it found."""
        r = self.registers
        try:
            if reason == kernel.NO_QUEUE_ROW:
                front = self.queue[r[kernel.STEPS] & (len(self.queue) - 1)]
                self.queue_table.add(int(r[kernel.STATE]), int(front))
            elif reason == kernel.NO_HIST_ROW:
                self.hist_table.add(int(r[kernel.HIST]), int(r[kernel.SEEN]))
                r[kernel.HIST_ROW] = 0
            elif reason == kernel.NO_TOKEN_ROW:
                mask = int(r[kernel.MASK]) if self.counts[-1] else kernel.ABSENT
                self.token_table.add(int(r[kernel.LABEL]), mask, self.counts.tolist())
                r[kernel.TOKEN_ROW] = 0
            elif reason == kernel.NO_ROOM:
                self._widen_rings()
            elif reason == kernel.NO_TAPE:
                self._widen_tape()
            else:
                self.difference = described(self, reason)
        except MachineError as error:
            levels = (kernel.TOKEN_STEPS, kernel.HIST_STEPS, kernel.STEPS)
            step = r[levels[kernel.NO_TOKEN_ROW - reason]]
            self.difference = f"queue step {step}: {error}"

    def _widen_rings(self) -> None:
        """Doubles the rings; what a level that lags still needs stays in place too."""
        for name, end in (
            ("queue", kernel.QUEUE_END),
            ("window", kernel.WINDOW_END),
            ("context", kernel.CONTEXT_END),
        ):
            ring: Array = getattr(self, name)
            places = np.arange(-len(ring), 0) + int(self.registers[end])
            wider = np.zeros(2 * len(ring), np.uint8)
            wider[places & (len(wider) - 1)] = ring[places & (len(ring) - 1)]
            setattr(self, name, wider)

    def _widen_tape(self) -> None:
        margin = len(self.tape) // 2
        self.tape = np.pad(self.tape, margin)
        for place in (kernel.TURING_HEAD, kernel.LOWEST, kernel.HIGHEST):
            self.registers[place] += margin

    # --- words -------------------------------------------------------------------------------

    @property
    def queue_word(self) -> Array:
        """The queue's symbols, as numbers."""
        return self._unrolled(self.queue, 0)

    @property
    def window_word(self) -> Array:
        """The HIST window's symbols."""
        return self._unrolled(self.window, 1)

    @property
    def context_word(self) -> Array:
        """The context's displayed symbols; the marker's number follows the alphabet's."""
        return self._unrolled(self.context, 2)

    def _unrolled(self, ring: Array, which: int) -> Array:
        first, end = int(self.registers[_FIRSTS[which]]), int(self.registers[_ENDS[which]])
        return ring[np.arange(first, end) & (len(ring) - 1)]

    @property
    def tokens(self) -> int:
        """Tokens generated so far."""
        return int(self.registers[kernel.CONTEXT_END]) - len(self.word) - 1

    @property
    def state(self) -> State:
        """The queue machine's state."""
        return self.queue_table.states.members[int(self.registers[kernel.STATE])]

    @property
    def stored(self) -> Stored[State]:
        """The parity-HIST machine's state."""
        return self.hist_table.states.members[int(self.registers[kernel.HIST])]

    @property
    def newest(self) -> WindowLabel[Stored[State]]:
        """The label of the context's newest token."""
        return self.token_table.labels.members[int(self.registers[kernel.LABEL])]

    def symbols(self, numbers: Array) -> Word:
        """Numbers as displayed symbols."""
        displayed = self.transformer.displayed
        return tuple([displayed[int(number)] for number in numbers])

    def odd_symbols(self, parity: int) -> list[str]:
        """The symbols of a parity mask."""
        alphabet = self.machine.alphabet
        return [symbol for place, symbol in enumerate(alphabet) if parity >> place & 1]

    def step_words(self, step: int) -> StepWords:
        """What one of the last steps, counted from 0, popped and appended."""
        row = int(self.trail[step % kernel.BLOCK])
        word = int(self.queue_table.rows[row + kernel.Q_WORD])
        first, second, popped = (word >> shift & kernel.BYTE for shift in (0, 8, 16))
        return StepWords(
            popped=self.machine.alphabet[popped - 1],
            appended=self.symbols(np.array([first, *([second - 1] if second else [])])),
        )

    @property
    def tape_word(self) -> Word:
        """The Turing machine's known cells."""
        alphabet = self.queue_table.turing.alphabet if self.queue_table.turing else ()
        return tuple([alphabet[int(number)] for number in self.tape])

    def next_rule(self) -> int:
        """The state to which the next rule of the Turing machine leads, -1 without one."""
        r, turing = self.registers, self.queue_table.turing
        if turing is None:
            return kernel.UNKNOWN
        read = int(self.tape[r[kernel.TURING_HEAD]])
        place = int(r[kernel.TURING_STATE]) * len(turing.symbols) + read
        return int(turing.rows[place, kernel.T_NEXT])
