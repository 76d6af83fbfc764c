"""The commands about machines: run, convert, compile."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from reports.progress import StepProgress
from reports.terminal import INTERRUPTED, REFUTED, AsJson, one_line, show

ENDINGS = (
    "File that ends in .txt or .tm (Morphett), .bb.txt (bbchallenge), .yaml (turingmachine.io), "
    ".jff (JFLAP) or .queue.yaml (a queue machine)."
)


class Level(StrEnum):
    """The levels at which a machine is run."""

    turing = "turing"
    queue = "queue"
    hist = "hist"
    transformer = "transformer"
    all = "all"


def run_machine(
    machine: Annotated[
        str,
        typer.Argument(
            metavar="MACHINE",
            help="File, or text such as 1RB1LB_1LA1RZ; or what `certiformer compile` wrote.",
        ),
    ],
    word: Annotated[
        str | None, typer.Option("--input", help="Symbols on the tape; by default the file's.")
    ] = None,
    level: Annotated[Level, typer.Option("--as", help="The level to run at.")] = Level.all,
    max_steps: Annotated[
        int, typer.Option(min=0, help="Rules, or steps of a queue machine, before it is cut off.")
    ] = 100_000,
    trace: Annotated[
        Path | None, typer.Option(help="File for a JSON line for every step of every level.")
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="File in which the run is kept, and from which it goes on."),
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option(help="An .svg file for the run's tape, queue and context against time."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run a machine as Turing machine, queue machine, HIST and transformer, and compare them.

    An interrupted run reports how far it came; with --checkpoint the same command goes on there.
    """
    from reports.pictures import require_drawable, write_picture
    from reports.simulation import AskedRun, simulate
    from reports.text import levels_table

    asked = AskedRun(
        machine=machine,
        text=word,
        max_steps=max_steps,
        levels=() if level is Level.all else (level.value,),
        trace=trace,
        checkpoint=checkpoint,
    )
    if picture is not None:
        require_drawable(asked, picture)
    steps = StepProgress("steps", max_steps)
    try:
        done = simulate(asked, steps)
    finally:
        steps.clear()
    report = done.report.as_json()
    show([json.dumps(report)] if as_json else levels_table(report))
    if not done.report.agree:
        typer.echo(
            f"certiformer: the levels disagree: {one_line(done.report.disagreement)}", err=True
        )
        raise typer.Exit(REFUTED)
    if done.interrupted:
        typer.echo("certiformer: interrupted", err=True)
        raise typer.Exit(INTERRUPTED)
    if picture is not None:
        write_picture(asked, done.report, picture)


def convert_machine(
    machine: Annotated[
        str, typer.Argument(metavar="MACHINE", help="File, or text such as 1RB1LB_1LA1RZ.")
    ],
    out: Annotated[Path, typer.Argument(metavar="OUT", help=ENDINGS)],
) -> None:
    """Write a machine in the format of another file's ending."""
    from reports.conversion import convert

    show([str(convert(machine, out))])


def compile_transformer(
    machine: Annotated[
        str, typer.Argument(metavar="MACHINE", help="File, or text such as 1RB1LB_1LA1RZ.")
    ],
    out: Annotated[Path, typer.Option(help="The .safetensors file to write.")],
    window: Annotated[
        int, typer.Option(help="Symbols of the longest window; contexts have one token more.")
    ] = 64,
    dtype: Annotated[str, typer.Option(help="What it computes in; a wrong one lists all.")] = (
        "float32"
    ),
    form: Annotated[
        str | None,
        typer.Option(help="dense or block; by default dense where the matrices are not huge."),
    ] = None,
) -> None:
    """Write a machine's sliding-window transformer as tensors; `run` takes the file."""
    from reports.compilation import AskedModel, compile_machine

    asked = AskedModel(machine=machine, out=out, window=window, dtype=dtype, form=form)
    show(compile_machine(asked))


def register(app: typer.Typer) -> None:
    """Add the commands to the application, in the order in which its help shows them."""
    app.command("run")(run_machine)
    app.command("convert")(convert_machine)
    app.command("compile")(compile_transformer)
