"""Claims files written for one test, and the command line in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _interruptible() -> Iterator[None]:
    """Commands can be interrupted, though tests in the background of a shell ignore Ctrl-C."""
    kept = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, kept)


HEADER = '''
from fractions import Fraction
from certiformer import *


def some(numbers, fails=None):
    """An exhaustive check of small numbers; `fails` is the one on which it fails."""

    def holds(n):
        if n == fails:
            return Counterexample(text=f"{n} is not what it should be", instance={"n": n})
        return None

    ranges = {p: Range(bound="n < 9", over=lambda: numbers) for p in ("quick", "standard", "deep")}
    return Exhaustive(holds=holds, ranges=ranges, rechecked_as="", exhibit=lambda n: n)


def that(holds, numbers=range(1)):
    ranges = {p: Range(bound="n < 9", over=lambda: numbers) for p in ("quick", "standard", "deep")}
    return Exhaustive(holds=holds, ranges=ranges, rechecked_as="", exhibit=lambda n: n)


def searched(limit):
    from hypothesis import strategies as st

    def holds(n):
        if n >= limit:
            return Counterexample(text=f"{n} is at least {limit}", instance={"n": n})
        return None

    return Sampled(
        holds=holds,
        strategy=lambda: st.integers(0, 1000),
        instances="n up to 1000",
        examples={"quick": 20, "standard": 50, "deep": 100},
        rechecked_as="",
        exhibit=lambda n: n,
    )


def stated(name, text="It holds.", expected=Status.BOUNDED, uses=(), latex="n < 9", where="1"):
    def decorate(build):
        build.__doc__ = text
        source = Source("paper", where)
        return claim(
            id=name, source=source, latex=latex, scope="n < 9", expected=expected, uses=uses
        )(build)

    return decorate


'''

GOOD = """
@stated("good.one")
def one():
    return [covers(some(range(9)))]


@stated("good.two", uses=("good.one",))
def two():
    return [covers(some(range(5))), supports(some(range(3)))]


@stated("good.three", expected=Status.SAMPLED, uses=("good.one", "good.two"))
def three():
    return [covers(searched(5000))]
"""


@pytest.fixture
def good() -> str:
    """Three claims that reach what is expected of them."""
    return GOOD


@pytest.fixture
def claims(tmp_path: Path) -> Callable[..., Path]:
    """Write a claims file."""

    def write(body: str, name: str = "mine.py") -> Path:
        path = tmp_path / name
        path.write_text(HEADER + dedent(body), encoding="utf-8")
        return path

    return write


@pytest.fixture
def run() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the command line to its end."""

    def call(*arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "reports.cli", *map(str, arguments)],
            cwd=ROOT,
            env={**os.environ, "NO_COLOR": "1"},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return call


@pytest.fixture
def call(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the command line inside this process."""
    from reports.cli import invoke

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        monkeypatch.chdir(ROOT)
        words = list(map(str, arguments))
        status = invoke(words)
        out, err = capsys.readouterr()
        return subprocess.CompletedProcess(words, status, out, err)

    return run
