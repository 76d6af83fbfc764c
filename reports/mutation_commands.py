"""The command that breaks everything once: mutate."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from reports import help
from reports.completion import claim_ids
from reports.options import Jobs, Memory, Seconds, Seed
from reports.terminal import INTERRUPTED, AsJson, show


def mutate(
    selectors: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SELECTOR]...",
            help="As for verify; a file of yours may also state mutants, with @mutant.",
            show_default=False,
            autocompletion=claim_ids,
        ),
    ] = None,
    jobs: Jobs = None,
    seed: Seed = 0,
    out: Annotated[Path, typer.Option(help="Folder for mutants.json.")] = Path("reports/out"),
    seconds: Seconds = 1800.0,
    memory: Memory = 4096,
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
    help.add(
        app,
        "mutate",
        mutate,
        panel=help.CHECK,
        short="Break everything once; list what no check notices",
        shown=(
            (
                "certiformer mutate universal.tree.identity",
                "its axioms, goals, constructions and certificates, each broken once",
            ),
            ("certiformer mutate mine.py --out mine", "a file of yours, with mutants of your own"),
            ("certiformer mutate --json", "every claim, for a script; this takes minutes"),
        ),
    )
