"""Settle claims: schedule their checks, enforce the methods' ceilings, yield verdicts.

This module prints nothing, and what it keeps is in the ledger that it is given. An executor only
schedules, in threads here or on other machines; each thread drives a worker process of its own.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Executor, Future, as_completed
from dataclasses import dataclass, replace

from verify import display
from verify.claims import Check, Claim, Method, Setting
from verify.errors import MethodError, WorkerError
from verify.ledger import Entry, Ledger
from verify.pool import Shard, WorkerPool
from verify.verdicts import Status, Verdict, broken, unknown
from verify.worker import Limits, Purpose, Task


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

    def _repr_html_(self) -> str:
        """The outcome in a notebook."""
        return display.shown(outcomes_table([self]))


def outcomes_table(outcomes: Iterable[Outcome]) -> display.Html:
    """Outcomes for a notebook, one a row."""
    return display.table(
        ("claim", "method", "checks", "status", "scope", "found"),
        (
            (
                display.code(f"{outcome.claim.id} {outcome.check}"),
                outcome.method,
                "the statement" if outcome.covers else "a lemma or instances",
                display.badge(outcome.verdict.status.name),
                outcome.scope,
                outcome.verdict.summary,
            )
            for outcome in outcomes
        ),
    )


def settle(
    claims: Iterable[Claim],
    executor: Executor,
    setting: Setting | None = None,
    limits: Limits | None = None,
    *,
    methods: Iterable[str] | None = None,
    purpose: Purpose = "settle",
    ledger: Ledger | None = None,
    pool: WorkerPool | None = None,
) -> Generator[Outcome, None, None]:
    """Yield an outcome for every check of the claims, as they are settled.

    `methods` restricts to checks by the named methods; with the purpose "state" a verdict's
    certificate is all that is asked for. A shard that `ledger` holds is not settled again, and
    what a worker settles is in there before it is yielded. A check that hangs, is killed or eats
    its memory comes out UNKNOWN or BROKEN, and so does one that the executor lost, with a
    WorkerError; the rest goes on. Closing the iterator early kills the workers, which are those of
    `pool` if it is given, else new ones within `limits`.
    """
    chosen = setting or Setting()
    workers = pool or WorkerPool(limits or Limits())
    book = ledger if purpose == "settle" else None
    waiting: dict[Future[Shard], tuple[_Gathered, int, Future[Shard]]] = {}
    try:
        for claim, index, check in _chosen(claims, methods):
            gathered = _Gathered(claim, index, check, chosen)
            for shard in range(len(gathered.parts)):
                task = gathered.task(shard, purpose)
                entry = book and book.entry(claim, index, check.method.name, task.setting)
                gathered.parts[shard] = part = _known(book, entry)
                if part is None:
                    fresh = check.method.fresh_process
                    future = executor.submit(workers.settle, task, fresh=fresh)
                    waiting[_kept(future, book, entry)] = gathered, shard, future
            if gathered.complete:
                yield gathered.outcome()
        for kept in as_completed(waiting):
            gathered, shard, _ = waiting.pop(kept)
            gathered.parts[shard] = kept.result()
            if gathered.complete:
                yield gathered.outcome()
    finally:
        for _, _, future in waiting.values():
            future.cancel()
        workers.stop()


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


def _kept(future: Future[Shard], ledger: Ledger | None, entry: Entry | None) -> Future[Shard]:
    """The answer, once it is written down in the thread that brought it: nobody has to come for it.

    A waiter hears of a future before its callbacks have run, so it waits for this one instead.
    """
    kept: Future[Shard] = Future()

    def arrived(done: Future[Shard]) -> None:
        try:
            shard = _brought(done)
            if ledger is not None and entry is not None:
                ledger.keep(entry, shard.verdict, shard.seconds)
        except BaseException as error:  # raised again where the answer is waited for
            kept.set_exception(error)
        else:
            kept.set_result(shard)

    future.add_done_callback(arrived)
    return kept


def _brought(future: Future[Shard]) -> Shard:
    """What an executor came to; a task that it lost is UNKNOWN, and says why."""
    try:
        return future.result()
    except WorkerError as error:
        return Shard(verdict=unknown(str(error)), seconds=0.0)


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
