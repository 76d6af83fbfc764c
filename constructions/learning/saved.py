"""Saved runs: those that ship with the package, and those that a folder holds.

    runs/NAME.json      shipped, one run each
    FOLDER/**/run.json  what `certiformer train dyck` and `train hops` wrote; other commands' files
                        of that name are passed over

Source: Fixed Universal Transformers, Section 5.
"""

from __future__ import annotations

import json
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, cast

from constructions.learning.files import RUN_SCHEMA, SavedRun, read_run
from verify.errors import CheckpointError

FOLDER = Path(__file__).parent / "runs"
_KIND = RUN_SCHEMA.rstrip("0123456789")


@cache
def shipped_runs() -> tuple[SavedRun, ...]:
    """The runs that ship, by their files' names.

    Raises:
        CheckpointError: a file that is no run.
    """
    return tuple(_read(path) for path in sorted(FOLDER.glob("*.json")))


def runs_below(folder: Path) -> tuple[SavedRun, ...]:
    """The runs of a folder and all below it, by their paths.

    Raises:
        CheckpointError: a run.json that cannot be read.
    """
    paths = sorted(folder.rglob("run.json"))
    return tuple(_read(path) for path in paths if not _is_foreign(path))


def _is_foreign(path: Path) -> bool:
    """Whether the file is an object of another schema; other versions of a run's are not."""
    with suppress(OSError, ValueError, RecursionError):
        data: Any = json.loads(path.read_bytes())
        if isinstance(data, dict):
            schema = cast("dict[str, Any]", data).get("schema")
            return not str(schema).startswith(_KIND)
    return False


def _read(path: Path) -> SavedRun:
    run = read_run(path)
    if not run.history:
        raise CheckpointError(
            f"{path}: a run must hold at least one evaluation, got an empty history; train anew "
            "or leave the file out"
        )
    return run
