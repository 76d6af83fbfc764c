"""Machines in files, as a user runs and converts them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "machines"
BEAVER = "1RB1LB_1LA0LC_1RZ1LD_1RD0RA"
ENDINGS = ("bb.txt", "txt", "yaml", "jff")


def report(call: Run, *arguments: object) -> dict[str, Any]:
    done = call("run", *arguments, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_champion_gives_the_same_bytes_from_every_format(call: Run, ending: str) -> None:
    expected = call("run", BEAVER, "--json").stdout
    found = call("run", EXAMPLES / f"beaver4.{ending}", "--json").stdout
    name = json.loads(found)["machine"]
    assert found.replace(f'"{name}"', f'"{BEAVER}"', 1) == expected
    assert json.loads(found)["steps"] == 107


def test_a_textbook_machine_gives_the_same_bytes_from_every_format(call: Run) -> None:
    outs = {
        call("run", EXAMPLES / f"increment.{ending}", "--json", "--input", "10111").stdout
        for ending in ("txt", "yaml", "jff")
    }
    assert len(outs) == 1
    found = json.loads(outs.pop())
    assert (found["machine"], found["steps"], found["agree"]) == ("increment", 10, True)
    assert found["levels"]["turing"]["tape"] == "11000"


def test_the_input_is_the_files_own_unless_one_is_given(call: Run) -> None:
    def tape(*arguments: str) -> object:
        found = report(call, EXAMPLES / "increment.yaml", "--as", "turing", *arguments)
        return found["levels"]["turing"]["tape"]

    assert tape() == "1100"
    assert tape("--input", "1") == "10"
    assert tape("--input", "") == "1"


def test_a_space_in_an_input_is_the_blank(call: Run, tmp_path: Path) -> None:
    path = tmp_path / "right.txt"
    path.write_text("0 * * r 0\n0 2 2 * halt\n")
    found = report(call, path, "--as", "turing", "--input", "x y2")
    assert found["levels"] == {"turing": {"steps": 4, "nonblank": 3, "cells": 4, "tape": "x_y2"}}
    jff = report(call, EXAMPLES / "increment.jff", "--as", "turing", "--input", "1 1")
    assert jff["levels"]["turing"]["tape"] == "10_1"


def test_a_queue_machine_runs_at_its_three_levels(call: Run) -> None:
    path = EXAMPLES / "doubling.queue.yaml"
    found = report(call, path)
    assert (found["machine"], found["steps"], found["agree"]) == ("doubling", 5, True)
    assert list(found["levels"]) == ["queue", "hist", "transformer"]
    assert list(report(call, path, "--as", "hist")["levels"]) == ["hist"]
    assert report(call, path, "--input", "abab")["steps"] == 6
    done = call("run", path, "--as", "turing")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"UsageError: --as turing: {path} holds a queue machine, which runs at the levels queue, "
        "hist, transformer; ask for one of these or all\n"
    )


def test_a_machine_that_does_not_halt_is_cut_off(call: Run, tmp_path: Path) -> None:
    (tmp_path / "on.txt").write_text("0 * 1 r 0\n")
    (tmp_path / "on.yaml").write_text("blank: _\nstart state: a\ntable: {a: {_: R}}\n")
    (tmp_path / "on.jff").write_text(
        '<structure><type>turing</type><automaton><state id="0"><initial/></state><transition>'
        "<from>0</from><to>0</to></transition></automaton></structure>"
    )
    (tmp_path / "on.queue.yaml").write_text(
        "alphabet: a\nblank: a\nfront: a\nstart state: p\nhalt state: h\nrules: {p: {a: [p, aa]}}\n"
    )
    for ending in ("txt", "yaml", "jff", "queue.yaml"):
        found = report(call, tmp_path / f"on.{ending}", "--max-steps", "50")
        assert (found["machine"], found["halted"], found["steps"]) == ("on", False, 50)
        assert found["agree"] is True


CARRY = "blank: ' '\nstart state: right\ntable:\n  right: {1: R, ' ': {L: carry}}\n  carry:\n"
STATE = '<structure>\n<type>turing</type>\n<automaton>\n<state id="0"><initial/></state>\n'
JFF = f"{STATE}</automaton>\n</structure>\n"
QUEUE = "alphabet: a\nblank: a\nfront: a\nstart state: p\nhalt state: h\nrules: {p: {a: [p, a]}}\n"
WRONG = [
    ("a.txt", "1RB1LB_1LA", 1),
    ("a.txt", "", 1),
    ("a.txt", "0 1 1 r 0\n0 1 0 r 0\n", 2),
    ("a.txt", "0 1 1 r 0\n0 _ _ r don\n", 2),
    ("a.tm", "0 1 1 up 0\n", 1),
    ("a.yaml", CARRY.replace("L: carry", "L: don"), 4),
    ("a.yaml", CARRY.replace("{1: R", "{[1, 1]: R"), 4),
    ("a.yaml", CARRY.replace("{1: R", "{true: R"), 4),
    ("a.yaml", CARRY.replace("carry:", "right:"), 5),
    ("a.yaml", CARRY.replace("carry:", "carry: *all"), 5),
    ("a.yaml", CARRY.replace("carry:", "carry: !!map {}"), 5),
    ("a.yaml", "[" * 2000, 1),
    ("a.yml", "\0", 1),
    ("a.jff", JFF.replace("turing", "fa"), 2),
    ("a.jff", JFF.replace("<initial/>", ""), 3),
    ("a.jff", f'<!DOCTYPE x [<!ENTITY e "e">]>\n{JFF}', 1),
    ("a.jff", JFF.replace("</auto", "<transition><from>1</from></transition>\n</auto"), 5),
    ("a.jff", JFF.replace("</type>", "</type><tapes>3</tapes>"), 2),
    ("a.queue.yaml", QUEUE.replace("[p, a]", "[q, a]"), 6),
    ("a.queue.yaml", QUEUE.replace("[p, a]", "[p, aaa]"), 6),
    ("a.queue.yaml", QUEUE.replace("front: a", "front: b"), 3),
]


@pytest.mark.parametrize(("name", "text", "line"), WRONG)
def test_a_wrong_file_is_2_in_one_line_with_file_and_line(
    call: Run, tmp_path: Path, name: str, text: str, line: int
) -> None:
    path = tmp_path / name
    path.write_text(text)
    for command in (["run", path], ["convert", path, tmp_path / "out.txt"]):
        done = call(*command)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.count("\n") == 1
        assert done.stderr.startswith(f"MachineFormatError: {path}:{line}: "), done.stderr
    assert not (tmp_path / "out.txt").exists()


def test_files_that_are_not_read_at_all_are_2(call: Run, tmp_path: Path) -> None:
    (tmp_path / "big.jff").touch()
    os.truncate(tmp_path / "big.jff", 100 << 20)
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "folder.txt").mkdir()
    for name, said in (
        ("big.jff", "at most 4 MiB, got at least 104,857,600 bytes"),
        ("pipe.yaml", "must be a regular file"),
        ("folder.txt", "must be a regular file"),
        ("none.queue.yaml", "got the name of a file that does not exist"),
    ):
        done = call("run", tmp_path / name)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"{tmp_path / name}: " in done.stderr
        assert said in done.stderr


def test_a_symbol_that_a_machine_does_not_know_is_2_and_names_the_file(call: Run) -> None:
    for ending, symbols in (("yaml", "' ', 0, 1"), ("jff", "0, 1, □")):
        path = EXAMPLES / f"increment.{ending}"
        done = call("run", path, "--input", "102")
        assert done.returncode == 2
        assert done.stderr == (
            f"UsageError: --input: symbol 2 must be one of {symbols}, the symbols of {path}, got "
            "'2'; use the machine's own symbols\n"
        )
    done = call("run", EXAMPLES / "increment.txt", "--input", "1*")
    assert done.returncode == 2
    assert "an input must be of single characters other than * and white space" in done.stderr


@pytest.mark.parametrize("ending", ENDINGS)
def test_convert_writes_the_format_of_the_ending(call: Run, tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"beaver4.{ending}"
    out.write_text("the old one")
    done = call("convert", BEAVER, out)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{out}\n", "")
    assert out.read_bytes() == (EXAMPLES / f"beaver4.{ending}").read_bytes()
    for other in ENDINGS:
        onward = tmp_path / f"onward.{other}"
        assert call("convert", out, onward).returncode == 0
        found, expected = report(call, onward), report(call, BEAVER)
        assert found | {"machine": ""} == expected | {"machine": ""}


def test_convert_takes_the_input_along_where_the_format_has_one(call: Run, tmp_path: Path) -> None:
    assert call("convert", EXAMPLES / "increment.yaml", tmp_path / "a.yml").returncode == 0
    assert report(call, tmp_path / "a.yml")["steps"] == 8
    queue = EXAMPLES / "doubling.queue.yaml"
    assert call("convert", queue, tmp_path / "a.queue.yml").returncode == 0
    assert report(call, tmp_path / "a.queue.yml")["steps"] == 5
    assert call("convert", EXAMPLES / "increment.yaml", tmp_path / "a.jff").returncode == 0
    assert report(call, tmp_path / "a.jff")["steps"] == 2


def test_what_cannot_be_converted_leaves_the_old_file(call: Run, tmp_path: Path) -> None:
    stays = tmp_path / "stays.txt"
    stays.write_text("0 _ 1 * halt\n")
    for source, name, said in (
        (stays, "a.yaml", "requires moves L and R, got a stay move in state '0' on '_'"),
        (stays, "a.bb.txt", "requires moves L and R, got a stay move"),
        (stays, "a.queue.yaml", "a file of a Turing machine must not end in .queue.yaml"),
        (EXAMPLES / "doubling.queue.yaml", "a.jff", "must end in .queue.yaml"),
        (stays, "a.xml", "must end in one of .queue.yaml, .queue.yml, .yaml, .yml, .jff"),
        (stays, "none/a.jff", "must be writable"),
    ):
        out = tmp_path / name
        if out.parent.exists():
            out.write_text("the old one")
        done = call("convert", source, out)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.count("\n") == 1
        assert said in done.stderr
        assert not out.parent.exists() or out.read_text() == "the old one"
    assert not [path for path in tmp_path.iterdir() if "unfinished" in path.name]
