"""The README's own example of a claim does what the README says."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from constructions.minimal import cover, decision
from constructions.minimal.definitions import LENGTHS, window_count
from constructions.minimal.shipped import shipped

README = Path(__file__).parent.parent / "README.md"


def test_the_claim_in_the_readme_is_settled_like_ours(tmp_path: Path) -> None:
    match = re.search(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert match is not None
    file, out = tmp_path / "my_claims.py", tmp_path / "out"
    file.write_text(match[1], encoding="utf-8")
    command = [sys.executable, "-m", "reports.cli", "verify", str(file), "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (claim,) = json.loads((out / "record.json").read_text())["claims"]
    assert (claim["id"], claim["status"]) == ("mine.gauss", "BOUNDED")
    assert claim["checks"][0]["evidence"] == {"checked": 1000, "both_engines": 0}


def test_the_readme_and_the_page_of_commands_name_every_command_and_no_other() -> None:
    from typer.main import get_command

    from reports.cli import app

    known = set(get_command(app).commands)  # type: ignore[attr-defined]
    page = README.parent / "docs" / "commands.md"
    assert set(re.findall(r"^certiformer (\w+)", page.read_text("utf-8"), re.MULTILINE)) == known
    rows = re.search(
        r"^## Commands\n(.*?)^## ", README.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    assert rows is not None
    named = [
        re.findall(r"`(\w+)`", line.split("|")[1])
        for line in rows[1].splitlines()
        if "`|" in line.replace(" ", "")
    ]
    assert {name for row in named for name in row} == known


def test_the_readme_s_numbers_of_windows_are_those_that_are_decided() -> None:
    lengths = [decision.covered(n, cover.cover(shipped("windows").model, n)) for n in LENGTHS]
    longest = decision.covered(8, cover.cover(shipped("paper").model, 8))
    text = README.read_text(encoding="utf-8")
    for number in (
        f"right on all {sum(tally.right for tally in lengths):,}",
        f"{sum(tally.leaves for tally in lengths)} sets of windows as a proof",
        f"wrong on {longest.wrong:,} of\n  the {window_count(8):,} windows of length 8",
        f"a rule error of {shipped('paper').history[-1].rule_error:.1%}".replace("%", " %"),
    ):
        assert number in text
