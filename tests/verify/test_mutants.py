"""Mutants are values beside claims: found by package or file, and seen by nothing that verifies."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from verify.claims import Check
from verify.errors import ClaimError
from verify.loading import claims_in, load_file
from verify.mutants import Mutant, mutant, mutants_in
from verify.verdicts import Status
from verify.worker import find_claim

FILE = """
from verify.mutants import mutant


@mutant(of="mine.one", breaks="rule", latex="n = 9")
def nine_is_small():
    '''Nine is small.'''
    return []


@mutant(of="mine.one", breaks="size", name="ten")
def ten_is_small():
    '''Ten is small.'''
    return []
"""


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    def to(text: str) -> Path:
        path = tmp_path / "mine.py"
        path.write_text(dedent(text), encoding="utf-8")
        return path

    return to


def test_a_mutant_names_the_claim_that_it_breaks_and_says_what_is_wrong(
    write: Callable[[str], Path],
) -> None:
    one, ten = mutants_in(load_file(write(FILE)))
    assert (one.claim.id, one.of, one.breaks) == ("twin.mine.one", "mine.one", "rule")
    assert (ten.claim.id, ten.of, ten.breaks) == ("twin.mine.one.ten", "mine.one", "size")
    assert (one.claim.statement, one.claim.latex) == ("Nine is small.", "n = 9")
    assert one.claim.expected is Status.REFUTED


def test_a_mutant_is_no_claim_but_a_worker_finds_it(write: Callable[[str], Path]) -> None:
    path = write(FILE)
    assert claims_in(load_file(path)) == []
    assert find_claim("", str(path), "twin.mine.one.ten").statement == "Ten is small."


def test_two_mutants_must_not_share_an_id(write: Callable[[str], Path]) -> None:
    path = write(FILE.replace(', name="ten"', ""))
    with pytest.raises(ClaimError, match=r"mutant id twin\.mine\.one stands in .* rename|another"):
        mutants_in(load_file(path))


def test_a_mutant_must_say_what_is_wrong() -> None:
    def undocumented() -> tuple[Check, ...]:
        return ()

    with pytest.raises(ClaimError, match="must have a docstring"):
        mutant(of="mine.one", breaks="rule")(undocumented)


def test_an_imported_mutant_is_left_where_it_is_stated(write: Callable[[str], Path]) -> None:
    path = write(FILE)
    module = load_file(path)
    borrowed: Mutant = module.nine_is_small
    path.with_name("other.py").write_text("", encoding="utf-8")
    other = load_file(path.with_name("other.py"))
    other.__dict__["nine_is_small"] = borrowed
    assert mutants_in(other) == []
