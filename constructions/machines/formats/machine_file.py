"""What a file of a machine holds, and the words that its formats share.

The formats read the same convention into one value: a step is an applied rule, the rule that enters
a halting state counts, and a missing rule halts before a rule is applied.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath

from constructions.machines.definitions import QueueMachine, TuringMachine, Word, tabulated
from verify.errors import MachineFormatError

MOST_NAMED = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueTable:
    """A queue machine as a finite table {state: {symbol: (next state, appended word)}}.

    The table is kept, so that a machine that was read can be written again.

    Source: Sliding-Window Transformers Without Positional Encodings, Section 3.1.
    """

    name: str
    alphabet: Word
    blank: str
    front: str
    start: str
    halt: str
    rules: Mapping[str, Mapping[str, tuple[str, Word]]]

    def machine(self) -> QueueMachine[str]:
        """The machine that looks its rules up in this table."""
        return QueueMachine(
            name=self.name,
            alphabet=self.alphabet,
            blank=self.blank,
            front=self.front,
            start=self.start,
            halt=self.halt,
            rule=tabulated(self.rules),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineFile:
    """A machine and the input that came with it; no input is the empty word."""

    machine: TuringMachine | QueueTable
    word: Word = ()


def named_after(source_name: str) -> str:
    """A machine's name where its format has none: the file's, without folders and suffixes."""
    return PurePath(source_name).name.split(".")[0] or "machine"


def listed(names: Iterable[str]) -> str:
    """The names in order, the first of them if they are many; white space stands in quotes."""
    ordered = sorted(names)
    more = len(ordered) - MOST_NAMED
    shown = ", ".join(name if name.strip() else repr(name) for name in ordered[:MOST_NAMED])
    return f"{shown} and {more} more" if more > 0 else shown


def unknown_state(
    where: str, subject: str, target: str, declared: Iterable[str]
) -> MachineFormatError:
    """The error of a rule, a synonym or a start that names a state which is not there."""
    return MachineFormatError(
        f"{where}: {subject} names the unknown state {target!r}; "
        f"declared states: {listed(declared) or 'none'}"
    )


def second_rule(where: str, state: str, symbol: str, first: str) -> MachineFormatError:
    """The error of a state with two rules for one symbol; `first` says where the other stands."""
    return MachineFormatError(
        f"{where}: state {state!r} must have one rule for {symbol!r}, got a second one beside "
        f"{first}; keep one of them"
    )


def require_input(where: str, word: Word, alphabet: Iterable[str]) -> Word:
    """The input of a file itself, once the machine knows all its symbols.

    Raises:
        MachineFormatError: a symbol outside the alphabet.
    """
    known = dict.fromkeys(alphabet)
    for place, symbol in enumerate(word):
        if symbol not in known:
            raise MachineFormatError(
                f"{where}: input symbol {place} must be one of {listed(known)}, got {symbol!r}; "
                "give it a rule or correct the input"
            )
    return word


def require_written_symbols(machine: TuringMachine, format_name: str) -> None:
    """Require that some rule names each symbol but the blank: these formats declare no alphabet.

    Raises:
        MachineFormatError: a symbol that no rule reads or writes.
    """
    named = {machine.blank}
    for row in machine.rows.values():
        for symbol, (write, _, _) in row.items():
            named |= {symbol, write}
    for symbol in machine.alphabet:
        if symbol not in named:
            raise unwritable(
                machine.name,
                format_name,
                "symbols that some rule reads or writes",
                f"{symbol!r}, which none does",
                "leave it out of the alphabet",
            )


def require_symbol(
    machine_name: str, format_name: str, symbol: str, *, forbidden: str = "", space: bool = False
) -> None:
    """Require one printable character outside `forbidden`, and no space unless it is allowed.

    Raises:
        MachineFormatError: the format cannot write the symbol.
    """
    fits = len(symbol) == 1 and symbol.isprintable() and symbol not in forbidden
    if not fits or (symbol == " " and not space):
        but = f" other than {' '.join(forbidden)}" if forbidden else ""
        raise unwritable(
            machine_name,
            format_name,
            f"symbols of one printable character{but}",
            repr(symbol),
            "rename it",
        )


def require_state(machine_name: str, format_name: str, state: str) -> None:
    """Require that a state's name is printable.

    Raises:
        MachineFormatError: it is not.
    """
    if not state.isprintable():
        raise unwritable(
            machine_name, format_name, "printable names of states", repr(state), "rename it"
        )


def unwritable(
    machine_name: str, format_name: str, required: str, got: str, remedy: str
) -> MachineFormatError:
    """The error of a machine that a format cannot write."""
    return MachineFormatError(
        f"machine {machine_name!r}: {format_name} requires {required}, got {got}; "
        f"{remedy}, or use another format"
    )
