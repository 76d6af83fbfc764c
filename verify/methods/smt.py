"""Goals that Z3 and cvc5 both find valid: PROVED.

Both solvers read the same SMT-LIB text and stop at their own resource limits, so a run is
repeatable. A solver that finds a model of the negation refutes nothing by itself (the model is
of the theory, not of the code): the verdict is UNKNOWN, and a refutation is left to the instance
checks beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from importlib import import_module
from typing import Any

from verify.claims import Setting
from verify.errors import CertiformerError, MethodError
from verify.facts import Fact
from verify.smtlib import Goal, ground
from verify.verdicts import Json, Status, Verdict, union, unknown
from verify.wrong_theories import break_each

Z3_RESOURCES = 4_000_000
"""Z3's rlimit per goal, in its own units (some seconds)."""
CVC5_RESOURCES = 200_000
"""cvc5's rlimit-per per goal, in its own units (some seconds)."""


Ask = Callable[[str], str]
"""Answers a script's one check-sat: sat, unsat or unknown."""


def open_z3() -> Ask:
    """Z3 for the goals of one theory: a solver of its own for each, in one context."""
    z3: Any = import_module("z3")
    context = z3.Context()

    def ask(script: str) -> str:
        solver: Any = z3.SimpleSolver(ctx=context)
        solver.set("rlimit", Z3_RESOURCES)
        solver.from_string(script)
        return str(solver.check())

    return ask


def open_cvc5() -> Ask:
    """Cvc5, anew for each goal."""
    return lambda script: _asked_cvc5(script)[0]


def cvc5_proof(script: str) -> str | None:
    """cvc5's own proof of a goal, in its format CPC; None if it finds the goal not valid."""
    answer, solver = _asked_cvc5(script, proofs=True)
    if answer != "unsat":
        return None
    proof: Any = solver.proofToString(solver.getProof()[0], _cvc5().ProofFormat.CPC)
    return proof.decode() if isinstance(proof, bytes) else str(proof)


def _cvc5() -> Any:
    return import_module("cvc5")


def _asked_cvc5(script: str, *, proofs: bool = False) -> tuple[str, Any]:
    """cvc5's answer to a script's one check-sat, and the solver that gave it."""
    engine = _cvc5()
    solver = engine.Solver(engine.TermManager())
    solver.setOption("enum-inst", "true")
    solver.setOption("rlimit-per", str(CVC5_RESOURCES))
    if proofs:
        solver.setOption("produce-proofs", "true")
    parser = engine.InputParser(solver)
    parser.setStringInput(engine.InputLanguage.SMT_LIB_2_6, script, "goal")
    symbols = parser.getSymbolManager()
    answers: list[str] = []
    while not (command := parser.nextCommand()).isNull():
        answers.append(str(command.invoke(solver, symbols)).strip())
    return next((a for a in answers if a in ("sat", "unsat")), "unknown"), solver


SOLVERS: dict[str, Callable[[], Ask]] = {"z3": open_z3, "cvc5": open_cvc5}
"""Opens each solver for the goals of one theory; a goal's script is whole in itself."""
ERROR = "error:"
"""How the answer of a solver begins that raised something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Smt:
    """Goals that together make the statement; all must be valid for both solvers.

    `goals` are built when the check runs; `leans_on` are the facts that join them (induction).
    """

    goals: Callable[[], Sequence[Goal]]
    instances: str
    leans_on: tuple[Fact, ...] = ()
    name: str = field(default="smt", init=False)
    ceiling: Status = field(default=Status.PROVED, init=False)
    fresh_process: bool = field(default=False, init=False)

    def scope(self, setting: Setting) -> str:
        """The instances that the goals speak of."""
        del setting
        return self.instances

    def shards(self, setting: Setting) -> int:
        """One: the goals of a check share a theory."""
        del setting
        return 1

    def combine(self, verdicts: Sequence[Verdict]) -> Verdict:
        """There is one shard."""
        return verdicts[0]

    def settle(self, setting: Setting) -> Verdict:
        """Evaluate the theory on real objects; where it holds, ask both solvers for every goal."""
        goals = tuple(self.goals())
        if not goals:
            return unknown("there is no goal to prove")
        grounding = ground(goals, most_worlds=1 if setting.profile == "quick" else None)
        sound = not (grounding.failures or grounding.idle)
        answers = _answers(goals) if sound else [dict[str, str]() for _ in goals]
        rows = [_row(goal, given) for goal, given in zip(goals, answers, strict=True)]
        evidence: dict[str, Json] = {
            "goals": rows,
            "theories": _theories(goals),
            "worlds": grounding.worlds,
        }
        reason = _shortcoming(rows, grounding.failures, grounding.idle)
        if reason is not None:
            return Verdict(status=Status.UNKNOWN, evidence={**evidence, "reason": reason})
        return Verdict(
            status=Status.PROVED,
            evidence=evidence,
            trusts=union([("solver:z3", "solver:cvc5"), (fact.trust for fact in self.leans_on)]),
            instances=len(goals),
            certificate=_certificate(goals),
        )

    def stated(self, setting: Setting) -> Verdict:
        """The goals' text, without asking a solver."""
        del setting
        said = {"reason": "the goals were stated and not asked"}
        certificate = _certificate(tuple(self.goals()))
        return Verdict(status=Status.UNKNOWN, evidence=said, certificate=certificate)

    def mutated(self, setting: Setting) -> Verdict:
        """Every axiom and every goal broken once, and what noticed it."""
        del setting
        said = {"reason": "what the goals rest on was broken; they were not asked as they stand"}
        rows = break_each(tuple(self.goals()), _refusal)
        return Verdict(status=Status.UNKNOWN, evidence={**said, "mutants": rows})


def _certificate(goals: Sequence[Goal]) -> dict[str, Json]:
    shown = [{"name": goal.name, "smtlib": goal.script()} for goal in goals]
    return {"kind": "smt", "goals": shown}


def _row(goal: Goal, answers: Mapping[str, str]) -> dict[str, Json]:
    return {
        "name": goal.name,
        "role": goal.role,
        "theory": goal.theory.name,
        "assumptions": [" ".join(part.split()) for part in goal.assumptions],
        "conclusion": " ".join(goal.conclusion.split()),
        "smtlib_sha256": sha256(goal.script().encode()).hexdigest(),
        "answers": dict(answers),
    }


def _answers(goals: Sequence[Goal]) -> list[dict[str, str]]:
    """Every solver's answer to every goal."""
    asked = _Solvers()
    return [{name: asked.answer(name, goal) for name in SOLVERS} for goal in goals]


def _refusal(goals: Sequence[Goal]) -> str | None:
    """The first answer that proves its goal not, in words; None if every solver proves every goal.

    Raises:
        MethodError: a solver could not read a goal, which tells nothing about it.
    """
    asked = _Solvers()
    for goal in goals:
        for name in SOLVERS:
            answer = asked.answer(name, goal)
            if answer.startswith(ERROR):
                raise MethodError(f"goal {goal.name!r} must be one that {name} reads, got {answer}")
            if answer != "unsat":
                return f"{name} does not prove {goal.name!r} ({answer})"
    return None


class _Solvers:
    """The solvers, each opened once for each theory."""

    def __init__(self) -> None:
        self._opened: dict[tuple[str, int], Ask] = {}

    def answer(self, name: str, goal: Goal) -> str:
        """The solver's answer to the goal: sat, unsat, unknown or an error."""
        key = (name, id(goal.theory))
        try:
            if key not in self._opened:
                self._opened[key] = SOLVERS[name]()
            return self._opened[key](goal.script())
        except CertiformerError:
            raise
        except Exception as error:  # whatever a solver raises, it proved nothing
            return f"{ERROR} {type(error).__name__}: {str(error).strip()[:200]}"


def _theories(goals: Sequence[Goal]) -> list[Json]:
    theories = {goal.theory.name: goal.theory for goal in goals}
    return [
        {
            "name": theory.name,
            "axioms": [
                {"name": a.name, "gloss": a.gloss, "formula": " ".join(a.formula.split())}
                for a in theory.axioms
            ],
        }
        for theory in theories.values()
    ]


def _shortcoming(
    rows: Sequence[dict[str, Json]], failures: Sequence[str], idle: Sequence[str]
) -> str | None:
    """Why the goals do not settle the claim, or None if they do."""
    if failures:
        return f"false on real objects of the code: {'; '.join(failures)}"
    if idle:
        return f"assumptions that no real object met: {'; '.join(idle)}"
    for row in rows:
        answers: dict[str, str] = row["answers"]
        if set(answers.values()) != {"unsat"}:
            said = ", ".join(f"{name} {answer}" for name, answer in answers.items())
            return f"goal {row['name']!r} needs unsat from every solver, got {said}"
    return None
