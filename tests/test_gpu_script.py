"""The device script at toy size on a CPU: its own forward pass is the suite's, to the last bit."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from constructions.learning.files import read_run
from reports.figures.precision import figures, points_of_device
from verify.loading import load_file

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "tests" / "gpu" / "run.py"
script: Any = load_file(SCRIPT)
training: Any = load_file(SCRIPT.with_name("learning.py"))


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("gpu") / "references.npz"
    assert script.main(["prepare", "--size", "toy", "--out", str(path)]) == 0
    return path


@pytest.fixture(scope="module")
def measured(prepared: Path) -> dict[str, Any]:
    """What the script writes in a process that can import nothing of ours."""
    out = prepared.with_name("gpu.json")
    done = subprocess.run(
        [sys.executable, "-I", "-c", BARE, str(SCRIPT), str(prepared), str(out)],
        cwd=prepared.parent,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "exceeded {'sparse': 0, 'random': 0, 'a-priori': 0}" in done.stdout
    return json.loads(out.read_text())


BARE = """
import runpy, sys
for name in ("constructions", "verify", "reports", "flint", "scipy"): sys.modules[name] = None
script, references, out = sys.argv[1:]
sys.argv = [script, "measure", references, "--device", "cpu", "--out", out]
runpy.run_path(script, run_name="__main__")
"""


def test_every_side_is_measured_in_every_format_of_a_cpu(measured: dict[str, Any]) -> None:
    found = {(point["format"], point["side"]) for point in measured["points"]}
    assert found == {
        (name, side)
        for name in ("float64", "float32", "bfloat16", "float16")
        for side in ("target", "sparse", "random")
    }
    assert measured["device"] == "cpu"
    assert any(point["bound"] for point in measured["points"])


def test_the_report_draws_what_was_measured(measured: dict[str, Any]) -> None:
    points, device = points_of_device(measured)
    assert device == "cpu"
    assert [one.name for one in figures(points, device, "-device")] == [
        "error-by-condition-device",
        "error-by-format-device",
    ]


@pytest.mark.parametrize("name", ["float64", "float32", "bfloat16", "float16"])
def test_its_errors_are_those_of_the_suites_own_forward_pass(prepared: Path, name: str) -> None:
    import torch

    from constructions.universal import rounded_runs
    from constructions.universal.definitions import TransformerSize
    from constructions.universal.floats import FORMATS, Floats, largest_error

    with np.load(prepared, allow_pickle=False) as stored:
        arrays = {key[2:]: stored[key] for key in stored.files if key.startswith("0.")}
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    found = script._errors(torch, arrays, 1, script.FORMATS[name], "cpu")
    size = TransformerSize(heads=2, layers=2, head_width=2, token_width=2)
    drawn = rounded_runs.RoundedCase(size=size, tokens=script.TOKENS, mask="causal")
    sparse = rounded_runs.RoundedCase(size=size, tokens=script.TOKENS, mask="causal", layout="tree")

    def entries(matrix: Any) -> Floats:
        return Floats.of(matrix, FORMATS[name])

    asked = rounded_runs.question(drawn, 1)
    runs = {
        "target": rounded_runs.target_output(asked, entries),
        **{
            side: rounded_runs.universal_output(asked, rounded_runs.answer(case, 1), entries)
            for side, case in (("sparse", sparse), ("random", drawn))
        },
    }
    torch.set_num_threads(threads)
    for side, output in runs.items():
        assert found[side] == pytest.approx(largest_error(output, asked.exact), rel=1e-9, abs=1e-40)


def test_a_wrong_embedding_exceeds_the_bounds(prepared: Path, tmp_path: Path) -> None:
    with np.load(prepared, allow_pickle=False) as stored:
        arrays = dict(stored)
    arrays["0.sparse.embedding"][1] *= 3
    arrays["0.random.embedding"][0] *= 1 + 1e-3
    wrong = tmp_path / "wrong.npz"
    np.savez(wrong, **arrays)
    out = tmp_path / "gpu.json"
    assert script.main(["measure", str(wrong), "--device", "cpu", "--out", str(out)]) == 1
    exceeded = json.loads(out.read_text())["exceeded"]
    assert exceeded["sparse"] == 4
    assert exceeded["random"] >= 1


def test_a_file_of_another_schema_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.npz"
    np.savez(path, about=np.array(json.dumps({"schema": "other"})))
    with pytest.raises(SystemExit, match="must have the schema certiformer/gpu/1, got other"):
        script.measure(path, "cpu")


def test_rows_are_trained_within_the_budget_and_the_others_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = (training.ROWS[3], training.ROWS[-1])
    monkeypatch.setattr(training, "ROWS", rows)
    words = ["--device", "cpu", "--size", "toy", "--out", str(tmp_path)]
    assert training.main([*words, "--seconds", "60"]) == 0
    assert capsys.readouterr().out.endswith("left out: nothing\n")
    names = ["dyck-random-mlp-norm", "4-hop-trained-attention-only"]
    for name in names:
        saved = read_run(tmp_path / name / "run.json")
        assert saved.done
        assert name.endswith(f"{saved.plan.model.family}-{saved.plan.model.components}")
    assert training.main([*words, "--seconds", "1e-9"]) == 0
    assert capsys.readouterr().out == f"left out: {', '.join(names)}\n"


def test_a_row_that_takes_too_long_says_how_long() -> None:
    row = training.ROWS[0]
    needed = training.train(row, "toy", "cpu", 1e-9)
    assert isinstance(needed, float)
    assert needed > 1e-9


def test_the_rows_are_those_that_no_cpu_run_covers() -> None:
    names = [row.name for row in training.ROWS]
    assert len(set(names)) == len(names)
    assert names[:2] == ["dyck-sparse-mlp", "dyck-random-mlp"]
    assert {row.plan("full", "cpu").recipe.steps for row in training.ROWS} == {
        10_000,
        15_000,
        60_000,
    }
