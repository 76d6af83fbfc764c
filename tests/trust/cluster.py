"""Run on a cluster of two workers, kill one of them for good, and compare with a local run.

    python tests/trust/cluster.py
    python tests/trust/cluster.py --profile standard 'universal.*'

The worker is killed with SIGKILL, and with it the process that would start it again, while checks
run there. What it left must be settled on the other one: the record and every certificate must be
those of a run without a cluster, byte by byte, and no process of the lost worker may stay.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import psutil

QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
PATIENCE = 60.0


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def until(holds: Callable[[], object], required: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > deadline:
            sys.exit(f"{required} within {PATIENCE:g} s, got nothing of it")
        time.sleep(0.02)


def command(arguments: argparse.Namespace, out: Path, *more: str) -> list[str]:
    asked = ["verify", *arguments.selectors, "--profile", arguments.profile, "--out", str(out)]
    return [sys.executable, "-m", "reports.cli", *asked, *more]


def finished(process: subprocess.Popen[str], what: str) -> None:
    output, _ = process.communicate()
    if process.returncode:
        sys.exit(f"{what} must end with status 0, got {process.returncode}:\n{output[-2000:]}")


def run(words: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


@contextmanager
def dask(name: str, *arguments: object) -> Iterator[subprocess.Popen[bytes]]:
    """One of Dask's own commands with all that it starts, a process group of its own."""
    words = [sys.executable, "-m", f"distributed.cli.dask_{name}", *map(str, arguments)]
    process = subprocess.Popen(words, start_new_session=True, **QUIET)
    try:
        yield process
    finally:
        kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def content(out: Path) -> dict[str, bytes]:
    paths = [out / "record.json", *(out / "certificates").iterdir()]
    return {str(path.relative_to(out)): path.read_bytes() for path in paths}


def shards_on(client: Any, name: str) -> list[str]:
    """The shards that a worker has been given and has not answered."""
    workers = client.scheduler_info(n_workers=-1)["workers"]
    given = client.processing()
    return [key for at, item in workers.items() if item["name"] == name for key in given[at]]


def run_again(client: Any) -> int:
    """How often a shard was given out once more because its worker was lost."""

    def count(dask_scheduler: Any) -> int:
        return sum(prefix.suspicious for prefix in dask_scheduler.task_prefixes.values())

    return int(client.run_on_scheduler(count))


def disturbed(arguments: argparse.Namespace, place: Path, seconds: float) -> None:
    """A run on a cluster whose first worker is killed at a moment when checks run there."""
    from distributed import Client

    file = place / "scheduler.json"
    options = ("--host", "127.0.0.1", "--port", 0, "--no-dashboard", "--scheduler-file", file)
    with ExitStack() as stack:
        stack.enter_context(dask("scheduler", *options))
        until(lambda: file.exists() and file.read_text(), "a scheduler must start")
        address = json.loads(file.read_text())["address"]
        common = (address, "--nthreads", 1, "--no-dashboard", "--local-directory", place)
        doomed = stack.enter_context(dask("worker", *common, "--name", "doomed"))
        stack.enter_context(dask("worker", *common, "--name", "spared"))
        client = stack.enter_context(Client(address, set_as_default=False))
        client.wait_for_workers(2, timeout=PATIENCE)
        started = time.monotonic()
        process = run(command(arguments, place / "cluster", "--scheduler", address))
        until(lambda: shards_on(client, "doomed"), "the worker must be given a check")
        time.sleep(random.Random(arguments.seed).uniform(0.1, 0.6) * seconds)  # noqa: S311
        until(lambda: shards_on(client, "doomed"), "the worker must be given another check")
        left = psutil.Process(doomed.pid).children(recursive=True)
        kill(doomed)
        say(f"killed one of two workers after {time.monotonic() - started:.1f} s")
        finished(process, "the run on the cluster")
        say(
            f"cluster: {time.monotonic() - started:.0f} s, {run_again(client)} shards of the lost "
            "worker were given to the other"
        )
        until(lambda: not any(item.is_running() for item in left), "its processes must end")
        say(f"the {len(left)} processes below the lost worker have ended")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("selectors", nargs="*")
    parser.add_argument("--profile", default="quick")
    parser.add_argument("--seed", type=int, default=0, help="of the moment")
    arguments = parser.parse_args()
    place = Path(tempfile.mkdtemp(prefix="cluster-"))
    finished(run(command(arguments, place / "local")), "the local run")
    seconds = float(json.loads((place / "local" / "run.json").read_text())["seconds"])
    wanted = content(place / "local")
    digest = sha256(wanted["record.json"]).hexdigest()[:16]
    say(f"local: {seconds:.0f} s, record {digest}, {len(wanted) - 1} certificates")
    disturbed(arguments, place, seconds)
    found = content(place / "cluster")
    different = sorted(name for name in {*wanted, *found} if wanted.get(name) != found.get(name))
    if different:
        sys.exit(f"{len(different)} files differ, such as {different[0]}; compare them in {place}")
    shutil.rmtree(place)
    say(f"record {digest} and {len(found) - 1} certificates are the same, byte by byte")


if __name__ == "__main__":
    main()
