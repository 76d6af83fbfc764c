"""A machine run at several levels, with its trace written as it goes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from reports.machines import read_machine, read_word
from reports.output import replacing
from verify.verdicts import Json


def simulate(
    argument: str,
    text: str,
    max_steps: int,
    levels: Sequence[str],
    trace: Path | None,
    progress: Callable[[int], None],
) -> tuple[dict[str, Json], str]:
    """The report of `run --json` and the description of a disagreement; no levels means all.

    Raises:
        UsageError: the machine or its input cannot be read.
        OutputError: the trace cannot be written.
    """
    from constructions.machines.simulate import LEVELS, run_levels

    machine = read_machine(argument)
    word = read_word(machine, text)
    with ExitStack() as stack:
        write = None if trace is None else _lines(stack.enter_context(replacing(trace)))
        report = run_levels(
            machine, word, max_steps, levels or LEVELS, trace=write, progress=progress
        )
    return report.as_json(), report.disagreement


def _lines(stream: IO[bytes]) -> Callable[[dict[str, object]], None]:
    def write(entry: dict[str, object]) -> None:
        stream.write(json.dumps(entry).encode("ascii") + b"\n")

    return write
