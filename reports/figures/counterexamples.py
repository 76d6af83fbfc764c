"""A counterexample as a drawing: matrices as blocks, words, windows and tapes as rows of cells.

What differs is framed and tinted, in both that are compared; text and lines have the colour of the
text around, so that it can be read on light and dark pages.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from xml.etree import ElementTree

from reports.figures.blocks import Block, Blocks, Scalar, blocks_of, entry_text
from reports.text import printable
from verify.verdicts import Json

MOST_SIDE = 12
"""Rows and columns of a matrix that are shown."""
MOST_CELLS = 24
"""Cells of a row that are shown."""
MOST_CHARACTERS = 12
MOST_MARKED_CHARACTERS = 24
MOST_LABEL = 90
MOST_WORDS = 400
"""Characters of the description."""
WIDE = 720.0
"""Blocks that are compared stand side by side up to this width."""
MARK = "#cf222e"
_CHARACTER, _LINE, _GAP, _MARGIN = 8.0, 24.0, 22.0, 6.0
_LABEL, _SMALL = 18.0, 12
_SMALL_CHARACTER = 7.3
Tree = ElementTree.Element


def drawn(evidence: Mapping[str, Json]) -> str | None:
    """A refutation's counterexample as one inline SVG element; None if nothing can be drawn.

    `evidence` is that of the check: `{"counterexample": {..}, "text": ".."}`.
    """
    found = blocks_of(evidence)
    return None if found is None else ElementTree.tostring(_picture(found), encoding="unicode")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Laid:
    """A block with the rows and columns that are shown; None stands for those left out."""

    block: Block
    rows: tuple[int | None, ...]
    columns: tuple[int | None, ...]
    widths: tuple[float, ...]

    @property
    def width(self) -> float:
        """Of its label or of its cells, whichever is wider."""
        label = _length(_label(self.block)) * _SMALL_CHARACTER
        head = 0.0 if self.block.head is None else 8 * _CHARACTER
        return max(sum(self.widths) + 2 * _MARGIN, label, head)

    @property
    def height(self) -> float:
        """Of its label and its cells."""
        above = _LABEL if self.block.head is not None else 0.0
        return _LABEL + above + len(self.rows) * _LINE


def _picture(found: Blocks) -> Tree:
    laid = _laid(found)
    side_by_side = laid[: found.compared]
    wide = sum(one.width + _GAP for one in side_by_side)
    together = len(side_by_side) > 1 and side_by_side[0].block.matrix and wide <= WIDE
    parts: list[Tree] = []
    right, across, down = 0.0, 0.0, 0.0
    for number, one in enumerate(laid):
        parts.append(_drawn_block(one, across, down))
        right = max(right, across + one.width)
        if together and number + 1 < found.compared:
            across += one.width + _GAP
        else:
            across, down = 0.0, down + one.height + _MARGIN
        if words := _note(found, number):
            parts.append(_text(words, 0, down + 10, size=_SMALL, anchor="start", faint=True))
            right, down = max(right, _length(words) * _SMALL_CHARACTER), down + _LABEL
    return _root(right + 2, down + 4, _described(found), parts)


def _root(width: float, height: float, words: str, parts: Sequence[Tree]) -> Tree:
    across, down = math.ceil(width), math.ceil(height)
    root = ElementTree.Element(
        "svg",
        {
            "viewBox": f"0 0 {across} {down}",
            "width": str(across),
            "height": str(down),
            "role": "img",
            "aria-label": words,
            "font-family": "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace",
            "fill": "currentColor",
        },
    )
    ElementTree.SubElement(root, "title").text = words
    root.extend(parts)
    return root


# --- which cells -----------------------------------------------------------------------------


def _laid(found: Blocks) -> list[_Laid]:
    """Every block with its cells chosen; those that are compared have their columns aligned."""
    alone = [_chosen(block) for block in found.shown]
    head = alone[: found.compared]
    if not head:
        return alone
    widths = tuple(map(max, zip(*(one.widths for one in head), strict=True)))
    aligned = [
        _Laid(block=one.block, rows=one.rows, columns=one.columns, widths=widths) for one in head
    ]
    return aligned + alone[found.compared :]


def _chosen(block: Block) -> _Laid:
    _, height, width = block.shape
    most = MOST_SIDE if block.matrix else MOST_CELLS
    rows = _kept(height, {row for row, _ in block.marked}, MOST_SIDE)
    columns = _kept(width, {column for _, column in block.marked}, most)
    widths = tuple(
        _GAP
        if column is None
        else (2 + max(_length(_cell(block, row, column)) for row in rows if row is not None))
        * _CHARACTER
        for column in columns
    )
    return _Laid(block=block, rows=rows, columns=columns, widths=widths)


def _kept(size: int, marked: Collection[int], most: int) -> tuple[int | None, ...]:
    """Indices that are shown, the first marked ones among them; None where some are left out."""
    if size <= most:
        return tuple(range(size))
    kept = {*sorted(marked)[: most // 2]}
    for index in range(size):
        if len(kept) == most:
            break
        kept.add(index)
    ordered = sorted(kept)
    shown: list[int | None] = [ordered[0]]
    for before, index in pairwise(ordered):
        shown += [index] if index == before + 1 else [None, index]
    return tuple(shown if ordered[-1] == size - 1 else [*shown, None])


def _cell(block: Block, row: int, column: int) -> str:
    most = MOST_MARKED_CHARACTERS if (row, column) in block.marked else MOST_CHARACTERS
    return _words(block.cells[row][column], most)


def _words(value: Scalar, most: int) -> str:
    if isinstance(value, str) and not value.strip():
        return "␣" * min(len(value), most) or "ε"
    return printable(entry_text(value)[: most + 1], most)


def _length(text: str) -> int:
    """Characters of a text as a fixed-width font shows it."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


# --- marks on paper --------------------------------------------------------------------------


def _drawn_block(laid: _Laid, left: float, top: float) -> Tree:
    block = laid.block
    group = ElementTree.Element("g")
    group.append(_text(_label(block), left, top + 13, size=_SMALL, anchor="start", faint=True))
    down = top + _LABEL
    if block.head is not None:
        group.append(_head(left + _MARGIN + laid.widths[block.head] / 2, down))
        down += _LABEL
    if block.matrix:
        group.append(_brackets(laid, left, down))
    for place, row in enumerate(laid.rows):
        across = left + _MARGIN
        for column, width in zip(laid.columns, laid.widths, strict=True):
            _add_cell(group, block, (row, column), (across, down + place * _LINE, width))
            across += width
    return group


def _add_cell(
    group: Tree, block: Block, at: tuple[int | None, int | None], box: tuple[float, float, float]
) -> None:
    (row, column), (left, top, width) = at, box
    if row is None or column is None:
        mark = "⋯" if row is not None else "⋮" if column is not None else "⋱"
        group.append(_text(mark, left + width / 2, top + 16, faint=True))
        return
    marked = (row, column) in block.marked
    if marked or not block.matrix:
        group.append(_box(left, top, width, marked=marked))
    text = _text(_cell(block, row, column), left + width / 2, top + 16)
    if marked:
        text.set("font-weight", "700")
    group.append(text)


def _box(left: float, top: float, width: float, *, marked: bool) -> Tree:
    inset = 2.0 if marked else 0.5
    place = {
        "x": f"{left + inset:.1f}",
        "y": f"{top + inset:.1f}",
        "width": f"{width - 2 * inset:.1f}",
        "height": f"{_LINE - 2 * inset:.1f}",
    }
    if marked:
        colours = {"fill": MARK, "fill-opacity": "0.16", "stroke": MARK, "stroke-width": "1.5"}
    else:
        colours = {"fill": "none", "stroke": "currentColor", "stroke-opacity": "0.45"}
    return ElementTree.Element("rect", {**place, "rx": "2", **colours})


def _brackets(laid: _Laid, left: float, top: float) -> Tree:
    """The two brackets of a matrix."""
    right, bottom = left + sum(laid.widths) + 2 * _MARGIN, top + len(laid.rows) * _LINE
    one = f"M{left + 5:.1f} {top:.1f}H{left + 1:.1f}V{bottom:.1f}H{left + 5:.1f}"
    two = f"M{right - 5:.1f} {top:.1f}H{right - 1:.1f}V{bottom:.1f}H{right - 5:.1f}"
    return ElementTree.Element(
        "path", {"d": one + two, "fill": "none", "stroke": "currentColor", "stroke-width": "1.3"}
    )


def _head(middle: float, top: float) -> Tree:
    """The head of a machine above its cell."""
    group = ElementTree.Element("g")
    corners = f"M{middle - 5:.1f} {top + 7:.1f}h10l-5 8z"
    ElementTree.SubElement(group, "path", {"d": corners})
    group.append(_text("head", middle + 10, top + 14, size=_SMALL, anchor="start", faint=True))
    return group


def _text(
    words: str,
    x: float,
    y: float,
    *,
    size: int = 13,
    anchor: str = "middle",
    faint: bool = False,
) -> Tree:
    found = ElementTree.Element(
        "text",
        {"x": f"{x:.1f}", "y": f"{y:.1f}", "font-size": str(size), "text-anchor": anchor},
    )
    if faint:
        found.set("fill-opacity", "0.75")
    found.text = words
    return found


# --- words -----------------------------------------------------------------------------------


def _label(block: Block) -> str:
    return printable(block.label[: MOST_LABEL + 1], MOST_LABEL)


def _note(found: Blocks, number: int) -> str:
    """What is said below a block, if anything."""
    framed = number + 1 == found.compared
    cut = number + 1 == len(found.shown) and found.left_out
    said = [f"framed: {_difference(found)}"] if framed else []
    return "; ".join([*said, *([f"and {found.left_out} more"] if cut else [])])


def _difference(found: Blocks) -> str:
    first = found.shown[0]
    _, height, width = first.shape
    return f"{len(first.marked)} of {height * width} entries differ"


def _described(found: Blocks) -> str:
    """The drawing in words."""
    parts: list[str] = []
    for block in found.shown:
        matrix, height, width = block.shape
        kind = f"matrix of {height} by {width}" if matrix else f"row of {width}"
        parts.append(f"{_label(block)}: {kind}")
    if found.compared:
        row, column = min(found.shown[0].marked)
        values = " and ".join(_cell(b, row, column) for b in found.shown[: found.compared])
        parts.append(f"{_difference(found)}, first row {row + 1}, column {column + 1}: {values}")
    return printable("Counterexample. " + "; ".join(parts), MOST_WORDS)
