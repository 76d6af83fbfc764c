"""The folder of a run: what `verify` writes, and what `report` rebuilds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from reports import badge, html, junit, latex, output, pictures
from reports.environment import RUN, Circumstances, describe
from reports.figures import minimal, parity_precision, precision, svg
from reports.figures.svg import Figure
from reports.mutation import MUTANTS
from reports.record import RECORD, Recorded, canonical, load, load_json
from reports.running import Run
from verify.errors import RecordError
from verify.verdicts import Json

if TYPE_CHECKING:
    from reports.experiments.gathered import Experiments

LEARNING = "learning."
"""How the ids of claims about trained models begin."""

Tell = Callable[[str], object]
"""Who hears what is being done."""
DEVICE = "gpu.json"
"""What `make gpu` measured, if it did; the figures show it beside the run's own."""
EXPERIMENTS = "experiments.html"
"""The page of a folder that holds saved runs and no record."""
FILES = (RECORD, RUN, html.INDEX, latex.CLAIMS, junit.JUNIT, badge.BADGE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """The page that was written, and the tables of saved runs that a terminal shows too."""

    page: Path
    tables: tuple[str, ...] = ()


def silent(what: str) -> None:
    """Tell nobody."""
    del what


def write_run(
    folder: Path, recorded: Recorded, run: Run, asked: Circumstances, tell: Tell = silent
) -> None:
    """Write everything; at any moment the record there names certificates that are there.

    `tell` hears what is being written, which takes a while where there is much to draw.

    Raises:
        OutputError: a file cannot be written.
    """
    tell("writing the certificates and the record")
    circumstances = describe(run, recorded.outcomes, asked)
    output.write_certificates(folder, recorded.certificates)
    output.write(folder / RECORD, canonical(recorded.record))
    output.write(folder / RUN, canonical(circumstances))
    _write_pages(folder, recorded.record, circumstances, tell)
    output.drop_stale(folder, recorded.certificates)


def report(folder: Path, tell: Tell = silent) -> Reported:
    """Write the pages of a record, or of saved runs if there is none, anew.

    Raises:
        RecordError: neither a record nor saved runs, or a record that cannot be read.
        CheckpointError: a saved run that cannot be read.
        OutputError: a page cannot be written.
    """
    if (folder / RECORD).exists():
        return Reported(page=rebuild(folder, tell))
    from constructions.learning.saved import runs_below
    from reports.experiments import gathered, plain

    runs = runs_below(folder)
    if not runs:
        raise RecordError(
            f"{folder}: must hold {RECORD}, which `certiformer verify` writes, or saved runs "
            f"({RUN}), which `certiformer train dyck` and `train hops` write, got neither; check "
            "the folder"
        )
    tell("drawing the curves of saved runs")
    experiments = gathered.of_runs(gathered.merged((), runs))
    path = folder / EXPERIMENTS
    output.write(path, html.render_experiments(experiments))
    return Reported(page=path, tables=tuple(plain.lines(experiments.tables)))


def rebuild(folder: Path, tell: Tell = silent) -> Path:
    """Write the pages anew from the folder's record; returns the page's path.

    Raises:
        RecordError: the record, or the run.json beside it, cannot be read.
        OutputError: a page cannot be written.
    """
    record = load(folder)
    path = folder / RUN
    run = load_json(path) if path.is_file() else None
    try:
        _write_pages(folder, record, run, tell)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise RecordError(
            f"{folder / RECORD}: must hold what `certiformer verify` writes, got a part that "
            f"cannot be shown ({type(error).__name__}: {error}); verify anew"
        ) from error
    return folder / html.INDEX


def _experiments(record: Mapping[str, Json], folder: Path) -> Experiments | None:
    """Those of saved runs, if the record's claims speak of them."""
    if not any(str(claim["id"]).startswith(LEARNING) for claim in record["claims"]):
        return None
    from reports.experiments import gathered  # loads all of the experiments' code

    return gathered.of_folder(folder)


def _write_pages(
    folder: Path, record: dict[str, Json], run: dict[str, Json] | None, tell: Tell
) -> None:
    path = folder / DEVICE
    device = load_json(path) if path.is_file() else None
    drawn: dict[str, Callable[[], Iterable[Figure]]] = {
        "errors of the universal transformer": lambda: precision.of_folder(run, device),
        "runs of machines": lambda: pictures.of_record(record),
        "the precision of parity": lambda: parity_precision.of_folder(folder, record),
        "the minimal transformer": lambda: minimal.of_record(record),
    }
    figures: list[Figure] = []
    for place, (what, draw) in enumerate(drawn.items(), start=1):
        tell(f"drawing figures, {place} of {len(drawn) + 1}: {what}")
        figures += draw()
    tell(f"drawing figures, {len(drawn) + 1} of {len(drawn) + 1}: training")
    experiments = _experiments(record, folder)
    tell("writing the pages")
    drawings = [*figures, *(experiments.figures if experiments else ())]
    output.write_drawings(folder, {one.name: svg.file_of(one.inline) for one in drawings})
    path = folder / MUTANTS
    mutants = load_json(path) if path.is_file() else None
    page = html.render(record, run, figures, experiments, mutants)
    output.write(folder / html.INDEX, page)
    output.write(folder / latex.CLAIMS, latex.render(record))
    output.write(folder / junit.JUNIT, junit.render(record))
    output.write(folder / badge.BADGE, badge.render(record))
