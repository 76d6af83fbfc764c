"""Theorem 7 for all queue machines: the theory's meaning in the code, and the claims.

Source: Sliding-Window Transformers Without Positional Encodings, Theorem 7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from constructions.machines.definitions import (
    MachineError,
    QueueMachine,
    Word,
    parity_mask,
    tabulated,
)
from constructions.machines.instances import (
    ParityMaker,
    parity_fails,
    recovery_fails,
    run_exhibit,
    run_range,
)
from constructions.machines.parity import Stored, parity_machine, recovered
from constructions.machines.parity_theory import (
    KEPT_RULE,
    parity_theory,
    recovery_goals,
    step_goals,
)
from constructions.machines.readings import (
    LONGEST_WORD,
    Meaning,
    graded,
    word_symbols,
    words_up_to,
)
from constructions.machines.runs import ParityHistRun, QueueRun
from constructions.machines.words import PAPER
from verify.claims import Check, Source, claim, covers, supports
from verify.facts import INDUCTION
from verify.methods.exhaustive import Exhaustive
from verify.methods.smt import Smt
from verify.smtlib import World
from verify.verdicts import Status

# --- the theory's meaning in the code --------------------------------------------------------

FRONT = ">"
_TABLE = {
    "p": {">": ("q", ("a",)), "a": ("q", ("a", ">")), "b": ("p", ("a",))},
    "q": {">": ("p", ("a", "b")), "a": ("p", ("b",)), "b": ("halt", ("b", "a"))},
}


def sample_machine() -> QueueMachine[str]:
    """Three symbols, appended words of both lengths; halts on some inputs."""
    return QueueMachine(
        name="sample",
        alphabet=(FRONT, "a", "b"),
        blank="b",
        front=FRONT,
        start="p",
        halt="halt",
        rule=tabulated(_TABLE),
    )


Naming = Callable[[QueueMachine[Any], Stored[Any], int], str]


def queue_symbols(machine: QueueMachine[str], naming: Naming = recovered) -> dict[str, Meaning]:
    """Meaning of the machine symbols of PARITIES; off the invariant all answers are arbitrary."""
    hist = parity_machine(machine)
    alphabet = machine.alphabet

    def dropped(stored: Stored[str], seen: int) -> str:
        try:
            return naming(machine, stored, seen)
        except MachineError:
            return alphabet[0]

    return {
        **word_symbols(alphabet=alphabet),
        "has": lambda p, y: bool(p >> alphabet.index(y) & 1),
        "pty": lambda w: parity_mask(alphabet, w),
        "xorp": lambda a, b: a ^ b,
        "unit": lambda s: 1 << alphabet.index(s),
        "stored": lambda q, r, b: Stored(state=q, parity=r, first=b),
        "qstate": lambda z: z.state,
        "kept": lambda z: z.parity,
        "first": lambda z: z.first,
        "front": machine.front,
        "start": machine.start,
        "halt": machine.halt,
        "dq": lambda q, s: machine.transition(q, s).state,
        "two": lambda q, s: q != machine.halt and len(machine.transition(q, s).appended) > 1,
        "o1": lambda q, s: machine.transition(q, s).appended[0],
        "o2": lambda q, s: machine.transition(q, s).appended[-1],
        "recovered": dropped,
        "hq": lambda z, p: hist.transition(z, p).state,
        "htwo": lambda z, p: len(hist.transition(z, p).appended) > 1,
        "h1": lambda z, p: hist.transition(z, p).appended[0],
        "h2": lambda z, p: hist.transition(z, p).appended[-1],
    }


_STEPS = 6


def _run_symbols(machine: QueueMachine[str], make: Any, word: Word) -> dict[str, Any]:
    queue, hist = QueueRun(machine, word), ParityHistRun(make(machine), word)
    queues, states, windows, stored = [tuple(queue.queue)], [queue.state], [word], [hist.state]
    for _ in range(_STEPS + 1):
        if not queue.halted:
            queue.step()
        if not hist.halted:
            hist.step()
        queues.append(tuple(queue.queue))
        states.append(queue.state)
        windows.append(tuple(hist.window))
        stored.append(hist.state)
    return {
        "input": word,
        "C": queues.__getitem__,
        "q": states.__getitem__,
        "W": windows.__getitem__,
        "z": stored.__getitem__,
    }


def parity_worlds(make: Any = parity_machine, naming: Naming = recovered) -> Iterator[World]:
    """A real queue machine and its parity-HIST machine, each run on several inputs."""
    machine = sample_machine()
    symbols = queue_symbols(machine, naming)
    words = tuple(words_up_to(machine.alphabet, LONGEST_WORD))
    stored = tuple(
        Stored(state=state, parity=mask, first=first)
        for state in ("p", "q", "halt")
        for mask in range(8)
        for first in (False, True)
        if mask in {0, 1, 3, 6} or not first
    )
    for word in ((), ("a",), ("b", "a"), ("b", "b", "a")):
        yield World(
            sorts={
                "Sym": machine.alphabet,
                "Q": ("p", "q", "halt"),
                "Word": words,
                "Par": range(8),
                "Stored": stored,
            },
            integers=range(_STEPS + 1),
            symbols={**symbols, **_run_symbols(machine, make, word)},
            free={
                "k": range(_STEPS + 1),
                "w0": words,
                "s0": machine.alphabet,
                "z0": stored[::3],
            },
        )


# --- claims ----------------------------------------------------------------------------------


def recovery_checks(kept_rule: str = KEPT_RULE, naming: Naming = recovered) -> tuple[Check, ...]:
    """The for-all proof, and every step of the runs of small machines."""
    return (
        covers(
            Smt(
                goals=lambda: recovery_goals(
                    parity_theory(kept_rule, lambda: parity_worlds(naming=naming))
                ),
                instances="all queue machines, alphabets and windows",
            )
        ),
        supports(
            Exhaustive(
                holds=recovery_fails(naming),
                ranges=graded(lambda every: run_range(every, 1, 24), 499, 97, 11),
                rechecked_as="window-run",
                exhibit=run_exhibit,
                leans_on=(),
            )
        ),
    )


@claim(
    id="machines.parity.recovers",
    source=Source(PAPER, "Theorem 7"),
    latex=r"r = \Pi(\sigma W),\ p = \Pi(W) \implies r \oplus p = \mathbf e_\sigma",
    scope="all queue machines, alphabets and windows",
    uses=("machines.words.laws",),
    expected=Status.PROVED,
)
def two_parities_name_the_dropped_symbol() -> tuple[Check, ...]:
    """Stored parity xor seen parity is the unit vector of the dropped symbol.

    This holds for all alphabets and windows; in the first step the flag names the start symbol.
    """
    return recovery_checks()


def step_checks(
    kept_rule: str = KEPT_RULE, make: ParityMaker = parity_machine
) -> tuple[Check, ...]:
    """The for-all proof, and small machines stepped beside their parity-HIST machines."""
    return (
        covers(
            Smt(
                goals=lambda: step_goals(
                    parity_theory(kept_rule, lambda: parity_worlds(make=make))
                ),
                instances="all queue machines, inputs and steps",
                leans_on=(INDUCTION,),
            )
        ),
        supports(
            Exhaustive(
                holds=parity_fails(make),
                ranges=graded(lambda every: run_range(every, 1, 24), 499, 97, 11),
                rechecked_as="window-run",
                exhibit=run_exhibit,
                leans_on=(),
            )
        ),
    )


@claim(
    id="machines.parity.step",
    source=Source(PAPER, "Theorem 7"),
    latex=r"W_t = \mathsf{tail}(C_t),\quad r_t = \Pi(C_t),\quad q_t = q^{\mathsf{PM}}_t"
    r"\quad\text{for all } t",
    scope="all queue machines, inputs and steps, the halting state (which keeps r) included",
    uses=("machines.words.laws", "machines.parity.recovers"),
    expected=Status.PROVED,
)
def the_window_is_the_tail_of_the_queue() -> tuple[Check, ...]:
    """One parity-HIST step keeps the invariant, first step included.

    The window is the tail of the queue, the stored parity is the queue's, states agree, both halt
    together, and the halting state, which keeps r, still yields the whole queue.
    """
    return step_checks()
