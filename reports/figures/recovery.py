"""How a window that is seen through its parity alone tells which token has just left it.

    before a step    the queue is sigma W, and only W is seen: its parity p
    stored           r, the parity of the whole queue
    hence            r xor p is one at sigma and zero elsewhere
    after the step   r is p xor the parity of the appended word

Source: Sliding-Window Transformers Without Positional Encodings, Figure 1 and Theorem 7.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from constructions.machines.definitions import QueueMachine, State, Word, parity_vector
from constructions.machines.parity import parity_machine
from constructions.machines.runs import ParityHistRun, QueueRun
from reports.figures import svg
from reports.figures.svg import INK, Figure
from reports.figures.symbols import Colour, Symbols, shown

_NAME = "recovery"
_WIDTH, _HEIGHT = 9.6, 7.4
_PITCH = 5.1
"""Rows from one step to the next, where a cell is one row high."""
_LABELS, _READING = 7.4, 5.6
"""Columns for the words before and behind the bits."""
_MARGIN = 0.04
_ONE: Colour = (INK, 0.18)
FOUND = "#f59e0b"
"""What the dropped symbol and the bit that tells it are drawn in."""
_BIT: Colour = (FOUND, 0.6)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryStep:
    """What one step of the parity-HIST machine has before it, and what it appends.

    The parities are bits in the order of the alphabet; `kept` is what the next step finds `stored`.
    """

    number: int
    queue: Word
    stored: tuple[int, ...]
    seen: tuple[int, ...]
    appended: Word
    kept: tuple[int, ...]

    @property
    def difference(self) -> tuple[int, ...]:
        """The exclusive or of the two parities: one at the dropped symbol."""
        return tuple(one ^ other for one, other in zip(self.stored, self.seen, strict=True))


def steps(machine: QueueMachine[State], word: Word) -> Iterator[RecoveryStep]:
    """The steps of a run from the second on; in the first a flag stands for the kept parity."""
    queue, hist = QueueRun(machine, word), ParityHistRun(parity_machine(machine), word)
    size = len(machine.alphabet)
    while not queue.halted:
        before, stored, seen = tuple(queue.queue), hist.state, hist.parity
        queue.step()
        appended = hist.step()
        if not stored.first:
            yield RecoveryStep(
                number=queue.steps,
                queue=before,
                stored=parity_vector(stored.parity, size),
                seen=parity_vector(seen, size),
                appended=appended,
                kept=parity_vector(hist.state.parity, size),
            )


def figure(machine_name: str, shown_steps: Sequence[RecoveryStep], known: Symbols) -> Figure:
    """The steps below one another, the queue on the left and its parities on the right."""
    first, last = shown_steps[0].number, shown_steps[-1].number
    caption = (
        f"Steps {first} to {last} of the parity-HIST machine of {machine_name}. It cannot see what "
        "left its window W last. But it has kept the parity r of the whole queue σ W, that is, how "
        "often each symbol occurs mod 2, and sees the parity p of W: they differ at σ alone."
    )
    drawing, (axes,) = svg.panels(_WIDTH, _HEIGHT, 1)
    drawing.subplots_adjust(left=0.01, right=0.99, top=0.99, bottom=0.01)
    axes.set_axis_off()
    lengths = [len(step.queue) + len(step.appended) for step in shown_steps]
    starts = range(len(shown_steps))
    bits = max(start + length for start, length in zip(starts, lengths, strict=True)) + _LABELS
    size = len(known.alphabet)
    for place, symbol in enumerate(known.alphabet):
        _write(axes, bits + place + 0.5, -0.6, shown(symbol, 4))
    for start, step in zip(starts, shown_steps, strict=True):
        top = _PITCH * start
        _draw_queue(axes, start, top, step, known)
        _draw_parities(axes, bits, top, step, known)
    axes.set(xlim=(-0.5, bits + size + _READING), ylim=(_PITCH * len(shown_steps), -1.4))
    axes.set_aspect("equal")
    return Figure(name=_NAME, caption=caption, inline=svg.written(drawing, _NAME, caption))


def _draw_queue(axes: Any, start: int, top: float, step: RecoveryStep, known: Symbols) -> None:
    """The dropped symbol, the window and the appended word, each symbol in a column of its own."""
    row, end = top + 0.9, start + len(step.queue)
    for place, symbol in enumerate((*step.queue, *step.appended), start):
        style = {"linestyle": "--"} if place >= end else {}
        if place == start:
            style = {"edgecolor": FOUND, "linewidth": 2}
        _draw_box(axes, place, row, shown(symbol, 4), _face(known.colours[symbol]), **style)
    _write(axes, start, row - 0.5, f"step {step.number}", ha="left", weight="bold")
    _write(axes, end, row - 0.5, "appended", ha="left", size=8)
    _draw_brace(axes, start, start + 1, row + 1.2, "σ")
    _draw_brace(axes, start + 1, end, row + 1.2, "window W")


def _face(colour: Colour) -> Colour:
    """A symbol's colour, pale enough for its name to be read on it."""
    return (colour, 0.55) if isinstance(colour, str) else colour


def _draw_parities(axes: Any, left: float, top: float, step: RecoveryStep, known: Symbols) -> None:
    """Both parities, their difference with its one bit, and what is kept for the next step."""
    dropped = known.alphabet[step.difference.index(1)]
    appended = " ".join(shown(symbol, 4) for symbol in step.appended)
    rows = (
        (0.0, "kept: parity r of σ W", step.stored, f"from step {step.number - 1}", _ONE),
        (1.0, "seen: parity p of W", step.seen, "", _ONE),
        (2.1, "r ⊕ p", step.difference, f"so σ = {shown(dropped, 4)}", _BIT),
        (3.2, f"p ⊕ parity of {appended}", step.kept, f"kept for step {step.number + 1}", _ONE),
    )
    right = left + len(known.alphabet)
    for row, words, bits, reading, colour in rows:
        _write(axes, left - 0.4, top + row + 0.5, words, ha="right")
        _write(axes, right + 0.4, top + row + 0.5, reading, ha="left")
        for place, bit in enumerate(bits):
            _draw_box(axes, left + place, top + row, str(bit), colour if bit else "none")
    axes.plot([left, right], [top + 2.05] * 2, color=INK, linewidth=1)


def _draw_box(
    axes: Any, column: float, row: float, text: str, colour: Colour, **style: Any
) -> None:
    """A cell with a text in it."""
    rectangle: Any = import_module("matplotlib.patches").Rectangle
    corner = (column + _MARGIN, row + _MARGIN)
    side = 1 - 2 * _MARGIN
    style = {"edgecolor": (INK, 0.6), "linewidth": 0.8, **style}
    axes.add_patch(rectangle(corner, side, side, facecolor=colour, **style))
    _write(axes, column + 0.5, row + 0.5, text)


def _draw_brace(axes: Any, left: float, right: float, row: float, words: str) -> None:
    """A line below some columns with words under it."""
    if left < right:
        axes.plot([left + 0.1, right - 0.1], [row, row], color=INK, linewidth=0.8)
        _write(axes, (left + right) / 2, row + 0.5, words, size=8)


def _write(axes: Any, column: float, row: float, text: str, **style: Any) -> None:
    axes.text(column, row, text, **{"ha": "center", "va": "center", "color": INK, **style})
