"""The command that starts a package of claims for a paper of one's own: new."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reports import help
from reports.terminal import show


def new(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="A lower-case Python identifier; claim ids begin so."),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder to put it into.")] = Path(),
) -> None:
    """Write a package of claims of your own, with one worked claim of each kind, ready to run."""
    from reports import scaffold

    show(scaffold.lines(scaffold.create(name, out)))


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    help.add(
        app,
        "new",
        new,
        panel=help.YOURS,
        short="Write a package of claims of your own, ready to run",
        shown=(
            ("certiformer new mypaper", "a folder with one worked claim of each kind"),
            ("certiformer verify mypaper --out mypaper/out", "settle its claims"),
            ("certiformer mutate mypaper --out mypaper/out", "see that its checks notice faults"),
        ),
    )
