"""A worker does not outlive whoever started it."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

FILE = '''"""A claim that never ends."""

import os
import time
from pathlib import Path

from verify.claims import Source, claim, covers
from verify.methods.exhaustive import Exhaustive
from verify.ranges import Range
from verify.verdicts import Status

NUMBERS = Range(bound="one number", over=lambda: [1])


def never(number):
    place = Path(__file__).with_name("pid")
    place.with_suffix(".new").write_text(str(os.getpid()))
    place.with_suffix(".new").rename(place)
    time.sleep(3600)


@claim(id="endless.one", source=Source("a", "b"), latex="", scope="", expected=Status.BOUNDED)
def endless():
    """It holds in the end."""
    ranges = {"quick": NUMBERS, "standard": NUMBERS, "deep": NUMBERS}
    return (covers(Exhaustive(holds=never, ranges=ranges, exhibit=lambda n: n)),)
'''


def test_the_worker_of_a_run_that_is_killed_ends_as_well(tmp_path: Path) -> None:
    path = tmp_path / "endless.py"
    path.write_text(FILE)
    command = [
        sys.executable,
        "-m",
        "reports.cli",
        "verify",
        str(path),
        "--out",
        str(tmp_path / "o"),
    ]
    quiet = subprocess.DEVNULL
    run = subprocess.Popen(command, stdout=quiet, stderr=quiet)
    while not (tmp_path / "pid").exists():
        assert run.poll() is None
        time.sleep(0.05)
    worker = psutil.Process(int((tmp_path / "pid").read_text()))
    assert worker.is_running()
    run.send_signal(signal.SIGKILL)
    run.wait()
    worker.wait(timeout=60)


OPTIMISED = '''"""A claim about the interpreter that settles it."""

import sys

from verify.claims import Source, claim, covers
from verify.counterexamples import Counterexample
from verify.methods.exhaustive import Exhaustive
from verify.ranges import Range
from verify.verdicts import Status

ONE = Range(bound="one interpreter", over=lambda: [1])


def asserts(level):
    if sys.flags.optimize == level:
        return None
    return Counterexample(text="other flags", instance={"optimize": sys.flags.optimize})


@claim(id="flags.one", source=Source("a", "b"), latex="", scope="", expected=Status.BOUNDED)
def optimised():
    """Workers run under the flags of the command."""
    ranges = {"quick": ONE, "standard": ONE, "deep": ONE}
    return (covers(Exhaustive(holds=asserts, ranges=ranges, exhibit=lambda n: n)),)
'''


@pytest.mark.parametrize(("flags", "status"), [(["-O"], 0), ([], 1)])
def test_workers_run_under_the_flags_of_the_command(
    flags: list[str], status: int, tmp_path: Path
) -> None:
    path = tmp_path / "flags.py"
    path.write_text(OPTIMISED)
    command = [sys.executable, *flags, "-m", "reports.cli", "verify", str(path)]
    done = subprocess.run(
        [*command, "--out", str(tmp_path / "out")], capture_output=True, text=True, check=False
    )
    assert done.returncode == status, done.stdout + done.stderr


FORKS = '''"""A claim that leaves a process behind which is nobody's child."""

import os
import time
from pathlib import Path

from verify.claims import Source, claim, covers
from verify.methods.exhaustive import Exhaustive
from verify.ranges import Range
from verify.verdicts import Status

ONE = Range(bound="one number", over=lambda: [1])


def leaves(number):
    place = Path(__file__).with_name("pid")
    if os.fork() == 0:
        if os.fork() == 0:
            place.with_suffix(".new").write_text(str(os.getpid()))
            place.with_suffix(".new").rename(place)
            time.sleep(3600)
        os._exit(0)
    os.wait()
    while not place.exists():
        time.sleep(0.01)


@claim(id="forking.one", source=Source("a", "b"), latex="", scope="", expected=Status.BOUNDED)
def forking():
    """It holds, and something stays."""
    ranges = {"quick": ONE, "standard": ONE, "deep": ONE}
    return (covers(Exhaustive(holds=leaves, ranges=ranges, exhibit=lambda n: n)),)
'''


def test_what_a_claim_leaves_running_ends_with_its_check(tmp_path: Path) -> None:
    path = tmp_path / "forking.py"
    path.write_text(FORKS)
    out = str(tmp_path / "o")
    command = [sys.executable, "-m", "reports.cli", "verify", str(path), "--out", out]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not psutil.pid_exists(int((tmp_path / "pid").read_text()))
