"""Pictures of machines: what they show is the run, their bytes are the run's alone."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import islice, pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from constructions.machines.definitions import QueueMachine, TuringMachine, Word, tabulated
from constructions.machines.formats import bbchallenge
from constructions.machines.parity import parity_machine
from constructions.machines.runs import QueueRun, TuringRun
from constructions.machines.simulate import run_levels, run_queue_levels
from constructions.machines.textbook import COPY, INCREMENT, PALINDROMES
from constructions.machines.turing import queue_machine
from constructions.machines.window import SlidingWindowRun, window_transformer
from reports import folder, pictures
from reports.figures import recording, recovery, space_time, svg
from reports.figures.recording import MOST_RULES, MOST_STEPS, Recording
from reports.figures.strips import MOST_PLACES, Strip, sliding, standing
from reports.figures.svg import Figure
from verify.verdicts import Json

Run = Callable[..., subprocess.CompletedProcess[str]]
EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "machines"
BB4, BB5 = "1RB1LB_1LA0LC_1RZ1LD_1RD0RA", "1RB1LC_1RC1RB_1RD0LE_1LA1LD_1RZ0LA"
SHORT: tuple[tuple[TuringMachine, Word], ...] = (
    (INCREMENT.machine, tuple("1011")),
    (bbchallenge.read("1RB1LB_1LA1RZ"), ()),
    (COPY.machine, tuple("11")),
    (PALINDROMES.machine, tuple("010")),
)
"""Runs that grow to the right, to the left, and both ways."""
FIBONACCI: QueueMachine[str] = QueueMachine(
    name="fibonacci",
    alphabet=tuple("▷_ab"),
    blank="_",
    front="▷",
    start="p",
    halt="h",
    rule=tabulated(
        {
            "p": {
                "a": ("p", ("a", "b")),
                "b": ("p", ("a",)),
                "▷": ("p", ("▷",)),
                "_": ("h", ("_",)),
            }
        }
    ),
)


def word_at(strips: Iterable[Strip], time: int) -> dict[int, str]:
    """The symbols by their columns at a time, read off the strips."""
    found: dict[int, str] = {}
    for strip in strips:
        for (since, *before), (until, *after) in pairwise(strip.edges):
            if since <= time < until:
                part = Fraction(time - since, until - since)
                left, right = (a + part * (b - a) for a, b in zip(before, after, strict=True))
                assert left.denominator == right.denominator == 1
                assert right - left in {0, 1}
                if left < right:
                    assert int(left) not in found
                    found[int(left)] = strip.symbol
    return found


def tokens_of(machine: QueueMachine[str], word: Word, count: int) -> list[list[str]]:
    """The displayed contexts of a run."""
    run = SlidingWindowRun(window_transformer(parity_machine(machine)), word)
    contexts = [[token.displayed for token in run.context]]
    for _ in range(count):
        run.step()
        contexts.append([token.displayed for token in run.context])
    return contexts


def drawn(machine: TuringMachine, word: Word = (), rules: int = 1000) -> Figure:
    return space_time.of_turing_machine(machine, word, rules, run_levels(machine, word, rules))


def uses(figure: Figure, colour: str) -> int:
    """How many marks of a colour there are, without that in the legend."""
    root = ElementTree.fromstring(svg.file_of(figure.inline))
    marks = [part for part in root.iter(f"{{{svg.NAMESPACE}}}use") if part.get("fill") == colour]
    return len(marks) - 1


# --- strips ----------------------------------------------------------------------------------


def test_standing_strips_give_back_the_words() -> None:
    rows = [{0: "a", 1: "b"}, {0: "a", 1: "a"}, {-1: "c", 0: "b", 1: "a"}, {0: "b"}]
    strips = standing(rows)
    assert [word_at(strips, time) for time in range(len(rows))] == rows
    assert len(strips) == 5


def test_sliding_strips_give_back_the_words_and_bend_only_where_they_must() -> None:
    symbols, firsts, ends = "abcdefg", [0, 1, 2, 2, 3, 6], [2, 3, 4, 5, 7, 7]
    strips = sliding(symbols, firsts, ends)
    for time, (first, end) in enumerate(zip(firsts, ends, strict=True)):
        assert word_at(strips, time) == dict(enumerate(symbols[first:end]))
    assert [strip.symbol for strip in strips] == [*symbols]
    for strip in strips:
        for (then, *one), (now, *two), (later, *three) in zip(
            strip.edges, strip.edges[1:], strip.edges[2:], strict=False
        ):
            slopes = [Fraction(b - a, now - then) for a, b in zip(one, two, strict=True)]
            assert slopes != [Fraction(b - a, later - now) for a, b in zip(two, three, strict=True)]


def test_a_long_word_is_cut_at_the_last_place() -> None:
    strips = sliding("a" * 500, [0, 1, 2], [498, 499, 500])
    assert len(strips) == MOST_PLACES + 2
    assert max(right for strip in strips for _, _, right in strip.edges) == MOST_PLACES


# --- recordings ------------------------------------------------------------------------------


@pytest.mark.parametrize(("machine", "word"), SHORT, ids=[machine.name for machine, _ in SHORT])
def test_the_tape_is_the_runs(machine: TuringMachine, word: Word) -> None:
    panel = recording.of_turing_machine(machine, word, 1000).tape
    assert panel is not None
    run = TuringRun(machine, word)
    for time in range(panel.steps + 1):
        cells = word_at(panel.strips, time)
        assert [cells[column] for column in sorted(cells)] == run.cells
        column, row = panel.path[time]
        assert (column - 0.5 - min(cells), row) == (run.head, time + 0.5)
        run.advance(1)
    assert run.halted


@pytest.mark.parametrize(("machine", "word"), SHORT, ids=[machine.name for machine, _ in SHORT])
def test_the_queue_shows_the_tape_in_the_tapes_own_columns(
    machine: TuringMachine, word: Word
) -> None:
    found = recording.of_turing_machine(machine, word, 1000)
    assert found.tape is not None
    assert (found.queue.applied == ()) is (found.tape.steps == 0)
    assert len(found.queue.applied) == found.tape.steps
    for rule, step in enumerate(found.queue.applied):
        ring = word_at(found.queue.strips, step)
        tape = word_at(found.tape.strips, rule)
        assert ring.pop(min(ring)) == "▷"
        plain = {column: symbol[0] for column, symbol in ring.items()}
        blanks = set(plain.items()) ^ set(tape.items())
        assert {symbol for _, symbol in blanks} <= {machine.blank}
        assert found.queue.path[step][0] == found.tape.path[rule][0]


def test_the_context_is_the_transformers() -> None:
    machine = INCREMENT.machine
    panel = recording.of_turing_machine(machine, tuple("1011"), 1000).context
    assert panel.steps == 26
    contexts = tokens_of(queue_machine(machine), tuple("1011"), panel.steps)
    for time, context in enumerate(contexts):
        assert word_at(panel.strips, time) == dict(enumerate(context))
    refreshed = [(len(contexts[time]), time) for time in (6, 12, 18, 24)]
    assert [*panel.refreshes] == refreshed
    assert all(contexts[time][-1] == "#" for _, time in refreshed)


def test_a_queue_machines_queue_stands_in_its_own_places() -> None:
    found = recording.of_queue_machine(FIBONACCI, ("a",), 40)
    run = QueueRun(FIBONACCI, ("a",))
    assert found.tape is None
    assert found.queue.steps == 40
    for time in range(41):
        assert word_at(found.queue.strips, time) == dict(enumerate(run.queue))
        run.step()


def ends(found: Recording) -> tuple[int, int, int | None]:
    return (found.tape.steps if found.tape else -1), found.queue.steps, found.end_on_tape


def test_a_recording_ends_with_the_run_its_limit_or_the_last_row() -> None:
    word = tuple("1011")
    for most, expected in ((1000, (8, 21, None)), (3, (3, 4, None)), (0, (0, 1, None))):
        assert ends(recording.of_turing_machine(INCREMENT.machine, word, most)) == expected
    long = recording.of_turing_machine(bbchallenge.read(BB5), (), 3000)
    assert ends(long)[:2] == (MOST_RULES, MOST_STEPS)
    assert long.end_on_tape == len(long.queue.applied) < MOST_RULES
    assert ends(recording.of_queue_machine(FIBONACCI, ("a",), 9)) == (-1, 9, None)
    assert ends(recording.of_queue_machine(FIBONACCI, ("a",), 9999)) == (-1, MOST_STEPS, None)


def test_words_that_go_on_to_the_right_are_said_to() -> None:
    short = recording.of_turing_machine(INCREMENT.machine, tuple("1011"), 50)
    long = recording.of_turing_machine(INCREMENT.machine, tuple("10" * 300), 50)
    for found, whole in ((short, True), (long, False)):
        assert found.tape is not None
        assert {found.tape.whole, found.queue.whole, found.context.whole} == {whole}
    assert max(word_at(long.queue.strips, 0)) < MOST_RULES


# --- figures ---------------------------------------------------------------------------------


def test_a_diagram_has_a_mark_for_each_refresh_and_the_runs_figures_as_words() -> None:
    report = run_levels(INCREMENT.machine, tuple("1011"), 1000)
    assert report.transformer is not None
    one = drawn(INCREMENT.machine, tuple("1011"))
    assert uses(one, space_time.REFRESH) == report.transformer.refreshes == 4
    assert "increment on “1011”" in one.caption
    assert "8 rules, 21 queue steps, 26 tokens (4 refreshes), longest window S = 5." in one.caption
    queue = run_queue_levels(FIBONACCI, ("a",), 30)
    two = space_time.of_queue_machine(FIBONACCI, ("a",), 30, queue)
    assert queue.transformer is not None
    assert uses(two, space_time.REFRESH) == queue.transformer.refreshes > 0
    assert "at two levels" in two.caption


def test_figures_are_the_same_bytes_each_time_and_stay_small() -> None:
    for machine, word in (SHORT[0], (bbchallenge.read(BB5), ())):
        first, again = drawn(machine, word), drawn(machine, word)
        assert first == again
        assert len(first.inline) < 500_000


def test_figures_keep_the_pages_policy() -> None:
    for one in pictures.of_record(record("machines.chain", "machines.parity.recovers")):
        assert svg.INK not in one.inline
        assert "currentColor" in one.inline
        assert "url(" not in one.inline
        for part in ElementTree.fromstring(one.inline).iter():
            assert part.tag not in {"style", "script", "image", "foreignObject", "metadata"}
            assert "style" not in part.attrib
            assert part.get("href", "#").startswith("#")


def test_odd_symbols_and_names_make_valid_xml_without_a_warning(call: Run, tmp_path: Path) -> None:
    machine, out = tmp_path / "a$b\x01<.txt", tmp_path / "odd.svg"
    machine.write_text("0 $ & r 0\n0 漢 $ r 0\n0 < > r 0\n0 _ $ l halt\n", encoding="utf-8")
    done = call("run", machine, "--input", "$ <漢$", "--picture", out)
    assert (done.returncode, done.stderr) == (0, "")
    root = ElementTree.fromstring(out.read_bytes())
    assert root.get("role") == "img"
    assert "\\x01" in root.get("aria-label", "")


def test_many_symbols_have_colours_of_their_own(call: Run, tmp_path: Path) -> None:
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKL"
    machine, out = tmp_path / "many.txt", tmp_path / "many.svg"
    machine.write_text("".join(f"0 {one} {one} r 0\n" for one in letters))
    assert call("run", machine, "--input", letters, "--picture", out).returncode == 0
    fills = {part.get("fill") for part in ElementTree.fromstring(out.read_bytes()).iter()}
    assert len(fills) > len(letters)


def test_a_recovery_finds_what_the_queue_dropped() -> None:
    machine = queue_machine(bbchallenge.read(BB4))
    steps = [*islice(recovery.steps(machine, ()), 40)]
    run = QueueRun(machine)
    run.step()
    for number, step in enumerate(steps, 2):
        assert (step.number, step.queue) == (number, tuple(run.queue))
        dropped = run.step()
        assert step.difference == tuple(int(symbol == dropped) for symbol in machine.alphabet)
        assert step.appended == run.appended
    assert all(one.kept == then.stored for one, then in pairwise(steps))


def test_a_recovery_shows_every_bit_and_one_found_bit_a_step() -> None:
    (_, one) = pictures.of_record(record("machines.parity.recovers"))
    root = ElementTree.fromstring(one.inline)
    fills = [part.get("fill") for part in root.iter("path")]
    rings = [part.get("stroke") for part in root.iter("path")]
    assert fills.count(recovery.FOUND) == rings.count(recovery.FOUND) == pictures.COUNT
    assert "Steps 18 to 21 of the parity-HIST machine of 1RB1LB_1LA0LC_1RZ1LD_1RD0RA" in one.caption


# --- the command and the page ----------------------------------------------------------------


def record(*names: str) -> dict[str, Json]:
    return {"claims": [{"id": name} for name in names]}


@pytest.mark.parametrize("machine", [BB4, EXAMPLES / "doubling.queue.yaml"])
def test_run_writes_a_picture_and_the_same_report(call: Run, tmp_path: Path, machine: str) -> None:
    out = tmp_path / "run.SVG"
    plain = call("run", machine, "--json").stdout
    done = call("run", machine, "--json", "--picture", out)
    assert (done.returncode, done.stdout, done.stderr) == (0, plain, "")
    root = ElementTree.fromstring(out.read_bytes())
    assert root.tag == f"{{{svg.NAMESPACE}}}svg"
    steps = json.loads(plain)["levels"]["transformer"]["tokens"]
    assert f"{steps:,} tokens" in root.get("aria-label", "")
    first = out.read_bytes()
    assert call("run", machine, "--picture", out).returncode == 0
    assert out.read_bytes() == first
    assert [path.name for path in tmp_path.iterdir()] == ["run.SVG"]


def test_a_run_that_is_cut_off_before_its_first_rule_has_a_picture(
    call: Run, tmp_path: Path
) -> None:
    out = tmp_path / "zero.svg"
    assert call("run", BB4, "--max-steps", 0, "--picture", out).returncode == 0
    label = ElementTree.fromstring(out.read_bytes()).get("aria-label", "")
    assert "0 rules, 1 queue step, 1 token (0 refreshes)" in label


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            (BB4, "--picture", "run.png"),
            "UsageError: --picture must end in .svg, got run.png; name a file of that kind",
        ),
        (
            (BB4, "--as", "hist", "--picture", "run.svg"),
            "UsageError: --picture: shows all levels of a run, got --as hist; run it without --as",
        ),
        (
            ("m.safetensors", "--picture", "run.svg"),
            "UsageError: --picture: must be of a machine, got the compiled transformer "
            "m.safetensors; run its machine",
        ),
    ],
)
def test_what_has_no_picture_is_refused_before_the_run(
    call: Run, words: tuple[str, ...], said: str
) -> None:
    done = call("run", *words)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said + "\n")


def test_a_picture_that_cannot_be_written_is_2_before_the_run(call: Run, tmp_path: Path) -> None:
    (tmp_path / "taken.svg").mkdir()
    for out in (tmp_path / "nowhere" / "run.svg", tmp_path / "taken.svg"):
        done = call("run", BB4, "--picture", out)
        assert done.returncode == 2
        assert done.stdout == ""
        assert done.stderr.startswith(f"OutputError: {out}: must be ")
        assert done.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["taken.svg"]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ((), []),
        (("universal.tree.identity",), []),
        (("machines.chain",), ["space-time"]),
        (("machines.parity.recovers",), ["space-time", "recovery"]),
    ],
)
def test_a_page_shows_a_machine_where_the_record_speaks_of_machines(
    names: tuple[str, ...], expected: list[str]
) -> None:
    assert [one.name for one in pictures.of_record(record(*names))] == expected


def test_the_pictures_lie_in_the_folder_of_the_run(call: Run, tmp_path: Path) -> None:
    done = call("verify", "machines.parity.recovers", "--profile", "quick", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    files = {path.name: path.read_bytes() for path in (tmp_path / "figures").iterdir()}
    assert set(files) == {"space-time.svg", "recovery.svg"}
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert all(f'href="figures/{name}"' in page for name in files)
    folder.rebuild(tmp_path)
    assert {path.name: path.read_bytes() for path in (tmp_path / "figures").iterdir()} == files
