"""Every instance up to a stated bound: BOUNDED."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from verify.claims import Profile, Setting
from verify.counterexamples import Obligation, Shown, replayed
from verify.engines import decided
from verify.ranges import Range, combined, shard_of
from verify.verdicts import Json, Status, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhaustive:
    """Checks the obligation on every instance of a stated range.

    `ranges` gives each profile's range. `exhibit` turns an instance into what the certificate
    shows of it; `rechecked_as` names the definitions by which `recheck.py` checks it, if any.
    Both engines decide the first instances of a shard; the evidence says how many in all.
    """

    holds: Obligation
    ranges: Mapping[Profile, Range]
    rechecked_as: str = ""
    exhibit: Callable[[Any], Json]
    parts: int = 1
    leans_on: tuple[str, ...] = ("library:flint",)
    name: str = field(default="exhaustive", init=False)
    ceiling: Status = field(default=Status.BOUNDED, init=False)
    fresh_process: bool = field(default=False, init=False)

    def scope(self, setting: Setting) -> str:
        """The bound of the profile's range."""
        return self.ranges[setting.profile].bound

    def shards(self, setting: Setting) -> int:
        """A fixed number of interleaved parts."""
        del setting
        return self.parts

    def settle(self, setting: Setting) -> Verdict:
        """Check every `shards`-th instance from `shard` on; the first failure ends the search."""
        exhibits: list[Json] = []
        both = 0
        for instance in shard_of(self.ranges, setting):
            found, twice = decided(
                partial(self.holds, instance), partial(self.exhibit, instance), len(exhibits)
            )
            if found is not None:
                shown = Shown(rechecked_as=self.rechecked_as, exhibit=self.exhibit)
                return replayed(self.holds, instance, found, len(exhibits) + 1, shown)
            exhibits.append(self.exhibit(instance))
            both += twice
        return Verdict(
            status=Status.BOUNDED,
            evidence={"checked": len(exhibits), "both_engines": both},
            trusts=self.leans_on,
            instances=len(exhibits),
            certificate={
                "kind": "exhaustive",
                "rechecked_as": self.rechecked_as,
                "instances": exhibits,
            },
        )

    def combine(self, verdicts: Sequence[Verdict]) -> Verdict:
        """All instances held, or the failure of the lowest shard."""
        return combined(
            verdicts,
            self.ceiling,
            lambda total: {
                "checked": total,
                "both_engines": sum(verdict.evidence["both_engines"] for verdict in verdicts),
            },
        )
