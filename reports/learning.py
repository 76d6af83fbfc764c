"""What `certiformer train dyck` and `train hops` do: one run, its folder, and what is told of it.

state.safetensors   weights and optimizer of the last checkpoint, with plan and curve
model.safetensors   what was trained, written when all steps are taken
run.json            the saved run, from which `certiformer report` makes tables and figures
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from constructions.learning.kinds import Components, Family
from reports.output import write
from reports.training import MODEL, STATE, Trained, driven, folder_for
from verify.errors import UsageError

if TYPE_CHECKING:
    from constructions.learning.training import Plan, Training

RUN = "run.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedLearning:
    """What is asked; `changes` are what differs from the paper's own run."""

    task: str
    family: Family
    components: Components
    seed: int
    changes: Mapping[str, Any]
    device: str
    mixed: bool
    out: Path

    def plan(self) -> Plan:
        """The run's plan.

        Raises:
            UsageError: options of another task, sizes that do not fit, or no such device.
        """
        from constructions.learning.defaults import plan

        _require_device(self.device, mixed=self.mixed)
        found = plan(
            self.task,
            family=self.family,
            components=self.components,
            seed=self.seed,
            changes=self.changes,
        )
        return replace(found, device=self.device, mixed=self.mixed)


def _require_device(device: str, *, mixed: bool) -> None:
    import torch

    if mixed and device == "cpu":
        raise UsageError(
            "--mixed computes in bfloat16 on a CUDA device, got --device cpu; leave it out or add "
            "--device cuda"
        )
    if device == "cuda" and not torch.cuda.is_available():
        raise UsageError(
            "--device cuda needs a CUDA device that PyTorch can use, got none; use --device cpu"
        )


def run_learning(asked: AskedLearning) -> Trained:
    """Trains, or goes on training, until the end or a signal.

    Raises:
        CheckpointError: the folder holds another run.
        OutputError: the folder cannot be written.
    """
    from constructions.learning.files import (
        SavedRun,
        model_bytes,
        restored_training,
        run_bytes,
        training_bytes,
    )
    from constructions.learning.training import Training

    plan, state = asked.plan(), folder_for(asked.out) / STATE
    run = restored_training(state, plan) if state.exists() else Training(plan)
    interrupted = driven(run, state, lambda: training_bytes(run))
    saved = SavedRun(
        plan=plan, history=tuple(run.history), seconds=run.seconds, versions=versions(run)
    )
    write(asked.out / RUN, run_bytes(saved))
    told = [_told(run), *_baselines(plan)]
    if interrupted:
        return Trained(lines=[*told, str(state)], interrupted=True)
    path = asked.out / MODEL
    write(path, model_bytes(run))
    return Trained(lines=[*told, str(path)], interrupted=False)


def versions(run: Training) -> dict[str, str]:
    """By what a run is computed, and on what."""
    import torch

    cuda = run.plan.device == "cuda"
    return {
        "torch": version("torch"),
        "numpy": version("numpy"),
        "python": platform.python_version(),
        "device": torch.cuda.get_device_name() if cuda else platform.machine(),
    }


def _told(run: Training) -> str:
    last, model = run.history[-1], run.plan.model
    return (
        f"{run.plan.task.name}, {model.family}, {model.components}, H = {model.heads}, "
        f"L = {model.layers}, d = {model.head_width}, m = {model.width}, seed {run.plan.seed}: "
        f"step {run.step:,} of {run.steps:,}, {run.seconds:.0f} s; at step {last.step:,} loss "
        f"{last.loss:.4g}, accuracy {last.accuracy:.2%} ({last.right:,} of {last.asked:,} held out)"
    )


def _baselines(plan: Plan) -> list[str]:
    """What trivial rules reach, a line each."""
    from constructions.learning.training import HELD_OUT

    return [f"  {one.name}: {float(one.share):.2%}" for one in plan.task.baselines(0, HELD_OUT)]
