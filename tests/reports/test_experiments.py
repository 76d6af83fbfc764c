"""Saved runs beside the paper's numbers: groups, intervals, what differs, pages and plain text."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from math import sqrt
from pathlib import Path
from typing import Any

import pytest

from constructions.learning.defaults import plan
from constructions.learning.evaluation import Score
from constructions.learning.files import SavedRun, run_bytes
from constructions.learning.kinds import Components, Family
from reports import folder, html
from reports.experiments import gathered, plain
from reports.experiments.gathered import of_runs
from reports.experiments.groups import Group, grouped, merged
from reports.experiments.intervals import student, t_quantile, wilson
from reports.experiments.settings import differences, has_stated_sizes
from reports.experiments.tables import Block, Row, percent, tables
from reports.figures.learning import curves, styled
from verify.errors import RecordError
from verify.verdicts import Json

Run = Callable[..., subprocess.CompletedProcess[str]]
PAPERS = {
    "steps": 10_000,
    "batch": 1_000,
    "learning_rate": 1e-3,
    "cosine": False,
    "hold": 0,
    "second_beta": 0.999,
}
"""The paper's own run of balancing, but for where the loss is taken."""
EVERYWHERE = {**PAPERS, "answer_only": False}


def run(
    *rights: int,
    task: str = "dyck",
    asked: int = 4_000,
    seed: int = 0,
    family: str = "sparse",
    components: str = "attention-only",
    seconds: float = 60.0,
    device: str = "abacus",
    done: bool = True,
    **changes: Any,
) -> SavedRun:
    """A run whose curve has these right answers at steps as far apart as they can be."""
    made = plan(
        task,
        family=Family(family),
        components=Components(components),
        seed=seed,
        changes={**(EVERYWHERE if task == "dyck" else {}), **changes},
    )
    last = made.recipe.steps if done else made.recipe.steps // 2
    places = [last * k // max(len(rights) - 1, 1) for k in range(len(rights))]
    points = zip(places if len(rights) > 1 else [last], rights, strict=True)
    return SavedRun(
        plan=made,
        history=tuple(Score(step=at, loss=0.5, right=right, asked=asked) for at, right in points),
        seconds=seconds,
        versions={"device": device},
    )


def group(*runs: SavedRun) -> Group:
    (found,) = grouped(runs)
    return found


def rows(block: Block) -> list[tuple[str, bool]]:
    return [(row.label, row.stated) for row in block.rows]


def accuracies(row: Row) -> list[list[str]]:
    return [[entry.accuracy for entry in cell.entries] for cell in row.cells]


# --- intervals ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("freedom", "t"),
    [(1, 12.7062), (2, 4.3027), (3, 3.1824), (4, 2.7764), (9, 2.2622), (30, 2.0423)],
)
def test_quantiles_are_those_of_printed_tables(freedom: int, t: float) -> None:
    assert t_quantile(freedom) == pytest.approx(t, abs=5e-5)


def test_students_interval_is_as_by_hand() -> None:
    found = student([0.4, 0.5, 0.6])
    half = 4.302653 * 0.1 / sqrt(3)
    assert (found.low, found.high) == pytest.approx((0.5 - half, 0.5 + half), abs=1e-6)
    assert found.over == "3 seeds"
    cut = student([0.2, 0.99])
    assert (cut.low, cut.high) == (0.0, 1.0)


def test_wilsons_interval_is_as_by_hand() -> None:
    found = wilson(0.9, 100)  # z = 1.959964
    assert (found.low, found.high) == pytest.approx((0.825634, 0.944771), abs=1e-6)
    every = wilson(1.0, 4_000)  # n / (n + z^2)
    assert (every.low, every.high) == pytest.approx((4_000 / 4_003.841459, 1.0), abs=1e-9)
    assert every.over == "4,000 held-out strings"


def test_positions_of_a_string_are_not_counted_as_strings() -> None:
    hops = group(run(196_000, task="hops", asked=392_000))
    assert hops.interval == wilson(0.5, 4_000)


def test_seeds_that_agree_are_not_taken_for_certainty() -> None:
    same = group(run(4_000), run(4_000, seed=1))
    assert same.interval == wilson(1.0, 4_000)
    other = group(run(4_000), run(3_900, seed=1))
    assert other.interval == student([1.0, 0.975])


def test_what_is_not_all_is_not_rounded_to_all() -> None:
    assert [percent(x) for x in (1.0, 391_999 / 392_000, 0.5)] == ["100.00%", ">99.99%", "50.00%"]


# --- groups ------------------------------------------------------------------------------------


def test_runs_are_grouped_by_all_but_their_seed() -> None:
    found = grouped([run(3, seed=2), run(1), run(2, batch=999), run(2, seed=1, family="random")])
    assert [[r.plan.seed for r in g.runs] for g in found] == [[0, 2], [0], [1]]
    first = found[0]
    assert (first.mean, min(first.shares), max(first.shares)) == (2 / 4_000, 1 / 4_000, 3 / 4_000)


def test_an_unfinished_run_counts_only_where_no_run_is_finished() -> None:
    ended, stopped = run(4_000, seconds=10.0), run(2_000, seed=1, done=False, seconds=90.0)
    both = group(ended, stopped)
    assert (both.mean, both.seconds, both.unfinished) == (1.0, 10.0, (stopped,))
    assert group(stopped).mean == 0.5


def test_curves_are_means_at_common_steps() -> None:
    one, two = run(0, 1_000, 4_000), run(2_000, 4_000, seed=1)
    points = group(one, two).curve
    assert [(p.step, p.mean, p.least, p.greatest) for p in points] == [
        (0, 0.25, 0.0, 0.5),
        (10_000, 1.0, 1.0, 1.0),
    ]


def test_own_runs_stand_for_shipped_ones_and_longer_for_shorter() -> None:
    shipped = [run(1), run(2, seed=1)]
    own = [run(9), run(3, done=False)]
    assert [r.last.right for r in merged(shipped, own)] == [9, 2]
    assert [r.last.right for r in merged((), reversed(own))] == [9]


# --- what differs ------------------------------------------------------------------------------


def test_the_papers_own_run_differs_in_nothing() -> None:
    assert differences(run(1).plan) == ()
    assert has_stated_sizes(run(1).plan)


@pytest.mark.parametrize(
    ("changes", "notes"),
    [
        ({"batch": 256}, ["batch 256 (paper 1,000)"]),
        ({"steps": 500}, ["500 steps (paper 10,000)"]),
        ({"cosine": True, "hold": 0}, ["rate falls as a cosine (paper states no decay)"]),
        ({"cosine": True, "hold": 7_000}, ["falls as a cosine after 7,050 steps"]),
        ({"answer_only": True}, ["loss at the answer alone (paper at all places)"]),
        ({"learning_rate": 0.002, "warmup": 9}, ["0.002 (paper 0.001)", "9 warm-up steps"]),
        ({"heads": 2}, ["H = 2 (paper 4)"]),
        ({"layers": 1}, ["L = 1 (paper 2)"]),
        ({"head_width": 8}, ["d = 8 (paper 24)"]),
        ({"width": 2_000}, ["m = 2,000 (paper m\u0304, here 1,024)"]),
        ({"pairs": 4}, ["at most 8 parentheses (paper 60)"]),
    ],
)
def test_each_difference_is_said_alone(changes: dict[str, Any], notes: list[str]) -> None:
    changed = run(1, **changes).plan
    found = differences(changed)
    assert len(found) == len(notes)
    assert all(part in note for part, note in zip(notes, found, strict=True))
    sizes = {"heads", "layers", "head_width", "width", "pairs"}
    assert has_stated_sizes(changed) == (not sizes & changes.keys())


def test_hops_say_what_the_paper_leaves_open() -> None:
    first, *rest = differences(run(1, task="hops", hops=2, length=12, batch=128).plan)
    assert first == "12 characters (paper 100)"
    assert rest == ["L = 3 and d = 24 are ours (paper states neither)"]
    assert "60,000 steps (paper states none)" in differences(run(1, task="hops", hops=5).plan)
    mixed = replace(run(1).plan, device="cuda", mixed=True)
    assert differences(mixed) == ("computed in bfloat16 (paper does not say)",)


# --- tables ------------------------------------------------------------------------------------


def test_without_runs_every_row_of_the_paper_stands() -> None:
    first, second = tables([])
    assert [len(block.rows) for block in first.blocks] == [1, 1, 1, 1, 1]
    assert [row.label for row in second.blocks[0].rows] == [
        "attention-only",
        "+ residual",
        "+ residual and LN",
        "+ MLP",
        "+ MLP and LN",
    ]
    assert [cell.paper for cell in first.blocks[1].rows[0].cells] == ["30.2%", "29.4%", "8.4%"]
    assert all(cell.entries == () for cell in first.blocks[1].rows[0].cells)
    assert "count and ends 97." in first.blocks[0].rules


def test_ours_stands_beside_the_papers_number() -> None:
    (row,) = tables(grouped([run(3_800, family="random", seconds=1_234.0)]))[0].blocks[0].rows
    sparse, random, _ = row.cells
    assert (sparse.entries, sparse.paper, random.paper) == ((), "100.0%", "94.4%")
    (entry,) = random.entries
    assert entry.accuracy == "95.00%"
    assert entry.interval.startswith("95% interval 94.28% to 95.63% over 4,000")
    assert (entry.seeds, entry.unfinished, entry.notes) == ("1 seed", "", ())
    assert entry.training == "10,000 steps of 1,000 strings, 1,234 s on abacus"
    assert (row.loss, row.notes) == ("loss at all places", ())


def test_other_sizes_and_other_losses_have_rows_of_their_own() -> None:
    found = grouped([run(1, heads=2), run(2, answer_only=True), run(3)])
    (main, answer, small) = tables(found)[0].blocks[0].rows
    assert [accuracies(row)[0] for row in (main, answer, small)] == [
        ["0.07%"],
        ["0.05%"],
        ["0.03%"],
    ]
    assert [row.stated for row in (main, answer, small)] == [True, True, False]
    assert [row.cells[0].paper for row in (main, answer, small)] == ["100.0%", "100.0%", "-"]
    assert small.notes == ("H = 2 (paper 4)",)
    assert answer.loss == "loss at the answer alone"


def test_a_row_says_what_all_its_runs_differ_in_and_a_cell_the_rest() -> None:
    found = grouped(
        [run(1, batch=10), run(2, batch=10, steps=50), run(3, family="random", batch=10)]
    )
    (row,) = tables(found)[0].blocks[0].rows
    assert row.notes == ("batch 10 (paper 1,000)",)
    sparse, random, _ = row.cells
    assert [entry.notes for entry in sparse.entries] == [(), ("50 steps (paper 10,000)",)]
    assert random.entries[0].notes == ()


def test_unfinished_runs_say_so() -> None:
    stopped = run(3, seed=4, done=False)
    (row,) = tables(grouped([run(4, 4), stopped]))[0].blocks[0].rows
    told = row.cells[0].entries[0].unfinished
    assert told == "unfinished: seed 4 at 5,000 of 10,000 steps, left out here"
    (row,) = tables(grouped([stopped]))[0].blocks[0].rows
    told = row.cells[0].entries[0].unfinished
    assert told == "unfinished: seed 4 at 5,000 of 10,000 steps"


def test_tasks_that_have_runs_are_added_to_the_tables() -> None:
    small = run(1, task="hops", hops=2, length=12, components="residual-norm")
    first, second = tables(grouped([small, run(1, task="hops", hops=6)]))
    assert [block.task.split(",")[0] for block in first.blocks][-1] == "6-hop induction head"
    assert len(first.blocks) == 6
    names = [block.task for block in second.blocks]
    assert names[1:] == [
        "2-hop induction head, 12 characters",
        "6-hop induction head, 100 characters",
    ]
    assert rows(second.blocks[1]) == [("+ residual and LN", False)]


def test_the_papers_range_over_hops_is_marked_as_one() -> None:
    found = grouped([run(1, task="hops", hops=2, components="residual-norm")])
    row = tables(found)[1].blocks[1].rows[2]
    assert [cell.paper for cell in row.cells] == [
        "100.0% (text, all hops together)",
        "85.7% to 96.1% (text, all hops together)",
        "-",
    ]


# --- curves ------------------------------------------------------------------------------------


def test_figure_2_is_of_runs_that_differ_in_m_alone() -> None:
    two = {"task": "hops", "hops": 2, "asked": 392_000}
    wide = run(9, 300_000, family="random", **two)
    narrow = run(9, 100_000, family="random", width=48, **two)
    sparse = run(9, 390_000, **two)
    names = [figure.name for figure in curves(grouped([wide, narrow, sparse]))]
    assert names == ["learning-width-2-hop-100-attention-only", "learning-2-hop-100-attention-only"]
    other = run(9, 100_000, family="random", width=48, batch=7, **two)
    assert [figure.name for figure in curves(grouped([wide, other]))] == names[1:]


def test_a_figure_names_the_best_rule_that_does_not_solve_the_task() -> None:
    (figure,) = curves(grouped([run(0, 4_000), run(9, 3_999, seed=1)]))
    assert figure.caption.endswith("count and ends.")
    assert figure.inline.startswith("<svg")
    assert "style=" not in figure.inline
    assert figure.inline == curves(grouped([run(0, 4_000), run(9, 3_999, seed=1)]))[0].inline


def test_a_single_point_is_no_curve() -> None:
    assert curves(grouped([run(4_000)])) == []


# --- pages -------------------------------------------------------------------------------------


def claim(id: str) -> dict[str, Json]:
    words = ("statement", "latex", "construction", "scope")
    status = dict.fromkeys(("expected", "status", "standing"), "BOUNDED")
    source = {"paper": "paper", "where": "Table 1"}
    lists: dict[str, Json] = {"uses": [], "trusts": [], "checks": []}
    return {"id": id, "source": source, **dict.fromkeys(words, "n < 9"), **status, **lists}


def put_record(place: Path, *claims: str) -> None:
    record = {
        "schema": "certiformer/record/1",
        "profile": "quick",
        "seed": 0,
        "selectors": [],
        "claims": [claim(id) for id in claims],
        "findings": [],
    }
    (place / "certificates").mkdir(exist_ok=True)
    (place / "record.json").write_text(json.dumps(record))


def put(place: Path, one: SavedRun) -> None:
    place.mkdir(parents=True)
    (place / "run.json").write_bytes(run_bytes(one))


@pytest.fixture
def shipped(monkeypatch: pytest.MonkeyPatch) -> list[SavedRun]:
    """Runs that ship, for one test."""
    runs = [run(1_000, 2_000, seconds=5.0)]
    monkeypatch.setattr(gathered, "shipped_runs", lambda: tuple(runs))
    return runs


def test_a_page_with_claims_of_learning_shows_shipped_and_own_runs(
    tmp_path: Path, shipped: list[SavedRun]
) -> None:
    put_record(tmp_path, "learning.some")
    folder.rebuild(tmp_path)
    page = (tmp_path / "index.html").read_text()
    assert '<h2 id="experiments">' in page
    assert "50.00%" in page
    assert 'href="figures/learning-dyck-30-attention-only.svg"' in page
    assert (tmp_path / "figures" / "learning-dyck-30-attention-only.svg").is_file()
    put(tmp_path / "runs" / "mine", replace(shipped[0], history=run(3_000).history))
    folder.rebuild(tmp_path)
    page = (tmp_path / "index.html").read_text()
    assert ("75.00%" in page, "50.00%" in page) == (True, False)


def test_a_page_without_such_claims_or_runs_shows_none(
    tmp_path: Path, shipped: list[SavedRun]
) -> None:
    put_record(tmp_path, "other.some")
    folder.rebuild(tmp_path)
    assert "experiments" not in (tmp_path / "index.html").read_text()
    shipped.clear()
    put_record(tmp_path, "learning.some")
    folder.rebuild(tmp_path)
    assert "experiments" not in (tmp_path / "index.html").read_text()


def test_words_of_a_file_are_shown_as_text() -> None:
    odd = run(1, 2, device="<script>$\\x$\x1b[2J")
    other = replace(odd, plan=replace(odd.plan, device="$\\x{$"))
    found = of_runs([odd, other])
    page = html.render_experiments(found).decode()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert not any("\x1b" in line for line in plain.lines(found.tables))


def test_report_makes_tables_and_curves_of_a_folder_of_runs(tmp_path: Path, call: Run) -> None:
    pytest.importorskip("torch")
    toy = "--pairs 4 --heads 2 --layers 2 --head-width 2 --batch 8 --steps 3".split()
    for seed in "01":
        done = call("train", "dyck", *toy, "--seed", seed, "--out", tmp_path / seed)
        assert done.returncode == 0, done.stderr
    done = call("report", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "Table 1: attention-only models"
    assert lines[-1] == str(tmp_path / "experiments.html")
    (told,) = [line for line in lines if "H = 2, L = 2, d = 2, m = " in line][:1]
    entry = lines[lines.index(told) + 1]
    assert re.match(r"    sparse +\d+\.\d\d% +95% interval .* 3 steps of 8 strings", entry)
    assert "paper -" in entry
    assert any("at most 8 parentheses (paper 60); H = 2 (paper 4)" in line for line in lines)
    page = (tmp_path / "experiments.html").read_text()
    assert page.count("<svg") == 1
    assert "figures/" not in page
    assert entry.split()[1] in page


def test_a_folder_with_neither_record_nor_runs_is_refused_in_one_line(
    tmp_path: Path, call: Run
) -> None:
    (tmp_path / "run.json").write_text('{"schema": "certiformer/run/1"}')
    done = call("report", tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "must hold record.json" in done.stderr
    assert "or saved runs (run.json)" in done.stderr
    with pytest.raises(RecordError, match="got neither; check the folder"):
        folder.report(tmp_path / "nowhere")


def test_a_run_that_cannot_be_read_is_named_in_one_line(tmp_path: Path, call: Run) -> None:
    (tmp_path / "run.json").write_text('{"schema": "certiformer/learning-run/1"}')
    done = call("report", tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert str(tmp_path / "run.json") in done.stderr


def test_labels_tell_curves_of_a_family_apart_and_nothing_more() -> None:
    everywhere = [run(1, 2, answer_only=False), run(1, 2, family="random", answer_only=False)]
    assert [label for _, label, _ in styled(grouped(everywhere))] == ["sparse", "random"]
    alone = run(1, 2, answer_only=True, steps=500, batch=64)
    assert {label for _, label, _ in styled(grouped([*everywhere, alone]))} == {
        "sparse,\nloss at all places",
        "sparse,\nloss at the answer alone",
        "random,\nloss at all places",
    }
