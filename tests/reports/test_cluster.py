"""A Dask cluster settles what this machine settles; what it loses is run again or named."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Thread

import psutil
import pytest

from reports import cluster, cluster_executor
from verify.ledger import LEDGER
from verify.sources import PACKAGES

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60.0
"""Seconds for what must happen; nothing here waits for long."""

Call = Callable[..., subprocess.CompletedProcess[str]]
Write = Callable[..., Path]


def soon(holds: Callable[[], object]) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.05)


@contextmanager
def started(
    name: str, *arguments: object, root: Path = ROOT, **settings: str
) -> Iterator[subprocess.Popen[bytes]]:
    """One of Dask's own commands, in a process group that ends with the block."""
    process = subprocess.Popen(
        [sys.executable, "-m", f"distributed.cli.dask_{name}", *map(str, arguments)],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root), **settings},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


class Cluster:
    """A scheduler and the workers that a test starts, each a process that can be killed."""

    def __init__(self, stack: ExitStack, folder: Path, **settings: str) -> None:
        file = folder / "scheduler.json"
        options = ("--host", "127.0.0.1", "--port", 0, "--no-dashboard", "--scheduler-file", file)
        self._stack = stack
        self._folder = folder
        self.scheduler = stack.enter_context(started("scheduler", *options, **settings))
        soon(lambda: file.exists() and file.read_text())
        self.address: str = json.loads(file.read_text())["address"]

    def worker(self, *, root: Path = ROOT) -> subprocess.Popen[bytes]:
        options = ("--nthreads", 1, "--no-nanny", "--no-dashboard")
        folder = ("--local-directory", self._folder)
        process = started("worker", self.address, *options, *folder, root=root)
        return self._stack.enter_context(process)


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Cluster]:
    """A cluster of one test, without workers."""
    with ExitStack() as stack:
        yield Cluster(stack, tmp_path)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster of two workers that no test may harm."""
    with ExitStack() as stack:
        made = Cluster(stack, tmp_path_factory.mktemp("cluster"))
        made.worker()
        made.worker()
        yield made


def written(folder: Path) -> dict[str, bytes]:
    """The record and its certificates."""
    paths = (folder / "record.json", *(folder / "certificates").glob("*"))
    return {path.name: path.read_bytes() for path in paths}


def reasons(folder: Path) -> dict[str, str]:
    """Why claims are unknown, by id."""
    record = json.loads((folder / "record.json").read_text())
    return {
        row["id"]: row["checks"][0]["evidence"]["reason"]
        for row in record["claims"]
        if row["status"] == "UNKNOWN"
    }


SLOW = """
import os, time
from pathlib import Path


def marked(n):
    with open(Path(__file__).with_suffix(".pids"), "a") as pids:
        pids.write(f"{os.getppid()} {os.getpid()}\\n")
    time.sleep(1.0)


@stated("slow.one")
def slow():
    return [covers(that(marked))]
"""
ENDLESS = SLOW.replace("1.0", "600")


def marks(path: Path) -> list[list[int]]:
    """(a cluster's worker, the process in which it runs a check) for each check that began."""
    pids = path.with_suffix(".pids")
    lines = pids.read_text().splitlines() if pids.exists() else []
    return [[int(word) for word in line.split()] for line in lines]


def test_a_cluster_writes_the_record_of_a_local_run_and_fills_the_same_ledger(
    call: Call, claims: Write, good: str, tmp_path: Path, pair: Cluster
) -> None:
    path, here, there = claims(good), tmp_path / "here", tmp_path / "there"
    assert call("verify", path, "--out", here).returncode == 0
    done = call("verify", path, "--out", there, "--scheduler", pair.address)
    assert (done.returncode, written(there)) == (0, written(here))
    asked = json.loads((there / "run.json").read_text())
    assert asked["cluster"] == {"scheduler": pair.address, "workers": 2, "threads": 2}
    assert asked["jobs"] == 2
    assert json.loads((here / "run.json").read_text())["cluster"] is None
    assert call("verify", path, "--out", there).returncode == 0
    checks = json.loads((there / "run.json").read_text())["checks"]
    assert all(check["reused"] == check["shards"] for check in checks)


def test_a_cluster_fuzzes_as_this_machine_does(call: Call, claims: Write, pair: Cluster) -> None:
    body = '@stated("mine.few")\ndef few():\n    return [covers(searched(137))]\n'
    words = ("fuzz", claims(body), "--examples", 300)
    here, there = call(*words), call(*words, "--scheduler", pair.address)
    assert (there.returncode, here.returncode) == (1, 1)
    assert "137 is at least 137" in there.stdout
    assert there.stdout.splitlines()[:-1] == here.stdout.splitlines()[:-1]


def test_a_lost_workers_check_is_run_again_elsewhere(
    call: Call, claims: Write, good: str, tmp_path: Path, own: Cluster
) -> None:
    path, here, there = claims(good + SLOW), tmp_path / "here", tmp_path / "there"
    assert call("verify", path, "--out", here).returncode == 0
    path.with_suffix(".pids").unlink()
    workers = {worker.pid: worker for worker in (own.worker(), own.worker())}

    def kill() -> None:
        soon(lambda: marks(path))
        workers[marks(path)[0][0]].kill()

    killer = Thread(target=kill)
    killer.start()
    done = call("verify", path, "--out", there, "--scheduler", own.address)
    killer.join()
    assert (done.returncode, written(there)) == (0, written(here))
    (lost, left), (again, _) = marks(path)
    assert again != lost
    soon(lambda: not psutil.pid_exists(left))


def test_a_check_that_takes_its_worker_down_costs_no_other(
    call: Call, claims: Write, good: str, tmp_path: Path
) -> None:
    body = """
    @stated("mine.killer")
    def killer():
        import os, time
        return [covers(that(lambda n: os.kill(os.getppid(), 9) or time.sleep(600)))]
    """
    settings = {
        "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1",
        "DASK_DISTRIBUTED__SCHEDULER__WORKER_SATURATION": "1.0",
    }
    out = tmp_path / "out"
    with ExitStack() as stack:
        made = Cluster(stack, tmp_path, **settings)
        for _ in range(3):
            made.worker()
        path = claims(good + body.replace("\n    ", "\n"))
        done = call("verify", path, "--out", out, "--scheduler", made.address)
    assert done.returncode == 3
    assert list(reasons(out)) == ["mine.killer"]
    assert reasons(out)["mine.killer"].startswith(
        "a worker must outlive the check, got 2 that were lost with it, the last of them tcp://"
    )


def test_a_lost_scheduler_is_said_and_what_is_settled_is_kept(
    call: Call, claims: Write, good: str, tmp_path: Path, own: Cluster
) -> None:
    path, out = claims(good + ENDLESS), tmp_path / "out"
    own.worker()

    def kill() -> None:
        soon(lambda: marks(path))
        own.scheduler.kill()

    killer = Thread(target=kill)
    killer.start()
    done = call("verify", path, "--out", out, "--scheduler", own.address)
    killer.join()
    assert done.returncode == 3
    assert list(reasons(out)) == ["slow.one"]
    assert reasons(out)["slow.one"] == (
        f"scheduler {own.address} must stay in reach, got ConnectionError: the connection was "
        "lost; start it again and repeat the command"
    )


def test_a_run_without_workers_ends(
    call: Call, claims: Write, tmp_path: Path, own: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_executor, "ALONE_SECONDS", 1.0)
    path, out = claims(ENDLESS), tmp_path / "out"
    worker = own.worker()

    def kill() -> None:
        soon(lambda: marks(path))
        worker.kill()

    killer = Thread(target=kill)
    killer.start()
    done = call("verify", path, "--out", out, "--scheduler", own.address)
    killer.join()
    assert done.returncode == 3
    assert reasons(out)["slow.one"] == (
        f"scheduler {own.address} must have a worker, got none for 1 s; start one with "
        f"`dask worker {own.address}` and repeat the command"
    )


def test_an_interruption_ends_what_runs_on_the_cluster(
    claims: Write, tmp_path: Path, pair: Cluster
) -> None:
    path = claims(ENDLESS)
    words = ("verify", path, "--out", tmp_path / "out", "--scheduler", pair.address)
    process = subprocess.Popen(
        [sys.executable, "-m", "reports.cli", *map(str, words)],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    soon(lambda: marks(path))
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    assert reasons(tmp_path / "out") == {"slow.one": "interrupted before it was settled"}
    soon(lambda: not psutil.pid_exists(marks(path)[0][1]))


# --- the same sources everywhere --------------------------------------------------------------


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A copy of the suite with one more line in it."""
    root = tmp_path / "other"
    for name in PACKAGES:
        shutil.copytree(
            ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__", "out")
        )
    with open(root / "verify" / "facts.py", "a", encoding="utf-8") as file:
        file.write("# another\n")
    return root


def test_a_worker_on_other_sources_is_refused_at_the_start(
    call: Call, claims: Write, good: str, tmp_path: Path, own: Cluster, other: Path
) -> None:
    own.worker(root=other)
    done = call("verify", claims(good), "--out", tmp_path / "out", "--scheduler", own.address)
    assert done.returncode == 2
    assert done.stderr.startswith(f"UsageError: --scheduler {own.address}: worker tcp://127.0.0.1:")
    assert " must see certiformer's own sources as " in done.stderr
    assert done.stderr.endswith("; install the same version there and start it again\n")


def test_a_worker_on_other_sources_that_joins_later_gives_no_verdict(
    call: Call, claims: Write, tmp_path: Path, own: Cluster, other: Path
) -> None:
    path, out = claims(SLOW), tmp_path / "out"
    own.worker()

    def replace() -> None:
        soon(lambda: marks(path))
        os.kill(marks(path)[0][0], signal.SIGKILL)
        own.worker(root=other)

    replacer = Thread(target=replace)
    replacer.start()
    done = call("verify", path, "--out", out, "--scheduler", own.address)
    replacer.join()
    assert done.returncode == 3
    assert reasons(out)["slow.one"].startswith("worker tcp://127.0.0.1:")
    assert " must see certiformer's own sources as " in reasons(out)["slow.one"]


def test_a_check_amid_which_its_file_changes_gives_no_verdict(
    call: Call, claims: Write, tmp_path: Path, pair: Cluster
) -> None:
    path, out = claims(SLOW.replace("time.sleep(1.0)", "open(__file__, 'a').write('#')")), tmp_path
    done = call("verify", path, "--out", out, "--scheduler", pair.address)
    assert done.returncode == 3
    assert f" must see {path} as " in reasons(out)["slow.one"]
    assert reasons(out)["slow.one"].endswith("; share its folder, so that there is one copy")


# --- what cannot begin ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "came"),
    [
        ("tcp://127.0.0.1:1", "no answer"),
        ("nonsense", "ValueError: missing port number in address 'nonsense'"),
    ],
)
def test_an_address_without_a_scheduler_is_one_line(
    call: Call,
    claims: Write,
    good: str,
    tmp_path: Path,
    address: str,
    came: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 1.0)
    done = call("verify", claims(good), "--out", tmp_path / "out", "--scheduler", address)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"UsageError: --scheduler {address}: must be the address of a Dask scheduler, such as "
        f"tcp://127.0.0.1:8786, got {came}; start one with `dask scheduler`\n"
    )
    assert not (tmp_path / "out" / LEDGER).exists()


def test_a_scheduler_without_workers_is_one_line(
    call: Call,
    claims: Write,
    good: str,
    tmp_path: Path,
    own: Cluster,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cluster, "FIRST_SECONDS", 0.5)
    done = call("verify", claims(good), "--out", tmp_path / "out", "--scheduler", own.address)
    assert (done.returncode, done.stderr) == (
        2,
        f"UsageError: --scheduler {own.address}: must have at least one worker, got none; start "
        f"one with `dask worker {own.address}`\n",
    )


def test_a_worker_is_not_taken_for_a_scheduler(
    call: Call, claims: Write, good: str, pair: Cluster
) -> None:
    from distributed import Client

    with Client(pair.address, set_as_default=False) as client:
        worker, *_ = client.nthreads()
    done = call("fuzz", claims(good), "--examples", 5, "--scheduler", worker)
    assert (done.returncode, done.stderr) == (
        2,
        f"UsageError: --scheduler {worker}: must be a scheduler's address, got that of a worker; "
        "`dask scheduler` prints its own\n",
    )


def test_without_distributed_the_extra_is_named(
    call: Call, claims: Write, good: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    done = call("fuzz", claims(good), "--examples", 5, "--scheduler", "tcp://127.0.0.1:1")
    assert done.returncode == 2
    assert done.stderr.startswith(
        "UsageError: --scheduler tcp://127.0.0.1:1: needs the package distributed, got "
    )
    assert done.stderr.endswith("; pip install 'certiformer[cluster]'\n")


@pytest.mark.parametrize("command", [("verify",), ("fuzz", "--examples", 5)])
def test_jobs_are_the_clusters_to_decide(
    call: Call, claims: Write, good: str, command: tuple[object, ...]
) -> None:
    name, *options = command
    words = (name, claims(good), *options, "--jobs", 2, "--scheduler", "tcp://127.0.0.1:1")
    done = call(*words)
    assert (done.returncode, done.stderr) == (
        2,
        "UsageError: --jobs 2: must be left out with --scheduler, got both; a cluster's workers "
        "say how many they take, with `dask worker --nthreads`\n",
    )
