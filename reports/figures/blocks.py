"""What of a counterexample can be drawn: its matrices and its rows of symbols, and how they differ.

Matrices and rows stand in the counterexample as data, or in its text as `[[1, 2], [3, 4]]`,
`Matrix([[1/2, 0]])`, `('0', '1')`: there the words around them say which is required and which
came.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import cast

from constructions.minimal.definitions import EVENS, window_text
from verify.verdicts import Json

Scalar = str | int | float | None
Cells = tuple[tuple[Scalar, ...], ...]
Place = tuple[int, int]

MOST_BLOCKS = 6
DEEPEST = 4
"""A list nested deeper than this is not looked into."""
MOST_TEXT = 20_000
"""Characters of a text that are searched for lists."""
MOST_LISTS = 24
"""Lists that are looked for in a text."""
MOST_BITS = 512
"""Integers with more bits than this are not written out."""
SHORT_WORD = 200
"""A string longer than this is not taken for a cell."""
SIDES = frozenset("required got left right expected came ours theirs wanted actual".split())
"""Keys whose values are meant to be equal."""
WORDS = frozenset("displayed input sequence tape targets text window word".split())
"""Keys whose strings are words over an alphabet."""
_SCALAR = r"(?:-?\d+(?:/\d+|\.\d+)?|True|False|None|'[^'\\]{0,60}')"
_FLAT = rf"[\[(]{_SCALAR}(?:, {_SCALAR})*,?[\])]"
_LISTS = re.compile(rf"(?<!\w)(?:Matrix\()?([\[(]{_FLAT}(?:, {_FLAT})*,?[\])]|{_FLAT})\)?")
_ENTRY = re.compile(_SCALAR)
_ROW = re.compile(_FLAT)
_CLAUSE = re.compile(r"; |: | but | and |, (?!\w+\))")
_BRACES = re.compile(r"\{[^{}]*\}")
_AROUND = " [](),:;"


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A matrix, or a row of symbols, with the places that are to be marked.

    cells    rows of equal length, at least one entry
    head     the column at which a machine reads
    """

    label: str
    cells: Cells
    matrix: bool
    marked: frozenset[Place] = field(default_factory=frozenset[Place])
    head: int | None = None

    @property
    def shape(self) -> tuple[bool, int, int]:
        """Whether it is a matrix, its height and its width."""
        return self.matrix, len(self.cells), len(self.cells[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """What is drawn, in order; the first `compared` have one shape and differ where marked."""

    shown: tuple[Block, ...]
    compared: int
    left_out: int


def blocks_of(evidence: Mapping[str, Json]) -> Blocks | None:
    """The blocks of a refutation's evidence, `{"counterexample": {..}, "text": ".."}`, if any."""
    text = str(evidence.get("text", ""))[:MOST_TEXT]
    given: Json = evidence.get("counterexample")
    instance = cast("Mapping[str, Json]", given if isinstance(given, dict) else {})
    stated = [*_of_instance(instance, text)]
    said = [*_of_text(text)]
    sides = [block for block in stated if block.label.partition(" ")[0] in SIDES]
    pair = _differing(said) or _differing(sides) or _beside_words(stated, text)
    every = [*pair, *(block for block in stated if not _repeats(block, pair))]
    every += [block for block in said if not _repeats(block, every)]
    shown = tuple(every[:MOST_BLOCKS])
    if not shown:
        return None
    return Blocks(
        shown=shown,
        compared=min(len(pair), MOST_BLOCKS),
        left_out=len(every) - len(shown),
    )


def entry_text(value: Scalar) -> str:
    """An entry as text; a huge integer by its length alone."""
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        return f"{value.bit_length()} bits"
    return str(value)


# --- data ------------------------------------------------------------------------------------


def _of_instance(instance: Mapping[str, Json], text: str) -> Iterator[Block]:
    for key, value in instance.items():
        if isinstance(value, str) and key in WORDS:
            if symbols := _symbols(value):
                yield Block(label=key, cells=(symbols,), matrix=False)
        elif key == "window" and _named_in(text, value):
            yield _window(cast("list[int]", value))
        else:
            for block in _of_value(key, value, DEEPEST):
                reads = not block.matrix and key == "input" and "machine" in instance
                yield replace(block, head=0) if reads else block


def _of_value(label: str, value: Json, depth: int) -> Iterator[Block]:
    """The matrices and rows in a value: itself, or what its lists hold."""
    if not isinstance(value, list) or not value or not depth:
        return
    items = cast("list[Json]", value)
    if all(map(_is_scalar, items)):
        yield Block(label=label, cells=(tuple(items),), matrix=False)
    elif _is_rectangular(items):
        yield Block(label=label, cells=tuple(map(tuple, items)), matrix=True)
    else:
        for number, item in enumerate(items, start=1):
            yield from _of_value(f"{label} {number}", item, depth - 1)
            if number == MOST_BLOCKS:
                return


def _is_scalar(value: Json) -> bool:
    if isinstance(value, str):
        return len(value) <= SHORT_WORD
    return value is None or isinstance(value, int | float)


def _is_rectangular(items: Sequence[Json]) -> bool:
    rows = [cast("list[Json]", item) for item in items if isinstance(item, list)]
    return (
        len(rows) == len(items)
        and len({len(row) for row in rows}) == 1
        and bool(rows[0])
        and all(_is_scalar(entry) for row in rows for entry in row)
    )


def _symbols(word: str) -> tuple[str, ...]:
    return tuple(word.split()) if " " in word else tuple(word)


def _named_in(text: str, window: Json) -> bool:
    """Whether a text names the tokens of a minimal transformer's window as its paper does."""
    if not isinstance(window, list) or not window:
        return False
    tokens = cast("list[Json]", window)
    whole = all(isinstance(token, int) and abs(token) < MOST_TEXT for token in tokens)
    return whole and window_text(tokens) in text


def _window(window: Sequence[int]) -> Block:
    """The window; what the rule requires is marked where it stands."""
    places = [place for place, token in enumerate(window) if token in EVENS]
    return Block(
        label="window, with the number that the rule requires next marked",
        cells=(tuple(window_text(window).split()),),
        matrix=False,
        marked=frozenset((0, place) for place in places[-1:]),
    )


# --- text ------------------------------------------------------------------------------------


def _of_text(text: str) -> Iterator[Block]:
    """The lists in a text, each labelled by the words around it."""
    plain = _BRACES.sub("", _BRACES.sub("", text))
    ends = [0]
    for match in islice(_LISTS.finditer(plain), MOST_LISTS):
        if block := _listed(match[1], _clause(plain, ends[-1], match.start(), match.end())):
            yield block
        ends.append(match.end())


def _clause(text: str, since: int, start: int, end: int) -> str:
    """The words around text[start:end], which `…` stands for; no word before `since` is one."""
    before = _CLAUSE.split(text[max(since, start - SHORT_WORD) : start])[-1]
    after = _CLAUSE.split(text[end : end + SHORT_WORD], maxsplit=1)[0]
    after = _LISTS.split(after, maxsplit=1)[0]
    return f"{before.strip(_AROUND)} … {after.strip(_AROUND)}".strip()


def _listed(text: str, label: str) -> Block | None:
    """A list's text as a block; None where it is a list of tuples, which is no matrix."""
    if not text.startswith(("[[", "[(", "((", "([")):
        return Block(label=label, cells=(_entries(text),), matrix=False)
    rows = tuple(_entries(row) for row in _ROW.findall(text))
    if not text.startswith("[[") or len({len(row) for row in rows}) > 1:
        return None
    return Block(label=label, cells=rows, matrix=True)


def _entries(text: str) -> tuple[str, ...]:
    return tuple(entry.strip("'") for entry in _ENTRY.findall(text))


# --- comparison ------------------------------------------------------------------------------


def _beside_words(blocks: Sequence[Block], text: str) -> tuple[Block, ...]:
    """A word of the counterexample, and one of the text that differs from it in few places."""
    for block in blocks:
        word = "".join(map(str, block.cells[0])) if block.label in WORDS else ""
        for match in re.finditer(r"\S+", text) if word else ():
            symbols = tuple(match[0])
            if match[0] != word and len(symbols) == len(word) == len(block.cells[0]) > 1:
                agree = sum(map(str.__eq__, symbols, word))
                label = _clause(text, 0, match.start(), match.end())
                if 2 * agree >= len(word):
                    other = Block(label=label, cells=(symbols,), matrix=False)
                    return _differing((block, other))
    return ()


def _repeats(block: Block, others: Iterable[Block]) -> bool:
    """Whether one of the others has the same entries, as text."""
    return any(
        block.cells == other.cells
        or (
            block.shape == other.shape
            and all(
                entry_text(one) == entry_text(two)
                for mine, theirs in zip(block.cells, other.cells, strict=True)
                for one, two in zip(mine, theirs, strict=True)
            )
        )
        for other in others
    )


def _differing(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """The first blocks of one shape that are not all the same, marked where they differ."""
    for first in blocks:
        alike = [block for block in blocks if block.shape == first.shape][:MOST_BLOCKS]
        if any(block.cells != first.cells for block in alike):
            places = frozenset(
                (row, column)
                for row, entries in enumerate(first.cells)
                if any(block.cells[row] != entries for block in alike)
                for column, entry in enumerate(entries)
                if any(block.cells[row][column] != entry for block in alike)
            )
            return tuple(replace(block, marked=places) for block in alike)
    return ()
