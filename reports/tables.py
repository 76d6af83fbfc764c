"""Tables of a terminal: whole lines where a program reads them, fitted to the width elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

GAP = 2
"""Blanks between two columns, and before what hangs below a row."""
LEAST = 8
"""A column is not shortened below so many characters."""
NARROW = 60
"""Terminals below this width may cut even a row's first cell."""


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells as aligned lines; the last column is as long as it is."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of cells, of which the first cell names the row and is never broken if it can be helped.

    `shortened` are the columns that are cut to fit, the least important first; `statuses` those
    that hold a single word with a colour of its own. `texts`, one for each row or none, stand on
    lines of their own below a fitted row, in place of its last cell.
    """

    rows: Sequence[Sequence[str]]
    shortened: tuple[int, ...] = ()
    statuses: tuple[int, ...] = ()
    texts: tuple[str, ...] = ()

    def plain(self) -> list[str]:
        """The table's lines, each as long as it is."""
        return columns(self.rows)

    def fitted(self, width: int, paint: Callable[[str], str]) -> Iterator[str]:
        """The table's lines in at most `width` columns of a terminal, its statuses painted.

        A first cell too long for its column stands alone, and the row goes on below it.
        """
        rows = [row[:-1] if self.texts else row for row in self.rows]
        widths = self._widths(rows, width)
        hanging = " " * GAP
        for place, row in enumerate(rows):
            first, rest = row[0], row[1:]
            alone = _cells(first) > widths[0] and any(rest)
            if alone:
                yield _cut(first, width)
            yield self._row("" if alone else first, rest, widths, width, paint)
            if self.texts and self.texts[place]:
                for line in _wrapped(self.texts[place], max(width - GAP, 1)):
                    yield hanging + line

    def _widths(self, rows: Sequence[Sequence[str]], width: int) -> list[int]:
        """How wide each column may be; only the first one's rows may be longer."""
        widths = [max(map(_cells, column)) for column in zip(*rows, strict=True)]
        excess = sum(widths) + GAP * (len(widths) - 1) - width
        for column in (*self.shortened, 0):
            given = max(0, min(excess, widths[column] - LEAST))
            widths[column] -= given
            excess -= given
        return widths

    def _row(
        self,
        first: str,
        rest: Sequence[str],
        widths: Sequence[int],
        width: int,
        paint: Callable[[str], str],
    ) -> str:
        from rich.cells import set_cell_size

        line, left = "", width
        cells = [first, *rest]
        last = max((place for place, cell in enumerate(cells) if cell), default=0)
        for place, cell in enumerate(cells[: last + 1]):
            shown = _cut(cell, min(widths[place], left))
            padding = 0 if place == last else min(widths[place] + GAP, left) - _cells(shown)
            left -= _cells(shown) + padding
            line += (paint(shown) if place in self.statuses else shown) + set_cell_size("", padding)
        return line


Line = str | Table
"""What a command shows: a line of text, or a table whose lines depend on where they are shown."""


def _cells(text: str) -> int:
    """How many columns of a terminal a text takes."""
    from rich.cells import cell_len

    return cell_len(text)


def _cut(text: str, width: int) -> str:
    """The text in at most `width` columns, with an ellipsis where something is missing."""
    from rich.cells import set_cell_size

    if _cells(text) <= width:
        return text
    return set_cell_size(text, width - 1).rstrip() + "…" if width > 0 else ""


def _wrapped(text: str, width: int) -> list[str]:
    """The text on lines of at most `width` columns, broken between words where it can be."""
    from rich.console import Console
    from rich.text import Text

    return [line.plain.rstrip() for line in Text(text).wrap(Console(), width)]
