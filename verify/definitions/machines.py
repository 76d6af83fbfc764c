"""A Turing machine, its queue machine, and the parity-HIST transformer on their words."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from verify.definitions.plain import require

START, BLANK, MARKER, HALT = "▷", "0", "#", "halt"
MOST_MACHINE_STEPS = 100_000
Table = dict[tuple[str, str], tuple[str, str, str]]


def table_of(text: str) -> Table:
    """Rules of a bbchallenge text with two states and two symbols: (write, move, next state)."""
    rows = text.split("_")
    require([len(row) for row in rows] == [6, 6], f"{text!r} is not a machine of 2 by 2")
    table: Table = {}
    for (state, row), symbol in itertools.product(zip("AB", rows, strict=True), (0, 1)):
        entry = row[3 * symbol : 3 * symbol + 3]
        if entry != "---":
            require(entry[0] in "01" and entry[1] in "LR" and entry[2] in "ABZ", "no such rule")
            table[state, str(symbol)] = (entry[0], entry[1], entry[2])
    return table


def turing_run(
    table: Table, word: list[str], rules: int, start: str = "A", blank: str = BLANK
) -> tuple[bool, int, str, int]:
    """(halted, rules applied, tape without outer blanks, cells of the input or under the head)."""
    tape = dict(enumerate(word))
    head, state, steps = 0, start, 0
    cells = {*tape, head}
    while (state, tape.get(head, blank)) in table and steps < rules:
        tape[head], move, state = table[state, tape.get(head, blank)]
        head, steps = head + {"L": -1, "S": 0, "R": 1}[move], steps + 1
        cells.add(head)
    text = "".join(tape.get(i, blank) for i in range(min(cells), max(cells) + 1)).strip(blank)
    return (state, tape.get(head, blank)) not in table, steps, text, len(cells)


def queue_step(
    table: Table, control: Any, symbol: str, start: str = "A", blank: str = BLANK
) -> tuple[Any, list[str], bool]:
    """(next control, appended symbols, whether a rule was looked up); control holds one item.

    The cyclic word is the start symbol and the cells, the head's cell marked by a star.
    """
    if control is None:
        return (start, START, "arrive"), [blank], False
    state, held, phase = control
    if phase == "scan" and not symbol.endswith("*"):
        return (state, symbol, phase), [held], False
    if phase == "arrive" and symbol == START:
        return (state, START, "scan"), [held, blank + "*"], False
    cell = symbol.removesuffix("*")
    write, move, target = table.get((state, cell), (cell, "", "Z"))
    if target == "Z":
        return HALT, [held, write], True
    if move == "R":
        return (target, write, "arrive"), [held], True
    if move == "S":
        return (target, write + "*", "scan"), [held], True
    marked = [START, blank + "*"] if held == START else [held + "*"]
    return (target, write, "scan"), marked, True


def tape_of(queue: list[str], blank: str = BLANK) -> str:
    """The cells from the start symbol on, cyclically, without outer blanks."""
    place = queue.index(START)
    return "".join(s.removesuffix("*") for s in queue[place + 1 :] + queue[:place]).strip(blank)


def check_queue_run(exhibit: Any) -> None:
    """Every machine of a block as Turing and as queue machine, within Theorem 6's constants."""
    entries = ["---", *map("".join, itertools.product("01", "LR", "ABZ"))]
    tables = list(itertools.product(entries, repeat=4))
    first, every, rules = exhibit["first"], exhibit["every"], exhibit["rules"]
    chosen = tables[first::every][: exhibit["machines"]]
    words = [
        list(w)
        for n in range(exhibit["longest_input"] + 1)
        for w in itertools.product("01", repeat=n)
    ]
    sums = dict.fromkeys(("halted", "turing_steps", "nonblank", "queue_steps", "max_length"), 0)
    text, tape = "", ""
    for (a, b, c, d), word in itertools.product(chosen, words):
        text = f"{a}{b}_{c}{d}"
        table = table_of(text)
        halted, applied, tape, cells = turing_run(table, word, rules)
        queue, control, steps, looked, longest = [START, *word], None, 0, 0, len(word) + 1
        while control != HALT:
            following, new, rule = queue_step(table, control, queue[0])
            if rule and looked == applied and not halted:
                break
            control, queue = following, [*queue[1:], *new]
            steps, looked, longest = steps + 1, looked + rule, max(longest, len(queue))
            require(steps <= MOST_MACHINE_STEPS, f"{text} runs too long")
        require(steps <= applied * (cells + 2) + 2, f"{text} takes {steps} queue steps")
        require(longest <= cells + 2, f"{text} has a queue of {longest}")
        require(not halted or tape_of(queue) == tape, f"{text} ends with another tape")
        for name, value in zip(sums, (halted, applied, tape.count("1"), steps), strict=False):
            sums[name] += value
        sums["max_length"] = max(sums["max_length"], longest)
    shown = tape.replace(BLANK, "_")
    for name, value in {**sums, "last_machine": text, "last_tape": shown}.items():
        require(
            exhibit[name] == value, f"{name} is {value!r}, the certificate says {exhibit[name]!r}"
        )


def parities(word: list[str]) -> frozenset[str]:
    """The symbols that occur an odd number of times."""
    return frozenset(symbol for symbol in word if word.count(symbol) % 2)


def transformer_token(context: list[Any], delta: Any, idle: str) -> tuple[str, Any, int]:
    """G: the next (displayed symbol, label, update bit) from the displays and the newest label."""
    shown = [display for display, _ in context]
    kind, state, *owed = context[-1][1]
    if MARKER not in shown:
        return MARKER, context[-1][1], 0
    require(shown.count(MARKER) == 1, "a context holds two markers")
    if kind == "P":
        return owed[0], ("N", state), 0
    if state[0] == HALT:
        return idle, context[-1][1], 0
    target, (one, *more) = delta(state, parities([s for s in shown if s != MARKER]))
    return (one, ("P", target, more[0]), 1) if more else (one, ("N", target), 0)


def generated(context: list[Any], token: tuple[str, Any, int]) -> list[Any]:
    """The context after a token: bit 1 keeps the oldest one, bit 0 drops it."""
    display, label, bit = token
    return [*(context if bit else context[1:]), (display, label)]


def check_window_run(exhibit: Any) -> None:
    """A machine's transformer, run on its own; its figures and the queue read off its context."""
    table, word = table_of(exhibit["machine"]), list(exhibit["input"])

    def delta(state: Any, seen: frozenset[str]) -> tuple[Any, list[str]]:
        control, kept = state
        (front,) = {START} if control is None else kept ^ seen
        target, new, _ = queue_step(table, control, front)
        return (target, seen ^ parities(new)), new

    begin = ("N", (None, frozenset[str]()))
    context: list[Any] = [(symbol, begin) for symbol in [*word, MARKER]]
    steps, tokens, refreshes, largest, longest = 0, 0, 0, len(context), len(word)
    while context[-1][1][1][0] != HALT and steps < exhibit["limit"]:
        pending = True
        while pending:
            token = transformer_token(context, delta, "0")
            context = generated(context, token)
            tokens, largest = tokens + 1, max(largest, len(context))
            refreshes += token[0] == MARKER
            pending = token[0] == MARKER or token[1][0] == "P"
        steps += 1
        shown = [display for display, _ in context if display != MARKER]
        ready = len(shown) < len(context)
        longest = max(longest, len(shown) - (not ready))
        require(largest <= longest + 1, f"a context of {largest} exceeds S + 1 = {longest + 1}")
    shown = [display for display, _ in context if display != MARKER]
    control, kept = context[-1][1][1]
    ready = len(shown) < len(context)
    queue = [*({START} if control is None else kept ^ parities(shown)), *shown] if ready else shown
    figures = {
        "halted": control == HALT,
        "steps": steps,
        "tokens": tokens,
        "refreshes": refreshes,
        "max_context": largest,
        "max_window": longest,
        "queue": " ".join(queue),
        "form": "ready" if ready else "refresh",
    }
    for name, value in figures.items():
        require(
            exhibit[name] == value, f"{name} is {value!r}, the certificate says {exhibit[name]!r}"
        )
    if control == HALT:
        halted, _, tape, _ = turing_run(table, word, MOST_MACHINE_STEPS)
        require(halted and tape_of(queue) == tape, "the queue read off is not the machine's tape")


def label_text(label: Any) -> str:
    """How certificates write a label."""
    kind, state, *owed = label
    return " ".join([kind, state[0], *owed])


STATES = ("p", "q", HALT)
"""Of the numbered machines."""


def numbered_delta(machine: int) -> Callable[[Any, frozenset[str]], tuple[Any, list[str]]]:
    """The transition of a numbered parity-HIST machine over a and b."""
    words = [list(w) for n in (1, 2) for w in itertools.product("ab", repeat=n)]
    choices = [(state, word) for state in STATES for word in words]
    require(0 <= machine < len(choices), "no machine has this number")

    def delta(state: Any, seen: frozenset[str]) -> tuple[Any, list[str]]:
        mask: int = ("a" in seen) + 2 * ("b" in seen)
        number: int = machine + 5 * mask + 7 * (state[0] == "q")
        target, word = choices[number % len(choices)]
        return (target,), word

    return delta


def check_context(exhibit: Any) -> None:
    """One context of the numbered machines: histogram, next token, or the whole step."""
    delta = numbered_delta(exhibit["machine"])
    require(exhibit["state"] in STATES, "no such state")
    shown = exhibit["displayed"].split()
    if "histogram" in exhibit:
        shares = [str(Fraction(shown.count(symbol), len(shown))) for symbol in "ab#"]
        require(exhibit["histogram"].split() == shares, "the histogram is another")
        return
    context: list[Any] = [(symbol, ("N", (exhibit["state"],))) for symbol in shown]
    tokens: list[list[Any]] = []
    while not tokens or (tokens[-1][1][0] == "P" and "tokens" in exhibit):
        display, label, bit = transformer_token(context, delta, "a")
        context = generated(context, (display, label, bit))
        tokens.append([display, label_text(label), bit])
    stated = exhibit["tokens"] if "tokens" in exhibit else [exhibit["next"]]
    require(stated == tokens, f"the tokens are {tokens}")
    after = " ".join(display for display, _ in context)
    require(exhibit.get("after", after) == after, f"the context displays {after!r}")


def check_words(exhibit: Any) -> None:
    """The word without markers, and its parity."""
    word = [symbol for symbol in exhibit["displayed"] if symbol != MARKER]
    require(exhibit["sem"] == word, "sem is another word")
    parity = {symbol: word.count(symbol) % 2 for symbol in "ab"}
    require(exhibit["parity"] == parity, "the parity is another")
