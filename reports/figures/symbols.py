"""The symbols of a machine as colours and as text that the figures' font can show.

The blank is a shade of the text's colour, the start symbol grey, and a cell that carries the head
has the colour of its symbol. The context's marker is drawn in the text's own colour.
"""

from __future__ import annotations

import colorsys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import Any

from constructions.machines.definitions import QueueMachine, TuringMachine, Word
from constructions.machines.turing import TuringQueue
from reports.figures.svg import INK
from reports.text import printable

Colour = str | tuple[str, float]
"""A colour, or a colour and its opacity."""

BLANK: Colour = (INK, 0.14)
START = "#9ca3af"
PALETTE = ("#3b82f6", "#d97706", "#16a34a", "#a855f7", "#0d9488", "#92400e", "#a3a30f")
_GOLDEN = 0.6180339887498949
_LONGEST = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbols:
    """A queue machine's symbols; `unmarked` maps those that carry a head to what is below it."""

    alphabet: Word
    blank: str
    front: str
    unmarked: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    colours: Mapping[str, Colour] = field(init=False)

    def __post_init__(self) -> None:
        """Choose a colour for each symbol."""
        found: dict[str, Colour] = {self.blank: BLANK, self.front: START}
        for symbol in self.alphabet:
            if symbol not in found and symbol not in self.unmarked:
                found[symbol] = _colour(len(found) - 2)
        found |= {marked: found[symbol] for marked, symbol in self.unmarked.items()}
        object.__setattr__(self, "colours", MappingProxyType(found))

    @property
    def plain(self) -> Word:
        """The symbols that carry no head."""
        return tuple(symbol for symbol in self.alphabet if symbol not in self.unmarked)

    def named(self, symbol: str) -> str:
        """A symbol as a legend names it."""
        kinds = {self.blank: "blank ", self.front: "start symbol "}
        return f"{kinds.get(symbol, '')}“{shown(symbol)}”"


def of_turing_machine(machine: TuringMachine) -> Symbols:
    """The symbols of the queue machine that simulates a Turing machine."""
    source = TuringQueue(machine=machine)
    return Symbols(
        alphabet=source.alphabet,
        blank=machine.blank,
        front=source.front,
        unmarked=source.unmarked,
    )


def of_queue_machine(machine: QueueMachine[Any]) -> Symbols:
    """The symbols of a queue machine that comes from no Turing machine."""
    return Symbols(alphabet=machine.alphabet, blank=machine.blank, front=machine.front)


def _colour(place: int) -> str:
    """The palette's colours, then hues that are far from one another."""
    if place < len(PALETTE):
        return PALETTE[place]
    lightness = 0.35 if place % 2 else 0.65
    red, green, blue = colorsys.hls_to_rgb(place * _GOLDEN % 1, lightness, 0.55)
    return "#" + "".join(f"{round(255 * part):02x}" for part in (red, green, blue))


def shown(text: str, most: int = _LONGEST) -> str:
    """A text in one line that the font has glyphs for and that is not taken for a formula."""
    line = "".join(c if _has_glyph(c) else f"U+{ord(c):04X}" for c in printable(text))
    return printable(line, most).replace("$", r"\$")


@cache
def _has_glyph(character: str) -> bool:
    fonts: Any = import_module("matplotlib.font_manager")
    return fonts.get_font(fonts.findfont("DejaVu Sans")).get_char_index(ord(character)) > 0
