"""Findings: they rest on claims, quote their papers, and go when a claim falls."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reports.record import build
from reports.selection import OURS, select
from verify.claims import Setting, Source
from verify.errors import ClaimError
from verify.findings import KINDS, Finding, finding, findings_in
from verify.loading import claims_in
from verify.run import Outcome
from verify.verdicts import Status, Verdict

ROOT = Path(__file__).parents[2]
SEEDS = ROOT.parent / "shared" / "seeds"
FINDINGS = {item.id: item for package in OURS for item in findings_in(package)}
CLAIMS = {item.id: item for package in OURS for item in claims_in(package)}


def outcomes(statuses: Callable[[str], Status]) -> list[Outcome]:
    """An outcome for each of our claims, without running any."""
    return [
        Outcome(
            claim=item,
            check=0,
            method="smt",
            covers=True,
            scope="",
            verdict=Verdict(status=statuses(key), evidence={}, trusts=("library:none",)),
            seconds=0.0,
        )
        for key, item in CLAIMS.items()
    ]


def found(statuses: Callable[[str], Status]) -> dict[str, Any]:
    """The findings of a record in which the claims have these statuses."""
    record = build(select([]), Setting(), outcomes(statuses)).record
    return {item["id"]: item for item in record["findings"]}


def expected(key: str) -> Status:
    return CLAIMS[key].expected


def test_each_finding_is_there_when_every_claim_stands() -> None:
    shown = found(expected)
    assert sorted(shown) == sorted(FINDINGS)
    for key, item in shown.items():
        assert item["kind"] in KINDS
        assert item["title"]
        assert item["text"] == FINDINGS[key].text()
        assert "cannot be computed" not in item["text"]
        assert set(item["claims"]) <= set(CLAIMS)


@pytest.mark.parametrize("name", sorted(FINDINGS))
def test_a_finding_goes_if_a_claim_that_it_rests_on_falls(name: str) -> None:
    for fallen in FINDINGS[name].claims:
        for status in (Status.REFUTED, Status.UNKNOWN):
            assert name not in found(lambda key: status if key == fallen else expected(key))  # noqa: B023


def test_a_finding_goes_if_what_its_claim_uses_falls() -> None:
    assert "machines.halting" not in found(
        lambda key: Status.UNKNOWN if key == "machines.words.laws" else expected(key)
    )


@pytest.mark.skipif(not SEEDS.exists(), reason="the papers' texts are not here")
@pytest.mark.parametrize("name", sorted(FINDINGS))
def test_the_quoted_words_stand_in_the_paper(name: str) -> None:
    item = FINDINGS[name]
    texts = {path.stem.replace("_", "-"): path.read_text() for path in SEEDS.glob("*.txt")}
    words = " ".join(item.words.split())
    assert words in " ".join(texts[item.source.paper].split())


def test_findings_of_a_selection_rest_on_its_claims_alone() -> None:
    few = select(["universal.tree.width", "universal.folded.identity"])
    assert [item.id for item in few.findings] == ["universal.folded_width", "universal.table_5"]
    assert select(["universal.probes.layer"]).findings == ()


def test_numbers_are_computed() -> None:
    texts = {key: item.text() for key, item in FINDINGS.items()}
    assert "needs 164 coordinates" in texts["universal.folded_width"]
    assert re.search(r"where the tree needs 1024\b", texts["universal.folded_width"])
    assert "is 1024, the printed dimension" in texts["universal.table_5"]


def stated(**changes: Any) -> Finding:
    def write() -> str:
        """A title."""
        return "text"

    write.__doc__ = changes.pop("title", "A title.")
    fields = {
        "id": "mine.one",
        "kind": "gap",
        "source": Source("paper", "Lemma 1"),
        "words": "words",
        "claims": ("a.b",),
        **changes,
    }
    return finding(**fields)(write)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"title": ""}, "must have a docstring, which is its title"),
        ({"kind": "typo"}, "one of the kinds confirmed, sharper, gap, discrepancy"),
        ({"claims": ()}, "a claim that it rests on"),
    ],
)
def test_a_finding_that_is_stated_wrongly_is_refused(changes: dict[str, Any], said: str) -> None:
    assert stated().title == "A title"
    with pytest.raises(ClaimError, match=said):
        stated(**changes)


OWN = '''
from verify.claims import Source, claim, covers
from verify.findings import finding
from verify.methods.exhaustive import Exhaustive
from verify.ranges import Range
from verify.verdicts import Status

SOME = Range(bound="n < 9", over=lambda: range(9))


@claim(id="own.one", source=Source("p", "w"), latex="", scope="n < 9", expected=Status.BOUNDED)
def one():
    """One."""
    ranges = {"quick": SOME, "standard": SOME, "deep": SOME}
    check = Exhaustive(holds=lambda n: None, ranges=ranges, rechecked_as="", exhibit=int)
    return [covers(check)]


@finding(id="own.gap", kind="gap", source=Source("p", "w"), words="<b>", claims=("own.one",))
def gap():
    """A gap of <script>."""
    return f"{6 * 7} & more"
'''


def test_a_file_of_ones_own_has_findings_too(tmp_path: Path) -> None:
    file, out = tmp_path / "own.py", tmp_path / "out"
    file.write_text(OWN)
    command = [sys.executable, "-m", "reports.cli", "verify", str(file), "--out", str(out)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (item,) = json.loads((out / "record.json").read_text())["findings"]
    assert (item["id"], item["text"], item["claims"]) == ("own.gap", "42 & more", ["own.one"])
    page = (out / "index.html").read_text()
    assert "A gap of &lt;script&gt;" in page
    assert "A gap of <script>" not in page


def fails() -> str:
    """A gap."""
    return str(1 // 0)


def is_none() -> Any:
    """A gap."""


def leaves() -> str:
    """A gap."""
    raise SystemExit(0)


@pytest.mark.parametrize(
    ("write", "said"),
    [(fails, "ZeroDivisionError: "), (is_none, "AttributeError: "), (leaves, "SystemExit: 0")],
)
def test_a_finding_whose_text_fails_says_so(write: Callable[[], str], said: str) -> None:
    source = Source("p", "w")
    item = finding(id="own.gap", kind="gap", source=source, words="w", claims=("own.one",))(write)
    assert item.text().startswith(f"Its text cannot be computed: {said}")
