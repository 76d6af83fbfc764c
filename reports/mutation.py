"""Break everything that claims state and rest on, once, and see which check notices.

mutants.json {"schema": "certiformer/mutants/1", "construction", "seed", "selectors",
  "claims": {id: its construction}, "mutants": [{"id", "of", "kind", "breaks", "outcome",
  "by": [indices of checks], "words", "reason"}]}
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path

from reports.corruption import Corrupted, Shown, corrupted, rechecked, specimens
from reports.mutant_selection import Field
from reports.progress import stages
from reports.record import canonical, written_check
from reports.running import Run, Watch, run_checks
from reports.terminal import BROKEN, REFUTED
from reports.text import reason_of
from verify.claims import Claim, Setting
from verify.mutants import Mutant
from verify.run import Outcome
from verify.sources import fingerprint, suite
from verify.verdicts import Json, Status
from verify.worker import Limits

MUTANTS = "mutants.json"
SCHEMA = "certiformer/mutants/1"
FORMULAS = ("smt",)
"""Methods whose assumptions can be broken one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """One mutant: what it breaks, what became of it and why, and the checks that noticed it."""

    id: str
    of: str
    kind: str
    breaks: str
    outcome: str
    by: tuple[int, ...]
    words: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What is broken, and how the checks are run on it."""

    field: Field
    setting: Setting
    limits: Limits
    jobs: int
    watch: Callable[[], AbstractContextManager[Watch]]

    def run(self, claims: Sequence[Claim], *, formulas: bool = False) -> Run:
        """Settle the claims' checks, or break what their formulas assume."""
        with self.watch() as watch:
            if formulas:
                return run_checks(
                    claims,
                    self.setting,
                    self.limits,
                    self.jobs,
                    watch,
                    methods=FORMULAS,
                    purpose="mutate",
                )
            return run_checks(claims, self.setting, self.limits, self.jobs, watch)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What one source of mutants came to; `failures` are faults of the machinery itself."""

    planted: tuple[Planted, ...] = ()
    failures: tuple[str, ...] = ()
    interrupted: bool = False


Source = Callable[[Work], Found]


def broken_formulas(work: Work) -> Found:
    """Every axiom and every goal of the claims, broken once."""
    run = work.run(work.field.claims, formulas=True)
    planted: list[Planted] = []
    failures: list[str] = []
    for outcome in run.outcomes:
        rows: list[dict[str, Json]] | None = outcome.verdict.evidence.get("mutants")
        if rows is not None:
            planted += [_formula(outcome, row) for row in rows]
        elif not run.interrupted:
            failures.append(_said(outcome, "its formulas must be broken one by one"))
    return Found(planted=tuple(planted), failures=tuple(failures), interrupted=run.interrupted)


def broken_claims(work: Work) -> Found:
    """Every mutant that is stated as a claim, settled beside the claim that it breaks."""
    field = work.field
    right = work.run(field.broken)
    if right.interrupted:
        return Found(interrupted=True)
    wrong = work.run([item.claim for item in field.mutants])
    if wrong.interrupted:
        return Found(interrupted=True)
    passing = {(o.claim.id, o.check) for o in right.outcomes if o.verdict.status >= Status.SAMPLED}
    failures = [
        _said(outcome, "the right check must pass, so that it can notice what is wrong")
        for outcome in right.outcomes
        if (outcome.claim.id, outcome.check) not in passing
    ]
    settled: dict[str, list[Outcome]] = {item.claim.id: [] for item in field.mutants}
    for outcome in wrong.outcomes:
        settled[outcome.claim.id].append(outcome)
    planted = [_stated(item, settled[item.claim.id], passing) for item in field.mutants]
    return Found(planted=tuple(planted), failures=tuple(failures))


def broken_certificates(work: Work) -> Found:
    """Every field of every kind of certificate, broken once in each way, every hash made to fit."""
    run = work.run(work.field.claims)
    if run.interrupted:
        return Found(interrupted=True)
    shown = [part for outcome in run.outcomes for part in _shown(outcome, work.setting)]
    with tempfile.TemporaryDirectory(prefix="certiformer-") as place, stages() as tell:
        wrong = list(corrupted(specimens(shown)))
        tell(f"rechecking {len(wrong)} certificates, each with one field broken")
        broken = rechecked(wrong, Path(place), work.jobs)
    fields: dict[str, list[Corrupted]] = {}
    for one in broken:
        definitions = one.specimen.definitions or one.specimen.kind
        place = f"{one.specimen.claim['id']}/certificate/{definitions}{one.place}"
        fields.setdefault(place, []).append(one)
    return Found(planted=tuple(_field(name, ways) for name, ways in fields.items()))


def _shown(outcome: Outcome, setting: Setting) -> Iterator[Shown]:
    written = written_check(outcome, setting)
    claim = {
        "id": outcome.claim.id,
        "statement": outcome.claim.statement,
        "construction": fingerprint(outcome.claim),
    }
    for data in written.certificate.values():
        yield claim, written.row, data


def _field(name: str, ways: Sequence[Corrupted]) -> Planted:
    """A field is guarded if each way to break it is seen beside what the claim states."""
    refused = sum(one.refused for one in ways)
    seen = sum(bool(one.difference) for one in ways)
    return Planted(
        id=name,
        of=str(ways[0].specimen.claim["id"]),
        kind="certificate",
        breaks="certificate",
        outcome="killed" if all(one.refused or one.difference for one in ways) else "survived",
        by=(),
        words=", ".join(dict.fromkeys(one.change for one in ways)),
        reason=f"recheck.py refuses {refused} of {len(ways)} by itself, the comparison with the "
        f"claim {seen}",
    )


SOURCES: tuple[Source, ...] = (broken_formulas, broken_claims, broken_certificates)
"""Where mutants come from; each is asked in turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """All mutants of the selected claims, sorted by id, and what became of them."""

    field: Field
    seed: int
    planted: tuple[Planted, ...]
    failures: tuple[str, ...]
    interrupted: bool

    @property
    def exit_status(self) -> int:
        """0 if nothing survived, 3 if the machinery failed, else 1."""
        if self.failures:
            return BROKEN
        return REFUTED if any(item.outcome == "survived" for item in self.planted) else 0

    def document(self) -> dict[str, Json]:
        """What mutants.json holds."""
        return {
            "schema": SCHEMA,
            "construction": suite(),
            "seed": self.seed,
            "selectors": list(self.field.selectors),
            "claims": {item.id: fingerprint(item) for item in self.field.all_claims},
            "mutants": [{**asdict(item), "by": list(item.by)} for item in self.planted],
        }

    def written(self) -> bytes:
        """The bytes of mutants.json."""
        return canonical(self.document())

    def unguarded(self) -> list[tuple[str, int, str]]:
        """Claim, index and method of every check that alone notices no mutant."""
        own = {(item.of, item.by[0]) for item in self.planted if len(item.by) == 1}
        return [
            (claim.id, index, check.method.name)
            for claim in self.field.claims
            for index, check in enumerate(claim.checks())
            if (claim.id, index) not in own
        ]


def mutate(work: Work, sources: Iterable[Source] = SOURCES) -> Mutation:
    """Plant the mutants of every source, until an interruption ends it."""
    planted: list[Planted] = []
    failures: list[str] = []
    interrupted = False
    for source in sources:
        found = source(work)
        planted += found.planted
        failures += found.failures
        if found.interrupted:
            interrupted = True
            break
    return Mutation(
        field=work.field,
        seed=work.setting.seed,
        planted=tuple(sorted(planted, key=lambda item: item.id)),
        failures=tuple(failures),
        interrupted=interrupted,
    )


def _formula(outcome: Outcome, row: Mapping[str, Json]) -> Planted:
    kind = str(row["kind"])
    killed = row["outcome"] == "killed"
    place = f"{outcome.claim.id}/{outcome.check}/{kind}"
    return Planted(
        id=f"{place}/{row['theory']}/{row['name']}",
        of=outcome.claim.id,
        kind=kind,
        breaks=kind,
        outcome=str(row["outcome"]),
        by=(outcome.check,) if killed else (),
        words=f"{row['gloss']}: {row['change']}: {row['formula']}",
        reason=str(row["reason"]),
    )


def _stated(item: Mutant, outcomes: Sequence[Outcome], passing: set[tuple[str, int]]) -> Planted:
    """A mutant is killed where a check that the right claim passes refutes it, or crashes."""
    noticed = [
        outcome
        for outcome in outcomes
        if outcome.verdict.status <= Status.UNKNOWN and (item.of, outcome.check) in passing
    ]
    refuting = [o for o in noticed if o.verdict.status is Status.REFUTED]
    crashing = [o for o in noticed if o.verdict.status is Status.BROKEN]
    if refuting:
        outcome, reason = "killed", reason_of(refuting[0].verdict.evidence)
    elif crashing:
        outcome, reason = "killed", f"by a crash alone: {reason_of(crashing[0].verdict.evidence)}"
    else:
        outcome, reason = "survived", "no check refutes it"
    return Planted(
        id=item.claim.id,
        of=item.of,
        kind="claim",
        breaks=item.breaks,
        outcome=outcome,
        by=tuple(o.check for o in noticed),
        words=item.claim.statement,
        reason=reason,
    )


def _said(outcome: Outcome, required: str) -> str:
    verdict = outcome.verdict
    return (
        f"{outcome.claim.id}: check {outcome.check} ({outcome.method}): {required}, got "
        f"{verdict.status.name}: {reason_of(verdict.evidence)}"
    )
