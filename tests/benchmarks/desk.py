"""What the reviewer's desk costs beside the same work done without it.

python tests/benchmarks/desk.py

cluster   random targets on a Dask cluster of two workers, beside two threads here; each side
          starts its processes, and the cluster itself is up before
pytest    a package that `certiformer new` wrote as tests, beside `certiformer verify` of it
page      `certiformer report` of that run, beside `certiformer list`, which only starts
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from distributed import LocalCluster

sys.path.insert(0, str(Path(__file__).parent))
from run import say

EXAMPLES = 10_000
"""Four shards."""
JOBS = 2
NAME = "benchmarked"


def seconds_of(*arguments: object, cwd: Path) -> tuple[float, str]:
    """How long a command of ours takes, and what it prints."""
    words = [sys.executable, "-m", *map(str, arguments)]
    started = time.perf_counter()
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=True)
    return time.perf_counter() - started, done.stdout


def bench_cluster(place: Path) -> None:
    """The same search twice; both must try the same examples."""
    fuzz = ("reports.cli", "fuzz", "universal.end_to_end", "--examples", EXAMPLES, "--json")
    here, found = seconds_of(*fuzz, "--jobs", JOBS, cwd=place)
    with LocalCluster(n_workers=JOBS, threads_per_worker=1, dashboard_address=None) as cluster:
        there, again = seconds_of(*fuzz, "--scheduler", cluster.scheduler_address, cwd=place)
    if json.loads(found)["checks"] != json.loads(again)["checks"]:
        raise SystemExit(f"cluster and threads must find the same, got {again} and {found}")
    say(
        f"cluster: {EXAMPLES} random targets in {there:.1f} s on {JOBS} workers, {here:.1f} s on "
        f"{JOBS} threads here, ratio {there / here:.2f}"
    )


def bench_desk(place: Path) -> None:
    """A new package, verified, as tests, and its page."""
    seconds_of("reports.cli", "new", NAME, cwd=place)
    verified, _ = seconds_of("reports.cli", "verify", NAME, "--out", "out", cwd=place)
    tested, _ = seconds_of("pytest", "-q", "--certiformer", NAME, cwd=place)
    say(
        f"pytest: {tested:.1f} s for the claims as tests and the package's own, {verified:.1f} s "
        f"for verify with its pages, ratio {tested / verified:.2f}"
    )
    told, _ = seconds_of("reports.cli", "report", "out", cwd=place)
    started, _ = seconds_of("reports.cli", "list", NAME, cwd=place)
    size = (place / "out" / "index.html").stat().st_size >> 10
    say(
        f"page: {told:.1f} s for {size} KiB, {started:.1f} s for a command that only lists, ratio "
        f"{told / started:.2f}"
    )


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="desk-") as name:
        bench_cluster(Path(name))
        bench_desk(Path(name))


if __name__ == "__main__":
    main()
