"""The command line: `certiformer COMMAND`; progress on stderr, results on stdout.

0    every claim reached the status that is expected of it
1    something is refuted, or short of what is expected
2    wrong usage or unreadable input, in one line
3    something is broken, or unknown where better was expected
130  interrupted; what was settled is reported and written
"""

from __future__ import annotations

import signal
import sys
import traceback
from types import FrameType
from typing import Any

import typer

from reports import (
    checking_commands,
    encoding_commands,
    help,
    machine_commands,
    minimal_commands,
    mutation_commands,
    record_commands,
    scaffold_commands,
    sharing_commands,
    training_commands,
)
from reports.terminal import BROKEN, INTERRUPTED, WRONG_USAGE, one_line
from verify.errors import UsageError
from verify.verdicts import Json

app = typer.Typer(
    name="certiformer",
    cls=help.Commands,
    help="Verify theorems whose proof is an explicit transformer.",
    epilog=help.examples(
        ("certiformer verify", "check every claim, and write reports/out/index.html"),
        ("certiformer explain universal.tree.identity", "one claim, in words and formally"),
        ("certiformer recheck reports/out", "check its certificates by another program"),
        ("certiformer new mypaper", "start a package of claims for a paper of your own"),
        ("certiformer verify --help", "options and examples of one command"),
    ),
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


for module in (
    checking_commands,
    sharing_commands,
    record_commands,
    mutation_commands,
    machine_commands,
    encoding_commands,
    training_commands,
    minimal_commands,
    scaffold_commands,
):
    module.register(app)


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
        typer.echo(f"UsageError: {one_line(help.complaint(error, arguments))}", err=True)
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
