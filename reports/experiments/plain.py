"""The tables as a terminal shows them; nothing here prints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from reports.experiments.tables import NOT_RUN, Block, Cell, Table
from reports.tables import columns
from reports.text import printable


def lines(tables: Iterable[Table]) -> Iterator[str]:
    """All tables, with an empty line before each block."""
    for table in tables:
        yield table.title
        yield table.caption
        for block in table.blocks:
            yield from ["", *_block(block)]
        yield ""


def _block(block: Block) -> Iterator[str]:
    yield f"{block.task} (trivial rules: {block.rules})"
    for row in block.rows:
        yield "  " + ", ".join(filter(None, (row.label, row.sizes, row.loss)))
        yield from columns([line for cell in row.cells for line in _cell(cell)])
        if row.notes:
            yield f"    differs from the paper: {'; '.join(row.notes)}"


def _cell(cell: Cell) -> Iterator[tuple[str, ...]]:
    family, paper = f"    {cell.family}", f"paper {cell.paper}"
    if not cell.entries:
        yield family, NOT_RUN, "", "", "", paper, ""
    for entry in cell.entries:
        more = "; ".join(filter(None, (entry.unfinished, *entry.notes)))
        yield (
            family,
            entry.accuracy,
            entry.interval,
            entry.seeds,
            printable(entry.training),
            paper,
            more,
        )
