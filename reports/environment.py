"""What a run depended on beside its record: times, versions, machine, commit, tracebacks."""

from __future__ import annotations

import math
import os
import platform
import subprocess
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

from reports.running import Run
from verify.run import Outcome
from verify.sources import LIBRARIES, versions
from verify.verdicts import Json
from verify.worker import Limits

SCHEMA = "certiformer/run/1"
RUN = "run.json"
AROUND = tuple("certiformer matplotlib psutil typer rich jinja2 latex2mathml".split())
"""Distributions that change no verdict, but how it is come by and shown."""
GIT_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """How a run was asked for, as far as the record does not say."""

    started: str
    jobs: int
    limits: Limits


def describe(run: Run, outcomes: Iterable[Outcome], asked: Circumstances) -> dict[str, Json]:
    """The content of `run.json`."""
    return {
        "schema": SCHEMA,
        "started": asked.started,
        "seconds": run.seconds,
        "interrupted": run.interrupted,
        "jobs": asked.jobs if run.machines is None else run.machines.threads,
        "cluster": None if run.machines is None else asdict(run.machines),
        "limits": {"seconds": asked.limits.seconds, "bytes": asked.limits.bytes},
        "versions": versions((*LIBRARIES, *AROUND)),
        "machine": _machine(),
        "commit": _commit(Path(__file__).parent),
        "checks": [
            {
                "claim": outcome.claim.id,
                "check": outcome.check,
                "method": outcome.method,
                "seconds": outcome.seconds,
                "shards": outcome.shards,
                "reused": outcome.reused,
                "notes": finite(dict(outcome.verdict.notes)),
            }
            for outcome in outcomes
        ],
    }


def finite(value: Json) -> Json:
    """The value with infinities and NaN, which JSON cannot hold, as text."""
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, dict):
        pairs = cast("dict[str, Json]", value)
        return {key: finite(part) for key, part in pairs.items()}
    if isinstance(value, list | tuple):
        return [finite(part) for part in cast("list[Json]", value)]
    return value


def _machine() -> dict[str, Json]:
    import psutil

    return {
        "system": platform.platform(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "bytes": int(psutil.virtual_memory().total),
    }


def _commit(folder: Path) -> dict[str, Json] | None:
    """The commit that the code was checked out from and whether nothing differs; None outside."""
    commit = _git(folder, "rev-parse", "HEAD")
    changes = _git(folder, "status", "--porcelain")
    if not commit or changes is None:
        return None
    return {"hash": commit, "clean": not changes}


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=GIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
