"""What is open of Theorem 4.1: a bound that is one, a construction that exists, a whole table."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lowerbounds.findings import odd_depths_are_open
from lowerbounds.meeting import MeetingCase, meeting_fails
from lowerbounds.open_cases import MOST, OpenCase, open_cases
from verify.errors import SizeError


@given(heads=st.integers(1, 40), layers=st.integers(1, 40))
def test_the_bound_is_the_least_width_that_it_allows(heads, layers):
    case = OpenCase(heads=heads, layers=layers)
    assert case.below**2 >= heads**layers > (case.below - 1) ** 2
    assert case.below <= case.above
    if layers % 2 == 0:
        assert case.settled


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
    for case in open_cases((2, 3, 4, 5), (1, 3, 5)):
        end = "" if case.settled else f" to {case.above}"
        assert f"({case.heads}, {case.layers}): {case.below}{end}" in text


@pytest.mark.parametrize("size", [0, -1, 2.0, Fraction(2), True, MOST + 1, "2"])
def test_sizes_that_are_none_are_refused(size):
    with pytest.raises(SizeError, match="must be an integer from 1 to"):
        OpenCase(heads=size, layers=2)
    with pytest.raises(SizeError, match=r"OpenCase\.layers must be an integer"):
        list(open_cases((2,), (2, size)))
