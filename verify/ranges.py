"""Ranges of instances, one per profile; how they fall into shards, and how shards add up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from verify.claims import Profile, Setting
from verify.verdicts import Json, Status, Verdict, union, unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """The instances of a profile and their bound in words."""

    bound: str
    over: Callable[[], Iterable[Any]]


def shard_of(ranges: Mapping[Profile, Range], setting: Setting) -> Iterator[Any]:
    """Every `shards`-th instance of the profile's range from `shard` on."""
    return islice(ranges[setting.profile].over(), setting.shard, None, setting.shards)


def combined(
    verdicts: Sequence[Verdict],
    ceiling: Status,
    evidence: Callable[[int], Mapping[str, Json]],
) -> Verdict:
    """All instances held, or the weakest shard's verdict, the lowest shard's first.

    `evidence` gives what is said of that many instances. The certificate is the first shard's
    with everybody's instances, and with what the evidence says of its other fields.
    """
    worst = min(verdicts, key=lambda verdict: verdict.status)
    if worst.status < ceiling:
        return worst
    total = sum(verdict.instances for verdict in verdicts)
    if total == 0:
        return unknown("the range of instances is empty: nothing was checked")
    said = evidence(total)
    certificates: list[Mapping[str, Json]] = [verdict.certificate or {} for verdict in verdicts]
    shown = [exhibit for part in certificates for exhibit in part["instances"]]
    shared = {key: said.get(key, part) for key, part in certificates[0].items()}
    return replace(
        worst,
        evidence=said,
        trusts=union(verdict.trusts for verdict in verdicts),
        instances=total,
        certificate={**shared, "instances": shown},
    )
