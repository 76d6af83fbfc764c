"""The text of bbchallenge.org, as `1RB1LB_1LA1RZ`: a row for each state, A first.

    machine      row ('_' row)*, all of one length, at most 25 rows and 10 transitions a row
    transition   `---` (undefined: halts before a rule), or write digit, L or R, next state
    next state   a row's letter; any later letter halts
    suffix       optional ` Halt STEPS SCORE`, as in lists of records

Start A, blank 0. Records count an undefined entry as one more step that writes 1; we count rules.

Source: bbchallenge.org, "Method", the standard text of a Turing machine.
"""

import re
from collections.abc import Iterator
from itertools import product

from constructions.machines.definitions import Rule, TuringMachine
from constructions.machines.formats.machine_file import unwritable
from verify.errors import MachineFormatError

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
DIGITS = "0123456789"
MOST_STATES = 25
UNDEFINED = "---"
_WIDTH = len(UNDEFINED)
_SUFFIX = re.compile(r" Halt [0-9]+ [0-9]+")
_MOVES = {"L": -1, "R": 1}


def read(text: str, source_name: str = "") -> TuringMachine:
    """The machine in a text of one line; without `source_name` errors speak of the machine string.

    Raises:
        MachineFormatError: the text does not follow the format; names the line, row and symbol.
    """
    where, line = _only_line(text, source_name)
    body, space, suffix = line.partition(" ")
    if space and not _SUFFIX.fullmatch(space + suffix):
        raise MachineFormatError(
            f"{where}: behind the machine only ' Halt STEPS SCORE' may stand, got {suffix!r}; "
            "remove it"
        )
    rows = body.split("_")
    _require_shape(where, rows)
    symbols = len(rows[0]) // _WIDTH
    rules: dict[tuple[str, str], Rule] = {}
    for state, row in zip(LETTERS, rows, strict=False):
        for place, symbol in enumerate(DIGITS[:symbols]):
            entry = row[_WIDTH * place : _WIDTH * (place + 1)]
            if entry != UNDEFINED:
                _require_entry(f"{where}: row {state}, symbol {symbol}", entry, symbols)
                write, move, target = entry
                rules[state, symbol] = Rule(write=write, move=_MOVES[move], next_state=target)
    return _assembled(body, LETTERS[: len(rows)], DIGITS[:symbols], rules)


def write(machine: TuringMachine) -> str:
    """The text of a machine whose names already are those of the format.

    Raises:
        MachineFormatError: other names, a stay move, another start or blank.
    """
    running = tuple(state for state in machine.states if state not in machine.halting)
    later = LETTERS[len(running) :]
    fits = (
        1 <= len(running) <= MOST_STATES
        and running == tuple(LETTERS[: len(running)])
        and len(machine.alphabet) <= len(DIGITS)
        and machine.alphabet == tuple(DIGITS[: len(machine.alphabet)])
        and all(len(state) == 1 and state in later for state in machine.halting)
        and (machine.start, machine.blank) == (LETTERS[0], DIGITS[0])
        and all(rule.move for rule in machine.rules.values())
    )
    if not fits:
        raise MachineFormatError(
            f"machine {machine.name!r}: bbchallenge text requires states A, B, .. in order, later "
            f"letters as halting states, symbols 0, 1, .., start A, blank 0 and moves L or R, got "
            f"states {', '.join(machine.states)} and symbols {', '.join(machine.alphabet)}; "
            "rename them, or use another format"
        )
    return "_".join(
        "".join(_written(machine.rules.get((state, symbol))) for symbol in machine.alphabet)
        for state in running
    )


def renamed(machine: TuringMachine) -> TuringMachine:
    """The machine under the format's names: start A, then B, ..; halting Z; blank 0, then 1, ..

    Raises:
        MachineFormatError: a stay move, a start that halts, several halting states, or too many
            states or symbols.
    """
    stopped = {machine.start, *machine.halting}
    running = (machine.start, *(state for state in machine.states if state not in stopped))
    entered = {target for row in machine.rows.values() for _, _, target in row.values()}
    halting = sorted(entered & machine.halting)
    _require_renamable(machine, len(running), halting)
    symbols = (machine.blank, *(symbol for symbol in machine.alphabet if symbol != machine.blank))
    digit = dict(zip(symbols, DIGITS, strict=False))
    letter = dict(zip(running, LETTERS, strict=False)) | dict.fromkeys(halting, LETTERS[-1])
    rules = {
        (letter[state], digit[symbol]): Rule(
            write=digit[write], move=move, next_state=letter[target]
        )
        for state in running
        for symbol, (write, move, target) in machine.rows[state].items()
    }
    return _assembled(machine.name, LETTERS[: len(running)], DIGITS[: len(machine.alphabet)], rules)


def every_machine(states: int, symbols: int) -> Iterator[TuringMachine]:
    """All tables in lexical order of their texts: each entry `---` or write, move, next (or Z).

    1 + 2 symbols (states + 1) choices an entry, so 13^4 machines for two states and two symbols.

    Raises:
        MachineFormatError: sizes outside the format.
    """
    if not (1 <= states <= MOST_STATES and 1 <= symbols <= len(DIGITS)):
        raise MachineFormatError(
            f"every_machine: 1 to {MOST_STATES} states and 1 to {len(DIGITS)} symbols are "
            f"possible, got {states} and {symbols}; choose sizes in this range"
        )
    digits, letters = DIGITS[:symbols], LETTERS[:states]
    choices: dict[str, Rule | None] = {UNDEFINED: None}
    for digit, move, target in product(digits, "LR", letters + LETTERS[-1]):
        choices[digit + move + target] = Rule(write=digit, move=_MOVES[move], next_state=target)
    places = [(state, symbol) for state in letters for symbol in digits]
    for entries in product(choices, repeat=len(places)):
        rules = {
            place: rule
            for place, entry in zip(places, entries, strict=True)
            if (rule := choices[entry]) is not None
        }
        rows = ("".join(entries[row : row + symbols]) for row in range(0, len(entries), symbols))
        yield _assembled("_".join(rows), letters, digits, rules)


def _only_line(text: str, source_name: str) -> tuple[str, str]:
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1)]
    filled = [(number, line) for number, line in lines if line]
    if len(filled) != 1:
        raise MachineFormatError(
            f"{source_name or 'machine string'}: one line with one machine is required, got "
            f"{len(filled)} lines; keep a single machine"
        )
    number, line = filled[0]
    return (f"{source_name}:{number}" if source_name else "machine string"), line


def _require_shape(where: str, rows: list[str]) -> None:
    if len(rows) > MOST_STATES:
        raise MachineFormatError(
            f"{where}: at most {MOST_STATES} rows are possible, got {len(rows)}; "
            "a letter must be left over for the halting state"
        )
    length = len(rows[0])
    for state, row in zip(LETTERS, rows, strict=False):
        if not row or len(row) % _WIDTH or len(row) > _WIDTH * len(DIGITS):
            raise MachineFormatError(
                f"{where}: row {state} must be 1 to {len(DIGITS)} transitions of {_WIDTH} "
                f"characters, got {row!r}; write undefined transitions as {UNDEFINED}"
            )
        if len(row) != length:
            raise MachineFormatError(
                f"{where}: row {state} must have {length // _WIDTH} transitions as row A has, "
                f"got {len(row) // _WIDTH}; write undefined transitions as {UNDEFINED}"
            )


def _require_entry(where: str, entry: str, symbols: int) -> None:
    digit, move, target = entry
    if digit not in DIGITS[:symbols] or move not in _MOVES or target not in LETTERS:
        raise MachineFormatError(
            f"{where}: a transition must be {UNDEFINED} or a digit below {symbols}, L or R, and a "
            f"state A to Z, got {entry!r}; correct it"
        )


def _assembled(
    name: str, running: str, digits: str, rules: dict[tuple[str, str], Rule]
) -> TuringMachine:
    halting = sorted({rule.next_state for rule in rules.values()} - set(running))
    return TuringMachine(
        name=name,
        blank=DIGITS[0],
        alphabet=tuple(digits),
        states=(*running, *halting),
        start=LETTERS[0],
        halting=frozenset(halting),
        rules=rules,
    )


def _require_renamable(machine: TuringMachine, running: int, halting: list[str]) -> None:
    symbols = len(machine.alphabet)
    stays = any(not move for row in machine.rows.values() for _, move, _ in row.values())
    for broken, required, got, remedy in (
        (machine.start in machine.halting, "a start that runs", "one that halts", "begin earlier"),
        (stays, "moves L and R", "a stay move", "make two moves of it"),
        (len(halting) > 1, "one halting state", ", ".join(halting), "merge them"),
        (running > MOST_STATES, f"at most {MOST_STATES} states", f"{running}", "merge some"),
        (symbols > len(DIGITS), f"at most {len(DIGITS)} symbols", f"{symbols}", "encode them"),
    ):
        if broken:
            raise unwritable(machine.name, "bbchallenge text", required, got, remedy)


def _written(rule: Rule | None) -> str:
    if rule is None:
        return UNDEFINED
    return f"{rule.write}{'L' if rule.move < 0 else 'R'}{rule.next_state}"
