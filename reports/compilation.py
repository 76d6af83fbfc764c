"""`certiformer compile`, and a run of the file that it wrote beside the machine in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from reports.machines import read_machine, read_word
from reports.output import write
from verify.errors import UsageError

if TYPE_CHECKING:
    from constructions.machines.levels import LevelsReport
    from constructions.machines.tensors import WindowModel

PROGRESS_TOKENS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedModel:
    """What `certiformer compile` is asked; no form means dense where that is small enough."""

    machine: str
    out: Path
    window: int
    dtype: str
    form: str | None


def compile_machine(asked: AskedModel) -> tuple[str, ...]:
    """Write a machine's transformer; the lines that say what was written.

    Raises:
        UsageError: the machine cannot be read, or no such transformer can be made.
        OutputError: the file cannot be written.
    """
    from constructions.machines.tensors import MOST_ENTRIES, Source, compiled
    from constructions.machines.transformer_files import SUFFIX, model_bytes
    from verify.errors import SizeError

    if asked.out.suffix != SUFFIX:
        raise UsageError(f"--out must end in {SUFFIX}, got {asked.out}; name a file of that kind")
    machine = read_machine(asked.machine).machine
    try:
        source = Source(machine=machine)
    except SizeError as error:
        raise UsageError(f"{asked.machine}: {error}") from error
    form = asked.form or ("dense" if source.entries <= MOST_ENTRIES else "block")
    model = compiled(source, asked.window, asked.dtype, form)
    data = model_bytes(model)
    write(asked.out, data)
    return (
        f"{asked.out}: {len(data):,} bytes, {form}, {asked.dtype}",
        f"for {machine.name}: {len(source.displayed)} displayed symbols, "
        f"{len(source.graph.labels)} labels, windows of at most {asked.window} symbols",
    )


def run_model(
    path: Path, text: str | None, max_steps: int, progress: Callable[[int], None]
) -> LevelsReport:
    """The machine's own report, with the file's tokens compared one by one.

    Raises:
        WeightsError: the file holds no transformer.
        UsageError: the input is not the machine's, or the run needs a longer window.
    """
    from constructions.machines.compiled.run import run_levels, run_queue_levels
    from constructions.machines.formats.machine_file import QueueTable
    from constructions.machines.transformer_files import read_model

    model = read_model(path)
    machine = model.source.machine
    word = read_word(machine, text or "", str(path))
    if isinstance(machine, QueueTable):
        report = run_queue_levels(machine.machine(), word, max_steps)
    else:
        report = run_levels(machine, word, max_steps)
    figures = report.transformer
    if figures is None:
        return report
    if figures.max_context > model.longest_context:
        raise UsageError(
            f"{path}: contexts must have at most {model.longest_context} tokens, since it was "
            f"compiled for windows of {model.window}, got one of {figures.max_context}; compile "
            f"the machine with --window {figures.max_context - 1}, or run fewer steps"
        )
    trouble = report.disagreement or _differing(model, word, figures.tokens, progress)
    return replace(report, agree=not trouble, disagreement=trouble)


def _differing(
    model: WindowModel, word: tuple[str, ...], tokens: int, progress: Callable[[int], None]
) -> str:
    """The first token in which the tensors differ from the map G; '' if none does."""
    from constructions.machines.definitions import MachineError
    from constructions.machines.torch_model import Generator
    from constructions.machines.window import SlidingWindowRun

    run = SlidingWindowRun(model.source.graph.transformer, word)
    try:
        made = Generator(model, word)
        while run.tokens < tokens:
            required, came = run.step(), made.step()
            if required != came:
                return f"token {run.tokens}: G is {required!r}, the tensors give {came!r}"
            if run.tokens % PROGRESS_TOKENS == 0:
                progress(run.tokens)
    except MachineError as error:
        return f"token {run.tokens}: {error}"
    return ""
