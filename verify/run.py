"""Settle claims: schedule their checks, enforce the methods' ceilings, yield verdicts.

This module prints nothing and keeps nothing. An executor only schedules; each of its threads
drives a worker process of its own.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor, Future, as_completed
from dataclasses import dataclass

from verify.claims import Claim, Method, Setting
from verify.errors import MethodError
from verify.verdicts import Status, Verdict, broken, unknown
from verify.worker import INTERRUPTED, Limits, Purpose, Task, Worker


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One settled check."""

    claim: Claim
    check: int
    covers: bool
    method: str
    scope: str
    verdict: Verdict
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """One task's answer, before the shards of a check are put together."""

    verdict: Verdict
    seconds: float


class WorkerPool:
    """The workers of this process, one per thread that asks; all can be stopped at once.

    A task that needs a process of its own gets a worker that ends with it.
    """

    def __init__(self, limits: Limits) -> None:
        """Start nothing yet."""
        self._limits = limits
        self._local = threading.local()
        self._lock = threading.Lock()
        self._workers: list[Worker] = []
        self._stopped = False

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


def settle(
    claims: Iterable[Claim],
    executor: Executor,
    setting: Setting | None = None,
    limits: Limits | None = None,
    *,
    methods: Iterable[str] | None = None,
    purpose: Purpose = "settle",
) -> Iterator[Outcome]:
    """Yield an outcome for every check of the claims, as they are settled.

    `methods` restricts to checks by the named methods; with the purpose "state" a verdict's
    certificate is all that is asked for. A check that hangs, is killed or eats its
    memory comes out UNKNOWN or BROKEN, and the rest goes on. Closing the iterator early kills
    the workers.
    """
    chosen = setting or Setting()
    pool = WorkerPool(limits or Limits())
    wanted = None if methods is None else set(methods)
    waiting: dict[Future[Shard], tuple[Claim, int, int]] = {}
    gathered: dict[tuple[str, int], list[Shard | None]] = {}
    try:
        for claim in claims:
            for index, check in enumerate(claim.checks()):
                if wanted is not None and check.method.name not in wanted:
                    continue
                shards = check.method.shards(chosen)
                gathered[claim.id, index] = [None] * shards
                for shard in range(shards):
                    task = _task(claim, index, chosen, shard, shards, purpose)
                    future = executor.submit(pool.settle, task, fresh=check.method.fresh_process)
                    waiting[future] = (claim, index, shard)
        for future in as_completed(waiting):
            claim, index, shard = waiting.pop(future)
            parts = gathered[claim.id, index]
            parts[shard] = future.result()
            if all(part is not None for part in parts):
                del gathered[claim.id, index]
                yield _outcome(claim, index, chosen, [part for part in parts if part is not None])
    finally:
        for future in waiting:
            future.cancel()
        pool.stop()


def _task(
    claim: Claim, index: int, setting: Setting, shard: int, shards: int, purpose: Purpose
) -> Task:
    return Task(
        module=claim.module,
        path=claim.path,
        claim=claim.id,
        check=index,
        setting=Setting(
            profile=setting.profile,
            seed=setting.seed,
            shard=shard,
            shards=shards,
            examples=setting.examples,
        ),
        purpose=purpose,
    )


def _outcome(claim: Claim, index: int, setting: Setting, parts: list[Shard]) -> Outcome:
    check = claim.checks()[index]
    return Outcome(
        claim=claim,
        check=index,
        covers=check.covers,
        method=check.method.name,
        scope=check.method.scope(setting),
        verdict=_combined(check.method, [part.verdict for part in parts]),
        seconds=sum(part.seconds for part in parts),
    )


def _combined(method: Method, verdicts: list[Verdict]) -> Verdict:
    """The shards' verdict, held to the method's ceiling; nothing checked is UNKNOWN."""
    worst = min(verdicts, key=lambda verdict: verdict.status)
    verdict = worst if worst.status <= Status.UNKNOWN else method.combine(verdicts)
    if verdict.status > method.ceiling:
        error = MethodError(
            f"method {method.name} must not report above {method.ceiling.name}, "
            f"got {verdict.status.name}"
        )
        return broken(f"{type(error).__name__}: {error}")
    if verdict.status >= Status.SAMPLED and verdict.instances < 1:
        return unknown("nothing was checked")
    return verdict
