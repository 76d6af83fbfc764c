"""The command line: `certiformer COMMAND`; progress on stderr, results on stdout.

0    every claim reached the status that is expected of it
1    something is refuted, or short of what is expected
2    wrong usage or unreadable input, in one line
3    something is broken, or unknown where better was expected
130  interrupted; what was settled is reported and written
"""

from __future__ import annotations

import datetime
import json
import os
import shlex
import signal
import subprocess
import sys
import traceback
from enum import StrEnum
from pathlib import Path
from types import FrameType
from typing import Annotated, Any

import typer

from reports import machine_commands, minimal_commands, mutation_commands, training_commands
from reports.progress import progress
from reports.running import Run, ledger_at, run_checks
from reports.selection import Selection, select
from reports.terminal import BROKEN, INTERRUPTED, REFUTED, WRONG_USAGE, AsJson, one_line, show
from verify.claims import Setting
from verify.errors import UsageError
from verify.ledger import LEDGER, Ledger
from verify.verdicts import Json, Status
from verify.worker import Limits

app = typer.Typer(
    name="certiformer",
    help="Verify theorems whose proof is an explicit transformer.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


class ProfileName(StrEnum):
    """How much a run checks."""

    quick = "quick"
    standard = "standard"
    deep = "deep"


SELECTORS = (
    "Claim ids, globs over ids such as 'universal.*', or paths of Python files or package folders "
    "with claims. A file is code: it runs with your rights. Without any, every claim of the suite."
)
Selectors = Annotated[
    list[str] | None, typer.Argument(metavar="[SELECTOR]...", help=SELECTORS, show_default=False)
]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", "-j", min=1, help="Checks at a time; by default one a core."),
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of every search.")]
Seconds = Annotated[float, typer.Option(min=0.1, help="Time after which a check is killed.")]
Memory = Annotated[int, typer.Option(min=1, help="MiB of memory at which a check is killed.")]
Folder = Annotated[
    Path, typer.Argument(metavar="DIR", help="Folder that `certiformer verify` wrote.")
]


@app.command("list")
def list_claims(selectors: Selectors = None, as_json: AsJson = False) -> None:
    """List claims, what is expected of them, and where their papers state them."""
    from reports.text import claim_json, claim_list

    chosen = select(selectors or []).chosen
    if as_json:
        show([json.dumps([claim_json(item) for item in chosen], indent=1)])
    else:
        show(claim_list(chosen))


@app.command()
def verify(
    selectors: Selectors = None,
    profile: Annotated[
        ProfileName, typer.Option(help="How much is checked.")
    ] = ProfileName.standard,
    jobs: Jobs = None,
    seed: Seed = 0,
    out: Annotated[Path, typer.Option(help="Folder for the record and its pages.")] = Path(
        "reports/out"
    ),
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Settle anew what the folder's ledger holds.")
    ] = False,
    proofs: Annotated[
        bool, typer.Option("--proofs", help="Also keep cvc5's own proofs; nothing checks them.")
    ] = False,
    seconds: Seconds = 600.0,
    memory: Memory = 4096,
) -> None:
    """Settle claims and all that they use; write the record, its certificates and its pages.

    What an earlier run into the folder settled, with the same sources, is not settled again.
    """
    from reports import record as records
    from reports import text
    from reports.environment import Circumstances
    from reports.folder import FILES, write_run
    from reports.output import require_writable

    selection = select(selectors or [])
    require_writable(out, (*FILES, LEDGER))
    setting = Setting(profile=profile.value, seed=seed)
    asked = Circumstances(
        started=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        jobs=jobs or os.cpu_count() or 1,
        limits=Limits(seconds=seconds, bytes=memory << 20),
    )
    with ledger_at(out / LEDGER, fresh=fresh) as ledger:
        run = _run(selection, setting, asked.limits, asked.jobs, ledger=ledger)
    recorded = records.build(selection, setting, run.outcomes)
    try:
        _uninterrupted(lambda: write_run(out, recorded, run, asked))
    finally:
        show(text.claim_table(recorded.record))
        show(["", *lines] if (lines := list(text.shortfalls(recorded.record))) else [])
        show(["", text.summary(recorded.record, run)])
    if proofs and not run.interrupted:
        from reports.proofs import PROOFS, keep

        kept = keep(out, recorded.certificates, asked.jobs)
        words = f"{kept.proved} of {kept.goals} goals have a proof of cvc5's in {out / PROOFS}"
        show([f"{words} ({kept.bytes >> 10} KiB); nothing here checks them"])
    show([str(out / "index.html")])
    raise typer.Exit(INTERRUPTED if run.interrupted else records.exit_status(recorded.record))


@app.command()
def fuzz(
    selector: Annotated[str, typer.Argument(metavar="SELECTOR", help=SELECTORS)],
    examples: Annotated[int, typer.Option(min=1, help="Examples for each search.")],
    seed: Seed = 0,
    jobs: Jobs = None,
    seconds: Seconds = 600.0,
    memory: Memory = 4096,
) -> None:
    """Search for counterexamples with the sampled checks of the selected claims alone."""
    from reports.text import fuzz_lines

    selection = select([selector])
    setting = Setting(seed=seed, examples=examples)
    limits = Limits(seconds=seconds, bytes=memory << 20)
    run = _run(selection, setting, limits, jobs or os.cpu_count() or 1, only="sampled")
    if not run.outcomes:
        raise UsageError(
            f"fuzz {selector}: a claim with a sampled check is required, got "
            f"{len(selection.chosen)} without one; choose another or use `certiformer verify`"
        )
    command = ["certiformer", "fuzz", selector, "--examples", str(examples), "--seed", str(seed)]
    show(fuzz_lines(run, shlex.join(command)))
    raise typer.Exit(INTERRUPTED if run.interrupted else _fuzz_status(run))


def _fuzz_status(run: Run) -> int:
    statuses = {outcome.verdict.status for outcome in run.outcomes}
    if statuses & {Status.BROKEN, Status.UNKNOWN}:
        return BROKEN
    return REFUTED if Status.REFUTED in statuses else 0


machine_commands.register(app)
training_commands.register(app)
minimal_commands.register(app)
mutation_commands.register(app)


@app.command()
def encode(
    target: Annotated[
        Path, typer.Argument(metavar="TARGET.safetensors", help="W_Q, W_K, W_V, W_O, ..")
    ],
    construction: Annotated[
        str, typer.Option(help="How the fixed parameters are made; a wrong name lists all.")
    ],
    out: Annotated[Path, typer.Option(help="Folder for E, the fixed parameters and the proof.")],
    m: Annotated[
        int | None, typer.Option(help="Embedding dimension; by default the least.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of a draw and of random inputs.")] = 0,
    dtype: Annotated[str, typer.Option(help="What E is rounded to; a wrong one lists all.")] = (
        "float32"
    ),
    dense: Annotated[
        bool, typer.Option("--dense", help="Write 0/1 parameters as dense matrices.")
    ] = False,
    inputs: Annotated[int, typer.Option(min=1, help="Random inputs to bound errors on.")] = 3,
) -> None:
    """Write the embedding by which a fixed universal transformer computes the target."""
    from reports.encoding import Asked, encode_file

    asked = Asked(
        target=target,
        construction=construction,
        width=m,
        seed=seed,
        dtype=dtype,
        dense=dense,
        inputs=inputs,
        out=out,
    )
    encoded = encode_file(asked)
    if encoded.write is not None:
        _uninterrupted(encoded.write)
    show(encoded.lines)
    raise typer.Exit(encoded.status)


@app.command()
def recheck(
    folder: Folder,
    solver: Annotated[
        str | None, typer.Option(help="A solver's command for the goals in SMT-LIB.")
    ] = None,
    regenerate: Annotated[
        bool,
        typer.Option(
            "--regenerate",
            help="Also state every claim, goal and instance anew from the code, and compare.",
        ),
    ] = False,
    jobs: Jobs = None,
) -> None:
    """Recheck every certificate of a run in a fresh process that imports nothing of the suite."""
    from reports.rechecking import command

    status = subprocess.run(command(folder, solver=solver, jobs=jobs), check=False).returncode
    if regenerate and status != WRONG_USAGE:
        from reports.regeneration import differences

        with progress() as watch:
            found = list(differences(folder, jobs or os.cpu_count() or 1, Limits(), watch))
        show([f"{'rejected':13} {what}: {words}" for what, words in found])
        counted = "1 difference" if len(found) == 1 else f"{len(found)} differences"
        show([f"{counted} from what the claims' code states"])
        status = REFUTED if found else status
    raise typer.Exit(status)


@app.command()
def report(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR", help="Folder that `certiformer verify` or `certiformer train` wrote."
        ),
    ],
) -> None:
    """Rebuild the pages of a run from its record, or tables and curves from saved training runs."""
    from reports import folder as pages

    show(pages.report(folder))


def _run(
    selection: Selection,
    setting: Setting,
    limits: Limits,
    jobs: int,
    *,
    only: str | None = None,
    ledger: Ledger | None = None,
) -> Run:
    """Settle the selection under the eyes of whoever looks at stderr."""
    claims = selection.claims if only is None else selection.chosen
    methods = None if only is None else (only,)
    with progress() as watch:
        return run_checks(claims, setting, limits, jobs, watch, methods=methods, ledger=ledger)


def _uninterrupted(action: Any) -> None:
    """Let a short action end before an interruption takes effect."""
    kept = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        action()
    finally:
        signal.signal(signal.SIGINT, kept)


def _ended(number: int, frame: FrameType | None) -> None:
    del number, frame
    raise KeyboardInterrupt


def invoke(arguments: list[str] | None = None) -> int:
    """Run a command and return its exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        if not arguments:
            app(args=["--help"], prog_name="certiformer", standalone_mode=False)
            return WRONG_USAGE
        status: Json = app(args=arguments, prog_name="certiformer", standalone_mode=False)
    except UsageError as error:
        typer.echo(f"{type(error).__name__}: {one_line(error)}", err=True)
        return WRONG_USAGE
    except typer.TyperException as error:
        message: Any = getattr(error, "format_message", error.__str__)
        typer.echo(f"UsageError: {one_line(message())} (see certiformer --help)", err=True)
        return WRONG_USAGE
    except (KeyboardInterrupt, typer.Abort):
        typer.echo("certiformer: interrupted", err=True)
        return INTERRUPTED
    except Exception:  # a fault of the suite itself must not look like a verdict
        typer.echo(traceback.format_exc(), err=True)
        return BROKEN
    return status if isinstance(status, int) else 0


def main() -> None:
    """The console's entry point."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure: Any = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    signal.signal(signal.SIGTERM, _ended)
    sys.exit(invoke())


if __name__ == "__main__":
    main()
