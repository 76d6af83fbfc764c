"""`certiformer explain`: a claim in words and formally, from its code or from a run."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

from reports.explaining import ask, told
from reports.explaining_text import lines_of
from reports.explanation import explained
from verify.methods.smt import open_cvc5
from verify.verdicts import Json

Claims = Callable[..., Path]
Run = Callable[..., subprocess.CompletedProcess[str]]

ROOT = Path(__file__).resolve().parents[2]
OURS = "universal.residual.width"
FORMAL = """
from verify.methods.identity import Equation, Identity
from verify.methods.smt import Smt
from verify.smtlib import Axiom, Goal, Theory


def goals():
    theory = Theory(
        name="numbers",
        declarations="(declare-const a Int)",
        axioms=(Axiom("large", "(> a 2)", "a is larger than two"),),
        worlds=(),
    )
    assumed = ("(< a 9)",)
    conclusion = Goal(
        name="a is positive", theory=theory, conclusion="(> a 0)", assumptions=assumed,
        role="conclusion",
    )
    return (Goal(name="a step", theory=theory, conclusion="(> a 1)"), conclusion)


def equations():
    from sympy import symbols

    x, y = symbols("x y")
    return (Equation(name="squares", left=(x + y) ** 2, right=x**2 + 2 * x * y + y**2),)


@stated("formal.goals", "It follows.", latex="a > 0")
def formal():
    return [covers(Smt(goals=goals, instances="every a"))]


@stated("formal.square", "It expands.", uses=("formal.goals",))
def square():
    return [covers(Identity(equations=equations, instances="all x, y"))]
"""
HOSTILE = """
TEXT = "[red]It[/red] <script>alert(1)</script> \\u202e\\x1b[31m."


@stated("odd.one", TEXT, latex="$ & % \\\\\\\\ #")
def odd():
    print("noise")
    return [covers(some(range(3), fails=1))]
"""


@pytest.fixture
def no_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder without a run, for what is told of our claims if nobody has verified them here."""
    monkeypatch.setattr("reports.explaining.OUT", tmp_path / "nothing")
    return tmp_path


def code_of(claims: Claims, body: str) -> str:
    """The explanation of a file's claims from their code, stacked."""
    return "\n".join(lines_of(list(told(ask([str(claims(body))], None))), 100, coloured=False))


# --- from the code ---------------------------------------------------------------------------


def test_a_claim_is_explained_from_its_code_with_goals_axioms_and_who_uses_it(
    claims: Claims,
) -> None:
    text = code_of(claims, FORMAL)
    first, second = text.split("\n\nformal.square\n")
    for line in (
        "as its code states it; no run was looked at",
        "paper, 1",
        "It follows.",
        "formula: a > 0",
        "goal: a is positive (conclusion, in the theory numbers)",
        "    (< a 9)",
        "    (> a 0)",
        "  large: a is larger than two",
        "    (> a 2)",
        "on it rests: formal.square: It expands.",
        "expected: BOUNDED",
    ):
        assert f"\n{line}\n" in f"\n{first}\n"
    assert "equation: squares: (x + y)**2 = x**2 + 2*x*y + y**2" in second
    assert "rests on: formal.goals: It follows." in second
    assert "PROVED" not in text


@pytest.mark.usefixtures("no_run")
def test_scopes_are_told_of_each_profile_where_they_differ(call: Run) -> None:
    done = call("explain", "universal.tree.identity", "--json")
    (claim,) = json.loads(done.stdout)
    goals, instances = (check["scope"] for check in claim["checks"][:2])
    assert "quick: " not in goals
    assert [part.partition(": ")[0] for part in instances.split("; ")] == [
        "quick",
        "standard",
        "deep",
    ]


@pytest.mark.usefixtures("no_run")
def test_findings_and_places_that_name_a_claim_of_ours_are_told(call: Run) -> None:
    (claim,) = json.loads(call("explain", OURS, "--json").stdout)
    assert any(place["paper"] == "fixed-universal-transformers" for place in claim["places"])
    assert all({"id", "kind", "title"} == set(finding) for finding in claim["findings"])
    assert claim["findings"]
    assert claim["status"] == claim["standing"] == ""


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("@stated('bad.one')\ndef one():\n    raise SystemExit(4)\n", "nothing: SystemExit: 4"),
        ("@stated('bad.one', '')\ndef one():\n    return []\n", "must have a docstring"),
    ],
)
def test_a_claim_that_cannot_be_built_says_why(claims: Claims, body: str, words: str) -> None:
    assert words in code_of(claims, body)


# --- from a run ------------------------------------------------------------------------------


def test_a_run_adds_status_evidence_trust_and_certificate(
    claims: Claims, good: str, call: Run, tmp_path: Path
) -> None:
    path, out = claims(good), tmp_path / "out"
    assert call("verify", path, "--out", out).returncode == 0
    done = call("explain", "good.two", path, "--out", out)
    assert done.returncode == 0
    text = "\n" + done.stdout
    for line in (
        "good.two  BOUNDED  as expected",
        f"as settled in {out} (profile standard, seed 0)",
        "status: by its own checks BOUNDED",
        "rests on: good.one BOUNDED: It holds.",
        "on it rests: good.three SAMPLED: It holds.",
        "  instances checked, on each of which it held: 5",
        f"recheck it: certiformer recheck {out}",
        f"repeat it: certiformer verify {path}",
    ):
        assert f"\n{line}\n" in text
    record = json.loads((out / "record.json").read_text())
    row = next(claim for claim in record["claims"] if claim["id"] == "good.two")
    assert f"\n  certificate: {out}/{row['checks'][0]['certificate']}\n" in text


def test_the_terminal_is_told_what_the_page_is_told(
    claims: Claims, good: str, call: Run, tmp_path: Path
) -> None:
    path, out = claims(good), tmp_path / "out"
    call("verify", path, "--out", out)
    record, run = (json.loads((out / name).read_text()) for name in ("record.json", "run.json"))
    page = {claim.id: asdict(claim) for claim in explained(record, run)}
    for claim in json.loads(call("explain", path, "--out", out, "--json").stdout):
        expected = json.loads(json.dumps(page[claim["id"]]))
        assert {name: claim[name] for name in expected} == expected
        assert claim["folder"] == str(out)
        assert not claim["changed"]


def test_a_recorded_claim_is_explained_where_its_code_is_gone_and_told_from_other_sources(
    claims: Claims, good: str, call: Run, tmp_path: Path
) -> None:
    path, out = claims(good), tmp_path / "out"
    call("verify", path, "--out", out)
    assert "good.one  BOUNDED" in call("explain", "good.one", "--out", out).stdout
    path.write_text(path.read_text() + "\n# another comment\n")
    done = call("explain", path, "--out", out)
    assert done.stdout.count("; the sources have changed since") == 3


def test_a_counterexample_is_told_in_words_and_as_data(
    claims: Claims, call: Run, tmp_path: Path
) -> None:
    path, out = claims(HOSTILE), tmp_path / "out"
    assert call("verify", path, "--out", out).returncode == 1
    done = call("explain", path, "--out", out)
    assert "counterexample: 1 is not what it should be" in done.stdout
    assert '\n  {"n": 1}\n' in done.stdout
    page = (out / "index.html").read_text()
    assert "noise" not in done.stdout
    assert "<svg" in page


def test_a_drawing_stands_on_the_page_beside_the_counterexamples_text(
    claims: Claims, call: Run, tmp_path: Path
) -> None:
    body = """
    def wrong(n):
        shown = {"required": [[1, 2]], "got": [[1, 3]]}
        return Counterexample(text="the rows differ", instance=shown)

    @stated("drawn.one")
    def one():
        return [covers(that(wrong))]
    """
    path, out = claims(body), tmp_path / "out"
    assert call("verify", path, "--out", out).returncode == 1
    page = (out / "index.html").read_text()
    words, drawing = page.index("the rows differ</bdi>"), page.index('<div class="drawn"><svg')
    assert words < drawing < page.index("</svg></div>", drawing)
    assert "1 of 2 entries differ" in page


# --- text of users ---------------------------------------------------------------------------


def test_text_of_users_is_neither_markup_nor_steers_the_terminal(claims: Claims) -> None:
    text = code_of(claims, HOSTILE)
    assert r"[red]It[/red] <script>alert(1)</script> \u202e\x1b[31m." in text
    assert r"formula: $ & % \\ #" in text
    assert not {"\x1b", "\u202e"} & set(text)


def on_terminal(folder: Path, columns: int, *arguments: str, **environment: str) -> str:
    """What the command writes to a terminal of so many columns, started in a folder."""
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "reports.cli", "explain", *arguments]
    terminal = {"COLUMNS": str(columns), "TERM": "xterm", "PYTHONPATH": str(ROOT)}
    variables = {**os.environ, **terminal, **environment}
    with subprocess.Popen(command, cwd=folder, stdout=follower, env=variables) as process:
        os.close(follower)
        parts: list[bytes] = []
        while part := _read(leader):
            parts.append(part)
        assert process.wait(60) == 0
    os.close(leader)
    return b"".join(parts).decode().replace("\r\n", "\n")


def _read(leader: int) -> bytes:
    try:
        return os.read(leader, 1 << 16)
    except OSError:  # the other end was closed
        return b""


@pytest.mark.usefixtures("no_run")
def test_a_wide_terminal_has_words_beside_goals_and_a_narrow_one_above_them() -> None:
    found = list(told(ask(["universal.tree.identity"], None)))
    wide = list(lines_of(found, 120, coloured=False))
    narrow = list(lines_of(found, 90, coloured=False))
    assert any("What the paper says" in line and "What is checked" in line for line in wide)
    assert narrow.index("What the paper says") < narrow.index("What is checked")
    assert max(map(len, wide)) <= 120
    assert max(map(len, narrow)) <= 90


def test_colours_are_for_terminals_without_no_color_alone(call: Run, no_run: Path) -> None:
    assert "\x1b[" in on_terminal(no_run, 120, OURS, NO_COLOR="")
    assert "\x1b" not in on_terminal(no_run, 120, OURS, NO_COLOR="1")
    plain = call("explain", OURS).stdout
    assert "\x1b" not in plain
    assert max(map(len, plain.splitlines())) <= 100


# --- SMT-LIB ---------------------------------------------------------------------------------


def z3_answers(file: Path) -> list[str]:
    """What Z3's own program answers to a file of scripts."""
    program = Path(sys.executable).with_name("z3")
    done = subprocess.run([program, file], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.split()


@pytest.mark.usefixtures("no_run")
def test_smtlib_is_one_file_that_both_solvers_read_goal_by_goal(call: Run, tmp_path: Path) -> None:
    script = call("explain", OURS, "--smtlib").stdout
    (tmp_path / "goals.smt2").write_text(script)
    (claim,) = json.loads(call("explain", OURS, "--json").stdout)
    goals = sum(len(check["goals"]) for check in claim["checks"])
    assert goals > 1
    assert z3_answers(tmp_path / "goals.smt2") == ["unsat"] * goals
    parts = script.split("(reset)\n")
    assert [open_cvc5()(part) for part in parts] == ["unsat"] * goals


@pytest.mark.usefixtures("no_run")
def test_smtlib_of_a_run_is_that_of_its_certificates(call: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    call("verify", "universal.sums.laws", "--profile", "quick", "--out", out)
    from_run = call("explain", "universal.sums.laws", "--smtlib", "--out", out).stdout
    assert "(check-sat)" in from_run
    assert from_run == call("explain", "universal.sums.laws", "--smtlib").stdout
    record = json.loads((out / "record.json").read_text())
    row = next(claim for claim in record["claims"] if claim["id"] == "universal.sums.laws")
    place = next(check["certificate"] for check in row["checks"] if check["method"] == "smt")
    (out / place).write_text('{"content": {"goals": [{"name": "x"}]}}')
    done = call("explain", "universal.sums.laws", "--smtlib", "--out", out)
    assert done.returncode == 2
    assert "must hold the SMT-LIB text of goals" in done.stderr


# --- refusals --------------------------------------------------------------------------------


def test_an_unknown_id_names_those_that_are_close(call: Run) -> None:
    done = call("explain", "universal.residual.wdth")
    assert done.returncode == 2
    assert f"did you mean {OURS}" in done.stderr
    assert done.stdout == ""


def test_refusals_name_the_remedy(claims: Claims, good: str, call: Run, tmp_path: Path) -> None:
    path, out = claims(good), tmp_path / "out"
    call("verify", path, "--out", out)
    refused: list[tuple[tuple[object, ...], str]] = [
        ((OURS, "--out", out), "leave --out away to explain it from its code"),
        ((OURS, "--out", tmp_path / "none"), "check the folder"),
        ((OURS, "--json", "--smtlib"), "call it once for each"),
        (("good.one", "--out", out, "--smtlib"), "leave --smtlib away"),
    ]
    for arguments, remedy in refused:
        done = call("explain", *arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert remedy in done.stderr


def test_a_record_with_a_part_that_cannot_be_shown_is_refused(
    claims: Claims, good: str, call: Run, tmp_path: Path
) -> None:
    path, out = claims(good), tmp_path / "out"
    call("verify", path, "--out", out)
    record: dict[str, Json] = json.loads((out / "record.json").read_text())
    record["claims"][0]["uses"] = 3
    (out / "record.json").write_text(json.dumps(record))
    done = call("explain", "good.one", "--out", out)
    assert done.returncode == 2
    assert "a part that cannot be shown" in done.stderr


def test_a_record_of_another_version_in_the_usual_place_hinders_nothing(
    claims: Claims, good: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = claims(good)
    monkeypatch.chdir(tmp_path)
    Path("reports/out").mkdir(parents=True)
    Path("reports/out/record.json").write_text('{"schema": "certiformer/record/0"}')
    assert "as its code states it" in "\n".join(
        lines_of(list(told(ask([str(path)], None))), 100, coloured=False)
    )
