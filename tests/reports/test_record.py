"""The record, its certificates and the exit status."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from reports import junit, record
from reports.graph import connected
from reports.output import require_writable, write_certificates
from reports.selection import Selection, select
from verify.claims import Setting
from verify.errors import OutputError, RecordError
from verify.run import Outcome
from verify.verdicts import Json, Status, Verdict, broken, unknown

Claims = Callable[..., Path]


def outcomes_of(selection: Selection, verdict: Verdict) -> list[Outcome]:
    return [
        Outcome(
            claim=item,
            check=index,
            covers=check.covers,
            method=check.method.name,
            scope=check.method.scope(Setting()),
            verdict=verdict,
            seconds=1.0,
        )
        for item in selection.claims
        for index, check in enumerate(item.checks())
    ]


def bounded(**evidence: Json) -> Verdict:
    return Verdict(
        status=Status.BOUNDED,
        evidence={"checked": 2, **evidence},
        trusts=("library:flint",),
        instances=2,
        certificate={"kind": "exhaustive", "instances": [1, 2]},
    )


@pytest.fixture
def selection(claims: Claims, good: str) -> Selection:
    return select([str(claims(good))])


def test_the_order_of_outcomes_does_not_matter(selection: Selection) -> None:
    outcomes = outcomes_of(selection, bounded())
    forwards = record.build(selection, Setting(), outcomes)
    backwards = record.build(selection, Setting(), reversed(outcomes))
    assert record.canonical(forwards.record) == record.canonical(backwards.record)


def test_the_fields_are_those_of_the_schema(selection: Selection) -> None:
    built = record.build(selection, Setting(seed=3), outcomes_of(selection, bounded())).record
    assert set(built) == {
        *("schema", "profile", "seed", "selectors", "claims", "findings", "coverage")
    }
    assert built["schema"] == "certiformer/record/1"
    assert built["findings"] == []
    first = built["claims"][0]
    assert first["source"] == {"paper": "paper", "where": "1"}
    assert first["trusts"] == ["library:flint"]
    assert set(first["checks"][0]) == {
        "method",
        "covers",
        "status",
        "scope",
        "evidence",
        "trusts",
        "instances",
        "certificate",
    }


def test_a_certificate_is_named_by_its_hash(selection: Selection) -> None:
    built = record.build(selection, Setting(), outcomes_of(selection, bounded()))
    for name, data in built.certificates.items():
        assert sha256(data).hexdigest() == name
    named = {c["certificate"] for item in built.record["claims"] for c in item["checks"]}
    assert named == {f"certificates/{name}.json" for name in built.certificates}


def test_a_standing_is_the_weakest_of_what_it_rests_on(selection: Selection) -> None:
    outcomes = outcomes_of(selection, bounded())
    weak = [o if o.claim.id != "good.one" else _with(o, unknown("gave up")) for o in outcomes]
    built = record.build(selection, Setting(), weak).record
    assert {c["id"]: (c["status"], c["standing"]) for c in built["claims"]} == {
        "good.one": ("UNKNOWN", "UNKNOWN"),
        "good.two": ("BOUNDED", "UNKNOWN"),
        "good.three": ("BOUNDED", "UNKNOWN"),
    }
    assert record.exit_status(built) == 3


def _with(outcome: Outcome, verdict: Verdict) -> Outcome:
    return replace(outcome, verdict=verdict)


@pytest.mark.parametrize(
    ("verdict", "status"),
    [
        (bounded(), 0),
        (Verdict(status=Status.SAMPLED, evidence={}, instances=1), 1),
        (Verdict(status=Status.REFUTED, evidence={"text": "no"}, instances=1), 1),
        (unknown("gave up"), 3),
        (broken("crashed"), 3),
    ],
)
def test_the_exit_status_follows_what_is_expected(
    selection: Selection, verdict: Verdict, status: int
) -> None:
    built = record.build(selection, Setting(), outcomes_of(selection, verdict)).record
    assert record.exit_status(built) == status


def test_broken_outranks_refuted(selection: Selection) -> None:
    outcomes = outcomes_of(selection, Verdict(status=Status.REFUTED, evidence={}, instances=1))
    outcomes[0] = _with(outcomes[0], broken("crashed"))
    assert record.exit_status(record.build(selection, Setting(), outcomes).record) == 3


@pytest.mark.parametrize(
    "certificate", [{"kind": "x", "value": 0.5}, {"no": "kind"}, {"kind": "x", "value": {1: 2}}]
)
def test_a_certificate_that_cannot_be_sealed_breaks_its_check(
    selection: Selection, certificate: dict[str, Json]
) -> None:
    verdict = Verdict(status=Status.PROVED, evidence={}, instances=1, certificate=certificate)
    built = record.build(selection, Setting(), outcomes_of(selection, verdict))
    assert {c["status"] for c in built.record["claims"]} == {"BROKEN"}
    assert built.certificates == {}


def test_evidence_that_is_not_json_breaks_its_check(selection: Selection) -> None:
    built = record.build(selection, Setting(), outcomes_of(selection, bounded(x=float("nan"))))
    assert {c["status"] for c in built.record["claims"]} == {"BROKEN"}


def test_an_address_in_a_crash_does_not_reach_the_record(selection: Selection) -> None:
    outcomes = outcomes_of(selection, broken("ValueError: <object object at 0x7f11aa>"))
    text = record.canonical(record.build(selection, Setting(), outcomes).record)
    assert b"0x7f" not in text


def test_what_is_written_can_be_loaded(selection: Selection, tmp_path: Path) -> None:
    built = record.build(selection, Setting(), outcomes_of(selection, bounded())).record
    (tmp_path / "record.json").write_bytes(record.canonical(built))
    assert record.load(tmp_path) == built


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "must be a file that `certiformer verify` wrote"),
        ("{", "must be JSON text"),
        ("[]", "must be an object, got list"),
        ('{"schema": "other/1"}', "must have the schema"),
        ('{"schema": "certiformer/record/1"}', "must have claims, findings"),
    ],
)
def test_a_wrong_record_is_told_apart(tmp_path: Path, text: str | None, words: str) -> None:
    if text is not None:
        (tmp_path / "record.json").write_text(text)
    with pytest.raises(RecordError, match=words):
        record.load(tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        {"claims": {}},
        {"claims": [3]},
        {"claims": [{}]},
        {"claims": [{"status": "FINE"}]},
        {"claims": [{"checks": [{"status": "PROVED"}]}]},
    ],
)
def test_a_record_with_a_wrong_part_is_told(
    selection: Selection, tmp_path: Path, change: dict[str, Json]
) -> None:
    built = record.build(selection, Setting(), outcomes_of(selection, bounded())).record
    rows = change["claims"]
    if isinstance(rows, list) and rows and isinstance(rows[0], dict) and rows[0]:
        change = {"claims": [{**built["claims"][0], **rows[0]}]}
    (tmp_path / "record.json").write_text(json.dumps({**built, **change}))
    with pytest.raises(RecordError, match="claims"):
        record.load(tmp_path)


def test_a_folder_in_a_files_place_is_told_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "record.json").mkdir()
    with pytest.raises(OutputError, match="must be a file or free, got a folder"):
        require_writable(tmp_path, ("record.json",))


def test_certificates_are_added_before_stale_ones_go(tmp_path: Path) -> None:
    from reports.output import drop_stale

    require_writable(tmp_path, ())
    old, new = "a" * 64, "b" * 64
    write_certificates(tmp_path, {old: b"{}"})
    (tmp_path / "certificates" / "notes.txt").write_text("the user's own")
    write_certificates(tmp_path, {new: b"{}"})
    assert {p.name for p in (tmp_path / "certificates").iterdir()} >= {f"{old}.json", f"{new}.json"}
    drop_stale(tmp_path, {new: b"{}"})
    names = sorted(p.name for p in (tmp_path / "certificates").iterdir())
    assert names == [f"{new}.json", "notes.txt"]


def test_junit_tells_failures_from_errors(selection: Selection) -> None:
    outcomes = outcomes_of(selection, bounded())
    outcomes[0] = _with(
        outcomes[0], Verdict(status=Status.REFUTED, evidence={"text": "no \x00"}, instances=1)
    )
    built = record.build(selection, Setting(), outcomes).record
    suite = Xml.fromstring(junit.render(built))[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "3", "0")
    built = record.build(selection, Setting(), outcomes_of(selection, unknown("gave up"))).record
    assert Xml.fromstring(junit.render(built))[0].get("errors") == "3"


def test_the_graph_draws_every_claim_once_and_to_the_right_of_what_it_uses() -> None:
    uses = {f"a.n{i}": [f"a.n{j}" for j in range(i) if (i * j) % 7 == 3] for i in range(60)}
    layered, loose = connected([{"id": key, "uses": rest} for key, rest in uses.items()])
    boxes = {box.id: box for box in (*layered.boxes, *loose.boxes)}
    assert len(boxes) == len(layered.boxes) + len(loose.boxes) == 60
    assert all(boxes[used].x < boxes[key].x for key, rest in uses.items() for used in rest)
    places = sorted((box.x, box.y) for box in layered.boxes)
    assert all(y - x >= 40 for (a, x), (b, y) in zip(places, places[1:], strict=False) if a == b)
