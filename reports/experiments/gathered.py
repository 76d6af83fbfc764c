"""The experiments of a page: tables and curves of all saved runs that it is about."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from constructions.learning.files import SavedRun
from constructions.learning.saved import runs_below, shipped_runs
from reports.experiments.groups import grouped, merged
from reports.experiments.tables import Table, tables
from reports.figures.learning import curves
from reports.figures.svg import Figure

RUNS = "runs"
"""Where a run of `verify` may have saved runs beside its record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiments:
    """What a page shows of saved runs."""

    tables: tuple[Table, ...]
    figures: tuple[Figure, ...]


def of_runs(runs: Iterable[SavedRun]) -> Experiments:
    """The tables and curves of runs."""
    groups = grouped(runs)
    return Experiments(tables=tables(groups), figures=tuple(curves(groups)))


def of_folder(folder: Path) -> Experiments | None:
    """Those of the runs that ship and of those that a folder of `verify` has, if there are any.

    Raises:
        CheckpointError: a saved run that cannot be read.
    """
    runs = merged(shipped_runs(), runs_below(folder / RUNS))
    return of_runs(runs) if runs else None
