"""What `certiformer explain` tells of claims: from a run's record, or from their code alone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from reports.environment import RUN
from reports.explanation import Explanation, explained
from reports.mutation import MUTANTS
from reports.mutation_page import ShownMutants, mutants_of
from reports.record import RECORD, load, load_json
from reports.selection import Selection, is_path, select
from reports.stated import stated
from verify.claims import Claim
from verify.errors import RecordError, SelectorError
from verify.sources import fingerprint
from verify.verdicts import Json

OUT = Path("reports/out")
"""The run that is shown if it holds the claim and no other is asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A claim explained, with all that names it.

    `folder` is that of the run that is shown, None where the claim is told from its code; `changed`
    says that its sources are no longer those of the run; `fault` why its checks cannot be built;
    `statements` are those of the claims that it rests on and of those that rest on it; `findings`
    have an id, a kind and a title, `places` a paper, where and what.
    """

    explanation: Explanation
    statements: Mapping[str, str]
    findings: tuple[Mapping[str, str], ...]
    places: tuple[Mapping[str, str], ...]
    folder: Path | None = None
    profile: str | None = None
    seed: int | None = None
    changed: bool = False
    fault: str = ""
    mutants: ShownMutants | None = None

    def as_json(self) -> dict[str, Json]:
        """All of it, for a script."""
        folder = None if self.folder is None else str(self.folder)
        return {**asdict(self.explanation), **asdict(replace(self, folder=None)), "folder": folder}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is to be explained: the ids, their claims where their code is here, and a run's record.

    `mutants` is what the run's mutants.json holds.
    """

    ids: tuple[str, ...]
    claims: Mapping[str, Claim]
    paths: tuple[str, ...]
    folder: Path
    record: Mapping[str, Json]
    run: Mapping[str, Json] | None
    mutants: Mapping[str, Json] | None

    @property
    def recorded(self) -> frozenset[str]:
        """The ids of all claims of the record."""
        return frozenset(row["id"] for row in self.record["claims"])


def ask(selectors: Sequence[str], folder: Path | None) -> Asked:
    """What the selectors name, in a run's folder or in the code.

    Without a folder, `OUT` is looked into, and what it does not hold is told from the code.

    Raises:
        SelectorError: a selector matches nothing.
        ClaimFileError: a file with claims cannot be imported.
        RecordError: the folder holds no record, or none of a selected claim.
    """
    place = OUT if folder is None else folder
    record = _usual() if folder is None else load(folder)
    try:
        claims = {item.id: item for item in select(selectors).chosen}
        ids = tuple(claims)
    except SelectorError:
        ids = _matching(selectors, record)
        claims = {}
        if not ids:
            raise
    asked = Asked(
        ids=ids,
        claims=claims,
        paths=tuple(filter(is_path, selectors)),
        folder=place,
        record=record,
        run=_beside(place, RUN),
        mutants=_beside(place, MUTANTS),
    )
    missing = sorted(set(ids) - asked.recorded)
    if folder is not None and missing:
        raise RecordError(
            f"{folder / RECORD}: must hold the claim {missing[0]}, got {len(asked.recorded)} "
            "others; leave --out away to explain it from its code, or verify it into that folder"
        )
    return asked


_NOTHING: Mapping[str, Json] = {"claims": [], "findings": [], "coverage": []}


def _usual() -> Mapping[str, Json]:
    """The record in `OUT`; nothing where there is none, or one that this version cannot read."""
    try:
        return load(OUT)
    except RecordError:
        return _NOTHING


def _matching(selectors: Sequence[str], record: Mapping[str, Json]) -> tuple[str, ...]:
    """The recorded claims that the selectors name, if each names one."""
    ids = sorted(row["id"] for row in record["claims"])
    found = [[key for key in ids if fnmatchcase(key, selector)] for selector in selectors]
    return tuple(dict.fromkeys(key for keys in found for key in keys)) if all(found) else ()


def _beside(folder: Path, name: str) -> Mapping[str, Json] | None:
    return load_json(folder / name) if (folder / name).is_file() else None


def told(asked: Asked) -> Iterator[Told]:
    """Every claim that was asked for, in order.

    Raises:
        RecordError: the record holds a part that cannot be shown.
    """
    if set(asked.ids) & asked.recorded:
        try:
            recorded = {item.id: item for item in explained(asked.record, asked.run)}
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise RecordError(
                f"{asked.folder / RECORD}: must hold what `certiformer verify` writes, got a part "
                f"that cannot be shown ({type(error).__name__}: {error}); verify anew"
            ) from error
    else:
        recorded = {}
    unsettled = set(asked.ids) - recorded.keys()
    whole = select([*asked.paths, "*"]) if unsettled else None
    for key in asked.ids:
        if whole is None or key in recorded:
            yield _from_record(asked, recorded[key])
        else:
            yield _from_code(asked.claims[key], whole)


# --- from a run ------------------------------------------------------------------------------


def _from_record(asked: Asked, found: Explanation) -> Told:
    rows: dict[str, Mapping[str, Json]] = {row["id"]: row for row in asked.record["claims"]}
    item = asked.claims.get(found.id)
    related = {other.id for other in (*found.rests_on, *found.used_by)}
    return Told(
        explanation=found,
        statements={key: rows[key]["statement"] for key in sorted(related & rows.keys())},
        findings=tuple(
            {name: str(row[name]) for name in ("id", "kind", "title")}
            for row in asked.record["findings"]
            if found.id in row["claims"]
        ),
        places=tuple(
            {"paper": part["paper"], "where": entry["where"], "what": entry["what"]}
            for part in asked.record.get("coverage", [])
            for entry in part["entries"]
            if found.id in entry["claims"]
        ),
        folder=asked.folder,
        profile=asked.record["profile"],
        seed=asked.record["seed"],
        changed=item is not None and rows[found.id]["construction"] != fingerprint(item),
        mutants=mutants_of(asked.mutants, rows[found.id]),
    )


# --- from the code ---------------------------------------------------------------------------


def _from_code(item: Claim, whole: Selection) -> Told:
    found, fault = stated(item, whole)
    named = {other.id: other.statement for other in whole.chosen}
    related = {other.id for other in (*found.rests_on, *found.used_by)}
    return Told(
        explanation=found,
        statements={key: named[key] for key in sorted(related & named.keys())},
        findings=tuple(
            {"id": one.id, "kind": one.kind, "title": one.title}
            for one in whole.findings
            if item.id in one.claims
        ),
        places=tuple(
            {"paper": part.paper, "where": entry.where, "what": entry.what}
            for part in whole.coverage
            for entry in part.entries
            if item.id in entry.claims
        ),
        fault=fault,
    )


def as_json(found: Iterable[Told]) -> str:
    """What is told, for a script."""
    return json.dumps([one.as_json() for one in found], indent=1)
