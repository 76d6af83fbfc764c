"""Breaking a certificate leaves nothing as it was, and no kind of place is left out."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from verify.corruptions import corruptions, patterns

JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.sampled_from(["", "a", "1/2", "-3"])),
    lambda part: st.one_of(
        st.lists(part, max_size=3), st.dictionaries(st.sampled_from("xyz"), part, max_size=3)
    ),
    max_leaves=8,
)


def same(one: Any, two: Any) -> bool:
    """Equality that tells 1 from True."""
    return repr(one) == repr(two)


@given(JSON)
def test_every_corruption_is_another_value(value: Any) -> None:
    before = repr(value)
    assert all(not same(one.value, value) for one in corruptions(value))
    assert repr(value) == before


@given(JSON)
def test_every_kind_of_place_is_broken(value: Any) -> None:
    assert {one.place for one in corruptions(value)} == patterns(value)


@given(JSON)
def test_only_the_named_places_are_broken(value: Any) -> None:
    chosen = set(sorted(patterns(value))[:1])
    assert {one.place for one in corruptions(value, chosen)} == chosen


def test_a_field_is_broken_in_each_way_that_its_type_allows() -> None:
    value = {"n": 1, "x": "1/2", "word": "ab", "sure": True, "none": None, "list": [1, 2]}
    found = {(one.place, one.change): one.value for one in corruptions(value)}
    assert found[".n", "one more"]["n"] == 2
    assert found[".n", "another type"]["n"] == "1"
    assert found[".x", "one more"]["x"] == "3/2"
    assert found[".word", "its first letter changed"]["word"] == "bb"
    assert found[".word", "longer"]["word"] == "abx"
    assert found[".sure", "turned"]["sure"] is False
    assert found[".none", "something"]["none"] == 1
    assert found[".list", "its last dropped"]["list"] == [1]
    assert found[".list", "its last twice"]["list"] == [1, 2, 2]
    assert found[".list", "first and last exchanged"]["list"] == [2, 1]
    assert found[".", "a field more"]["comment"] == 1
    assert set(found[".", "without n"]) == set(value) - {"n"}


def test_places_that_differ_in_their_indices_alone_are_one_and_its_ends_stand_for_it() -> None:
    value = [[0, 1], [2, 3]]
    broken = [one.value for one in corruptions(value, {"[][]"}) if one.change == "one more"]
    assert broken == [[[1, 1], [2, 3]], [[0, 1], [2, 4]]]


def test_what_repeats_in_a_tree_is_one_place() -> None:
    tree = {"parts": [{"parts": [{"parts": [{"parts": []}]}]}]}
    assert patterns(tree) == {".", ".parts", ".parts[]", ".parts[].parts"}
