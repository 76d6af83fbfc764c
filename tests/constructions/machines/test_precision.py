"""The emulated network against PyTorch's arithmetic, sums over all orders, and the frontiers."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.machines.definitions import MachineError
from constructions.machines.precision import (
    WAYS,
    FrontierCase,
    frontier,
    in_range,
    is_enough,
    levels,
    margins,
    proved_bound,
    right,
    same_network,
)
from constructions.machines.precision_worlds import balanced, comb
from constructions.machines.relu import WindowSize
from constructions.machines.rounded_sums import rounded, shares, summed_in_turn, tree_sums
from constructions.universal.floats import FORMATS
from constructions.universal.rounding import nearest

SHORT = ("bfloat16", "float16")


@given(
    value=st.fractions(min_value=Fraction(1, 4000), max_value=4000, max_denominator=1 << 20),
    name=st.sampled_from(SHORT),
)
def test_rounding_is_that_of_exact_numbers(value: Fraction, name: str) -> None:
    format = FORMATS[name]
    held = Fraction(float(np.float32(value)))
    came = rounded(np.array([held, -held], dtype=np.float32), format.digits)
    assert [Fraction(float(x)) for x in came] == [nearest(held, format), nearest(-held, format)]


@settings(max_examples=60)
@given(
    name=st.sampled_from((*SHORT, "float32", "float64")),
    longest=st.integers(1, 300),
    share=st.fractions(0, 1),
    data=st.data(),
)
def test_folds_and_margins_are_those_of_torch(
    name: str, longest: int, share: Fraction, data: st.DataObject
) -> None:
    import torch

    size, dtype = WindowSize(longest=longest), getattr(torch, name)
    context = 1 + int(share * longest)
    case = FrontierCase(format=FORMATS[name], way=WAYS["once"], limit=longest)
    count = data.draw(st.integers(0, context - 1))
    y = torch.tensor(1 / context, dtype=torch.float64).to(dtype)
    x = torch.tensor(count / context, dtype=torch.float64).to(dtype)
    came = levels(case.inputs(range(context, context + 1)), size.bits, case.format.digits)
    inputs = next(came)
    assert (float(inputs.least[count, 0]), float(inputs.share[0])) == (float(x), float(y))
    for level, folded in zip(reversed(range(size.bits)), came, strict=True):
        middle = (y.double() * 2**level).to(dtype)
        x = torch.relu(x - middle) + torch.relu(middle - x)
        last = folded
        assert float(folded.least[count, 0]) == float(x)
    low, high = margins(last, size.scale, case.format.digits)
    asked = (y * (2 * size.scale)) - (x * (4 * size.scale))
    assert float(low[count, 0]) == float(high[count, 0]) == float(asked)


@pytest.mark.parametrize("name", [*SHORT, "float32"])
def test_sums_in_turn_are_those_of_torch_wherever_the_zeros_stand(name: str) -> None:
    import torch

    format = FORMATS[name]
    found = summed_in_turn(range(37, 38), format.digits, format.digits).least[:, 0]
    share = float(shares(range(37, 38), format.digits)[0])
    for count in range(37):
        for order in (0, 1):
            tokens = sorted([1] * count + [0] * (37 - count), reverse=bool(order))
            total = torch.zeros((), dtype=getattr(torch, name))
            for token in tokens:
                total = total + torch.tensor(share * token, dtype=getattr(torch, name))
            assert float(total) == float(found[count])


def tree_sum(tree: Any, share: Fraction, name: str) -> Fraction:
    if isinstance(tree, bool):
        return share if tree else Fraction(0)
    total = nearest(sum(tree_sum(half, share, name) for half in tree) + 0, FORMATS[name])
    assert total is not None
    return total


@pytest.mark.parametrize(("name", "context"), [("bfloat16", 11), ("float16", 11), ("float16", 12)])
def test_least_and_largest_sums_are_those_of_all_orders(name: str, context: int) -> None:
    digits = FORMATS[name].digits
    share = Fraction(float(shares(range(context, context + 1), digits)[0]))
    low, high = tree_sums(context, digits)[context]
    found: dict[int, set[Fraction]] = {}
    for tokens in itertools.product((False, True), repeat=context):
        found.setdefault(sum(tokens), set()).add(tree_sum(balanced(tokens), share, name))
    assert [float(min(sums)) for _, sums in sorted(found.items())] == low.tolist()
    assert [float(max(sums)) for _, sums in sorted(found.items())] == high.tolist()
    assert any(len(sums) > 1 for sums in found.values())


FOUND = {
    ("bfloat16", "wider"): (128, 24),
    ("bfloat16", "once"): (93, 16),
    ("bfloat16", "pairwise"): (45, 8),
    ("bfloat16", "sequential"): (23, 6),
    ("bfloat16", "equality"): (3, 0),
    ("float16", "wider"): (1024, 192),
    ("float16", "once"): (441, 128),
    ("float16", "pairwise"): (276, 54),
    ("float16", "sequential"): (59, 20),
    ("float16", "equality"): (3, 0),
}


@pytest.mark.parametrize(("name", "way"), FOUND)
def test_frontiers_and_bounds_of_the_short_formats(name: str, way: str) -> None:
    case = FrontierCase(format=FORMATS[name], way=WAYS[way], limit=2048)
    assert (frontier(case).longest, proved_bound(case.format, case.way)) == FOUND[name, way]


@pytest.mark.parametrize("name", SHORT)
def test_the_failing_order_of_a_pairwise_sum_fails_alone(name: str) -> None:
    failure = frontier(FrontierCase(format=FORMATS[name], way=WAYS["pairwise"], limit=512)).failure
    assert failure is not None
    tokens = [symbol == "1" for symbol in failure.order]
    assert (len(tokens), sum(tokens)) == (failure.context, failure.count)
    case = FrontierCase(format=FORMATS[name], way=WAYS["pairwise"], limit=512)
    inputs = case.inputs(range(failure.context, failure.context + 1))
    share = Fraction(float(inputs.share[0]))
    total = float(tree_sum(balanced(tokens), share, name))
    assert total in {float(inputs.least[failure.count, 0]), float(inputs.most[failure.count, 0])}
    only = np.full_like(inputs.least, total)
    size = WindowSize(longest=failure.longest)
    alone = type(inputs)(least=only, most=only, share=inputs.share)
    assert not right(alone, WAYS["pairwise"], size, case.format.digits)[failure.count, 0]


def test_a_comb_is_the_sum_in_turn() -> None:
    found = summed_in_turn(range(9, 10), 8, 8).least[:, 0]
    share = Fraction(float(shares(range(9, 10), 8)[0]))
    for count in range(9):
        tokens = [place % 2 == 0 for place in range(9)]
        tokens = [flag and sum(tokens[:place]) < count for place, flag in enumerate(tokens)]
        total = tree_sum(comb(tokens), share, "bfloat16")
        assert float(total) == float(found[sum(tokens)])


def test_single_precision_summed_in_turn_fails_first_near_its_square_root() -> None:
    case = FrontierCase(format=FORMATS["float32"], way=WAYS["sequential"], limit=5000)
    assert frontier(case).longest == 4958


@pytest.mark.parametrize("name", ["bfloat16", "float16", "float32", "float64"])
def test_the_simple_bounds_meet_the_condition(name: str) -> None:
    format = FORMATS[name]
    digits = format.digits
    assert proved_bound(format, WAYS["once"]) >= 1 << (digits - 4)
    squares = proved_bound(format, WAYS["sequential"])
    assert 8 * (squares + 1) ** 2 > 1 << digits
    assert is_enough(format, WAYS["pairwise"], 1) == (digits >= 5)


def test_windows_of_one_network_stand_together() -> None:
    found = [(size.bits, size.scale, list(lengths)) for size, lengths in same_network(9)]
    assert found[:4] == [(1, 2, [1]), (1, 4, [2]), (2, 4, [3]), (2, 8, [4])]
    assert found[4:] == [(3, 8, [5, 6, 7]), (3, 16, [8]), (4, 16, [9])]


def test_windows_beyond_the_format_and_wider_than_the_widest_are_refused() -> None:
    half, double = FORMATS["float16"], FORMATS["float64"]
    with pytest.raises(MachineError, match="limit must be at most 8192 in float16, got 8193"):
        FrontierCase(format=half, way=WAYS["once"], limit=in_range(half) + 1)
    with pytest.raises(MachineError, match="no format is known that is wider than float64"):
        FrontierCase(format=double, way=WAYS["wider"], limit=10)
