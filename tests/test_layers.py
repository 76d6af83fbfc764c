"""Who imports whom, what loads late, and what each claim rests on."""

from __future__ import annotations

import ast
import csv
import importlib
import pkgutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import constructions
import lowerbounds
from verify.claims import Claim
from verify.dependencies import with_dependencies
from verify.loading import claims_in
from verify.verdicts import Status

ROOT = Path(__file__).resolve().parents[1]
REQUIRED = ROOT.parent / "shared" / "required_claims.tsv"
HEAVY = ("torch", "z3", "cvc5", "hypothesis", "sympy", "matplotlib", "numba")


@cache
def ours() -> dict[str, Claim]:
    return {item.id: item for item in (*claims_in(constructions), *claims_in(lowerbounds))}


def _modules() -> list[str]:
    names = ["certiformer"]
    for package in (constructions, lowerbounds):
        walked = pkgutil.walk_packages(package.__path__, package.__name__ + ".")
        names += [package.__name__, *(info.name for info in walked)]
    return names


def test_importing_every_construction_loads_no_heavy_library() -> None:
    script = (
        f"import importlib, sys\nfor name in {_modules()!r}: importlib.import_module(name)\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_building_every_check_loads_no_heavy_library() -> None:
    script = (
        "import sys, constructions, lowerbounds\nfrom verify.loading import claims_in\n"
        "for package in (constructions, lowerbounds):\n"
        "    for item in claims_in(package): item.checks()\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_the_import_contracts_hold() -> None:
    script = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    done = subprocess.run(
        [sys.executable, "-c", script, "--config", ".importlinter", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


def test_the_rechecker_needs_the_standard_library_and_its_definitions_only() -> None:
    files = [ROOT / "verify" / "recheck.py", *(ROOT / "verify" / "definitions").glob("*.py")]
    imported: set[str] = set()
    for node in (node for path in files for node in ast.walk(ast.parse(path.read_text()))):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            imported.add(node.module or "")
    ours = {name for name in imported if name.partition(".")[0] == "verify"}
    assert all(name.startswith("verify.definitions") for name in ours)
    assert {name.partition(".")[0] for name in imported - ours} <= set(sys.stdlib_module_names)


def test_each_claim_is_stated_once_and_what_it_uses_exists_and_runs_in_no_circle() -> None:
    found = with_dependencies(ours().values(), ours())
    assert {item.id for item in found} == set(ours())
    assert {item.fault for item in found} == {""}


def test_a_claims_module_states_the_paper_it_is_from() -> None:
    for item in ours().values():
        assert item.source.paper
        assert item.source.where
        assert importlib.import_module(item.module).__doc__


@pytest.mark.skipif(not REQUIRED.exists(), reason="the table of required claims is not here")
def test_each_required_claim_is_expected_to_reach_what_the_table_asks() -> None:
    with REQUIRED.open(encoding="utf-8", newline="") as lines:
        asked = {
            row["id"]: Status[row["at_least"]] for row in csv.DictReader(lines, delimiter="\t")
        }
    differing = {
        name: (item.expected.name, asked[name].name)
        for name, item in ours().items()
        if name in asked and item.expected is not asked[name]
    }
    assert differing == {}
