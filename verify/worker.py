"""One check in a process of its own that can be killed.

Parent and child speak JSON lines over pipes. The child imports a claim by module or path and
settles one shard of one of its checks; the parent watches time and memory from outside and kills
what passes them. Nothing is pickled; a dead worker costs one check.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import os
import select
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import IO, Any, Literal

import psutil

from verify.claims import Claim, Method, Mutates, Setting, States
from verify.containment import contained
from verify.errors import WorkerError
from verify.loading import claims_in, load_file
from verify.mutants import mutants_in
from verify.verdicts import Json, Verdict, broken, unknown

POLL_SECONDS = 0.2
PARENT_SECONDS = 1.0
ATTEMPTS = 2
INTERRUPTED = "interrupted before it was settled"
_SET_CHILD_SUBREAPER = 36
"""Linux's PR_SET_CHILD_SUBREAPER, from <linux/prctl.h>."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one task may use before it is killed."""

    seconds: float = 600.0
    bytes: int = 4 << 30


Purpose = Literal["settle", "state", "mutate"]
"""Settle a check, only state what its certificate must say, or break what it assumes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One shard of one check of one claim, by name."""

    module: str
    path: str | None
    claim: str
    check: int
    setting: Setting
    purpose: Purpose = "settle"

    def as_json(self) -> dict[str, Json]:
        """What goes over the pipe."""
        return asdict(self)


# --- child -----------------------------------------------------------------------------------


def find_claim(module: str, path: str | None, claim: str) -> Claim:
    """The claim, or the broken one, as this process knows it, imported by file or by module."""
    package = load_file(path) if path is not None else importlib.import_module(module)
    known = (*claims_in(package), *(item.claim for item in mutants_in(package)))
    found = next((item for item in known if item.id == claim), None)
    if found is None:
        raise WorkerError(f"claim {claim} must stand in {path or module}, got none of that id")
    return found


def perform(request: Mapping[str, Json]) -> Verdict:
    """Settle what the request names; whatever goes wrong is BROKEN with its traceback."""
    try:
        found = find_claim(request["module"], request["path"], request["claim"])
        index: int = request["check"]
        method, setting = found.checks()[index].method, Setting(**request["setting"])
        if request["purpose"] == "state" and isinstance(method, States):
            return method.stated(setting)
        if request["purpose"] == "mutate":
            return _mutated(method, setting)
        return method.settle(setting)
    except MemoryError as error:
        return unknown(f"ran out of memory: {error}", traceback=traceback.format_exc())
    except BaseException as error:  # a claim may raise anything, even SystemExit
        return broken(f"{type(error).__name__}: {error}", traceback=traceback.format_exc())


def _mutated(method: Method, setting: Setting) -> Verdict:
    if isinstance(method, Mutates):
        return method.mutated(setting)
    return unknown(f"the method {method.name} assumes nothing that could be broken")


def _end_with_parent(parent: int) -> None:
    """End this process soon after its parent did, which could not stop it if it was killed."""
    while os.getppid() == parent:
        time.sleep(PARENT_SECONDS)
    _end_what_it_started()
    os._exit(1)


def _adopt_orphans() -> None:
    """Have what a claim's children start and leave become this process's own, on Linux."""
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _end_what_it_started() -> None:
    """Kill what a claim left running, and take its status so that nothing is left of it."""
    while left := _family(os.getpid()):
        for process in left:
            _kill(process)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(-1, 0)


def serve() -> None:
    """Answer requests on standard input until it closes; what claims print goes to stderr."""
    requests = os.fdopen(os.dup(0), encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    with open(os.devnull, encoding="utf-8") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    _adopt_orphans()
    for line in requests:
        with contained():
            verdict = perform(json.loads(line))
        _end_what_it_started()
        answers.write(json.dumps(verdict.as_json()) + "\n")
        answers.flush()


# --- parent ----------------------------------------------------------------------------------


class Worker:
    """A child process that settles one task at a time."""

    def __init__(self, limits: Limits) -> None:
        """Start nothing yet; the child starts with the first task."""
        self._limits = limits
        self._process: subprocess.Popen[bytes] | None = None
        self._buffer = b""
        self._closed = False

    def settle(self, task: Task) -> Verdict:
        """The task's verdict; UNKNOWN if it was killed for its time or memory.

        A worker that dies by itself is replaced and the task run once more.
        """
        code = ""
        for _ in range(ATTEMPTS):
            answer = self._attempt(task)
            if answer is not None:
                return answer
            code = self._exit_status()
            self.stop()
            if self._closed:
                return unknown(INTERRUPTED)
        return broken(f"the worker process died twice on this check ({code})")

    def _attempt(self, task: Task) -> Verdict | None:
        process = self._running()
        try:
            _pipe(process.stdin).write(json.dumps(task.as_json()).encode() + b"\n")
            _pipe(process.stdin).flush()
        except BrokenPipeError:
            return None
        deadline = time.monotonic() + self._limits.seconds
        while True:
            line = self._line(process)
            if line is not None:
                return Verdict.from_json(json.loads(line))
            if self._closed:  # by another thread, maybe before this process was started
                self.stop()
                return unknown(INTERRUPTED)
            if process.poll() is not None:
                return None
            if time.monotonic() > deadline:
                self.stop()
                return unknown(f"killed after its {self._limits.seconds:g} s of time")
            if _resident_bytes(process.pid) > self._limits.bytes:
                self.stop()
                return unknown(f"killed at its {self._limits.bytes >> 20} MiB of memory")

    def _line(self, process: subprocess.Popen[bytes]) -> bytes | None:
        """The child's next line if it comes within a poll, else None."""
        stream = _pipe(process.stdout)
        ready, _, _ = select.select([stream], [], [], POLL_SECONDS)
        if ready:
            self._buffer += os.read(stream.fileno(), 1 << 20)
        line, newline, rest = self._buffer.partition(b"\n")
        if not newline:
            return None
        self._buffer = rest
        return line

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._buffer = b""
            self._process = subprocess.Popen(
                [sys.executable, *["-O"] * sys.flags.optimize, "-m", "verify.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            )
        return self._process

    def _exit_status(self) -> str:
        code = self._process.wait() if self._process is not None else 0
        return f"signal {-code}" if code < 0 else f"exit status {code}"

    def close(self) -> None:
        """Kill the child and start no other; called from any thread."""
        self._closed = True
        self.stop()

    def stop(self) -> None:
        """Kill the child and all that it started, if it runs."""
        process, self._process = self._process, None
        if process is None:
            return
        family = _family(process.pid)
        process.kill()
        for member in family:
            _kill(member)
        process.wait()
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                _pipe(pipe).close()


def _pipe(stream: IO[bytes] | None) -> Any:
    if stream is None:
        raise WorkerError("the worker process must have pipes, got none")
    return stream


def _family(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def _kill(process: psutil.Process) -> None:
    with contextlib.suppress(psutil.NoSuchProcess):
        process.kill()


def _resident_bytes(pid: int) -> int:
    """Memory of a process and of all that it started."""
    total = 0
    for member in [pid, *(child.pid for child in _family(pid))]:
        with contextlib.suppress(psutil.NoSuchProcess):
            total += int(psutil.Process(member).memory_info().rss)
    return total


if __name__ == "__main__":
    serve()
