"""A queue run with the parity-HIST and transformer runs that follow it, compared at every step.

Source: Sliding-Window Transformers Without Positional Encodings, Theorems 7 and 9.
"""

from collections.abc import Callable
from typing import Generic

from constructions.machines import parity, window
from constructions.machines.definitions import (
    MachineError,
    ParityHistMachine,
    QueueMachine,
    State,
    Word,
    parity_mask,
    sem,
)
from constructions.machines.parity import Stored
from constructions.machines.runs import ParityHistRun, QueueRun
from constructions.machines.window import Normal, Pending, SlidingWindowRun, WindowTransformer


class Followed(Generic[State]):
    """A queue run with the HIST and transformer runs that follow it, compared at every step."""

    __slots__ = ("_bits", "_parity", "_units", "front", "hist", "queue", "transformer")

    def __init__(
        self,
        machine: QueueMachine[State],
        hist: ParityHistMachine[Stored[State]] | None,
        transformer: WindowTransformer[Stored[State]] | None,
        word: Word,
    ) -> None:
        """Stand before the first step."""
        self.queue = QueueRun(machine, word)
        self.hist = ParityHistRun(hist, word) if hist else None
        self.transformer = SlidingWindowRun(transformer, word) if transformer else None
        self.front = machine.front
        self._bits = {symbol: 1 << place for place, symbol in enumerate(machine.alphabet)}
        self._units = {bit: symbol for symbol, bit in self._bits.items()}
        self._parity = parity_mask(machine.alphabet, self.queue.queue)

    def step(self) -> str:
        """One queue step at every level; returns a description of the first difference, or ''.

        Raises:
            MachineError: a level met a configuration on which it is not defined.
        """
        hist = self.hist
        popped = self.queue.step()
        return self._follow(hist, popped) if hist else ""

    def _follow(self, hist: ParityHistRun[Stored[State]], popped: str) -> str:
        queue, stored, seen = self.queue, hist.state, hist.parity
        appended = queue.appended
        bits, stored_next = self._bits, self._parity ^ self._bits[popped]
        for symbol in appended:
            stored_next ^= bits[symbol]
        self._parity = stored_next
        recovered = self.front if stored.first else self._units.get(stored.parity ^ seen)
        hist.step()
        now = hist.state
        if (
            recovered != popped
            or hist.appended != appended
            or (now.state is not queue.state and now.state != queue.state)
            or now.parity != stored_next
            or len(hist.window) != len(queue.queue) - 1
            or hist.halted != queue.halted
        ):
            return (
                f"queue step {queue.steps}: the queue popped {popped!r}, appended {appended} and "
                f"went to {queue.state!r} with parity {stored_next:b}; HIST recovered "
                f"{recovered!r}, appended {hist.appended} and went to {now!r}"
            )
        if self.transformer:
            return self._tokens(self.transformer, appended, now)
        return ""

    def _tokens(
        self,
        run: SlidingWindowRun[Stored[State]],
        appended: Word,
        target: Stored[State],
    ) -> str:
        if not run.counts[-1] and run.step().displayed != run.transformer.marker:
            return f"queue step {self.queue.steps}: no marker is in the context, and none came"
        token = run.step()
        fits = token.displayed == appended[0]
        if fits and len(appended) > 1:
            label = token.label
            fits = (
                isinstance(label, Pending)
                and label.symbol == appended[1]
                and (label.state is target or label.state == target)
            )
            if fits:
                token = run.step()
                fits = token.displayed == appended[1]
        label = token.label
        if not (
            fits and isinstance(label, Normal) and (label.state is target or label.state == target)
        ):
            return (
                f"queue step {self.queue.steps}: the transformer owed {appended} and then "
                f"N({target!r}), its last token is {token!r}"
            )
        if self.hist and run.max_context > self.hist.max_window + 1:
            return (
                f"queue step {self.queue.steps}: a context of {run.max_context} tokens for windows "
                f"of at most {self.hist.max_window}"
            )
        return ""

    def guarded(self, comparison: Callable[[], str]) -> str:
        """What the comparison finds; a level off its definition is a difference too."""
        try:
            return comparison()
        except MachineError as error:
            return f"queue step {self.queue.steps}: {error}"

    def contents(self) -> str:
        """Compares whole words: HIST window = tail(queue), sem(context) = window or queue."""
        if self.hist is None:
            return ""
        queue, held = [*self.queue.queue], [*self.hist.window]
        where = f"queue step {self.queue.steps}"
        if held != queue[1:]:
            return f"{where}: the queue is {queue}, the HIST window {held}"
        if self.transformer:
            run = self.transformer
            word = [*sem(run.context, run.transformer.marker)]
            if word != (held if run.markers else queue):
                return f"{where}: the HIST window is {held}, the transformer's {word}"
            if run.halted != self.queue.halted:
                return f"{where}: the queue halted: {self.queue.halted}, transformer: {run.halted}"
        return self._ending() if self.queue.halted else ""

    def _ending(self) -> str:
        machine, queue = self.queue.machine, tuple(self.queue.queue)
        found: dict[str, Word] = {}
        if self.hist:
            found["HIST"] = parity.final_queue(machine, self.hist.state, self.hist.window)
        if self.transformer:
            run = self.transformer
            found["transformer"] = window.final_queue(machine, run.transformer, run.context)
        for level, word in found.items():
            if word != queue:
                return f"final queue: {queue}, read from the {level}: {word}"
        return ""
