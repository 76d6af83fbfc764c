"""Claims are values made from documented functions, found by package or by file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify.claims import Check, Claim, Source, claim, covers, supports
from verify.dependencies import standings, with_dependencies
from verify.errors import ClaimError, ClaimFileError
from verify.loading import claims_in, claims_of, load_file
from verify.methods.witness import Witness
from verify.verdicts import Status

ONE = Witness(
    find=lambda: 1,
    holds=lambda _: None,
    exhibit=lambda n: n,
    rechecked_as="",
    instances="the number 1",
)


def stated(name: str, uses: tuple[str, ...] = (), checks: Any = None) -> Claim:
    def build() -> list[Check]:
        """It
        holds.
        """
        return [covers(ONE)] if checks is None else checks

    return claim(
        id=name,
        source=Source("paper", "Theorem 1"),
        latex="1",
        scope="1",
        expected=Status.PROVED,
        uses=uses,
    )(build)


def test_a_documented_function_becomes_a_claim() -> None:
    item = stated("paper.one")
    assert item.statement == "It holds."
    assert item.module == __name__
    assert item.path is None
    assert item.checks() == (covers(ONE),)


@pytest.mark.parametrize("name", ["one", "Paper.one", "paper.", "paper one", "paper..one", "1.one"])
def test_an_id_that_is_not_dotted_lower_case_words_is_refused(name: str) -> None:
    with pytest.raises(ClaimError, match="must be dotted lower-case words such as 'paper.theorem'"):
        stated(name)


def test_a_claim_without_a_docstring_has_a_fault() -> None:
    decorate = claim(
        id="paper.one",
        source=Source("paper", "1"),
        latex="1",
        scope="1",
        expected=Status.PROVED,
    )

    def silent() -> list[Check]:
        return [covers(ONE)]

    with pytest.raises(ClaimError) as error:
        decorate(silent).checks()
    assert str(error.value) == (
        "claim paper.one (silent) must have a docstring, which is its statement; got none"
    )


@pytest.mark.parametrize("checks", [[], [supports(ONE)]])
def test_a_claim_that_nothing_covers_is_refused(checks: list[Check]) -> None:
    with pytest.raises(ClaimError, match=rf"got {len(checks)} that only support it"):
        stated("paper.one", checks=checks).checks()


# --- dependencies ----------------------------------------------------------------------------


def known(**uses: tuple[str, ...]) -> dict[str, Claim]:
    return {
        f"p.{name}": stated(f"p.{name}", uses=tuple(f"p.{u}" for u in used))
        for name, used in uses.items()
    }


def test_a_selection_brings_what_it_rests_on() -> None:
    claims = known(a=(), b=("a",), c=("b", "a"), d=())
    assert [item.id for item in with_dependencies([claims["p.c"]], claims)] == ["p.a", "p.b", "p.c"]


def faults(chosen: str, claims: dict[str, Claim]) -> dict[str, str]:
    return {item.id: item.fault for item in with_dependencies([claims[chosen]], claims)}


def test_claims_that_rest_on_themselves_have_the_cycle_as_their_fault() -> None:
    claims = known(a=("c",), b=("a", "e"), c=("b",), d=("a",), e=())
    found = faults("p.d", claims)
    assert found["p.a"] == (
        "claim p.a must not rest on itself, got p.a -> p.c -> p.b -> p.a; drop one of these uses"
    )
    assert "p.b -> p.a -> p.c -> p.b" in found["p.b"]
    assert (found["p.d"], found["p.e"]) == ("", "")


def test_a_claim_that_uses_itself_has_a_fault() -> None:
    assert "got p.a -> p.a;" in faults("p.a", known(a=("a",)))["p.a"]


def test_an_unknown_id_in_uses_is_a_fault() -> None:
    found = faults("p.b", known(a=("z",), b=("a",)))
    assert found["p.a"].startswith("claim p.a uses 'p.z', which no claim is called; correct")
    assert found["p.b"] == ""


def test_what_rests_on_a_cycle_or_on_an_unknown_id_stands_broken() -> None:
    claims = known(a=("c",), b=("a",), c=("b",), d=("a",), e=("z",), f=("e",), g=())
    statuses = {
        name: Status.PROVED if name in ("p.d", "p.f", "p.g") else Status.BROKEN for name in claims
    }
    standing = standings(claims.values(), statuses)
    assert {name for name in claims if standing[name] is Status.PROVED} == {"p.g"}
    assert {standing[name] for name in claims if name != "p.g"} == {Status.BROKEN}


@given(st.lists(st.sampled_from(Status), min_size=4, max_size=4))
def test_a_standing_is_the_weakest_of_all_that_a_claim_rests_on(statuses: list[Status]) -> None:
    claims = known(a=(), b=("a",), c=("b", "a"), d=("c",))
    given_statuses = dict(zip(claims, statuses, strict=True))
    expected = {
        name: min(list(given_statuses.values())[: place + 1]) for place, name in enumerate(claims)
    }
    assert standings(claims.values(), given_statuses) == expected


# --- files -----------------------------------------------------------------------------------

FILE = '''
from certiformer import *


@claim(id="mine.{name}", source=Source("paper", "1"), latex="1", scope="1", expected=Status.PROVED)
def one():
    """It holds."""
    return []
'''


def test_a_file_with_claims_is_found_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(FILE.format(name="one"), encoding="utf-8")
    (item,) = claims_of(load_file(path))
    assert (item.id, item.path) == ("mine.one", str(path))
    assert load_file(str(path)) is load_file(path)


def test_a_package_folder_brings_the_claims_of_its_modules(tmp_path: Path) -> None:
    folder = tmp_path / "theorems"
    folder.mkdir()
    (folder / "__init__.py").write_text("", encoding="utf-8")
    (folder / "first.py").write_text(FILE.format(name="first"), encoding="utf-8")
    (folder / "second.py").write_text(FILE.format(name="second"), encoding="utf-8")
    found = claims_in(load_file(folder))
    assert [item.id for item in found] == ["mine.first", "mine.second"]
    assert {item.path for item in found} == {str(folder)}


def test_claims_that_a_module_imports_are_not_its_own(tmp_path: Path) -> None:
    path = tmp_path / "importing.py"
    path.write_text("from constructions.universal.tree import *\n", encoding="utf-8")
    assert claims_of(load_file(path)) == []


def test_two_claims_of_one_id_are_one_with_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "twice.py"
    path.write_text(
        FILE.format(name="one")
        + FILE.format(name="one").replace("def one", "def two")
        + FILE.format(name="three").replace("def one", "def three"),
        encoding="utf-8",
    )
    (one, three) = claims_in(load_file(path))
    assert one.fault == (
        f"claim id mine.one stands in {path} (one) and in {path} (two); "
        "ids must be unique, so rename one"
    )
    assert three.fault == ""


def test_a_claim_under_two_names_is_one_claim(tmp_path: Path) -> None:
    path = tmp_path / "named.py"
    path.write_text(FILE.format(name="one") + "\n\nother = one\n", encoding="utf-8")
    (item,) = claims_in(load_file(path))
    assert item.fault == ""


def test_a_file_that_changes_the_folder_or_forks_leaves_this_process_alone(tmp_path: Path) -> None:
    path, seen = tmp_path / "moving.py", Path.cwd()
    path.write_text(
        f"import os\nos.chdir({str(tmp_path)!r})\nos.fork()\n" + FILE.format(name="moved"),
        encoding="utf-8",
    )
    process = os.getpid()
    (item,) = claims_in(load_file(path))
    assert (item.id, os.getpid(), Path.cwd()) == ("mine.moved", process, seen)
    os.wait()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 / 0", "must import without an error, got ZeroDivisionError: division by zero"),
        ("raise SystemExit(1)", "must import without an error, got SystemExit: 1"),
        ("def (", "must import without an error, got SyntaxError"),
        ("import nothing_of_that_name", "got ModuleNotFoundError"),
    ],
)
def test_a_file_that_does_not_import_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "wrong.py"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ClaimFileError, match=message):
        load_file(path)


def test_a_missing_file_and_a_folder_without_claims_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ClaimFileError, match="got no such file; check the path"):
        load_file(tmp_path / "absent.py")
    with pytest.raises(ClaimFileError, match="got a folder without one; check the path"):
        load_file(tmp_path)


def test_a_misstated_claim_costs_no_other_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / "misstated.py"
    silent = FILE.format(name="silent").replace('"""It holds."""', "")
    path.write_text(FILE.format(name="one") + silent.replace("def one", "def two"), "utf-8")
    one, two = claims_in(load_file(path))
    assert one.fault == ""
    assert two.fault.startswith("claim mine.silent (two) must have a docstring")


def test_an_id_that_cannot_be_one_keeps_its_own_error(tmp_path: Path) -> None:
    path = tmp_path / "misstated.py"
    path.write_text(FILE.format(name="One"), encoding="utf-8")
    with pytest.raises(ClaimError, match="dotted lower-case words"):
        load_file(path)
