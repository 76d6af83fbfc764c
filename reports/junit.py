"""The record as JUnit XML, for continuous integration: a test case per claim."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from xml.etree import ElementTree as Xml

from reports.record import outcome_of
from verify.verdicts import Json

JUNIT = "junit.xml"
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold."""

_ELEMENTS = {"refuted": "failure", "short": "failure", "broken": "error", "unknown": "error"}


def render(record: Mapping[str, Json]) -> bytes:
    """The test suite of a record."""
    claims: list[Mapping[str, Json]] = record["claims"]
    cases = [(claim, _element(claim)) for claim in claims]
    count = Counter(element for _, element in cases)
    suite = Xml.Element(
        "testsuite",
        name="certiformer",
        tests=str(len(cases)),
        failures=str(count["failure"]),
        errors=str(count["error"]),
        skipped=str(count["skipped"]),
    )
    for claim, element in cases:
        case = Xml.SubElement(
            suite, "testcase", classname=_text(claim["source"]["paper"]), name=_text(claim["id"])
        )
        if element is not None:
            short = f"{claim['standing']}, expected {claim['expected']}"
            Xml.SubElement(case, element, message=short).text = _text(_reasons(claim))
    root = Xml.Element("testsuites")
    root.append(suite)
    Xml.indent(root, space=" ")
    return Xml.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n"


def _element(claim: Mapping[str, Json]) -> str | None:
    outcome = outcome_of(claim)
    if outcome == "ok":
        return "skipped" if claim["standing"] == "UNKNOWN" else None
    return _ELEMENTS[outcome]


def _reasons(claim: Mapping[str, Json]) -> str:
    lines = [
        f"check {index} ({check['method']}): {check['status']}: {_reason(check['evidence'])}"
        for index, check in enumerate(claim["checks"])
    ]
    return "\n".join([claim["statement"], *lines])


def _reason(evidence: Mapping[str, Json]) -> str:
    return str(evidence.get("reason") or evidence.get("text") or "settled")


def _text(value: str) -> str:
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", value)
