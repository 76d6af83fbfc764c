"""Compare a run's record and certificates with what the claims' own code states now.

`recheck.py` sees whether a certificate shows what it says; it cannot see that a goal, a bound or
an instance is the one that the claim asks for. Here everything but the solvers' answers is made
anew from the claims and compared, byte by byte.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable, Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import cast

from reports import record as records
from reports.selection import select, stdout_to_stderr
from verify.claims import Claim, Setting, States
from verify.errors import RecordError
from verify.run import Outcome, settle
from verify.sources import fingerprint
from verify.verdicts import Json
from verify.worker import Limits

MOST_WORDS = 60


def differences(folder: Path, jobs: int, limits: Limits) -> Iterator[tuple[str, str]]:
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
        for key, value in _stated(item).items():
            if recorded[name][key] != value:
                yield f"claim {name}", f"its {key} differs: {_beside(recorded[name][key], value)}"
    with (
        stdout_to_stderr(),
        ThreadPoolExecutor(jobs) as executor,
        closing(_stating(claims.values(), executor, setting, limits)) as outcomes,
    ):
        for outcome in outcomes:
            rows = recorded[outcome.claim.id]["checks"]
            what = f"{outcome.claim.id} check {outcome.check} ({outcome.method})"
            if outcome.check >= len(rows):
                yield what, "the record does not have it"
            else:
                yield from ((what, said) for said in _compared(folder, rows, outcome, setting))
    for name, item in claims.items():
        if len(recorded[name]["checks"]) > len(item.checks()):
            yield f"claim {name}", "the record has more checks than it"


def _stating(
    claims: Iterable[Claim], executor: Executor, setting: Setting, limits: Limits
) -> Generator[Outcome, None, None]:
    yield from settle(claims, executor, setting, limits, purpose="state")


def _stated(item: Claim) -> dict[str, Json]:
    return {
        "source": {"paper": item.source.paper, "where": item.source.where},
        "statement": item.statement,
        "latex": item.latex,
        "scope": item.scope,
        "uses": list(item.uses),
        "expected": item.expected.name,
    }


def _compared(
    folder: Path, rows: list[dict[str, Json]], outcome: Outcome, setting: Setting
) -> Iterator[str]:
    """How the record's row, and the certificate that it names, differ from a fresh statement."""
    row, fresh = rows[outcome.check], records.written_check(outcome, setting)
    method = outcome.claim.checks()[outcome.check].method
    asked = (
        ("method", "covers", "scope", "certificate") if isinstance(method, States) else fresh.row
    )
    for key in asked:
        if key != "certificate" and row[key] != fresh.row[key]:
            yield f"its {key} differs: {_beside(row[key], fresh.row[key])}"
    if row["certificate"] == fresh.row["certificate"]:
        for name, data in fresh.certificate.items():
            yield from _held(folder / records.place_of(name), data)
    elif row["certificate"] is None or fresh.row["certificate"] is None:
        yield f"its certificate differs: {_beside(row['certificate'], fresh.row['certificate'])}"
    else:
        (data,) = fresh.certificate.values()
        yield from _held(folder / row["certificate"], data)


def _held(path: Path, wanted: bytes) -> Iterator[str]:
    """How a certificate's file differs from what it must hold."""
    try:
        data = path.read_bytes()
    except OSError as error:
        yield f"its certificate cannot be read: {error.strerror}"
        return
    if data != wanted:
        try:
            found = json.loads(data)
        except (ValueError, RecursionError) as error:
            yield f"its certificate is not JSON: {error}"
            return
        place, ours, theirs = _first_difference(found, json.loads(wanted), "certificate")
        yield f"{place} differs: {_beside(ours, theirs)}"


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
