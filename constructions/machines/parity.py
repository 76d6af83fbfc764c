"""Theorem 7: a parity-HIST machine that simulates a queue machine step by step.

    queue C_t = sigma W_t        the HIST window is W_t = tail(C_t)
    stored r  = parity of C_t    seen p = parity of W_t      r xor p = e_sigma

so the removed front symbol is recovered from two parities; a flag stands in for it in the first
step, where it is the start symbol. Appending a gives the next queue W_t a, of parity
p xor parity(a).

*One repair.* The paper's halting state forgets r, and with it the front symbol of the final queue:
the queues `aa` and `ba` would end alike. Here a halting state is any (q_halt, r, b), which leaves
every step as it was and lets `final_queue` return the whole queue.

Source: Sliding-Window Transformers Without Positional Encodings, Theorem 7.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic

from constructions.machines.definitions import (
    MachineError,
    ParityHistMachine,
    QueueMachine,
    State,
    Word,
    parity_mask,
    parity_vector,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored(Generic[State]):
    """A control state (q, r, b): queue machine's state, parity mask of its queue, first-step flag.

    Source: Theorem 7, the set Q_HIST.
    """

    state: State
    parity: int
    first: bool


def parity_machine(machine: QueueMachine[State]) -> ParityHistMachine[Stored[State]]:
    """The parity-HIST machine of a queue machine, over the same alphabet.

    Source: Theorem 7.
    """

    def rule(stored: Stored[State], seen: int) -> tuple[Stored[State], Word]:
        step = machine.transition(stored.state, recovered(machine, stored, seen))
        parity = stored_parity(machine, seen, step.appended)
        return Stored(state=step.state, parity=parity, first=False), step.appended

    def is_halting(stored: Stored[State]) -> bool:
        return stored.state == machine.halt

    return ParityHistMachine(
        name=machine.name,
        alphabet=machine.alphabet,
        start=Stored(state=machine.start, parity=0, first=True),
        is_halting=is_halting,
        rule=rule,
    )


def recovered(machine: QueueMachine[State], stored: Stored[State], seen: int) -> str:
    """The front symbol of the queue, from the stored parity r and the window's parity p.

    Raises:
        MachineError: r xor p is no unit vector, so no queue fits.

    Source: Theorem 7, r xor p = e_sigma.
    """
    if stored.first:
        return machine.front
    unit = stored.parity ^ seen
    place = unit.bit_length() - 1
    if unit != 1 << max(place, 0) or place >= len(machine.alphabet):
        size = len(machine.alphabet)
        raise MachineError(
            f"parity-HIST {machine.name}: stored parity xor seen parity must be a unit vector, got "
            f"{parity_vector(stored.parity, size)} xor {parity_vector(seen, size)}; "
            "no queue has this state and window, so start from the initial configuration"
        )
    return machine.alphabet[place]


def stored_parity(machine: QueueMachine[State], seen: int, appended: Word) -> int:
    """The parity of the next queue W a: that of W xor that of a.

    Source: Theorem 7.
    """
    return seen ^ parity_mask(machine.alphabet, appended)


def final_queue(machine: QueueMachine[State], stored: Stored[State], window: Iterable[str]) -> Word:
    """The whole queue behind a configuration: the recovered front symbol, then the window."""
    kept = tuple(window)
    return (recovered(machine, stored, parity_mask(machine.alphabet, kept)), *kept)
