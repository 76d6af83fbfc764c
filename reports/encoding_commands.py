"""The command that encodes a target into a fixed transformer: encode."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from reports import help
from reports.completion import constructions, dtypes
from reports.progress import stages
from reports.terminal import AsJson, show, uninterrupted


def encode(
    target: Annotated[
        Path,
        typer.Argument(
            metavar="TARGET.safetensors",
            help="W_Q, W_K, W_V, W_O, .., or a state_dict (.pt, .bin too) of common GPT code.",
        ),
    ],
    construction: Annotated[
        str,
        typer.Option(
            help="How the fixed parameters are made; a wrong name lists all.",
            autocompletion=constructions,
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder for E, the fixed parameters and the proof.")],
    m: Annotated[
        int | None, typer.Option(help="Embedding dimension; by default the least.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of a draw and of random inputs.")] = 0,
    dtype: Annotated[
        str,
        typer.Option(help="What E is rounded to; a wrong one lists all.", autocompletion=dtypes),
    ] = "float32",
    dense: Annotated[
        bool, typer.Option("--dense", help="Write 0/1 parameters as dense matrices.")
    ] = False,
    inputs: Annotated[int, typer.Option(min=1, help="Random inputs to bound errors on.")] = 3,
    heads: Annotated[
        int | None, typer.Option(min=1, help="Heads, where packed weights do not say it.")
    ] = None,
    metadata: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="What the file does not say: logit_scale, residual, mask or activation.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write the embedding by which a fixed universal transformer computes the target."""
    from reports.encoding import Asked, encode_file, said_of

    asked = Asked(
        target=target,
        construction=construction,
        width=m,
        seed=seed,
        dtype=dtype,
        dense=dense,
        inputs=inputs,
        out=out,
        said=said_of(metadata or (), heads),
    )
    with stages() as tell:
        encoded = encode_file(asked, tell)
        if encoded.write is not None:
            tell(f"writing {out}")
            uninterrupted(encoded.write)
    data = {"exit_status": encoded.status, **encoded.data}
    show([json.dumps(data, indent=1)] if as_json else encoded.lines)
    raise typer.Exit(encoded.status)


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    help.add(
        app,
        "encode",
        encode,
        panel=help.TRANSFORMERS,
        short="Write E by which a fixed transformer computes a target",
        shown=(
            (
                "certiformer encode target.safetensors --construction tree --out encoded",
                "E, the fixed 0/1 parameters, and a certificate of E P_0 = C_0",
            ),
            (
                "certiformer encode gpt.pt --construction generic --heads 4 --out encoded",
                "a state_dict of common GPT code, into parameters drawn at random",
            ),
            ("certiformer recheck encoded", "the certificate, by plain definitions"),
        ),
    )
