"""Claims, verdicts and outcomes show themselves in a notebook, and what users write stays text."""

from __future__ import annotations

import html.parser
import re
from dataclasses import replace
from typing import Any

import pytest

from certiformer import Claim, Counterexample, Exhaustive, Range, Source, Status, check, covers
from verify import display
from verify.run import Outcome
from verify.verdicts import Verdict, broken, unknown

HOSTILE = "<script>alert('$x$')</script> & 100 % \\frac{1}{2} \u200f\u202e &lt;b&gt; \"'>"


class Reader(html.parser.HTMLParser):
    """What a browser would make of it: elements, attributes and text."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.pieces: list[str] = []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.open.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.pieces.append(data)

    @property
    def text(self) -> str:
        return " ".join(self.pieces)


def read(thing: Any) -> Reader:
    found = Reader(thing._repr_html_())
    assert not found.open
    assert found.attributes <= {"class", "style", "scope"}
    allowed = {"div", "table", "thead", "tbody", "tr", "th", "td", "bdi", "code", "span"}
    assert set(found.elements) <= allowed
    return found


def fails(n: int) -> Counterexample | None:
    return Counterexample(text=f"{n} {HOSTILE}", instance={"n": HOSTILE}) if n == 2 else None


EVERY = Range(bound="n < 5", over=lambda: range(5))
CLAIM = Claim(
    id="mine.gauss",
    source=Source(HOSTILE, "Lemma 1"),
    statement=HOSTILE,
    latex=HOSTILE,
    scope=HOSTILE,
    uses=("mine.other",),
    expected=Status.BOUNDED,
    build=lambda: [
        covers(Exhaustive(holds=fails, ranges=dict.fromkeys(("quick", "standard", "deep"), EVERY),
                          exhibit=lambda n: n))
    ],
    module=__name__,
)  # fmt: skip


def test_what_users_write_is_shown_as_text_everywhere() -> None:
    checked = check(CLAIM)
    verdict = checked.outcomes[0].verdict
    for thing in (CLAIM, checked, verdict, checked.outcomes[0]):
        found = read(thing)
        assert HOSTILE in found.text
        assert "tex2jax_ignore" in thing._repr_html_()
    counterexample = read(verdict).text
    assert '{"n": ' in counterexample
    assert "alert('$x$')" in counterexample


def test_a_claim_shows_its_parts_and_its_checks() -> None:
    text = read(replace(CLAIM, statement="It holds.")).text
    for words in ("mine.gauss", "It holds.", "BOUNDED", "mine.other", "exhaustive", "n < 5"):
        assert words in text
    assert "the statement" in text


def test_a_claim_whose_checks_cannot_be_built_says_why() -> None:
    def build() -> Any:
        raise ZeroDivisionError(HOSTILE)

    assert "cannot be built: ZeroDivisionError: <script>" in read(replace(CLAIM, build=build)).text
    assert "must have a check that covers" in read(replace(CLAIM, build=tuple)).text


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        (unknown("killed after its 3 s"), ("UNKNOWN", "killed after its 3 s")),
        (broken("ValueError: no"), ("BROKEN", "ValueError: no")),
        (
            Verdict(status=Status.PROVED, evidence={}, trusts=("z3", "cvc5"), instances=1),
            ("PROVED", "1 instance", "z3, cvc5"),
        ),
        (Verdict(status=Status.SAMPLED, evidence={}, instances=12345), ("12,345 instances",)),
    ],
)
def test_a_verdict_shows_its_status_and_what_was_found(
    verdict: Verdict, words: tuple[str, ...]
) -> None:
    text = read(verdict).text
    assert all(word in text for word in words)


def test_an_outcome_names_claim_method_and_scope() -> None:
    outcome = Outcome(
        claim=CLAIM,
        check=3,
        covers=False,
        method="smt",
        scope="all n",
        verdict=unknown("gave up"),
        seconds=1.0,
    )
    text = read(outcome).text
    for words in ("mine.gauss 3", "smt", "a lemma or instances", "all n", "gave up"):
        assert words in text


def _light(colour: str) -> float:
    """Relative luminance, as WCAG defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("status", [status.name for status in Status])
def test_every_status_is_a_word_in_legible_colours(status: str) -> None:
    shown = display.badge(status).text
    (ground,) = re.findall(r"background:(#[0-9a-f]{6})", shown)
    assert Reader(shown).text == status
    assert 1.05 / (_light(ground) + 0.05) >= 4.5


def test_long_texts_are_cut_and_say_so() -> None:
    assert "... and 400 characters more" in display.plain("x" * 1000).text
    assert "characters more" not in display.plain("x" * display.MOST_CHARACTERS).text


def test_fields_without_content_are_left_out() -> None:
    text = Reader(display.fields([("empty", ""), ("full", "0")]).text).text
    assert ("empty" in text, "full" in text) == (False, True)
