"""The commands about machines: run, convert, compile."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from reports import help
from reports.completion import machine_files
from reports.progress import StepProgress
from reports.terminal import INTERRUPTED, REFUTED, AsJson, one_line, show

ENDINGS = (
    "File that ends in .txt or .tm (Morphett), .bb.txt (bbchallenge), .yaml (turingmachine.io), "
    ".jff (JFLAP) or .queue.yaml (a queue machine)."
)


Machine = Annotated[
    str,
    typer.Argument(
        metavar="MACHINE",
        help="File, or text such as 1RB1LB_1LA1RZ.",
        autocompletion=machine_files,
    ),
]


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
            autocompletion=machine_files,
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
    from reports.output import require_place
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
        require_place(picture)
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
    machine: Machine,
    out: Annotated[Path, typer.Argument(metavar="OUT", help=ENDINGS)],
) -> None:
    """Write a machine in the format of another file's ending."""
    from reports.conversion import convert

    show([str(convert(machine, out))])


def compile_transformer(
    machine: Machine,
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
    help.add(
        app,
        "run",
        run_machine,
        panel=help.MACHINES,
        short="Run a machine at every level, and compare the levels",
        shown=(
            (
                "certiformer run 1RB1LB_1LA1RZ",
                "as Turing machine, queue machine, HIST and transformer",
            ),
            (
                "certiformer run increment.yaml --input 1011 --as turing --max-steps 1000",
                "a file's machine on an input, at one level",
            ),
            (
                "certiformer run 1RB1LC_1RC1RB_1RD0LE_1LA1LD_1RZ0LA --checkpoint run.json",
                "a long run, which the same command goes on with when it was interrupted",
            ),
        ),
    )
    help.add(
        app,
        "convert",
        convert_machine,
        panel=help.MACHINES,
        short="Write a machine in the format of another file's ending",
        shown=(
            ("certiformer convert 1RB1LB_1LA1RZ beaver.yaml", "for turingmachine.io"),
            ("certiformer convert beaver.yaml beaver.jff", "for JFLAP"),
        ),
    )
    help.add(
        app,
        "compile",
        compile_transformer,
        panel=help.MACHINES,
        short="Write a machine's transformer as tensors, which run takes",
        shown=(
            (
                "certiformer compile 1RB1LB_1LA1RZ --out beaver.safetensors --window 32",
                "weights for contexts of up to 33 tokens",
            ),
            (
                "certiformer run beaver.safetensors",
                "the tensors' tokens compared with the machine's own",
            ),
        ),
    )
