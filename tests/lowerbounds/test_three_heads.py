"""Three heads: the weights found are missed by all E and U; the rechecker sees what is wrong."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lowerbounds.three_heads import (
    RULES,
    Triple,
    determinant,
    inner,
    line_worlds,
    missed_weights,
    row_relation,
    three_heads_exhibit,
    three_heads_fail,
)
from verify.definitions.dimension import check_three_heads
from verify.definitions.plain import RejectedError
from verify.rational import Matrix

NUMBER = st.integers(-3, 3).map(Fraction)
VALUE = st.tuples(NUMBER, NUMBER, NUMBER, NUMBER)


def exact(*values: tuple[int, int, int, int]) -> Triple:
    first, second, third = (tuple(map(Fraction, value)) for value in values)
    return first, second, third


INDEPENDENT = exact((1, 0, 0, 0), (0, 1, 1, 0), (0, 0, 0, 1))
DEPENDENT = exact((1, 0, 0, 1), (0, 1, -1, 0), (2, 1, -1, 2))
NOTHING = exact((0, 0, 0, 0), (0, 0, 0, 0), (0, 0, 0, 0))


@given(st.tuples(VALUE, VALUE, VALUE), st.tuples(NUMBER, NUMBER), st.tuples(NUMBER, NUMBER))
def test_no_embedding_and_readout_respond_with_the_weights_found(
    values: Triple, row: tuple[Fraction, ...], column: tuple[Fraction, ...]
) -> None:
    missed = missed_weights(values)
    outer = tuple(x * y for x in row for y in column)
    assert tuple(inner(value, outer) for value in values) != missed.weights
    assert three_heads_fail()(values) is None


@given(st.tuples(VALUE, VALUE, VALUE), NUMBER)
def test_the_determinant_on_the_line_is_the_stated_sum_of_squares(
    values: Triple, t: Fraction
) -> None:
    missed = missed_weights(values)
    if missed.related:
        assert Matrix.from_rows(values).rank() < len(values)
        return
    point = tuple(m + t * k for m, k in zip(missed.shift, missed.kernel, strict=True))
    leading, middle, constant = missed.quadratic
    assert determinant(point) == leading * t**2 + middle * t + constant
    norm = inner(missed.kernel, missed.kernel)
    assert missed.sign * determinant(point) == norm + (2 + t**2) * abs(leading)


@given(st.lists(VALUE, min_size=1, max_size=4))
def test_dependent_rows_have_a_relation_that_is_not_trivial(rows: list[Any]) -> None:
    matrix = Matrix.from_rows([*rows, rows[0]])
    found = row_relation(matrix)
    assert any(found)
    assert (Matrix(1, len(found), found) @ matrix) == Matrix.zero(1, 4)


def test_the_worlds_have_kernels_of_every_sign_of_the_determinant() -> None:
    signs: set[int] = set()
    for world in line_worlds(RULES):
        kernel: Any = world.symbols["k"]
        value = determinant(tuple(kernel(place) for place in range(4)))
        signs.add((value > 0) - (value < 0))
    assert signs == {-1, 0, 1}


# --- the rechecker ---------------------------------------------------------------------------


def shown(value: Any) -> Any:
    return json.loads(json.dumps(value))


LINE, RELATION = (shown(three_heads_exhibit(values)) for values in (INDEPENDENT, DEPENDENT))


@pytest.mark.parametrize("values", [INDEPENDENT, DEPENDENT, NOTHING])
def test_weights_that_are_missed_are_accepted(values: Triple) -> None:
    check_three_heads(shown(three_heads_exhibit(values)))


@pytest.mark.parametrize(
    ("exhibit", "change", "text"),
    [
        (LINE, {"weights": ["7", "1", "1"]}, "the shift has other responses"),
        (LINE, {"kernel": ["0"] * 4}, "the kernel is 0"),
        (LINE, {"kernel": ["1", "0", "0", "0"]}, "the kernel is not orthogonal"),
        (LINE, {"quadratic": ["1", "0", "1"]}, "another determinant"),
        (LINE, {"values": LINE["values"][:2]}, "not three 2 x 2 matrices"),
        (
            LINE,
            {"shift": LINE["kernel"], "weights": ["0"] * 3, "quadratic": ["1", "2", "1"]},
            "the determinant has a real root",
        ),
        (RELATION, {"weights": ["0", "0", "0"]}, "the weights are not a relation"),
        (RELATION, {"weights": ["1", "1", "1"]}, "the weights are not a relation"),
    ],
)
def test_changed_weights_are_rejected(exhibit: Any, change: dict[str, Any], text: str) -> None:
    check_three_heads(exhibit)
    with pytest.raises(RejectedError, match=text):
        check_three_heads({**exhibit, **change})
