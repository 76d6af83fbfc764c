"""What the tests of mutants share: how one is found and settled."""

from __future__ import annotations

from functools import cache

import constructions
import lowerbounds
from verify.claims import Claim, Setting
from verify.loading import claims_in
from verify.mutants import Mutant, mutants_in
from verify.verdicts import Status, Verdict, claim_status

QUICK = Setting(profile="quick")


@cache
def our_mutants() -> dict[str, Mutant]:
    """Every mutant of the suite, by id."""
    found = (*mutants_in(constructions), *mutants_in(lowerbounds))
    return {item.claim.id: item for item in found}


@cache
def our_claims() -> dict[str, Claim]:
    """Every claim of the suite, by id."""
    return {item.id: item for item in (*claims_in(constructions), *claims_in(lowerbounds))}


@cache
def settled(name: str) -> list[tuple[bool, Verdict]]:
    """The verdicts of a mutant's checks that look at instances."""
    return [
        (check.covers, check.method.settle(QUICK))
        for check in our_mutants()[name].claim.checks()
        if check.method.name != "smt"
    ]


def proof_of(name: str) -> Verdict:
    """The verdict of a mutant's first check by solvers."""
    return next(
        check.method.settle(QUICK)
        for check in our_mutants()[name].claim.checks()
        if check.method.name == "smt"
    )


def require_refuted(name: str) -> None:
    """An instance check refutes the mutant, and shows the instance in words and as data."""
    verdicts = settled(name)
    assert claim_status([(covers, v.status) for covers, v in verdicts]) is Status.REFUTED
    refuted = [v for _, v in verdicts if v.status is Status.REFUTED]
    assert all(v.evidence["text"] and v.evidence["counterexample"] for v in refuted)
    assert all(v.certificate and v.certificate["kind"] == "counterexample" for v in refuted)
