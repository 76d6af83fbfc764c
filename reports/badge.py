"""A badge of a run, as SVG: how many of its claims stand as expected."""

from __future__ import annotations

from collections.abc import Mapping
from xml.sax.saxutils import escape, quoteattr

from reports.record import outcome_of
from verify.verdicts import Json

BADGE = "badge.svg"
NAME = "certiformer"
HEIGHT = 20
PADDING = 6
CHARACTER = 6.6
"""Mean width of a character at 11 pixels; the text is set to exactly what this gives."""
_COLOURS = {
    "ok": "#1a7f37",
    "short": "#cf222e",
    "refuted": "#cf222e",
    "unknown": "#8a5d00",
    "broken": "#a01c72",
}
"""Of the worst outcome, worst last; white text has a contrast of 4.5 or more on each."""
_NO_CLAIM = "#59636e"


def render(record: Mapping[str, Json]) -> bytes:
    """The badge of a record: the same bytes for the same record."""
    outcomes = [outcome_of(claim) for claim in record["claims"]]
    words = f"{outcomes.count('ok')} of {len(outcomes)} claims hold"
    worst = max(outcomes, key=[*_COLOURS].index, default=None)
    return drawn(NAME, words, _NO_CLAIM if worst is None else _COLOURS[worst])


def drawn(name: str, words: str, colour: str) -> bytes:
    """A name on grey and words on a colour, side by side."""
    left, right = (round(len(text) * CHARACTER + 2 * PADDING) for text in (name, words))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="{HEIGHT}"'
        f' role="img" aria-label={quoteattr(f"{name}: {words}")}>\n'
        f"<title>{escape(name)}: {escape(words)}</title>\n"
        f'<rect width="{left + right}" height="{HEIGHT}" rx="3" fill="{colour}"/>\n'
        f'<path d="M3 0H{left}V{HEIGHT}H3a3 3 0 0 1-3-3V3a3 3 0 0 1 3-3z" fill="#3f464d"/>\n'
        f"{_text(name, 0, left)}{_text(words, left, right)}</svg>\n"
    ).encode()


def _text(words: str, start: int, width: int) -> str:
    return (
        f'<text x="{start + width / 2:g}" y="14" fill="#ffffff" text-anchor="middle"'
        f' font-family="Verdana,DejaVu Sans,sans-serif" font-size="11"'
        f' textLength="{width - 2 * PADDING}">{escape(words)}</text>\n'
    )
