"""Commands as a user runs them: exit statuses, what goes to stdout and stderr, what is written."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from reports.cli import invoke

Claims = Callable[..., Path]
Done = subprocess.CompletedProcess[str]
Run = Callable[..., Done]
ROOT = Path(__file__).resolve().parents[2]

MIXED = """
@stated("mixed.raises")
def raises():
    def holds(n):
        raise ValueError(f"no {n}")
    return [covers(that(holds))]


@stated("mixed.leaves")
def leaves():
    def holds(n):
        raise SystemExit(0)
    return [covers(that(holds))]


@stated("mixed.unbuilt")
def unbuilt():
    raise RuntimeError("not to be built")


@stated("mixed.fine")
def fine():
    return [covers(some(range(9)))]
"""

HANGS = """
import time


@stated("slow.hangs")
def hangs():
    return [covers(that(lambda n: time.sleep(60)))]


@stated("slow.fine")
def fine():
    return [covers(some(range(9)))]
"""


def statuses(folder: Path) -> dict[str, str]:
    record = json.loads((folder / "record.json").read_text())
    return {item["id"]: item["status"] for item in record["claims"]}


def is_one_line(text: str) -> bool:
    return text.count("\n") == 1 and text.endswith("\n")


def test_all_as_expected_is_0(claims: Claims, good: str, run: Run, tmp_path: Path) -> None:
    done = run("verify", claims(good), "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "3 of 3 claims as expected" in done.stdout
    assert done.stdout.endswith(f"{tmp_path / 'out' / 'index.html'}\n")
    assert done.stderr.count("\n") == 4
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert written == {
        *("record.json", "run.json", "index.html", "claims.tex", "junit.xml", "certificates"),
        "badge.svg",
        "ledger.sqlite",
    }
    record = json.loads((tmp_path / "out" / "record.json").read_text())
    for item in record["claims"]:
        for check in item["checks"]:
            assert (tmp_path / "out" / check["certificate"]).is_file()


def reused(folder: Path) -> list[tuple[int, int]]:
    run = json.loads((folder / "run.json").read_text())
    return [(check["reused"], check["shards"]) for check in run["checks"]]


def test_a_second_run_settles_nothing_and_a_fresh_one_everything(
    claims: Claims, good: str, call: Run, tmp_path: Path
) -> None:
    path, out = claims(good), tmp_path / "out"
    command = ("verify", path, "--profile", "quick", "--out", out)
    first = call(*command)
    record = (out / "record.json").read_bytes()
    assert "ledger" not in first.stdout
    assert reused(out) == [(0, 1)] * 4

    again = call(*command, "--jobs", "1")
    assert again.returncode == first.returncode == 0, again.stderr
    assert again.stdout.splitlines()[-2].endswith(" s, 4 of 4 shards from the ledger")
    assert again.stderr.count(", 1 of 1 shards from the ledger\n") == 4
    assert reused(out) == [(1, 1)] * 4
    assert (out / "record.json").read_bytes() == record

    fresh = call(*command, "--fresh")
    assert "ledger" not in fresh.stdout + fresh.stderr
    assert reused(out) == [(0, 1)] * 4
    assert (out / "record.json").read_bytes() == record


def test_a_damaged_ledger_is_said_and_costs_no_verdict(
    claims: Claims, good: str, call: Run, tmp_path: Path
) -> None:
    path, out = claims(good), tmp_path / "out"
    out.mkdir()
    (out / "ledger.sqlite").write_text("no ledger " * 100)
    done = call("verify", path, "--profile", "quick", "--out", out)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith(f"ledger: {out / 'ledger.sqlite'}: must be a whole SQLite file")
    assert reused(out) == [(0, 1)] * 4
    assert (out / "ledger.sqlite.corrupt-1").read_text() == "no ledger " * 100


def test_a_ledger_of_a_newer_version_is_2_in_one_line(
    claims: Claims, good: str, call: Run, tmp_path: Path
) -> None:
    path, out = claims(good), tmp_path / "out"
    call("verify", path, "--profile", "quick", "--out", out)
    ledger, record = out / "ledger.sqlite", (out / "record.json").read_bytes()
    with closing(sqlite3.connect(ledger)) as connection, connection:
        connection.execute("PRAGMA user_version = 1000")
    held = ledger.read_bytes()
    done = call("verify", path, "--profile", "quick", "--out", out)
    assert done.returncode == 2
    assert is_one_line(done.stderr)
    assert done.stderr.startswith(f"LedgerError: {ledger}: must be a ledger of certiformer in")
    assert (ledger.read_bytes(), (out / "record.json").read_bytes()) == (held, record)


def test_a_crash_is_3_and_costs_no_other_check(claims: Claims, call: Run, tmp_path: Path) -> None:
    done = call("verify", claims(MIXED), "--out", tmp_path / "out")
    assert done.returncode == 3, done.stderr
    assert statuses(tmp_path / "out") == {
        "mixed.raises": "BROKEN",
        "mixed.leaves": "BROKEN",
        "mixed.unbuilt": "BROKEN",
        "mixed.fine": "BOUNDED",
    }
    assert "Traceback" not in (tmp_path / "out" / "record.json").read_text()
    notes = (tmp_path / "out" / "run.json").read_text()
    for error in ("ValueError: no 0", "SystemExit", "RuntimeError: not to be built"):
        assert error in notes


def test_a_check_that_hangs_is_unknown(claims: Claims, call: Run, tmp_path: Path) -> None:
    done = call("verify", claims(HANGS), "--out", tmp_path / "out", "--seconds", "1")
    assert done.returncode == 3
    assert statuses(tmp_path / "out") == {"slow.hangs": "UNKNOWN", "slow.fine": "BOUNDED"}
    assert "killed after its 1 s of time" in done.stdout


def test_a_check_that_eats_memory_is_unknown(claims: Claims, call: Run, tmp_path: Path) -> None:
    path = claims(
        """
        import time


        @stated("big.eats")
        def eats():
            def holds(n):
                kept = bytearray(400 << 20)
                time.sleep(20)
            return [covers(that(holds))]
        """
    )
    done = call("verify", path, "--out", tmp_path / "out", "--memory", "300")
    assert done.returncode == 3
    assert statuses(tmp_path / "out") == {"big.eats": "UNKNOWN"}
    assert "killed at its 300 MiB of memory" in done.stdout


def test_a_refutation_is_1_and_shows_its_counterexample(
    claims: Claims, call: Run, tmp_path: Path
) -> None:
    path = claims(
        """
        @stated("false.one")
        def one():
            return [covers(some(range(9), fails=4))]
        """
    )
    done = call("verify", path, "--out", tmp_path / "out")
    assert done.returncode == 1
    assert "4 is not what it should be" in done.stdout
    assert "4 is not what it should be" in (tmp_path / "out" / "index.html").read_text()


def test_short_of_what_is_expected_is_1(claims: Claims, call: Run, tmp_path: Path) -> None:
    path = claims(
        """
        @stated("short.one", expected=Status.PROVED)
        def one():
            return [covers(some(range(9)))]
        """
    )
    done = call("verify", path, "--out", tmp_path / "out")
    assert done.returncode == 1
    assert "short" in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["verify", "universal.nothing"],
        ["verify", "nowhere/claims.py"],
        ["verify", "universal.tree.width", "--profile", "huge"],
        ["verify", "universal.tree.width", "--jobs", "0"],
        ["verify", "--unheard"],
        ["unheard"],
        ["fuzz", "universal.tree.width"],
        ["fuzz", "universal.tree.width", "--examples", "10"],
        ["report", "nowhere"],
        ["run", "nowhere/machine.txt"],
        ["run", "machine.yaml"],
        ["run", "1RB"],
        ["run", "1RB1LB_1LA1RZ", "--input", "12"],
        ["run", "1RB1LB_1LA1RZ", "--as", "tape"],
        ["run", "1RB1LB_1LA1RZ", "--trace", "nowhere/trace.jsonl"],
    ],
)
def test_wrong_usage_is_2_in_one_line(
    arguments: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    assert invoke(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert is_one_line(err), err


def test_a_wrong_claims_file_is_2_in_one_line(claims: Claims, call: Run, tmp_path: Path) -> None:
    done = call("verify", claims('raise ValueError("two\\nlines")'), "--out", tmp_path / "out")
    assert done.returncode == 2
    assert is_one_line(done.stderr), done.stderr
    assert "ValueError: two lines" in done.stderr
    assert not (tmp_path / "out").exists()


MISSTATED = """
@stated("wrong.silent", text="")
def silent(): return [covers(some(range(2)))]

@stated("wrong.uncovered")
def uncovered(): return [supports(some(range(2)))]

@stated("wrong.twice")
def once(): return [covers(some(range(2)))]

@stated("wrong.twice")
def twice(): return [covers(some(range(2)))]

@stated("wrong.first", uses=("wrong.second",))
def first(): return [covers(some(range(2)))]

@stated("wrong.second", uses=("wrong.first", "good.one"))
def second(): return [covers(some(range(2)))]

@stated("wrong.unknown", uses=("wrong.nowhere",))
def unknown(): return [covers(some(range(2)))]
"""


def test_misstated_claims_are_3_named_and_cost_no_other(
    claims: Claims, good: str, call: Run, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done = call("verify", claims(good + MISSTATED), "--out", out)
    assert done.returncode == 3
    found = statuses(out)
    assert {key: value for key, value in found.items() if key.startswith("good.")} == {
        "good.one": "BOUNDED",
        "good.two": "BOUNDED",
        "good.three": "SAMPLED",
    }
    wrong = "silent uncovered twice first second unknown".split()
    assert {found[f"wrong.{name}"] for name in wrong} == {"BROKEN"}
    for words in (
        "wrong.silent (silent) must have a docstring",
        "mark one with covers",
        "(once) and in",
        "wrong.first -> wrong.second -> wrong.first",
        "uses 'wrong.nowhere', which no claim is called",
    ):
        assert words in done.stdout
        assert words.replace("'", "&#39;").replace(">", "&gt;") in (out / "index.html").read_text()
    assert call("report", out).returncode == 0
    rechecked = call("recheck", out, "--regenerate")
    assert "0 differences" in rechecked.stdout


UNRULY = """
import os, sys


@stated("unruly.forks")
def forks():
    def holds(n):
        if os.fork() == 0 and n % 2:
            import time
            time.sleep(600)
    return [covers(that(holds, range(4)))]


@stated("unruly.forks_when_built")
def forks_when_built():
    os.fork()
    return [covers(some(range(2)))]


@stated("unruly.moves")
def moves():
    os.chdir("/")
    return [covers(that(lambda n: os.chdir("/")))]


@stated("unruly.leaves")
def leaves():
    return [covers(that(lambda n: sys.exit(0)))]


@stated("unruly.prints")
def prints():
    print("while building")
    return [covers(that(lambda n: print("seen") or os.write(1, b"raw") and None))]
"""


def test_claims_that_fork_exit_print_or_change_the_folder_cost_no_other(
    claims: Claims, good: str, run: Run, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done = run("verify", claims(UNRULY + good), "--out", out, "--jobs", 1)
    assert done.returncode == 3, done.stderr
    found = statuses(out)
    assert found.pop("unruly.leaves") == "BROKEN"
    assert set(found.values()) == {"BOUNDED", "SAMPLED"}
    assert done.stdout.count("index.html") == 1
    assert "while building" not in done.stdout
    assert "raw" not in done.stdout


def test_a_folder_that_cannot_be_written_is_2_before_anything_runs(
    claims: Claims, call: Run, tmp_path: Path
) -> None:
    (tmp_path / "out").write_text("mine")
    done = call("verify", claims(HANGS), "--out", tmp_path / "out")
    assert done.returncode == 2
    assert is_one_line(done.stderr), done.stderr
    assert (tmp_path / "out").read_text() == "mine"


def test_what_claims_print_stays_off_stdout(claims: Claims, run: Run, tmp_path: Path) -> None:
    path = claims(
        """
        import os
        print("imported")


        @stated("loud.one")
        def one():
            print("while building")
            os.write(1, b"raw")
            def holds(n):
                print("{}")
                os.write(1, b"{}")
            return [covers(that(holds))]
        """
    )
    done = run("verify", path, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    for word in ("imported", "built", "raw", "{}"):
        assert word not in done.stdout
    listed = run("list", path, "--json")
    assert [item["id"] for item in json.loads(listed.stdout)] == ["loud.one"]


def test_jobs_and_reruns_give_the_same_record(
    claims: Claims, good: str, run: Run, tmp_path: Path
) -> None:
    path = claims(good)
    for jobs in (1, 2):
        assert run("verify", path, "--out", tmp_path / str(jobs), "--jobs", jobs).returncode == 0
    one, two = ((tmp_path / str(jobs) / "record.json").read_bytes() for jobs in (1, 2))
    assert one == two


def test_an_interrupted_run_keeps_what_is_settled(claims: Claims, run: Run, tmp_path: Path) -> None:
    pause = tmp_path / "pause"
    pause.write_text("")
    path = claims(
        f"""
        import pathlib, time
        def holds(n):
            while pathlib.Path({str(pause)!r}).exists():
                time.sleep(0.1)


        @stated("stop.first")
        def first():
            return [covers(some(range(9)))]


        @stated("stop.second", uses=("stop.first",))
        def second():
            return [covers(that(holds)), supports(some(range(3)))]
        """
    )
    arguments = ["verify", str(path), "--jobs", "1", "--out", str(tmp_path / "out")]
    with subprocess.Popen(
        [sys.executable, "-m", "reports.cli", *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        assert "stop.first" in process.stderr.readline()
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in out
    assert statuses(tmp_path / "out") == {"stop.first": "BOUNDED", "stop.second": "UNKNOWN"}
    record = json.loads((tmp_path / "out" / "record.json").read_text())
    reason = record["claims"][1]["checks"][0]["evidence"]["reason"]
    assert reason == "interrupted before it was settled"
    pause.unlink()
    assert run(*arguments).returncode == 0
    assert run(*arguments[:-1], tmp_path / "whole").returncode == 0
    again, whole = ((tmp_path / name / "record.json").read_bytes() for name in ("out", "whole"))
    assert again == whole


def test_an_odd_statement_is_shown_as_text(claims: Claims, call: Run, tmp_path: Path) -> None:
    path = claims(
        r"""
        @stated("odd.one", text="<script>alert(1)</script> & $H^L$ \u202e\u200f \x1b[31m")
        def one():
            return [covers(some(range(2)))]
        """
    )
    done = call("verify", path, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "out" / "index.html").read_text()
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; $H^L$ \u27e8U+202E\u27e9" in text
    assert "<script>alert" not in text
    assert "\x1b" not in call("list", path).stdout


def test_fuzz_shows_the_shrunk_counterexample_and_how_to_find_it_again(
    claims: Claims, call: Run
) -> None:
    path = claims(
        """
        @stated("false.small", expected=Status.SAMPLED)
        def small():
            return [covers(searched(17)), supports(some(range(3), fails=1))]
        """
    )
    done = call("fuzz", path, "--examples", 200, "--seed", 5)
    assert done.returncode == 1, done.stderr
    assert '{"n": 17}' in done.stdout
    assert "17 is at least 17" in done.stdout
    assert f"certiformer fuzz {path} --examples 200 --seed 5" in done.stdout
    assert "examples per second" in done.stdout


def test_fuzz_counts_what_it_tried(claims: Claims, good: str, call: Run) -> None:
    done = call("fuzz", claims(good), "--examples", 60)
    assert done.returncode == 0, done.stderr
    assert "good.three  SAMPLED" in done.stdout
    assert "good.one" not in done.stdout


def test_run_prints_the_report_and_writes_the_trace(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    machine = tmp_path / "beaver.txt"
    machine.write_text("1RB1LB_1LA1RZ\n")
    trace = tmp_path / "trace.jsonl"
    assert invoke(["run", str(machine), "--json", "--trace", str(trace)]) == 0
    report = json.loads(capsys.readouterr().out)
    assert set(report) == {"machine", "halted", "steps", "levels", "agree"}
    assert (report["halted"], report["steps"], report["agree"]) == (True, 6, True)
    assert set(report["levels"]) == {"turing", "queue", "hist", "transformer"}
    assert report["levels"]["turing"]["tape"] == "1111"
    lines = [json.loads(line) for line in trace.read_text().splitlines()]
    made = {level: [e for e in lines if e["level"] == level] for level in report["levels"]}
    assert len(made["turing"]) == report["steps"]
    assert len(made["queue"]) == len(made["hist"]) == report["levels"]["queue"]["steps"]
    assert len(made["transformer"]) == report["levels"]["transformer"]["tokens"]
    assert [path.name for path in tmp_path.iterdir() if "unfinished" in path.name] == []


def test_run_takes_a_machines_text_and_one_level(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["run", "1RB1LB_1LA1RZ", "--as", "turing", "--max-steps", "3"]
    assert invoke([*arguments, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["halted"], report["steps"], set(report["levels"])) == (False, 3, {"turing"})
    assert invoke(arguments) == 0
    assert "turing" in capsys.readouterr().out


def test_machines_of_many_symbols_run_without_trace_and_checkpoint(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    symbols = "abcdefghijklmnopqrstuvwxyz12345"
    machine = tmp_path / "wide.txt"
    machine.write_text("".join(f"0 {symbol} * r 0\n" for symbol in symbols))
    assert invoke(["run", str(machine), "--input", symbols, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["steps"], report["agree"]) == (len(symbols), True)
    for option in ("--trace", "--checkpoint"):
        assert invoke(["run", str(machine), option, str(tmp_path / "file")]) == 2
        assert "machines of at most 30 symbols, got 32" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["wide.txt"]


def test_a_limit_may_be_any_number(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["run", "1RB1LB_1LA1RZ", "--max-steps", str(10**30), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["steps"] == 6


def test_levels_that_disagree_are_1(monkeypatch: Any, capsys: pytest.CaptureFixture[str]) -> None:
    from constructions.machines import parity
    from constructions.machines.compiled import lockstep

    def shifted(machine: Any) -> Any:
        right = parity.parity_machine(machine)

        def rule(stored: Any, seen: int) -> Any:
            after, word = right.rule(stored, seen)
            return dataclasses.replace(after, parity=after.parity ^ 3), word

        return dataclasses.replace(right, rule=rule)

    constructions = lockstep.Constructions(hist=shifted)
    monkeypatch.setattr(lockstep, "Constructions", lambda: constructions)
    assert invoke(["run", "1RB1LB_1LA1RZ", "--json"]) == 1
    out, err = capsys.readouterr()
    assert json.loads(out)["agree"] is False
    assert "the levels disagree: queue step 1: the queue popped" in err


def test_a_run_goes_on_from_its_checkpoint(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    five = ["run", "1RB1LC_1RC1RB_1RD0LE_1LA1LD_1RZ0LA", "--json"]
    kept = ["--checkpoint", str(tmp_path / "run.json")]
    assert invoke([*five, "--max-steps", "5000"]) == 0
    whole = capsys.readouterr().out
    for most in ("0", "1200", "1200", "5000", "5000"):
        assert invoke([*five, *kept, "--max-steps", most]) == 0
        out = capsys.readouterr().out
        assert json.loads(out)["steps"] == int(most)
    assert out == whole
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


def test_a_checkpoint_that_does_not_fit_is_2(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "run.json"
    five = "1RB1LC_1RC1RB_1RD0LE_1LA1LD_1RZ0LA"
    assert invoke(["run", five, "--max-steps", "900", "--checkpoint", str(path)]) == 0
    capsys.readouterr()
    good = path.read_bytes()
    for data, machine, most, said in (
        (good, five, "800", "must stand at most at step 800, got 900; raise --max-steps"),
        (good, "1RB1LB_1LA1RZ", "900", "a checkpoint's machine must be the run's own"),
        (good[:-40], five, "900", "must be what `certiformer run --checkpoint` writes"),
        (good.replace(b'"rules": 900', b'"rules": 901'), five, "999", "cut or altered"),
        (b"[]", five, "900", "must be what `certiformer run --checkpoint` writes"),
        (b'{"run": 1, "sha256": 2}', five, "900", "cut or altered"),
        (b"\xff\x00", five, "900", "must be what `certiformer run --checkpoint` writes"),
    ):
        path.write_bytes(data)
        assert invoke(["run", machine, "--max-steps", most, "--checkpoint", str(path)]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert said in err
        assert err.count("\n") == 1
        assert path.read_bytes() == data
    assert invoke(["run", five, "--checkpoint", str(tmp_path)]) == 2
    assert "certiformer run --checkpoint" in capsys.readouterr().err


def test_an_interrupted_run_says_how_far_it_came_and_goes_on(tmp_path: Path) -> None:
    path, trace = tmp_path / "run.json", tmp_path / "trace.jsonl"
    command = [sys.executable, "-m", "reports.cli", "run", "0RB0LB_0LA0RA", "--json"]
    command += ["--max-steps", str(10**15), "--checkpoint", str(path), "--trace", str(trace)]
    reached = 0
    for _ in range(2):
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
        )
        while process.poll() is None and not any(
            part.stat().st_size for part in tmp_path.glob(".unfinished*")
        ):
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 130, err
        assert "interrupted" in err
        report = json.loads(out)
        assert (report["halted"], report["agree"]) == (False, True)
        kept = json.loads(path.read_bytes())
        assert kept["run"]["figures"]["rules"] == report["steps"] > reached
        steps = [json.loads(line) for line in trace.read_text().splitlines()]
        rules = [entry["step"] for entry in steps if entry["level"] == "turing"]
        assert rules == list(range(reached + 1, report["steps"] + 1))
        reached = report["steps"]


def test_report_rebuilds_the_pages_from_the_record(
    claims: Claims, good: str, call: Run, tmp_path: Path
) -> None:
    call("verify", claims(good), "--out", tmp_path / "out")
    names = ("index.html", "claims.tex", "junit.xml", "badge.svg")
    pages = {name: (tmp_path / "out" / name).read_bytes() for name in names}
    for name in pages:
        (tmp_path / "out" / name).unlink()
    assert invoke(["report", str(tmp_path / "out")]) == 0
    assert {name: (tmp_path / "out" / name).read_bytes() for name in pages} == pages


def test_without_a_command_the_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke([]) == 2
    assert "verify" in capsys.readouterr().out
    assert invoke(["verify", "--help"]) == 0
    assert "runs with your rights" in " ".join(capsys.readouterr().out.split())


def test_the_face_loads_no_heavy_library() -> None:
    heavy = "z3 cvc5 hypothesis sympy torch matplotlib networkx jinja2 rich".split()
    code = f"import sys, certiformer, reports.cli; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_a_reader_that_goes_away_changes_nothing(claims: Claims, good: str, tmp_path: Path) -> None:
    arguments = [sys.executable, "-m", "reports.cli", "verify", str(claims(good)), "--out"]
    with subprocess.Popen(
        [*arguments, str(tmp_path / "out")],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        _, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert "Traceback" not in err
    assert (tmp_path / "out" / "record.json").is_file()


def test_recheck_tells_a_script_in_json_lines(
    claims: Claims, good: str, run: Run, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert run("verify", claims(good), "--out", out).returncode == 0
    done = run("recheck", out, "--regenerate", "--json")
    assert done.returncode == 0, done.stderr
    *rows, counted, compared = map(json.loads, done.stdout.splitlines())
    assert {row["outcome"] for row in rows} == {"not rechecked"}
    assert counted["counts"]["not rechecked"] == len(rows) == 4
    assert compared == {"differences": 0}
