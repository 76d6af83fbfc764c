"""Theorem 9: a sliding-window transformer without positional encoding that simulates parity-HIST.

A token displays a symbol of the HIST alphabet or the marker `#`, and carries a control label.
Uniform attention yields the displayed-symbol histogram over the context's length; with one marker
its own share is 1/m, so ratios to it are counts. The map G reads those counts and the newest label:

    marker   newest label        next token
    absent   r                   (#, r, 0)                               refresh
    present  P(q, sigma)         (sigma, N(q), 0)                        pending
    present  N(q), halting       (first symbol, N(q), 0)                 idle: label and length stay
    present  N(q), a = x         (x, N(q'), 0)                           delta(q, parity) = (q', a)
    present  N(q), a = x y       (x, P(q', y), 1)

Between HIST steps the context is *ready* (one marker, sem = W) or to be *refreshed* (no marker,
tail(sem) = W). A run ends at N(halting), never at P(halting, .): there the last symbol is still
owed. The paper leaves G open on halting labels; without a value all tokens would tie, so the idle
row fixes one.

Source: Sliding-Window Transformers Without Positional Encodings, Theorem 9 and Appendix A.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple

from constructions.machines import parity
from constructions.machines.definitions import (
    MachineError,
    ParityHistMachine,
    QueueMachine,
    State,
    Token,
    Word,
    fresh_symbol,
    markers,
    require_word,
    sem,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Normal(Generic[State]):
    """N(q): the next token begins a HIST step from q."""

    state: State


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending(Generic[State]):
    """P(q, sigma): the HIST state is q already, and sigma is still to be emitted."""

    state: State
    symbol: str


WindowLabel = Normal[State] | Pending[State]
WindowToken = Token[Normal[State] | Pending[State]]


class TokenStep(NamedTuple, Generic[State]):
    """A generated token with its place in the histogram and its label's row of answers."""

    token: WindowToken[State]
    row: "dict[int, TokenStep[State]]"
    place: int
    halting: bool


ABSENT = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowTransformer(Generic[State]):
    """The transformer of a parity-HIST machine: vocabulary symbols, prompt and the map G.

        rule(label, parity mask, or ABSENT without a marker) -> next token

    Source: Theorem 9, Appendix A.
    """

    machine: ParityHistMachine[State]
    marker: str
    rule: Callable[[WindowLabel[State], int], WindowToken[State]]
    _rows: dict[WindowLabel[State], dict[int, TokenStep[State]]] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )

    @property
    def displayed(self) -> Word:
        """The symbols that a token can display: the HIST alphabet, then the marker."""
        return (*self.machine.alphabet, self.marker)

    def prompt(self, word: Iterable[str]) -> tuple[WindowToken[State], ...]:
        """The first context: the initial window and one marker, all labelled N(start)."""
        kept = require_word(self.machine.alphabet, word, "WindowTransformer.prompt")
        label = Normal(state=self.machine.start)
        return tuple(
            Token(displayed=symbol, label=label, update=0) for symbol in (*kept, self.marker)
        )

    def is_final(self, label: WindowLabel[State]) -> bool:
        """Whether a run ends at this label: N(q) with q halting."""
        return isinstance(label, Normal) and self.machine.is_halting(label.state)

    def next_token(self, label: WindowLabel[State], counts: Sequence[int]) -> WindowToken[State]:
        """G: the next token from the newest label and the displayed counts (marker last).

        Raises:
            MachineError: more than one marker, where counts cannot be told from ratios.
        """
        if counts[-1] > 1:
            raise MachineError(
                f"WindowTransformer: a context must have at most one marker, got {counts[-1]}; "
                "start from a prompt"
            )
        return self.rule(label, counts_mask(counts) if counts[-1] else ABSENT)

    def row(self, label: WindowLabel[State]) -> dict[int, TokenStep[State]]:
        """The answers met so far for this newest label."""
        return self._rows.setdefault(label, {})

    def answer(self, label: WindowLabel[State], counts: Sequence[int]) -> TokenStep[State]:
        """The answer of G, kept by label and parity, on which alone it depends."""
        token = self.next_token(label, counts)
        step = TokenStep(
            token,
            self.row(token.label),
            self.displayed.index(token.displayed),
            self.is_final(token.label),
        )
        self.row(label)[counts_mask(counts) if counts[-1] else ABSENT] = step
        return step


def counts_mask(counts: Sequence[int]) -> int:
    """Parity mask of the HIST symbols, from the displayed counts (marker last, left out)."""
    return sum((count & 1) << place for place, count in enumerate(counts[:-1]))


def window_transformer(machine: ParityHistMachine[State]) -> WindowTransformer[State]:
    """The sliding-window transformer of Theorem 9 for a parity-HIST machine."""
    marker = fresh_symbol("#", machine.alphabet)

    def rule(label: WindowLabel[State], seen: int) -> WindowToken[State]:
        if seen == ABSENT:
            return Token(displayed=marker, label=label, update=0)
        if isinstance(label, Pending):
            return Token(displayed=label.symbol, label=Normal(state=label.state), update=0)
        if machine.is_halting(label.state):
            return Token(displayed=machine.alphabet[0], label=label, update=0)
        step = machine.transition(label.state, seen)
        if len(step.appended) == 1:
            return Token(displayed=step.appended[0], label=Normal(state=step.state), update=0)
        first, second = step.appended
        return Token(displayed=first, label=Pending(state=step.state, symbol=second), update=1)

    return WindowTransformer(machine=machine, marker=marker, rule=rule)


class SlidingWindowRun(Generic[State]):
    """Generation, token by token: the run reads the context's histogram, its newest label and G.

    `counts` are kept as tokens enter and leave; `refreshes` counts generated markers.
    """

    __slots__ = (
        "_mask", "_places", "_row", "context", "counts", "halted", "max_context", "refreshes",
        "tokens", "transformer",
    )  # fmt: skip

    def __init__(self, transformer: WindowTransformer[State], word: Iterable[str] = ()) -> None:
        """Stand before the first step."""
        self.transformer = transformer
        self.context = deque(transformer.prompt(word))
        self._places = {symbol: place for place, symbol in enumerate(transformer.displayed)}
        self.counts = [0] * len(self._places)
        for token in self.context:
            self.counts[self._places[token.displayed]] += 1
        self._mask: int = counts_mask(self.counts)
        newest = self.context[-1].label
        self._row = transformer.row(newest)
        self.halted = transformer.is_final(newest)
        self.tokens = 0
        self.refreshes = 0
        self.max_context = len(self.context)

    @property
    def markers(self) -> int:
        """Markers in the context."""
        return self.counts[-1]

    def step(self) -> WindowToken[State]:
        """Generates one token and slides the context.

        Raises:
            MachineError: the run has ended, or more than one marker is in the context.
        """
        if self.halted:
            raise MachineError(
                f"SlidingWindowRun.step: the run must go on, but it ended after {self.tokens} "
                "tokens; test `halted` before a step"
            )
        counts, context = self.counts, self.context
        present = counts[-1]
        step = None if present > 1 else self._row.get(self._mask if present else ABSENT)
        if step is None:
            step = self.transformer.answer(context[-1].label, counts)
        token, self._row, place, self.halted = step
        self.tokens += 1
        context.append(token)
        counts[place] += 1
        last = len(counts) - 1
        if place == last:
            self.refreshes += 1
        else:
            self._mask ^= 1 << place
        if token.update:
            self.max_context = max(self.max_context, len(context))
        else:
            gone = self._places[context.popleft().displayed]
            counts[gone] -= 1
            if gone != last:
                self._mask ^= 1 << gone
        return token


def final_queue(
    machine: QueueMachine[State],
    transformer: WindowTransformer[parity.Stored[State]],
    context: Sequence[WindowToken[parity.Stored[State]]],
) -> Word:
    """The queue machine's whole queue in a context between HIST steps.

    Ready: the front symbol recovered from the label's parity, then sem. Without a marker sem itself
    is the whole queue, since the marker left in place of the front symbol.

    Raises:
        MachineError: the newest label is pending.

    Source: Appendix A, the two forms; the label keeps r as in `parity`.
    """
    label = context[-1].label
    if isinstance(label, Pending):
        raise MachineError(
            f"final_queue: the newest label must be N(q), got {label!r}; generate one more token"
        )
    word = sem(context, transformer.marker)
    if not markers(context, transformer.marker):
        return word
    return parity.final_queue(machine, label.state, word)
