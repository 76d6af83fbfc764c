"""One machine at several levels in lock-step, compared at every queue step.

The plain semantics: `compiled` runs the same machines by tables, and is tested against this.

    each queue step     the recovered front symbol, the appended words, the control states, the
                        stored parity, the lengths; of the tokens in between their displayed symbols
                        and the newest label; context <= S + 1, at most three tokens
    each Turing rule    before it: state, head and every tape cell against the decoded queue; HIST
                        window = tail(queue); sem(context) = window (ready) or queue (refresh)

The queue level leads whenever a level above the Turing machine is asked; the transformer is
compared with HIST, which then runs too. S is the largest HIST window so far, the newest included.
A difference is a value, `agree=False` with a description, and ends the run.

Source: Sliding-Window Transformers Without Positional Encodings, Theorems 6, 7, 9, Corollary 10.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from constructions.machines.definitions import (
    ParityHistMachine,
    QueueMachine,
    State,
    TuringConfiguration,
    TuringMachine,
    require_word,
)
from constructions.machines.followed import Followed
from constructions.machines.levels import (
    LEVELS,
    HistFigures,
    LevelsReport,
    QueueFigures,
    TransformerFigures,
    require_levels,
    turing_figures,
)
from constructions.machines.parity import Stored, parity_machine
from constructions.machines.runs import TuringRun
from constructions.machines.turing import Control, Phase, TuringQueue
from constructions.machines.window import WindowTransformer, window_transformer

_CONTENT_STEPS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Constructions:
    """The three constructions in use; a test puts a wrong one in and expects it to be noticed."""

    queue: Callable[[TuringQueue], QueueMachine[Control]] = TuringQueue.queue_machine
    hist: Callable[[QueueMachine[Control]], ParityHistMachine[Stored[Control]]] = parity_machine
    window: Callable[[ParityHistMachine[Stored[Control]]], WindowTransformer[Stored[Control]]] = (
        window_transformer
    )


def run_levels(
    machine: TuringMachine,
    input_word: Iterable[str],
    max_steps: int,
    levels: Sequence[str] = LEVELS,
    *,
    constructions: Constructions | None = None,
) -> LevelsReport:
    """Runs the asked levels on an input until the machine halts or `max_steps` rules are applied.

    Every level stands before rule number max_steps + 1 when it is cut off.

    Raises:
        MachineError: an unknown level, or an input symbol outside the tape alphabet.
    """
    asked = require_levels(levels, LEVELS)
    word = require_word(machine.alphabet, input_word, "run_levels.input_word")
    turing = TuringRun(machine, word) if "turing" in asked else None
    if turing and len(asked) == 1:
        turing.advance(max_steps)
        return _report(machine.name, asked, turing=turing, halted=turing.halted, steps=turing.steps)
    made = constructions or Constructions()
    source = TuringQueue(machine=machine)
    queue = made.queue(source)
    hist = made.hist(queue) if asked & {"hist", "transformer"} else None
    transformer = made.window(hist) if hist and "transformer" in asked else None
    followed = Followed(queue, hist, transformer, word)
    return _Lockstep(source, turing, followed).run(asked, max_steps)


def run_queue_levels(
    machine: QueueMachine[State],
    input_word: Iterable[str],
    max_steps: int,
    levels: Sequence[str] = LEVELS[1:],
) -> LevelsReport:
    """The same for a queue machine that comes from no Turing machine; `max_steps` are queue steps.

    Contents are compared in full every 64 queue steps and at the end.

    Raises:
        MachineError: an unknown level, or an input symbol outside the alphabet.
    """
    asked = require_levels(levels, LEVELS[1:])
    word = require_word(machine.alphabet, input_word, "run_queue_levels.input_word")
    hist = parity_machine(machine) if asked & {"hist", "transformer"} else None
    transformer = window_transformer(hist) if hist and "transformer" in asked else None
    followed = Followed(machine, hist, transformer, word)
    trouble = followed.guarded(lambda: _queue_until(followed, max_steps))
    halted, steps = followed.queue.halted, followed.queue.steps
    return _report(
        machine.name, asked, followed=followed, halted=halted, steps=steps, trouble=trouble
    )


def _queue_until(followed: Followed[State], max_steps: int) -> str:
    queue = followed.queue
    while not queue.halted and queue.steps < max_steps:
        trouble = followed.step()
        if not trouble and queue.steps % _CONTENT_STEPS == 0:
            trouble = followed.contents()
        if trouble:
            return trouble
    return followed.contents()


class _Lockstep:
    """A Turing run beside the levels that simulate it."""

    __slots__ = ("_due", "followed", "rules", "source", "turing")

    def __init__(
        self,
        source: TuringQueue,
        turing: TuringRun | None,
        followed: Followed[Control],
    ) -> None:
        self.source = source
        self.turing = turing
        self.followed = followed
        self.rules = 0
        self._due = 0

    def run(self, asked: frozenset[str], max_steps: int) -> LevelsReport:
        """Runs to the halt, the limit or the first difference."""
        followed = self.followed
        trouble = followed.guarded(lambda: self._until(max_steps) or self._compare_ending())
        return _report(
            self.source.machine.name,
            asked,
            turing=self.turing,
            followed=followed,
            halted=followed.queue.halted,
            steps=self.rules,
            trouble=trouble,
        )

    def _until(self, max_steps: int) -> str:
        queue, step, source = self.followed.queue, self.followed.step, self.source
        word = queue.queue
        marked = frozenset(source.unmarked)
        cells = frozenset(source.machine.alphabet)
        self._due = len(word) + 4
        last = False
        while not queue.halted:
            symbol = word[0]
            if not last and (
                symbol in marked or (symbol in cells and queue.state.phase is Phase.ARRIVE)
            ):
                trouble = self._before_application(symbol)
                last = not source.is_application(queue.state, symbol)
                if trouble or not (last or self.rules < max_steps):
                    return trouble
                if not last:
                    self._apply()
            elif last or queue.steps > self._due:
                return (
                    f"queue step {queue.steps}: the queue machine must halt or meet the head "
                    f"within one rotation, it runs on in {queue.state!r}"
                )
            trouble = step()
            if trouble:
                return trouble
        return ""

    def _apply(self) -> None:
        self.rules += 1
        if self.turing and not self.turing.halted:
            self.turing.step()

    def _before_application(self, symbol: str) -> str:
        queue = self.followed.queue
        self._due = queue.steps + len(queue.queue) + 4
        if self.turing:
            found = self.source.configuration(queue.state, queue.queue)
            if not _same_configuration(self.turing, found):
                return (
                    f"queue step {queue.steps}, rule {self.rules + 1} on {symbol!r}: the Turing "
                    f"machine is at {self.turing.configuration!r}, the queue at {found!r}"
                )
        return self.followed.contents()

    def _compare_ending(self) -> str:
        queue = self.followed.queue
        trouble = self.followed.contents()
        if trouble or self.turing is None or not queue.halted:
            return trouble
        tape = self.source.decode(queue.queue)
        if not self.turing.halted or tape != self.turing.trimmed:
            return (
                f"the queue halted with the tape {tape}; the Turing machine halted: "
                f"{self.turing.halted}, tape {self.turing.trimmed}"
            )
        return ""


def _same_configuration(run: TuringRun, found: TuringConfiguration) -> bool:
    """Whether a decoded configuration is the run's, on every cell of either stretch."""
    if found.state != run.state:
        return False
    tape, cells, shift = run.cells, [*found.cells], run.head - found.head
    first, last = max(0, shift), min(len(tape), shift + len(cells))
    if tape[first:last] != cells[first - shift : last - shift]:
        return False
    beyond = (*tape[:first], *tape[last:], *cells[: first - shift], *cells[last - shift :])
    return beyond.count(run.machine.blank) == len(beyond)


def _report(
    machine: str,
    asked: frozenset[str],
    *,
    halted: bool,
    steps: int,
    turing: TuringRun | None = None,
    followed: Followed[State] | None = None,
    trouble: str = "",
) -> LevelsReport:
    hist = followed.hist if followed and "hist" in asked else None
    tokens = followed.transformer if followed and "transformer" in asked else None
    queue = followed.queue if followed and "queue" in asked else None
    return LevelsReport(
        machine=machine,
        halted=halted,
        steps=steps,
        turing=turing_figures(turing) if turing else None,
        queue=QueueFigures(steps=queue.steps, max_length=queue.max_length) if queue else None,
        hist=HistFigures(steps=hist.steps, max_window=hist.max_window) if hist else None,
        transformer=TransformerFigures(
            tokens=tokens.tokens, max_context=tokens.max_context, refreshes=tokens.refreshes
        )
        if tokens
        else None,
        agree=not trouble,
        disagreement=trouble,
    )
