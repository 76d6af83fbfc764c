"""Theorem 6 on machines of two states and two symbols: the queue machine ends with the same tape.

With t the rules applied and s the distinct cells among the input's and those the head stood on:

    queue steps <= t (s + 2) + 2        queue length <= s + 2

Source: Sliding-Window Transformers Without Positional Encodings, Theorem 6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from constructions.machines.instances import MACHINES, SYMBOLS, RunCase, failure
from constructions.machines.levels import LevelsReport
from constructions.machines.readings import graded, words_up_to
from constructions.machines.runs import TuringRun
from constructions.machines.simulate import Constructions, run_levels
from constructions.machines.words import PAPER
from verify.claims import Check, Source, claim, covers
from verify.counterexamples import Counterexample
from verify.methods.exhaustive import Exhaustive
from verify.ranges import Range
from verify.verdicts import Json, Status

RULES = 20
"""Rules after which a run is cut off."""
LONGEST_INPUT = 1
BLOCK = 64


def steps_bound(rules: int, space: int) -> int:
    """The most queue steps of so many rules in so much space."""
    return rules * (space + 2) + 2


def length_bound(space: int) -> int:
    """The longest queue in so much space."""
    return space + 2


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineBlock:
    """At most BLOCK machines: number `first` and every `every`-th from there on."""

    first: int
    every: int

    @property
    def numbers(self) -> range:
        """The machines' numbers."""
        stop = min(self.first + BLOCK * self.every, MACHINES)
        return range(self.first, stop, self.every)

    def cases(self) -> Iterator[RunCase]:
        """Each machine on each input."""
        for number in self.numbers:
            for word in words_up_to(SYMBOLS, LONGEST_INPUT):
                yield RunCase(number=number, word=word, limit=RULES)


def block_range(every: int) -> Range:
    """Every `every`-th of all machines, in blocks."""
    machines = "all" if every == 1 else f"number 0, {every}, {2 * every}, .. of the"
    return Range(
        bound=f"{machines} {MACHINES} Turing machines of 2 states and 2 symbols in lexical order, "
        f"inputs of length at most {LONGEST_INPUT}, at most {RULES} rules",
        over=lambda: (
            MachineBlock(first=first, every=every) for first in range(0, MACHINES, BLOCK * every)
        ),
    )


@lru_cache(maxsize=1)
def _reports(block: MachineBlock, made: Constructions) -> tuple[tuple[RunCase, LevelsReport], ...]:
    """The runs of a block; kept, since what was checked is shown next."""
    levels = ("turing", "queue")
    return tuple(
        (case, run_levels(case.machine, case.word, case.limit, levels, constructions=made))
        for case in block.cases()
    )


def _space(case: RunCase) -> int:
    run = TuringRun(case.machine, case.word)
    run.advance(case.limit)
    return run.space


def queue_fails(
    made: Constructions,
    steps: Callable[[int, int], int] = steps_bound,
    length: Callable[[int], int] = length_bound,
) -> Callable[[MachineBlock], Counterexample | None]:
    """The obligation that queue and Turing machine agree at every rule, within the constants."""

    def fails(case: RunCase, report: LevelsReport) -> Counterexample | None:
        if not report.agree or report.queue is None or report.turing is None:
            return failure(case, report.disagreement)
        space = _space(case)
        most, longest = steps(report.turing.steps, space), length(space)
        if report.queue.steps > most or report.queue.max_length > longest:
            return failure(
                case,
                f"{report.turing.steps} rules in {space} cells allow {most} queue steps and a "
                f"queue of {longest}; it took {report.queue.steps} and {report.queue.max_length}",
            )
        return None

    def holds(block: MachineBlock) -> Counterexample | None:
        _reports.cache_clear()  # a replay runs the machines again
        return next((found for pair in _reports(block, made) if (found := fails(*pair))), None)

    return holds


def block_exhibit(block: MachineBlock) -> Json:
    """Kind `queue-run`: a block of machines and the totals over its runs."""
    reports = [report for _, report in _reports(block, Constructions())]
    turing = [report.turing for report in reports if report.turing]
    queue = [report.queue for report in reports if report.queue]
    return {
        "first": block.first,
        "every": block.every,
        "machines": len(block.numbers),
        "longest_input": LONGEST_INPUT,
        "rules": RULES,
        "halted": sum(report.halted for report in reports),
        "turing_steps": sum(figures.steps for figures in turing),
        "nonblank": sum(figures.nonblank for figures in turing),
        "queue_steps": sum(figures.steps for figures in queue),
        "max_length": max(figures.max_length for figures in queue),
        "last_machine": reports[-1].machine,
        "last_tape": turing[-1].tape,
    }


def queue_checks(
    made: Constructions | None = None,
    steps: Callable[[int, int], int] = steps_bound,
    length: Callable[[int], int] = length_bound,
) -> tuple[Check, ...]:
    """Machines of two states and two symbols, each beside its queue machine."""
    return (
        covers(
            Exhaustive(
                holds=queue_fails(made or Constructions(), steps, length),
                ranges=graded(block_range, 193, 5, 1),
                rechecked_as="queue-run",
                exhibit=block_exhibit,
                parts=4,
                leans_on=(),
            )
        ),
    )


@claim(
    id="machines.turing.queue",
    source=Source(PAPER, "Theorem 6"),
    latex=r"t_{\mathrm{queue}} \le t\,(s + 2) + 2,\qquad |C| \le s + 2",
    scope="Turing machines of 2 states and 2 symbols; s counts the input's cells and those the "
    "head stood on",
    expected=Status.BOUNDED,
)
def the_queue_machine_ends_with_the_same_tape() -> tuple[Check, ...]:
    """The queue machine of a Turing machine halts with the same tape, within the stated constants.

    They bound steps and queue length in t and s, inputs included.
    """
    return queue_checks()
