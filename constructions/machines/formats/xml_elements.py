"""XML as elements that know their line; the harmless part of XML.

Document types, entities and external references are refused where they are declared, before
anything is expanded; so are deep nesting and huge numbers of elements.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple
from xml.sax import SAXParseException
from xml.sax.handler import ContentHandler
from xml.sax.xmlreader import AttributesImpl

from defusedxml.common import DefusedXmlException
from defusedxml.expatreader import DefusedExpatParser

from verify.errors import MachineFormatError

DEEPEST = 32
MOST_ELEMENTS = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """An element, its own text without that of its children, and the line of its opening tag."""

    tag: str
    attributes: Mapping[str, str]
    children: "tuple[Element, ...]"
    text: str
    line: int

    def named(self, tag: str) -> "tuple[Element, ...]":
        """The children of this tag."""
        return tuple(child for child in self.children if child.tag == tag)


def parse(text: str, source_name: str) -> Element:
    """The root element of a text, whatever encoding the text declares.

    Raises:
        MachineFormatError: the text is not XML, or not of the harmless part; names the line.
    """
    builder = _Builder(source_name)
    parser = DefusedExpatParser(forbid_dtd=True)
    builder.parser = parser
    parser.setContentHandler(builder)
    try:
        parser.feed(text)
        parser.close()
    except DefusedXmlException as error:
        raise builder.error(
            "no document type may stand in a machine's XML, nor the entities that it declares, "
            "got one; remove it"
        ) from error
    except SAXParseException as error:
        where = f"{source_name}:{error.getLineNumber()}"
        raise MachineFormatError(
            f"{where}: must be XML, the parser says: {error.getMessage()}; correct it"
        ) from error
    (root,) = builder.built
    return root


class _Open(NamedTuple):
    """An element whose end is still to come."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element]
    texts: list[str]


class _Builder(ContentHandler):
    """Builds elements from the parser's events."""

    def __init__(self, source_name: str) -> None:
        super().__init__()
        self.parser: DefusedExpatParser | None = None
        self.built: list[Element] = []
        self._source_name = source_name
        self._open: list[_Open] = []
        self._elements = 0

    @property
    def line(self) -> int:
        """The line of the current event."""
        return self.parser.getLineNumber() if self.parser else 1

    def error(self, message: str) -> MachineFormatError:
        """An error at the current event."""
        return MachineFormatError(f"{self._source_name}:{self.line}: {message}")

    def startElement(self, name: str, attrs: AttributesImpl) -> None:  # noqa: N802 (SAX's name)
        """Open an element.

        Raises:
            MachineFormatError: too many elements, or too deep ones.
        """
        self._elements += 1
        if len(self._open) >= DEEPEST or self._elements > MOST_ELEMENTS:
            raise self.error(
                f"at most {MOST_ELEMENTS:,} elements, {DEEPEST} in one another, may stand in a "
                "machine's XML, got more; split it"
            )
        self._open.append(_Open(name, dict(attrs.items()), self.line, [], []))

    def characters(self, content: str) -> None:
        """Add to the text of the innermost element."""
        self._open[-1].texts.append(content)

    def endElement(self, name: str) -> None:  # noqa: N802 (SAX's name)
        """Close the innermost element."""
        del name
        last = self._open.pop()
        element = Element(
            tag=last.tag,
            attributes=last.attributes,
            children=tuple(last.children),
            text="".join(last.texts),
            line=last.line,
        )
        (self._open[-1].children if self._open else self.built).append(element)
