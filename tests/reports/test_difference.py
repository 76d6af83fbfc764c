"""What changed between two runs."""

from __future__ import annotations

import copy
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from reports.difference import Change, changes, is_worse, lines_of
from verify.verdicts import Json

Claims = Callable[..., Path]
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def record(claims: Claims, good: str, call: Run, tmp_path: Path) -> dict[str, Json]:
    """The record of three good claims and a finding."""
    body = (
        good
        + """
@finding(
    id="good.finding",
    kind="sharper",
    source=Source("paper", "1"),
    words="ten",
    claims=("good.one",),
)
def nine():
    \"\"\"Nine.\"\"\"
    return "It is nine."
"""
    )
    assert call("verify", claims(body), "--out", tmp_path / "old").returncode == 0
    return json.loads((tmp_path / "old" / "record.json").read_text())


def claim(record: dict[str, Json], name: str) -> dict[str, Json]:
    return next(item for item in record["claims"] if item["id"] == name)


def test_a_record_differs_in_nothing_from_itself(record: dict[str, Json]) -> None:
    assert changes(record, copy.deepcopy(record)) == []
    assert lines_of([]) == ["no difference"]


def test_every_kind_of_change_is_told_and_what_is_worse_comes_first(
    record: dict[str, Json],
) -> None:
    new = copy.deepcopy(record)
    new["seed"] = 7
    claim(new, "good.one")["standing"] = "UNKNOWN"
    claim(new, "good.three")["standing"] = "PROVED"
    claim(new, "good.two").update({"id": "good.second", "standing": "PROVED"})
    claim(new, "good.one")["statement"] = "It holds twice."
    claim(new, "good.one")["construction"] = "0" * 64
    claim(new, "good.one")["checks"][0]["scope"] = "n < 3"
    claim(new, "good.three")["checks"].append(claim(new, "good.three")["checks"][0])
    new["findings"][0]["text"] = "It is eight."
    found = changes(record, new)
    assert found == [
        Change(kind="worse", what="good.one", field="standing", old="BOUNDED", new="UNKNOWN"),
        Change(kind="gone", what="good.two", field="standing", old="BOUNDED", new=None),
        Change(kind="better", what="good.three", field="standing", old="SAMPLED", new="PROVED"),
        Change(kind="new", what="good.second", field="standing", old=None, new="PROVED"),
        Change(
            kind="restated",
            what="good.one",
            field="statement",
            old="It holds.",
            new="It holds twice.",
        ),
        Change(
            kind="restated",
            what="finding good.finding",
            field="text",
            old="It is nine.",
            new="It is eight.",
        ),
        Change(kind="checked", what="run", field="seed", old=0, new=7),
        Change(
            kind="checked", what="run", field="sources", old="those of 1 of 2 claims", new="others"
        ),
        Change(
            kind="checked",
            what="good.one check 0 (exhaustive)",
            field="scope",
            old="n < 9",
            new="n < 3",
        ),
        Change(kind="checked", what="good.three", field="checks", old=1, new=2),
    ]
    assert is_worse(found)
    assert lines_of(found)[0].split("  ")[0] == "worse"
    assert lines_of(found)[0].endswith("  standing: BOUNDED -> UNKNOWN")


def test_what_rises_and_what_is_new_is_not_worse(record: dict[str, Json]) -> None:
    new = copy.deepcopy(record)
    claim(new, "good.three")["standing"] = "PROVED"
    assert not is_worse(changes(record, new))
    assert is_worse(changes(new, record))
    new["findings"] = []
    assert is_worse(changes(record, new))


def test_diff_is_1_for_what_is_worse_and_0_else(
    record: dict[str, Json], call: Run, tmp_path: Path
) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    new.mkdir()
    claim(record, "good.one")["standing"] = "UNKNOWN"
    (new / "record.json").write_text(json.dumps(record))
    done = call("diff", old, new)
    assert (done.returncode, done.stdout.split()[:2]) == (1, ["worse", "good.one"])
    done = call("diff", new, old, "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout) == [
        {"kind": "better", "what": "good.one", "field": "standing", "old": "UNKNOWN"}
        | {"new": "BOUNDED"}
    ]
    assert call("diff", old, old).stdout == "no difference\n"
    done = call("diff", old, tmp_path / "nowhere")
    assert (done.returncode, done.stdout) == (2, "")
    assert "must be a file that `certiformer verify` wrote" in done.stderr
