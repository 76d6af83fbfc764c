"""LaTeX as MathML that is safe to put on a page: known elements and attributes, text escaped."""

from __future__ import annotations

import html
from typing import Any
from xml.etree import ElementTree as Xml

ELEMENTS = frozenset(
    "math mrow mi mn mo ms mtext mspace mfrac msqrt mroot mstyle merror mpadded mphantom msub "
    "msup msubsup munder mover munderover mmultiscripts mprescripts none mtable mtr mtd "
    "mlabeledtr mfenced menclose".split()
)
ATTRIBUTES = frozenset(
    "accent accentunder align columnalign columnspacing depth display displaystyle fence form "
    "height linethickness lspace mathvariant maxsize minsize movablelimits notation rowspacing "
    "rspace scriptlevel separator stretchy symmetric voffset width open close separators".split()
)


def convert(latex: str) -> str | None:
    """The formula as a MathML element in text form, or None where it cannot be converted.

    The converter's own text is not used: it leaves what stands in a text box unescaped.
    """
    from latex2mathml.converter import convert_to_element

    try:
        element: Xml.Element = convert_to_element(latex, display="block")
    except Exception:  # whatever the converter raises, the LaTeX is shown instead
        return None
    return _written(element)


def _written(element: Any) -> str | None:
    """The element as text, or None if any part of it is no known element or an unknown command."""
    if element.tag not in ELEMENTS or (element.tag == "mi" and element.text.startswith("\\")):
        return None
    accent = element.tag == "mo" and element.attrib.get("accent") == "true"
    parts = [_escaped(element.text) if not accent else _accent(element.text)]
    for child in element:
        inner = _written(child)
        if inner is None:
            return None
        parts += [inner, _escaped(child.tail)]
    attributes = "".join(
        f' {name}="{_escaped(value)}"'
        for name, value in element.attrib.items()
        if name in ATTRIBUTES
    )
    return f"<{element.tag}{attributes}>{''.join(parts)}</{element.tag}>"


def _accent(text: str | None) -> str:
    """The bar above a letter is a dash to the converter, which fonts do not draw there."""
    return _escaped(text).replace("\N{HORIZONTAL BAR}", "\N{OVERLINE}")


def _escaped(text: str | None) -> str:
    """The converter writes characters as entities in its text; all else is text as it stands."""
    return html.escape(html.unescape(text or ""))
