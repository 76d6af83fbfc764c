"""The machine that a command is given, a file or a machine's text itself, and its input."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from verify.errors import MachineFormatError, UsageError

if TYPE_CHECKING:
    from constructions.machines.definitions import TuringMachine
    from constructions.machines.formats.machine_file import MachineFile, QueueTable

SPACE = " "


def read_machine(argument: str, text: str | None = None) -> MachineFile:
    """The machine in the file of this name if there is one, else the one that the text describes.

    Its input is `text`, or the file's own where no text is given.

    Raises:
        MachineFormatError: neither can be read.
        UsageError: a symbol of the input is not the machine's.
    """
    from constructions.machines.formats import bbchallenge, files
    from constructions.machines.formats.machine_file import MachineFile

    if not argument:
        raise UsageError(
            "MACHINE must be a file or text such as 1RB1LB_1LA1RZ, got an empty one; name a machine"
        )
    path = Path(argument)
    if _is_place(path):
        extra = dict.fromkeys((text or "").replace(SPACE, ""))
        given = files.read_file(path, argument, extra)
    elif "/" in argument or path.name.lower().endswith(files.SUFFIXES):
        raise MachineFormatError(
            f"{argument}: must be a machine's file or text such as 1RB1LB_1LA1RZ, got the name of "
            "a file that does not exist; check the path"
        )
    else:
        given = MachineFile(machine=bbchallenge.read(argument))
    if text is None:
        return given
    return MachineFile(machine=given.machine, word=read_word(given.machine, text, argument))


def _is_place(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a text too long or too odd to name a file
        return False


def read_word(machine: TuringMachine | QueueTable, text: str, source_name: str) -> tuple[str, ...]:
    """The input word: a symbol a character, or between blanks if a symbol has more than one.

    Where each symbol is one character and a space is none of them, a space is the blank.

    Raises:
        UsageError: a symbol is not the machine's.
    """
    from constructions.machines.formats.machine_file import listed

    single = all(len(symbol) == 1 for symbol in machine.alphabet)
    word: Sequence[str] = text if single else text.split()
    if single and SPACE not in machine.alphabet:
        word = text.replace(SPACE, machine.blank)
    for place, symbol in enumerate(word):
        if symbol not in machine.alphabet:
            raise UsageError(
                f"--input: symbol {place} must be one of {listed(machine.alphabet)}, the symbols "
                f"of {source_name}, got {symbol!r}; use the machine's own symbols"
            )
    return tuple(word)
