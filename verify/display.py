"""How values show themselves in a notebook: small HTML tables, all text escaped.

Text is a user's: it stands in elements that neither run it, nor let its direction run on, nor let
a notebook's MathJax typeset it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

MOST_CHARACTERS = 600
"""Longer texts are cut, and say so."""
_COLOURS = {
    "PROVED": "#1a7f37",
    "BOUNDED": "#0b62c4",
    "SAMPLED": "#6e40aa",
    "UNKNOWN": "#7d4e00",
    "REFUTED": "#b42318",
    "BROKEN": "#6b2138",
}
"""Dark enough for white letters on them, in light and in dark notebooks."""
_CELL = ' style="text-align:left;vertical-align:top"'


@dataclass(frozen=True, slots=True)
class Html:
    """A piece of HTML that is already safe."""

    text: str


Piece = Html | str
"""HTML, or text that is still to be escaped."""


def plain(text: str) -> Html:
    """Text as it is, cut where it is long; marks of direction end with it."""
    more = len(text) - MOST_CHARACTERS
    shown = f"{text[:MOST_CHARACTERS]} ... and {more} characters more" if more > 0 else text
    return Html(f"<bdi>{escape(shown)}</bdi>")


def code(text: str) -> Html:
    """A formula or data in the letters of code."""
    return Html(f"<code>{plain(text).text}</code>")


def data(value: object) -> Html:
    """Plain data as JSON."""
    return code(json.dumps(value, ensure_ascii=False, default=str))


def badge(status: str) -> Html:
    """A status by name, coloured; the word is there, the colour only repeats it."""
    style = f"color:#fff;background:{_COLOURS[status]};padding:0 .4em;border-radius:.3em"
    return Html(f'<span style="{style}">{escape(status)}</span>')


def joined(pieces: Iterable[Piece], separator: str = " ") -> Html:
    """Pieces in a row."""
    return Html(separator.join(_safe(piece) for piece in pieces))


def table(head: Sequence[str], rows: Iterable[Sequence[Piece]]) -> Html:
    """A table with a row of headings."""
    top = "".join(f'<th scope="col"{_CELL}>{escape(name)}</th>' for name in head)
    body = "".join(
        f"<tr>{''.join(f'<td{_CELL}>{_safe(piece)}</td>' for piece in row)}</tr>" for row in rows
    )
    return Html(f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>")


def fields(rows: Iterable[tuple[str, Piece]]) -> Html:
    """Named fields, one a row; those without content are left out."""
    body = "".join(
        f'<tr><th scope="row"{_CELL}>{escape(name)}</th><td{_CELL}>{_safe(piece)}</td></tr>'
        for name, piece in rows
        if piece not in ("", Html(""))
    )
    return Html(f"<table><tbody>{body}</tbody></table>")


def shown(*pieces: Html) -> str:
    """What `_repr_html_` returns; its classes keep MathJax 2 and 3 away."""
    inside = "".join(piece.text for piece in pieces)
    return f'<div class="tex2jax_ignore mathjax_ignore">{inside}</div>'


def _safe(piece: Piece) -> str:
    return piece.text if isinstance(piece, Html) else plain(piece).text
