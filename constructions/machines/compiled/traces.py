"""Every step of every level of a run, one JSON-able object a step, in the order of their making.

    level         fields
    turing        step, state, read, write, move, next
    queue         step, popped, appended, state, length
    hist          step, seen, stored, recovered, appended, window
    transformer   token, displayed, label, update, context

A parity is shown as the symbols that occur an odd number of times.

Source: Sliding-Window Transformers Without Positional Encodings, Theorems 6, 7 and 9.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any

from constructions.machines.compiled import kernel
from constructions.machines.compiled.lockstep import Lockstep
from constructions.machines.definitions import Word
from constructions.machines.turing import Control

Entry = dict[str, object]


def trace(run: Lockstep[Any], max_steps: int, write: Callable[[Entry], None]) -> Iterator[int]:
    """Takes the run step by step to its end or limit; yields the steps made so far.

    Levels that were not asked are left out.
    """
    over = False
    while not over:
        before = _Moment(run)
        over = run.advance(max_steps, 1)
        for entry in before.entries(run):
            write(entry)
        yield run.steps


def state_text(state: Hashable) -> str:
    """A control state in a line of text."""
    if isinstance(state, Control):
        return " ".join(part for part in (state.phase.value, state.state, state.held) if part)
    return str(state)


class _Moment:
    """What is needed of a run before a step to say afterwards what the step did."""

    def __init__(self, run: Lockstep[Any]) -> None:
        r = run.registers
        self.rules, self.steps = int(r[kernel.RULES]), int(r[kernel.STEPS])
        self.turing, self.head = int(r[kernel.TURING_STATE]), int(r[kernel.TURING_HEAD])
        self.read = int(run.tape[self.head])
        self.seen, self.stored = int(r[kernel.SEEN]), run.stored
        self.tokens = run.tokens
        self.context = int(r[kernel.CONTEXT_END] - r[kernel.CONTEXT_FIRST])

    def entries(self, run: Lockstep[Any]) -> Iterator[Entry]:
        """The step of each asked level, the lowest first."""
        r = run.registers
        if "turing" in run.levels and r[kernel.RULES] > self.rules:
            yield self._rule(run)
        if run.turing_only or r[kernel.STEPS] == self.steps:
            return
        word = run.step_words(self.steps)
        if "queue" in run.levels:
            yield {
                "level": "queue",
                "step": self.steps + 1,
                "popped": word.popped,
                "appended": list(word.appended),
                "state": state_text(run.state),
                "length": int(r[kernel.QUEUE_END] - r[kernel.STEPS]),
            }
        if "hist" in run.levels:
            yield {
                "level": "hist",
                "step": self.steps + 1,
                "seen": run.odd_symbols(self.seen),
                "stored": run.odd_symbols(self.stored.parity),
                "recovered": word.popped,
                "appended": list(word.appended),
                "window": int(r[kernel.WINDOW_END] - r[kernel.HIST_STEPS]),
            }
        if "transformer" in run.levels:
            yield from self._tokens(run, word.appended)

    def _rule(self, run: Lockstep[Any]) -> Entry:
        turing, source = run.queue_table.turing, run.source
        if turing is None or source is None:
            return {}
        state, read = source.machine.states[self.turing], turing.alphabet[self.read]
        write, move, target = source.machine.rows[state][read]
        return {
            "level": "turing",
            "step": self.rules + 1,
            "state": state,
            "read": read,
            "write": write,
            "move": move,
            "next": target,
        }

    def _tokens(self, run: Lockstep[Any], appended: Word) -> Iterator[Entry]:
        """The refresh, if there was one, and a token for each appended symbol."""
        made = run.tokens - self.tokens
        after = state_text(run.state)
        shown = [(run.transformer.marker, f"N({state_text(self.stored.state)})", 0)]
        *first, last = appended
        shown += [(symbol, f"P({after}, {last})", 1) for symbol in first]
        shown.append((last, f"N({after})", 0))
        context = self.context
        for number, (symbol, label, update) in enumerate(shown[len(shown) - made :]):
            context += update
            yield {
                "level": "transformer",
                "token": self.tokens + number + 1,
                "displayed": symbol,
                "label": label,
                "update": update,
                "context": context,
            }
