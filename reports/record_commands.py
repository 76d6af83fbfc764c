"""The commands about what a run wrote: recheck, report."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from reports import help
from reports.options import Folder, Jobs
from reports.progress import progress, stages
from reports.terminal import REFUTED, WRONG_USAGE, AsJson, show


def recheck(
    folder: Folder,
    solver: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="z3, cvc5 or another solver's command, for goals in SMT-LIB."
        ),
    ] = None,
    regenerate: Annotated[
        bool,
        typer.Option(
            "--regenerate",
            help="Also state every claim, goal and instance anew from the code, and compare.",
        ),
    ] = False,
    jobs: Jobs = None,
    as_json: AsJson = False,
) -> None:
    """Recheck every certificate of a run in a fresh process that imports nothing of the suite.

    With --json each line is an object: a certificate's outcome, what it is, and words; then counts.
    """
    from reports.rechecking import run

    status = run(folder, solver=solver, jobs=jobs, as_json=as_json)
    if regenerate and status != WRONG_USAGE:
        from reports.regeneration import differences
        from verify.worker import Limits

        with progress() as watch:
            found = list(differences(folder, jobs or os.cpu_count() or 1, Limits(), watch))
        show(_told(found, as_json))
        status = REFUTED if found else status
    raise typer.Exit(status)


def _told(found: Sequence[tuple[str, str]], as_json: bool) -> Iterator[str]:
    """What differs from what the claims' code states."""
    for what, words in found:
        row = {"outcome": "rejected", "what": what, "words": words}
        yield json.dumps(row) if as_json else f"{'rejected':13} {what}: {words}"
    counted = "1 difference" if len(found) == 1 else f"{len(found)} differences"
    told = f"{counted} from what the claims' code states"
    yield json.dumps({"differences": len(found)}) if as_json else told


def report(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR", help="Folder that `certiformer verify` or `certiformer train` wrote."
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Rebuild the pages of a run from its record, or tables and curves from saved training runs."""
    from reports import folder as pages

    with stages() as tell:
        done = pages.report(folder, tell)
    written = {"exit_status": 0, "page": str(done.page), "tables": list(done.tables)}
    show([json.dumps(written, indent=1)] if as_json else [*done.tables, str(done.page)])


def register(app: typer.Typer) -> None:
    """Add the commands to the application, in the order in which its help shows them."""
    help.add(
        app,
        "recheck",
        recheck,
        panel=help.CHECK,
        short="Recheck a run's certificates in a process that imports nothing",
        shown=(
            ("certiformer recheck reports/out", "everything but solvers' answers"),
            ("certiformer recheck reports/out --solver cvc5", "those too, by a solver of your own"),
            (
                "certiformer recheck reports/out --regenerate",
                "also that the certificates show what the claims' code states now",
            ),
        ),
    )
    help.add(
        app,
        "report",
        report,
        panel=help.CHECK,
        short="Rebuild the pages of a run from its record",
        shown=(
            ("certiformer report reports/out", "index.html, claims.tex, junit.xml, badge.svg"),
            ("certiformer report dyck", "tables and curves of saved training runs"),
        ),
    )
