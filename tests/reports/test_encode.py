"""`certiformer encode` as a user runs it: what it writes, what it refuses, what is rechecked."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open

from constructions.universal.definitions import TransformerSize
from constructions.universal.draws import Block, Stream
from constructions.universal.instances import random_target
from constructions.universal.weights import write_target
from reports.encoding_text import ceiling
from reports.record import canonical as record_bytes
from verify.certificates import canonical

Done = subprocess.CompletedProcess[str]
Run = Callable[..., Done]
ROOT = Path(__file__).resolve().parents[2]
TARGET, GATED = ROOT / "examples" / "target.safetensors", ROOT / "examples" / "gated.safetensors"
FILES = {
    "certificates",
    "embedding.safetensors",
    "index.html",
    "junit.xml",
    "claims.tex",
    "record.json",
    "report.txt",
    "badge.svg",
    "run.json",
    "universal.safetensors",
}


def encode(call: Run, target: Path, name: str, out: Path, *more: object) -> Done:
    return call("encode", target, "--construction", name, "--out", out, *more)


def rechecked(folder: Path) -> Done:
    return subprocess.run(
        [sys.executable, "-I", str(ROOT / "verify" / "recheck.py"), str(folder)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.safetensors"
    size = TransformerSize(heads=1, layers=2, head_width=1, token_width=2)
    write_target(path, random_target(size, 3), "float32")
    return path


# --- what is written -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "name"),
    [
        (TARGET, "tree"),
        (TARGET, "looped"),
        (TARGET, "generic"),
        (GATED, "sparse"),
        (GATED, "generic"),
    ],
)
def test_the_examples_are_encoded_rechecked_and_within_their_bounds(
    target: Path, name: str, call: Run, tmp_path: Path
) -> None:
    done = encode(call, target, name, tmp_path / "out", "--inputs", 1)
    assert done.returncode == 0, done.stderr
    assert f"encoding.{name} PROVED: E P_0 = C_0 exactly" in done.stdout
    assert "within the bound" in done.stdout
    assert (tmp_path / "out" / "report.txt").read_text() == done.stdout
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES
    again = rechecked(tmp_path / "out")
    assert again.returncode == 0, again.stdout + again.stderr
    assert "1 accepted, 0 partly, 0 not rechecked, 0 rejected, 0 unreadable" in again.stdout


def test_the_widths_of_all_constructions_are_shown(call: Run, tmp_path: Path) -> None:
    done = encode(call, TARGET, "tree", tmp_path / "out", "--m", 41)
    rows = dict(line.split(maxsplit=1) for line in done.stdout.splitlines() if line)
    assert rows["tree"].split() == ["40", "chosen,", "m", "=", "41"]
    assert rows["looped"].strip() == rows["generic"].strip() == "40"
    assert rows["shift"].startswith("-")
    assert "serves one head" in rows["shift"]


@pytest.mark.parametrize(
    ("dtype", "code"), [("float64", "F64"), ("float16", "F16"), ("bfloat16", "BF16")]
)
def test_the_embedding_has_the_asked_dtype_and_says_what_it_is_of(
    dtype: str, code: str, small: Path, call: Run, tmp_path: Path
) -> None:
    done = encode(call, small, "shift", tmp_path / "out", "--dtype", dtype)
    assert done.returncode == 0, done.stderr
    with safe_open(tmp_path / "out" / "embedding.safetensors", framework="np") as opened:
        metadata = opened.metadata()
        assert opened.get_slice("E").get_dtype() == code
        assert opened.get_slice("E").get_shape() == [2, 6]
    assert metadata["construction"] == "shift"
    assert (metadata["m"], metadata["dtype"]) == ("6", dtype)
    assert metadata["target_sha256"] == sha256(small.read_bytes()).hexdigest()
    record = (tmp_path / "out" / "record.json").read_text()
    assert metadata["target_sha256"] in record


def test_what_is_written_computes_the_target(call: Run, tmp_path: Path) -> None:
    """The dense files alone, run by hand, give the target's output."""
    assert encode(call, TARGET, "looped", tmp_path / "out", "--dense").returncode == 0
    model, weights = _arrays(tmp_path / "out" / "universal.safetensors"), _arrays(TARGET)
    embedding = _arrays(tmp_path / "out" / "embedding.safetensors")["E"]
    inputs = np.random.default_rng(1).standard_normal((5, 4))
    stream, ours = inputs, inputs @ embedding
    for layer in range(2):
        stream, ours = (
            sum(_attention(x @ query(head), x @ key(head)) @ x @ value(head) for head in range(2))
            for x, query, key, value in (
                (
                    stream,
                    lambda h, t=layer: weights["W_Q"][t, h],
                    lambda h, t=layer: weights["W_K"][t, h],
                    lambda h, t=layer: weights["W_V"][t, h] @ weights["W_O"][t, h],
                ),
                (
                    ours,
                    lambda h, t=layer: model[f"R_Q.{t}.{h}"],
                    lambda h, t=layer: model[f"R_K.{t}.{h}"],
                    lambda h, t=layer: model[f"R_V.{t}.{h}"],
                ),
            )
        )
    assert ours @ model["U"] == pytest.approx(stream, rel=1e-4, abs=1e-3)


def _arrays(path: Path) -> dict[str, Any]:
    with safe_open(path, framework="np") as opened:
        return {name: opened.get_tensor(name).astype(np.float64) for name in opened.keys()}  # noqa: SIM118


def _attention(queries: Any, keys: Any) -> Any:
    logits = queries @ keys.T / np.sqrt(2)
    logits[np.triu_indices(len(logits), 1)] = -np.inf
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def test_the_same_command_writes_the_same_files(small: Path, call: Run, tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert encode(call, small, "generic", tmp_path / name, "--seed", 4).returncode == 0
    for name in sorted(FILES - {"certificates", "run.json", "index.html"}):
        one, two = ((tmp_path / folder / name).read_bytes() for folder in ("one", "two"))
        assert one == two, name


def test_the_page_tells_how_to_repeat_it(small: Path, call: Run, tmp_path: Path) -> None:
    assert encode(call, small, "tree", tmp_path / "out").returncode == 0
    command = "certiformer encode small.safetensors --construction tree --m 6 --seed 0"
    assert command in (tmp_path / "out" / "index.html").read_text()
    page = (tmp_path / "out" / "index.html").read_bytes()
    assert call("report", tmp_path / "out").returncode == 0
    assert (tmp_path / "out" / "index.html").read_bytes() == page


def test_errors_are_figures_of_the_run_and_not_of_the_record(
    small: Path, call: Run, tmp_path: Path
) -> None:
    assert encode(call, small, "tree", tmp_path / "out").returncode == 0
    (check,) = json.loads((tmp_path / "out" / "run.json").read_text())["checks"]
    figures = check["notes"]["errors"]
    assert figures["measured"] <= figures["bound"]
    assert "errors" not in (tmp_path / "out" / "record.json").read_text()


# --- what is tampered with -------------------------------------------------------------------


def _resealed(folder: Path, change: Callable[[Any], None]) -> None:
    """Change the exhibit, and make names and record fit, as who forges one would."""
    record = json.loads((folder / "record.json").read_text())
    check = record["claims"][0]["checks"][0]
    path = folder / check["certificate"]
    body = json.loads(path.read_text())
    change(body["content"]["instances"][0])
    data = canonical(body)
    path.unlink()
    name = f"certificates/{sha256(data).hexdigest()}.json"
    (folder / name).write_bytes(data)
    check["certificate"] = name
    (folder / "record.json").write_bytes(record_bytes(record))


def _other_entry(show: Any) -> None:
    show["embedding"]["rows"][0][1] = hex(int(show["embedding"]["rows"][0][1], 16) ^ 1)


def _other_target(show: Any) -> None:
    show["target"]["outputs"][0][0][0][0] = "1/3"


def _other_seed(show: Any) -> None:
    show["model"]["draw"]["seed"] = 1


@pytest.mark.parametrize("change", [_other_entry, _other_target, _other_seed])
def test_a_forged_certificate_is_rejected(
    change: Callable[[Any], None], small: Path, call: Run, tmp_path: Path
) -> None:
    assert encode(call, small, "generic", tmp_path / "out").returncode == 0
    assert rechecked(tmp_path / "out").returncode == 0
    _resealed(tmp_path / "out", change)
    done = rechecked(tmp_path / "out")
    assert done.returncode == 1, done.stdout
    assert "E P_0 is not C_0" in done.stdout


def test_resealing_without_a_change_is_accepted(small: Path, call: Run, tmp_path: Path) -> None:
    assert encode(call, small, "generic", tmp_path / "out").returncode == 0
    _resealed(tmp_path / "out", lambda show: None)
    assert rechecked(tmp_path / "out").returncode == 0


# --- what is refused -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "more", "words"),
    [
        ("cactus", (), "--construction must be one of tree, shift, looped, folded, sparse,"),
        ("sparse", (), "--construction sparse must fit the target: it serves gated and residual"),
        ("tree", ("--m", 5), "--m must be at least 6 for tree and this target, got 5; raise it"),
        ("generic", ("--m", 5), "--m must be at least 6 for generic"),
        ("folded", (), "it serves d >= d_in = 2, not 1; use tree"),
        ("tree", ("--dtype", "float8"), "--dtype must be one of float64, float32, float16,"),
        ("generic", ("--seed", 1 << 32), "--seed must be from 0 to 4294967295"),
        ("tree", ("--inputs", 0), "--inputs"),
    ],
)  # fmt: skip
def test_wrong_usage_is_2_in_one_line_and_writes_nothing(
    name: str, more: tuple[object, ...], words: str, small: Path, call: Run, tmp_path: Path
) -> None:
    done = encode(call, small, name, tmp_path / "out", *more)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert words in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("target", "name", "words"),
    [(TARGET, "shift", "serves one head, not 2"), (GATED, "tree", "use sparse or generic")],
)
def test_a_construction_that_does_not_serve_the_target_is_2(
    target: Path, name: str, words: str, call: Run, tmp_path: Path
) -> None:
    done = encode(call, target, name, tmp_path / "out")
    assert done.returncode == 2
    assert words in done.stderr


def test_unreadable_targets_are_2_in_one_line(small: Path, call: Run, tmp_path: Path) -> None:
    cut = tmp_path / "cut.safetensors"
    cut.write_bytes(small.read_bytes()[:-3])
    for target in (cut, tmp_path, tmp_path / "nowhere"):
        done = encode(call, target, "tree", tmp_path / "out")
        assert done.returncode == 2
        assert done.stderr.startswith(f"WeightsError: {target}: must be ")
        assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_failure_leaves_an_earlier_folder_as_it_was(
    small: Path, call: Run, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert encode(call, small, "tree", out).returncode == 0
    before = {path: path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}
    assert encode(call, small, "generic", out, "--m", 2).returncode == 2
    after = {path: path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}
    assert after == before


def test_an_encode_takes_the_place_of_an_earlier_one(
    small: Path, call: Run, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert encode(call, small, "tree", out).returncode == 0
    assert encode(call, small, "looped", out).returncode == 0
    assert len(list((out / "certificates").iterdir())) == 1
    assert rechecked(out).returncode == 0


def test_a_folder_that_cannot_be_written_is_2(small: Path, call: Run, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    done = encode(call, small, "tree", tmp_path / "out")
    assert done.returncode == 2
    assert done.stderr.startswith("OutputError: ")
    assert (tmp_path / "out").read_text() == "mine"


def test_a_draw_that_lacks_rank_is_refuted_and_writes_nothing(
    small: Path, call: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take = Stream.take

    def zeros(self: Stream, height: int, width: int) -> Block:
        block = take(self, height, width)
        return Block(wholes=block.wholes * 0, exponent=block.exponent)

    monkeypatch.setattr(Stream, "take", zeros)
    done = encode(call, small, "generic", tmp_path / "out")
    assert done.returncode == 1
    assert "REFUTED: P_0 must have full column rank 6, its rank is 0" in done.stdout
    assert "refutes full rank of this draw, not its universality" in done.stdout
    assert not (tmp_path / "out").exists()


def test_an_error_beyond_its_bound_is_1(
    small: Path, call: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    from reports import encoding

    found = encoding.deviation

    def larger(*arguments: Any) -> Any:
        errors = found(*arguments)
        return replace(errors, measured=errors.bound * 2)

    monkeypatch.setattr(encoding, "deviation", larger)
    done = encode(call, small, "tree", tmp_path / "out")
    assert done.returncode == 1
    assert "BEYOND THE BOUND" in done.stdout


def test_an_embedding_that_fails_its_equations_is_not_written(
    small: Path, call: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from constructions.universal import encoding
    from verify.counterexamples import Counterexample

    wrong = Counterexample(text="E P_0 must equal C_0; it does not", instance={})
    monkeypatch.setattr(encoding, "equations_fail", lambda _: wrong)
    done = encode(call, small, "tree", tmp_path / "out")
    assert done.returncode == 1
    assert "E P_0 must equal C_0; it does not" in done.stdout
    assert not (tmp_path / "out").exists()


def test_an_overflowing_embedding_is_2(call: Run, tmp_path: Path) -> None:
    path = tmp_path / "large.safetensors"
    size = TransformerSize(heads=1, layers=2, head_width=1, token_width=2)
    target = random_target(size, 3)
    scaled = tuple(tuple(value.scaled(1 << 14) for value in row) for row in target.values)
    from dataclasses import replace

    write_target(path, replace(target, values=scaled), "float32")
    done = encode(call, path, "tree", tmp_path / "out", "--dtype", "float16")
    assert done.returncode == 2
    assert "embedding E: entries must be finite in float16" in done.stderr
    assert not (tmp_path / "out").exists()


# --- parts -----------------------------------------------------------------------------------


def test_bounds_are_shown_rounded_up() -> None:
    from fractions import Fraction

    assert ceiling(Fraction(1, 3)) == "0.334"
    assert ceiling(Fraction(0)) == "0"
    assert ceiling(Fraction(123_400_001, 1000)) == "1.24e+5"
    assert ceiling(float("inf")) == "infinite"


def test_the_script_of_the_examples_writes_a_target(tmp_path: Path) -> None:
    for more in ([], ["--gated"]):
        path = tmp_path / "trained.safetensors"
        done = subprocess.run(
            [sys.executable, "examples/train_target.py", str(path), "--steps", "2", *more],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert "% right on 20000 fresh inputs" in done.stdout
        from constructions.universal.weights import read_target

        assert read_target(path).target.size.gated == bool(more)
