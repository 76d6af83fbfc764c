"""A machine run at several levels: traced, cut off, stopped, and gone on with from a checkpoint."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from reports.machines import read_machine
from reports.output import replacing, write
from reports.terminal import deferred_signals
from verify.errors import CheckpointError, UsageError
from verify.verdicts import Json

if TYPE_CHECKING:
    from constructions.machines.compiled.lockstep import Lockstep
    from constructions.machines.formats.machine_file import MachineFile
    from constructions.machines.levels import LevelsReport

MODEL = ".safetensors"
TURNS = 1 << 22
"""Queue steps between two looks at the clock and at signals: a fraction of a second."""
SECONDS = 10.0
"""Time between two checkpoints."""
LARGEST_CHECKPOINT = 1 << 28


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedRun:
    """What `certiformer run` is asked; no levels means all that the machine has."""

    machine: str
    text: str | None
    max_steps: int
    levels: tuple[str, ...] = ()
    trace: Path | None = None
    checkpoint: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """The report of a run, and whether it was interrupted before its end."""

    report: LevelsReport
    interrupted: bool


def simulate(asked: AskedRun, progress: Callable[[int], None]) -> Simulated:
    """Run the machine to its halt, its limit, an interruption or the first difference.

    With a checkpoint the run goes on where the file says, and the file is written again every few
    seconds and at the end.

    Raises:
        UsageError: the machine, its input or the checkpoint cannot be read.
        OutputError: the trace or the checkpoint cannot be written.
    """
    from constructions.machines.compiled import lockstep
    from constructions.machines.formats.machine_file import QueueTable

    if asked.machine.endswith(MODEL):
        return _modelled(asked, progress)
    given = read_machine(asked.machine, asked.text)
    machine = given.machine.machine() if isinstance(given.machine, QueueTable) else given.machine
    if not lockstep.fits(machine):
        return _plainly(asked, given)
    if isinstance(given.machine, QueueTable):
        levels = _queue_levels(asked)
        run = lockstep.queue_lockstep(given.machine.machine(), given.word, levels)
    else:
        run = lockstep.turing_lockstep(given.machine, given.word, asked.levels or lockstep.LEVELS)
    return _driven(asked, given, run, progress)


def _driven(
    asked: AskedRun, given: MachineFile, run: Lockstep[Any], progress: Callable[[int], None]
) -> Simulated:
    from constructions.machines.compiled.comparisons import report

    keep = _Checkpoint(asked, given, run)
    keep.resume()
    with ExitStack() as stack:
        stopped = stack.enter_context(deferred_signals())
        stream = None if asked.trace is None else stack.enter_context(replacing(asked.trace))
        for steps in _moved(run, asked.max_steps, stream):
            progress(steps)
            keep.now_and_then()
            if stopped:
                break
        found = report(run)
        keep.save()
    return Simulated(report=found, interrupted=bool(stopped))


def _moved(run: Lockstep[Any], max_steps: int, stream: IO[bytes] | None) -> Iterator[int]:
    from constructions.machines.compiled.traces import trace

    if stream is not None:
        yield from trace(run, max_steps, _lines(stream))
        return
    while not run.advance(max_steps, TURNS):
        yield run.steps


def _modelled(asked: AskedRun, progress: Callable[[int], None]) -> Simulated:
    """A file of tensors beside the machine that it was compiled from."""
    from reports.compilation import run_model

    if asked.trace or asked.checkpoint or asked.levels:
        raise UsageError(
            f"{asked.machine}: a compiled transformer runs whole, without --as, --trace and "
            "--checkpoint; run its machine with them"
        )
    report = run_model(Path(asked.machine), asked.text, asked.max_steps, progress)
    return Simulated(report=report, interrupted=False)


def _plainly(asked: AskedRun, given: MachineFile) -> Simulated:
    """A machine with more symbols than the compiled loop has numbers for."""
    from constructions.machines.compiled.lockstep import most_symbols
    from constructions.machines.formats.machine_file import QueueTable
    from constructions.machines.levels import LEVELS
    from constructions.machines.simulate import run_levels, run_queue_levels

    machine = given.machine.machine() if isinstance(given.machine, QueueTable) else given.machine
    if asked.trace or asked.checkpoint:
        raise UsageError(
            f"{asked.machine}: traces and checkpoints are for machines of at most "
            f"{most_symbols(machine)} symbols, got {len(machine.alphabet)}; run it without them"
        )
    if isinstance(given.machine, QueueTable):
        machine, levels = given.machine.machine(), _queue_levels(asked)
        report = run_queue_levels(machine, given.word, asked.max_steps, levels)
    else:
        report = run_levels(given.machine, given.word, asked.max_steps, asked.levels or LEVELS)
    return Simulated(report=report, interrupted=False)


def _queue_levels(asked: AskedRun) -> Sequence[str]:
    from constructions.machines.levels import LEVELS

    for level in asked.levels:
        if level not in LEVELS[1:]:
            raise UsageError(
                f"--as {level}: {asked.machine} holds a queue machine, which runs at the levels "
                f"{', '.join(LEVELS[1:])}; ask for one of these or all"
            )
    return asked.levels or LEVELS[1:]


def _lines(stream: IO[bytes]) -> Callable[[dict[str, object]], None]:
    def write_line(entry: dict[str, object]) -> None:
        stream.write(json.dumps(entry).encode("ascii") + b"\n")

    return write_line


class _Checkpoint:
    """The file in which a run is kept, if there is to be one."""

    def __init__(self, asked: AskedRun, given: MachineFile, run: Lockstep[Any]) -> None:
        self._asked = asked
        self._given = given
        self._run = run
        self._saved = time.monotonic()

    def resume(self) -> None:
        """Goes on where the file says, if there is one.

        Raises:
            CheckpointError: it is not of this run, or stands beyond its limit.
        """
        from constructions.machines.compiled.checkpoints import restore

        path = self._asked.checkpoint
        if path is None or not path.exists():
            return
        restore(self._run, self._fingerprint, _kept(path), str(path))
        if self._run.steps > self._asked.max_steps:
            raise CheckpointError(
                f"{path}: the checkpoint must stand at most at step {self._asked.max_steps}, got "
                f"{self._run.steps}; raise --max-steps"
            )

    def now_and_then(self) -> None:
        """Saves if the last time is some seconds ago."""
        if time.monotonic() - self._saved > SECONDS:
            self.save()

    def save(self) -> None:
        """Puts where the run stands in place of the file; nothing for a run that differs."""
        from constructions.machines.compiled.checkpoints import snapshot

        if self._asked.checkpoint is None or self._run.difference:
            return
        body = json.dumps(snapshot(self._run, self._fingerprint)).encode("ascii")
        digest = hashlib.sha256(body).hexdigest()
        write(self._asked.checkpoint, b'{"sha256": "%s", "run": %s}\n' % (digest.encode(), body))
        self._saved = time.monotonic()

    @property
    def _fingerprint(self) -> str:
        from constructions.machines.compiled.checkpoints import fingerprint
        from constructions.machines.formats.machine_file import QueueTable

        machine = self._given.machine
        return fingerprint(machine.machine() if isinstance(machine, QueueTable) else machine)


def _kept(path: Path) -> Json:
    """The run in a checkpoint's file.

    Raises:
        CheckpointError: the file cannot be read, or was cut or altered.
    """
    try:
        size = path.stat().st_size
        text = path.read_bytes() if path.is_file() and size <= LARGEST_CHECKPOINT else b""
        found: Any = json.loads(text)
        body, digest = json.dumps(found["run"]), found["sha256"]
    except OSError as error:
        raise CheckpointError(
            f"{path}: a checkpoint must be a readable file, got {error.strerror}; check the path"
        ) from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise CheckpointError(
            f"{path}: a checkpoint must be what `certiformer run --checkpoint` writes, got a file "
            "of another kind; remove it or name another"
        ) from error
    if hashlib.sha256(body.encode("ascii")).hexdigest() != digest:
        raise CheckpointError(
            f"{path}: a checkpoint must be whole, got one that was cut or altered; remove it"
        )
    return found["run"]
