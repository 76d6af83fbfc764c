"""The tutorial does what it shows: its files are written, its commands run, its output compared."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

TUTORIAL = Path(__file__).parents[1] / "docs" / "tutorial.md"
BLOCK = re.compile(r"^```(\w+)(?: title=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROMPT = "$ "


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command that the tutorial shows, and the lines below it."""

    words: str
    shown: tuple[str, ...]

    def pattern(self) -> str:
        """What its output must match: `...` stands for any lines, or for any text in a line.

        How wide a table's columns are depends on all of its rows, so spaces stand for any.
        """
        return "".join(
            "(?:.*\n)*?" if line == "..." else f"{_spaced(line)}\n" for line in self.shown
        )


def _spaced(line: str) -> str:
    parts = (
        r"\s+".join(map(re.escape, re.split(" +", part))) for part in line.rstrip().split("...")
    )
    return ".*?".join(parts)


def blocks() -> Iterator[tuple[str, str, str]]:
    """Language, file name and text of every block."""
    for match in BLOCK.finditer(TUTORIAL.read_text(encoding="utf-8")):
        yield match[1], match[2] or "", match[3]


def commands(text: str) -> Iterator[Command]:
    """The commands of a console block."""
    for part in re.split(rf"^{re.escape(PROMPT)}", text, flags=re.MULTILINE)[1:]:
        words, *shown = part.splitlines()
        yield Command(words=words, shown=tuple(shown))


def ran(command: Command, folder: Path) -> str:
    """What a command of the tutorial prints, as a reader's shell would run it."""
    ours = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    path = os.pathsep.join([str(Path(sys.executable).parent), ours["PATH"]])
    done = subprocess.run(
        ["sh", "-c", command.words],
        cwd=folder,
        env={**ours, "PATH": path, "LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, (command.words, done.stdout, done.stderr)
    return done.stdout


def test_every_file_and_command_of_the_tutorial_does_what_is_shown(tmp_path: Path) -> None:
    statuses: list[str] = []
    for language, file, text in blocks():
        if language == "python":
            with (tmp_path / file).open("a", encoding="utf-8") as target:
                target.write(text)
        for command in commands(text) if language == "console" else ():
            printed = ran(command, tmp_path)
            assert re.fullmatch(command.pattern(), printed), f"$ {command.words}\n{printed}"
            statuses += re.findall(r"exit status \d", printed)
    assert statuses == ["exit status 1"]


def test_every_block_is_of_a_kind_that_is_run() -> None:
    text = TUTORIAL.read_text(encoding="utf-8")
    assert text.count("```") == 2 * len(list(blocks()))
    assert {language for language, _, _ in blocks()} == {"python", "console", "yaml"}
    assert {file for language, file, _ in blocks() if language == "python"} == {"maximum.py"}


def test_the_workflow_runs_commands_that_the_tutorial_shows() -> None:
    shown = {
        command.words
        for language, _, text in blocks()
        if language == "console"
        for command in commands(text)
    }
    (text,) = (text for language, _, text in blocks() if language == "yaml")
    steps = [step["run"] for step in yaml.safe_load(text)["steps"] if "run" in step]
    assert steps[0] == "pip install certiformer pytest"
    assert set(steps[1:]) <= shown
