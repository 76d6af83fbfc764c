"""A counterexample: the instance on which a statement fails, as data and in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from verify.verdicts import Json, Status, Verdict, broken


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterexample:
    """What a statement's check returns where the statement fails.

    `instance` describes the object exactly; `text` says what was required and what came.
    """

    text: str
    instance: Mapping[str, Json]


Obligation = Callable[[Any], Counterexample | None]
"""Checks one instance; None where the statement holds."""


def replayed(holds: Obligation, instance: Any, found: Counterexample, tried: int) -> Verdict:
    """REFUTED if the failing instance fails once more when checked anew, else BROKEN."""
    again = holds(instance)
    if again is None:
        return broken(
            f"the failing instance did not fail again when replayed: {found.text}",
            instance=dict(found.instance),
        )
    return Verdict(
        status=Status.REFUTED,
        evidence={"counterexample": dict(again.instance), "text": again.text, "tried": tried},
        instances=tried,
        certificate={
            "kind": "counterexample",
            "instance": dict(again.instance),
            "text": again.text,
        },
    )
