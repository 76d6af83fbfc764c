"""The record of a run, as data: the same bytes for the same code, selectors, profile and seed.

    {"schema": "certiformer/record/1", "profile", "seed", "selectors", "claims": [..], "findings",
     "coverage"}

It holds no time, no place on disk and no raw floating-point figure; those stand in `run.json`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from reports.selection import Selection
from verify.certificates import Seal, sealed
from verify.claims import Claim, Setting
from verify.dependencies import standings
from verify.errors import CertificateError, RecordError
from verify.run import Outcome
from verify.sources import fingerprint
from verify.verdicts import Json, Status, Verdict, broken, claim_status, union

SCHEMA = "certiformer/record/1"
RECORD = "record.json"
_FIELDS = frozenset("schema profile seed selectors claims findings".split())
_CLAIM_FIELDS = frozenset(
    {"id", "source", "statement", "latex", "construction", "scope", "uses", "expected"}
    | {"status", "standing", "trusts", "checks"}
)
_CHECK_FIELDS = frozenset(
    "method covers status scope evidence trusts instances certificate".split()
)
_ADDRESS = re.compile(r"\bat 0x[0-9a-f]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A record with the certificates that it names, and the verdicts that it is made of."""

    record: dict[str, Json]
    certificates: Mapping[str, bytes]
    outcomes: tuple[Outcome, ...]


def canonical(value: Json) -> bytes:
    """The one text of a record: sorted keys, an indent of one space, ASCII, a final newline."""
    text = json.dumps(value, indent=1, sort_keys=True, ensure_ascii=True, allow_nan=False)
    return text.encode("ascii") + b"\n"


def build(selection: Selection, setting: Setting, outcomes: Iterable[Outcome]) -> Recorded:
    """The record of the selection's claims from the outcomes of all their checks.

    Evidence that cannot be written or sealed makes its check BROKEN.
    """
    certificates: dict[str, bytes] = {}
    kept: list[Outcome] = []
    checks: dict[str, list[dict[str, Json]]] = {item.id: [] for item in selection.claims}
    by_place = sorted(outcomes, key=lambda outcome: (outcome.claim.id, outcome.check))
    for settled in by_place:
        written = written_check(settled, setting)
        certificates |= written.certificate
        kept.append(written.outcome)
        checks[settled.claim.id].append(written.row)
    statuses = {key: _status(rows) for key, rows in checks.items()}
    standing = standings(selection.claims, statuses)
    claims: list[Json] = [
        {
            **stated(item),
            "status": statuses[item.id].name,
            "standing": standing[item.id].name,
            "trusts": list(union(row["trusts"] for row in checks[item.id])),
            "checks": checks[item.id],
            "file": selection.files.get(item.id),
        }
        for item in selection.claims
    ]
    record = {
        "schema": SCHEMA,
        "profile": setting.profile,
        "seed": setting.seed,
        "selectors": list(selection.selectors),
        "claims": claims,
        "findings": _findings(selection, claims),
        "coverage": _coverage(selection, {item.source.paper for item in selection.claims}),
    }
    return Recorded(record=record, certificates=certificates, outcomes=tuple(kept))


def _findings(selection: Selection, claims: Iterable[Mapping[str, Json]]) -> list[Json]:
    """The findings all of whose claims stand where they are expected to."""
    reached = {claim["id"] for claim in claims if outcome_of(claim) == "ok"}
    return [
        {
            "id": item.id,
            "kind": item.kind,
            "source": {"paper": item.source.paper, "where": item.source.where},
            "title": item.title,
            "words": item.words,
            "text": item.text(),
            "claims": list(item.claims),
        }
        for item in selection.findings
        if item.stands(reached)
    ]


def _coverage(selection: Selection, papers: Set[str]) -> list[Json]:
    """What is checked, place by place, of the papers that the selected claims are from."""
    return [
        {
            "paper": item.paper,
            "checked": item.checked,
            "entries": [
                {
                    "where": entry.where,
                    "what": entry.what,
                    "claims": list(entry.claims),
                    "reason": entry.reason,
                }
                for entry in item.entries
            ],
        }
        for item in selection.coverage
        if item.paper in papers or not selection.selectors
    ]


def stated(item: Claim) -> dict[str, Json]:
    """What a record repeats of a claim, whatever its checks come to."""
    return {**claim_json(item), "construction": fingerprint(item)}


def claim_json(item: Claim) -> dict[str, Json]:
    """A claim in its own words, as `list --json` shows it."""
    return {
        "id": item.id,
        "source": {"paper": item.source.paper, "where": item.source.where},
        "statement": item.statement,
        "latex": item.latex,
        "scope": item.scope,
        "uses": list(item.uses),
        "expected": item.expected.name,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenCheck:
    """One check as the record has it, with its certificate's bytes by name if it has one."""

    outcome: Outcome
    row: dict[str, Json]
    certificate: dict[str, bytes]


def written_check(settled: Outcome, setting: Setting) -> WrittenCheck:
    """What a record and its certificates hold of an outcome; BROKEN if it cannot be written."""
    outcome = _writable(settled, setting)
    certificate: dict[str, bytes] = {}
    name = _seal(outcome, setting, certificate)
    return WrittenCheck(outcome=outcome, row=_check(outcome, name), certificate=certificate)


def _writable(outcome: Outcome, setting: Setting) -> Outcome:
    """The outcome itself, or BROKEN if its evidence or certificate is not what it must be."""
    verdict = outcome.verdict
    try:
        canonical(dict(verdict.evidence))
        if verdict.certificate is not None:
            sealed(_seal_of(outcome, setting), verdict.certificate)
    except (CertificateError, KeyError, TypeError, ValueError) as error:
        reason = f"its evidence cannot be written: {type(error).__name__}: {error}"
        return replace(outcome, verdict=broken(reason, **verdict.notes))
    if verdict.status is Status.BROKEN and "reason" in verdict.evidence:
        reason = _ADDRESS.sub("at 0x..", str(verdict.evidence["reason"]))
        evidence = {**verdict.evidence, "reason": reason}
        return replace(outcome, verdict=_with_evidence(verdict, evidence))
    return outcome


def _with_evidence(verdict: Verdict, evidence: Mapping[str, Json]) -> Verdict:
    return replace(verdict, evidence=evidence)


def _seal_of(outcome: Outcome, setting: Setting) -> Seal:
    claim = outcome.claim
    return Seal(
        claim=claim.id,
        statement=claim.statement,
        construction=fingerprint(claim),
        check=outcome.check,
        method=outcome.method,
        scope=outcome.scope,
        profile=setting.profile,
        seed=setting.seed,
    )


def _seal(outcome: Outcome, setting: Setting, certificates: dict[str, bytes]) -> str | None:
    if outcome.verdict.certificate is None:
        return None
    name, data = sealed(_seal_of(outcome, setting), outcome.verdict.certificate)
    certificates[name] = data
    return name


def place_of(certificate: str) -> str:
    """Where a certificate of that name lies in a run's folder."""
    return f"certificates/{certificate}.json"


def _check(outcome: Outcome, certificate: str | None) -> dict[str, Json]:
    verdict = outcome.verdict
    return {
        "method": outcome.method,
        "covers": outcome.covers,
        "status": verdict.status.name,
        "scope": outcome.scope,
        "evidence": dict(verdict.evidence),
        "trusts": list(verdict.trusts),
        "instances": verdict.instances,
        "certificate": None if certificate is None else place_of(certificate),
    }


def _status(rows: Sequence[Mapping[str, Json]]) -> Status:
    return claim_status([(row["covers"], Status[row["status"]]) for row in rows])


def outcome_of(claim: Mapping[str, Json]) -> str:
    """What a recorded claim came to beside what is expected of it: one word.

    `ok`, `short` (weaker than expected), `refuted`, `unknown` (instead of better) or `broken`.
    """
    expected, standing = Status[claim["expected"]], Status[claim["standing"]]
    if Status.BROKEN in (standing, Status[claim["status"]]):
        return "broken"
    if standing is Status.UNKNOWN and expected > Status.UNKNOWN:
        return "unknown"
    if standing is Status.REFUTED:
        return "refuted"
    return "short" if standing < expected else "ok"


_EXIT_STATUS = {"ok": 0, "short": 1, "refuted": 1, "unknown": 3, "broken": 3}


def exit_status(record: Mapping[str, Json]) -> int:
    """0 all reached what is expected; 1 refuted or short of it; 3 broken or unknown instead."""
    return max((_EXIT_STATUS[outcome_of(claim)] for claim in record["claims"]), default=0)


def load(folder: Path) -> dict[str, Json]:
    """The record of a run's folder.

    Raises:
        RecordError: it is absent, is not JSON, or does not follow the schema.
    """
    path = folder / RECORD
    record = load_json(path)
    if record.get("schema") != SCHEMA:
        raise RecordError(
            f"{path}: must have the schema {SCHEMA}, got {record.get('schema')!r}; "
            "use the version of certiformer that wrote it, or verify anew"
        )
    _require(path, "record", record, _FIELDS)
    for place, claim in enumerate(_rows(path, "claims", record["claims"])):
        _require(path, f"claims[{place}]", claim, _CLAIM_FIELDS)
        _require(path, f"claims[{place}].source", claim["source"], frozenset({"paper", "where"}))
        for field in ("expected", "status", "standing"):
            _require_status(path, f"claims[{place}].{field}", claim[field])
        for index, check in enumerate(_rows(path, f"claims[{place}].checks", claim["checks"])):
            where = f"claims[{place}].checks[{index}]"
            _require(path, where, check, _CHECK_FIELDS)
            _require(path, f"{where}.evidence", check["evidence"], frozenset())
            _require_status(path, f"{where}.status", check["status"])
    return record


def load_json(path: Path) -> dict[str, Json]:
    """The JSON object of a file.

    Raises:
        RecordError: it cannot be read, or is not a JSON object.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RecordError(
            f"{path}: must be a file that `certiformer verify` wrote, got "
            f"{error.strerror or error}; check the folder"
        ) from error
    except (ValueError, RecursionError) as error:
        raise RecordError(f"{path}: must be JSON text, got {error}; verify anew") from error
    return _require(path, "the file", value, frozenset())


def _rows(path: Path, where: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise RecordError(
            f"{path}: {where} must be a list, got {type(value).__name__}; verify anew"
        )
    return cast("list[Any]", value)


def _require(path: Path, where: str, value: Any, fields: Set[str]) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise RecordError(
            f"{path}: {where} must be an object, got {type(value).__name__}; verify anew"
        )
    found = cast("dict[str, Json]", value)
    missing = sorted(fields - found.keys())
    if missing:
        raise RecordError(f"{path}: {where} must have {', '.join(missing)}, got none; verify anew")
    return found


def _require_status(path: Path, where: str, value: Any) -> None:
    if not isinstance(value, str) or value not in Status.__members__:
        raise RecordError(
            f"{path}: {where} must be one of {', '.join(Status.__members__)}, got {value!r}; "
            "verify anew"
        )
