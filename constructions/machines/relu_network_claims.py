"""The whole map G of Theorem 9 as one ReLU network, on every reachable representation.

Source: Sliding-Window Transformers Without Positional Encodings, Section 5 and Appendix A.
"""

from __future__ import annotations

from constructions.machines.relu_instances import (
    MakeNetwork,
    network_exhibit,
    network_fails,
    network_range,
)
from constructions.machines.relu_machine import machine_network
from constructions.machines.textbook import ADDITION, INCREMENT, TEXTBOOK
from constructions.machines.words import PAPER
from verify.claims import Check, Source, claim, covers
from verify.methods.exhaustive import Exhaustive
from verify.verdicts import Status


def network_checks(make: MakeNetwork = machine_network) -> tuple[Check, ...]:
    """Layers, counts, labels and whole runs of the textbook machines."""
    return (
        covers(
            Exhaustive(
                holds=network_fails(make),
                ranges={
                    "quick": network_range((INCREMENT, ADDITION), 6, 2),
                    "standard": network_range(TEXTBOOK, 16, 2),
                    "deep": network_range(TEXTBOOK, 64, 7),
                },
                rechecked_as="relu-network",
                exhibit=network_exhibit,
                leans_on=(),
            )
        ),
    )


@claim(
    id="machines.relu.network",
    source=Source(PAPER, "Theorem 9, MLP"),
    latex=r"f_{\mathrm{mlp}}(h) = \mathsf{emb}(G(h)) - h \text{ for every reachable } h",
    scope="the textbook machines, all labels reachable in the control graph, all counts and windows"
    " up to a stated S",
    uses=("machines.relu.parity", "machines.relu.blocks", "machines.window.histogram"),
    expected=Status.BOUNDED,
)
def the_whole_map_is_a_relu_network() -> tuple[Check, ...]:
    """The whole map G as an explicit ReLU network agrees with G on every reachable representation.

    All labels reachable in the control graph of the textbook machines, at all parities on which G
    is defined, times all counts in contexts of at most S + 1 tokens.
    """
    return network_checks()
