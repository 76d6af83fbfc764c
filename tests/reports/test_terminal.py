"""What depends on a terminal: widths, colours, progress in place, and text that steers nothing."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from reports.tables import NARROW, Table
from reports.text import printable
from tests.reports.terminals import shown

Run = Callable[..., subprocess.CompletedProcess[str]]
Claims = Callable[..., Path]
COLOURED = re.compile(r"\x1b\[(?:\d+;)*3[1-7]m")
STEERING = [*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x1B, 0x07, 0x9B, 0]

WIDE = """
@stated("wide.a_claim_whose_name_is_long", text="{text}")
def one():
    return [covers(some(range(9)))]


@stated("wide.false")
def two():
    return [covers(some(range(9), fails=4))]
"""
LONG = "Every word of a statement " * 8


@pytest.fixture(name="wide")
def _wide(claims: Claims) -> Path:
    return claims(WIDE.replace("{text}", LONG))


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_list_fits_the_terminal_and_keeps_ids_and_statements_whole(
    wide: Path, width: int
) -> None:
    done = shown("list", wide, width=width)
    assert done.status == 0
    assert all(cell_len(line) <= width for line in done.lines)
    assert "wide.a_claim_whose_name_is_long" in done.text
    assert LONG.strip() in " ".join(" ".join(done.lines).split())


@pytest.mark.parametrize("width", [60, 120])
def test_the_table_of_verify_fits_the_terminal_and_has_colours(
    wide: Path, width: int, tmp_path: Path
) -> None:
    done = shown("verify", wide, "--out", tmp_path / "out", width=width)
    assert done.status == 1
    first = next(place for place, line in enumerate(done.lines) if line.startswith("claim "))
    table = done.lines[first : done.lines.index("", first)]
    assert all(cell_len(line) <= width for line in table)
    assert any(line.startswith("wide.a_claim_whose_name_is_long") for line in table)
    assert "\x1b[36mBOUNDED\x1b[0m" in done.text
    assert "\x1b[31m\x1b[1mREFUTED\x1b[0m" in done.text


@pytest.mark.parametrize("more", [{"NO_COLOR": "1"}, {"NO_COLOR": "false"}, {"TERM": "dumb"}])
def test_no_colours_where_they_are_not_wanted(wide: Path, more: dict[str, str]) -> None:
    done = shown("list", wide, more=more)
    assert "BOUNDED" in done.text
    assert not COLOURED.search(done.text)


def test_an_empty_no_color_is_as_none(wide: Path) -> None:
    assert COLOURED.search(shown("list", wide, more={"NO_COLOR": ""}).text)


def test_progress_has_no_colours_where_they_are_not_wanted(wide: Path, tmp_path: Path) -> None:
    done = shown("verify", wide, "--out", tmp_path / "out", more={"NO_COLOR": "1"})
    assert "2/2 checks" in done.text
    assert not COLOURED.search(done.text)


def test_a_dumb_terminal_gets_no_control_characters(wide: Path, tmp_path: Path) -> None:
    done = shown("verify", wide, "--out", tmp_path / "out", more={"TERM": "dumb"})
    assert "\x1b" not in done.text
    assert "[2/2] wide." in done.text


def test_off_a_terminal_lines_are_whole_and_plain(
    wide: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    done = run("list", wide)
    first = done.stdout.splitlines()[2]
    assert first.startswith("wide.false                       BOUNDED   ")
    assert "\x1b" not in first


def test_writing_pages_and_rechecking_say_what_they_are_at(
    wide: Path, run: Run, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done = shown("verify", wide, "--out", out)
    assert "\r\x1b[Kdrawing figures, 1 of 5: " in done.text
    assert "\r\x1b[Kwriting the pages" in done.text
    assert "\r\x1b[Kwriting the pages" in shown("report", out).text
    rechecked = shown("recheck", out)
    assert "1 of at most 2 certificates" in rechecked.text
    plain = run("recheck", out)
    assert rechecked.status == plain.returncode == 0
    assert [line for line in rechecked.lines if line] == plain.stdout.splitlines()


def test_progress_in_place_is_cut_to_the_width(tmp_path: Path) -> None:
    target = Path("examples/target.safetensors")
    arguments = ("encode", target, "--construction", "tree", "--out", tmp_path / "out")
    done = shown(*arguments, width=24)
    assert done.status == 0, done.text
    steps = re.findall(r"\r\x1b\[K([^\r\n\x1b]*)", done.text)
    assert any(step.startswith("encoding target") for step in steps)
    assert max(map(cell_len, filter(lambda step: step.endswith("…"), steps))) == 23


@pytest.mark.parametrize("code", STEERING, ids=hex)
def test_characters_that_steer_a_terminal_are_shown_as_escapes(code: int) -> None:
    text = printable(f"a{chr(code)}b")
    assert text == "a" + (f"\\u{code:04x}" if code > 0xFF else f"\\x{code:02x}") + "b"


@given(st.text())
def test_a_printable_text_is_one_line_of_printable_characters(text: str) -> None:
    assert all(c.isprintable() for c in printable(text))
    assert printable(printable(text)) == printable(text)


CELLS = st.text(st.characters(exclude_categories=["C", "Z", "M"]), max_size=40)


@given(
    rows=st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=6),
    width=st.integers(12, 130),
    below=st.booleans(),
)
def test_a_fitted_table_is_never_wider_and_keeps_first_cells_whole(
    rows: list[tuple[str, ...]], width: int, below: bool
) -> None:
    texts = tuple(row[2] for row in rows) if below else ()
    table = Table(rows=rows, shortened=(2, 1) if not below else (1,), texts=texts)
    lines = list(table.fitted(width, str))
    assert all(cell_len(line) <= width for line in lines)
    if width >= NARROW:
        left = iter(lines)
        for row in rows:
            assert any(line.startswith(row[0]) for line in left)


@given(rows=st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=6))
def test_a_table_that_fits_looks_as_it_does_off_a_terminal(rows: list[tuple[str, ...]]) -> None:
    table = Table(rows=rows, shortened=(2, 1))
    narrow = all(cell_len(cell) == len(cell) for row in rows for cell in row)
    if narrow and all(row[2] for row in rows):
        assert list(table.fitted(200, str)) == table.plain()


@pytest.mark.parametrize("command", ["verify", "fuzz"])
def test_json_is_all_of_stdout_whatever_comes_out(
    claims: Claims, call: Run, command: str, tmp_path: Path
) -> None:
    path = claims(
        """
        @stated("false.small", expected=Status.SAMPLED)
        def small():
            return [covers(searched(17))]
        """
    )
    options = ("--out", tmp_path / "out") if command == "verify" else ("--examples", 200)
    done = call(command, path, *options, "--json")
    found = json.loads(done.stdout)
    assert found["exit_status"] == done.returncode == 1
    if command == "verify":
        assert found["claims"] == [
            {
                "id": "false.small",
                "status": "REFUTED",
                "standing": "REFUTED",
                "expected": "SAMPLED",
                "outcome": "refuted",
            }
        ]
        assert found["standings"] == {"REFUTED": 1}
        assert found["reasons"][0].startswith("false.small: check 0 (sampled) REFUTED: 17 is")
        assert Path(found["record"]).is_file()
        assert Path(found["page"]).is_file()
    else:
        assert found["checks"][0]["counterexample"] == {"n": 17}
        assert found["reproduce"].endswith("--examples 200 --seed 0")


def test_encode_and_report_print_json(call: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    target = "examples/target.safetensors"
    done = call("encode", target, "--construction", "tree", "--out", out, "--json")
    found = json.loads(done.stdout)
    assert (found["exit_status"], found["construction"], found["status"]) == (0, "tree", "PROVED")
    assert found["m"] == found["least_m"]["tree"]
    assert (out / found["certificate"]).is_file()
    again = json.loads(call("report", out, "--json").stdout)
    assert again == {"exit_status": 0, "page": str(out / "index.html"), "tables": []}
