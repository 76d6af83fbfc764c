"""Compare a run's record and certificates with what the claims' own code states now.

`recheck.py` sees whether a certificate shows what it says; it cannot see that a goal, a bound or
an instance is the one that the claim asks for. Here everything but the solvers' answers is made
anew from the claims and compared, byte by byte.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

from reports import record as records
from reports.running import UNBUILT, Watch, run_checks
from reports.selection import select
from verify.claims import Setting, States
from verify.errors import RecordError
from verify.run import Outcome
from verify.sources import fingerprint
from verify.verdicts import Json
from verify.worker import Limits

MOST_WORDS = 60
UNASKED = ("status", "evidence", "trusts", "instances")
"""What a check's row says of its outcome, which is not known where only goals are stated."""


def differences(folder: Path, jobs: int, limits: Limits, watch: Watch) -> Iterator[tuple[str, str]]:
    """(what, words) for all that differs; nothing if the run is what the claims state now.

    Raises:
        RecordError: the record cannot be read, or names other claims than its selectors.
    """
    record = records.load(folder)
    setting = Setting(profile=record["profile"], seed=record["seed"])
    claims = {item.id: item for item in select(record["selectors"]).claims}
    recorded = {row["id"]: row for row in record["claims"]}
    if sorted(recorded) != sorted(claims):
        other = sorted(set(recorded) ^ set(claims))
        raise RecordError(
            f"{folder / records.RECORD}: must hold the claims that its selectors name, got a "
            f"difference in {', '.join(other[:3])}; use the version that wrote it"
        )
    if any(recorded[name]["construction"] != fingerprint(item) for name, item in claims.items()):
        yield "record", "it was made by other sources than these; use the version that wrote it"
        return
    for name, item in claims.items():
        for key, value in records.stated(item).items():
            if recorded[name][key] != value:
                yield f"claim {name}", f"its {key} differs: {_beside(recorded[name][key], value)}"
    run = run_checks([*claims.values()], setting, limits, jobs, watch, purpose="state")
    if run.interrupted:
        raise KeyboardInterrupt
    stated = Counter(outcome.claim.id for outcome in run.outcomes)
    for name in claims:
        if len(recorded[name]["checks"]) != stated[name]:
            yield f"claim {name}", "the record has another number of checks than it"
    for outcome in run.outcomes:
        rows = recorded[outcome.claim.id]["checks"]
        what = f"{outcome.claim.id} check {outcome.check} ({outcome.method})"
        if outcome.check < len(rows):
            compared = _compared(folder, rows[outcome.check], outcome, setting)
            yield from ((what, words) for words in compared)


def _states(outcome: Outcome) -> bool:
    """Whether the method was only asked to state its certificate; a fault is stated in whole."""
    if outcome.method == UNBUILT:
        return False
    return isinstance(outcome.claim.checks()[outcome.check].method, States)


def _compared(
    folder: Path, row: Mapping[str, Json], outcome: Outcome, setting: Setting
) -> Iterator[str]:
    """How the record's row, and the certificate that it names, differ from a fresh statement."""
    fresh = records.written_check(outcome, setting)
    unasked = {"certificate", *(UNASKED if _states(outcome) else ())}
    for key, value in fresh.row.items():
        if key not in unasked and row[key] != value:
            yield f"its {key} differs: {_beside(row[key], value)}"
    place, wanted = row["certificate"], fresh.row["certificate"]
    if place is None or wanted is None:
        if place != wanted:
            yield f"its certificate differs: {_beside(place, wanted)}"
        return
    (data,) = fresh.certificate.values()
    difference = differing(folder / place, data)
    if difference:
        yield difference


def differing(path: Path, wanted: bytes) -> str:
    """How a certificate's file differs from the bytes that it must hold; nothing if it does not."""
    try:
        data = path.read_bytes()
    except OSError as error:
        return f"its certificate cannot be read: {error.strerror}"
    if data == wanted:
        return ""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        return f"its certificate is not JSON: {error}"
    place, ours, theirs = _first_difference(found, json.loads(wanted), "certificate")
    return f"{place} differs: {_beside(ours, theirs)}"


def _first_difference(found: Json, wanted: Json, place: str) -> tuple[str, Json, Json]:
    """The innermost place at which two JSON values differ first, and what stands there."""
    values: tuple[Json, Json] = (found, wanted)
    if isinstance(found, dict) and isinstance(wanted, dict):
        left, right = cast("Mapping[str, Json]", found), cast("Mapping[str, Json]", wanted)
        for key in sorted({*left, *right}):
            if key not in left or key not in right:
                return f"{place}.{key}", left.get(key, "nothing"), right.get(key, "nothing")
            if left[key] != right[key]:
                return _first_difference(left[key], right[key], f"{place}.{key}")
    if isinstance(found, list) and isinstance(wanted, list):
        first, second = cast("list[Json]", found), cast("list[Json]", wanted)
        for index, (one, two) in enumerate(zip(first, second, strict=False)):
            if one != two:
                return _first_difference(one, two, f"{place}[{index}]")
        if len(first) != len(second):
            return f"{place}, its length", len(first), len(second)
    return place, *values


def _beside(found: Json, wanted: Json) -> str:
    return f"got {_short(found)}, the claim states {_short(wanted)}"


def _short(value: Json) -> str:
    text = json.dumps(value, sort_keys=True)
    return text if len(text) <= MOST_WORDS else f"{text[:MOST_WORDS]}.."
