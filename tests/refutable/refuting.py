"""What the wrong twins share: how one is stated, broken and settled."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

from constructions.universal.definitions import Universal
from constructions.universal.layouts import Layout
from verify.claims import Check, Claim, Setting, Source, claim, claims_of, load_file
from verify.verdicts import Status, Verdict, claim_status

Change = Callable[[Universal], Universal]


def changed(layout: Layout, change: Change) -> Layout:
    """The layout with its fixed parameters changed."""
    return replace(layout, build=lambda size, width: change(layout.build(size, width)))


def heads_swapped(model: Universal) -> Universal:
    """R_V^{l,h} of head H + 1 - h."""
    swapped = tuple(layer[::-1] for layer in model.values)
    return replace(model, values=swapped[:1] * len(swapped) if model.tied else swapped)


def keys_read_queries(model: Universal) -> Universal:
    """R_K = R_Q."""
    return replace(model, keys=model.queries)


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
