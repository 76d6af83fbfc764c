"""How the command line explains itself: commands in groups, examples, exit statuses.

A command's epilog holds its examples, one a line: a command line, `#`, and a remark.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from itertools import zip_longest
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from verify.errors import UsageError

CHECK = "Check"
MACHINES = "Machines"
TRANSFORMERS = "Transformers"
YOURS = "Your own paper"
OTHER = "Other"
PANELS = (CHECK, MACHINES, TRANSFORMERS, YOURS)
"""The groups of commands, as `certiformer --help` shows them."""
EXIT_STATUSES = (
    ("0", "every claim reached the status that is expected of it"),
    ("1", "something is refuted, or short of what is expected"),
    ("2", "wrong usage or unreadable input, said in one line"),
    ("3", "something is broken, or unknown where better was expected"),
    ("130", "interrupted; what was settled is kept"),
)
SHELLS = ("bash", "zsh", "fish", "powershell", "pwsh")
_COMPLETION = ("--install-completion", "--show-completion")
_REMARK = "  # "


def examples(*lines: tuple[str, str]) -> str:
    """An epilog from command lines and remarks."""
    return "\n".join(f"{line}{_REMARK}{remark}" for line, remark in lines)


def examples_in(epilog: str | None) -> list[tuple[str, str]]:
    """The command lines and remarks of an epilog."""
    pairs = (line.partition(_REMARK) for line in (epilog or "").splitlines())
    return [(line, remark) for line, _, remark in pairs]


class Command(TyperCommand):
    """A command whose help ends with examples."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the examples."""
        del ctx
        _write_examples(self.epilog, formatter)


class Commands(TyperGroup):
    """The commands in their groups, examples of the first ones to try, and exit statuses."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write a section for each group."""
        del ctx
        for panel, rows in self.by_panel().items():
            with formatter.section(panel):
                formatter.write_dl(rows)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write examples and exit statuses."""
        del ctx
        _write_examples(self.epilog, formatter)
        with formatter.section("Exit status"):
            formatter.write_dl(EXIT_STATUSES)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse to complete for a shell that cannot be told, before anything else.

        Raises:
            UsageError: it is asked for in no shell that is known.
        """
        option = next((word for word in args[:1] if word in _COMPLETION), None)
        if option is not None and (found := shell()) not in SHELLS:
            raise UsageError(
                f"{option}: must be asked for from {', '.join(SHELLS)}, got "
                f"{found or 'no shell that can be told'}; call it there, or print a script, such "
                "as bash's, with _CERTIFORMER_COMPLETE=source_bash certiformer"
            )
        return super().parse_args(ctx, args)

    def by_panel(self) -> dict[str, list[tuple[str, str]]]:
        """The commands of each group and what they do; one that names no group comes last."""
        groups: dict[str, list[tuple[str, str]]] = {panel: [] for panel in PANELS}
        for name, command in self.commands.items():
            panel = getattr(command, "rich_help_panel", None) or OTHER
            groups.setdefault(panel, []).append((name, command.get_short_help_str(80)))
        return groups


def add(
    app: typer.Typer,
    name: str,
    function: Any,
    *,
    panel: str,
    short: str,
    shown: tuple[tuple[str, str], ...],
) -> None:
    """Add a command: its group, what it does in one short line, and examples with remarks."""
    command = app.command(
        name, cls=Command, rich_help_panel=panel, short_help=short, epilog=examples(*shown)
    )
    command(function)


def complaint(error: Any, arguments: Sequence[str]) -> str:
    """What is wrong with the arguments, what came, and the command whose help says more."""
    message = str(getattr(error, "format_message", error.__str__)())
    message = message.replace("Value error, ", "").replace("Input should be", "must be")
    message = message.partition(", unable to parse")[0]
    context, parameter = getattr(error, "ctx", None), getattr(error, "param", None)
    options: Sequence[str] = getattr(parameter, "opts", ())
    if "must be" in message and (came := _came(options, arguments)) is not None:
        message = f"{message}, got {came!r}"
    command = "certiformer" if context is None else context.command_path
    return f"{message} (see {command} --help)"


def _came(options: Sequence[str], arguments: Sequence[str]) -> str | None:
    """The value that was given to an option last, if one was."""
    found: str | None = None
    for word, after in zip_longest(arguments, arguments[1:]):
        name, equals, value = str(word).partition("=")
        if name in options:
            found = value if equals else after
    return found


def _write_examples(epilog: str | None, formatter: Any) -> None:
    with formatter.section("Examples"):
        for line, remark in examples_in(epilog):
            formatter.write_dl([(line, remark)], col_max=2)


def shell() -> str:
    """The shell that runs the command; nothing if it cannot be told."""
    shellingham: Any = import_module("shellingham")  # typer brings it, without types
    try:
        return shellingham.detect_shell()[0]
    except shellingham.ShellDetectionFailure:
        return ""
