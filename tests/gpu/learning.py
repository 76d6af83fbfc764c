"""Rows of the first paper's tables that a CPU has no time for, trained on a device within a budget.

    python tests/gpu/learning.py --out DIR [--device cuda|cpu] [--seconds S] [--size full|toy]

Rows are tried in the order of ROWS. A row is trained if its steps, timed on a few, fit what is
left of the budget; the others are named. Each run is saved as DIR/NAME/run.json, which
`certiformer report` shows beside the paper's numbers.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from constructions.learning.defaults import plan
from constructions.learning.files import SavedRun, run_bytes
from constructions.learning.kinds import Components, Family
from constructions.learning.training import Plan, Training
from reports.learning import RUN, versions
from reports.output import write

TIMED = 30
"""Steps by which the time of a row is estimated; the first WARM of them are not counted."""
WARM = 10
TOY = {"heads": 2, "layers": 2, "head_width": 2, "batch": 4, "steps": 40}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of a table: task, number of hops if it has some, family and components."""

    family: Family
    components: Components
    hops: int | None = None

    @property
    def name(self) -> str:
        """As its folder is called."""
        task = "dyck" if self.hops is None else f"{self.hops}-hop"
        return f"{task}-{self.family}-{self.components}"

    def plan(self, size: str, device: str) -> Plan:
        """The paper's run, or a toy one."""
        changes: dict[str, Any] = {} if self.hops is None else {"hops": self.hops}
        if size == "toy":
            changes |= TOY | ({"pairs": 3} if self.hops is None else {"length": 8})
        task = "dyck" if self.hops is None else "hops"
        found = plan(task, family=self.family, components=self.components, changes=changes)
        return replace(found, device=device)


def _rows() -> Iterator[Row]:
    parts, families = Components, Family
    for components in (parts.mlp, parts.mlp_norm):
        for family in (families.sparse, families.random):
            yield Row(family=family, components=components)
    yield Row(family=families.trained, components=parts.attention)
    for components in (parts.norm, parts.mlp, parts.mlp_norm, parts.residual):
        yield Row(family=families.trained, components=components)
    for hops in (2, 3, 4):
        for components in (parts.norm, parts.attention):
            for family in families:
                yield Row(family=family, components=components, hops=hops)


ROWS = tuple(_rows())


def train(row: Row, size: str, device: str, left: float) -> SavedRun | float:
    """The row's run, or the seconds that it would take, if they are more than are left."""
    began = time.monotonic()
    trial = Training(row.plan(size, device))
    steps = trial.advance()
    for _ in islice(steps, WARM):
        pass
    mark = trial.seconds
    for _ in islice(steps, TIMED - WARM):
        pass
    needed = (trial.seconds - mark) / (TIMED - WARM) * (trial.steps - TIMED)
    if needed > left - (time.monotonic() - began):
        return needed
    for _ in steps:
        pass
    return _saved(trial)


def _saved(run: Training) -> SavedRun:
    return SavedRun(
        plan=run.plan, history=tuple(run.history), seconds=run.seconds, versions=versions(run)
    )


def main(words: Sequence[str] | None = None) -> int:
    """Train what fits and say what did not."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--size", choices=("full", "toy"), default="full")
    asked = parser.parse_args(words)
    began, left_out = time.monotonic(), list[str]()
    for row in ROWS:
        left = asked.seconds - (time.monotonic() - began)
        found = train(row, asked.size, asked.device, left) if left > 0 else None
        if not isinstance(found, SavedRun):
            needs = "" if found is None else f" ({found:.0f} s)"
            left_out.append(f"{row.name}{needs}")
            continue
        folder = asked.out / row.name
        folder.mkdir(parents=True, exist_ok=True)
        write(folder / RUN, run_bytes(found))
        sys.stdout.write(f"{row.name}: {found.last.accuracy:.2%} in {found.seconds:.0f} s\n")
        sys.stdout.flush()
    sys.stdout.write(f"left out: {', '.join(left_out) or 'nothing'}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
