"""Kill a run at random moments with SIGKILL, run it again, and compare its record byte by byte.

    python tests/trust/kills.py --profile quick --times 20
    python tests/trust/kills.py --profile standard --times 3

One folder is begun, killed and gone on with until a run ends before its moment; its record must
then be that of a run which nobody disturbed. Then another folder is begun.
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
    kills = folders = 0
    while kills < arguments.times:
        out = place / f"disturbed-{folders}"
        while kills < arguments.times:
            moment = moments.uniform(0.0, 0.25 * seconds)
            if not killed(arguments, out, moment):
                break
            kills += 1
            say(f"kill {kills}: after {moment:.1f} s")
        found, rest = undisturbed(arguments, out)
        folders += 1
        same = "the same" if found == wanted else f"ANOTHER: {found[:16]}"
        say(f"folder {folders}: ended in {rest:.0f} s, its record is {same}")
        if found != wanted:
            sys.exit(f"records differ; compare {out} with {place / 'undisturbed'}")
        shutil.rmtree(out)
    shutil.rmtree(place)
    say(f"{kills} kills in {folders} folders: every record is the same")


if __name__ == "__main__":
    main()
