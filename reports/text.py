"""What the terminal shows, as lines of plain text; nothing here prints."""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from reports.record import outcome_of
from reports.running import Run
from reports.tables import Line, Table, columns
from verify.claims import Claim
from verify.run import Outcome
from verify.verdicts import Json, Status

REASON_WIDTH = 240
COUNTEREXAMPLE_WIDTH = 4000
TAPE_WIDTH = 120


def printable(text: str, most: int | None = None) -> str:
    r"""One line cut to `most` characters, in which nothing steers a terminal.

    Control characters, those that turn the direction of writing (U+202E and its kin), and all
    else that has no shape of its own are shown as escapes, such as \x1b and \u202e.
    """
    line = "".join(c if c.isprintable() else " " if c.isspace() else _escape(c) for c in text)
    return line if most is None or len(line) <= most else line[: most - 1] + "…"


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def outcome_line(outcome: Outcome) -> str:
    """A settled check in one line."""
    verdict = outcome.verdict
    line = (
        f"{outcome.claim.id} {outcome.method} {verdict.status.name} "
        f"{verdict.instances} instances {outcome.seconds:.1f} s"
    )
    if outcome.reused:
        line += f", {outcome.reused} of {outcome.shards} shards from the ledger"
    reason = reason_of(verdict.evidence)
    return printable(f"{line}: {reason}" if reason else line, REASON_WIDTH)


def reason_of(evidence: Mapping[str, Json]) -> str:
    """Why a check settled badly, or nothing."""
    return str(evidence.get("reason") or evidence.get("text") or "")


def claim_table(record: Mapping[str, Json]) -> Table:
    """All claims of a record: id, status, standing, expected, and how these compare."""
    rows = [("claim", "status", "standing", "expected", "")]
    rows += [
        (c["id"], c["status"], c["standing"], c["expected"], outcome_of(c))
        for c in record["claims"]
    ]
    return Table(rows=rows, statuses=(1, 2, 3, 4))


def shortfalls(record: Mapping[str, Json]) -> Iterator[str]:
    """For each claim that is not as expected, what stands in the way."""
    claims: dict[str, Mapping[str, Json]] = {c["id"]: c for c in record["claims"]}
    for claim in claims.values():
        if outcome_of(claim) == "ok":
            continue
        expected = Status[claim["expected"]]
        for index, check in enumerate(claim["checks"]):
            status = Status[check["status"]]
            if status <= Status.UNKNOWN or (check["covers"] and status < expected):
                why = reason_of(check["evidence"]) or "its method reaches no further"
                line = f"{claim['id']}: check {index} ({check['method']}) {status.name}: {why}"
                yield printable(line, COUNTEREXAMPLE_WIDTH)
        for used in claim["uses"]:
            if used in claims and Status[claims[used]["standing"]] < expected:
                yield f"{claim['id']}: uses {used}, which is {claims[used]['standing']}"


def run_lines(record: Mapping[str, Json], run: Run) -> Iterator[Line]:
    """What a run came to: all claims, what stands in the way of some, and the whole in one line."""
    yield claim_table(record)
    if lines := list(shortfalls(record)):
        yield from ["", *lines]
    yield from ["", summary(record, run)]


def summary(record: Mapping[str, Json], run: Run) -> str:
    """The run in one line."""
    claims: Sequence[Mapping[str, Json]] = record["claims"]
    good = sum(outcome_of(claim) == "ok" for claim in claims)
    count = Counter(claim["standing"] for claim in claims)
    standings = ", ".join(
        f"{count[status.name]} {status.name}" for status in reversed(Status) if count[status.name]
    )
    head = "interrupted: " if run.interrupted else ""
    tail = f" ({standings})" if standings else ""
    known = f", {run.reused} of {run.shards} shards from the ledger" if run.reused else ""
    return f"{head}{good} of {len(claims)} claims as expected{tail} in {run.seconds:.1f} s{known}"


def claim_list(claims: Sequence[Claim]) -> Table:
    """Claims with what is expected of them and where their papers state them.

    On a terminal the statements stand in full below their rows.
    """
    statements = [printable(item.statement) for item in claims]
    rows = [
        (
            item.id,
            item.expected.name,
            printable(item.source.paper),
            printable(item.source.where),
            textwrap.shorten(statement, 100, placeholder=" …"),
        )
        for item, statement in zip(claims, statements, strict=True)
    ]
    return Table(
        rows=[("claim", "expected", "paper", "where", "statement"), *rows],
        shortened=(3, 2),
        statuses=(1,),
        texts=("", *statements),
    )


def counterexample(outcome: Outcome) -> list[str]:
    """A refuted check's counterexample, in words and as data."""
    evidence = outcome.verdict.evidence
    return [
        f"{outcome.claim.id}: counterexample after {evidence.get('tried', '?')} examples",
        f"  {printable(str(evidence.get('text', '')), COUNTEREXAMPLE_WIDTH)}",
        "  " + json.dumps(evidence.get("counterexample"), sort_keys=True, ensure_ascii=True),
    ]


def fuzz_lines(run: Run, command: str) -> Iterator[Line]:
    """What a search tried and found, and the command that finds it again."""
    outcomes = [(outcome, outcome.verdict) for outcome in run.outcomes]
    rows = [
        (
            outcome.claim.id,
            verdict.status.name,
            f"{verdict.instances} examples",
            printable(reason_of(verdict.evidence)),
        )
        for outcome, verdict in outcomes
    ]
    yield Table(rows=rows, shortened=(3,), statuses=(1,))
    refuted = [outcome for outcome, verdict in outcomes if verdict.status is Status.REFUTED]
    for outcome in refuted:
        yield from ["", *counterexample(outcome)]
    if refuted:
        yield from ["", f"reproduce: {command}"]
    tried = sum(verdict.instances for _, verdict in outcomes)
    rate = tried / run.seconds if run.seconds else 0.0
    yield from ["", f"{tried} examples in {run.seconds:.1f} s, {rate:.0f} examples per second"]


def levels_table(report: Mapping[str, Json]) -> list[str]:
    """The report of `run --json` for people."""
    lines = columns(
        [
            ("machine", printable(str(report["machine"]))),
            ("halted", "yes" if report["halted"] else "no, it reached the step limit"),
            ("steps", f"{report['steps']:,}"),
            ("levels agree", "yes" if report["agree"] else "NO"),
        ]
    )
    rows = [
        (
            level,
            name.replace("_", " "),
            f"{value:,}" if isinstance(value, int) else printable(str(value), TAPE_WIDTH),
        )
        for level, figures in report["levels"].items()
        for name, value in figures.items()
    ]
    return [*lines, "", *columns([("level", "figure", "value"), *rows])]
