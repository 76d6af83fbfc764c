"""One claim settled in this very process, for notebooks and prompts.

A claim that stands in a notebook's cell is in no file that a worker process could import. Here its
checks run where it was stated: without limits of time and memory, and with whatever this process
has done before. `certiformer verify` settles the claims of a file in processes of their own.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from verify import display
from verify.claims import Claim, Profile, Setting
from verify.containment import contained
from verify.pool import Shard, WorkerPool
from verify.run import Outcome, outcomes_table, settle
from verify.verdicts import Status, Verdict, broken, claim_status
from verify.worker import Limits, Task

Given = ParamSpec("Given")
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A claim with the outcomes of its checks, in their order; what it uses is not settled."""

    claim: Claim
    outcomes: tuple[Outcome, ...]

    @property
    def status(self) -> Status:
        """The claim's status from its checks."""
        return claim_status([(one.covers, one.verdict.status) for one in self.outcomes])

    def __str__(self) -> str:
        """The claim and its checks, a line each."""
        lines = [f"{self.claim.id} {self.status.name}"]
        for one in self.outcomes:
            lines.append(f"  {one.verdict.status.name} {one.method}: {one.verdict.summary}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The claim's status and a table of its checks, in a notebook."""
        unsettled = ", ".join(self.claim.uses)
        top: list[tuple[str, display.Piece]] = [
            ("claim", display.code(self.claim.id)),
            ("statement", self.claim.statement),
            ("status", display.badge(self.status.name)),
            ("expected", display.badge(self.claim.expected.name)),
            ("uses, not settled here", unsettled),
        ]
        return display.shown(display.fields(top), outcomes_table(self.outcomes))


def check(
    claim: Claim, profile: Profile = "quick", *, seed: int = 0, examples: int | None = None
) -> Checked:
    """Settle the checks of one claim in this process, one after the other.

    Nothing stops a check that hangs or eats all memory; an error that one raises is BROKEN. What a
    search draws may depend on what this process has imported: `certiformer verify` decides.

    Raises:
        ClaimError: the claim is stated wrongly, or no check covers its statement.
    """
    setting = Setting(profile=profile, seed=seed, examples=examples)
    outcomes = settle([claim], _AtOnce(), setting, pool=_Here(claim))
    return Checked(claim=claim, outcomes=tuple(sorted(outcomes, key=lambda one: one.check)))


class _AtOnce(Executor):
    """Runs what is submitted before it answers, in the caller's thread."""

    def submit(
        self, fn: Callable[Given, Found], /, *args: Given.args, **kwargs: Given.kwargs
    ) -> Future[Found]:
        future: Future[Found] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


class _Here(WorkerPool):
    """Settles the tasks of one claim itself, as a worker would."""

    def __init__(self, claim: Claim) -> None:
        super().__init__(Limits())
        self._claim = claim

    def settle(self, task: Task, *, fresh: bool) -> Shard:
        del fresh  # there is no other process
        started = time.monotonic()
        return Shard(verdict=self._verdict(task), seconds=time.monotonic() - started)

    def _verdict(self, task: Task) -> Verdict:
        try:
            with contained():
                return self._claim.checks()[task.check].method.settle(task.setting)
        except (Exception, SystemExit) as error:  # a claim may raise anything, even SystemExit
            where: dict[str, Any] = {"traceback": traceback.format_exc()}
            return broken(f"{type(error).__name__}: {error}", **where)
