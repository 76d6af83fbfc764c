"""`certiformer compile`, and running what it wrote."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from constructions.tensor_files import Tensor, file_bytes, read_file
from reports.cli import invoke

EXAMPLES = Path(__file__).parents[2] / "examples" / "machines"
BEAVER = "1RB1LB_1LA1RZ"


@pytest.mark.parametrize("form", ["dense", "block"])
def test_a_compiled_machine_runs_like_the_machine(
    form: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "model.safetensors"
    machine = str(EXAMPLES / "increment.txt")
    made = ["compile", machine, "--out", str(out), "--window", "12", "--form", form]
    assert invoke(made) == 0
    assert f"{form}, float32" in capsys.readouterr().out
    first = out.read_bytes()
    assert invoke(made) == 0
    assert out.read_bytes() == first
    capsys.readouterr()
    assert invoke(["run", str(out), "--input", "101", "--json"]) == 0
    report = capsys.readouterr().out
    assert invoke(["run", machine, "--input", "101", "--json"]) == 0
    assert capsys.readouterr().out == report
    assert json.loads(report)["levels"]["turing"]["tape"] == "110"


def test_a_queue_machine_compiles_too(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "model.safetensors"
    assert invoke(["compile", str(EXAMPLES / "doubling.queue.yaml"), "--out", str(out)]) == 0
    capsys.readouterr()
    assert invoke(["run", str(out), "--input", "aab", "--max-steps", "9", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["agree"] is True


def test_altered_tensors_disagree(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "model.safetensors"
    assert invoke(["compile", BEAVER, "--out", str(out), "--form", "block"]) == 0
    file = read_file(out)
    tokens = np.frombuffer(file.tensors["row.token"].data, dtype="<i8").reshape(-1, 3).copy()
    tokens[:, 0] = 1
    changed = {**file.tensors, "row.token": Tensor.of_places(tokens)}
    out.write_bytes(file_bytes(changed, file.metadata))
    capsys.readouterr()
    assert invoke(["run", str(out), "--json"]) == 1
    printed, err = capsys.readouterr()
    assert json.loads(printed)["agree"] is False
    assert "the levels disagree: token 2: G is" in err


def test_a_run_that_needs_a_longer_window_is_2(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "model.safetensors"
    machine = str(EXAMPLES / "increment.txt")
    assert invoke(["compile", machine, "--out", str(out), "--window", "4"]) == 0
    capsys.readouterr()
    assert invoke(["run", str(out), "--input", "10110", "--json"]) == 2
    printed, err = capsys.readouterr()
    assert printed == ""
    assert "compile the machine with --window 6, or run fewer steps" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["compile", BEAVER, "--out", "model.bin"], "--out must end in .safetensors"),
        (["compile", BEAVER, "--out", "m.safetensors", "--dtype", "int8"], "--dtype must be one"),
        (["compile", BEAVER, "--out", "m.safetensors", "--window", "0"], "--window must be from 1"),
        (["compile", BEAVER, "--out", "m.safetensors", "--form", "thin"], "--form must be one"),
        (["compile", "nowhere.yaml", "--out", "m.safetensors"], "does not exist"),
        (["compile", BEAVER, "--out", "nowhere/m.safetensors"], "nowhere"),
        (["run", "nowhere.safetensors"], "got no such file"),
        (["run", "words.safetensors"], "must be one whole safetensors file"),
        (["run", "words.safetensors", "--as", "queue"], "a compiled transformer runs whole"),
    ],
)
def test_wrong_usage_is_2_in_one_line(
    arguments: list[str],
    said: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "words.safetensors").write_text("words, words, words")
    before = sorted(path.name for path in tmp_path.iterdir())
    assert invoke(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert err.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == before
