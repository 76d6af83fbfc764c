"""The page: what a reader sees, and what a claim's text can do to it."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from reports import html, mathml
from reports.experiments.gathered import Experiments
from verify.verdicts import Json, Status

TEMPLATES = Path(html.__file__).parent / "templates"
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


ROWS = (claim(), claim("paper.two", uses=["paper.one", "paper.absent"]))


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
    text = page(row)
    reader = Reader(text)
    tags = [tag for tag, _ in reader.tags]
    assert set(tags).isdisjoint({"img", "iframe", "link", "object", "base"})
    assert tags.count("script") == 1
    assert reader.text.count(html.visible(ODD)) >= 15
    assert not any(key.startswith("on") for _, found in reader.tags for key in found)
    labels = [found.get("aria-label") or "" for _, found in reader.tags]
    assert any(html.visible(ODD) in label for label in labels)


def test_what_reorders_or_hides_text_is_named_wherever_it_stands() -> None:
    unseen = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c\x1b\x85"
    row = claim(statement=unseen, latex=rf"\text{{{unseen}}}", checks=[check(text=unseen)])
    text = page(row)
    assert not any(mark in text for mark in unseen)
    assert text.count("⟨U+202E⟩") >= 5
    assert html.visible("\t\r\n é ∀ 👩‍🔬") == "\t\r\n é ∀ 👩‍🔬"


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


def _policy(text: str) -> dict[str, str]:
    """The page's content policy: what each directive admits."""
    (content,) = [
        found["content"] or ""
        for tag, found in Reader(text).tags
        if tag == "meta" and found.get("http-equiv") == "Content-Security-Policy"
    ]
    return dict(part.strip().split(" ", 1) for part in content.split(";"))


def _named(element: str, text: str) -> str:
    """How a policy names the one element of this kind."""
    (inner,) = re.findall(rf"<{element}>(.*?)</{element}>", text, re.S)
    return f"'sha256-{b64encode(sha256(inner.encode()).digest()).decode()}'"


def test_the_page_asks_nothing_of_a_network() -> None:
    text = page(claim())
    assert _policy(text) == {
        "default-src": "'none'",
        "style-src": _named("style", text),
        "script-src": _named("script", text),
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert not re.search(r"""(src|href|action)\s*=\s*["']?(https?:|//|data:|javascript:)""", text)
    assert "url(" not in text
    assert "@import" not in text


def test_a_page_without_a_script_admits_none() -> None:
    text = html.render_experiments(Experiments(tables=(), figures=())).decode()
    assert "script-src" not in _policy(text)
    assert "<script" not in text


def test_the_script_is_that_of_the_file_and_makes_no_code_of_text() -> None:
    script = (TEMPLATES / "page.js").read_text()
    assert f"<script>{script}</script>" in page(claim())
    for word in (
        "innerHTML",
        "outerHTML",
        "eval(",
        "Function(",
        "document.write",
        "insertAdjacent",
    ):
        assert word not in script


@pytest.mark.parametrize("rows", [(), ROWS], ids=["no claims", "two claims"])
def test_every_link_and_reference_leads_somewhere(rows: tuple[dict[str, Json], ...]) -> None:
    reader = Reader(page(*rows))
    listed = [found["id"] for _, found in reader.tags if "id" in found]
    ids = set(listed)
    assert len(listed) == len(ids)
    links = {found["href"] or "" for tag, found in reader.tags if tag == "a"}
    assert {link[1:] for link in links if link.startswith("#")} <= ids
    outside = {link for link in links if not link.startswith("#")}
    assert outside == ({f"certificates/{'a' * 64}.json"} if rows else set())
    for key in ("aria-labelledby", "data-copies"):
        assert {found[key] for _, found in reader.tags if key in found} <= ids
    script = (TEMPLATES / "page.js").read_text()
    assert {name for name in re.findall(r'find\("([^"]+)"\)', script)} <= ids


def test_without_the_script_every_claim_is_open_and_no_control_is_dead() -> None:
    reader = Reader(page(*ROWS))
    folds = [found for _, found in reader.tags if "fold" in (found.get("class") or "").split()]
    assert len(folds) == 2
    assert all("open" in found for found in folds)
    controls = [
        found for tag, found in reader.tags if tag == "button" and found.get("id") != "clear"
    ]
    hiding = [found for _, found in reader.tags if "scripted" in (found.get("class") or "")]
    assert all("hidden" in found for found in hiding)
    assert [found.get("id") for found in hiding].count("controls") == 1
    assert {found.get("class") for found in controls} == {"copy scripted", "fold-all"}
    assert reader.text.count("Expand all claims") == 1


def test_a_row_says_what_the_filters_ask_of_it() -> None:
    row = claim(checks=[check(), check("smt", "PROVED")], standing="SAMPLED")
    (found,) = [found for tag, found in Reader(page(row)).tags if found.get("class") == "row"]
    assert found["data-claim"] == "paper.one"
    assert found["data-paper"] == "paper"
    assert (found["data-standing"], found["data-outcome"]) == ("SAMPLED", "short")
    assert found["data-methods"] == "exhaustive\nsmt"


def test_headings_go_down_one_level_at_a_time() -> None:
    found = [tag for tag, _ in Reader(page(*ROWS)).tags if re.fullmatch("h[1-6]", tag)]
    levels = [int(tag[1]) for tag in found]
    assert levels.count(1) == 1
    assert all(below <= above + 1 for above, below in pairwise(levels))


def _brightness(colour: str) -> float:
    parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_words_stand_out_from_what_is_behind_them(scheme: int) -> None:
    style = (TEMPLATES / "style.css").read_text()
    colours = dict(re.findall(r"--(\w+): (#\w{6});", style.split(":root {")[scheme + 1]))
    pairs = [("ink", "ground"), ("muted", "ground"), ("link", "ground")]
    pairs += [("ink", "raised"), ("muted", "raised"), ("on", "muted")]
    pairs += [pair for status in Status for pair in (("on", status.name), (status.name, "ground"))]
    for pair in pairs:
        dim, bright = sorted(_brightness(colours[name]) for name in pair)
        assert (bright + 0.05) / (dim + 0.05) >= 4.5, pair


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
    for words in ("z3", "cvc5", "unsat", "axioms of the theory tree", "step", "--smtlib"):
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
