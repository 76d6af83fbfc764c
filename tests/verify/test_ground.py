"""Two processes stand on the same ground if sources and versions agree, or say how they differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from verify.ground import Ground, difference, ground_of
from verify.loading import claims_of, load_file

HEADER = """
from certiformer import *

@claim(id="mine.one", source=Source("paper", "1"), latex="n", scope="n", expected=Status.BOUNDED)
def mine():
    \"\"\"It holds.\"\"\"
    return []
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(HEADER, encoding="utf-8")
    return path


@pytest.fixture
def ground(path: Path) -> Ground:
    return ground_of(claims_of(load_file(path)), "distributed")


def test_a_process_stands_on_its_own_ground(ground: Ground, path: Path) -> None:
    assert [place for place, _ in ground.sources] == [None, str(path)]
    assert "distributed" in dict(ground.versions)
    assert difference(ground) is None


def test_a_file_that_changes_or_goes_is_noticed_and_one_that_comes_back_too(
    ground: Ground, path: Path
) -> None:
    path.write_text(HEADER + "# another\n", encoding="utf-8")
    said = difference(ground)
    assert said is not None
    assert said.startswith(f"must see {path} as {dict(ground.sources)[str(path)][:12]}, got ")
    assert said.endswith("; share its folder, so that there is one copy")
    path.unlink()
    assert difference(ground) == (
        f"must see {path}, got no such file; share its folder under the same path"
    )
    path.write_text(HEADER, encoding="utf-8")
    assert difference(ground) is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda found: "0.1", "must have sympy 0.1, got {sympy}; install the same versions there"),
        (
            lambda found: None,
            "must have sympy not installed, got {sympy}; install the same versions there",
        ),
    ],
    ids=["another", "none"],
)
def test_another_version_is_named(
    ground: Ground, change: Callable[[str], str | None], said: str
) -> None:
    found = dict(ground.versions)
    assert found["sympy"] is not None
    other = tuple({**found, "sympy": change(found["sympy"])}.items())
    assert difference(replace(ground, versions=other)) == said.format(sympy=found["sympy"])


def test_another_suite_is_named(ground: Ground) -> None:
    other = ((None, "0" * 64), *ground.sources[1:])
    said = difference(replace(ground, sources=other))
    assert said is not None
    assert said.startswith("must see certiformer's own sources as 000000000000, got ")
    assert said.endswith("; install the same version there and start it again")
