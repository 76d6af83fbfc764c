"""Machine claims with one thing wrong are refuted, and no solver proves them."""

from pathlib import Path

import pytest

from constructions.machines.attention_theory import VALUE_RULE, value_goals
from constructions.machines.decoding_claims import HOT_RULE, decoding_goals, decoding_theory
from constructions.machines.matrix_worlds import attention_worlds, decoding_worlds
from constructions.machines.mutants import parity
from constructions.machines.mutants import window as window_mutants
from constructions.machines.parity_claims import parity_worlds
from constructions.machines.parity_theory import KEPT_RULE, parity_theory, step_goals
from constructions.machines.readings import word_worlds
from constructions.machines.window_claims import bound_checks, ready_goals, refresh_goals
from constructions.machines.window_theory import Code, Rules, window_theory, window_worlds
from constructions.machines.words import LAWS, SEM_RULE, law_goals
from verify.loading import load_file
from verify.methods.smt import open_z3
from verify.smtlib import ground

refuting = load_file(Path(__file__).with_name("refuting.py"))


def window(rules, goals):
    return goals(window_theory("window", lambda: window_worlds(Code()), rules=rules))


BROKEN = {
    "sem": (
        lambda rule: law_goals(LAWS, rule, word_worlds),
        SEM_RULE,
        parity.SEM_WITH_MARKERS,
    ),
    "parity": (
        lambda rule: step_goals(parity_theory(rule, parity_worlds)),
        KEPT_RULE,
        parity.KEPT_FIRST_ONLY,
    ),
    "update bit": (
        lambda rule: window(Rules(both=rule), ready_goals),
        Rules().both,
        Rules().both.replace("true", "false"),
    ),
    "refresh": (
        lambda rule: window(Rules(refresh=rule), refresh_goals),
        Rules().refresh,
        "(tok (sym first) (newest c) false)",
    ),
    "pending": (
        lambda rule: window(Rules(pending=rule), ready_goals),
        Rules().pending,
        Rules().pending.replace("false", "true"),
    ),
    "embedding": (
        lambda rule: decoding_goals(decoding_theory(rule, decoding_worlds)),
        HOT_RULE,
        window_mutants.TWO_BLOCKS,
    ),
    "value": (
        lambda rule: value_goals(attention_worlds, rule),
        VALUE_RULE,
        VALUE_RULE.replace("(= j (- i n))", "(= j i)"),
    ),
}


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_a_broken_rule_is_false_of_the_code_and_proves_nothing(name, monkeypatch):
    monkeypatch.setattr("verify.methods.smt.Z3_RESOURCES", 1_000_000)
    goals, right, wrong = BROKEN[name]
    assert right != wrong
    assert not ground(goals(right)).failures
    assert ground(goals(wrong)).failures
    assert {open_z3()(goal.script()) for goal in goals(right)} == {"unsat"}
    assert {open_z3()(goal.script()) for goal in goals(wrong)} != {"unsat"}


def test_bounds_of_s_tokens_are_not_proved(monkeypatch):
    monkeypatch.setattr("verify.methods.smt.Z3_RESOURCES", 1_000_000)
    (proof, _) = bound_checks()
    goal = proof.method.goals()[0]
    assert open_z3()(goal.script()) == "unsat"
    assert open_z3()(goal.script().replace("(+ S 1)", "S")) != "unsat"
