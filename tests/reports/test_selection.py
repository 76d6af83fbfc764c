"""Selectors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from reports.selection import module_of_ours, select
from verify.errors import ClaimError, ClaimFileError, SelectorError

Claims = Callable[..., Path]


def test_a_file_selects_its_claims_in_the_order_of_their_ids(claims: Claims, good: str) -> None:
    selection = select([str(claims(good))])
    assert [item.id for item in selection.claims] == ["good.one", "good.three", "good.two"]


def test_ids_and_globs_reach_into_a_file_named_beside_them(claims: Claims, good: str) -> None:
    path = str(claims(good))
    assert {item.id for item in select([path, "universal.tree.width"]).chosen} >= {
        "good.one",
        "universal.tree.width",
    }


def test_dependencies_come_along(claims: Claims, good: str) -> None:
    path = claims(good)
    other = path.with_name("other.py")
    other.write_text(path.read_text().replace("good.", "fine."))
    chosen = select([str(other)])
    assert {item.id for item in chosen.claims} == {"fine.one", "fine.two", "fine.three"}


def test_a_file_may_use_our_ids(claims: Claims, good: str) -> None:
    path = claims(
        """
        @stated("mine.use", uses=("universal.tree.width",))
        def use():
            return [covers(some(range(2)))]
        """
    )
    selection = select([str(path)])
    assert [item.id for item in selection.chosen] == ["mine.use"]
    assert [item.id for item in selection.claims] == ["mine.use", "universal.tree.width"]
    assert selection.files == {"mine.use": str(path)}


def test_a_package_folder_gives_the_claims_of_its_modules(claims: Claims, good: str) -> None:
    path = claims(good)
    folder = path.parent / "package"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    path.rename(folder / "inner.py")
    found = select([str(folder)]).chosen
    assert len(found) == 3
    assert {item.path for item in found} == {str(folder.resolve())}


def test_a_path_into_our_packages_imports_nothing_twice(tmp_path: Path) -> None:
    import constructions

    folder = Path(str(constructions.__file__)).parent
    assert module_of_ours(str(folder)) == "constructions"
    assert module_of_ours(str(folder / "universal" / "tree.py")) == "constructions.universal.tree"
    assert module_of_ours(str(tmp_path)) is None


def test_an_unknown_id_names_the_close_ones() -> None:
    with pytest.raises(SelectorError, match=r"universal\.tree\.widht.*universal\.tree\.width"):
        select(["universal.tree.widht"])


@pytest.mark.parametrize(
    ("body", "error", "words"),
    [
        ("import nowhere_at_all", ClaimFileError, "No module named 'nowhere_at_all'"),
        ("raise SystemExit(0)", ClaimFileError, "SystemExit"),
        ("1 +", ClaimFileError, "SyntaxError"),
        ("x = 1", SelectorError, "must state at least one"),
        ('@stated("A b")\ndef f(): return []', ClaimError, "dotted lower-case"),
    ],
)
def test_a_wrong_file_is_told_apart(
    claims: Claims, body: str, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        select([str(claims(body))])


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('@stated("a.b", text="")\ndef f(): return []', "must have a docstring"),
        (
            '@stated("a.b")\ndef f(): return []\n@stated("a.b")\ndef g(): return []',
            "ids must be unique",
        ),
        ('@stated("a.b", uses=("a.c",))\ndef f(): return []', "no claim is called"),
        (
            '@stated("a.b", uses=("a.c",))\ndef f(): return []\n'
            '@stated("a.c", uses=("a.b",))\ndef g(): return []',
            "must not rest on itself",
        ),
    ],
)
def test_a_misstated_claim_has_a_fault_and_the_others_have_none(
    claims: Claims, good: str, body: str, words: str
) -> None:
    found = {item.id: item.fault for item in select([str(claims(good + body))]).claims}
    assert words in found.pop("a.b")
    assert all("must not rest on itself" in fault for fault in [found.pop("a.c", "")] if fault)
    assert set(found.values()) == {""}
    assert len(found) == 3


def test_an_absent_file_is_told() -> None:
    with pytest.raises(ClaimFileError, match="no such file"):
        select(["nowhere/claims.py"])


def test_an_id_in_two_files_is_a_fault_whichever_is_chosen(claims: Claims, good: str) -> None:
    first, second = claims(good), claims(good, "again.py")
    for item in select([str(first), str(second)]).chosen:
        assert f"stands in {second} (" in item.fault
        assert f"and in {first} (" in item.fault


def test_an_id_of_ours_in_a_file_is_a_fault(claims: Claims) -> None:
    path = claims('@stated("universal.tree.width")\ndef f(): return []')
    (item,) = select([str(path), "universal.tree.width"]).chosen
    assert "and in constructions.universal.tree (" in item.fault


def test_what_a_file_prints_stays_off_stdout(
    claims: Claims, good: str, capfd: pytest.CaptureFixture[str]
) -> None:
    select([str(claims('import os\nprint("seen")\nos.write(1, b"raw")\n' + good))])
    out, err = capfd.readouterr()
    assert out == ""
    assert "seen" in err
    assert "raw" in err
