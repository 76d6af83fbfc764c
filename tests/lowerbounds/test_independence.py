"""Path vectors of softmax targets: what they are, their determinants, and their least sizes."""

from __future__ import annotations

import itertools
import json
import math
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from constructions.universal.ball_runs import enclosed_target, softmax_of
from constructions.universal.nonlinearities import full_mask
from lowerbounds.independence import RANGES, dependent, path_exhibit
from lowerbounds.softmax_paths import (
    BITS,
    CHOICE,
    PathCase,
    determinant,
    path_vectors,
    rank_limit,
)
from verify.balls import Balls
from verify.errors import SizeError
from verify.methods.enclosure import Undecided
from verify.rational import Matrix

MIXED = PathCase(heads=2, layers=2)


def plain_vectors(case: PathCase, tokens: tuple[Fraction, ...]) -> list[list[float]]:
    """Path vectors in floating point, by the definitions, the last head slowest."""

    def attended(logit: Fraction, vector: list[float], stream: list[float]) -> list[float]:
        rows = [[math.exp(float(logit) * x * y) for y in stream] for x in stream]
        return [sum(a * v for a, v in zip(row, vector, strict=True)) / sum(row) for row in rows]

    stream = [float(token) for token in tokens]
    vectors = [stream]
    logits = CHOICE.logits(case.heads)
    for weights in case.weights:
        vectors = [attended(c, vector, stream) for c in logits for vector in vectors]
        moved = [attended(c, stream, stream) for c in logits]
        stream = [
            sum(float(w) * x for w, x in zip(weights, column, strict=True))
            for column in zip(*moved, strict=True)
        ]
    return vectors


@pytest.mark.parametrize("case", [MIXED, PathCase(heads=3, layers=2, unit=(2, 0))])
def test_path_vectors_are_those_of_the_definition(case: PathCase) -> None:
    for tokens in case.inputs(CHOICE):
        found = path_vectors(case.target(CHOICE), tokens, 128)
        assert found.shape == (2, case.paths)
        for column, vector in enumerate(plain_vectors(case, tokens)):
            for row, value in enumerate(vector):
                lower, upper = found[row, column]
                assert abs(float((lower + upper) / 2) - value) < 1e-12


def test_weighted_path_vectors_add_up_to_the_output() -> None:
    (tokens, _) = MIXED.inputs(CHOICE)
    columns = path_vectors(MIXED.target(CHOICE), tokens, 128)
    first, second = MIXED.weights
    along = Matrix(4, 1, [b * a for b, a in itertools.product(second, first)])
    inputs = Matrix(2, 1, tokens)
    output = enclosed_target(MIXED.target(CHOICE), inputs, 128, softmax_of(full_mask(2), 1))
    assert (columns @ Balls.of(along, 128)).agreeing_decimals(output) >= 30


@pytest.mark.parametrize(
    ("heads", "layers", "inputs"), [(2, 1, 1), (3, 1, 2), (3, 2, 5), (2, 4, 8)]
)
def test_two_tokens_need_half_as_many_inputs_as_paths(heads: int, layers: int, inputs: int) -> None:
    case = PathCase(heads=heads, layers=layers)
    assert len(case.inputs(CHOICE)) == inputs
    assert dependent()(case, BITS) is None
    lower, upper = determinant(case, CHOICE, BITS)
    assert lower * upper > 0


def test_a_precision_too_low_leaves_the_question_open() -> None:
    case = PathCase(heads=2, layers=4)
    decision = dependent()(case, 12)
    assert decision == Undecided("the ball of the determinant contains 0 at 12 bits")


def test_the_rank_is_limited_by_heads_that_differ_and_by_tokens_that_differ() -> None:
    case = PathCase(heads=3, layers=2)
    two = replace(CHOICE, logits=lambda heads: CHOICE.logits(heads - 1) + CHOICE.logits(1))
    assert rank_limit(case, CHOICE) == 9
    assert rank_limit(case, two) == 4
    assert rank_limit(case, replace(CHOICE, tokens=lambda _: (Fraction(2),) * 3)) == 1
    once = replace(CHOICE, tokens=lambda place: (Fraction(2), Fraction(2 + place)))
    assert rank_limit(case, once) == 9


def test_the_standard_grid_holds_the_stated_sizes_and_every_unit_weight() -> None:
    cases = list(RANGES["standard"].over())
    sizes = {(case.heads, case.layers) for case in cases}
    assert {(2, n) for n in range(1, 6)} | {(3, 1), (3, 2), (3, 3), (4, 2)} <= sizes
    for heads, layers in sizes:
        units = [c.unit for c in cases if (c.heads, c.layers) == (heads, layers)]
        assert set(units) == {None, *itertools.product(range(heads), repeat=layers)}


def test_what_is_shown_is_the_ball_and_its_digits() -> None:
    shown = path_exhibit()(MIXED)
    lower, upper = map(Fraction, shown["determinant"])
    assert (lower, upper) == determinant(MIXED, CHOICE, BITS)
    assert 10 ** shown["digits"] * (upper - lower) <= max(-lower, upper)
    assert shown["digits"] > 60
    assert shown["inputs"] == [["3/2", "-1/2"], ["5/3", "-1/2"]]


@pytest.mark.parametrize(("heads", "layers"), [(0, 2), (2, 0), (2.0, 2), (2, True)])
def test_sizes_that_are_no_numbers_from_one_on_are_refused(heads: int, layers: int) -> None:
    with pytest.raises(SizeError, match="to be an int of at least 1, got .*; choose H, L >= 1"):
        PathCase(heads=heads, layers=layers)


def test_a_grid_too_large_for_the_limit_is_unknown_as_a_whole(tmp_path: Path) -> None:
    """Shards that were done in time do not make a truncated table look whole."""
    file = tmp_path / "large.py"
    file.write_text(
        """
from lowerbounds.independence import PathCase, dependent, path_exhibit
from verify.claims import Source, claim, covers
from verify.methods.enclosure import Enclosure
from verify.ranges import Range
from verify.verdicts import Status

CASES = [PathCase(heads=2, layers=1), PathCase(heads=2, layers=9)]
LARGE = Range(bound="(2, 1) and (2, 9)", over=lambda: iter(CASES))


@claim(
    id="mine.large",
    source=Source("mine", "a grid"),
    latex="x",
    scope="two sizes",
    expected=Status.BOUNDED,
)
def a_large_grid():
    \"\"\"Path vectors are independent at two sizes.\"\"\"
    return [
        covers(
            Enclosure(
                decide=dependent(),
                ranges={"quick": LARGE, "standard": LARGE, "deep": LARGE},
                margin="not 0",
                exhibit=path_exhibit(),
                parts=2,
                rechecked_as="independence",
            )
        )
    ]
""".replace('\\"', '"'),
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "reports.cli", "verify", str(file), "--seconds", "2"]
    done = subprocess.run(
        [*command, "--out", str(tmp_path / "out")], capture_output=True, text=True, check=False
    )
    (found,) = json.loads((tmp_path / "out" / "record.json").read_text())["claims"]
    assert (done.returncode, found["status"]) == (3, "UNKNOWN")
    assert found["checks"][0]["evidence"]["reason"] == "killed after its 2 s of time"
    assert found["checks"][0]["certificate"] is None
