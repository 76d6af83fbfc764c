"""Kill a run at a random moment with SIGKILL, run it again, and compare its record byte by byte.

    python tests/trust/kills.py --profile quick --times 20
    python tests/trust/kills.py --profile standard --times 3

Each kill has a folder of its own, and the run after it goes on there to the end: its record must be
that of a run which nobody disturbed. Moments lie anywhere in a run, the writing of pages included.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from hashlib import sha256
from pathlib import Path


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def command(arguments: argparse.Namespace, out: Path) -> list[str]:
    asked = ["verify", *arguments.selectors, "--profile", arguments.profile, "--out", str(out)]
    return [sys.executable, "-m", "reports.cli", *asked]


def digest(out: Path) -> str:
    return sha256((out / "record.json").read_bytes()).hexdigest()


def undisturbed(arguments: argparse.Namespace, out: Path) -> tuple[str, float]:
    """Hash of the record of a run that ends by itself, and its seconds."""
    started = time.monotonic()
    done = subprocess.run(command(arguments, out), capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"the run must end with status 0, got {done.returncode}:\n{done.stdout[-2000:]}")
    return digest(out), time.monotonic() - started


def killed(arguments: argparse.Namespace, out: Path, seconds: float) -> bool:
    """Whether a run had to be killed; one that ends before its moment was not."""
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command(arguments, out), stdout=quiet, stderr=quiet)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        return True
    return False


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("selectors", nargs="*")
    parser.add_argument("--profile", default="quick")
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    moments = random.Random(arguments.seed)  # noqa: S311 - moments are no secret
    place = Path(tempfile.mkdtemp(prefix="kills-"))
    wanted, seconds = undisturbed(arguments, place / "undisturbed")
    say(f"undisturbed: {seconds:.0f} s, record {wanted[:16]}")
    kills = 0
    while kills < arguments.times:
        out = place / "disturbed"
        moment = moments.uniform(0.0, seconds)
        kills += killed(arguments, out, moment)
        found, rest = undisturbed(arguments, out)
        if found != wanted:
            sys.exit(f"records differ; compare {out} with {place / 'undisturbed'}")
        say(f"kill {kills}: after {moment:.1f} s, then {rest:.0f} s, the same record")
        shutil.rmtree(out)
    shutil.rmtree(place)
    say(f"{kills} kills: every record is the same")


if __name__ == "__main__":
    main()
