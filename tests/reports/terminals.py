"""Commands as a terminal shows them: run to their end under a pseudo-terminal of a given width."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
OWN = ("NO_COLOR", "COLUMNS", "TERM")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a command wrote to its terminal, and how it ended."""

    status: int
    text: str

    @property
    def lines(self) -> list[str]:
        """The lines without colours, each as it stands when it is left."""
        whole = COLOUR.sub("", self.text).replace("\r\n", "\n")
        return [re.split(r"\r(?:\x1b\[2?K)?", line)[-1] for line in whole.split("\n")]


def shown(*arguments: object, width: int = 80, more: Mapping[str, str] | None = None) -> Shown:
    """Run the command line on a terminal of so many columns, with more in its environment."""
    outer, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    kept = {name: value for name, value in os.environ.items() if name not in OWN}
    with subprocess.Popen(
        [sys.executable, "-m", "reports.cli", *map(str, arguments)],
        cwd=ROOT,
        env={**kept, "TERM": "xterm-256color", **(more or {})},
        stdin=inner,
        stdout=inner,
        stderr=inner,
    ) as process:
        os.close(inner)
        written = _all(outer)
    os.close(outer)
    return Shown(status=process.returncode, text=written.decode())


def _all(end: int) -> bytes:
    written = b""
    while True:
        try:
            part = os.read(end, 1 << 16)
        except OSError:  # how Linux says that the other end is closed
            return written
        if not part:
            return written
        written += part
