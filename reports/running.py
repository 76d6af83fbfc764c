"""Settle the chosen claims; one that cannot be built, or an interruption, costs no other."""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ParamSpec, Protocol, TypeVar

from reports.cluster import Cluster, Machines
from reports.selection import stdout_to_stderr
from reports.terminal import one_line
from verify.claims import Claim, Setting
from verify.ledger import Ledger
from verify.pool import WorkerPool
from verify.run import Outcome, settle
from verify.verdicts import Verdict, broken, unknown
from verify.worker import INTERRUPTED, Limits, Purpose

UNBUILT = "none"
"""The method that a record names for a claim whose checks cannot be built."""

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


class Watch(Protocol):
    """Who is told how far a run is; called from any thread."""

    def planned(self, checks: int) -> None:
        """So many checks are to be settled."""
        ...

    def submitted(self) -> None:
        """One more task waits; a check falls into one or more of them."""
        ...

    def finished(self) -> None:
        """One more task is done."""
        ...

    def settled(self, outcome: Outcome) -> None:
        """A check is settled."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What a run came to: an outcome for every planned check, sorted by claim and check.

    `machines` says what cluster it ran on, if it did.
    """

    outcomes: tuple[Outcome, ...]
    interrupted: bool
    seconds: float
    machines: Machines | None = None

    @property
    def shards(self) -> int:
        """Into how many shards its checks fall."""
        return sum(outcome.shards for outcome in self.outcomes)

    @property
    def reused(self) -> int:
        """How many of them came from the ledger."""
        return sum(outcome.reused for outcome in self.outcomes)


class WatchedExecutor(Executor):
    """An executor whose tasks are counted as they come and go."""

    def __init__(self, executor: Executor, watch: Watch) -> None:
        """Start nothing yet."""
        self._executor = executor
        self._watch = watch

    def submit(
        self,
        fn: Callable[_Parameters, _Result],
        /,
        *args: _Parameters.args,
        **kwargs: _Parameters.kwargs,
    ) -> Future[_Result]:
        """Schedule a task and tell the watcher."""
        future = self._executor.submit(fn, *args, **kwargs)
        self._watch.submitted()
        future.add_done_callback(self._done)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more tasks, and wait for those that run."""
        self._executor.shutdown(wait, cancel_futures=cancel_futures)

    def _done(self, future: Future[Any]) -> None:
        if not future.cancelled():
            self._watch.finished()


@contextmanager
def ledger_at(path: Path, *, fresh: bool) -> Generator[Ledger, None, None]:
    """A ledger while a run uses it; what is wrong with its file is said on stderr.

    Raises:
        LedgerError: another program or a newer version wrote the file.
    """
    with closing(Ledger(path, fresh=fresh)) as ledger:
        said = len(ledger.notes)
        _say(ledger.notes)
        try:
            yield ledger
        finally:
            _say(ledger.notes[said:])


def _say(notes: Iterable[str]) -> None:
    for note in notes:
        sys.stderr.write(f"ledger: {one_line(note)}\n")


def run_checks(
    claims: Sequence[Claim],
    setting: Setting,
    limits: Limits,
    jobs: int,
    watch: Watch,
    *,
    methods: Iterable[str] | None = None,
    ledger: Ledger | None = None,
    purpose: Purpose = "settle",
    cluster: Cluster | None = None,
) -> Run:
    """Settle every check of the claims, or those by the named methods, that `ledger` does not hold.

    So many `jobs` at a time are settled here, or as many as a `cluster` takes there. An
    interruption ends the run early: what is settled is kept, the rest is UNKNOWN. A claim that is
    stated wrongly is BROKEN.
    """
    started = time.monotonic()
    wanted = None if methods is None else frozenset(methods)
    with stdout_to_stderr():
        outcomes, sound = _plan(claims, setting, wanted)
        interrupted = False
        watch.planned(len(outcomes))
        pool = WorkerPool(limits)
        try:
            with (
                WatchedExecutor(_executor(pool, jobs, cluster), watch) as executor,
                closing(
                    settle(
                        sound,
                        executor,
                        setting,
                        methods=wanted,
                        ledger=ledger,
                        purpose=purpose,
                        pool=pool,
                    )
                ) as settled,
            ):
                for outcome in settled:
                    outcomes[outcome.claim.id, outcome.check] = outcome
                    watch.settled(outcome)
        except KeyboardInterrupt:
            interrupted = True
    return Run(
        outcomes=tuple(outcomes[key] for key in sorted(outcomes)),
        interrupted=interrupted,
        seconds=time.monotonic() - started,
        machines=None if cluster is None else cluster.machines,
    )


def _executor(pool: WorkerPool, jobs: int, cluster: Cluster | None) -> Executor:
    if cluster is not None:
        return cluster.executor(pool)
    return ThreadPoolExecutor(jobs, thread_name_prefix="certiformer")


def _plan(
    claims: Sequence[Claim], setting: Setting, wanted: frozenset[str] | None
) -> tuple[dict[tuple[str, int], Outcome], list[Claim]]:
    """Every check as it stands when nothing is settled, and the claims that could be built."""
    outcomes: dict[tuple[str, int], Outcome] = {}
    sound: list[Claim] = []
    for claim in claims:
        try:
            planned = _planned(claim, setting, wanted)
        except (Exception, SystemExit) as error:
            verdict = broken(
                f"the claim's checks cannot be built: {type(error).__name__}: {error}",
                traceback=traceback.format_exc(),
            )
            planned = [_outcome(claim, 0, True, UNBUILT, "", verdict)]
        else:
            sound.append(claim)
        outcomes |= {(claim.id, outcome.check): outcome for outcome in planned}
    return outcomes, sound


def _planned(claim: Claim, setting: Setting, wanted: frozenset[str] | None) -> list[Outcome]:
    planned: list[Outcome] = []
    for index, check in enumerate(claim.checks()):
        if wanted is None or check.method.name in wanted:
            shards = check.method.shards(setting)  # fails here, if at all, and not amid the run
            scope = check.method.scope(setting)
            verdict = unknown(INTERRUPTED)
            waiting = _outcome(claim, index, check.covers, check.method.name, scope, verdict)
            planned.append(replace(waiting, shards=shards))
    return planned


def _outcome(
    claim: Claim, index: int, covers: bool, method: str, scope: str, verdict: Verdict
) -> Outcome:
    return Outcome(
        claim=claim,
        check=index,
        covers=covers,
        method=method,
        scope=scope,
        verdict=verdict,
        seconds=0.0,
    )
