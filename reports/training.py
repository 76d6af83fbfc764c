"""A training run and its folder: progress, checkpoints, and going on where a run was stopped.

state.safetensors   weights and optimizer of the last checkpoint, with plan and curves
model.safetensors   the trained model, written when all steps are taken
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from reports.output import write
from reports.progress import StepProgress
from reports.terminal import deferred_signals
from verify.errors import OutputError

if TYPE_CHECKING:
    from constructions.minimal.training import Plan, Training

MODEL = "model.safetensors"
STATE = "state.safetensors"
SECONDS = 10.0
"""Time between two checkpoints, at least."""
SHARE = 0.05
"""Of the time, what writing them may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedTraining:
    """What `certiformer train last-even` is asked."""

    recipe: str
    seed: int
    steps: int | None
    out: Path
    figures: Path | None = None

    def plan(self) -> Plan:
        """The run's plan."""
        from constructions.minimal.training import RECIPES, Plan

        recipe = RECIPES[self.recipe]
        if self.steps is not None:
            recipe = replace(recipe, steps=self.steps)
        return Plan(recipe=recipe, seed=self.seed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """What is told of a run, and whether it was stopped before its end."""

    lines: Sequence[str]
    interrupted: bool


def run_training(asked: AskedTraining) -> Trained:
    """Trains, or goes on training, until the end or a signal.

    Raises:
        CheckpointError: the folder holds another run.
        OutputError: the folder cannot be written.
    """
    from constructions.minimal.files import model_bytes, training_bytes

    run = _begun(asked)
    interrupted = driven(run, asked.out / STATE, lambda: training_bytes(run))
    told = _told(run)
    if interrupted:
        return Trained(lines=[told, str(asked.out / STATE)], interrupted=True)
    path = asked.out / MODEL
    write(path, model_bytes(run.model(), run))
    drawn = [] if asked.figures is None else _drawn(path, asked.figures)
    return Trained(lines=[told, str(path), *drawn], interrupted=False)


def _begun(asked: AskedTraining) -> Training:
    from constructions.minimal.files import restored_training
    from constructions.minimal.training import Training

    plan, state = asked.plan(), folder_for(asked.out) / STATE
    return restored_training(state, plan) if state.exists() else Training(plan)


def folder_for(out: Path) -> Path:
    """The run's folder, made if it is not there.

    Raises:
        OutputError: it cannot be made.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"{out}: must be a folder or free, got {error.strerror}; choose another with --out"
        ) from error
    return out


class Steps(Protocol):
    """A run that takes steps and may stop behind each."""

    @property
    def steps(self) -> int:
        """All steps of the run."""
        ...

    @property
    def done(self) -> bool:
        """Whether all steps are taken."""
        ...

    def advance(self) -> Iterator[int]:
        """Takes the steps that are left and yields the number of each."""
        ...


def driven(run: Steps, state: Path, data: Callable[[], bytes]) -> bool:
    """Whether a signal ended the run before its last step; its state is written now and then."""
    progress = StepProgress("steps", run.steps)
    saved, took = time.monotonic(), 0.0
    try:
        with deferred_signals() as stopped:
            for step in run.advance():
                progress(step)
                if stopped:
                    break
                if (began := time.monotonic()) - saved > max(SECONDS, took / SHARE):
                    write(state, data())
                    saved = time.monotonic()
                    took = saved - began
            write(state, data())
    finally:
        progress.clear()
    return not run.done


def _told(run: Training) -> str:
    last = run.history[-1]
    return (
        f"step {run.step:,} of {run.plan.recipe.steps:,}: at step {last.step:,} loss "
        f"{last.loss:.4g}, rule error {last.rule_error:.2%}"
    )


def _drawn(path: Path, folder: Path) -> list[str]:
    from constructions.minimal.files import read_checkpoint
    from reports.figures import minimal, svg

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"{folder}: must be a folder or free, got {error.strerror}; choose another with "
            "--figures"
        ) from error
    names = list[str]()
    for figure in minimal.draw(read_checkpoint(path), path.parent.name):
        target = folder / f"{figure.name}.svg"
        write(target, svg.file_of(figure.inline))
        names.append(str(target))
    return names
