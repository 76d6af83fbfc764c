"""The rechecker accepts what a run wrote and rejects every corruption of it."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from verify import recheck
from verify.certificates import canonical
from verify.definitions.reading import UnreadableError, value_of

SCRIPT = Path(recheck.__file__)
SELECTION = (
    "universal.tree.*",
    "universal.end_to_end",
    "universal.sums.laws",
    "lowerbounds.spanning.*",
    "machines.words.laws",
    "machines.window.ready",
    "machines.window.halting",
    "machines.window.histogram",
    "machines.turing.queue",
)


def start(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", str(SCRIPT), *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
    )


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    command = [sys.executable, "-m", "reports.cli", "verify", *SELECTION]
    done = subprocess.run(
        [*command, "--profile", "quick", "--jobs", "2", "--out", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture
def copy(run_folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(run_folder, tmp_path / "copy"))


def certificate_of(folder: Path, claim: str, method: str) -> Path:
    record = json.loads((folder / "record.json").read_text())
    for item in record["claims"]:
        for check in item["checks"]:
            if item["id"] == claim and check["method"] == method:
                return folder / check["certificate"]
    raise AssertionError((claim, method))


def corrupt(path: Path, change: Callable[[Any], None]) -> None:
    """Change one field and recompute the name, so that only the content is wrong."""
    body = json.loads(path.read_text())
    change(body)
    data = canonical(body)
    fresh = path.with_name(sha256(data).hexdigest() + ".json")
    path.unlink()
    fresh.write_bytes(data)
    record = path.parent.parent / "record.json"
    record.write_text(record.read_text().replace(path.stem, fresh.stem))


def test_an_untouched_run_is_accepted_without_a_solver(run_folder: Path) -> None:
    done = start(str(run_folder))
    assert done.returncode == 0, done.stdout
    assert " 0 rejected, 0 unreadable" in done.stdout
    outcomes = {line[:13].strip() for line in done.stdout.splitlines()[:-1]}
    assert outcomes == {"accepted", "partly", "not rechecked"}
    for line in done.stdout.splitlines():
        if line.startswith("not rechecked"):
            assert "SMT goals need --solver NAME" in line


def test_as_json_each_line_is_an_object_and_the_last_counts(run_folder: Path) -> None:
    told = start(str(run_folder)).stdout.splitlines()
    *rows, last = map(json.loads, start(str(run_folder), "--json").stdout.splitlines())
    assert [f"{row['outcome']:13} {row['what']}: {row['words']}" for row in rows] == told[:-1]
    assert ", ".join(f"{count} {name}" for name, count in last["counts"].items()) == told[-1]


def test_a_reader_that_goes_away_changes_nothing(run_folder: Path) -> None:
    program = shlex.join([sys.executable, "-I", str(SCRIPT), str(run_folder)])
    pipe = f"({program}; echo $? >&2) | head -n 1"
    done = subprocess.run(["bash", "-c", pipe], capture_output=True, text=True, check=False)
    assert done.stdout.count("\n") == 1
    assert done.stderr == "0\n"


def test_what_a_record_says_cannot_steer_a_terminal(copy: Path) -> None:
    record = json.loads((copy / "record.json").read_text())
    record["claims"][0]["id"] = "odd\x1b[31m\u202e"
    (copy / "record.json").write_text(json.dumps(record))
    done = start(str(copy))
    assert done.returncode == 1
    assert r"odd\x1b[31m\u202e" in done.stdout
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize("solver", ["z3", "cvc5"])
def test_a_solver_accepts_the_smt_goals(solver: str, copy: Path) -> None:
    record = json.loads((copy / "record.json").read_text())
    record["claims"] = [c for c in record["claims"] if c["id"] == "universal.sums.laws"]
    (copy / "record.json").write_text(json.dumps(record))
    kept = {Path(k["certificate"]).name for k in record["claims"][0]["checks"]}
    for path in (copy / "certificates").iterdir():
        if path.name not in kept:
            path.unlink()
    done = start(str(copy), "--solver", solver)
    assert done.returncode == 0, done.stdout
    assert f"9 goals found valid by {solver}" in done.stdout


def _set(*path: Any, value: Any) -> Callable[[Any], None]:
    def change(body: Any) -> None:
        for step in path[:-1]:
            body = body[step]
        assert body[path[-1]] != value
        body[path[-1]] = value

    return change


INSTANCE = ("content", "instances", -1)
CORRUPTIONS = {
    "a goal without its premise": (
        "universal.tree.identity",
        "smt",
        _set("content", "goals", 0, "smtlib", value="(assert false)\n(check-sat)\n"),
    ),
    "a goal renamed": (
        "universal.tree.identity",
        "smt",
        _set("content", "goals", 0, "name", value="another"),
    ),
    "a side of an identity": (
        "universal.tree.width",
        "identity",
        _set("content", "equations", 0, "left", value=["symbol", "H"]),
    ),
    "an equation dropped": (
        "universal.tree.width",
        "identity",
        lambda body: body["content"]["equations"].pop(),
    ),
    "another leaf kept by a mask": (
        "universal.tree.identity",
        "exhaustive",
        _set(*INSTANCE, "values", 0, 0, 31, value=31),
    ),
    "a moved 1 of the readout": (
        "universal.tree.identity",
        "exhaustive",
        _set(*INSTANCE, "readout", 0, 0, value=0),
    ),
    "an instance dropped": (
        "universal.tree.identity",
        "exhaustive",
        lambda body: body["content"]["instances"].pop(),
    ),
    "an embedding entry": (
        "universal.probes.layer",
        "exhaustive",
        _set(*INSTANCE, "embedding", 0, 31, value="12345/7"),
    ),
    "more examples than tried": (
        "universal.end_to_end",
        "sampled",
        _set("content", "tried", value=10**6),
    ),
    "a factor": (
        "lowerbounds.spanning.fixed_readout",
        "exhaustive",
        _set(*INSTANCE, "left", 0, 0, value="99"),
    ),
    "an inverse": (
        "lowerbounds.spanning.condition",
        "witness",
        _set("content", "instances", 0, "inverse", 0, 0, value="1/3"),
    ),
    "sem": ("machines.words.laws", "exhaustive", _set(*INSTANCE, "sem", value=["a"])),
    "a token": ("machines.window.ready", "exhaustive", _set(*INSTANCE, "tokens", 0, 0, value="#")),
    "what a context shows": (
        "machines.window.ready",
        "exhaustive",
        _set(*INSTANCE, "after", value="a a"),
    ),
    "a histogram": (
        "machines.window.histogram",
        "exhaustive",
        _set(*INSTANCE, "histogram", value="1/3 1/3 1/3"),
    ),
    "the queue read off": (
        "machines.window.halting",
        "exhaustive",
        _set(*INSTANCE, "queue", value="▷ 1"),
    ),
    "tokens of a run": (
        "machines.window.halting",
        "exhaustive",
        _set(*INSTANCE, "tokens", value=99),
    ),
    "queue steps": ("machines.turing.queue", "exhaustive", _set(*INSTANCE, "queue_steps", value=1)),
    "the claim": ("universal.tree.identity", "smt", _set("claim", value="universal.tree.width")),
    "the statement": ("universal.tree.identity", "smt", _set("statement", value="0" * 64)),
    "the schema": ("universal.tree.identity", "smt", _set("schema", value="another/1")),
    "the kind": ("universal.tree.identity", "smt", _set("kind", value="trusted")),
    "a field more": ("universal.tree.identity", "smt", lambda body: body.update(comment="fine")),
}


@pytest.mark.parametrize("name", sorted(CORRUPTIONS))
def test_a_corruption_is_rejected_though_every_hash_fits(name: str, copy: Path) -> None:
    claim, method, change = CORRUPTIONS[name]
    corrupt(certificate_of(copy, claim, method), change)
    done = start(str(copy))
    assert done.returncode == 1, done.stdout
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("rejected")]
    assert claim in line


def test_a_renamed_certificate_is_rejected(copy: Path) -> None:
    path = certificate_of(copy, "universal.tree.width", "identity")
    fresh = path.with_name("0" * 64 + ".json")
    path.rename(fresh)
    record = copy / "record.json"
    record.write_text(record.read_text().replace(path.stem, fresh.stem))
    done = start(str(copy))
    assert done.returncode == 1
    assert "its name is not the hash of its bytes" in done.stdout


def test_an_extra_certificate_is_rejected(copy: Path) -> None:
    (copy / "certificates" / "extra.json").write_text("{}\n")
    done = start(str(copy))
    assert done.returncode == 1
    assert "certificates/extra.json: no check of the record names it" in done.stdout


def test_a_missing_certificate_ends_with_status_3(copy: Path) -> None:
    certificate_of(copy, "universal.tree.width", "identity").unlink()
    done = start(str(copy))
    assert done.returncode == 3
    assert "1 unreadable" in done.stdout


@pytest.mark.parametrize("text", ['{"a":1,"a":2}', "[NaN]", "[0.5]", "{} {}", "", "[" * 100_000])
def test_what_is_not_one_exact_json_value_is_unreadable(text: str) -> None:
    with pytest.raises(UnreadableError):
        value_of(text.encode())


def test_a_folder_without_a_record_is_wrong_usage(tmp_path: Path) -> None:
    done = start(str(tmp_path))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "run verify first" in done.stderr


@pytest.mark.parametrize("arguments", [(), ("a", "b"), ("a", "--solver")])
def test_wrong_arguments_say_what_is_required(arguments: tuple[str, ...]) -> None:
    done = start(*arguments)
    assert done.returncode == 2
    assert "recheck.py DIR [--solver NAME]" in done.stderr


def test_an_unknown_solver_is_wrong_usage(tmp_path: Path) -> None:
    done = start(str(tmp_path), "--solver", "no-such-solver")
    assert done.returncode == 2
    assert "must name z3, cvc5 or a binary on PATH, got 'no-such-solver'" in done.stderr


def test_a_solver_that_cannot_be_imported_is_wrong_usage_not_a_rejection(copy: Path) -> None:
    command = [sys.executable, "-S", "-I", str(SCRIPT), str(copy), "--solver", "z3"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={"PATH": ""})
    assert done.returncode == 2
    assert "--solver must name z3, cvc5 or a binary on PATH, got 'z3'; install it" in done.stderr
