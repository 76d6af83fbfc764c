"""The YAML of turingmachine.io: `blank`, `start state`, `table`; `input`, `synonyms`, `name`.

    table         {state: {symbol: instruction}}; a state with no rules halts
    symbol        one character, or a list of them
    instruction   `L`, `R`, a synonym, or {write: symbol, L or R: next state}; what is missing stays
    synonyms      {name: instruction}, not made of synonyms
    saved files   the same text under `source code: |`, beside `name` and `positions`

Symbols and names are the characters that stand in the file; `yaml_nodes` says where they cannot be.
There is no stay move. A missing rule halts before a rule is applied, and the rule that enters a
state without rules counts.

Source: turingmachine.io, its help and examples.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from yaml import Node, ScalarNode

from constructions.machines.definitions import Rule, TuringMachine, Word
from constructions.machines.formats.machine_file import (
    MachineFile,
    listed,
    named_after,
    require_state,
    require_symbol,
    require_written_symbols,
    second_rule,
    unknown_state,
    unwritable,
)
from constructions.machines.formats.yaml_nodes import LITERAL, Document, dump, is_missing, shown

FORMAT = "turingmachine.io's YAML"
CODE = "source code"
_REQUIRED = ("blank", "start state", "table")
_OPTIONAL = ("input", "synonyms", "name", "positions")
_WRITE = "write"
_MOVES = {"L": -1, "R": 1}
_DIRECTIONS = {move: direction for direction, move in _MOVES.items()}


class _Instruction(NamedTuple):
    """What to write, the move, and the next state; None keeps symbol or state."""

    write: str | None
    move: int
    target: str | None


def read(text: str, source_name: str) -> MachineFile:
    """The machine of a text and its input.

    Raises:
        MachineFormatError: the text does not follow the format; names the line.
    """
    document, name = _source(Document(text, source_name))
    fields = document.fields(document.root, "the machine", _REQUIRED, _OPTIONAL)
    table = _Table(document, fields)
    rules = table.rules()
    blank = document.symbol(fields["blank"], "the blank")
    written = (rule.write for rule in rules.values())
    alphabet = tuple(dict.fromkeys((blank, *(symbol for _, symbol in rules), *written)))
    start = table.state(fields["start state"], "'start state'")
    ruled = {state for state, _ in rules}
    word = document.word(fields.get("input"), alphabet)
    if "name" in fields:
        name = document.text(fields["name"], "the name")
    machine = TuringMachine(
        name=name or named_after(source_name),
        blank=blank,
        alphabet=alphabet,
        states=tuple(table.states),
        start=start,
        halting=frozenset(table.states.keys() - ruled),
        rules=rules,
    )
    return MachineFile(machine=machine, word=word)


def write(machine: TuringMachine, word: Word = ()) -> str:
    """The text of a machine and its input.

    Raises:
        MachineFormatError: a stay move, or names that the format cannot write.
    """
    require_written_symbols(machine, FORMAT)
    for symbol in machine.alphabet:
        require_symbol(machine.name, FORMAT, symbol, space=True)
    for state in machine.states:
        require_state(machine.name, FORMAT, state)
    document: dict[str, Any] = {"name": machine.name, "blank": machine.blank}
    if word:
        document["input"] = "".join(word)
    document["start state"] = machine.start
    document["table"] = {
        state: {symbol: _written(machine.name, state, symbol, rule) for symbol, rule in row.items()}
        for state, row in machine.rows.items()
    }
    return dump(document)


def _source(document: Document) -> tuple[Document, str]:
    """The text that describes the machine, out of a saved file if it is one, and a name."""
    keys = document.entries(document.root, "the machine")
    if CODE not in (key.value for key, _ in keys):
        return document, ""
    saved = document.fields(document.root, "a saved file", (CODE,), ("name", "positions"))
    code = saved[CODE]
    if not isinstance(code, ScalarNode) or code.style != LITERAL:
        raise document.error(
            code, f"{CODE!r} must be a block of text as it is saved; begin it with {LITERAL}"
        )
    name = document.text(saved["name"], "the name") if "name" in saved else ""
    inner = Document(code.value, document.source_name, document.line(code) + 1)
    return inner, name


class _Table:
    """The transition table: its states, their rules, and the synonyms that these may use."""

    __slots__ = ("_document", "_rows", "_synonyms", "states")

    def __init__(self, document: Document, fields: Mapping[str, Node]) -> None:
        self._document = document
        self._rows: dict[str, Node] = {
            document.text(key, "a state"): row
            for key, row in document.entries(fields["table"], "the table")
        }
        self.states = dict.fromkeys(self._rows)
        self._synonyms: dict[str, _Instruction] = {}
        if "synonyms" in fields:
            entries = document.entries(fields["synonyms"], "the synonyms")
            named = {document.text(key, "a synonym"): node for key, node in entries}
            self._synonyms = {
                name: self._instruction(node, f"synonym {name!r}", {})
                for name, node in named.items()
            }

    def state(self, node: Node, subject: str) -> str:
        """The state that `subject` names in this node, which the table must declare."""
        name = self._document.text(node, "a state")
        if name not in self.states:
            raise unknown_state(self._document.where(node), subject, name, self.states)
        return name

    def rules(self) -> dict[tuple[str, str], Rule]:
        """The rules, one for each state and symbol."""
        document = self._document
        rules: dict[tuple[str, str], Rule] = {}
        lines: dict[tuple[str, str], int] = {}
        for state, row in self._rows.items():
            subject = f"state {state!r}"
            for key, node in document.entries(row, subject):
                step = self._instruction(node, subject, self._synonyms)
                for symbol in document.symbols(key, f"a symbol of {subject}"):
                    place = (state, symbol)
                    if place in rules:
                        first = f"line {lines[place]}'s"
                        raise second_rule(document.where(key), state, symbol, first)
                    lines[place] = document.line(key)
                    rules[place] = Rule(
                        write=symbol if step.write is None else step.write,
                        move=step.move,
                        next_state=state if step.target is None else step.target,
                    )
        return rules

    def _instruction(
        self, node: Node, subject: str, synonyms: Mapping[str, _Instruction]
    ) -> _Instruction:
        document = self._document
        if isinstance(node, ScalarNode):
            if node.value in _MOVES:
                return _Instruction(None, _MOVES[node.value], None)
            if node.value in synonyms:
                return synonyms[node.value]
            known = f"the synonyms {listed(synonyms)}" if synonyms else "a synonym (there is none)"
            raise document.error(
                node,
                f"{subject}: an instruction must be L, R, {known}, or as in "
                f"{{write: 1, R: state}}, got {shown(node)}; correct it",
            )
        parts = document.fields(node, f"an instruction of {subject}", (), (_WRITE, *_MOVES))
        moves = [direction for direction in _MOVES if direction in parts]
        if len(moves) != 1:
            raise document.error(
                node,
                f"{subject}: an instruction must have one move, L or R, got {len(moves)}; "
                "the format has no stay move",
            )
        onward = parts[moves[0]]
        target = None if is_missing(onward) else self.state(onward, subject)
        new = document.symbol(parts[_WRITE], "what is written") if _WRITE in parts else None
        return _Instruction(new, _MOVES[moves[0]], target)


def _written(
    name: str, state: str, symbol: str, rule: tuple[str, int, str]
) -> str | dict[str, str]:
    new, move, target = rule
    if not move:
        raise unwritable(
            name,
            FORMAT,
            "moves L and R",
            f"a stay move in state {state!r} on {symbol!r}",
            "move there and back",
        )
    if (new, target) == (symbol, state):
        return _DIRECTIONS[move]
    writes = {} if new == symbol else {_WRITE: new}
    return writes | {_DIRECTIONS[move]: target}
