"""The worker processes of one run, in every process that takes part in it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from uuid import uuid4

from verify.verdicts import Verdict, unknown
from verify.worker import INTERRUPTED, Limits, Task, Worker


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """One task's answer, before the shards of a check are put together."""

    verdict: Verdict
    seconds: float
    reused: bool = False


class WorkerPool:
    """A run's workers in this process, one per thread that asks; all can be stopped at once.

    A task that needs a process of its own gets a worker that ends with it. Pickled, a pool is its
    name and its limits: in another process it becomes that process's own pool of the same run.
    """

    def __init__(self, limits: Limits, name: str | None = None) -> None:
        """Start nothing yet."""
        self._limits = limits
        self._name = name or uuid4().hex
        self._local = threading.local()
        self._lock = threading.Lock()
        self._workers: list[Worker] = []
        self._stopped = False

    def __reduce__(self) -> tuple[Callable[[Limits, str], WorkerPool], tuple[Limits, str]]:
        """Processes do not travel."""
        return _arrived, (self._limits, self._name)

    def settle(self, task: Task, *, fresh: bool) -> Shard:
        """Settle a task in the calling thread's worker, or in a fresh one."""
        started = time.monotonic()
        worker: Worker | None = None if fresh else getattr(self._local, "worker", None)
        with self._lock:
            if self._stopped:
                return Shard(verdict=unknown(INTERRUPTED), seconds=0.0)
            if worker is None:
                worker = Worker(self._limits)
                self._workers.append(worker)
        if not fresh:
            self._local.worker = worker
        verdict = worker.settle(task)
        if fresh:
            worker.stop()
        if self._stopped:
            verdict = unknown(INTERRUPTED)
        return Shard(verdict=verdict, seconds=time.monotonic() - started)

    def stop(self) -> None:
        """Kill every worker; tasks that still come are answered UNKNOWN."""
        with self._lock:
            self._stopped = True
            for worker in self._workers:
                worker.close()
            self._workers.clear()


_lock = threading.Lock()
_pools: dict[str, WorkerPool] = {}
"""Pools that came from other processes, by name; a stopped one stays, so that it stays stopped."""


def _arrived(limits: Limits, name: str) -> WorkerPool:
    """The pool of that name in this process."""
    with _lock:
        return _pools.setdefault(name, WorkerPool(limits, name))
