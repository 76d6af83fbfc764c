"""Machine claims with one thing wrong are refuted, and no solver proves them."""

from importlib import import_module
from pathlib import Path

import pytest

from constructions.machines.attention_theory import VALUE_RULE, value_goals
from constructions.machines.decoding_claims import HOT_RULE, decoding_goals, decoding_theory
from constructions.machines.matrix_worlds import attention_worlds, decoding_worlds
from constructions.machines.parity_claims import parity_worlds
from constructions.machines.parity_theory import KEPT_RULE, parity_theory, step_goals
from constructions.machines.readings import word_worlds
from constructions.machines.window_claims import bound_checks, ready_goals, refresh_goals
from constructions.machines.window_theory import Code, Rules, window_theory, window_worlds
from constructions.machines.words import LAWS, SEM_RULE, law_goals
from verify.claims import Setting, claims_of, load_file
from verify.methods.smt import open_z3
from verify.smtlib import ground
from verify.verdicts import Status, claim_status

twins = load_file(Path(__file__).with_name("machine_twins.py"))
TWINS = {item.id: item for item in claims_of(twins)}


@pytest.mark.parametrize("name", sorted(TWINS))
def test_the_twin_is_refuted_by_an_instance(name):
    statuses = []
    for check in TWINS[name].checks():
        if check.method.name == "smt":
            statuses.append((check.covers, Status.UNKNOWN))
            continue
        verdict = check.method.settle(Setting(profile="quick"))
        assert verdict.evidence["counterexample"]
        assert verdict.evidence["text"]
        statuses.append((check.covers, verdict.status))
    assert claim_status(statuses) == Status.REFUTED


def test_every_claim_has_a_twin():
    part = "constructions.machines."
    modules = (
        "words parity_claims attention_claims decoding_claims window_claims halting_claims "
        "turing_claims chain_claims"
    )
    claims = {item.id for name in modules.split() for item in claims_of(import_module(part + name))}
    assert {f"twin.{name}" for name in claims} <= set(TWINS)


def window(rules, goals):
    return goals(window_theory("window", lambda: window_worlds(Code()), rules=rules))


BROKEN = {
    "sem": (
        lambda rule: law_goals(LAWS, rule, word_worlds),
        SEM_RULE,
        twins.SEM_WITH_MARKERS,
    ),
    "parity": (
        lambda rule: step_goals(parity_theory(rule, parity_worlds)),
        KEPT_RULE,
        twins.KEPT_FIRST_ONLY,
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
        twins.TWO_BLOCKS,
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
