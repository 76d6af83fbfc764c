"""LayerNorm on exact rows, post-LayerNorm models, and the rechecker on the claims' instances."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constructions.universal.definitions import TransformerSize, run_target
from constructions.universal.instances import random_matrix, random_target, seeded
from lowerbounds import normalization
from lowerbounds.layer_norm import (
    ALONE,
    PAIR,
    Head,
    LayerNorm,
    PostNorm,
    exact_root,
    heads_of,
    plain_norm,
    root_bounds,
)
from lowerbounds.normalization_instances import (
    RULES,
    ZERO_RANGES,
    LargeOutput,
    ZeroInput,
    large_output_exhibit,
    large_ranges,
    zero_input_exhibit,
)
from lowerbounds.post_norm_models import (
    SMALL_EPS,
    large_target,
    output_limits,
    random_model,
    shifted_target,
)
from verify.claims import Setting
from verify.definitions.normalization import check_large_output, check_zero_input
from verify.definitions.plain import RejectedError
from verify.errors import InexactError, ShapeError, SizeError
from verify.loading import claims_of
from verify.rational import Matrix
from verify.verdicts import Status

ENTRY = st.fractions(-5, 5, max_denominator=6)
ROW = st.lists(ENTRY, min_size=2, max_size=6).map(tuple)
SIZE = TransformerSize(heads=2, layers=2, head_width=1, token_width=3)


@given(st.fractions(0, 10**6))
def test_an_enclosure_holds_the_root_and_is_narrow(value: Fraction) -> None:
    low, high = root_bounds(value)
    assert low**2 <= value <= high**2
    assert high - low in (0, Fraction(1, 1 << 64))


@given(st.fractions(0, 1000))
def test_the_root_of_a_square_is_exact(root: Fraction) -> None:
    assert exact_root(root**2) == root


def test_an_irrational_root_is_refused() -> None:
    with pytest.raises(InexactError, match="variance plus eps to be a rational square, got 2;"):
        exact_root(Fraction(2))


@given(ROW)
def test_deviations_sum_to_zero_and_squares_keep_their_bound(row: tuple[Fraction, ...]) -> None:
    norm = plain_norm(len(row), SMALL_EPS)
    deviations, square = norm.deviations(row), norm.divided_by(row)
    assert sum(deviations) == 0
    assert sum(y * y / square for y in deviations) < len(row)
    assert all(y * y <= (len(row) - 1) * square for y in deviations)


@given(ROW)
def test_what_a_column_reads_agrees_with_floats(row: tuple[Fraction, ...]) -> None:
    width = len(row)
    scale = tuple(Fraction(j + 1, 2) for j in range(width))
    shift = tuple(Fraction(1 - j) for j in range(width))
    norm = LayerNorm(scale=scale, shift=shift, eps=Fraction(1, 8))
    low, high = norm.read_between(row, (Fraction(1),) * width)
    mean = sum(row) / width
    root = math.sqrt(sum((x - mean) ** 2 for x in row) / width + norm.eps)
    parts = zip(row, scale, shift, strict=True)
    read = sum(float(x - mean) / root * g + b for x, g, b in parts)
    assert low <= high
    assert float(low) == pytest.approx(read)


@pytest.mark.parametrize("width", range(2, 7))
def test_a_coordinate_that_stands_alone_nearly_attains_the_bound(width: int) -> None:
    norm, row = plain_norm(width, SMALL_EPS), (Fraction(100), *(Fraction(0),) * (width - 1))
    square = norm.deviations(row)[0] ** 2 / norm.divided_by(row)
    assert width - 1 - Fraction(1, 1000) < square < width - 1


@given(ENTRY)
def test_at_width_one_the_shift_comes_back(entry: Fraction) -> None:
    norm = LayerNorm(scale=(Fraction(7),), shift=(Fraction(3, 2),), eps=Fraction(1, 4))
    assert norm.of(Matrix(1, 1, [entry])) == Matrix(1, 1, [Fraction(3, 2)])


def test_a_row_with_a_rational_divisor_is_normalised_exactly() -> None:
    norm = LayerNorm(scale=(Fraction(2),) * 2, shift=(Fraction(1),) * 2, eps=Fraction(9, 16))
    expected = [1 + 2 * Fraction(4, 5), 1 - 2 * Fraction(4, 5)]
    assert norm.of(Matrix(1, 2, [5, 3])) == Matrix(1, 2, expected)


def test_wrong_normalisations_are_refused() -> None:
    one = (Fraction(1),)
    with pytest.raises(SizeError, match="LayerNorm.eps must be positive, got 0"):
        LayerNorm(scale=one, shift=one, eps=Fraction(0))
    with pytest.raises(ShapeError, match="one entry per coordinate, got 1 and 2"):
        LayerNorm(scale=one, shift=one * 2, eps=Fraction(1))
    with pytest.raises(ShapeError, match=r"must be 2 normalisations of width 3, got widths \[3\]"):
        PostNorm(
            layers=heads_of(random_target(SIZE, 1)),
            norms=(plain_norm(3, SMALL_EPS),),
            residual=True,
            readout=Matrix.identity(3),
        )


def test_a_sublayer_is_a_layer_without_normalisation() -> None:
    one_layer = TransformerSize(heads=2, layers=1, head_width=2, token_width=3)
    target, inputs = random_target(one_layer, 4), random_matrix(seeded(5), 2, 3)
    models = [
        PostNorm(
            layers=heads_of(target),
            norms=(plain_norm(3, SMALL_EPS),),
            residual=residual,
            readout=Matrix.identity(3),
        )
        for residual in (False, True)
    ]
    mixed = run_target(target, inputs, PAIR).output
    assert models[0].sublayer(0, inputs, PAIR) == mixed
    assert models[1].sublayer(0, inputs, PAIR) == mixed + inputs


@pytest.mark.parametrize("residual", [False, True])
def test_at_zero_a_target_returns_its_last_shift_from_zero_streams(residual: bool) -> None:
    shift = (Fraction(3), Fraction(-1, 2), Fraction(0))
    target = shifted_target(SIZE, residual=residual, shift=shift, seed=3)
    *before, last = target.streams(Matrix.zero(2, 3), PAIR)
    assert all(stream == Matrix.zero(2, 3) for stream in before)
    assert last.rows() == (shift, shift)


@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("width", [2, 3, 4])
def test_a_large_target_scales_its_first_coordinate(width: int, residual: bool) -> None:
    size = TransformerSize(heads=2, layers=3, head_width=1, token_width=width)
    unit = Matrix.with_ones(1, width, [0], [0])
    first = [
        large_target(size, residual=residual, scale=Fraction(scale)).output(unit, ALONE)[0, 0]
        for scale in (1, 50)
    ]
    assert first == [1 - Fraction(1, width), 50 * (1 - Fraction(1, width))]


def test_a_bound_counts_scale_shift_and_readout() -> None:
    norm = LayerNorm(
        scale=(Fraction(-2), Fraction(1)), shift=(Fraction(3), Fraction(-1)), eps=SMALL_EPS
    )
    head = Head(query=Matrix.zero(2, 1), key=Matrix.zero(2, 1), mix=Matrix.identity(2))
    model = PostNorm(
        layers=((head,),), norms=(norm,), residual=False, readout=Matrix(2, 2, [1, 0, -1, 2])
    )
    assert output_limits(model, Fraction(1)) == [5 + 2, 4]


@pytest.mark.parametrize("claim", claims_of(normalization), ids=lambda claim: claim.id)
def test_each_claim_is_proved_and_its_instances_hold(claim: Any) -> None:
    verdicts = [check.method.settle(Setting(profile="quick")) for check in claim.checks()]
    assert [verdict.status for verdict in verdicts] == [Status.PROVED, Status.BOUNDED]


# --- the rechecker ---------------------------------------------------------------------------


def zero_exhibit() -> dict[str, Any]:
    case: ZeroInput = list(ZERO_RANGES["quick"].over())[-1]
    return zero_input_exhibit(Fraction(1))(case)


def large_exhibit() -> dict[str, Any]:
    case: LargeOutput = list(large_ranges(2)["quick"].over())[-1]
    assert random_model(case.width, 2, case.seed) == case.fixed
    return large_output_exhibit(RULES)(case)


def test_plain_definitions_accept_the_instances() -> None:
    check_zero_input(zero_exhibit())
    check_large_output(large_exhibit())


def no_eps(exhibit: dict[str, Any]) -> None:
    exhibit["fixed"]["norms"][-1]["eps"] = "0"


def one_embedding(exhibit: dict[str, Any]) -> None:
    del exhibit["embeddings"][1:]


def the_fixed_shift(exhibit: dict[str, Any]) -> None:
    shift = exhibit["target"]["norms"][-1]["shift"]
    shift[0] = str(Fraction(shift[0]) - 1)


def an_earlier_shift(exhibit: dict[str, Any]) -> None:
    exhibit["target"]["norms"][0]["shift"][0] = "1"


def less_room(exhibit: dict[str, Any]) -> None:
    exhibit["room"] = "1"


def a_smaller_bound(exhibit: dict[str, Any]) -> None:
    exhibit["bounds"][0] = "1"


def a_smaller_scale(exhibit: dict[str, Any]) -> None:
    norm = exhibit["target"]["norms"][-1]
    norm["scale"] = ["1"] * len(norm["scale"])


Change = Callable[[dict[str, Any]], None]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (no_eps, "eps must be positive"),
        (one_embedding, "there must be several embeddings"),
        (the_fixed_shift, "the target's output is the fixed one"),
        (an_earlier_shift, "a run needs rational square roots"),
    ],
)
def test_a_broken_instance_at_zero_is_rejected(change: Change, text: str) -> None:
    exhibit = zero_exhibit()
    change(exhibit)
    with pytest.raises(RejectedError, match=text):
        check_zero_input(exhibit)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (no_eps, "eps must be positive"),
        (less_room, "B^2 must be at least m - 1"),
        (a_smaller_bound, "the bounds are others"),
        (a_smaller_scale, "the target does not exceed the bound"),
    ],
)
def test_a_broken_instance_with_a_large_output_is_rejected(change: Change, text: str) -> None:
    exhibit = large_exhibit()
    change(exhibit)
    with pytest.raises(RejectedError, match=re.escape(text)):
        check_large_output(exhibit)
