"""Coverage: every numbered place of a paper is listed, and what is named as checking it exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from constructions.machines.coverage import MACHINES
from constructions.minimal.coverage import MINIMAL
from constructions.universal.coverage import UNIVERSAL
from reports.html import render
from reports.record import build
from reports.selection import OURS, select
from verify.claims import Setting
from verify.coverage import Coverage, Entry, coverage_in
from verify.dependencies import with_dependencies
from verify.errors import ClaimError
from verify.findings import findings_in
from verify.loading import claims_in

SEEDS = Path(__file__).parents[3] / "shared" / "seeds"
CLAIMS = {item.id: item for package in OURS for item in claims_in(package)}
PARTS = {item.paper: item for package in OURS for item in coverage_in(package)}
ORDERED = (UNIVERSAL, MACHINES, MINIMAL)
PLACES = r"(?:Theorem|Lemma|Corollary|Remark|Table|Figure)[ ~˜]*(?:[A-Z]\.)?[0-9]+(?:\.[0-9]+)?"


def test_all_papers_are_covered() -> None:
    assert [PARTS[item.paper] for item in ORDERED] == [*ORDERED]
    assert len(PARTS) == len(ORDERED)


@pytest.mark.parametrize("paper", sorted(PARTS))
def test_what_is_named_as_checking_exists(paper: str) -> None:
    named = {name for entry in PARTS[paper].entries for name in entry.claims}
    assert named <= set(CLAIMS)
    assert len({entry.where for entry in PARTS[paper].entries}) == len(PARTS[paper].entries)


def test_each_claim_checks_a_place_or_a_finding_or_is_used_by_one_that_does() -> None:
    entries = (entry for part in PARTS.values() for entry in part.entries)
    findings = (item for package in OURS for item in findings_in(package))
    named = {CLAIMS[name] for item in (*entries, *findings) for name in item.claims}
    assert {item.id for item in with_dependencies(named, CLAIMS)} == set(CLAIMS)


@pytest.mark.skipif(not SEEDS.exists(), reason="the papers' texts are not here")
@pytest.mark.parametrize("paper", sorted(PARTS))
def test_every_numbered_place_of_the_text_is_listed(paper: str) -> None:
    text = (SEEDS / f"{paper.replace('-', '_')}.txt").read_text()
    numbered = {re.sub(r"[ ~˜]+", " ", place) for place in re.findall(PLACES, text)}
    listed = " | ".join(entry.where for entry in PARTS[paper].entries)
    assert numbered
    missing = [place for place in numbered if not re.search(rf"{re.escape(place)}\b", listed)]
    assert missing == []


def test_the_record_and_the_page_show_what_is_not_checked() -> None:
    record = build(select([]), Setting(), []).record
    parts = {part["paper"]: part for part in record["coverage"]}
    assert sorted(parts) == sorted(PARTS)
    for paper, part in parts.items():
        assert part["checked"] == PARTS[paper].checked
        assert part["checked"] == sum(bool(entry["claims"]) for entry in part["entries"])
    page = render(record).decode()
    assert "What of each paper is checked" in page
    assert page.count("<strong>not checked</strong>") == sum(
        not entry.claims for part in PARTS.values() for entry in part.entries
    )


def test_a_selection_shows_its_own_papers_only() -> None:
    record = build(select(["machines.words.laws"]), Setting(), []).record
    assert [part["paper"] for part in record["coverage"]] == [MACHINES.paper]
    assert "not in this run" in render(record).decode()


def test_an_entry_says_what_checks_it_or_why_nothing_does() -> None:
    with pytest.raises(ClaimError, match="coverage of Table 9 must name claims or say why"):
        Entry(where="Table 9", what="numbers")
    assert Coverage(paper="p", entries=(Entry(where="a", what="b", claims=("c",)),)).checked == 1
