"""A Hypothesis search that found no counterexample: SAMPLED; what it finds is shrunk and replayed.

The search depends on the seed alone: no database, no deadline, a seed per shard, and a process
that has imported nothing but what the claim needs (Hypothesis draws from imported constants).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from importlib import import_module
from typing import Any

from verify.claims import Profile, Setting
from verify.counterexamples import Counterexample, Obligation, Shown, replayed
from verify.engines import Engine, computing_by, confirmed
from verify.verdicts import Json, Status, Verdict, union, unknown

SHARD_EXAMPLES = 2500
"""Examples per shard: large enough that starting a process is cheap beside them."""
SMALLER_EXAMPLES = 40
"""Examples per strategy of smaller instances, once a counterexample is known."""
SHOWN = 4
"""Instances per shard that the certificate shows in full."""


class _FalsifiedError(Exception):
    """Tells Hypothesis that the instance at hand is a counterexample."""


@dataclass(slots=True)
class _Search:
    """What one search has seen so far."""

    holds: Obligation
    tried: int = 0
    computed: list[Any] = field(default_factory=list[Any])
    shown: list[Any] = field(default_factory=list[Any])
    last: tuple[Any, Counterexample] | None = None

    def test(self, instance: Any) -> None:
        self.tried += 1
        with computing_by(Engine.FIRST) as turn:
            found = self.holds(instance)
        if found is not None:
            self.last = (instance, found)
            raise _FalsifiedError
        if self.last is not None:
            return
        shown = self.tried % 97 == 0 and len(self.shown) < SHOWN
        if shown:
            self.shown.append(instance)
        if turn.operations and (shown or self.tried == 1):
            self.computed.append(instance)

    def decided_twice(self, exhibit: Callable[[Any], Json]) -> int:
        """On how many of the first instance and those shown the second engine found no failure."""
        return sum(
            confirmed(None, partial(self.holds, instance), partial(exhibit, instance))
            for instance in self.computed
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """Searches the strategy's instances for one on which the obligation fails.

    `strategy` builds a Hypothesis strategy when the check runs; `examples` says how many per
    profile; `exhibit` and `rechecked_as` are as for `Exhaustive`. `smaller` lists strategies of
    smaller instances than a failing one, smallest first: Hypothesis shrinks one choice at a time
    and can stop above the smallest sizes. Once nothing was found, both engines decide each shard's
    first instance and those that it shows.
    """

    holds: Obligation
    strategy: Callable[[], Any]
    instances: str
    examples: Mapping[Profile, int]
    rechecked_as: str = ""
    exhibit: Callable[[Any], Json]
    smaller: Callable[[Any], Iterable[Any]] | None = None
    leans_on: tuple[str, ...] = ("library:flint", "library:hypothesis")
    name: str = field(default="sampled", init=False)
    ceiling: Status = field(default=Status.SAMPLED, init=False)
    fresh_process: bool = field(default=True, init=False)

    def _wanted(self, setting: Setting) -> int:
        return self.examples[setting.profile] if setting.examples is None else setting.examples

    def scope(self, setting: Setting) -> str:
        """The instances searched; how many and from which seed is in the evidence."""
        del setting
        return self.instances

    def shards(self, setting: Setting) -> int:
        """One for every SHARD_EXAMPLES examples."""
        return max(1, -(-self._wanted(setting) // SHARD_EXAMPLES))

    def settle(self, setting: Setting) -> Verdict:
        """Search the shard's share of the examples."""
        share = range(setting.shard, self._wanted(setting), setting.shards)
        search = self._searched(self.strategy(), setting, max(1, len(share)))
        if search is None:
            return unknown("the strategy yields no instance: nothing was checked")
        if search.last is not None:
            return self._falsified(*search.last, search.tried, setting)
        return Verdict(
            status=Status.SAMPLED,
            evidence={
                "tried": search.tried,
                "seed": setting.seed,
                "shown": len(search.shown),
                "both_engines": search.decided_twice(self.exhibit),
            },
            trusts=self.leans_on,
            instances=search.tried,
            certificate={
                "kind": "sampled",
                "rechecked_as": self.rechecked_as,
                "tried": search.tried,
                "seed": setting.seed,
                "instances": list(map(self.exhibit, search.shown)),
            },
        )

    def _searched(self, strategy: Any, setting: Setting, examples: int) -> _Search | None:
        """One search, up to its shrunk counterexample; None if there is nothing to search."""
        hypothesis: Any = import_module("hypothesis")
        search = _Search(self.holds)
        seed = int.from_bytes(sha256(f"{setting.seed}/{setting.shard}".encode()).digest()[:8])
        decorated = hypothesis.seed(seed)(
            hypothesis.settings(
                max_examples=examples,
                deadline=None,
                database=None,
                derandomize=False,
                report_multiple_bugs=False,
                print_blob=False,
                verbosity=hypothesis.Verbosity.quiet,
                phases=(hypothesis.Phase.generate, hypothesis.Phase.shrink),
                suppress_health_check=list(hypothesis.HealthCheck),
            )(hypothesis.given(strategy)(search.test))
        )
        try:
            decorated()
        except _FalsifiedError:
            return search
        except hypothesis.errors.Flaky:
            if search.last is None:
                raise
            return search  # replaying the instance will show that it no longer fails
        except hypothesis.errors.Unsatisfiable:
            return None
        return search

    def _falsified(
        self, instance: Any, found: Counterexample, tried: int, setting: Setting
    ) -> Verdict:
        """The counterexample, or one among the smaller instances if those fail as well."""
        for strategy in self.smaller(instance) if self.smaller else ():
            search = self._searched(strategy, setting, SMALLER_EXAMPLES)
            tried += search.tried if search else 0
            if search and search.last is not None:
                instance, found = search.last
                break
        shown = Shown(rechecked_as=self.rechecked_as, exhibit=self.exhibit)
        verdict = replayed(self.holds, instance, found, tried, shown)
        return Verdict(
            status=verdict.status,
            evidence={**verdict.evidence, "seed": setting.seed, "shard": setting.shard},
            instances=verdict.instances,
            certificate=verdict.certificate,
            notes=verdict.notes,
        )

    def combine(self, verdicts: Sequence[Verdict]) -> Verdict:
        """Nothing found in any shard, or what the lowest failing shard found."""
        worst = min(verdicts, key=lambda verdict: verdict.status)
        if worst.status < Status.SAMPLED:
            return worst
        tried = sum(verdict.instances for verdict in verdicts)
        if tried == 0:
            return unknown("no instance was tried: nothing was checked")
        first = verdicts[0]
        certificates: list[Mapping[str, Json]] = [v.certificate or {} for v in verdicts]
        exhibits = [exhibit for part in certificates for exhibit in part["instances"]]
        shown = exhibits[: 4 * SHOWN]
        return Verdict(
            status=Status.SAMPLED,
            evidence={
                **first.evidence,
                "tried": tried,
                "shown": len(shown),
                "both_engines": sum(verdict.evidence["both_engines"] for verdict in verdicts),
            },
            trusts=union(verdict.trusts for verdict in verdicts),
            instances=tried,
            certificate={**certificates[0], "tried": tried, "instances": shown},
        )
