"""One run seen three times: on the tape, in the queue and in the context, as panels to be drawn.

    panel     row                    column
    tape      a rule                 the cell, counted from where the head began
    queue     a queue step           the same cell; ▷ stands left of the tape. A queue machine that
                                     comes from no tape: the place in the queue, from its front
    context   a token                the place in the context, from the oldest token

Source: Sliding-Window Transformers Without Positional Encodings, Theorems 6, 7 and 9.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic

from constructions.machines.definitions import QueueMachine, State, TuringMachine, Word
from constructions.machines.parity import parity_machine
from constructions.machines.runs import QueueRun, TuringRun
from constructions.machines.turing import Control, Phase, TuringQueue
from constructions.machines.window import Normal, SlidingWindowRun, window_transformer
from reports.figures.strips import MOST_PLACES, Strip, sliding, standing

MOST_RULES = 400
"""Rows of the tape's panel, and cells to the right of the head's first that a panel shows."""
MOST_STEPS = 150
"""Queue steps that the other two show."""

Point = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """A panel: rows t = 0 .. `steps`, strips, what moves through them, and what happens.

    `path` is where the head or the front of the queue stands in each row, `applied` the rows in
    which a rule of the Turing machine is applied, `refreshes` where a marker is generated anew.
    A word may go on to the right of what is shown, so that the panel is not `whole`.
    """

    steps: int
    strips: tuple[Strip, ...]
    whole: bool
    path: tuple[Point, ...] = ()
    applied: tuple[int, ...] = ()
    refreshes: tuple[Point, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """The panels of a run, its tape's only if it has one; queue and context show the same steps."""

    tape: Panel | None
    queue: Panel
    context: Panel
    marker: str

    @property
    def end_on_tape(self) -> int | None:
        """After how many rules the other panels end, if the tape's goes on."""
        applied = len(self.queue.applied)
        return applied if self.tape and applied < self.tape.steps else None


def of_turing_machine(machine: TuringMachine, word: Word, max_rules: int) -> Recording:
    """A Turing machine's run and what simulates it, at most so many rules of it."""
    source = TuringQueue(machine=machine)
    queue = source.queue_machine()
    run, ring, context = QueueRun(queue, word), _Ring(source), _Context(queue, word)
    ring.keep(run)
    while not run.halted and run.steps < MOST_STEPS:
        applies = source.is_application(run.state, run.queue[0])
        if applies and len(ring.applied) == max_rules:
            break
        context.follow(applies)
        ring.step(run, applies)
    return Recording(
        tape=_tape(machine, word, min(max_rules, MOST_RULES)),
        queue=ring.panel(),
        context=context.panel(),
        marker=context.marker,
    )


def of_queue_machine(machine: QueueMachine[State], word: Word, max_steps: int) -> Recording:
    """The same for a queue machine that comes from no tape."""
    run, context = QueueRun(machine, word), _Context(machine, word)
    symbols, firsts, ends = [*run.queue], [0], [len(run.queue)]
    while not run.halted and run.steps < min(max_steps, MOST_STEPS):
        context.follow(applies=False)
        run.step()
        symbols += run.appended
        firsts.append(run.steps)
        ends.append(len(symbols))
    return Recording(
        tape=None,
        queue=Panel(
            steps=run.steps,
            strips=sliding(symbols, firsts, ends),
            whole=run.max_length <= MOST_PLACES,
        ),
        context=context.panel(),
        marker=context.marker,
    )


def _tape(machine: TuringMachine, word: Word, max_rules: int) -> Panel:
    run, leftmost = TuringRun(machine, word), 0
    rows: list[dict[int, str]] = []
    path: list[Point] = []
    while True:
        rows.append(dict(enumerate(run.cells[: MOST_RULES - leftmost], leftmost)))
        path.append((leftmost + run.head + 0.5, run.steps + 0.5))
        known = len(run.cells)
        if run.steps == max_rules or not run.advance(1):
            break
        leftmost -= run.head == 0 and len(run.cells) > known
    whole = leftmost + len(run.cells) <= MOST_RULES
    return Panel(steps=run.steps, strips=standing(rows), whole=whole, path=tuple(path))


class _Ring:
    """The queue in the order of the tape: the separator, the cells behind it, and the held one."""

    def __init__(self, source: TuringQueue) -> None:
        self._source = source
        self._leftmost = 0
        self._whole = True
        self._rows: list[dict[int, str]] = []
        self._path: list[Point] = []
        self.applied: list[int] = []

    def step(self, run: QueueRun[Control], applies: bool) -> None:
        """Takes the run a step further and keeps where it then stands."""
        if applies:
            self.applied.append(run.steps)
        run.step()
        grown = applies and len(run.appended) > 1 and not run.halted
        self._leftmost -= grown  # a rule grows the queue only at the tape's left end
        self.keep(run)

    def keep(self, run: QueueRun[Control]) -> None:
        """Keeps a row: the cyclic word from its separator on, and the place of the front."""
        control, queue = run.state, [*run.queue]
        held = [] if control.phase in {Phase.START, Phase.HALT} else [control.held]
        word = held + queue
        place = word.index(self._source.front)
        first = self._leftmost - 1
        unrolled = (word[place:] + word[:place])[: MOST_RULES - first]
        self._whole = len(unrolled) == len(word)  # no word is shorter than the one before it
        self._rows.append(dict(enumerate(unrolled, first)))
        front = (len(held) - place) % len(word)
        self._path.append((first + front + 0.5, run.steps + 0.5))

    def panel(self) -> Panel:
        """What was kept."""
        return Panel(
            steps=len(self._rows) - 1,
            strips=standing(self._rows),
            whole=self._whole,
            path=tuple(self._path),
            applied=tuple(self.applied),
        )


class _Context(Generic[State]):
    """The tokens that a queue machine's transformer generates, and the context after each."""

    def __init__(self, machine: QueueMachine[State], word: Word) -> None:
        self._run = SlidingWindowRun(window_transformer(parity_machine(machine)), word)
        self.marker = self._run.transformer.marker
        self._displayed = [token.displayed for token in self._run.context]
        self._firsts, self._ends = [0], [len(self._displayed)]
        self._applied: list[int] = []
        self._refreshes: list[Point] = []

    def follow(self, applies: bool) -> None:
        """The tokens of one queue step: a refresh if one is due, and the appended symbols."""
        while True:
            token = self._run.step()
            self._displayed.append(token.displayed)
            self._ends.append(len(self._displayed))
            self._firsts.append(self._ends[-1] - len(self._run.context))
            if token.displayed == self.marker:
                place = min(len(self._run.context), MOST_PLACES)
                self._refreshes.append((place, self._run.tokens))
            elif isinstance(token.label, Normal):
                break
        if applies:
            self._applied.append(self._run.tokens)

    def panel(self) -> Panel:
        """What was kept."""
        return Panel(
            steps=self._run.tokens,
            strips=sliding(self._displayed, self._firsts, self._ends),
            whole=self._run.max_context <= MOST_PLACES,
            applied=tuple(self._applied),
            refreshes=tuple(self._refreshes),
        )
