"""Floating-point runs are held to their bounds, keep figures out of the record, and repeat."""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify import recheck
from verify.certificates import canonical
from verify.claims import Method, Setting
from verify.definitions.plain import RejectedError
from verify.methods.floating import Floating, Measurement, Trial, Trials
from verify.verdicts import Status, Verdict

QUICK = Setting(profile="quick")
BOUND = "n times unit roundoff times the sum of |x|"


def harmonic(factor: float = 1.0) -> Callable[[Trial], Measurement]:
    """The error of a sum of `case` numbers, against the bound of recursive summation."""

    def measure(trial: Trial) -> Measurement:
        import torch

        source = random.Random(trial.seed)  # noqa: S311 - repeatable inputs
        exact = [source.uniform(-1, 1) for _ in range(trial.case)]
        kind = getattr(torch, trial.dtype)
        given_numbers = torch.tensor(exact, dtype=kind, device=trial.device)
        true = math.fsum(given_numbers.double().tolist())
        size = math.fsum(map(abs, exact)) * float(torch.finfo(kind).eps) * trial.case
        return Measurement(error=abs(float(given_numbers.sum()) - true), bound=factor * size)

    return measure


def constant(error: float, bound: float) -> Callable[[Trial], Measurement]:
    return lambda _: Measurement(error=error, bound=bound)


def floating(measure: Callable[[Trial], Measurement] | None = None, **changes: Any) -> Floating:
    cases = changes.pop("cases", (5, 50))
    trials = Trials(
        scope="sums of 5 or 50 numbers",
        cases=lambda: cases,
        seeds=changes.pop("seeds", 3),
        dtypes=("float32", "float64"),
        devices=changes.pop("devices", ("cpu",)),
    )
    return Floating(
        measure=measure or harmonic(),
        trials={"quick": trials, "standard": trials, "deep": trials},
        bound=BOUND,
        exhibit=lambda n: {"numbers": n},
        **changes,
    )


def settled(method: Floating, parts: int, **setting: Any) -> list[Verdict]:
    return [
        method.settle(Setting(profile="quick", shard=part, shards=parts, **setting))
        for part in range(parts)
    ]


def test_errors_within_their_bounds_are_sampled_and_counted_by_dtype() -> None:
    method = floating()
    assert isinstance(method, Method)
    verdict = method.settle(QUICK)
    assert verdict.status is method.ceiling is Status.SAMPLED
    assert verdict.evidence == {
        "tried": 12,
        "seed": 0,
        "bound": BOUND,
        "held": {"float32 on cpu": 6, "float64 on cpu": 6},
    }
    assert verdict.instances == 12
    assert verdict.trusts == ("library:numpy", "library:torch")
    assert method.scope(QUICK) == f"sums of 5 or 50 numbers; float32, float64 on cpu; {BOUND}"
    assert (method.name, method.fresh_process, method.shards(QUICK)) == ("floating", False, 1)
    shown = (verdict.certificate or {})["instances"]
    assert [(e["case"]["numbers"], e["dtype"]) for e in shown[:4]] == [
        (5, "float32"),
        (5, "float64"),
        (50, "float32"),
        (50, "float64"),
    ]
    assert len({e["seed"] for e in shown}) == 3


def test_figures_stand_in_the_notes_alone() -> None:
    verdict = floating().settle(QUICK)
    canonical({"evidence": dict(verdict.evidence), "certificate": dict(verdict.certificate or {})})
    measured = verdict.notes["measured"]["float32 on cpu"]
    errors = sorted(error for error, _ in measured["figures"])
    assert errors[-1] > 0
    assert measured["error"] == {
        "least": errors[0],
        "median": errors[2],
        "90%": errors[4],
        "largest": errors[5],
    }
    assert 0 < measured["error / bound"]["largest"] < 1
    assert Verdict.from_json(json.loads(json.dumps(verdict.as_json()))).notes == verdict.notes


def test_details_stand_beside_the_figures_in_the_notes() -> None:
    def measure(trial: Trial) -> Measurement:
        return Measurement(error=1.0, bound=2.0, details={"numbers": float(trial.case)})

    method = floating(measure)
    verdict = method.combine(settled(method, 2))
    found = verdict.notes["measured"]["float64 on cpu"]["figures"]
    assert sorted(row[2]["numbers"] for row in found) == [5.0] * 3 + [50.0] * 3
    assert all(row[:2] == [1.0, 0.5] for row in found)
    assert "numbers" not in verdict.evidence


def test_a_wrong_twin_is_refuted_with_its_trial_and_without_figures() -> None:
    verdict = floating(harmonic(factor=1e-9)).settle(QUICK)
    assert verdict.status is Status.REFUTED
    failed = verdict.evidence["counterexample"]
    assert failed == {**failed, "case": {"numbers": 5}, "dtype": "float32", "device": "cpu"}
    assert verdict.evidence["text"] == (
        f"float32 on cpu, seed {failed['seed']}: the error must stay within its bound ({BOUND}); "
        "it does not"
    )
    assert verdict.evidence["tried"] == 1
    assert (verdict.certificate or {})["kind"] == "counterexample"
    canonical(dict(verdict.evidence))
    assert verdict.notes["measured"]["float32 on cpu"]["error / bound"]["largest"] > 1


@pytest.mark.parametrize(
    ("error", "bound"),
    [(math.nan, 1.0), (1.0, math.nan), (1.0, math.inf), (math.inf, math.inf), (-1.0, 1.0)],
)
def test_nothing_is_within_nan_or_infinity(error: float, bound: float) -> None:
    assert floating(constant(error, bound)).settle(QUICK).status is Status.REFUTED
    assert floating(constant(1.0, 1.0)).settle(QUICK).status is Status.SAMPLED
    assert Measurement(error=0.0, bound=0.0).share == 0


def test_a_failure_that_does_not_replay_is_broken() -> None:
    calls: list[Trial] = []

    def measure(trial: Trial) -> Measurement:
        calls.append(trial)
        return Measurement(error=2.0 if len(calls) == 1 else 0.0, bound=1.0)

    verdict = floating(measure).settle(QUICK)
    assert verdict.status is Status.BROKEN
    assert "did not fail again when replayed" in verdict.evidence["reason"]


def test_without_pytorch_nothing_is_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    verdict = floating().settle(QUICK)
    assert verdict.status is Status.UNKNOWN
    assert verdict.evidence["reason"] == (
        "floating-point runs need PyTorch, which is not installed; "
        "install the extra `numeric`: pip install 'certiformer[numeric]'"
    )


def test_a_device_that_is_not_there_settles_nothing() -> None:
    verdict = floating(constant(0.0, 1.0), devices=("cpu", "no_device")).settle(QUICK)
    assert verdict.status is Status.UNKNOWN
    assert verdict.evidence["reason"] == "PyTorch has no device no_device here; nothing was checked"


def test_no_trial_is_unknown() -> None:
    for method in (floating(cases=()), floating(seeds=0)):
        verdict = method.combine([method.settle(QUICK)])
        assert verdict.status is Status.UNKNOWN
        assert verdict.evidence["reason"] == "there is no trial: nothing was checked"
    assert floating(cases=()).settle(Setting(profile="quick", examples=5)).instances == 0


def test_trials_depend_on_the_seed_alone_and_repeat() -> None:
    first, again = (floating().settle(QUICK) for _ in range(2))
    assert first == again
    other = floating().settle(Setting(profile="quick", seed=1))
    assert other.certificate != first.certificate
    assert other.evidence == {**first.evidence, "seed": 1}


def test_as_many_trials_run_as_are_asked_for() -> None:
    whole = floating().settle(Setting(profile="quick", examples=25))
    assert whole.instances == 25
    assert len({(e["seed"]) for e in (whole.certificate or {})["instances"]}) == 7
    assert floating().settle(Setting(profile="quick", examples=2)).instances == 2


@given(st.integers(1, 5), st.integers(1, 4))
def test_shards_partition_the_trials_and_combine_to_the_whole(parts: int, seeds: int) -> None:
    def measure(trial: Trial) -> Measurement:
        return Measurement(error=trial.seed / 2**40, bound=float(trial.case))

    method = floating(measure, seeds=seeds, parts=parts)
    assert method.shards(QUICK) == parts
    verdicts = settled(method, parts)
    (single,) = settled(method, 1)
    assert method.combine([single]) == single
    whole = method.combine(verdicts)
    assert whole.evidence == single.evidence
    assert whole.instances == single.instances == 4 * seeds
    for place, row in single.notes["measured"].items():
        merged = whole.notes["measured"][place]
        assert sorted(merged["figures"]) == sorted(row["figures"])
        assert merged["error"] == row["error"]


def test_the_lowest_failing_shard_wins() -> None:
    def measure(trial: Trial) -> Measurement:
        return Measurement(error=float(trial.case == 50), bound=0.5)

    method = floating(measure)
    verdicts = settled(method, 4)
    assert [v.status.name for v in verdicts] == ["SAMPLED", "SAMPLED", "REFUTED", "REFUTED"]
    assert method.combine(verdicts).evidence["counterexample"]["dtype"] == "float32"


def test_pytorch_computes_in_one_thread_and_gets_its_threads_back() -> None:
    import torch

    seen: list[int] = []

    def measure(_: Trial) -> Measurement:
        seen.append(torch.get_num_threads())
        return Measurement(error=0.0, bound=1.0)

    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        floating(measure).settle(QUICK)
        assert (set(seen), torch.get_num_threads()) == ({1}, 2)
    finally:
        torch.set_num_threads(before)


# --- the record, the run and the rechecker ---------------------------------------------------


def test_the_rechecker_compares_the_fields_and_leaves_the_runs() -> None:
    verdict = floating().settle(QUICK)
    check = {"evidence": dict(verdict.evidence), "instances": verdict.instances}
    content = {key: part for key, part in (verdict.certificate or {}).items() if key != "kind"}
    words = (recheck.NOT_RECHECKED, "floating-point runs are repeated by verify, not here")
    assert recheck.KINDS["floating"][1](recheck.Item(content, check, None)) == words
    first = content["instances"][0]
    for change in (
        {"bound": "none"},
        {"seed": 5},
        {"tried": 13},
        {"held": {"float32 on cpu": 12}},
        {"instances": content["instances"][1:]},
        {"instances": [{**first, "dtype": "float16"}, *content["instances"][1:]]},
        {"more": 1},
    ):
        with pytest.raises(RejectedError):
            recheck.KINDS["floating"][1](recheck.Item({**content, **change}, check, None))


CLAIMS = '''
"""A claim on sums."""
import random
from verify.claims import Source, claim, covers
from verify.methods.floating import Floating, Measurement, Trials
from verify.verdicts import Status

def measure(trial):
    import torch
    source = random.Random(trial.seed)
    numbers = torch.tensor([source.random() for _ in range(99)], dtype=getattr(torch, trial.dtype))
    error = abs(float(numbers.sum()) - float(numbers.double().sum()))
    return Measurement(error=error, bound=99 * 99 * float(torch.finfo(numbers.dtype).eps))

@claim(id="test.sums", source=Source("none", "none"), latex="s", scope="99 numbers",
       expected=Status.SAMPLED)
def sums_are_close():
    """Sums are close."""
    chosen = Trials(scope="99 numbers", cases=lambda: (99,), seeds=8, dtypes=("float32", "float16"))
    return [covers(Floating(measure=measure, trials={"quick": chosen, "standard": chosen,
            "deep": chosen}, bound="99 times 99 eps", exhibit=lambda n: n, parts=2))]
'''


def test_figures_reach_the_run_and_never_the_record(tmp_path: Path) -> None:
    (tmp_path / "sums.py").write_text(CLAIMS)
    records: list[bytes] = []
    for jobs in ("1", "2"):
        out = tmp_path / jobs
        command = [sys.executable, "-m", "reports.cli", "verify", str(tmp_path / "sums.py")]
        done = subprocess.run(
            [*command, "--jobs", jobs, "--out", str(out)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        records.append((out / "record.json").read_bytes())
        run = json.loads((out / "run.json").read_text())
        measured = run["checks"][0]["notes"]["measured"]
        assert {place: len(row["figures"]) for place, row in measured.items()} == {
            "float16 on cpu": 8,
            "float32 on cpu": 8,
        }
        assert measured["float16 on cpu"]["error"]["largest"] > 0
        (line, _) = subprocess.run(
            [sys.executable, "-I", recheck.__file__, str(out)],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()
        assert "floating-point runs are repeated by verify, not here" in line
    assert records[0] == records[1]

    def refuse(text: str) -> Any:
        raise AssertionError(text)

    json.loads(records[0], parse_float=refuse)
