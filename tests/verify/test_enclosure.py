"""Enclosures decide at the first precision that suffices, and leave nothing open silently."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify import recheck
from verify.balls import Balls
from verify.claims import Method, Setting
from verify.counterexamples import Counterexample
from verify.definitions.plain import RejectedError
from verify.engines import DECIDED_TWICE
from verify.errors import MethodError
from verify.methods.enclosure import Decision, Enclosure, Undecided
from verify.ranges import Range
from verify.rational import Matrix
from verify.verdicts import Status, Verdict

QUICK = Setting(profile="quick")


def enclosure(
    decide: Callable[[Any, int], Decision], instances: Iterable[Any], **changes: Any
) -> Enclosure:
    chosen = Range(bound="x < 10", over=lambda: instances)
    return Enclosure(
        decide=decide,
        ranges={"quick": chosen, "standard": chosen, "deep": chosen},
        margin="agreement to 30 decimals",
        exhibit=str,
        **changes,
    )


def scalar(value: int | Fraction, bits: int) -> Balls:
    return Balls.of(Matrix(1, 1, [value]), bits)


def doubling(slack: Fraction = Fraction(0)) -> Callable[[Fraction, int], Decision]:
    """The obligation e^x e^x = e^(2x + slack) to 30 decimals of the larger one."""

    def decide(x: Fraction, bits: int) -> Decision:
        once, twice = scalar(x, bits).exp(), scalar(2 * x + slack, bits).exp()
        if (once @ once).agreeing_decimals(twice) >= 30:
            return None
        if (once @ once).overlaps(twice):
            return Undecided(f"e^{2 * x} is not known to 30 decimals")
        return Counterexample(text=f"e^{x} squared is not e^{2 * x}", instance={"x": str(x)})

    return decide


def above(limit: Fraction) -> Callable[[Fraction, int], Decision]:
    """The obligation that e^x exceeds the limit; open where the ball reaches over it."""

    def decide(x: Fraction, bits: int) -> Decision:
        low, high = scalar(x, bits).exp()[0, 0]
        if low > limit:
            return None
        if high < limit:
            return Counterexample(text=f"e^{x} is below {limit}", instance={"x": str(x)})
        return Undecided("the ball reaches over the limit")

    return decide


def settled(method: Enclosure, parts: int) -> list[Verdict]:
    return [
        method.settle(Setting(profile="quick", shard=part, shards=parts)) for part in range(parts)
    ]


TENTHS = [Fraction(n, 10) for n in range(10)]


def test_what_holds_with_the_margin_is_bounded_and_says_with_which_precision() -> None:
    method = enclosure(doubling(), TENTHS)
    assert isinstance(method, Method)
    verdict = method.combine([method.settle(QUICK)])
    assert verdict.status is method.ceiling is Status.BOUNDED
    assert verdict.evidence == {
        "checked": 10,
        "margin": "agreement to 30 decimals",
        "bits": 128,
        "both_engines": DECIDED_TWICE,
    }
    assert verdict.certificate == {
        "kind": "enclosure",
        "margin": "agreement to 30 decimals",
        "bits": 128,
        "instances": [str(x) for x in TENTHS],
    }
    assert verdict.trusts == ("library:flint",)
    assert verdict.instances == 10
    assert method.scope(QUICK) == "x < 10; agreement to 30 decimals"
    assert (method.name, method.fresh_process, method.shards(QUICK)) == ("enclosure", False, 1)


def test_a_wrong_twin_is_refuted_with_its_instance() -> None:
    verdict = enclosure(doubling(slack=Fraction(1, 10**29)), TENTHS).settle(QUICK)
    assert verdict.status is Status.REFUTED
    assert verdict.evidence == {
        "counterexample": {"x": "0"},
        "text": "e^0 squared is not e^0",
        "tried": 1,
    }
    assert (verdict.certificate or {})["kind"] == "counterexample"


def test_an_instance_that_no_precision_decides_is_unknown_and_named() -> None:
    verdict = enclosure(above(Fraction(1)), [1, 2, 0, 3]).settle(QUICK)
    assert verdict.status is Status.UNKNOWN
    assert verdict.evidence == {
        "reason": "instance 0 is undecided at 4096 bits: the ball reaches over the limit"
    }
    assert verdict.certificate is None


def test_too_few_bits_leave_open_what_more_would_decide() -> None:
    verdict = enclosure(doubling(), TENTHS, last_bits=64).settle(QUICK)
    assert verdict.status is Status.UNKNOWN
    assert "undecided at 64 bits: e^" in verdict.evidence["reason"]


def test_a_failure_outweighs_an_open_instance_before_it() -> None:
    method = enclosure(above(Fraction(1)), [0, 1, -1])
    assert method.settle(QUICK).status is Status.REFUTED
    parts = settled(method, 3)
    assert [v.status for v in parts] == [Status.UNKNOWN, Status.BOUNDED, Status.REFUTED]
    assert method.combine(parts).evidence["counterexample"] == {"x": "-1"}
    assert method.combine(parts[:2]).status is Status.UNKNOWN


def test_an_enclosure_too_wide_to_ask_is_open() -> None:
    def decide(x: int, bits: int) -> Decision:
        scalar(x, bits).inverse()
        return None

    assert enclosure(decide, [1, 2]).settle(QUICK).status is Status.BOUNDED
    verdict = enclosure(decide, [1, 0]).settle(QUICK)
    assert verdict.status is Status.UNKNOWN
    assert "instance 0 is undecided at 4096 bits: an inverse needs" in verdict.evidence["reason"]


def test_precisions_double_from_the_first_to_the_last() -> None:
    asked: list[int] = []

    def decide(_: int, bits: int) -> Decision:
        asked.append(bits)
        return Undecided("never")

    enclosure(decide, [1], first_bits=50, last_bits=300).settle(QUICK)
    assert asked == [50, 100, 200, 300]
    asked.clear()
    enclosure(decide, [1], first_bits=50, last_bits=50).settle(QUICK)
    assert asked == [50]


def test_a_failure_that_does_not_replay_is_broken() -> None:
    calls: list[int] = []

    def decide(x: int, _: int) -> Decision:
        calls.append(x)
        return Counterexample(text="once", instance={"x": x}) if len(calls) == 1 else None

    verdict = enclosure(decide, [1, 2]).settle(QUICK)
    assert verdict.status is Status.BROKEN
    assert "did not fail again when replayed" in verdict.evidence["reason"]


@given(st.integers(0, 12), st.integers(1, 4))
def test_shards_partition_the_range_and_combine_to_the_whole(size: int, parts: int) -> None:
    def decide(x: int, bits: int) -> Decision:
        return None if bits >= 10 * x else Undecided("wait")

    method = enclosure(decide, range(size), first_bits=8, last_bits=128, parts=parts)
    assert method.shards(QUICK) == parts
    verdicts = settled(method, parts)
    whole = method.combine(verdicts)
    if not size:
        assert whole.status is Status.UNKNOWN
        assert whole.evidence["reason"].endswith("nothing was checked")
        return
    single = method.combine(settled(method, 1))
    assert whole.evidence == single.evidence
    assert (whole.certificate or {})["bits"] == (single.certificate or {})["bits"]
    assert sorted((whole.certificate or {})["instances"]) == sorted(map(str, range(size)))


@pytest.mark.parametrize(("first", "last"), [(1, 64), (64, 63)])
def test_precisions_that_do_not_go_up_are_refused(first: int, last: int) -> None:
    with pytest.raises(MethodError, match=f"2 <= first_bits <= last_bits, got {first} and {last}"):
        enclosure(doubling(), TENTHS, first_bits=first, last_bits=last)


def test_the_rechecker_compares_the_fields_and_leaves_the_functions() -> None:
    method = enclosure(doubling(), TENTHS)
    verdict = method.combine(settled(method, 2))
    check = {"evidence": dict(verdict.evidence), "instances": verdict.instances}
    content = {key: part for key, part in (verdict.certificate or {}).items() if key != "kind"}
    words = (recheck.NOT_RECHECKED, "10 instances need special functions")
    assert recheck.KINDS["enclosure"][1](recheck.Item(content, check, None)) == words
    for change in (
        {"bits": 64},
        {"margin": "agreement to 99 decimals"},
        {"instances": content["instances"][1:]},
        {"more": 1},
    ):
        with pytest.raises(RejectedError):
            recheck.KINDS["enclosure"][1](recheck.Item({**content, **change}, check, None))


def test_definitions_are_named_and_unknown_ones_are_refused() -> None:
    method = enclosure(doubling(), TENTHS, rechecked_as="exponentials")
    verdict = method.combine(settled(method, 2))
    content = {key: part for key, part in (verdict.certificate or {}).items() if key != "kind"}
    assert content["rechecked_as"] == "exponentials"
    check = {"evidence": dict(verdict.evidence), "instances": verdict.instances}
    with pytest.raises(RejectedError, match="there are no definitions 'exponentials'"):
        recheck.KINDS["enclosure"][1](recheck.Item(content, check, None))
