"""`simulate.run_levels` and `simulate.run_queue_levels` once more, compiled: the same reports.

Source: Sliding-Window Transformers Without Positional Encodings, Corollary 10.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from constructions.machines.compiled.comparisons import report
from constructions.machines.compiled.lockstep import Lockstep, queue_lockstep, turing_lockstep
from constructions.machines.definitions import QueueMachine, State, TuringMachine
from constructions.machines.levels import LEVELS, LevelsReport
from constructions.machines.simulate import Constructions

_TURNS = 1 << 40


def run_levels(
    machine: TuringMachine,
    input_word: Iterable[str],
    max_steps: int,
    levels: Sequence[str] = LEVELS,
    *,
    constructions: Constructions | None = None,
) -> LevelsReport:
    """Runs the asked levels of a Turing machine to its halt, its limit or the first difference.

    Raises:
        MachineError: an unknown level, too many symbols, or an input symbol outside the alphabet.
    """
    return _finished(turing_lockstep(machine, input_word, levels, constructions), max_steps)


def run_queue_levels(
    machine: QueueMachine[State],
    input_word: Iterable[str],
    max_steps: int,
    levels: Sequence[str] = LEVELS[1:],
) -> LevelsReport:
    """The same for a queue machine that comes from no Turing machine; `max_steps` are queue steps.

    Raises:
        MachineError: as for `run_levels`.
    """
    return _finished(queue_lockstep(machine, input_word, levels), max_steps)


def _finished(run: Lockstep[Any], max_steps: int) -> LevelsReport:
    run.advance(max_steps, _TURNS)
    return report(run)
