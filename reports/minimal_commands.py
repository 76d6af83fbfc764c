"""The command about minimal transformers: decide."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from reports import help
from reports.terminal import REFUTED, AsJson, show


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
    """Add the command to the application."""
    help.add(
        app,
        "decide",
        decide,
        panel=help.TRANSFORMERS,
        short="Decide a minimal transformer's rule on every window",
        shown=(
            ("certiformer decide last-even/model.safetensors", "all lengths up to its context"),
            (
                "certiformer decide last-even/model.safetensors --length 2..8 --json",
                "some lengths, for a script",
            ),
        ),
    )
