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


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """How `recheck.py` is shown the failing object: plain definitions, and it in their terms."""

    rechecked_as: str
    exhibit: Callable[[Any], Json]


def replayed(
    holds: Obligation,
    instance: Any,
    found: Counterexample,
    tried: int,
    shown: Shown | None = None,
) -> Verdict:
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
            "rechecked_as": "" if shown is None else shown.rechecked_as,
            "exhibit": None if shown is None else _exhibit(shown, instance),
        },
    )


def _exhibit(shown: Shown, instance: Any) -> Json:
    """The failing object as plain data; None if it is too broken to be written so."""
    try:
        return shown.exhibit(instance)
    except Exception:  # a wrong construction may raise anything, and its refutation stands
        return None
