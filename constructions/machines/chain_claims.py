"""Corollary 10 on a corpus: Turing machine, queue machine, parity-HIST and transformer at once.

Source: Sliding-Window Transformers Without Positional Encodings, Corollary 10.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from constructions.machines.compiled.run import run_levels
from constructions.machines.corpus import ChainCase, ChainInstance, Single, corpus
from constructions.machines.definitions import TuringMachine, Word
from constructions.machines.instances import MOST_TOKENS
from constructions.machines.levels import LevelsReport
from constructions.machines.random_machines import turing_cases
from constructions.machines.simulate import Constructions
from constructions.machines.words import PAPER
from verify.claims import Check, Source, claim, covers, supports
from verify.counterexamples import Counterexample
from verify.methods.exhaustive import Exhaustive
from verify.methods.sampled import Sampled
from verify.verdicts import Json, Status

LIBRARY = ("library:numba",)
RANDOM_RULES = 200


@lru_cache(maxsize=1)
def _reports(
    instance: ChainInstance, made: Constructions
) -> tuple[tuple[ChainCase, LevelsReport], ...]:
    """The runs of an instance; kept, since what was checked is shown next."""
    return tuple(
        (case, run_levels(case.machine, case.word, case.rules, constructions=made))
        for case in instance.cases()
    )


def chain_fails(made: Constructions) -> Callable[[ChainInstance], Counterexample | None]:
    """The obligation that four levels agree at every step, within bounds and as known before."""

    def holds(instance: ChainInstance) -> Counterexample | None:
        _reports.cache_clear()  # a replay runs the machines again
        for case, report in _reports(instance, made):
            trouble = report.disagreement or _unlike(case, report) or _beyond(report)
            if trouble:
                return Counterexample(
                    text=f"{case.machine.name} on {''.join(case.word) or 'no input'}: {trouble}",
                    instance=Single(case=case).as_json(),
                )
        return None

    return holds


def _unlike(case: ChainCase, report: LevelsReport) -> str:
    """How a run differs from what is known of it."""
    turing = report.turing
    if turing is None:
        return "the Turing machine was not run"
    for name, known, came in (
        ("rules", case.applied, turing.steps if report.halted else None),
        ("cells that are not blank", case.nonblank, turing.nonblank),
        ("tape", case.tape, turing.tape if report.halted else None),
    ):
        if known is not None and known != came:
            return f"its {name} must be {known}, got {came}"
    return ""


def _beyond(report: LevelsReport) -> str:
    """Which bound of Theorem 9 a run is beyond."""
    hist, tokens = report.hist, report.transformer
    if hist is None or tokens is None:
        return "the transformer was not run"
    if tokens.max_context > hist.max_window + 1:
        return f"a context of {tokens.max_context} tokens for windows of {hist.max_window}"
    if tokens.tokens > MOST_TOKENS * hist.steps:
        return f"{tokens.tokens} tokens for {hist.steps} steps"
    return ""


TOLD = ("name", "alphabet")
"""What a counterexample says of a machine and its table says anyway."""


def chain_exhibit(instance: ChainInstance) -> Json:
    """Kind `chain`: the machines, and the totals over their runs."""
    sums = dict.fromkeys(("halted", "rules_applied", "queue_steps", "tokens", "refreshes"), 0)
    widest, tape = 0, ""
    for _, report in _reports(instance, Constructions()):
        turing, queue, tokens = report.turing, report.queue, report.transformer
        if turing and queue and tokens:
            found = (report.halted, turing.steps, queue.steps, tokens.tokens, tokens.refreshes)
            for name, value in zip(sums, found, strict=True):
                sums[name] += value
            widest, tape = max(widest, tokens.max_context), turing.tape
    shown = {key: part for key, part in instance.as_json().items() if key not in TOLD}
    return {**shown, **sums, "max_context": widest, "last_tape": tape}


def chain_checks(made: Constructions | None = None) -> tuple[Check, ...]:
    """The corpus, and random machines of two to five states."""
    fails = chain_fails(made or Constructions())

    def random_single(drawn: tuple[TuringMachine, Word]) -> ChainInstance:
        machine, word = drawn
        return Single(case=ChainCase(machine=machine, word=word, rules=RANDOM_RULES))

    return (
        covers(
            Exhaustive(
                holds=fails,
                ranges={
                    "quick": corpus(two=193, three=600_011, rules=60, champion_rules=200),
                    "standard": corpus(two=61, three=150_001, rules=100, champion_rules=1_000),
                    "deep": corpus(two=1, three=601, rules=200, champion_rules=200_000),
                },
                rechecked_as="chain",
                exhibit=chain_exhibit,
                parts=8,
                leans_on=LIBRARY,
            )
        ),
        supports(
            Sampled(
                holds=fails,
                strategy=lambda: turing_cases().map(random_single),
                instances="machines of 2 to 5 states and 2 or 3 symbols on inputs of at most 5 "
                f"symbols, to {RANDOM_RULES} rules",
                examples={"quick": 100, "standard": 300, "deep": 100_000},
                rechecked_as="chain",
                exhibit=chain_exhibit,
                leans_on=("library:hypothesis", *LIBRARY),
            )
        ),
    )


@claim(
    id="machines.chain",
    source=Source(PAPER, "Corollary 10"),
    latex=r"\text{Turing} \to \text{queue} \to \text{parity-HIST} \to \text{transformer}",
    scope="a corpus of machines: families in lexical order, champions, textbook machines",
    uses=("machines.turing.queue", "machines.parity.step", "machines.window.ready"),
    expected=Status.BOUNDED,
)
def four_levels_agree_step_by_step() -> tuple[Check, ...]:
    """Turing machine, queue machine, parity-HIST and transformer agree step by step.

    The machines are those of the corpus.
    """
    return chain_checks()
