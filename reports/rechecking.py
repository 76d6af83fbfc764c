"""How the rechecker is started: in a process of its own that finds nothing of ours by itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import verify as core
from reports.record import load
from reports.terminal import animated, show
from reports.text import printable
from verify.errors import RecordError

PROGRAM = Path(str(core.__file__)).with_name("recheck.py")


def command(
    folder: Path, *, solver: str | None = None, jobs: int | None = None, as_json: bool = False
) -> list[str]:
    """The command that rechecks a run's folder, and shows each certificate when it is done."""
    options = {"--solver": solver, "--jobs": jobs}
    given = [part for name, value in options.items() if value for part in (name, str(value))]
    given += ["--json"] if as_json else []
    return [sys.executable, "-Iu", str(PROGRAM), str(folder), *given]


def run(
    folder: Path, *, solver: str | None = None, jobs: int | None = None, as_json: bool = False
) -> int:
    """Recheck a run's folder and return the program's exit status.

    On a terminal the time left is shown below what the program prints.
    """
    asked = command(folder, solver=solver, jobs=jobs, as_json=as_json)
    most = _certificates(folder) if animated(sys.stderr) else 0
    if not most:
        return subprocess.run(asked, check=False).returncode
    return _watched(asked, most)


def _watched(asked: list[str], most: int) -> int:
    from reports.progress import StepProgress

    steps = StepProgress("certificates", most)
    with subprocess.Popen(
        asked, stdout=subprocess.PIPE, text=True, errors="backslashreplace"
    ) as process:
        try:
            for done, line in enumerate(process.stdout or (), start=1):
                steps.clear()
                show([printable(line.rstrip("\n"))])
                steps(min(done, most))
        except BaseException:  # an interruption ends the program too
            process.kill()
            raise
        finally:
            steps.clear()
    return process.returncode


def _certificates(folder: Path) -> int:
    """How many certificates a record names; none if it cannot be read, which the program says."""
    try:
        record = load(folder)
    except RecordError:
        return 0
    checks = [check for claim in record["claims"] for check in claim["checks"]]
    return sum(check["certificate"] is not None for check in checks)
