"""Runs that differ in their seed alone, and what they come to together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import mean

from constructions.learning.files import SavedRun
from constructions.learning.tasks import Dyck, Hops
from constructions.learning.training import Plan
from reports.experiments.intervals import Interval, student, wilson


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A point of a mean curve, with the least and the greatest accuracy of the seeds."""

    step: int
    mean: float
    least: float
    greatest: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Runs of one setting, a plan whose seed stands for none, by their seeds."""

    setting: Plan
    runs: tuple[SavedRun, ...]

    @property
    def counted(self) -> tuple[SavedRun, ...]:
        """The runs whose accuracies count: those that are finished, or all if none is."""
        return tuple(run for run in self.runs if run.done) or self.runs

    @property
    def unfinished(self) -> tuple[SavedRun, ...]:
        """The runs that stopped before their last step."""
        return tuple(run for run in self.runs if not run.done)

    @property
    def shares(self) -> tuple[float, ...]:
        """The last accuracy of each run that counts."""
        return tuple(run.last.accuracy for run in self.counted)

    @property
    def mean(self) -> float:
        """The mean accuracy over seeds."""
        return mean(self.shares)

    @property
    def interval(self) -> Interval:
        """Student's over seeds; Wilson's over strings where there is one seed or no spread.

        Seeds that agree to the last answer would make Student's interval a point. All runs are
        scored on the same strings, so that more seeds are not more strings.
        """
        if len(set(self.shares)) > 1:
            return student(self.shares)
        run = self.counted[0]
        return wilson(self.shares[0], max(run.last.asked // answers(run.plan.task), 1))

    @property
    def seconds(self) -> float:
        """The mean training time of the runs that count."""
        return mean(run.seconds for run in self.counted)

    @property
    def curve(self) -> tuple[Point, ...]:
        """The mean curve, at the steps at which all runs that count were scored."""
        histories = [{at.step: at.accuracy for at in run.history} for run in self.counted]
        common = set(histories[0]).intersection(*histories)
        return tuple(
            _point(step, [shares[step] for shares in histories]) for step in sorted(common)
        )


def _point(step: int, shares: Sequence[float]) -> Point:
    return Point(step=step, mean=mean(shares), least=min(shares), greatest=max(shares))


def answers(task: Dyck | Hops) -> int:
    """How many answers of each string are scored."""
    return 1 if isinstance(task, Dyck) else task.length - 2


def merged(shipped: Iterable[SavedRun], own: Iterable[SavedRun]) -> tuple[SavedRun, ...]:
    """All runs, one of each plan: own ones before shipped ones, then the one that went further."""
    found = {run.plan: run for run in shipped}
    found |= {run.plan: run for run in sorted(own, key=lambda run: run.last.step)}
    return tuple(found.values())


def grouped(runs: Iterable[SavedRun]) -> tuple[Group, ...]:
    """The runs by all but their seeds."""
    found = defaultdict[Plan, list[SavedRun]](list)
    for run in runs:
        found[replace(run.plan, seed=0)].append(run)
    return tuple(
        Group(setting=setting, runs=tuple(sorted(members, key=lambda run: run.plan.seed)))
        for setting, members in found.items()
    )
