"""JFLAP's XML of a Turing machine with one tape, in files that end in `.jff`.

    structure/type         `turing`
    automaton/state        `id`, `name`; with `initial`, with `final`
    automaton/transition   `from`, `to` (ids), `read`, `write`, `move`

An empty or absent `read` or `write` is the blank `□`, an absent `move` is R. Since version 7 plain
states may be called `block`; its `tag` then names an empty element. A state without a name is
called q and its id.

Refused are what one deterministic table does not have: several tapes, building blocks, variables
(a `!`, `~` or `}` in a label), and two transitions from one state for one symbol. A final state
halts, and so does a missing transition, before a rule is applied; JFLAP itself counts no steps.

Source: jflap.org, file format of version 6.4 and later.
"""

from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from constructions.machines.definitions import Rule, TuringMachine
from constructions.machines.formats.machine_file import (
    listed,
    named_after,
    require_state,
    require_symbol,
    require_written_symbols,
    second_rule,
)
from constructions.machines.formats.xml_elements import Element, parse
from verify.errors import MachineFormatError

FORMAT = "JFLAP's XML"
BLANK = "□"
TYPE = "turing"
VARIABLES = "!~}"
_MOVES = {"L": -1, "R": 1, "S": 0}
_DIRECTIONS = {move: direction for direction, move in _MOVES.items()}
_APART = 120


class _State(NamedTuple):
    """A state as it stands in the file."""

    name: str
    element: Element


def read(text: str, source_name: str) -> TuringMachine:
    """The machine of a text.

    Raises:
        MachineFormatError: the text does not follow the format, or is no single table.
    """
    return _Reader(source_name).machine(parse(text, source_name))


def write(machine: TuringMachine) -> str:
    """The text of a machine; its blank becomes the empty label.

    Raises:
        MachineFormatError: names that the format cannot write.
    """
    require_written_symbols(machine, FORMAT)
    for symbol in machine.alphabet:
        if symbol != machine.blank:
            require_symbol(machine.name, FORMAT, symbol, forbidden=VARIABLES + BLANK)
    ids = {state: str(number) for number, state in enumerate(machine.states)}
    lines = ['<?xml version="1.0" encoding="UTF-8" standalone="no"?>', "<structure>"]
    lines += [f"  <type>{TYPE}</type>", "  <automaton>"]
    for number, state in enumerate(machine.states):
        require_state(machine.name, FORMAT, state)
        marks = "<initial/>" if state == machine.start else ""
        marks += "<final/>" if state in machine.halting else ""
        place = f"<x>{_APART * (number + 1)}</x><y>{_APART}</y>"
        lines.append(f'    <state id="{number}" name={quoteattr(state)}>{place}{marks}</state>')
    for state, row in machine.rows.items():
        for symbol, (new, move, target) in row.items():
            lines.append(
                f"    <transition><from>{ids[state]}</from><to>{ids[target]}</to>"
                f"<read>{_label(machine, symbol)}</read><write>{_label(machine, new)}</write>"
                f"<move>{_DIRECTIONS[move]}</move></transition>"
            )
    return "\n".join([*lines, "  </automaton>", "</structure>", ""])


def _label(machine: TuringMachine, symbol: str) -> str:
    return "" if symbol == machine.blank else escape(symbol)


class _Reader:
    """Reads the elements of one file."""

    __slots__ = ("_source_name",)

    def __init__(self, source_name: str) -> None:
        self._source_name = source_name

    def machine(self, root: Element) -> TuringMachine:
        """The machine of the root element."""
        automaton = self._automaton(root)
        states = self._states(automaton)
        start = self._start(states, automaton)
        rules = self._rules(automaton, states)
        both = (symbol for (_, read), rule in rules.items() for symbol in (read, rule.write))
        return TuringMachine(
            name=named_after(self._source_name),
            blank=BLANK,
            alphabet=tuple(dict.fromkeys((BLANK, *both))),
            states=tuple(state.name for state in states.values()),
            start=start,
            halting=frozenset(
                state.name for state in states.values() if state.element.named("final")
            ),
            rules=rules,
        )

    def _error(self, element: Element, message: str) -> MachineFormatError:
        return MachineFormatError(f"{self._source_name}:{element.line}: {message}")

    def _only(self, parent: Element, tag: str) -> Element | None:
        found = parent.named(tag)
        if len(found) > 1:
            raise self._error(
                found[1], f"{parent.tag} must have one {tag}, got {len(found)}; keep one of them"
            )
        return found[0] if found else None

    def _automaton(self, root: Element) -> Element:
        kind, tapes = self._only(root, "type"), self._only(root, "tapes")
        if root.tag != "structure" or kind is None:
            raise self._error(
                root, f"JFLAP's structure with a type is required, got {root.tag!r}; save it anew"
            )
        if kind.text.strip() != TYPE:
            raise self._error(
                kind, f"the type must be {TYPE!r}, got {kind.text.strip()!r}; use a Turing machine"
            )
        if tapes is not None and tapes.text.strip() != "1":
            raise self._error(
                tapes, f"one tape is possible, got {tapes.text.strip()!r}; use a single tape"
            )
        automaton = self._only(root, "automaton")
        if automaton is None:
            raise self._error(root, "structure must have one automaton, got none; save it anew")
        return automaton

    def _states(self, automaton: Element) -> dict[str, _State]:
        states: dict[str, _State] = {}
        names: dict[str, int] = {}
        filled = {child.tag for child in automaton.children if child.children}
        for element in automaton.children:
            if element.tag not in {"state", "block"}:
                continue
            self._require_plain(element, filled)
            number = element.attributes.get("id", "")
            name = element.attributes.get("name") or f"q{number}"
            if not number or number in states:
                raise self._error(
                    element, f"state {name!r} must have an id of its own, got {number!r}; add one"
                )
            if name in names:
                raise self._error(
                    element,
                    f"each state must have a name of its own, got {name!r} again after line "
                    f"{names[name]}; rename it",
                )
            names[name] = element.line
            states[number] = _State(name, element)
        return states

    def _require_plain(self, element: Element, filled: set[str]) -> None:
        tag = self._only(element, "tag")
        inner = tag is not None and tag.text.strip() in filled
        if inner or element.named("automaton") or element.named("block"):
            name = element.attributes.get("name", "")
            raise self._error(
                element,
                f"states without a machine inside are required, got the building block {name!r}; "
                "convert it to a machine without blocks",
            )

    def _start(self, states: dict[str, _State], automaton: Element) -> str:
        initial = [state for state in states.values() if state.element.named("initial")]
        if len(initial) != 1:
            names = listed(state.name for state in initial) or "none"
            raise self._error(
                initial[1].element if initial else automaton,
                f"one initial state is required, got {names}; mark one state",
            )
        return initial[0].name

    def _rules(self, automaton: Element, states: dict[str, _State]) -> dict[tuple[str, str], Rule]:
        rules: dict[tuple[str, str], Rule] = {}
        lines: dict[tuple[str, str], int] = {}
        for element in automaton.named("transition"):
            if element.attributes.get("block") == "true":
                raise self._error(
                    element,
                    "transitions with read, write and move are required, got one of a building "
                    "block; convert it to a machine without blocks",
                )
            state = self._state(element, "from", states)
            target = self._state(element, "to", states)
            symbol = self._symbol(element, "read")
            place = (state, symbol)
            if place in rules:
                first = f"line {lines[place]}'s, which is non-determinism"
                raise second_rule(f"{self._source_name}:{element.line}", *place, first)
            lines[place] = element.line
            rules[place] = Rule(
                write=self._symbol(element, "write"), move=self._move(element), next_state=target
            )
        return rules

    def _state(self, transition: Element, tag: str, states: dict[str, _State]) -> str:
        child = self._only(transition, tag)
        number = child.text.strip() if child else ""
        if number not in states:
            raise self._error(
                child or transition,
                f"a transition's {tag!r} must be the id of a state, got {number!r}; ids: "
                f"{listed(states) or 'none'}",
            )
        return states[number].name

    def _part(self, transition: Element, tag: str) -> tuple[Element, str]:
        """The element of a transition's part, its transition if it is absent, and its text."""
        child = self._only(transition, tag)
        if child is None:
            return transition, ""
        tape = child.attributes.get("tape", "1")
        if tape != "1":
            raise self._error(child, f"one tape is possible, got tape {tape!r}; use a single tape")
        return child, child.text

    def _symbol(self, transition: Element, tag: str) -> str:
        element, text = self._part(transition, tag)
        if any(mark in text for mark in VARIABLES):
            raise self._error(
                element,
                f"{tag!r} must be a symbol, got the variable label {text!r}; write a transition "
                "for each symbol",
            )
        if len(text) > 1 or text.isspace():
            raise self._error(
                element,
                f"{tag!r} must be one character or empty (the blank), got {text!r}; rename it",
            )
        return text or BLANK

    def _move(self, transition: Element) -> int:
        element, text = self._part(transition, "move")
        move = text.strip() or "R"
        if move not in _MOVES:
            raise self._error(element, f"'move' must be L, R or S, got {move!r}; correct it")
        return _MOVES[move]
