"""The pages in docs/ say what is there: claims, places, findings, links, commands, excerpts."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest
import typer

import lowerbounds
from constructions.machines import turing_claims
from reports.cli import app
from reports.selection import OURS
from verify.claims import Setting
from verify.coverage import coverage_in
from verify.findings import findings_in
from verify.loading import claims_in
from verify.methods.enclosure import Enclosure
from verify.methods.exhaustive import Exhaustive
from verify.methods.floating import Floating
from verify.methods.identity import Identity
from verify.methods.sampled import Sampled
from verify.methods.smt import Smt
from verify.methods.witness import Witness
from verify.mutants import mutants_in
from verify.verdicts import Status

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(
    [*DOCS.rglob("*.md"), *(ROOT / f"{name}.md" for name in ("README", "TRUST", "CONTRIBUTING"))]
)
VERDICTS, ADDING = DOCS / "verdicts.md", DOCS / "adding-a-theorem.md"
EXAMPLE = "lowerbounds.two_types.eulerian"
CLAIMS = {item.id: item for package in OURS for item in claims_in(package)}
FINDINGS = {item.id: item for package in OURS for item in findings_in(package)}
PAPERS = {item.paper: item for package in OURS for item in coverage_in(package)}
PLACES = [(paper, entry) for paper, part in PAPERS.items() for entry in part.entries]
METHODS = (Smt, Identity, Witness, Exhaustive, Enclosure, Sampled, Floating)

ID = re.compile(rf"`((?:{'|'.join({key.partition('.')[0] for key in CLAIMS})})(?:\.[a-z0-9_]+)+)`")
LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")
COMMAND = re.compile(r"(?:^\$? ?|`)(certiformer [a-z][^`\n]*)", re.MULTILINE)

LINES = sorted({line for page in PAGES for line in COMMAND.findall(page.read_text("utf-8"))})


def named(path: Path) -> str:
    """How a page is called in a test's name."""
    return str(path.relative_to(ROOT))


def text_of(paper: str) -> str:
    return (DOCS / "papers" / f"{paper}.md").read_text(encoding="utf-8")


def sections(text: str, mark: str) -> dict[str, str]:
    """What stands below each heading of a level, in order; `mark` is its number signs."""
    parts = re.split(rf"^{mark} (.+)$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def rows(page: Path, heading: str) -> list[list[str]]:
    """The cells of the table below a heading, its first row left out."""
    body = sections(page.read_text(encoding="utf-8"), "##")[heading]
    lines = [line for line in body.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def fenced(page: Path, language: str) -> list[str]:
    """The code blocks of a language."""
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def default(method: type, name: str) -> Any:
    """What a method has as `name`, which no instance of it changes."""
    return next(field.default for field in fields(method) if field.name == name)


@cache
def messages_of_the_core() -> str:
    """The sources of verify/, with texts that stand on several lines joined."""
    sources = (path.read_text(encoding="utf-8") for path in (ROOT / "verify").rglob("*.py"))
    return re.sub(r'"\s*\n\s*f?"', "", "\n".join(sources))


# --- what the pages beside the papers name ----------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_claim_and_finding_that_a_page_names_exists(page: Path) -> None:
    mentioned = set(ID.findall(page.read_text(encoding="utf-8")))
    assert mentioned <= {*CLAIMS, *FINDINGS}


@pytest.mark.parametrize("paper", sorted(PAPERS))
def test_a_paper_s_page_has_its_places_in_order_and_names_all_its_claims(paper: str) -> None:
    page = text_of(paper)
    assert list(sections(page, "###")) == [entry.where for entry in PAPERS[paper].entries]
    own = {key for key, item in CLAIMS.items() if item.source.paper == paper}
    assert own <= set(ID.findall(page))


@pytest.mark.parametrize(("paper", "entry"), PLACES, ids=[f"{p}: {e.where}" for p, e in PLACES])
def test_a_place_names_the_claims_that_check_it(paper: str, entry: Any) -> None:
    section = sections(text_of(paper), "###")[entry.where]
    assert set(entry.claims) <= set(ID.findall(section))


@pytest.mark.parametrize("key", sorted(FINDINGS))
def test_a_finding_stands_on_its_paper_s_page_under_its_kind(key: str) -> None:
    item = FINDINGS[key]
    assert f"> **{item.kind}**, `{key}`:" in text_of(item.source.paper)


def test_the_constants_of_theorem_6_are_those_that_runs_are_held_to() -> None:
    assert "$t(s+2)+2$ steps and a queue of at most $s+2$" in text_of("sliding-window-without-pe")
    for rules, space in ((0, 1), (3, 2), (7, 5)):
        assert turing_claims.steps_bound(rules, space) == rules * (space + 2) + 2
        assert turing_claims.length_bound(space) == space + 2


# --- links and commands -----------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_linked_file_exists_and_holds_the_name_that_the_link_shows(page: Path) -> None:
    for shown, target in LINK.findall(page.read_text(encoding="utf-8")):
        if target.startswith(("https://", "#")):
            continue
        file = (page.parent / target.partition("#")[0]).resolve()
        assert file.is_relative_to(ROOT), target
        assert file.exists(), target
        name = re.fullmatch(r"`(\w+)`", shown)
        if name is not None and file.suffix == ".py":
            source = file.read_text(encoding="utf-8")
            defined = rf"^(?:def |class )?{name[1]}\b"
            assert re.search(defined, source, re.MULTILINE), f"{shown} in {target}"


def read(line: str) -> Any:
    """The command that a line calls, once it has read the line's options; nothing is run."""
    group: Any = typer.main.get_command(app)
    words = shlex.split(line, comments=True)[1:]
    context = group.make_context("certiformer", words[:1])
    name, command, options = group.resolve_command(context, words)
    if options:  # else it is the command's name that a text mentions
        command.make_context(name, options, parent=context)
    return command


@pytest.mark.parametrize("line", LINES)
def test_every_command_line_is_one_that_the_command_reads(line: str) -> None:
    assert read(line) is not None


@pytest.mark.parametrize("line", ["certiformer prove x", "certiformer verify x --quickly"])
def test_a_line_that_no_command_reads_is_noticed(line: str) -> None:
    with pytest.raises(Exception, match=r"No such (command|option)"):
        read(line)


# --- tables -----------------------------------------------------------------------------------


def test_the_statuses_are_told_weakest_first() -> None:
    assert [row[0] for row in rows(VERDICTS, "Statuses")] == [status.name for status in Status]


def test_each_method_is_told_with_its_ceiling_and_the_fields_of_its_evidence() -> None:
    told = {row[0].strip("`"): row for row in rows(VERDICTS, "Evidence, method by method")}
    assert list(told) == [default(method, "name") for method in METHODS]
    for method in METHODS:
        _, ceiling, evidence, _ = told[default(method, "name")]
        assert ceiling == default(method, "ceiling").name
        source = Path(sys.modules[method.__module__].__file__ or "").read_text(encoding="utf-8")
        names = re.findall(r"`(\w+)`", evidence)
        assert names
        assert [name for name in names if f'"{name}"' not in source] == []


def test_what_to_choose_a_method_for_names_each_with_its_ceiling() -> None:
    told = {
        shown.strip("`"): ceiling
        for _, method, ceiling in rows(ADDING, "Which method")
        for shown, _ in LINK.findall(method)
    }
    assert told == {method.__name__: default(method, "ceiling").name for method in METHODS}


@pytest.mark.parametrize(
    ("page", "heading", "column"),
    [(ADDING, "Mistakes that are easy to make", 1), (VERDICTS, "UNKNOWN and BROKEN", 0)],
    ids=["mistakes", "reasons"],
)
def test_the_messages_shown_are_those_of_the_code(page: Path, heading: str, column: int) -> None:
    shown = [row[column] for row in rows(page, heading)]
    assert shown
    for message in shown:
        words = [part.strip() for part in message.strip("`").split("…") if part.strip()]
        assert [part for part in words if part not in messages_of_the_core()] == [], message


# --- excerpts ---------------------------------------------------------------------------------


def test_excerpts_of_code_stand_in_the_files_that_they_are_from() -> None:
    text = ADDING.read_text(encoding="utf-8")
    cited = re.findall(r"From\s+\[[^\]]*\]\(([^)]+)\):\n\n```python\n(.*?)```", text, re.DOTALL)
    assert len(cited) == len(fenced(ADDING, "python"))
    for target, excerpt in cited:
        assert excerpt in (DOCS / target).read_text(encoding="utf-8"), target


def part_of(excerpt: Any, whole: Any) -> bool:
    """Whether an excerpt says nothing else: fields and entries may be left out, in their order."""
    if isinstance(excerpt, dict):
        inner = cast("dict[str, Any]", excerpt)
        return all(key in whole and part_of(part, whole[key]) for key, part in inner.items())
    if isinstance(excerpt, list):
        left = iter(whole)
        parts = cast("list[Any]", excerpt)
        return all(any(part_of(part, other) for other in left) for part in parts)
    return bool(excerpt == whole)


def test_an_excerpt_with_another_value_or_order_is_none() -> None:
    whole = {"a": [{"b": 1}, {"b": 2, "c": 3}], "d": "x"}
    assert part_of({"a": [{"c": 3}]}, whole)
    assert not part_of({"a": [{"c": 4}]}, whole)
    assert not part_of({"a": [{"b": 2}, {"b": 1}]}, whole)
    assert not part_of({"e": None}, whole)


def test_the_claim_that_is_taken_apart_is_the_record_s(tmp_path: Path) -> None:
    shown = json.loads(fenced(VERDICTS, "json")[0])
    assert shown["id"] == EXAMPLE
    command = [sys.executable, "-m", "reports.cli", "verify", EXAMPLE, "--profile", "quick"]
    done = subprocess.run(
        [*command, "--out", str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (claim,) = json.loads((tmp_path / "record.json").read_text(encoding="utf-8"))["claims"]
    assert part_of(shown, claim)


def test_the_counterexample_shown_is_found_and_replayed_as_the_page_says() -> None:
    shown = json.loads(fenced(VERDICTS, "json")[1])
    (broken,) = (m for m in mutants_in(lowerbounds) if m.claim.id == f"twin.{EXAMPLE}.reflected")
    instances = broken.claim.checks()[1].method
    verdict = instances.settle(Setting(profile="quick"))
    assert verdict.status is Status.REFUTED
    assert verdict.evidence == shown
    names: dict[str, Any] = {}
    (replay,) = fenced(VERDICTS, "python")
    exec(replay, names)  # noqa: S102 - the page's own lines
    assert names["found"].text == shown["text"]
    assert names["found"].instance == shown["counterexample"]
