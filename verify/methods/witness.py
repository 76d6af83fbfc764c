"""A statement that something exists, settled by exhibiting it and checking it exactly: PROVED."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from verify.claims import Setting
from verify.counterexamples import Obligation, Shown, replayed
from verify.engines import decided
from verify.verdicts import Json, Status, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """Finds an object by any means and checks that it is what the statement says exists.

    Only `holds` is trusted: how `find` came by the object does not matter. Both engines decide it,
    where it computes with matrices.
    """

    find: Callable[[], Any]
    holds: Obligation
    exhibit: Callable[[Any], Json]
    rechecked_as: str = ""
    instances: str
    leans_on: tuple[str, ...] = ("library:flint",)
    name: str = field(default="witness", init=False)
    ceiling: Status = field(default=Status.PROVED, init=False)
    fresh_process: bool = field(default=False, init=False)

    def scope(self, setting: Setting) -> str:
        """What is exhibited."""
        del setting
        return self.instances

    def shards(self, setting: Setting) -> int:
        """One."""
        del setting
        return 1

    def combine(self, verdicts: Sequence[Verdict]) -> Verdict:
        """There is one shard."""
        return verdicts[0]

    def settle(self, setting: Setting) -> Verdict:
        """Find the object, check it, and keep it as the certificate."""
        del setting
        witness = self.find()
        found, twice = decided(partial(self.holds, witness), partial(self.exhibit, witness))
        if found is not None:
            shown = Shown(rechecked_as=self.rechecked_as, exhibit=self.exhibit)
            return replayed(self.holds, witness, found, 1, shown)
        return Verdict(
            status=Status.PROVED,
            evidence={"witness": self.rechecked_as, "both_engines": int(twice)},
            trusts=self.leans_on,
            instances=1,
            certificate={
                "kind": "witness",
                "rechecked_as": self.rechecked_as,
                "instances": [self.exhibit(witness)],
            },
        )
