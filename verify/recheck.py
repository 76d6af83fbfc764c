"""Recheck the certificates of a run, from plain definitions of its own.

    python -I verify/recheck.py DIR [--solver NAME] [--jobs N] [--seconds S]

Standard library only; what certificates show is checked by `verify/definitions/`, and nothing
else of the project is imported, so an error there cannot hide here. Four outcomes per
certificate: accepted; rejected; partly (what was rechecked is said); not rechecked (why). Exit
status: 1 if anything was rejected, 3 if a certificate is missing or cannot be read, else 0; 2 for
wrong usage.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

if not __package__:  # run as a file: with -I nothing of ours could be found otherwise
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from verify.definitions import CERTAINTY, EXHIBITS
from verify.definitions.plain import RejectedError, expand, require, without_zeros
from verify.definitions.reading import (
    UnreadableError,
    canonical,
    fields_of,
    read_bytes,
    unread,
    value_of,
)

RECORD_SCHEMA = "certiformer/record/1"
SCHEMA = "certiformer/certificate/2"
FIELDS = {"schema", "kind", "claim", "statement", "construction", "inputs", "content"}
STATUSES = ("BROKEN", "REFUTED", "UNKNOWN", "SAMPLED", "BOUNDED", "PROVED")
SHOWN = ("REFUTED", "BOUNDED", "PROVED")
"""What a check may not be without a certificate."""
CERTIFICATE_SECONDS = 900
SOLVER_SECONDS = 120
"""Per goal."""
ACCEPTED = "accepted"
REJECTED = "rejected"
PARTLY = "partly"
NOT_RECHECKED = "not rechecked"
UNREADABLE = "unreadable"
OUTCOMES = (ACCEPTED, PARTLY, NOT_RECHECKED, REJECTED, UNREADABLE)

Outcome = tuple[str, str]


# --- kinds of certificates -------------------------------------------------------------------


@dataclass(frozen=True)
class Item:
    """One certificate, with what the record says of its check."""

    content: dict[str, Any]
    check: dict[str, Any]
    solver: str | None

    def fields(self, *names: str) -> list[Any]:
        """The content's fields; there must be these and no others."""
        require(set(self.content) == set(names), f"fields {sorted(self.content)} are not {names}")
        return [self.content[name] for name in names]


def recheck_identity(item: Item) -> Outcome:
    """Expand both sides of every equation."""
    (equations,) = item.fields("equations")
    require(len(equations) == item.check["instances"], "another number of equations")
    for equation in equations:
        commutative = equation["commutative"]
        require(type(commutative) is bool, "an equation must say whether its symbols commute")
        left, right = (
            without_zeros(expand(equation[side], commutative)) for side in ("left", "right")
        )
        require(left == right, f"the sides of {equation['name']!r} differ")
    names = [equation["name"] for equation in equations]
    require(names == item.check["evidence"]["equations"], "the record names other equations")
    return ACCEPTED, f"{len(equations)} identities expanded"


def recheck_smt(item: Item) -> Outcome:
    """The goals are the record's; a solver is asked only if one is named."""
    (goals,) = item.fields("goals")
    stated = [(row["name"], row["smtlib_sha256"]) for row in item.check["evidence"]["goals"]]
    given = [(goal["name"], sha256(goal["smtlib"].encode()).hexdigest()) for goal in goals]
    require(stated == given, "the goals are not those of the record")
    require(len(goals) == item.check["instances"] > 0, "another number of goals than recorded")
    for goal in goals:
        require(goal["smtlib"].count("(check-sat)") == 1, "a goal must ask once")
    if item.solver is None:
        return NOT_RECHECKED, f"{len(goals)} SMT goals need --solver NAME"
    answers = ask(item.solver, [goal["smtlib"] for goal in goals])
    for goal, answer in zip(goals, answers, strict=True):
        require(answer == "unsat", f"{item.solver} answers {answer!r} to {goal['name']!r}")
    return ACCEPTED, f"{len(goals)} goals found valid by {item.solver}"


def _exhibits(kind: str, exhibits: Any) -> Outcome:
    """Every instance by plain definitions, which say what they leave out of one, if anything."""
    if not kind:
        return NOT_RECHECKED, "the claim names no definitions"
    require(kind in EXHIBITS, f"there are no definitions {kind!r}")
    check = EXHIBITS[kind]
    left: list[str] = []
    for number, exhibit in enumerate(exhibits):
        try:
            said = check(exhibit)
        except RejectedError as error:
            raise RejectedError(f"instance {number}: {error}") from error
        left += [f"instance {number}: {said}"] if said else []
    words = f"{len(exhibits)} instances by the definitions of {kind!r}{CERTAINTY.get(kind, '')}"
    return (PARTLY, "; ".join([words, *left])) if left else (ACCEPTED, words)


def recheck_exhaustive(item: Item) -> Outcome:
    """Every instance that the certificate shows, by plain definitions."""
    kind, exhibits = item.fields("rechecked_as", "instances")
    require(len(exhibits) == item.check["instances"] > 0, "another number of instances")
    return _exhibits(kind, exhibits)


def recheck_sampled(item: Item) -> Outcome:
    """The instances that a search shows; the search itself has no certificate."""
    kind, exhibits, tried, seed = item.fields("rechecked_as", "instances", "tried", "seed")
    evidence = item.check["evidence"]
    said = [evidence[name] for name in ("tried", "seed", "shown")]
    require([tried, seed, len(exhibits)] == said, "another search than recorded")
    require(tried == item.check["instances"], "another number of instances than recorded")
    outcome, words = _exhibits(kind, exhibits)
    words = f"{words}; the other {tried - len(exhibits)} tried are not shown"
    return PARTLY if kind else outcome, words


def recheck_counterexample(item: Item) -> Outcome:
    """The failing object is shown again, and the plain definitions must fail on it."""
    instance, text, kind, exhibit = item.fields("instance", "text", "rechecked_as", "exhibit")
    evidence = item.check["evidence"]
    same = (instance, text) == (evidence["counterexample"], evidence["text"])
    require(same, "another counterexample than recorded")
    require(not kind or kind in EXHIBITS, f"there are no definitions {kind!r}")
    if not kind or exhibit is None:
        return NOT_RECHECKED, "the claim names no definitions, or its object is too broken to show"
    try:
        EXHIBITS[kind](exhibit)
    except RejectedError as error:
        return ACCEPTED, f"the definitions of {kind!r} fail on it: {error}"
    return NOT_RECHECKED, f"the definitions of {kind!r} do not see the fault"


def recheck_enclosure(item: Item) -> Outcome:
    """Fields are compared; instances are enclosed anew where their definitions are known here."""
    kind = item.content.get("rechecked_as", "")
    named = ("rechecked_as",) if kind else ()
    margin, bits, exhibits = item.fields("margin", "bits", "instances", *named)[:3]
    evidence = item.check["evidence"]
    require(len(exhibits) == item.check["instances"] > 0, "another number of instances")
    require(len(exhibits) == evidence["checked"], "another number of instances than checked")
    stated = (evidence["margin"], evidence["bits"])
    require((margin, bits) == stated, "another margin or precision than recorded")
    if not kind:
        return NOT_RECHECKED, f"{len(exhibits)} instances need special functions"
    return _exhibits(kind, exhibits)


def recheck_floating(item: Item) -> Outcome:
    """The trials are the record's; figures have no certificate."""
    *said, exhibits = item.fields("tried", "seed", "bound", "held", "instances")
    evidence = item.check["evidence"]
    require(len(exhibits) == item.check["instances"], "another number of trials than recorded")
    require(
        said == [evidence[name] for name in ("tried", "seed", "bound", "held")],
        "other trials or bounds than recorded",
    )
    held: dict[str, int] = {}
    for exhibit in exhibits:
        place = f"{exhibit['dtype']} on {exhibit['device']}"
        held[place] = held.get(place, 0) + 1
    require(held == evidence["held"], "other dtypes or devices than recorded")
    return NOT_RECHECKED, "floating-point runs are repeated by verify, not here"


KINDS: dict[str, tuple[str, Callable[[Item], Outcome]]] = {
    "identity": ("PROVED", recheck_identity),
    "smt": ("PROVED", recheck_smt),
    "witness": ("PROVED", recheck_exhaustive),
    "exhaustive": ("BOUNDED", recheck_exhaustive),
    "enclosure": ("BOUNDED", recheck_enclosure),
    "sampled": ("SAMPLED", recheck_sampled),
    "floating": ("SAMPLED", recheck_floating),
    "counterexample": ("REFUTED", recheck_counterexample),
}
"""What a certificate of each kind shows at most, and how it is rechecked."""


# --- solvers ---------------------------------------------------------------------------------

MODULES = {
    "z3": """
import json, sys, z3
for script in json.load(sys.stdin):
    solver = z3.SimpleSolver(ctx=z3.Context())
    solver.set("timeout", 1000 * int(sys.argv[1]))
    solver.from_string(script)
    print(solver.check(), flush=True)
""",
    "cvc5": """
import json, sys, cvc5
for script in json.load(sys.stdin):
    solver = cvc5.Solver(cvc5.TermManager())
    solver.setOption("enum-inst", "true")
    solver.setOption("tlimit-per", str(1000 * int(sys.argv[1])))
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, script, "goal")
    symbols = parser.getSymbolManager()
    answers = []
    while not (command := parser.nextCommand()).isNull():
        answers.append(str(command.invoke(solver, symbols)).strip())
    print(next((a for a in answers if a), "none"), flush=True)
""",
}


def as_module(solver: str) -> bool:
    """Whether a solver is asked through its Python module."""
    return solver in MODULES and find_spec(solver) is not None


def ask(solver: str, scripts: Sequence[str]) -> list[str]:
    """A solver's answers to scripts, from child processes: one for all if it is a module."""
    if not as_module(solver):
        return [_ask_binary(solver, script) for script in scripts]
    command = [sys.executable, "-c", MODULES[solver], str(SOLVER_SECONDS)]
    said, code = _child(command, json.dumps(scripts), SOLVER_SECONDS * len(scripts))
    answers = said.splitlines()[: len(scripts)]
    return answers + [code or "no answer"] * (len(scripts) - len(answers))


def _ask_binary(solver: str, script: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "goal.smt2"
        file.write_text(script)
        said, code = _child([solver, str(file)], script, SOLVER_SECONDS)
    return said.strip() or code or "no answer"


def _child(command: list[str], text: str, seconds: float) -> tuple[str, str]:
    """What a child process prints, and how it ended if not well."""
    try:
        done = subprocess.run(
            command, input=text, capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return "", f"no answer in {seconds} s"
    except OSError as error:
        return "", f"cannot be started: {error.strerror}"
    return done.stdout, f"exit status {done.returncode}" if done.returncode else ""


# --- one certificate -------------------------------------------------------------------------


def inputs_of(record: Any, number: int, check: Any) -> str:
    """The hash of what a check was given: profile, seed, place, method and scope."""
    given = {name: record[name] for name in ("profile", "seed")}
    given |= {"check": number, "method": check["method"], "scope": check["scope"]}
    return sha256(canonical(given)).hexdigest()


def recheck_file(path: Path, record: Any, claim: Any, number: int, solver: str | None) -> Outcome:
    """One certificate against what the record says of its claim and check."""
    try:
        data = read_bytes(path)
        require(path.stem == sha256(data).hexdigest(), "its name is not the hash of its bytes")
        value = value_of(data)
        require(data == canonical(value), "it is not in canonical form")
        return _recheck_body(fields_of(value), record, claim, number, solver)
    except UnreadableError as error:
        return UNREADABLE, str(error)
    except RejectedError as error:
        return REJECTED, str(error)
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        return REJECTED, f"it is malformed: {type(error).__name__}: {error}"
    except (TimeoutError, MemoryError, RecursionError) as error:
        return REJECTED, f"it is too large to be rechecked: {type(error).__name__}: {error}"


def _recheck_body(
    body: dict[str, Any], record: Any, claim: Any, number: int, solver: str | None
) -> Outcome:
    check = claim["checks"][number]
    schema = body.get("schema")
    require(schema == SCHEMA, f"its schema is {schema!r}, not {SCHEMA!r}: another version made it")
    require(set(body) == FIELDS, "it has other fields than a certificate")
    require(body["claim"] == claim["id"], f"it belongs to claim {body['claim']!r}")
    statement = sha256(claim["statement"].encode()).hexdigest()
    require(body["statement"] == statement, "it belongs to another statement")
    same = body["construction"] == claim["construction"]
    require(same, "it was made by another version of the sources")
    require(body["inputs"] == inputs_of(record, number, check), "its check had other inputs")
    if body["kind"] not in KINDS:
        raise RejectedError(f"its kind {body['kind']!r} is unknown")
    most, recheck = KINDS[body["kind"]]
    fits = body["kind"] in (check["method"], "counterexample")
    require(fits, f"its kind {body['kind']!r} is not the check's method {check['method']!r}")
    require(check["status"] == most, f"it shows {most}, the record says {check['status']}")
    outcome, words = recheck(Item(body["content"], check, solver))
    opaque = body["kind"] == "counterexample" or (
        outcome == NOT_RECHECKED and body["kind"] != "smt"
    )
    left = [] if opaque else unread(body["content"])
    require(not left, f"without a meaning: {', '.join(left)}")
    return outcome, words


# --- the run ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Task:
    """One certificate to be rechecked, with all that is needed for it."""

    what: str
    path: Path
    record: dict[str, Any]
    claim: dict[str, Any]
    number: int
    solver: str | None
    seconds: int


def recheck_task(task: Task) -> Outcome:
    """Recheck one certificate within its time."""
    with limited(task.seconds):
        return recheck_file(task.path, task.record, task.claim, task.number, task.solver)


@contextmanager
def limited(seconds: int) -> Generator[None, None, None]:
    """A TimeoutError after so many seconds, in the main thread of a process."""

    def end(number: int, frame: FrameType | None) -> None:
        del number, frame
        raise TimeoutError(f"more than {seconds} s; --seconds allows more")

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def read_record(folder: Path) -> dict[str, Any]:
    """The record of a run's folder."""
    record = fields_of(value_of(read_bytes(folder / "record.json")))
    if record.get("schema") != RECORD_SCHEMA:
        raise UnreadableError(f"is not a record of schema {RECORD_SCHEMA}")
    return record


def misjudged(record: Any) -> Iterator[tuple[str, str]]:
    """Claims whose status or standing does not follow from what the record says of their checks."""
    rank = {name: place for place, name in enumerate(STATUSES)}
    by_id = {claim["id"]: claim for claim in record["claims"]}
    standing: dict[str, int] = {}

    def stands(name: str, trail: tuple[str, ...]) -> int:
        require(name not in trail, "it rests on itself")
        require(name in by_id, f"it rests on {name!r}, of which nothing is said")
        if name not in standing:
            claim = by_id[name]
            below = [stands(used, (*trail, name)) for used in claim["uses"]]
            standing[name] = min([rank[claim["status"]], *below])
        return standing[name]

    for name, claim in by_id.items():
        reached = [(check["covers"], rank[check["status"]]) for check in claim["checks"]]
        covering = max((status for covers, status in reached if covers), default=2)
        worst = min((status for _, status in reached), default=2)
        status = worst if worst < rank["UNKNOWN"] else covering
        try:
            require(claim["status"] == STATUSES[status], f"its checks show {STATUSES[status]}")
            rests = stands(name, ())
            require(claim["standing"] == STATUSES[rests], f"it rests on what is {STATUSES[rests]}")
        except RejectedError as error:
            yield f"claim {name}", str(error)


def recheck_run(
    folder: Path, solver: str | None, jobs: int = 1, seconds: int = CERTIFICATE_SECONDS
) -> Iterator[tuple[str, str, str]]:
    """(what, outcome, words) for every certificate that the record names or the folder holds."""
    record = read_record(folder)
    tasks: list[Task] = []
    facts = {name: record[name] for name in ("profile", "seed")}
    for what, words in misjudged(record):
        yield what, REJECTED, words
    for claim in record["claims"]:
        for number, check in enumerate(claim["checks"]):
            what, where = f"{claim['id']} check {number} ({check['method']})", check["certificate"]
            if where is None:
                if check["status"] in SHOWN:
                    yield what, REJECTED, f"it is {check['status']} without a certificate"
            elif Path(where).parent != Path("certificates"):
                yield what, REJECTED, f"{where} lies outside certificates/"
            else:
                tasks.append(Task(what, folder / where, facts, claim, number, solver, seconds))
    for task, (outcome, words) in zip(tasks, _done(tasks, jobs), strict=True):
        yield task.what, outcome, words
    named = {task.path.name for task in tasks}
    for extra in sorted(p.name for p in (folder / "certificates").glob("*") if p.name not in named):
        yield f"certificates/{extra}", REJECTED, "no check of the record names it"


def _done(tasks: Sequence[Task], jobs: int) -> Iterator[Outcome]:
    if jobs == 1:
        yield from map(recheck_task, tasks)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as executor:
        yield from executor.map(recheck_task, tasks)


class Arguments(argparse.ArgumentParser):
    """Arguments whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """What was wrong, what is required, and exit status 2."""
        sys.stderr.write(
            f"recheck: {message}; required: recheck.py DIR [--solver NAME] [--jobs N] "
            "[--seconds S] [--json]\n"
        )
        raise SystemExit(2)


def asked(arguments: Sequence[str]) -> argparse.Namespace:
    """The arguments, read."""
    parser = Arguments(prog="recheck.py", allow_abbrev=False)
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--solver", metavar="NAME")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N")
    parser.add_argument("--seconds", type=int, default=CERTIFICATE_SECONDS, metavar="S")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    for name in ("jobs", "seconds"):
        if getattr(given, name) < 1:
            parser.error(f"--{name} must be at least 1, got {getattr(given, name)}")
    solver: str | None = given.solver
    if solver is not None and not (as_module(solver) or shutil.which(solver)):
        parser.error(f"--solver must name z3, cvc5 or a binary on PATH, got {solver!r}; install it")
    return given


def shown(text: str) -> str:
    """A record's text in one line that cannot steer a terminal."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def say(line: str) -> None:
    """Print a line; a reader that went away changes neither work nor exit status."""
    try:
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def main(arguments: Sequence[str]) -> int:
    """Report every certificate and return the exit status."""
    given = asked(arguments)
    counts: dict[str, int] = dict.fromkeys(OUTCOMES, 0)
    try:
        found = recheck_run(given.folder, given.solver, given.jobs, given.seconds)
        for what, outcome, words in found:
            counts[outcome] += 1
            row = {"outcome": outcome, "what": what, "words": words}
            say(json.dumps(row) if given.json else f"{outcome:13} {shown(f'{what}: {words}')}")
    except (UnreadableError, LookupError, TypeError, AttributeError) as error:
        sys.stderr.write(f"recheck: {given.folder}/record.json {error}; run verify first\n")
        return 2
    told = ", ".join(f"{count} {name}" for name, count in counts.items())
    say(json.dumps({"counts": counts}) if given.json else told)
    if counts[REJECTED]:
        return 1
    return 3 if counts[UNREADABLE] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
