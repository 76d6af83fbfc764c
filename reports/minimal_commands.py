"""The commands about minimal transformers: train, decide."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from reports.terminal import INTERRUPTED, REFUTED, AsJson, show


class Task(StrEnum):
    """What can be trained."""

    last_even = "last-even"


class RecipeName(StrEnum):
    """How it is trained."""

    paper = "paper"
    windows = "windows"


def train(
    task: Annotated[Task, typer.Argument(help="last-even: behind a + the last even number.")],
    recipe: Annotated[
        RecipeName,
        typer.Option(
            help="paper: Table 2 as it stands; windows: any tokens, loss where the rule speaks."
        ),
    ] = RecipeName.paper,
    seed: Annotated[int, typer.Option(min=0, help="Of initial weights and batches.")] = 0,
    steps: Annotated[
        int | None, typer.Option(min=1, help="Other than the recipe's own number.")
    ] = None,
    out: Annotated[
        Path, typer.Option(help="Folder for model.safetensors and the run's state.")
    ] = Path("last-even"),
    figures: Annotated[
        Path | None, typer.Option(help="Folder for the paper's figures of the trained model.")
    ] = None,
) -> None:
    """Train a minimal transformer; about a minute or two.

    A run that was stopped goes on where it was when the same command is given again.
    """
    from reports.training import AskedTraining, run_training

    del task
    asked = AskedTraining(recipe=recipe.value, seed=seed, steps=steps, out=out, figures=figures)
    done = run_training(asked)
    show(done.lines)
    if done.interrupted:
        typer.echo("certiformer: interrupted; the same command goes on there", err=True)
        raise typer.Exit(INTERRUPTED)


def decide(
    checkpoint: Annotated[
        Path,
        typer.Argument(
            metavar="CHECKPOINT",
            help="A .safetensors file, or a state_dict that torch.save wrote.",
        ),
    ],
    length: Annotated[
        str | None,
        typer.Option(metavar="N|A..B", help="Lengths of windows; by default 2 to the context."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Decide a minimal transformer's rule on every window: where it is right, where wrong, why.

    Windows end in + and hold an even number; right means that the last even number's logit is
    greater than all others. Exit status 1 if the rule fails on any.
    """
    from reports.deciding import decide_checkpoint, lines_of

    decided = decide_checkpoint(checkpoint, length)
    show([json.dumps(decided)] if as_json else lines_of(decided))
    if decided["status"] == "REFUTED":
        raise typer.Exit(REFUTED)


def register(app: typer.Typer) -> None:
    """Add the commands to the application, in the order in which its help shows them."""
    app.command("train")(train)
    app.command("decide")(decide)
