"""The figure of frontiers and bounds comes from the certificate, and from nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from constructions.machines.precision import WAYS, FrontierCase
from constructions.machines.precision_claims import frontier_exhibit
from constructions.universal.floats import FORMATS
from reports.figures import parity_precision
from verify.verdicts import Json

ROWS = [
    frontier_exhibit(FrontierCase(format=FORMATS[name], way=way, limit=limit))
    for name, limit in (("bfloat16", 256), ("float64", 8))
    for way in WAYS.values()
    if way.sum != "wider" or name == "bfloat16"
]


def record(status: str) -> dict[str, Json]:
    checks = [{"certificate": "certificates/some.json"}]
    return {"claims": [{"id": parity_precision.CLAIM, "status": status, "checks": checks}]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "certificates").mkdir()
    content = {"content": {"instances": ROWS}}
    (tmp_path / "certificates" / "some.json").write_text(json.dumps(content))
    return tmp_path


def test_the_same_certificate_gives_the_same_figure(folder: Path) -> None:
    first, second = (parity_precision.of_folder(folder, record("BOUNDED")) for _ in range(2))
    assert first == second
    (figure,) = first
    assert figure.name == parity_precision.NAME
    assert "style=" not in figure.inline
    assert figure.caption in figure.inline


def test_a_claim_that_failed_and_a_certificate_that_is_gone_have_no_figure(folder: Path) -> None:
    assert parity_precision.of_folder(folder, record("REFUTED")) == []
    assert parity_precision.of_folder(folder, {"claims": []}) == []
    (folder / "certificates" / "some.json").unlink()
    assert parity_precision.of_folder(folder, record("BOUNDED")) == []


def test_every_way_has_a_column() -> None:
    assert set(parity_precision.WAYS) == set(WAYS)
