"""`certiformer new` writes a package that is settled, broken, tested and encoded as it lies."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from constructions.universal.weights import read_target
from reports import scaffold
from reports.progress import PlainProgress
from reports.running import run_checks
from reports.selection import select
from verify.claims import Setting
from verify.errors import OutputError, UsageError
from verify.loading import load_file
from verify.methods.floating import NEEDS_TORCH
from verify.mutants import mutants_in
from verify.verdicts import Status
from verify.worker import Limits

Call = Callable[..., CompletedProcess[str]]

ROOT = Path(__file__).parents[2]
NAME = "copying"
REACHED = {
    "score": Status.PROVED,
    "winner": Status.PROVED,
    "width": Status.PROVED,
    "short_words": Status.BOUNDED,
    "softmax": Status.BOUNDED,
    "long_words": Status.SAMPLED,
    "rounded": Status.SAMPLED,
}


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return scaffold.create(NAME, tmp_path_factory.mktemp("paper"))


def test_the_files_are_those_that_are_listed_and_bear_the_name(call: Call, tmp_path: Path) -> None:
    done = call("new", NAME, "--out", tmp_path)
    assert done.returncode == 0
    place = tmp_path / NAME
    assert list(tmp_path.iterdir()) == [place]
    files = {path.relative_to(place).as_posix() for path in place.rglob("*") if path.is_file()}
    assert files == set(scaffold.FILES)
    assert all(f"\n  {file} " in done.stdout for file in files)
    assert f"\n  certiformer verify {place} --out {place / 'out'}\n" in done.stdout
    texts = [(place / file).read_text(encoding="utf-8") for file in files - {scaffold.WEIGHTS}]
    assert not any("{{" in text for text in texts)


def test_verify_finds_every_kind_of_check_and_recheck_rejects_nothing(
    call: Call, package: Path, tmp_path: Path
) -> None:
    done = call("verify", package, "--profile", "quick", "--out", tmp_path)
    assert done.returncode == 0, done.stdout
    claims = json.loads((tmp_path / "record.json").read_bytes())["claims"]
    reached = {row["id"]: (row["standing"], row["expected"]) for row in claims}
    assert reached == {f"{NAME}.{key}": (s.name, s.name) for key, s in REACHED.items()}
    assert {row["source"]["paper"] for row in claims} == {NAME}
    methods = {check["method"] for row in claims for check in row["checks"]}
    assert methods == {"identity", "smt", "exhaustive", "sampled", "enclosure", "floating"}
    checked = subprocess.run(
        [sys.executable, ROOT / "verify" / "recheck.py", tmp_path, "--solver", "z3"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout
    assert "3 accepted, 0 partly, 7 not rechecked, 0 rejected, 0 unreadable" in checked.stdout


def test_every_claim_has_a_mutant_and_all_mutants_are_killed(
    call: Call, package: Path, tmp_path: Path
) -> None:
    done = call("mutate", package, "--out", tmp_path, "--json")
    assert done.returncode == 0, done.stdout
    planted = json.loads(done.stdout)["mutants"]
    assert {item["outcome"] for item in planted} == {"killed"}
    kinds = Counter(item["kind"] for item in planted)
    assert (kinds["claim"], kinds["axiom"], kinds["goal"]) == (7, 4, 4)
    stated = {item.of for item in mutants_in(load_file(package))}
    assert stated == {f"{NAME}.{key}" for key in REACHED}


def test_without_torch_the_floating_point_claim_names_the_extra(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('not installed')\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)  # before an installed one, for workers too
    (claim,) = [item for item in select([str(package)]).chosen if item.id == f"{NAME}.rounded"]
    run = run_checks([claim], Setting(profile="quick"), Limits(), 1, PlainProgress())
    (outcome,) = run.outcomes
    assert outcome.verdict.status is Status.UNKNOWN
    assert outcome.verdict.evidence["reason"] == NEEDS_TORCH


def test_the_rest_serves_without_the_floating_point_module(package: Path, tmp_path: Path) -> None:
    place = tmp_path / NAME
    shutil.copytree(package, place)
    (place / "rounded.py").unlink()
    kept, rounded, mutant = (
        (place / "mutants.py").read_text().partition('\n\n@mutant(of="copying.rounded')
    )
    assert rounded
    assert "of=" not in mutant
    lines = [line for line in kept.splitlines(keepends=True) if "rounded" not in line]
    (place / "mutants.py").write_text("".join(lines), encoding="utf-8")
    assert len(select([str(place)]).chosen) == len(REACHED) - 1


def test_its_claims_and_its_own_tests_pass(package: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", NAME, "--certiformer-profile", "quick"]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", "-W", "error"],
        cwd=package.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert f"{len(REACHED) + 3} passed" in done.stdout


def test_the_weight_file_is_the_construction_and_can_be_encoded(
    call: Call, package: Path, tmp_path: Path
) -> None:
    stored = read_target(package / scaffold.WEIGHTS)
    head = import_module(f"{load_file(package).__name__}.construction").previous_token_head()
    target = stored.target
    assert [target.queries, target.keys, target.values, target.outputs] == [
        ((part,),) for part in (head.query, head.key, head.value, head.output)
    ]
    assert (stored.mask, stored.logit_scale) == ("full", "1")
    file, out = package / scaffold.WEIGHTS, tmp_path / "encoded"
    assert call("encode", file, "--construction", "tree", "--out", out).returncode == 0


def test_what_is_written_reads_as_our_own_code_does(package: Path) -> None:
    config = ["--config", str(ROOT / "pyproject.toml"), "--no-cache"]
    for command in (["check", "--exclude", "tests"], ["format", "--check"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, *config, NAME],
            cwd=package.parent,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("class", "new class: a name must be a lower-case Python identifier that is no keyword"),
        ("Head", "got 'Head'; take one such as previous_token"),
        ("a.b", "got 'a.b'"),
        ("../a", "got '../a'"),
        ("_a", "got '_a'"),
        ("", "got ''"),
        ("queue", "got a module of Python's library; take another, such as queue_paper"),
        ("numpy", "got an installed module, "),
        ("verify", "got an installed module, "),
        ("certiformer", "got an installed module, "),
        ("universal", "got the beginning of claim ids that come with certiformer"),
    ],
)
def test_a_name_that_cannot_serve_is_refused(tmp_path: Path, name: str, words: str) -> None:
    with pytest.raises(UsageError) as error:
        scaffold.create(name, tmp_path)
    assert words in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_over(call: Call, tmp_path: Path) -> None:
    place = tmp_path / NAME
    place.symlink_to(tmp_path / "nowhere")
    done = call("new", NAME, "--out", tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        f"OutputError: {place}: must be free, got something that exists; choose another name or "
        "another folder with --out\n"
    )
    assert list(tmp_path.iterdir()) == [place]


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="absent: must be a folder that can be written, got No"):
        scaffold.create(NAME, tmp_path / "absent")


def test_a_failure_on_the_way_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    templates = shutil.copytree(scaffold.TEMPLATES, tmp_path / "templates")
    (templates / "target.py.tmpl").write_text("raise SystemExit(7)\n", encoding="utf-8")
    monkeypatch.setattr(scaffold, "TEMPLATES", templates)
    out = tmp_path / "out"
    out.mkdir()
    with pytest.raises(subprocess.CalledProcessError):
        scaffold.create(NAME, out)
    assert list(out.iterdir()) == []
