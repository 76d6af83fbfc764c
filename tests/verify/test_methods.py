"""Each method settles what it should, never above its ceiling, and says why where it cannot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify.claims import Method, Setting
from verify.counterexamples import Counterexample
from verify.errors import CertiformerError, GoalError
from verify.facts import INDUCTION
from verify.methods import smt
from verify.methods.exhaustive import Exhaustive
from verify.methods.identity import Equation, Identity, expand, tree
from verify.methods.sampled import SHARD_EXAMPLES, Sampled
from verify.methods.smt import Smt
from verify.methods.witness import Witness
from verify.ranges import Range
from verify.smtlib import Axiom, Goal, Theory, World
from verify.verdicts import Status, Verdict

QUICK = Setting(profile="quick")


def fails_from(limit: int) -> Callable[[int], Counterexample | None]:
    def holds(n: int) -> Counterexample | None:
        if n < limit:
            return None
        return Counterexample(text=f"{n} is at least {limit}", instance={"n": n})

    return holds


def fails_once() -> Callable[[int], Counterexample | None]:
    """An obligation that fails on its first instance and never again."""
    calls: list[int] = []

    def holds(n: int) -> Counterexample | None:
        calls.append(n)
        return Counterexample(text="once", instance={"n": n}) if len(calls) == 1 else None

    return holds


def exhaustive(holds: Any, numbers: Iterable[int], parts: int = 1) -> Exhaustive:
    chosen = Range(bound="n < 10", over=lambda: numbers)
    return Exhaustive(
        holds=holds,
        ranges={"quick": chosen, "standard": chosen, "deep": chosen},
        rechecked_as="",
        exhibit=lambda n: n,
        parts=parts,
    )


def sampled(holds: Any, numbers: Any = None, **changes: Any) -> Sampled:
    return Sampled(
        holds=holds,
        strategy=lambda: st.integers(0, 1000) if numbers is None else numbers,
        instances="n up to 1000",
        examples={"quick": 200, "standard": 2 * SHARD_EXAMPLES, "deep": 10 * SHARD_EXAMPLES},
        rechecked_as="",
        exhibit=lambda n: n,
        **changes,
    )


def witness(found: int) -> Witness:
    return Witness(
        find=lambda: found,
        holds=fails_from(5),
        exhibit=lambda n: n,
        rechecked_as="",
        instances="one number below 5",
    )


def identity(*sides: tuple[str, str], commutative: bool = True) -> Identity:
    def equations() -> list[Equation]:
        import sympy

        names: dict[str, Any] = {
            name: sympy.Symbol(name, commutative=commutative) for name in "ABxy"
        }
        return [
            Equation(
                name=f"{left} = {right}",
                left=sympy.sympify(left, names),
                right=sympy.sympify(right, names),
            )
            for left, right in sides
        ]

    return Identity(equations=equations, instances="all values", leans_on=(INDUCTION,))


def goals(*conclusions: str, axioms: Sequence[str] = (), worlds: int = 1) -> Smt:
    theory = Theory(
        name="numbers",
        declarations="(declare-const n Int)",
        axioms=tuple(Axiom(text, text, "it holds") for text in axioms),
        worlds=lambda: [World(sorts={}, symbols={}, free={"n": range(3)})] * worlds,
    )
    return Smt(
        goals=lambda: [Goal(name=text, theory=theory, conclusion=text) for text in conclusions],
        instances="all n",
        leans_on=(INDUCTION,),
    )


@pytest.mark.parametrize(
    ("method", "name", "ceiling", "fresh"),
    [
        (exhaustive(fails_from(9), range(9)), "exhaustive", Status.BOUNDED, False),
        (sampled(fails_from(2000)), "sampled", Status.SAMPLED, True),
        (witness(1), "witness", Status.PROVED, False),
        (identity(("x", "x")), "identity", Status.PROVED, False),
        (goals("(= n n)"), "smt", Status.PROVED, False),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_method_reaches_its_ceiling_and_not_more(
    method: Method, name: str, ceiling: Status, fresh: bool
) -> None:
    assert isinstance(method, Method)
    assert (method.name, method.ceiling, method.fresh_process) == (name, ceiling, fresh)
    verdict = method.settle(QUICK)
    assert method.combine([verdict]).status is ceiling
    assert verdict.instances >= 1
    assert verdict.trusts
    assert verdict.certificate
    assert method.scope(QUICK)
    assert method.shards(QUICK) == 1


# --- exhaustive ------------------------------------------------------------------------------


def test_an_empty_range_is_unknown() -> None:
    method = exhaustive(fails_from(9), [])
    verdict = method.combine([method.settle(QUICK)])
    assert verdict.status is Status.UNKNOWN
    assert verdict.evidence["reason"] == "the range of instances is empty: nothing was checked"


@given(st.integers(0, 30), st.integers(1, 7))
def test_shards_partition_the_range_and_combine_to_the_whole(size: int, parts: int) -> None:
    method = exhaustive(fails_from(100), range(size), parts=parts)
    verdicts = shards(method)
    seen = [v.certificate["instances"] for v in verdicts if v.certificate]
    assert sorted(n for part in seen for n in part) == list(range(size))
    whole = method.combine(verdicts)
    assert whole.instances == size
    assert whole.status is (Status.BOUNDED if size else Status.UNKNOWN)


def shards(method: Method, seed: int = 0, profile: Any = "quick") -> list[Verdict]:
    count = method.shards(Setting(profile=profile))
    return [
        method.settle(Setting(profile=profile, seed=seed, shard=i, shards=count))
        for i in range(count)
    ]


def test_the_first_failure_is_reported_as_it_was_replayed() -> None:
    verdict = exhaustive(fails_from(6), range(10)).settle(QUICK)
    assert verdict.status is Status.REFUTED
    assert verdict.evidence == {
        "counterexample": {"n": 6},
        "text": "6 is at least 6",
        "tried": 7,
    }
    assert verdict.certificate == {
        "kind": "counterexample",
        "instance": {"n": 6},
        "text": "6 is at least 6",
        "rechecked_as": "",
        "exhibit": 6,
    }


def test_the_lowest_failing_shard_wins() -> None:
    method = exhaustive(fails_from(6), range(10), parts=3)
    verdicts = shards(method)
    assert [v.status for v in verdicts] == [Status.REFUTED] * 3
    assert method.combine(verdicts).evidence["counterexample"] == {"n": 6}
    later = [verdicts[1], verdicts[2]]
    assert method.combine(later).evidence["counterexample"] == {"n": 7}


@pytest.mark.parametrize(
    "method",
    [
        exhaustive(fails_once(), range(3)),
        sampled(fails_once()),
        Witness(
            find=lambda: 1,
            holds=fails_once(),
            exhibit=lambda n: n,
            rechecked_as="",
            instances="one",
        ),
    ],
    ids=["exhaustive", "sampled", "witness"],
)
def test_a_failure_that_does_not_replay_is_broken(method: Method) -> None:
    verdict = method.settle(QUICK)
    assert verdict.status is Status.BROKEN
    assert "did not fail again when replayed" in verdict.evidence["reason"]


# --- sampled ---------------------------------------------------------------------------------


def test_a_search_shrinks_to_the_smallest_failure() -> None:
    verdict = sampled(fails_from(137)).settle(QUICK)
    assert verdict.status is Status.REFUTED
    assert verdict.evidence["counterexample"] == {"n": 137}
    assert verdict.evidence["seed"] == 0


def test_a_search_depends_on_its_seed_alone() -> None:
    seen: dict[int, list[list[int]]] = {0: [], 1: []}
    for seed in (0, 1, 1, 0):
        numbers: list[int] = []
        sampled(_recorded(numbers)).settle(Setting(profile="quick", seed=seed))
        seen[seed].append(numbers)
    assert seen[0][0] == seen[0][1]
    assert seen[1][0] == seen[1][1]
    assert seen[0] != seen[1]


def _recorded(numbers: list[int]) -> Callable[[int], None]:
    return numbers.append


def test_shards_of_a_search_differ_and_add_up_in_any_order() -> None:
    numbers: list[int] = []
    method = sampled(_recorded(numbers), st.integers(0, 10**9))
    parts: list[list[int]] = []
    verdicts: list[Verdict] = []
    for shard in (0, 1, 1, 0):
        numbers.clear()
        verdicts.append(method.settle(Setting(examples=100, shard=shard, shards=2)))
        parts.append(list(numbers))
    assert parts[0] == parts[3] != parts[1] == parts[2]
    assert verdicts[0] == verdicts[3]
    assert method.combine(verdicts[:2]).instances == sum(map(len, parts[:2])) == 100


def test_asked_for_examples_a_search_tries_as_many() -> None:
    numbers: list[int] = []
    setting = Setting(profile="quick", examples=40)
    method = sampled(_recorded(numbers), st.integers(0, 10**9))
    assert method.settle(setting).instances == len(numbers) == 40
    assert method.shards(Setting(examples=SHARD_EXAMPLES + 1)) == 2


def test_a_strategy_without_instances_is_unknown() -> None:
    verdict = sampled(fails_from(0), st.nothing()).settle(QUICK)
    assert verdict.status is Status.UNKNOWN
    assert "nothing was checked" in verdict.evidence["reason"]


def test_smaller_instances_are_searched_once_one_has_failed() -> None:
    method = sampled(
        fails_from(137), smaller=lambda n: [st.just(3), st.just(n + 1), st.just(n + 2)]
    )
    verdict = method.settle(QUICK)
    assert verdict.evidence["counterexample"] == {"n": 138}
    held = sampled(fails_from(137), smaller=lambda _: [st.just(3)]).settle(QUICK)
    assert held.evidence["counterexample"] == {"n": 137}


# --- witness ---------------------------------------------------------------------------------


def test_a_witness_that_fails_is_refuted_with_its_instance() -> None:
    verdict = witness(7).settle(QUICK)
    assert verdict.status is Status.REFUTED
    assert verdict.evidence["counterexample"] == {"n": 7}


# --- identity --------------------------------------------------------------------------------


def test_a_false_identity_is_refuted_with_a_point() -> None:
    verdict = identity(("(x + y)**2", "x**2 + y**2")).settle(QUICK)
    assert verdict.status is Status.REFUTED
    assert verdict.evidence["counterexample"] == {"x": "1", "y": "1"}
    assert verdict.evidence["text"].endswith("left side 4, right side 2")


def test_an_identity_names_its_equations_and_what_it_trusts() -> None:
    verdict = identity(("(x + y)**2", "x**2 + 2*x*y + y**2"), ("x", "x")).settle(QUICK)
    assert verdict.status is Status.PROVED
    assert verdict.instances == 2
    assert verdict.trusts == ("fact:induction", "library:sympy")


def test_products_that_do_not_commute_keep_their_order() -> None:
    assert identity(("A*B", "B*A")).settle(QUICK).status is Status.PROVED
    verdict = identity(("A*B", "B*A"), commutative=False).settle(QUICK)
    assert verdict.status is Status.UNKNOWN
    assert "fails as polynomials" in verdict.evidence["reason"]
    square = ("(A + B)**2", "A**2 + A*B + B*A + B**2")
    assert identity(square, commutative=False).settle(QUICK).status is Status.PROVED


def test_no_equation_is_unknown() -> None:
    assert identity().settle(QUICK).status is Status.UNKNOWN


def test_engines_that_disagree_settle_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("verify.methods.identity.expand", lambda *_: 0)
    verdict = identity(("x", "y")).settle(QUICK)
    assert verdict.status is Status.UNKNOWN
    assert "the two engines disagree" in verdict.evidence["reason"]


def test_what_is_not_a_polynomial_is_refused() -> None:
    with pytest.raises(GoalError, match="identities are between polynomials, got sin"):
        identity(("sin(x)", "x")).settle(QUICK)
    with pytest.raises(GoalError, match="identities are between polynomials"):
        identity(("1/x", "x")).settle(QUICK)


POLYNOMIALS = st.recursive(
    st.sampled_from(["x", "y", "A", "2", "3/2", "0"]),
    lambda part: st.one_of(
        st.tuples(st.sampled_from("+*-"), part, part).map(lambda t: f"({t[1]} {t[0]} {t[2]})"),
        part.map(lambda base: f"({base})**2"),
    ),
    max_leaves=6,
)


@given(POLYNOMIALS, POLYNOMIALS, st.booleans())
def test_our_expansion_agrees_with_sympys(left: str, right: str, commutative: bool) -> None:
    import sympy

    names: dict[str, Any] = {n: sympy.Symbol(n, commutative=commutative) for n in "xyA"}
    ours, theirs = (sympy.sympify(text, names, rational=True) for text in (left, right))
    equal = expand(tree(ours), commutative) == expand(tree(theirs), commutative)
    assert equal is bool(sympy.expand(ours - theirs) == 0)


# --- smt -------------------------------------------------------------------------------------


def test_a_valid_goal_is_put_to_both_solvers(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str]] = []

    def recording(name: str) -> Callable[[], smt.Ask]:
        start = smt.SOLVERS[name]

        def opened() -> smt.Ask:
            ask = start()

            def answer(script: str) -> str:
                asked.append((name, script))
                return ask(script)

            return answer

        return opened

    monkeypatch.setattr(smt, "SOLVERS", {name: recording(name) for name in smt.SOLVERS})
    verdict = goals("(=> (> n 1) (>= n 2))").settle(QUICK)
    assert verdict.status is Status.PROVED
    assert verdict.trusts == ("fact:induction", "solver:cvc5", "solver:z3")
    assert [name for name, _ in asked] == ["z3", "cvc5"]
    assert len({script for _, script in asked}) == 1
    (row,) = verdict.evidence["goals"]
    assert row["answers"] == {"z3": "unsat", "cvc5": "unsat"}


@pytest.mark.parametrize("liar", ["z3", "cvc5"])
@pytest.mark.parametrize("lie", ["sat", "unknown", ""])
def test_solvers_that_disagree_settle_nothing(
    liar: str, lie: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(smt.SOLVERS, liar, lambda: lambda _: lie)
    verdict = goals("(= n n)").settle(QUICK)
    assert verdict.status is Status.UNKNOWN
    assert f"{liar} {lie}" in verdict.evidence["reason"]


def test_one_lying_solver_proves_nothing_false(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(smt.SOLVERS, "cvc5", lambda: lambda _: "unsat")
    verdict = goals("(or (< n 3) (> n 100) (= n 50))").settle(QUICK)
    assert verdict.status is Status.UNKNOWN
    assert "z3 sat, cvc5 unsat" in verdict.evidence["reason"]


def test_a_solver_that_crashes_settles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(_: str) -> str:
        raise RuntimeError("out of luck")

    monkeypatch.setitem(smt.SOLVERS, "z3", lambda: crash)
    verdict = goals("(= n n)").settle(QUICK)
    assert verdict.status is Status.UNKNOWN
    assert "z3 error: RuntimeError: out of luck" in verdict.evidence["reason"]


def test_our_own_errors_are_not_taken_for_a_solvers(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(_: str) -> str:
        raise GoalError("ours")

    monkeypatch.setitem(smt.SOLVERS, "z3", lambda: wrong)
    with pytest.raises(CertiformerError, match="ours"):
        goals("(= n n)").settle(QUICK)


def test_text_that_solvers_cannot_read_settles_nothing() -> None:
    theory = Theory(
        name="unread",
        declarations="",
        axioms=(),
        worlds=lambda: [World(sorts={}, symbols={"undeclared": True})],
    )
    method = Smt(
        goals=lambda: [Goal(name="it", theory=theory, conclusion="undeclared")],
        instances="none",
    )
    verdict = method.settle(QUICK)
    assert verdict.status is Status.UNKNOWN
    assert "error" in verdict.evidence["reason"]


@pytest.mark.parametrize(
    ("method", "reason"),
    [
        (goals(), "there is no goal to prove"),
        (goals("(= n n)", axioms=["(< n 2)"]), "axiom (< n 2)"),
        (goals("(= n n)", worlds=0), "assumptions that no real object met: (= n n)"),
        (goals("(< n 3)"), "z3 sat, cvc5"),
    ],
    ids=["no goal", "false axiom", "no world", "not valid"],
)
def test_what_is_vacuous_false_or_not_valid_is_unknown(method: Smt, reason: str) -> None:
    verdict = method.settle(QUICK)
    assert verdict.status is Status.UNKNOWN
    assert reason in verdict.evidence["reason"]
    assert verdict.certificate is None


def test_contradictory_axioms_prove_nothing() -> None:
    verdict = goals("false", axioms=["(> n 1)", "(< n 1)"]).settle(QUICK)
    assert verdict.status is Status.UNKNOWN
    assert "false on real objects of the code" in verdict.evidence["reason"]
