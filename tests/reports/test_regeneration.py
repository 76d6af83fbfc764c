"""A run is compared with what the claims' code states now: weaker but true is not enough."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from reports.progress import PlainProgress
from reports.record import canonical as record_text
from reports.regeneration import differences
from verify.certificates import canonical
from verify.worker import Limits

SELECTION = ("universal.sums.laws", "universal.tree.width", "universal.tree.identity")


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("regeneration") / "out"
    command = [sys.executable, "-m", "reports.cli", "verify", *SELECTION, "--profile", "quick"]
    done = subprocess.run(
        [*command, "--out", str(folder)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def copy(run_folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(run_folder, tmp_path / "copy"))


def changed(folder: Path, claim: str, method: str, change: Callable[[Any, Any], None]) -> None:
    """Change a certificate and its row of the record alike, and make every hash fit."""
    record = json.loads((folder / "record.json").read_text())
    (row,) = (
        check
        for item in record["claims"]
        for check in item["checks"]
        if item["id"] == claim and check["method"] == method
    )
    path = folder / row["certificate"]
    body = json.loads(path.read_text())
    change(body["content"], row)
    data = canonical(body)
    path.unlink()
    row["certificate"] = f"certificates/{sha256(data).hexdigest()}.json"
    (folder / row["certificate"]).write_bytes(data)
    (folder / "record.json").write_bytes(record_text(record))


def found(folder: Path) -> list[str]:
    return [f"{what}: {words}" for what, words in differences(folder, 1, Limits(), PlainProgress())]


def rechecked(folder: Path) -> int:
    command = [sys.executable, "-m", "reports.cli", "recheck", str(folder), "--jobs", "1"]
    return subprocess.run(command, capture_output=True, check=False).returncode


def test_a_run_is_what_its_claims_state(run_folder: Path) -> None:
    assert found(run_folder) == []


def smaller_bound(content: Any, row: Any) -> None:
    content["instances"].pop()
    row["instances"] -= 1
    row["evidence"]["checked"] -= 1


def further_premise(content: Any, row: Any) -> None:
    goal, stated = content["goals"][0], row["evidence"]["goals"][0]
    goal["smtlib"] = goal["smtlib"].replace("(check-sat)", "(assert false)\n(check-sat)")
    stated["smtlib_sha256"] = sha256(goal["smtlib"].encode()).hexdigest()


def an_identity_less(content: Any, row: Any) -> None:
    content["equations"].pop()
    row["evidence"]["equations"].pop()
    row["instances"] -= 1


WEAKER = {
    "a smaller bound": (
        "universal.tree.identity",
        "exhaustive",
        smaller_bound,
        "instances, its length",
    ),
    "a premise more": ("universal.sums.laws", "smt", further_premise, "goals[0].smtlib differs"),
    "an identity less": (
        "universal.tree.width",
        "identity",
        an_identity_less,
        "equations, its length",
    ),
}


@pytest.mark.parametrize("name", sorted(WEAKER))
def test_a_weaker_but_true_certificate_is_caught_by_the_comparison_alone(
    name: str, copy: Path
) -> None:
    claim, method, change, words = WEAKER[name]
    changed(copy, claim, method, change)
    assert rechecked(copy) == 0
    lines = found(copy)
    assert any(line.startswith(f"{claim} check") and words in line for line in lines), lines


def test_the_command_rejects_what_differs(copy: Path) -> None:
    changed(copy, *WEAKER["a premise more"][:3])
    command = [sys.executable, "-m", "reports.cli", "recheck", str(copy), "--regenerate"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert (
        "rejected      universal.sums.laws check 0 (smt): certificate.content.goals[0].smtlib"
        in done.stdout
    )
    assert "1 difference from what" in done.stdout


@pytest.mark.parametrize("field", ["statement", "latex", "scope", "expected"])
def test_a_record_that_says_otherwise_than_the_claim_is_caught(field: str, copy: Path) -> None:
    record = json.loads((copy / "record.json").read_text())
    record["claims"][0][field] = "UNKNOWN"
    (copy / "record.json").write_bytes(record_text(record))
    assert any(f"its {field} differs" in line for line in found(copy))


def test_a_run_of_other_sources_is_not_compared_but_refused(copy: Path) -> None:
    record = json.loads((copy / "record.json").read_text())
    record["claims"][0]["construction"] = "0" * 64
    (copy / "record.json").write_bytes(record_text(record))
    assert found(copy) == [
        "record: it was made by other sources than these; use the version that wrote it"
    ]


def test_a_missing_certificate_is_said(copy: Path) -> None:
    certificates = list((copy / "certificates").iterdir())
    for path in certificates:
        path.unlink()
    assert sum("cannot be read" in line for line in found(copy)) == len(certificates) > 0
