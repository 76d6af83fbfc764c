"""The space-time diagram of a run: tape, queue and context of one machine, time downwards.

Source: Sliding-Window Transformers Without Positional Encodings, Theorems 6, 7 and 9.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from itertools import pairwise
from typing import Any

from constructions.machines.definitions import QueueMachine, TuringMachine, Word
from constructions.machines.levels import LevelsReport
from reports.figures import recording, svg, symbols
from reports.figures.recording import Panel, Point, Recording
from reports.figures.strips import Strip
from reports.figures.svg import INK, Figure
from reports.figures.symbols import Colour, Symbols
from reports.text import printable

REFRESH = "#f43f5e"
"""What a refresh is drawn in, and nothing else."""
MOST_NAMED = 12
"""Symbols that the legend names."""
_NAME = "space-time"
_WIDTH, _HEIGHT = 9.6, 7.0
_NAME_WIDTH, _INPUT_WIDTH = 90, 40
_LEGEND_COLUMNS = 6
_THIN, _THICK, _DOT = 0.8, 1.4, 2.6
_MOST_DOTS = 120
"""Rows up to which each place of the head has a dot."""
_MOST_EDGES = 60
"""Columns up to which each strip has an edge."""


def of_turing_machine(
    machine: TuringMachine, word: Word, max_rules: int, report: LevelsReport
) -> Figure:
    """The figure of a Turing machine's run; `report` is what the whole run found."""
    found = recording.of_turing_machine(machine, word, max_rules)
    return _figure(found, symbols.of_turing_machine(machine), word, report)


def of_queue_machine(
    machine: QueueMachine[Any], word: Word, max_steps: int, report: LevelsReport
) -> Figure:
    """The same for a queue machine that comes from no Turing machine."""
    found = recording.of_queue_machine(machine, word, max_steps)
    return _figure(found, symbols.of_queue_machine(machine), word, report)


def _counted(report: LevelsReport) -> str:
    """The figures of all levels of a run in words."""
    parts = [_so_many(report.steps, "rule")] if report.turing else []
    if report.queue:
        parts.append(_so_many(report.queue.steps, "queue step"))
    if report.transformer:
        refreshes = report.transformer.refreshes
        tokens = _so_many(report.transformer.tokens, "token")
        parts.append(f"{tokens} ({refreshes:,} refresh{'' if refreshes == 1 else 'es'})")
    if report.hist:
        parts.append(f"longest window S = {report.hist.max_window:,}")
    return ", ".join(parts)


def _so_many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _figure(found: Recording, known: Symbols, word: Word, report: LevelsReport) -> Figure:
    counts, given = _counted(report), _given(word)
    levels = "three levels" if found.tape else "two levels"
    caption = (
        f"One run of {printable(report.machine)} {given}, at {levels}, time downwards: {counts}. "
        "Tokens enter the context on the right and leave it on the left; when the marker has left, "
        "the next token is a new one, a refresh."
    )
    figure, axes = svg.panels(_WIDTH, _HEIGHT, 3 if found.tape else 2)
    name = symbols.shown(f"{report.machine}, {given}", _NAME_WIDTH)
    end = "halts" if report.halted else "cut off"
    figure.suptitle(f"{name}\n{counts}; {end}", color=INK, fontsize=10)
    if found.tape:
        _draw_tape(axes[0], found.tape, known, report)
    if found.end_on_tape is not None:
        axes[0].axhline(found.end_on_tape + 1, color=INK, linestyle="--", linewidth=_THIN)
    _draw_queue(axes[-2], found, known, report)
    _draw_context(axes[-1], found, known, report)
    _add_legend(figure, found, known)
    return Figure(name=_NAME, caption=caption, inline=svg.written(figure, _NAME, caption))


def _given(word: Word) -> str:
    """The input in words."""
    between = "" if all(len(symbol) == 1 for symbol in word) else " "
    return f"on “{printable(between.join(word), _INPUT_WIDTH)}”" if word else "on no input"


def _draw_tape(axes: Any, panel: Panel, known: Symbols, report: LevelsReport) -> None:
    _draw_strips(axes, panel.strips, known)
    _draw_path(axes, [panel.path], linewidth=_THIN)
    if panel.steps <= _MOST_DOTS:
        _draw_dots(axes, panel.path)
    _label(axes, "tape of the Turing machine", "rule", panel, report.steps)
    _number_axes(axes, "cell, counted from where the head began", panel, centre=0.5)


def _draw_queue(axes: Any, found: Recording, known: Symbols, report: LevelsReport) -> None:
    panel = found.queue
    _draw_strips(axes, panel.strips, known)
    _draw_path(axes, _rounds(panel.path), linewidth=_THIN, alpha=0.6)
    carried = [strip.middle for strip in panel.strips if strip.symbol in known.unmarked]
    _draw_path(axes, carried, linewidth=_THICK)
    _draw_dots(axes, [panel.path[row] for row in panel.applied])
    _label(axes, "queue", "queue step", panel, report.queue.steps if report.queue else 0)
    if found.tape:
        _number_axes(axes, "the same cells; the start symbol left of them", panel, centre=0.5)
    else:
        _number_axes(axes, "place in the queue, 0 is its front", panel, centre=0)


def _draw_context(axes: Any, found: Recording, known: Symbols, report: LevelsReport) -> None:
    panel = found.context
    _draw_strips(axes, panel.strips, known)
    x, y = _apart(panel.refreshes)
    axes.plot(x, y, marker="<", color=REFRESH, markersize=4.5, linestyle="none")
    right = max(right for strip in panel.strips for _, _, right in strip.edges)
    _draw_dots(axes, [(1.04 * right + 0.3, row) for row in panel.applied])
    tokens = report.transformer.tokens if report.transformer else 0
    _label(axes, "context of the transformer", "token", panel, tokens)
    _number_axes(axes, "place in the context, 0 is its oldest token", panel, centre=0)


def _label(axes: Any, title: str, unit: str, panel: Panel, steps: int) -> None:
    """The title, which says what part of a longer run is shown."""
    shown = "" if panel.steps == steps else f"the first {panel.steps:,} of "
    axes.set_title(f"{title}\n{shown}{_so_many(steps, unit)}", color=INK, fontsize=9)
    axes.set_ylabel(f"{unit}s so far")


def _number_axes(axes: Any, place: str, panel: Panel, centre: float) -> None:
    """Numbers on both axes: a column's in its middle, a row's where its word is the exact one."""
    locator: Any = import_module("matplotlib.ticker").MaxNLocator(nbins=7, integer=True)
    axes.autoscale_view()
    first, last = axes.get_xlim()
    columns = [int(at) for at in locator.tick_values(first, last) if first <= at + 0.5 <= last]
    rows = [int(at) for at in locator.tick_values(0, panel.steps) if 0 <= at <= panel.steps]
    axes.set_xticks([column + 0.5 for column in columns], map(str, columns))
    axes.set_yticks([row + centre for row in rows], map(str, rows))
    more = "" if panel.whole else "\n(there is more to the right)"
    axes.set(xlabel=place + more, ylim=(panel.steps + 1, 0))


def _draw_strips(axes: Any, strips: Sequence[Strip], known: Symbols) -> None:
    """One path a colour, so that a file stays small."""
    path: Any = import_module("matplotlib.path").Path
    patch: Any = import_module("matplotlib.patches").PathPatch
    columns = {left for strip in strips for _, left, _ in strip.edges}
    edge = {"edgecolor": (INK, 0.4), "linewidth": 0.3 if len(columns) <= _MOST_EDGES else 0}
    outlines: dict[Colour, list[Any]] = {}
    for strip in strips:
        colour = known.colours.get(strip.symbol, INK)
        corners = strip.outline
        codes = [path.MOVETO, *[path.LINETO] * (len(corners) - 1), path.CLOSEPOLY]
        outlines.setdefault(colour, []).append(path([*corners, corners[0]], codes))
    for colour, parts in outlines.items():
        axes.add_patch(patch(path.make_compound_path(*parts), facecolor=colour, **edge))


def _draw_dots(axes: Any, points: Sequence[Point]) -> None:
    axes.plot(*_apart(points), "o", color=INK, markersize=_DOT, linestyle="none")


def _draw_path(axes: Any, lines: Iterable[Sequence[Point]], **style: Any) -> None:
    """Several lines as one path."""
    x: list[float] = []
    y: list[float] = []
    for line in lines:
        across, down = _apart(line)
        x += [*across, float("nan")]
        y += [*down, float("nan")]
    axes.plot(x, y, color=INK, **style)


def _apart(points: Sequence[Point]) -> tuple[list[float], list[float]]:
    return [x for x, _ in points], [y for _, y in points]


def _rounds(path: Sequence[Point]) -> Iterable[Sequence[Point]]:
    """A path around the tape, cut where it comes back to the left end."""
    starts = [0, *(row + 1 for row, ((x, _), (then, _)) in enumerate(pairwise(path)) if then < x)]
    return [path[start:end] for start, end in pairwise([*starts, len(path)])]


def _add_legend(figure: Any, found: Recording, known: Symbols) -> None:
    """What colours, dots and lines stand for, below the panels."""
    patch: Any = import_module("matplotlib.patches").Patch
    line: Any = import_module("matplotlib.lines").Line2D
    named = known.plain[:MOST_NAMED]
    handles = [patch(color=known.colours[one], label=known.named(one)) for one in named]
    if more := len(known.plain) - len(named):
        handles.append(patch(alpha=0, label=f"and {more} more"))
    handles.append(patch(color=INK, label=f"marker “{symbols.shown(found.marker)}”"))
    handles.append(line([], [], color=REFRESH, marker="<", linestyle="none", label="refresh"))
    if found.tape:
        ink = {"color": INK, "markersize": _DOT}
        handles += [
            line([], [], **ink, marker="o", linestyle="none", label="head; applied rule"),
            line([], [], **ink, linewidth=_THIN, alpha=0.6, label="front of the queue"),
            line([], [], **ink, linewidth=_THICK, label="cell that waits with the head"),
        ]
        if found.end_on_tape is not None:
            style = {"linestyle": "--", "linewidth": _THIN}
            handles.append(line([], [], **ink, **style, label="end of the panels beside"))
    rows = -(-len(handles) // _LEGEND_COLUMNS)
    bottom = 0.1 + 0.027 * rows
    figure.subplots_adjust(left=0.06, right=0.99, top=0.87, bottom=bottom, wspace=0.22)
    figure.legend(
        handles=handles,
        loc="lower center",
        ncols=-(-len(handles) // rows),
        frameon=False,
        labelcolor=INK,
        fontsize=8,
    )
