"""Queue machines as YAML, in files that end in `.queue.yaml`; a format of this project.

    alphabet      a list of symbols, or one text of them; a symbol is one character
    blank         a symbol
    front         the symbol that stands before the input
    start state   a state
    halt state    the state that has no rules
    rules         {state: {symbol: [next state, "ab"]}}, one or two appended symbols
    input         a text of symbols, optional

Every other state has one rule for each symbol; a list of symbols may share it. Queue steps are
counted, the one that enters the halt state included.

Source: Sliding-Window Transformers Without Positional Encodings, Section 3.1.
"""

from typing import Any

from yaml import Node, ScalarNode

from constructions.machines.definitions import Word
from constructions.machines.formats.machine_file import (
    MachineFile,
    QueueTable,
    listed,
    named_after,
    require_state,
    require_symbol,
    second_rule,
    unknown_state,
)
from constructions.machines.formats.yaml_nodes import Document, dump

FORMAT = "a queue machine's YAML"
SUFFIXES = (".queue.yaml", ".queue.yml")
_REQUIRED = ("alphabet", "blank", "front", "start state", "halt state", "rules")
_MOST_APPENDED = 2
_PARTS = 2

_Row = dict[str, tuple[str, Word]]
_Names = dict[str, None]


def read(text: str, source_name: str) -> MachineFile:
    """The queue machine of a text and its input.

    Raises:
        MachineFormatError: the text does not follow the format; names the line.
    """
    document = Document(text, source_name)
    fields = document.fields(document.root, "the machine", _REQUIRED, ("input", "name"))
    alphabet = _alphabet(document, fields["alphabet"])
    entries = document.entries(fields["rules"], "the rules")
    rows = {document.text(key, "a state"): (key, row) for key, row in entries}
    halt = document.text(fields["halt state"], "the halt state")
    if halt in rows:
        raise document.error(
            rows[halt][0], f"the halt state must have no rules, got rules of {halt!r}; remove them"
        )
    states = dict.fromkeys((*rows, halt))
    start = _state(document, fields["start state"], "'start state'", states)
    rules: dict[str, _Row] = {}
    for state, (key, row) in rows.items():
        rules[state] = _row(document, row, state, states, alphabet)
        missing = next((symbol for symbol in alphabet if symbol not in rules[state]), None)
        if missing is not None:
            raise document.error(
                key,
                f"state {state!r} must have a rule for every symbol, got none for {missing!r}; "
                "add it, or name it in a list of symbols that share a rule",
            )
    named = "name" in fields
    table = QueueTable(
        name=document.text(fields["name"], "the name") if named else named_after(source_name),
        alphabet=tuple(alphabet),
        blank=_known(document, fields["blank"], "the blank", alphabet),
        front=_known(document, fields["front"], "the front symbol", alphabet),
        start=start,
        halt=halt,
        rules=rules,
    )
    return MachineFile(machine=table, word=document.word(fields.get("input"), alphabet))


def write(table: QueueTable, word: Word = ()) -> str:
    """The text of a queue machine and its input.

    Raises:
        MachineFormatError: names that the format cannot write.
    """
    for symbol in table.alphabet:
        require_symbol(table.name, FORMAT, symbol, space=True)
    for state in (*table.rules, table.halt):
        require_state(table.name, FORMAT, state)
    document: dict[str, Any] = {
        "name": table.name,
        "alphabet": [*table.alphabet],
        "blank": table.blank,
        "front": table.front,
        "start state": table.start,
        "halt state": table.halt,
    }
    if word:
        document["input"] = "".join(word)
    document["rules"] = {
        state: {symbol: [target, "".join(appended)] for symbol, (target, appended) in row.items()}
        for state, row in table.rules.items()
    }
    return dump(document)


def _alphabet(document: Document, node: Node) -> _Names:
    if isinstance(node, ScalarNode):
        symbols = tuple(document.text(node, "the alphabet"))
    else:
        symbols = document.symbols(node, "a symbol of the alphabet")
    if len(set(symbols)) < len(symbols):
        raise document.error(
            node, f"the alphabet must have each symbol once, got {' '.join(symbols)}; drop one"
        )
    return dict.fromkeys(symbols)


def _known(document: Document, node: Node, what: str, alphabet: _Names) -> str:
    symbol = document.symbol(node, what)
    if symbol not in alphabet:
        raise document.error(
            node,
            f"{what} must be one of {listed(alphabet)}, got {symbol!r}; add it to the alphabet",
        )
    return symbol


def _state(document: Document, node: Node, subject: str, states: _Names) -> str:
    state = document.text(node, "a state")
    if state not in states:
        raise unknown_state(document.where(node), subject, state, states)
    return state


def _row(document: Document, node: Node, state: str, states: _Names, alphabet: _Names) -> _Row:
    subject = f"state {state!r}"
    row: _Row = {}
    lines: dict[str, int] = {}
    for key, value in document.entries(node, subject):
        parts = document.items(value, f"a rule of {subject}")
        if len(parts) != _PARTS:
            raise document.error(
                value,
                f"a rule of {subject} must be [next state, appended symbols], got {len(parts)} "
                'parts; write it as [p, "ab"]',
            )
        target = _state(document, parts[0], subject, states)
        appended = _appended(document, parts[1], subject, alphabet)
        for item in document.symbols(key, f"a symbol of {subject}"):
            if item in row:
                raise second_rule(document.where(key), state, item, f"line {lines[item]}'s")
            if item not in alphabet:
                raise document.error(
                    key,
                    f"a symbol of {subject} must be one of {listed(alphabet)}, got {item!r}; "
                    "add it to the alphabet",
                )
            lines[item] = document.line(key)
            row[item] = (target, appended)
    return row


def _appended(document: Document, node: Node, subject: str, alphabet: _Names) -> Word:
    appended = tuple(document.text(node, f"what a rule of {subject} appends"))
    if len(appended) > _MOST_APPENDED or not alphabet.keys() >= set(appended):
        raise document.error(
            node,
            f"a rule of {subject} must append one or two of {listed(alphabet)}, got "
            f"{node.value!r}; correct it",
        )
    return appended
