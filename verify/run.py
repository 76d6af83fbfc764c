"""Settle claims: schedule their checks, enforce the methods' ceilings, yield verdicts.

This module prints nothing, and what it keeps is in the ledger that it is given. An executor only
schedules; each of its threads drives a worker process of its own.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Executor, Future, as_completed
from dataclasses import dataclass, replace

from verify.claims import Check, Claim, Method, Setting
from verify.errors import MethodError
from verify.ledger import Entry, Ledger
from verify.verdicts import Status, Verdict, broken, unknown
from verify.worker import INTERRUPTED, Limits, Purpose, Task, Worker


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One settled check; `reused` of its shards came from the ledger."""

    claim: Claim
    check: int
    covers: bool
    method: str
    scope: str
    verdict: Verdict
    seconds: float
    shards: int = 1
    reused: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """One task's answer, before the shards of a check are put together."""

    verdict: Verdict
    seconds: float
    reused: bool = False


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
    ledger: Ledger | None = None,
) -> Generator[Outcome, None, None]:
    """Yield an outcome for every check of the claims, as they are settled.

    `methods` restricts to checks by the named methods; with the purpose "state" a verdict's
    certificate is all that is asked for. A shard that `ledger` holds is not settled again, and
    what a worker settles is in there before it is yielded. A check that hangs, is killed or eats
    its memory comes out UNKNOWN or BROKEN, and the rest goes on. Closing the iterator early kills
    the workers.
    """
    chosen = setting or Setting()
    pool = WorkerPool(limits or Limits())
    book = ledger if purpose == "settle" else None
    waiting: dict[Future[Shard], tuple[_Gathered, int]] = {}
    try:
        for claim, index, check in _chosen(claims, methods):
            gathered = _Gathered(claim, index, check, chosen)
            for shard in range(len(gathered.parts)):
                task = gathered.task(shard, purpose)
                entry = book and book.entry(claim, index, check.method.name, task.setting)
                gathered.parts[shard] = part = _known(book, entry)
                if part is None:
                    fresh = check.method.fresh_process
                    future = executor.submit(_answer, pool, task, fresh, book, entry)
                    waiting[future] = gathered, shard
            if gathered.complete:
                yield gathered.outcome()
        for future in as_completed(waiting):
            gathered, shard = waiting.pop(future)
            gathered.parts[shard] = future.result()
            if gathered.complete:
                yield gathered.outcome()
    finally:
        for future in waiting:
            future.cancel()
        pool.stop()


def _chosen(
    claims: Iterable[Claim], methods: Iterable[str] | None
) -> Iterator[tuple[Claim, int, Check]]:
    wanted = None if methods is None else set(methods)
    for claim in claims:
        for index, check in enumerate(claim.checks()):
            if wanted is None or check.method.name in wanted:
                yield claim, index, check


def _known(ledger: Ledger | None, entry: Entry | None) -> Shard | None:
    """The shard as the ledger holds it, if it does."""
    if ledger is None or entry is None or (found := ledger.find(entry)) is None:
        return None
    return Shard(verdict=found.verdict, seconds=found.seconds, reused=True)


def _answer(
    pool: WorkerPool, task: Task, fresh: bool, ledger: Ledger | None, entry: Entry | None
) -> Shard:
    """A worker's answer, written down in the thread that got it: nobody has to come for it."""
    shard = pool.settle(task, fresh=fresh)
    if ledger is not None and entry is not None:
        ledger.keep(entry, shard.verdict, shard.seconds)
    return shard


class _Gathered:
    """A check while the answers for its shards come in."""

    def __init__(self, claim: Claim, index: int, check: Check, setting: Setting) -> None:
        """Nothing is answered yet."""
        self._claim = claim
        self._index = index
        self._check = check
        self._setting = setting
        self.parts: list[Shard | None] = [None] * check.method.shards(setting)

    @property
    def complete(self) -> bool:
        """Whether every shard is answered."""
        return None not in self.parts

    def task(self, shard: int, purpose: Purpose) -> Task:
        """What a worker is asked for one shard."""
        return Task(
            module=self._claim.module,
            path=self._claim.path,
            claim=self._claim.id,
            check=self._index,
            setting=replace(self._setting, shard=shard, shards=len(self.parts)),
            purpose=purpose,
        )

    def outcome(self) -> Outcome:
        """The shards put together."""
        parts = [part for part in self.parts if part is not None]
        return Outcome(
            claim=self._claim,
            check=self._index,
            covers=self._check.covers,
            method=self._check.method.name,
            scope=self._check.method.scope(self._setting),
            verdict=_combined(self._check.method, [part.verdict for part in parts]),
            seconds=sum(part.seconds for part in parts),
            shards=len(parts),
            reused=sum(part.reused for part in parts),
        )


def _combined(method: Method, verdicts: list[Verdict]) -> Verdict:
    """The shards' verdict, held to the method's ceiling; nothing checked is UNKNOWN."""
    if not verdicts:
        return unknown("nothing was checked")
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
