"""What `certiformer mutate` prints, as lines of plain text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from reports.mutation import Mutation, Planted
from reports.mutation_page import kill_rate
from reports.tables import Line, Table
from reports.text import COUNTEREXAMPLE_WIDTH, printable

FATES = ("killed", "harmless", "survived")
KINDS = {
    "claim": "claims",
    "axiom": "axioms",
    "goal": "goals",
    "certificate": "fields of certificates",
}


def lines_of(done: Mutation) -> Iterator[Line]:
    """The table, what survived, what is harmless and why, checks without a mutant, totals."""
    yield Table(rows=_table(done))
    yield from _listed("survived", [p for p in done.planted if p.outcome == "survived"])
    yield from _listed("harmless", [p for p in done.planted if p.outcome == "harmless"])
    unguarded = done.unguarded()
    if unguarded:
        yield from ["", "checks that alone notice no mutant:"]
        yield from (f"  {claim}: check {index} ({name})" for claim, index, name in unguarded)
    if done.failures:
        yield from ["", "broken:", *(f"  {printable(text)}" for text in done.failures)]
    yield from ["", _totals(done)]


def _table(done: Mutation) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [("claim", "planted", *FATES, "kill rate")]
    for claim in done.field.all_claims:
        planted = [item for item in done.planted if item.of == claim.id]
        count = Counter(item.outcome for item in planted)
        fates = [str(count[fate]) for fate in FATES]
        rows.append(
            (claim.id, str(len(planted)), *fates, kill_rate(item.outcome for item in planted))
        )
    return rows


def _listed(title: str, planted: Sequence[Planted]) -> Iterator[str]:
    if planted:
        yield from ["", f"{title}:"]
    for item in planted:
        yield f"  {printable(item.id)}: {item.reason}"
        yield f"    {printable(item.words, COUNTEREXAMPLE_WIDTH)}"


def _totals(done: Mutation) -> str:
    """How many of each kind, in one line."""
    parts: list[str] = []
    for kind in dict.fromkeys((*KINDS, *(item.kind for item in done.planted))):
        count = Counter(item.outcome for item in done.planted if item.kind == kind)
        said = ", ".join(f"{count[fate]} {fate}" for fate in FATES if count[fate])
        parts.append(
            f"{sum(count.values())} {KINDS.get(kind, kind)}" + (f" ({said})" if said else "")
        )
    head = "interrupted: " if done.interrupted else ""
    return f"{head}{len(done.planted)} planted: {'; '.join(parts)}"
