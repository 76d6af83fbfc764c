"""A Dask cluster on which a run settles its checks, looked at before anything is submitted."""

from __future__ import annotations

import asyncio
import logging
import time
import warnings
from collections.abc import Generator, Iterable
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import metadata
from typing import Any

from reports.cluster_executor import ClusterExecutor
from verify.claims import Claim
from verify.errors import UsageError
from verify.ground import Ground, difference, ground_of
from verify.pool import WorkerPool

CONNECT_SECONDS = 4.0
"""For a scheduler to answer."""
FIRST_SECONDS = 3.0
"""For a worker to come before a run."""
POLL_SECONDS = 0.2
CLOSE_SECONDS = 1.0
LOGGERS = ("distributed", "distributed.client", "tornado", "tornado.application", "asyncio")


@dataclass(frozen=True, slots=True, kw_only=True)
class Machines:
    """What a cluster consists of when a run begins."""

    scheduler: str
    workers: int
    threads: int


@contextmanager
def cluster_at(
    address: str | None, claims: Iterable[Claim]
) -> Generator[Cluster | None, None, None]:
    """The cluster of a scheduler, ready to settle the claims; None if there is no address.

    Raises:
        UsageError: it cannot be reached, has no workers, or they stand on other sources.
    """
    if address is None:
        yield None
        return
    client = _connected(address)
    try:
        ground = ground_of(claims, "distributed")
        yield Cluster(client, ground, _machines(client, address, ground))
    finally:
        with suppress(Exception):  # a lost scheduler does not answer to a goodbye
            client.close(timeout=CLOSE_SECONDS)


class Cluster:
    """A scheduler with workers that stand on what this process stands on."""

    def __init__(self, client: Any, ground: Ground, machines: Machines) -> None:
        """Hold a connected client."""
        self._client = client
        self._ground = ground
        self.machines = machines

    def executor(self, pool: WorkerPool) -> Executor:
        """An executor for one run, whose workers everywhere are those of `pool`."""
        return ClusterExecutor(self._client, self._ground, self.machines.scheduler, pool)


def _connected(address: str) -> Any:
    """A client of the scheduler, once that is known to be one of this version."""
    try:
        import distributed
    except ImportError as error:
        raise UsageError(
            f"--scheduler {address}: needs the package distributed, got {error}; "
            "pip install 'certiformer[cluster]'"
        ) from error
    for name in LOGGERS:  # what they have to say is said here, once
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [logging.NullHandler()], False
    _require_scheduler(address, metadata.version("distributed"))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # versions that matter are compared here
            return distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except Exception as error:
        raise _unreachable(address, error) from error


def _require_scheduler(address: str, version: str) -> None:
    """Ask with less than a client, which takes long to give up."""
    try:
        kind, came = asyncio.run(asyncio.wait_for(_asked(address), CONNECT_SECONDS))
    except Exception as error:  # who speaks something else there can cause anything
        raise _unreachable(address, error) from error
    if kind != "Scheduler":
        raise UsageError(
            f"--scheduler {address}: must be a scheduler's address, got that of a {kind.lower()}; "
            "`dask scheduler` prints its own"
        )
    if came != version:
        raise UsageError(
            f"--scheduler {address}: must run distributed {version} as this side does, got {came}; "
            "install the same version there"
        )


async def _asked(address: str) -> tuple[str, str]:
    """What kind of server it is, and its version of distributed."""
    from distributed.core import rpc
    from distributed.security import Security

    security: Any = Security()
    server: Any = rpc(address, connection_args=security.get_connection_args("client"))
    try:
        identity, around = await server.identity(), await server.versions()
    finally:
        await server.close_rpc()
    return str(identity["type"]), str(around["packages"]["distributed"])


def _unreachable(address: str, error: Exception) -> UsageError:
    came = "no answer" if isinstance(error, TimeoutError) else f"{type(error).__name__}: {error}"
    return UsageError(
        f"--scheduler {address}: must be the address of a Dask scheduler, such as "
        f"tcp://127.0.0.1:8786, got {came}; start one with `dask scheduler`"
    )


def _machines(client: Any, address: str, ground: Ground) -> Machines:
    """The workers, once each is known to stand on the ground that this process stands on."""
    deadline = time.monotonic() + FIRST_SECONDS
    while not (threads := client.nthreads()) and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
    if not threads:
        raise UsageError(
            f"--scheduler {address}: must have at least one worker, got none; start one with "
            f"`dask worker {address}`"
        )
    try:  # it reads what is submitted, but settles nothing, so that its sources may differ
        client.run_on_scheduler(difference, ground)
    except Exception as error:
        raise UsageError(f"--scheduler {address}: its process {_said(error)}") from error
    for worker, answer in client.run(difference, ground, on_error="return").items():
        what = _said(answer) if isinstance(answer, Exception) else answer
        if what is not None:
            raise UsageError(f"--scheduler {address}: worker {worker} {what}")
    return Machines(scheduler=address, workers=len(threads), threads=sum(threads.values()))


def _said(error: Exception) -> str:
    return f"must have certiformer, got {type(error).__name__}: {error}; install it there"
