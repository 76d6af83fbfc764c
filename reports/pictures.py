"""Pictures of runs of machines: for `certiformer run --picture`, and for the page of a record."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from reports import output
from reports.figures import svg
from reports.figures.svg import Figure
from reports.machines import read_machine
from reports.simulation import MODEL, AskedRun
from verify.errors import UsageError
from verify.verdicts import Json

if TYPE_CHECKING:
    from constructions.machines.levels import LevelsReport

SUFFIX = ".svg"
SHOWN = "1RB1LB_1LA0LC_1RZ1LD_1RD0RA"
"""BB(4), whose run a page shows."""
RULES = 1000
"""More than it applies."""
FIRST, COUNT = 18, 4
"""The queue steps in which a page shows the recovery: one appends two symbols."""


def require_drawable(asked: AskedRun, path: Path) -> None:
    """Refuse what no picture can be drawn of, or into, before the run.

    Raises:
        UsageError: another suffix, single levels, or a compiled transformer.
    """
    if path.suffix.lower() != SUFFIX:
        raise UsageError(f"--picture must end in {SUFFIX}, got {path}; name a file of that kind")
    if asked.machine.endswith(MODEL):
        raise UsageError(
            f"--picture: must be of a machine, got the compiled transformer {asked.machine}; "
            "run its machine"
        )
    if asked.levels:
        raise UsageError(
            f"--picture: shows all levels of a run, got --as {asked.levels[0]}; run it without --as"
        )


def write_picture(asked: AskedRun, report: LevelsReport, path: Path) -> None:
    """Draw the run that was asked, with the figures that it came to.

    Raises:
        OutputError: the file cannot be written.
    """
    from constructions.machines.formats.machine_file import QueueTable
    from reports.figures import space_time

    given = read_machine(asked.machine, asked.text)
    if isinstance(given.machine, QueueTable):
        machine = given.machine.machine()
        figure = space_time.of_queue_machine(machine, given.word, asked.max_steps, report)
    else:
        figure = space_time.of_turing_machine(given.machine, given.word, asked.max_steps, report)
    output.write(path, svg.file_of(figure.inline))


def of_record(record: Mapping[str, Json]) -> list[Figure]:
    """What a page shows beside claims about machines: a run, and recoveries in it."""
    from constructions.machines.formats import bbchallenge
    from constructions.machines.simulate import run_levels
    from constructions.machines.turing import queue_machine
    from reports.figures import recovery, space_time, symbols

    claims = {claim["id"] for claim in record["claims"]}
    machine = bbchallenge.read(SHOWN)
    drawn: list[Figure] = []
    if any(name.startswith("machines.") for name in claims):
        report = run_levels(machine, (), RULES)
        drawn.append(space_time.of_turing_machine(machine, (), RULES, report))
    if "machines.parity.recovers" in claims:
        steps = recovery.steps(queue_machine(machine), ())
        chosen = [*islice((step for step in steps if step.number >= FIRST), COUNT)]
        drawn.append(recovery.figure(machine.name, chosen, symbols.of_turing_machine(machine)))
    return drawn
