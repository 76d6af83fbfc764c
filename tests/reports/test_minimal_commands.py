"""`certiformer train` and `certiformer decide`, as a user types them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from constructions.minimal.definitions import Model
from constructions.minimal.files import model_bytes, read_checkpoint, restored_training
from constructions.minimal.shipped import FOLDER, shipped
from reports import training
from reports.deciding import lengths_of
from reports.progress import StepProgress
from reports.training import AskedTraining, run_training
from verify.errors import UsageError

pytest.importorskip("torch")
COMMAND = [sys.executable, "-m", "reports.cli"]
PAPER, WINDOWS = (str(FOLDER / f"{name}.safetensors") for name in ("paper", "windows"))


def told(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, check=False, timeout=300
    )


def test_decide_tells_where_the_rule_holds() -> None:
    done = told("decide", WINDOWS, "--length", "2..5")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("the rule holds on every window\n")
    assert "     5         19,440         19,440              0      24  " in done.stdout


def test_decide_tells_where_it_fails_and_replays_it() -> None:
    done = told("decide", PAPER, "--length", "2..5")
    assert done.returncode == 1
    assert (
        "smallest counterexample: 4 1 1 1 +, where 4 is required but 0 has a logit as great; "
        "torch predicts 0" in done.stdout
    )
    assert "wrong by distance: 4: 432" in done.stdout


def test_decide_as_json() -> None:
    done = told("decide", PAPER, "--length", "5", "--json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["parameters"], found["status"]) == (1, 250, "REFUTED")
    row = found["lengths"]["5"]
    assert (row["windows"], row["correct"], row["wrong"]) == (19_440, 19_008, 432)
    assert row["smallest_counterexample"] == ["4", "1", "1", "1", "+"]
    assert sum(row["wrong_by_required"].values()) == sum(row["wrong_by_distance"].values()) == 432
    assert sum(row["wrong_by_rival"].values()) == 432
    assert found["counterexample"]["window"] == "4 1 1 1 +"


def test_a_checkpoint_with_one_weight_changed_is_caught(tmp_path: Path) -> None:
    model = shipped("windows").model
    offsets = np.array(model.tensors["c"])
    offsets[4] -= 40.0
    path = tmp_path / "changed.safetensors"
    path.write_bytes(model_bytes(Model(tensors={**model.tensors, "c": offsets})))
    done = told("decide", str(path), "--length", "2..3", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 1
    assert found["counterexample"]["required"] == "4"
    assert found["counterexample"]["torch"] in found["counterexample"]["rivals"]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("nothing.safetensors",), "no such file"),
        ((WINDOWS, "--length", "9"), "--length must lie within 2 to 8"),
        ((WINDOWS, "--length", "1..3"), "--length must lie within 2 to 8"),
        ((WINDOWS, "--length", "5..3"), "got '5..3'"),
        ((WINDOWS, "--length", "two"), "--length must be a number or A..B"),
        (("examples/target.safetensors",), "a minimal transformer must have the tensors"),
    ],
)
def test_decide_refuses_in_one_line(arguments: tuple[str, ...], text: str) -> None:
    done = told("decide", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert text in done.stderr
    assert done.stderr.count("\n") == 1


def test_lengths() -> None:
    assert list(lengths_of("8")) == [8]
    assert list(lengths_of("2..4")) == [2, 3, 4]
    for text in ("", "..", "2..", "-1", "2...4", "99999", "٣"):
        with pytest.raises(UsageError, match="--length must be"):
            lengths_of(text)


def test_train_writes_a_checkpoint_that_decide_reads(tmp_path: Path) -> None:
    done = told("train", "last-even", "--steps", "40", "--seed", "7", "--out", str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("step 40 of 40: at step 40 loss ")
    found = read_checkpoint(tmp_path / "model.safetensors")
    assert found.plan is not None
    assert (found.plan.seed, found.plan.recipe.steps) == (7, 40)
    assert told("decide", str(tmp_path / "model.safetensors"), "--length", "2").returncode == 1


def test_a_run_that_was_stopped_goes_on_and_ends_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stopping(StepProgress):
        """Asks the run to stop, as Ctrl-C does, at one step."""

        def __call__(self, steps: int) -> None:
            if steps == 500:
                os.kill(os.getpid(), signal.SIGINT)

    def asked(name: str) -> AskedTraining:
        return AskedTraining(recipe="paper", seed=1, steps=1500, out=tmp_path / name)

    whole = run_training(asked("whole"))
    assert not whole.interrupted
    with monkeypatch.context() as changed:
        changed.setattr(training, "StepProgress", Stopping)
        stopped = run_training(asked("part"))
    assert stopped.interrupted
    assert stopped.lines[0].startswith("step 500 of 1,500: at step 400 loss ")
    assert stopped.lines[-1] == str(tmp_path / "part" / "state.safetensors")
    assert not (tmp_path / "part" / "model.safetensors").exists()
    assert not run_training(asked("part")).interrupted
    one, two = (tmp_path / name / "model.safetensors" for name in ("whole", "part"))
    assert one.read_bytes() == two.read_bytes()


def test_train_refuses_another_run_and_unusable_folders(tmp_path: Path) -> None:
    base = ("train", "last-even", "--out", str(tmp_path))
    assert told(*base, "--steps", "3").returncode == 0
    before = (tmp_path / "model.safetensors").read_bytes()
    done = told(*base, "--steps", "4")
    assert done.returncode == 2
    assert "it must be of the run" in done.stderr
    assert (tmp_path / "model.safetensors").read_bytes() == before
    file = tmp_path / "file"
    file.write_text("")
    done = told("train", "last-even", "--steps", "3", "--out", str(file))
    assert (done.returncode, "must be a folder or free" in done.stderr) == (2, True)


def test_a_killed_run_leaves_a_state_from_which_it_goes_on(tmp_path: Path) -> None:
    script = """
import sys
from pathlib import Path
from reports import training
training.SECONDS = 0.0
training.run_training(
    training.AskedTraining(recipe="paper", seed=1, steps=1500, out=Path(sys.argv[1]))
)
"""
    state = tmp_path / "state.safetensors"
    process = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)])
    until = time.monotonic() + 60
    while not state.exists() and time.monotonic() < until:
        time.sleep(0.01)
    process.kill()
    process.wait(timeout=60)
    assert (
        restored_training(
            state, AskedTraining(recipe="paper", seed=1, steps=1500, out=tmp_path).plan()
        ).step
        > 0
    )
    asked = AskedTraining(recipe="paper", seed=1, steps=1500, out=tmp_path)
    run_training(asked)
    killed = (tmp_path / "model.safetensors").read_bytes()
    run_training(replace(asked, out=tmp_path / "whole"))
    assert killed == (tmp_path / "whole" / "model.safetensors").read_bytes()
