"""A claim of a notebook's cell is settled in the notebook's own process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from certiformer import (
    Check,
    Claim,
    Counterexample,
    Exhaustive,
    Range,
    Sampled,
    Setting,
    Source,
    Status,
    check,
    claim,
    covers,
    settle,
    supports,
)
from verify.errors import ClaimError
from verify.loading import claims_of, load_file

PROFILES = ("quick", "standard", "deep")


def some(holds: Callable[[int], Counterexample | None], most: int = 9) -> Exhaustive:
    ranges = {
        profile: Range(bound=f"n < {most * place}", over=lambda place=place: range(most * place))
        for place, profile in enumerate(PROFILES, start=1)
    }
    return Exhaustive(holds=holds, ranges=ranges, exhibit=lambda n: n)


def below(limit: int) -> Callable[[int], Counterexample | None]:
    return lambda n: None if n < limit else Counterexample(text=f"{n} is", instance={"n": n})


def stated(build: Callable[[], Iterable[Check]], expected: Status = Status.BOUNDED) -> Claim:
    build.__doc__ = "It holds."
    source = Source("mine", "1")
    return claim(id="mine.it", source=source, latex="n", scope="n", expected=expected)(build)


def test_all_checks_are_settled_under_the_asked_profile() -> None:
    item = stated(lambda: [covers(some(below(99))), supports(some(below(5), most=3))])
    quick, deep = check(item), check(item, "deep")
    assert [one.verdict.status for one in quick.outcomes] == [Status.BOUNDED, Status.BOUNDED]
    assert [one.verdict.instances for one in quick.outcomes] == [9, 3]
    assert [one.scope for one in deep.outcomes] == ["n < 27", "n < 9"]
    assert (quick.status, deep.status) == (Status.BOUNDED, Status.REFUTED)
    assert (
        str(deep)
        == "mine.it REFUTED\n  BOUNDED exhaustive: 27 instances\n  REFUTED exhaustive: 5 is"
    )


def test_a_search_draws_as_many_examples_as_are_asked() -> None:
    def build() -> list[Check]:
        from hypothesis import strategies as st

        return [
            covers(
                Sampled(
                    holds=below(900),
                    strategy=lambda: st.integers(0, 1000),
                    instances="n up to 1000",
                    examples=dict.fromkeys(PROFILES, 7),
                    exhibit=lambda n: n,
                )
            )
        ]

    assert check(stated(build), examples=300, seed=1).status is Status.REFUTED
    found = check(stated(build), examples=300, seed=1).outcomes[0].verdict.evidence
    assert found["counterexample"] == {"n": 900}


@pytest.mark.parametrize("error", [ZeroDivisionError("by nought"), SystemExit(3)])
def test_what_a_check_raises_is_broken_and_the_rest_goes_on(error: BaseException) -> None:
    def holds(n: int) -> Counterexample | None:
        raise error

    checked = check(stated(lambda: [supports(some(holds)), covers(some(below(99)))]))
    first, second = (one.verdict for one in checked.outcomes)
    assert (first.status, second.status) == (Status.BROKEN, Status.BOUNDED)
    assert first.summary == f"{type(error).__name__}: {error}"
    assert "Traceback" in first.notes["traceback"]
    assert checked.status is Status.BROKEN


def test_an_interruption_interrupts() -> None:
    def holds(n: int) -> Counterexample | None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check(stated(lambda: [covers(some(holds))]))


def test_the_working_directory_is_as_it_was(tmp_path: Path) -> None:
    def holds(n: int) -> Counterexample | None:
        os.chdir(tmp_path)

    before = Path.cwd()
    assert check(stated(lambda: [covers(some(holds))])).status is Status.BOUNDED
    assert Path.cwd() == before


def test_a_claim_that_is_stated_wrongly_is_an_error() -> None:
    with pytest.raises(ClaimError, match="mine.it must have a check that covers its statement"):
        check(stated(lambda: [supports(some(below(9)))]))


PROGRAM = '''
from certiformer import *


@claim(id="mine.cell", source=Source("mine", "1"), latex="n", scope="n", expected=Status.BOUNDED)
def it():
    """It holds."""
    ranges = {p: Range(bound="n < 9", over=lambda: range(9)) for p in ("quick", "standard", "deep")}
    return [covers(Exhaustive(holds=lambda n: None, ranges=ranges, exhibit=lambda n: n))]
'''


def test_a_claim_without_a_file_is_settled() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM + "\nprint(it.module, check(it))"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == "__main__ mine.cell BOUNDED\n  BOUNDED exhaustive: 9 instances\n"


def test_a_worker_comes_to_the_same_verdict(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(PROGRAM)
    (item,) = claims_of(load_file(path))
    with ThreadPoolExecutor(1) as executor:
        (there,) = settle([item], executor, Setting(profile="quick"))
    (here,) = check(item).outcomes
    assert there.verdict.as_json() == here.verdict.as_json()


def test_a_method_is_held_to_its_ceiling() -> None:
    class Boastful(Exhaustive):
        """Says that it proved what it only tried."""

        def combine(self, verdicts: Any) -> Any:
            from dataclasses import replace

            return replace(super().combine(verdicts), status=Status.PROVED)

    plain = some(below(99))
    boastful = Boastful(holds=plain.holds, ranges=plain.ranges, exhibit=plain.exhibit)
    (outcome,) = check(stated(lambda: [covers(boastful)])).outcomes
    assert outcome.verdict.status is Status.BROKEN
    assert "must not report above BOUNDED, got PROVED" in outcome.verdict.summary
