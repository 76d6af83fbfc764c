"""Runs of small machines on which the theorems' statements are checked instance by instance.

A `RunCase` is a Turing machine of two states and two symbols, given by its number in the lexical
order of bbchallenge texts, an input, and a limit; the queue machine of Theorem 6 and what simulates
it are built from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass

from constructions.machines.corpus import TWO
from constructions.machines.definitions import (
    MachineError,
    ParityHistMachine,
    QueueMachine,
    TuringMachine,
    Word,
)
from constructions.machines.followed import Followed
from constructions.machines.parity import Stored, parity_machine
from constructions.machines.readings import words_up_to
from constructions.machines.runs import ParityHistRun, QueueRun
from constructions.machines.turing import Control, queue_machine
from constructions.machines.window import (
    SlidingWindowRun,
    WindowTransformer,
    final_queue,
    window_transformer,
)
from verify.counterexamples import Counterexample
from verify.ranges import Range
from verify.verdicts import Json

MACHINES: int = TWO.size
"""Tables of two states and two symbols: 13^4."""
SYMBOLS = ("0", "1")
MOST_TOKENS = 3
"""Tokens of one HIST step: two symbols and a refresh."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCase:
    """A machine's number, an input and the largest number of steps (or rules)."""

    number: int
    word: Word
    limit: int

    @property
    def machine(self) -> TuringMachine:
        """The Turing machine."""
        return TWO.machine(self.number)

    def as_json(self) -> dict[str, Json]:
        """The case as certificates and counterexamples name it."""
        return {"machine": self.machine.name, "input": list(self.word), "limit": self.limit}


def run_range(every: int, length: int, limit: int, unit: str = "queue steps") -> Range:
    """Every `every`-th machine on all inputs up to a length."""
    machines = "all" if every == 1 else f"number 0, {every}, {2 * every}, .. of the"
    return Range(
        bound=f"{machines} {MACHINES} Turing machines of 2 states and 2 symbols in lexical order, "
        f"inputs of length at most {length}, at most {limit} {unit}",
        over=lambda: run_cases(every, length, limit),
    )


def run_cases(every: int, length: int, limit: int) -> Iterator[RunCase]:
    """The instances of `run_range`."""
    for number in range(0, MACHINES, every):
        for word in words_up_to(SYMBOLS, length):
            yield RunCase(number=number, word=word, limit=limit)


def failure(case: RunCase, text: str) -> Counterexample:
    """The case as a counterexample."""
    return Counterexample(
        text=f"{case.machine.name} on {''.join(case.word) or 'no input'}: {text}",
        instance=case.as_json(),
    )


# --- Theorem 7 -------------------------------------------------------------------------------

ParityMaker = Callable[[QueueMachine[Control]], ParityHistMachine[Stored[Control]]]
"""Makes a parity-HIST machine of a queue machine; a mutant puts a wrong one in."""


def parity_fails(make: ParityMaker) -> Callable[[RunCase], Counterexample | None]:
    """The obligation that the parity-HIST machine is, at every step, its queue machine.

    State, window = tail(queue), stored parity = parity of the queue, halting state included.
    """

    def holds(case: RunCase) -> Counterexample | None:
        source = queue_machine(case.machine)
        queue = QueueRun(source, case.word)
        hist = ParityHistRun(make(source), case.word)
        try:
            return _in_step(case, queue, hist)
        except MachineError as error:
            return failure(case, f"queue step {queue.steps}: {error}")

    return holds


def _in_step(
    case: RunCase, queue: QueueRun[Control], hist: ParityHistRun[Stored[Control]]
) -> Counterexample | None:
    alphabet = queue.machine.alphabet
    while not queue.halted and queue.steps < case.limit:
        queue.step()
        hist.step()
        content, window, stored = tuple(queue.queue), tuple(hist.window), hist.state
        parity = sum((content.count(y) & 1) << place for place, y in enumerate(alphabet))
        if (window, stored.state, stored.first) != (content[1:], queue.state, False):
            return failure(
                case,
                f"after {queue.steps} steps the queue is {content} in {queue.state}, "
                f"HIST has the window {window} in {stored.state}",
            )
        if stored.parity != parity or hist.halted != queue.halted:
            return failure(
                case,
                f"after {queue.steps} steps the queue's parity is {parity:b} and it halted: "
                f"{queue.halted}; HIST stores {stored.parity:b} and halted: {hist.halted}",
            )
    return None


def recovery_fails(
    name: Callable[[QueueMachine[Control], Stored[Control], int], str],
) -> Callable[[RunCase], Counterexample | None]:
    """The obligation that r xor p is the unit vector of the dropped symbol, and `name` names it."""

    def holds(case: RunCase) -> Counterexample | None:
        source = queue_machine(case.machine)
        queue = QueueRun(source, case.word)
        hist = ParityHistRun(parity_machine(source), case.word)
        while queue.steps < case.limit:
            stored, seen, front = hist.state, hist.parity, queue.queue[0]
            unit = 1 << source.alphabet.index(front)
            came = _named(name, source, stored, seen)
            if came != front or not (stored.first or stored.parity ^ seen == unit):
                return failure(
                    case,
                    f"before step {queue.steps + 1} the queue's front is {front!r}, r xor p is "
                    f"{stored.parity ^ seen:b} and names {came!r}",
                )
            if queue.halted:
                break
            queue.step()
            hist.step()
        return None

    return holds


def _named(
    name: Callable[[QueueMachine[Control], Stored[Control], int], str],
    source: QueueMachine[Control],
    stored: Stored[Control],
    seen: int,
) -> str:
    try:
        return name(source, stored, seen)
    except MachineError as error:
        return f"nothing ({error})"


# --- Theorem 9 -------------------------------------------------------------------------------

WindowMaker = Callable[[ParityHistMachine[Stored[Control]]], WindowTransformer[Stored[Control]]]
"""Makes a transformer of a parity-HIST machine; a mutant puts a wrong one in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowFigures:
    """What a run of the transformer came to; `form` is ready or refresh."""

    steps: int
    halted: bool
    queue: Word
    form: str
    max_window: int
    tokens: int
    max_context: int
    refreshes: int


def window_fails(
    make: WindowMaker = window_transformer, hist_of: ParityMaker = parity_machine
) -> Callable[[RunCase], Counterexample | None]:
    """The obligation that the transformer follows its machine, token by token, within the bounds.

    At every queue step: the appended words, labels and contents; contexts of at most S + 1 tokens;
    at most three tokens a step; and, once halted, the whole final queue read off the context.
    """

    def holds(case: RunCase) -> Counterexample | None:
        source = queue_machine(case.machine)
        hist = hist_of(source)
        followed = Followed(source, hist, make(hist), case.word)
        trouble = followed.guarded(lambda: _followed_until(followed, case.limit))
        return failure(case, trouble) if trouble else None

    return holds


def _followed_until(followed: Followed[Control], limit: int) -> str:
    queue, run = followed.queue, followed.transformer
    while not queue.halted and queue.steps < limit:
        before = run.tokens if run else 0
        trouble = followed.step() or followed.contents()
        if trouble:
            return trouble
        if run and run.tokens - before > MOST_TOKENS:
            return f"queue step {queue.steps} took {run.tokens - before} tokens"
    return followed.contents()


def window_figures(case: RunCase) -> WindowFigures:
    """The figures of the transformer's run, the final queue read off its context."""
    source = queue_machine(case.machine)
    hist = ParityHistRun(parity_machine(source), case.word)
    run = SlidingWindowRun(window_transformer(parity_machine(source)), case.word)
    while not hist.halted and hist.steps < case.limit:
        hist.step()
        if not run.markers:
            run.step()
        for _ in hist.appended:
            run.step()
    return WindowFigures(
        steps=hist.steps,
        halted=run.halted,
        queue=final_queue(source, run.transformer, tuple(run.context)),
        form="ready" if run.markers else "refresh",
        max_window=hist.max_window,
        tokens=run.tokens,
        max_context=run.max_context,
        refreshes=run.refreshes,
    )


def run_exhibit(case: RunCase) -> Json:
    """Kind `window-run`: the case and the figures of its transformer."""
    figures = asdict(window_figures(case))
    return {**case.as_json(), **figures, "queue": " ".join(figures["queue"])}
