"""A solver that lies, crashes, hangs or babbles never makes a wrong verdict: one at a time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from verify.claims import Setting
from verify.loading import claims_in, load_file
from verify.methods import smt
from verify.run import settle
from verify.verdicts import Status, Verdict
from verify.worker import Limits

FILE = '''"""Two goals, and a solver that is not to be trusted."""

import os
import time

from verify.claims import Source, claim, covers
from verify.methods import smt
from verify.smtlib import Axiom, Goal, Theory, World
from verify.verdicts import Status

SUCCESSOR = Theory(
    name="successor",
    declarations="(declare-fun s (Int) Int) (declare-const k Int)",
    axioms=(Axiom("s", "(forall ((n Int)) (= (s n) (+ n 1)))", "s adds one"),),
    worlds=lambda: [World(sorts={}, symbols={"s": lambda n: n + 1}, free={"k": range(3)})],
)


def answer(script):
    @stub


smt.SOLVERS = {**smt.SOLVERS, "@solver": lambda: answer}


def stated(name, conclusion):
    def checks():
        """A goal about successors."""
        goal = Goal(name=name, theory=SUCCESSOR, conclusion=conclusion)
        return (covers(smt.Smt(goals=lambda: (goal,), instances="all integers")),)

    source = Source("stubs", "here")
    return claim(id=f"stubs.{name}", source=source, latex="", scope="", expected=Status.PROVED)(
        checks
    )


right = stated("right", "(> (s k) k)")
wrong = stated("wrong", "(< (s k) 100)")
'''
STUBS = {
    "always unsat": 'return "unsat"',
    "always sat": 'return "sat"',
    "garbage": 'return "un\\\\x00sat unsat"',
    "nothing": "return None",
    "an exception": 'raise RuntimeError("segmentation fault")',
    "the end of its process": "os._exit(9)",
    "no end": "time.sleep(600)",
}


def verdicts(folder: Path, solver: str, stub: str) -> dict[str, Verdict]:
    path = folder / "stubs.py"
    path.write_text(FILE.replace("@stub", stub).replace("@solver", solver))
    claims = claims_in(load_file(path))
    limits = Limits(seconds=4.0 if "sleep" in stub else 60.0)
    with ThreadPoolExecutor(2) as executor:
        outcomes = settle(claims, executor, Setting(profile="quick"), limits)
        return {outcome.claim.id.removeprefix("stubs."): outcome.verdict for outcome in outcomes}


@pytest.mark.parametrize("solver", ["z3", "cvc5"])
@pytest.mark.parametrize("stub", sorted(STUBS))
def test_what_no_second_solver_supports_is_not_settled(
    stub: str, solver: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(smt, "SOLVERS", dict(smt.SOLVERS))
    found = verdicts(tmp_path, solver, STUBS[stub])
    assert found["wrong"].status <= Status.UNKNOWN
    assert found["wrong"].status is not Status.REFUTED
    if stub == "always unsat":
        assert found["right"].status is Status.PROVED
    else:
        assert found["right"].status in (Status.UNKNOWN, Status.BROKEN)
        assert found["right"].evidence["reason"]
    if stub == "the end of its process":
        assert "died twice" in found["right"].evidence["reason"]
    if stub == "no end":
        assert "killed after its 4 s" in found["right"].evidence["reason"]
