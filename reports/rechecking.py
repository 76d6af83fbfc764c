"""How the rechecker is started: in a process of its own that finds nothing of ours by itself."""

from __future__ import annotations

import sys
from pathlib import Path

import verify as core

PROGRAM = Path(str(core.__file__)).with_name("recheck.py")


def command(folder: Path, *, solver: str | None = None, jobs: int | None = None) -> list[str]:
    """The command that rechecks a run's folder."""
    options = {"--solver": solver, "--jobs": jobs}
    given = [part for name, value in options.items() if value for part in (name, str(value))]
    return [sys.executable, "-I", str(PROGRAM), str(folder), *given]
