"""What changed between two runs, from their records alone: claims, checks, findings, coverage."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from reports.tables import columns
from reports.text import printable
from verify.verdicts import Json, Status

Kind = Literal["worse", "gone", "better", "new", "restated", "checked"]
KINDS: tuple[Kind, ...] = ("worse", "gone", "better", "new", "restated", "checked")
"""A standing fell, something is there no more, a standing rose, something is there now, it is
stated otherwise, it is checked otherwise."""
MOST_WORDS = 60
_STATED = "source statement latex scope uses expected".split()
_CHECKED = "method covers status scope instances trusts evidence".split()
_FINDING = "kind title source words text claims".split()


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One difference: what it is of, which of its fields, and what stood there and stands now."""

    kind: Kind
    what: str
    field: str
    old: Json
    new: Json

    @property
    def words(self) -> str:
        """The change in one line."""
        if self.kind in ("gone", "new"):
            return f"{self.field} {self.old if self.new is None else self.new}"
        return f"{self.field}: {_short(self.old)} -> {_short(self.new)}"


def changes(old: Mapping[str, Json], new: Mapping[str, Json]) -> list[Change]:
    """Everything that differs between two records, what is worse first."""
    found = [
        *_run(old, new),
        *_claims(_by_id(old["claims"]), _by_id(new["claims"])),
        *_findings(_by_id(old["findings"]), _by_id(new["findings"])),
        *_coverage(_by_paper(old), _by_paper(new)),
    ]
    return sorted(found, key=lambda change: KINDS.index(change.kind))


def is_worse(found: Iterable[Change]) -> bool:
    """Whether a claim's standing fell, or a claim or a finding is gone."""
    return any(change.kind in ("worse", "gone") for change in found)


def lines_of(found: Sequence[Change]) -> list[str]:
    """The changes for a terminal."""
    if not found:
        return ["no difference"]
    return columns([(change.kind, change.what, printable(change.words)) for change in found])


def json_of(found: Iterable[Change]) -> str:
    """The changes for a script."""
    return json.dumps([asdict(change) for change in found], indent=1)


def _run(old: Mapping[str, Json], new: Mapping[str, Json]) -> Iterator[Change]:
    yield from _fields("checked", "run", ("profile", "seed", "selectors"), old, new)
    both = _by_id(old["claims"]).keys() & _by_id(new["claims"]).keys()
    before, after = (
        {name: item["construction"] for name, item in _by_id(record["claims"]).items()}
        for record in (old, new)
    )
    if other := sorted(name for name in both if before[name] != after[name]):
        words = f"those of {len(other)} of {len(both)} claims"
        yield Change(kind="checked", what="run", field="sources", old=words, new="others")


def _claims(old: Mapping[str, Json], new: Mapping[str, Json]) -> Iterator[Change]:
    yield from _there(old, new, "standing")
    for name in sorted(old.keys() & new.keys()):
        before, after = old[name], new[name]
        was, now = Status[before["standing"]], Status[after["standing"]]
        if was is not now:
            kind: Kind = "better" if now > was else "worse"
            yield from _fields(kind, name, ("standing",), before, after)
        yield from _fields("restated", name, _STATED, before, after)
        yield from _fields("checked", name, ("status",), before, after)
        yield from _checks(name, before["checks"], after["checks"])


def _checks(claim: str, old: Sequence[Json], new: Sequence[Json]) -> Iterator[Change]:
    if len(old) != len(new):
        yield Change(kind="checked", what=claim, field="checks", old=len(old), new=len(new))
    for place, (before, after) in enumerate(zip(old, new, strict=False)):
        what = f"{claim} check {place} ({after['method']})"
        yield from _fields("checked", what, _CHECKED, before, after)


def _findings(old: Mapping[str, Json], new: Mapping[str, Json]) -> Iterator[Change]:
    named_old, named_new = ({f"finding {key}": row for key, row in x.items()} for x in (old, new))
    yield from _there(named_old, named_new, "title")
    for name in sorted(named_old.keys() & named_new.keys()):
        yield from _fields("restated", name, _FINDING, named_old[name], named_new[name])


def _coverage(old: Mapping[str, Json], new: Mapping[str, Json]) -> Iterator[Change]:
    for paper in sorted(old.keys() & new.keys()):
        yield from _fields("checked", f"coverage of {paper}", ("checked",), old[paper], new[paper])


def _there(old: Mapping[str, Json], new: Mapping[str, Json], field: str) -> Iterator[Change]:
    for name in sorted(old.keys() - new.keys()):
        yield Change(kind="gone", what=name, field=field, old=old[name][field], new=None)
    for name in sorted(new.keys() - old.keys()):
        yield Change(kind="new", what=name, field=field, old=None, new=new[name][field])


def _fields(
    kind: Kind, what: str, names: Iterable[str], old: Mapping[str, Json], new: Mapping[str, Json]
) -> Iterator[Change]:
    for name in names:
        if old[name] != new[name]:
            yield Change(kind=kind, what=what, field=name, old=old[name], new=new[name])


def _by_id(rows: Iterable[Json]) -> dict[str, Json]:
    return {row["id"]: row for row in rows}


def _by_paper(record: Mapping[str, Json]) -> dict[str, Json]:
    return {part["paper"]: part for part in record.get("coverage", [])}


def _short(value: Json) -> str:
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    return printable(text, MOST_WORDS)
