"""The machines on which the whole chain is run: families in lexical order, champions, textbooks.

    family      every table of so many states and symbols, numbered as bbchallenge texts sort
    champions   the busy beavers, with the rules they apply and the ones they leave
    textbook    machines with inputs and the tapes that they leave

Source: Sliding-Window Transformers Without Positional Encodings, Corollary 10; bbchallenge.org for
the champions' figures.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from constructions.machines.definitions import TuringMachine, Word
from constructions.machines.formats import bbchallenge
from constructions.machines.textbook import TEXTBOOK
from verify.ranges import Range
from verify.verdicts import Json

BLOCK = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """All tables of so many states and symbols: each entry `---`, or write, move, next (or Z)."""

    states: int
    symbols: int

    @property
    def entries(self) -> tuple[str, ...]:
        """The choices for one entry, 1 + 2 symbols (states + 1) of them."""
        return _entries(self.states, self.symbols)

    @property
    def size(self) -> int:
        """How many tables there are."""
        return len(self.entries) ** (self.states * self.symbols)

    def machine(self, number: int) -> TuringMachine:
        """The table of this number, from 0, in the order of `bbchallenge.every_machine`."""
        return _numbered(self.states, self.symbols, number)


@lru_cache(maxsize=8)
def _entries(states: int, symbols: int) -> tuple[str, ...]:
    digits = bbchallenge.DIGITS[:symbols]
    targets = bbchallenge.LETTERS[:states] + bbchallenge.LETTERS[-1]
    choices = map("".join, itertools.product(digits, "LR", targets))
    return (bbchallenge.UNDEFINED, *choices)


@lru_cache(maxsize=256)
def _numbered(states: int, symbols: int, number: int) -> TuringMachine:
    entries = _entries(states, symbols)
    row = ""
    for place in range(states * symbols):
        number, digit = divmod(number, len(entries))
        between = "_" if place and place % symbols == 0 else ""
        row = entries[digit] + between + row
    return bbchallenge.read(row)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainCase:
    """A machine on an input, cut off after `rules` rules; what is known of it beforehand.

    `applied` and `nonblank` are a record's figures, `tape` a textbook's answer.
    """

    machine: TuringMachine
    word: Word
    rules: int
    applied: int | None = None
    nonblank: int | None = None
    tape: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyBlock:
    """At most BLOCK machines of a family: number `first` and every `every`-th from there on."""

    family: Family
    first: int
    every: int
    rules: int

    @property
    def numbers(self) -> range:
        """The machines' numbers."""
        return range(self.first, min(self.first + BLOCK * self.every, self.family.size), self.every)

    def cases(self) -> Iterator[ChainCase]:
        """Each machine on the empty tape."""
        for number in self.numbers:
            yield ChainCase(machine=self.family.machine(number), word=(), rules=self.rules)

    def as_json(self) -> dict[str, Json]:
        """The block as certificates name it."""
        return {
            "states": self.family.states,
            "symbols": self.family.symbols,
            "first": self.first,
            "every": self.every,
            "machines": len(self.numbers),
            "rules": self.rules,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Single:
    """One case by itself."""

    case: ChainCase

    def cases(self) -> Iterator[ChainCase]:
        """The case."""
        yield self.case

    def as_json(self) -> dict[str, Json]:
        """The machine's table, its input and its limit; a state that halts is written Z."""
        machine = self.case.machine
        return {
            "name": machine.name,
            "start": machine.start,
            "blank": machine.blank,
            "alphabet": list(machine.alphabet),
            "table": [
                [state, read, write, "LSR"[move + 1], "Z" if target in machine.halting else target]
                for state, row in machine.rows.items()
                for read, (write, move, target) in row.items()
            ],
            "input": list(self.case.word),
            "rules": self.case.rules,
        }


ChainInstance = FamilyBlock | Single

CHAMPIONS: tuple[tuple[str, int, int], ...] = (
    ("1RB1LB_1LA1RZ", 6, 4),
    ("1RB1RZ_1LB0RC_1LC1LA", 21, 5),
    ("1RB1RZ_0RC1RB_1LC1LA", 14, 6),
    ("1RB1LC_1LA1RB_1LB1RZ", 13, 6),
    ("1RB1LB_1LA0LC_1RZ1LD_1RD0RA", 107, 13),
    ("1RB2LB1RZ_2LA2RB1LB", 38, 9),
    ("1RB2LA1RA1RA_1LB1LA3RB1RZ", 3_932_964, 2_050),
    ("1RB1LC_1RC1RB_1RD0LE_1LA1LD_1RZ0LA", 47_176_870, 4_098),
)
"""BB(2), BB(3) three times, BB(4), BB(2,3), BB(2,4), BB(5): rules applied, cells not blank."""


def champions(rules: int) -> Iterator[Single]:
    """Each champion, cut off after so many rules; its record is known where it halts before."""
    for text, applied, nonblank in CHAMPIONS:
        known = applied <= rules
        yield Single(
            case=ChainCase(
                machine=bbchallenge.read(text),
                word=(),
                rules=rules,
                applied=applied if known else None,
                nonblank=nonblank if known else None,
            )
        )


def textbook(rules: int) -> Iterator[Single]:
    """Each textbook machine on each of its inputs."""
    for book in TEXTBOOK:
        for word, tape in book.words():
            case = ChainCase(machine=book.machine, word=word, rules=rules, tape="".join(tape))
            yield Single(case=case)


def blocks(family: Family, every: int, rules: int) -> Iterator[FamilyBlock]:
    """Every `every`-th table of a family, in blocks."""
    for first in range(0, family.size, BLOCK * every):
        yield FamilyBlock(family=family, first=first, every=every, rules=rules)


TWO, THREE = Family(states=2, symbols=2), Family(states=3, symbols=2)


def corpus(two: int, three: int, rules: int, champion_rules: int) -> Range:
    """Every `two`-th machine of two states, every `three`-th of three, champions and textbooks."""
    counts = {family: -(-family.size // every) for family, every in ((TWO, two), (THREE, three))}
    return Range(
        bound=f"{counts[TWO]} of the {TWO.size} machines of 2 states and 2 symbols and "
        f"{counts[THREE]} of the {THREE.size} of 3 states, evenly spread in lexical order, to "
        f"{rules} rules; the champions to {champion_rules}; the textbook machines on their inputs",
        over=lambda: itertools.chain(
            blocks(TWO, two, rules),
            blocks(THREE, three, rules),
            champions(champion_rules),
            textbook(rules),
        ),
    )
