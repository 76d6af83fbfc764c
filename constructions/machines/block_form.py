"""The last layers in block form: a look-up by label and parities in place of dense conjunctions.

With the label block one-hot at most one conjunction is 1, so the dense layer and output need not be
multiplied out: the newest label's index and the parity mask name a row, whose token is emitted.

Source: Sliding-Window Transformers Without Positional Encodings, Appendix A, "The MLP layer".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from constructions.machines.definitions import MachineError, State
from constructions.machines.relu import Number
from constructions.machines.relu_machine import MachineNetwork
from constructions.machines.window import ABSENT

Key = int | None
"""A parity mask, None for any parities, or ABSENT without a marker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockForm(Generic[State]):
    """Rows of a machine's network by the index of their label, then by parity mask.

    Source: Appendix A, "The MLP layer" (the map G as a table).
    """

    network: MachineNetwork[State]
    rows: tuple[Mapping[Key, int], ...]

    def row(self, label: int, present: bool, mask: int) -> int | None:
        """The number of the row that is asked for, or None where G is not defined."""
        found = self.rows[label]
        if not present:
            return found.get(ABSENT)
        return found.get(mask, found.get(None))

    def output(
        self, label: int, present: bool, mask: int, carried: Sequence[Number]
    ) -> tuple[Number, ...]:
        """Emb of the row's token minus the carried h, of length D."""
        row = self.row(label, present, mask)
        hot = () if row is None else self.network.hot(self.network.rows[row].token)
        return tuple(int(place in hot) - entry for place, entry in enumerate(carried))


def block_form(network: MachineNetwork[State]) -> BlockForm[State]:
    """The block form of a network's conjunctions.

    Raises:
        MachineError: two rows answer the same label and parities.
    """
    rows: list[dict[Key, int]] = [{} for _ in network.vocabulary.labels]
    for number, row in enumerate(network.rows):
        key = row.mask if row.present else ABSENT
        if key in rows[row.label] or (key != ABSENT and None in rows[row.label]):
            raise MachineError(
                f"block_form: label {row.label} must have one answer for each parity, got two for "
                f"{key}; drop row {number}"
            )
        rows[row.label][key] = number
    return BlockForm(network=network, rows=tuple(rows))
