"""Help that teaches by example, what a shell completes, and complaints that name the remedy."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
import typer.main

from constructions.machines.formats.files import SUFFIXES
from reports import completion, help
from reports.cli import app, invoke
from reports.selection import our_claims, select

ROOT = Path(__file__).resolve().parents[2]
GROUP: Any = typer.main.get_command(app)
COMMANDS: dict[str, Any] = GROUP.commands
EXAMPLES = [
    line for command in (GROUP, *COMMANDS.values()) for line, _ in help.examples_in(command.epilog)
]


def completed(words: str, shell: str = "bash", folder: Path = ROOT) -> list[str]:
    """What a shell offers behind the words, the last of which is incomplete."""
    protocol = {
        "bash": {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split(" ")) - 1)},
        "zsh": {"_TYPER_COMPLETE_ARGS": words},
        "fish": {"_TYPER_COMPLETE_ARGS": words, "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
    }[shell]
    done = subprocess.run(
        [sys.executable, "-m", "reports.cli"],
        cwd=folder,
        env={
            **os.environ,
            **protocol,
            "_CERTIFORMER_COMPLETE": f"complete_{shell}",
            "PYTHONPATH": str(ROOT),
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout.split("\n")[:-1]


def test_every_command_has_a_group_a_short_line_and_examples() -> None:
    assert help.OTHER not in GROUP.by_panel()
    for name, command in COMMANDS.items():
        assert 20 <= len(command.short_help) <= 66, name
        shown = help.examples_in(command.epilog)
        assert 2 <= len(shown) <= 4, name
        assert any(line.startswith(f"certiformer {name}") for line, _ in shown), name
        assert all(remark and len(line) <= 76 for line, remark in shown), name


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_in_help_is_a_command_line_that_is_understood(example: str) -> None:
    program, name, *words = shlex.split(example.partition(" > ")[0])
    assert program == "certiformer"
    if "--help" in words:
        assert name in COMMANDS
        return
    with COMMANDS[name].make_context(name, words) as context:
        given: dict[str, Any] = context.params
    named: list[str] = [*(given.get("selectors") or ()), *filter(None, [given.get("selector")])]
    for selector in named:
        yours = selector.endswith(".py") or selector == "mypaper"
        assert yours or any(fnmatchcase(item.id, selector) for item in our_claims()), selector
    if name == "fuzz":
        assert any(
            check.method.name == "sampled"
            for item in select(named).chosen
            for check in item.checks()
        )
    if "construction" in given:
        assert given["construction"] in completion.constructions("")


def test_help_shows_groups_examples_and_exit_statuses(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["--help"]) == 0
    shown = capsys.readouterr().out
    places = [shown.index(f"\n{title}:\n") for title in (*help.PANELS, "Examples", "Exit status")]
    assert places == sorted(places)
    assert "  130  interrupted; what was settled is kept" in shown
    assert invoke(["fuzz", "--help"]) == 0
    assert "\nExamples:\n  certiformer fuzz " in capsys.readouterr().out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands_and_claim_ids(shell: str) -> None:
    assert "verify" in " ".join(completed("certiformer ver", shell))
    offered = " ".join(completed("certiformer verify universal.tree.id", shell))
    assert "universal.tree.identity" in offered
    assert "machines." not in offered


def test_values_of_options_are_completed(tmp_path: Path) -> None:
    assert completed("certiformer verify --profile ") == ["quick", "standard", "deep"]
    assert completed("certiformer encode x --construction s") == ["shift", "sparse"]
    assert completed("certiformer encode x --dtype float") == ["float64", "float32", "float16"]
    (tmp_path / "beaver.txt").touch()
    (tmp_path / "beaver.md").touch()
    assert completed("certiformer run bea", folder=tmp_path) == ["beaver.txt"]
    (tmp_path / "beasts").mkdir()
    assert completed("certiformer run bea", folder=tmp_path) == [""]


def test_all_claims_are_completed_and_no_others() -> None:
    assert completion.claim_ids("") == sorted(item.id for item in our_claims())


def test_every_format_of_machines_is_completed() -> None:
    assert {Path(suffix).suffix or suffix for suffix in SUFFIXES} <= set(completion.MACHINES)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_for_the_shell_is_printed(shell: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "reports.cli"],
        cwd=ROOT,
        env={**os.environ, "_CERTIFORMER_COMPLETE": f"source_{shell}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"_CERTIFORMER_COMPLETE=complete_{shell}" in done.stdout


def test_a_shell_that_cannot_be_told_is_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(help, "shell", lambda: "dash")
    assert invoke(["--show-completion"]) == 2
    assert "must be asked for from bash, zsh, fish, powershell, pwsh, got dash; call it there" in (
        capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("verfy", "No such command 'verfy'. Did you mean 'verify'? (see certiformer --help)"),
        ("verify --fres", "No such option: --fres (Possible options: --fresh)"),
        ("verify --jobs 0", "must be greater than or equal to 1, got '0' (see certiformer verify"),
        ("verify -j x", "must be a valid integer, got 'x' (see certiformer verify --help)"),
        ("verify --seconds=0", "must be greater than or equal to 0.1, got '0'"),
        ("verify --profile hug", "'hug' is not one of 'quick', 'standard', 'deep'"),
        ("list ''", "got one that matches no claim; `certiformer list` shows every id"),
        ("list folder", "the folder of this name is no package: put an __init__.py into it"),
        ("list file", "the file of this name is no Python file: its name must end in .py"),
        ("run ''", "MACHINE must be a file or text such as 1RB1LB_1LA1RZ, got an empty one"),
        ("run 1RB1LB_1LA1RZ --picture no/x.svg", "got no folder to put it into; name another"),
        ("encode x --construction tre --out o", "got 'tre'; choose one"),
    ],
)
def test_a_complaint_says_what_came_and_what_to_do(
    arguments: str,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("file").touch()
    assert invoke(shlex.split(arguments)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert err.count("\n") == 1
