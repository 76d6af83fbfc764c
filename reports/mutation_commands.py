"""The command that breaks everything once: mutate."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from reports.terminal import INTERRUPTED, AsJson, show


def mutate(
    selectors: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SELECTOR]...",
            help="As for verify; a file of yours may also state mutants, with @mutant.",
            show_default=False,
        ),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, help="Checks at a time; one a core.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of every search.")] = 0,
    out: Annotated[Path, typer.Option(help="Folder for mutants.json.")] = Path("reports/out"),
    seconds: Annotated[
        float, typer.Option(min=0.1, help="Time after which a check is killed.")
    ] = 1800.0,
    memory: Annotated[
        int, typer.Option(min=1, help="MiB of memory at which a check is killed.")
    ] = 4096,
    as_json: AsJson = False,
) -> None:
    """Break constructions, rules, axioms and goals once each; list what no check notices.

    Exit status 1 if a mutant survived that is not proved to be harmless.
    """
    from reports import output
    from reports.mutant_selection import field_of
    from reports.mutation import MUTANTS, Work
    from reports.mutation import mutate as plant
    from reports.mutation_text import lines_of
    from reports.progress import progress
    from verify.claims import Setting
    from verify.worker import Limits

    field = field_of(selectors or [])
    output.require_writable(out, (MUTANTS,))
    work = Work(
        field=field,
        setting=Setting(profile="quick", seed=seed),
        limits=Limits(seconds=seconds, bytes=memory << 20),
        jobs=jobs or os.cpu_count() or 1,
        watch=progress,
    )
    done = plant(work)
    if not done.interrupted:
        output.write(out / MUTANTS, done.written())
    show([json.dumps(done.document())] if as_json else lines_of(done))
    raise typer.Exit(INTERRUPTED if done.interrupted else done.exit_status)


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("mutate")(mutate)
