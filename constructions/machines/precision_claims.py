"""How long windows may be in each floating-point format, measured and proved.

    way          proved for all p and S where load + 10 2^K <= 2^(p + 1)      so for
    wider        load = 8 S, sums of at most 2^(p' - p) ones                  S <= 2^(p - 4)
    once         load = 18 S                                                  S <= 2^(p - 4)
    pairwise     load = 9 (K + 1) S                                           S (K + 2) <= 2^(p - 3)
    sequential   load = 9 S^2                                                 S^2 <= 2^(p - 3)

So the paper's O(log S) bits are log2(S) + 4 where the mean is rounded once, and 2 log2(S) + 3 where
it is summed token by token; without the margin no format serves windows of four symbols.

Source: Sliding-Window Transformers Without Positional Encodings, Theorem 9, Remark 5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from constructions.machines.precision import (
    WAYS,
    WIDER,
    FrontierCase,
    Way,
    frontier,
    proved_bound,
)
from constructions.machines.precision_lemmas import LEMMAS
from constructions.machines.precision_loads import closed_goals, way_goals
from constructions.machines.precision_orders import comb_goals, height_goals, wide_goals
from constructions.machines.precision_reading import bit_goals, last_goals, margin_goals
from constructions.machines.precision_sums import tree_goals
from constructions.machines.precision_theory import fold_goals, share_goals
from constructions.machines.precision_worlds import network_worlds, way_worlds
from constructions.machines.words import PAPER
from constructions.universal.floats import FORMATS
from verify.claims import Check, Profile, Source, claim, covers, supports
from verify.counterexamples import Counterexample
from verify.facts import INDUCTION
from verify.methods.exhaustive import Exhaustive
from verify.methods.smt import Smt
from verify.ranges import Range
from verify.smtlib import Goal, World
from verify.verdicts import Json, Status

# --- instances -------------------------------------------------------------------------------

_SMALL = {"bfloat16": 256, "float16": 2048}
"""Limits that all formats of 16 bits fail below."""
_LIMITS: dict[Profile, dict[str, int]] = {
    "quick": {**_SMALL, "float32": 256, "float64": 64},
    "standard": {**_SMALL, "float32": 4096, "float64": 256},
    "deep": {**_SMALL, "float32": 16384, "float64": 2048},
}
_TREE_LIMITS: dict[Profile, int] = {"quick": 64, "standard": 512, "deep": 4096}
"""Limits of pairwise sums in the formats that fail later, whose trees take longest."""
_SINGLE_IN_TURN = 8192
"""The limit of sequential sums in float32, beyond their first failure."""


def _limit(profile: Profile, name: str, way: Way) -> int:
    limit = _LIMITS[profile][name]
    if name in _SMALL:
        return limit
    if way.sum == "pairwise":
        return min(limit, _TREE_LIMITS[profile])
    if way.sum == "sequential" and name == "float32" and profile != "quick":
        return max(limit, _SINGLE_IN_TURN)
    return limit


def _cases(profile: Profile, ways: Iterable[Way]) -> Iterator[FrontierCase]:
    for name, format in FORMATS.items():
        for way in ways:
            if name in _LIMITS[profile] and (way.sum != "wider" or name in WIDER):
                yield FrontierCase(format=format, way=way, limit=_limit(profile, name, way))


def _range(profile: Profile, ways: tuple[Way, ...]) -> Range:
    limits = ", ".join(f"{name} {limit}" for name, limit in _LIMITS[profile].items())
    return Range(
        bound=f"all counts in all contexts of at most S + 1 tokens, up to the first S that fails "
        f"or to {limits}; pairwise sums over all orders of the tokens, in float32 and float64 up "
        f"to {_TREE_LIMITS[profile]}",
        over=lambda: _cases(profile, ways),
    )


def bound_fails(case: FrontierCase) -> Counterexample | None:
    """The obligation that no window within the proved bound is read wrongly."""
    bound, found = proved_bound(case.format, case.way), frontier(case)
    failure = found.failure
    if failure is None or failure.longest > bound:
        return None
    return Counterexample(
        text=f"{case.format.name}, {case.way.name}: the bound says that S <= {bound} is enough, "
        f"but the network for S = {failure.longest} misreads {failure.count} ones among "
        f"{failure.context} tokens",
        instance={"format": case.format.name, "way": case.way.name, **_shown(case)},
    )


def _shown(case: FrontierCase) -> dict[str, Json]:
    """Frontier, first failure and bound."""
    found = frontier(case)
    failure = found.failure
    return {
        "limit": case.limit,
        "frontier": found.longest,
        "bound": proved_bound(case.format, case.way),
        "failure": failure
        and {
            "longest": failure.longest,
            "context": failure.context,
            "count": failure.count,
            "order": failure.order,
        },
    }


def frontier_exhibit(case: FrontierCase) -> Json:
    """Kind `precision-frontier`: format, way, the limit of the search and what was found."""
    return {
        "format": case.format.name,
        "digits": case.format.digits,
        "way": case.way.name,
        **_shown(case),
    }


# --- claims ----------------------------------------------------------------------------------


def network_goals(ways: Iterable[Way]) -> tuple[Goal, ...]:
    """The bit is right where the load meets the condition, and so in short windows of each way."""
    loaded = tuple(way for way in ways if way.load is not None)

    def all_ways() -> Iterator[World]:
        return network_worlds(loaded)

    def own(way: Way) -> Callable[[], Iterator[World]]:
        return lambda: way_worlds(way)

    return (
        *share_goals(all_ways),
        *fold_goals(all_ways),
        *last_goals(all_ways),
        *margin_goals(all_ways),
        *bit_goals(all_ways),
        *(goal for way in loaded for goal in way_goals(way.name, own(way))),
        *closed_goals(own(loaded[0])),
    )


def sum_goals() -> tuple[Goal, ...]:
    """Errors of sums along trees, which trees there are, and the facts about real numbers."""

    def worlds() -> Iterator[World]:
        return way_worlds(WAYS["pairwise"])

    return (
        *tree_goals(worlds),
        *wide_goals(worlds),
        *comb_goals(worlds),
        *height_goals(worlds),
        *(lemma.goal for lemma in LEMMAS),
    )


def frontier_checks(ways: Iterable[Way] = tuple(WAYS.values())) -> tuple[Check, ...]:
    """The frontiers of formats and ways against the bounds, and the proof of the bounds."""
    every = tuple(ways)
    profiles: tuple[Profile, ...] = ("quick", "standard", "deep")
    return (
        covers(
            Exhaustive(
                holds=bound_fails,
                ranges={profile: _range(profile, every) for profile in profiles},
                rechecked_as="precision-frontier",
                exhibit=frontier_exhibit,
                parts=4,
                leans_on=("library:numpy",),
            )
        ),
        supports(
            Smt(
                goals=lambda: network_goals(every),
                instances="all formats, windows, contexts and counts, without over- or underflow",
                leans_on=(INDUCTION,),
            )
        ),
        supports(
            Smt(
                goals=sum_goals,
                instances="all formats, summation trees and orders of the tokens",
                leans_on=(INDUCTION,),
            )
        ),
    )


@claim(
    id="machines.precision.frontier",
    source=Source(PAPER, "Theorem 9, Remark 5"),
    latex=r"A + 10 \cdot 2^K \le 2^{p+1} \implies p_\sigma = c_\sigma \bmod 2,\quad"
    r" A = 8S,\ 18S,\ 9(K+1)S,\ 9S^2",
    scope="bfloat16, float16, float32 and float64; the mean rounded once, summed in a wider "
    "format, pairwise or token by token, read with the margin, and rounded once and read without "
    "it; 1/m normal and 4 S finite in the format; bounds for all p and S",
    uses=("machines.relu.parity",),
    expected=Status.BOUNDED,
)
def windows_have_a_longest_length_in_each_format() -> tuple[Check, ...]:
    """Per float format and summation order the largest window for which parity is right.

    It is set against the proved bound for that order, which it never falls short of: about 2^p
    where the mean is rounded once, 2^(p/2) where it is summed token by token.
    """
    return frontier_checks()
