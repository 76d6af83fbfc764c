"""The parities by a ReLU network of depth O(log S), for all window lengths and contexts.

Source: Sliding-Window Transformers Without Positional Encodings, Section 5, "The MLP layer".
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from constructions.machines.readings import graded
from constructions.machines.relu import ReluNetwork, WindowSize, parity_network
from constructions.machines.relu_lemmas import FOLD_RULE, READ_RULE
from constructions.machines.relu_theory import (
    count_goals,
    size_goals,
    unit_goals,
)
from constructions.machines.relu_worlds import Make, parity_worlds
from constructions.machines.words import PAPER
from verify.claims import Check, Source, claim, covers, supports
from verify.counterexamples import Counterexample
from verify.facts import INDUCTION
from verify.methods.exhaustive import Exhaustive
from verify.methods.smt import Smt
from verify.ranges import Range
from verify.smtlib import Goal, World
from verify.verdicts import Json, Status

# --- instances -------------------------------------------------------------------------------


def parity_fails(make: Make) -> Callable[[int], Counterexample | None]:
    """The obligation for one S: every count up to S in every context of at most S + 1 tokens.

    The network has a symbol for each count, so one pass settles one context length.
    """

    def holds(longest: int) -> Counterexample | None:
        size = WindowSize(longest=longest)
        network = make(longest + 1, size.bits, size.scale)
        required = [count % 2 for count in range(longest + 1)]
        for context in range(1, longest + 2):
            came = network.run([*range(longest + 1), 1], context)
            if list(came) != [context * bit for bit in required]:
                bits = " ".join(str(Fraction(entry) / context) for entry in came)
                return _failure(longest, f"with m = {context} the bits of 0..S are {bits}")
        return _size_failure(network, size)

    return holds


def _size_failure(network: ReluNetwork, size: WindowSize) -> Counterexample | None:
    symbols = size.longest + 1
    widths = (2 * symbols + 1,) * size.bits + (2 * symbols,)
    if network.widths != widths:
        return _failure(size.longest, f"widths {widths} are required, got {network.widths}")
    if size.longest > 1 and 1 << (network.depth - 2) >= size.longest:
        return _failure(size.longest, f"{network.depth} hidden layers are log2(S) + 2 or more")
    return None


def _failure(longest: int, text: str) -> Counterexample:
    return Counterexample(text=f"S = {longest}: {text}", instance={"longest": longest})


def parity_exhibit(longest: int) -> Json:
    """Kind `relu-parity`: the sizes, and the bits of the counts 0..S."""
    size = WindowSize(longest=longest)
    network = parity_network(longest + 1, size.bits, size.scale)
    bits = network.run([*range(longest + 1), 1], longest + 1)
    return {
        "longest": longest,
        "levels": size.bits,
        "scale": size.scale,
        "widths": list(network.widths),
        "bits": [int(bit / (longest + 1)) for bit in bits],
    }


def _range(longest: int) -> Range:
    return Range(
        bound=f"S <= {longest}, all contexts of at most S + 1 tokens and all counts up to S",
        over=lambda: range(longest + 1),
    )


# --- claims ----------------------------------------------------------------------------------


def parity_checks(
    fold_rule: str = FOLD_RULE, read_rule: str = READ_RULE, make: Make = parity_network
) -> tuple[Check, ...]:
    """The for-all proof, and every count in every context of short windows."""

    def goals() -> tuple[Goal, ...]:
        def worlds() -> tuple[World, ...]:
            return tuple(parity_worlds(make))

        return (
            *count_goals(worlds),
            *unit_goals(worlds, fold_rule, read_rule),
            *size_goals(worlds),
        )

    return (
        covers(
            Smt(
                goals=goals,
                instances="all S, alphabets, contexts of at most S + 1 tokens with one marker",
                leans_on=(INDUCTION,),
            )
        ),
        supports(
            Exhaustive(
                holds=parity_fails(make),
                ranges=graded(_range, 8, 33, 130),
                rechecked_as="relu-parity",
                exhibit=parity_exhibit,
                leans_on=(),
            )
        ),
    )


@claim(
    id="machines.relu.parity",
    source=Source(PAPER, "Theorem 9, MLP"),
    latex=r"A(\#) = \tfrac1m,\ m \le S + 1 \implies p_\sigma = c_\sigma \bmod 2,\quad"
    r" \text{depth} = K + 1 < \log_2 S + 2,\quad \text{width} \le 2|\Sigma| + 1",
    scope="all S, alphabets and contexts of at most S + 1 tokens with one marker; S >= 2 for depth",
    expected=Status.PROVED,
)
def parities_take_a_relu_network_of_logarithmic_depth() -> tuple[Check, ...]:
    """An explicit ReLU network of depth O(log S) computes the parity bits exactly.

    K + 1 hidden layers, K >= 1 the least with S <= 2^K, of 2|Sigma| + 1 neurons each and one less
    in the last; exact for every context of at most S + 1 tokens with one marker.
    """
    return parity_checks()
