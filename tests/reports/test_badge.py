"""The badge of a run."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from reports.badge import drawn, render
from verify.verdicts import Json

SVG = "{http://www.w3.org/2000/svg}"


def record(*rows: tuple[str, str]) -> dict[str, Json]:
    """A record of claims with these standings and expectations."""
    return {
        "claims": [
            {"status": standing, "standing": standing, "expected": expected}
            for standing, expected in rows
        ]
    }


@pytest.mark.parametrize(
    ("rows", "words", "colour"),
    [
        ([("PROVED", "PROVED"), ("SAMPLED", "SAMPLED")], "2 of 2 claims hold", "#1a7f37"),
        ([("PROVED", "PROVED"), ("BOUNDED", "PROVED")], "1 of 2 claims hold", "#cf222e"),
        ([("REFUTED", "PROVED"), ("UNKNOWN", "PROVED")], "0 of 2 claims hold", "#8a5d00"),
        ([("BROKEN", "PROVED"), ("UNKNOWN", "PROVED")], "0 of 2 claims hold", "#a01c72"),
        ([], "0 of 0 claims hold", "#59636e"),
    ],
)
def test_it_counts_and_takes_the_colour_of_the_worst(
    rows: list[tuple[str, str]], words: str, colour: str
) -> None:
    svg = ElementTree.fromstring(render(record(*rows)))
    assert svg.get("aria-label") == f"certiformer: {words}"
    assert [text.text for text in svg.iter(f"{SVG}text")] == ["certiformer", words]
    assert next(svg.iter(f"{SVG}rect")).get("fill") == colour


def test_its_words_are_text() -> None:
    svg = ElementTree.fromstring(drawn("a<b>", 'c & "d"', "#000000"))
    assert [text.text for text in svg.iter(f"{SVG}text")] == ["a<b>", 'c & "d"']
    assert svg.get("aria-label") == 'a<b>: c & "d"'
