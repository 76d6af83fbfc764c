"""Figures: the same bytes each time, nothing that the page's policy forbids, and honest points."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from reports import folder, html
from reports.figures import precision, svg
from reports.figures.precision import Point, figures, of_folder, points_of_run
from verify.verdicts import Json

RECORD: dict[str, Json] = {
    "schema": "certiformer/record/1",
    "profile": "quick",
    "seed": 0,
    "selectors": [],
    "claims": [],
    "findings": [],
}


def rows(*details: dict[str, Json], error: Json = 0.5) -> dict[str, Json]:
    return {"float32 on cpu": {"figures": [[error, 0.1, row] for row in details]}}


def check(claim: str, measured: dict[str, Json]) -> dict[str, Json]:
    return {"claim": claim, "check": 0, "seconds": 1.0, "notes": {"measured": measured}}


RUN: dict[str, Json] = {
    "checks": [
        check(precision.SPARSE, rows({"target": 0.25, "scale": 2.0})),
        check(precision.RANDOM, rows({"condition": 1e3, "scale": 2.0})),
        check(precision.RANDOM, rows({"condition": 2e3, "scale": 2.0, "steps": 1.0})),
        check(
            precision.RANDOM,
            rows(
                {
                    "scale": 2.0,
                    "target": 0.25,
                    "target bound": 8.0,
                    "simulation": 1.0,
                    "simulation bound": 16.0,
                }
            ),
        ),
        {"claim": "other.claim", "check": 0, "seconds": 1.0, "notes": {}},
    ]
}


def test_points_are_what_the_checks_measured_over_the_outputs_scale() -> None:
    points, device = points_of_run(RUN)
    assert device == "cpu"
    assert points == [
        Point(format="float32", side="sparse", error=0.25),
        Point(format="float32", side="target", error=0.125),
        Point(format="float32", side="random", error=0.25, condition=1e3),
        Point(format="float32", side="random", error=0.5, bound=8.0),
        Point(format="float32", side="target", error=0.125, bound=4.0),
    ]


def test_what_overflowed_has_no_point() -> None:
    run = {"checks": [check(precision.RANDOM, rows({"condition": 9.0, "scale": 1.0}, error="inf"))]}
    assert points_of_run(run) == ([], "cpu")
    assert of_folder(run, None) == []


def test_figures_are_the_same_bytes_each_time() -> None:
    first, again = (of_folder(RUN, None) for _ in range(2))
    assert [one.name for one in first] == ["error-by-condition", "error-by-format"]
    assert first == again


def test_a_figure_keeps_the_pages_policy_and_its_own_ids() -> None:
    drawn = [*of_folder(RUN, None), *figures(points_of_run(RUN)[0], "cpu", suffix="-device")]
    ids: list[str] = []
    for one in drawn:
        for part in ElementTree.fromstring(one.inline).iter():
            assert part.tag not in {"style", "script", "image", "foreignObject", "metadata"}
            assert "style" not in part.attrib
            assert not any(key.startswith("on") or "{" in key for key in part.attrib)
            assert part.get("href", "#").startswith("#")
            ids += [part.attrib["id"]] if "id" in part.attrib else []
        assert "url(" not in one.inline
        assert svg.INK not in one.inline
        assert "currentColor" in one.inline
        assert 'role="img"' in one.inline
    assert len(drawn) == 4
    assert ids
    assert len(set(ids)) == len(ids)


def test_every_reference_of_a_figure_has_its_target() -> None:
    for one in of_folder(RUN, None):
        root = ElementTree.fromstring(one.inline)
        ids = {part.get("id") for part in root.iter()}
        links = {part.get("href", "")[1:] for part in root.iter() if part.get("href")}
        assert links
        assert links <= ids


def test_a_file_of_its_own_stands_on_its_own_ground() -> None:
    (one, _) = of_folder(RUN, None)
    root = ElementTree.fromstring(svg.file_of(one.inline))
    assert root.tag == f"{{{svg.NAMESPACE}}}svg"
    assert "prefers-color-scheme:dark" in (root[0].text or "")


def test_the_page_shows_each_figure_with_its_caption() -> None:
    drawn = of_folder(RUN, None)
    text = html.render(RECORD, RUN, drawn).decode()
    assert 'id="figures"' in text
    for one in drawn:
        assert one.inline in text
        assert f'href="figures/{one.name}.svg"' in text
    assert "on cpu: 1 draw, each in float32. Lines" in text
    assert "<svg" not in html.render(RECORD, RUN).decode()


def test_reports_write_figures_read_the_devices_and_drop_stale_ones(tmp_path: Path) -> None:
    (tmp_path / "certificates").mkdir()
    (tmp_path / "record.json").write_text(json.dumps(RECORD))
    (tmp_path / "run.json").write_text(json.dumps(RUN))
    measured = {"device": "NVIDIA H200", "points": [vars_of(p) for p in points_of_run(RUN)[0]]}
    (tmp_path / "gpu.json").write_text(json.dumps(measured))
    folder.rebuild(tmp_path)
    names = {path.name for path in (tmp_path / "figures").iterdir()}
    assert names == {
        "error-by-condition.svg",
        "error-by-condition-device.svg",
        "error-by-format.svg",
        "error-by-format-device.svg",
    }
    page = (tmp_path / "index.html").read_text()
    assert "on NVIDIA H200" in page
    before = (tmp_path / "figures" / "error-by-format.svg").read_bytes()
    (tmp_path / "gpu.json").unlink()
    folder.rebuild(tmp_path)
    assert {path.name for path in (tmp_path / "figures").iterdir()} == {
        "error-by-condition.svg",
        "error-by-format.svg",
    }
    assert (tmp_path / "figures" / "error-by-format.svg").read_bytes() == before


def vars_of(point: Point) -> dict[str, Json]:
    return {
        name: getattr(point, name) for name in ("format", "side", "error", "bound", "condition")
    }


@pytest.mark.parametrize("points", [[], {"x": 1}, [{"format": "float32"}]])
def test_measurements_of_another_form_are_refused(tmp_path: Path, points: Json) -> None:
    from verify.errors import RecordError

    (tmp_path / "certificates").mkdir()
    (tmp_path / "record.json").write_text(json.dumps(RECORD))
    (tmp_path / "gpu.json").write_text(json.dumps({"device": "x", "points": points}))
    if points == []:
        folder.rebuild(tmp_path)
        assert not (tmp_path / "figures").exists()
        return
    with pytest.raises(RecordError, match="cannot be shown"):
        folder.rebuild(tmp_path)
