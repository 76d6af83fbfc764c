"""Every machine claim, settled here under the quick profile."""

import csv
import json
from pathlib import Path

import pytest

from constructions.machines import (
    attention_claims,
    chain_claims,
    decoding_claims,
    halting_claims,
    parity_claims,
    turing_claims,
    window_claims,
    words,
)
from constructions.machines.corpus import CHAMPIONS, THREE, TWO
from constructions.machines.formats.bbchallenge import every_machine
from constructions.machines.instances import RunCase, window_figures
from constructions.machines.parity_theory import parity_theory
from constructions.machines.words import LAWS, axioms_of, law_goals
from verify.claims import Setting
from verify.loading import claims_of
from verify.verdicts import Status

MODULES = (
    words,
    parity_claims,
    attention_claims,
    decoding_claims,
    window_claims,
    halting_claims,
    turing_claims,
    chain_claims,
)
CLAIMS = {item.id: item for module in MODULES for item in claims_of(module)}
LARGEST_CERTIFICATE = 200_000
RECORDS = Path(__file__).parents[4] / "shared" / "data" / "champions.tsv"


def settled(method):
    shards = method.shards(Setting(profile="quick"))
    settings = [Setting(profile="quick", shard=i, shards=shards) for i in range(shards)]
    return method.combine([method.settle(setting) for setting in settings])


def test_the_claims_of_this_part_are_stated():
    assert set(CLAIMS) == {
        "machines.words.laws",
        "machines.parity.recovers",
        "machines.parity.step",
        "machines.turing.queue",
        "machines.window.histogram",
        "machines.window.decodes",
        "machines.window.ready",
        "machines.window.refresh",
        "machines.window.bounds",
        "machines.window.halting",
        "machines.window.permutation",
        "machines.chain",
    }


@pytest.mark.parametrize("name", sorted(CLAIMS))
def test_the_claim_reaches_its_status(name):
    for check in CLAIMS[name].checks():
        verdict = settled(check.method)
        assert "reason" not in verdict.evidence
        assert verdict.status == (CLAIMS[name].expected if check.covers else check.method.ceiling)
        assert verdict.instances > 0
        if check.method.name == "exhaustive":
            assert len(json.dumps(verdict.certificate)) < LARGEST_CERTIFICATE


@pytest.mark.parametrize("name", sorted(n for n in CLAIMS if CLAIMS[n].expected == Status.PROVED))
def test_a_proof_has_an_instance_check_beside_it(name):
    methods = [check.method.name for check in CLAIMS[name].checks()]
    assert methods == ["smt", "exhaustive"]


def test_dependencies_are_claims():
    for item in CLAIMS.values():
        assert set(item.uses) <= set(CLAIMS)


def test_the_laws_that_are_assumed_are_the_laws_that_are_proved():
    goals = law_goals(LAWS, words.SEM_RULE, tuple)
    proved = {goal.conclusion for goal in goals if goal.role == "base"}
    assert proved == {law.at("wnil" if law.over == "Word" else "cnil") for law in LAWS}
    assumed = {axiom.formula for axiom in parity_theory("true", tuple).axioms}
    assert {axiom.formula for axiom in axioms_of(words.PAR_SNOC)} <= assumed


def test_machines_are_numbered_in_lexical_order():
    picked = {n: machine.name for n, machine in enumerate(every_machine(2, 2)) if n % 997 == 0}
    assert {n: TWO.machine(n).name for n in picked} == picked
    assert sum(1 for _ in every_machine(2, 2)) == TWO.size == 13**4
    assert THREE.size == 17**6
    first = [machine.name for machine, _ in zip(every_machine(3, 2), range(40), strict=False)]
    assert [THREE.machine(n).name for n in range(40)] == first
    assert THREE.machine(THREE.size - 1).name == "1RZ1RZ_1RZ1RZ_1RZ1RZ"


@pytest.mark.skipif(not RECORDS.exists(), reason=f"no file {RECORDS.name} beside the project")
def test_champions_are_those_of_the_records():
    with RECORDS.open(encoding="utf-8") as file:
        rows = {row["machine"]: row for row in csv.DictReader(file, delimiter="\t")}
    assert set(rows) == {text for text, _, _ in CHAMPIONS}
    for text, applied, nonblank in CHAMPIONS:
        if rows[text]["halted"] == "yes":
            assert (rows[text]["steps"], rows[text]["nonblank"]) == (str(applied), str(nonblank))


def test_figures_of_a_run_are_those_of_the_transformer():
    case = RunCase(number=13**3 * 3, word=("1",), limit=24)
    figures = window_figures(case)
    assert figures.max_context <= figures.max_window + 1
    assert figures.tokens <= 3 * figures.steps
