"""Floating-point runs whose error stays within a stated bound, per dtype and device: SAMPLED.

Inputs come from seeds, through numpy or `random` and never through PyTorch's own generator, and
PyTorch computes in one thread, so a run is the same again on one machine. The record says what
was measured and whether the bounds held; the figures themselves go to `run.json` with the notes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from importlib import import_module
from itertools import count, islice, product
from typing import Any

from verify.claims import Profile, Setting
from verify.counterexamples import Counterexample, replayed
from verify.verdicts import Json, Status, Verdict, union, unknown

NEEDS_TORCH = (
    "floating-point runs need PyTorch, which is not installed; "
    "install the extra `numeric`: pip install 'certiformer[numeric]'"
)
QUANTILES = {"least": 0.0, "median": 0.5, "90%": 0.9, "largest": 1.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One run: a case of the profile, computed in a dtype on a device, inputs from a seed."""

    case: Any
    seed: int
    dtype: str
    device: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """What a trial came to: the error seen and the bound stated for it.

    `details` are further figures by name, which are kept with the notes.
    """

    error: float
    bound: float
    details: Mapping[str, float] = field(default_factory=dict[str, float])

    @property
    def holds(self) -> bool:
        """The error is within a finite bound; nothing is within NaN or infinity."""
        return math.isfinite(self.bound) and 0 <= self.error <= self.bound

    @property
    def share(self) -> float:
        """How much of the bound the error takes up."""
        return self.error / self.bound if self.bound else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Trials:
    """A profile's trials: every case in every dtype on every device, from so many seeds.

    `scope` says in words what the cases are; dtypes and devices are PyTorch's names.
    """

    scope: str
    cases: Callable[[], Iterable[Any]]
    seeds: int
    dtypes: tuple[str, ...]
    devices: tuple[str, ...] = ("cpu",)

    def over(self, setting: Setting) -> Iterator[Trial]:
        """The trials in their order, as many as the setting's examples if it asks for some."""
        asked = setting.examples
        grid = list(product(self.cases(), self.dtypes, self.devices))
        numbers = range(self.seeds) if asked is None or not grid else count()
        trials = (
            Trial(case=case, seed=_seed(setting, number), dtype=dtype, device=device)
            for number in numbers
            for case, dtype, device in grid
        )
        return islice(trials, asked)


def _seed(setting: Setting, number: int) -> int:
    return int.from_bytes(sha256(f"{setting.seed}/{number}".encode()).digest()[:4])


@dataclass(frozen=True, slots=True, kw_only=True)
class Floating:
    """Measures every trial; the statement holds on one whose error is within its bound.

    `bound` says in words what the bound is, and `exhibit` turns a case into what is shown of it.
    """

    measure: Callable[[Trial], Measurement]
    trials: Mapping[Profile, Trials]
    bound: str
    exhibit: Callable[[Any], Json]
    parts: int = 1
    leans_on: tuple[str, ...] = ("library:numpy", "library:torch")
    name: str = field(default="floating", init=False)
    ceiling: Status = field(default=Status.SAMPLED, init=False)
    fresh_process: bool = field(default=False, init=False)

    def scope(self, setting: Setting) -> str:
        """The profile's cases, dtypes and devices, and the bound."""
        chosen = self.trials[setting.profile]
        kinds = f"{', '.join(chosen.dtypes)} on {', '.join(chosen.devices)}"
        return f"{chosen.scope}; {kinds}; {self.bound}"

    def shards(self, setting: Setting) -> int:
        """A fixed number of interleaved parts."""
        del setting
        return self.parts

    def settle(self, setting: Setting) -> Verdict:
        """Measure the shard's trials; without PyTorch or a device it is UNKNOWN, never a pass."""
        try:
            torch: Any = import_module("torch")
        except ImportError:
            return unknown(NEEDS_TORCH)
        absent = [name for name in self.trials[setting.profile].devices if not _has(torch, name)]
        if absent:
            return unknown(f"PyTorch has no device {', '.join(absent)} here; nothing was checked")
        with _one_thread(torch):
            return self._measured(setting)

    def _measured(self, setting: Setting) -> Verdict:
        """Every `shards`-th trial from `shard` on; the first failure ends the search."""
        found: dict[str, list[Measurement]] = {}
        exhibits: list[Json] = []
        trials = self.trials[setting.profile].over(setting)
        for trial in islice(trials, setting.shard, None, setting.shards):
            measured = self.measure(trial)
            place = f"{trial.dtype} on {trial.device}"
            found.setdefault(place, []).append(measured)
            if not measured.holds:
                verdict = replayed(self._fails, trial, self._failed(trial), len(exhibits) + 1)
                return replace(verdict, notes={**verdict.notes, **_notes(_figures(found))})
            exhibits.append(self._shown(trial))
        said = self._evidence(setting.seed, {place: len(part) for place, part in found.items()})
        return Verdict(
            status=Status.SAMPLED,
            evidence=said,
            trusts=self.leans_on,
            instances=len(exhibits),
            certificate={"kind": "floating", **said, "instances": exhibits},
            notes=_notes(_figures(found)),
        )

    def _shown(self, trial: Trial) -> dict[str, Json]:
        return {
            "case": self.exhibit(trial.case),
            "seed": trial.seed,
            "dtype": trial.dtype,
            "device": trial.device,
        }

    def _fails(self, trial: Trial) -> Counterexample | None:
        return None if self.measure(trial).holds else self._failed(trial)

    def _failed(self, trial: Trial) -> Counterexample:
        return Counterexample(
            text=f"{trial.dtype} on {trial.device}, seed {trial.seed}: the error must stay within "
            f"its bound ({self.bound}); it does not",
            instance=self._shown(trial),
        )

    def _evidence(self, seed: int, held: Mapping[str, int]) -> dict[str, Json]:
        return {
            "tried": sum(held.values()),
            "seed": seed,
            "bound": self.bound,
            "held": {place: held[place] for place in sorted(held)},
        }

    def combine(self, verdicts: Sequence[Verdict]) -> Verdict:
        """All trials held, or what the lowest failing shard found."""
        worst = min(verdicts, key=lambda verdict: verdict.status)
        if worst.status < Status.SAMPLED:
            return worst
        if not any(verdict.instances for verdict in verdicts):
            return unknown("there is no trial: nothing was checked")
        held: dict[str, int] = {}
        figures: dict[str, list[list[Json]]] = {}
        for verdict in verdicts:
            for place, number in verdict.evidence["held"].items():
                held[place] = held.get(place, 0) + number
            for place, row in verdict.notes["measured"].items():
                figures[place] = figures.get(place, []) + row["figures"]
        said = self._evidence(worst.evidence["seed"], held)
        shown = [exhibit for v in verdicts for exhibit in (v.certificate or {})["instances"]]
        return replace(
            worst,
            evidence=said,
            trusts=union(verdict.trusts for verdict in verdicts),
            instances=said["tried"],
            certificate={"kind": "floating", **said, "instances": shown},
            notes=_notes(figures),
        )


# --- figures, which only `run.json` keeps ------------------------------------------------------


def _figures(found: Mapping[str, Sequence[Measurement]]) -> dict[str, list[list[Json]]]:
    return {
        place: [[m.error, m.share, *([dict(m.details)] if m.details else [])] for m in part]
        for place, part in found.items()
    }


def _notes(figures: Mapping[str, list[list[Json]]]) -> dict[str, Json]:
    """Per dtype and device [error, error / bound, details if any] of every trial; quantiles."""
    return {
        "measured": {
            place: {
                "error": _quantiles([row[0] for row in rows]),
                "error / bound": _quantiles([row[1] for row in rows]),
                "figures": rows,
            }
            for place, rows in sorted(figures.items())
        }
    }


def _quantiles(values: list[float]) -> dict[str, float]:
    """Of the values in order, those nearest to the stated places."""
    ordered = sorted(values)
    return {name: ordered[round(at * (len(ordered) - 1))] for name, at in QUANTILES.items()}


# --- PyTorch -----------------------------------------------------------------------------------


def _has(torch: Any, device: str) -> bool:
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError):
        return False
    return True


@contextmanager
def _one_thread(torch: Any) -> Generator[None, None, None]:
    """One thread, whose sums have one order; put back afterwards."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
