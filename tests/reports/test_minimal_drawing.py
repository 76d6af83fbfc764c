"""What the third paper's figures draw: the model's own values, and labels that can be read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from constructions.minimal import cover, torch_model
from constructions.minimal.definitions import PLUS, Model, groups, shapes, window_count
from constructions.minimal.exact import judge
from constructions.minimal.files import Checkpoint
from constructions.minimal.shipped import NAMES, shipped
from reports.figures import minimal, svg
from reports.figures.minimal import boxes, contours, labels, training, values
from reports.figures.minimal.values import DEMO

NOTHING = Model(tensors={name: np.zeros(shape) for name, shape in shapes().items()})


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The figures of the plotting library that were drawn, in place of their text."""
    kept: list[Any] = []

    def keep(figure: Any, name: str, label: str) -> str:
        figure.draw_without_rendering()
        kept.append(figure)
        return f"{name}: {label}"

    monkeypatch.setattr(svg, "written", keep)
    return kept


def texts_of(figure: Any) -> list[Any]:
    """All texts that a figure shows; ticks beyond the ends of an axis have texts, but not shown."""
    from matplotlib.text import Text

    hidden = {
        text
        for axes in figure.axes
        for axis in (axes.xaxis, axes.yaxis)
        for tick in axis.get_major_ticks()
        for text in (tick.label1, tick.label2)
        if not min(axis.get_view_interval()) <= tick.get_loc() <= max(axis.get_view_interval())
    }
    every = [part for part in figure.findobj(Text) if part.get_visible() and part.get_text()]
    return [part for part in every if part not in hidden]


def overlaps(figure: Any) -> list[tuple[str, str]]:
    """Pairs of texts whose boxes meet by more than a fifth of a point."""
    shown = [(part.get_text(), part.get_window_extent()) for part in texts_of(figure)]
    slack = 0.2 * figure.dpi / 72
    return [
        (text, other)
        for index, (text, box) in enumerate(shown)
        for other, rival in shown[:index]
        if min(box.x1, rival.x1) - max(box.x0, rival.x0) > slack
        and min(box.y1, rival.y1) - max(box.y0, rival.y0) > slack
    ]


@pytest.mark.parametrize("name", NAMES)
def test_no_two_texts_of_a_figure_overlap(name: str, written: list[Any]) -> None:
    numbers = ("05", "06", "07", "10", "12", "13", "15", "boxes")
    found = [figure.name for figure in minimal.draw(shipped(name), name, numbers)]
    assert len(written) == len(found) == len(numbers)
    collisions = {one: overlaps(drawn) for one, drawn in zip(found, written, strict=True)}
    assert {one: pairs for one, pairs in collisions.items() if pairs} == {}


def test_texts_that_overlap_are_seen() -> None:
    from matplotlib.figure import Figure

    figure: Any = Figure()
    axes = figure.subplots()
    axes.text(0.5, 0.5, "one")
    axes.text(0.51, 0.5, "other")
    assert overlaps(figure) == [("other", "one")]


def test_every_embedding_has_its_label_where_there_is_room(written: list[Any]) -> None:
    list(minimal.draw(shipped("windows"), "windows", ("05",)))
    shown = {part.get_text() for part in written[0].axes[4].texts}
    assert len(shown) == 96
    assert {f"{token}{place}" for token in ("0", "7", "10", "+") for place in "₀₃₇"} <= shown


def test_labels_of_a_crowd_keep_apart_and_inside() -> None:
    spread = np.arange(8) * 9.0 + 60
    points = np.stack(np.meshgrid(spread, spread), axis=-1).reshape(-1, 2)
    size = np.array([11.0, 7.0])
    sizes = np.tile(size, (64, 1))
    found = [place for place in labels.places(points, sizes, np.full(2, 200.0), points) if place]
    middles = np.array([place.middle for place in found])
    assert len(found) > 50
    apart = (np.abs(middles[:, None] - middles) >= size).any(axis=2)
    assert (apart | np.eye(len(found), dtype=bool)).all()
    assert not (np.abs(middles[:, None] - points) < size / 2).all(axis=2).any()
    assert (middles >= size / 2).all()
    assert (middles <= 200 - size / 2).all()


def test_points_that_coincide_have_a_label_each() -> None:
    points, sizes = np.full((8, 2), 100.0), np.full((8, 2), (11.0, 7.0))
    assert None not in labels.places(points, sizes, np.full(2, 200.0), points)


def test_a_label_without_any_room_is_left_out() -> None:
    point = np.array([[5.0, 5.0]])
    assert labels.places(point, np.array([[20.0, 7.0]]), np.full(2, 10.0), point) == [None]


@pytest.mark.parametrize("name", NAMES)
def test_stages_are_those_of_torch_and_of_the_exact_tables(name: str) -> None:
    import torch

    model = shipped(name).model
    stages, last = values.stages(model, DEMO), len(DEMO) - 1
    weights = torch_model.weights_of(model)
    expected = torch_model.logits(weights, torch.tensor([DEMO]))[0].numpy()
    np.testing.assert_allclose(stages.logits, expected, rtol=1e-12, atol=1e-12)
    for place, token in enumerate(DEMO):
        for found, exact in (
            (stages.e, model.embedded),
            (stages.q, model.queries),
            (stages.k, model.keys),
            (stages.v, model.values),
        ):
            wanted = [*map(float, exact[place][token])]
            np.testing.assert_allclose(found[place], wanted, rtol=1e-12)
        score = float(model.scores(len(DEMO))[place][token])
        assert stages.scores[last, place] == pytest.approx(score, rel=1e-12)
    np.testing.assert_allclose(stages.attention.sum(axis=1), 1.0)
    np.testing.assert_allclose(stages.output, stages.attention @ stages.v)
    np.testing.assert_allclose(stages.y, stages.e + stages.output)


@pytest.mark.parametrize("name", NAMES)
def test_logits_of_the_demo_sequence_are_ordered_as_the_exact_judge_says(name: str) -> None:
    model = shipped(name).model
    logits = values.stages(model, DEMO).logits[-1]
    judgement = judge(model, DEMO)
    assert [*np.sign(logits[judgement.required] - logits)] == [*judgement.signs]


def test_the_landscape_predicts_at_a_point_what_the_forward_pass_does() -> None:
    model = shipped("windows").model
    stages = values.stages(model, DEMO)
    for y, logits in zip(stages.y, stages.logits, strict=True):
        ground = values.landscape(model, (y[0], y[0] + 1, y[1], y[1] + 1))
        np.testing.assert_allclose(ground.logits[0, 0], logits, rtol=1e-9, atol=1e-9)


def test_only_a_known_plan_shows_sequences_at_initialization(written: list[Any]) -> None:
    foreign = replace(shipped("windows"), plan=None, history=())
    (with_plan,) = minimal.draw(shipped("paper"), "paper", ("04",))
    (without,) = minimal.draw(foreign, "foreign", ("04",))
    assert [len(figure.axes) for figure in written] == [2, 1]
    assert "at initialization" in with_plan.caption
    assert "at initialization" not in without.caption


def test_sequences_are_marked_by_the_rule() -> None:
    tokens = np.array([[4, PLUS, 4, PLUS, 5, 1], [1, PLUS, 3, 6, PLUS, 6]])
    table = training.of_sequences(tokens)
    assert table.right.tolist() == [[0, 0, 1, 0, -1, 0], [0, 0, 0, 0, 0, 1]]
    assert (table.bound, table.told) == (3, "2 of 3")


def test_a_prompted_model_writes_only_where_a_token_is_required() -> None:
    idle = training.generated(NOTHING, 6, 9, prompted=True)
    perfect = training.generated(shipped("windows").model, 6, 9, prompted=True)
    table = training.of_sequences(perfect)
    assert (idle[:, 0] == perfect[:, 0]).all()
    assert table.bound > 0
    assert (table.right >= 0).all()
    assert (training.of_sequences(idle).right < 0).any()


@pytest.mark.parametrize("name", NAMES)
def test_the_boxes_are_those_of_the_cover(name: str) -> None:
    model = shipped(name).model
    drawn = [*boxes.sets_of(model, 5)]
    leaves = [
        (part.group.even, leaf.label, cover.set_size(allowed))
        for part in cover.cover(model, 5)
        for leaf, allowed in part.leaves()
    ]
    assert sorted((one.even, one.label, one.size) for one in drawn) == sorted(leaves)


def test_a_model_that_needs_many_boxes_has_some_that_settle_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(boxes, "MOST_SETS", len(groups(5)) + 2)
    found = [*boxes.sets_of(torch_model.model_of(torch_model.initial(1, 5, 32)), 5)]
    assert len(found) == len(groups(5)) + 2
    assert sum(one.size for one in found) == window_count(5)
    assert None in {one.label for one in found}


def test_a_model_that_does_nothing_has_figures_too(written: list[Any]) -> None:
    checkpoint = Checkpoint(model=NOTHING, plan=None, history=(), sha256="")
    numbers = ("07", "08", "13")
    assert len(list(minimal.draw(checkpoint, "nothing", numbers))) == len(numbers) == len(written)


def test_a_name_that_no_file_could_bear_is_made_plain(written: list[Any]) -> None:
    (figure,) = minimal.draw(shipped("windows"), 'my "run" / 1', ("03",))
    assert figure.name == "minimal-my-run-1-03"
    assert len(written) == 1


def test_a_filled_field_is_drawn_by_its_corners_alone() -> None:
    from matplotlib.figure import Figure

    x = y = np.linspace(0.0, 1.0, 101)
    axes: Any = Figure().subplots()
    contours.fill_between(axes, x, y, 1 - x[None, :] - y[:, None], (0.0, 2.0), "#000000")
    (patch,) = axes.patches
    corners = {(round(a, 6), round(b, 6)) for a, b in patch.get_path().vertices.tolist()}
    assert corners == {(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)}


def test_a_name_of_a_region_stands_inside_it_far_from_its_edge() -> None:
    x = y = np.linspace(0.0, 10.0, 101)
    inside = (np.abs(x[None, :] - 3) < 2) & (np.abs(y[:, None] - 6) < 1)
    assert contours.inner_point(x, y, inside) == pytest.approx((3.0, 6.0), abs=0.2)
