"""What claims rest on: all of it, whether it is there, and how the whole stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from verify.claims import Claim
from verify.verdicts import Status


def with_dependencies(chosen: Iterable[Claim], known: Mapping[str, Claim]) -> list[Claim]:
    """The chosen claims and all that they use, sorted by id.

    A claim that uses an unknown id, or rests on itself, has a fault.
    """
    found: dict[str, Claim] = {}
    waiting = list(chosen)
    while waiting:
        item = waiting.pop()
        if item.id not in found:
            found[item.id] = item
            waiting += [known[used] for used in item.uses if used in known]
    return [_with_sound_uses(found[key], found) for key in sorted(found)]


def _with_sound_uses(item: Claim, known: Mapping[str, Claim]) -> Claim:
    fault = item.fault
    if unknown := [used for used in item.uses if used not in known]:
        fault = fault or (
            f"claim {item.id} uses {unknown[0]!r}, which no claim is called; "
            "correct the id or state that claim"
        )
    elif cycle := _cycle(item, known):
        fault = fault or (
            f"claim {item.id} must not rest on itself, got {' -> '.join(cycle)}; "
            "drop one of these uses"
        )
    return replace(item, fault=fault) if fault != item.fault else item


def _cycle(item: Claim, known: Mapping[str, Claim]) -> list[str]:
    """The ids on a shortest way of uses from a claim back to itself; none if there is no such."""
    came_from: dict[str, str] = {}
    ring = [item.id]
    while ring and item.id not in came_from:
        further: list[str] = []
        for user in ring:
            for used in known[user].uses:
                if used in known and used not in came_from:
                    came_from[used] = user
                    further.append(used)
        ring = further
    if item.id not in came_from:
        return []
    way = [item.id]
    while len(way) == 1 or way[-1] != item.id:
        way.append(came_from[way[-1]])
    return way[::-1]


def standings(claims: Iterable[Claim], statuses: Mapping[str, Status]) -> dict[str, Status]:
    """Each claim's standing: the weakest status among itself and all that it uses.

    Nothing is weaker than BROKEN, which is what a claim on a cycle of uses, or one that uses an
    unknown id, comes to: what it uses is not asked for.
    """
    by_id = {item.id: item for item in claims}
    known: dict[str, Status] = {}

    def standing(key: str) -> Status:
        if key not in known:
            uses = () if statuses[key] is Status.BROKEN else by_id[key].uses
            parts: Iterator[Status] = (standing(used) for used in uses)
            known[key] = min([statuses[key], *parts])
        return known[key]

    return {key: standing(key) for key in by_id}
