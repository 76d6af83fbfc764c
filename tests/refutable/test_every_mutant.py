"""Every mutant of the suite is refuted by an instance check, which shows a witness."""

from __future__ import annotations

from pathlib import Path

import pytest

from verify.loading import load_file

refuting = load_file(Path(__file__).with_name("refuting.py"))


@pytest.mark.parametrize("name", sorted(refuting.our_mutants()))
def test_the_instance_checks_refute_each_mutant_with_a_witness(name: str) -> None:
    refuting.require_refuted(name)
