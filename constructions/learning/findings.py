"""What trivial rules say about the paper's accuracies, with every number of ours computed.

Source: Fixed Universal Transformers, Tables 1 and 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache

from constructions.learning.baselines import balancing, tallied
from constructions.learning.hops import CHARACTERS, LENGTH
from constructions.learning.kinds import Components
from constructions.learning.paper import COMPONENTS, FAMILIES, HOPPING, TABLE_1, TABLE_2
from constructions.universal.sums import PAPER
from verify.claims import Source
from verify.findings import finding

STRINGS = 100_000
SHOWN = LENGTH - 2
"""Characters that a model reads."""
BALANCING = {
    f"{FAMILIES[family]}, {COMPONENTS[components]}": printed.greatest
    for (_, components, family), printed in TABLE_2.items()
    if printed.greatest < 1
}
"""The paper's accuracies below 100%, Tables 1 and 2."""
HOPS = {
    task.hops: {
        FAMILIES[family]: TABLE_1[task, Components.attention, family].greatest
        for family in FAMILIES
    }
    for task in HOPPING[:2]
}
"""The paper's accuracies for one and two hops, Table 1."""


def _percent(share: Fraction) -> str:
    return f"{float(share):.1%}"


def _below(printed: Mapping[str, Fraction], share: Fraction) -> str:
    """The printed accuracies that a share is above, in words."""
    return ", ".join(f"{what} {_percent(x)}" for what, x in printed.items() if x < share) or "none"


@cache
def _counting() -> Mapping[str, Fraction]:
    return {rule.name: rule.share for rule in balancing(0, STRINGS)}


@finding(
    id="learning.counting",
    kind="gap",
    source=Source(PAPER, "Section 5.2, Tables 1 and 2, parenthesis balancing"),
    words=r"the random universal also reaches non-trivial accuracy $94.4\%$",
    claims=("learning.dyck.generator", "learning.dyck.baselines"),
)
def counting_alone_reaches_such_accuracies() -> str:
    """Counting without balancing reaches what the tables print for several models."""
    count, ends = (_counting()[name] for name in ("count", "count and ends"))
    return f"""On {STRINGS:,} strings of the generator the rule that only counts parentheses gives
    {_percent(count)} of the answers, and counting with a look at the first and the last symbol
    {_percent(ends)}. Printed accuracies below the latter: {_below(BALANCING, ends)}. Accuracy
    alone does not tell such models from counting; the paper compares with no such rule."""


@finding(
    id="learning.naming",
    kind="gap",
    source=Source(PAPER, "Section 5.2, Table 1, induction heads"),
    words=r"random guessing gives $20\%$",
    claims=("learning.hops.generator", "learning.hops.baselines"),
)
def naming_a_character_beats_guessing() -> str:
    """Rules that look at the current character only reach far more than random guessing."""
    one, two = (tallied(SHOWN, hops) for hops in HOPS)
    another, same = Fraction(one.another, one.asked), Fraction(two.current, two.asked)
    uniform = Fraction(1, CHARACTERS + 1)
    return f"""Neighbours differ, so a 1-hop target is never the current character: naming a fixed
    other one is right on {_percent(another)} of the positions; for 2 hops, naming the current
    character is right on {_percent(same)}. Accuracies of Table 1 below these: 1 hop:
    {_below(HOPS[1], another)}; 2 hops: {_below(HOPS[2], same)}. Below random guessing:
    {_below(HOPS[1], uniform)}."""
