"""What a compiled run found: its figures, and what differs between two of its levels.

Source: Sliding-Window Transformers Without Positional Encodings, Theorems 6, 7, 9, Corollary 10.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from constructions.machines import parity, window
from constructions.machines.compiled import kernel
from constructions.machines.definitions import MachineError, Token, Word, trimmed
from constructions.machines.levels import (
    HistFigures,
    LevelsReport,
    QueueFigures,
    TransformerFigures,
    TuringFigures,
    tape_text,
)

if TYPE_CHECKING:
    from constructions.machines.compiled.lockstep import Lockstep


def report(run: Lockstep[Any]) -> LevelsReport:
    """The figures of the asked levels where the run stands, once they are compared there."""
    r, asked = run.registers, run.levels
    trouble = difference(run)
    steps = int(r[kernel.STEPS])
    queue = QueueFigures(steps=steps, max_length=int(r[kernel.MAX_QUEUE]))
    hist = HistFigures(steps=steps, max_window=int(r[kernel.MAX_WINDOW]))
    transformer = TransformerFigures(
        tokens=run.tokens,
        max_context=int(r[kernel.MAX_CONTEXT]),
        refreshes=int(r[kernel.REFRESHES]),
    )
    return LevelsReport(
        machine=run.machine.name,
        halted=run.halted,
        steps=run.steps,
        turing=_turing_figures(run) if "turing" in asked else None,
        queue=queue if "queue" in asked else None,
        hist=hist if "hist" in asked else None,
        transformer=transformer if "transformer" in asked else None,
        agree=not trouble,
        disagreement=trouble,
    )


def _turing_figures(run: Lockstep[Any]) -> TuringFigures | None:
    if run.source is None:
        return None
    r, blank = run.registers, run.source.machine.blank
    return TuringFigures(
        steps=int(r[kernel.RULES]),
        nonblank=int(r[kernel.NONBLANK]),
        cells=int(r[kernel.HIGHEST] - r[kernel.LOWEST] + 1),
        tape=tape_text(trimmed(run.tape_word, blank), blank),
    )


def difference(run: Lockstep[Any]) -> str:
    """The difference that ended the run, or one between its words as they stand; '' if none."""
    if run.difference or run.turing_only:
        return run.difference
    try:
        found = next(_differences(run), "")
    except MachineError as error:
        found = f"queue step {run.registers[kernel.STEPS]}: {error}"
    run.difference = found
    return found


def _differences(run: Lockstep[Any]) -> Iterator[str]:
    r, where = run.registers, f"queue step {run.registers[kernel.STEPS]}"
    queue, held, shown = run.queue_word, run.window_word, run.context_word
    if r[kernel.WITH_HIST]:
        if not np.array_equal(queue[1:], held):
            yield (
                f"{where}: the queue is {run.symbols(queue)}, the HIST window {run.symbols(held)}"
            )
        stored = run.stored
        if not stored.first and stored.parity != r[kernel.PARITY]:
            yield (
                f"{where}: the queue's parity is {r[kernel.PARITY]:b}, HIST stores "
                f"{stored.parity:b}"
            )
    if r[kernel.WITH_TOKENS]:
        word = shown[shown < len(run.machine.alphabet)]
        if not np.array_equal(word, held if run.counts[-1] else queue):
            yield (
                f"{where}: the HIST window is {run.symbols(held)}, the transformer's "
                f"{run.symbols(word)}"
            )
    if run.halted:
        yield from _endings(run)


def _endings(run: Lockstep[Any]) -> Iterator[str]:
    """What differs once the run halted: the final queue as each level holds it, and the tape."""
    machine, queue = run.machine, run.symbols(run.queue_word)
    found: dict[str, Word] = {}
    if run.registers[kernel.WITH_HIST]:
        held = run.symbols(run.window_word)
        found["HIST"] = parity.final_queue(machine, run.stored, held)
    if run.registers[kernel.WITH_TOKENS]:
        label = run.newest
        context = [
            Token(displayed=symbol, label=label, update=0)
            for symbol in run.symbols(run.context_word)
        ]
        found["transformer"] = window.final_queue(machine, run.transformer, context)
    for level, word in found.items():
        if word != queue:
            yield f"final queue: {queue}, read from the {level}: {word}"
    if run.source is None or not run.registers[kernel.WITH_TURING]:
        return
    tape = trimmed(run.tape_word, run.source.machine.blank)
    decoded, ended = run.source.decode(queue), run.next_rule() < 0
    if decoded != tape or not ended:
        yield (
            f"the queue halted with the tape {decoded}; the Turing machine halted: {ended}, tape "
            f"{tape}"
        )


def described(run: Lockstep[Any], reason: int) -> str:
    """The difference for which the loop left."""
    r = run.registers
    if reason == kernel.HIST_DIFFERS:
        step = run.step_words(int(r[kernel.HIST_STEPS]) - 1)
        return (
            f"queue step {r[kernel.HIST_STEPS]}: the queue popped {step.popped!r}, appended "
            f"{step.appended} and had parity {r[kernel.PARITY]:b} then; HIST went to "
            f"{run.stored!r} with the window {run.symbols(run.window_word)}"
        )
    if reason == kernel.TOKENS_DIFFER:
        step = run.step_words(max(int(r[kernel.TOKEN_STEPS]) - 1, 0))
        return (
            f"queue step {r[kernel.TOKEN_STEPS]}: the transformer owed {step.appended} in a window "
            f"of {r[kernel.LENGTH]} symbols; its last label is {run.newest!r}, its context "
            f"{run.symbols(run.context_word)}"
        )
    where = f"queue step {r[kernel.STEPS]}"
    if reason == kernel.RUNS_ON:
        return (
            f"{where}: the queue machine must halt or meet the head within one rotation, it runs "
            f"on in {run.state!r}"
        )
    if reason == kernel.WORDS_DIFFER:
        return next(_differences(run), f"{where}: the words differ")
    return f"{where}, rule {r[kernel.RULES] + 1}: {_beside_the_tape(run)}"


def _beside_the_tape(run: Lockstep[Any]) -> str:
    r, turing = run.registers, run.queue_table.turing
    if turing is None or run.source is None:
        return ""
    state = run.source.machine.states[int(r[kernel.TURING_STATE])]
    read = turing.alphabet[int(run.tape[r[kernel.TURING_HEAD]])]
    return (
        f"the Turing machine is in {state!r} on {read!r} with the tape "
        f"{trimmed(run.tape_word, run.source.machine.blank)}, the queue is "
        f"{run.symbols(run.queue_word)} in {run.state!r}"
    )
