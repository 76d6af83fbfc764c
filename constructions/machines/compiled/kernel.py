"""The loops of a run at four levels, over integers; numba compiles them when first asked for.

States, labels and symbols are numbers, words are rings of bytes, transitions are rows of tables
that are filled when they are first met. The queue machine leads by at most BLOCK steps, HIST and
the transformer follow, each from its own words and its own state:

    queue_steps   pops and appends; the Turing machine applies a rule where the queue is about to
    hist_steps    the same steps from the window and its parity
    tokens        their tokens from the context's histogram and the newest label

What is compared, at every step: the popped and the recovered front symbol; the appended words; the
control states; HIST's stored parity and that of the queue; the symbols that leave queue, window
and context; the lengths; displayed symbols, update bits and labels of the tokens; state and read
symbol of the Turing machine. By induction all words are equal then; once in four rotations of the
queue they and the whole tape are compared symbol by symbol as well.

A loop leaves with a reason: a row is missing, a ring is full, a limit is reached, it halted, or two
levels differ. It can always be entered again where it left.

Source: Sliding-Window Transformers Without Positional Encodings, Theorems 6, 7 and 9.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

# Registers: what a run keeps between two visits. A level's steps are also the place of its oldest
# symbol, since each step removes one.
(
    STATE, HIST, LABEL, PARITY, SEEN, MASK, STEPS, HIST_STEPS, TOKEN_STEPS, RULES, REFRESHES,
    QUEUE_END, WINDOW_END, CONTEXT_FIRST, CONTEXT_END, MAX_QUEUE, MAX_WINDOW, MAX_CONTEXT, STAGE,
    OWED, HALTED, DUE, FULL, TAPE_FULL, TURING_STATE, TURING_HEAD, LOWEST, HIGHEST, NONBLANK,
    MAX_RULES, MAX_STEPS, SYMBOLS, TAPE_SYMBOLS, WITH_TURING, WITH_HIST, WITH_TOKENS, HIST_ROW,
    TOKEN_ROW, LENGTH,
    REGISTERS,
) = range(40)  # fmt: skip

WIDTH = 8
# Columns of the queue's rows, one row for each state and symbol: the word of the step as HIST is to
# repeat it, the words of the one or two tokens that it makes, and what it does to the tape.
Q_KIND, Q_NEXT, Q_WORD, Q_TOKEN, Q_SECOND_TOKEN, Q_STATE, Q_READ, Q_HELD = range(WIDTH)
PLAIN, APPLIES, ENDS = range(3)
# Columns of the rows of HIST and of the transformer, found by state (or label) and parity. OF is
# the queue's state behind HIST's next one, or HIST's state behind the next label.
KEY, SEES, NEXT, WORD, OF, PARITY_AFTER, FOLLOWER = range(WIDTH - 1)
# A step's word holds first symbol, second + 1 or 0, removed symbol + 1, whether it halts; a
# token's word holds displayed symbol, update bit, pending symbol + 1 or 0, whether the run ends.
BYTE = 255
# Columns of the Turing machine's rows.
T_NEXT, T_WRITE, T_MOVE = range(3)

UNKNOWN = -1
ABSENT = -1
NOTHING = -1
MOST_SYMBOLS = 62
"""A parity is a mask in one signed number of 64 bits; one more symbol is the marker."""
BLOCK = 256
"""Steps by which the queue machine may lead."""
ROTATIONS = 4
"""Rotations of the queue after which all words are compared in full once more."""

GO_ON, PAUSED, ENDED, LIMIT = range(4)
NO_QUEUE_ROW, NO_HIST_ROW, NO_TOKEN_ROW, NO_ROOM, NO_TAPE = range(4, 9)
RUNS_ON, TURING_DIFFERS, TAPE_DIFFERS, HIST_DIFFERS, TOKENS_DIFFER, WORDS_DIFFER = range(9, 15)

REFRESH, FIRST_TOKEN, SECOND_TOKEN = range(3)

Place = np.uint64
"""An index without a sign needs no test for counting from the end."""


def slot(key: int, mask: int) -> int:
    """Where the chain of a key and a mask begins, before it is cut to a table's size."""
    return mask ^ (mask >> 15) ^ (key * 40503)


def find(rows: Array, key: int, mask: int, before: int) -> int:
    """Where the row of a key and a mask begins, or -1; first where `before` was followed last."""
    row = rows[Place(before + FOLLOWER)]
    if rows[Place(row + KEY)] == key and rows[Place(row + SEES)] == mask:
        return row
    last = rows.shape[0] // WIDTH - 1
    place = slot(key, mask) & last
    while rows[Place(place * WIDTH + KEY)] != UNKNOWN:
        row = place * WIDTH
        if rows[Place(row + KEY)] == key and rows[Place(row + SEES)] == mask:
            rows[Place(before + FOLLOWER)] = row
            return row
        place = (place + 1) & last
    return UNKNOWN


# --- the Turing machine ----------------------------------------------------------------------


def apply_rule(r: Array, rules: Array, tape: Array) -> None:
    """One rule; its row exists and its head has room on both sides."""
    head = r[TURING_HEAD]
    read = tape[head]
    row = r[TURING_STATE] * r[TAPE_SYMBOLS] + read
    if r[HIGHEST] < r[LOWEST]:
        r[LOWEST] = r[HIGHEST] = head
    elif head > r[HIGHEST]:
        r[HIGHEST] = head
    elif head < r[LOWEST]:
        r[LOWEST] = head
    tape[head] = rules[row, T_WRITE]
    r[NONBLANK] += int(rules[row, T_WRITE] != 0) - int(read != 0)
    r[TURING_STATE] = rules[row, T_NEXT]
    r[TURING_HEAD] = head + rules[row, T_MOVE]


def apply_rules(r: Array, rules: Array, tape: Array) -> int:
    """Rules of the Turing machine alone, up to MAX_STEPS in all; the reason why it left."""
    while r[RULES] < r[MAX_STEPS]:
        if rules[r[TURING_STATE] * r[TAPE_SYMBOLS] + tape[r[TURING_HEAD]], T_NEXT] < 0:
            return ENDED
        if r[RULES] == r[MAX_RULES]:
            return LIMIT
        apply_rule(r, rules, tape)
        r[RULES] += 1
        if r[TURING_HEAD] == 0 or r[TURING_HEAD] == tape.shape[0] - 1:
            return NO_TAPE
    return PAUSED


def tape_differs(r: Array, queue: Array, tape: Array, cells: Array, held: int) -> bool:
    """Whether the tape that the cyclic word shows, its head at the front, is another than `tape`.

    `cells` gives the tape symbol of each queue symbol, -1 for the separator; `held` is the symbol
    in the control.
    """
    ring, size = queue.shape[0] - 1, r[QUEUE_END] - r[STEPS]
    nonblank, rights = 0, 0
    while rights < size and cells[queue[(r[STEPS] + rights) & ring]] >= 0:
        cell, place = cells[queue[(r[STEPS] + rights) & ring]], r[TURING_HEAD] + rights
        if cell != (tape[place] if place < tape.shape[0] else 0):
            return True
        nonblank += cell != 0
        rights += 1
    lefts = 0
    while lefts < size - rights + 1:
        symbol = held if lefts == 0 else np.int64(queue[(r[QUEUE_END] - lefts) & ring])
        if cells[symbol] < 0:
            break
        place = r[TURING_HEAD] - 1 - lefts
        if cells[symbol] != (tape[place] if place >= 0 else 0):
            return True
        nonblank += cells[symbol] != 0
        lefts += 1
    return nonblank != r[NONBLANK]


# --- the queue machine -----------------------------------------------------------------------


def before_rule(
    r: Array, row: int, rows: Array, rules: Array, queue: Array, tape: Array, cells: Array
) -> int:
    """What the levels say where the queue applies a rule, or finds none: GO_ON if they agree."""
    kind = rows[row + Q_KIND]
    if kind == UNKNOWN:
        return NO_QUEUE_ROW
    if r[WITH_TURING]:
        read = tape[r[TURING_HEAD]]
        known = rules[r[TURING_STATE] * r[TAPE_SYMBOLS] + read, T_NEXT] >= 0
        if (
            r[TURING_STATE] != rows[row + Q_STATE]
            or read != rows[row + Q_READ]
            or known != (kind == APPLIES)
        ):
            return TURING_DIFFERS
        if r[STEPS] >= r[TAPE_FULL]:
            if tape_differs(r, queue, tape, cells, rows[row + Q_HELD]):
                return TAPE_DIFFERS
            r[TAPE_FULL] = r[STEPS] + ROTATIONS * (r[QUEUE_END] - r[STEPS])
    if kind == ENDS:
        r[DUE] = r[STEPS]
        return GO_ON
    if r[RULES] == r[MAX_RULES]:
        return LIMIT
    if r[WITH_TURING]:
        if r[TURING_HEAD] < 1 or r[TURING_HEAD] >= tape.shape[0] - 1:
            return NO_TAPE
        apply_rule(r, rules, tape)
    r[RULES] += 1
    r[DUE] = r[QUEUE_END] + 4
    return GO_ON


def queue_steps(
    r: Array, rows: Array, rules: Array, queue: Array, tape: Array, cells: Array, trail: Array,
    until: int,
) -> int:  # fmt: skip
    """Steps of the queue machine until so many are made in all, or a reason to leave.

    `trail` keeps where the row of each of the last BLOCK steps begins.
    """
    ring, symbols = queue.shape[0] - 1, r[SYMBOLS]
    state, steps, end, reason = r[STATE], r[STEPS], r[QUEUE_END], GO_ON
    stop = 0 if r[HALTED] else min(until, r[DUE] + 1)
    while steps < stop:
        row = (state * symbols + queue[Place(steps & ring)]) * WIDTH
        if rows[Place(row + Q_KIND)] != PLAIN:
            r[STEPS], r[QUEUE_END] = steps, end
            reason = before_rule(r, row, rows, rules, queue, tape, cells)
            if reason != GO_ON:
                break
            stop = min(until, r[DUE] + 1)
        word = rows[Place(row + Q_WORD)]
        state = rows[Place(row + Q_NEXT)]
        queue[Place(end & ring)] = word & BYTE
        end += 1
        if word & (BYTE << 8):
            queue[Place(end & ring)] = ((word >> 8) & BYTE) - 1
            end += 1
            r[MAX_QUEUE] = max(r[MAX_QUEUE], end - steps - 1)
        trail[Place(steps & (BLOCK - 1))] = row
        steps += 1
        if word >> 24:
            r[HALTED], stop = 1, 0
    r[STATE], r[STEPS], r[QUEUE_END] = state, steps, end
    if reason == GO_ON and r[HALTED]:
        return ENDED
    return RUNS_ON if reason == GO_ON and steps > r[DUE] else reason


# --- HIST ------------------------------------------------------------------------------------


def hist_steps(
    r: Array, queue_rows: Array, rows: Array, queue: Array, window: Array, trail: Array,
    states: Array,
) -> int:  # fmt: skip
    """HIST's steps up to those of the queue; `states` keeps its states after the last of them."""
    ring = queue.shape[0] - 1
    hist, parity, seen, before = r[HIST], r[PARITY], r[SEEN], r[HIST_ROW]
    end, reason, steps = r[WINDOW_END], GO_ON, r[HIST_STEPS]
    surplus, until, front = end - steps, r[STEPS], np.int64(queue[Place(steps & ring)])
    while steps < until:
        found = find(rows, hist, seen, before)
        if found < 0:
            reason = NO_HIST_ROW
            break
        before = found
        word = rows[Place(found + WORD)]
        hist = rows[Place(found + NEXT)]
        first, second = word & BYTE, (word >> 8) & BYTE
        window[Place(end & ring)] = first
        end += 1
        seen ^= 1 << first
        parity ^= 1 << first
        if second:
            window[Place(end & ring)] = second - 1
            end += 1
            seen ^= 1 << (second - 1)
            parity ^= 1 << (second - 1)
            surplus += 1
            r[MAX_WINDOW] = max(r[MAX_WINDOW], surplus)
        left = np.int64(window[Place(steps & ring)])
        seen ^= 1 << left
        parity ^= 1 << front
        row = trail[Place(steps & (BLOCK - 1))]
        states[Place(steps & (BLOCK - 1))] = hist
        steps += 1
        front = np.int64(queue[Place(steps & ring)])
        if (
            word != queue_rows[Place(row + Q_WORD)]
            or rows[Place(found + OF)] != queue_rows[Place(row + Q_NEXT)]
            or rows[Place(found + PARITY_AFTER)] != parity
            or left != front
        ):
            reason = HIST_DIFFERS
            break
    r[HIST], r[PARITY], r[SEEN], r[HIST_ROW] = hist, parity, seen, before
    r[WINDOW_END], r[HIST_STEPS] = end, steps
    return reason


# --- the transformer -------------------------------------------------------------------------


def tokens(  # noqa: PLR0912, PLR0915  a loop in one piece keeps its state in registers
    r: Array, queue_rows: Array, rows: Array, window: Array, context: Array, counts: Array,
    trail: Array, states: Array,
) -> int:  # fmt: skip
    """The tokens of HIST's steps."""
    ring, marker, stage = window.shape[0] - 1, r[SYMBOLS], r[STAGE]
    label, mask, before, markers = r[LABEL], r[MASK], r[TOKEN_ROW], counts[r[SYMBOLS]]
    first, end, steps, owed = r[CONTEXT_FIRST], r[CONTEXT_END], r[TOKEN_STEPS], r[OWED]
    length, reason, until = r[LENGTH], GO_ON, r[HIST_STEPS]
    while steps < until:
        if stage == REFRESH and markers:
            stage = FIRST_TOKEN
        found = find(rows, label, mask if markers else ABSENT, before)
        if found < 0 or markers > 1:
            reason = NO_TOKEN_ROW
            break
        before = found
        word = rows[Place(found + WORD)]
        label = rows[Place(found + NEXT)]
        shown, gone, fits = word & BYTE, NOTHING, True
        context[Place(end & ring)] = shown
        end += 1
        if word & (1 << 8):
            length += 1
            r[MAX_CONTEXT] = max(r[MAX_CONTEXT], end - first)
        else:
            gone = np.int64(context[Place(first & ring)])
            first += 1
        row = trail[Place(steps & (BLOCK - 1))]
        left = np.int64(window[Place(steps & ring)])
        if stage == REFRESH:
            fits = word == marker and gone == owed
            stage = FIRST_TOKEN
        else:
            due = queue_rows[Place(row + (Q_TOKEN if stage == FIRST_TOKEN else Q_SECOND_TOKEN))]
            fits = word == due and rows[Place(found + OF)] == states[Place(steps & (BLOCK - 1))]
            if due & (1 << 8):
                stage = SECOND_TOKEN
            else:
                fits = fits and gone in (left, marker)
                stage = REFRESH
                steps += 1
        if shown != gone:
            counts[Place(shown)] += 1
            mask ^= 1 << shown
            if shown == marker:
                r[REFRESHES] += 1
            if gone == marker:
                owed = left
            if gone != NOTHING:
                counts[Place(gone)] -= 1
                mask ^= 1 << gone
            mask &= (1 << marker) - 1
            markers = counts[Place(marker)]
        if not fits or end - first != length + 1:
            reason = TOKENS_DIFFER
            break
    r[STAGE], r[LABEL], r[MASK], r[TOKEN_ROW] = stage, label, mask, before
    r[CONTEXT_FIRST], r[CONTEXT_END], r[TOKEN_STEPS], r[OWED] = first, end, steps, owed
    r[LENGTH] = length
    return reason


# --- all levels ------------------------------------------------------------------------------


def words_differ(r: Array, queue: Array, window: Array, context: Array) -> bool:
    """Whether window and tail of the queue, or sem and window (or queue), differ anywhere."""
    ring, front = queue.shape[0] - 1, r[STEPS]
    if r[WINDOW_END] - r[STEPS] != r[QUEUE_END] - r[STEPS] - 1:
        return True
    for i in range(r[WINDOW_END] - r[STEPS]):
        if window[(front + i) & ring] != queue[(front + 1 + i) & ring]:
            return True
    if not r[WITH_TOKENS]:
        return False
    markers = 0
    for i in range(r[CONTEXT_FIRST], r[CONTEXT_END]):
        markers += context[i & ring] == r[SYMBOLS]
    place = front + (1 if markers else 0)
    for i in range(r[CONTEXT_FIRST], r[CONTEXT_END]):
        symbol = context[i & ring]
        if symbol != r[SYMBOLS]:
            if place == r[QUEUE_END] or queue[place & ring] != symbol:
                return True
            place += 1
    return place != r[QUEUE_END]


def advance(
    r: Array, queue_rows: Array, hist_rows: Array, token_rows: Array, rules: Array, queue: Array,
    window: Array, context: Array, tape: Array, cells: Array, counts: Array, trail: Array,
    states: Array,
) -> int:  # fmt: skip
    """Blocks of steps at all levels until there is a reason to leave, which is returned."""
    while True:
        behind = r[STEPS]
        if r[WITH_TOKENS]:
            behind = r[TOKEN_STEPS]
        elif r[WITH_HIST]:
            behind = r[HIST_STEPS]
        if r[QUEUE_END] - behind + 2 * BLOCK > queue.shape[0]:
            return NO_ROOM
        until = min(r[MAX_STEPS], behind + BLOCK)
        lead = queue_steps(r, queue_rows, rules, queue, tape, cells, trail, until)
        if r[WITH_HIST]:
            reason = hist_steps(r, queue_rows, hist_rows, queue, window, trail, states)
            if reason != GO_ON:
                return reason
        if r[WITH_TOKENS]:
            reason = tokens(r, queue_rows, token_rows, window, context, counts, trail, states)
            if reason != GO_ON:
                return reason
        if r[WITH_HIST] and r[STEPS] >= r[FULL]:
            if words_differ(r, queue, window, context):
                return WORDS_DIFFER
            r[FULL] = r[STEPS] + ROTATIONS * (r[QUEUE_END] - r[STEPS])
        if lead != GO_ON:
            return lead
        if r[STEPS] >= r[MAX_STEPS]:
            return PAUSED


_PARTS = (
    slot, find, apply_rule, tape_differs, before_rule, queue_steps, hist_steps, tokens,
    words_differ,
)  # fmt: skip


@lru_cache(maxsize=1)
def compiled() -> tuple[Callable[..., int], Callable[..., int]]:
    """`advance` and `apply_rules` as machine code, kept on disk from one process to the next."""
    from numba import njit
    from numba.extending import register_jitable

    for part in _PARTS:
        register_jitable(part)
    return njit(cache=True)(advance), njit(cache=True)(apply_rules)
