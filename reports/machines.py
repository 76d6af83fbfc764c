"""The machine that `certiformer run` is given: a file, or a machine's text itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from verify.errors import MachineFormatError, UsageError

if TYPE_CHECKING:
    from constructions.machines.definitions import TuringMachine

UNREAD = (".yaml", ".yml", ".jff")
"""Formats that are known by their suffix and not read yet."""
READ = (".txt",)


def read_machine(argument: str) -> TuringMachine:
    """The machine in the file of this name if there is one, else the one that the text describes.

    Raises:
        MachineFormatError: neither can be read.
    """
    from constructions.machines.formats.bbchallenge import read

    path = Path(argument)
    if _is_place(path):
        return read(_content(path), argument)
    if "/" in argument or path.suffix in (*READ, *UNREAD):
        raise MachineFormatError(
            f"{argument}: must be a machine's file or text such as 1RB1LB_1LA1RZ, got the name of "
            "a file that does not exist; check the path"
        )
    return read(argument)


def _is_place(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a text too long or too odd to name a file
        return False


def _content(path: Path) -> str:
    if path.suffix in UNREAD:
        raise MachineFormatError(
            f"{path}: machines are read from bbchallenge text, got a {path.suffix} file, which is "
            "not read yet; write the machine as text such as 1RB1LB_1LA1RZ"
        )
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise MachineFormatError(
            f"{path}: must be UTF-8 text, got byte {error.object[error.start]:#04x} at "
            f"{error.start}; save it as text"
        ) from error
    except OSError as error:
        raise MachineFormatError(
            f"{path}: must be a readable file, got {error.strerror or error}; check the path"
        ) from error


def read_word(machine: TuringMachine, text: str) -> tuple[str, ...]:
    """The input word: a symbol a character, or between blanks if a symbol has more than one.

    Raises:
        UsageError: a symbol is not the machine's.
    """
    single = all(len(symbol) == 1 for symbol in machine.alphabet)
    word: Sequence[str] = text if single else text.split()
    for place, symbol in enumerate(word):
        if symbol not in machine.alphabet:
            raise UsageError(
                f"--input: symbol {place} must be one of {', '.join(machine.alphabet)}, got "
                f"{symbol!r}; use the machine's own symbols"
            )
    return tuple(word)
