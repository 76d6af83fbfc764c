"""Counterexamples as drawings: what stands in them, and what no counterexample can do to a page."""

from __future__ import annotations

from fractions import Fraction
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.figures.counterexamples import MARK, drawn
from tests.refutable import refuting
from verify.rational import Matrix
from verify.verdicts import Json, Status

MOST_BYTES = 400_000
ELEMENTS = {"svg", "title", "g", "text", "rect", "path"}


def refutation(name: str) -> dict[str, Json]:
    """The evidence of the mutant's first refuted check."""
    verdicts = [verdict for _, verdict in refuting.settled(name)]
    return dict(next(v.evidence for v in verdicts if v.status is Status.REFUTED))


def picture(evidence: dict[str, Json]) -> ElementTree.Element:
    drawing = drawn(evidence)
    assert drawing is not None
    return ElementTree.fromstring(drawing)


def texts(root: ElementTree.Element) -> list[str]:
    return [part.text or "" for part in root.iter("text")]


def marked(root: ElementTree.Element) -> list[str]:
    """The texts of the cells that are marked; there is a frame for each."""
    found = [part.text or "" for part in root.iter("text") if part.get("font-weight") == "700"]
    assert len(found) == sum(part.get("stroke") == MARK for part in root.iter("rect"))
    return found


def widths(root: ElementTree.Element) -> tuple[int, int]:
    return int(root.attrib["width"]), int(root.attrib["height"])


# --- our own mutants -------------------------------------------------------------------------


def test_outputs_of_a_wrong_model_stand_side_by_side_with_differing_entries_framed() -> None:
    root = picture(refutation("twin.lowerbounds.normalization.bias"))
    assert marked(root) == ["3/2"] * 4 + ["13/6", "-7/6"] * 4 + ["5/2", "3/2"] * 2
    assert "framed: 4 of 4 entries differ" in texts(root)
    assert "… for the target" in texts(root)


def test_the_window_of_a_wrong_model_shows_what_is_required_and_which_logits_are_greater() -> None:
    root = picture(refutation("twin.minimal.built.every_context.levels"))
    shown = texts(root)
    assert marked(root) == ["0"]
    assert shown[shown.index("0") :] == ["0", "1", "+", "… have greater logits", "2"]


def test_the_counts_of_a_context_are_framed_where_they_differ() -> None:
    root = picture(refutation("twin.machines.window.histogram"))
    assert marked(root) == ["1", "0"]
    assert {"… came", "displayed", "#", "a"} <= set(texts(root))


def test_the_tape_of_a_machine_has_its_head_on_the_first_cell() -> None:
    root = picture(refutation("twin.machines.turing.queue.length"))
    assert texts(root) == ["input", "head", "0"]
    assert len(list(root.iter("path"))) == 1


def test_the_targets_of_a_word_are_framed_where_they_differ_from_what_the_text_requires() -> None:
    root = picture(refutation("twin.learning.hops.generator"))
    assert marked(root) == ["a", "b"]
    assert "… for aaba are required" in texts(root)


# --- a user's own ----------------------------------------------------------------------------


def test_matrices_under_required_and_got_are_compared_and_described_in_words() -> None:
    given = {"required": [[1, 2], [3, "1/2"]], "got": [[1, 2], [4, "1/2"]]}
    root = picture({"counterexample": given, "text": "they differ"})
    assert marked(root) == ["3", "4"]
    words = root.attrib["aria-label"]
    assert words == root.findtext("title")
    assert words == (
        "Counterexample. required: matrix of 2 by 2; got: matrix of 2 by 2; 1 of 4 entries differ, "
        "first row 2, column 1: 3 and 4"
    )


def test_matrices_printed_in_the_text_are_drawn_under_the_words_around_them() -> None:
    one, two = Matrix.from_rows([[1, Fraction(1, 2)]]), Matrix.from_rows([[1, Fraction(1, 3)]])
    root = picture({"counterexample": {"n": 1}, "text": f"T(X, 2) = {one} but U(X) = {two}"})
    assert marked(root) == ["1/2", "1/3"]
    assert {"T(X, 2) = …", "U(X) = …"} <= set(texts(root))


def test_matrices_that_nobody_compares_are_drawn_unmarked() -> None:
    root = picture({"counterexample": {"W_Q": [[1, 2], [3, 4]], "W_K": [[0, 0], [3, 4]]}})
    assert marked(root) == []
    assert {"W_Q", "W_K"} <= set(texts(root))


def test_a_large_matrix_is_cut_and_its_differing_entry_shown() -> None:
    rows = [[0] * 40 for _ in range(30)]
    other = [list(row) for row in rows]
    other[27][33] = 7
    root = picture({"counterexample": {"left": rows, "right": other}})
    assert marked(root) == ["0", "7"]
    assert {"⋯", "⋮", "⋱"} <= set(texts(root))
    assert texts(root).count("0") <= 2 * 12 * 12


def test_more_lists_than_can_be_shown_are_counted() -> None:
    given: dict[str, Json] = {f"row{number}": [number] for number in range(9)}
    assert "and 3 more" in texts(picture({"counterexample": given}))


@pytest.mark.parametrize(
    "instance",
    [{}, {"n": 3, "name": "x"}, {"rows": [[1, 2], [3]], "more": {"a": [1]}}, {"none": []}, None, 7],
)
def test_what_holds_no_list_is_not_drawn(instance: Json) -> None:
    shown: Any = {"rows": [[1, 2], [3]]}
    evidence: dict[str, Json] = {"counterexample": instance, "text": "f(X, Y) fails in (a) [b]"}
    ragged = isinstance(instance, dict) and "rows" in instance
    assert (drawn(evidence) is not None) is ragged
    if ragged:  # each of its rows is drawn by itself
        assert texts(picture({"counterexample": shown})) == ["rows 1", "1", "2", "rows 2", "3"]


# --- hostile ---------------------------------------------------------------------------------

HOSTILE = "<script>alert(1)</script>\u202e\u0000\ud800&\"'"


def test_markup_and_marks_that_reorder_text_are_shown_as_text() -> None:
    drawing = drawn({"counterexample": {HOSTILE: [[HOSTILE, 1], [2, "\x1b[31m"]]}, "text": HOSTILE})
    assert drawing is not None
    assert not {"<script", "\u202e", "\x00", "\x1b", "\ud800"} & {
        mark for mark in ("<script", "\u202e", "\x00", "\x1b", "\ud800") if mark in drawing
    }
    assert drawing.encode()
    root = picture({"counterexample": {HOSTILE: [[HOSTILE]]}})
    assert any(text.startswith("<script>") for text in texts(root))


def test_a_million_entries_give_a_drawing_of_bounded_size() -> None:
    row = [10**9] * 1000
    drawing = drawn({"counterexample": {"left": [row] * 1000, "right": [[*row[:-1], 1]] * 1000}})
    assert drawing is not None
    assert len(drawing) < MOST_BYTES


def test_long_strings_and_huge_integers_are_cut() -> None:
    given = {"cells": ["x" * 150, 10**6000, -(10**6000)], "word": "a" * 10**6, "k" * 10**5: [1]}
    root = picture({"counterexample": given, "text": "(1, 2) " * 10**5})
    assert max(len(text) for text in texts(root)) <= 90
    assert max(widths(root)) < 3000
    assert "19932 bits" in texts(root)


Values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from([HOSTILE, "1/2", "[[1, 2]]", "('0', '1')", "Matrix([[1/2]])", "{" * 9]),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=40,
)
Keys = st.text() | st.sampled_from("window input machine required got word text".split())


@given(counterexample=st.dictionaries(Keys, Values) | Values, text=st.text() | Values)
def test_any_json_value_is_drawn_well_formed_and_bounded_or_not_at_all(
    counterexample: Json, text: Json
) -> None:
    drawing = drawn({"counterexample": counterexample, "text": text})
    if drawing is not None:
        root = ElementTree.fromstring(drawing)
        assert {part.tag for part in root.iter()} <= ELEMENTS
        assert not {"style", "href", "onload"} & {
            key for part in root.iter() for key in part.attrib
        }
        assert root.attrib["aria-label"].startswith("Counterexample. ")
        assert len(drawing) < MOST_BYTES


Rows = st.integers(1, 5).flatmap(
    lambda width: st.lists(
        st.lists(st.integers(-9, 9), min_size=width, max_size=width), min_size=1, max_size=5
    )
)


@given(rows=Rows, data=st.data())
def test_one_entry_that_differs_is_the_one_that_is_framed(
    rows: list[list[int]], data: st.DataObject
) -> None:
    row = data.draw(st.integers(0, len(rows) - 1))
    column = data.draw(st.integers(0, len(rows[0]) - 1))
    other = [list(entries) for entries in rows]
    other[row][column] = 77
    text = f"{rows} is required, got {other}"
    for evidence in ({"counterexample": {"got": other, "required": rows}}, {"text": text}):
        assert sorted(marked(picture(evidence))) == sorted([str(rows[row][column]), "77"])
