"""How long a window may be in each floating-point format: measured frontiers and proved bounds.

The numbers are those of the certificate of `machines.precision.frontier` in a run's folder.

Source: Sliding-Window Transformers Without Positional Encodings, Theorem 9, Remark 5.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from constructions.universal.floats import FORMATS
from reports.figures import svg
from reports.figures.precision import COLOURS, MARKERS
from reports.figures.svg import Figure
from reports.record import load_json
from verify.verdicts import Json

CLAIM = "machines.precision.frontier"
NAME = "parity-precision"
WAYS = {
    "wider": "summed in a\nwider format",
    "once": "rounded once",
    "pairwise": "summed\npairwise",
    "sequential": "summed\ntoken by token",
    "equality": "rounded once,\nread without\nthe margin",
}
"""How the columns are headed, in their order."""
CAPTION = (
    "Longest windows S for which the parity network reads every count rightly in floating point, "
    "per format and way of taking the mean. Filled: the last S before the first failure. Open, "
    "with an arrow: no failure up to there, where the search ended. Bars: the bound proved for all "
    "S below; read without the margin there is none."
)
_STEP = 0.23
_LARGEST_PRINTED = 9999


def of_folder(folder: Path, record: Mapping[str, Json]) -> list[Figure]:
    """The figure, if the record's run settled the claim and its certificate is there.

    Raises:
        RecordError: the certificate cannot be read.
    """
    for claim in record["claims"]:
        if claim["id"] == CLAIM and claim["status"] == "BOUNDED":
            path = folder / "certificates" / Path(str(claim["checks"][0]["certificate"])).name
            if path.is_file():
                return [drawn(load_json(path)["content"]["instances"])]
    return []


def drawn(rows: Sequence[Mapping[str, Json]]) -> Figure:
    """The figure of the certificate's instances."""
    figure, axes = svg.canvas(7.6, 4.8)
    found = {str(row["format"]) for row in rows}
    formats = sorted(found, key=lambda name: FORMATS[name].digits, reverse=True)
    for row in rows:
        column, place = list(WAYS).index(row["way"]), formats.index(row["format"])
        at = column + _STEP * (place - (len(formats) - 1) / 2)
        _draw(axes, at, row)
    for name in formats:
        label = rf"{name}, $p = {FORMATS[name].digits}$"
        axes.plot([], [], marker=MARKERS[name], color=COLOURS[name], linestyle="none", label=label)
    shown = {"linestyle": "none", "color": svg.INK}
    axes.plot([], [], marker="o", label="last S before the first failure", **shown)
    axes.plot([], [], marker="o", markerfacecolor="none", label="no failure so far", **shown)
    axes.plot([], [], marker="_", markersize=11, markeredgewidth=2, label="proved bound", **shown)
    axes.set_yscale("log", base=2)
    axes.set(
        xlabel="how the mean is taken",
        ylabel="longest window S",
        xlim=(-0.5, len(WAYS) - 0.5),
        ylim=(1, 2.0**52),
        yticks=[2.0**power for power in range(0, 49, 8)],
    )
    axes.set_xticks(range(len(WAYS)), WAYS.values())
    axes.grid(visible=False, axis="x")
    axes.legend(loc="upper right", frameon=False, labelcolor=svg.INK)
    return Figure(name=NAME, caption=CAPTION, inline=svg.written(figure, NAME, CAPTION))


def _draw(axes: Any, at: float, row: Mapping[str, Json]) -> None:
    """One format and way: its frontier, its bound, and both as figures."""
    name, frontier, bound = str(row["format"]), row["frontier"], row["bound"]
    colour, failed = COLOURS[name], row["failure"] is not None
    face = colour if failed else "none"
    axes.plot(at, frontier, marker=MARKERS[name], markersize=5, color=colour, markerfacecolor=face)
    if bound:
        axes.plot(at, bound, marker="_", markersize=11, markeredgewidth=2, color=colour)
        axes.vlines(at, *sorted((bound, frontier)), color=colour, linewidth=0.8, alpha=0.6)
        _write(axes, at, bound, -9 if bound < frontier else 5)
    if not failed:
        axes.annotate(
            "",
            (at, frontier * 5.5),
            (at, frontier * 1.5),
            arrowprops={"arrowstyle": "->", "color": colour, "linewidth": 0.9},
        )
    _write(axes, at, frontier, 5 if failed else -10)


def _write(axes: Any, at: float, value: int, above: int) -> None:
    """A number so many points above its mark; long ones as powers of 2, rounded down."""
    power = math.floor(10 * math.log2(value)) / 10
    axes.annotate(
        f"{value}" if value <= _LARGEST_PRINTED else f"$2^{{{power:g}}}$",
        (at, value),
        (0, above),
        textcoords="offset points",
        ha="center",
        fontsize=6.5,
        color=svg.INK,
    )
