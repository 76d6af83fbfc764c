"""Corrupt every field of a run's certificates once, each hash made to fit, and recheck them.

What `recheck.py` alone refuses is counted; what it lets through is either not its to decide (the
answer of a solver, special functions, the bound that a claim asks for) or is another true
statement, and is caught where the claim's own code states the certificate anew.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from reports import output
from reports import record as records
from reports.rechecking import command
from reports.regeneration import differing
from verify.certificates import Seal, sealed
from verify.corruptions import corruptions, patterns
from verify.verdicts import Json

REFUSED = ("rejected", "unreadable")
MOST_BYTES = 200_000
"""Larger instances are left out where smaller ones have the same fields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Specimen:
    """One certificate, cut down to one instance, with what its record says of the check."""

    claim: Mapping[str, Json]
    check: Mapping[str, Json]
    kind: str
    definitions: str
    content: Mapping[str, Json]
    fields: frozenset[str]
    """The kinds of places that no smaller specimen of the kind has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrupted:
    """A specimen with one field broken, and who noticed.

    `outcome` is what the rechecker said; `difference` what the comparison with the claim did.
    """

    specimen: Specimen
    place: str
    change: str
    content: Json
    outcome: str = ""
    difference: str = ""

    @property
    def refused(self) -> bool:
        """Whether the rechecker by itself refused it."""
        return self.outcome in REFUSED


Shown = tuple[Mapping[str, Json], Mapping[str, Json], bytes]
"""What a record says of a claim and of one of its checks, and the check's certificate."""


def shown_in(folder: Path) -> Iterator[Shown]:
    """Every certificate of a run's folder."""
    for claim in records.load(folder)["claims"]:
        for check in claim["checks"]:
            if check["certificate"] is not None:
                yield claim, check, (folder / check["certificate"]).read_bytes()


def specimens(shown: Iterable[Shown]) -> Iterator[Specimen]:
    """Certificates that together have every field of every kind of them, smallest first."""
    seen: dict[tuple[str, str], set[str]] = {}
    for claim, check, data in shown:
        body = json.loads(data)
        kind, content = body["kind"], body["content"]
        definitions = str(content.get("rechecked_as", ""))
        known = seen.setdefault((kind, definitions), set())
        for row, part in _single(check, kind, content):
            new = patterns(part) - known
            if new:
                known |= new
                yield Specimen(
                    claim=claim,
                    check=row,
                    kind=kind,
                    definitions=definitions,
                    content=part,
                    fields=frozenset(new),
                )


def _single(
    check: Mapping[str, Json], kind: str, content: Mapping[str, Json]
) -> Iterator[tuple[Mapping[str, Json], Mapping[str, Json]]]:
    """The certificate with one instance at a time, and the record's row that fits it."""
    name = {"smt": "goals", "identity": "equations"}.get(kind, "instances")
    if name not in content:
        yield check, content
        return
    parts = cast("list[Json]", content[name])
    if not parts:
        yield check, content
    for place in sorted(range(len(parts)), key=lambda k: (_bytes(parts[k]), k)):
        if place and _bytes(parts[place]) > MOST_BYTES:
            return
        evidence = dict(check["evidence"])
        if name in evidence:
            evidence[name] = [evidence[name][place]]
        evidence |= {key: 1 for key in ("checked", "shown") if key in evidence}
        row: dict[str, Json] = {**check, "evidence": evidence}
        if kind != "sampled":
            row["instances"] = 1
        yield row, {**content, name: [parts[place]]}


def _bytes(value: Json) -> int:
    return len(json.dumps(value))


def corrupted(found: Iterable[Specimen]) -> Iterator[Corrupted]:
    """Every specimen with every field broken once, in every way."""
    for specimen in found:
        for broken in corruptions(specimen.content, specimen.fields):
            yield Corrupted(
                specimen=specimen, place=broken.place, change=broken.change, content=broken.value
            )


def rechecked(broken: Iterable[Corrupted], folder: Path, jobs: int) -> list[Corrupted]:
    """The corruptions as a run of their own in an empty folder, rechecked by the program."""
    broken = list(broken)
    claims: dict[str, dict[str, Any]] = {}
    certificates: dict[str, bytes] = {}
    named: list[tuple[str, str, bytes]] = []
    for one in broken:
        claim = one.specimen.claim
        name = f"{claim['id']}.{one.specimen.check['status'].lower()}"
        row = claims.setdefault(name, _claim(claim, name, one.specimen.check["status"]))
        seal = Seal(
            claim=name,
            statement=claim["statement"],
            construction=claim["construction"],
            check=len(row["checks"]),
            method=one.specimen.check["method"],
            scope=one.specimen.check["scope"],
            profile="quick",
            seed=0,
        )
        digest, data = sealed(seal, {"kind": one.specimen.kind, **one.content})
        _, right = sealed(seal, {"kind": one.specimen.kind, **one.specimen.content})
        certificates[digest] = data
        place, method = records.place_of(digest), one.specimen.check["method"]
        named.append((f"{name} check {len(row['checks'])} ({method})", place, right))
        row["checks"].append({**one.specimen.check, "covers": True, "certificate": place})
    output.require_writable(folder, (records.RECORD,))
    output.write_certificates(folder, certificates)
    record = {"schema": records.SCHEMA, "profile": "quick", "seed": 0, "claims": [*claims.values()]}
    output.write(folder / records.RECORD, records.canonical(record))
    said = _said(folder, jobs)
    return [
        replace(one, outcome=said[what], difference=differing(folder / place, right))
        for one, (what, place, right) in zip(broken, named, strict=True)
    ]


FREE = frozenset(
    [
        # a draw of one layer is tied or not: there is one layer
        ("draw-rank", ".instances[].tied"),
        # the theorem holds for every fixed model and target of the kind, and on every input
        *(
            (kind, f".instances[].{name}")
            for kind in ("zero-input", "large-output", "shifted-output")
            for name in (
                "embeddings",
                "fixed.layers[]",
                "fixed.residual",
                "inputs",
                "inputs[]",
                "target.layers[]",
                "target.residual",
            )
        ),
        ("simulation", ".instances[].mask[][]"),
        ("reencoded-runs", ".instances[].strings"),
        ("reencoded-runs", ".instances[].strings[]"),
        ("runs", ".instances[].layers"),
        ("runs", ".instances[].layers[].rows[]"),
        # fewer lengths, sequences, positions or rows are shown, all of them rightly
        ("window-cover", ".instances[].lengths"),
        ("geometry", ".instances[].weights.P"),
        ("dyck-sequences", ".instances[].sequences"),
        ("pieces", ".instances[].parity"),
        # a machine that halts at once halts at once whatever else its table says
        ("chain", ".instances[].start"),
        ("chain", ".instances[].table"),
        ("chain", ".instances[].table[][]"),
        # an identity that needs no commuting symbols holds for commuting ones
        ("", ".equations[].commutative"),
    ]
)
"""(definitions, field) where another value makes another true statement, or a weaker one: only the
comparison with the claim can notice."""


def decided(one: Corrupted) -> bool:
    """Whether the rechecker by itself decides what the corrupted certificate shows."""
    kind, definitions = one.specimen.kind, one.specimen.definitions
    return kind == "identity" or (bool(definitions) and kind not in ("counterexample", "floating"))


def unnoticed(broken: Iterable[Corrupted]) -> set[tuple[str, str, str]]:
    """(kind, definitions, field) of decided kinds that may be broken in every way unnoticed.

    Fields in `FREE` are left out.
    """
    seen: dict[tuple[str, str, str], bool] = {}
    for one in filter(decided, broken):
        key = (one.specimen.kind, one.specimen.definitions, one.place)
        seen[key] = seen.get(key, False) or one.refused
    return {key for key, noticed in seen.items() if not noticed and key[1:] not in FREE}


def _claim(claim: Mapping[str, Json], name: str, status: str) -> dict[str, Any]:
    return {
        "id": name,
        "statement": claim["statement"],
        "construction": claim["construction"],
        "uses": [],
        "status": status,
        "standing": status,
        "checks": [],
    }


def _said(folder: Path, jobs: int) -> dict[str, str]:
    """The rechecker's outcome on each check, by what it calls it."""
    asked = command(folder, jobs=jobs)
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    said: dict[str, str] = {}
    for line in done.stdout.splitlines()[:-1]:
        what, _, _ = line[14:].partition(": ")
        said[what] = line[:13].strip()
    return said
