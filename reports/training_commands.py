"""The command that trains: dyck, hops, last-even."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from constructions.learning.kinds import Components, Family
from reports import help
from reports.terminal import INTERRUPTED, show
from verify.errors import UsageError


class Task(StrEnum):
    """What can be trained."""

    dyck = "dyck"
    hops = "hops"
    last_even = "last-even"


class RecipeName(StrEnum):
    """How a minimal transformer is trained."""

    paper = "paper"
    windows = "windows"


class LossName(StrEnum):
    """Where the loss is taken."""

    answer = "answer"
    everywhere = "everywhere"


class Device(StrEnum):
    """Where it is computed."""

    cpu = "cpu"
    cuda = "cuda"


UNIVERSAL = "dyck and hops"
MINIMAL = "last-even"
BALANCING = "dyck"
HOPPING = "hops"


def train(
    task: Annotated[
        Task,
        typer.Argument(
            help="dyck: parenthesis balancing; hops: k-hop induction heads; last-even: behind a + "
            "the last even number."
        ),
    ],
    seed: Annotated[int, typer.Option(min=0, help="Of initial weights and batches.")] = 0,
    steps: Annotated[
        int | None, typer.Option(min=1, help="Other than the paper's own number.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the model, the saved run and its state; TASK by default."),
    ] = None,
    family: Annotated[
        Family | None,
        typer.Option(help="Fixed by Theorem 3.1, fixed at random, or all trained."),
    ] = None,
    components: Annotated[
        Components | None, typer.Option(help="What stands beside attention, as in Table 2.")
    ] = None,
    hops: Annotated[int | None, typer.Option(help="k of k hops; 1 by default.")] = None,
    heads: Annotated[int | None, typer.Option(help="H.")] = None,
    layers: Annotated[int | None, typer.Option(help="L.")] = None,
    head_width: Annotated[int | None, typer.Option(help="d.")] = None,
    m: Annotated[int | None, typer.Option(help="Embedding dimension; the tree's least.")] = None,
    pairs: Annotated[int | None, typer.Option(help="Most pairs of parentheses; 30.")] = None,
    length: Annotated[int | None, typer.Option(help="Characters of a hops string; 100.")] = None,
    batch: Annotated[int | None, typer.Option(help="Strings of a step.")] = None,
    learning_rate: Annotated[float | None, typer.Option(help="Of AdamW.")] = None,
    warmup: Annotated[int | None, typer.Option(help="Steps in which the rate rises.")] = None,
    cosine: Annotated[
        bool | None, typer.Option(help="Whether the rate then falls as a cosine.")
    ] = None,
    hold: Annotated[int | None, typer.Option(help="Steps before it does.")] = None,
    second_beta: Annotated[
        float | None, typer.Option(help="Of AdamW, for squares of gradients; 0.999 is usual.")
    ] = None,
    loss: Annotated[
        LossName | None, typer.Option(help="At the answer alone, or everywhere; dyck only.")
    ] = None,
    device: Annotated[Device | None, typer.Option(help="cpu by default.")] = None,
    mixed: Annotated[bool, typer.Option("--mixed", help="bfloat16 on a CUDA device.")] = False,
    recipe: Annotated[
        RecipeName | None,
        typer.Option(
            help="last-even: Table 2 as it stands, or any tokens, loss where the rule speaks."
        ),
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(help="last-even: folder for the paper's figures of the model.")
    ] = None,
) -> None:
    """Train the transformers of the first and the third paper.

    Without further options a run is the paper's own. A run that was stopped goes on where it was
    when the same command is given again.
    """
    given = _given(
        {
            BALANCING: {"--pairs": pairs, "--loss": loss},
            HOPPING: {"--hops": hops, "--length": length},
            UNIVERSAL: {
                "--family": family,
                "--components": components,
                "--heads": heads,
                "--layers": layers,
                "--head-width": head_width,
                "--m": m,
                "--batch": batch,
                "--learning-rate": learning_rate,
                "--warmup": warmup,
                "--cosine": cosine,
                "--hold": hold,
                "--second-beta": second_beta,
                "--device": device,
                "--mixed": mixed or None,
            },
            MINIMAL: {"--recipe": recipe, "--figures": figures},
        },
        task,
    )
    folder = Path(task.value) if out is None else out
    if task is Task.last_even:
        from reports.training import AskedTraining, run_training

        done = run_training(
            AskedTraining(
                recipe=(recipe or RecipeName.paper).value,
                seed=seed,
                steps=steps,
                out=folder,
                figures=figures,
            )
        )
    else:
        from reports.learning import AskedLearning, run_learning

        if steps is not None:
            given["steps"] = steps
        done = run_learning(
            AskedLearning(
                task=task.value,
                family=given.pop("family", Family.sparse),
                components=given.pop("components", Components.attention),
                seed=seed,
                device=str(given.pop("device", Device.cpu)),
                mixed=bool(given.pop("mixed", False)),
                changes=given,
                out=folder,
            )
        )
    show(done.lines)
    if done.interrupted:
        typer.echo("certiformer: interrupted; the same command goes on there", err=True)
        raise typer.Exit(INTERRUPTED)


def _given(options: dict[str, dict[str, Any]], task: Task) -> dict[str, Any]:
    """The options that were given, by the names of a plan.

    Raises:
        UsageError: one of another task.
    """
    found = dict[str, Any]()
    for tasks, group in options.items():
        for option, value in group.items():
            if value is None:
                continue
            if task.value not in tasks.split(" and "):
                raise UsageError(
                    f"{option} is for {tasks}, got the task {task.value}; leave it out"
                )
            found[NAMES.get(option, option.strip("-").replace("-", "_"))] = value
    if "loss" in found:
        found["answer_only"] = found.pop("loss") is LossName.answer
    return found


NAMES = {"--m": "width"}
"""Options whose name is not that of the plan."""


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    help.add(
        app,
        "train",
        train,
        panel=help.TRANSFORMERS,
        short="Train the transformers of the first and the third paper",
        shown=(
            ("certiformer train last-even", "the third paper's own run, into last-even/"),
            (
                "certiformer train dyck --family sparse --steps 200 --out dyck",
                "a short run of parenthesis balancing; the same command goes on with it",
            ),
            ("certiformer train hops --hops 2 --device cuda --mixed", "on a GPU, in bfloat16"),
            ("certiformer report dyck", "tables and curves of the saved run"),
        ),
    )
