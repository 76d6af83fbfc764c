"""The labels that a transformer can meet, by closure of the control graph, and what it is asked.

Runs meet a finite part of Q_HIST's labels; which part depends on the input. The closure over every
front symbol on which the queue machine has a rule contains them all, whatever the input:

    label                           parities on which the rule is asked
    P(q, sigma), N(halting)         none: the answer does not depend on them
    N(q, r, first)                  those of all words over the input symbols
    N(q, r, not first)              r xor e_sigma, where the rule of q is defined on sigma

Source: Sliding-Window Transformers Without Positional Encodings, Theorems 7 and 9.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic

from constructions.machines.definitions import MachineError, QueueMachine, State, Word, parity_mask
from constructions.machines.parity import Stored, parity_machine
from constructions.machines.window import (
    ABSENT,
    Normal,
    WindowLabel,
    WindowToken,
    WindowTransformer,
    window_transformer,
)
from verify.errors import SizeError

Masks = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlGraph(Generic[State]):
    """Labels closed under the map G, each with the parity masks on which G is asked.

    None in place of masks: one answer, whatever the parities.
    """

    transformer: WindowTransformer[State]
    masks: Mapping[WindowLabel[State], Masks | None]

    @property
    def labels(self) -> tuple[WindowLabel[State], ...]:
        """The labels in the order of their discovery, N(start) first."""
        return tuple(self.masks)

    def answers(self, label: WindowLabel[State]) -> Iterator[tuple[int | None, WindowToken[State]]]:
        """The answers of G with a marker present: (parity mask, or None for any, next token)."""
        masks = self.masks[label]
        for mask in (None,) if masks is None else masks:
            yield mask, self.transformer.rule(label, mask or 0)

    def refreshed(self, label: WindowLabel[State]) -> WindowToken[State]:
        """The answer of G without a marker."""
        return self.transformer.rule(label, ABSENT)


def control_graph(
    transformer: WindowTransformer[State],
    masks_of: Callable[[State], Masks],
    most_labels: int = 1 << 20,
) -> ControlGraph[State]:
    """The closure from N(start), where a running state q is asked on `masks_of(q)`.

    Raises:
        SizeError: more than `most_labels` labels.
    """
    masks: dict[WindowLabel[State], Masks | None] = {}
    found: list[WindowLabel[State]] = [Normal(state=transformer.machine.start)]
    graph = ControlGraph(transformer=transformer, masks=masks)
    while found:
        label = found.pop()
        if label in masks:
            continue
        if len(masks) == most_labels:
            raise SizeError(
                f"control_graph of {transformer.machine.name}: at most {most_labels} labels are "
                "allowed, got more; raise most_labels or use fewer symbols"
            )
        running = isinstance(label, Normal) and not transformer.is_final(label)
        masks[label] = masks_of(label.state) if running else None
        found += [token.label for _, token in graph.answers(label)][::-1]
    return graph


def reachable_labels(
    machine: QueueMachine[State], inputs: Word, most_labels: int = 1 << 20
) -> ControlGraph[Stored[State]]:
    """The labels of a queue machine's transformer, for all inputs over the symbols `inputs`.

    Raises:
        SizeError: more than `most_labels` labels; their number can be exponential in the alphabet.
    """
    bits = {symbol: parity_mask(machine.alphabet, (symbol,)) for symbol in machine.alphabet}

    def masks_of(stored: Stored[State]) -> Masks:
        if not stored.first:
            popped = (s for s in machine.alphabet if _has_rule(machine, stored.state, s))
            return tuple(stored.parity ^ bits[symbol] for symbol in popped)
        seen = [0]
        for symbol in inputs if _has_rule(machine, stored.state, machine.front) else ():
            seen += [mask ^ bits[symbol] for mask in seen]
        return tuple(seen)

    return control_graph(window_transformer(parity_machine(machine)), masks_of, most_labels)


def _has_rule(machine: QueueMachine[State], state: State, symbol: str) -> bool:
    """Whether the rule is defined: it raises where no run can come."""
    try:
        machine.transition(state, symbol)
    except MachineError:
        return False
    return True
