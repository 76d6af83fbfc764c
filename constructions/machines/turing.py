"""Theorem 6: a queue machine that simulates a given Turing machine.

The queue and one held symbol form the cyclic word of the tape, with one separator and one head:

    held | front of the queue ... rear of the queue | back to held

    phase    a pop of                  does
    START    the separator             appends one blank, holds the separator, ARRIVE
    SCAN     a plain symbol or the     appends the held symbol, holds the popped one, SCAN
             separator
    SCAN     a marked cell             applies the rule to that cell
    ARRIVE   a plain cell              applies the rule to that cell
    ARRIVE   the separator             the head stands beyond the right end: appends (held, marked
                                       blank), holds the separator, SCAN

    rule                     appends                  holds           then
    right                    held                     written         ARRIVE
    left                     held, marked             written         SCAN
    left of the separator    (held, marked blank)     written         SCAN
    stay                     held                     written, marked SCAN
    halts, or none           (held, written or read)  -               HALT

*Constants.* Let t be the rules applied, k the cells in the cyclic word before a rule, and s the
distinct cells among the input's and those the head stood on, its final cell included. The word
holds the cells so far and, until the head reaches it, one blank to the right of the input: so
k <= s + 1, and k + 1 <= s where a move grows the word. Pops from one application to the next:

    right 1     right, growing k + 2     left k     left, growing k + 1     stay k + 1

at most s + 1, after a stay at most s + 2. The first application is pop 2, and a missing rule halts
at application t + 1. So

    queue steps  <= t (s + 2) + 2   (t (s + 1) + 2 without stay moves)
    queue length <= s + 2           (k while running, k + 1 at the end), and it never shrinks.

Source: Sliding-Window Transformers Without Positional Encodings, Theorem 6.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from constructions.machines.definitions import (
    MachineError,
    QueueMachine,
    TuringConfiguration,
    TuringMachine,
    Word,
    fresh_symbol,
    trimmed,
)


class Phase(StrEnum):
    """What the control waits for."""

    START = "start"
    SCAN = "scan"
    ARRIVE = "arrive"
    HALT = "halt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """A state of the queue machine: Turing state, the held symbol, the phase."""

    state: str
    held: str
    phase: Phase


HALT = Control(state="", held="", phase=Phase.HALT)


@dataclass(frozen=True, slots=True, kw_only=True)
class TuringQueue:
    """The queue machine of a Turing machine, and how its queue is read as a tape.

    The separator is `▷` and a marked cell is its symbol with `*` behind it; both are repeated where
    the Turing machine's own symbols would otherwise be mistaken for them.

    Source: Theorem 6.
    """

    machine: TuringMachine
    front: str = field(init=False)
    marked: Mapping[str, str] = field(init=False, repr=False, compare=False)
    unmarked: Mapping[str, str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check and derive what the fields determine."""
        cells = self.machine.alphabet
        mark = "*"
        while any(symbol + mark in cells for symbol in cells):
            mark += "*"
        marked = {symbol: symbol + mark for symbol in cells}
        unmarked = {image: symbol for symbol, image in marked.items()}
        object.__setattr__(self, "marked", MappingProxyType(marked))
        object.__setattr__(self, "unmarked", MappingProxyType(unmarked))
        object.__setattr__(self, "front", fresh_symbol("▷", (*cells, *unmarked)))

    @property
    def alphabet(self) -> Word:
        """Separator, cells, marked cells: 2 |Gamma| + 1 symbols."""
        return (self.front, *self.machine.alphabet, *self.unmarked)

    @property
    def start(self) -> Control:
        """The start state; the halting one if the Turing machine starts in a halting state."""
        if self.machine.start in self.machine.halting:
            return HALT
        return Control(state=self.machine.start, held=self.front, phase=Phase.START)

    def queue_machine(self) -> QueueMachine[Control]:
        """The simulating queue machine."""
        return QueueMachine(
            name=self.machine.name,
            alphabet=self.alphabet,
            blank=self.machine.blank,
            front=self.front,
            start=self.start,
            halt=HALT,
            rule=self.rule,
        )

    def rule(self, control: Control, symbol: str) -> tuple[Control, Word]:
        """One transition, as in the tables above.

        Raises:
            MachineError: a symbol that a run cannot meet in this state.
        """
        state, held, phase = control.state, control.held, control.phase
        blank = self.machine.blank
        if phase is Phase.SCAN:
            if symbol in self.unmarked:
                return self._applied(control, self.unmarked[symbol])
            return Control(state=state, held=symbol, phase=Phase.SCAN), (held,)
        if phase is Phase.ARRIVE and symbol == self.front:
            grown = Control(state=state, held=symbol, phase=Phase.SCAN)
            return grown, (held, self.marked[blank])
        if phase is Phase.ARRIVE and symbol in self.marked:
            return self._applied(control, symbol)
        if phase is Phase.START and symbol == self.front:
            return Control(state=state, held=symbol, phase=Phase.ARRIVE), (blank,)
        raise MachineError(
            f"TuringQueue.rule: no run of {self.machine.name} pops {symbol!r} in {control!r}; "
            "start from the separator followed by plain cells"
        )

    def _applied(self, control: Control, symbol: str) -> tuple[Control, Word]:
        held = control.held
        rule = self.machine.rows[control.state].get(symbol)
        if rule is None:
            return HALT, (held, symbol)
        write, move, state = rule
        if state in self.machine.halting:
            return HALT, (held, write)
        if move > 0:
            return Control(state=state, held=write, phase=Phase.ARRIVE), (held,)
        if move == 0:
            return Control(state=state, held=self.marked[write], phase=Phase.SCAN), (held,)
        onward = Control(state=state, held=write, phase=Phase.SCAN)
        if held == self.front:
            return onward, (held, self.marked[self.machine.blank])
        return onward, (self.marked[held],)

    def is_application(self, control: Control, symbol: str) -> bool:
        """Whether this queue step applies a rule of the Turing machine."""
        cell = self.head_cell(control, symbol)
        return cell is not None and cell in self.machine.rows[control.state]

    def head_cell(self, control: Control, symbol: str) -> str | None:
        """The symbol under the Turing machine's head, if that cell is the one to be popped."""
        if control.phase is Phase.ARRIVE:
            return None if symbol == self.front else symbol
        return self.unmarked.get(symbol)

    def decode(self, queue: Iterable[str]) -> Word:
        """The tape in a halted queue: from the separator once round, unmarked, blanks trimmed."""
        return trimmed(self._unrolled([*queue]), self.machine.blank)

    def configuration(self, control: Control, queue: Iterable[str]) -> TuringConfiguration:
        """The Turing configuration in a running queue machine's state and queue.

        Raises:
            MachineError: a halted control, or a word without exactly one separator and a head.
        """
        if control.phase is Phase.HALT:
            raise MachineError(
                "TuringQueue.configuration: the control must be running, got the halting state, "
                "which has no head; use decode"
            )
        word = [*queue] if control.phase is Phase.START else [control.held, *queue]
        place = self._head_place(control, word)
        if place < len(word) and word[place] in self.unmarked:
            word[place] = self.unmarked[word[place]]
        if word[place % len(word)] == self.front:
            word.insert(place, self.machine.blank)
        cells = self._unrolled(word)
        head = (place - word.index(self.front) - 1) % len(word)
        return TuringConfiguration(state=control.state, cells=tuple(cells), head=head)

    def _head_place(self, control: Control, word: list[str]) -> int:
        if control.phase is not Phase.SCAN:
            return 1
        for place, symbol in enumerate(word):
            if symbol in self.unmarked:
                return place
        raise MachineError(
            f"TuringQueue.configuration: one cell must carry the head, got none in {word!r}; "
            "pass the control and the queue of the same moment"
        )

    def _unrolled(self, word: list[str]) -> list[str]:
        if word.count(self.front) != 1:
            raise MachineError(
                f"TuringQueue: a cyclic word must have one separator {self.front!r}, "
                f"got {word.count(self.front)}; pass the whole queue"
            )
        place = word.index(self.front)
        return word[place + 1 :] + word[:place]


def queue_machine(machine: TuringMachine) -> QueueMachine[Control]:
    """The queue machine of Theorem 6 for a Turing machine."""
    return TuringQueue(machine=machine).queue_machine()
