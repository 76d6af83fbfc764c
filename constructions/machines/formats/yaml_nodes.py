"""YAML as nodes that keep the characters and the line of each scalar; the harmless part of YAML.

Scalars are taken as they stand in the file: `1`, `0.5`, `yes` and `~` are the symbols and names
that one sees, whatever YAML would make of them. Two things cannot be brought back: a key without
characters, and, as a value, a plain `null`, `~` or nothing, which all say that the value is
missing; in quotes they are names again.

Tags, anchors, aliases, merge keys, repeated keys, several documents, deep nesting and huge numbers
of nodes are refused while they are met, before any node is built from them.
"""

from collections.abc import Iterable
from typing import Any

import yaml
from yaml.reader import ReaderError

from constructions.machines.definitions import Word
from constructions.machines.formats.machine_file import require_input
from verify.errors import MachineFormatError

DEEPEST = 8
MOST_NODES = 100_000
LITERAL = "|"
_MISSING = ("", "~", "null", "Null", "NULL")
_MERGE = "<<"


class _Loader(yaml.BaseLoader):
    """Composes nodes without resolving them, and looks at each event before it does."""

    def __init__(self, text: str, source_name: str, first_line: int) -> None:
        super().__init__(text)
        self._source_name = source_name
        self._first_line = first_line
        self._depth = 0
        self._nodes = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """The node of the next events, unless one is refused."""
        composer: Any = self
        event = composer.peek_event()
        self._require_harmless(event)
        self._depth += 1
        self._nodes += 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node

    def _require_harmless(self, event: Any) -> None:
        rules = (
            (isinstance(event, yaml.AliasEvent), "no aliases", "an alias", "write it out"),
            (event.anchor is not None, "no anchors", "an anchor", "remove it"),
            (getattr(event, "tag", None) is not None, "no tags", "a tag", "remove it"),
            (_is_plain(event, (_MERGE,)), "no merge keys", _MERGE, "write it in quotes"),
            (self._depth >= DEEPEST, f"at most {DEEPEST} levels", "one more", "flatten it"),
            (self._nodes >= MOST_NODES, f"at most {MOST_NODES:,} nodes", "one more", "split it"),
        )
        for broken, required, got, remedy in rules:
            if broken:
                raise MachineFormatError(
                    f"{self._source_name}:{self._first_line + event.start_mark.line}: {required} "
                    f"may stand in a machine's YAML, got {got}; {remedy}"
                )


def _is_plain(scalar: Any, texts: tuple[str, ...]) -> bool:
    """Whether a node or an event is an unquoted scalar that stands so in the file."""
    return (
        isinstance(scalar, (yaml.ScalarNode, yaml.ScalarEvent))
        and not scalar.style
        and scalar.value in texts
    )


def is_missing(node: yaml.Node) -> bool:
    """Whether a value is a plain `null`, `~` or nothing."""
    return _is_plain(node, _MISSING)


class Document:
    """A YAML text as nodes, with errors that name file and line; `first_line` is its first line.

    Raises:
        MachineFormatError: the text is not YAML, or not of the harmless part.
    """

    __slots__ = ("first_line", "root", "source_name")

    def __init__(self, text: str, source_name: str, first_line: int = 1) -> None:
        """Compose the text's only document."""
        self.source_name = source_name
        self.first_line = first_line
        try:
            loader = _Loader(text, source_name, first_line)
            root = loader.get_single_node()
        except ReaderError as error:
            place = error.position
            message = f"must be printable text, got {text[place]!r}; remove it"
            raise self._error(text.count("\n", 0, place), message) from error
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            said = " ".join(part for part in (error.context, error.problem) if part)
            message = f"must be one document of YAML, the parser says: {said}; correct it"
            raise self._error(mark.line if mark else 0, message) from error
        if root is None:
            raise self._error(0, "must be a mapping, got an empty document; describe a machine")
        self.root: yaml.Node = root

    def _error(self, line: int, message: str) -> MachineFormatError:
        return MachineFormatError(f"{self.source_name}:{self.first_line + line}: {message}")

    def line(self, node: yaml.Node) -> int:
        """The line of the file on which a node begins."""
        return self.first_line + node.start_mark.line

    def where(self, node: yaml.Node) -> str:
        """File and line of a node."""
        return f"{self.source_name}:{self.line(node)}"

    def error(self, node: yaml.Node, message: str) -> MachineFormatError:
        """An error at a node."""
        return MachineFormatError(f"{self.where(node)}: {message}")

    def entries(self, node: yaml.Node, what: str) -> list[tuple[yaml.Node, yaml.Node]]:
        """Keys and values of a mapping, none if it is missing.

        Raises:
            MachineFormatError: no mapping, or a key that stands there twice.
        """
        if is_missing(node):
            return []
        if not isinstance(node, yaml.MappingNode):
            raise self.error(node, f"{what} must be a mapping, got {shown(node)}; write {{..}}")
        first: dict[str, yaml.Node] = {}
        entries: list[tuple[yaml.Node, yaml.Node]] = node.value
        for key, _ in entries:
            if isinstance(key, yaml.ScalarNode):
                if key.value in first:
                    raise self.error(
                        key,
                        f"{what} must have each key once, got {key.value!r} again after line "
                        f"{self.line(first[key.value])}; keep one of them",
                    )
                first[key.value] = key
        return entries

    def fields(
        self, node: yaml.Node, what: str, required: Iterable[str], optional: Iterable[str] = ()
    ) -> dict[str, yaml.Node]:
        """The values of a mapping with known keys.

        Raises:
            MachineFormatError: a key that is unknown, or one that is required and absent.
        """
        needed, known = tuple(required), (*required, *optional)
        found: dict[str, yaml.Node] = {}
        for key, value in self.entries(node, what):
            name = self.text(key, f"a key of {what}")
            if name not in known:
                raise self.error(
                    key, f"the keys of {what} are {', '.join(known)}, got {name!r}; remove it"
                )
            found[name] = value
        for name in needed:
            if name not in found:
                raise self.error(node, f"{what} must have the key {name!r}, got none; add it")
        return found

    def text(self, node: yaml.Node, what: str) -> str:
        """The characters of a scalar.

        Raises:
            MachineFormatError: no scalar, none, or half of a surrogate pair.
        """
        if not isinstance(node, yaml.ScalarNode) or not node.value:
            raise self.error(
                node,
                f"{what} must be a text, got {shown(node)}; write it in quotes",
            )
        text: str = node.value
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise self.error(node, f"{what} must be Unicode text, got {text!r}; rename it")
        return text

    def word(self, node: yaml.Node | None, alphabet: Iterable[str]) -> Word:
        """The input, a symbol a character; none if it is missing or empty.

        Raises:
            MachineFormatError: no scalar, or a symbol outside the alphabet.
        """
        if node is None or is_missing(node) or node.value == "":
            return ()
        return require_input(self.where(node), tuple(self.text(node, "the input")), alphabet)

    def symbol(self, node: yaml.Node, what: str) -> str:
        """A scalar of one character.

        Raises:
            MachineFormatError: anything else.
        """
        text = self.text(node, what)
        if len(text) != 1:
            raise self.error(node, f"{what} must be one character, got {text!r}; rename it")
        return text

    def symbols(self, node: yaml.Node, what: str) -> tuple[str, ...]:
        """A scalar of one character, or a list of them.

        Raises:
            MachineFormatError: anything else, or an empty list.
        """
        if not isinstance(node, yaml.SequenceNode):
            return (self.symbol(node, what),)
        items: list[yaml.Node] = node.value
        if not items:
            raise self.error(node, f"{what} must be one character or several, got []; name one")
        return tuple(self.symbol(item, what) for item in items)

    def items(self, node: yaml.Node, what: str) -> list[yaml.Node]:
        """The nodes of a list.

        Raises:
            MachineFormatError: no list.
        """
        if not isinstance(node, yaml.SequenceNode):
            raise self.error(node, f"{what} must be a list, got {shown(node)}; write [..]")
        items: list[yaml.Node] = node.value
        return items


def shown(node: yaml.Node) -> str:
    """A node in an error: its text, or what it is."""
    if isinstance(node, yaml.ScalarNode):
        return repr(node.value) if node.value else "nothing"
    return "a list" if isinstance(node, yaml.SequenceNode) else "a mapping"


def dump(document: dict[str, Any]) -> str:
    """A mapping as YAML, in its own order, the innermost mappings and lists in one line."""
    text: str = yaml.safe_dump(
        document, sort_keys=False, allow_unicode=True, default_flow_style=None, width=10_000
    )
    return text
