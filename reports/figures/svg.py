"""What a plotting library writes, made fit for a page whose policy forbids inline styles.

Styles become presentation attributes, ids are those of this figure alone, and what was drawn in
`INK` takes the colour of the text around it, so that it can be read on light and dark pages.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from importlib import import_module
from typing import Any
from xml.etree import ElementTree

INK = "#5e5e5f"
"""Stands for the colour of the text around the figure."""
NAMESPACE = "http://www.w3.org/2000/svg"
_LINK = "{http://www.w3.org/1999/xlink}href"
_KEPT = {"id", "x", "y", "transform", "viewBox", "href"}
_DROPPED = {"metadata", "style", "title"}
_DECIMALS = re.compile(r"-?\d+\.\d+")
_GROUND = (
    "svg{color:#1f2328;background:#ffffff}"
    "@media (prefers-color-scheme:dark){svg{color:#e6edf3;background:#0d1117}}"
)
_SETTINGS = {
    "svg.fonttype": "path",
    "path.simplify": False,
    "font.size": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    **dict.fromkeys(
        (
            "text.color",
            "axes.edgecolor",
            "axes.labelcolor",
            "xtick.color",
            "ytick.color",
            "grid.color",
        ),
        INK,
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A drawing as an inline SVG element, with the name of its file and what it shows."""

    name: str
    caption: str
    inline: str


def canvas(width: float, height: float) -> tuple[Any, Any]:
    """An empty figure of a size in inches and its axes, drawn in ink on nothing."""
    figure, (axes,) = panels(width, height, 1)
    figure.set_layout_engine("constrained")
    axes.grid(visible=True, which="major", alpha=0.25, linewidth=0.6)
    axes.set_axisbelow(True)
    return figure, axes


def panels(width: float, height: float, count: int) -> tuple[Any, list[Any]]:
    """So many empty axes side by side, without a grid; their places are the caller's to choose."""
    matplotlib: Any = import_module("matplotlib")
    with matplotlib.rc_context(_SETTINGS):
        figure: Any = import_module("matplotlib.figure").Figure(figsize=(width, height))
        axes: Any = figure.subplots(1, count, squeeze=False)
    return figure, [*axes[0]]


def add_legend(figure: Any) -> None:
    """A legend in ink, beside the axes."""
    figure.legend(loc="outside right upper", frameon=False, labelcolor=INK)


def written(figure: Any, name: str, label: str) -> str:
    """The figure as one inline SVG element, the same text for the same figure.

    `name` makes its ids its own; `label` says what it shows to those who cannot see it.
    """
    matplotlib: Any = import_module("matplotlib")
    backend: Any = import_module("matplotlib.backends.backend_svg")
    if figure.get_layout_engine() is not None:
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # the layout stands; unclipped lines must not move it
    figure.patch.set_visible(False)
    for axes in figure.axes:
        for part in axes.get_children():
            part.set_clip_on(False)
        axes.patch.set_visible(False)
    stream = io.StringIO()
    with matplotlib.rc_context({**_SETTINGS, "svg.hashsalt": name}):
        backend.FigureCanvasSVG(figure).print_svg(stream, metadata={"Date": None})
    root = ElementTree.fromstring(stream.getvalue())  # noqa: S314 - our own drawing
    plain = _plain(root, name, _referred(root))
    plain.set("role", "img")
    plain.set("aria-label", label)
    plain.set("stroke-linejoin", "round")
    return ElementTree.tostring(plain, encoding="unicode", short_empty_elements=True)


def file_of(inline: str) -> bytes:
    """A file of its own: the inline element with its name space and a ground to stand on."""
    opening = f'<svg xmlns="{NAMESPACE}"'
    body = inline.replace("<svg", opening, 1).replace(">", f"><style>{_GROUND}</style>", 1)
    return ('<?xml version="1.0" encoding="utf-8"?>\n' + body + "\n").encode()


def _referred(root: ElementTree.Element) -> set[str]:
    return {part.get(_LINK, "")[1:] for part in root.iter() if part.get(_LINK)}


def _plain(part: ElementTree.Element, name: str, referred: set[str]) -> ElementTree.Element:
    """The element and all below it, without name spaces, styles or ids that nothing refers to."""
    plain = ElementTree.Element(part.tag.rpartition("}")[2], _attributes(part, name, referred))
    for child in part:
        if child.tag.rpartition("}")[2] not in _DROPPED:
            plain.append(_plain(child, name, referred))
    return plain


def _attributes(part: ElementTree.Element, name: str, referred: set[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for key, value in part.attrib.items():
        if key == _LINK:
            found["href"] = f"#{name}-{value[1:]}"
        elif key == "id":
            found |= {"id": f"{name}-{value}"} if value in referred else {}
        elif key == "d":
            found[key] = _DECIMALS.sub(_rounded, value)
        elif key in _KEPT:
            found[key] = value
    for rule in part.get("style", "").split(";"):
        key, _, value = rule.partition(":")
        if key.strip():
            found[key.strip()] = re.sub(re.escape(INK), "currentColor", value.strip())
    return found


def _rounded(number: re.Match[str]) -> str:
    """A coordinate to a hundredth of a point, which is finer than any screen."""
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")
