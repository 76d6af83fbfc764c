"""Every mutant about evaluation through tables is refuted by a model, strings and a seed."""

from __future__ import annotations

from pathlib import Path

import pytest

from verify.claims import load_file

pytest.importorskip("torch")
refuting = load_file(Path(__file__).with_name("refuting.py"))
MUTANTS = refuting.ids_in("constructions.learning.mutants.evaluation")


@pytest.mark.parametrize("name", MUTANTS)
def test_the_check_refutes_each_mutant_with_a_witness(name: str) -> None:
    refuting.require_refuted(name)
