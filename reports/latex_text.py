"""Any text as LaTeX shows it literally, in a plain article without packages.

Letters with accents, Greek letters and common signs are shown as they are; what an article cannot
show without packages is named by its code point, as in `[U+202E]`.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

_ESCAPED = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "`": r"\textquoteleft{}",
    "-": "-{}",
}
_TEXT = {
    "\u2013": "--",
    "\u2014": "---",
    "\u2018": "`",
    "\u2019": "'",
    "\u201c": "``",
    "\u201d": "''",
    "\u2026": r"\ldots{}",
    "\u00a7": r"\S{}",
    "\u00df": r"\ss{}",
    "\u00e6": r"\ae{}",
    "\u00c6": r"\AE{}",
    "\u0153": r"\oe{}",
    "\u0152": r"\OE{}",
    "\u00f8": r"\o{}",
    "\u00d8": r"\O{}",
    "\u00e5": r"\aa{}",
    "\u00c5": r"\AA{}",
    "\u0142": r"\l{}",
    "\u0141": r"\L{}",
    "\u00a0": "~",
}
_MATHEMATICS = dict(
    zip(
        "\u2264\u2265\u2260\u2248\u2261\u2208\u2209\u2282\u2286\u222a\u2229\u2205\u2200\u2203"
        "\u2192\u21a6\u21d2\u21d4\u00d7\u00b7\u00b1\u2295\u2297\u221e\u2211\u220f\u2202\u2207"
        "\u00ac\u2227\u2228\u22a2\u27e8\u27e9\u2308\u2309\u230a\u230b\u2212\u2218\u2225",
        r"\leq \geq \neq \approx \equiv \in \notin \subset \subseteq \cup \cap \emptyset \forall "
        r"\exists \to \mapsto \Rightarrow \Leftrightarrow \times \cdot \pm \oplus \otimes \infty "
        r"\sum \prod \partial \nabla \neg \wedge \vee \vdash \langle \rangle \lceil \rceil "
        r"\lfloor \rfloor - \circ \|".split(),
        strict=True,
    )
)
_ACCENTS = {
    "\u0300": "`",
    "\u0301": "'",
    "\u0302": "^",
    "\u0303": "~",
    "\u0304": "=",
    "\u0306": "u ",
    "\u0307": ".",
    "\u0308": '"',
    "\u030b": "H ",
    "\u030c": "v ",
    "\u0327": "c ",
}
_GREEK = re.compile(r"GREEK (SMALL|CAPITAL) LETTER (FINAL )?(\w+)")
_LIKE_LATIN: dict[str, str] = dict(
    zip(
        "ALPHA BETA EPSILON ZETA ETA IOTA KAPPA MU NU OMICRON RHO TAU CHI".split(),
        "ABEZHIKMNOPTX",
        strict=True,
    )
)
"""Greek capitals for which LaTeX has no name, since they look like Latin ones."""


def escaped(text: object) -> str:
    """A text in one line of ASCII that LaTeX shows literally."""
    return "".join(_shown(character) for character in " ".join(str(text).split()))


@cache
def _shown(character: str) -> str:
    if character in _ESCAPED:
        return _ESCAPED[character]
    if character.isascii() and character.isprintable():
        return character
    if character in _TEXT:
        return _TEXT[character]
    if command := _MATHEMATICS.get(character) or _greek(character):
        return rf"\ensuremath{{{command}}}"
    return _accented(character) or f"[U+{ord(character):04X}]"


def _greek(character: str) -> str | None:
    """The command of a Greek letter, as LaTeX calls it in formulas."""
    found = _GREEK.fullmatch(unicodedata.name(character, ""))
    if found is None:
        return None
    size, final, name = found.groups()
    if name == "LAMDA":
        name = "LAMBDA"
    if size == "CAPITAL":
        return _LIKE_LATIN.get(name, "\\" + name.capitalize())
    if name == "OMICRON":
        return "o"
    return "\\" + ("var" if final else "") + name.lower()


def _accented(character: str) -> str | None:
    """A Latin letter with one accent."""
    letter, *accents = unicodedata.normalize("NFD", character)
    if not letter.isascii() or not letter.isalpha() or len(accents) != 1:
        return None
    if (accent := _ACCENTS.get(accents[0])) is None:
        return None
    if letter in "ij":
        letter = f"\\{letter}"
    return rf"\{accent}{{{letter}}}"
