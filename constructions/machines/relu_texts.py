"""How certificates write a Turing machine, and the labels and tokens of its transformer."""

from __future__ import annotations

from constructions.machines.definitions import TuringMachine
from constructions.machines.parity import Stored
from constructions.machines.turing import Control
from constructions.machines.window import Pending, WindowLabel, WindowToken
from verify.verdicts import Json


def machine_json(machine: TuringMachine) -> Json:
    """A machine's table, as certificates show it."""
    rules = [[*key, rule.write, rule.move, rule.next_state] for key, rule in machine.rules.items()]
    return {
        "alphabet": list(machine.alphabet),
        "blank": machine.blank,
        "start": machine.start,
        "halting": sorted(machine.halting),
        "rules": rules,
    }


def label_text(label: WindowLabel[Stored[Control]], machine: TuringMachine) -> str:
    """Kind, Turing state, held symbol, phase, parity bits, first-step flag and owed symbol."""
    stored = label.state
    control = stored.state
    size = 2 * len(machine.alphabet) + 1
    bits = "".join(str(stored.parity >> place & 1) for place in range(size))
    kind, owed = ("P", label.symbol) if isinstance(label, Pending) else ("N", "")
    first = str(int(stored.first))
    return "|".join((kind, control.state, control.held, control.phase.value, bits, first, owed))


def answer_text(token: WindowToken[Stored[Control]], machine: TuringMachine) -> str:
    """Displayed symbol, update bit and label."""
    return f"{token.displayed} {token.update} {label_text(token.label, machine)}"
