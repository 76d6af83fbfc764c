"""What the page of a run shows of mutants.json: each claim's kill rate and mutants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from verify.verdicts import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownMutants:
    """The mutants of one claim, as the page lists them."""

    rate: str
    planted: int
    rows: tuple[Mapping[str, Json], ...]


def kill_rate(outcomes: Iterable[str]) -> str:
    """Killed among those that are not harmless, in percent; rounded down, so 100 % means all."""
    count = Counter(outcomes)
    wrong = count["killed"] + count["survived"]
    return f"{100 * count['killed'] // wrong} %" if wrong else "none"


def mutants_of(found: Mapping[str, Json] | None, claim: Mapping[str, Json]) -> ShownMutants | None:
    """The claim's mutants, if the file is of the sources that settled the claim."""
    constructions: Mapping[str, Json] = (found or {}).get("claims", {})
    if found is None or constructions.get(claim["id"]) != claim["construction"]:
        return None
    rows = tuple(row for row in found["mutants"] if row["of"] == claim["id"])
    rate = kill_rate(row["outcome"] for row in rows)
    return ShownMutants(rate=rate, planted=len(rows), rows=rows) if rows else None
