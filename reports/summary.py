"""What `verify --json` and `fuzz --json` print: what a run came to, for a script."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from reports.html import INDEX
from reports.record import RECORD, outcome_of
from reports.running import Run
from reports.text import reason_of, shortfalls
from verify.verdicts import Json


def of_verify(record: Mapping[str, Json], run: Run, folder: Path, status: int) -> dict[str, Json]:
    """The counts, where everything lies, and each claim with what it came to.

    `reasons` says for all that is not as expected what stands in the way.
    """
    claims: Sequence[Mapping[str, Json]] = record["claims"]
    return {
        "exit_status": status,
        "interrupted": run.interrupted,
        "seconds": round(run.seconds, 3),
        "profile": record["profile"],
        "seed": record["seed"],
        "selectors": record["selectors"],
        "claims_as_expected": sum(outcome_of(claim) == "ok" for claim in claims),
        "standings": dict(Counter(claim["standing"] for claim in claims)),
        "shards": run.shards,
        "shards_from_the_ledger": run.reused,
        "folder": str(folder),
        "record": str(folder / RECORD),
        "page": str(folder / INDEX),
        "claims": [
            {
                **{name: claim[name] for name in ("id", "status", "standing", "expected")},
                "outcome": outcome_of(claim),
            }
            for claim in claims
        ],
        "reasons": list(shortfalls(record)),
    }


def of_fuzz(run: Run, command: str, status: int) -> dict[str, Json]:
    """What each search tried and found, and the command that finds it again."""
    return {
        "exit_status": status,
        "interrupted": run.interrupted,
        "seconds": round(run.seconds, 3),
        "tried": sum(outcome.verdict.instances for outcome in run.outcomes),
        "reproduce": command,
        "checks": [
            {
                "claim": outcome.claim.id,
                "check": outcome.check,
                "status": outcome.verdict.status.name,
                "tried": outcome.verdict.instances,
                "reason": reason_of(outcome.verdict.evidence) or None,
                "counterexample": outcome.verdict.evidence.get("counterexample"),
            }
            for outcome in run.outcomes
        ],
    }
