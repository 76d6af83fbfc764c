"""A run's workers in another process are that process's own, and the same at each arrival."""

from __future__ import annotations

import pickle

from verify.claims import Setting
from verify.pool import WorkerPool
from verify.verdicts import unknown
from verify.worker import INTERRUPTED, Limits, Task

TASK = Task(module="constructions", path=None, claim="none.such", check=0, setting=Setting())


def arrived(pool: WorkerPool) -> WorkerPool:
    return pickle.loads(pickle.dumps(pool))  # noqa: S301 - our own bytes


def test_a_pool_arrives_as_another_pool_and_always_as_the_same() -> None:
    pool = WorkerPool(Limits())
    assert arrived(pool) is not pool
    assert arrived(pool) is arrived(pool)
    assert arrived(pool) is arrived(arrived(pool))
    assert arrived(pool) is not arrived(WorkerPool(Limits()))


def test_what_is_stopped_elsewhere_stays_stopped_there_and_goes_on_here() -> None:
    pool = WorkerPool(Limits())
    arrived(pool).stop()
    assert arrived(pool).settle(TASK, fresh=False).verdict == unknown(INTERRUPTED)
    verdict = pool.settle(TASK, fresh=False).verdict
    pool.stop()
    assert "claim none.such must stand in constructions" in verdict.evidence["reason"]
