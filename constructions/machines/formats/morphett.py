"""The text of Morphett's simulator: a rule a line, `state symbol new-symbol direction new-state`.

    symbol      one character; `_` is the blank, `*` as a symbol read matches any
    new symbol  the same; `*` leaves the cell as it is
    direction   `l`, `r`, or `*` (stay), in either case
    state       a word; `*` as a current state matches any, as a new one it means the same state
    `;`         begins a comment; a `!` behind a rule is a breakpoint and ignored

Of the rules that match the most specific applies: state and symbol, then state and `*`, then `*`
and symbol, then `*` and `*`. Start is state `0`; labels are case-sensitive, but a state whose name
begins with `halt` halts in any case, as in the simulator. Any character may stand on the tape, and
wildcards match it, so the symbols of an input join the alphabet as `extra_symbols`.

We count applied rules. The simulator counts one more step where no rule matches and it halts; a
state without any rule is refused here unless its name says that it halts.

Source: morphett.info/turing, "Syntax" and "Examples".
"""

from collections.abc import Iterable
from itertools import product
from typing import NamedTuple

from constructions.machines.definitions import Rule, TuringMachine
from constructions.machines.formats.machine_file import (
    listed,
    named_after,
    require_symbol,
    require_written_symbols,
    second_rule,
    unknown_state,
    unwritable,
)
from verify.errors import MachineFormatError

FORMAT = "Morphett text"
BLANK = "_"
ANY = "*"
START = "0"
HALTS = "halt"
COMMENT = ";"
BREAKPOINT = "!"
MOST_RULES = 200_000
_FIELDS = 5
_MOVES = {"l": -1, "r": 1, ANY: 0}
_DIRECTIONS = {move: direction for direction, move in _MOVES.items()}


class _Line(NamedTuple):
    """A rule as it stands in the file."""

    number: int
    state: str
    symbol: str
    write: str
    move: int
    target: str


_Lines = dict[tuple[str, str], _Line]


def read(text: str, source_name: str, extra_symbols: Iterable[str] = ()) -> TuringMachine:
    """The machine of a text; its alphabet is the blank, the symbols named, and the extra ones.

    Raises:
        MachineFormatError: the text does not follow the format; names the line.
    """
    extra = _require_extra(extra_symbols, source_name)
    lines = _lines(text, source_name)
    ruled = dict.fromkeys(state for state, _ in lines)
    _require_states(lines, ruled, source_name)
    alphabet = dict.fromkeys((BLANK, *_named(lines), *extra))
    targets = (line.target for line in lines.values())
    states = {state: _halts(state) for state in (START, *ruled, *targets) if state != ANY}
    rules = _rules(lines, [state for state in states if not states[state]], alphabet, source_name)
    return TuringMachine(
        name=named_after(source_name),
        blank=BLANK,
        alphabet=tuple(alphabet),
        states=tuple(states),
        start=START,
        halting=frozenset(state for state in states if states[state]),
        rules=rules,
    )


def write(machine: TuringMachine) -> str:
    """The text of a machine; the start becomes `0`, the blank `_`, and halting names get `halt-`.

    A halting state that no rule enters is not written.

    Raises:
        MachineFormatError: names that the format cannot write, or a start without rules.
    """
    require_written_symbols(machine, FORMAT)
    symbols = _symbol_names(machine)
    states = _state_names(machine)
    lines = [f"{COMMENT} {' '.join(machine.name.split())}"]
    lines += [
        f"{states[state]} {symbols[symbol]} {symbols[new]} {_DIRECTIONS[move]} {states[target]}"
        for state, row in machine.rows.items()
        for symbol, (new, move, target) in row.items()
    ]
    return "\n".join(lines) + "\n"


def _lines(text: str, source_name: str) -> _Lines:
    lines: _Lines = {}
    for number, content in enumerate(text.split("\n"), 1):
        fields = content.partition(COMMENT)[0].split()
        if fields:
            where = f"{source_name}:{number}"
            line = _line(fields, number, where)
            place = (line.state, line.symbol)
            if place in lines:
                raise second_rule(where, *place, f"line {lines[place].number}'s")
            lines[place] = line
    if not lines:
        raise MachineFormatError(
            f"{source_name}:1: at least one rule is required, got none; write a rule a line, "
            "as in 0 1 1 r 0"
        )
    return lines


def _line(fields: list[str], number: int, where: str) -> _Line:
    if len(fields) == _FIELDS + 1 and fields[-1] == BREAKPOINT:
        fields = fields[:-1]
    if len(fields) != _FIELDS:
        raise MachineFormatError(
            f"{where}: a rule must be state, symbol, new symbol, direction and new state, got "
            f"{len(fields)} words; write it as 0 1 1 r 0, comments behind {COMMENT}"
        )
    state, symbol, new, direction, target = fields
    for what, name in (("symbol", symbol), ("new symbol", new)):
        if len(name) != 1:
            raise MachineFormatError(
                f"{where}: a {what} must be one character, got {name!r}; rename it"
            )
    if direction.lower() not in _MOVES:
        raise MachineFormatError(
            f"{where}: a direction must be l, r or {ANY}, got {direction!r}; correct it"
        )
    return _Line(number, state, symbol, new, _MOVES[direction.lower()], target)


def _halts(state: str) -> bool:
    return state.lower().startswith(HALTS)


def _named(lines: _Lines) -> list[str]:
    both = (symbol for line in lines.values() for symbol in (line.symbol, line.write))
    return [symbol for symbol in both if symbol != ANY]


def _require_extra(symbols: Iterable[str], source_name: str) -> list[str]:
    kept = list(symbols)
    for symbol in kept:
        if len(symbol) != 1 or symbol.isspace() or symbol == ANY:
            raise MachineFormatError(
                f"{source_name}: an input must be of single characters other than {ANY} and white "
                f"space, got {symbol!r}; the head begins on the first symbol and {BLANK} is the "
                "blank"
            )
    return kept


def _require_states(lines: _Lines, ruled: dict[str, None], source_name: str) -> None:
    if ANY in ruled:
        return
    if START not in ruled:
        raise MachineFormatError(
            f"{source_name}:{next(iter(lines.values())).number}: the start state {START!r} must "
            f"have a rule, got rules of {listed(ruled)}; call the first state {START}"
        )
    for line in lines.values():
        if line.target not in ruled and line.target != ANY and not _halts(line.target):
            where = f"{source_name}:{line.number}"
            raise unknown_state(where, f"state {line.state!r}", line.target, ruled)


def _rules(
    lines: _Lines, running: list[str], alphabet: dict[str, None], source_name: str
) -> dict[tuple[str, str], Rule]:
    places: Iterable[tuple[str, str]] = [line for line in lines if not _halts(line[0])]
    if any(ANY in place for place in lines):
        if len(running) * len(alphabet) > MOST_RULES:
            raise MachineFormatError(
                f"{source_name}:1: with wildcards at most {MOST_RULES:,} pairs of a state and a "
                f"symbol are possible, got {len(running) * len(alphabet):,}; split the machine"
            )
        places = product(running, alphabet)
    rules: dict[tuple[str, str], Rule] = {}
    for state, symbol in places:
        matching = ((state, symbol), (state, ANY), (ANY, symbol), (ANY, ANY))
        line = next((lines[place] for place in matching if place in lines), None)
        if line is not None:
            rules[state, symbol] = Rule(
                write=symbol if line.write == ANY else line.write,
                move=line.move,
                next_state=state if line.target == ANY else line.target,
            )
    return rules


def _symbol_names(machine: TuringMachine) -> dict[str, str]:
    names = {symbol: symbol for symbol in machine.alphabet} | {machine.blank: BLANK}
    for name in names.values():
        require_symbol(machine.name, FORMAT, name, forbidden=ANY + COMMENT)
    if len(set(names.values())) < len(names):
        raise unwritable(
            machine.name,
            FORMAT,
            f"that {BLANK!r} is the blank",
            f"the blank {machine.blank!r} beside another symbol {BLANK!r}",
            "rename that symbol",
        )
    return names


def _state_names(machine: TuringMachine) -> dict[str, str]:
    """The format's name of each state; a state without rules halts, so its name says so."""
    names = {
        state: state if row or _halts(state) else f"{HALTS}-{state}"
        for state, row in machine.rows.items()
    } | {machine.start: START}
    for state, name in names.items():
        runs = bool(machine.rows[state])
        word = name.split() == [name] and name.isprintable() and COMMENT not in name
        if not word or name == ANY or runs == _halts(name):
            raise unwritable(
                machine.name,
                FORMAT,
                f"states that are single words without {COMMENT}, a start with rules, and names "
                f"with {HALTS} for states without",
                repr(state),
                "rename it",
            )
    if len(set(names.values())) < len(names):
        raise unwritable(
            machine.name,
            FORMAT,
            f"the start to be {START!r} and halting states to begin with {HALTS!r}",
            f"states {', '.join(machine.states)}, two of which would be called alike",
            "rename them",
        )
    return names
