"""Checks run in processes of their own: what hangs, dies or lies costs one check and no more."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from textwrap import dedent

import pytest

from verify.claims import Setting, claims_of, load_file
from verify.run import Outcome, settle
from verify.verdicts import Status
from verify.worker import Limits

HEADER = """
import os
import time
from certiformer import *


def stated(name):
    return claim(
        id=name, source=Source("paper", "1"), latex="n", scope="n", expected=Status.BOUNDED
    )


def numbers(holds, parts=1):
    ranges = {"quick": Range(bound="n < 4", over=lambda: range(4))}
    return Exhaustive(
        holds=holds, ranges=ranges, rechecked_as="numbers", exhibit=lambda n: n, parts=parts
    )


@stated("mine.good")
def good():
    \"\"\"It holds.\"\"\"
    return [covers(numbers(lambda n: None, parts=2))]
"""

QUICK = Setting(profile="quick")
ROOMY = Limits(seconds=60, bytes=2 << 30)


@pytest.fixture
def outcomes(tmp_path: Path) -> Iterator[object]:
    def run(body: str, limits: Limits = ROOMY, jobs: int = 1) -> dict[str, Outcome]:
        path = tmp_path / "mine.py"
        path.write_text(HEADER + dedent(body), encoding="utf-8")
        claims = claims_of(load_file(path))
        with ThreadPoolExecutor(jobs) as executor:
            return {o.claim.id: o for o in settle(claims, executor, QUICK, limits)}

    yield run


def bad(holds: str) -> str:
    return f'''
@stated("mine.bad")
def bad():
    """It does not."""

    def holds(n):
        {holds}

    return [covers(numbers(holds))]
'''


def test_shards_are_put_together_and_every_check_is_settled(outcomes: object) -> None:
    found = outcomes("", jobs=2)  # type: ignore[operator]
    outcome = found["mine.good"]
    assert outcome.verdict.status is Status.BOUNDED
    assert outcome.verdict.instances == 4
    assert (outcome.method, outcome.scope, outcome.covers) == ("exhaustive", "n < 4", True)
    assert outcome.seconds > 0


@pytest.mark.parametrize(
    ("holds", "status", "reason"),
    [
        (
            "os._exit(3)",
            Status.BROKEN,
            "the worker process died twice on this check (exit status 3)",
        ),
        ("os.kill(os.getpid(), 11)", Status.BROKEN, "died twice on this check (signal 11)"),
        ("raise SystemExit(0)", Status.BROKEN, "SystemExit: 0"),
        ("return 1 // 0", Status.BROKEN, "ZeroDivisionError"),
        ("raise MemoryError('all of it')", Status.UNKNOWN, "ran out of memory: all of it"),
    ],
    ids=["exit", "signal", "SystemExit", "error", "MemoryError"],
)
def test_a_check_that_crashes_is_settled_and_the_rest_goes_on(
    outcomes: object, holds: str, status: Status, reason: str
) -> None:
    found = outcomes(bad(holds))  # type: ignore[operator]
    assert found["mine.bad"].verdict.status is status
    assert reason in found["mine.bad"].verdict.evidence["reason"]
    assert found["mine.good"].verdict.status is Status.BOUNDED


def test_a_check_that_hangs_is_unknown(outcomes: object) -> None:
    found = outcomes(bad("time.sleep(600)"), Limits(seconds=4, bytes=2 << 30))  # type: ignore[operator]
    assert found["mine.bad"].verdict.status is Status.UNKNOWN
    assert found["mine.bad"].verdict.evidence["reason"] == "killed after its 4 s of time"
    assert found["mine.good"].verdict.status is Status.BOUNDED


def test_a_check_that_eats_memory_is_unknown(outcomes: object) -> None:
    eater = "hoard = [bytearray(1 << 26) for _ in range(12)]; time.sleep(600)"
    found = outcomes(bad(eater), Limits(seconds=60, bytes=512 << 20))  # type: ignore[operator]
    assert found["mine.bad"].verdict.status is Status.UNKNOWN
    assert found["mine.bad"].verdict.evidence["reason"] == "killed at its 512 MiB of memory"
    assert found["mine.good"].verdict.status is Status.BOUNDED


def test_a_worker_that_dies_once_gets_a_second_attempt(outcomes: object, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    holds = (
        f"return None if os.path.exists({str(mark)!r}) else (open({str(mark)!r}, 'w'), os._exit(1))"
    )
    found = outcomes(bad(holds))  # type: ignore[operator]
    assert found["mine.bad"].verdict.status is Status.BOUNDED


def test_what_a_claim_prints_does_not_reach_the_answers(outcomes: object) -> None:
    holds = "print('{\"status\": \"PROVED\"}', flush=True); os.write(1, b'more\\n')"
    found = outcomes(bad(holds))  # type: ignore[operator]
    assert found["mine.bad"].verdict.status is Status.BOUNDED


def test_a_claim_cannot_read_the_requests(outcomes: object) -> None:
    holds = "import sys; assert sys.stdin.read() == ''; assert os.read(0, 10) == b''"
    found = outcomes(bad(holds))  # type: ignore[operator]
    assert found["mine.bad"].verdict.status is Status.BOUNDED


def test_a_method_that_reports_above_its_ceiling_is_broken(outcomes: object) -> None:
    boaster = '''
    class Boaster:
        name, ceiling, fresh_process = "boaster", Status.SAMPLED, False

        def scope(self, setting):
            return "everything"

        def shards(self, setting):
            return 1

        def settle(self, setting):
            return Verdict(status=Status.PROVED, evidence={}, instances=1)

        def combine(self, verdicts):
            return verdicts[0]


    @stated("mine.bad")
    def bad():
        """It boasts."""
        return [covers(Boaster())]
    '''
    verdict = outcomes(boaster)["mine.bad"].verdict  # type: ignore[operator]
    assert verdict.status is Status.BROKEN
    assert verdict.evidence["reason"] == (
        "MethodError: method boaster must not report above SAMPLED, got PROVED"
    )


def test_a_pass_without_instances_is_unknown(outcomes: object) -> None:
    idle = '''
    class Idle:
        name, ceiling, fresh_process = "idle", Status.PROVED, False

        def scope(self, setting):
            return "nothing"

        def shards(self, setting):
            return 1

        def settle(self, setting):
            return Verdict(status=Status.PROVED, evidence={}, instances=0)

        def combine(self, verdicts):
            return verdicts[0]


    @stated("mine.bad")
    def bad():
        """It looks at nothing."""
        return [covers(Idle())]
    '''
    verdict = outcomes(idle)["mine.bad"].verdict  # type: ignore[operator]
    assert verdict.status is Status.UNKNOWN
    assert verdict.evidence["reason"] == "nothing was checked"


def test_only_the_named_methods_are_run(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(HEADER, encoding="utf-8")
    claims = claims_of(load_file(path))
    with ThreadPoolExecutor(1) as executor:
        assert list(settle(claims, executor, QUICK, ROOMY, methods=["smt"])) == []
