"""What a reader is told of a recorded claim: its words, its goals, what it rests on, how to repeat.

Plain data, for the page and for the terminal; nothing here knows how it is shown.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from reports.formulas import laid_out
from reports.record import outcome_of
from verify.facts import FACTS
from verify.smtlib import Axiom
from verify.verdicts import Json

MEANINGS = {
    "PROVED": "holds for every instance that the statement speaks of",
    "BOUNDED": "holds for every instance up to the stated bound",
    "SAMPLED": "no counterexample among the stated number tried",
    "UNKNOWN": "gave up, timed out, engines disagree, or nothing was checked",
    "REFUTED": "a counterexample was found and replayed on the original object",
    "BROKEN": "the check itself crashed",
}
"""Each status in words."""
OUTCOMES = {
    "ok": "as expected",
    "short": "short of it",
    "refuted": "refuted",
    "unknown": "unsettled",
    "broken": "broken",
}
"""How a claim's standing compares with what is expected of it, in words."""
WAYS = {
    "smt": "Two solvers are asked whether each goal follows from the axioms.",
    "identity": "Both sides of each equation are expanded by two engines.",
    "exhaustive": "Every instance up to the bound is built and decided.",
    "sampled": "Instances are drawn at random, and each is decided.",
    "enclosure": "Every instance up to the bound is decided with certified error bounds.",
    "floating": "Results in floating point are compared with exact ones, within a bound.",
    "witness": "One object that has the property is exhibited and checked.",
}
"""What each method does, in a sentence."""
_CERTIFICATE = re.compile(r"certificates/[0-9a-f]{64}\.json")
_PLAIN = frozenset(
    "worlds checked tried seed shard both_engines counterexample text reason".split()
)
_GOAL = {"name": str, "role": str, "conclusion": str, "assumptions": list, "answers": dict}
_THEORY = {"name": str, "axioms": list}
_AXIOM = {"name": str, "gloss": str, "formula": str}


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedGoal:
    """What two solvers were asked to prove, as formulas laid out on lines, and what they said."""

    name: str
    role: str
    theory: str | None
    assumptions: tuple[str, ...]
    conclusion: str
    answers: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedTheory:
    """The axioms that goals are proved from, each with its gloss."""

    name: str
    axioms: tuple[Axiom, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trusted:
    """What stands behind a name such as `solver:z3` or `fact:induction`."""

    name: str
    kind: str
    statement: str | None
    reference: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """Another claim and its standing, which is None where the run does not hold that claim."""

    id: str
    standing: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedCheck:
    """One check: what it does, what was formally asked, and the evidence.

    `rest` is the evidence of no known form, as it stands; `certificate` a path below the run's
    folder.
    """

    method: str
    way: str
    covers: bool
    status: str
    scope: str
    goals: tuple[StatedGoal, ...]
    theories: tuple[StatedTheory, ...]
    equations: tuple[Json, ...]
    evidence: Mapping[str, Json]
    rest: Mapping[str, Json]
    certificate: str | None
    seconds: float | None

    @property
    def solvers(self) -> tuple[str, ...]:
        """The solvers that answered any goal."""
        return tuple(sorted({solver for goal in self.goals for solver in goal.answers}))

    @property
    def valid(self) -> bool:
        """Whether every solver that was asked found every goal's negation unsatisfiable."""
        solvers = self.solvers
        return bool(solvers) and all(
            goal.answers.get(solver) == "unsat" for goal in self.goals for solver in solvers
        )

    @property
    def concluded(self) -> tuple[StatedGoal, ...]:
        """The goals that state what the check is about; the last one where none is called so."""
        named = tuple(goal for goal in self.goals if goal.role == "conclusion")
        return named or self.goals[-1:]

    @property
    def lemmas(self) -> tuple[StatedGoal, ...]:
        """The other goals, in the order in which they were asked."""
        concluded = self.concluded
        return tuple(goal for goal in self.goals if goal not in concluded)


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """One claim, as a reader meets it.

    `status`, `standing` and `outcome` are empty where nothing was settled yet.
    """

    id: str
    paper: str
    where: str
    statement: str
    latex: str
    scope: str
    status: str
    standing: str
    expected: str
    outcome: str
    command: str
    rests_on: tuple[Related, ...]
    used_by: tuple[Related, ...]
    trusted: tuple[Trusted, ...]
    checks: tuple[ExplainedCheck, ...]

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods of its checks, each once, those that cover it first."""
        ordered = sorted(self.checks, key=lambda check: not check.covers)
        return tuple(dict.fromkeys(check.method for check in ordered))


def explained(
    record: Mapping[str, Json], run: Mapping[str, Json] | None = None
) -> tuple[Explanation, ...]:
    """Every claim of a record; `run`, the content of run.json, adds what each check took."""
    rows: Sequence[Mapping[str, Json]] = record["claims"]
    standing: dict[str, str] = {row["id"]: row["standing"] for row in rows}
    users: dict[str, list[str]] = {}
    for row in rows:
        for used in row["uses"]:
            users.setdefault(used, []).append(row["id"])
    seconds = _seconds(run)
    return tuple(
        Explanation(
            id=row["id"],
            paper=row["source"]["paper"],
            where=row["source"]["where"],
            **{name: row[name] for name in ("statement", "latex", "scope", "status", "standing")},
            expected=row["expected"],
            outcome=outcome_of(row),
            command=command_of(record, [row.get("file") or row["id"]]),
            rests_on=_related(row["uses"], standing),
            used_by=_related(users.get(row["id"], ()), standing),
            trusted=tuple(map(trusted, row["trusts"])),
            checks=tuple(
                _check(check, seconds.get((row["id"], place)))
                for place, check in enumerate(row["checks"])
            ),
        )
        for row in rows
    )


def command_of(record: Mapping[str, Json], selectors: Sequence[str]) -> str:
    """The command that settles these selectors as the record's run did, ready for a shell."""
    if isinstance(own := record.get("command"), str):  # what another command than verify wrote
        return own
    words = ["certiformer", "verify", *selectors]
    if record["profile"] != "standard":
        words += ["--profile", str(record["profile"])]
    if record["seed"]:
        words += ["--seed", str(record["seed"])]
    return shlex.join(words)


def trusted(name: str) -> Trusted:
    """What stands behind a name among what a verdict trusts."""
    fact = next((fact for fact in FACTS if fact.trust == name), None)
    return Trusted(
        name=name,
        kind=name.partition(":")[0],
        statement=fact.statement if fact else None,
        reference=fact.reference if fact else None,
    )


def _check(check: Mapping[str, Json], seconds: float | None) -> ExplainedCheck:
    evidence: Mapping[str, Json] = check["evidence"]
    equations = evidence.get("equations")
    known: dict[str, tuple[Any, ...]] = {
        "goals": tuple(map(_goal, _objects(evidence.get("goals"), _GOAL))),
        "theories": _theories(evidence),
        "equations": tuple(cast("list[Json]", equations)) if isinstance(equations, list) else (),
    }
    apart = _PLAIN | {key for key, rows in known.items() if rows}
    path = check["certificate"]
    return ExplainedCheck(
        method=check["method"],
        way=WAYS.get(check["method"], ""),
        covers=check["covers"],
        status=check["status"],
        scope=check["scope"],
        evidence=evidence,
        rest={key: part for key, part in sorted(evidence.items()) if key not in apart},
        certificate=path if isinstance(path, str) and _CERTIFICATE.fullmatch(path) else None,
        seconds=seconds,
        **known,
    )


def _goal(row: Mapping[str, Json]) -> StatedGoal:
    theory = row.get("theory")
    return StatedGoal(
        name=row["name"],
        role=row["role"],
        theory=None if theory is None else str(theory),
        assumptions=tuple(laid_out(str(part)) for part in row["assumptions"]),
        conclusion=laid_out(row["conclusion"]),
        answers={solver: str(answer) for solver, answer in row["answers"].items()},
    )


def _theories(evidence: Mapping[str, Json]) -> tuple[StatedTheory, ...]:
    found: list[StatedTheory] = []
    for row in _objects(evidence.get("theories"), _THEORY):
        axioms = _objects(row["axioms"], _AXIOM)
        if len(axioms) < len(row["axioms"]):
            return ()
        stated = (Axiom(a["name"], laid_out(a["formula"]), a["gloss"]) for a in axioms)
        found.append(StatedTheory(name=row["name"], axioms=tuple(stated)))
    return tuple(found)


def _objects(rows: Json, fields: Mapping[str, type]) -> list[dict[str, Json]]:
    """The rows, if they are a list of objects that all have these fields, else none."""
    found: list[dict[str, Json]] = []
    for row in cast("list[Json]", rows) if isinstance(rows, list) else []:
        item = cast("dict[str, Json]", row if isinstance(row, dict) else {})
        if not all(isinstance(item.get(name), kind) for name, kind in fields.items()):
            return []
        found.append(item)
    return found


def _related(ids: Iterable[str], standing: Mapping[str, str]) -> tuple[Related, ...]:
    return tuple(Related(id=id, standing=standing.get(id)) for id in ids)


def _seconds(run: Mapping[str, Json] | None) -> dict[tuple[str, int], float]:
    rows: list[Mapping[str, Json]] = (run or {}).get("checks", [])
    return {(row["claim"], row["check"]): float(row["seconds"]) for row in rows}
