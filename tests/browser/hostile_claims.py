"""Claims whose every word attacks the page: one refuted, one crashing, one that rests on both."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from certiformer import (
    Check,
    Claim,
    Counterexample,
    Exhaustive,
    Range,
    Source,
    Status,
    claim,
    covers,
)

WORDS = (
    "<script>alert(1)</script></script> ]]> $x^2$ & % \\input \"q\" 'p' "
    "<img src=x onerror=alert(2)> \u202eleft\u200f"
)
SEEN = WORDS.replace("\u202e", "⟨U+202E⟩").replace("\u200f", "⟨U+200F⟩")
"""The same words, as a page must show them."""


def fails(_number: int) -> Counterexample:
    return Counterexample(text=WORDS, instance={WORDS: WORDS})


def crashes(_number: int) -> None:
    raise ValueError(WORDS)


def holds(_number: int) -> None:
    return None


def stated(
    id: str, decided: Callable[[int], Counterexample | None], uses: tuple[str, ...] = ()
) -> Claim:
    def build() -> Iterable[Check]:
        one = Range(bound=WORDS, over=lambda: range(1))
        ranges = dict.fromkeys(("quick", "standard", "deep"), one)
        rule = Exhaustive(holds=decided, ranges=ranges, rechecked_as="", exhibit=lambda n: n)
        return [covers(rule)]

    build.__doc__ = WORDS
    return claim(
        id=id,
        source=Source(WORDS, WORDS),
        latex=rf"\text{{{WORDS}}}",
        scope=WORDS,
        expected=Status.BOUNDED,
        uses=uses,
    )(build)


REFUTED = stated("odd.refuted", fails)
CRASHING = stated("odd.crashing", crashes, uses=("odd.refuted",))
RESTING = stated("odd.resting", holds, uses=("odd.crashing",))
