"""The SMT-LIB text of claims' goals, from a run's certificates or from the claims' code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from reports.explaining import Asked, Told
from reports.record import load_json
from reports.selection import stdout_to_stderr
from verify.claims import Claim
from verify.errors import RecordError, UsageError
from verify.methods.smt import Smt


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """The SMT-LIB text of one goal, and which it is."""

    claim: str
    check: int
    goal: str
    text: str


def scripts(asked: Asked, found: Iterable[Told]) -> list[Script]:
    """The goals of all these claims: those of the run's certificates, or else of the code.

    Raises:
        UsageError: no check of these claims puts goals to solvers.
        ClaimError: a claim's checks cannot be built.
        RecordError: a certificate cannot be read.
    """
    known = [
        script
        for one in found
        for script in ([*_certified(one)] or [*_stated(asked.claims.get(one.explanation.id))])
    ]
    if not known:
        raise UsageError(
            f"explain --smtlib: must name a claim with goals for solvers, got "
            f"{', '.join(asked.ids)} without any; leave --smtlib away"
        )
    return known


def as_smtlib(found: Sequence[Script]) -> str:
    """All scripts as one file for a solver, each from a state of its own."""
    lines = ["; z3 FILE, or cvc5 --enum-inst FILE: every answer must be unsat"]
    for number, script in enumerate(found):
        lines += ["(reset)"] if number else []
        lines += [f"; {script.claim}, check {script.check}", script.text.rstrip("\n")]
    return "\n".join(lines)


def _certified(one: Told) -> Iterator[Script]:
    for index, check in enumerate(one.explanation.checks):
        if check.method != "smt" or check.certificate is None or one.folder is None:
            continue
        path = one.folder / check.certificate
        certificate = load_json(path)
        try:
            goals = [
                (str(row["name"]), str(row["smtlib"])) for row in certificate["content"]["goals"]
            ]
        except (LookupError, TypeError) as error:
            raise RecordError(
                f"{path}: must hold the SMT-LIB text of goals, got none "
                f"({type(error).__name__}: {error}); verify anew"
            ) from error
        for name, text in goals:
            yield Script(claim=one.explanation.id, check=index, goal=name, text=text)


def _stated(item: Claim | None) -> Iterator[Script]:
    if item is None:
        return
    with stdout_to_stderr():
        goals = [
            (index, goal)
            for index, check in enumerate(item.checks())
            if isinstance(check.method, Smt)
            for goal in check.method.goals()
        ]
    for index, goal in goals:
        yield Script(claim=item.id, check=index, goal=goal.name, text=goal.script())
