"""Formal verification of theorems whose proof is an explicit transformer: the public names.

A claim of your own is a documented function that returns checks:

    from certiformer import Exhaustive, Source, Status, claim, covers

    @claim(id="paper.theorem", source=Source("paper", "Theorem 1"), latex="m = 2Ld",
           scope="L, d up to 3", expected=Status.BOUNDED)
    def the_width_is_2Ld():
        \"\"\"The width is 2Ld.\"\"\"
        return [covers(Exhaustive(...))]

and `certiformer verify FILE` settles it.
"""

from verify.balls import Balls
from verify.claims import Check, Claim, Setting, Source, claim, covers, supports
from verify.counterexamples import Counterexample
from verify.findings import Finding, finding
from verify.methods.enclosure import Enclosure, Undecided
from verify.methods.exhaustive import Exhaustive
from verify.methods.floating import Floating, Measurement, Trial, Trials
from verify.methods.identity import Equation, Identity
from verify.methods.sampled import Sampled
from verify.methods.smt import Smt
from verify.methods.witness import Witness
from verify.modular import Residues
from verify.ranges import Range
from verify.rational import Matrix
from verify.real_lemmas import RealLemma
from verify.run import settle
from verify.smtlib import Axiom, Goal, Theory, World, induction
from verify.verdicts import Status, Verdict

__all__ = [
    "Axiom",
    "Balls",
    "Check",
    "Claim",
    "Counterexample",
    "Enclosure",
    "Equation",
    "Exhaustive",
    "Finding",
    "Floating",
    "Goal",
    "Identity",
    "Matrix",
    "Measurement",
    "Range",
    "RealLemma",
    "Residues",
    "Sampled",
    "Setting",
    "Smt",
    "Source",
    "Status",
    "Theory",
    "Trial",
    "Trials",
    "Undecided",
    "Verdict",
    "Witness",
    "World",
    "claim",
    "covers",
    "finding",
    "induction",
    "settle",
    "supports",
]
