"""Shards settled on the workers of a Dask cluster, on the same sources as here.

A lost worker's shards are settled again elsewhere; one whose workers are lost again and again is
UNKNOWN, and so is all that is left when the cluster itself is lost.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import suppress
from functools import partial
from typing import Any, ParamSpec, TypeVar

from verify.errors import WorkerError
from verify.ground import Ground, difference
from verify.pool import WorkerPool

POLL_SECONDS = 1.0
ALONE_SECONDS = 30.0
"""Without any worker: time for one that died to be started again."""
SILENT_SECONDS = 60.0
"""Without an answer of the scheduler."""
STOP_SECONDS = 10.0
"""For workers to end what they run."""

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


# --- on a worker -----------------------------------------------------------------------------


def _on_ground(
    ground: Ground,
    pool: WorkerPool,
    fn: Callable[_Parameters, _Result],
    *args: _Parameters.args,
    **kwargs: _Parameters.kwargs,
) -> _Result:
    """What a task comes to, provided that this process stands on the ground before and after it."""
    _require(ground)
    result = fn(*args, **kwargs)
    try:
        _require(ground)
    except WorkerError:
        pool.stop()  # its processes may have imported a mixture
        raise
    return result


def _require(ground: Ground) -> None:
    if (what := difference(ground)) is not None:
        from distributed import get_worker

        raise WorkerError(f"worker {get_worker().address} {what}")


# --- amid a run ------------------------------------------------------------------------------


class ClusterExecutor(Executor):
    """Tasks of one run on the workers of a cluster; what it loses ends with a WorkerError.

    Dask's own executor schedules; around it stands what it does not do: to notice that nobody is
    left to wait for, and to end what still runs.
    """

    def __init__(self, client: Any, ground: Ground, scheduler: str, pool: WorkerPool) -> None:
        """Start to watch over the cluster."""
        self._client = client
        self._ground = ground
        self._scheduler = scheduler
        self._pool = pool
        self._inner: Executor = client.get_executor(pure=False)
        self._waiting: dict[Future[Any], None] = {}
        self._lost: str | None = None
        self._ended = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def submit(
        self,
        fn: Callable[_Parameters, _Result],
        /,
        *args: _Parameters.args,
        **kwargs: _Parameters.kwargs,
    ) -> Future[_Result]:
        """Schedule a task on the cluster."""
        outer: Future[_Result] = Future()
        self._waiting[outer] = None
        try:
            inner = self._inner.submit(_on_ground, self._ground, self._pool, fn, *args, **kwargs)
        except Exception as error:  # a client that has given up takes nothing
            self._lose(self._silent(error))
            return outer
        outer.add_done_callback(partial(_cancelled_too, inner))
        inner.add_done_callback(partial(self._arrived, outer))
        if self._lost is not None:
            self._lose(self._lost)
        return outer

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End what runs for this run anywhere; its tasks are settled or given up by now."""
        del wait, cancel_futures
        self._ended.set()
        if self._lost is None:  # in a thread, since a cluster that hangs would keep the caller
            stopping = threading.Thread(target=self._stop, daemon=True)
            stopping.start()
            stopping.join(STOP_SECONDS)

    def _stop(self) -> None:
        with suppress(Exception):  # a worker that is gone has nothing to stop
            self._client.run(self._pool.stop, on_error="ignore")

    def _arrived(self, outer: Future[Any], inner: Future[Any]) -> None:
        if not inner.cancelled():
            error = inner.exception()
            if error is None:
                self._finish(outer, inner.result())
            else:
                self._finish(outer, _as_worker_error(error))
        elif not outer.cancelled():  # Dask cancels all when it loses its scheduler
            self._lose(self._silent(ConnectionError("the connection was lost")))

    def _finish(self, outer: Future[Any], came: object) -> None:
        """Whoever is first to say what a task came to is heard."""
        try:
            del self._waiting[outer]
        except KeyError:
            return
        if not outer.set_running_or_notify_cancel():
            return
        if isinstance(came, WorkerError):
            outer.set_exception(came)
        else:
            outer.set_result(came)

    def _lose(self, reason: str) -> None:
        self._lost = self._lost or reason
        for outer in list(self._waiting):
            self._finish(outer, WorkerError(self._lost))

    def _silent(self, error: Exception) -> str:
        return (
            f"scheduler {self._scheduler} must stay in reach, got {type(error).__name__}: {error}; "
            "start it again and repeat the command"
        )

    def _watch(self) -> None:
        """Lose the cluster when nobody answers, or nobody is there to work."""
        seen = time.monotonic()
        while not self._ended.wait(POLL_SECONDS):
            try:
                scheduler = self._client.scheduler
                workers = self._client.sync(scheduler.ncores, callback_timeout=SILENT_SECONDS)
            except Exception as error:  # whatever keeps it from answering
                self._lose(self._silent(error))
                return
            now = time.monotonic()
            seen = now if workers else seen
            if now - seen > ALONE_SECONDS:
                self._lose(
                    f"scheduler {self._scheduler} must have a worker, got none for "
                    f"{ALONE_SECONDS:g} s; start one with `dask worker {self._scheduler}` and "
                    "repeat the command"
                )
                return


def _cancelled_too(inner: Future[Any], outer: Future[Any]) -> None:
    if outer.cancelled():
        inner.cancel()


def _as_worker_error(error: BaseException) -> WorkerError:
    from distributed import KilledWorker

    if isinstance(error, WorkerError):
        return error
    if isinstance(error, KilledWorker):
        return WorkerError(
            f"a worker must outlive the check, got {error.allowed_failures + 1} that were lost "
            f"with it, the last of them {error.last_worker.address}; look at its log"
        )
    return WorkerError(f"the cluster must bring an answer, got {type(error).__name__}: {error}")
