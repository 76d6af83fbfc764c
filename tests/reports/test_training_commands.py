"""`certiformer train dyck` and `train hops`, as a user types them."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from constructions.learning.files import read_model, read_run, restored_training
from constructions.learning.kinds import Components, Family
from reports import training
from reports.learning import AskedLearning, run_learning
from reports.progress import StepProgress
from verify.errors import OutputError

pytest.importorskip("torch")
COMMAND = [sys.executable, "-m", "reports.cli", "train"]
TOY = "--heads 2 --layers 2 --head-width 2 --batch 8".split()
DYCK = ["dyck", "--pairs", "4", *TOY]


def told(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, check=False, timeout=300
    )


def asked(out: Path, steps: int = 400) -> AskedLearning:
    sizes = {"heads": 2, "layers": 2, "head_width": 2, "batch": 8, "pairs": 4}
    return AskedLearning(
        task="dyck",
        family=Family.random,
        components=Components.attention,
        seed=1,
        changes={**sizes, "steps": steps},
        device="cpu",
        mixed=False,
        out=out,
    )


def test_a_run_is_told_with_its_baselines_and_saved(tmp_path: Path) -> None:
    done = told(*DYCK, "--steps", "40", "--seed", "7", "--out", str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith(
        "dyck, sparse, attention-only, H = 2, L = 2, d = 2, m = 40, seed 7: step 40 of 40"
    )
    assert "of 4,000 held out)" in lines[0]
    assert [line.strip().partition(":")[0] for line in lines[1:-1]] == [
        "uniform",
        "majority",
        "count",
        "count and ends",
    ]
    assert lines[-1] == str(tmp_path / "model.safetensors")
    saved = read_run(tmp_path / "run.json")
    assert (saved.plan.seed, saved.last.step, saved.last.asked) == (7, 40, 4000)
    assert read_model(tmp_path / "model.safetensors").plan == saved.plan


def test_hops_are_trained_too(tmp_path: Path) -> None:
    options = "--hops 2 --length 12 --components residual-norm --family trained --steps 3".split()
    done = told("hops", *TOY, *options, "--out", str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("2-hop, trained, residual-norm, H = 2, L = 2, d = 2, m = ")
    assert "  current character: " in done.stdout


def test_a_run_that_was_stopped_goes_on_and_ends_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stopping(StepProgress):
        """Asks the run to stop, as Ctrl-C does, at one step."""

        def __call__(self, steps: int) -> None:
            if steps == 150:
                os.kill(os.getpid(), signal.SIGINT)

    assert not run_learning(asked(tmp_path / "whole")).interrupted
    with monkeypatch.context() as changed:
        changed.setattr(training, "StepProgress", Stopping)
        stopped = run_learning(asked(tmp_path / "part"))
    assert stopped.interrupted
    assert ": step 150 of 400" in stopped.lines[0]
    assert stopped.lines[-1] == str(tmp_path / "part" / "state.safetensors")
    assert not read_run(tmp_path / "part" / "run.json").done
    assert not (tmp_path / "part" / "model.safetensors").exists()
    assert not run_learning(asked(tmp_path / "part")).interrupted
    one, two = (tmp_path / name / "model.safetensors" for name in ("whole", "part"))
    assert one.read_bytes() == two.read_bytes()


def test_a_killed_run_leaves_a_state_from_which_it_goes_on(tmp_path: Path) -> None:
    script = """
import sys
from pathlib import Path
from constructions.learning.kinds import Components, Family
from reports import training
from tests.reports.test_training_commands import asked
from reports.learning import run_learning
training.SECONDS = 0.0
training.SHARE = 1e9
run_learning(asked(Path(sys.argv[1])))
"""
    state = tmp_path / "state.safetensors"
    process = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)])
    until = time.monotonic() + 60
    while not state.exists() and time.monotonic() < until:
        time.sleep(0.01)
    process.kill()
    process.wait(timeout=60)
    assert restored_training(state, asked(tmp_path).plan()).step > 0
    run_learning(asked(tmp_path))
    run_learning(asked(tmp_path / "whole"))
    one, two = (folder / "model.safetensors" for folder in (tmp_path, tmp_path / "whole"))
    assert one.read_bytes() == two.read_bytes()


def test_a_full_disk_leaves_the_last_state(tmp_path: Path) -> None:
    """A limit on the size of files stands for the disk: writing fails in the same place."""
    run_learning(asked(tmp_path, steps=5))
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    kept = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, kept[1]))
    try:
        with pytest.raises(OutputError, match="must be writable, got File too large"):
            run_learning(asked(tmp_path, steps=5))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, kept)
        signal.signal(signal.SIGXFSZ, ignored)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    plan = asked(tmp_path, steps=5).plan()
    assert restored_training(tmp_path / "state.safetensors", plan).done


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("hops --pairs 3", "--pairs is for dyck, got the task hops"),
        ("dyck --hops 3", "--hops is for hops, got the task dyck"),
        ("dyck --recipe paper", "--recipe is for last-even, got the task dyck"),
        ("last-even --m 3", "--m is for dyck and hops, got the task last-even"),
        ("dyck --m 1023", "needs m of at least 1024, got 1023; raise m"),
        ("dyck --heads 0", "a model needs heads of at least 1, got 0"),
        ("hops --loss answer", "--loss is for dyck, got the task hops"),
        ("dyck --mixed", "--mixed computes in bfloat16 on a CUDA device"),
        ("dyck --learning-rate nan", "a learning rate between 0 and 1, got nan"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(
    arguments: str, text: str, tmp_path: Path
) -> None:
    done = told(*arguments.split(), "--out", str(tmp_path / "out"))
    assert done.returncode == 2
    assert text in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_another_run_and_unusable_folders_are_refused(tmp_path: Path) -> None:
    assert told(*DYCK, "--steps", "3", "--out", str(tmp_path)).returncode == 0
    before = (tmp_path / "model.safetensors").read_bytes()
    done = told(*DYCK, "--steps", "4", "--out", str(tmp_path))
    assert done.returncode == 2
    assert "it must be of the run" in done.stderr
    assert (tmp_path / "model.safetensors").read_bytes() == before
    file = tmp_path / "file"
    file.write_text("")
    done = told(*DYCK, "--steps", "3", "--out", str(file))
    assert (done.returncode, "must be a folder or free" in done.stderr) == (2, True)
