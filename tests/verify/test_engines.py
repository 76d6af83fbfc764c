"""Both engines decide the first instances; a wrong result of one is an error with both answers."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from verify.balls import Balls
from verify.claims import Method, Setting
from verify.counterexamples import Counterexample
from verify.engines import DECIDED_TWICE, Engine, computing_by, decided, remembered, work
from verify.errors import DisagreementError, PrecisionError
from verify.loading import claims_of, load_file
from verify.methods.enclosure import Decision, Enclosure, Undecided
from verify.methods.exhaustive import Exhaustive
from verify.methods.sampled import Sampled
from verify.methods.witness import Witness
from verify.ranges import Range
from verify.rational import Matrix
from verify.run import settle
from verify.verdicts import Status

QUICK = Setting(profile="quick")
NUMBERS = range(1, 8)


def square_fails(n: int) -> Counterexample | None:
    """The obligation that [n] squared is [n^2]."""
    found = (Matrix(1, 1, [n]) @ Matrix(1, 1, [n]))[0, 0]
    if found == n * n:
        return None
    return Counterexample(text=f"{n} squared came to {found}", instance={"n": n})


def root_fails(n: int, bits: int) -> Decision:
    """The obligation that the root of n, squared, is n to within 1/100."""
    root = Balls.of(Matrix(1, 1, [n]), bits).sqrt()
    low, high = (root @ root)[0, 0]
    if n - Fraction(1, 100) < low and high < n + Fraction(1, 100):
        return None
    if high < n or low > n:
        return Counterexample(text=f"the root squared exceeds {low}", instance={"n": n})
    return Undecided("too wide")


RANGES: Any = {
    name: Range(bound="n < 8", over=lambda: NUMBERS) for name in ("quick", "standard", "deep")
}


def exhaustive(holds: Any = square_fails, parts: int = 1) -> Exhaustive:
    return Exhaustive(holds=holds, ranges=RANGES, rechecked_as="", exhibit=lambda n: n, parts=parts)


def enclosure(decide: Any = root_fails, **changes: Any) -> Enclosure:
    return Enclosure(decide=decide, ranges=RANGES, margin="1/100", exhibit=lambda n: n, **changes)


def sampled(holds: Any = square_fails) -> Sampled:
    return Sampled(
        holds=holds,
        strategy=lambda: st.integers(1, 10**6),
        instances="n",
        examples={"quick": 200, "standard": 200, "deep": 200},
        rechecked_as="",
        exhibit=lambda n: n,
    )


def witness(holds: Any = square_fails) -> Witness:
    return Witness(
        find=lambda: 3, holds=holds, exhibit=lambda n: n, rechecked_as="", instances="one"
    )


def both_engines(method: Method) -> int:
    count = method.shards(QUICK)
    parts = [
        method.settle(Setting(profile="quick", shard=part, shards=count)) for part in range(count)
    ]
    verdict = method.combine(parts)
    assert verdict.status is method.ceiling
    return int(verdict.evidence["both_engines"])


# --- how many are decided by both ------------------------------------------------------------


def test_both_engines_decide_the_first_instances_of_every_shard() -> None:
    assert both_engines(exhaustive()) == DECIDED_TWICE
    assert both_engines(exhaustive(parts=2)) == 2 * DECIDED_TWICE
    assert both_engines(enclosure()) == DECIDED_TWICE
    assert both_engines(enclosure(parts=2)) == 2 * DECIDED_TWICE
    assert both_engines(witness()) == 1
    assert both_engines(sampled()) == 3  # the first one, the 97th and the 194th


def test_what_needs_no_matrix_is_decided_once() -> None:
    asked: list[int] = []

    def holds(n: int) -> None:
        asked.append(n)

    assert both_engines(exhaustive(holds)) == 0
    assert asked == list(NUMBERS)
    assert both_engines(witness(lambda _: None)) == 0
    assert both_engines(enclosure(lambda _n, _bits: None)) == 0
    assert both_engines(sampled(lambda _: None)) == 0


def test_what_the_second_engine_took_from_a_memory_is_not_decided_by_it() -> None:
    kept: dict[int, Counterexample | None] = {}

    def holds(n: int) -> Counterexample | None:
        return kept[n] if n in kept else kept.setdefault(n, square_fails(n))

    assert both_engines(exhaustive(holds)) == 0


def test_an_engine_does_not_recall_what_the_other_computed() -> None:
    asked: list[Engine] = []

    @remembered(4)
    def squared(n: int) -> Matrix:
        """[n^2]."""
        asked.append(work().engine)
        return Matrix(1, 1, [n]) @ Matrix(1, 1, [n])

    def holds(n: int) -> Counterexample | None:
        return None if squared(n) == squared(n) == Matrix(1, 1, [n * n]) else square_fails(n)

    assert decided(lambda: holds(3), lambda: 3) == (None, True)
    assert asked == [Engine.FIRST, Engine.SECOND]
    squared.cache_clear()
    holds(3)
    assert asked[2:] == [Engine.FIRST]
    assert squared.__doc__ == "[n^2]."


def test_what_an_engine_recalls_counts_as_it_did_when_it_was_computed() -> None:
    cubed = remembered(4)(lambda n: (Matrix(1, 1, [n]) @ Matrix(1, 1, [n * n]))[0, 0])

    def holds(n: int) -> Counterexample | None:
        return None if cubed(n) == n**3 else square_fails(n)

    for _ in range(2):
        assert decided(lambda: holds(3), lambda: 3) == (None, True)
        assert both_engines(exhaustive(holds)) == DECIDED_TWICE
        with computing_by(Engine.SECOND) as turn:
            assert cubed(5) + cubed(5) == 250
        assert turn.operations == 4


# --- disagreement ----------------------------------------------------------------------------


def off_by_one(monkeypatch: pytest.MonkeyPatch, kind: type, engine: Engine) -> None:
    """Products of one engine come out larger by 1 than they are."""
    right: Callable[[Any, Any], Any] = kind.__matmul__  # type: ignore[attr-defined]

    def wrong(left: Any, other: Any) -> Any:
        product = right(left, other)
        if work().engine is not engine:
            return product
        one = Matrix(*product.shape, [1] * (product.height * product.width))
        return product + (one if kind is Matrix else Balls.of(one, product.bits))

    monkeypatch.setattr(kind, "__matmul__", wrong)


FLINTS = (
    "both engines must come to the same on instance {n}, got from FLINT: {wrong}; "
    "from fractions and mpmath: it holds; one of them computes wrongly"
)


@pytest.mark.parametrize(
    ("method", "n"), [(exhaustive(), 1), (witness(), 3), (exhaustive(parts=2), 1)]
)
def test_a_wrong_product_of_flint_is_an_error_with_both_answers(
    monkeypatch: pytest.MonkeyPatch, method: Method, n: int
) -> None:
    off_by_one(monkeypatch, Matrix, Engine.FIRST)
    with pytest.raises(DisagreementError) as error:
        method.settle(QUICK)
    wrong = f"{n} squared came to {n * n + 1}"
    assert str(error.value).startswith(FLINTS.format(n=n, wrong=wrong))


def test_a_wrong_enclosure_of_arb_is_an_error_with_both_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    off_by_one(monkeypatch, Balls, Engine.FIRST)
    with pytest.raises(DisagreementError, match=r"FLINT: the root squared exceeds .*; from .*it h"):
        enclosure().settle(QUICK)


@pytest.mark.parametrize(
    ("method", "kind"),
    [
        (exhaustive(), Matrix),
        (witness(), Matrix),
        (sampled(), Matrix),
        (enclosure(), Balls),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_a_wrong_product_of_the_second_engine_is_noticed_as_well(
    monkeypatch: pytest.MonkeyPatch, method: Method, kind: type
) -> None:
    off_by_one(monkeypatch, kind, Engine.SECOND)
    with pytest.raises(DisagreementError, match=r"got from FLINT: it holds; from fractions"):
        method.settle(QUICK)


def test_an_error_of_one_engine_alone_is_its_answer() -> None:
    def holds(n: int) -> Counterexample | None:
        if work().engine is Engine.SECOND:
            Matrix.zero(2, 2).inverse()
        return square_fails(n)

    with pytest.raises(DisagreementError, match=r"from fractions and mpmath: ShapeError: the matr"):
        exhaustive(holds).settle(QUICK)


def test_running_out_of_memory_is_no_disagreement() -> None:
    def holds(n: int) -> Counterexample | None:
        if work().engine is Engine.SECOND:
            raise MemoryError("no more")
        return square_fails(n)

    with pytest.raises(MemoryError, match="no more"):
        exhaustive(holds).settle(QUICK)


def test_a_counterexample_of_both_engines_is_a_refutation() -> None:
    def holds(n: int) -> Counterexample | None:
        square_fails(n)
        return Counterexample(text="never", instance={"n": n})

    assert exhaustive(holds).settle(QUICK).status is Status.REFUTED


CLAIMS = '''
from certiformer import *
from verify.engines import Engine, work
from verify.rational import Matrix

right = Matrix.__matmul__


def wrong(left, other):
    product = right(left, other)
    return product + product if work().engine is Engine.FIRST else product


Matrix.__matmul__ = wrong


def holds(n):
    found = (Matrix(1, 1, [n]) @ Matrix(1, 1, [n]))[0, 0]
    return None if found == n * n else Counterexample(text=f"got {found}", instance={"n": n})


@claim(
    id="mine.squares", source=Source("paper", "1"), latex="n", scope="n", expected=Status.BOUNDED
)
def squares():
    """A matrix of one entry squared has the entry squared."""
    ranges = {"quick": Range(bound="n = 2", over=lambda: [2])}
    return [
        covers(Exhaustive(holds=holds, ranges=ranges, rechecked_as="", exhibit=lambda n: n))
    ]
'''


def test_a_disagreement_in_a_worker_is_broken_and_keeps_both_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Matrix, "__matmul__", Matrix.__matmul__)  # put back what the file changes
    path = tmp_path / "mine.py"
    path.write_text(CLAIMS, encoding="utf-8")
    with ThreadPoolExecutor(1) as executor:
        (outcome,) = settle(claims_of(load_file(path)), executor, QUICK)
    assert outcome.verdict.status is Status.BROKEN
    assert outcome.verdict.evidence["reason"].startswith(
        "DisagreementError: both engines must come to the same on instance 2, got from FLINT: "
        "got 8; from fractions and mpmath: it holds; one of them computes wrongly"
    )


# --- what a wider enclosure leaves open ------------------------------------------------------


def wider(least: int, decision: Decision = None) -> Callable[[int, int], Decision]:
    """Decided by the first engine at any precision, by the second from `least` bits on."""

    def decide(n: int, bits: int) -> Decision:
        root_fails(n, bits)
        if work().engine is Engine.FIRST:
            return None
        return decision if bits >= least else Undecided("wider than Arb's")

    return decide


def test_the_second_engine_may_need_a_higher_precision() -> None:
    verdict = enclosure(wider(256)).settle(QUICK)
    assert (verdict.evidence["both_engines"], verdict.evidence["bits"]) == (DECIDED_TWICE, 64)


def test_an_instance_that_the_second_engine_leaves_open_is_not_counted() -> None:
    verdict = enclosure(wider(10**6)).settle(QUICK)
    assert verdict.status is Status.BOUNDED
    assert (verdict.evidence["checked"], verdict.evidence["both_engines"]) == (7, 0)


def test_an_enclosure_that_excludes_what_the_first_shows_is_an_error() -> None:
    with pytest.raises(DisagreementError, match="from fractions and mpmath: no root"):
        enclosure(wider(256, Counterexample(text="no root", instance={}))).settle(QUICK)


def test_what_both_leave_open_is_unknown() -> None:
    verdict = enclosure(lambda n, bits: root_fails(n, bits) or Undecided("never")).settle(QUICK)
    assert verdict.status is Status.UNKNOWN


# --- whose turn it is ------------------------------------------------------------------------


def test_turns_nest_and_end_even_with_an_error() -> None:
    assert work().engine is Engine.FIRST
    with computing_by(Engine.SECOND) as outer:
        Matrix.identity(2).rank()
        with pytest.raises(PrecisionError), computing_by(Engine.FIRST) as inner:
            Balls.of(Matrix.zero(1, 1), 53).inverse()
        assert (work(), inner.operations, outer.operations) == (outer, 1, 1)
    assert work().engine is Engine.FIRST


def test_making_and_reading_a_matrix_is_no_operation() -> None:
    with computing_by(Engine.SECOND) as turn:
        matrix = Matrix.from_rows([[1, 2], [3, 4]])
        assert (matrix.rows()[1][1], matrix[0, 1], matrix.shape, hash(matrix) != 0) == (
            *(4, 2, (2, 2), True),
        )
        assert turn.operations == 0
        assert (matrix @ matrix).transposed.rank() == 2
        assert turn.operations == 4
