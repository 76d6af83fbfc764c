"""Every mutant of the bound by runs is refuted by a network; no solver proves a broken rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from verify.loading import load_file
from verify.verdicts import Status

refuting = load_file(Path(__file__).with_name("refuting.py"))
RUNS = "lowerbounds.pieces.runs"
UNSEEN = f"twin.{RUNS}.third_neuron"
"""Wrong at widths of which the theory is given no network, and left to the instance check."""
SEEN = sorted(
    name for name, item in refuting.our_mutants().items() if item.of == RUNS and name != UNSEEN
)


@pytest.mark.parametrize("name", SEEN)
def test_no_solver_proves_a_broken_rule(name: str) -> None:
    assert refuting.proof_of(name).status is Status.UNKNOWN


def test_only_networks_notice_a_bound_in_the_code_that_the_theory_never_meets() -> None:
    assert refuting.proof_of(UNSEEN).status is Status.PROVED


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (RUNS, "stairs, D = 1, w = 1, S = 1: at most 1 runs are required, got 2"),
        (f"{RUNS}.sum", "folds, D = 3, w = 2, S = 8: at most 7 runs are required, got 9"),
        (f"{RUNS}.single", "zigzag, D = 1, w = 1, S = 2: 2 runs of at most 1 counts cannot hold 3"),
        (f"{RUNS}.third_neuron", "stairs, D = 1, w = 3, S = 3: at most 3 runs are required, got 4"),
        (f"{RUNS}.two_bends", "clip, D = 1, w = 2, S = 12: at most 3 runs are required, got 4"),
    ],
)
def test_the_witness_says_what_fails(name: str, text: str) -> None:
    (verdict,) = (v for _, v in refuting.settled(f"twin.{name}"))
    assert verdict.evidence["text"].startswith(text)
