"""What a check can come to, and how verdicts add up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from verify import display

Json = Any
"""A value that JSON can hold: dict with str keys, list, str, int, bool or None."""


class Status(IntEnum):
    """Weakest first; the minimum of two statuses is what both together are worth."""

    BROKEN = 0
    """The check itself crashed."""
    REFUTED = 1
    """A counterexample was found and replayed on the original object."""
    UNKNOWN = 2
    """Gave up, timed out, unsupported, engines disagree, or nothing was checked."""
    SAMPLED = 3
    """No counterexample among the stated number tried."""
    BOUNDED = 4
    """Holds for every instance up to the stated bound."""
    PROVED = 5
    """Holds for every instance that the statement speaks of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What one check came to.

    `evidence` has one schema per method and is all that pages are built from; `trusts` names
    solvers, libraries and facts; `instances` counts what was checked; `certificate` is what a
    second program can recheck; `notes` (tracebacks, raw figures) stay out of the record.
    """

    status: Status
    evidence: Mapping[str, Json]
    trusts: tuple[str, ...] = ()
    instances: int = 0
    certificate: Mapping[str, Json] | None = None
    notes: Mapping[str, Json] = field(default_factory=dict[str, Json])

    def as_json(self) -> dict[str, Json]:
        """All fields, the status by name."""
        return {
            "status": self.status.name,
            "evidence": dict(self.evidence),
            "trusts": list(self.trusts),
            "instances": self.instances,
            "certificate": None if self.certificate is None else dict(self.certificate),
            "notes": dict(self.notes),
        }

    @property
    def summary(self) -> str:
        """The reason or the counterexample in words, or how many instances were checked."""
        said = self.evidence.get("reason") or self.evidence.get("text")
        count = f"{self.instances:,} instance{'' if self.instances == 1 else 's'}"
        return str(said) if said else count

    def _repr_html_(self) -> str:
        """The verdict in a notebook."""
        found = self.evidence.get("counterexample")
        rows: list[tuple[str, display.Piece]] = [
            ("status", display.badge(self.status.name)),
            ("found", self.summary),
            ("counterexample", "" if found is None else display.data(found)),
            ("instances", f"{self.instances:,}"),
            ("trusts", ", ".join(self.trusts)),
        ]
        return display.shown(display.fields(rows))

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> Verdict:
        """The verdict that `as_json` wrote."""
        return cls(
            status=Status[data["status"]],
            evidence=data["evidence"],
            trusts=tuple(data["trusts"]),
            instances=data["instances"],
            certificate=data["certificate"],
            notes=data["notes"],
        )


def unknown(reason: str, **notes: Json) -> Verdict:
    """A check that settled nothing, and why."""
    return Verdict(status=Status.UNKNOWN, evidence={"reason": reason}, notes=notes)


def broken(reason: str, **notes: Json) -> Verdict:
    """A check that crashed, and how."""
    return Verdict(status=Status.BROKEN, evidence={"reason": reason}, notes=notes)


def union(trusts: Iterable[Iterable[str]]) -> tuple[str, ...]:
    """Everything that any part trusts, sorted."""
    return tuple(sorted({name for part in trusts for name in part}))


def claim_status(verdicts: Sequence[tuple[bool, Status]]) -> Status:
    """Status of a claim from its checks, each (covers the statement, status).

    The strongest among the covering checks, but BROKEN or REFUTED if any check is.
    """
    worst = min((status for _, status in verdicts), default=Status.UNKNOWN)
    if worst <= Status.REFUTED:
        return worst
    return max((status for covers, status in verdicts if covers), default=Status.UNKNOWN)
