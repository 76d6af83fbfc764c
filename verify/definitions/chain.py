"""Machines run on all four levels in lock step."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator
from typing import Any

from verify.definitions.machines import (
    BLANK,
    HALT,
    MARKER,
    MOST_MACHINE_STEPS,
    START,
    Table,
    queue_step,
    tape_of,
    turing_run,
)
from verify.definitions.plain import require

FIGURES = ("halted", "rules_applied", "queue_steps", "tokens", "refreshes")


def chain_tables(exhibit: Any) -> Iterator[tuple[Table, str, str, list[str]]]:
    """(rules, start, blank, input) of each machine of an exhibit; a halting state is Z."""
    if "table" in exhibit:
        rows: Table = {(q, a): (b, move, target) for q, a, b, move, target in exhibit["table"]}
        yield rows, exhibit["start"], exhibit["blank"], list(exhibit["input"])
        return
    digits, letters = "0123456789"[: exhibit["symbols"]], "ABCDEFG"[: exhibit["states"]]
    entries = ["---", *map("".join, itertools.product(digits, "LR", letters + "Z"))]
    places = list(itertools.product(letters, digits))
    for k in range(exhibit["machines"]):
        number: int = exhibit["first"] + k * exhibit["every"]
        rows = {}
        for place in reversed(places):
            number, digit = divmod(number, len(entries))
            if digit:
                write, move, target = entries[digit]
                rows[place] = (write, move, target)
        require(number == 0, "no such machine")
        yield rows, "A", BLANK, []


class Chain:
    """Queue machine, parity-HIST and transformer of one Turing machine, each from its own state.

    A parity is a bit mask; a HIST state is (control, stored parity), the control None at first.
    """

    def __init__(self, table: Table, start: str, blank: str, word: list[str]) -> None:
        """Stand before the first step."""
        self.delta = (table, start, blank)
        self.bits: dict[str, int] = {}
        self.symbols: dict[int, str] = {}
        self.queue, self.window = deque([START, *word]), deque(word)
        self.context = deque([*word, MARKER])
        self.control: Any = None
        self.hist, self.label = (None, 0), ("N", (None, 0), "")
        self.seen = self.shown = self.mask(word)
        self.markers, self.widest, self.largest = 1, len(word), len(word) + 1
        self.steps = self.tokens = self.refreshes = 0

    def mask(self, word: list[str]) -> int:
        """The parity of a word; symbols are numbered as they are met."""
        total = 0
        for symbol in word:
            if symbol not in self.bits:
                self.bits[symbol] = 1 << len(self.bits)
                self.symbols[self.bits[symbol]] = symbol
            total ^= self.bits[symbol]
        return total

    def transition(self, state: tuple[Any, int], seen: int) -> tuple[tuple[Any, int], list[str]]:
        """The parity-HIST machine: the removed symbol is the bit in which two parities differ."""
        control, kept = state
        front = START if control is None else self.symbols.get(kept ^ seen, "")
        require(front != "", "two parities differ in more than one symbol")
        target, new, _ = queue_step(self.delta[0], control, front, *self.delta[1:])
        return (target, seen ^ self.mask(new)), new

    def emit(self) -> tuple[str, int]:
        """One token of the transformer; (displayed symbol, update bit)."""
        kind, state, owed = self.label
        if not self.markers:
            shown, update = MARKER, 0
        elif kind == "P":
            shown, update, self.label = owed, 0, ("N", state, "")
        else:
            target, (shown, *more) = self.transition(state, self.shown)
            update = len(more)
            self.label = ("P", target, more[0]) if more else ("N", target, "")
        self.context.append(shown)
        gone = [] if update else [self.context.popleft()]
        self.markers += (shown == MARKER) - (gone == [MARKER])
        self.shown ^= self.mask([s for s in (shown, *gone) if s != MARKER])
        self.tokens, self.refreshes = self.tokens + 1, self.refreshes + (shown == MARKER)
        self.largest = max(self.largest, len(self.context))
        return shown, update

    def step(self, following: Any, new: list[str]) -> None:
        """One queue step to a known control, and the same at the levels above."""
        self.control = following
        self.queue.popleft()
        self.queue.extend(new)
        self.hist, appended = self.transition(self.hist, self.seen)
        self.window.extend(appended)
        self.seen ^= self.mask([*appended, self.window.popleft()])
        if not self.markers:
            require(self.emit() == (MARKER, 0), "no marker came")
        for place, symbol in enumerate(appended):
            due = (symbol, int(place + 1 < len(appended)))
            require(self.emit() == due, "the transformer emits another token")
        self.steps, self.widest = self.steps + 1, max(self.widest, len(self.window))
        require(appended == new and self.hist[0] == following, "HIST differs from the queue")
        require(self.label == ("N", self.hist, ""), "the transformer's label is another")
        require(self.window[0] == self.queue[1] if len(self.queue) > 1 else True, "words differ")
        require(self.largest <= self.widest + 1, "a context exceeds S + 1")

    def words_agree(self) -> bool:
        """Whether all three words are what they are to be."""
        queue, window = list(self.queue), list(self.window)
        shown = [symbol for symbol in self.context if symbol != MARKER]
        return window == queue[1:] and shown == (window if self.markers else queue)


def check_chain(exhibit: Any) -> None:
    """Each machine at four levels, from the definitions above, and the totals over all runs."""
    sums, widest, text = dict.fromkeys(FIGURES, 0), 0, ""
    require(0 <= exhibit["rules"] <= MOST_MACHINE_STEPS * 10, "a run of so many rules is too long")
    for table, start, blank, word in chain_tables(exhibit):
        halted, applied, text, cells = turing_run(table, word, exhibit["rules"], start, blank)
        run, looked = Chain(table, start, blank, word), 0
        while run.control != HALT:
            following, new, rule = queue_step(table, run.control, run.queue[0], start, blank)
            if rule and looked == applied and not halted:
                break
            run.step(following, new)
            looked += rule
            require(run.steps <= applied * (cells + 2) + 2, "too many queue steps")
        require(run.words_agree(), "the words of the levels differ")
        require((run.control == HALT) == halted, "the levels do not halt together")
        require(not halted or tape_of(list(run.queue), blank) == text, "another tape at the end")
        found = (halted, applied, run.steps, run.tokens, run.refreshes)
        for name, value in zip(FIGURES, found, strict=True):
            sums[name] += value
        widest, text = max(widest, run.largest), text.replace(blank, "_")
    for name, value in {**sums, "max_context": widest, "last_tape": text}.items():
        require(
            exhibit[name] == value, f"{name} is {value!r}, the certificate says {exhibit[name]!r}"
        )
