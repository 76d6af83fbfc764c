"""The commands that show others what was found: diff, explain."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from reports import help
from reports.completion import claim_ids
from reports.options import SELECTORS
from reports.terminal import REFUTED, AsJson, painted, painter, show, width_of
from verify.errors import UsageError

UNTOLD_WIDTH = 100
"""Columns of a text that goes to no terminal."""


def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="Folder of the earlier run.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="Folder of the later run.")],
    as_json: AsJson = False,
) -> None:
    """Say what changed between two runs: standings, statements, checks, findings.

    Exit status 1 if a claim's standing fell, or a claim or a finding is gone.
    """
    from reports import difference
    from reports.record import load

    found = difference.changes(load(old), load(new))
    show([difference.json_of(found)] if as_json else difference.lines_of(found))
    raise typer.Exit(REFUTED if difference.is_worse(found) else 0)


def explain(
    selectors: Annotated[
        list[str],
        typer.Argument(metavar="CLAIM...", help=SELECTORS, autocompletion=claim_ids),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder of the run that is shown; by default reports/out, if it holds the claim.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
    smtlib: Annotated[
        bool, typer.Option("--smtlib", help="Print the goals' SMT-LIB text and nothing else.")
    ] = False,
) -> None:
    """Show the paper's words beside the formal goals, their axioms, the evidence and the trust.

    A claim that no run holds is explained from its code.
    """
    from reports import explaining, explaining_text, goal_scripts

    if as_json and smtlib:
        raise UsageError(
            "explain: must have one of --json and --smtlib, got both; call it once for each"
        )
    asked = explaining.ask(selectors, out)
    found = list(explaining.told(asked))
    if smtlib:
        show([goal_scripts.as_smtlib(goal_scripts.scripts(asked, found))])
    elif as_json:
        show([explaining.as_json(found)])
    else:
        width = width_of(sys.stdout) if sys.stdout.isatty() else UNTOLD_WIDTH
        coloured = painter(sys.stdout) is painted
        show(explaining_text.lines_of(found, width, coloured=coloured))


def register(app: typer.Typer) -> None:
    """Add the commands to the application, in the order in which its help shows them."""
    help.add(
        app,
        "explain",
        explain,
        panel=help.CHECK,
        short="Show a claim: the paper's words beside the formal goals",
        shown=(
            (
                "certiformer explain universal.tree.identity",
                "one claim, in words and formally",
            ),
            (
                "certiformer explain mypaper --out mypaper/out",
                "a package's claims, and a run",
            ),
            (
                "certiformer explain universal.shift.identity --smtlib > goals.smt2",
                "for solvers",
            ),
        ),
    )
    help.add(
        app,
        "diff",
        diff,
        panel=help.CHECK,
        short="Say what changed between two runs",
        shown=(
            ("certiformer diff before reports/out", "what is worse or gone comes first"),
            ("certiformer diff before reports/out --json", "for a script"),
        ),
    )
