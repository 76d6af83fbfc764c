"""Checks run in processes of their own: what hangs, dies or lies costs one check and no more."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest

from verify.claims import Claim, Setting
from verify.ledger import LEDGER, Ledger
from verify.loading import claims_of, load_file
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
        holds=holds, ranges=ranges, rechecked_as="", exhibit=lambda n: n, parts=parts
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


# --- the ledger ------------------------------------------------------------------------------

NO_WORKERS = Executor()
"""An executor that raises when anything is submitted."""


@pytest.fixture
def claims(tmp_path: Path) -> Callable[[str], list[Claim]]:
    def write(body: str) -> list[Claim]:
        path = tmp_path / "mine.py"
        path.write_text(HEADER + dedent(body), encoding="utf-8")
        return claims_of(load_file(path))

    return write


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with closing(Ledger(tmp_path / LEDGER)) as opened:
        yield opened


Claims = Callable[[str], list[Claim]]


def settled(claims: list[Claim], ledger: Ledger, setting: Setting = QUICK) -> dict[str, Outcome]:
    with ThreadPoolExecutor(2) as executor:
        return {o.claim.id: o for o in settle(claims, executor, setting, ROOMY, ledger=ledger)}


def test_what_the_ledger_holds_starts_no_worker(claims: Claims, ledger: Ledger) -> None:
    (claim,) = claims("")
    first = settled([claim], ledger)["mine.good"]
    (again,) = settle([claim], NO_WORKERS, QUICK, ROOMY, ledger=ledger)
    assert (first.reused, first.shards) == (0, 2)
    assert again == replace(first, reused=2)
    with pytest.raises(NotImplementedError):
        list(settle([claim], NO_WORKERS, replace(QUICK, seed=1), ROOMY, ledger=ledger))
    with pytest.raises(NotImplementedError):
        list(settle([claim], NO_WORKERS, QUICK, ROOMY))


def test_a_missing_shard_alone_is_settled(claims: Claims, ledger: Ledger, tmp_path: Path) -> None:
    (claim,) = claims("")
    first = settled([claim], ledger)["mine.good"]
    with closing(Ledger(tmp_path / LEDGER, fresh=True)) as fresh:
        fresh.find(fresh.entry(claim, 0, "exhaustive", replace(QUICK, shard=1, shards=2)))
    again = settled([claim], ledger)["mine.good"]
    assert (again.verdict, again.reused) == (first.verdict, 1)


def test_a_run_that_was_cut_short_goes_on_where_it_was(claims: Claims, ledger: Ledger) -> None:
    both = claims(bad("time.sleep(600)"))
    with (
        ThreadPoolExecutor(1) as executor,
        closing(settle(both, executor, QUICK, ROOMY, ledger=ledger)) as outcomes,  # type: ignore[type-var]
    ):
        assert next(outcomes).claim.id == "mine.good"
    good = [claim for claim in both if claim.id == "mine.good"]
    (again,) = settle(good, NO_WORKERS, QUICK, ROOMY, ledger=ledger)
    assert again.reused == again.shards == 2
    rest = [claim for claim in both if claim.id == "mine.bad"]
    with pytest.raises(NotImplementedError):
        list(settle(rest, NO_WORKERS, QUICK, ROOMY, ledger=ledger))


@pytest.mark.parametrize(
    ("failure", "status"),
    [("raise MemoryError", Status.UNKNOWN), ("raise ValueError", Status.BROKEN)],
)
def test_unknown_and_broken_are_settled_again(
    claims: Claims, ledger: Ledger, tmp_path: Path, failure: str, status: Status
) -> None:
    mark = tmp_path / "mark"
    both = claims(
        f'''
        @stated("mine.bad")
        def bad():
            """It fails once."""

            def holds(n):
                if not os.path.exists({str(mark)!r}):
                    {failure}

            return [covers(numbers(holds))]
        '''
    )
    assert settled(both, ledger)["mine.bad"].verdict.status is status
    mark.touch()
    again = settled(both, ledger)
    assert again["mine.bad"].verdict.status is Status.BOUNDED
    assert (again["mine.bad"].reused, again["mine.good"].reused) == (0, 2)


def test_what_a_certificate_must_say_is_never_taken_from_the_ledger(
    claims: Claims, ledger: Ledger
) -> None:
    (claim,) = claims("")
    with ThreadPoolExecutor(1) as executor:
        (stated,) = settle([claim], executor, QUICK, ROOMY, purpose="state", ledger=ledger)
    assert (stated.reused, settled([claim], ledger)["mine.good"].reused) == (0, 0)
    with pytest.raises(NotImplementedError):
        list(settle([claim], NO_WORKERS, QUICK, ROOMY, purpose="state", ledger=ledger))


def test_a_check_without_shards_is_unknown(outcomes: object) -> None:
    empty = '''
    class Empty:
        name, ceiling, fresh_process = "empty", Status.PROVED, False

        def scope(self, setting):
            return "nothing"

        def shards(self, setting):
            return 0


    @stated("mine.bad")
    def bad():
        """It has no parts."""
        return [covers(Empty())]
    '''
    verdict = outcomes(empty)["mine.bad"].verdict  # type: ignore[operator]
    assert verdict.evidence["reason"] == "nothing was checked"


FULL = """
import resource, signal, sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from verify.claims import Setting
from verify.loading import claims_of, load_file
from verify.ledger import Ledger
from verify.run import settle

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
claims, ledger = claims_of(load_file(sys.argv[1])), Ledger(Path(sys.argv[2]))
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
with ThreadPoolExecutor(2) as executor:
    for outcome in settle(claims, executor, Setting(profile="quick"), ledger=ledger):
        print(outcome.verdict.status.name, len(str(outcome.verdict.certificate["instances"][0])))
print(len(ledger.notes), "disk" in ledger.notes[0])
"""


def test_a_full_disk_costs_no_verdict(tmp_path: Path) -> None:
    body = '''
    from random import Random


    @stated("mine.large")
    def large():
        """It holds, at length."""
        check = numbers(lambda n: None)
        show = lambda n: Random(n).randbytes(1_000_000).hex()
        return [covers(Exhaustive(**{f: getattr(check, f) for f in FIELDS} | {"exhibit": show}))]


    FIELDS = ("holds", "ranges", "rechecked_as", "parts")
    '''
    path = tmp_path / "mine.py"
    path.write_text(HEADER + dedent(body), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(path), str(tmp_path / LEDGER)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == ["1 True", "BOUNDED 1", "BOUNDED 2000000"]
