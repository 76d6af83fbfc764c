"""The commands that check claims: list, verify, fuzz."""

from __future__ import annotations

import datetime
import json
import os
import shlex
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from reports import help
from reports.cluster import Cluster, cluster_at
from reports.options import Jobs, Memory, Scheduler, Seconds, Seed, Selector, Selectors
from reports.progress import progress, stages
from reports.record import Recorded
from reports.running import Run, ledger_at, run_checks
from reports.selection import Selection, select
from reports.terminal import BROKEN, INTERRUPTED, REFUTED, AsJson, show, uninterrupted
from verify.claims import Setting
from verify.errors import UsageError
from verify.ledger import LEDGER, Ledger
from verify.verdicts import Status
from verify.worker import Limits


class ProfileName(StrEnum):
    """How much a run checks."""

    quick = "quick"
    standard = "standard"
    deep = "deep"


def list_claims(selectors: Selectors = None, as_json: AsJson = False) -> None:
    """List claims, what is expected of them, and where their papers state them."""
    from reports.record import claim_json
    from reports.text import claim_list

    chosen = select(selectors or []).chosen
    if as_json:
        show([json.dumps([claim_json(item) for item in chosen], indent=1)])
    else:
        show([claim_list(chosen)])


def verify(
    selectors: Selectors = None,
    profile: Annotated[
        ProfileName, typer.Option(help="How much is checked.")
    ] = ProfileName.standard,
    jobs: Jobs = None,
    seed: Seed = 0,
    out: Annotated[Path, typer.Option(help="Folder for the record and its pages.")] = Path(
        "reports/out"
    ),
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Settle anew what the folder's ledger holds.")
    ] = False,
    proofs: Annotated[
        bool, typer.Option("--proofs", help="Also keep cvc5's own proofs; nothing checks them.")
    ] = False,
    seconds: Seconds = 600.0,
    memory: Memory = 4096,
    scheduler: Scheduler = None,
    as_json: AsJson = False,
) -> None:
    """Settle claims and all that they use; write the record, its certificates and its pages.

    What an earlier run into the folder settled, with the same sources, is not settled again.
    """
    from reports import record as records
    from reports import summary, text
    from reports.environment import Circumstances
    from reports.folder import FILES, write_run
    from reports.html import INDEX
    from reports.output import require_writable

    selection = select(selectors or [])
    setting = Setting(profile=profile.value, seed=seed)
    asked = Circumstances(
        started=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        jobs=_jobs(jobs, scheduler),
        limits=Limits(seconds=seconds, bytes=memory << 20),
    )
    with cluster_at(scheduler, selection.claims) as cluster:
        require_writable(out, (*FILES, LEDGER))
        with ledger_at(out / LEDGER, fresh=fresh) as ledger:
            run = _run(selection, setting, asked.limits, asked.jobs, ledger=ledger, cluster=cluster)
    recorded = records.build(selection, setting, run.outcomes)
    try:
        with stages() as tell:
            uninterrupted(lambda: write_run(out, recorded, run, asked, tell))
    finally:
        if not as_json:
            show(text.run_lines(recorded.record, run))
    proved = _proofs(out, recorded, asked.jobs) if proofs and not run.interrupted else None
    status = INTERRUPTED if run.interrupted else records.exit_status(recorded.record)
    if as_json:
        found = summary.of_verify(recorded.record, run, out, status)
        show([json.dumps(found if proved is None else {**found, "proofs": proved}, indent=1)])
    else:
        show([*([] if proved is None else [proved]), str(out / INDEX)])
    raise typer.Exit(status)


def _proofs(out: Path, recorded: Recorded, jobs: int) -> str:
    """Keep cvc5's proofs of all goals, and say how many it has."""
    from reports.proofs import PROOFS, keep

    with stages() as tell:
        tell("asking cvc5 for its proofs")
        kept = keep(out, recorded.certificates, jobs)
    words = f"{kept.proved} of {kept.goals} goals have a proof of cvc5's in {out / PROOFS}"
    return f"{words} ({kept.bytes >> 10} KiB); nothing here checks them"


def fuzz(
    selector: Selector,
    examples: Annotated[int, typer.Option(min=1, help="Examples for each search.")],
    seed: Seed = 0,
    jobs: Jobs = None,
    seconds: Seconds = 600.0,
    memory: Memory = 4096,
    scheduler: Scheduler = None,
    as_json: AsJson = False,
) -> None:
    """Search for counterexamples with the sampled checks of the selected claims alone."""
    from reports import summary
    from reports.text import fuzz_lines

    selection = select([selector])
    setting = Setting(seed=seed, examples=examples)
    limits = Limits(seconds=seconds, bytes=memory << 20)
    at_once = _jobs(jobs, scheduler)
    with cluster_at(scheduler, selection.chosen) as cluster:
        run = _run(selection, setting, limits, at_once, only="sampled", cluster=cluster)
    if not run.outcomes:
        raise UsageError(
            f"fuzz {selector}: a claim with a sampled check is required, got "
            f"{len(selection.chosen)} without one; choose another or use `certiformer verify`"
        )
    words = ["certiformer", "fuzz", selector, "--examples", str(examples), "--seed", str(seed)]
    command, status = shlex.join(words), INTERRUPTED if run.interrupted else _fuzz_status(run)
    if as_json:
        show([json.dumps(summary.of_fuzz(run, command, status), indent=1)])
    else:
        show(fuzz_lines(run, command))
    raise typer.Exit(status)


def _fuzz_status(run: Run) -> int:
    statuses = {outcome.verdict.status for outcome in run.outcomes}
    if statuses & {Status.BROKEN, Status.UNKNOWN}:
        return BROKEN
    return REFUTED if Status.REFUTED in statuses else 0


def _run(
    selection: Selection,
    setting: Setting,
    limits: Limits,
    jobs: int,
    *,
    only: str | None = None,
    ledger: Ledger | None = None,
    cluster: Cluster | None = None,
) -> Run:
    """Settle the selection under the eyes of whoever looks at stderr."""
    claims = selection.claims if only is None else selection.chosen
    methods = None if only is None else (only,)
    with progress() as watch:
        return run_checks(
            claims, setting, limits, jobs, watch, methods=methods, ledger=ledger, cluster=cluster
        )


def _jobs(jobs: int | None, scheduler: str | None) -> int:
    """How many checks at a time are settled here."""
    if jobs is not None and scheduler is not None:
        raise UsageError(
            f"--jobs {jobs}: must be left out with --scheduler, got both; a cluster's workers say "
            "how many they take, with `dask worker --nthreads`"
        )
    return jobs or os.cpu_count() or 1


def register(app: typer.Typer) -> None:
    """Add the commands to the application, in the order in which its help shows them."""
    help.add(
        app,
        "list",
        list_claims,
        panel=help.CHECK,
        short="List claims, and where their papers state them",
        shown=(
            ("certiformer list", "every claim of the three papers"),
            ("certiformer list 'machines.*'", "those of one paper; quote a glob"),
            ("certiformer list mine.py --json", "those of a file of yours, for a script"),
        ),
    )
    help.add(
        app,
        "verify",
        verify,
        panel=help.CHECK,
        short="Settle claims; write a record, certificates and pages",
        shown=(
            ("certiformer verify", "every claim, into reports/out"),
            (
                "certiformer verify universal.tree.identity --profile quick --out tree",
                "one claim and all that it uses, on few instances",
            ),
            ("certiformer verify mine.py --json", "a file of yours; what came out, for a script"),
            (
                "certiformer verify --profile deep --scheduler tcp://host:8786",
                "as much as a cluster can do",
            ),
        ),
    )
    help.add(
        app,
        "fuzz",
        fuzz,
        panel=help.CHECK,
        short="Search for counterexamples at random",
        shown=(
            (
                "certiformer fuzz machines.chain --examples 5000",
                "random machines at every level; a counterexample is shrunk, if there is one",
            ),
            (
                "certiformer fuzz 'universal.*' --examples 1000 --seed 7",
                "other examples than with seed 0",
            ),
        ),
    )
