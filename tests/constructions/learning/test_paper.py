"""The paper's numbers as they are printed, and the saved runs that stand beside them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from constructions.learning import saved
from constructions.learning.baselines import balancing
from constructions.learning.defaults import plan
from constructions.learning.evaluation import Score
from constructions.learning.files import SavedRun, run_bytes
from constructions.learning.findings import BALANCING as BELOW_ALL
from constructions.learning.kinds import Components, Family
from constructions.learning.paper import (
    BALANCING,
    COMPONENTS,
    FAMILIES,
    HOPPING,
    PRINTED,
    RANGES,
    TABLE_1,
    TABLE_2,
    stated,
)
from constructions.learning.tasks import Dyck, Hops
from verify.errors import CheckpointError

SEED = Path(__file__).parents[4] / "shared" / "seeds" / "fixed_universal_transformers.txt"


@pytest.fixture
def text() -> str:
    """The paper's text."""
    if not SEED.exists():
        pytest.skip("the paper's text is not here")
    return SEED.read_text(encoding="utf-8")


def row(text: str, name: str) -> list[Fraction]:
    """The accuracies of the paper's row of a name."""
    found = re.findall(rf"^\| {re.escape(name)} \|(.*)\|$", text, re.MULTILINE | re.IGNORECASE)
    assert len(found) == 1, name
    return [Fraction(word.strip().rstrip("%")) / 100 for word in found[0].split("|")]


def test_table_1_is_the_papers(text: str) -> None:
    names = ["Parenthesis Balancing", *(f"${task.hops}$-hop Induction Head" for task in HOPPING)]
    for task, name in zip((BALANCING, *HOPPING), names, strict=True):
        ours = [TABLE_1[task, Components.attention, family].least for family in FAMILIES]
        assert ours == row(text, name)


def test_table_2_is_the_papers(text: str) -> None:
    for components, name in COMPONENTS.items():
        ours = [TABLE_2[BALANCING, components, family].greatest for family in FAMILIES]
        assert ours == row(text, name)


def test_the_ranges_over_hops_are_the_papers(text: str) -> None:
    sparse, random = RANGES[Family.sparse], RANGES[Family.random]
    assert sparse.least == sparse.greatest == 1
    assert r"reaches $100.0\%$ accuracy on all reported induction-head tasks" in text
    ends = [f"${float(100 * end):.1f}" for end in (random.least, random.greatest)]
    assert rf"achieves between {ends[0]}\%$ and {ends[1]}\%$ accuracy" in text
    assert (HOPPING[0], Components.norm, Family.trained) not in PRINTED


def test_settings_are_the_papers(text: str) -> None:
    first, _, second = text.partition("Table 5:")[2].partition("Table 6:")
    for task, table in ((BALANCING, first), (HOPPING[0], second)):
        paper = stated(task)
        assert f"| Number of heads $H$ | ${paper.heads}$ |" in table
        assert f"| Warmup steps | ${paper.warmup}$ |" in table
        assert f"| Batch size | ${paper.batch}$ |" in table
        assert f"$10^{{{f'{paper.learning_rate:.0e}'[2:].replace('0', '')}}}$" in table
        assert ("Depth" in table, "Head dimension" in table) == (
            paper.layers is not None,
            paper.head_width is not None,
        )
    steps = ",".join(str(stated(task).steps) for task in HOPPING)
    assert f"training steps are ${steps}$ respectively" in text
    assert "| Training steps | $10^{4}$ |" in first
    assert stated(BALANCING).steps == 10**4


def test_steps_are_stated_for_one_to_four_hops() -> None:
    assert stated(Hops(hops=5)).steps is None
    assert stated(Dyck(pairs=3)) == stated(BALANCING)


def test_findings_compare_with_these_numbers() -> None:
    assert sorted(BELOW_ALL.values()) == [Fraction(x, 1000) for x in (930, 944, 944, 954)]
    ends = {rule.name: rule.share for rule in balancing(0, 4_000)}["count and ends"]
    assert all(share < ends for share in BELOW_ALL.values())


# --- saved runs --------------------------------------------------------------------------------


def a_run(seed: int = 0, **changes: int) -> SavedRun:
    point = Score(step=3, loss=0.5, right=3, asked=4)
    made = plan("dyck", seed=seed, changes={"steps": 3, **changes})
    return SavedRun(plan=made, history=(point,), seconds=1.0, versions={})


def put(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def test_runs_of_a_folder_are_found_and_foreign_files_passed_over(tmp_path: Path) -> None:
    put(tmp_path / "run.json", b'{"schema": "certiformer/run/1", "checks": []}')
    put(tmp_path / "other" / "run.json", b'{"mine": 1}')
    for seed in (1, 0):
        put(tmp_path / f"seed-{seed}" / "deep" / "run.json", run_bytes(a_run(seed)))
    assert [run.plan.seed for run in saved.runs_below(tmp_path)] == [0, 1]
    assert saved.runs_below(tmp_path / "nowhere") == ()


@pytest.mark.parametrize(
    "data",
    [
        b"{",
        b"[]",
        b'{"schema": "certiformer/learning-run/2"}',
        run_bytes(a_run())[:-40],
        run_bytes(replace(a_run(), history=())),
    ],
)
def test_a_run_that_cannot_be_read_is_named(data: bytes, tmp_path: Path) -> None:
    path = put(tmp_path / "a" / "run.json", data)
    with pytest.raises(CheckpointError, match=re.escape(str(path))):
        saved.runs_below(tmp_path)


def test_runs_that_ship_are_read_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved, "FOLDER", tmp_path)
    put(tmp_path / "b.json", run_bytes(a_run(1)))
    put(tmp_path / "a.json", run_bytes(a_run(2)))
    read = saved.shipped_runs.__wrapped__
    assert [run.plan.seed for run in read()] == [2, 1]
    put(tmp_path / "c.json", json.dumps({"schema": "certiformer/run/1"}).encode())
    with pytest.raises(CheckpointError, match=r"c\.json"):
        read()


def test_each_run_that_ships_is_a_run_of_its_own() -> None:
    runs = saved.shipped_runs()
    assert len({run.plan for run in runs}) == len(runs)
    assert len(runs) == len(list(saved.FOLDER.glob("*.json")))
