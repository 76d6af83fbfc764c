"""An encoding's E is exact, its certificate is checked by plain definitions, its errors bounded."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from constructions.tensor_files import read_file
from constructions.universal.comparisons import refactored
from constructions.universal.definitions import TransformerSize
from constructions.universal.draws import Block, Stream
from constructions.universal.embedding_error import deviation
from constructions.universal.encoding import (
    CONSTRUCTIONS,
    Deficit,
    Encoding,
    encode,
    encoding_claim,
    equations_fail,
    exhibit,
)
from constructions.universal.error_bounds import Bounded
from constructions.universal.floats import FORMATS, Floats
from constructions.universal.gates import GATES
from constructions.universal.instances import random_target
from constructions.universal.model_files import model_file, named_parts
from constructions.universal.rounding import rounded
from constructions.universal.weights import StoredTarget, read_target, write_target
from verify.balls import Balls
from verify.claims import Setting
from verify.definitions.encodings import check_encoding
from verify.definitions.plain import RejectedError
from verify.errors import UsageError
from verify.rational import Matrix
from verify.verdicts import Status

PLAIN = TransformerSize(heads=2, layers=2, head_width=2, token_width=2)
KINDS = {
    "plain": PLAIN,
    "one head": replace(PLAIN, heads=1, layers=3, token_width=3),
    "residual": replace(PLAIN, residual=True),
    "gated": replace(PLAIN, heads=1, neurons=2),
    "gated heads": replace(PLAIN, neurons=1),
    "both": replace(PLAIN, heads=1, layers=1, neurons=2, residual=True),
}


@pytest.fixture
def stored(tmp_path: Path) -> Callable[..., StoredTarget]:
    def make(size: TransformerSize, seed: int = 3, **metadata: str) -> StoredTarget:
        path = tmp_path / "target.safetensors"
        write_target(path, random_target(size, seed), "float32", **metadata)
        return read_target(path)

    return make


def encoded(given: StoredTarget, name: str, width: int | None = None, **more: Any) -> Encoding:
    asked = {"seed": 0, "dtype": "float32", **more}
    found = encode(given, CONSTRUCTIONS[name], width, **asked)
    assert isinstance(found, Encoding)
    return found


# --- exact -----------------------------------------------------------------------------------


@pytest.mark.parametrize("spare", [0, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_every_construction_that_serves_a_target_is_proved_and_rechecked(
    kind: str, spare: int, stored: Callable[..., StoredTarget]
) -> None:
    given, tried = stored(KINDS[kind]), 0
    for name, construction in CONSTRUCTIONS.items():
        if construction.refusal(KINDS[kind]) is not None:
            continue
        encoding = encoded(given, name, construction.least_width(KINDS[kind]) + spare)
        (check,) = encoding_claim(encoding).checks()
        verdict = check.method.settle(Setting())
        assert verdict.status is Status.PROVED
        assert verdict.certificate is not None
        check_encoding(verdict.certificate["instances"][0])
        tried += 1
    assert tried >= 2


def test_which_construction_serves_which_target() -> None:
    serves = {
        kind: {name for name, one in CONSTRUCTIONS.items() if one.refusal(size) is None}
        for kind, size in KINDS.items()
    }
    assert serves["plain"] == {"tree", "looped", "folded", "generic"}
    assert serves["one head"] == {"tree", "looped", "shift", "generic"}
    for kind in ("residual", "gated", "gated heads", "both"):
        assert serves[kind] == {"sparse", "generic"}


def test_an_embedding_that_is_off_by_a_hair_fails_its_equations(
    stored: Callable[..., StoredTarget],
) -> None:
    encoding = encoded(stored(PLAIN), "tree")
    hair = Matrix.with_ones(2, encoding.width, [1], [5]).scaled(Fraction(1, 1 << 300))
    wrong = replace(encoding.solved, embedding=encoding.solved.embedding + hair)
    assert equations_fail(encoding) is None
    assert equations_fail(replace(encoding, solved=wrong)) is not None


@pytest.mark.parametrize("name", ["tree", "looped", "folded", "generic"])
def test_a_width_below_the_least_is_refused(name: str, stored: Callable[..., StoredTarget]) -> None:
    least = CONSTRUCTIONS[name].least_width(PLAIN)
    with pytest.raises(UsageError, match=f"--m must be at least {least} for {name} and this"):
        encode(stored(PLAIN), CONSTRUCTIONS[name], least - 1, 0, "float32")


def test_more_entries_than_can_be_held_are_refused(stored: Callable[..., StoredTarget]) -> None:
    deep = TransformerSize(heads=8, layers=8, head_width=1, token_width=1)
    with pytest.raises(UsageError, match="at most 1048576 exact entries can be held, got 55125136"):
        encode(stored(deep), CONSTRUCTIONS["tree"], None, 0, "float32")
    with pytest.raises(UsageError, match="at most 33554432 exact entries can be held"):
        encode(stored(PLAIN), CONSTRUCTIONS["generic"], 5000, 0, "float32")


@pytest.mark.parametrize("width", [None, 40])
@pytest.mark.parametrize(
    ("spoil", "rank"),
    [
        (lambda wholes: wholes * 0, 0),
        (lambda wholes: np.repeat(wholes[:, :1], wholes.shape[1], axis=1), 6),
    ],
)
def test_a_draw_that_lacks_rank_is_a_deficit_with_its_rank(
    spoil: Any,
    rank: int,
    width: int | None,
    stored: Callable[..., StoredTarget],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    take = Stream.take

    def spoiled(self: Stream, height: int, width: int) -> Block:
        block = take(self, height, width)
        return replace(block, wholes=spoil(block.wholes))

    monkeypatch.setattr(Stream, "take", spoiled)
    found = encode(stored(PLAIN), CONSTRUCTIONS["generic"], width, 0, "float32")
    assert isinstance(found, Deficit)
    assert found.text == f"P_0 must have full column rank 32, its rank is {rank}"


def test_a_singular_local_block_is_a_deficit(
    stored: Callable[..., StoredTarget], monkeypatch: pytest.MonkeyPatch
) -> None:
    take = Stream.take

    def spoiled(self: Stream, height: int, width: int) -> Block:
        block = take(self, height, width)
        return replace(block, wholes=block.wholes * 0)

    monkeypatch.setattr(Stream, "take", spoiled)
    found = encode(stored(KINDS["gated"]), CONSTRUCTIONS["generic"], None, 0, "float32")
    assert isinstance(found, Deficit)
    assert found.text == "every local block B_j must be invertible, one is singular"


# --- certificates ----------------------------------------------------------------------------


def _more(text: str) -> str:
    return hex(int(text, 16) + 1)


def _entry(show: Any) -> None:
    show["embedding"]["rows"][1][4] = _more(show["embedding"]["rows"][1][4])


def _denominator(show: Any) -> None:
    show["embedding"]["over"] = _more(show["embedding"]["over"])


def _weight(show: Any) -> None:
    show["target"]["values"][0][0][0][1] = "17/5"


def _query(show: Any) -> None:
    show["target"]["queries"][1][0][1][0] = "17/5"


def _factor(show: Any) -> None:
    show["factors"]["keys"][0][0][0][0] = "17/5"


def _short(show: Any) -> None:
    show["embedding"]["rows"][0].pop()


def _row(show: Any) -> None:
    show["embedding"]["rows"].pop()


def _size(show: Any) -> None:
    show["model"]["size"] = {**show["model"]["size"], "layers": 1}


def _reader(show: Any) -> None:
    rows = show["model"]["queries"][1][0][0]
    rows[0] = (rows[0] + 1) % show["model"]["width"]


def _seed(show: Any) -> None:
    show["model"]["draw"]["seed"] += 1


def _tied(show: Any) -> None:
    show["model"]["tied"] = True


def _scale(show: Any) -> None:
    show["scales"][0][1]["rows"][0][2] = _more(show["scales"][0][1]["rows"][0][2])


def _down(show: Any) -> None:
    show["target"]["downs"][0][1][1] = "17/5"


def _gate(show: Any) -> None:
    show["target"]["gates"][1][0][1] = "17/5"


BOTH = (_entry, _denominator, _weight, _query, _factor, _short, _row, _size)
TAMPERED = [
    *(("plain", "looped", change) for change in (*BOTH, _reader)),
    *(("plain", "generic", change) for change in (*BOTH, _seed, _tied)),
    *(("gated", "sparse", change) for change in (_entry, _scale, _down, _gate, _reader)),
    *(("gated", "generic", change) for change in (_entry, _scale, _down, _gate, _seed)),
]


@pytest.mark.parametrize(("kind", "name", "change"), TAMPERED)
def test_a_tampered_certificate_is_rejected(
    kind: str, name: str, change: Any, stored: Callable[..., StoredTarget]
) -> None:
    show = exhibit(encoded(stored(KINDS[kind]), name))
    check_encoding(copy.deepcopy(show))
    change(show)
    with pytest.raises((RejectedError, IndexError, ValueError)):
        check_encoding(show)


def test_a_certificate_may_hold_other_factors_of_the_logits(
    stored: Callable[..., StoredTarget],
) -> None:
    given = stored(PLAIN)
    factored = refactored(given.target, 1)
    other = encoded(replace(given, target=factored), "tree")
    solved = replace(other.solved, factored=factored)
    encoding = replace(other, stored=given, solved=solved)
    assert factored != given.target
    show = exhibit(encoding)
    assert show["factors"]["queries"] != show["target"]["queries"]
    check_encoding(show)


# --- errors ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "float16"])
@pytest.mark.parametrize(
    ("kind", "name", "metadata"),
    [
        ("plain", "tree", {"logit_scale": "1/sqrt(d)", "mask": "full"}),
        ("plain", "folded", {"logit_scale": "3/4"}),
        ("plain", "generic", {"logit_scale": "1/8"}),
        ("residual", "sparse", {}),
        ("gated", "sparse", {"activation": "silu"}),
        ("gated", "sparse", {"activation": "gelu"}),
        ("both", "sparse", {"activation": "relu"}),
    ],
)
def test_the_measured_error_is_within_the_bound(
    kind: str, name: str, metadata: dict[str, str], dtype: str, stored: Callable[..., StoredTarget]
) -> None:
    encoding = encoded(stored(KINDS[kind], **metadata), name, dtype=dtype)
    found = deviation(encoding, inputs=2, tokens=4, seed=1)
    assert found.held
    assert found.measured is not None
    assert found.bound is not None or dtype == "float16"
    assert found.rounding <= found.scale
    unit = FORMATS[dtype].unit
    assert found.measured <= 2000 * unit * max(found.scale, 1) or name == "generic"


def test_a_wrong_embedding_shows_in_both_errors(stored: Callable[..., StoredTarget]) -> None:
    encoding = encoded(stored(PLAIN), "tree", dtype="float64")
    wrong = encoding.rounded + Matrix.with_ones(2, encoding.width, [0], [30])
    found = deviation(replace(encoding, rounded=wrong), inputs=1, tokens=4, seed=1)
    assert found.rounding > Fraction(1, 100)
    assert found.measured is not None
    assert found.measured > Fraction(1, 100)
    assert found.held


def test_an_error_beyond_its_bound_is_not_held(stored: Callable[..., StoredTarget]) -> None:
    found = deviation(encoded(stored(PLAIN), "tree"), inputs=1, tokens=3, seed=1)
    assert found.bound is not None
    assert found.held
    assert not replace(found, measured=found.bound * 2).held
    assert not replace(found, measured=float("inf")).held


def test_without_pytorch_the_bound_stands_alone(
    stored: Callable[..., StoredTarget], monkeypatch: pytest.MonkeyPatch
) -> None:
    from constructions.universal import embedding_error

    monkeypatch.setattr(embedding_error, "find_spec", lambda name: None)
    found = deviation(encoded(stored(PLAIN), "tree"), inputs=1, tokens=3, seed=1)
    assert found.measured is None
    assert found.bound is not None


def test_an_overflowing_embedding_is_an_error(stored: Callable[..., StoredTarget]) -> None:
    given = stored(PLAIN)
    large = tuple(tuple(value.scaled(1000) for value in layer) for layer in given.target.values)
    with pytest.raises(UsageError, match="entries must be finite in float16"):
        encode(
            replace(given, target=replace(given.target, values=large)),
            CONSTRUCTIONS["tree"],
            None,
            0,
            "float16",
        )


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "float16"])
@pytest.mark.parametrize("name", GATES)
def test_computed_gates_are_within_their_bound(name: str, dtype: str) -> None:
    format = FORMATS[dtype]
    values = [Fraction(k, 32) for k in range(-400, 400, 3)]
    values += [Fraction(k) for k in (-1000, -120, -104, -90, -88, 88, 1000)]
    exact = Matrix(1, len(values), values)
    held = rounded(exact, format, "z")
    bounded = GATES[name].bounded(Bounded.of(exact, format, 160))
    computed = GATES[name].floats(Floats.of(held, format)).exact()
    assert computed is not None
    off = (Balls.of(computed, 160) - bounded.exact).mapped(abs)
    for column in range(len(values)):
        assert off[0, column][1] <= bounded.error[0, column][1]
    assert float(bounded.error.magnitude_upper()) < 10_000 * float(format.unit)


# --- files -----------------------------------------------------------------------------------


def _numbers(path: Path, data: bytes) -> dict[str, Any]:
    path.write_bytes(data)
    return {
        name: tensor.reals() if tensor.code != "I64" else np.frombuffer(tensor.data, dtype="<i8")
        for name, tensor in read_file(path).tensors.items()
    }


@pytest.mark.parametrize(("kind", "name"), [("plain", "looped"), ("gated", "sparse")])
def test_places_and_dense_matrices_are_the_same_model(
    kind: str, name: str, stored: Callable[..., StoredTarget], tmp_path: Path
) -> None:
    encoding = encoded(stored(KINDS[kind]), name)
    places = _numbers(tmp_path / "places", model_file(encoding, dense=False))
    dense = _numbers(tmp_path / "dense", model_file(encoding, dense=True))
    names = [part for part, _ in named_parts(encoding.solved.model)]
    assert sorted(dense) == sorted(names)
    for part in names:
        matrix = np.zeros(dense[part].shape)
        matrix[places[f"{part}.rows"], places[f"{part}.columns"]] = 1
        assert np.array_equal(matrix, dense[part])


def test_a_drawn_models_file_holds_the_very_draw(
    stored: Callable[..., StoredTarget], tmp_path: Path
) -> None:
    encoding = encoded(stored(PLAIN), "generic", seed=5)
    found = _numbers(tmp_path / "model", model_file(encoding, dense=False))
    for name, part in named_parts(encoding.solved.model):
        exact = [[Fraction(x) for x in row] for row in found[name].tolist()]
        assert Matrix.from_rows(exact) == part.dense()
