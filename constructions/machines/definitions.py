"""The machines of the paper as values; `runs` steps them in place.

    value               state       a step reads                           runner
    TuringMachine       str         the symbol under the head              TuringRun
    QueueMachine        hashable    the front symbol                       QueueRun
    HistMachine         hashable    the histogram of the window            HistRun
    ParityHistMachine   hashable    the histogram mod 2, as a bit mask     ParityHistRun

Control sets may be exponential, so a transition is computed by the value's `rule` when it is first
met and then kept: a value's answers never change. Symbols are strings, words are tuples of them. A
parity is a bit mask whose bit i belongs to the i-th symbol of the alphabet; `parity_vector` and
`parity_mask_of` convert. A broken machine for a test is `dataclasses.replace(machine, rule=...)`.

Source: Sliding-Window Transformers Without Positional Encodings, Sections 3 and 4.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Generic, NamedTuple, TypeVar

from verify.errors import CertiformerError

State = TypeVar("State", bound=Hashable)
Label = TypeVar("Label", bound=Hashable)
Word = tuple[str, ...]


class MachineError(CertiformerError):
    """A machine that is stated wrongly, stepped after it halted, or off its invariant."""


def fresh_symbol(base: str, taken: Iterable[str]) -> str:
    """`base`, repeated as often as needed to differ from every taken symbol."""
    used = frozenset(taken)
    symbol = base
    while symbol in used:
        symbol += base
    return symbol


def parity_mask(alphabet: Sequence[str], word: Iterable[str]) -> int:
    """Parity of a word as a bit mask: bit i is the number of alphabet[i] in it, mod 2."""
    bits = {symbol: 1 << place for place, symbol in enumerate(alphabet)}
    mask = 0
    for symbol in word:
        mask ^= bits[symbol]
    return mask


def parity_vector(mask: int, size: int) -> tuple[int, ...]:
    """The bits of a mask as a vector of `size` entries 0 and 1."""
    return tuple(mask >> place & 1 for place in range(size))


def parity_mask_of(vector: Sequence[int]) -> int:
    """The mask whose bits are the entries of `vector`, each mod 2."""
    return sum((entry & 1) << place for place, entry in enumerate(vector))


def require_word(alphabet: Sequence[str], word: Iterable[str], where: str) -> Word:
    """The word itself, once all its symbols are known.

    Raises:
        MachineError: a symbol outside the alphabet.
    """
    kept = tuple(word)
    known = frozenset(alphabet)
    for place, symbol in enumerate(kept):
        if symbol not in known:
            raise MachineError(
                f"{where}: symbol {place} must be one of {', '.join(alphabet)}, got {symbol!r}; "
                "use the machine's own symbols"
            )
    return kept


def require_appended(alphabet: Sequence[str], word: Word, where: str) -> Word:
    """The word itself, once it has length one or two and known symbols.

    Raises:
        MachineError: another length, or a symbol outside the alphabet.
    """
    if len(word) not in {1, 2}:
        raise MachineError(
            f"{where}: a step must append one or two symbols, got {len(word)}; "
            "split or pad the rule"
        )
    return require_word(alphabet, word, where)


def halted_error(kind: str, state: object, steps: int) -> MachineError:
    """The error of a step that was asked of a halted machine."""
    return MachineError(
        f"{kind}.step: the machine must be running, but it halted in {state!r} after "
        f"{steps} steps; test `halted` before a step"
    )


# Turing machines


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule: the symbol written, the move -1, 0 or +1, and the state entered."""

    write: str
    move: int
    next_state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TuringMachine:
    """A machine on one tape, infinite both ways; halting states are among `states`.

    It halts on entering a halting state (that rule counts), and before a rule where none is given.

    Raises:
        MachineError: an unknown or repeated name, or a move other than -1, 0, +1.

    Source: Theorem 6 (the machine that is simulated).
    """

    name: str
    blank: str
    alphabet: Word
    states: tuple[str, ...]
    start: str
    halting: frozenset[str]
    rules: Mapping[tuple[str, str], Rule] = field(hash=False)
    rows: Mapping[str, Mapping[str, tuple[str, int, str]]] = field(
        init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        """Check and derive what the fields determine."""
        object.__setattr__(self, "rules", MappingProxyType(dict(self.rules)))
        self._require_distinct("alphabet", self.alphabet)
        self._require_distinct("states", self.states)
        alphabet, states = dict.fromkeys(self.alphabet), dict.fromkeys(self.states)
        self._require_known("blank", self.blank, alphabet)
        self._require_known("start", self.start, states)
        for state in sorted(self.halting):
            self._require_known("halting", state, states)
        rows: dict[str, dict[str, tuple[str, int, str]]] = {state: {} for state in self.states}
        for (state, symbol), rule in self.rules.items():
            where = f"rules[{state!r}, {symbol!r}]"
            self._require_known(where, state, states)
            self._require_known(where, symbol, alphabet)
            self._require_known(f"{where}.write", rule.write, alphabet)
            self._require_known(f"{where}.next_state", rule.next_state, states)
            if rule.move not in {-1, 0, 1}:
                raise MachineError(
                    f"TuringMachine.{where}.move must be -1, 0 or 1, got {rule.move}; "
                    "split longer moves into several rules"
                )
            if state not in self.halting:
                rows[state][symbol] = (rule.write, rule.move, rule.next_state)
        object.__setattr__(self, "rows", rows)

    def _require_distinct(self, where: str, names: tuple[str, ...]) -> None:
        if not names or "" in names or len(set(names)) != len(names):
            raise MachineError(
                f"TuringMachine.{where} must be distinct names, at least one and none empty, "
                f"got {names!r}; name each once"
            )

    def _require_known(self, where: str, name: str, names: Collection[str]) -> None:
        if name not in names:
            raise MachineError(
                f"TuringMachine.{where} must be one of {', '.join(names)}, got {name!r}; declare it"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class TuringConfiguration:
    """State, a finite stretch of cells (blank outside) and the head's index in it."""

    state: str
    cells: Word
    head: int


def trimmed(cells: Sequence[str], blank: str) -> Word:
    """The cells without the blanks at both ends."""
    first, last = 0, len(cells)
    while first < last and cells[first] == blank:
        first += 1
    while first < last and cells[last - 1] == blank:
        last -= 1
    return tuple(cells[first:last])


# Queue machines


class QueueStep(NamedTuple, Generic[State]):
    """What one transition does, with the next state's row of transitions at hand."""

    state: State
    row: "dict[str, QueueStep[State]]"
    halting: bool
    appended: Word


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueMachine(Generic[State]):
    """A queue automaton (Post machine): remove the front symbol, append one or two at the rear.

        rule(state, symbol) -> (next state, appended word)

    The queue begins with `front`, followed by the input.

    Source: Section 3.1.
    """

    name: str
    alphabet: Word
    blank: str
    front: str
    start: State
    halt: State
    rule: Callable[[State, str], tuple[State, Word]]
    _rows: dict[State, tuple[State, dict[str, QueueStep[State]]]] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )

    def __post_init__(self) -> None:
        """Check and derive what the fields determine."""
        for where, symbol in (("blank", self.blank), ("front", self.front)):
            require_word(self.alphabet, (symbol,), f"QueueMachine.{where}")

    def row(self, state: State) -> tuple[State, dict[str, QueueStep[State]]]:
        """The one object kept for this state, and its transitions met so far."""
        kept = self._rows.get(state)
        if kept is None:
            kept = self._rows[state] = (state, {})
        return kept

    def transition(self, state: State, symbol: str) -> QueueStep[State]:
        """The transition of a running state on a front symbol.

        Raises:
            MachineError: the state has halted, or the rule appends what it may not.
        """
        if state == self.halt:
            raise halted_error("QueueMachine", state, 0)
        row = self.row(state)[1]
        step = row.get(symbol)
        if step is None:
            found, word = self.rule(state, symbol)
            appended = require_appended(self.alphabet, word, f"QueueMachine {self.name}: {state!r}")
            target, onward = self.row(found)
            step = row[symbol] = QueueStep(target, onward, target == self.halt, appended)
        return step


def tabulated(
    table: Mapping[State, Mapping[str, tuple[State, Word]]],
) -> Callable[[State, str], tuple[State, Word]]:
    """The rule function of a finite table {state: {symbol: (next state, appended word)}}."""

    def rule(state: State, symbol: str) -> tuple[State, Word]:
        try:
            return table[state][symbol]
        except KeyError:
            raise MachineError(
                f"queue table: state {state!r} must have a rule for {symbol!r}, got none; add it"
            ) from None

    return rule


# HIST machines


@dataclass(frozen=True, slots=True, kw_only=True)
class HistMachine(Generic[State]):
    """A machine that sees its window only through the histogram of its symbols.

        rule(state, counts) -> (next state, appended word), counts in the order of `alphabet`

    A step appends one or two symbols and then drops the oldest one. `is_halting` stands for the
    paper's single halting state: Theorem 7 needs several, since a halting state keeps a parity.

    Source: Section 4.
    """

    name: str
    alphabet: Word
    start: State
    is_halting: Callable[[State], bool]
    rule: Callable[[State, tuple[int, ...]], tuple[State, Word]]


class ParityStep(NamedTuple, Generic[State]):
    """What one transition does; `change` is the parity of the appended word."""

    state: State
    row: "dict[int, ParityStep[State]]"
    halting: bool
    appended: Word
    change: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ParityHistMachine(Generic[State]):
    """A HIST machine whose rule reads the histogram mod 2 only.

        rule(state, parity mask) -> (next state, appended word)

    Source: Section 4, the definition before Theorem 7.
    """

    name: str
    alphabet: Word
    start: State
    is_halting: Callable[[State], bool]
    rule: Callable[[State, int], tuple[State, Word]]
    _rows: dict[State, tuple[State, dict[int, ParityStep[State]]]] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )

    def row(self, state: State) -> tuple[State, dict[int, ParityStep[State]]]:
        """The one object kept for this state, and its transitions met so far."""
        kept = self._rows.get(state)
        if kept is None:
            kept = self._rows[state] = (state, {})
        return kept

    def transition(self, state: State, parity: int) -> ParityStep[State]:
        """The transition of a running state on a parity mask.

        Raises:
            MachineError: the state has halted, or the rule appends what it may not.
        """
        if self.is_halting(state):
            raise halted_error("ParityHistMachine", state, 0)
        row = self.row(state)[1]
        step = row.get(parity)
        if step is None:
            found, word = self.rule(state, parity)
            where = f"ParityHistMachine {self.name}: {state!r}"
            appended = require_appended(self.alphabet, word, where)
            target, onward = self.row(found)
            change = parity_mask(self.alphabet, appended)
            halting = self.is_halting(target)
            step = row[parity] = ParityStep(target, onward, halting, appended, change)
        return step

    def transition_on_vector(self, state: State, parity: Sequence[int]) -> tuple[State, Word]:
        """The paper's transition: parity as a vector of 0 and 1 in the order of `alphabet`."""
        step = self.transition(state, parity_mask_of(parity))
        return step.state, step.appended

    def as_hist(self) -> HistMachine[State]:
        """The same machine as a general HIST machine, whose rule reads counts mod 2."""
        return HistMachine(
            name=self.name,
            alphabet=self.alphabet,
            start=self.start,
            is_halting=self.is_halting,
            rule=self.transition_on_vector,
        )


# Contexts


@dataclass(frozen=True, slots=True, kw_only=True)
class Token(Generic[Label]):
    """A vocabulary token: displayed symbol, control label, update bit (1 grows the context).

    Source: Section 3.2, the adaptive context window.
    """

    displayed: str
    label: Label
    update: int


def slide(context: tuple[Token[Label], ...], token: Token[Label]) -> tuple[Token[Label], ...]:
    """The next context: C w if the update bit of w is 1, tail(C) w if it is 0.

    Source: Section 3.2.
    """
    return (*context, token) if token.update else (*context[1:], token)


def sem(context: Iterable[Token[Label]], marker: str) -> Word:
    """The displayed symbols in order, markers left out: the simulated window.

    Source: Section 5, the paragraph on sem(C).
    """
    return tuple([token.displayed for token in context if token.displayed != marker])


def markers(context: Iterable[Token[Label]], marker: str) -> int:
    """How many tokens of the context display the marker."""
    return sum(token.displayed == marker for token in context)
