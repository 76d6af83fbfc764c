"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reports.completion import claim_ids

SELECTORS = (
    "Claim ids, globs over ids such as 'universal.*', or paths of Python files or package folders "
    "with claims. A file is code: it runs with your rights."
)
Selector = Annotated[
    str, typer.Argument(metavar="SELECTOR", help=SELECTORS, autocompletion=claim_ids)
]
Selectors = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[SELECTOR]...",
        help=f"{SELECTORS} Without any, every claim of the suite.",
        show_default=False,
        autocompletion=claim_ids,
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", "-j", min=1, help="Checks at a time; by default one a core."),
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of every search.")]
Seconds = Annotated[float, typer.Option(min=0.1, help="Time after which a check is killed.")]
Memory = Annotated[int, typer.Option(min=1, help="MiB of memory at which a check is killed.")]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Settle on the Dask cluster of this scheduler, such as tcp://host:8786.",
    ),
]
Folder = Annotated[
    Path, typer.Argument(metavar="DIR", help="Folder that `certiformer verify` wrote.")
]
