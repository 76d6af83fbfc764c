"""What every command shares: exit statuses, and how results go to standard output."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from types import FrameType
from typing import Annotated

import typer

REFUTED = 1
WRONG_USAGE = 2
BROKEN = 3
INTERRUPTED = 130

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def show(lines: Iterable[str]) -> None:
    """Print results; a reader that went away (`| head`) changes neither work nor exit status."""
    try:
        for line in lines:
            typer.echo(line)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def one_line(text: object) -> str:
    """A text in one line that a terminal can show."""
    from reports.text import printable

    return printable(" ".join(str(text).split()))


@contextmanager
def deferred_signals() -> Generator[list[int], None, None]:
    """Signals that ask to stop, noted and not raised, so that a run stops between two steps."""
    noted: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        del frame
        noted.append(number)

    kept = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield noted
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
