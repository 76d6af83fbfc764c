"""The third paper's figures: which are drawn, that they repeat, and that they show the model."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from xml.etree import ElementTree

import pytest

from constructions.minimal.files import Checkpoint
from constructions.minimal.instances import random_model
from constructions.minimal.shipped import shipped
from reports.figures import minimal
from reports.figures.svg import Figure

ALL = [*(f"{number:02}" for number in range(2, 16)), "boxes"]


@cache
def drawn() -> list[Figure]:
    return list(minimal.draw(shipped("windows"), "windows"))


def numbers(figures: list[Figure]) -> list[str]:
    return [figure.name.rsplit("-", 1)[1] for figure in figures]


def test_every_figure_of_the_paper_is_drawn_in_order() -> None:
    assert numbers(drawn()) == ALL
    assert all(figure.name.startswith("minimal-windows-") for figure in drawn())
    assert len({figure.caption for figure in drawn()}) == len(ALL)
    assert sum(len(figure.inline) for figure in drawn()) < 3 << 20
    for figure in drawn():
        ElementTree.fromstring(figure.inline)
        assert "style=" not in figure.inline


def test_figures_repeat_byte_for_byte() -> None:
    again = list(minimal.draw(shipped("windows"), "windows", ("03", "12", "boxes")))
    assert [figure for figure in drawn() if figure.name in {f.name for f in again}] == again


def test_without_a_training_run_there_are_no_curves() -> None:
    foreign = replace(shipped("windows"), plan=None, history=())
    found = numbers(list(minimal.draw(foreign, "foreign", ("03", "08", "12"))))
    assert found == ["08", "12"]


def test_a_short_context_has_no_demo_sequence() -> None:
    short = Checkpoint(model=random_model(1, context=4), plan=None, history=(), sha256="")
    assert numbers(list(minimal.draw(short, "short", ("08", "12")))) == ["08"]


@pytest.mark.parametrize(
    ("claims", "names"),
    [
        ([], []),
        (["minimal.rule.decided"], ["minimal-paper-03", "minimal-paper-04", "minimal-paper-boxes"]),
    ],
)
def test_a_page_shows_what_its_claims_speak_of(claims: list[str], names: list[str]) -> None:
    record = {"claims": [{"id": name} for name in claims]}
    assert [figure.name for figure in minimal.of_record(record)] == names
