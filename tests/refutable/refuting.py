"""What the wrong twins share: how one is stated, and how its instance checks are settled."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

from verify.claims import Check, Claim, Setting, Source, claim, claims_of, load_file
from verify.verdicts import Status, Verdict, claim_status

QUICK = Setting(profile="quick")


def twin(
    name: str, latex: str, expected: Status = Status.PROVED
) -> Callable[[Callable[[], Iterable[Check]]], Claim]:
    """A claim that is wrong, under `twin.` and the id of the claim it was made from."""
    return claim(
        id=f"twin.{name}",
        source=Source("refutable-twins", "one thing broken in a claim of ours"),
        latex=latex,
        scope="that of the original claim",
        expected=expected,
    )


@cache
def twins_of(file: str) -> dict[str, Claim]:
    """The twins of a file beside this one, by id."""
    return {item.id: item for item in claims_of(load_file(Path(__file__).with_name(file)))}


@cache
def settled(file: str, name: str) -> list[tuple[bool, Verdict]]:
    """The verdicts of a twin's checks that look at instances."""
    return [
        (check.covers, check.method.settle(QUICK))
        for check in twins_of(file)[name].checks()
        if check.method.name != "smt"
    ]


def proof_of(file: str, name: str) -> Verdict:
    """The verdict of a twin's one check by solvers."""
    (verdict,) = (
        check.method.settle(QUICK)
        for check in twins_of(file)[name].checks()
        if check.method.name == "smt"
    )
    return verdict


def require_refuted(file: str, name: str) -> None:
    """An instance check refutes the twin, and shows the instance in words and as data."""
    verdicts = settled(file, name)
    assert claim_status([(covers, v.status) for covers, v in verdicts]) is Status.REFUTED
    refuted = [v for _, v in verdicts if v.status is Status.REFUTED]
    assert all(v.evidence["text"] and v.evidence["counterexample"] for v in refuted)
    assert all(v.certificate and v.certificate["kind"] == "counterexample" for v in refuted)
