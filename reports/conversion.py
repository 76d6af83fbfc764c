"""A machine written in another format: `certiformer convert`."""

from __future__ import annotations

from pathlib import Path

from reports.machines import read_machine
from reports.output import write


def convert(argument: str, out: Path) -> Path:
    """Write the machine, and its input where the format has a place for it, to `out`.

    Raises:
        MachineFormatError: the machine cannot be read, or not be written in the format of `out`.
        OutputError: the file cannot be written.
    """
    from constructions.machines.formats.files import written

    write(out, written(read_machine(argument), out.name).encode("utf-8"))
    return out
