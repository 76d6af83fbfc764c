"""The rechecker's own models that meet in the middle, and its own balls, reject what is wrong."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lowerbounds.independence import independence_checks, path_exhibit
from lowerbounds.meeting import MeetingCase, meeting_exhibit
from lowerbounds.softmax_paths import PathCase
from verify import recheck
from verify.claims import Setting
from verify.definitions import balls as plain_balls
from verify.definitions.independence import check_independence
from verify.definitions.meeting import check_meeting, middle_places
from verify.definitions.plain import RejectedError


def shown(value: Any) -> Any:
    return json.loads(json.dumps(value))


EVEN = shown(meeting_exhibit(MeetingCase(heads=2, layers=4, seed=1)))
ODD = shown(meeting_exhibit(MeetingCase(heads=3, layers=3, seed=1, linear=0, quadratic=1)))
PATHS = shown(path_exhibit()(PathCase(heads=2, layers=2)))


# --- meeting in the middle -------------------------------------------------------------------


@pytest.mark.parametrize(
    "case",
    [
        MeetingCase(heads=4, layers=3, seed=0, linear=3),
        MeetingCase(heads=5, layers=3, seed=0, linear=0, quadratic=2),
        MeetingCase(heads=5, layers=1, seed=0, linear=2, quadratic=1),
        MeetingCase(heads=3, layers=2, seed=0),
        MeetingCase(heads=1, layers=3, seed=0),
    ],
)
def test_models_that_meet_in_the_middle_are_accepted(case: MeetingCase) -> None:
    check_meeting(shown(meeting_exhibit(case)))


@pytest.mark.parametrize(
    ("heads", "places"), [(1, 1), (2, 2), (3, 3), (4, 3), (5, 3), (6, 4), (7, 5), (8, 5), (9, 5)]
)
def test_the_places_of_odd_layers_are_the_stated_ones(heads: int, places: int) -> None:
    assert middle_places(heads) == places


@pytest.mark.parametrize(
    ("exhibit", "change", "text"),
    [
        (EVEN, {"embedding": ["1000", *EVEN["embedding"][1:]]}, "responds with another number"),
        (EVEN, {"readout": EVEN["readout"][::-1]}, "responds with another number"),
        (EVEN, {"embedding": [*EVEN["embedding"], "0"]}, "the width is not 4"),
        (EVEN, {"heads": 4}, "weights of another shape"),
        (ODD, {"embedding": ODD["embedding"][:-1]}, "the width is not 9"),
        (ODD, {"weights": ODD["weights"][::-1]}, "responds with another number"),
    ],
)
def test_changed_models_are_rejected(exhibit: Any, change: dict[str, Any], text: str) -> None:
    check_meeting(exhibit)
    with pytest.raises(RejectedError, match=text):
        check_meeting({**exhibit, **change})


# --- independent path vectors ----------------------------------------------------------------


def test_the_grid_is_rechecked_from_its_certificate() -> None:
    (check,) = independence_checks()
    verdict = check.method.settle(Setting(profile="quick", shards=2))
    certificate = shown(verdict.certificate)
    content = {key: part for key, part in certificate.items() if key != "kind"}
    recorded = {"instances": verdict.instances, "evidence": dict(verdict.evidence)}
    outcome, words = recheck.recheck_enclosure(recheck.Item(content, recorded, None))
    assert outcome == recheck.ACCEPTED
    assert words == f"{verdict.instances} instances by the definitions of 'independence'"


LOWER, UPPER = map(Fraction, PATHS["determinant"])
MORE = Fraction(3, 2)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"determinant": [str(-UPPER), str(-LOWER)]}, "does not meet the determinant"),
        ({"determinant": [str(LOWER * MORE), str(UPPER * MORE)]}, "does not meet the determinant"),
        ({"determinant": ["-1", "1"]}, "the stated ball contains 0"),
        ({"digits": PATHS["digits"] + 1}, "fewer digits"),
        ({"logits": ["-1", "-1"]}, "may be 0 at this precision"),
        ({"logits": ["-1"]}, "weights of another shape"),
        ({"inputs": PATHS["inputs"][:1]}, "not the least number of inputs"),
        ({"inputs": [["1"], ["2"]]}, "another number of tokens"),
        ({"inputs": [["1", "1"], ["2", "2"]]}, "may be 0 at this precision"),
        ({"tokens": 1, "inputs": [["1"], ["2"], ["3"], ["4"]]}, "may be 0 at this precision"),
    ],
)
def test_changed_path_vectors_are_rejected(change: dict[str, Any], text: str) -> None:
    check_independence(PATHS)
    with pytest.raises(RejectedError, match=text):
        check_independence({**PATHS, **change})


BALLS = plain_balls.Balls(80)
UNIT = 1 << 80
ROUNDING = 1e-13
NUMBERS = st.fractions(-30, 30, max_denominator=1000)


def contains(ball: plain_balls.Ball, value: Fraction) -> bool:
    return abs(ball[0] - value * UNIT) <= ball[1]


@given(NUMBERS, NUMBERS.filter(bool))
def test_balls_contain_products_and_quotients(one: Fraction, two: Fraction) -> None:
    a, b = BALLS.of(one), BALLS.of(two)
    assert contains(a, one)
    assert contains(BALLS.times(a, b), one * two)
    assert contains(BALLS.over(a, b), one / two)
    assert BALLS.over(a, b)[1] < 1 << 40


@given(st.fractions(-40, Fraction(1, 2), max_denominator=1000))
def test_exponentials_are_narrow_and_agree_with_floating_point(argument: Fraction) -> None:
    middle, radius = BALLS.exp(BALLS.of(argument))
    assert radius < 1 << 40
    assert abs(middle / UNIT - math.exp(argument)) < ROUNDING


@given(st.fractions(-20, 0, max_denominator=1000), st.fractions(0, 1, max_denominator=50))
def test_exponentials_of_wide_balls_contain_those_of_their_ends(
    argument: Fraction, radius: Fraction
) -> None:
    wide = BALLS.exp((round(argument * UNIT), round(radius * UNIT * Fraction(9, 10))))
    for end in (argument - radius * Fraction(9, 10), argument + radius * Fraction(9, 10)):
        value = BALLS.exp((round(min(end, Fraction(0)) * UNIT), 0))
        assert abs(wide[0] - value[0]) <= wide[1] + value[1]


@given(st.fractions(-10, 0, max_denominator=30), st.fractions(-10, 0, max_denominator=30))
def test_exponentials_multiply(one: Fraction, two: Fraction) -> None:
    product = BALLS.times(BALLS.exp(BALLS.of(one)), BALLS.exp(BALLS.of(two)))
    whole = BALLS.exp(BALLS.of(one + two))
    assert abs(product[0] - whole[0]) <= product[1] + whole[1]


@given(st.lists(st.lists(st.integers(-9, 9), min_size=3, max_size=3), min_size=3, max_size=3))
def test_pivots_multiply_to_the_determinant(rows: list[list[int]]) -> None:
    (a, b, c), (d, e, f), (g, h, i) = rows
    exact = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
    try:
        found, sign = BALLS.pivots([[BALLS.of(Fraction(x)) for x in row] for row in rows])
    except RejectedError:
        assert exact == 0
        return
    value = math.prod((Fraction(m, UNIT) for m, _ in found), start=Fraction(sign))
    assert abs(value - exact) < Fraction(1, 1 << 40)


def test_a_divisor_that_may_be_zero_is_refused() -> None:
    with pytest.raises(RejectedError, match="a divisor may be 0 at this precision"):
        BALLS.over((UNIT, 0), (3, 3))
    with pytest.raises(RejectedError, match="an exponent is too large or too wide"):
        BALLS.exp((UNIT, 0))
