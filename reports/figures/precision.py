"""Rounding errors as figures: against the condition number, and per floating-point format.

The points come from the raw figures of a run's checks, or from what `make gpu` measured.

    {"format", "side": "target" | "sparse" | "random", "error", "bound", "condition"}

Errors and a-priori bounds are over the output's scale; a point without one has None there.

Source: Fixed Universal Transformers, Section 3.2, Finite precision.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from constructions.universal.floats import FORMATS
from constructions.universal.precision import TIMES_CONDITION
from reports.figures import svg
from reports.figures.svg import Figure
from verify.verdicts import Json

SPARSE, RANDOM = "universal.precision.sparse", "universal.precision.generic"
COLOURS = {
    "float64": "#3b82f6",
    "float32": "#16a34a",
    "tf32": "#d97706",
    "bfloat16": "#a855f7",
    "float16": "#e5484d",
}
MARKERS = {"float64": "o", "float32": "s", "tf32": "D", "bfloat16": "^", "float16": "v"}
SIDES = {
    "target": ("target itself", "#3b82f6", "o"),
    "sparse": ("sparse simulation", "#d97706", "s"),
    "random": ("random simulation", "#a855f7", "^"),
}

BOUND_WORDS = "a-priori bound (median)"
OUTPUT_WORDS = "scale of the output"


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One error, and the a-priori bound and condition number that go with it, if any."""

    format: str
    side: str
    error: float
    bound: float | None = None
    condition: float | None = None


# --- points ----------------------------------------------------------------------------------


def points_of_run(run: Mapping[str, Json]) -> tuple[list[Point], str]:
    """What the checks of a run measured, and on which device."""
    points: list[Point] = []
    devices: set[str] = set()
    for check in run.get("checks", []):
        if check["claim"] not in (SPARSE, RANDOM):
            continue
        side = "sparse" if check["claim"] == SPARSE else "random"
        for place, row in check["notes"].get("measured", {}).items():
            name, _, device = place.partition(" on ")
            devices.add(device)
            for error, _, details in row["figures"]:
                if "steps" not in details:  # E solved in the format is another simulation
                    points += _points(name, side, error, details)
    return points, ", ".join(sorted(devices))


def _points(name: str, side: str, error: Json, details: Mapping[str, Json]) -> Iterator[Point]:
    """A trial's points: of the stated bound's check, or of the derived one's.

    What overflowed stands there as text, and has no point.
    """
    seen = {side: details.get("simulation", error), "target": details.get("target")}
    bounds = {side: details.get("simulation bound"), "target": details.get("target bound")}
    scale = details["scale"]
    for which, value in seen.items():
        if isinstance(value, float):
            bound = bounds[which]
            yield Point(
                format=name,
                side=which,
                error=value / scale,
                bound=None if bound is None else bound / scale,
                condition=details.get("condition"),
            )


def points_of_device(measured: Mapping[str, Json]) -> tuple[list[Point], str]:
    """What `make gpu` measured, and the device's name."""
    return [Point(**point) for point in measured["points"]], str(measured["device"])


# --- figures ---------------------------------------------------------------------------------


def figures(points: Sequence[Point], device: str, suffix: str = "") -> list[Figure]:
    """Both figures, as far as there are points for them."""
    finite = [point for point in points if point.error > 0]
    by_condition = [point for point in finite if point.condition is not None]
    drawn: list[Figure] = []
    if by_condition:
        drawn.append(
            _figure(
                f"error-by-condition{suffix}",
                f"Error of the random simulation against the condition number of P_0, on {device}: "
                f"{_counted(by_condition)}. Lines: the stated bound, {TIMES_CONDITION} times "
                "condition number times unit roundoff u. An error of 1 is as large as the output.",
                _by_condition(by_condition),
            )
        )
    if any(point.side == "sparse" for point in finite):
        drawn.append(
            _figure(
                f"error-by-format{suffix}",
                f"Rounding errors per format, on {device}: median, and the range from least to "
                "largest. Dashes: median of the a-priori bounds, where overflow is ruled out. An "
                "error of 1 is as large as the output.",
                _by_format(finite),
            )
        )
    return drawn


def _figure(name: str, caption: str, figure: Any) -> Figure:
    return Figure(name=name, caption=caption, inline=svg.written(figure, name, caption))


def _counted(points: Sequence[Point]) -> str:
    names = [name for name in FORMATS if any(point.format == name for point in points)]
    most = max(sum(point.format == name for point in points) for name in names)
    return f"{most} {'draw' if most == 1 else 'draws'}, each in {', '.join(names)}"


def _by_condition(points: Sequence[Point]) -> Any:
    """Error over the output's scale against cond(P_0), both logarithmic, with the bound's lines."""
    figure, axes = svg.canvas(7.2, 4.6)
    conditions = [point.condition or 1.0 for point in points]
    ends = min(conditions) / 1.5, max(conditions) * 1.5
    for name, format in FORMATS.items():
        chosen = [point for point in points if point.format == name]
        if not chosen:
            continue
        unit, colour = float(format.unit), COLOURS[name]
        axes.plot(
            [point.condition for point in chosen],
            [point.error for point in chosen],
            linestyle="none",
            marker=MARKERS[name],
            markersize=4,
            markerfacecolor="none",
            markeredgecolor=colour,
            label=f"{name}, u = {_power(unit)}",
        )
        bound = [TIMES_CONDITION * end * unit for end in ends]
        axes.plot(ends, bound, color=colour, linewidth=1.2)
    bound_words = rf"{TIMES_CONDITION} cond($P_0$) u"
    axes.plot([], [], color=svg.INK, linewidth=1.2, label=bound_words)
    axes.axhline(1, color=svg.INK, linestyle="--", linewidth=0.9, label=OUTPUT_WORDS)
    axes.set(
        xscale="log",
        yscale="log",
        xlim=ends,
        xlabel=r"condition number of $P_0$ in the infinity norm",
        ylabel="largest error / scale of the output",
    )
    svg.add_legend(figure)
    return figure


def _power(unit: float) -> str:
    return f"$2^{{{round(math.log2(unit))}}}$"


def _by_format(points: Sequence[Point]) -> Any:
    """Per format and side the median, the range and the a-priori bound, on a logarithmic axis."""
    figure, axes = svg.canvas(7.2, 4.6)
    names = [name for name in FORMATS if any(point.format == name for point in points)]
    for index, (side, (words, colour, marker)) in enumerate(SIDES.items()):
        for place, name in enumerate(names):
            chosen = [p for p in points if (p.format, p.side) == (name, side)]
            errors = [point.error for point in chosen]
            bounds = [point.bound for point in chosen if point.bound is not None]
            at = place + 0.22 * (index - 1)
            if errors:
                axes.vlines(at, min(errors), max(errors), color=colour, linewidth=2.4, alpha=0.55)
                axes.plot(at, median(errors), marker=marker, color=colour, linestyle="none")
            if bounds:
                axes.plot(at, median(bounds), marker="_", markersize=13, color=colour)
        axes.plot([], [], marker=marker, color=colour, linewidth=2.4, label=words)
    axes.plot([], [], marker="_", markersize=11, color=svg.INK, linestyle="none", label=BOUND_WORDS)
    for place, name in enumerate(names):
        unit = float(FORMATS[name].unit)
        label = "unit roundoff u" if place == 0 else None
        axes.hlines(unit, place - 0.4, place + 0.4, color=svg.INK, linestyle=":", label=label)
    axes.axhline(1, color=svg.INK, linestyle="--", linewidth=0.9, label=OUTPUT_WORDS)
    axes.set(yscale="log", ylabel="largest error / scale of the output", xlabel="format")
    axes.set_xticks(range(len(names)), names)
    axes.grid(visible=False, axis="x")
    svg.add_legend(figure)
    return figure


def of_folder(run: Mapping[str, Json] | None, measured: Mapping[str, Json] | None) -> list[Figure]:
    """All figures that a run's checks and a device's measurements allow."""
    drawn: list[Figure] = []
    if run is not None:
        drawn += figures(*points_of_run(run))
    if measured is not None:
        drawn += figures(*points_of_device(measured), suffix="-device")
    return drawn
