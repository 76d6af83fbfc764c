"""Formal verification of theorems whose proof is an explicit transformer: the public names.

A claim of your own is a documented function that returns checks:

    from certiformer import Exhaustive, Source, Status, claim, covers

    @claim(id="paper.theorem", source=Source("paper", "Theorem 1"), latex="m = 2Ld",
           scope="L, d up to 3", expected=Status.BOUNDED)
    def the_width_is_2Ld():
        \"\"\"The width is 2Ld.\"\"\"
        return [covers(Exhaustive(...))]

and `certiformer verify FILE` settles it; `check(the_width_is_2Ld)` does so in a notebook.
`from certiformer import strategies` gives Hypothesis strategies of sizes, targets and machines.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from verify.balls import Balls
from verify.checking import Checked, check
from verify.claims import Check, Claim, Profile, Setting, Source, claim, covers, supports
from verify.counterexamples import Counterexample
from verify.facts import INDUCTION
from verify.findings import Finding, finding
from verify.methods.enclosure import Enclosure, Undecided
from verify.methods.exhaustive import Exhaustive
from verify.methods.floating import Floating, Measurement, Trial, Trials
from verify.methods.identity import Equation, Identity
from verify.methods.sampled import Sampled
from verify.methods.smt import Smt
from verify.methods.witness import Witness
from verify.modular import Residues
from verify.mutants import Mutant, mutant
from verify.ranges import Range
from verify.rational import Matrix
from verify.real_lemmas import RealLemma
from verify.run import settle
from verify.smtlib import Axiom, Goal, Theory, World, induction
from verify.verdicts import Status, Verdict

if TYPE_CHECKING:
    from constructions import strategies as strategies  # noqa: PLC0414 - given by `__getattr__`

__all__ = [
    "INDUCTION",
    "Axiom",
    "Balls",
    "Check",
    "Checked",
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
    "Mutant",
    "Profile",
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
    "check",
    "claim",
    "covers",
    "finding",
    "induction",
    "mutant",
    "settle",
    "supports",
]


def __getattr__(name: str) -> Any:
    """The strategies, imported when they are first asked for."""
    if name == "strategies":
        return import_module("constructions.strategies")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
