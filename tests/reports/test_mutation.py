"""`certiformer mutate` as a user runs it: what is killed, harmless or survives, and the page."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from reports import html
from reports.mutation_page import kill_rate, mutants_of
from verify.sources import suite

Claims = Callable[..., Path]
Done = subprocess.CompletedProcess[str]
Run = Callable[..., Done]

STATED = """
from verify.mutants import mutant


@stated("digits.small", expected=Status.PROVED)
def small():
    return [covers(proof()), supports(some(range(9)))]


def proof(axiom="(< ten 11)"):
    theory = Theory(
        name="digits",
        declarations="(declare-const ten Int) (declare-const idle Int)",
        axioms=(Axiom("ten", axiom, "ten is 10"), Axiom("idle", "(= idle idle)", "idle")),
        worlds=lambda: (World(sorts={}, symbols={"ten": 10, "idle": 0}),),
    )
    goals = lambda: [Goal(name="ten is small", theory=theory, conclusion="(< ten 12)")]
    return Smt(goals=goals, instances="ten")


@mutant(of="digits.small", breaks="bound")
def three_is_not():
    "Three is not small."
    return [covers(proof()), supports(some(range(9), fails=3))]
"""

SURVIVES = """
@mutant(of="digits.small", breaks="rule", name="same")
def nothing_is_wrong():
    "Nothing is wrong."
    return [covers(proof()), supports(some(range(9)))]
"""

CRASHES = """
def crashing(n):
    raise ValueError("no such number")


@mutant(of="digits.small", breaks="rule", name="crash")
def it_crashes():
    "It crashes."
    return [covers(proof()), supports(that(crashing))]
"""

WRONG = """
@stated("digits.wrong")
def wrong():
    return [covers(some(range(9), fails=3))]


@mutant(of="digits.wrong", breaks="rule")
def as_wrong():
    "As wrong as the claim."
    return [covers(some(range(9), fails=3))]
"""


def document(folder: Path) -> dict[str, object]:
    return json.loads((folder / "mutants.json").read_text())


def test_all_killed_is_0_and_who_killed_is_said(claims: Claims, call: Run, tmp_path: Path) -> None:
    done = call("mutate", claims(STATED), "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    table = [line.split() for line in done.stdout.splitlines() if line.startswith("digits.small")]
    assert table == [["digits.small", "13", "13", "0", "0", "100", "%"]]
    assert done.stdout.splitlines()[-1] == (
        "13 planted: 1 claims (1 killed); 2 axioms (2 killed); 1 goals (1 killed); "
        "9 fields of certificates (9 killed)"
    )
    found = document(tmp_path / "out")
    assert (found["schema"], found["construction"]) == ("certiformer/mutants/1", suite())
    rows = {row["id"]: row for row in found["mutants"]}
    assert rows["twin.digits.small"] == {
        "id": "twin.digits.small",
        "of": "digits.small",
        "kind": "claim",
        "breaks": "bound",
        "outcome": "killed",
        "by": [1],
        "words": "Three is not small.",
        "reason": "3 is not what it should be",
    }
    assert rows["digits.small/0/axiom/digits/ten"]["by"] == [0]
    assert rows["digits.small/0/goal/digits/ten is small"]["breaks"] == "goal"
    field = rows["digits.small/certificate/smt.goals[].smtlib"]
    assert field["words"] == "its first letter changed, longer"
    assert field["reason"] == (
        "recheck.py refuses 2 of 2 by itself, the comparison with the claim 2"
    )
    assert "alone notice no mutant" not in done.stdout


def test_a_survivor_is_1_and_named_with_its_words(
    claims: Claims, call: Run, tmp_path: Path
) -> None:
    done = call("mutate", claims(STATED + SURVIVES), "--out", tmp_path / "out")
    assert done.returncode == 1, done.stderr
    assert "survived:\n  twin.digits.small.same: no check refutes it\n" in done.stdout
    assert "    Nothing is wrong.\n" in done.stdout
    assert "92 %" in done.stdout


def test_a_mutant_killed_by_a_crash_alone_is_named_so(
    claims: Claims, call: Run, tmp_path: Path
) -> None:
    done = call("mutate", claims(STATED + CRASHES), "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    (row,) = (r for r in document(tmp_path / "out")["mutants"] if r["id"].endswith("crash"))
    assert row["outcome"] == "killed"
    assert row["reason"].startswith("by a crash alone: ValueError: no such number")


def test_a_claim_that_fails_itself_can_kill_nothing_and_is_3(
    claims: Claims, call: Run, tmp_path: Path
) -> None:
    done = call("mutate", claims(STATED + WRONG), "--out", tmp_path / "out")
    assert done.returncode == 3
    assert "digits.wrong: check 0 (exhaustive): the right check must pass" in done.stdout
    assert "2 claims (1 killed, 1 survived)" in done.stdout


def test_a_mutant_of_no_known_claim_is_wrong_usage(
    claims: Claims, call: Run, tmp_path: Path
) -> None:
    path = claims(STATED.replace('of="digits.small"', 'of="digits.large"'))
    done = call("mutate", path, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "must break a known claim, got 'digits.large'" in done.stderr


def test_a_file_may_state_mutants_of_our_claims_alone(
    claims: Claims, call: Run, tmp_path: Path
) -> None:
    path = claims(
        """
        from lowerbounds import spanning
        from lowerbounds.mutants.spanning import equal_heads
        from verify.mutants import mutant


        @mutant(of="lowerbounds.spanning.condition", breaks="condition", name="mine")
        def mine():
            "Equal heads will do."
            return spanning.condition_checks(equal_heads)
        """
    )
    done = call("mutate", path, "--out", tmp_path / "out", "--json")
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)["mutants"]
    assert (row["id"], row["outcome"]) == ("twin.lowerbounds.spanning.condition.mine", "killed")


def test_the_file_is_the_same_whatever_the_number_of_jobs(
    claims: Claims, call: Run, tmp_path: Path
) -> None:
    path = claims(STATED)
    for jobs in (1, 2):
        call("mutate", path, "--jobs", jobs, "--out", tmp_path / str(jobs))
    one, two = ((tmp_path / name / "mutants.json").read_bytes() for name in ("1", "2"))
    assert one == two


@pytest.mark.parametrize(
    ("outcomes", "rate"),
    [
        (["killed"] * 3, "100 %"),
        (["killed"] * 199 + ["survived"], "99 %"),
        (["killed", "harmless"], "100 %"),
        (["harmless"], "none"),
        ([], "none"),
    ],
)
def test_the_rate_leaves_out_what_is_harmless_and_never_rounds_up(
    outcomes: list[str], rate: str
) -> None:
    assert kill_rate(outcomes) == rate


def test_the_page_shows_mutants_of_the_same_sources_only(
    claims: Claims, call: Run, tmp_path: Path
) -> None:
    path, out = claims(STATED), tmp_path / "out"
    assert call("verify", path, "--out", out).returncode == 0
    assert "broken on purpose" not in (out / html.INDEX).read_text()
    call("mutate", path, "--out", out)
    assert call("report", out).returncode == 0
    text = (out / html.INDEX).read_text()
    assert "13 mutants, kill rate 100 %" in text
    assert "<code>twin.digits.small</code>" in text
    found = document(out)
    claim = json.loads((out / "record.json").read_text())["claims"][0]
    assert mutants_of(found, claim) is not None
    assert mutants_of(found, {**claim, "construction": "0" * 64}) is None
    assert mutants_of(None, claim) is None


def test_what_a_mutant_says_is_escaped_on_the_page(
    claims: Claims, call: Run, tmp_path: Path
) -> None:
    path, out = claims(STATED.replace("Three is not", "<script>x</script> is not")), tmp_path / "o"
    call("verify", path, "--out", out)
    call("mutate", path, "--out", out)
    call("report", out)
    text = (out / html.INDEX).read_text()
    assert "&lt;script&gt;x&lt;/script&gt; is not small." in text
    assert "<script>x" not in text
