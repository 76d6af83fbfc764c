"""What is open of Theorem 4.1: a bound that is one, a construction that exists, a whole table."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lowerbounds.dimension import least_width
from lowerbounds.findings import odd_depths_are_open
from lowerbounds.meeting import MeetingCase, meeting_fails
from lowerbounds.open_cases import MOST, OpenCase, open_cases
from verify.errors import SizeError

SIZES = st.integers(1, 40)


@given(heads=SIZES, layers=SIZES)
def test_the_bound_is_the_largest_of_the_proved_ones(heads, layers):
    case = OpenCase(heads=heads, layers=layers)
    root, dimension = case.bounds["lowerbounds.attention_matching"], least_width(heads, layers)
    assert root**2 >= heads**layers > (root - 1) ** 2
    assert 2 * dimension - 1 >= layers * (heads - 1) + 1 > 2 * (dimension - 1) - 1
    assert case.bounds[case.rests_on] == case.below >= max(root, dimension)
    assert case.below <= case.above
    if layers % 2 == 0:
        assert case.settled


@given(heads=SIZES, layers=SIZES)
def test_more_heads_or_layers_never_need_less(heads, layers):
    case = OpenCase(heads=heads, layers=layers)
    assert case.below <= OpenCase(heads=heads + 1, layers=layers).below
    assert case.below <= OpenCase(heads=heads, layers=layers + 1).below


@given(size=SIZES)
def test_one_head_needs_one_coordinate_and_one_layer_is_settled_but_for_some_heads(size):
    assert OpenCase(heads=1, layers=size).below == OpenCase(heads=1, layers=size).above == 1
    case = OpenCase(heads=size, layers=1)
    if size % 4 != 3 or size == 3:
        assert case.settled
    else:
        assert (case.below, case.above) == ((size + 1) // 2, (size + 3) // 2)


@pytest.mark.parametrize(
    ("heads", "layers", "below", "above", "rests_on"),
    [
        (2, 1, 2, 2, "attention_matching"),
        (3, 1, 3, 3, "three_heads"),
        (4, 1, 3, 3, "dimension"),
        (5, 1, 3, 3, "attention_matching"),
        (6, 1, 4, 4, "dimension"),
        (7, 1, 4, 5, "dimension"),
        (9, 1, 5, 5, "dimension"),
        (2, 3, 3, 4, "attention_matching"),
        (3, 3, 6, 9, "attention_matching"),
    ],
)
def test_what_each_case_rests_on(heads, layers, below, above, rests_on):
    case = OpenCase(heads=heads, layers=layers)
    assert (case.below, case.above) == (below, above)
    assert case.rests_on == f"lowerbounds.{rests_on}"


def test_the_finding_falls_with_each_bound_that_it_rests_on():
    used = {case.rests_on for case in open_cases((2, 3, 4, 5, 7), (1, 3, 5))}
    assert used <= set(odd_depths_are_open.claims)
    assert {"lowerbounds.dimension", "lowerbounds.three_heads"} <= used


@pytest.mark.parametrize(("heads", "layers", "above"), [(4, 3, 12), (5, 3, 15), (5, 1, 3)])
def test_the_width_from_above_is_that_of_a_checked_construction(heads, layers, above):
    assert OpenCase(heads=heads, layers=layers).above == above
    assert meeting_fails()(MeetingCase(heads=heads, layers=layers, seed=0, linear=1)) is None


def test_a_table_has_every_case_that_was_asked():
    cases = list(open_cases((2, 3), (1, 3, 5)))
    assert [(case.heads, case.layers) for case in cases] == [
        (2, 1), (2, 3), (2, 5), (3, 1), (3, 3), (3, 5),
    ]  # fmt: skip
    text = odd_depths_are_open.text()
    for settled in ("(3, 1): 3;", "(4, 1): 3;", "(5, 1): 3;", "(7, 1): 4 to 5;"):
        assert settled in text
    for case in open_cases((2, 3, 4, 5, 7), (1, 3, 5)):
        end = "" if case.settled else f" to {case.above}"
        assert f"({case.heads}, {case.layers}): {case.below}{end}" in text


@pytest.mark.parametrize("size", [0, -1, 2.0, Fraction(2), True, MOST + 1, "2"])
def test_sizes_that_are_none_are_refused(size):
    with pytest.raises(SizeError, match="must be an integer from 1 to"):
        OpenCase(heads=size, layers=2)
    with pytest.raises(SizeError, match=r"OpenCase\.layers must be an integer"):
        list(open_cases((2,), (2, size)))
