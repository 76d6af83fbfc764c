"""How far a run is, on stderr: a live bar with the time left on a terminal, else plain lines."""

from __future__ import annotations

import datetime
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

from reports.terminal import animated, width_of
from reports.text import outcome_line, printable
from verify.run import Outcome
from verify.verdicts import Status

LONGEST = 100 * 24 * 3600
"""A time left that is longer says nothing, and is not shown."""


class PlainProgress:
    """A line for each settled check."""

    def __init__(self) -> None:
        """Nothing is planned yet."""
        self._checks = 0
        self._settled = 0

    def __enter__(self) -> Self:
        """Nothing to set up."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing to tear down."""

    def planned(self, checks: int) -> None:
        """So many checks are to be settled."""
        self._checks = checks

    def submitted(self) -> None:
        """Tasks are not shown."""

    def finished(self) -> None:
        """Tasks are not shown."""

    def settled(self, outcome: Outcome) -> None:
        """Show the check."""
        self._settled += 1
        sys.stderr.write(f"[{self._settled}/{self._checks}] {outcome_line(outcome)}\n")
        sys.stderr.flush()


class LiveProgress:
    """A bar over all tasks, with the time left; checks that settle badly stay above it."""

    def __init__(self) -> None:
        """Show nothing before the block is entered."""
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            SpinnerColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        self._lock = threading.Lock()
        self._checks = self._settled = self._tasks = 0
        self._bar: Any = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=Console(stderr=True, highlight=False),
            transient=True,
        )
        self._task: Any = self._bar.add_task("starting", total=None)

    def __enter__(self) -> Self:
        """Draw the bar."""
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remove the bar."""
        self._bar.stop()

    def planned(self, checks: int) -> None:
        """So many checks are to be settled."""
        self._checks = checks
        self._show()

    def submitted(self) -> None:
        """One more task waits."""
        with self._lock:
            self._tasks += 1
            self._bar.update(self._task, total=self._tasks)

    def finished(self) -> None:
        """One more task is done."""
        self._bar.advance(self._task)

    def settled(self, outcome: Outcome) -> None:
        """Count the check, and keep it in sight if it settled badly."""
        self._settled += 1
        self._show()
        if outcome.verdict.status <= Status.UNKNOWN:
            self._bar.console.print(outcome_line(outcome), markup=False, soft_wrap=True)

    def _show(self) -> None:
        self._bar.update(self._task, description=f"{self._settled}/{self._checks} checks")


def progress() -> PlainProgress | LiveProgress:
    """The progress that fits where stderr goes."""
    return LiveProgress() if animated(sys.stderr) else PlainProgress()


class InPlace:
    """A line on stderr that is written again and again; nothing where stderr is no terminal."""

    def __init__(self) -> None:
        """Show nothing yet."""
        self._shown = animated(sys.stderr)

    def write(self, text: str) -> None:
        """Put a text in place of the last one, cut to the terminal's width."""
        if self._shown:
            most = max(width_of(sys.stderr) - 1, 1)
            sys.stderr.write(f"\r\x1b[K{printable(text, most)}")
            sys.stderr.flush()

    def clear(self) -> None:
        """Remove what is shown."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


class StepProgress(InPlace):
    """Steps of one long computation, with the time left.

    The time left is what the steps up to the limit would take at the pace so far; it may end
    earlier.
    """

    def __init__(self, noun: str, most: int) -> None:
        """Show nothing yet."""
        super().__init__()
        self._noun = noun
        self._most = most
        self._start: tuple[float, int] | None = None

    def __call__(self, steps: int) -> None:
        """So many steps are done."""
        now = time.monotonic()
        began, first = self._start = self._start or (now, steps)
        left = ""
        if steps > first:
            seconds = (now - began) / (steps - first) * (self._most - steps)
            if seconds < LONGEST:
                left = f", at most {datetime.timedelta(seconds=int(seconds))} left"
        self.write(f"{steps:,} of at most {self._most:,} {self._noun}{left}")


@contextmanager
def stages() -> Generator[Callable[[str], None], None, None]:
    """What a command is at, told by whoever does it, until the block ends."""
    line = InPlace()
    try:
        yield line.write
    finally:
        line.clear()
