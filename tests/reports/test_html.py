"""The page: what a reader sees, and what a claim's text can do to it."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import pytest

from reports import html, mathml
from verify.verdicts import Json

ODD = "<script>alert('x')</script> & $H^L$ \u202eleft\u200f {{ 7 * 7 }}"


def check(method: str = "exhaustive", status: str = "BOUNDED", **evidence: Json) -> dict[str, Json]:
    return {
        "method": method,
        "covers": True,
        "status": status,
        "scope": "n < 9",
        "evidence": evidence,
        "trusts": ["library:flint"],
        "instances": 9,
        "certificate": f"certificates/{'a' * 64}.json",
    }


def claim(id: str = "paper.one", **fields: Json) -> dict[str, Json]:
    return {
        "id": id,
        "source": {"paper": "paper", "where": "Theorem 1"},
        "statement": "It holds.",
        "latex": r"m \ge \overline m",
        "scope": "n < 9",
        "uses": [],
        "expected": "BOUNDED",
        "status": "BOUNDED",
        "standing": "BOUNDED",
        "trusts": ["fact:induction", "library:flint"],
        "checks": [check(checked=9)],
        **fields,
    }


def record(*claims: dict[str, Json]) -> dict[str, Json]:
    return {
        "schema": "certiformer/record/1",
        "profile": "standard",
        "seed": 0,
        "selectors": ["paper.*"],
        "claims": list(claims),
        "findings": [],
    }


def page(*claims: dict[str, Json]) -> str:
    return html.render(record(*claims)).decode()


class Reader(HTMLParser):
    """Text and tags as a browser would find them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_text_of_a_claim_is_shown_as_text() -> None:
    row = claim(
        statement=ODD,
        scope=ODD,
        source={"paper": ODD, "where": ODD},
        latex=rf"\text{{{ODD}}}",
        trusts=[ODD],
        file=ODD,
        checks=[
            check(ODD, reason=ODD, text=ODD, counterexample={ODD: ODD}),
            check("smt", goals=[_goal(ODD)], theories=[_theory(ODD)], worlds=2),
            check("identity", equations=[ODD], other=ODD, more=[ODD]),
        ],
    )
    reader = Reader(page(row))
    assert {tag for tag, _ in reader.tags}.isdisjoint({"script", "img", "iframe", "link"})
    assert reader.text.count(ODD) >= 15
    assert not any(key.startswith("on") for _, found in reader.tags for key in found)


def _goal(text: str) -> dict[str, Json]:
    return {
        "name": text,
        "role": text,
        "theory": text,
        "assumptions": [text],
        "conclusion": text,
        "answers": {"z3": text, "cvc5": "unsat"},
    }


def _theory(text: str) -> dict[str, Json]:
    return {"name": text, "axioms": [{"name": text, "gloss": text, "formula": text}]}


def test_the_page_asks_nothing_of_a_network() -> None:
    text = page(claim())
    assert "default-src 'none'" in text
    style = re.search(r"<style>(.*?)</style>", text, re.S)
    assert style is not None
    assert b64encode(sha256(style[1].encode()).digest()).decode() in text
    assert not re.search(r"""(src|href|action)\s*=\s*["']?(https?:|//|data:|javascript:)""", text)
    assert "url(" not in text
    assert "@import" not in text


def test_every_link_leads_somewhere() -> None:
    rows = [claim(), claim("paper.two", uses=["paper.one", "paper.absent"])]
    reader = Reader(page(*rows))
    ids = {found["id"] for _, found in reader.tags if "id" in found}
    links = {found["href"] or "" for tag, found in reader.tags if tag == "a"}
    assert {link[1:] for link in links if link.startswith("#")} <= ids
    assert {link for link in links if not link.startswith("#")} == {f"certificates/{'a' * 64}.json"}


def test_a_certificate_outside_the_folder_is_no_link() -> None:
    row = claim(checks=[{**check(), "certificate": "javascript:alert(1)"}])
    assert "javascript:" not in page(row)


def test_a_reader_finds_what_a_claim_rests_on() -> None:
    text = Reader(page(claim(), claim("paper.two", uses=["paper.one"]))).text
    for words in (
        "2 of 2 claims",
        "Theorem 1",
        "holds for 0 (for the empty word)",
        "R. Dedekind",
        "certiformer verify paper.two",
        "9 instances checked",
    ):
        assert words in text


def test_goals_are_shown_with_the_answers_of_both_solvers() -> None:
    text = Reader(
        page(claim(checks=[check("smt", goals=[_goal("step")], theories=[_theory("tree")])]))
    ).text
    for words in ("z3", "cvc5", "unsat", "axioms of the theory tree", "step"):
        assert words in text


@pytest.mark.parametrize(
    ("standing", "words"),
    [("REFUTED", "refuted"), ("UNKNOWN", "unsettled"), ("BROKEN", "broken"), ("SAMPLED", "short")],
)
def test_what_is_not_as_expected_is_said_first(standing: str, words: str) -> None:
    text = Reader(page(claim(status=standing, standing=standing))).text
    assert "0 of 1 claims" in text
    assert words in text


@pytest.mark.parametrize(
    "evidence",
    [
        {"goals": 3},
        {"goals": ["x"]},
        {"goals": [{"name": "x"}]},
        {"theories": [{"name": "x", "axioms": [1]}], "equations": 3},
        {"counterexample": None, "reason": [1], "tried": "many", "checked": {}},
    ],
)
def test_evidence_of_an_unknown_form_is_shown_as_it_stands(evidence: dict[str, Json]) -> None:
    assert "paper.one" in page(claim(checks=[check("own", **evidence)]))


def test_an_empty_record_has_a_page() -> None:
    assert "0 of 0 claims" in page()


@pytest.mark.parametrize(
    "latex",
    [r"\frac{", r"\text{<script>}", r"\href{javascript:x}{y}", r"\style{a}{b}", "a < b & c"],
)
def test_no_formula_escapes_its_element(latex: str) -> None:
    formula = mathml.convert(latex) or ""
    assert "<script" not in formula
    assert "javascript" not in formula
    assert "style" not in formula


@pytest.mark.parametrize("latex", [r"<b> \frac{", r"\unheard{x} <b>"])
def test_a_formula_that_cannot_be_converted_is_shown_as_latex(latex: str) -> None:
    assert Reader(page(claim(latex=latex))).text.count(latex) == 1


def test_sixty_claims_fit_the_graph(tmp_path: Path) -> None:
    rows = [claim(f"paper.n{i}", uses=[f"paper.n{i - 5}"] if i > 10 else []) for i in range(60)]
    text = html.render(record(*rows))
    (tmp_path / "index.html").write_bytes(text)
    reader = Reader(text.decode())
    nodes = [
        found for tag, found in reader.tags if tag == "a" and "node" in str(found.get("class"))
    ]
    assert len(nodes) == 60


def test_times_come_from_the_run_alone() -> None:
    run: dict[str, Json] = {"checks": [{"claim": "paper.one", "check": 0, "seconds": 12.34}]}
    assert "12.3 s" in html.render(record(claim()), run).decode()
    assert " s</span>" not in page(claim())
