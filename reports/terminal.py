"""What every command shares: exit statuses, and how results go to standard output."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Annotated, Any, TextIO

import typer

from reports.tables import Line, Table

REFUTED = 1
WRONG_USAGE = 2
BROKEN = 3
INTERRUPTED = 130
UNTOLD = 80
"""Columns of a terminal that does not tell."""

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]

STYLES: Mapping[str, Mapping[str, Any]] = {
    "PROVED": {"fg": "green"},
    "BOUNDED": {"fg": "cyan"},
    "SAMPLED": {"fg": "blue"},
    "UNKNOWN": {"fg": "yellow"},
    "REFUTED": {"fg": "red", "bold": True},
    "BROKEN": {"fg": "magenta", "bold": True},
    "ok": {"fg": "green"},
    "short": {"fg": "yellow"},
    "unknown": {"fg": "yellow"},
    "refuted": {"fg": "red", "bold": True},
    "broken": {"fg": "magenta", "bold": True},
    "worse": {"fg": "red", "bold": True},
    "gone": {"fg": "red", "bold": True},
    "better": {"fg": "green"},
}
"""The words that have a colour; it repeats what the word says, and says nothing by itself."""


def show(lines: Iterable[Line]) -> None:
    """Print results; a reader that went away (`| head`) changes neither work nor exit status.

    Tables fit a terminal's width; elsewhere their lines are as long as they are.
    """
    try:
        for line in lines:
            for text in (line,) if isinstance(line, str) else _laid_out(line):
                typer.echo(text)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _laid_out(table: Table) -> Iterable[str]:
    if not sys.stdout.isatty():
        return table.plain()
    return table.fitted(width_of(sys.stdout), painter(sys.stdout))


def width_of(stream: TextIO) -> int:
    """The columns of a stream's terminal, or what COLUMNS says of it."""
    said = os.environ.get("COLUMNS", "")
    width = int(said) if said.isdecimal() else os.get_terminal_size(stream.fileno()).columns
    return width or UNTOLD


def painter(stream: TextIO) -> Callable[[str], str]:
    """What gives a status its colour where the stream shows colours, and leaves it alone elsewhere.

    None are shown with NO_COLOR set to anything (no-color.org), nor on a terminal that is dumb.
    """
    return painted if animated(stream) and not os.environ.get("NO_COLOR") else str


def animated(stream: TextIO) -> bool:
    """Whether the stream is a terminal that understands more than text."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def painted(word: str) -> str:
    """A status, or another word of `STYLES`, in its colour; any other text as it is."""
    return typer.style(word, **STYLES[word]) if word in STYLES else word


def one_line(text: object) -> str:
    """A text in one line that a terminal can show."""
    from reports.text import printable

    return printable(" ".join(str(text).split()))


def uninterrupted(action: Callable[[], object]) -> None:
    """Let a short action end before an interruption takes effect."""
    kept = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        action()
    finally:
        signal.signal(signal.SIGINT, kept)


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
