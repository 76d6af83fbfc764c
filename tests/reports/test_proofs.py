"""cvc5's proofs are kept beside a run, and nothing depends on them."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
from pathlib import Path

from reports.proofs import keep
from reports.record import load


def certiformer(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "reports.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_each_goal_has_its_proof_in_a_file_named_after_its_certificate(tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = certiformer(
        "verify", "universal.sums.laws", "--profile", "quick", "--proofs", "--out", str(out)
    )
    assert done.returncode == 0, done.stderr
    assert "9 of 9 goals have a proof of cvc5's" in done.stdout
    assert "nothing here checks them" in done.stdout
    record = load(out)
    smt, exhaustive = (check["certificate"] for check in record["claims"][0]["checks"])
    (proof,) = (out / "proofs").iterdir()
    assert proof.name == f"{Path(smt).stem}.cpc.gz"
    text = gzip.decompress(proof.read_bytes()).decode()
    assert text.count("; goal: ") == 9
    assert text.count("(step ") > 9
    assert Path(exhaustive).stem not in proof.name
    with_proofs = (out / "record.json").read_bytes()
    shutil.rmtree(out / "proofs")
    assert certiformer("recheck", str(out)).returncode == 0
    plain = certiformer("verify", "universal.sums.laws", "--profile", "quick", "--out", str(out))
    assert plain.returncode == 0
    assert (out / "record.json").read_bytes() == with_proofs


def test_a_goal_that_is_not_valid_has_no_proof_and_old_files_go(tmp_path: Path) -> None:
    (tmp_path / "proofs").mkdir()
    (tmp_path / "proofs" / f"{'0' * 64}.cpc.gz").write_bytes(b"old")
    script = "(set-logic ALL)\n(declare-const x Int)\n(assert (> x 0))\n(check-sat)\n"
    goals = [{"name": "wrong", "smtlib": script}]
    body = json.dumps({"kind": "smt", "content": {"goals": goals}}).encode()
    kept = keep(tmp_path, {"a" * 64: body, "b" * 64: b'{"kind": "witness"}'}, jobs=1)
    assert (kept.proved, kept.goals) == (0, 1)
    (file,) = (tmp_path / "proofs").iterdir()
    assert b"no proof was found" in gzip.decompress(file.read_bytes())
